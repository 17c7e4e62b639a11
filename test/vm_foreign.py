#!/usr/bin/env python3
"""vm_foreign.py [ARCH]...: builds perfuse for other processors (s390x: big-endian; i386: 32 bits), runs its tests there (under qemu's user
mode), and compares what the readers print of recordings with what the native build ($PERFUSE, or one made here) prints, byte for byte.

Recordings: one made here, and those of $PERFUSE_CORPUS/perfdata (default: ../shared/corpus beside the tree) where there are such."""
import json
import os
import re
import shutil
import sys
import tempfile

from suite import process
from suite.machine import BUILD_SECONDS_MAX, CROSS, cross, native_build
from suite.process import Hang, compilers
from suite.settings import CORPUS, TOP
from suite.tests import Failure, report

ARCHES = ("i386", "s390x")
BIG_ENDIAN = ("s390x",)
UNWOUND_NATIVE = "recorded stacks are unwound where the byte order is that of the machine recorded"
BEHIND_SHORT_ATTRIBUTES = (b"branch_sample_type", b"sample_regs_user", b"sample_stack_user", b"clockid", b"sample_regs_intr",
                           b"aux_watermark", b"sample_max_stack", b"aux_sample_size", b"aux_action", b"sig_data", b"config3")


def reader_commands():
    """The commands that tools/agree runs on a recording."""
    for line in open(os.path.join(TOP, "test/agree/file-commands")):
        line = line.split("#")[0].strip()
        if line:
            symfs = line.startswith("symfs: ")
            yield (line[7:] if symfs else line).split(), symfs


class Readers:
    def __init__(self, scratch):
        self.scratch = scratch
        os.mkdir(os.path.join(scratch, "symfs"))

    def run(self, program, command, symfs, path):
        words = [path if w == "FILE" else w for w in command]
        if symfs:
            words[1:1] = ["--symfs", os.path.join(self.scratch, "symfs")]
        try:
            done = process.run(*program, *words, cwd=self.scratch, text=False)
        except Hang:
            return "timeout", b"", b""
        return done.returncode, done.stdout, done.stderr


def first_difference(mine, theirs):
    a, b = mine.split(b"\n"), theirs.split(b"\n")
    for number, (x, y) in enumerate(zip(a, b), 1):
        if x != y:
            return "line %d: native %r, there %r" % (number, x[:120], y[:120])
    return "native %d lines, there %d" % (len(a), len(b))


def comparable(text, arch):
    """Without the random tip; on a machine of the other byte order, also without the bytes after a pipe's short attribute, which evlist shows
    as perf does."""
    dropped = (b"# (Tip:",)
    if arch in BIG_ENDIAN:
        text = re.sub(rb", (%s): \w+" % b"|".join(BEHIND_SHORT_ATTRIBUTES), b"", text)
    return b"\n".join(line for line in text.split(b"\n") if not line.startswith(dropped))


def compare(readers, native, program, files, arch):
    for command, symfs in reader_commands():
        problems = []
        for path in files:
            here, there = readers.run(native, command, symfs, path), readers.run(program, command, symfs, path)
            name = os.path.basename(path)
            if here[0] != there[0]:
                problems.append("%s: exit code %s, there %s: %s" % (name, here[0], there[0], there[2][:200].decode("utf-8", "replace")))
                continue
            mine, theirs = comparable(here[1], arch), comparable(there[1], arch)
            if mine != theirs:
                problems.append("%s: %s" % (name, first_difference(mine, theirs)))
        yield " ".join(command[:-2]), problems


def unit_tests(arch, build):
    """Runs Meson's tests; their lines are printed with the name of the architecture."""
    words = ["meson", "test", "-C", build, "--no-rebuild", "-q", "-t", "5", "--num-processes", "2"]
    if arch in BIG_ENDIAN:
        print("skip %s: unit tests of unwind: %s" % (arch, UNWOUND_NATIVE))
        listed = process.must("meson", "test", "-C", build, "--list", env=compilers())
        words += [n for n in (line.split(" / ")[-1].strip() for line in listed.splitlines()) if n not in ("unwind", "unwind_fuzz")]
    process.run(*words, env=compilers(), seconds=BUILD_SECONDS_MAX)
    failed = False
    for entry in open(os.path.join(build, "meson-logs/testlog.json")):
        entry = json.loads(entry)
        reported = False
        for line in entry.get("stdout", "").splitlines():
            word = next((w for w in ("ok ", "not ok ", "skip ") if line.startswith(w)), None)
            if word:
                print("%s%s: %s" % (word, arch, line[len(word):]))
            else:
                print(line[:300])
            reported |= word == "not ok "
        if entry["result"] not in ("OK", "SKIP") and not reported:
            print("not ok %s: %s ends (%s)" % (arch, entry["name"], entry["result"]))
        failed |= entry["result"] not in ("OK", "SKIP")
    sys.stdout.flush()
    return failed


def recordings(native, scratch):
    files = []
    for name, options in (("file.data", ["-g"]), ("compressed.data", ["-z"])):
        path = os.path.join(scratch, name)
        done = process.run(*native, "record", *options, "-e", "cpu-clock:u", "-o", path, "--", "sh", "-c", "exit 0", cwd=scratch)
        if done.returncode == 0:
            files.append(path)
        else:
            print("skip %s: perf_event_open is refused here" % name)
    folder = os.path.join(CORPUS, "perfdata")
    if os.path.isdir(folder):
        files += [os.path.join(folder, f) for f in sorted(os.listdir(folder))]
    else:
        print("skip recordings of others: no such folder: %s (PERFUSE_CORPUS names another)" % folder)
    return files


def has_stacks(readers, native, path):
    return b"STACK_USER" in readers.run(native, ["evlist", "-v", "-i", "FILE"], False, path)[1]


def main():
    scratch = tempfile.mkdtemp(prefix="perfuse-foreign-")
    failed = False
    try:
        native = [os.path.join(native_build("perfuse"), "perfuse")]
        files = recordings(native, scratch)
        readers = Readers(scratch)
        for arch in sys.argv[1:] or ARCHES:
            build = os.path.join(TOP, "build-" + arch)
            if cross(arch, build) != 0:
                failed |= report("%s: it builds" % arch, ["tools/cross %s fails" % arch])
                continue
            failed |= unit_tests(arch, build)
            words = process.must(CROSS, "--emulator", arch, env=os.environ).splitlines()
            compared = [f for f in files if arch not in BIG_ENDIAN or not has_stacks(readers, native, f)]
            for path in set(files) - set(compared):
                print("skip %s: %s: %s" % (arch, os.path.basename(path), UNWOUND_NATIVE))
            for command, problems in compare(readers, native, words + [os.path.join(build, "perfuse")], compared, arch):
                failed |= report("%s: %s prints the same of %d recordings" % (arch, command, len(compared)), problems)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return failed


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as problem:
        sys.exit(report("it builds", [str(problem)]))
