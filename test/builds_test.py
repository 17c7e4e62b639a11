#!/usr/bin/env python3
# sanitized: files of other builds
"""Names are those of the build that ran, or absent: programs that are replaced while they run, that another root or mount
namespace shows under a path of this one, that are deleted, or copied. And of the names of one function all commands print the same.
Output is compared with perf's if perf reads the recording."""
import collections
import os
import re
import shutil
import struct
import sys

from suite import process, recording
from suite.perf import need_recording, reference
from suite.settings import PERFUSE, SHORT, TEST
from suite.tests import Skip, by_samples, need, need_root, run_in_folder

HERE = os.path.join(TEST, "builds")

FIRST, OTHER, UNKNOWN = "first_build", "other_build", "[unknown]"
ALIASES = r"\b(work_impl|work_public|work_local|__work)\b"
SENTENCE = "is of another build than the recorded one"


class Context:
    def __init__(self, work):
        self.work = work
        self.made = {}

    def path(self, *names):
        return os.path.join(self.work, *names)

    def call(self, *command, **more):
        return process.run(*command, cwd=self.work, **more)

    def shell(self, script, *options, recorder=PERFUSE, before=()):
        """Records a script; the build-id cache is empty after it, so that names come from files alone."""
        with open(self.path("script"), "w", encoding="ascii") as out:
            out.write("set -e\n" + script)
        shutil.rmtree(self.path(".debug"), ignore_errors=True)
        done = self.call(*before, recorder, "record", "-q", "-e", "cpu-clock", "-F", "500", "-o", self.path("data"), *options, "--", "sh", "script")
        need(done.returncode == 0, "record: exit code %d: %s" % (done.returncode, done.stderr[:300]))
        shutil.rmtree(self.path(".debug"), ignore_errors=True)

    def names(self, *options, program=PERFUSE, comm="prog"):
        """Samples by name of the function, in the program itself; and stderr."""
        done = self.call(program, "script", "-i", self.path("data"), "-F", "ip,sym,dso", "-G", "--comms", comm, *options)
        need(done.returncode == 0, "script: exit code %d: %s" % (done.returncode, done.stderr[:300]))
        found = collections.Counter()
        for line in done.stdout.splitlines():
            match = re.match(r"\s*[0-9a-f]+ (.*) \(.*/prog( \(deleted\))?\)$", line)
            if match and match.group(1) in (FIRST, OTHER, UNKNOWN):
                found[match.group(1)] += 1
        return found, done.stderr


def build(c, name, *options):
    """The program in its two builds, as NAME-first and NAME-other."""
    for which, factor in ((FIRST, 3), (OTHER, 5)):
        out = c.path(name + "-" + which.split("_", maxsplit=1)[0])
        if not os.path.exists(out):
            done = c.call("cc", "-O1", "-fno-inline-functions", "-DWORK=" + which, "-DFACTOR=%d" % factor, *options, "-o", out,
                          os.path.join(HERE, "two.c"))
            if done.returncode:
                raise Skip("the compiler cannot: " + done.stderr[:200])


def only(found, *names):
    total = sum(found.values())
    need(total >= 20, "few samples: %s" % dict(found))
    need(all(found[name] * 20 >= total for name in names) and sum(found[name] for name in names) * 20 >= total * 19,
         "expected %s, found %s" % (names, dict(found)))


REPLACED = "cp two-first prog; ./prog 0.7 & sleep 0.25; rm prog; cp two-other prog; wait\n"


@by_samples
def test_replaced(c):
    """a program that is replaced while it runs, and has ended, gets no names of the other build, which is reported"""
    build(c, "two")
    ways = ([], ["--call-graph", "unwind"], ["--call-graph", "fp"], ["--threads"], ["-z"])
    for options in ways[:2 if SHORT else None]:
        c.shell(REPLACED, *options)
        found, said = c.names()
        only(found, UNKNOWN)
        need(SENTENCE in said and "/prog" in said, "no sentence with %s: %s" % (options, said))
        if reference() and options == []:
            only(c.names(program=reference())[0], UNKNOWN)
    done = c.call(PERFUSE, "flamegraph", "--folded", "-i", c.path("data"))
    need(OTHER not in done.stdout and SENTENCE in done.stderr, "flamegraph: %s %s" % (done.stdout[:200], done.stderr))
    done = c.call(PERFUSE, "report", "--stdio", "-i", c.path("data"))
    need(OTHER not in done.stdout and SENTENCE in done.stderr, "report: %s" % done.stderr)


@by_samples
def test_replaced_cached(c):
    """the names of a build that was replaced are taken from the build-id cache"""
    build(c, "two")
    for options in ([], ["--threads"]):
        c.shell(REPLACED, *options)
        need(c.call(PERFUSE, "buildid-cache", "-a", c.path("two-first")).returncode == 0, "buildid-cache")
        found, said = c.names()
        only(found, FIRST)
        need(SENTENCE not in said, "%s: %s" % (options, said))


@by_samples
def test_both(c):
    """two builds that ran under one path are distinguished"""
    build(c, "two")
    for options in ([], ["--call-graph", "unwind"]):
        c.shell(REPLACED + "./prog 0.5\n", *options)
        found, said = c.names()
        only(found, UNKNOWN, OTHER)
        need(SENTENCE in said, said)
        need(c.call(PERFUSE, "buildid-cache", "-a", c.path("two-first")).returncode == 0, "buildid-cache")
        only(c.names()[0], FIRST, OTHER)
        rows = c.call(PERFUSE, "buildid-list", "-i", c.path("data")).stdout
        need(rows.count("/prog") == 2, rows)
        if reference():
            need(c.call(reference(), "report", "--stdio", "-i", c.path("data")).returncode == 0, "perf does not read it")


@by_samples
def test_both_by_mapping(c):
    """two builds under one path are distinguished by the build-ids of their mappings"""
    build(c, "two")
    c.shell(REPLACED + "./prog 0.5\n", "--buildid-mmap")
    only(c.names()[0], UNKNOWN, OTHER)
    need(c.call(PERFUSE, "buildid-cache", "-a", c.path("two-first")).returncode == 0, "buildid-cache")
    only(c.names()[0], FIRST, OTHER)


@by_samples
def test_chroot(c):
    """a program of another root gets no names from the file that this root has under its path"""
    need_root("only root may do that")
    build(c, "still", "-static")
    os.makedirs(c.path("jail"), exist_ok=True)
    shutil.copy(c.path("still-first"), c.path("jail", "prog"))
    name = "prog-%d" % os.getpid()
    shutil.copy(c.path("still-other"), "/" + name)
    try:
        os.rename(c.path("jail", "prog"), c.path("jail", name))
        c.shell("chroot jail /%s 0.5\n" % name)
        done = c.call(PERFUSE, "script", "-i", c.path("data"), "-F", "ip,sym", "-G", "--comms", name)
        need(done.stdout.count(UNKNOWN) > 20 and OTHER not in done.stdout, done.stdout[:300])
        need(SENTENCE in done.stderr, done.stderr)
        c.shell("/%s 0.3; chroot jail /%s 0.3\n" % (name, name))
        done = c.call(PERFUSE, "script", "-i", c.path("data"), "-F", "ip,sym", "-G", "--comms", name)
        need(done.stdout.count(UNKNOWN) > 20 and done.stdout.count(OTHER) > 20, done.stdout[:300])
    finally:
        os.unlink("/" + name)


@by_samples
def test_namespace(c):
    """a program of another mount namespace gets no names from the file that this one has under its path"""
    need_root("only root may do that")
    build(c, "two")
    shutil.copy(c.path("two-other"), c.path("prog"))
    if c.call("unshare", "-m", "true").returncode:
        raise Skip("no mount namespaces here")
    c.shell("unshare -m sh -c 'mount --bind two-first prog; ./prog 0.5'\n")
    found, said = c.names()
    only(found, UNKNOWN)
    need(SENTENCE in said, said)


@by_samples
def test_unlinked(c):
    """a program that is deleted while it runs has no names, and a file that is later put at its path has none either"""
    build(c, "two")
    c.shell("cp two-first prog; ./prog 0.6 & sleep 0.25; rm prog; wait\n")
    only(c.names()[0], UNKNOWN)
    shutil.copy(c.path("two-other"), c.path("prog"))
    only(c.names()[0], UNKNOWN)
    os.unlink(c.path("prog"))
    shutil.copy(c.path("two-first"), c.path("prog"))
    only(c.names()[0], FIRST)


@by_samples
def test_same_content(c):
    """the same build at another inode, as after a package was installed again, has its names, without a message"""
    build(c, "two")
    c.shell("cp two-first prog; ./prog 0.5\n")
    os.rename(c.path("prog"), c.path("prog-before"))
    shutil.copy(c.path("prog-before"), c.path("prog"))
    found, said = c.names()
    only(found, FIRST)
    need(not said.strip(), said)


@by_samples
def test_unnamed(c):
    """without build-ids, another inode on the machine that was recorded is another build; --symfs uses the file"""
    build(c, "bare", "-Wl,--build-id=none")
    script = REPLACED.replace("two-", "bare-")
    for recorder in filter(None, (PERFUSE, reference())):
        c.shell(script, recorder=recorder)
        found, said = c.names()
        only(found, UNKNOWN)
        need(SENTENCE in said, said)
        only(c.names("--symfs", "/")[0], OTHER)
    c.shell(script + "./prog 0.5\n")
    only(c.names()[0], UNKNOWN, OTHER)
    c.shell("cp bare-first prog; ./prog 0.5\n")
    found, said = c.names()
    only(found, FIRST)
    need(not said.strip(), said)


@by_samples
def test_elsewhere(c):
    """a recording from another machine does not lose names for its inodes, with build-ids or without"""
    need_root("only root may do that")
    build(c, "two")
    build(c, "bare", "-Wl,--build-id=none")
    if c.call("unshare", "-u", "true").returncode:
        raise Skip("no namespaces of host names here")
    for name in ("two", "bare"):
        c.shell("cp %s-first prog; ./prog 0.5\n" % name, before=("unshare", "-u", "sh", "-c", 'hostname elsewhere; exec "$@"', "sh"))
        os.rename(c.path("prog"), c.path("prog-before"))
        shutil.copy(c.path("prog-before"), c.path("prog"))
        found, said = c.names()
        only(found, FIRST)
        need(not said.strip(), said)


def test_relative(c):
    """a relative name is that of a file in the current folder, as in perf, if the recorded build-id confirms it"""
    source = c.path("here.c")
    os.makedirs(c.path("here"), exist_ok=True)
    with open(source, "w", encoding="ascii") as out:
        out.write("int in_this_folder(int x) { return x * 3; }\n")
    need(c.call("cc", "-shared", "-fPIC", "-Wl,--build-id", "-o", c.path("here/lib.so"), source).returncode == 0, "cc")
    listed = c.call("readelf", "-sW", c.path("here/lib.so")).stdout
    place = int(re.search(r"([0-9a-f]{16}) +\d+ FUNC .* in_this_folder$", listed, flags=re.M).group(1), 16)
    identity = bytes.fromhex(process.build_id(c.path("here/lib.so")))
    flags = recording.FLAG_MMAP | recording.FLAG_COMM | recording.FLAG_SAMPLE_ID_ALL | recording.FLAG_MMAP2
    kind = recording.SAMPLE_IP | recording.SAMPLE_TID | recording.SAMPLE_TIME
    for built, shown in ((identity, True), (bytes(20), False)):
        records = [recording.comm(9, 9, "prog", end=recording.trailer(9, 9, 1)),
                   recording.mmap2(9, 9, 0x10000, 0x10000, 0, "here/lib.so", build_id=built, end=recording.trailer(9, 9, 2)),
                   recording.record(recording.SAMPLE, struct.pack("<QIIQ", 0x10000 + place, 9, 9, 3), recording.USER)]
        recording.write(c.path("data"), records, [recording.attribute(kind, flags, kind=0)])
        words = ("script", "-i", c.path("data"), "-F", "ip,sym,dso")
        text = c.call(PERFUSE, *words).stdout
        need(("in_this_folder" in text) == shown, "%s: %s" % (built.hex(), text))
        perf = reference()
        if shown and perf:
            need(text == c.call(perf, *words).stdout, "perf prints: " + c.call(perf, *words).stdout)
    os.rename(c.path("here"), c.path("there"))
    need("in_this_folder" not in c.call(PERFUSE, *words).stdout, "a file that is not there has names")


def test_ordinary_table(c):
    """if every path had one file, the build-id table is byte for byte that of perf"""
    perf = reference()
    if not perf:
        raise Skip("there is no reference perf")
    build(c, "two")
    lists = []
    for recorder in (perf, PERFUSE):
        c.shell("cp two-first prog; ./prog 0.4\n", recorder=recorder)
        lists.append([line for line in c.call(perf, "buildid-list", "-i", c.path("data")).stdout.splitlines() if "/prog" in line])
    need(lists[0] == lists[1] and len(lists[0]) == 1, lists)


def chains(text):
    """Folded stacks of script's text, as stackcollapse-perf.pl makes them, without weights."""
    found = set()
    for block in text.split("\n\n"):
        frames = [re.sub(r"\+0x[0-9a-f]+ \(.*|\+0x[0-9a-f]+$", "", line.split(None, 1)[1]).replace(" (inlined)", "")
                  for line in block.splitlines() if re.match(r"\s+[0-9a-f]+ ", line)]
        if frames:
            found.add(";".join(re.sub(r" \(/?[^ ]*\)$", "", frame) for frame in reversed(frames)))
    return found


def test_aliases(c):
    """of the names of one function script, report and flamegraph print the same one, which is perf's, with symbols in the program or separate"""
    perf = reference()
    for packed in ([], ["-gz"]):
        done = c.call("cc", "-O1", "-g", *packed, "-fno-optimize-sibling-calls", "-o", c.path("alias"), os.path.join(HERE, "alias.c"))
        if done.returncode:
            raise Skip("the compiler cannot: " + done.stderr[:200])
        c.shell("./alias\n", "--call-graph", "dwarf")
        texts = [c.call(program, "script", "-i", c.path("data"), "--comms", "alias", "-F", "ip,sym,symoff,dso").stdout
                 for program in filter(None, (PERFUSE, perf))]
        roots = [set(re.findall(ALIASES + r"\+", text)) for text in texts]
        need(len(roots[0]) == 1 and all(root == roots[0] for root in roots), "names of one function: %s" % roots)
        folded = c.call(PERFUSE, "flamegraph", "--folded", "--comm", "alias", "--by", "none", "-i", c.path("data")).stdout
        lines = {line.rsplit(" ", 1)[0] for line in folded.splitlines()}
        mine = {stack for stack in lines if "leaf" in stack and "[" not in stack}
        theirs = {stack for stack in chains(texts[0]) if "leaf" in stack and "[" not in stack}
        need(mine and mine == theirs, "flamegraph %s, script %s" % (sorted(mine)[:3], sorted(theirs)[:3]))
        rows = c.call(PERFUSE, "report", "--stdio", "--no-children", "-i", c.path("data"), "--comm", "alias").stdout
        # as in perf, the row of a sample in the function itself has the name of its symbol, whatever its chain has
        called = "".join(line for line in rows.splitlines(True) if not re.match(r" +[0-9.]+%", line))
        need(roots[0] == set(re.findall(ALIASES, called)), "report: %s" % rows)


def test_inlined_of_recorder(c):
    """chains that the recorder unwound show the same inlined functions as those that the reader unwinds, in every command"""
    done = c.call("cc", "-O1", "-g", "-fno-optimize-sibling-calls", "-static", "-o", c.path("alias"), os.path.join(HERE, "alias.c"))
    if done.returncode:
        raise Skip("the compiler cannot: " + done.stderr[:200])
    for how in ("dwarf", "unwind"):
        c.shell("./alias\n", "--call-graph", how)
        text = c.call(PERFUSE, "script", "-i", c.path("data"), "--comms", "alias", "-F", "ip,sym").stdout
        need("inner (inlined)" in text, "script of %s: %s" % (how, text[-300:]))
        need("inner (inlined)" in c.call(PERFUSE, "report", "--stdio", "-i", c.path("data")).stdout, "report of " + how)
        need(";inner " in c.call(PERFUSE, "flamegraph", "--folded", "-i", c.path("data")).stdout, "flamegraph of " + how)
        for command in ("script", "report"):
            text = c.call(PERFUSE, command, *(["--stdio"] if command == "report" else []), "--no-inline", "-i", c.path("data")).stdout
            need("inlined" not in text, "%s --no-inline of %s" % (command, how))
    c.shell("./alias\n", "-g")
    text = c.call(PERFUSE, "script", "-i", c.path("data"), "--comms", "alias", "-F", "ip,sym").stdout
    need("leaf" in text and "inlined" not in text, "script of frame pointers: " + text[-300:])


def prepare(work):
    need_recording(work)
    return Context(work)


if __name__ == "__main__":
    sys.exit(run_in_folder("names of the build that ran", prepare, globals()))
