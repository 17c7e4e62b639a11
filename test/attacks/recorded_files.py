"""Recordings whose paths are devices or FIFOs, and folders with other files in place of the copy of the kernel."""
import os
import resource
import shutil
import time

from suite import process
from suite.settings import SANITIZED
from suite.tests import need

LIMIT_BYTES = 3 << 30
READERS = (("script",), ("report", "--stdio"), ("flamegraph", "-o", "-"))


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))


def cpu_seconds():
    """Of the programs that this one has run."""
    times = os.times()
    return times.children_user + times.children_system


class Recordings:
    def __init__(self, c):
        self.c = c
        self.folder = c.path("recordings")
        shutil.rmtree(self.folder, ignore_errors=True)
        os.mkdir(self.folder)
        self.program = os.path.join(self.folder, "program")
        shutil.copy("/bin/dash" if os.path.exists("/bin/dash") else "/bin/sh", self.program)
        self.data = os.path.join(self.folder, "perf.data")
        # -B: nothing but its path says which file it is
        done = self.run("record", "-B", "-N", "-e", "cpu-clock", "-o", self.data, "--", self.program, "-c",
                        "i=0; while [ $i -lt 99999 ]; do i=$((i+1)); done")
        need(done.returncode == 0, done.stderr)

    def run(self, *words, **more):
        return process.run(self.c.program, *words, env=self.c.environment(), cwd=self.folder, seconds=60, **more)


def test_fifo(c):
    """a FIFO at the path of a recorded program is not opened by any reader"""
    r = Recordings(c)
    os.unlink(r.program)
    os.mkfifo(r.program)
    mark = r.program + ".opened"
    with process.start("sh", "-c", 'trap "" PIPE; echo >"$1"; touch "$2"', "sh", r.program, mark):  # waits for a reader
        for words in READERS:
            done = r.run(*words, "-i", r.data)
            need(done.returncode == 0 and "program" in done.stdout, "%s: %d: %s" % (words[0], done.returncode, done.stderr[:300]))
        time.sleep(0.2)
        need(not os.path.exists(mark), "it was opened")


def test_kernel_folder(c):
    """files in place of the kernel's copy in a recording's folder are read within bounds, or not at all: FIFOs, links, sparse files"""
    r = Recordings(c)
    folder = os.path.join(r.folder, "folder.data")
    kernel = os.path.join(folder, "kcore_dir")
    os.makedirs(kernel)
    os.rename(r.data, os.path.join(folder, "data"))

    def sparse(path):
        with open(path, "wb") as file:
            file.write(b"\x7fELF\x02\x01\x01")
            file.truncate(300 << 30)
    for make in (os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/zero", path), lambda path: os.symlink(path, path), sparse):
        for name in ("kcore", "kallsyms", "modules"):
            path = os.path.join(kernel, name)
            if os.path.isdir(path) and not os.path.islink(path):
                os.rmdir(path)
            elif os.path.lexists(path):
                os.unlink(path)
            make(path)
        for words in READERS:
            began = cpu_seconds()
            done = r.run(*words, "-i", folder, before=None if SANITIZED or make is sparse else limit)
            need(done.returncode in (0, 255) and "program" in done.stdout + done.stderr,
                 "%s: %d: %s" % (words[0], done.returncode, done.stderr[:300]))
            need(cpu_seconds() - began < 30, "%s took %.1f s of CPU time" % (words[0], cpu_seconds() - began))
