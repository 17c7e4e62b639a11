#!/usr/bin/env python3
# sanitized: damaged records
"""Intel BTS: recordings made of the instructions of known programs ($PERFUSE_CORPUS/pt/truth), read as perf reads them.
intel_bts_test.py NAME...: only the tests whose name contains one of these words."""
import lzma
import os
import random
import struct
import sys
import tarfile
import tempfile

from suite import process, traces
from suite.perf import first_difference, need_reference
from suite.settings import CORPUS, SHORT
from suite.tests import Failure, Skip, is_selected, report, skipped

TRUTH = os.path.join(CORPUS, "pt", "truth")
ENTRY = struct.Struct("<QQQQIBBBB")  # ip, target, tsc, cycle, tid, length, kind, flags, cpu
NOT_DECODABLE = 1
SOURCE = "mix.pt_base"
KERNEL = 0xffffffff81000000
LATER = 10 ** 9  # ticks
MORE = b"an end"  # perf leaves out the last record of a buffer that holds whole records
DAMAGED = 5 if SHORT else 40


def truth():
    with lzma.open(os.path.join(TRUTH, SOURCE + ".gt.xz")) as file:
        entries = ENTRY.iter_unpack(file.read())
    return [(entry[0], entry[5], entry[7]) for entry in entries if not entry[7] & NOT_DECODABLE]


def pairs(instructions):
    """The branches of the program, among them some of each kind that it does not have."""
    true = traces.branches(instructions)
    odd = [(true[5][0], 0), (0, 0), (0x1000, 0x2000), (true[6][0], KERNEL), (KERNEL, true[7][1]), (0, true[5][0])]
    asynchronous = [(instructions[3][0], KERNEL + 64), (KERNEL + 70, instructions[4][0])]
    return [(0, true[0][0])] + true[:5] + odd + true[5:100] + asynchronous + true[100:]


def make(folder, cuts, more=MORE, first=0):
    """A recording of buffers that end at these shares of the branches, from the branch of this number on."""
    path, all_pairs = os.path.join(folder, "bts.data"), pairs(truth())[first:]
    places = [0] + [int(len(all_pairs) * cut) for cut in cuts] + [len(all_pairs)]
    bodies = [traces.body(all_pairs[a:b]) + more for a, b in zip(places, places[1:])]
    traces.write_bts(path, os.path.join(TRUTH, SOURCE + ".data"), [(i * LATER, body) for i, body in enumerate(bodies)])
    return path


AGREED = [["script", "--itrace=be", "-F", "+flags,+addr,+insn,+insnlen"], ["script"], ["script", "--itrace=cre", "-F", "+flags,+addr,+callindent"],
    ["script", "--itrace=bs5", "--ns", "-F", "pid,tid,cpu,ip,sym,addr,period,flags"], ["script", "--call-trace"], ["script", "-D"],
    ["script", "--itrace=be", "--show-task-events", "--show-mmap-events"], ["report", "--stdio"], ["report", "--stdio", "--itrace=c", "-s", "sym,dso"]]


def agrees(symfs, folder):
    """Branches, their kinds and instructions, errors, the depth of calls and the records are perf's, byte for byte."""
    problems, path = [], make(folder, [0.3, 0.5, 0.9])
    for words in AGREED:
        command = [*words, "--symfs", symfs, "-i", path]
        perfs, ours = (process.run(program, *command, text=False).stdout for program in (need_reference(), process.PERFUSE))
        if words[0] == "report":  # tips at the end differ
            perfs, ours = (text.split(b"\n\n#\n# (Tip")[0] for text in (perfs, ours))
        if ours != perfs or ours.count(b"\n") < 100:
            problems.append("%s: %s" % (" ".join(words), first_difference(ours, perfs)))
    return problems


def agrees_from_the_middle(symfs, folder):
    """The first branch of a buffer that the trace does not begin with has the kind of its instruction, too."""
    path = make(folder, [0.5], first=1)
    words = ["script", "--itrace=be", "-F", "+flags,+addr", "--symfs", symfs, "-i", path]
    perfs, ours = (process.run(program, *words, text=False).stdout for program in (need_reference(), process.PERFUSE))
    return [] if ours == perfs and ours.count(b"\n") > 100 else [first_difference(ours, perfs)]


def is_complete(symfs, folder):
    """Each branch is shown, the last of a buffer, too, and in order."""
    path = make(folder, [0.5], b"")
    lines = process.perfuse("script", "--symfs", symfs, "--itrace=b", "-F", "ip,addr", "-i", path).stdout.split("\n")
    found = [tuple(int(word, 16) for word in line.split(" => ")) for line in filter(None, lines)]
    expected = [pair for pair in pairs(truth()) if pair != (0, 0)]
    at = next((i for i, (a, b) in enumerate(zip(found, expected)) if a != b), min(len(found), len(expected)))
    return [] if found == expected else ["%d branches of %d, different from %d on" % (len(found), len(expected), at)]


def damage(symfs, folder):
    """Damaged records end in bounded time."""
    with open(make(folder, [0.5]), "rb") as file:
        data = file.read()
    chance, problems, path = random.Random(1), [], os.path.join(folder, "damaged")
    for attempt in range(DAMAGED):
        bad = bytearray(data)
        for _ in range(100):
            bad[chance.randrange(400, 4000 if attempt % 2 else len(bad))] = chance.randrange(256)
        with open(path, "wb") as file:
            file.write(bad)
        done = process.perfuse("script", "--symfs", symfs, "--itrace=be", "-i", path, seconds=60)
        if done.returncode < 0:
            problems.append("attempt %d: signal %d: %s" % (attempt, -done.returncode, done.stderr[-300:]))
    return problems


TESTS = [("branches of BTS are perf's", agrees), ("the first branch of BTS is perf's", agrees_from_the_middle),
         ("every branch of BTS is shown", is_complete), ("damage of BTS is survived", damage)]


def main():
    if not os.path.exists(os.path.join(TRUTH, SOURCE + ".data")):
        skipped("recordings of BTS", "no such folder: %s (PERFUSE_CORPUS names another)" % TRUTH)
        return
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        symfs = os.path.join(folder, "symfs")
        with tarfile.open(os.path.join(TRUTH, "symfs.tar.xz")) as files:
            files.extractall(symfs)
        for name, check in TESTS:
            if not is_selected(name):
                continue
            try:
                problems = check(symfs, folder)
            except Skip as why:
                skipped(name, str(why))
                continue
            except Failure as why:
                problems = [str(why)]
            failed |= report(name, problems)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
