"""A recording with branch stacks, made by hand, of a program that never ran: what processors with such stacks write. Format:
tools/perf/Documentation/perf.data-file-format.txt of Linux, and perf_event_open(2)."""
import os
import re
import struct
import subprocess

ATTR_SIZE = 136
SAMPLE_TYPE = 1 | 2 | 4 | 2048           # IP, TID, TIME, BRANCH_STACK
MMAP2, COMM, SAMPLE = 10, 3, 9
USER = 2
PID = 4711
BRANCH_ANY = 1 << 3
FLAGS = 1 << 8 | 1 << 9 | 1 << 18 | 1 << 23                 # mmap, comm, sample_id_all, mmap2

SOURCE = """
#include <stdio.h>
__attribute__((noinline)) long hot(long n) { long s = 0; for (long i = 0; i < n; i++) { s += i ^ (s >> 3); __asm__ volatile("" ::: "memory"); } return s; }
__attribute__((noinline)) long cold(long n) { return n * 3; }
int main(int argc, char **argv) { long s = 0; for (int i = 0; i < 3000000; i++) s += hot(100 + argc); printf("%ld\\n", s + cold(s)); return 0; }
"""


def build(path):
    subprocess.run(["cc", "-O1", "-g", "-no-pie", "-Wl,--emit-relocs", "-o", path, "-x", "c", "-"], input=SOURCE, text=True, check=True)


def record(kind, body):
    body += b"\0" * (-len(body) % 8)
    return struct.pack("<IHH", kind, USER, 8 + len(body)) + body


def identity(time):
    """What sample_id_all appends."""
    return struct.pack("<IIQ", PID, PID, time)


def text_segment(program):
    lines = subprocess.run(["readelf", "-lW", program], stdout=subprocess.PIPE, text=True, check=True).stdout
    offset, address, size = re.search(r"LOAD\s+(0x\w+)\s+(0x\w+)\s+0x\w+\s+(0x\w+)\s+0x\w+\s+R E", lines).groups()
    return int(offset, 16), int(address, 16), int(size, 16)


def loops(program):
    """(the jump, its target) of each jump backwards in hot and main."""
    lines = subprocess.run(["objdump", "-d", "--no-show-raw-insn", program], stdout=subprocess.PIPE, text=True, check=True).stdout
    found = []
    for name, code in re.findall(r"<(hot|main)>:\n(.*?)\n\n", lines, re.S):
        for at, target in re.findall(r"^\s*([0-9a-f]+):\s+j\w+\s+([0-9a-f]+)", code, re.M):
            if int(target, 16) <= int(at, 16):
                found.append((name, int(at, 16), int(target, 16)))
    return found


def write(path, program):
    """Samples whose branches go round the loops of hot and main."""
    offset, address, size = text_segment(program)
    name = os.path.realpath(program).encode()
    comm = os.path.basename(name)[:15] + b"\0"
    comm += b"\0" * (-len(comm) % 8)
    data = record(COMM, struct.pack("<II", PID, PID) + comm + identity(1))
    mapping = struct.pack("<IIQQQIIQQII", PID, PID, address, (size + 4095) & ~4095, offset, 8, 1, 99, 0, 5, 2)
    name += b"\0"
    data += record(MMAP2, mapping + name + b"\0" * (-len(name) % 8) + identity(2))
    time = 1000
    for function, at, target in loops(program):
        for _ in range(200 if function == "hot" else 20):
            time += 1000
            branches = b"".join(struct.pack("<QQQ", at, target, 0x2) for _ in range(16))
            data += record(SAMPLE, struct.pack("<QIIQQ", at, PID, PID, time, 16) + branches)
    attr = struct.pack("<IIQQQQQIIQQQ", 0, ATTR_SIZE, 0, 4000, SAMPLE_TYPE, 0, FLAGS, 0, 0, 0, 0, BRANCH_ANY).ljust(ATTR_SIZE, b"\0")
    head, attrs = 104, attr + struct.pack("<QQ", 0, 0)
    with open(path, "wb") as out:
        place = head + len(attrs)
        out.write(b"PERFILE2" + struct.pack("<QQQQQQQQ", head, len(attrs), head, len(attrs), place, len(data), 0, 0))
        out.write(b"\0" * (head - out.tell()) + attrs + data)
