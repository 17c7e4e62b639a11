#!/usr/bin/env python3
"""Boots a machine of two CPUs and records there while one goes offline and comes online."""
import re
import sys

from suite.machine import virtual_machine
from suite.settings import PERFUSE
from suite.tests import need, run_tests, tests_of

GUEST = """
cd /tmp
one=/sys/devices/system/cpu/cpu1/online
record() { echo "== $1"; shift; perfuse record -e cpu-clock -F 100 -o x "$@" 2>&1; echo "exit code $?"; }
record offline -a -- sh -c "sleep 1; echo 0 >$one; sleep 1"
perfuse script -F cpu 2>/dev/null -i x | sort | uniq -c
record online -a -- sh -c "sleep 1; echo 1 >$one; sleep 1"
record back -a -- sh -c "echo 0 >$one; sleep 1; echo 1 >$one; sleep 1"
record command sh -c "echo 0 >$one; sleep 1"
record threads --threads -a -- sh -c "echo 1 >$one; sleep 1"
echo 0 >$one
record named -C 1 true
echo 0-1 >fake
mount --bind fake /sys/devices/system/cpu/online
record early -a -- true
perfuse script -i x >/dev/null && echo read
umount /sys/devices/system/cpu/online
record fine -a -- true
"""


class Context:
    """What each step printed, by its name."""
    def __init__(self):
        done = virtual_machine("--cpus", "2", "--program", PERFUSE, "--timeout", "300", "--", "sh", "-c", GUEST)
        self.steps = dict(re.findall(r"(?ms)^== (\w+)\r?\n(.*?)(?=^== |\Z)", done.stdout))
        self.whole = done.stdout[-3000:] + done.stderr[-1000:]

    def said(self, step):
        """The lines about CPUs."""
        need(step in self.steps, "no step %s: %s" % (step, self.whole))
        return [line.strip() for line in self.steps[step].splitlines() if re.match("CPUs? ", line)]


def test_offline(c):
    """a CPU that goes offline while the machine is recorded is reported once, with the time, also when it comes back"""
    for step in ("offline", "back"):
        lines = c.said(step)
        need(len(lines) == 1 and re.fullmatch(r"CPU 1 went offline \d+\.\d s after the start: not recorded from then on, even if online again",
                                              lines[0]), "%s: %s" % (step, c.steps[step]))
        need("exit code 0" in c.steps[step], c.steps[step])


def test_online(c):
    """a CPU that comes online while the machine is recorded is reported as missing"""
    for step in ("online", "threads"):
        lines = c.said(step)
        need(len(lines) == 1 and re.fullmatch(r"CPU 1 came online \d+\.\d s after the start: missing from the recording", lines[0]),
             "%s: %s" % (step, c.steps[step]))


def test_command(c):
    """a command runs on the CPUs that are left: nothing is missing, and nothing is reported"""
    need(c.said("command") == [] and c.said("fine") == [], "%s%s" % (c.steps["command"], c.steps["fine"]))
    need("exit code 0" in c.steps["command"] and "exit code 0" in c.steps["fine"], "%s%s" % (c.steps["command"], c.steps["fine"]))


def test_named(c):
    """a CPU that -C names and that is offline is an error, with perf's exit code"""
    need(c.said("named") == ["CPU 1 of '1' is not online: there are 0"] and "exit code 255" in c.steps["named"], c.steps["named"])


def test_early(c):
    """a CPU that goes offline after the list of CPUs was read is passed over, and reported"""
    need(c.said("early")[:1] == ["CPU 1 went offline before recording began: not recorded"], c.steps["early"])
    need("exit code 0" in c.steps["early"] and "\nread" in c.steps["early"].replace("\r", ""), c.steps["early"])


if __name__ == "__main__":
    sys.exit(run_tests(tests_of(globals(), Context())))
