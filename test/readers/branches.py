"""A recording with branch stacks, made by hand, of a program that never ran: what processors with such stacks write. Format:
tools/perf/Documentation/perf.data-file-format.txt of Linux, and perf_event_open(2)."""
import os
import re
import struct

from suite import process, recording
from suite.recording import FLAG_COMM, FLAG_MMAP, FLAG_MMAP2, FLAG_SAMPLE_ID_ALL, SAMPLE, SAMPLE_BRANCH_STACK, SAMPLE_IP, SAMPLE_TID, SAMPLE_TIME, USER

PID = 4711
BRANCH_ANY = 1 << 3
FLAGS = FLAG_MMAP | FLAG_COMM | FLAG_SAMPLE_ID_ALL | FLAG_MMAP2

SOURCE = """
#include <stdio.h>
__attribute__((noinline)) long hot(long n) { long s = 0; for (long i = 0; i < n; i++) { s += i ^ (s >> 3); __asm__ volatile("" ::: "memory"); } return s; }
__attribute__((noinline)) long cold(long n) { return n * 3; }
int main(int argc, char **argv) { long s = 0; for (int i = 0; i < 3000000; i++) s += hot(100 + argc); printf("%ld\\n", s + cold(s)); return 0; }
"""


def build(path):
    process.must("cc", "-O1", "-g", "-no-pie", "-Wl,--emit-relocs", "-o", path, "-x", "c", "-", input=SOURCE)


def text_segment(program):
    lines = process.must("readelf", "-lW", program)
    offset, address, size = re.search(r"LOAD\s+(0x\w+)\s+(0x\w+)\s+0x\w+\s+(0x\w+)\s+0x\w+\s+R E", lines).groups()
    return int(offset, 16), int(address, 16), int(size, 16)


def loops(program):
    """(the jump, its target) of each jump backwards in hot and main."""
    lines = process.must("objdump", "-d", "--no-show-raw-insn", program)
    found = []
    for name, code in re.findall(r"<(hot|main)>:\n(.*?)\n\n", lines, re.S):
        for at, target in re.findall(r"^\s*([0-9a-f]+):\s+j\w+\s+([0-9a-f]+)", code, re.M):
            if int(target, 16) <= int(at, 16):
                found.append((name, int(at, 16), int(target, 16)))
    return found


def write(path, program):
    """Samples whose branches go round the loops of hot and main."""
    offset, address, size = text_segment(program)
    path_of_program = os.path.realpath(program)
    records = [recording.comm(PID, PID, os.path.basename(path_of_program)[:15], USER, recording.trailer(PID, PID, 1)),
               recording.mmap2(PID, PID, address, (size + 4095) & ~4095, offset, path_of_program, inode=99, end=recording.trailer(PID, PID, 2))]
    time = 1000
    for function, at, target in loops(program):
        for _ in range(200 if function == "hot" else 20):
            time += 1000
            taken = recording.branches([(at, target, 0x2)] * 16)
            records.append(recording.record(SAMPLE, struct.pack("<QIIQQ", at, PID, PID, time, 16) + taken, USER))
    sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_BRANCH_STACK
    recording.write(path, records, [recording.attribute(sample_type, FLAGS, kind=0, period=4000, branch_type=BRANCH_ANY, size=136)])
