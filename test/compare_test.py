#!/usr/bin/env python3
# alone: it judges differences of a few percent between times
"""compare: a planted change is found with its size, equal commands have none, results of stat -j and recordings are read, bad input has a sentence."""
import json
import os
import re
import statistics
import sys

from suite import process
from suite.perf import reference
from suite.process import environment
from suite.settings import PERFUSE
from suite.tests import ATTEMPTS, Skip, by_samples, need, remark, run_in_folder

WORK = """
#include <stdlib.h>
int main(int argc, char **argv)
{
	volatile unsigned long sum = 0;
	for (unsigned long n = argc > 1 ? strtoul(argv[1], 0, 10) : 0; n; n--)
		sum += n;
	return argc > 2 ? atoi(argv[2]) : 0;
}
"""


class Context:
    def __init__(self, folder):
        self.folder = folder
        self.work = os.path.join(folder, "work")
        with open(self.work + ".c", "w") as file:
            file.write(WORK)
        process.must("cc", "-O1", "-o", self.work, self.work + ".c", env=process.compilers())

    def compare(self, *words, **more):
        return process.run(PERFUSE, "compare", *words, cwd=self.folder, env=environment(self.folder, **more))


def rows_of(done):
    need(done.returncode == 0, "exit code %d: %s" % (done.returncode, done.stderr))
    return {row["counter"]: row for row in json.loads(done.stdout)["tables"][0]["rows"]}


@by_samples
def test_planted(c):
    """ten percent more work is found in 20 runs a side, with the right size, and decides the exit code"""
    words = ("-n", "20", "-e", "task-clock,page-faults", "--fail-above", "3%", "--format=json", "--")
    for attempt in range(ATTEMPTS):
        done = c.compare(*words, c.work, "40000000", "--", c.work, "44000000")
        need(done.returncode in (0, 2), "exit code %d: %s" % (done.returncode, done.stderr))
        rows = {row["counter"]: row for row in json.loads(done.stdout)["tables"][0]["rows"]}
        clock = rows["task-clock"]
        if clock["high"] - clock["low"] < 10:
            break
        remark("attempt %d: the interval is %.1f %% to %.1f %%" % (attempt + 1, clock["low"], clock["high"]))
    else:
        need(clock["low"] < 10 < clock["high"], clock)
        raise Skip("other work on this machine makes the interval wider than the change, and the interval says so; a quiet machine runs it")
    need(done.returncode == 2, "exit code %d: %s" % (done.returncode, clock))
    need(clock["changed"] and 4 < clock["change"] < 16 and clock["low"] < clock["change"] < clock["high"], clock)
    need(clock["runs_a"] == clock["runs_b"] == 20, clock)
    need("elapsed" in rows and not rows["page-faults"]["changed"], rows)


def test_equal(c):
    """of 100 comparisons of equal commands at most five mark a counter"""
    alarms = 0
    for _ in range(100):
        done = c.compare("-n", "10", "--warmup", "0", "--fail-above", "0", "--", c.work, "100000", "--", c.work, "100000")
        need(done.returncode in (0, 2), done.stderr)
        alarms += done.returncode == 2
    remark("%d false alarms in 100 comparisons" % alarms)
    need(alarms <= 5, "%d alarms" % alarms)


def test_words(c):
    """--a and --b are split at blanks outside of quotes, without a shell"""
    script = os.path.join(c.folder, "script")
    with open(script, "w") as file:
        file.write('#!/bin/sh\nprintf "%s|" "$@" >>"$0.words"\n')
    os.chmod(script, 0o755)
    done = c.compare("-n", "1", "--warmup", "0", "--a", script + " 'a b' $HOME", "--b", script + ' "c d" e\\ f')
    need(done.returncode == 0, done.stderr)
    with open(script + ".words") as file:
        need(file.read() == "a b|$HOME|c d|e f|", "other words")


@by_samples
def test_results(c):
    """results of stat -j are compared"""
    files = [os.path.join(c.folder, name) for name in ("old.json", "new.json")]
    for path in files:
        if os.path.exists(path):
            os.unlink(path)
    for path, work in zip(files, ("20000000", "40000000")):
        for _ in range(12):
            done = process.perfuse("stat", "-j", "-e", "task-clock", "-o", path, "--append", c.work, work, env=environment(c.folder))
            if done.returncode:
                raise Skip("nothing can be counted here: " + done.stderr)
    done = c.compare("--fail-above", "10", "--format=json", *files)
    need(done.returncode == 2, "exit code %d: %s%s" % (done.returncode, done.stdout, done.stderr))
    row = json.loads(done.stdout)["tables"][0]["rows"][0]
    need(row["changed"] and row["change"] > 10 and row["runs_a"] == 12, row)


def record_counts(c, program, name, work, *options):
    done = process.run(program, "stat", "record", "-e", "task-clock,page-faults", "-o", name, *options, c.work, work, cwd=c.folder,
                       env=environment(c.folder))
    if done.returncode:
        raise Skip("nothing can be counted here: " + done.stderr)


def interval_clocks(c, name):
    """The task clock of each interval in which it ran, in ms: `stat report` prints sums."""
    reported = process.run(PERFUSE, "stat", "report", "-i", name, cwd=c.folder, env=environment(c.folder)).stderr
    sums = [float(text) for text in re.findall(r"([0-9.]+) msec task-clock", reported)]
    return [after - before for before, after in zip([0] + sums, sums) if after > before]


def test_recordings(c):
    """each interval of a recording of stat record is a value, also of perf's; a recording without intervals is one"""
    for program in filter(None, (PERFUSE, reference())):
        record_counts(c, program, "a.data", "800000000", "-I", "20")
        record_counts(c, program, "b.data", "800000000", "-I", "40")
        clock = rows_of(c.compare("--format=json", "a.data", "b.data"))["task-clock"]
        need(clock["unit"] == "msec" and clock["runs_a"] > 6, clock)
        for side in "ab":
            wanted = interval_clocks(c, side + ".data")
            need(clock["runs_" + side] == len(wanted) and abs(clock["median_" + side] - statistics.median(wanted)) < 0.02, (clock, wanted))
        record_counts(c, program, "run.data", "800000000")
        whole = rows_of(c.compare("--format=json", "a.data", "run.data"))["task-clock"]
        need(whole["runs_b"] == 1 and whole["changed"] is None, whole)
        need(abs(whole["median_b"] - sum(interval_clocks(c, "run.data"))) < 0.02, whole)


def test_recorded_lines(c):
    """a recording is compared with results of stat -j"""
    record_counts(c, PERFUSE, "run.data", "20000000")
    process.perfuse("stat", "-j", "-e", "task-clock", "-o", os.path.join(c.folder, "run.json"), c.work, "20000000", env=environment(c.folder))
    rows = rows_of(c.compare("--format=json", "run.data", "run.json"))
    need(rows["task-clock"]["runs_a"] == rows["task-clock"]["runs_b"] == 1, rows)


def test_configuration(c):
    """the configuration sets runs, events and the limit"""
    config = os.path.join(c.folder, "config")
    with open(config, "w") as file:
        file.write("[compare]\nruns = 7\nevents = task-clock\nfail-above = 10\n")
    done = c.compare("--format=json", "--", c.work, "1000000", "--", c.work, "4000000", PERF_CONFIG=config)
    rows = json.loads(done.stdout)["tables"][0]["rows"]
    need([row["counter"] for row in rows] == ["elapsed", "task-clock"] and rows[1]["runs_b"] == 7, rows)
    need(done.returncode == 2, "exit code %d" % done.returncode)


def test_bad(c):
    """commands that fail or are missing, files without results and impossible options have a sentence and a code"""
    empty = os.path.join(c.folder, "empty")
    with open(empty, "w"):
        pass
    damaged = os.path.join(c.folder, "damaged")
    with open(damaged, "wb") as file:
        file.write(b"PERFILE2" + bytes(7))
    for words, code in ((["--", c.work, "1", "3", "--", c.work, "1"], 1), (["--", "absent", "--", c.work], 127), (["--", c.work], 129), ([], 129),
                        (["--a", c.work], 129), (["--a", "'x", "--b", c.work], 129), (["-n", "0", "--", c.work, "--", c.work], 129),
                        (["-e", "none", "--", c.work, "--", c.work], 129), (["--fail-above", "x", "--", c.work, "--", c.work], 129),
                        ([empty, empty], 1), (["absent", empty], 1), (["/dev/null", empty], 1), ([damaged, empty], 1)):
        done = c.compare(*words)
        need(done.returncode == code, "%s: exit code %d instead of %d: %s" % (words, done.returncode, code, done.stderr))
        need(done.stderr.strip(), "%s says nothing" % words)
    need(c.compare("-i", "-n", "2", "--", c.work, "1", "3", "--", c.work, "1").returncode == 0, "-i does not ignore a failure")


if __name__ == "__main__":
    sys.exit(run_in_folder("comparisons of commands", Context, globals()))
