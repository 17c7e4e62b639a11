#!/usr/bin/env python3
"""Failing system calls, one after the other: `record` and the readers run with test/faults/shim.c preloaded, which makes the
first, second, third … call of a function fail (a full disk, an I/O error, no memory) or return a partial result (a short write, a signal).
Each run completes its work, or ends with an error and an exit code: no crash, no hang, no incomplete file without
an error."""
import os
import re
import shutil
import sys
import tempfile

from faults import disk
from suite import process
from suite.perf import without_tip
from suite.process import Hang, environment
from suite.settings import PERFUSE, SANITIZED
from suite.tests import run_tests, tests_of

TIMEOUT_S = 60
# Which calls of each are tried: every one up to the first number, then ever sparser up to the second.
EVERY, MOST = 12, 3000
# The required result: the work is done; it is done, or an error is reported; or, if the call may read a file that only
# provides names (a program's symbols, the name of a PMU in sysfs), either result, with or without the names.
DONE, REPORTED, NAMELESS = "done", "reported", "nameless"
FAULTS = (("write", "ENOSPC", REPORTED), ("write", "EIO", REPORTED), ("write", "short", DONE), ("write", "EINTR", DONE),
          ("writev", "ENOSPC", REPORTED), ("writev", "short", DONE), ("writev", "EINTR", DONE),
          ("read", "EIO", NAMELESS), ("read", "short", NAMELESS), ("read", "EINTR", DONE), ("pread", "EIO", REPORTED),
          ("pread", "short", DONE), ("pread", "EINTR", DONE), ("open", "EMFILE", NAMELESS), ("open", "EACCES", NAMELESS),
          ("mmap", "ENOMEM", NAMELESS), ("alloc", "ENOMEM", REPORTED), ("ioctl", "EIO", REPORTED), ("poll", "EINTR", DONE),
          ("rename", "EACCES", REPORTED), ("close", "EIO", REPORTED))
READERS = ("script", "report --stdio", "report --header-only", "evlist -v", "buildid-list", "flamegraph -o -")


class Box:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="perfuse-faults-")
        self.shim = os.path.join(self.folder, "shim.so")
        self.mark = os.path.join(self.folder, "mark")
        self.data = os.path.join(self.folder, "perf.data")
        self.program = os.path.join(self.folder, "perfuse")
        os.symlink(PERFUSE, self.program)

    def build(self):
        return disk.build_shim(self.shim)

    def run(self, words, fault=None):
        """(exit code, stdout, stderr); `struck` reports whether the fault happened."""
        env = environment(self.folder, **({"LD_PRELOAD": self.shim, "FAULT": fault, "FAULT_MARK": self.mark} if fault else {}))
        if os.path.exists(self.mark):
            os.unlink(self.mark)
        try:
            done = process.run(self.program, *words, env=env, cwd=self.folder, text=False, seconds=TIMEOUT_S)
        except Hang:
            return "timeout", b"", b""
        return done.returncode, done.stdout, done.stderr

    def struck(self):
        return os.path.exists(self.mark)


def numbers():
    n = 1
    while n <= MOST:
        yield n
        n += 1 if n < EVERY else max(1, n // 5)


def complaint(code, err):
    """What is wrong with a failure; None if it is reported as it should be."""
    if code == "timeout":
        return "does not end"
    if code < 0:
        return "is killed by signal %d: %s" % (-code, err[-200:])
    if not re.search(rb"\w+ \w+", err):
        return "exits with %d and says nothing" % code
    return None


def reader_problem(result, clean, must):
    code, out, err = result
    if code == clean[0]:
        if without_tip(out) == without_tip(clean[1]):
            return None
        return None if must == NAMELESS or (err.strip() and must == REPORTED) else "exits with %d, other output, and says: %r" % (code, err[:200])
    if must == DONE:
        return "fails with %s: %s" % (code, err[-200:])
    return complaint(code, err)


def recording_problem(box, path, result, must):
    """A recording that succeeded has its samples; a failure is reported, and its file does not crash a reader."""
    code, _, err = result
    if must == DONE and code != 0:
        return "fails with %s: %s" % (code, err[-200:])
    if code != 0 and complaint(code, err):
        return complaint(code, err)
    if not os.path.exists(path):
        return "exits with 0 and leaves no file: %s" % err[-200:] if code == 0 else None
    read = box.run(["script", "-i", path])
    if read[0] == "timeout" or read[0] < 0:
        return "leaves a file on which script ends with %s" % read[0]
    if code == 0 and (read[0] != 0 or not read[1]):
        return "exits with 0, but of its file script says (%s): %s" % (read[0], read[2][-200:])
    return None


def sweep(name, box, words, fault, judge):
    """Tries the fault at each call in turn, until the program makes no further call."""
    function, what, must = fault
    tried, problems = 0, []
    for n in numbers():
        result = box.run(words, "%s:%s:%d%s" % (function, what, n, "+" if what == "ENOSPC" else ""))
        if not box.struck():
            break
        tried += 1
        problem = judge(result)
        if problem:
            problems.append("at call %d of %s: %s" % (n, function, problem))
    if not tried:
        return False
    for problem in problems[:5]:
        print("# " + problem.replace("\n", "\\n"))
    print("%s %s: %s of %s, tried at %d calls" % ("not ok" if problems else "ok", name, what, function, tried), flush=True)
    return bool(problems)


def sweep_record(box, options):
    path = os.path.join(box.folder, "new.data")
    words = ["record", *options, "-e", "cpu-clock:u", "-c", "100000", "-o", path, "--", "sh", "-c", "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done"]
    failed = False
    for fault in FAULTS:
        def judge(result):
            problem = recording_problem(box, path, result, fault[2])
            for left in (path, path + ".old"):
                if os.path.exists(left):
                    os.unlink(left)
            return problem
        failed |= sweep(" ".join(["record", *options]), box, words, fault, judge)
    return failed


def full_disks():
    box = disk.Box()
    try:
        return bool(run_tests(tests_of(vars(disk), box)))
    finally:
        disk.close(box)


def main():
    failed = full_disks()
    if sys.argv[1:]:  # tests of disk.py by name
        return failed
    if SANITIZED:
        print("skip calls that fail: a sanitizer has its own allocator and cannot be preloaded over")
        return failed
    box = Box()
    try:
        if not box.build():
            print("not ok the shim compiles")
            return True
        made = box.run(["record", "-g", "-e", "cpu-clock:u", "-c", "100000", "-o", box.data, "--", "sh", "-c", "ls /usr/bin >/dev/null"])
        if made[0] != 0:
            print("skip calls that fail: perf_event_open is refused here")
            return failed
        for command in READERS:
            words = command.split() + ["-i", box.data]
            clean = box.run(words)
            for fault in FAULTS:
                failed |= sweep(command, box, words, fault, lambda result: reader_problem(result, clean, fault[2]))
        for options in ([], ["-z"]):
            failed |= sweep_record(box, options)
        return failed
    finally:
        shutil.rmtree(box.folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
