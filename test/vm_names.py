#!/usr/bin/env python3
"""Boots Debian's 6.12, whose kernel has a random address after each boot, records the whole machine, and reads the recording here with
the files of the kernel's debug package (tools/vm debug: 1 GB to fetch, once): names and lines of vmlinux and of modules must be those of
perf 6.12, and inlined calls those of binutils."""
import os
import re
import shutil
import sys
import tempfile

from suite import process
from suite.machine import vm
from suite.perf import first_difference, need_reference, reference
from suite.settings import PERFUSE
from suite.tests import Failure, Skip, need, run_tests, tests_of

ADDRESSES_MAX = 4000
BOOTS = 3  # an emulated machine on a busy one may give up its clock while it boots
GUEST = """
mkdir -p /lib/modules
ln -s "/mnt/lib/modules/$(uname -r)" /lib/modules
cd /sys/kernel/tracing
echo vfs_read >set_ftrace_filter
perfuse record -a -g -F 1000 -e cpu-clock -o /mnt/vm.data -- sh -c '
	echo function >/sys/kernel/tracing/current_tracer
	for i in 1 2 3; do
		cat /mnt/blob | gzip -1 >/dev/null
		dd if=/dev/zero of=/mnt/out bs=4096 count=200
		find /sys /proc/self -type f >/dev/null
		dd if=/dev/zero of=/dev/null bs=1 count=4000
		cat /proc/kallsyms /proc/modules >/dev/null
		ls -lR /mnt
	done' >/dev/null 2>/mnt/errors
echo nop >current_tracer
"""


class Context:
    def __init__(self, work):
        self.work = work

    def run(self, *command, **more):
        return process.run(*command, cwd=self.work, seconds=900, **more)

    def must(self, *command, **more):
        return process.must(*command, cwd=self.work, seconds=900, **more)

    def prepare(self):
        """Fetches the files, boots and records."""
        got = vm("debug")
        if got.returncode != 0:
            raise Skip("the kernel's debug package cannot be had: " + got.stderr.strip()[-200:])
        need_reference()
        self.debug = got.stdout.strip()
        self.release = os.listdir(os.path.join(self.debug, "lib/modules"))[0]
        self.vmlinux = os.path.join(self.debug, "usr/lib/debug/boot/vmlinux-" + self.release)
        share = os.path.join(self.work, "share")
        shutil.copytree(os.path.join(self.debug, "lib"), os.path.join(share, "lib"))
        with open(os.path.join(share, "guest"), "w") as out:
            out.write(GUEST)
        with open(os.path.join(share, "blob"), "wb") as out:
            out.write(os.urandom(1 << 20) * 3)
        self.data = os.path.join(share, "vm.data")
        for _ in range(BOOTS):
            done = vm("run", "--share", share, "--program", PERFUSE, "--timeout", "300", "--", "sh", "/mnt/guest")
            if done.returncode == 0 and os.path.exists(self.data):
                break
        need(os.path.exists(self.data), "the machine recorded nothing: %s" % done.stderr[-600:])
        self.whole_modules()

    def whole_modules(self):
        """A folder for --symfs as perf can read it: modules with their debug information at the paths of the packed ones."""
        self.symfs = os.path.join(self.work, "symfs")
        root = os.path.join(self.debug, "usr/lib/debug")
        for where, _, names in os.walk(os.path.join(root, "lib/modules", self.release, "kernel")):
            for name in names:
                target = os.path.join(self.symfs, os.path.relpath(os.path.join(where, name), root) + ".xz")
                os.makedirs(os.path.dirname(target), exist_ok=True)
                shutil.copy(os.path.join(where, name), target)

    def both(self, *words):
        words = [*words, "-i", self.data, "--symfs", self.symfs, "-k", self.vmlinux]
        return self.must(reference(), *words), self.must(PERFUSE, *words)


def test_records(c):
    """Debian's 6.12 boots, and is recorded with its modules and a trampoline of ftrace"""
    c.prepare()
    text = c.must(PERFUSE, "script", "-i", c.data, "--show-mmap-events", "--show-bpf-events", "-F", "ip")
    moved = re.search(r"\[0x(\w+)\(0x\w+\) @ 0x(\w+)\]: x \[kernel.kallsyms\]_text", text)
    need(moved and "9pnet.ko.xz" in text and re.search(r"KSYMBOL .* name ftrace_trampoline", text), "mappings: " + text[:1000])


def ready(c):
    if not os.path.exists(getattr(c, "symfs", "")):
        raise Skip("there is no recording")


def test_names(c):
    """names of a kernel at a random address, of modules and of code that ftrace made are perf's"""
    ready(c)
    for words in (("script", "-F", "ip,sym,symoff,dso"), ("script", "-F", "ip,sym,symoff,dso,dsoff"),
                  ("script", "-F", "ip,dso", "--show-kernel-path"), ("report", "--stdio", "-q", "--no-children", "-g", "none", "-s", "dso,sym")):
        theirs, ours = c.both(*words)
        need(theirs == ours, "%s: %s" % (" ".join(words), first_difference(ours, theirs)))
        need("9pnet" in ours, "there is no code of modules in it")


def places(text):
    """address → (the line's place, its module)"""
    found = re.findall(r"^\t *([0-9a-f]+) (?:.*\()?([^()\n]*)\)?\n  (.+)$", text, re.M)
    return {int(address, 16): (place, module) for address, module, place in found if len(address) == 16}


def binutils_says_file_0(theirs, ours):
    """Both have the line; of the file binutils takes entry 0 of the table, where the standard says 1 (docs/differences.md)."""
    return theirs.split(":")[-1] == ours.split(":")[-1] and theirs.split(":")[0].endswith((".c", ".S"))


def test_lines(c):
    """lines of vmlinux and of modules are perf's, also in code that runs only at boot"""
    ready(c)
    theirs, ours = (places(text) for text in c.both("script", "-F", "ip,sym,dso,srcline"))
    need(len(ours) > 1000, "only %d places of the kernel" % len(ours))
    need(sum("/lib/modules/" in module for _, module in ours.values()) > 50, "next to no places in modules")
    for address, (place, module) in ours.items():
        other = theirs.get(address, ("nothing",))[0]
        if place != other and not (module.endswith(".init.text") and ":" in place) and not binutils_says_file_0(other, place):
            raise Failure("%x in %s: %s, perf has %s" % (address, module, place, other))


def test_as_installed(c):
    """the files of the packages give the same lines: packed modules, and vmlinux at its installed path"""
    ready(c)
    words = ("script", "-F", "ip,sym,symoff,srcline", "-i", c.data)
    whole = c.must(PERFUSE, *words, "--symfs", c.symfs, "-k", c.vmlinux)
    installed = c.must(PERFUSE, *words, "--symfs", c.debug)
    need(whole == installed, first_difference(installed, whole))


def test_inlined(c):
    """inlined calls at sampled addresses of vmlinux are those of binutils"""
    ready(c)
    text = c.must(PERFUSE, "script", "-F", "ip,dso,dsoff", "-i", c.data, "--symfs", c.symfs, "-k", c.vmlinux)
    offsets = sorted({int(offset, 16) for offset in re.findall(r"vmlinux-\S+\+0x([0-9a-f]+)\)", text)})[:ADDRESSES_MAX]
    need(len(offsets) > 1000, "only %d places of the kernel" % len(offsets))
    at, start = re.search(r" \.text +PROGBITS +(\w+) (\w+)", c.must("readelf", "-SW", c.vmlinux)).groups()
    asked = "".join("%#x\n" % (int(at, 16) + offset - int(start, 16)) for offset in offsets)
    answers = []
    for program in (["addr2line"], [PERFUSE, "addr2line"]):
        answer = c.must(*program, "-i", "-a", "-e", c.vmlinux, input=asked)
        answers.append(re.sub(r" \(discriminator \d+\)", "", answer).split("0x")[1:])
    need(len(answers[0]) == len(answers[1]) == len(offsets), "there are %d and %d answers" % (len(answers[0]), len(answers[1])))
    for theirs, ours in zip(*answers):
        a, b = theirs.splitlines(), ours.splitlines()
        same = a[1] == b[1] or binutils_says_file_0(a[1], b[1])
        need(same and len(a) == len(b) and a[2:] == b[2:], "%s, binutils: %s" % (ours, theirs))


def main():
    with tempfile.TemporaryDirectory(prefix="perfuse-vm-names-") as work:
        return run_tests(tests_of(globals(), Context(work)))


if __name__ == "__main__":
    sys.exit(main())
