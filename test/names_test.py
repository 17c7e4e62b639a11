#!/usr/bin/env python3
# sanitized: names that attack
"""Names and lines of kernel code: packed modules with their debug files, a kernel at a random address, BPF programs, a
kernel that hides its addresses. Files are small, and most recordings are made here: the kernel of this machine is not used."""
import lzma
import os
import re
import shutil
import sys

from names import kernel_recording
from suite import process
from suite.perf import need_reference
from suite.process import NOBODY, build_id
from suite.settings import PERFUSE, TEST
from suite.tests import Skip, need, need_root, need_tools, run_in_folder

HERE = os.path.join(TEST, "names")

MODULE_AT, MOVED = 0xffffffffc0200000, 0x2400000
FOLDER = "/lib/modules/6.6.0/kernel/lab/"
MODULE_PATH = FOLDER + "lab.ko.xz"
DEBUG = {"Debian": "/usr/lib/debug" + FOLDER + "lab.ko", "Fedora": "/usr/lib/debug" + FOLDER + "lab.ko.debug",
         "Fedora, with /usr": "/usr/lib/debug/usr" + FOLDER + "lab.ko.debug"}


class Context:
    def __init__(self, work):
        self.work = work
        need_tools("gcc", "ld", "objcopy", "readelf", "addr2line", "nm")

    def run(self, *command, **more):
        return process.run(*command, cwd=self.work, **more)

    def must(self, *command):
        return process.must(*command, cwd=self.work)

    def path(self, *names):
        path = os.path.join(self.work, *[n.lstrip("/") for n in names])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def module(self, *options):
        """lab.ko, whole; its build-id."""
        self.must("gcc", "-O2", "-g", "-fno-pie", "-ffreestanding", "-fno-asynchronous-unwind-tables", "-fcf-protection=none", *options,
                  "-c", os.path.join(HERE, "module.c"), "-o", "lab.o")
        self.must("ld", "-r", "--build-id=sha1", "lab.o", "-o", "lab.ko")
        return bytes.fromhex(build_id(self.path("lab.ko")))

    def packed(self, symfs, debug):
        """The module as a distribution has it: packed and without debug information, which is in another file."""
        self.must("objcopy", "-g", "lab.ko", "bare.ko")
        with open(self.path("bare.ko"), "rb") as bare, open(self.path(symfs, MODULE_PATH), "wb") as out:
            out.write(lzma.compress(bare.read(), check=lzma.CHECK_CRC32))
        shutil.copy(self.path("lab.ko"), self.path(symfs, debug))

    def sections(self):
        """Code that stays: (name, size, where it is loaded), in order, as the kernel lays it out."""
        at, found = 0, []
        row = r"\] (\.\S*text\S*) +PROGBITS +\S+ \S+ (\S+) \S+ +AX +\d+ +\d+ +(\d+)"
        for name, size, align in re.findall(row, self.must("readelf", "-SW", "lab.ko")):
            if not name.startswith(".init"):
                at = (at + int(align) - 1) // int(align) * int(align)
                found.append((name, int(size, 16), at))
                at += int(size, 16)
        return found

    def recorded(self, name, addresses, build_id):
        size = 0x10000
        kernel_recording.write(self.path(name), [kernel_recording.mapping_of_build(MODULE_AT, size, MODULE_PATH, build_id)] +
                        [kernel_recording.sample(MODULE_AT + a) for a in addresses])

    def script(self, program, data, symfs, *options):
        return self.must(program, "script", "-i", data, "--symfs", self.path(symfs, ""), *options)


def lines_of(text):
    """address → the line below it."""
    return {int(address, 16): line.strip() for address, line in re.findall(r"^\s*([0-9a-f]{16}).*\n\s+(\S+)$", text, re.M)}


def expected(c, sections, options=()):
    """(address, the line that binutils prints) of every byte."""
    for name, size, at in sections:
        asked = [hex(i) for i in range(size)]
        answer = c.must("addr2line", "-s", "-j", name, "-e", "lab.ko", *options, *asked).splitlines()
        for i, line in enumerate(answer):
            yield at + i, re.sub(r" \(discriminator \d+\)", "", line)


def check_lines(c, build_id, symfs):
    sections = c.sections()
    need(len(sections) == 3, "the module has the sections %r" % sections)
    want = dict(expected(c, sections))
    c.recorded("module.data", sorted(want), build_id)
    got = lines_of(c.script(PERFUSE, "module.data", symfs, "-G", "-F", "ip,sym,srcline"))
    for address, line in want.items():
        if not line.endswith((":0", ":?")):
            need(got.get(MODULE_AT + address) == line, "at %#x: %r, addr2line has %r" % (address, got.get(MODULE_AT + address), line))
    need(sum(not line.endswith((":0", ":?")) for line in want.values()) > 100, "addr2line knows next to no lines")


def test_lines_beside(c):
    """a kernel module has the lines of its debug file, at the paths of Debian and Fedora, in each of its sections"""
    build_id = c.module()
    for name, path in DEBUG.items():
        symfs = "symfs-" + re.sub(r"\W", "", name)
        c.packed(symfs, path)
        check_lines(c, build_id, symfs)


def test_debug_file_alone(c):
    """without a module's file its debug file alone gives names and lines, in each section that is loaded"""
    build_id = c.module()
    c.must("objcopy", "--only-keep-debug", "lab.ko", c.path("alone", DEBUG["Fedora"]))
    check_lines(c, build_id, "alone")
    text = c.script(PERFUSE, "module.data", "alone", "-G", "-F", "ip,sym,symoff")
    for (name, _, at), symbol in zip(c.sections(), ("lab_work", "lab_rare", "cleanup_module")):
        need(re.search("%x %s\\+0x0$" % (MODULE_AT + at, symbol), text, re.M), "the first function of %s is not %s" % (name, symbol))


def test_lines_versions(c):
    """a kernel module has lines for each version of DWARF, and with compressed sections"""
    for options in (("-gdwarf-4",), ("-gdwarf-5", "-gz=zlib"), ("-gdwarf-3",)):
        build_id = c.module(*options)
        shutil.copy(c.path("lab.ko"), c.path("whole", MODULE_PATH))
        check_lines(c, build_id, "whole")


def test_lines_agree(c):
    """perf has the same names and lines of a module that it can read"""
    build_id = c.module()
    shutil.copy(c.path("lab.ko"), c.path("agree", MODULE_PATH))
    text = c.sections()[0]
    c.recorded("agree.data", range(text[1]), build_id)
    for options in (("-F", "ip,sym,symoff,dso,srcline"), ("-F", "ip,sym,symoff,dso,dsoff")):
        theirs, ours = (c.script(p, "agree.data", "agree", *options) for p in (need_reference(), PERFUSE))
        need(theirs == ours and "lab_work+0x" in ours, "script %s differs:\n%s\n%s" % (" ".join(options), theirs[:300], ours[:300]))


def test_inlined(c):
    """inlined calls of a module are frames, and rows of a report"""
    build_id = c.module()
    c.packed("inlined", DEBUG["Debian"])
    at, chain = next((a, line) for a, line in inlined_places(c))
    c.recorded("inlined.data", [at] * 10, build_id)
    text = c.script(PERFUSE, "inlined.data", "inlined", "--inline", "-F", "ip,sym")
    need(re.search(r"lab_deep \(inlined\)\n.*lab_step \(inlined\)\n.*lab_work\n", text), "at %#x, %s: %s" % (at, chain, text[:400]))
    rows = c.must(PERFUSE, "report", "--stdio", "--no-children", "-g", "none", "-s", "srcline", "-i", "inlined.data", "--symfs",
                  c.path("inlined", ""))
    need("100.00%" in rows and chain in rows, "%s is not in: %s" % (chain, rows))


def inlined_places(c):
    size = c.sections()[0][1]
    for at in range(size):
        answer = c.must("addr2line", "-s", "-i", "-f", "-j", ".text", "-e", "lab.ko", hex(at)).splitlines()
        if answer[::2] == ["lab_deep", "lab_step", "lab_work"]:
            yield at, answer[1].split(" ")[0]


def test_addr2line(c):
    """addr2line resolves addresses of a module's sections as addr2line of binutils does"""
    c.module()
    for name in (".text", ".text.unlikely", ".init.text", ".exit.text"):
        asked = ["-e", "lab.ko", "-a", "-f", "-i", "-j", name] + [hex(i) for i in range(0, 0x40, 3)]
        theirs = re.sub(r" \(discriminator \d+\)", "", c.must("addr2line", *asked))
        ours = re.sub(r" \(discriminator \d+\)", "", c.must(PERFUSE, "addr2line", *asked))
        need(theirs == ours, "%s differs:\n%s\n%s" % (name, theirs, ours))


def test_other_build(c):
    """a module's debug file of another build is not used, which is reported"""
    build_id = c.module()
    c.packed("other", DEBUG["Debian"])
    c.recorded("other.data", [0], build_id[::-1])
    done = c.run(PERFUSE, "script", "-F", "ip,sym,srcline", "-i", "other.data", "--symfs", c.path("other", ""))
    need("module.c" not in done.stdout and "of another build than the recorded one" in done.stderr, done.stdout + done.stderr)


def by_name(c, name, addresses, build_id, release="6.6.0"):
    """A recording in which the module is named "[lab]", as in recordings of guests and containers."""
    start = kernel_recording.mapping_of_build(MODULE_AT, 0x10000, "[lab]", build_id) if build_id else kernel_recording.mapping(MODULE_AT, 0x10000, 0, "[lab]")
    kernel_recording.write(c.path(name), [start] + [kernel_recording.sample(MODULE_AT + a) for a in addresses], release)


def listed(c, symfs):
    """Puts the packed module and its debug file into the folder of its release, whose modules.dep lists it."""
    c.packed(symfs, DEBUG["Debian"])
    with open(c.path(symfs, "/lib/modules/6.6.0/modules.dep"), "w") as out:
        out.write("kernel/other/slab.ko:\nkernel/other/lab2.ko.zst: kernel/lab/lab.ko.xz\nkernel/lab/lab.ko.xz: kernel/other/slab.ko\n")


def test_by_name(c):
    """a module that was recorded by its name alone has the lines of the file that its release's folder lists"""
    build_id = c.module()
    listed(c, "named")
    want = {a: line for a, line in expected(c, c.sections()) if not line.endswith((":0", ":?"))}
    for what in (build_id, None):
        by_name(c, "named.data", sorted(want), what)
        got = lines_of(c.script(PERFUSE, "named.data", "named", "-G", "-F", "ip,sym,srcline"))
        for address, line in want.items():
            need(got.get(MODULE_AT + address) == line, "at %#x: %r, addr2line has %r" % (address, got.get(MODULE_AT + address), line))


def test_by_name_other(c):
    """for a module recorded by its name no file of another build or release is used"""
    build_id = c.module()
    listed(c, "named")
    for what, release in ((build_id[::-1], "6.6.0"), (build_id, "6.6.1"), (None, "6.6.1"), (None, "../modules/6.6.0"), (None, None)):
        by_name(c, "named.data", [0], what, release)
        text = c.script(PERFUSE, "named.data", "named", "-G", "-F", "ip,sym,srcline")
        need("module.c" not in text and "lab_work" not in text, "of %s, release %s: %s" % (what, release, text))


def test_by_name_list(c):
    """the functions of a module recorded by its name have the names of the kernel's list if one is given, as in perf"""
    build_id = c.module()
    listed(c, "named")
    kernel = 0xffffffff81000000
    kernel_recording.write(c.path("named.data"), [
        kernel_recording.mapping(kernel, 0x1000000, kernel, "[kernel.kallsyms]_text"),
        kernel_recording.mapping_of_build(MODULE_AT, 0x10000, "[lab]", build_id),
        kernel_recording.sample(kernel + 0x10), kernel_recording.sample(MODULE_AT + 4)], "6.6.0")
    with open(c.path("list"), "w") as out:
        out.write("%016x T _text\n%016x T _etext\n" % (kernel, kernel + 0x1000000))
        out.write("%016x t the_lists_own\t[lab]\n%016x t behind\t[lab]\n" % (MODULE_AT, MODULE_AT + 0x8000))
    options = ("--kallsyms", "list", "-G", "-F", "ip,sym,symoff,dso")
    theirs, ours = (c.script(p, "named.data", "named", *options) for p in (need_reference(), PERFUSE))
    need(ours == theirs and "the_lists_own+0x4 ([lab])" in ours, "%r, perf has %r" % (ours, theirs))
    lines = c.script(PERFUSE, "named.data", "named", "--kallsyms", "list", "-G", "-F", "ip,sym,srcline")
    need("the_lists_own" in lines and "module.c:" in lines, "no line: " + lines)


def test_damaged(c):
    """a module with damaged tables does not crash a reader"""
    build_id = c.module()
    c.recorded("damaged.data", range(0, 0x40, 8), build_id)
    with open(c.path("lab.ko"), "rb") as stream:
        whole = stream.read()
    state = 12345
    for _ in range(40):
        data = bytearray(whole)
        for _ in range(24):
            state = (state * 1103515245 + 12345) % 2 ** 31
            at = 0x200 + state % (len(data) - 0x200)
            state = (state * 1103515245 + 12345) % 2 ** 31
            data[at] = state >> 16 & 255
        with open(c.path("damaged", MODULE_PATH), "wb") as out:
            out.write(data)
        done = c.run(PERFUSE, "script", "--inline", "-F", "ip,sym,srcline", "-i", "damaged.data", "--symfs", c.path("damaged", ""))
        need(done.returncode == 0, "exit code %d: %s" % (done.returncode, done.stderr[-300:]))


def kernel(c):
    """A kernel's file, and a recording of every fourth byte of its functions, where they were moved to; symbol → address."""
    c.must("gcc", "-O2", "-g", "-fno-pie", "-no-pie", "-mcmodel=kernel", "-ffreestanding", "-fcf-protection=none", "-nostdlib", "-static",
           "-Wl,--build-id=sha1", "-Wl,-T," + os.path.join(HERE, "kernel.ld"), os.path.join(HERE, "kernel.c"), "-o", "vmlinux")
    symbols = {name: int(value, 16) for value, name in re.findall(r"^(\w+) \w (\w+)$", c.must("nm", "vmlinux"), re.M)}
    text, end, start = symbols["_text"], symbols["_etext"], symbols["lab_start"]
    functions = re.findall(r"^(\w+) (\w+) T lab_(?:schedule|idle)$", c.must("nm", "-S", "vmlinux"), re.M)
    samples = [kernel_recording.sample(a + MOVED, (start + MOVED + 6,)) for value, size in functions
               for a in range(int(value, 16), int(value, 16) + int(size, 16), 4)]
    kernel_recording.write(c.path("kernel.data"), [kernel_recording.mapping(text + MOVED, end - text, text + MOVED, "[kernel.kallsyms]_text")] + samples)
    return symbols


def test_kernel_agrees(c):
    """a kernel at a random address has the names of its file, in each of its sections, as in perf"""
    if os.uname().machine != "x86_64":
        raise Skip("the kernel's file is one of x86_64")
    kernel(c)
    for options in (("script", "-F", "ip,sym,symoff,dso"), ("script", "-F", "ip,sym,symoff,dso,dsoff"),
                    ("script", "-F", "ip,dso", "--show-kernel-path"), ("script", "-G", "-F", "ip,sym,srcline"),
                    ("report", "--stdio", "-q", "-v", "--no-children", "-s", "dso", "-g", "none"),
                    ("report", "--stdio", "-v", "--no-children", "-s", "dso", "-g", "none", "-t,"),
                    ("report", "--stdio", "-q", "--dsos", "[kernel.kallsyms]", "--no-children", "-s", "dso,sym", "-g", "none"),
                    ("report", "--stdio", "-q", "-s", "dso,sym", "-g", "none")):
        words = [*options, "-i", "kernel.data", "-k", "vmlinux", "--symfs", c.path("none", "")]
        shutil.copy(c.path("vmlinux"), c.path("none", "vmlinux"))
        theirs, ours = (re.sub("(?m)^# \\(Tip.*", "", c.must(p, *words)) for p in (need_reference(), PERFUSE))
        need(theirs == ours, "%s differs:\n%s\n%s" % (" ".join(options), theirs[:600], ours[:600]))
    need("[kernel.kallsyms].init.text" in ours and "lab_start" in ours, "the section beside .text has no names: " + ours)


def test_kernel_lines(c):
    """code that runs only at boot has lines, too"""
    if os.uname().machine != "x86_64":
        raise Skip("the kernel's file is one of x86_64")
    symbols = kernel(c)
    shutil.copy(c.path("vmlinux"), c.path("none", "vmlinux"))
    got = lines_of(c.script(PERFUSE, "kernel.data", "none", "-k", c.path("vmlinux"), "-F", "ip,sym,srcline"))
    at = symbols["lab_start"] + 6
    want = re.sub(r" \(discriminator \d+\)", "", c.must("addr2line", "-s", "-e", "vmlinux", hex(at))).strip()
    need(got.get(at + MOVED) == want, "at %#x: %r, addr2line has %r" % (at, got.get(at + MOVED), want))


def test_hidden_recorder(c):
    """a recording whose kernel hid its addresses is reported once, with a remedy"""
    kernel_recording.write(c.path("hidden.data"), [kernel_recording.sample(0xffffffff81000000 + 16 * i) for i in range(9)])
    for command in (("report", "--stdio"), ("script",), ("flamegraph", "--folded")):
        done = c.run(PERFUSE, *command, "-i", "hidden.data")
        need(done.returncode == 0 and done.stderr.count("kernel.kptr_restrict=0") == 1, "%s: %s" % (command[0], done.stderr))


def test_hidden_reader(c):
    """a user from whom the kernel hides its addresses gets one message, with a remedy"""
    need_root("only root can become a user without privileges")
    if re.search(r"^0*[1-9a-f]", c.run("head", "-n", "1", "/proc/kallsyms", user=NOBODY).stdout):
        raise Skip("here all users see the kernel's addresses")
    program = shutil.copy(PERFUSE, c.path("for-all"))
    kernel_recording.write(c.path("seen.data"), [kernel_recording.mapping(2 ** 64 - 2 ** 31, 2 ** 24, 2 ** 64 - 2 ** 31, "[kernel.kallsyms]_text"),
                                          kernel_recording.sample(2 ** 64 - 2 ** 31 + 64)])
    for name in ("", "for-all", "seen.data"):
        os.chmod(c.path(name), 0o755)
    for command in (("report", "--stdio"), ("script",), ("flamegraph", "--folded")):
        done = c.run(program, *command, "-f", "-i", c.path("seen.data"), user=NOBODY)
        said = re.findall(r"As root, 'sysctl kernel\.\S+=\d", done.stderr)
        need(done.returncode == 0 and len(said) == 1, "%s: %s" % (command[0], done.stderr))


def test_other_release(c):
    """a kernel of another release gives no names to a recording without the build-id of its kernel, which is reported"""
    need_root("only root sees the kernel's addresses for sure")
    with open("/proc/kallsyms", encoding="ascii") as lines:
        at = next(int(line.split()[0], 16) for line in lines if line.split()[2] == "vfs_read")
    records = [kernel_recording.mapping(0, 2 ** 64 - 1, 0, "[kernel.kallsyms]"), kernel_recording.sample(at + 1), kernel_recording.sample(at + 2)]
    for release, named in ((os.uname().release, True), ("4.14.0-other", False), (None, True)):
        kernel_recording.write(c.path("release.data"), records, release)
        for command in (("report", "--stdio"), ("script",), ("flamegraph", "--folded")):
            done = c.run(PERFUSE, *command, "-i", "release.data")
            need(done.returncode == 0 and ("vfs_read" in done.stdout) == named, "%s of %s: %s" % (command[0], release, done.stdout))
            need(("is of another build than the recorded one" in done.stderr) != named, "%s of %s says %s" % (command[0], release, done.stderr))


def test_own_root(c):
    """--symfs=/ is this machine: the running kernel's names are shown, which another folder hides"""
    need_root("only root sees the kernel's addresses for sure")
    with open("/proc/kallsyms", encoding="ascii") as lines:
        at = next(int(line.split()[0], 16) for line in lines if line.split()[2] == "vfs_read")
    kernel_recording.write(c.path("own.data"), [kernel_recording.mapping(0, 2 ** 64 - 1, 0, "[kernel.kallsyms]"), kernel_recording.sample(at + 1)])
    os.makedirs(c.path("nothing"), exist_ok=True)
    for root, named in (("/", True), ("/usr/..", True), ("nothing", False)):
        done = c.run(PERFUSE, "report", "--stdio", "-i", "own.data", "--symfs", root)
        need(done.returncode == 0 and ("vfs_read" in done.stdout) == named, "--symfs %s: %s" % (root, done.stdout))


def test_contested(c):
    """addresses that mappings of the kernel and of modules share belong to the mapping that perf selects"""
    perf, start, page = need_reference(), 2 ** 64 - 2 ** 31, 4096
    os.makedirs(c.path("nothing"), exist_ok=True)
    for layout in (((-8, 12),), ((-8, 12), (4, 2)), ((3, 4),), ((3, 4), (30, 2)), ((0, 3), (12, 9), (14, 2), (40, 1)), ((-4, 60), (2, 1))):
        maps = [kernel_recording.mapping(start + at * page, size * page, 0, "[m%d]" % i) for i, (at, size) in enumerate(layout)]
        kernel_map = kernel_recording.mapping(start, 20 * page, start, "[kernel.kallsyms]_text")
        for records in ([kernel_map, *maps], [*maps, kernel_map]):
            kernel_recording.write(c.path("contested.data"), records + [kernel_recording.sample(start + i * page + 16) for i in range(-10, 62)])
            texts = [c.script(program, "contested.data", "nothing", "-F", "ip,dso") for program in (PERFUSE, perf)]
            need(texts[0] == texts[1], "modules at %s: %s" % (layout, [pair for pair in zip(*(t.split("\n") for t in texts)) if pair[0] != pair[1]][:3]))


def test_bpf(c):
    """BPF programs have their names in recordings of perfuse and of perf, in the output of both"""
    if os.geteuid() != 0 or os.uname().machine != "x86_64":
        raise Skip("loading a BPF program takes root, and the numbers of x86_64")
    for recorder in (PERFUSE, need_reference()):
        done = c.run(recorder, "record", "-q", "-e", "cpu-clock", "-o", "bpf.data", "--", sys.executable, os.path.join(HERE, "hot.py"),
                     "0.4")
        if done.returncode == 77:
            raise Skip("this kernel runs no BPF program of ours")
        need(done.returncode == 0, "record: " + done.stderr)
        for options in (("script", "-G", "-F", "ip,sym,symoff,dso"), ("script", "-G", "--show-bpf-events"),
                        ("report", "--stdio", "-q", "-s", "sym,dso")):
            theirs, ours = (c.must(p, *options, "-i", "bpf.data", "--symfs", c.path("nothing", "")) for p in (need_reference(), PERFUSE))
            need("lab_hot_loop" in ours, "%s has no name of the program: %s" % (" ".join(options), ours[:300]))
            # perf shows the name of a program that was at this address before, if nothing recorded its end
            need(theirs == ours or "lab_hot_loop" not in theirs, "%s differs:\n%s\n%s" % (" ".join(options), theirs[:300], ours[:300]))


if __name__ == "__main__":
    sys.exit(run_in_folder("names and lines of kernel code", Context, globals()))
