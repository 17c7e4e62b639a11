#!/usr/bin/env python3
"""Call chains that consist of several records: call stacks of branch records joined across samples (--stitch-lbr), compared with
perf, and deferred chains of user code. The recordings are made here, byte by byte."""
import os
import random
import struct
import sys

from suite import process, recording
from suite.perf import need_reference, without_tip
from suite.recording import CONTEXT_KERNEL, CONTEXT_USER, CONTEXT_USER_DEFERRED, FINISHED_ROUND, FLAG_COMM, FLAG_MMAP, FLAG_SAMPLE_ID_ALL, KERNEL
from suite.recording import SAMPLE, USER
from suite.recording import SAMPLE_BRANCH_STACK, SAMPLE_CALLCHAIN, SAMPLE_IP, SAMPLE_PERIOD, SAMPLE_TID, SAMPLE_TIME, header_text
from suite.settings import PERFUSE
from suite.tests import need, run_in_folder

SAMPLE_KIND = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME
FLAGS = FLAG_MMAP | FLAG_COMM | FLAG_SAMPLE_ID_ALL
DEFER_CALLCHAIN, DEFER_OUTPUT = 1 << 38, 1 << 39
BRANCH_USER, BRANCH_ANY, CALL_STACK, NO_FLAGS, NO_CYCLES, TYPE_SAVE, HW_INDEX = 1, 1 << 3, 1 << 11, 1 << 14, 1 << 15, 1 << 16, 1 << 17


class Recording:
    def __init__(self, sample_type, flags, branch_type=0):
        self.attribute = recording.attribute(sample_type, flags, kind=0, period=1000, branch_type=branch_type, size=112)
        self.records = []
        self.features = {recording.ARCH: header_text("x86_64")}

    def add(self, kind, misc, body):
        self.records.append(recording.record(kind, body, misc))

    def add_process(self, pid):
        end = recording.trailer(pid, pid, 0)
        self.records.append(recording.comm(pid, pid, "prog%d" % pid, end=end))
        self.records.append(recording.mmap(pid, pid, 0x400000, 0x100000, 0, "/bin/pr", end=end))

    def write(self, path):
        recording.write(path, self.records, [self.attribute], self.features)


class Thread:
    """Calls and returns at random; the stack holds the branches of the calls."""

    def __init__(self, pid, tid, dice):
        self.pid, self.tid, self.dice, self.stack = pid, tid, dice, []

    def run(self):
        if self.dice.random() < 0.55 or len(self.stack) < 2:
            for _ in range(self.dice.randint(1, 4)):
                self.stack.append((0x400000 + self.dice.randint(1, 60) * 16, 0x480000 + self.dice.randint(1, 60) * 16))
        else:
            del self.stack[-self.dice.randint(1, 5):]


def call_stacks(path, seed, registers, features=True):
    dice = random.Random(seed)
    made = Recording(SAMPLE_KIND | SAMPLE_CALLCHAIN | SAMPLE_PERIOD | SAMPLE_BRANCH_STACK, FLAGS,
                          BRANCH_USER | CALL_STACK | NO_FLAGS | NO_CYCLES | HW_INDEX)
    if features:
        made.features[recording.CPU_PMU_CAPS] = struct.pack("<I", 1) + header_text("branches") + header_text(str(registers))
    threads = [Thread(10, 10, dice), Thread(10, 11, dice), Thread(20, 20, dice)]
    made.add_process(10)
    made.add_process(20)
    for i in range(400):
        thread = dice.choice(threads)
        thread.run()
        held = thread.stack[:-registers - 1:-1]
        if not held:
            continue
        chain = [CONTEXT_KERNEL, 0xffffffff81000000 + dice.randint(1, 9) * 16] if dice.random() < 0.3 else []
        if dice.random() < 0.95:
            chain += [CONTEXT_USER, held[0][1]]
        body = struct.pack("<QIIQQ", held[0][1], thread.pid, thread.tid, 1000 + 10 * i, 1000 + i) + recording.chain(chain)
        body += struct.pack("<QQ", len(held), len(thread.stack) % registers)
        body += recording.branches((start, end, 0) for start, end in held)
        made.add(SAMPLE, USER, body)
    made.write(path)


def branches(path, seed, with_chains, with_types):
    """Branch records with loops, cycles, wrong predictions; some end where a call chain begins."""
    dice = random.Random(seed)
    made = Recording(SAMPLE_KIND | SAMPLE_PERIOD | SAMPLE_BRANCH_STACK | (SAMPLE_CALLCHAIN if with_chains else 0), FLAGS,
                          BRANCH_USER | BRANCH_ANY | (TYPE_SAVE if with_types else 0))
    made.features[recording.BRANCH_STACK] = b""
    made.add_process(10)
    made.add_process(20)
    blocks = [0x400000 + i * 0x340 for i in range(12)]
    for i in range(300):
        pid, taken = dice.choice((10, 20)), []
        count = dice.randint(0 if with_chains else 1, 16)
        while len(taken) < count:
            turn = [(dice.choice(blocks) + 8, dice.choice(blocks)) for _ in range(dice.randint(1, 3))]
            taken += turn * (dice.randint(2, 4) if dice.random() < 0.4 else 1)
        del taken[count:]
        chain = [CONTEXT_KERNEL, 0xffffffff81000010] if dice.random() < 0.3 else []
        chain += [CONTEXT_USER] + [dice.choice(blocks) + 12 for _ in range(dice.randint(1, 12))]
        if taken and dice.random() < 0.5 and len(chain) > 2:
            chain[2] = taken[0][0] + 4
        body = struct.pack("<QIIQQ", dice.choice(blocks) + 4, pid, pid, 1000 + 10 * i, 1000 + i)
        body += (recording.chain(chain) if with_chains else b"") + struct.pack("<Q", len(taken))
        for start, end in taken:
            flags = (2 if dice.random() < 0.8 else 1) | (8 if dice.random() < 0.05 else 0) | dice.randint(0, 40) << 4
            if with_types:
                flags |= dice.choice((0, 1, 1, 2, 4, 6, 15)) << 20 | dice.randint(0, 7) << 26
            body += struct.pack("<QQQ", start, end, flags)
        made.add(SAMPLE, USER, body)
    made.write(path)


def deferred(path):
    made = Recording(SAMPLE_KIND | SAMPLE_CALLCHAIN, FLAGS | DEFER_CALLCHAIN | DEFER_OUTPUT)
    made.add_process(10)
    kernel = [CONTEXT_KERNEL, 0xffffffff81000010]
    for time, cookie in ((100, 7), (110, 7), (130, 8)):
        made.add(SAMPLE, 1, struct.pack("<QIIQ", kernel[1], 10, 10, time) + recording.chain(kernel + [CONTEXT_USER_DEFERRED, cookie]))
    for time, cookie, chain in ((120, 7, [0x400010, 0x400020]), (140, 9, [0x400030])):
        made.add(recording.CALLCHAIN_DEFERRED, USER, struct.pack("<Q", cookie) + recording.chain([CONTEXT_USER] + chain) + recording.trailer(10, 10, time))
    made.write(path)


TWINS, TWIN_FUNCTIONS, TWIN_BYTES = ("/lib/one.so", "/lib/two.so", "/lib/three.so"), 60, 16


def twins(folder, dice):
    """Libraries whose functions lie at the same addresses and have other names. Returns the address of the first function in each file."""
    os.makedirs(os.path.join(folder, "lib"), exist_ok=True)
    for path in TWINS:
        names = ["work_%d" % number for number in dice.sample(range(1000), TWIN_FUNCTIONS)]
        source = ".text\n" + "".join(".globl %s\n.type %s, @function\n%s: .skip %d, 0x90\n.size %s, %d\n" % (
            name, name, name, TWIN_BYTES, name, TWIN_BYTES) for name in names)
        process.must("gcc", "-shared", "-nostdlib", "-Wl,-z,separate-code", "-x", "assembler", "-", "-o", folder + path, input=source)
    symbols = process.must("nm", folder + TWINS[0])
    return min(int(line.split()[0], 16) for line in symbols.splitlines() if " work_" in line)


def many_equals(path, folder, seed):
    """Samples of several threads with chains through the twins: rows of all libraries have equal sums."""
    dice = random.Random(seed)
    first = twins(folder, dice)
    made = Recording(SAMPLE_KIND | SAMPLE_CALLCHAIN, FLAGS)
    made.add_process(10)
    for tid in (11, 12, 13):
        made.records.append(recording.comm(10, tid, "prog10", end=recording.trailer(10, tid, 0)))
    for number, library in enumerate(TWINS):
        made.records.append(recording.mmap(10, 10, (number + 1) << 24, 1 << 20, 0, library, end=recording.trailer(10, 10, 0)))
    for time in range(1, 3000):
        chain = [(dice.randint(1, 3) << 24) + first + dice.randrange(TWIN_FUNCTIONS) * TWIN_BYTES + dice.randrange(TWIN_BYTES)
                 for _ in range(dice.randint(1, 6))]
        tid = dice.randint(10, 13)
        made.add(SAMPLE, USER, struct.pack("<QIIQ", chain[0], 10, tid, time * 100) + recording.chain([CONTEXT_USER] + chain))
    made.write(path)


def stray_addresses(dice):
    """What frame pointers that hold something else lead to: addresses of the user's half, between the halves, and of the kernel's half."""
    return ([0x48186f8b48535500, 0, 1, 1 << 62, (1 << 63) - 1, 1 << 63, (1 << 64) - 4096] + [dice.randrange(1 << 47) for _ in range(3)] +
            [dice.randrange(1 << 62, 1 << 63) for _ in range(4)] + [dice.randrange(1 << 63, (1 << 64) - 4096) for _ in range(5)] +
            [0xffffffff81000000 + number * 16 for number in range(4)])


def strays(path, seed, mappings, code):
    """Samples with equal periods whose chains contain addresses that are no code, also as the sample's own address."""
    dice = random.Random(seed)
    made = Recording(SAMPLE_KIND | SAMPLE_CALLCHAIN, FLAGS)
    for pid in (10, 20):
        made.add_process(pid)
        for start, library in mappings:
            made.records.append(recording.mmap(pid, pid, start, 1 << 20, 0, library, end=recording.trailer(pid, pid, 0)))
    addresses = stray_addresses(dice)
    for time in range(1, dice.choice((40, 400))):
        user = [dice.choice(code) for _ in range(dice.randint(1, 5))]
        for _ in range(dice.choice((0, 0, 1, 1, 2))):
            user.insert(dice.randint(0, len(user)), dice.choice(addresses))
        kernel = [CONTEXT_KERNEL, 0xffffffff81000000 + dice.randint(1, 9) * 16] if dice.random() < 0.3 else []
        chain, pid = kernel + [CONTEXT_USER] + user, dice.choice((10, 20))
        made.add(SAMPLE, KERNEL if kernel else USER, struct.pack("<QIIQ", chain[1], pid, pid, time * 100) + recording.chain(chain))
        if time % 37 == 0:
            made.add(FINISHED_ROUND, 0, b"")
    made.write(path)


class Context:
    def __init__(self, work):
        self.work = work
        os.mkdir(os.path.join(work, "symfs"))

    def run(self, program, *command):
        return without_tip(process.must(program, *command, cwd=self.work))

    def agree(self, *command):
        perf = need_reference()
        command = (command[0], "--symfs", "symfs") + command[1:]
        need(self.run(PERFUSE, *command) == self.run(perf, *command), "%s differs from perf" % " ".join(command))


COMMANDS = (("script",), ("script", "-F", "comm,ip,sym"), ("report", "--stdio"), ("report", "--stdio", "--no-children"),
            ("report", "--stdio", "--no-children", "-G"), ("report", "--stdio", "--max-stack", "3"))


def test_stitch(c):
    """call stacks of branch records are joined to those of samples before them as perf joins them"""
    for seed, registers in ((1, 4), (2, 8), (3, 16)):
        call_stacks(os.path.join(c.work, "perf.data"), seed, registers)
        for command in COMMANDS:
            c.agree(*command, "--stitch-lbr", "-i", "perf.data")
    joined = c.run(PERFUSE, "script", "--stitch-lbr", "-F", "ip", "-i", "perf.data")
    need(len(joined) > len(c.run(PERFUSE, "script", "-F", "ip", "-i", "perf.data")), "nothing is joined")


def test_no_registers(c):
    """without the number of branch registers in the recording nothing is joined"""
    call_stacks(os.path.join(c.work, "perf.data"), 1, 8, features=False)
    c.agree("script", "--stitch-lbr", "-i", "perf.data")


def test_plain(c):
    """without --stitch-lbr no call stack is joined to another"""
    call_stacks(os.path.join(c.work, "perf.data"), 1, 8)
    for command in COMMANDS:
        c.agree(*command, "-i", "perf.data")


def test_branch_history(c):
    """branches are inserted into call chains, loops are combined, and their predictions and cycles are shown, as perf does"""
    for seed, chains, types in ((1, True, False), (2, True, True), (3, False, False), (4, False, True)):
        branches(os.path.join(c.work, "perf.data"), seed, chains, types)
        for options in ((), ("--no-children",), ("--no-children", "-G"), ("--max-stack", "5"), ("-g", "fractal"), ("--sort", "dso,sym")):
            c.agree("report", "--stdio", "--branch-history", *options, "-i", "perf.data")
    text = c.run(PERFUSE, "report", "--stdio", "--branch-history", "-i", "perf.data")
    need("(cycles:" in text and "predicted:" in text and "iter:" in text, "cycles, predictions or iterations are missing")


def test_equals(c):
    """rows of equal sums are in perf's order, each time, also if functions of several libraries are at one address"""
    data = os.path.join(c.work, "perf.data")
    for seed in (1, 2):
        many_equals(data, os.path.join(c.work, "symfs"), seed)
        for options in ((), ("--no-children",), ("-G",), ("--sort", "sym"), ("--sort", "dso,sym", "-g", "none"), ("-g", "caller")):
            for _ in range(3):
                c.agree("report", "--stdio", *options, "-i", "perf.data")


def test_strays(c):
    """addresses that are no code have perf's rows, sums, order and chains, also where the comparison of addresses is no order"""
    data = os.path.join(c.work, "perf.data")
    for seed in range(12):
        strays(data, seed, (), [0x400000 + number * 0x340 for number in range(36)])
        for options in ((), ("--no-children",), ("-g", "callee"), ("--sort", "sym"), ("-g", "callee", "--sort", "dso,sym"), ("-g", "none")):
            c.agree("report", "--stdio", *options, "-i", "perf.data")
        c.agree("script", "-F", "ip,sym,dso", "-i", "perf.data")


def test_named_strays(c):
    """rows of such addresses are perf's where other frames have names, and all frames that have a name show it"""
    data = os.path.join(c.work, "perf.data")
    first = twins(os.path.join(c.work, "symfs"), random.Random(1))
    code = [(1 << 24) + first + number * TWIN_BYTES for number in range(TWIN_FUNCTIONS)]
    for seed in range(6):
        strays(data, seed, ((1 << 24, TWINS[0]),), code)
        for options in ((), ("--no-children",), ("--sort", "sym"), ("--sort", "dso,sym")):
            c.agree("report", "--stdio", "-g", "none", *options, "-i", "perf.data")
        text = c.run(PERFUSE, "report", "--stdio", "--symfs", "symfs", "-i", "perf.data")
        nameless = [hex(address) for address in code if hex(address) in text]
        need("work_" in text and not nameless, "%s have no name" % nameless)


def test_deferred(c):
    """deferred chains of user code are shown with their sample"""
    deferred(os.path.join(c.work, "perf.data"))
    blocks = c.run(PERFUSE, "script", "-F", "ip,time", "-i", "perf.data").strip("\n").split("\n\n")
    frames = [[int(line, 16) for line in block.splitlines()[1:] if line.strip()] for block in blocks]
    need(frames == [[0xffffffff81000010, 0x400010, 0x400020]] * 2 + [[0xffffffff81000010]], str(frames))
    text = c.run(PERFUSE, "report", "--stdio", "--no-children", "-g", "caller,address", "-i", "perf.data")
    need("0x400020" in text and "0x400030" not in text, text)
    text = c.run(PERFUSE, "flamegraph", "--folded", "-i", "perf.data", "-o", "-")
    need(text.count("\n") < 3 and "prog10" in text, text)


if __name__ == "__main__":
    sys.exit(run_in_folder("call chains of several records", Context, globals()))
