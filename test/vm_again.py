#!/usr/bin/env python3
"""A machine whose kernel panics is booted once more, and no other (tools/vm run --again)."""
import os
import sys
import tempfile

from suite.machine import vm
from suite.tests import need, run_tests, skipped, tests_of

# Counts its boots where they outlast the machine.
GUEST = """
echo boot >>/mnt/boots
echo "says so"
[ "$(wc -l </mnt/boots)" -gt %d ] || { sync; echo 1 >/proc/sys/kernel/sysrq; echo c >/proc/sysrq-trigger; sleep 60; }
exit %d
"""


def boot(panics, code, *options):
    """(exit code, stdout, stderr, how often it booted)."""
    with tempfile.TemporaryDirectory(prefix="perfuse-again-") as folder:
        done = vm("run", *options, "--share", folder, "--timeout", "200", "--", "sh", "-c", GUEST % (panics, code))
        try:
            with open(os.path.join(folder, "boots")) as stream:
                boots = len(stream.readlines())
        except FileNotFoundError:
            boots = 0
    return done.returncode, done.stdout, done.stderr, boots


def test_panic():
    """a kernel that panics is booted once more: the command's output and exit code are those of the second boot, which is logged"""
    code, out, err, boots = boot(1, 7, "--again")
    need((code, out, boots) == (7, "says so\n", 2), "exit code %d, %r, %d boots: %s" % (code, out, boots, err[-500:]))
    need(err.startswith("vm: the kernel of the machine panicked (sysrq triggered crash); once more\n"), err)


def test_panic_again():
    """a kernel that panics twice is not booted again"""
    code, _, err, boots = boot(9, 0, "--again")
    need((code, boots) == (125, 2), "exit code %d, %d boots: %s" % (code, boots, err[-500:]))


def test_failure():
    """a command that fails is not run again"""
    code, out, err, boots = boot(0, 3, "--again")
    need((code, out, boots) == (3, "says so\n", 1) and "once more" not in err, "exit code %d, %r, %d boots: %s" % (code, out, boots, err))


def test_no_option():
    """without --again no machine is booted again"""
    code, _, err, boots = boot(1, 0)
    need((code, boots) == (125, 1), "exit code %d, %d boots: %s" % (code, boots, err[-500:]))


def main():
    if vm("path").returncode != 0:
        skipped("a kernel that panics is booted once more", "its kernel cannot be downloaded here")
        return 0
    return run_tests(tests_of(globals()))


if __name__ == "__main__":
    sys.exit(main())
