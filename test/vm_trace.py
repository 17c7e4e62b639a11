#!/usr/bin/env python3
"""vm_trace.py [KERNEL]...: boots kernels of several versions, and traces there a program whose calls are known (test/trace/known.c)."""
import os
import re
import shutil
import sys
import tempfile

from suite.machine import native_build, virtual_machine
from suite.process import compilers, must
from suite.settings import TEST
from suite.tests import report

KERNELS = ("debian-6.1", "debian-6.12")
GUEST = """
cd /tmp
step() {
	echo "== $1"
	shift
	perfuse trace -o out "$@" 2>&1
	echo "exit $?"
	cat out
}
step lines -m 16M known
step alone -e openat known
step sums -s known
step chains --call-graph fp -e openat,ppoll known
step events -e sched:sched_process_exec,openat known
"""
OPENAT = r'openat\(dfd: CWD, filename: "/no/such\\012", flags: RDWR\|CLOEXEC\) += -1 ENOENT'


def problems(steps):
    lines, sums, chains = steps.get("lines", ""), steps.get("sums", ""), steps.get("chains", "")
    yield "the exit status is the command's", len(steps) == 5 and all(re.search(r"(?m)^exit 3\r?$", text) for text in steps.values())
    yield "BPF programs are used", all("tracepoints, without strings" not in text for text in steps.values())
    yield "strings are shown", all(re.search(OPENAT, text) for name, text in steps.items() if name != "sums")
    yield "an array of structures has names", "[(struct pollfd){.fd = (int)99,.events = (short int)IN|PRI,}], nfds: 1" in lines
    yield "a structure has names", ".sa_flags = (long unsigned int)RESTART,.sa_mask = (sigset_t){.sig = (long unsigned int[1])[TERM,],}" in lines
    yield "each call has a line", lines.count(" getpgid(") == 20000
    yield "sums and errors are exact", re.search(r"(?m)^   getpgid +20000 +5000 ", sums) is not None
    yield "calls have chains", len(re.findall(r"(?:openat|ppoll)\(.*\r?\n {39}\S", chains)) >= 2
    yield "events are among the calls", "sched:sched_process_exec(filename: \"" in steps.get("events", "")


def main():
    folder, failed = tempfile.mkdtemp(prefix="perfuse-vm-trace-"), False
    try:
        known = os.path.join(folder, "known")
        must("cc", "-O1", "-static", "-o", known, os.path.join(TEST, "trace/known.c"), env=compilers())
        perfuse = os.path.join(native_build("perfuse"), "perfuse")
        for kernel in sys.argv[1:] or KERNELS:
            done = virtual_machine("--kernel", kernel, "--program", perfuse, "--program", known, "--timeout", "300", "--", "sh", "-c", GUEST)
            parts = re.split(r"(?m)^== (\w+)\r?\n", done.stdout)
            steps = dict(zip(parts[1::2], parts[2::2]))
            for name, holds in problems(steps):
                failed |= report("%s: %s" % (kernel, name), [] if holds else [
                    "".join("== %s: %s" % (step, text[:700]) for step, text in steps.items()) + done.stderr[-500:]])
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
