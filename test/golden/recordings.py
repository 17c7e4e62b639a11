"""The recordings of test/golden, with the program, the library and the kernel that they are of. Every byte is made here, but for the programs
`lines` and `shapes`, which gcc 12 made of lines.c and shapes.c (-O2 -g -fno-omit-frame-pointer -fno-stack-protector -fno-asynchronous-unwind-tables -nostdlib -static -no-pie
-fdebug-prefix-map=$PWD=. -Wl,--build-id=none -Wl,-z,noseparate-code): the recordings are the same on every machine. Formats: as of
suite/recording.py; the layouts of tracepoints are those that the kernel shows in tracefs.
The folder `debug` has the same two programs with -gdwarf-N -gstrict-dwarf (the digit of a name; 4 and 5 without -gstrict-dwarf), `split` ones with
-gsplit-dwarf, `packed5` with -gz, `lines4.o` and `lines5.o` without linking, the first one with -ffunction-sections; `clang5` is lines.c of clang 14."""
import os
import struct
import sys

from golden.every_record import write_every_record
from golden.guests import write_guests
from suite import elf, pt_encoder, pt_packets, pt_program, recording, traces
from suite.recording import (
    EXEC, KERNEL, SAMPLE, SAMPLE_ADDR as ADDR, SAMPLE_BRANCH_STACK as BRANCHES, SAMPLE_CALLCHAIN as CALLCHAIN, SAMPLE_CGROUP as CGROUP,
    SAMPLE_CODE_PAGE_SIZE as CODE_PAGE, SAMPLE_CPU as CPU, SAMPLE_DATA_PAGE_SIZE as DATA_PAGE, SAMPLE_DATA_SRC as DATA_SRC, SAMPLE_ID as ID,
    SAMPLE_IDENTIFIER as IDENTIFIER, SAMPLE_IP as IP, SAMPLE_PERIOD as PERIOD, SAMPLE_PHYS_ADDR as PHYS_ADDR, SAMPLE_RAW as RAW, SAMPLE_READ as READ,
    SAMPLE_TID as TID, SAMPLE_TIME as TIME, SAMPLE_TRANSACTION as TRANSACTION, SAMPLE_WEIGHT as WEIGHT, USER, header_text, header_texts, pack, record)
from tui import recordings as known
from tui.recordings import SECOND, side_band, stacks

BPF = 0xffffffffc0200000  # a BPF program of 64 bytes


def head():
    return {
        recording.HOSTNAME: header_text("host"), recording.OSRELEASE: header_text("6.12.0"), recording.VERSION: header_text("6.12"),
        recording.ARCH: header_text("x86_64"), recording.NRCPUS: pack("<II", 4, 3), recording.CPUDESC: header_text("A Processor"),
        recording.CPUID: header_text("GenuineIntel,6,85,7"), recording.TOTAL_MEMORY: pack("<Q", 16 << 20), recording.CMDLINE: header_texts("perf", "record", "./calc"),
        recording.CPU_TOPOLOGY: header_texts("0-1", "2-3") + header_texts("0", "1", "2", "3") +
        pack("<8I", 0, 0, 1, 0, 0, 1, 1, 1),
        recording.NUMA: pack("<IIQQ", 1, 0, 8 << 20, 4 << 20) + header_text("0-3"),
        recording.PMU: pack("<II", 1, 4) + header_text("cpu"),
    }


def write(folder, name, attributes, records, more=None, **options):
    path = os.path.join(folder, name)
    recording.write(path, records, attributes, {**head(), **(more or {})}, **options)
    os.utime(path, (SECOND, SECOND))


def mode(names):
    return KERNEL if names[0] in known.KERNEL_FUNCTIONS else USER


def write_chains(folder):
    kind = IP | TID | TIME | CPU | PERIOD | CALLCHAIN
    samples = []
    for n, comm, names in stacks(30):
        pid = known.PIDS[comm]
        samples.append(record(SAMPLE, pack("<QIIQIIQ", known.address(names[0]), pid, pid + n % 2, SECOND + n * 10000000, n % 4, 0, 1000 + n % 7) +
                              known.chain(names), mode(names)))
    write(folder, "chains.data", [recording.attribute(kind, kind=1, period=1000)], [*side_band(), *samples])


def write_apart(folder):
    """Stacks of programs without frame pointers: most frames are addresses of no mapping, some further apart than perf's comparison of
    addresses can tell. The chain of a sample is in another order than its addresses."""
    kind = IP | TID | TIME | CPU | PERIOD | CALLCHAIN
    areas = (0x10, 0x7fff00000000, 0x3000000000000000, 0x7ffffffffffff000, 0x8000000000000000, 0xb000000000000000, 0xf000000000000000)
    samples = []
    for n, comm, names in stacks(40):
        pid = known.PIDS[comm]
        wild = [areas[(n * 5 + k * 3) % 7] + 16 * ((n * 7 + k * 11) % 5) for k in range(1 + n % 6)]
        frames = known.frames(names) if n % 3 else [recording.CONTEXT_USER]
        ip = known.address(names[0]) if n % 3 else wild[0]
        samples.append(record(SAMPLE, pack("<QIIQIIQ", ip, pid, pid + n % 2, SECOND + n * 10000000, n % 4, 0, 1000) +
                              recording.chain(frames + wild), mode(names) if n % 3 else USER))
    write(folder, "apart.data", [recording.attribute(kind, kind=1, period=1000)], [*side_band(), *samples])


def write_twins(folder):
    """Threads of one process that have one name."""
    kind = IP | TID | TIME | CPU | PERIOD | CALLCHAIN
    samples = []
    for n, _, names in stacks(24):
        samples.append(record(SAMPLE, pack("<QIIQIIQ", known.address(names[0]), 101, (101, 104, 105)[n % 3], SECOND + n * 10000000, n % 2, 0, 100 + n) +
                              known.chain(names), mode(names)))
    names = [recording.comm(101, tid, "calc") for tid in (104, 105)]
    write(folder, "twins.data", [recording.attribute(kind, kind=1, period=1000)], [*side_band(), *names, *samples])


def write_events(folder):
    """Two events in a group, whose ids are in the samples and in the records beside them."""
    kind = IP | TID | TIME | ID | CPU | PERIOD | IDENTIFIER
    flags = recording.FLAG_SAMPLE_ID_ALL

    def end(pid, time):
        return pack("<IIQQIIQ", pid, pid, time, 11, 0, 0, 11)

    samples = []
    for n, comm, names in stacks(30):
        for i, number in enumerate((11, 12)):
            if i == 0 or n % 3 == 0:
                pid = known.PIDS[comm]
                samples.append(record(SAMPLE, pack("<QQIIQQIIQ", number, known.address(names[0]), pid, pid, SECOND + n * 10000000 + i, number,
                                                          n % 4, 0, 500 * (i + 1)), mode(names)))
    attributes = [recording.attribute(kind, flags, kind=0, config=i, period=1000) for i in range(2)]
    group = {recording.GROUP: pack("<I", 1) + header_text("{anon_group}") + pack("<II", 0, 2)}
    write(folder, "events.data", attributes, [*side_band(end), *samples], group, ids=(11, 12))


def write_reads(folder):
    """A leader that samples, and carries the values of its group."""
    kind = IP | TID | TIME | READ | ID | PERIOD
    read_format = 1 | 2 | 4 | 8
    samples = []
    for n, comm, names in stacks(15):
        pid = known.PIDS[comm]
        samples.append(record(SAMPLE, pack("<QIIQQQ", known.address(names[0]), pid, pid, SECOND + n * 10000000, 21, 1000) +
                              pack("<QQQQQQQ", 2, n * 100000, n * 90000, 1000 * (n + 1), 21, 333 * (n + 1), 22), mode(names)))
    attributes = [recording.attribute(kind, recording.FLAG_SAMPLE_ID_ALL, kind=0, config=i, period=1000 * (1 - i), read_format=read_format) for i in range(2)]
    group = {recording.GROUP: pack("<I", 1) + header_text("{anon_group}") + pack("<II", 0, 2)}
    write(folder, "reads.data", attributes, [*side_band(lambda pid, time: pack("<IIQQ", pid, pid, time, 21)), *samples], group, ids=(21, 22))


def write_memory(folder):
    """Loads and stores, with all that the kernel says of an access."""
    kind = IP | TID | TIME | ADDR | CPU | PERIOD | WEIGHT | DATA_SRC | TRANSACTION | PHYS_ADDR | CGROUP | DATA_PAGE | CODE_PAGE
    sources = [0x2 | 0x8 << 5 | 0x2 << 19, 0x4 | 0x2 << 5, 0x2 | 0x10 << 5 | 0x10 << 19, 0x2 | 0x42 << 5 | 0x2 << 24, 0x1, 0x2 | 0x4 << 5 | 0x1 << 24]

    def end(pid, time):
        return pack("<IIQII", pid, pid, time, 0, 0)

    records = list(side_band(end))
    records.append(record(recording.CGROUP, pack("<Q", 77) + recording.padded("/a/group") + end(101, SECOND - 1)))
    for n, comm, names in stacks(24):
        pid = known.PIDS[comm]
        body = pack("<QIIQQIIQ", known.address(names[0]), pid, pid, SECOND + n * 10000000, 0x7ffc00000000 + 40 * (n % 9), n % 4, 0, 1000)
        body += pack("<QQQQQQQ", 10 + n % 5 * 30, sources[n % len(sources)], (0, 0x12, 0x61 | 5 << 32)[n % 3], 0x100000 + 64 * n, 77 * (n % 2), 4096,
                            4096 << 9 * (n % 2))
        records.append(record(SAMPLE, body, mode(names)))
    write(folder, "memory.data", [recording.attribute(kind, recording.FLAG_SAMPLE_ID_ALL, kind=4, config=0x1cd, period=1000)], records)


def write_branches(folder):
    """Branch stacks of 4: within functions, between them, into the kernel."""
    kind = IP | TID | TIME | PERIOD | BRANCHES
    samples = []
    for n, comm, names in stacks(24):
        pid, taken = known.PIDS[comm], []
        for i, name in enumerate(names[:4]):
            at = known.address(name)
            caller = known.address(names[i + 1]) if i + 1 < len(names) else at + 2
            flags = (1 if (n + i) % 5 == 0 else 2) | (4 if n % 16 == 3 else 0) | (8 if n % 16 == 5 else 0) | (3 + 7 * (n % 4) << 4) | (n + i) % 8 << 20
            taken.append((caller + 4, at - 8, flags))
        body = pack("<QIIQQ", known.address(names[0]), pid, pid, SECOND + n * 10000000, 1000)
        samples.append(record(SAMPLE, body + pack("<Q", len(taken)) + recording.branches(taken), mode(names)))
    write(folder, "branches.data", [recording.attribute(kind, kind=0, period=1000, branch_type=8)], [*side_band(), *samples],
          {recording.BRANCH_STACK: b""})


def write_call_stacks(folder):
    """The processor's call stacks, as of --call-graph lbr: the kernel's frames in the call chain, the user's in branch records."""
    call_stack, user = 1 << 11, 1
    kind = IP | TID | TIME | PERIOD | CALLCHAIN | BRANCHES
    samples = []
    for n, comm, names in stacks(16):
        pid = known.PIDS[comm]
        kernel = [known.address(name) for name in names if name in known.KERNEL_FUNCTIONS]
        outside = [known.address(name) for name in names if name not in known.KERNEL_FUNCTIONS]
        chain = ([recording.CONTEXT_KERNEL, *kernel] if kernel else []) + [recording.CONTEXT_USER, *outside[:1]]
        taken = [(caller + 4, callee - 8, 2 + 8 * (n % 3)) for callee, caller in zip(outside, outside[1:])]
        body = pack("<QIIQQ", known.address(names[0]), pid, pid, SECOND + n * 10000000, 1000)
        body += pack("<Q%dQ" % len(chain), len(chain), *chain) + pack("<Q", len(taken)) + recording.branches(taken)
        samples.append(record(SAMPLE, body, mode(names)))
    write(folder, "callstacks.data", [recording.attribute(kind, kind=0, period=1000, branch_type=call_stack | user)], [*side_band(), *samples],
          {recording.BRANCH_STACK: b""})


def write_bts(folder):
    """Branch records of one thread that Intel BTS stored, with switches and a part that was lost."""
    def at(name, offset):
        return known.CODE + 0x1000 + 64 * known.FUNCTIONS.index(name) + offset

    names = known.FUNCTIONS
    jumps = [(0, at(names[0], 0)), *((at(names[n % 5], 12), at(names[(n + 1) % 5], 0)) for n in range(9)), (0, 0),
             (at(names[2], 12), at(names[3], 0)), (0x900000, at(names[0], 0)), (at(names[0], 12), at(names[1], 0))]
    trace = b"".join(struct.pack("<QQQ", source, target, 0) for source, target in jumps)  # a processor that is little-endian wrote it
    kind, numbers, t = IP | TID | TIME | IDENTIFIER, (71, 72), SECOND + 500
    flags = recording.FLAG_SAMPLE_ID_ALL | recording.FLAG_MMAP | recording.FLAG_COMM

    def end(pid, time):
        return pack("<IIQQ", pid, pid, time, numbers[1])

    records = [record(recording.AUXTRACE_INFO, pack("<II", 2, 0) + pack("<6Q", 9, 10, 1024, 0, 1, 0)), *side_band(end),
               record(recording.ITRACE_START, pack("<II", 101, 101) + end(101, t)),
               record(recording.SWITCH, end(101, t + 100)),
               record(recording.AUX, pack("<QQQ", 0, len(trace), 0) + end(101, t + 5000)),
               record(recording.SWITCH, end(101, t + 5100), EXEC),  # of this type, the bit says that the task leaves
               record(recording.AUXTRACE, pack("<QQQIIII", len(trace), 0, t + 200, 0, 101, 0xffffffff, 0)) + trace,
               record(recording.FINISHED_ROUND, b"")]
    attributes = [recording.attribute(kind, recording.FLAG_SAMPLE_ID_ALL, kind=9, period=1, read_format=4),
                  recording.attribute(kind, flags, kind=1, config=9, period=1, read_format=4)]
    features = {recording.AUXTRACE_INDEX: pack("<Q", 0),
                recording.EVENT_DESC: recording.event_descriptions(attributes, ("intel_bts//u", "dummy:u"), numbers)}
    write(folder, "bts.data", attributes, records, features, ids=numbers)


def write_side_band(folder):
    """One of each record that the kernel writes beside samples."""
    kind = IP | TID | TIME | CPU | IDENTIFIER
    flags = recording.FLAG_SAMPLE_ID_ALL | recording.FLAG_COMM | recording.FLAG_MMAP | recording.FLAG_MMAP2 | 1 << 13 | 1 << 26 | 1 << 28

    def end(pid, time):
        return pack("<IIQIIQ", pid, pid, time, 1, 0, 31)

    t = SECOND
    records = [
        *side_band(end),
        recording.comm(103, 103, "made", 1 << 13, end(103, t)),
        recording.fork(104, 103, t + 1, end(103, t + 1)),
        recording.mmap2(104, 104, 0x500000, 0x2000, 0x1000, "/bin/other", inode=42, generation=7, end=end(104, t + 2)),
        recording.mmap2(104, 104, 0x600000, 0x2000, 0, "/bin/known", build_id=bytes(range(20)), end=end(104, t + 3)),
        record(recording.LOST, pack("<QQ", 31, 5) + end(104, t + 4)),
        record(recording.LOST_SAMPLES, pack("<Q", 3) + end(104, t + 5)),
        record(recording.THROTTLE, pack("<QQQ", t + 6, 31, 31) + end(104, t + 6)),
        record(recording.UNTHROTTLE, pack("<QQQ", t + 7, 31, 31) + end(104, t + 7)),
        record(recording.SWITCH, end(104, t + 8), 1 << 13),
        record(recording.SWITCH, end(104, t + 9)),
        record(recording.SWITCH_CPU_WIDE, pack("<II", 103, 103) + end(104, t + 10), 1 << 13 | 1 << 14),
        record(recording.SWITCH_CPU_WIDE, pack("<II", 103, 103) + end(104, t + 11)),
        record(recording.NAMESPACES, pack("<IIQ", 104, 104, 2) + pack("<QQQQ", 3, 0xeffffffc, 4, 0xeffffffd) + end(104, t + 12)),
        record(recording.KSYMBOL, pack("<QIHH", BPF, 64, 1, 0) + recording.padded("bpf_prog_0123456789abcdef_f") + end(104, t + 13)),
        record(recording.BPF_EVENT, pack("<HHI8s", 1, 0, 17, bytes(8)) + end(104, t + 14)),
        record(recording.CGROUP, pack("<Q", 5) + recording.padded("/a") + end(104, t + 15)),
        record(recording.TEXT_POKE, pack("<QHH", known.KERNEL_BASE + 0x1008, 2, 2) + b"\x90\x90\xeb\x00" + end(104, t + 16)),
        record(recording.ITRACE_START, pack("<II", 104, 104) + end(104, t + 17)),
        record(recording.AUX, pack("<QQQ", 0x1000, 0x200, 1) + end(104, t + 18)),
    ]
    for n, comm, names in stacks(12):
        pid = (104, known.PIDS[comm])[n % 2]
        at = (0x500008 + n, 0x600010, BPF + 8)[n % 3] if pid == 104 else known.address(names[0])
        records.append(record(SAMPLE, pack("<QQIIQII", 31, at, pid, pid, t + 100 + n, n % 4, 0), KERNEL if at > 1 << 63 else USER))
    records += [record(recording.EXIT, pack("<IIIIQ", 104, 103, 104, 103, t + 900) + end(104, t + 900)),
                record(recording.FINISHED_ROUND, b"")]
    write(folder, "sideband.data", [recording.attribute(kind, flags, kind=1, period=1000)], records, ids=(31,))
    build_ids = recording.build_id_row("[kernel.kallsyms]", bytes(range(1, 21)), KERNEL) + recording.build_id_row("/calc", b"\x5a" * 20)
    write(folder, "built.data", [recording.attribute(kind, flags, kind=1, period=1000)], records, {recording.BUILD_ID: build_ids}, ids=(31,))


# Tracepoints: (system, name, number, fields, print format)
COMMON = [("unsigned short common_type", 0, 2, 0), ("unsigned char common_flags", 2, 1, 0), ("unsigned char common_preempt_count", 3, 1, 0),
          ("int common_pid", 4, 4, 1)]
POINTS = [
    ("sched", "sched_switch", 301, [("char prev_comm[16]", 8, 16, 0), ("pid_t prev_pid", 24, 4, 1), ("int prev_prio", 28, 4, 1), ("long prev_state", 32, 8, 1),
                                    ("char next_comm[16]", 40, 16, 0), ("pid_t next_pid", 56, 4, 1), ("int next_prio", 60, 4, 1)],
     '"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d next_prio=%d", REC->prev_comm, REC->prev_pid, REC->prev_prio, '
     '(REC->prev_state & ((((0x00000000 | 0x00000001 | 0x00000002) << 1)) - 1)) ? __print_flags(REC->prev_state & 3, "|", { 1, "S" }, { 2, "D" }) : "R", '
     'REC->prev_state & 0x100 ? "+" : "", REC->next_comm, REC->next_pid, REC->next_prio'),
    ("sched", "sched_wakeup", 302, [("char comm[16]", 8, 16, 0), ("pid_t pid", 24, 4, 1), ("int prio", 28, 4, 1), ("int target_cpu", 32, 4, 1)],
     '"comm=%s pid=%d prio=%d target_cpu=%03d", REC->comm, REC->pid, REC->prio, REC->target_cpu'),
    ("sched", "sched_migrate_task", 303, [("char comm[16]", 8, 16, 0), ("pid_t pid", 24, 4, 1), ("int prio", 28, 4, 1), ("int orig_cpu", 32, 4, 1),
                                          ("int dest_cpu", 36, 4, 1)],
     '"comm=%s pid=%d prio=%d orig_cpu=%d dest_cpu=%d", REC->comm, REC->pid, REC->prio, REC->orig_cpu, REC->dest_cpu'),
    ("raw_syscalls", "sys_enter", 401, [("long id", 8, 8, 1), ("unsigned long args[6]", 16, 48, 0)],
     '"NR %ld (%lx, %lx, %lx, %lx, %lx, %lx)", REC->id, REC->args[0], REC->args[1], REC->args[2], REC->args[3], REC->args[4], REC->args[5]'),
    ("raw_syscalls", "sys_exit", 402, [("long id", 8, 8, 1), ("long ret", 16, 8, 1)], '"NR %ld = %ld", REC->id, REC->ret'),
    ("lock", "contention_begin", 501, [("void * lock_addr", 8, 8, 0), ("unsigned int flags", 16, 4, 0)],
     '"%p (flags=%s)", REC->lock_addr, __print_flags(REC->flags, "|", { 1, "SPIN" }, { 2, "READ" }, { 4, "WRITE" }, { 32, "MUTEX" })'),
    ("lock", "contention_end", 502, [("void * lock_addr", 8, 8, 0), ("int ret", 16, 4, 1)], '"%p (ret=%d)", REC->lock_addr, REC->ret'),
]


def format_text(name, number, fields, printed):
    lines = ["name: " + name, "ID: %d" % number, "format:"]
    for at, (declared, offset, size, signed) in enumerate(COMMON + fields):
        lines += ["\tfield:%s;\toffset:%d;\tsize:%d;\tsigned:%d;" % (declared, offset, size, signed)] + ([""] if at == 3 else [])
    return "\n".join(lines + ["", "print fmt: " + printed, ""]).encode()


def tracing_data(points):
    out = b"\x17\x08\x44tracing0.6\0" + bytes([recording.Machine.big_endian, 8]) + pack("<I", 4096)
    page = (b"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
            b"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n")
    out += b"header_page\0" + pack("<Q", len(page)) + page + b"header_event\0" + pack("<Q", 0) + pack("<I", 0)
    systems = sorted({point[0] for point in points})
    out += pack("<I", len(systems))
    for system in systems:
        mine = [point for point in points if point[0] == system]
        out += system.encode() + b"\0" + pack("<I", len(mine))
        for point in mine:
            text = format_text(*point[1:])
            out += pack("<Q", len(text)) + text
    return out + pack("<IIQ", 0, 0, 0)


def write_points(folder, name, points, events, chains=False, before=side_band, flags=0):
    """events: (point's name, pid, CPU, time, the fields behind the common ones[, the frames of the chain])."""
    points = [point for point in POINTS if point[0] == points] if isinstance(points, str) else points
    number = {point[1]: point[2] for point in points}
    ids = [600 + i for i in range(len(points))]
    kind = IP | TID | TIME | CPU | PERIOD | RAW | IDENTIFIER | (CALLCHAIN if chains else 0)
    attributes = [recording.attribute(kind, recording.FLAG_SAMPLE_ID_ALL | flags, kind=2, config=point[2], period=1) for point in points]
    records = list(before(lambda pid, time: pack("<IIQIIQ", pid, pid, time, 0, 0, ids[0])))
    for point, pid, cpu, time, fields, *frames in events:
        raw = pack("<HBBi", number[point], 0, 0, pid) + fields
        raw += b"\0" * (-(len(raw) + 4) % 8)
        at = known.KERNEL_BASE + 0x1008
        body = pack("<QQIIQIIQ", ids[[p[1] for p in points].index(point)], at, pid, pid, time, cpu, 0, 1)
        body += known.chain(frames[0] if frames else ["vfs_read", "do_syscall_64", "parse", "main"]) if chains else b""
        records.append(record(SAMPLE, body + pack("<I", len(raw)) + raw, KERNEL))
    descriptions = recording.event_descriptions(attributes, ["%s:%s" % point[:2] for point in points], ids)
    write(folder, name, attributes, records, {recording.TRACING: tracing_data(points), recording.EVENT_DESC: descriptions}, ids=ids)


def write_sched(folder):
    events, t = [], SECOND

    def comm(pid):
        return {0: b"swapper", 101: b"calc", 102: b"helper"}[pid].ljust(16, b"\0")

    def switch(cpu, at, before, after, state):
        events.append(("sched_switch", before, cpu, at, comm(before) + pack("<iiq", before, 120, state) + comm(after) + pack("<ii", after, 120)))

    def wake(cpu, at, waker, pid):
        events.append(("sched_wakeup", waker, cpu, at, comm(pid) + pack("<iii", pid, 120, cpu)))

    for n in range(10):
        cpu = n // 4 % 2
        start = t + n * 10000000
        wake(cpu, start, 0, 101)
        switch(cpu, start + 30000 + n * 1000, 0, 101, 0)
        wake(cpu, start + 1000000, 101, 102)
        switch(cpu, start + 2000000, 101, 102, (1, 2, 0x100)[n % 3])
        switch(cpu, start + 5000000 + n * 100000, 102, 0, 1)
        if n % 4 == 3:
            events.append(("sched_migrate_task", 0, cpu, start + 6000000, comm(101) + pack("<iiii", 101, 120, cpu, 1 - cpu)))
    write_points(folder, "sched.data", "sched", events)


def write_calls(folder):
    events, t = [], SECOND
    calls = [(0, (3, 0x1000, 64), 64), (1, (1, 0x2000, 12), 12), (257, (2 ** 64 - 100, 0x3000, 0x80000), -2), (35, (0x4000, 0), 0), (202, (0x5000, 128, 1), -11),
             (9, (0, 4096, 3, 34, 2 ** 64 - 1, 0), 0x7f0000100000)]
    for n in range(24):
        number, args, result = calls[n % len(calls)]
        pid, start = (101, 102)[n // 5 % 2], t + n * 2000000
        events.append(("sys_enter", pid, n % 2, start, pack("<q6Q", number, *(args + (0,) * 6)[:6])))
        events.append(("sys_exit", pid, n % 2, start + 1000 * (n + 1) + n % 7 * 100000, pack("<qq", number, result)))
    write_points(folder, "calls.data", "raw_syscalls", events)


def write_locks(folder):
    events, t = [], SECOND
    for n in range(20):
        lock, pid, start = 0xffff888000001000 + 64 * (n % 3), (101, 102)[n % 2], t + n * 3000000
        events.append(("contention_begin", pid, n % 2, start, pack("<QI", lock, (1, 32, 4, 2)[n % 4])))
        events.append(("contention_end", pid, n % 2, start + 20000 * (n + 1), pack("<Qi", lock, 0)))
    write_points(folder, "locks.data", "lock", events, True)


def points_of(*names):
    return [point for name in names for point in POINTS + MORE_POINTS if point[1] == name]


def name_of(word):
    return word.encode().ljust(16, b"\0")


# Of tasks.data, power.data and lockdep.data.
STATES = '__print_flags(REC->prev_state & 0xff, "|", { 0x1, "S" }, { 0x2, "D" }, { 0x4, "T" }, { 0x8, "t" }, { 0x10, "X" }, { 0x20, "Z" })'
TASK_FIELDS = [("char comm[16]", 8, 16, 0), ("pid_t pid", 24, 4, 1)]
STATE_FIELDS = [("u32 state", 8, 4, 0), ("u32 cpu_id", 12, 4, 0)]
NAME_FIELDS = [("__data_loc char[] name", 8, 4, 0), ("void * lockdep_addr", 16, 8, 0)]
MORE_POINTS = [
    ("sched", "sched_waking", 311, TASK_FIELDS + [("int prio", 28, 4, 1), ("int target_cpu", 32, 4, 1)],
     '"comm=%s pid=%d prio=%d target_cpu=%03d", REC->comm, REC->pid, REC->prio, REC->target_cpu'),
    ("sched", "sched_wakeup_new", 312, TASK_FIELDS + [("int prio", 28, 4, 1), ("int target_cpu", 32, 4, 1)],
     '"comm=%s pid=%d prio=%d target_cpu=%03d", REC->comm, REC->pid, REC->prio, REC->target_cpu'),
    ("sched", "sched_stat_runtime", 313, TASK_FIELDS + [("u64 runtime", 32, 8, 0), ("u64 vruntime", 40, 8, 0)],
     '"comm=%s pid=%d runtime=%Lu [ns] vruntime=%Lu [ns]", REC->comm, REC->pid, (unsigned long long)REC->runtime, (unsigned long long)REC->vruntime'),
    ("sched", "sched_stat_iowait", 314, TASK_FIELDS + [("u64 delay", 32, 8, 0)],
     '"comm=%s pid=%d delay=%Lu [ns]", REC->comm, REC->pid, (unsigned long long)REC->delay'),
    ("power", "cpu_idle", 321, STATE_FIELDS, '"state=%lu cpu_id=%lu", (unsigned long)REC->state, (unsigned long)REC->cpu_id'),
    ("power", "cpu_frequency", 322, STATE_FIELDS, '"state=%lu cpu_id=%lu", (unsigned long)REC->state, (unsigned long)REC->cpu_id'),
    ("syscalls", "sys_enter_read", 331, [("int __syscall_nr", 8, 4, 1), ("unsigned int fd", 16, 8, 0)], '"fd: 0x%08lx", ((unsigned long)(REC->fd))'),
    ("syscalls", "sys_exit_read", 332, [("int __syscall_nr", 8, 4, 1), ("long ret", 16, 8, 1)], '"0x%lx", REC->ret'),
    ("syscalls", "sys_enter_sendto", 333, [("int __syscall_nr", 8, 4, 1), ("unsigned int fd", 16, 8, 0)], '"fd: 0x%08lx", ((unsigned long)(REC->fd))'),
    ("syscalls", "sys_exit_sendto", 334, [("int __syscall_nr", 8, 4, 1), ("long ret", 16, 8, 1)], '"0x%lx", REC->ret'),
    ("syscalls", "sys_enter_poll", 335, [("int __syscall_nr", 8, 4, 1), ("unsigned int nfds", 16, 8, 0)], '"nfds: 0x%08lx", ((unsigned long)(REC->nfds))'),
    ("syscalls", "sys_exit_poll", 336, [("int __syscall_nr", 8, 4, 1), ("long ret", 16, 8, 1)], '"0x%lx", REC->ret'),
    ("syscalls", "sys_enter_fsync", 337, [("int __syscall_nr", 8, 4, 1), ("unsigned int fd", 16, 8, 0)], '"fd: 0x%08lx", ((unsigned long)(REC->fd))'),
    ("syscalls", "sys_exit_fsync", 338, [("int __syscall_nr", 8, 4, 1), ("long ret", 16, 8, 1)], '"0x%lx", REC->ret'),
    ("lock", "lock_acquire", 341, [("unsigned int flags", 8, 4, 0), ("__data_loc char[] name", 12, 4, 0), ("void * lockdep_addr", 16, 8, 0)],
     '"%p %s%s%s", REC->lockdep_addr, (REC->flags & 1) ? "try " : "", (REC->flags & 2) ? "read " : "", __get_str(name)'),
    ("lock", "lock_acquired", 342, NAME_FIELDS, '"%p %s", REC->lockdep_addr, __get_str(name)'),
    ("lock", "lock_contended", 343, NAME_FIELDS, '"%p %s", REC->lockdep_addr, __get_str(name)'),
    ("lock", "lock_release", 344, NAME_FIELDS, '"%p %s", REC->lockdep_addr, __get_str(name)'),
]
TASKS = {0: "swapper/0", 301: "main", 302: "worker", 303: "logger", 311: "child"}


def tasks_before(end):
    """Two processes; the first one has three threads, the second one begins and ends meanwhile."""
    yield next(side_band(end))
    yield recording.comm(301, 301, "main", end=end(301, SECOND - 100))
    yield recording.mmap(301, 301, known.CODE, 0x4000, 0, "/calc", end=end(301, SECOND - 90))
    yield recording.mmap(301, 301, 0x7f0000000000, 0x4000, 0, "/libm.so", end=end(301, SECOND - 80))
    for tid in (302, 303):
        yield record(recording.FORK, pack("<IIIIQ", 301, 301, tid, 301, SECOND - 70) + end(301, SECOND - 70))
        yield recording.comm(301, tid, TASKS[tid], end=end(301, SECOND - 60))
    yield recording.fork(311, 301, SECOND + 4000000, end(301, SECOND + 4000000))
    yield recording.comm(311, 311, "child", 1 << 13, end(311, SECOND + 4100000))
    yield record(recording.EXIT, pack("<IIIIQ", 311, 301, 311, 301, SECOND + 60000000) + end(311, SECOND + 60000000))


def write_tasks(folder):
    """Three CPUs, four threads: preemption, sleep, input, migration, a process that begins and ends."""
    events, chains = [], [["do_syscall_64", "parse", "main"], ["vfs_read", "do_syscall_64", "print_result", "main"], ["copy_page", "strlen", "parse", "main"]]

    def switch(cpu, at, before, after, state, chain=0):
        body = name_of(TASKS[before]) + pack("<iiq", before, 120 - before % 3, state) + name_of(TASKS[after]) + pack("<ii", after, 120)
        events.append(("sched_switch", before, cpu, at, body, chains[chain]))

    def task(point, waker, cpu, at, pid, rest):
        events.append((point, waker, cpu, at, name_of(TASKS[pid]) + pack("<i", pid) + rest))

    for n in range(12):
        t, cpu = SECOND + n * 5000000, n % 3
        first, second = (301, 302) if n % 2 else (302, 303)
        task("sched_waking", 0, cpu, t, first, pack("<ii", 120, cpu))
        task("sched_wakeup", 0, cpu, t + 1000, first, pack("<ii", 120, cpu))
        switch(cpu, t + 20000 + 7000 * n, 0, first, 0)
        task("sched_waking", first, cpu, t + 300000, second, pack("<ii", 119, cpu))
        if n == 1:
            task("sched_wakeup_new", first, cpu, t + 310000, 311, pack("<ii", 120, cpu))
        task("sched_wakeup", first, cpu, t + 310000, second, pack("<ii", 119, cpu))
        task("sched_stat_runtime", first, cpu, t + 900000, first, pack("<iQQ", 0, 880000, 5000000 + n))
        switch(cpu, t + 1000000, first, second, (0, 1, 2, 0x100, 1)[n % 5], n % 3)
        task("sched_stat_runtime", second, cpu, t + 2400000, second, pack("<iQQ", 0, 1400000 + n, 6000000))
        if n % 4 == 2:
            task("sched_stat_iowait", 0, cpu, t + 2450000, first, pack("<iQ", 0, 1100000 + n))
            events.append(("sched_migrate_task", second, cpu, t + 2460000, name_of(TASKS[first]) + pack("<iiii", first, 120, cpu, (cpu + 1) % 3)))
        after = 311 if 0 < n < 10 else 0
        switch(cpu, t + 2500000, second, after, (1, 2, 0)[n % 3], (n + 1) % 3)
        if after:
            switch(cpu, t + 3100000 + n * 1000, 311, 0, 1 if n < 9 else 0x10, 1)
    points = points_of("sched_switch", "sched_wakeup", "sched_migrate_task", "sched_waking", "sched_wakeup_new", "sched_stat_runtime", "sched_stat_iowait")
    write_points(folder, "tasks.data", points, events, True, tasks_before, recording.FLAG_COMM | 1 << 13)


def write_many(folder):
    """More tasks than letters: 90 of them run one after the other on two CPUs, some twice; ids that differ by 256, the greater one first."""
    events, last = [], [0, 0]
    for n in range(100):
        cpu, task = n % 2, 400 + n * 3 % 80 + 256 * (n < 10)
        before = last[cpu]
        events.append(("sched_switch", before, cpu, SECOND + n * 500000, name_of("t%d" % before if before else "swapper/0") +
                       pack("<iiq", before, 120, n % 3 % 2) + name_of("t%d" % task) + pack("<ii", task, 120)))
        last[cpu] = task
    write_points(folder, "many.data", points_of("sched_switch"), events, before=lambda end: [next(side_band(end))])


def write_power(folder):
    """Idle states and clocks of CPUs, switches, and calls for input and output, some of which fail, overlap or do not end."""
    events = []
    for n in range(16):
        t, cpu = SECOND + n * 3000000, n % 2
        pid = (301, 302)[n // 2 % 2]
        events.append(("cpu_frequency", 0, cpu, t, pack("<II", (800000, 1600000, 2400000)[n % 3], cpu)))
        events.append(("cpu_idle", 0, cpu, t + 100000, pack("<II", n % 4, cpu)))
        events.append(("cpu_idle", 0, cpu, t + 400000 + 10000 * n, pack("<II", 0xffffffff, cpu)))
        for before, after, at in ((0, pid, 500000 + 10000 * n), (pid, 0, 2500000)):
            events.append(("sched_switch", before, cpu, t + at, name_of(TASKS[before]) + pack("<iiq", before, 120, 1 if before else 0) +
                           name_of(TASKS[after]) + pack("<ii", after, 120)))
        call = ("read", "sendto", "poll", "fsync")[n % 4]
        events.append(("sys_enter_" + call, pid, cpu, t + 600000, pack("<iiQ", n, 0, 3 + n % 5)))
        if n != 6:
            events.append(("sys_exit_" + call, pid, cpu, t + 700000 + 90000 * n, pack("<iiq", n, 0, -11 if n % 5 == 4 else 100 * n)))
    points = points_of("sched_switch", "sched_wakeup", "cpu_idle", "cpu_frequency", *("sys_%s_%s" % (end, call) for call in ("read", "sendto", "poll", "fsync")
                                                                                      for end in ("enter", "exit")))
    write_points(folder, "power.data", points, sorted(events, key=lambda event: event[3]), before=tasks_before)


def write_lockdep(folder):
    """Locks as lockdep shows them: taken at once, waited for, read by several, tried; events that contradict each other."""
    events = []

    def event(point, tid, at, lock, flags=0):
        word = ("rq_lock", "inode_sem", "a_mutex")[lock].encode() + b"\0"
        where = pack("<I", len(word) << 16 | 24)
        events.append(("lock_" + point, tid, tid % 2, SECOND + at, (pack("<I", flags) if point == "acquire" else b"") + where +
                       (b"" if point == "acquire" else bytes(4)) + pack("<Q", 0xffff888000002000 + 64 * lock) + word))

    for n in range(10):
        t, tid, lock = n * 1000000, 301 + n % 3, n % 3
        event("acquire", tid, t, lock, (0, 2, 1)[n % 3])
        if n % 3 == 0:
            event("contended", tid, t + 1000, lock)
        if n % 3 != 1:
            event("acquired", tid, t + 20000 + 3000 * n, lock)
        if n % 3 == 1:
            event("acquire", tid, t + 5000, lock, 2)
            event("release", tid, t + 6000, lock)
        event("release", tid, t + 500000, lock)
    for n, point in enumerate(("contended", "acquired", "release", "acquire", "acquire", "contended", "contended", "acquired", "acquired")):
        event(point, 303, 20000000 + 1000 * n, 2)
    event("acquire", 302, 30000000, 1, 2)
    event("acquired", 302, 30001000, 1)
    write_points(folder, "lockdep.data", points_of("lock_acquire", "lock_acquired", "lock_contended", "lock_release"), events, before=tasks_before)


def execution(count):
    """Instructions of functions that return into each other, as pt_encoder.Encoder takes them: half of the jumps are taken."""
    cycle, entries = 1000, []

    def add(ip, length, kind=0, target=0):
        entries.append((ip, target, SECOND + cycle, cycle, 101, length, kind, 4 if target else 0, 0))

    for n in range(count):
        name = known.FUNCTIONS[n * n % 6]
        at, after = known.CODE + 0x1000 + 64 * known.FUNCTIONS.index(name), known.FUNCTIONS[(n + 1) * (n + 1) % 6]
        taken = n % 4 < 2
        add(at, 2)
        cycle += 1
        add(at + 2, 2, pt_encoder.CONDITIONAL, at + 8 if taken else 0)
        for i in range(0 if taken else 4):
            cycle += i % 2
            add(at + 4 + i, 1)
        cycle += 2
        add(at + 8, 4)
        cycle += 1 + 40 * (n % 16 == 9)
        add(at + 12, 1, pt_encoder.RETURN, known.CODE + 0x1000 + 64 * known.FUNCTIONS.index(after))
    return entries


def write_trace(folder, name="trace.data", settings=pt_encoder.Settings(threshold=0, mtc=0, psb=256)):
    """Intel PT of one thread, with cycles; one tick of the TSC is one nanosecond."""
    trace = pt_encoder.Encoder(settings, False).run(execution(120))
    trace += bytes(-len(trace) % 8)
    kind, numbers, t = IP | TID | TIME | IDENTIFIER, (61, 62), SECOND + 500
    flags = recording.FLAG_SAMPLE_ID_ALL | recording.FLAG_MMAP | recording.FLAG_COMM

    def end(pid, time):
        return pack("<IIQQ", pid, pid, time, numbers[1])

    words = (8, 10, 1024, 0, 1, pt_encoder.TSC_BIT, pt_encoder.NO_RETURNS_BIT, 0, 0, 0, pt_encoder.MTC_BIT, 15 << 14, 308, 2, pt_encoder.CYC_BIT, 37, 0)
    records = [record(recording.AUXTRACE_INFO, pack("<II", 1, 0) + pack("<17Q", *words)), *side_band(end),
               record(recording.ITRACE_START, pack("<II", 101, 101) + end(101, t)),
               record(recording.AUX, pack("<QQQ", 0, len(trace), 0) + end(101, t + 5000)),
               record(recording.AUXTRACE, pack("<QQQIIII", len(trace), 0, 7, 0, 101, 0xffffffff, 0)) + trace,
               record(recording.FINISHED_ROUND, b"")]
    attributes = [recording.attribute(kind, recording.FLAG_SAMPLE_ID_ALL, kind=8, config=settings.config(), period=1, read_format=4),
                  recording.attribute(kind, flags, kind=1, config=9, period=1, read_format=4)]
    features = {recording.AUXTRACE_INDEX: pack("<Q", 0),
                recording.EVENT_DESC: recording.event_descriptions(attributes, ("intel_pt//u", "dummy:u"), numbers)}
    write(folder, name, attributes, records, features, ids=numbers)


# Instructions of the program that gcc made of data/lines.c, and how often they are sampled; where their callers go on.
WALK = [(0x400100, 3), (0x40010d, 9), (0x400117, 6), (0x40011b, 2), (0x400122, 4), (0x40012a, 5), (0x40012d, 7), (0x40013a, 1)]
FILL = [(0x400193, 2), (0x4001b2, 3), (0x4001c2, 1)]
DIG = [(0x400157, 2), (0x400161, 3), (0x400165, 1)]
IN_DIG, IN_START, AFTER_FILL = 0x400173, 0x400217, 0x40020d


def write_lines(folder):
    """Samples of lines.c with their callers, and with addresses of what is read and written."""
    kind = IP | TID | TIME | ADDR | PERIOD | CALLCHAIN | DATA_SRC
    stacks = [(at, count, [at, IN_DIG, IN_START]) for at, count in WALK] + [(at, count, [at, AFTER_FILL]) for at, count in FILL]
    stacks += [(at, count, [at] + [0x40015b] * (i + 1) + [IN_START]) for i, (at, count) in enumerate(DIG)]
    samples = []
    for at, count, chain in stacks:
        for i in range(count):
            n = len(samples)
            body = pack("<QIIQQQ", at, 105, 105, SECOND + n * 1000000, 0x401260 + 48 * i, 1000)
            samples.append(record(SAMPLE, body + recording.chain([recording.CONTEXT_USER, *chain]) + pack("<Q", 0x2 | 0x8 << 5), USER))
    before = [next(side_band()), recording.comm(105, 105, "lines"), recording.mmap(105, 105, 0x400000, 0x1000, 0, "/lines")]
    write(folder, "lines.data", [recording.attribute(kind, kind=0, period=1000)], [*before, *samples])


def write_heads(folder):
    """Samples with two events, and the features of a header that the other recordings lack."""
    kind = IP | TID | TIME | CPU | PERIOD
    samples = [record(SAMPLE, pack("<QIIQIIQ", known.address(names[0]), known.PIDS[comm], known.PIDS[comm], SECOND + n * 10000000, n % 4, 0, 1000 + n),
                      mode(names)) for n, comm, names in stacks(12)]
    caches = [(1, 64, 64, 8, "Data", "32K", "0-1"), (1, 64, 64, 8, "Instruction", "32K", "0-1"), (2, 64, 1024, 16, "Unified", "1024K", "0-1"),
              (3, 64, 16384, 12, "Unified", "12288K", "0-3")]
    nodes = [(0, 3, 0b111), (1, 2, 0b11000)]
    features = {
        recording.CACHE: pack("<II", 1, len(caches)) + b"".join(pack("<IIII", *row[:4]) + b"".join(header_text(text) for text in row[4:]) for row in caches),
        21: pack("<QQ", SECOND, SECOND + 110000000),
        22: pack("<QQQ", 1, 128 << 20, len(nodes)) + b"".join(pack("<QQQQ", node, size, 64, bits) for node, size, bits in nodes),
        23: pack("<Q", 4),
        recording.COMPRESSION: pack("<5I", 1, 1, 3, 5, 1 << 20),
        29: pack("<IIQQ", 1, 1, 1700000000 * SECOND + 123456789, SECOND),
        30: pack("<I", 2) + header_text("cpu_core") + header_text("0-1") + header_text("cpu_atom") + header_text("2-3"),
        recording.PMU_CAPS: pack("<I", 2) + pack("<I", 1) + header_text("branches") + header_text("32") + header_text("cpu_core") +
        pack("<I", 2) + header_text("branches") + header_text("16") + header_text("max_precise") + header_text("3") + header_text("cpu_atom"),
    }
    write(folder, "heads.data", [recording.attribute(kind, 1 << 25, kind=1, period=1000)], [*side_band(), *samples], features)


# Of perf_event_open(2): fields that only kinds.data and stacks.data have, and where an attribute has their parameters.
STREAM_ID, REGS_USER, STACK_USER, REGS_INTR, AUX_SAMPLE, WEIGHT_STRUCT = 1 << 9, 1 << 12, 1 << 13, 1 << 18, 1 << 20, 1 << 24
AT_REGS_USER, AT_STACK_USER, AT_REGS_INTR, AT_AUX_SIZE = 80, 88, 96, 112
BRANCH_HW_INDEX, BRANCH_COUNTERS = 1 << 17, 1 << 19
REGISTERS = 0xff0fff  # all but ds, es, fs and gs


def with_parameters(attribute, user=0, stack=0, interrupt=0, aux=0):
    out = bytearray(attribute)
    for at, layout, value in ((AT_REGS_USER, "<Q", user), (AT_STACK_USER, "<I", stack), (AT_REGS_INTR, "<Q", interrupt), (AT_AUX_SIZE, "<I", aux)):
        out[at:at + len(pack(layout, 0))] = pack(layout, value)
    return bytes(out)


def registers(**values):
    """Those of REGISTERS, with the ABI of 64-bit programs: 0x100 + their number unless given."""
    numbers = [number for number in range(24) if REGISTERS >> number & 1]
    names = {"bx": 1, "bp": 6, "sp": 7, "ip": 8}
    given = {names[name]: value for name, value in values.items()}
    return pack("<Q%dQ" % len(numbers), 2, *(given.get(number, 0x100 + number) for number in numbers))


def write_kinds(folder):
    """Samples with every field; not in one sample: the ones that exclude each other, user registers and user stacks (stacks.data)."""
    kind = (IP | TID | TIME | ADDR | STREAM_ID | CPU | PERIOD | READ | CALLCHAIN | RAW | BRANCHES | WEIGHT_STRUCT | DATA_SRC | TRANSACTION | REGS_INTR |
            PHYS_ADDR | CGROUP | DATA_PAGE | CODE_PAGE | AUX_SAMPLE | IDENTIFIER)
    read_format = 1 | 2 | 4 | 16

    def end(pid, time):
        return pack("<IIQQIIQ", pid, pid, time, 8, 0, 0, 81)

    records = list(side_band(end))
    records.append(record(recording.CGROUP, pack("<Q", 78) + recording.padded("/b") + end(101, SECOND - 1)))
    for n, comm, names in stacks(20):
        pid = known.PIDS[comm]
        taken = [(known.address(name) + 4, known.address(name) - 8, 1 + i % 2 | 5 * i + 1 << 4 | (i + n) % 9 << 20 | n % 4 << 24 | i % 3 << 26 | n % 3 << 30)
                 for i, name in enumerate(names[:3])]
        body = pack("<QQIIQQQIIQ", 81, known.address(names[0]), pid, pid, SECOND + n * 10000000, 0x7ffc00000000 + 8 * n, 8, n % 4, 0, 1000)
        body += pack("<QQQQQ", 100 * n, 2000 + n, 1000 + n, 81, n % 3) + known.chain(names) + pack("<I", 12) + b"raw bytes %02d" % n
        body += pack("<QQ", len(taken), n) + recording.branches(taken) + pack("<%dQ" % len(taken), *(0x1b >> i for i in range(len(taken))))
        low, middle, high = 20 + n, 3 * n, n % 5
        body += pack("<HHI", high, middle, low) if recording.Machine.big_endian else pack("<IHH", low, middle, high)
        body += pack("<QQ", (0x2 | 0x8 << 5, 0x4 | 0x42 << 5, 0x2 | 0x4 << 5 | 1 << 24 | 1 << 37)[n % 3], (0, 0x12, 0x61 | 5 << 32)[n % 3])
        body += registers(ip=known.address(names[0]), sp=0x7ffc00001000 - 8 * n) if n % 4 else pack("<Q", 0)
        body += pack("<QQQQ", 0x100000 + 64 * n, 78 * (n % 2), 4096, 2 << 20) + pack("<Q", 16) + bytes(range(n, n + 16))
        records.append(record(SAMPLE, body, mode(names)))
    attribute = recording.attribute(kind, recording.FLAG_SAMPLE_ID_ALL, kind=4, config=0x1cd, period=1000, read_format=read_format,
                                    branch_type=8 | BRANCH_HW_INDEX | BRANCH_COUNTERS)
    capabilities = pack("<I", 3) + b"".join(header_text(word) for pair in (("branch_counter_nr", "4"), ("branch_counter_width", "2"), ("branches", "32"))
                                            for word in pair)
    write(folder, "kinds.data", [with_parameters(attribute, interrupt=REGISTERS, aux=16)], records,
          {recording.CPU_PMU_CAPS: capabilities, recording.BRANCH_STACK: b"", recording.EVENT_DESC: recording.event_descriptions(
              [with_parameters(attribute, interrupt=REGISTERS, aux=16)], ["mem-loads"], (81,))}, ids=(81,))


# Functions of 64 bytes with their call frame instructions, and the program with them (DWARF 5, 6.4.2).
FRAMES = [("start", "0710"), ("outer", "410e108602430d06"), ("middle", "440e30"), ("inner", "410e108302"), ("leaf", "")]


def frame_address(name):
    return known.CODE + 0x1000 + 64 * [row[0] for row in FRAMES].index(name)


def stap_note(address, semaphore, provider, name, arguments):
    """A static probe point, as systemtap's sdt.h describes it."""
    body = struct.pack("<QQQ", address, 0x500000, semaphore) + b"".join(text + b"\0" for text in (provider, name, arguments))
    return struct.pack("<III", 8, len(body), 3) + b"stapsdt\0" + body + bytes(-len(body) % 4)


def write_frames(path):
    """The program `frames`, with call frame information."""
    made = elf.Elf()
    text = bytearray(b"\x90" * 0x2000)
    at = known.CODE + known.TEXT_AT + len(text)
    cie = bytes.fromhex("00000000" "01" "7a5200" "01" "78" "10" "01" "1b" "0c0708" "9001")
    frame = bytes([len(cie) + -len(cie) % 4, 0, 0, 0]) + cie.ljust(len(cie) + -len(cie) % 4, b"\0")
    for i, (_, program) in enumerate(FRAMES):
        rest = bytes([64, 0, 0, 0, 0]) + bytes.fromhex(program)
        rest = rest.ljust(len(rest) + -(len(rest) + 8) % 4, b"\0")
        place = len(frame) + 8
        frame += (len(rest) + 8).to_bytes(4, "little") + (place - 4).to_bytes(4, "little")
        frame += (known.CODE + 0x1000 + 64 * i - (at + place)).to_bytes(4, "little", signed=True) + rest
        text[0x1000 - known.TEXT_AT + 64 * i + 27:0x1000 - known.TEXT_AT + 64 * i + 32] = b"\xe8\0\0\0\0"
    table, strings = elf.symbols([(name, known.CODE + 0x1000 + 64 * i, 64) for i, (name, _) in enumerate(FRAMES)])
    made.add(".text", bytes(text), flags=6, address=known.CODE + known.TEXT_AT)
    made.add(".eh_frame", frame + bytes(4), flags=2, address=at)
    notes = b"".join(stap_note(*row) for row in (
        (frame_address("leaf") + 4, 0, b"made", b"first", b"-4@%edi 8@%rsi"),
        (frame_address("inner") + 8, 0x403000, b"made", b"second", b"8@-24(%rbp) -2@$77 4@8(%rsp,%rax,4) 1@%r8b"),
        (frame_address("middle") + 12, 0, b"other", b"first-one", b""),
        (frame_address("outer") + 12, 0, b"made", b"first", b"8f@%xmm0 4@counter(%rip)")))
    made.add(".note.stapsdt", notes, kind=7)
    made.add(".stapsdt.base", b"\0", flags=2, address=0x500000)
    made.add(".symtab", table, kind=2, link=6, entry=24)
    made.add(".strtab", strings, kind=3)
    with open(path, "wb") as out:
        out.write(made.bytes())


def write_stacks(folder):
    """User registers and stacks of the program `frames`, some of them cut, some below kernel code."""
    kind = IP | TID | TIME | PERIOD | CALLCHAIN | REGS_USER | STACK_USER | IDENTIFIER
    records = [next(side_band(lambda pid, time: pack("<IIQQ", pid, pid, time, 91)))]
    records += [recording.comm(107, 107, "frames", end=pack("<IIQQ", 107, 107, SECOND - 2, 91)),
                recording.mmap(107, 107, known.CODE, 0x4000, 0, "/frames", end=pack("<IIQQ", 107, 107, SECOND - 1, 91))]
    top = 0x7ffc00000000
    words = [frame_address("inner") + 32, 0x1234, frame_address("middle") + 32, 1, 2, 3, 4, 5, frame_address("outer") + 32, 6, 7, 8, 0,
             frame_address("start") + 32, 9, 10]
    where = {"leaf": 0, "inner": 1, "middle": 3, "outer": 9, "start": 14}
    for n in range(24):
        name = ("leaf", "inner", "middle", "outer", "start")[n % 5]
        at, kernel = frame_address(name) + (8 if n < 12 or name == "leaf" else 40), n % 6 == 5
        shown = words[where[name]:where[name] + (16, 16, 9, 3)[n % 4]]
        dump = pack("<%dQ" % len(shown), *shown).ljust(128, b"\0")
        chain = [recording.CONTEXT_KERNEL, known.KERNEL_BASE + 0x1008] if kernel else []
        body = pack("<QQIIQQ", 91, known.KERNEL_BASE + 0x1008 if kernel else at, 107, 107, SECOND + n * 1000000, 1000 + n) + recording.chain(chain)
        body += registers(ip=at, sp=top + 8 * where[name], bp=top + 8 * 12) + pack("<Q", len(dump)) + dump + pack("<Q", 8 * len(shown))
        records.append(record(SAMPLE, body, KERNEL if kernel else USER))
    attribute = recording.attribute(kind, recording.FLAG_SAMPLE_ID_ALL | 1 << 21, kind=1, config=0, period=1000)
    write(folder, "stacks.data", [with_parameters(attribute, user=REGISTERS, stack=128)], records, ids=(91,))


# Functions of the program that gcc made of data/shapes.c: the first address, the size of each instruction but the last.
SHAPES = [(0x400120, "3432333446262622323234356221"), (0x400180, "3234323432333234443323331"), (0x4001d0, "4445244541"),
          (0x400200, "123a543423445535344443443131b"), (0x400270, "1322223143223333334424443434323244335334324433332431222211"),
          (0x400320, "6626367322735157372b"), (0x400380, "77277483737323436b4453277b77711343647452")]
WORLD, LISTS = 0x402020, 0x4020c0  # its data


def write_shapes(folder):
    """A sample or two at each instruction of shapes.c, with an address in its data."""
    kind = IP | TID | TIME | ADDR | PERIOD | WEIGHT | DATA_SRC
    samples = []
    for start, sizes in SHAPES:
        at = start
        for i, size in enumerate([0, *(int(digit, 16) for digit in sizes)]):
            at += size
            for n in range(1 + (i % 5 == 0)):
                body = pack("<QIIQQQQQ", at, 106, 106, SECOND + len(samples) * 1000000, (WORLD, LISTS)[n] + 8 * (i % 14), 1000 + i, 10 + i % 3 * 20,
                            (0x2, 0x4)[i % 2] | (0x8, 0x42)[n] << 5)
                samples.append(record(SAMPLE, body, USER))
    before = [next(side_band()), recording.comm(106, 106, "shapes"), recording.mmap(106, 106, 0x400000, 0x1000, 0, "/shapes")]
    write(folder, "shapes.data", [recording.attribute(kind, kind=4, config=0x1cd, period=1000)], [*before, *samples])


def write_counts(folder, name, interval_ms, rounds):
    """Of `stat record -a`: three counters on four CPUs, one of them was not always counting, one never; rounds: times in ns, the last is the
    end."""
    kinds = [(1, 0, "cpu-clock"), (0, 0, "cycles"), (0, 1, "instructions")]
    attributes = [recording.attribute(IDENTIFIER, 1 << 1, kind=kind, config=config, period=0, read_format=3) for kind, config, _ in kinds]
    numbers = [700 + i for i in range(12)]
    records = [record(recording.THREAD_MAP, pack("<QQ16s", 1, 2 ** 64 - 1, b"")), record(recording.CPU_MAP, pack("<HH4HI", 0, 4, 0, 1, 2, 3, 0)),
               record(recording.STAT_CONFIG, pack("<7Q", 3, 0, 3, 1, interval_ms, 2, 1))]
    for n, time in enumerate(rounds):
        for event in range(3):
            for cpu in range(4):
                enabled = time
                running = (enabled, enabled * 3 // 4, 0)[event] if event < 2 or cpu else enabled // 2
                value = running and running * (1, 3, 2)[event] // (cpu + 1) + n
                records.append(record(recording.STAT, pack("<QIIQQQ", numbers[event * 4 + cpu], cpu, 0, value, enabled, running)))
        last = n == len(rounds) - 1
        if interval_ms or last:
            records.append(record(recording.STAT_ROUND, pack("<QQ", 1 if last else 0, time)))
    descriptions = recording.event_descriptions(attributes, [label for _, _, label in kinds], numbers)
    write(folder, name, attributes, records, {recording.STAT_FEATURE: b"", recording.EVENT_DESC: descriptions}, ids=numbers)


# Functions of the kernel and of the C library of `waits.data`, 64 bytes each: of every kind that `blocking` tells apart.
WAITS_KERNEL = ["entry_SYSCALL_64_after_hwframe", "do_syscall_64", "__x64_sys_futex", "futex_wait", "__schedule", "futex_wake", "wake_up_q", "__x64_sys_read",
                "vfs_read", "asm_exc_page_fault", "handle_mm_fault", "_raw_spin_unlock_irqrestore", "sock_def_readable", "__x64_sys_sendto",
                "__x64_sys_getpid", "finish_task_switch", "default_idle", "asm_sysvec_apic_timer_interrupt", "__sys_recvmsg", "schedule"]
WAITS_LIBRARY = ["__GI___libc_read", "syscall", "memcpy", "__futex_abstimed_wait_common"]
WAITS_LIBRARY_AT = 0x7f1000000000
# (samples, thread, frames): K, L and C are the kernel, the library and the program
WAITS = [
    (9, 201, "C:lookup C:evaluate C:main"), (4, 201, "L:memcpy C:parse C:main"),
    (6, 201, "K:__schedule K:schedule K:futex_wait K:__x64_sys_futex K:do_syscall_64 K:entry_SYSCALL_64_after_hwframe L:syscall C:evaluate C:main"),
    (3, 202, "K:wake_up_q K:futex_wake K:__x64_sys_futex K:do_syscall_64 K:entry_SYSCALL_64_after_hwframe L:syscall C:parse C:main"),
    (2, 202, "K:__x64_sys_futex K:do_syscall_64 K:entry_SYSCALL_64_after_hwframe L:syscall C:parse C:main"),
    (5, 202, "K:vfs_read K:__x64_sys_read K:do_syscall_64 K:entry_SYSCALL_64_after_hwframe L:__GI___libc_read C:print_result C:main"),
    (4, 202, "K:finish_task_switch K:__schedule K:__x64_sys_read K:do_syscall_64 K:entry_SYSCALL_64_after_hwframe L:__GI___libc_read C:lookup"),
    (3, 203, "K:handle_mm_fault K:asm_exc_page_fault C:lookup C:main"), (2, 203, "K:do_syscall_64 K:entry_SYSCALL_64_after_hwframe L:__GI___libc_read C:parse"),
    (4, 203, "K:_raw_spin_unlock_irqrestore K:sock_def_readable K:__x64_sys_sendto K:do_syscall_64 K:entry_SYSCALL_64_after_hwframe C:parse C:main"),
    (5, 203, "K:__x64_sys_getpid K:do_syscall_64 K:entry_SYSCALL_64_after_hwframe L:syscall C:main"), (1, 203, "L:syscall C:main"),
    (2, 201, "L:__GI___libc_read C:lookup"), (1, 201, "L:__futex_abstimed_wait_common C:main"), (3, 0, "K:default_idle"),
    (2, 203, "K:__schedule K:asm_sysvec_apic_timer_interrupt C:lookup C:main"), (2, 202, "K:__sys_recvmsg K:do_syscall_64 C:parse")]
CLOCK, CYCLES, INSTRUCTIONS, MISSES = 96, 97, 98, 99


def waits_address(frame):
    table, name = {"K": WAITS_KERNEL, "L": WAITS_LIBRARY, "C": known.FUNCTIONS}[frame[0]], frame[2:]
    start = {"K": known.KERNEL_BASE + 0x2000, "L": WAITS_LIBRARY_AT + 0x1000, "C": known.CODE + 0x1000}[frame[0]]
    return start + 64 * table.index(name) + 8


def write_waits(folder):
    """Threads that work, wait and wake: samples of a clock with their callers, switches, and samples of counters after switches and elsewhere."""
    kind = IP | TID | TIME | CPU | PERIOD | CALLCHAIN | IDENTIFIER

    def end(tid, time):
        return pack("<IIQIIQ", 200 if tid else 0, tid, time, tid % 2, 0, CLOCK)

    def sample(number, tid, time, period, frames):
        at, inside = [waits_address(frame) for frame in frames], [frame[0] == "K" for frame in frames]
        chain = [recording.CONTEXT_KERNEL] * inside[0] + [a for a, k in zip(at, inside) if k]
        chain += [recording.CONTEXT_USER] * (not all(inside)) + [a for a, k in zip(at, inside) if not k]
        return record(SAMPLE, pack("<QQIIQIIQ", number, at[0], 200 if tid else 0, tid, time, tid % 2, 0, period) + recording.chain(chain),
                      KERNEL if inside[0] else USER)

    records = [next(side_band(end))]
    for tid, name in ((200, "waits"), (201, "worker"), (202, "reader"), (203, "sender")):
        records += [recording.comm(200, tid, name, end=end(tid, SECOND - 100))]
    records += [recording.mmap(200, 200, known.CODE, 0x4000, 0, "/calc", end=end(200, SECOND - 90)),
                recording.mmap(200, 200, WAITS_LIBRARY_AT, 0x4000, 0, "/libc.so.6", end=end(200, SECOND - 80))]
    time = SECOND
    for n in range(max(row[0] for row in WAITS)):
        for count, tid, frames in WAITS:
            time += 100000
            if n >= count:
                continue
            records.append(record(recording.SWITCH, end(tid, time)))
            if tid:
                for i, number in enumerate((CYCLES, INSTRUCTIONS, MISSES)):
                    records.append(sample(number, tid, time + 1000 + 900 * i + 250 * n, (4000, 1500, 30)[i] + 10 * n, ["C:parse", "C:main"]))
                    if (n + i) % 2:
                        records.append(sample(number, tid, time + 5000 + 1000 * i, (9000, 12000, 20)[i] + 100 * n, ["C:evaluate", "C:main"]))
            records.append(sample(CLOCK, tid, time + 50000, 100000 + n, frames.split()))
            records.append(record(recording.SWITCH, end(tid, time + 60000), 1 << 13 | (1 << 14) * (n % 2)))
    attributes = [recording.attribute(kind, recording.FLAG_SAMPLE_ID_ALL | (1 << 26) * (config == 0 and of == 1), kind=of, config=config, period=1000)
                  for of, config in ((1, 0), (0, 0), (0, 1), (0, 3))]
    descriptions = recording.event_descriptions(attributes, ["cpu-clock", "cycles:u", "instructions:u", "cache-misses:u"], (CLOCK, CYCLES, INSTRUCTIONS, MISSES))
    write(folder, "waits.data", attributes, records, {recording.EVENT_DESC: descriptions}, ids=(CLOCK, CYCLES, INSTRUCTIONS, MISSES))


OFF_CPU_MAGIC = 0x757063666666


def write_offcpu(folder):
    """Waits of the threads of waits.data, as `record --off-cpu` writes them, with their wakers, and samples of a clock."""
    kind = IP | TID | TIME | CPU | PERIOD | CALLCHAIN | RAW | IDENTIFIER
    stacks = [("K:__schedule K:schedule K:futex_wait K:__x64_sys_futex K:do_syscall_64 L:syscall C:evaluate C:main", 1),
              ("K:schedule K:vfs_read K:__x64_sys_read K:do_syscall_64 L:__GI___libc_read C:lookup C:main", 1),
              ("K:__schedule K:handle_mm_fault K:asm_exc_page_fault C:print_result C:main", 2),
              ("K:schedule K:__sys_recvmsg K:do_syscall_64 C:parse C:main", 1), ("K:__schedule K:do_syscall_64 C:parse C:main", 1)]

    def end(tid, time):
        return pack("<IIQIIQ", 200, tid, time, 0, 0, 86)

    records = [next(side_band(end))]
    records += [recording.comm(200, tid, name, end=end(tid, SECOND - 100)) for tid, name in ((200, "waits"), (201, "worker"), (202, "reader"))]
    records += [recording.mmap(200, 200, known.CODE, 0x4000, 0, "/calc", end=end(200, SECOND - 90)),
                recording.mmap(200, 200, WAITS_LIBRARY_AT, 0x4000, 0, "/libc.so.6", end=end(200, SECOND - 80))]
    for n in range(24):
        frames, state = stacks[n * n % 5]
        tid, time = 200 + n % 3, SECOND + 1000000 * n
        inside = [waits_address(frame) for frame in frames.split() if frame[0] == "K"]
        outside = [waits_address(frame) for frame in frames.split() if frame[0] != "K"]
        chain = [recording.CONTEXT_KERNEL, *inside, recording.CONTEXT_USER, *outside]
        wakers = [waits_address(frame) for frame in ("K:wake_up_q", "K:futex_wake", "L:syscall", "C:parse")][:n % 4 + 1 if n % 5 else 0]
        raw = pack("<QQQII16sIIQ", OFF_CPU_MAGIC + (n == 7), 1 + n % 4, 40000 * (n + 1), state, 201 if n % 5 else 0, b"worker" if n % 5 else b"", len(wakers),
                   (0, 202)[n % 2], 0x600000 + 8 * (n % 3) if "futex" in frames else 0) + pack("<%dQ" % len(wakers), *wakers) + bytes(8 * (n % 2))
        raw = raw[:20] if n == 11 else raw
        raw += bytes(-(len(raw) + 4) % 8)
        body = pack("<QQIIQIIQ", 86, inside[0], 200, tid, time, n % 2, 0, 70000 * (n + 1)) + recording.chain(chain) + pack("<I", len(raw)) + raw
        records.append(record(SAMPLE, body, KERNEL))
        at = waits_address("C:evaluate")
        body = pack("<QQIIQIIQ", 87, at, 200, tid, time + 500000, n % 2, 0, 250000)
        body += recording.chain([recording.CONTEXT_USER, at, waits_address("C:main")]) + pack("<I4s", 4, b"")
        records.append(record(SAMPLE, body, USER))
    attributes = [recording.attribute(kind, recording.FLAG_SAMPLE_ID_ALL, kind=1, config=config, period=1) for config in (10, 0)]
    write(folder, "offcpu.data", attributes, records, {recording.EVENT_DESC: recording.event_descriptions(attributes, ["offcpu-time", "cpu-clock"], (86, 87))},
          ids=(86, 87))


# Calls of loops.data: the program repeats them; what is in braces happens in some rounds.
ROUTE = "main parse lookup evaluate lookup print_result"


def write_loops(folder):
    """Branch stacks of 8 of a program that calls functions in cycles: calls, returns, jumps within functions."""
    kind, walk, samples = IP | TID | TIME | PERIOD | BRANCHES, [], []
    for n in range(40):
        route = ROUTE.split() if n % 8 else ["main", "parse", "parse", "print_result"]
        for i, name in enumerate(route):
            after = route[(i + 1) % len(route)]
            walk.append((known.address(name), known.address(name) - 6, 1 | (3 + n % 5) << 4 | 1 << 20))
            walk.append((known.address(name) + 4, known.address(after) - 8, (2 if n % 7 == 3 else 0) | 7 << 4 | (5 if (n + i) % 2 else 6) << 20))
    for n in range(48):
        at = 8 + n * 7 % (len(walk) - 8)
        taken = walk[at - 8:at][::-1]
        pid = 101 if n % 3 else 102
        body = pack("<QIIQQ", taken[0][1], pid, pid, SECOND + n * 10000000, 1000 + n)
        samples.append(record(SAMPLE, body + pack("<Q", len(taken)) + recording.branches(taken), USER))
    write(folder, "loops.data", [recording.attribute(kind, kind=0, period=1000, branch_type=8)], [*side_band(), *samples], {recording.BRANCH_STACK: b""})


def write_waits_files(folder):
    known.program(os.path.join(folder, "libc.so.6"), WAITS_LIBRARY)
    with open(os.path.join(folder, "kallsyms-waits"), "w", encoding="utf-8") as out:
        out.write("%x T _text\n" % known.KERNEL_BASE)
        for i, name in enumerate(WAITS_KERNEL):
            out.write("%x T %s\n" % (known.KERNEL_BASE + 0x2000 + 64 * i, name))
        out.write("%x T _etext\n" % (known.KERNEL_BASE + 0x100000))


class Chance:
    """Numbers that look random, the same in every version of Python."""
    def __init__(self, seed):
        self.state = seed

    def random(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2 ** 64
        return (self.state >> 11) / 2 ** 53

    def randrange(self, first, end=None):
        first, end = (0, first) if end is None else (first, end)
        return first + int(self.random() * (end - first))

    def choice(self, among):
        return among[self.randrange(len(among))]


AUX_OUTPUT_HW_ID = 21
PACKETS_EVENTS = [(ADDR | WEIGHT, 0, 0, 300), (BRANCHES, 0, 8, 301), (TRANSACTION, 0, 0, 302), (1 << 18, 0xff03ff | 0xffffffff << 32, 0, 303)]


def blocks_of(first):
    """Samples in the trace, as their blocks: BASIC 4, GENERAL 1, MEMORY 5, LAST_BRANCHES 8; each names the events that it is of, by bits."""
    at, out = known.CODE + 0x1000, b""
    for number in range(8):
        basic = {0: at + 64 * number % 320 + 8, 1: 1 << number % 4 | (2 if number == 5 else 0), 2: first + 100 * number}
        out += traces.block(4, list(basic.items()))
        if number % 2:
            out += traces.block(1, [(i, 0x100 * number + i) for i in range(18)])
        if number % 4 in (0, 2):
            out += traces.block(5, [(0, 0x7000 + number), (1, 0x12 + number), (2, number << 32 | 40 + number), (3, 0x12 << 32 | 5 * number)])
        if number % 4 == 1:
            out += traces.block(8, [(i, (i % 8 << 61) + i + 3 if i % 3 == 2 else at + 16 * i) for i in range(12)])
        if number == 7:
            out += traces.block(16, [(i, 0x200 + i) for i in range(16)])
        out += b"\x02\x33"
    return out


def write_packets(folder):
    """Packets of every kind of a program that chance made (the file packets), and samples of four events that record into the trace. Not made
    again by tests: the stored ones stay when the encoder of suite/ learns other packets. `cd test; python3 -m golden.recordings FOLDER` does."""
    chance, first = Chance(7), 5000000
    options = pt_packets.Options(compress_returns=True, long_bits=0.3, cycles=True, mtc=True, psb_bytes=300, events=True, extra=0.05, ratios=0.01,
                                 overflow=0.004)
    program = pt_program.Program(chance, 12, (pt_program.SYSCALL, pt_program.WRITE, pt_program.FAR_CALL, pt_program.BEGIN, pt_program.COMMIT,
                                              pt_program.PAGING) * 2)
    steps = pt_program.execute(program, chance, 900, 0.01, 0.02)
    trace = pt_packets.Encoder(program, chance, options, first + 20000).run(steps)
    with open(os.path.join(folder, "packets"), "wb") as out:
        out.write(program.elf())
    late = first + 60000
    trace += b"\x02\x82" * 8 + b"\x19" + late.to_bytes(7, "little") + b"\x02\x03\x08\x00" + b"\x02\x23" + blocks_of(late)
    kind, numbers = IP | TID | TIME | IDENTIFIER, (61, 62) + tuple(event[3] for event in PACKETS_EVENTS)
    flags = recording.FLAG_SAMPLE_ID_ALL | recording.FLAG_MMAP | recording.FLAG_COMM

    def end(time):
        return pack("<IIQQ", 101, 101, time, numbers[1])

    words = (8, 0, 1, 0, 1, pt_encoder.TSC_BIT, pt_encoder.NO_RETURNS_BIT, 0, 0, 0, pt_encoder.MTC_BIT, 15 << 14, 308, 2, pt_encoder.CYC_BIT, 37, 0, 1)
    records = [record(recording.AUXTRACE_INFO, pack("<II", 1, 0) + pack("<18Q", *words)), next(side_band(lambda pid, time: end(time))),
               recording.comm(101, 101, "packets", end=end(first)),
               recording.mmap(101, 101, program.base, len(program.text) + -len(program.text) % 4096, 0x1000, "/packets", end=end(first + 1)),
               record(recording.ITRACE_START, pack("<II", 101, 101) + end(first + 2))]
    place = 0
    cut = trace.index(b"\x02\x82" * 8, len(trace) // 3)
    for piece in (trace[:cut], trace[cut:]):
        padded = piece + bytes(-len(piece) % 8)
        records += [record(recording.AUX, pack("<QQQ", place, len(piece), 0) + end(first + 100 + place)),
                    record(recording.AUXTRACE, pack("<QQQIIII", len(padded), place, 7 + (place > 0), 0, 101, 0xffffffff, 0)) + padded]
        place += len(piece)
    records += [record(AUX_OUTPUT_HW_ID, pack("<Q", i) + pack("<IIQQ", 101, 101, first + 3, number)) for i, (_, _, _, number) in enumerate(PACKETS_EVENTS)]
    records.append(record(recording.FINISHED_ROUND, b""))
    config = 1 | pt_encoder.BRANCH_BIT | pt_encoder.TSC_BIT | pt_encoder.CYC_BIT | pt_encoder.MTC_BIT | 3 << 14
    attributes = [recording.attribute(kind, recording.FLAG_SAMPLE_ID_ALL, kind=8, config=config, period=1, read_format=4),
                  recording.attribute(kind, flags, kind=1, config=9, period=1, read_format=4)]
    for fields, registers_of, branches, _ in PACKETS_EVENTS:
        one = recording.attribute(kind | fields, recording.FLAG_SAMPLE_ID_ALL | 1 << 31, kind=0, period=1000, branch_type=branches)
        attributes.append(with_parameters(one, interrupt=registers_of))
    features = {recording.EVENT_DESC: recording.event_descriptions(attributes, ("intel_pt//u", "dummy:u", "cycles:aux", "branches:aux", "tx:aux", "regs:aux"),
                                                                   numbers)}
    write(folder, "packets.data", attributes, records, features, ids=numbers)


def write_coresight(folder):
    """Samples, and a trace of Arm's CoreSight, which is not decoded. The header does not have the number of CPUs."""
    kind, t = IP | TID | TIME | CPU | PERIOD, SECOND + 500
    trace = bytes(range(64))

    def end(pid, time):
        return pack("<IIQII", pid, pid, time, 1, 0)

    records = [record(recording.AUXTRACE_INFO, pack("<II", 3, 0) + pack("<2Q", 1, 1)), *list(side_band(end))[1:3],
               record(recording.AUXTRACE, pack("<QQQIIII", len(trace), 0, t + 200, 0, 101, 0xffffffff, 0)) + trace]
    records += [record(SAMPLE, pack("<QIIQIIQ", known.address(known.FUNCTIONS[n]), 101, 101, t + 300 + n, n, 0, 10), USER) for n in range(2)]
    features = {bit: data for bit, data in head().items() if bit not in (recording.NRCPUS, recording.CPU_TOPOLOGY)}
    path = os.path.join(folder, "coresight.data")
    recording.write(path, records, [recording.attribute(kind, recording.FLAG_SAMPLE_ID_ALL, period=1000)],
                    {**features, recording.AUXTRACE_INDEX: pack("<Q", 0)})
    os.utime(path, (SECOND, SECOND))


SCHEDSTAT_CPU, SCHEDSTAT_DOMAIN = 85, 86


def write_schedstats(path, version, moments, count=lambda factor, cpu, i: factor * i):
    """The scheduler's counters of two CPUs with a domain each; count: of a moment's factor, a CPU, and the index of the counter from 1 on."""
    records, values = [], 45 if version == 17 else 36
    for time, factor in moments:
        for cpu in range(2):
            begin = pack("<QIHH", time, cpu, version, 0)
            records.append(record(SCHEDSTAT_CPU, begin + pack("<6I3Q", *(count(factor, cpu, i) for i in range(1, 10)))))
            records.append(record(SCHEDSTAT_DOMAIN, recording.aligned(begin + pack("<%dI" % values, *(count(factor, cpu, i) for i in range(1, values + 1))))))
    domains = pack("<II", version, 1) + b"".join(pack("<III", cpu, 1, 0) + (header_text("MC") if version == 17 else b"") +
                                                 header_text("00000003") + header_text("0-1") for cpu in range(2))
    recording.write(path, records, [recording.attribute(IDENTIFIER, config=9)], {32: domains})


def uneven(factor, cpu, i):
    """Every counter another one, some of which do not count, and some of which wrap."""
    return (factor * (i * 37 % 23 + cpu * 5) + 2 ** 32 - 30 * (i % 7 == 2)) % 2 ** 32 if i % 11 else 7


def write_recordings(folder):
    for each in (write_chains, write_apart, write_twins, write_events, write_reads, write_memory, write_branches, write_call_stacks, write_bts,
                 write_coresight, write_side_band, write_sched, write_calls, write_locks, write_trace, write_lines, write_shapes, write_kinds,
                 write_stacks, write_heads, write_waits, write_tasks, write_power, write_lockdep, write_offcpu, write_loops, write_many):
        each(folder)
    write_every_record(write, folder)
    write_guests(folder, write)
    write_trace(folder, "timed.data", pt_encoder.Settings(threshold=3, mtc=1, psb=128, returns=False, run=False, long_bits=True, lost=[(400, 430)]))
    for version in (15, 16, 17):
        write_schedstats(os.path.join(folder, "stats%d.data" % version), version, ((1000, 1), (1100, 11)), uneven)
        os.utime(os.path.join(folder, "stats%d.data" % version), (SECOND, SECOND))
    write_schedstats(os.path.join(folder, "later.data"), 17, ((1000, 2), (1200, 9)), uneven)
    os.utime(os.path.join(folder, "later.data"), (SECOND, SECOND))
    write_counts(folder, "counts.data", 0, [2 * SECOND])
    write_counts(folder, "intervals.data", 1000, [SECOND, 2 * SECOND, 3 * SECOND])


def write_all(folder):
    """The folder big-endian has the same recordings, as made on a big-endian machine."""
    known.program(os.path.join(folder, "calc"), known.FUNCTIONS)
    known.program(os.path.join(folder, "libm.so"), known.LIBRARY)
    known.write_kallsyms(folder)
    write_frames(os.path.join(folder, "frames"))
    write_waits_files(folder)
    write_recordings(folder)
    other = os.path.join(folder, "big-endian")
    os.makedirs(other, exist_ok=True)
    with recording.big_endian():
        write_recordings(other)


if __name__ == "__main__":
    write_packets(sys.argv[1])
