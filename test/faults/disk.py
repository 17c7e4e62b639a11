"""Full disks: every command that writes reports an error, exits with a code that is not 0, and leaves existing files unchanged; no
incomplete and no temporary file remains. With /dev/full, the limit of a file's size, and a file system of a few pages."""
import os
import re
import resource
import shutil
import signal
import tempfile

from suite import known_recording, process
from suite.process import environment
from suite.settings import PERFUSE, SANITIZED, TEST
from suite.tests import Skip, need

OLD = b"the content before\n"
PRINTING = ("script", "script -D", "script --header-only", "report --stdio", "report --stats", "report --tasks", "report --mmaps", "report -D",
            "report --header-only", "evlist -v", "buildid-list", "buildid-list -H", "flamegraph --folded", "flamegraph -o -", "inject -b",
            "inject -o -", "buildid-cache -M FILE", "version", "help", "help report", "check feature zstd", "--list-cmds", "--version",
            "config core.x")
# The command, and the file that it writes, in a folder that has FILE.
WRITING = (("flamegraph -o graph.svg", "graph.svg"),
           ("script --per-event-dump", "FILE.cpu-clock.dump"), ("inject -b -o out.data", "out.data"), ("inject -o out.data", "out.data"),
           ("config --user core.x=y", "config"))


class Box:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="perfuse-disk-")
        self.data = os.path.join(self.folder, "perf.data")
        with open(self.data, "wb") as out:
            out.write(known_recording.as_file(known_recording.records(3000)))
        self.env = environment(self.folder, PERF_CONFIG=os.path.join(self.folder, "config"))
        with open(os.path.join(self.folder, "config"), "w") as out:
            out.write("[core]\n\tx = 1\n")

    def words(self, text):
        words = [self.data if word == "FILE" else word for word in text.split()]
        reads = words[0] in ("script", "report", "evlist", "buildid-list", "flamegraph", "inject")
        return [PERFUSE] + words + (["-i", self.data] if reads else [])

    def run(self, words, **more):
        done = self.whole(words, **more)
        return done.returncode, done.stderr

    def whole(self, words, **more):
        return process.run(*words, env=self.env, cwd=self.folder, **more)


def build_shim(path):
    """The library that makes calls fail; whether it compiles."""
    return process.run("cc", "-O1", "-shared", "-fPIC", "-o", path, os.path.join(TEST, "faults", "shim.c")).returncode == 0


def ends_badly(label, code, said, sentence=r"No space left on device|File too large"):
    need(0 < code < 128 or code == 255, "%s: exit %s: %s" % (label, code, said))
    need(len(re.findall(sentence, said)) == 1, "%s: exit %s says %r" % (label, code, said))
    need("Wrote" not in said, "%s says %r" % (label, said))


def test_stdout(box):
    """standard output on a full disk is reported once by each command, with an exit code that is not 0"""
    for text in PRINTING:
        with open("/dev/full", "wb") as full:
            code, said = box.run(box.words(text), stdout=full)
        ends_badly(text, code, said)


def limit(size):
    def before():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return before


def written_name(box, name):
    return box.data + name[4:] if name.startswith("FILE") else os.path.join(box.folder, name)


def fails_clean(box, text, name, before, label, keep):
    """keep: the content of the file before and after; None: the file is absent."""
    path = written_name(box, name)
    if keep is None and os.path.exists(path):
        os.unlink(path)
    elif keep is not None:
        with open(path, "wb") as out:
            out.write(keep)
    names = sorted(os.listdir(box.folder))
    code, said = box.run(box.words(text), before=before)
    ends_badly("%s, %s" % (text, label), code, said)
    need(sorted(os.listdir(box.folder)) == names, "%s leaves %s" % (text, sorted(set(os.listdir(box.folder)) ^ set(names))))
    if keep is not None:
        with open(path, "rb") as now:
            need(now.read() == keep, "%s changed what was there" % text)


def test_size(box):
    """beyond the limit of a file's size no file is incomplete: an existing file is unchanged, an absent one is not created"""
    for text, name in WRITING:
        config = name == "config"
        for size in ((3,) if config else (0, 100, 4096)):
            fails_clean(box, text, name, limit(size), "limit of %d bytes" % size, b"[core]\n\tx = 1\n" if config else OLD)
            if not config:
                fails_clean(box, text, name, limit(size), "limit of %d bytes" % size, None)


def test_config(box):
    """a configuration with a syntax error is not replaced"""
    path = os.path.join(box.folder, "config")
    with open(path, "w") as out:
        out.write("[core]\n\tx = 1\nno = [line\n[\n")
    code, said = box.run([PERFUSE, "config", "--user", "a.b=c"])
    with open(path) as now:
        text = now.read()
    with open(path, "w") as out:
        out.write("[core]\n\tx = 1\n")
    need(code != 0 and said and "no = [line" in text, "exit %s: %s: %r" % (code, said, text))


def test_small_file_system(box):
    """on a file system of a few pages each writing command reports an error and leaves existing files unchanged"""
    script = ("mount -t tmpfs -o size=16k tmpfs {0} && cd {0} && head -c 5000 /dev/zero > {1} && "
              "{2}; code=$?; cmp -n 5000 {1} /dev/zero || exit 250; [ $(stat -c %s {1}) = 5000 ] || exit 251; "
              "[ $(ls | wc -l) = 1 ] || exit 252; exit $code")
    folder = os.path.join(box.folder, "small")
    os.makedirs(folder, exist_ok=True)
    if box.run(["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", folder])[0]:
        raise Skip("no file system can be mounted here")
    for text, name in WRITING:
        if name.startswith("FILE") or name == "config":
            continue
        command = " ".join(box.words(text))
        code, said = box.run(["unshare", "-rm", "sh", "-c", script.format(folder, name, command)])
        need(code not in (250, 251, 252), "%s: exit %d: %s" % (text, code, said))
        ends_badly(text, code, said)


def test_dump(box):
    """script --per-event-dump reports only files that it wrote"""
    words = box.words("script --per-event-dump")
    done = box.whole(words)
    path = box.data + ".cpu-clock.dump"
    need(done.returncode == 0 and "Wrote" in done.stdout and "3000 samples" in done.stdout, "%s" % done)
    with open(path) as made:
        need(len(made.read().splitlines()) == 3000, "the dump is not whole")
    done = box.whole(words, before=limit(4096))
    need(done.returncode == 1 and "Wrote" not in done.stdout and path in done.stderr, "%s" % done)
    with open(path) as made:
        need(len(made.read().splitlines()) == 3000, "the dump of before is gone")
    os.unlink(path)


def test_close(box):
    """a file system that reports at close that the disk is full: an error, and existing files are unchanged"""
    shim = os.path.join(box.folder, "shim.so")
    if SANITIZED:
        raise Skip("a sanitizer cannot be preloaded over")
    need(build_shim(shim), "the shim does not compile")
    env, program = dict(box.env), os.path.join(box.folder, "perfuse")
    os.symlink(PERFUSE, program)
    for text, name in WRITING:
        path, old = written_name(box, name), b"[core]\n\tx = 1\n" if name == "config" else OLD
        for n in range(1, 20):
            with open(path, "wb") as out:
                out.write(old)
            mark = os.path.join(box.folder, "mark")
            box.env = {**env, "LD_PRELOAD": shim, "FAULT": "close:EIO:%d" % n, "FAULT_MARK": mark}
            code, said = box.run([program] + box.words(text)[1:])
            box.env = env
            if not os.path.exists(mark):
                need(n > 1, "%s closes nothing that it wrote" % text)
                break
            os.unlink(mark)
            with open(path, "rb") as now:
                same = now.read() == old
            need(code == 0 and not same or same and code != 0 and "Input/output error" in said,
                 "%s, close %d: exit %d, %s: %s" % (text, n, code, "as before" if same else "replaced", said))
    os.unlink(program)
    os.unlink(shim)


def test_record(box):
    """record beyond the limit of a file's size ends with an error, and its program runs with the inherited action of SIGXFSZ"""
    out = os.path.join(box.folder, "new.data")
    words = [PERFUSE, "record", "-e", "cpu-clock:u", "-c", "50000", "-o", out, "--", "grep", "SigIgn", "/proc/self/status"]
    if box.run(words)[0] != 0:
        raise Skip("perf_event_open is refused here")
    os.unlink(out)
    for size in (0, 100, 600):
        code, said = box.run(words, before=limit(size))
        ends_badly("record, limit of %d" % size, code, said)
        if os.path.exists(out):
            os.unlink(out)


def close(box):
    shutil.rmtree(box.folder, ignore_errors=True)
