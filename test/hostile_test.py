#!/usr/bin/env python3
# sanitized: damaged recordings
"""Damaged recordings: small recordings made here, cut at many bytes (with PERFUSE_LONG, at each) and with bits flipped, and the malformed
files of $PERFUSE_CORPUS/fuzz. The program must not crash, hang or use excessive memory; it must report a cut file with
its name, and exit with 255. The tests of hostile/losses.py run first: recordings whose every record is known."""
import concurrent.futures
import os
import random
import resource
import shutil
import sys
import tempfile

from hostile import losses
from suite import process
from suite.perf import reference
from suite.process import Hang, environment
from suite.settings import CORPUS, LONG, PERFUSE, SANITIZED, SHORT
from suite.tests import report, run_tests, tests_of

WORKERS = min(2, os.cpu_count() or 1)
SECONDS_MAX = 60
MEMORY_BYTES_MAX = 2 << 30
FLIPS = 1500 if LONG else 60 if SANITIZED and SHORT else 150 if SANITIZED or SHORT else 500
CUT_STEP = 1 if LONG else 97 if SANITIZED and SHORT else 41 if SANITIZED else 9 if SHORT else 3
WHOLE_STEP_BYTES = 24 << 10  # a longer recording is cut at that many places, spread over it
COMMANDS = (("script", "-i"), ("report", "--stdio", "-i"), ("evlist", "-v", "-i"))
# name, how it is recorded; a pipe may end anywhere between two records, so that a cut need not be seen
RECORDINGS = (
    ("file", ["-e", "cpu-clock:u", "-g", "-c", "50000", "-o", "{}"], False),
    ("compressed", ["-e", "cpu-clock:u", "-c", "50000", "-z", "-o", "{}"], False),
    ("pipe", ["-e", "cpu-clock:u", "-g", "-c", "50000", "-o", "-"], True),
)


class Runs:
    """Runs the program on variants of a file, some at once, and collects the problems."""

    def __init__(self, folder):
        self.folder = folder

    def one(self, command, path):
        """(exit code or "hang", stderr)"""
        try:
            result = process.perfuse(*command, path, env=environment(self.folder), stdout=process.DEVNULL, seconds=SECONDS_MAX, close_fds=False)
        except Hang:
            return "hang", ""
        return result.returncode, result.stderr

    def each(self, variants, check):
        """Calls check(label, path) for each (label, make) of the variants; returns the problems."""
        problems = []

        def work(job):
            worker, share = job
            path = os.path.join(self.folder, "variant-%d" % worker)
            found = []
            for label, make in share:
                make(path)
                found += check(label, path)
            return found

        shares = [(i, variants[i::WORKERS]) for i in range(WORKERS)]
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            for found in pool.map(work, shares):
                problems += found
        return problems


def writer(data):
    def make(path):
        with open(path, "wb") as out:
            out.write(data)
    return make


def cuts(data):
    step = CUT_STEP * max(1, len(data) // WHOLE_STEP_BYTES)
    return [("cut at %d of %d" % (n, len(data)), writer(data[:n])) for n in range(len(data) - 1, -1, -step)]


def flips(data, seed):
    chance = random.Random(seed)
    variants = []
    for _ in range(FLIPS):
        damaged = bytearray(data)
        bits = [chance.randrange(len(data) * 8) for _ in range(chance.choice((1, 1, 1, 2, 8)))]
        for bit in bits:
            damaged[bit // 8] ^= 1 << bit % 8
        variants.append(("bits %s flipped" % bits, writer(bytes(damaged))))
    return variants


def check_cut(runs, command, is_pipe):
    def check(label, path):
        code, said = runs.one(command, path)
        if code != losses.DAMAGED and not (is_pipe and code == 0):
            return ["%s: exit %s: %s" % (label, code, said[:300])]
        if code and path not in said:
            return ["%s: the file is not named: %s" % (label, said[:200])]
        return []
    return check


def check_sound(runs, command):
    def check(label, path):
        code, said = runs.one(command, path)
        return [] if losses.is_sound(code) else ["%s: exit %s: %s" % (label, code, said[:300])]
    return check


def record(perf, folder, name, options, is_pipe):
    path = os.path.join(folder, name)
    with open(path if is_pipe else os.devnull, "wb") as out:
        done = process.run(perf, "record", *(o.format(path) for o in options), "--", "true", stdout=out, env=environment(folder))
    return open(path, "rb").read() if done.returncode == 0 and os.path.exists(path) else b""


def main():
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    box = losses.Box()
    failed = bool(run_tests(tests_of(vars(losses), box)))
    shutil.rmtree(box.folder, ignore_errors=True)
    if sys.argv[1:]:  # tests of losses.py by name
        return failed
    folder = tempfile.mkdtemp(prefix="perfuse-hostile-")
    runs = Runs(folder)
    for name, options, is_pipe in RECORDINGS:
        data = record(reference() or PERFUSE, folder, name, options, is_pipe)
        if not data:
            print("skip damaged recordings (%s): perf_event_open is refused here" % name)
            continue
        for command in COMMANDS:
            title = "%s of a damaged recording (%s, %d bytes)" % (" ".join(command[:-1]), name, len(data))
            failed |= report(title + ": cut at each byte", runs.each(cuts(data), check_cut(runs, command, is_pipe)), 10)
            failed |= report(title + ": bits flipped", runs.each(flips(data, name), check_sound(runs, command)), 10)
    fuzz = os.path.join(CORPUS, "fuzz")
    if os.path.isdir(fuzz):
        files = [(f, lambda path, f=f: shutil.copy(os.path.join(fuzz, f), path)) for f in sorted(os.listdir(fuzz))]
        for command in COMMANDS:
            failed |= report("%s of files malformed on purpose" % " ".join(command[:-1]), runs.each(files, check_sound(runs, command)), 10)
    else:
        print("skip files malformed on purpose: no such folder: %s (PERFUSE_CORPUS names another)" % fuzz)
    shutil.rmtree(folder, ignore_errors=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
