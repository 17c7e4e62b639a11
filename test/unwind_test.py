#!/usr/bin/env python3
# sanitized: damaged stacks
"""Recorded user stacks are unwound to the actual callers: programs in which each function has exactly one possible chain of
callers (truth.cc), built in several ways, recorded with --call-graph dwarf; all chains must be exactly right, or
marked as cut. UNWIND_MS sets how long each part of a program runs; UNWIND_KEEP=FOLDER builds there, and does not remove it."""
import collections
import contextlib
import io
import os
import platform
import re
import shutil
import sys
import tempfile

from suite import process
from suite.process import compilers
from suite.settings import PERFUSE, SANITIZED, SHORT, TEST
from suite.tests import ATTEMPTS

HERE = os.path.join(TEST, "unwind")
MS = os.environ.get("UNWIND_MS", "100" if SHORT else "250")
STACK_BYTES = 32768

START = ["__libc_start_call_main", "__libc_start_main", "_start"]
CLONE = ["start_thread", "clone3"]
# callee: its one caller; a list: what must follow to the end; a tuple: one of these, of which one is right by its own row
CALLERS = {
    "leaf_small": "saves_many", "saves_many": "part_frames", "leaf_array": "big_frame", "big_frame": "with_alloca",
    "with_alloca": "realigned", "realigned": "part_frames", "asm_tail": "asm_expression", "asm_target": "asm_expression",
    "asm_expression": "part_asm", "jit_called": "JIT", "on_signal": "SIGNAL", "on_other_stack": "SIGNAL", "handler_work": ("on_signal", "on_other_stack"),
    "interrupted": ("part_signal", "part_other_stack"), "thrower": "passes_through", "passes_through": "part_exceptions",
    "jumper": "calls_jumper", "calls_jumper": "part_jumps", "context_work": "context_main", "context_main": ["__start_context"],
    "coroutine_work": ("counts", "part_coroutine"), "counts": ("counts", "part_coroutine"), "called_back": "outside_calls", "outside_calls": "thread_main",
    "outside_leaf": "thread_main", "thread_main": CLONE, "main": START,
    "rust_leaf": "rust_vector", "rust_vector": "rust_part", "rust_leaf2": "rust_panics", "rust_panics": "RUST", "rust_part": "RUST",
}
CALLERS.update({"deep<%d>" % n: "deep<%d>" % (n + 1) for n in range(300)})
CALLERS["deep<300>"] = "part_deep"
CALLERS.update({"part_" + name: "main" for name in
                "frames deep asm jit signal other_stack exceptions jumps context coroutine thread".split()})
# functions of libraries and stubs may precede the first of ours: they are not judged
CUT = "ffffffffffffffff"

# name, compiler and options; {d} is the folder
BUILDS = [
    ("gcc -O0", "g++ -O0"),
    ("gcc -O2", "g++ -O2 -fomit-frame-pointer"),
    ("gcc -O3 -march=native", "g++ -O3 -march=native -fomit-frame-pointer"),
    ("gcc -O2 with frame pointers", "g++ -O2 -fno-omit-frame-pointer"),
    ("gcc -Os, LTO", "g++ -Os -flto -fomit-frame-pointer"),
    ("gcc -O2 static, not PIE", "g++ -O2 -static -no-pie"),
    ("gcc -O2, lazy PLT", "g++ -O2 -Wl,-z,lazy"),
    ("gcc -O2, .debug_frame alone", "g++ -O2 -g -gz=none -fno-asynchronous-unwind-tables -fno-exceptions"),
    ("gcc -O2, .sframe alone", "g++ -O2 -fomit-frame-pointer -fno-exceptions -Wa,--gsframe -DNO_ASM -DREMOVE=.eh_frame"),
    ("gcc -O2 -fcf-protection, marked PLT", "g++ -O2 -fcf-protection=full -Wl,-z,ibtplt,-z,lazy"),
    ("gcc -O2, 32 bits, static", "i686-linux-gnu-g++ -O2 -static"),
    ("rustc -O", "rustc -O"),
    ("rustc, not optimised", "rustc"),
    ("clang -O2", "clang++ -O2 -fomit-frame-pointer"),
]


def fields(line):
    """A frame line of script: address, symbol without its arguments, module."""
    address, rest = line.strip().split(" ", 1)
    match = re.match(r"(.*?)(?:\+0x[0-9a-f]+)? \((.*)\)$", rest)
    name, module = match.groups() if match else (rest, "")
    name = re.sub(r"(@@?.*|\.(isra|constprop|part|actor|cold|resume|destroy|lto_priv|localalias)\b.*|\[clone.*)", "", name).strip()
    name = name.split("(")[0]
    name = re.sub(r"^.* ", "", name)
    name = {"__libc_start_main_impl": "__libc_start_main", "__clone3": "clone3", "thread_start": "clone3"}.get(name, name)
    return address, name, module


def chains(text):
    chain = None
    for line in text.splitlines():
        if line.startswith("\t"):
            chain.append(fields(line))
        elif line.strip():
            chain = []
        elif chain is not None:
            yield chain
            chain = None
    if chain:
        yield chain


def follow(names, at):
    """None if names[at:] is the chain that names[at] must have; else what is wrong."""
    while True:
        name = names[at]
        want = CALLERS[name]
        if name == "context_main" and names[at + 1:] in (["[unknown]"], ["__makecontext"], ["__startcontext"]):
            return None  # __start_context, where libc has no symbol for it, or its like on x86
        if isinstance(want, list):
            got = names[at + 1:]
            return None if got == want[:len(got)] and len(got) == len(want) else "after %s: %s" % (name, " < ".join(got) or "nothing")
        at += 1
        if at == len(names):
            return "ends at " + name
        if want == "RUST":  # its runtime's frames have names that change with its version
            return None if names[-3:] == START and (name == "rust_part" or "rust_part" in names[at:]) else "%s: %s" % (name, names[-3:])
        if want == "JIT":
            if names[at:at + 2] != ["[unknown]", "part_jit"]:
                return "%s was called by %s" % (name, " < ".join(names[at:at + 2]))
            at += 1
            continue
        if want == "SIGNAL":
            if names[at] in CALLERS:  # the trampoline's return address less one may be another function's
                return "%s was called by %s" % (name, names[at])
            at += 1
            rest = [i for i in range(at, min(at + 8, len(names))) if names[i] in CALLERS]
            if not rest:
                return "nothing known was interrupted: %s" % " < ".join(names[at:at + 3])
            at = rest[0]
        elif names[at] != want and not (isinstance(want, tuple) and names[at] in want):
            return "%s was called by %s" % (name, names[at])


def judge(chain):
    """'exact', 'cut', 'foreign' (before or after all that is ours) or what is wrong."""
    cut = chain[-1][0] == CUT
    if chain[-1][2] == "[vdso]" and len(chain) > 1:
        return "cut"  # the vDSO of 32-bit programs is in no file
    names = [name for _, name, _ in (chain[:-1] if cut else chain) if not name.endswith(("::resume", "::destroy", "~generator"))]
    first = next((i for i, name in enumerate(names) if name in CALLERS), None)
    if first is None:
        # of the program's start and end, and of threads that begin or end: no frame of ours is on the stack
        return "cut" if cut else "foreign"
    if cut:
        return "cut"
    return follow(names, first) or "exact"


def build(command, folder):
    compiler = command.split()[0]
    if not shutil.which(compiler):
        return "no " + compiler
    if compiler == "rustc":
        done = process.run(*command.split(), "-g", "-o", os.path.join(folder, "truth"), os.path.join(HERE, "truth.rs"), env=compilers())
        return None if done.returncode == 0 else done.stderr.strip().split("\n")[0]
    cc = compiler.replace("clang++", "clang").replace("g++", "gcc")
    options = command.split()[1:]
    static = "-static" in options
    lib = os.path.join(folder, "outside.o" if static else "liboutside.so")
    c_options = [o for o in options if not o.startswith(("-Wl", "-static", "-no-pie"))]
    process.must(cc, *c_options, *(["-c"] if static else ["-shared", "-fPIC"]), "-o", lib, os.path.join(HERE, "outside.c"))
    linked = [lib] if static else ["-L" + folder, "-loutside", "-Wl,-rpath," + folder]
    done = process.run(compiler, "-std=c++20", *options, "-o", os.path.join(folder, "truth"), os.path.join(HERE, "truth.cc"), *linked,
                       "-pthread", "-lrt", seconds=600)
    if done.returncode != 0:
        return done.stderr.strip().split("\n")[0]
    if "-DREMOVE=.eh_frame" in options:
        process.must("objcopy", "-R", ".eh_frame", "-R", ".eh_frame_hdr", os.path.join(folder, "truth"))
    return None


def remove_section_table(path):
    with open(path, "r+b") as file:
        file.seek(0x28)
        file.write(bytes(8))
        file.seek(0x3c)
        file.write(bytes(4))


def script(data, what="comm,ip,sym,symoff,dso", *options):
    return process.must(PERFUSE, "script", "--no-inline", "-F", what, "--max-stack", "400", *options, "-i", data)


def record(data, mode, program, *words, frequency=4000, options=()):
    """Records a program; what `record` prints on standard error."""
    return process.perfuse("record", "-e", "cpu-clock:u", "-F", str(frequency), "--call-graph", mode, *options, "-o", data, program, *words).stderr


def compile_program(folder, name, source, *options, compiler="gcc"):
    program = os.path.join(folder, name)
    process.must(compiler, *options, "-o", program, os.path.join(HERE, source))
    return program, program + ".data"


def check(name, folder):
    data = os.path.join(folder, "perf.data")
    said = record(data, "dwarf,%d" % STACK_BYTES, os.path.join(folder, "truth"), MS)
    if not os.path.exists(data):
        print("skip stacks of %s: perfuse cannot record here: %s" % (name, said.strip().split("\n")[-1]))
        return True
    verdicts, wrong = collections.Counter(), collections.Counter()
    for chain in chains(script(data)):
        verdict = judge(chain) if chain else "empty"
        verdicts[verdict if verdict in ("exact", "cut", "foreign") else "wrong"] += 1
        if verdict not in ("exact", "cut", "foreign"):
            wrong[verdict] += 1
    known = verdicts["exact"] + verdicts["wrong"]
    good = known >= 100 and not verdicts["wrong"]
    print("# %s: %d exact, %d wrong, %d cut, %d outside" % (name, verdicts["exact"], verdicts["wrong"], verdicts["cut"], verdicts["foreign"]))
    for what, count in wrong.most_common():
        print("#   %d x %s" % (count, what))
    print("%s stacks of %s are right" % ("ok" if good else "not ok", name))
    if name == "gcc -O2":
        before = script(data, "ip")
        remove_section_table(os.path.join(folder, "truth"))
        same = script(data, "ip") == before
        print("%s stacks are the same without the program's section table" % ("ok" if same else "not ok"))
        good &= same
    return good


def check_joined(folder):
    """Stacks deeper than their copy are cut, and whole again with --join-stacks."""
    program, data = compile_program(folder, "deep", "deep.c", "-O2", "-fomit-frame-pointer")
    record(data, "dwarf,8192", program, MS)
    if not os.path.exists(data):
        print("skip stacks deeper than their copy: perfuse cannot record here")
        return True
    whole = ["work", "middle", *("link_%d" % i for i in range(11)), "outer", "first", "main"] + START
    counts = []
    for options in ([], ["--join-stacks"]):
        found = [c for c in chains(script(data, "comm,ip,sym,dso", *options)) if c and c[0][1] == "work"]
        counts.append((sum([n for _, n, _ in c] == whole for c in found), sum(c[-1][0] == CUT for c in found), len(found)))
    print("# deeper than their copy: whole, cut, all: %s; joined: %s" % tuple(counts))
    (whole_before, cut_before, count), (whole_after, cut_after, _) = counts
    good = count >= 50 and cut_before >= count // 10 and whole_before + cut_before == count
    good &= cut_after <= cut_before // 8 and whole_after + cut_after == count
    print("%s stacks deeper than their copy are cut, and completed with --join-stacks" % ("ok" if good else "not ok"))
    return good


def check_twins(folder):
    """Where two callers have equal frames, a stack that was cut above them is not joined to the wrong one."""
    good = True
    for links in (1, 4):
        program, data = compile_program(folder, "twins", "twins.c", "-O2", "-fomit-frame-pointer", "-DLINKS=%d" % links)
        for mode, options in (("unwind", []), ("dwarf", ["--join-stacks"])):
            record(data, mode + ",8192", program, MS)
            found = [[name for _, name, _ in chain] for chain in chains(script(data, "comm,ip,sym,symoff,dso", *options))]
            found = [names for names in found if names[0] in ("work_one", "work_other")]
            wrong = sum(("by_one" if names[0] == "work_other" else "by_other") in names for names in found)
            good &= len(found) >= 100 and not wrong
            print("# two callers with equal frames, %d links, %s: %d stacks, %d wrong" % (links, mode, len(found), wrong))
    print("%s of two callers with equal frames the wrong one is never named" % ("ok" if good else "not ok"))
    return good


def check_alternate(folder):
    """The chain of a handler on an alternate stack continues on the interrupted stack if that is copied; else no larger copy is advised."""
    program, data = compile_program(folder, "alternate", "alternate.c", "-O2", "-fomit-frame-pointer", "-pthread")
    good = True
    for mode in ("unwind", "dwarf"):
        for where in ("near", "far"):
            printed = record(data, mode + ",32768", program, where, "300", frequency=2000)
            if mode == "dwarf":
                printed = process.perfuse("report", "--stdio", "-i", data).stderr
            found = [[name for _, name, _ in chain] for chain in chains(script(data))]
            found = [names for names in found if names[0] == "handler_work"]
            through = sum("thread_main" in names and names[-2:] == CLONE for names in found)
            advised = "deeper than" in printed or "to copy more" in printed
            said = "another stack continues" in printed or "separate stacks" in printed
            good &= len(found) >= 50 and not advised and said == (where == "far") and through == (len(found) if where == "near" else 0)
            print("# handlers on another stack (%s, %s): %d, %d go over; advised: %s, said: %s" % (mode, where, len(found), through, advised, said))
    print("%s chains of handlers on an alternate stack continue on the interrupted stack, or the reason is reported" % ("ok" if good else "not ok"))
    return good


def check_made(folder):
    """Stacks continue through code made at run time by frame pointer; without any file of the process nothing is guessed, as in perf."""
    program, data = compile_program(folder, "made", "made.c", "-O1", "-fno-omit-frame-pointer")
    empty = os.path.join(folder, "empty")
    os.makedirs(empty, exist_ok=True)
    record(data, "dwarf", program, frequency=500)
    if not os.path.exists(data):
        print("skip stacks in code made at run time: perfuse cannot record here")
        return True
    whole = sum([n for _, n, _ in chain][1:] == ["main"] + START for chain in chains(script(data)) if chain)
    alone = [line for line in script(data, "comm,ip,sym,dso", "--symfs", empty).splitlines() if "perf-" in line]
    good = whole >= 20 and not alone
    print("# in code made at run time: %d whole; without files: %s" % (whole, alone[:3]))
    print("%s stacks continue through code made at run time, unless all files of the process are absent" % ("ok" if good else "not ok"))
    return good


def ours(names, known):
    """Those of the names that are the program's own."""
    return [name for name in names if name in known]


def check_bare(folder):
    """Stacks continue through a C library without call frame information only if the caller is certain."""
    if not shutil.which("musl-gcc"):
        print("skip stacks in a C library without call frame information: no musl-gcc")
        return True
    called = ["sorts", "prints", "searches", "copies", "parses", "allocates"]
    known = ["compared", "compare", "main"] + called
    right = [["compared", "compare", "sorts", "main"], ["compare", "sorts", "main"], ["main"], *([name, "main"] for name in called)]
    good = True
    for options in ("-static -fno-omit-frame-pointer", "-static -fomit-frame-pointer", "-fno-omit-frame-pointer"):
        program, data = compile_program(folder, "bare", "bare.c", "-O2", *options.split(), compiler="musl-gcc")
        for mode in ("dwarf", "unwind"):
            record(data, mode + ",16384", program, MS)
            wrong, count = collections.Counter(), 0
            for chain in chains(script(data)):
                names = [name for _, name, _ in chain]
                mine = ours(names, known)
                count += 1
                if not any(mine == chain[:len(mine)] for chain in right) or any(module == "[unknown]" for _, _, module in chain[1:]):
                    wrong[" < ".join(names)] += 1
            good &= count >= 100 and not wrong
            print("# in a C library without call frame information (%s, %s): %d stacks, %d wrong: %s" % (
                options, mode, count, sum(wrong.values()), wrong.most_common(3)))
    print("%s callers found in a C library without call frame information are right" % ("ok" if good else "not ok"))
    return good


def check_guesses(folder):
    """The command that unwinds reports how many stacks are guessed in part; with --no-guess it guesses none."""
    program, data = compile_program(folder, "guessed", "made.c", "-O1", "-fno-omit-frame-pointer")
    said = []
    for mode, options in (("unwind", ["--no-guess"]), ("unwind", []), ("dwarf", [])):
        printed = record(data, mode, program, frequency=500, options=options)
        found = [len(chain) for chain in chains(script(data, "comm,ip,sym,symoff,dso", "--no-guess"))]
        said.append(("guessed in part" in printed, max(found, default=0)))
    for command in (["report", "--stdio"], ["script"], ["flamegraph", "--folded", "-o", "-"]):
        for options in ([], ["--no-guess"]):
            printed = process.perfuse(*command, *options, "-i", data).stderr
            said.append("guessed in part" in printed)
    good = said[:2] == [(False, 1), (True, said[1][1])] and said[1][1] > 3 and said[2] == (False, 1) and said[3:] == [True, False] * 3
    print("# guesses reported: %s" % (said,))
    print("%s guesses are counted and reported by record, report, script and flamegraph, and left out with --no-guess" % ("ok" if good else "not ok"))
    return good


def is_wanted(*texts):
    """Whether the command line has a part of a name, or the sentence of a test with it, or nothing."""
    return not sys.argv[1:] or any(word in text or text in word for word in sys.argv[1:] for text in texts)


def attempts(check_one, *arguments):
    """What a check returns, of the first attempt that is right: on a busy machine there may be too few samples."""
    for left in range(ATTEMPTS, 0, -1):
        with contextlib.redirect_stdout(io.StringIO()) as text:
            good = check_one(*arguments)
        if good or left == 1:
            break
        print("# once more: " + text.getvalue().rstrip("\n").replace("\n", "\n# "))
    print(text.getvalue(), end="", flush=True)
    return good


def main():
    work, good = os.environ.get("UNWIND_KEEP") or tempfile.mkdtemp(), True
    try:
        for number, (name, command) in enumerate(BUILDS):
            if not is_wanted(name) or (SANITIZED and SHORT and number % 2):
                continue
            folder = os.path.join(work, str(number))
            os.makedirs(folder, exist_ok=True)
            problem = build(command, folder)
            if problem:
                print("skip stacks of %s: %s" % (name, problem))
            else:
                good &= attempts(check, name, folder)
        others = [(check_joined, "joined", "deeper than their copy"), (check_twins, "joined", "two callers"), (check_alternate, "alternate")]
        if platform.machine() == "x86_64":
            others += [(check_made, "made"), (check_bare, "guess", "C library"), (check_guesses, "guess")]
        for one, *texts in others:
            if is_wanted(*texts):
                good &= attempts(one, work)
    finally:
        if not os.environ.get("UNWIND_KEEP"):
            shutil.rmtree(work)
    return not good


if __name__ == "__main__":
    sys.exit(main())
