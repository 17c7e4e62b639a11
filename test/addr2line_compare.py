#!/usr/bin/env python3
"""addr2line_compare.py [options] FILE...: asks perfuse addr2line and another tool for the same addresses of each FILE, counts where they agree in
functions, files and lines, and shows an example of each way in which they do not. $PERFUSE names the program under test.

  --tool NAME    addr2line (default), eu-addr2line or llvm-addr2line
  --against FILE perfuse itself, for the same addresses of another file (with the same code): no other tool
  --count N      so many addresses at random (default 100000); 0: every instruction, as objdump -d lists them
  --show N       examples of each kind (default 2)
  --time         print how long each took, asked once
  --lines        compare lines only
  --basenames    compare files without their folders
Ends with `N addresses, N agree` for each file; the exit code says whether all agree."""
import argparse
import os
import random
import re
import sys
import time

from suite import process
from suite.settings import PERFUSE

SECONDS_MAX = 900
TOOLS = {
    "addr2line": ["addr2line", "-a", "-f", "-i", "-e"],
    "eu-addr2line": ["eu-addr2line", "-a", "-f", "-i", "-e"],
    "llvm-addr2line": ["llvm-addr2line", "-a", "-f", "-i", "-e"],
}


def code_sections(path):
    """(address, size) of sections that hold code."""
    text = process.run("readelf", "-SW", path).stdout
    for match in re.finditer(r"\]\s+(\S+)\s+(?:PROGBITS|NOBITS)\s+([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+) \S+\s+(\w*)", text):
        if "X" in match.group(4) and match.group(1) != ".plt":
            yield int(match.group(2), 16), int(match.group(3), 16)


def random_addresses(path, count):
    sections = [s for s in code_sections(path) if s[1]]
    generator = random.Random(1)
    picked = generator.choices(sections, weights=[s[1] for s in sections], k=count)
    return [start + generator.randrange(size) for start, size in picked]


def instructions(path):
    text = process.run("objdump", "-d", "--no-show-raw-insn", path, seconds=SECONDS_MAX).stdout
    return [int(m, 16) for m in re.findall(r"^\s*([0-9a-f]+):\t", text, re.M)]


def place(line):
    line = re.sub(r" \(discriminator [0-9a-fx]+\)", "", line)
    match = re.match(r"(.*?):(\d+|\?)(?::\d+)?(?: |$)", line)
    if not match:
        return line, 0
    return match.group(1), 0 if match.group(2) == "?" else int(match.group(2))


def entries(path):
    """Where functions begin, by the symbol table."""
    text = process.run("readelf", "-sW", path).stdout
    return sorted({int(m, 16) for m in re.findall(r"^\s*\d+: ([0-9a-f]+)\s+\w+ FUNC", text, re.M)} - {0})


def ask(command, path, addresses, warm):
    """address → list of (function, file, line), and how long it took."""
    asked = warm + addresses
    began = time.time()
    text = process.run(*command, path, input="".join("0x%x\n" % a for a in asked), seconds=SECONDS_MAX).stdout
    took = time.time() - began
    answers, current = [], None
    lines = iter(text.split("\n"))
    for line in lines:
        if re.match(r"0x[0-9a-f]+$", line):
            current = []
            answers.append(current)
        elif line and current is not None:
            current.append((line.split(" inlined at ")[0],) + place(next(lines, "")))
    return answers[len(warm):], took


def simplify(frames, options):
    out = []
    for function, file, line in frames:
        function = re.sub(r"\.(?:constprop|isra|part|cold|lto_priv|llvm)\.?.*$", "", function)
        file = file or "??"
        if options.basenames:
            file = os.path.basename(file)
        out.append((function, os.path.normpath(file) if file[:1] == "/" else file, line))
    return [f[1:] for f in out[:1]] if options.lines else out


def forgive(ours, theirs):
    """binutils gives an inlined call the name of the symbol that starts where it does: that of the function around it."""
    if len(ours) != len(theirs) or any(a[1:] != b[1:] for a, b in zip(ours, theirs)):
        return False
    return ours[-1][0] == theirs[-1][0] and all(b[0] in (a[0], ours[-1][0]) for a, b in zip(ours, theirs))


def kind(ours, theirs):
    """One word or two for a disagreement."""
    if len(ours) != len(theirs):
        return "depth %s" % ("more" if len(ours) > len(theirs) else "less")
    words = []
    for what, index in (("function", 0), ("file", 1), ("line", 2)):
        if any(a[index] != b[index] for a, b in zip(ours, theirs) if len(a) > index):
            words.append(what)
    return " and ".join(words)


def compare(path, options):
    addresses = random_addresses(path, options.count) if options.count else instructions(path)
    # What binutils calls a function depends on what it was asked before: all functions, and all addresses once.
    warm = [] if options.time or options.against or options.tool != "addr2line" else entries(path) + addresses
    ours, our_time = ask([PERFUSE, "addr2line", "-a", "-f", "-i", "-e"], path, addresses, [])
    if options.against:
        theirs, their_time = ask([PERFUSE, "addr2line", "-a", "-f", "-i", "-e"], options.against, addresses, [])
    else:
        theirs, their_time = ask(TOOLS[options.tool], path, addresses, warm)
    if len(ours) != len(addresses) or len(theirs) != len(addresses):
        print("# %s: %d addresses, %d answers and %d" % (path, len(addresses), len(ours), len(theirs)))
        return False
    kinds, agree = {}, 0
    for address, a, b in zip(addresses, ours, theirs):
        x, y = simplify(a, options), simplify(b, options)
        if x == y or (options.tool == "addr2line" and not options.lines and forgive(x, y)):
            agree += 1
        else:
            kinds.setdefault(kind(x, y), []).append((address, a, b))
    for name in sorted(kinds, key=lambda k: -len(kinds[k])):
        print("# %d differ in %s" % (len(kinds[name]), name))
        for address, a, b in kinds[name][:options.show]:
            print("#   0x%x\n#     ours   %s\n#     theirs %s" % (address, a, b))
    times = "; %.2f s against %.2f s" % (our_time, their_time) if options.time else ""
    print("%s: %d addresses, %d agree with %s%s" % (path, len(addresses), agree, options.against or options.tool, times))
    return agree == len(addresses)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--tool", choices=sorted(TOOLS), default="addr2line")
    parser.add_argument("--against")
    parser.add_argument("--count", type=int, default=100000)
    parser.add_argument("--show", type=int, default=2)
    parser.add_argument("--time", action="store_true")
    parser.add_argument("--lines", action="store_true")
    parser.add_argument("--basenames", action="store_true")
    options = parser.parse_args()
    sys.exit(0 if all([compare(path, options) for path in options.files]) else 1)


if __name__ == "__main__":
    main()
