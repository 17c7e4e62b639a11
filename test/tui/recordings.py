"""Recordings whose rows are known, with a program, a library and a kernel that have symbols."""
import os

from suite import elf, recording
from suite.recording import KERNEL, NO_PID, SAMPLE, SAMPLE_CALLCHAIN, SAMPLE_IP, SAMPLE_PERIOD, SAMPLE_TID, SAMPLE_TIME, USER, record

CODE = elf.CODE
FUNCTIONS = ["_start", "main", "parse", "evaluate", "lookup", "print_result"]
LIBRARY = ["memcpy", "malloc", "strlen"]
KERNEL_BASE = 0xffffffff81000000
KERNEL_FUNCTIONS = ["do_syscall_64", "vfs_read", "copy_page"]
SAMPLE_TYPE = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_PERIOD
SECOND = 1000000000
# (share in samples, command, call chain from the innermost frame on)
STACKS = [
    (40, "calc", ["lookup", "evaluate", "main", "_start"]), (20, "calc", ["memcpy", "evaluate", "main", "_start"]),
    (10, "calc", ["parse", "main", "_start"]), (8, "calc", ["strlen", "parse", "main", "_start"]),
    (7, "calc", ["malloc", "parse", "main", "_start"]), (6, "calc", ["copy_page", "vfs_read", "do_syscall_64", "parse", "main", "_start"]),
    (4, "helper", ["print_result", "main", "_start"]), (3, "helper", ["strlen", "print_result", "main", "_start"]),
    (1, "helper", ["vfs_read", "do_syscall_64", "print_result", "main", "_start"]), (1, "helper", ["lookup", "evaluate", "main", "_start"]),
]
PIDS = {"calc": 101, "helper": 102}


# test %edi,%edi; je over the nops; lea 1(%rdi),%rax, where samples are; ret
BODY = bytes([0x85, 0xff, 0x74, 0x04, 0x90, 0x90, 0x90, 0x90, 0x48, 0x8d, 0x47, 0x01, 0xc3])
TEXT_AT = 64 + 56  # in the file


def program(path, names):
    """A program with these functions, 64 bytes each."""
    made = elf.Elf()
    text = bytearray(b"\x90" * 0x2000)
    for i in range(len(names)):
        at = 0x1000 - TEXT_AT + 64 * i
        text[at:at + len(BODY)] = BODY
    table, strings = elf.symbols([(name, CODE + 0x1000 + 64 * i, len(BODY)) for i, name in enumerate(names)])
    made.add(".text", bytes(text), flags=6, address=CODE + TEXT_AT)
    made.add(".symtab", table, kind=2, link=3, entry=24)
    made.add(".strtab", strings, kind=3)
    with open(path, "wb") as out:
        out.write(made.bytes())


def address(name):
    if name in KERNEL_FUNCTIONS:
        return KERNEL_BASE + 0x1000 * (1 + KERNEL_FUNCTIONS.index(name)) + 8
    if name in LIBRARY:
        return 0x7f0000001000 + 64 * LIBRARY.index(name) + 8
    return CODE + 0x1000 + 64 * FUNCTIONS.index(name) + 8


def frames(names):
    """The words of a call chain."""
    out, mode = [], None
    for name in names:
        wanted = recording.CONTEXT_KERNEL if name in KERNEL_FUNCTIONS else recording.CONTEXT_USER
        out += ([wanted] if wanted != mode else []) + [address(name)]
        mode = wanted
    return out


def chain(names):
    return recording.chain(frames(names))


def sample(comm, names, time, period, chains, number=None):
    pid = PIDS[comm]
    body = recording.pack("<QIIQ", address(names[0]), pid, pid, time)
    body += recording.pack("<Q", number) if number is not None else b""
    body += recording.pack("<Q", period) + (chain(names) if chains else b"")
    return record(SAMPLE, body, KERNEL if names[0] in KERNEL_FUNCTIONS else USER)


def side_band(end=lambda pid, time: b""):
    """end: the trailer of a record, by process and time."""
    yield recording.mmap(NO_PID, 0, KERNEL_BASE, 0x10000000, KERNEL_BASE, "[kernel.kallsyms]_text", misc=KERNEL, end=end(0, 0))
    for time, (comm, pid) in zip(range(SECOND - 9000, SECOND, 1000), PIDS.items()):
        yield recording.comm(pid, pid, comm, end=end(pid, time))
        yield recording.mmap(pid, pid, CODE, 0x4000, 0, "/calc", end=end(pid, time + 1))
        yield recording.mmap(pid, pid, 0x7f0000000000, 0x4000, 0, "/libm.so", end=end(pid, time + 2))


def stacks(count):
    """(number, command, frames) of each sample: the helper runs in the last quarter."""
    for n in range(count):
        late = n >= count * 3 // 4
        mine = [row for row in STACKS if late or row[1] == "calc"]
        at = n * 37 % sum(row[0] for row in mine)
        for share, comm, names in mine:
            if at < share:
                yield n, comm, names
                break
            at -= share


def samples(count, chains, ids=(None,)):
    for n, *chosen in stacks(count):
        for i, number in enumerate(ids):
            if i == 0 or n % 3 == 0:
                yield sample(*chosen, SECOND + n * 10000000, 1000 * (i + 1), chains, number)


def write_long(path, count):
    """Samples without callers."""
    some = list(samples(400, False))
    flat = recording.attribute(SAMPLE_TYPE, kind=1, period=1000)
    recording.write(path, [*side_band(), *(some * (count // len(some)))], [flat])


def write_kallsyms(folder):
    with open(os.path.join(folder, "kallsyms"), "w") as out:
        out.write("%x T _text\n" % KERNEL_BASE)
        for i, name in enumerate(KERNEL_FUNCTIONS):
            out.write("%x T %s\n" % (KERNEL_BASE + 0x1000 * (i + 1), name))
        out.write("%x T _etext\n" % (KERNEL_BASE + 0x100000))


def write_all(folder):
    """calc.data (callers), flat.data (without), events.data (two events), empty.data; kallsyms."""
    program(os.path.join(folder, "calc"), FUNCTIONS)
    program(os.path.join(folder, "libm.so"), LIBRARY)
    write_kallsyms(folder)
    head = {recording.HOSTNAME: recording.header_text("host"), recording.CMDLINE: recording.header_texts("perf", "record", "./calc")}

    def write(name, attributes, records, **more):
        path = os.path.join(folder, name)
        recording.write(path, [*side_band(), *records], attributes, head, **more)
        os.utime(path, (1000000000, 1000000000))

    with_chains = recording.attribute(SAMPLE_TYPE | SAMPLE_CALLCHAIN, kind=1, period=1000)
    flat = recording.attribute(SAMPLE_TYPE, kind=1, period=1000)
    two = [recording.attribute(SAMPLE_TYPE | 0x40, kind=0, config=i, period=1000) for i in range(2)]
    write("calc.data", [with_chains], samples(400, True))
    write("flat.data", [flat], samples(400, False))
    write("events.data", two, samples(300, False, (11, 12)), ids=(11, 12))
    write("empty.data", [flat], [])
