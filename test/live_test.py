#!/usr/bin/env python3
"""Samples of a command that runs, counted by thread and function while it runs: rings, session and sink are in one process, without a file."""
import collections
import os
import sys

from suite import process
from suite.settings import BUILD, SHAPE
from suite.tests import Skip, by_samples, need, run_in_folder

COUNT = os.path.join(BUILD, "test", "live", "live_count")
REFUSED = 3
MS = 600


class Context:
    def __init__(self, work):
        self.work = work

    def count(self, *command):
        """{(thread, function): samples}, {"lost": number, "during": number}; run in a folder that must remain empty."""
        result = process.run(COUNT, *command, cwd=self.work)
        if result.returncode == REFUSED:
            raise Skip("no event can be opened here: " + result.stderr.strip())
        need(result.returncode == 0, "exit code %d: %s" % (result.returncode, result.stderr))
        need(not os.listdir(self.work), "files were made: %s" % os.listdir(self.work))
        rows = [line.split("\t") for line in result.stdout.splitlines()]
        return {tuple(row[:2]): int(row[2]) for row in rows if len(row) == 3}, {row[0]: int(row[1]) for row in rows if len(row) == 2}


@by_samples
def test_shares(c):
    """samples counted by function while a command runs have the functions' shares"""
    samples, facts = c.count(SHAPE, "--ms", str(MS))
    threads = collections.Counter()
    for (thread, _), count in samples.items():
        threads[thread] += count
    for line in process.must(SHAPE, "--truth").splitlines()[1:]:
        thread, function, percent = line.split("\t")[:3]
        if int(percent) == 0:
            need(threads[thread] <= 10, "%s sleeps, but has %d samples" % (thread, threads[thread]))
            continue
        need(threads[thread] + facts["lost"] > MS / 2, "%s has %d samples, %d were lost" % (thread, threads[thread], facts["lost"]))
        share = 100 * samples.get((thread, function), 0) / threads[thread]
        need(abs(share - int(percent)) < 6, "%s of %s has %.1f percent, not %s" % (function, thread, share, percent))


@by_samples
def test_during(c):
    """samples reach the sink while the command runs, not after its end"""
    samples, facts = c.count(SHAPE, "--ms", str(MS))
    total = sum(samples.values())
    need(facts["during"] > total / 3, "%d of %d samples were counted before the end" % (facts["during"], total))


if __name__ == "__main__":
    sys.exit(run_in_folder("live counts", Context, globals()))
