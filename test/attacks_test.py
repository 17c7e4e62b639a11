#!/usr/bin/env python3
# sanitized: files and names that attack
"""Attacks on the program: events that end a recorder early; malicious servers, environments, recordings and users.
docs/security.md lists the guarantees and names these tests."""
import os
import shutil
import sys
import tempfile

from attacks import ends, page, recorded_files, rights, servers
from suite.perf import reference
from suite.process import environment
from suite.settings import PERFUSE
from suite.tests import run_tests, tests_of


class Context:
    """A folder that every user may enter, with a copy of the program."""
    def __init__(self, work):
        self.work = work
        self.program = os.path.join(work, "perfuse")
        self.reference = reference()
        shutil.copy(PERFUSE, self.program)
        os.chmod(work, 0o755)

    def path(self, *names):
        return os.path.join(self.work, *names)

    def environment(self, **more):
        return environment(self.path("home"), **more)


def main():
    work = tempfile.mkdtemp(prefix="perfuse-attacks-")
    try:
        context = Context(work)
        os.mkdir(context.path("home"))
        return run_tests([test for module in (ends, page, recorded_files, rights, servers) for test in tests_of(vars(module), context)])
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
