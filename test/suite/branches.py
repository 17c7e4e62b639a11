"""Recordings of branch stacks that the code of a program has, with cycles and predictions."""
import random
import re
import struct

from suite import recording
from suite.process import must

MAPPED = 0x401000  # of a program that is linked at a fixed address


def walk(jumps, start, count, dice):
    """The branches of a walk through code, newest first."""
    at, taken = start, []
    while len(taken) < count:
        ahead = [jump for jump in jumps if jump[0] >= at]
        jump = next((jump for jump in ahead if dice.random() < 0.6), ahead[-1]) if ahead else None
        at = jump[1] if jump else start
        taken += [jump] if jump else []
    return taken[::-1]


def write(path, program, functions, seed, most, count=400):
    """Samples of functions of the program, in turns; each branch took fewer than `most` cycles."""
    codes = [re.findall(r"^ *([0-9a-f]+):\t(\S+) *([0-9a-f]*)", must("objdump", "-d", "--no-show-raw-insn", "--disassemble=" + name, program),
                        flags=re.M) for name in functions]
    dice = random.Random(seed)
    records = [recording.comm(9, 9, "prog", end=recording.trailer(9, 9, 1)),
               recording.mmap2(9, 9, MAPPED, 0x1000, 0x1000, program, end=recording.trailer(9, 9, 2))]
    for i in range(count):
        code = codes[i % len(codes)]
        jumps = [(int(at, 16), int(target, 16)) for at, mnemonic, target in code if mnemonic.startswith("j")]
        taken = walk(jumps, int(code[0][0], 16), 16, dice)
        body = struct.pack("<QIIQQ", taken[0][1], 9, 9, 1000 + i, 1000) + struct.pack("<Q", len(taken))
        body += recording.branches((*jump, (2 if dice.random() < 0.9 else 1) | dice.randrange(1, most) << 4) for jump in taken)
        records.append(recording.record(recording.SAMPLE, body, recording.USER))
    kind = recording.SAMPLE_IP | recording.SAMPLE_TID | recording.SAMPLE_TIME | recording.SAMPLE_PERIOD | recording.SAMPLE_BRANCH_STACK
    flags = recording.FLAG_MMAP | recording.FLAG_COMM | recording.FLAG_SAMPLE_ID_ALL | recording.FLAG_MMAP2
    attribute = recording.attribute(kind, flags, kind=0, period=1000, branch_type=8)
    recording.write(path, records, [attribute], {recording.BRANCH_STACK: b"", recording.ARCH: recording.header_text("x86_64"),
                                                 recording.CPUID: recording.header_text("GenuineIntel,6,85,7")})
