#!/usr/bin/env python3
# sanitized: damaged debug information
"""Source lines and inlined functions: byte for byte those that perf prints for the same recording, and those that a program states.
The programs are static, so that perf's treatment of the C library's debug files does not matter."""
import os
import re
import shutil
import sys
import tempfile

from suite import process
from suite.perf import reference, reordered, without_tip
from suite.settings import PERFUSE, SANITIZED, TEST
from suite.tests import Skip, by_samples, need, run_tests

HERE = os.path.join(TEST, "lines")

# Compiler, options, source, argument.
PROGRAMS = {
    "gcc-c": ("gcc", ["-O2", "-g"], "truth.c", "250"),
    "gcc-c-dwarf4": ("gcc", ["-O2", "-gdwarf-4"], "truth.c", "250"),
    "clang-c": ("clang", ["-O2", "-g"], "truth.c", "250"),
    "gcc-cc": ("g++", ["-O2", "-g"], "shop.cc", "150"),
    "clang-cc": ("clang++", ["-O2", "-g"], "shop.cc", "150"),
}
NAMES = ["report --stdio", "report --stdio -v", "report --stdio --no-children -g caller,srcline", "report --stdio -v -s sym -g none",
         "report --stdio --no-children -g folded", "script -F ip,sym"]
LINKED = {
    "linked-5": ("g++", ["-O2", "-gdwarf-5"], "linked.cc", "150"),
    "linked-4": ("g++", ["-O2", "-gdwarf-4"], "linked.cc", "150"),
    "long-cc": ("g++", ["-O1", "-gdwarf-4"], "long.cc", "2000"),
}
SOURCE = "script -F +srccode"
COMMANDS = [
    "report --stdio", "report --stdio --no-children -g caller", "report --stdio --no-inline", "report --stdio -s srcline -g none",
    "report --stdio --no-children -s srcline -g none", "report --stdio -s srcfile", "report --stdio -s sym,srcline",
    "report --stdio --no-children -s sym,srcline", "report --stdio --no-children -s srcfile,srcline -g caller",
    "report --stdio --no-children -g caller,srcline", "report --stdio -g caller,address", "report --stdio -F +srcline",
    # without callers: perf asks for no line of a module any more once 123 of its rows have none
    "report --stdio --full-source-path -g srcline", "report --stdio --no-children --full-source-path -s srcline,srcfile -g none",
    "script", "script --no-inline", "script -F +srcline", "script -F ip,sym,srcline", SOURCE,
    "script -F +srcline --full-source-path", "script -G -F +srcline",
    # rows of one line are joined by --sort, not by -F alone
    "report --stdio --no-children -F overhead,srcline -g none", "report --stdio -F overhead,srcfile,sym -g caller",
    "report --stdio --no-children -s sym -F overhead,srcline -g none",
]
# Of stacks that were unwound: frames with inlined calls have their line in rows of callers, and -p and --ignore-callees
# match none of them.
UNWOUND = [
    "report --stdio --children -s srcline -g none", "report --stdio --children -s srcline,srcfile -g none --full-source-path",
    "report --stdio -p work -s parent,sym -g none", "report --stdio --ignore-callees=work -g none", "script -F +srcline",
]
# libbfd, which perf asks, does not see what clang's DWARF 5 inlined in several pieces: nothing that depends on it. In C such a piece is
# few instructions long, and only +srccode prints the line of its caller.
FEW = ["report --stdio --no-children -s sym,srcline", "script -F +srcline", "script -F +srcline --full-source-path"]


def call(work, *command):
    return process.run(*command, cwd=work, text=False)


def make(work, name, link="-static"):
    compiler, options, source, _ = {**PROGRAMS, **LINKED}[name]
    if not shutil.which(compiler):
        raise Skip("no " + compiler)
    path = os.path.join(work, name)
    command = [compiler, *options, "-fno-omit-frame-pointer", os.path.join(HERE, source), "-o", path, link]
    result = call(work, *command)
    need(result.returncode == 0, result.stderr.decode(errors="replace")[:300])
    return path


def record(work, recorder, program, argument, *options, event="cpu-clock"):
    """The recording's path and what the program printed."""
    data = program + ".data"
    result = call(work, recorder, "record", "-q", "-e", event, "-F", "4000", *options, "-o", data, "--", program, argument)
    if result.returncode != 0 or not os.path.exists(data):
        raise Skip("cannot record here: " + result.stderr.decode(errors="replace").strip()[:150])
    return data, result.stdout.decode()


def agrees(work, perf, program, argument, commands, stacks=("-g",)):
    # of user code only: the caller of a function whose first instruction faults is not yet on the stack
    data, _ = record(work, perf, program, argument, *stacks, event="cpu-clock:u")
    for text in commands:
        command = text.split() + ["-i", data]
        theirs, ours = call(work, perf, *command), call(work, PERFUSE, *command)
        need(ours.returncode == 0, "%s: exit code %d %s" % (text, ours.returncode, ours.stderr.decode(errors="replace")[:200]))
        a, b = without_tip(theirs.stdout).split(b"\n"), without_tip(ours.stdout).split(b"\n")
        if text.startswith("report") and reordered(a) == reordered(b):
            continue
        for number, (x, y) in enumerate(zip(a, b), 1):
            need(x == y, "%s: line %d is %r, perf has %r" % (text, number, y[:160], x[:160]))
        need(len(a) == len(b), "%s: %d lines, perf has %d" % (text, len(b), len(a)))


def shares(spent):
    total = sum(spent.values())
    return {name: value / total for name, value in spent.items()} if total else {}


def close(seen, want, what):
    for name, share in want.items():
        need(abs(seen.get(name, 0) - share) < 0.06, "%s: %s has %.1f %%, the program says %.1f %%" %
             (what, name, 100 * seen.get(name, 0), 100 * share))


@by_samples
def says_the_truth(work, recorder, name):
    program = make(work, name)
    data, printed = record(work, recorder, program, "800", "-g")
    rows = [line.split() for line in printed.splitlines()]
    need(len(rows) == 3, "the program printed %r" % printed)
    want = shares({row[0]: int(row[3]) for row in rows})

    lines = call(work, PERFUSE, "script", "-G", "-F", "ip,sym,srcline", "-i", data).stdout.decode()
    by_line = {}
    for line in re.findall(r"^  truth\.c:(\d+)", lines, re.M):
        for row in rows:
            if int(row[1]) <= int(line) <= int(row[2]):
                by_line[row[0]] = by_line.get(row[0], 0) + 1
    close(shares(by_line), want, "by lines")

    by_name = {}
    for line in call(work, PERFUSE, "flamegraph", "--folded", "--annotate", "-i", data).stdout.decode().splitlines():
        stack, weight = line.rsplit(" ", 1)
        for row in rows:
            inlined = row[0] + ("" if row[0] == "alone" else "_[i]")
            if ";" + inlined in stack:
                by_name[row[0]] = by_name.get(row[0], 0) + int(weight)
                need(row[0] == "alone" or ";both_[i];" + inlined in stack, "%s is not in both: %s" % (inlined, stack))
    close(shares(by_name), want, "by inlined functions")

    plain = call(work, PERFUSE, "flamegraph", "--folded", "--annotate", "--no-inline", "-i", data).stdout.decode()
    need("_[i]" not in plain, "--no-inline shows inlined functions")


def unwound_stacks_have_inlined_frames(work, recorder):
    program = make(work, "gcc-c")
    data, _ = record(work, recorder, program, "150", "--call-graph", "dwarf,4096")
    text = call(work, PERFUSE, "script", "-F", "+srcline", "-i", data).stdout.decode()
    need(re.search(r"\tdivide|\t +[0-9a-f]+ divide\+0x[0-9a-f]+\n  truth\.c:\d+ \(inlined\)\n\t +[0-9a-f]+ both\+0x[0-9a-f]+\n"
                   r"  truth\.c:\d+ \(inlined\)\n\t +[0-9a-f]+ turn\+0x", text), "no chain of divide, both, turn in " + text[:600])
    need("(inlined)" not in call(work, PERFUSE, "script", "--no-inline", "-i", data).stdout.decode(), "--no-inline shows inlined ones")
    report = call(work, PERFUSE, "report", "--stdio", "--no-children", "-i", data).stdout.decode()
    need(re.search(r"divide \(inlined\)", report), "no inlined function in the report")
    need("(inlined)" not in call(work, PERFUSE, "report", "--stdio", "--no-inline", "-i", data).stdout.decode(), "report --no-inline")


def addresses(text):
    """Of each frame of script's, once for all that was inlined there."""
    found = [line.split()[0] if line else "" for line in text.splitlines()]
    return [a for a, before in zip(found, [None] + found) if a != before or not a]


def other_stacks_have_them_where_asked(work, recorder):
    program = make(work, "gcc-c")
    data, _ = record(work, recorder, program, "150", "-g", event="cpu-clock:u")
    plain = call(work, PERFUSE, "script", "-F", "ip,sym", "-i", data).stdout.decode()
    need("(inlined)" not in plain, "script shows inlined functions unasked, where perf has none")
    text = call(work, PERFUSE, "script", "--inline", "-F", "ip,sym", "-i", data).stdout.decode()
    need(re.search(r"\t *[0-9a-f]+ divide \(inlined\)\n\t *[0-9a-f]+ both \(inlined\)\n\t *[0-9a-f]+ turn", text),
         "no chain of divide, both, turn in " + text[:600])
    need(addresses(text) == addresses(plain), "the stacks are not what they are without --inline")
    report = call(work, PERFUSE, "report", "--stdio", "--inline", "--no-children", "-i", data).stdout.decode()
    need(re.search(r"divide \(inlined\)", report), "no inlined function in the report")


def graph_has_the_lines_of_script(work, recorder):
    program = make(work, "gcc-c")
    data, _ = record(work, recorder, program, "150", "-g", event="cpu-clock:u")
    for options in ((), ("--full-source-path",)):
        text = call(work, PERFUSE, "script", "--inline", "-F", "ip,sym,srcline", *options, "-i", data).stdout.decode()
        wanted = set(re.findall(r"\t *[0-9a-f]+ (\w+)[^\n]*\n  (\S*truth\.c:[1-9]\d*)", text))
        graph = call(work, PERFUSE, "flamegraph", "--folded", "--srcline", *options, "-i", data).stdout.decode()
        found = set(re.findall(r"(?:^|;)(\w+)[^; ]* (\S*truth\.c:\d+)(?=;| \d+$)", graph, re.M))
        need(len(wanted) > 5 and found == wanted, "script has %s, the graph %s" % (sorted(wanted - found), sorted(found - wanted)))


def the_same_each_time(work, recorder):
    program = make(work, "gcc-cc")
    data, _ = record(work, recorder, program, "300", "-g", event="cpu-clock:u")
    one = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
    for text in ("report --stdio --inline", "report --stdio --inline -G -s sym", "flamegraph --min-width 0 -o -", "flamegraph --folded"):
        command = [PERFUSE, *text.split(), "-i", data]
        outputs = {without_tip(call(work, *pinned, *command).stdout) for pinned in (one, [], [], [], [])}
        need(len(outputs) == 1, "%s is not always the same" % text)


def tests(work):
    perf = reference()
    for name, (_, _, _, argument) in PROGRAMS.items():
        commands = FEW if SANITIZED or name in ("gcc-c-dwarf4", "clang-cc") else [c for c in COMMANDS if (name, c) != ("clang-c", SOURCE)]

        def agree(name=name, argument=argument, commands=commands):
            if not perf:
                raise Skip("no reference perf")
            agrees(work, perf, make(work, name), argument, commands)
        yield "source lines of %s are what perf prints" % name, agree
    for name, (_, _, _, argument) in LINKED.items():
        if name == "long-cc":
            continue

        def unwound(name=name, argument=argument):
            if not perf:
                raise Skip("no reference perf")
            agrees(work, perf, make(work, name, "-static-pie"), argument, UNWOUND, ("--call-graph", "dwarf,4096"))
        yield "source lines of %s's unwound stacks are what perf prints" % name, unwound

    def long_names():
        if not perf:
            raise Skip("no reference perf")
        agrees(work, perf, make(work, "long-cc"), "2000", NAMES)
    yield "names of functions that are longer than perf's lines are cut where it cuts them", long_names
    for name in ("gcc-c", "clang-c"):
        yield "lines and inlined functions of %s are those that the program states" % name, \
            lambda name=name: says_the_truth(work, perf or PERFUSE, name)
    yield "unwound stacks have inlined functions", lambda: unwound_stacks_have_inlined_frames(work, perf or PERFUSE)
    yield "a flame graph has the lines of script", lambda: graph_has_the_lines_of_script(work, perf or PERFUSE)
    yield "inlined functions are shown in the same order each time, on one core and on all", \
        lambda: the_same_each_time(work, perf or PERFUSE)
    yield "other stacks have inlined functions if --inline is given", lambda: other_stacks_have_them_where_asked(work, perf or PERFUSE)


def main():
    with tempfile.TemporaryDirectory(prefix="lines-") as work:
        return run_tests(tests(work))


if __name__ == "__main__":
    sys.exit(main())
