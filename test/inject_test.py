#!/usr/bin/env python3
"""`inject`: changes of addresses and call chains, seen by `script` and `report` of perfuse and of perf."""
import os
import re
import shutil
import sys
import tempfile

from suite import process
from suite.perf import need_reference
from suite.settings import PERFUSE
from suite.tests import need, run_tests, tests_of

RECORDED = ("record", "-q", "-F", "2000", "-e", "cpu-clock:u")


class Context:
    def __init__(self, work):
        self.work = work

    def must(self, *words):
        return process.must(PERFUSE, *words, cwd=self.work)

    def chains(self, path, program=PERFUSE):
        """The addresses of each sample."""
        text = process.must(program, "script", "-i", path, "-F", "ip,sym", "--no-inline", cwd=self.work)
        return [re.findall(r"(?m)^\s*([0-9a-f]+) ", block) for block in text.split("\n\n") if block.strip()]


def test_convert(context):
    """--convert-callchain: each sample has the addresses that readers unwind from its copy, which is gone, also for perf"""
    context.must(*RECORDED, "--call-graph", "dwarf,8192", "-o", "stacks.data", "--", PERFUSE, "test", "-w", "leafloop", "1")
    context.must("inject", "--convert-callchain", "-i", "stacks.data", "-o", "chains.data")
    before, after = context.chains("stacks.data"), context.chains("chains.data")
    # perf's frame for missing memory is in no call chain
    before = [[address for address in chain if address != "f" * 16] for chain in before]
    need(before == after and max(map(len, after)) > 4, "%s\n%s" % (before[:3], after[:3]))
    events = context.must("evlist", "-v", "-i", "chains.data")
    need("CALLCHAIN" in events and "STACK_USER" not in events and "sample_regs_user" not in events, events)
    sizes = [os.path.getsize(os.path.join(context.work, name)) for name in ("chains.data", "stacks.data")]
    need(sizes[0] < sizes[1] / 4, "%d of %d bytes" % tuple(sizes))
    need(context.chains("chains.data", need_reference()) == after, "perf reads other chains")


def test_convert_refused(context):
    """--convert-callchain refuses recordings without copies of stacks, streams, and changes that it cannot be combined with"""
    context.must(*RECORDED, "-o", "plain.data", "--", "true")
    for words, sentence in ((("-i", "plain.data"), "has no copies of stacks"), (("-i", "plain.data", "--itrace"), "cannot be combined with --itrace"),
                            (("-i", "plain.data", "--compact"), "cannot be combined with other changes")):
        done = process.run(PERFUSE, "inject", "--convert-callchain", "-o", "none.data", *words, cwd=context.work)
        need(done.returncode == 255 and sentence in done.stderr, done.stderr)
    done = process.run("sh", "-c", "%s record -q -e cpu-clock:u --call-graph dwarf -o - -- true | %s inject --convert-callchain -o none.data"
                       % (PERFUSE, PERFUSE), cwd=context.work)
    need(done.returncode == 255 and "needs a file, not a stream" in done.stderr, done.stderr)


def main():
    work = tempfile.mkdtemp(prefix="perfuse-inject-")
    try:
        return run_tests(tests_of(globals(), Context(work)))
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
