"""One build that holds many mutants: each function with mutated lines has its body once more for each of them, and a byte of the program
chooses which one runs. The programs also tell which mutated lines they reach. For tools/mutate.

A program has an array that begins with MAGIC, then one byte for each mutant: `choose` copies the program with some of them set. It also
writes the name of a file into the copy: each process of it maps that file and sets the byte of each mutant whose line (or function, where a
statement cannot be put before the line) is executed."""
import collections
import os
import re
import shutil

import mutations

MAGIC, PATH_MAGIC = b"chosen mutants:\0", b"reached mutants:\0"
PATH_MAX = 128
HEADER = r"""/* Made by tools/mutate. */
#pragma once
#include <sys/syscall.h>
extern long syscall(long, ...);
__attribute__((weak)) volatile unsigned char mutants_chosen[%(size)d] = "chosen mutants:";
__attribute__((weak)) char mutants_path[%(path)d] = "reached mutants:";
__attribute__((weak)) unsigned char *mutants_reached;
__attribute__((weak, constructor)) void mutants_open(void)
{
	int fd = mutants_reached ? -1 : (int)syscall(SYS_openat, -100L, mutants_path, 02000002L /* O_RDWR|O_CLOEXEC */, 0L);
	if (fd < 0)
		return;
	long at = syscall(SYS_mmap, 0L, %(size)dL, 3L, 1L /* MAP_SHARED */, (long)fd, 0L);
	if (at != -1)
		mutants_reached = (unsigned char *)at;
	syscall(SYS_close, (long)fd);
}
static inline void mutant_reached(int number)
{
	if (mutants_reached)
		mutants_reached[number] = 1;
}
#define MUTANT(number) (mutants_chosen[%(magic)d + number])
"""


WRONG = "(?:error|note: in expansion of macro)" # what the compiler prints about a line that it refuses; warnings are off


class Schema:
    """The mutants of a copy of the tree."""

    def __init__(self, top, folder, mutants):
        self.top, self.folder, self.mutants = top, folder, list(mutants)
        self.unbuilt = set() # numbers of mutants that do not compile
        self.unmarked = set() # numbers of mutants before whose line no statement can be put
        self.by_path = collections.defaultdict(list)
        for number, mutant in enumerate(self.mutants):
            self.by_path[os.path.relpath(mutant.path, top)].append(number)
        _write(os.path.join(folder, "src/mutants.h"),
               HEADER % {"size": len(MAGIC) + len(self.mutants), "magic": len(MAGIC), "path": PATH_MAX})
        for path in self.by_path:
            self.write_source(path)

    def write_source(self, path):
        text = open(os.path.join(self.top, path), encoding="utf-8").read()
        lines, masks = text.split("\n"), mutations.masked(text).split("\n")
        functions = collections.defaultdict(list) # {(first line, last line) of a body, the braces: numbers}
        for number in self.by_path[path]:
            if number not in self.unbuilt:
                at = self.mutants[number].line
                first = max(i for i in range(at) if masks[i].startswith("{"))
                functions[first, next(i for i in range(at, len(masks)) if masks[i].startswith("}"))].append(number)
        out, done = ['#include "mutants.h"', '#line 1 "../%s"' % path], 0
        for (first, last), numbers in sorted(functions.items()):
            out += lines[done:first + 1] + self.bodies(path, lines, masks, first + 1, last, numbers)
            done = last
        _write(os.path.join(self.folder, path), "\n".join(out + lines[done:]))

    def bodies(self, path, lines, masks, first, last, numbers):
        """The body of a function with each mistake, and without one."""
        labels = sorted({match[1] for mask in masks[first:last] if (match := re.match(r"\s*(\w+):(?!:)", mask)) and match[1] != "default"})
        declared = "__label__ %s;" % ", ".join(labels) if labels else ""
        marked, whole = list(lines), []
        for number in numbers:
            at = self.mutants[number].line
            form = None if number in self.unmarked else _mark(masks, at)
            whole += ["mutant_reached(%d);" % number] if form is None else []
            marked[at] = form % (number, marked[at]) if form else marked[at]
        out = whole
        for number in numbers:
            at = self.mutants[number].line
            changed = lines[first:last]
            form = None if number in self.unmarked else _mark(masks, at)
            changed[at - first] = form % (number, self.mutants[number].after) if form else self.mutants[number].after
            out += ["if (MUTANT(%d)) {" % number, declared, '#line %d "mutant-%d"' % (first + 1, number), *changed, "} else"]
        return out + ["{", declared, '#line %d "../%s"' % (first + 1, path), *marked[first:last], "}", '#line %d "../%s"' % (last + 1, path)]

    def adapt(self, errors):
        """After a build that failed: leaves out what did not compile, at first the statements that tell what is reached. False: nothing helps."""
        changed = set()
        for number in {int(found) for found in re.findall(r"mutant-(\d+):\d+(?::\d+)?: " + WRONG, errors)}:
            (self.unbuilt if number in self.unmarked else self.unmarked).add(number)
            changed.add(os.path.relpath(self.mutants[number].path, self.top))
        for path in set(re.findall(r"\.\./(src/\S+\.c):\d+(?::\d+)?: " + WRONG, errors)):
            new = set(self.by_path[path]) - self.unmarked
            self.unmarked |= new
            changed |= {path} if new else set()
        for path in changed:
            self.write_source(path)
        return bool(changed)

    def built(self):
        return set(range(len(self.mutants))) - self.unbuilt

    def choose(self, program, numbers, target):
        """Copies a program to the target, with the mistakes of these numbers; TARGET.reached is the file that the copy marks."""
        data = bytearray(open(program, "rb").read())
        at = data.find(MAGIC)
        for number in numbers if at >= 0 else ():
            data[at + len(MAGIC) + number] = 1
        path, at = os.fsencode(target + ".reached") + b"\0", data.find(PATH_MAGIC)
        if at >= 0 and len(path) <= PATH_MAX:
            data[at:at + len(path)] = path
        if os.path.exists(target):
            os.unlink(target)
        with open(target, "wb") as out:
            out.write(data)
        shutil.copymode(program, target)

        with open(target + ".reached", "wb") as out:
            out.write(bytes(len(self.mutants)))
        os.chmod(target + ".reached", 0o666) # a program without privileges marks it, too

    def reached(self, target):
        """The numbers that the copy has marked."""
        try:
            with open(target + ".reached", "rb") as marks:
                return {number for number, byte in enumerate(marks.read()) if byte}
        except FileNotFoundError: # a mistake in what removes files
            return set()


def _mark(masks, at):
    """How to put a statement before the line: a format of its number and the line; None if that is not possible."""
    before = next((mask.rstrip() for mask in reversed(masks[:at]) if mask.strip()), "")
    line = masks[at].strip()
    if re.match(r"(?:else|case|default)\b|[{}.]", line) or before.endswith("= {"):
        return None
    if before.endswith((";", "{", "}", ":")):
        return "mutant_reached(%d); %s"
    if line.endswith(";") and line.count("(") == line.count(")") and re.match(r"\s*(?:\} )?(?:else|if|for|while)\b", before) and \
            before.count("(") == before.count(")") and before.endswith((")", "else")):
        return "{ mutant_reached(%d); %s }"
    return None


def _write(path, text):
    """If that changes the file, so that little is built again."""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as old:
            if old.read() == text:
                return
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
