#!/usr/bin/env python3
"""Samples of virtual machines: recordings of a host, as `perf kvm record` makes them, with the options of `script` on guests. What is printed is
compared with perf where there is one."""
import os
import sys

from golden.guests import FINISHED_INIT, FLAGS, ID_INDEX, INJECTED, OFFSET, SWITCHED, VM, end_of, guest_records, host_records
from suite import recording, traces
from suite.perf import first_difference, need_reference
from suite.process import perfuse, run
from suite.tests import Skip, need, run_in_folder

GUEST_KERNEL, GUEST_USER = 4, 5
KERNEL_AT, MODULE_AT, PROGRAM_AT = 0xffffffff81000000, 0xffffffffc0100000, 0x401000
MOVED = 0x200000
LIST = ((KERNEL_AT, "_text"), (KERNEL_AT + 0x100, "guest_idle"), (KERNEL_AT + 0x900, "guest_work"), (KERNEL_AT + 0xf000, "_etext"),
        (MODULE_AT, "run\t[virtio]"), (MODULE_AT + 0x80, "stop\t[virtio]"))
KIND = recording.SAMPLE_IP | recording.SAMPLE_TID | recording.SAMPLE_TIME | recording.SAMPLE_CALLCHAIN
FIELDS = ("-F", "comm,tid,time,ip,sym,symoff,dso")


def sample(mode, number, *addresses):
    mark = recording.CONTEXT_USER if mode in (recording.USER, GUEST_USER) else recording.CONTEXT_KERNEL
    body = recording.pack("<QIIQ", addresses[0], VM, VM + 1, 1000 + number)
    return recording.record(recording.SAMPLE, body + recording.chain((mark, *addresses)), mode)


def write(path, moved=0, process=0):
    end = recording.trailer(VM, VM, 900)
    name = "[guest.kernel.kallsyms%s]_text" % (".%d" % process if process else "")
    recording.write(path, [
        recording.mmap(recording.NO_PID, 0, KERNEL_AT, 0x1000000, KERNEL_AT, "[kernel.kallsyms]_text", recording.KERNEL, end),
        recording.mmap(process, 0, MODULE_AT, 0x1000, 0, "[virtio]", GUEST_KERNEL, end),
        recording.mmap(process, 0, KERNEL_AT + moved, 0x10000, KERNEL_AT + moved, name, GUEST_KERNEL, end),
        recording.comm(VM, VM, "vm", end=end), recording.comm(VM, VM + 1, "vcpu", end=end),
        recording.mmap2(VM, VM, PROGRAM_AT, 0x1000, 0x1000, "/program", end=end),
        sample(recording.USER, 1, PROGRAM_AT + 16), sample(GUEST_KERNEL, 2, KERNEL_AT + moved + 0x908, KERNEL_AT + moved + 0x110),
        sample(GUEST_KERNEL, 3, MODULE_AT + 0x84, KERNEL_AT + moved + 0x900), sample(GUEST_USER, 4, PROGRAM_AT + 32, PROGRAM_AT + 64),
        sample(GUEST_KERNEL, 5, MODULE_AT + 0x20000), sample(recording.USER, 6, PROGRAM_AT + 20)],
        [recording.attribute(KIND, FLAGS)], {recording.ARCH: recording.header_text("x86_64")})


class Context:
    def __init__(self, folder):
        self.folder = folder
        self.list = os.path.join(folder, "guest.kallsyms")
        with open(self.list, "w") as file:
            file.writelines("%x T %s\n" % row for row in LIST)
        self.data = os.path.join(folder, "host.data")
        write(self.data)

    def script(self, *words, path=None):
        done = perfuse("script", "--symfs", os.path.join(self.folder, "none"), "-i", path or self.data, *words, cwd=self.folder)
        need(done.returncode == 0, done.stderr[-300:])
        return done.stdout

    def agrees(self, *words):
        perf = run(need_reference(), "script", "--symfs", os.path.join(self.folder, "none"), "-i", self.data, *words, cwd=self.folder)
        if perf.returncode < 0:
            raise Skip("perf ends by signal %d" % -perf.returncode)
        ours = self.script(*words)
        need(ours == perf.stdout, "%s: %s" % (" ".join(words), first_difference(ours, perf.stdout)))


def frames(text, row):
    """(symbol, object) of each frame of a sample."""
    lines = [line.split() for line in text.split("\n\n")[row].strip().split("\n")[1:]]
    return [(line[1], line[2]) for line in lines]


def test_hidden(c):
    """Without an option on guests, samples of guests are not printed"""
    text = c.script(*FIELDS)
    need(text.count("vcpu") == 2 and ":8" not in text, text)


def test_agrees(c):
    """Samples of guests are perf's, byte for byte, with each option on guests, and with mappings and modes"""
    for words in (["--guestkallsyms", c.list], ["--guestkallsyms", c.list, "--guestmodules", c.list], ["--guestmodules", c.list],
                  ["--guestmount", c.folder], ["--guestkallsyms", c.list, "--show-mmap-events", "--show-task-events", "-F", "+misc"]):
        c.agrees(*words)
    c.agrees("--guest-code")
    c.agrees("--guest-code", *FIELDS)


def test_names(c):
    """Names of a guest's kernel and its modules come from the guest's list; the thread has no name"""
    text = c.script(*FIELDS, "--guestkallsyms", c.list)
    need(text.count(":8 ") == 4, text)
    kernel = "([guest.kernel.kallsyms])"
    need(frames(text, 1) == [("guest_work+0x8", kernel), ("guest_idle+0x10", kernel)], text)
    need(frames(text, 2) == [("stop+0x4", "([virtio])"), ("guest_work+0x0", kernel)], text)
    need(frames(text, 3)[0] == ("[unknown]", "([unknown])") and frames(text, 4)[0] == ("[unknown]", "([unknown])"), text)


def test_code(c):
    """--guest-code: code of a guest is in the mappings of the process that runs it"""
    text = c.script(*FIELDS, "--guest-code")
    need(text.count("[guest/7] ") == 4, text)
    need(frames(text, 3) == [("[unknown]", "(/program)")] * 2, text)


def test_moved(c):
    """A guest's kernel that has moved since its list was made has its names at the recorded addresses"""
    path = os.path.join(c.folder, "moved.data")
    write(path, MOVED)
    text = c.script(*FIELDS, "--guestkallsyms", c.list, path=path)
    need(frames(text, 1)[0][0] == "guest_work+0x8", text)


def test_mounted(c):
    """--guestmount: each guest has the list of its own root, also through links inside it, and through none that lead out of it"""
    path, root = os.path.join(c.folder, "mounted.data"), os.path.join(c.folder, "guests", str(VM))
    write(path, process=VM)
    os.makedirs(os.path.join(root, "proc"))
    os.makedirs(os.path.join(root, "list"))
    inside, link = os.path.join(root, "list", "kallsyms"), os.path.join(root, "proc", "kallsyms")
    with open(c.list) as source, open(inside, "w") as file:
        file.write(source.read())
    for target, name in (("/list/kallsyms", "guest_work+0x8"), (c.list, "[unknown]"), ("../../../guest.kallsyms", "[unknown]")):
        os.symlink(target, link)
        text = c.script(*FIELDS, "--guestmount", os.path.join(c.folder, "guests"), path=path)
        os.remove(link)
        need(frames(text, 1)[0] == (name, "([guest.kernel.kallsyms.7])"), "%s: %s" % (target, text))
    os.mkfifo(link)
    text = c.script(*FIELDS, "--guestmount", os.path.join(c.folder, "guests"), path=path)
    need(frames(text, 1)[0][0] == "[unknown]", text)


def test_links(c):
    """inject --vm-time-correlation changes no file through a link, nor one that has another name"""
    link, other, before = os.path.join(c.folder, "link.data"), os.path.join(c.folder, "other.data"), os.stat(c.data).st_mtime_ns
    os.symlink(c.data, link)
    os.link(c.data, other)
    for path, words in ((link, "cannot change"), (other, "is not changed"), (c.data, "is not changed")):
        done = perfuse("inject", "-i", path, "--vm-time-correlation", "--force", cwd=c.folder)
        need(done.returncode == 255 and words in done.stderr, "%s: %d %s" % (path, done.returncode, done.stderr))
    os.remove(other)
    done = perfuse("inject", "-i", c.data, "--vm-time-correlation", "--force", cwd=c.folder)
    need(done.returncode == 255 and "no trace" in done.stderr, done.stderr)
    need(os.stat(c.data).st_mtime_ns == before, "the recording was changed")


def write_both(c, host=None, guest=None, kind=INJECTED, guest_ids=(5, 6)):
    paths = os.path.join(c.folder, "inject.host.data"), os.path.join(c.folder, "inject.guest.data")
    rows = recording.build_id_row("/bin/init", b"\x42" * 20)
    for path, records, ids, features in ((paths[0], host or host_records(), (5, 6), {}), (paths[1], guest or guest_records(), guest_ids, {recording.BUILD_ID: rows})):
        recording.write(path, records, [recording.attribute(kind, FLAGS)], {recording.ARCH: recording.header_text("x86_64"), **features}, ids=ids)
    return paths


def added(c, value, **made):
    host, guest = write_both(c, **made)
    out = os.path.join(c.folder, "injected.data")
    if os.path.exists(out):
        os.remove(out)
    return perfuse("inject", "-i", host, "-o", out, "--guest-data=" + value % {"path": guest}, cwd=c.folder), out


def test_added(c):
    """inject --guest-data: the guest's side-band has new ids, the host's times and CPUs, and comes before what is newer"""
    done, out = added(c, "%%(path)s,%d,%#x" % (VM, OFFSET))
    need(done.returncode == 0 and not done.stderr, "%d %s" % (done.returncode, done.stderr))
    data = traces.read(out)
    records = [record for _, record in traces.records(data)]
    index = next(record for record in records[1:] if record[0] == ID_INDEX)
    wanted = recording.pack("<QQQqqQQqqQQQQ", 2, 7, 0, -1, VM + 1, 8, 0, -1, VM + 2, VM, 0, VM, 1)
    need(index[8:] == wanted, index.hex())

    def shown(record):
        names = [name for name in (b"CPU 0", b"CPU 1", b"early", b"late", b"init", b"first", b"second", b"prog") if name in record]
        return record[0], record[4] & 7, names[0].decode() if names else "", record[-8]

    found = [shown(record) for record in records if record[0] in (recording.COMM, recording.MMAP2, SWITCHED, recording.KSYMBOL)]
    need(found == [(3, 0, "CPU 0", 0), (3, 0, "CPU 1", 0), (3, GUEST_USER, "init", 7), (10, GUEST_USER, "init", 7), (3, 0, "early", 6),
         (SWITCHED, 0, "", 5), (3, GUEST_KERNEL, "first", 7), (3, GUEST_KERNEL, "second", 8), (3, 0, "late", 6)], str(found))
    first = next(record for record in records if b"first" in record)
    need(first[-32:] == end_of(7, 31, 31, 2000, 3), first.hex())
    need(next(record for record in records if b"second" in record)[-32:] == end_of(8, 30, 30, 3500, 3), "the CPU of a virtual CPU")
    kinds = [record[0] for record in records]
    need(kinds.index(ID_INDEX, 1) < kinds.index(FINISHED_INIT) and kinds.count(recording.SAMPLE) == 1, str(kinds))
    rows = recording.header_features(data)[recording.BUILD_ID]
    need(rows[4] == GUEST_USER and rows[8:12] == VM.to_bytes(4, "little") and b"/bin/init" in rows and rows[12:32] == b"\x42" * 20, rows.hex())


def test_machines(c):
    """Records of a virtual machine that were added are not the host's: they have its name, number and virtual CPU, and the threads of both their own names"""
    late = recording.comm(VM, VM + 1, "guest", end=end_of(6, VM, VM + 1, OFFSET + 2000, 1))
    fork = recording.record(recording.FORK, recording.pack("<IIIIQ", 40, 1, 40, 1, OFFSET + 2500) + end_of(6, 1, 1, OFFSET + 2500, 1))
    done, out = added(c, "%%(path)s,%d,%#x" % (VM, OFFSET), guest=guest_records() + [late, fork])
    need(done.returncode == 0, done.stderr)
    words = ("script", "--show-task-events", "--show-mmap-events", "--ns", "-F", "+machine_pid,+vcpu", "-i", out)
    text = perfuse(*words).stdout
    lines = [" ".join(line.split()) for line in text.splitlines()]
    need("VM: 7 VCPU:001 guest 8 [003] 0.000002000: PERF_RECORD_COMM: guest:7/8" in lines, text)
    need("VM: 7 VCPU:001 init 1 [003] 0.000002500: PERF_RECORD_FORK(40:40):(1:1)" in lines, text)
    need("CPU 0/KVM 0 [000] 0.000000000: PERF_RECORD_COMM: CPU 0/KVM:7/8" in lines, text)
    need(text.count("VM: ") == 6 and text.count("PERF_RECORD") == 10, text)
    perf = run(need_reference(), *words, cwd=c.folder)
    need(perf.returncode < 0 or perf.stdout == text, first_difference(text, perf.stdout))


def test_refused(c):
    """inject --guest-data: what is wrong with the option, the host's or the guest's recording is one sentence, and nothing is written"""
    right = "%%(path)s,%d" % VM
    for value, words, made in (
            ("%(path)s", "PATH,PID", {}), ("%(path)s,0", "PATH,PID", {}), (right + ",1,0", "PATH,PID", {}), (right + ",1,2,3", "PATH,PID", {}),
            (right + "x", "PATH,PID", {}), ("%(path)s.none,7", "No such file", {}), ("%(path)s,8", "process 8 has no threads of virtual CPUs", {}),
            (right, "both run the virtual CPU 0", {"host": host_records((("CPU 0/KVM", 8), ("CPU 0/KVM", 9)))}),
            (right, "no FINISHED_INIT", {"host": [record for record in host_records() if record[0] != FINISHED_INIT]}),
            (right, "record it with -a", {"guest": guest_records()[1:]}), (right, "no ids of events", {"guest_ids": ()}),
            (right, "whose samples have no id", {"kind": INJECTED & ~recording.SAMPLE_IDENTIFIER}),
            (right, "a CPU 1, which no thread", {"host": host_records((("CPU 0/KVM", 8),))})):
        done, out = added(c, value, **made)
        need(done.returncode in (129, 255) and words in done.stderr, "%s: %d %s" % (value, done.returncode, done.stderr))
        need(not os.path.exists(out), "%s: a recording was written" % value)
    host, guest = write_both(c)
    stream = perfuse("inject", "-i", host, "-o", "-", cwd=c.folder, text=False).stdout
    done = perfuse("inject", "-i", "-", "-o", out, "--guest-data=%s,%d" % (guest, VM), cwd=c.folder, text=False, input=stream)
    need(done.returncode == 255 and b"it needs a file" in done.stderr, done.stderr)


if __name__ == "__main__":
    sys.exit(run_in_folder("samples of virtual machines", Context, globals()))
