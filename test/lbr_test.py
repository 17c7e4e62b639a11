#!/usr/bin/env python3
"""Branch stacks (LBR): the code between branches, blocks and branch columns, byte for byte as perf prints them, of recordings whose programs
are known ($PERFUSE_CORPUS/pt/truth) and of recordings of others ($PERFUSE_CORPUS/perfdata)."""
import json
import os
import re
import sys
import tarfile

from suite import process
from suite.perf import first_difference, need_reference, without_tip
from suite.settings import CORPUS
from suite.tests import Skip, need, run_in_folder

TRUTH = os.path.join(CORPUS, "pt", "truth")
KNOWN = ("mix.lbr", "pp.lbr")
OTHERS = ("autofdo.lbr", "covlizer.lbr", "quipper.branch_stack_hw_index", "quipper.callgraph_and_branch-3.4")


class Context:
    def __init__(self, folder):
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
    def lines(text):
        return re.sub(rb" +\[\w+\.[ch]:(\d+) -> \w+\.[ch]:(\d+)\]", rb" [\1 \2]", text)
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
