#!/usr/bin/env python3
"""record --trigger: snapshots of overwritten rings when a function of the program is reached, or takes longer than a limit."""
import os
import sys

from attributes import grammar
from suite import process
from suite.settings import PERFUSE, SANITIZED, TEST
from suite.tests import Skip, need, need_tools, run_in_folder

PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile unsigned long sink;
__attribute__((noinline)) void before_it(void) { for (int i = 0; i < 200000000; i++) sink++; }
__attribute__((noinline)) void after_it(void) { for (int i = 0; i < 100000000; i++) sink++; }
__attribute__((noinline)) void reached(void) { __asm__ volatile(""); }
__attribute__((noinline)) void call(int seconds) { if (seconds) sleep(seconds); __asm__ volatile(""); }

int main(int argc, char **argv)
{
	if (argc < 2) {
		for (int i = 0; i < 100; i++)
			call(i == 50 ? 3 : 0);
		return 0;
	}
	before_it();
	reached();
	while (access(argv[1], F_OK) != 0)
		usleep(10000);
	after_it();
	return 0;
}
"""


class Context:
    def __init__(self, folder):
        self.folder = folder
        self.program = os.path.join(folder, "prog")
        need_tools("cc")
        source = os.path.join(folder, "prog.c")
        with open(source, "w") as file:
            file.write(PROGRAM)
        process.must("cc", "-O1", "-g", source, "-o", self.program)
        tried = process.perfuse("record", "--overwrite", "--trigger", "reached", "-e", "cpu-clock:u", "-o", self.path("try.data"), "--",
                                self.program, self.program, cwd=folder)
        if tried.returncode and ("uprobes" in tried.stderr or "ermission" in tried.stderr or "not permitted" in tried.stderr):
            raise Skip("no uprobes here: " + tried.stderr.strip()[-150:])

    def path(self, name):
        return os.path.join(self.folder, name)


def functions(path):
    """By function: the number of samples in it or below it."""
    lines = process.must(PERFUSE, "script", "-F", "ip,sym", "-i", path).split("\n\n")
    names = ("before_it", "after_it")
    return {name: sum(name in sample for sample in lines) for name in names}


def test_reached(c):
    """a snapshot has what came before the function, and nothing of what came after it"""
    go, data = c.path("go"), c.path("reached.data")
    with process.start(PERFUSE, "record", "--overwrite", "-g", "--trigger", "reached", "-e", "cpu-clock:u", "-o", data, "--", c.program, go,
                       cwd=c.folder, stderr=process.PIPE) as recorder:
        line = ""
        while "snapshot" not in line:
            line = recorder.stderr.readline()
            need(line, "the recorder ended without a snapshot")
        need("reached: snapshot 1 ]" in line, line)
        with open(go, "w"):
            pass
        rest = recorder.stderr.read()
        need(recorder.wait() == 0, rest)
        need("snapshot" not in rest, rest)
    found = functions(data)
    need(found["before_it"] >= 5 and not found["after_it"], str(found))


def test_limit(c):
    """a call that takes longer than the limit makes one snapshot, the others none"""
    done = process.perfuse("record", "--overwrite", "--trigger", "call%return > 2s", "-e", "cpu-clock:u", "-o", c.path("limit.data"), "--",
                           c.program, cwd=c.folder)
    lines = [line for line in done.stderr.split("\n") if "snapshot" in line]
    need(done.returncode == 0 and len(lines) == 1, done.stderr)
    took = float(lines[0].split("took ")[1].split()[0])
    need(3000 <= took < 60000 and lines[0].endswith("snapshot 1 ]"), lines[0])


NO_TYPE = 4242  # of a PMU that no kernel has


def plant_trace(c):
    """The PMUs of a machine with Intel PT, with this kernel's uprobes; and the library that puts memory in place of AUX areas."""
    if SANITIZED or os.uname().machine != "x86_64" or not grammar.can_plant():
        raise Skip("PMUs cannot be planted here: no right to mount, another processor, or a sanitizer")
    tree, library = c.path("pmus"), c.path("opened.so")
    grammar.plant("intel-pt", tree)
    for name, kind in (("intel_pt", str(NO_TYPE)), ("uprobe", open(os.path.join(grammar.DEVICES, "uprobe", "type")).read().strip())):
        with open(os.path.join(tree, name, "type"), "w") as file:
            file.write(kind + "\n")
    process.must("cc", "-O1", "-shared", "-fPIC", "-o", library, os.path.join(TEST, "attributes", "opened.c"), "-ldl")
    return tree, library


def test_trace(c):
    """a trigger takes a snapshot of a hardware trace, which stops and goes on, on a machine whose trace is memory"""
    tree, library = plant_trace(c)
    go, data, log = c.path("go-trace"), c.path("trace.data"), c.path("log")
    words = ["env", "LD_PRELOAD=" + library, "OPENED=" + log, "OPENED_ANY=1", "OPENED_AREA=100000", "PERF_CPUID=" + grammar.CPU, PERFUSE, "record", "-S",
             "--trigger", "reached", "-e", "intel_pt//u", "-o", data, "--", c.program, go]
    with process.start(*grammar.planted(tree, words), cwd=c.folder, stderr=process.PIPE) as recorder:
        line = ""
        while "snapshot" not in line:
            line = recorder.stderr.readline()
            need(line, "the recorder ended without a snapshot")
        with open(go, "w"):
            pass
        rest = recorder.stderr.read()
        need("reached: snapshot 1 ]" in line and recorder.wait() == 0 and "snapshot" not in rest, line + rest)
    kinds, switches = {}, {}
    for line in open(log):
        words = line.split()
        if words[0] == "open":
            kinds[words[1]] = int.from_bytes(bytes.fromhex(words[6])[:4], "little")
        elif words[0] == "switch" and kinds[words[1]] == NO_TYPE:
            switches.setdefault(words[1], []).append(words[2])
    need(switches and all(words[:2] == ["off", "on"] for words in switches.values()), "switched: %s" % switches)
    pieces = process.must(PERFUSE, "report", "-D", "-i", data).count("PERF_RECORD_AUXTRACE size: 0x186a0 ")
    need(pieces == len(switches), "%d pieces of %d traces" % (pieces, len(switches)))


def test_errors(c):
    """a trigger without snapshots, of a function that does not exist, or with a wrong limit is refused"""
    for words, text in ((["--trigger", "reached"], "-S"), (["--overwrite", "--trigger", "nosuch"], "nosuch"),
                        (["--overwrite", "--trigger", "reached%return > 2"], "2ms"), (["--overwrite", "--trigger", "@x"], "SYMBOL"),
                        (["--overwrite", "--trigger", "reached@/no/such"], "/no/such"), (["-a", "--overwrite", "--trigger", "reached"], "@FILE")):
        program = [] if "-a" in words else ["--", c.program]
        done = process.perfuse("record", *words, "-e", "cpu-clock:u", "-o", c.path("refused.data"), *program, cwd=c.folder, seconds=60)
        need(done.returncode != 0 and text in done.stderr and not os.path.exists(c.path("refused.data")), "%s: %s" % (words, done.stderr))


if __name__ == "__main__":
    sys.exit(run_in_folder("triggers", Context, globals()))
