#!/usr/bin/env python3
"""The agent for Java virtual machines: names and lines of compiled methods, from its dump, and after `inject --jit`, as perfuse and
perf read them."""
import collections
import glob
import os
import re
import shutil
import sys
import time

from suite import process
from suite.perf import need_reference
from suite.process import environment
from suite.settings import PERFUSE, SANITIZED, TEST, TOP
from suite.tests import Skip, by_samples, need, run_in_folder

HERE = os.path.join(TEST, "java")

SOURCE = os.path.join(HERE, "Loops.java")
WHERE = "make check-languages installs a JDK"
NAMES = {"first": "shop.Loops.first(long)", "second": "shop.Loops.second(long[])"}


class Context:
    def __init__(self, work):
        self.work = work
        self.lines = {name: number for number, line in enumerate(open(SOURCE), 1) for name in re.findall(r"// LINE (\w+)", line)}

    def run(self, *command, **more):
        return process.run(*command, cwd=self.work, env=environment(self.work, **more))

    def build(self):
        """The classes; and the agent, from its sources as they are."""
        if not shutil.which("javac") or not shutil.which("java"):
            raise Skip("there is no JDK: " + WHERE)
        jdk = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("javac"))))
        if not os.path.exists(os.path.join(jdk, "include", "jvmti.h")):
            raise Skip("the JDK has no jvmti.h: " + WHERE)
        self.agent = os.path.join(self.work, "libperfuse-jvmti.so")
        if os.path.exists(self.agent):
            return
        made = self.run("javac", "-g", "-d", self.work, SOURCE)
        need(made.returncode == 0, "javac: " + made.stderr)
        includes = [word for folder in ("include", "include/linux") for word in ("-isystem", os.path.join(jdk, folder))]
        made = self.run("cc", "-std=gnu2x", "-O2", "-Wall", "-Wextra", "-Wshadow", "-Wwrite-strings", "-Werror", "-fPIC", "-shared",
                        "-fvisibility=hidden", *includes, "-o", self.agent + ".new", *glob.glob(os.path.join(TOP, "agents/jvmti/*.c")),
                        "-lpthread")
        need(made.returncode == 0, "the agent does not compile: " + made.stderr)
        os.rename(self.agent + ".new", self.agent)

    def java(self, *options, ms="1500"):
        return ["java", "-XX:+PreserveFramePointer", "-agentpath:" + self.agent + "".join(options), "-cp", ".", "shop.Loops", ms]

    def recording(self):
        self.build()
        path = os.path.join(self.work, "java.data")
        if not os.path.exists(path):
            done = self.run(PERFUSE, "record", "-k", "mono", "-F", "999", "-e", "cpu-clock:u", "-g", "-o", path, "--", *self.java())
            if done.returncode and "perf_event" in done.stderr:
                raise Skip("perf_event_open is refused here")
            need(done.returncode == 0, "record: " + done.stderr[-400:])
        return path

    def forget(self):
        for path in glob.glob(os.path.join(self.work, "*.data")):
            os.unlink(path)


def places(c, program, data):
    """Samples by (name, line) of the innermost frame."""
    done = c.run(program, "script", "-i", data, "-G", "--no-inline", "-F", "ip,sym,srcline")
    need(done.returncode == 0, "script: " + done.stderr[-300:])
    return collections.Counter(re.findall(r"^\s*[0-9a-f]+ (.*)\n\s+\S*Loops\.java:(\d+)$", done.stdout, re.M))


def judge(c, seen, who):
    total = sum(seen.values())
    need(total > 300, "%s: %d samples have lines of Loops.java: %s" % (who, total, seen.most_common(5)))
    for name, shown in NAMES.items():
        mine = collections.Counter({line: count for (symbol, line), count in seen.items() if symbol == shown})
        near = sum(count for line, count in mine.items() if abs(int(line) - c.lines[name]) <= (1 if name == "first" else 0))
        # The compiler notes the line of few instructions: those between have the line before, which may be that of the loop around the call.
        around = sum(mine[str(line)] for line in range(c.lines["loop"] - 2, c.lines["loop"] + 1)) if name == "second" else 0
        need(near > sum(mine.values()) * 0.3 and near > 50 and near + around > sum(mine.values()) * 0.95,
             "%s: %s is at %s, not at line %d" % (who, shown, mine.most_common(4), c.lines[name]))


@by_samples
def test_direct(c):
    """script shows the methods and lines of Java code from the agent's dump, inlined methods included"""
    judge(c, places(c, PERFUSE, c.recording()), "script")


@by_samples
def test_report(c):
    """report shows the methods with their shares of the time"""
    text = c.run(PERFUSE, "report", "-i", c.recording(), "--stdio", "--no-children", "-g", "none", "-s", "sym").stdout
    for shown in NAMES.values():
        rows = [float(share) for share in re.findall(r"^\s*([\d.]+)%\s+\[\.\] " + re.escape(shown) + r"\s*$", text, re.M)]
        need(sum(rows) > 15, "%s has %s percent: %s" % (shown, rows, text[:600]))


@by_samples
def test_callers(c):
    """stacks continue through compiled methods to the interpreter"""
    text = c.run(PERFUSE, "script", "-i", c.recording(), "--no-inline", "-F", "ip,sym").stdout
    stacks = [[line.split(None, 1)[1] for line in stack.splitlines()] for stack in re.split("\n\n+", text.strip("\n")) if stack]
    inside = [stack for stack in stacks if stack[0] == NAMES["first"]]
    through = [stack for stack in inside if any("Interpreter" in name or "main" in name for name in stack[1:])]
    need(len(inside) > 50 and len(through) > len(inside) * 0.8, "%d of %d stacks go on: %s" % (len(through), len(inside), inside[:1]))


@by_samples
def test_inject(c):
    """after inject --jit, script and perf show the same methods and lines"""
    data, out = c.recording(), os.path.join(c.work, "injected.data")
    done = c.run(PERFUSE, "inject", "--jit", "-i", data, "-o", out)
    need(done.returncode == 0, "inject: " + done.stderr[-300:])
    judge(c, places(c, PERFUSE, out), "script after inject")
    judge(c, places(c, need_reference(), out), "perf script after inject")


@by_samples
def test_perf_inject(c):
    """perf's own inject --jit reads the agent's dump"""
    data, out, perf = c.recording(), os.path.join(c.work, "perf-injected.data"), need_reference()
    done = c.run(perf, "inject", "--jit", "-i", data, "-o", out)
    need(done.returncode == 0, "perf inject: " + done.stderr[-300:])
    judge(c, places(c, perf, out), "perf script after its inject")


@by_samples
def test_attach(c):
    """an agent that is loaded into a running machine also writes the methods compiled before, with the lines of the method itself"""
    c.build()
    if not shutil.which("jcmd"):
        raise Skip("there is no jcmd: " + WHERE)
    data = os.path.join(c.work, "attached.data")
    with process.start("java", "-XX:+PreserveFramePointer", "-cp", ".", "shop.Loops", "20000", cwd=c.work, stdout=process.DEVNULL) as machine:
        time.sleep(2)
        done = c.run("jcmd", str(machine.pid), "JVMTI.agent_load", c.agent)
        need("return code: 0" in done.stdout, "jcmd: " + done.stdout + done.stderr)
        done = c.run(PERFUSE, "record", "-k", "mono", "-F", "999", "-e", "cpu-clock:u", "-p", str(machine.pid), "-o", data, "--", "sleep", "1.5")
        if done.returncode and "perf_event" in done.stderr:
            raise Skip("perf_event_open is refused here")
    seen = collections.Counter()
    for (symbol, line), count in places(c, PERFUSE, data).items():
        seen[symbol] += count if c.lines["first"] - 3 <= int(line) <= c.lines["second"] else 0
    need(min(seen[shown] for shown in NAMES.values()) > 50, "samples with lines are %s" % seen)


def test_folder(c):
    """dir=FOLDER holds the dump, which belongs to the user alone; a folder that is absent and other options are refused"""
    c.build()
    folder = os.path.join(c.work, "dumps")
    os.mkdir(folder)
    done = c.run(*c.java("=dir=" + folder, ms="1"))
    need(done.returncode == 0, done.stderr)
    files = glob.glob(os.path.join(folder, "jit-*.dump"))
    need(len(files) == 1 and os.stat(files[0]).st_mode & 0o777 == 0o600, "there is %s" % files)
    for option, said in (("=dir=/nonexistent/x", "no dump can be written"), ("=bogus", "unknown option 'bogus'")):
        done = c.run(*c.java(option, ms="1"))
        need(done.returncode != 0 and said in done.stdout + done.stderr, "%s: exit code %d: %s" % (option, done.returncode, done.stderr))


def test_default_folder(c):
    """without dir= each process has a new folder below $JITDUMPDIR, with its dump closed at the end"""
    c.build()
    root = os.path.join(c.work, "root")
    os.mkdir(root)
    for _ in range(2):
        need(c.run(*c.java(ms="1"), JITDUMPDIR=root).returncode == 0, "java fails")
    files = glob.glob(os.path.join(root, ".debug", "jit", "java-*", "jit-*.dump"))
    need(len(files) == 2, "there is %s" % files)
    for path in files:
        with open(path, "rb") as dump:
            content = dump.read()
        need(content[:4] == b"DTiJ" and content[-16:-8] == b"\x03\0\0\0\x10\0\0\0", "%s has no end" % path)


def prepare(work):
    if SANITIZED:
        raise Skip("the agent is no part of the program; the ordinary run tests it")
    return Context(work)


if __name__ == "__main__":
    sys.exit(run_in_folder("Java", prepare, globals()))
