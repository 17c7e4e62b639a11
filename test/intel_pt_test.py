#!/usr/bin/env python3
"""Intel PT traces whose instruction stream is known ($PERFUSE_CORPUS/pt/truth, which describes them): perfuse script must print each
instruction that was executed, of each thread, in order. The same traces with bytes changed must end in bounded time.
intel_pt_test.py NAME...: only the traces whose name contains one of these words."""
import glob
import json
import lzma
import os
import random
import struct
import sys
import tarfile
import tempfile

from suite import process
from suite.settings import CORPUS, SHORT
from suite.tests import Failure, is_selected, need, report, skipped

TRUTH = os.path.join(CORPUS, "pt", "truth")
ENTRY = struct.Struct("<QQQQIBBBB")  # ip, target, tsc, cycle, tid, length, kind, flags, cpu
NOT_DECODABLE, PERHAPS = 1, 2
DAMAGED = 5 if SHORT else 40


def truth(name):
    """By thread: the addresses of its instructions, and how many of the last ones may be missing."""
    with lzma.open(os.path.join(TRUTH, name + ".gt.xz")) as file:
        data = file.read()
    threads, perhaps = {}, {}
    for ip, _, _, _, tid, _, _, flags, _ in ENTRY.iter_unpack(data):
        if flags & NOT_DECODABLE:
            continue
        threads.setdefault(tid, []).append(ip)
        perhaps[tid] = perhaps.get(tid, 0) + 1 if flags & PERHAPS else 0
    return threads, perhaps


def script(name, symfs, *options, path=None, **more):
    vmlinux = ["-k", os.path.join(TRUTH, "kern.vmlinux")] if name.startswith("kern.") else []
    return process.perfuse("script", "--symfs", symfs, *vmlinux, *options, "-i", path or os.path.join(TRUTH, name + ".data"), **more)


def compare(name, symfs):
    threads, perhaps = truth(name)
    lines = script(name, symfs, "--itrace=i1ie", "-F", "tid,ip").stdout.split("\n")
    found = {}
    for line in filter(None, lines):
        words = line.split()
        need(len(words) == 2, "not an instruction: " + line)
        found.setdefault(int(words[0]), []).append(int(words[1], 16))
    problems = []
    if name.startswith("kern."):  # an interrupt's code belongs to the thread that it interrupts
        found, threads = {0: sum(found.values(), [])}, {0: sum(threads.values(), [])}
        perhaps = {0: max(perhaps.values())}
    for tid, expected in threads.items():
        ours = found.get(tid, [])
        least = len(expected) - perhaps[tid]
        if ours != expected[:len(ours)] or len(ours) < least:
            at = next((i for i, (a, b) in enumerate(zip(ours, expected)) if a != b), min(len(ours), len(expected)))
            problems.append("thread %d: %d of %d instructions, different from %d on" % (tid, len(ours), len(expected), at))
    return problems


def branches(name, symfs):
    """The branches add up: each begins where the one before it led, or after it, in the order of time."""
    problems, last = [], 0.0
    for line in filter(None, script(name, symfs, "--itrace=b", "--ns", "-F", "time,ip,addr").stdout.split("\n")):
        time = float(line.split(":")[0])
        if time < last:
            problems.append("time goes back: " + line)
        last = time
    with open(os.path.join(TRUTH, name + ".json")) as file:
        described = json.load(file)
    need(last > 0 or not described["instructions"], "no branch has a time")
    return problems


def damage(name, symfs, folder):
    """No crash and no hang, whatever the bytes are."""
    with open(os.path.join(TRUTH, name + ".data"), "rb") as file:
        whole = file.read()
    chance = random.Random(name)
    problems = []
    for attempt in range(DAMAGED):
        bytes_ = bytearray(whole)
        for _ in range(chance.choice([1, 4, 64])):
            bytes_[chance.randrange(0x300, len(bytes_))] = chance.choice([0, 2, 0x82, 0xff, chance.randrange(256)])
        path = os.path.join(folder, "damaged.data")
        with open(path, "wb") as file:
            file.write(bytes_[:chance.randrange(0x400, len(bytes_))] if attempt % 4 == 3 else bytes_)
        done = script(name, symfs, "--itrace=i1000ibewpxo", path=path, seconds=60)
        if done.returncode < 0:
            problems.append("attempt %d: signal %d: %s" % (attempt, -done.returncode, done.stderr[-300:]))
    return problems


def main():
    names = sorted(os.path.basename(path)[:-len(".gt.xz")] for path in glob.glob(os.path.join(TRUTH, "*.gt.xz")))
    if not names:
        skipped("traces with known instructions", "no such folder: %s (PERFUSE_CORPUS names another)" % TRUTH)
        return
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        symfs = os.path.join(folder, "symfs")
        with tarfile.open(os.path.join(TRUTH, "symfs.tar.xz")) as files:
            files.extractall(symfs)
        for name in filter(is_selected, names):
            for what, check in (("every instruction of %s is decoded", lambda: compare(name, symfs)),
                                ("branches of %s are in order", lambda: branches(name, symfs)),
                                ("damage of %s is survived", lambda: damage(name, symfs, folder))):
                try:
                    problems = check()
                except Failure as why:
                    problems = [str(why)]
                failed |= report(what % name, problems)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
