#!/usr/bin/env python3
"""Stacks of AArch64 programs, by a real kernel in a virtual machine: test/unwind/truth.cc, whose functions have one possible chain of
callers each, built in several ways (with signed return addresses, too), and test/languages/truth.go, which prints its own stacks;
recorded with --call-graph dwarf and --call-graph unwind. Each chain must be the possible one."""
import collections
import os
import shutil
import sys
import tempfile

import languages_test
import unwind_test
from suite import process
from suite.machine import cross, virtual_machine
from suite.process import compilers
from suite.settings import TOP
from suite.tests import need

TRUTH = os.path.join(TOP, "test", "unwind")
LANGUAGES = os.path.join(TOP, "test", "languages")
COMPILER = "aarch64-linux-gnu-g++"
# static: the innermost functions of a stripped C library have no names
BUILDS = {
    "plain": ["-O2", "-fomit-frame-pointer", "-static"],
    "signed": ["-O2", "-fomit-frame-pointer", "-mbranch-protection=pac-ret+leaf", "-static"],
    "standard": ["-O0", "-mbranch-protection=standard", "-static"],
}
MODES = ("dwarf", "unwind")
# 16 KB hold the 300 frames of part_deep; rings hold all samples of these modes, however slow the machine is
GUEST = """
for name in %s; do
	for mode in %s; do
		perfuse record -m 2048 -o /data -e cpu-clock:u -F 1000 --call-graph $mode,16384 -- truth-$name 40 >/dev/null 2>/mnt/$name-$mode.err
		perfuse script --no-inline -F comm,ip,sym,symoff,dso --max-stack 400 -i /data >/mnt/$name-$mode.out 2>>/mnt/$name-$mode.err
		echo $?
	done
done
""" % (" ".join(BUILDS), " ".join(MODES))
# recorded chains hold return addresses, whose lines only --inline looks up before them
GUEST_GO = """
for mode in %s; do
	perfuse record -m 2048 -o /data -e cpu-clock:u -F 1000 --call-graph $mode,65528 -- truth-go 150 >/mnt/go-$mode.printed 2>/mnt/go-$mode.err
	[ $mode = dwarf ] || inline=--inline
	perfuse script $inline -F comm,ip,sym,dso,srcline --max-stack 1000 -i /data >/mnt/go-$mode.out 2>>/mnt/go-$mode.err
	echo $?
done
""" % " ".join(MODES)


def build_go(folder):
    """The program, or None: no compiler for it."""
    if not shutil.which("go"):
        return None
    source, program = os.path.join(folder, "go"), os.path.join(folder, "truth-go")
    shutil.copytree(LANGUAGES, source)
    with open(os.path.join(source, "go.mod"), "w") as out:
        out.write("module truth\ngo 1.18\n")
    made = process.run("go", "build", "-o", program, ".", cwd=source, stderr=process.STDOUT, seconds=900,
                       env=compilers(GOARCH="arm64", CGO_ENABLED="0", GOFLAGS="-mod=mod", GOPROXY="off",
                                     GOCACHE=os.path.join(folder, "go-cache")))
    shutil.rmtree(os.path.join(folder, "go-cache"), ignore_errors=True)
    if made.returncode != 0:
        print("# " + made.stdout[-300:].replace("\n", "\n# "))
    return program if made.returncode == 0 else None


def judge_go(folder, mode):
    """Prints the line of Go's stacks in one mode; whether they are right."""
    printed, verdicts = {}, collections.Counter()
    with open(os.path.join(folder, "go-%s.printed" % mode)) as stream:
        for words in (line.rstrip("\n").split("\t") for line in stream):
            if words[0] == "chain":
                printed[languages_test.plain(words[1])] = [languages_test.split(word) for word in words[1:]]
    known = {frame[0] for chain in printed.values() for frame in chain}
    with open(os.path.join(folder, "go-%s.out" % mode), errors="replace") as stream:
        for frames in languages_test.chains(stream.read()):
            verdicts[languages_test.judge(frames, printed, known)] += 1
    wrong = {what: count for what, count in verdicts.items() if what not in ("exact", "cut", None)}
    good = printed and verdicts["exact"] >= 20 and sum(wrong.values()) <= verdicts["exact"] // 100
    print("# Go, %s: %d exact, %d wrong, %d cut, %d of the runtime" %
          (mode, verdicts["exact"], sum(wrong.values()), verdicts["cut"], verdicts[None]))
    for what, count in list(wrong.items())[:5]:
        print("#   %d x %s" % (count, what))
    print("%s stacks of Go on AArch64 have the names and lines that the program says with --call-graph %s" % ("ok" if good else "not ok", mode))
    return good


def build(folder):
    """The recorder and the programs. Built once for all modes."""
    perfuse = os.path.join(TOP, "build-aarch64")
    need(cross("aarch64", perfuse, "perfuse") == 0, "tools/cross aarch64 fails")
    outside = os.path.join(folder, "outside.o")
    process.must(COMPILER.replace("g++", "gcc"), "-O2", "-c", "-o", outside, os.path.join(TRUTH, "outside.c"))
    programs = [os.path.join(perfuse, "perfuse")]
    for name, options in BUILDS.items():
        programs.append(os.path.join(folder, "truth-" + name))
        process.must(COMPILER, "-std=c++20", *options, "-o", programs[-1], os.path.join(TRUTH, "truth.cc"), outside, "-pthread", "-lrt",
                     seconds=600)
    return programs


def judge(text):
    """(how many chains are right, what is wrong with the others)."""
    right, wrong = 0, collections.Counter()
    for chain in unwind_test.chains(text):
        verdict = unwind_test.judge(chain) if chain else "foreign"
        right += verdict == "exact"
        # chains of the recorder have no mark where they are cut: the frames of such a chain are right
        if verdict not in ("exact", "cut", "foreign") and not verdict.startswith("ends at "):
            wrong[verdict] += 1
    return right, wrong


def main():
    if not shutil.which(COMPILER):
        print("skip stacks of AArch64: no " + COMPILER)
        return 0
    failed = False
    with tempfile.TemporaryDirectory(prefix="perfuse-stacks-") as folder:
        words = ["--arch", "aarch64", "--share", folder, "--timeout", "300"]
        for program in build(folder):
            words += ["--program", program]
        go = build_go(folder)
        if go:
            words += ["--program", go]
        done = virtual_machine(*words, "--", "sh", "-c", GUEST + (GUEST_GO if go else ""))
        if done.returncode != 0:
            print("# exit code %d: %s\nnot ok AArch64 boots and records stacks" % (done.returncode, done.stderr[-2000:].replace("\n", "\n# ")))
            return 1
        for name, options in BUILDS.items():
            for mode in MODES:
                with open(os.path.join(folder, "%s-%s.out" % (name, mode)), errors="replace") as stream:
                    right, wrong = judge(stream.read())
                good = right >= 50 and sum(wrong.values()) <= right // 200
                print("# %s, %s: %d exact, %d wrong" % (name, mode, right, sum(wrong.values())))
                if not good:
                    with open(os.path.join(folder, "%s-%s.err" % (name, mode)), errors="replace") as stream:
                        print("# " + stream.read()[-600:].strip().replace("\n", "\n# "))
                for what, count in wrong.most_common(None if not good else 3):
                    print("#   %d x %s" % (count, what))
                print("%s stacks of AArch64 (%s) are what they were with --call-graph %s" % ("ok" if good else "not ok", " ".join(options), mode))
                failed |= not good
        if not go:
            print("skip stacks of Go on AArch64: no go (tools/install-packages languages)")
        for mode in MODES if go else ():
            failed |= not judge_go(folder, mode)
    return failed


if __name__ == "__main__":
    sys.exit(main())
