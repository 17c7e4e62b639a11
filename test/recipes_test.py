#!/usr/bin/env python3
"""The walk-throughs of docs/examples that observe the complete machine run as typed, and show what they say."""
import os
import re
import signal
import sys
import time

from suite import process
from suite.process import run, start
from suite.settings import PERFUSE, TOP
from suite.tests import Skip, need, need_root, run_in_folder


class Folder:
    """A folder in which `perf` is perfuse."""

    def __init__(self, folder):
        need_root("events of all processes")
        if not os.path.exists("/sys/kernel/tracing/events/block"):
            raise Skip("tracefs is not mounted")
        self.folder = folder
        os.makedirs(os.path.join(folder, "bin"))
        os.symlink(PERFUSE, os.path.join(folder, "bin", "perf"))
        self.env = process.environment(folder, PATH=os.path.join(folder, "bin") + ":" + os.environ["PATH"])

    def commands(self, page):
        with open(os.path.join(TOP, "docs", "examples", page), encoding="utf-8") as text:
            return [line.strip() for line in text if line.startswith("    perf ")]

    def run(self, command):
        """Its output. A recording would go into a pipe."""
        where = {"stdout": process.DEVNULL} if " record " in command else {}
        done = run("sh", "-c", re.sub(r"sleep \d", "sleep 0.3", command), cwd=self.folder, env=self.env, **where)
        need(done.returncode == 0, "%s: %s" % (command, done.stderr))
        return (done.stdout or "") + done.stderr

    def until_interrupted(self, command, work, seconds=0.5):
        with start("sh", "-c", "exec " + command, cwd=self.folder, env=self.env, stdout=process.DEVNULL) as recording:
            time.sleep(seconds)  # the events have no sign that they are enabled
            work()
            recording.send_signal(signal.SIGINT)
            recording.wait()

    def write_directly(self):
        for _ in range(4):
            need(run("dd", "if=/dev/zero", "of=direct", "bs=2M", "count=2", "oflag=direct", cwd=self.folder).returncode == 0, "dd")


def test_disk(f):
    """busy-disk.md: requests have their command, and large ones are selected"""
    commands = f.commands("busy-disk.md")
    need(len(commands) == 4, "%r" % commands)
    if run("dd", "if=/dev/zero", "of=direct", "bs=4k", "count=1", "oflag=direct", cwd=f.folder).returncode:
        raise Skip("the file system has no direct writes")
    for seconds in (0.5, 2, 8):
        f.until_interrupted(commands[0], f.write_directly, seconds)
        if "[dd]" in f.run(commands[2]):
            break
    else:
        raise Skip("the disk has no queue")
    need(re.search(r"\d%  dd\s", f.run(commands[1])), "report")
    request = re.search(r"block:block_rq_insert: \d+,\d+ WS? (\d+) \(\) \d+ \+ (\d+) .*\[dd\]", f.run(commands[2]))
    need(request and int(request[1]) == 512 * int(request[2]), f.run(commands[2])[:300])
    f.until_interrupted(commands[3], f.write_directly)
    sizes = re.findall(r"block_rq_insert: \S+ \w+ (\d+) ", f.run(commands[2]))
    need(all(int(size) >= 65536 for size in sizes), "%r" % sizes[:5])


def test_switches(f):
    """switches-of-a-machine.md: the numbers of switches are shown in total, by CPU, by time and by command"""
    commands = f.commands("switches-of-a-machine.md")
    need(len(commands) == 5, "%r" % commands)
    need(re.search(r"[1-9]\d*      sched:sched_switch .*\n", f.run(commands[0])), "total")
    need(f.run(commands[1]).count("sched:sched_switch") == os.cpu_count(), "a line for each CPU")
    need(re.search(r"\d+\.\d+ +\d+ +sched:sched_switch", f.run(commands[2])), "intervals")
    f.run(commands[3])
    need(re.search(r"\d%\s+\S.*  [SRDIT]", f.run(commands[4])), "states")


if __name__ == "__main__":
    sys.exit(run_in_folder("recipes", Folder, globals()))
