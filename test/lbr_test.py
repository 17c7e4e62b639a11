#!/usr/bin/env python3
"""Branch stacks (LBR): the code between branches, blocks and branch columns, byte for byte as perf prints them, of recordings whose programs
are known ($PERFUSE_CORPUS/pt/truth) and of recordings of others ($PERFUSE_CORPUS/perfdata)."""
import json
import os
import re
import struct
import sys
import tarfile

from suite import process, recording
from suite.perf import first_difference, need_reference, without_tip
from suite.settings import CORPUS
from suite.tests import Skip, need, run_in_folder

TRUTH = os.path.join(CORPUS, "pt", "truth")
KNOWN = ("mix.lbr", "pp.lbr")
OTHERS = ("autofdo.lbr", "covlizer.lbr", "quipper.branch_stack_hw_index", "quipper.callgraph_and_branch-3.4")


class Context:
    def __init__(self, folder):
        self.folder = folder
        self.symfs = os.path.join(folder, "symfs")
        if os.path.isdir(TRUTH):
            with tarfile.open(os.path.join(TRUTH, "symfs.tar.xz")) as files:
                files.extractall(self.symfs)


def files(known=True, others=True):
    found = [os.path.join(TRUTH, name + ".data") for name in KNOWN if known]
    found += [os.path.join(CORPUS, "perfdata", name + ".data") for name in OTHERS if others]
    found = list(filter(os.path.exists, found))
    if not found:
        raise Skip("no such recordings in %s (PERFUSE_CORPUS names another folder)" % CORPUS)
    return found


def compare(c, commands, paths, change=lambda text: text):
    for path in paths:
        for words in commands:
            words = [*words, "--symfs", c.symfs, "-i", path]
            perfs = process.run(need_reference(), *words, text=False)
            ours = process.perfuse(*words, text=False)
            a, b = change(without_tip(ours.stdout)), change(without_tip(perfs.stdout))
            need(ours.returncode == perfs.returncode, "%s: exit code %d, perf has %d" % (" ".join(words), ours.returncode, perfs.returncode))
            need(a == b, "%s: %s" % (" ".join(words), first_difference(a, b)))


def lines(text):
    """Blocks without the names of their source files, and without the pluses behind letters, which perf prints for all counters that follow a
    saturated one; those behind numbers stay."""
    text = re.sub(rb"(?<=\|)[A-Z]*\+ *(?=\|)", lambda found: found[0].replace(b"+", b" "), text)
    return re.sub(rb" +\[\w+\.[ch]:(\d+) -> \w+\.[ch]:(\d+)\]", rb" [\1 \2]", text)


USER_ONLY, ANY, COUNTERS = 1, 8, 1 << 19
EVENTS = (("instructions:u", 1, ANY, 0), ("cache-misses:u", 3, COUNTERS, 0), ("branch-misses:u", 5, COUNTERS, 0), ("cycles:u", 0, ANY | COUNTERS, 3),
          ("cache-misses:u", 3, COUNTERS, 3))
GROUPS = ((0, 3), (3, 2))  # first event, members


def with_counters(path, out):
    """Writes a recording of one event as one of two groups, whose branches count occurrences of four of the five events. As the kernel does,
    samples of all events of a group have the counters, even if the attribute of the leader does not ask for them."""
    data = open(path, "rb").read()
    at, size = struct.unpack_from("<QQ", data, 40)
    kind = (recording.SAMPLE_IP | recording.SAMPLE_TID | recording.SAMPLE_TIME | recording.SAMPLE_CPU | recording.SAMPLE_PERIOD |
            recording.SAMPLE_BRANCH_STACK)
    attributes = [recording.attribute(kind | recording.SAMPLE_IDENTIFIER | recording.SAMPLE_DATA_SRC,
                                      recording.FLAG_MMAP | recording.FLAG_COMM | recording.FLAG_SAMPLE_ID_ALL | recording.FLAG_MMAP2 | 1 << 5 | 1 << 6,
                                      kind=0, config=config, branch_type=USER_ONLY | branch) for _, config, branch, _ in EVENTS]
    records, end, number, seed = [], at + size, 0, 1
    while at < end:
        number_of, misc, length = struct.unpack_from("<IHH", data, at)
        body = data[at + 8:at + length]
        at += length
        if number_of == recording.SAMPLE:
            event = number % len(EVENTS)
            branches = struct.unpack_from("<Q", body, 40)[0]
            words = []
            for _ in range(branches):  # two bits for each event; many events do not occur
                seed = seed * 6364136223846793005 + 1442695040888963407 & 2 ** 64 - 1
                words.append((0, 1, 4, 5, 2, 0, 6, 8, 0, 0, 9, 10, 0, 1, 4, 3 if seed >> 52 & 31 == 0 else 0)[seed >> 60])
            body = struct.pack("<Q", 100 + event) + body + struct.pack("<%dQQ" % branches, *words, 0x5080021)
            number += 1
        elif number_of < recording.HEADER_ATTR:
            body += struct.pack("<Q", 100)
        records.append(recording.record(number_of, body, misc))
    features = recording.header_features(data)
    features[recording.EVENT_DESC] = recording.event_descriptions(attributes, [event[0] for event in EVENTS], range(100, 100 + len(EVENTS)))
    features[recording.GROUP] = struct.pack("<I", len(GROUPS)) + b"".join(
        recording.header_text("{anon_group}") + struct.pack("<II", *group) for group in GROUPS)
    features[recording.CPU_PMU_CAPS] = struct.pack("<I", 3) + b"".join(
        map(recording.header_text, ("branch_counter_nr", "4", "branch_counter_width", "2", "branches", "32")))
    recording.write(out, records, attributes, features, ids=range(100, 100 + len(EVENTS)))


def test_counters(c):
    """branch counters are perf's: in blocks, beside code and in dumps; annotations show them, too"""
    counted = []
    for path in files(others=False):
        counted.append(os.path.join(c.folder, os.path.basename(path)))
        with_counters(path, counted[-1])
    compare(c, [["script", "-F", "ip,brstackinsn,+brcntr"], ["script", "-v", "-F", "event,ip,brstackinsn,+brcntr"], ["script", "-D"],
                ["report", "--stdio", "--total-cycles"], ["report", "--stdio", "--total-cycles", "-v"]], counted, lines)
    for path in counted[-1:]:  # report leaves out stacks whose newest branch has no cycles, as perf; the last recording has none
        column = re.compile(r"\|(?:[-A-Z]{1,3}\+? *\|){4}")
        words = ["--symfs", c.symfs, "-i", path]
        blocks = column.findall(process.must(process.PERFUSE, "report", "--stdio", "--total-cycles", *words))
        code = column.findall(process.must(process.PERFUSE, "annotate", "--stdio2", *words))
        need(len(set(blocks)) > 3 and set(blocks) <= set(code), "the counters of blocks are not those of code: %s" % (set(blocks) - set(code)))


def test_code(c):
    """the code between recorded branches is perf's"""
    compare(c, [["script", "-F", "ip,brstackinsn"], ["script", "-F", "+brstackinsnlen"], ["script", "-F", "ip,sym,brstackinsn,srccode"],
                ["script", "-F", "ip,brstackinsn", "--max-blocks", "3"], ["script", "-F", "ip,sym,insn,insnlen,disasm"]], files())


def test_assembly(c):
    """the same as assembly, apart from instructions that perf's disassembler does not know"""
    def known(text):
        return re.sub(rb"(?m)^(\t[0-9a-f]{16}\t)(insn: (62|c5)|v\w+ |kmov).*$", rb"\1", text)
    compare(c, [["script", "-F", "ip,brstackdisasm,brstackinsnlen"]], files(), known)


def test_blocks(c):
    """blocks of code by their cycles are perf's, apart from the names of source files (perf takes the first file of DWARF 5 for another)"""
    compare(c, [["report", "--stdio", "--total-cycles", *more] for more in ([], ["-q"], ["--sort", "sym"])], files(), lines)
    compare(c, [["report", "--stdio", "--total-cycles", "--time", "10%-40%"]], files(others=False), lines)


def test_block_table(c):
    """the table of blocks has the values of the text"""
    for path in files(others=False):
        words = ["report", "--total-cycles", "--symfs", c.symfs, "-i", path]
        rows = json.loads(process.must(process.PERFUSE, *words, "--format=json"))["tables"][0]["rows"]
        lines = [line.split() for line in process.must(process.PERFUSE, *words, "--stdio", "-q").split("\n") if "%" in line and line[0] != "#"]
        need(rows and len(rows) == len(lines), "%d rows, %d lines" % (len(rows), len(lines)))
        for row, line in zip(rows, lines):
            need("%.2f%%" % (100 * row["share"]) == line[0] and row["dso"] == line[-1] and row["cycles"] // row["runs"] == row["average"],
                 "%s: %s" % (row, line))


def test_columns(c):
    """columns of branches, instructions per cycle and their coverage are perf's"""
    def own(text):  # _init extends to the end of its section, which is code in one of the two disassemblies
        return b"\n".join(line for line in text.split(b"\n") if b" _init " not in line)
    compare(c, [["report", "--stdio", "-s", "symbol_from,symbol_to,cycles,mispredict,in_tx,abort"], ["report", "--stdio", "-b"]], files(), own)


if __name__ == "__main__":
    sys.exit(run_in_folder("branch stacks", Context, globals()))
