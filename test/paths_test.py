#!/usr/bin/env python3
"""Paths that another user of the machine chooses: each test is an attack on root, made by a process of that user or by files that it owns.
A test fails if root writes, removes or shows what the attacker wants. Only root can run them."""
import ctypes
import glob
import io
import mmap
import os
import platform
import re
import shutil
import signal
import stat
import sys
import tarfile
import tempfile

from suite import process
from suite.process import build_id, environment
from suite.settings import SHAPE
from suite.tests import Skip, need, run_tests, tests_of

ATTACKER = 64321
REFUSED = "belongs to another user"
RENAME_EXCHANGE, AT_FDCWD = 2, -100


def as_attacker(action):
    """Runs action in a child that is the attacker, and waits for it."""
    os.waitpid(start_as_attacker(action), 0)


def start_as_attacker(action):
    return process.fork_as(ATTACKER, action)


class Context:
    def __init__(self):
        self.top = tempfile.mkdtemp(prefix="perfuse-paths-")
        os.chmod(self.top, 0o755)
        self.count = 0

    def begin(self):
        """Folders of a test: of root (home), of the attacker (att), and the attacker's target (victim)."""
        self.count += 1
        self.work = os.path.join(self.top, str(self.count))
        for name in ("home", "att", "victim"):
            os.makedirs(os.path.join(self.work, name), 0o755)
            setattr(self, name, os.path.join(self.work, name))
        os.chown(self.att, ATTACKER, ATTACKER)
        self.prog = os.path.join(self.work, "prog")
        shutil.copy(SHAPE, self.prog)
        os.chmod(self.prog, 0o755)

    def perfuse(self, *words, cwd=None, home=True, **more):
        env = environment(self.home)
        if home is not True:
            env["HOME"] = home
        if not env["HOME"]:
            del env["HOME"]
        return process.perfuse(*words, cwd=cwd or self.work, env=env, **more)

    def must(self, *words, **more):
        done = self.perfuse(*words, **more)
        need(done.returncode == 0, "%s: %d: %s" % (" ".join(words), done.returncode, done.stderr))
        return done

    def files_outside(self):
        """What root made in the folders of the attacker and of the victim."""
        found = []
        for folder in (self.att, self.victim):
            for at, folders, names in os.walk(folder):
                found += [os.path.join(at, name) for name in folders + names if os.lstat(os.path.join(at, name)).st_uid == 0]
        return found

    def link(self, target, name):
        as_attacker(lambda: os.symlink(target, os.path.join(self.att, name)))

    def close(self):
        shutil.rmtree(self.top, ignore_errors=True)


def test_memfd(c):
    """a file of memory with .. in its name, mapped by another user, makes record -a write nothing outside of root's cache"""
    c.begin()
    lead = "x/../../../att/"
    c.link(c.victim, "z (deleted)")

    def run():
        memory = os.memfd_create(lead + "z")
        with open(c.prog, "rb") as program:
            os.write(memory, program.read())
        os.execve(memory, ["shape", "--ms", "60000"], {})

    pid = start_as_attacker(run)
    process.wait_until(lambda: "memfd:" in os.readlink("/proc/%d/exe" % pid), "the program starts")
    c.must("record", "-a", "-o", "p.data", "--", "sleep", "1.5")
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    need("memfd" in c.must("script", "-i", "p.data", "--show-mmap-events").stdout, "the program was not recorded")
    need(not c.files_outside(), "root made %s" % c.files_outside())


def recorded_process(c, path):
    """A running process of the attacker, and its recording, made without a copy in the cache."""
    pid = start_as_attacker(lambda: os.execve(path, [path, "--ms", "60000"], {}))
    process.wait_until(lambda: os.readlink("/proc/%d/exe" % pid) == path, "the program starts")
    c.must("record", "-N", "-p", str(pid), "-o", "p.data", "--", *process.until_used(pid, 100))
    return pid


def test_inject_path(c):
    """a recording whose mapping has .. in its path makes inject -b write nothing outside of root's cache"""
    c.begin()
    path = c.att + "/program-with-a-rather-long-name"
    evil = "/x/../../../att/z".ljust(len(path), "z")
    shutil.copy(c.prog, path)
    os.chmod(path, 0o755)
    c.link(c.victim, os.path.basename(evil))
    pid = recorded_process(c, path)
    try:
        with open(c.work + "/p.data", "rb") as file:
            data = file.read()
        need(path.encode() in data, "the recording has not the path")
        with open(c.work + "/evil.data", "wb") as file:
            file.write(data.replace(path.encode(), evil.encode()))
        os.unlink(path)
        c.perfuse("inject", "-b", "-i", "evil.data", "-o", "out.data")
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    need(not c.files_outside(), "root made %s" % c.files_outside())


def test_inject_kernel(c):
    """a recording that names the kernel a path with .. makes inject -b write no list of symbols there, and none that every user can read"""
    c.begin()
    name, evil = b"[kernel.kallsyms]\0", b"x/../../../att/zz\0"
    c.link(c.victim, "zz")
    c.must("record", "-N", "-a", "-o", "p.data", "--", "sleep", "0.5")
    with open(c.work + "/p.data", "rb") as file:
        data = file.read()
    at = data.rfind(name)
    need(at > 0, "the recording has no build-id of the kernel")
    with open(c.work + "/evil.data", "wb") as file:
        file.write(data[:at] + evil + data[at + len(evil):])
    c.perfuse("inject", "-b", "-i", "evil.data", "-o", "out.data")
    need(not c.files_outside(), "root made %s" % c.files_outside())
    c.must("inject", "-b", "-i", "p.data", "-o", "out.data")
    lists = glob.glob(glob.escape(c.home + "/.debug/") + "*/*/kallsyms")
    need(lists, "the kernel's symbols are not in the cache")
    need(not [path for path in lists if stat.S_IMODE(os.stat(path).st_mode) & 0o077], "others can read the kernel's addresses")


def test_foreign_home(c):
    """a cache below a home of another user is not written to, which record reports"""
    c.begin()
    as_attacker(lambda: os.mkdir(c.att + "/.debug"))
    c.link(c.victim, ".debug/usr")
    c.link(c.victim, ".debug/tmp")
    done = c.perfuse("record", "-o", "p.data", "--", c.prog, "--ms", "100", home=c.att)
    need(done.returncode == 0, done.stderr)
    need(not c.files_outside(), "root made %s" % c.files_outside())
    need(REFUSED in done.stderr, "it does not say so: " + done.stderr)
    for words in (("-a", c.prog), ("-u", c.prog), ("-P",), ("-r", c.prog)):
        done = c.perfuse("buildid-cache", *words, home=c.att)
        need(done.returncode == 255 and REFUSED in done.stderr, "buildid-cache %s: %d %s" % (words, done.returncode, done.stderr))
    need(not c.files_outside(), "root made %s" % c.files_outside())


def test_no_home(c):
    """without HOME the current folder is not used as a cache"""
    c.begin()
    as_attacker(lambda: os.mkdir(c.att + "/.debug"))
    c.link(c.victim, ".debug/tmp")
    c.must("record", "-o", c.work + "/p.data", "--", c.prog, "--ms", "100", cwd=c.att, home="")
    done = c.perfuse("buildid-cache", "-a", c.prog, cwd=c.att, home="")
    need(done.returncode == 255 and "HOME" in done.stderr, "%d %s" % (done.returncode, done.stderr))
    need(not c.files_outside(), "root made %s" % c.files_outside())


def test_shared_folder(c):
    """a cache that every user can write to is not used by root"""
    c.begin()
    os.mkdir(c.work + "/open")
    os.chmod(c.work + "/open", 0o1777)
    done = c.perfuse("--buildid-dir", c.work + "/open", "record", "-o", "p.data", "--", c.prog, "--ms", "100")
    need(done.returncode == 0 and "can write" in done.stderr, done.stderr)
    need(not os.listdir(c.work + "/open"), "root made %s" % os.listdir(c.work + "/open"))


def test_swapped(c):
    """a program that its owner swaps for a link to a file of root's while root caches it puts only the program into the cache"""
    c.begin()
    prog, link, libc = c.att + "/prog", c.att + "/link", ctypes.CDLL(None, use_errno=True)
    shutil.copy(c.prog, prog)
    os.chmod(prog, 0o755)
    secret = c.victim + "/secret"
    with open(secret, "w") as file:
        file.write("root's alone\n")
    os.chmod(secret, 0o600)
    c.link(secret, "link")

    def swap():
        while True:
            libc.renameat2(AT_FDCWD, prog.encode(), AT_FDCWD, link.encode(), RENAME_EXCHANGE)

    os.chown(prog, ATTACKER, ATTACKER)
    pid = start_as_attacker(swap)
    added, cached = 0, c.home + "/.debug/.build-id/%s/%s/elf" % (build_id(c.prog)[:2], build_id(c.prog)[2:])
    try:
        for _ in range(300):
            c.perfuse("buildid-cache", "-a", prog)
            for elf in glob.glob(c.home + "/.debug/**/elf", recursive=True) + [cached]:
                if not os.path.lexists(elf):
                    continue
                added += 1
                need(not os.path.islink(elf), "the cache has a link to %s" % os.readlink(elf) if os.path.islink(elf) else "")
                with open(elf, "rb") as file:
                    need(file.read(4) == b"\x7fELF", "the cache has a file of root's")
            shutil.rmtree(c.home + "/.debug", ignore_errors=True)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    need(added, "nothing was ever added")


def test_modes(c):
    """root's cached copy of a file that others cannot read, others cannot read either"""
    c.begin()
    os.chmod(c.prog, 0o700)
    shut = c.work + "/shut"
    os.mkdir(shut, 0o700)
    copy = shut + "/prog"
    process.must("objcopy", "--remove-section=.comment", c.prog, copy)
    os.chmod(copy, 0o755)
    c.must("buildid-cache", "-a", c.prog)
    copies = glob.glob(c.home + "/.debug/**/elf", recursive=True)
    c.must("buildid-cache", "-r", c.prog)
    c.must("buildid-cache", "-a", copy)
    need(len(copies) == 1, "nothing was cached")
    copies = glob.glob(c.home + "/.debug/**/elf", recursive=True)
    need(len(copies) == 1 and not stat.S_IMODE(os.stat(copies[0]).st_mode) & 0o077, "a file behind a closed folder is readable")
    c.must("buildid-cache", "-r", copy)
    c.must("buildid-cache", "-a", c.prog)
    seen = []
    for at, _, names in os.walk(c.home + "/.debug"):
        seen += [name for name in names if stat.S_IMODE(os.stat(os.path.join(at, name)).st_mode) & 0o044]
    need(not seen, "others can read %s" % seen)


def test_forged_cache(c):
    """names of a cache that another user owns are not shown to root"""
    c.begin()
    c.must("record", "-N", "-e", "task-clock:u", "-o", "p.data", "--", c.prog, "--ms", "300")
    real = c.must("report", "-i", "p.data", "--stdio").stdout
    name = re.search(r"\[\.\] (\w+)", real).group(1)
    hexadecimal = build_id(c.prog)
    forged = c.work + "/forged"
    process.must("objcopy", "--redefine-sym", "%s=forged_by_attacker" % name, c.prog, forged)
    os.chmod(forged, 0o644)

    def forge():
        os.makedirs(c.att + "/.debug/x/" + hexadecimal)
        os.makedirs(c.att + "/.debug/.build-id/" + hexadecimal[:2])
        shutil.copy(forged, c.att + "/.debug/x/%s/elf" % hexadecimal)
        os.symlink("../../x/" + hexadecimal, c.att + "/.debug/.build-id/%s/%s" % (hexadecimal[:2], hexadecimal[2:]))

    as_attacker(forge)
    done = c.must("report", "-i", "p.data", "--stdio", home=c.att)
    need("forged_by_attacker" not in done.stdout, "root is shown forged names")
    need(name in done.stdout and REFUSED in done.stderr, "it does not say so: " + done.stderr)


def test_links_of_cache(c):
    """a link in root's own cache does not bring a file from outside of it into report or archive"""
    c.begin()
    hexadecimal, folder = build_id(c.prog), c.home + "/.debug/.build-id/"
    c.must("record", "-N", "-e", "task-clock:u", "-o", "p.data", "--", c.prog, "--ms", "200")
    outside = c.victim + "/" + hexadecimal
    os.makedirs(outside)
    os.rename(c.prog, outside + "/elf")
    os.makedirs(folder + hexadecimal[:2])
    os.symlink("../../x/" + hexadecimal, folder + hexadecimal[:2] + "/" + hexadecimal[2:])
    os.symlink(c.victim, c.home + "/.debug/x")
    done = c.must("report", "-v", "-i", "p.data", "--stdio")
    need("/elf: used" not in done.stderr, "report reads what lies outside: " + done.stderr)
    c.perfuse("archive", "p.data")
    if os.path.exists(c.work + "/p.data.tar.bz2"):
        with tarfile.open(c.work + "/p.data.tar.bz2") as tar:
            need(not [name for name in tar.getnames() if name.startswith("x/")], "archive packs what lies outside: %s" % tar.getnames())


def test_old_kcore(c):
    """a link kcore_dir in another user's perf.data.old makes record remove nothing where it leads"""
    c.begin()
    names = ("kcore", "kallsyms", "modules")
    for name in names:
        open(os.path.join(c.victim, name), "w").close()

    def lay():
        os.mkdir(c.att + "/perf.data.old")
        for path in ("perf.data.old/data", "perf.data"):
            with open(os.path.join(c.att, path), "w") as file:
                file.write("x")
        os.symlink(c.victim, c.att + "/perf.data.old/kcore_dir")

    as_attacker(lay)
    c.perfuse("record", "-o", "perf.data", "--", "true", cwd=c.att)
    need(sorted(os.listdir(c.victim)) == sorted(names), "root removed files: only %s are left" % os.listdir(c.victim))


def test_output_links(c):
    """root writes no file where a link of another user leads: record, inject, flamegraph"""
    c.begin()
    c.must("record", "-o", "p.data", "--", "true")
    with open(c.victim + "/file", "w") as file:
        file.write("root's\n")
    open(c.victim + "/empty", "w").close()
    c.link(c.victim + "/new", "dangling")
    c.link(c.victim + "/file", "full")
    c.link(c.victim + "/empty", "empty")
    c.link(c.victim, "way")
    before = sorted(os.listdir(c.victim))
    for name in ("dangling", "full", "empty", "way/new", "way/file"):
        for words in (("record", "-o", name, "--", "true"), ("record", "--threads", "-o", name, "--", "true"),
                      ("inject", "-b", "-i", c.work + "/p.data", "-o", name),
                      ("flamegraph", "-i", c.work + "/p.data", "-o", name)):
            done = c.perfuse(*words, cwd=c.att)
            need(sorted(os.listdir(c.victim)) == before, "%s: the folder has %s" % (words, os.listdir(c.victim)))
            need(open(c.victim + "/file").read() == "root's\n" and os.path.getsize(c.victim + "/empty") == 0, "%s writes there" % (words,))
            need(done.returncode != 0 and REFUSED in done.stderr, "%s: %d %s" % (words, done.returncode, done.stderr))


def test_output_other(c):
    """root writes no file where a link of another user leads: data export, --debug-file, stat --append"""
    c.begin()
    c.must("record", "-o", "p.data", "--", "true")
    with open(c.victim + "/file", "w") as file:
        file.write("root's\n")
    c.link(c.victim + "/new", "dangling")
    c.link(c.victim + "/file", "full")
    c.link(c.victim, "way")
    export, debug, append = ("data", "export", "sqlite", "-i", c.work + "/p.data"), ("--debug-file",), ("stat", "--append", "-o")
    cases = [(export, "way/new", ())] + [(debug, name, ("version",)) for name in ("dangling", "full", "way/new", "way/file")]
    for words, name, rest in cases + [(append, name, ("--", "true")) for name in ("dangling", "full", "way/new", "way/file")]:
        done = c.perfuse(*words, name, *rest, cwd=c.att)
        need(os.listdir(c.victim) == ["file"] and open(c.victim + "/file").read() == "root's\n", "%s %s writes there" % (words, name))
        need(done.returncode != 0 and REFUSED in done.stderr, "%s: %d %s" % (words, done.returncode, done.stderr))
    for name in ("first", "second"):
        c.perfuse("--debug-file", c.work + "/messages", "report", "-i", name)
    need(open(c.work + "/messages").read().count("No such file") == 1, "older messages are in the file")


def test_output_ordinary(c):
    """ordinary outputs work: root's own links, a user's older recording under sudo, /dev/null, open files, empty files that are open"""
    c.begin()
    os.symlink("target", c.work + "/link")
    c.must("record", "-o", "link", "--", "true")
    need(os.path.islink(c.work + "/link") and os.path.getsize(c.work + "/target"), "an own link is not followed")
    as_attacker(lambda: open(c.att + "/perf.data", "w").write("older"))
    c.must("record", "-o", "perf.data", "--", "true", cwd=c.att)
    c.must("report", "--stdio", "-i", "perf.data", cwd=c.att)
    need(open(c.att + "/perf.data.old").read() == "older", "the older recording is lost")
    as_attacker(lambda: open(c.att + "/empty", "w").close())
    c.must("record", "-o", "empty", "--", "true", cwd=c.att)
    need(os.stat(c.att + "/empty").st_uid == 0, "root writes into a file of another user")
    c.must("record", "-o", "/dev/null", "--", "true")
    need(stat.S_ISCHR(os.stat("/dev/null").st_mode), "/dev/null is no device any more")
    with tempfile.NamedTemporaryFile(dir=c.work) as file:
        c.must("record", "-o", file.name, "--", "true")
        need(file.read(8) == b"PERFILE2", "a file that is open already does not get the recording")
        os.ftruncate(file.fileno(), 0)
        c.must("record", "-o", "/proc/self/fd/%d" % file.fileno(), "--", "true", pass_fds=(file.fileno(),))
        file.seek(0)
        need(file.read(8) == b"PERFILE2", "/proc/self/fd/N does not get the recording")


def test_switched(c):
    """record --switch-output and folders in another user's folder do not remove that user's files"""
    c.begin()

    def lay():
        os.mkdir(c.att + "/d.data.old")
        for name in ("data", "data.0", "data.mine", "notes"):
            open(os.path.join(c.att, "d.data.old", name), "w").write("x")

    as_attacker(lay)
    for _ in range(2):
        c.perfuse("record", "--threads", "-o", "d.data", "--", "true", cwd=c.att)
    left = set(os.listdir(c.att + "/d.data.old"))
    need({"data.mine", "notes"} <= left, "record removed what it did not make: %s are left" % left)
    c.must("record", "--switch-output=1s", "--switch-max-files=1", "-o", "s.data", "--", "sleep", "2.5", cwd=c.att)
    need(glob.glob(c.att + "/s.data.*"), "no file is left")


def test_archive(c):
    """an archive's links stay in the cache however its names are written, and nothing is written through them"""
    link, file = tarfile.SYMTYPE, tarfile.REGTYPE
    for members in ([("./././usr", link, "../../../victim")], [("usr////bin", link, "../../../victim")], [("a/./b", link, "../../../victim")],
                    [("./l", link, "../../victim")], [("a//l", link, "../..")], [("l", link, "../../victim"), ("l/x", file, "")],
                    [("l", link, ".")], [("d/../l", link, "x")], [("d/l", link, ".././../../victim")], [("d/l", link, "..//../../victim")],
                    [("l", link, "VICTIM")], [("l", link, "d"), ("d", tarfile.DIRTYPE, ""), ("l/x", file, "")],
                    [("l", tarfile.LNKTYPE, "VICTIM/file")], [("h", file, ""), ("l", tarfile.LNKTYPE, "h")]):
        c.begin()
        open(c.victim + "/file", "w").close()
        with tarfile.open(c.work + "/a.tar.bz2", "w:bz2") as tar:
            for name, kind, target in members:
                info = tarfile.TarInfo(name)
                info.type, info.linkname = kind, target.replace("VICTIM", c.victim)
                tar.addfile(info, io.BytesIO(b""))
        done = c.perfuse("archive", "--unpack", "a.tar.bz2")
        need(os.listdir(c.victim) == ["file"], "%s: root made %s" % (members, os.listdir(c.victim)))
        need(done.returncode == 1 and done.stderr.strip(), "%s: %d" % (members, done.returncode))
        out = [at for at in glob.glob(c.home + "/.debug/**", recursive=True)
               if os.path.islink(at) and not os.path.realpath(at).startswith(os.path.realpath(c.home) + "/.debug")]
        need(not out, "%s leaves links that lead out: %s" % (members, out))


def test_archive_probes(c):
    """an archive brings no definitions of probes, however their names are written, and archive packs none"""
    c.begin()
    folder = "lib/libx.so/" + "ab" * 20
    with tarfile.open(c.work + "/a.tar.bz2", "w:bz2") as tar:
        for name, content in (("elf", b"elf"), ("probes", b"%a:b=b\np:a/b /lib/libx.so:0x1\n"), ("./probes", b"x"), ("probes/.", b"y"), (".//probes", b"z")):
            info = tarfile.TarInfo(folder + "/" + name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    done = c.perfuse("archive", "--unpack", "a.tar.bz2")
    need(done.returncode == 0 and done.stderr.count("left out") == 4 and done.stdout == folder + "/elf\n", "%r %r" % (done.stdout, done.stderr))
    need(os.listdir(c.home + "/.debug/" + folder) == ["elf"], "%s" % os.listdir(c.home + "/.debug/" + folder))
    c.must("record", "-e", "task-clock:u", "-o", "p.data", "--", c.prog, "--ms", "100")
    copies = glob.glob(c.home + "/.debug/**/elf", recursive=True)
    for copy in copies:
        with open(os.path.join(os.path.dirname(copy), "probes"), "w") as probes:
            probes.write("%a:b=b\n")
    c.must("archive", "p.data")
    with tarfile.open(c.work + "/p.data.tar.bz2") as tar:
        names = [os.path.basename(name) for name in tar.getnames()]
    need("elf" in names and "probes" not in names, "%s" % names)


def test_archive_good(c):
    """an archive made by tar with ./ before its names is unpacked and used"""
    c.begin()
    c.must("record", "-e", "task-clock:u", "-o", "p.data", "--", c.prog, "--ms", "100")
    need(c.perfuse("archive", "p.data").returncode == 0, "no archive")
    other = c.work + "/other"
    os.mkdir(other)
    process.must("tar", "xf", c.work + "/p.data.tar.bz2", "-C", other)
    process.must("tar", "cjf", c.work + "/again.tar.bz2", "-C", other, ".")
    home = c.work + "/home2"
    os.mkdir(home)
    c.must("archive", "--unpack", "again.tar.bz2", home=home)
    os.unlink(c.prog)
    done = c.must("report", "-v", "-i", "p.data", "--stdio", home=home)
    need("/elf: used" in done.stderr, "the cache's copy is not used: " + done.stderr)


CODE = {"x86_64": bytes.fromhex("48ffcf75fbc3"), "aarch64": bytes.fromhex("000400f1e1ffff54c0035fd6")}


def run_made_code():
    """Some 0.5 s in code that no file has."""
    code = CODE[platform.machine()]
    memory = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory.write(code)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    ctypes.CFUNCTYPE(None, ctypes.c_uint64)(address)(1 << 30)


def test_perf_map(c):
    """a perf map that another user made for root's process, a link and a FIFO there name nothing; -f reads it"""
    if platform.machine() not in CODE:
        raise Skip("no machine code for this processor")
    c.begin()
    c.must("record", "-e", "task-clock:u", "-o", "p.data", "--", sys.executable, os.path.abspath(__file__), "--run-made-code")
    pid = c.must("script", "-i", "p.data", "-F", "pid").stdout.split()[0]
    path = "/tmp/perf-%s.map" % pid
    ip = [line.split()[0] for line in c.must("script", "-i", "p.data", "-F", "ip,dso").stdout.splitlines() if "perf-" in line or "anon" in line]
    need(ip, "no sample is in made code")

    def lay(how):
        as_attacker(lambda: how(path))

    def write(to):
        with open(to, "w") as file:
            file.write("%x 1000 forged_by_attacker\n" % (int(ip[0], 16) & ~0xfff))

    try:
        lay(write)
        done = c.must("report", "-i", "p.data", "--stdio")
        need("forged_by_attacker" not in done.stdout, "root is shown forged names")
        need("perf map" in done.stderr, "it does not say so: " + done.stderr)
        need("forged_by_attacker" in c.must("report", "-f", "-i", "p.data", "--stdio").stdout, "-f does not read it")
        os.unlink(path)
        os.mkfifo(path)
        c.must("report", "-i", "p.data", "--stdio", seconds=30)
        os.unlink(path)
        write(c.victim + "/map")
        lay(lambda to: os.symlink(c.victim + "/map", to))
        need("forged_by_attacker" not in c.must("report", "-f", "-i", "p.data", "--stdio").stdout, "a link is followed")
    finally:
        if os.path.lexists(path):
            os.unlink(path)


def test_owner(c):
    """a recording of another user is read with -f alone: report, script, flamegraph, inject, evlist, buildid-list, archive"""
    c.begin()
    c.must("record", "-o", "p.data", "--", "true")
    os.chown(c.work + "/p.data", ATTACKER, ATTACKER)
    for words in (("report", "--stdio", "-i"), ("script", "-i"), ("flamegraph", "-o", "/dev/null", "-i"), ("evlist", "-i"),
                  ("buildid-list", "-i"), ("inject", "-b", "-o", "/dev/null", "-i")):
        done = c.perfuse(*words, "p.data")
        need(done.returncode != 0 and "not owned by current user or root" in done.stderr, "%s: %d %s" % (words, done.returncode, done.stderr))
        done = c.perfuse(words[0], "-f", *words[1:], "p.data")
        need(done.returncode == 0, "%s -f: %s" % (words, done.stderr))


def main():
    if "--run-made-code" in sys.argv:
        return run_made_code()
    tests = tests_of(globals(), None)
    if os.geteuid() != 0:
        def skip():
            raise Skip("attacks on root, by another user, are made by root")
        return run_tests([(name, skip) for name, _ in tests])
    context = Context()
    try:
        return run_tests(tests_of(globals(), context))
    finally:
        context.close()


if __name__ == "__main__":
    sys.exit(main())
