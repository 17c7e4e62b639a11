"""A recording in which every text is hostile: names of threads, files, events, cgroups, functions and source files, what tracepoints say,
the texts of the header. Made here, as no kernel passes all of them."""
import os
import struct

from suite import process, recording
from suite.recording import COMM, EXEC, MMAP2, SAMPLE, USER, aligned, header_text, header_texts, padded, record

# Control sequences, and a line that looks like a sample; FORGED marks where an added line would begin.
DRIVES = b"\x1b[31m\x1b]0;t\x07\x08\x08\x0d\x9b2J\xc2\x9b2J\xe2\x80\xae\xe2\x80\xa8\x85\x0bFORGED\x7f"
HOSTILE = b"e" + DRIVES + b"\nFORGED 999/999 [000]     1.000000:          1 cycles:      dead forged (/bin/forged)\n"
PID, IP, CGROUP, TRACEPOINT = 4242, 0x401000, 77, 4711
IDS = (11, 12)
SAMPLE_TYPE = 1 | 2 | 4 | 8 | 0x20 | 0x80 | 0x100 | 0x400 | 0x10000 | 0x200000
FLAGS = 1 << 18 | 1 << 8 | 1 << 9 | 1 << 23 | 1 << 24 | 1 << 32


def attributes():
    return [recording.attribute(SAMPLE_TYPE, FLAGS, kind=kind, config=config, read_format=4) for kind, config in ((1, 0), (2, TRACEPOINT))]


def side_band(kind, body, misc=2):
    return record(kind, aligned(body + struct.pack("<IIQIIQ", PID, PID, 1000, 0, 0, IDS[0])), misc)


def sample(number, event, raw):
    body = struct.pack("<QQIIQQIIQ", IDS[event], IP + 8, PID, PID, 2000 + number * 1000, IP + 4, 0, 0, 1)
    body += struct.pack("<QQQQ", 3, 2**64 - 512, IP + 8, IP + 4)
    body += struct.pack("<I", len(raw) + 4) + raw + b"\0" * 4 if (len(raw) + 8) % 8 == 0 else struct.pack("<I", len(raw)) + raw
    return record(SAMPLE, aligned(body + struct.pack("<Q", CGROUP)), USER)


def tracing_data(name, words):
    """Formats of tracepoints as `record` stores them, of one event."""
    fields = b"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
    fields += b"\tfield:char text[%d];\toffset:8;\tsize:%d;\tsigned:0;\n" % (len(words), len(words))
    event = b"name: %s\nID: %d\nformat:\n%s\nprint fmt: \"a\\nFORGED %%s\", REC->text\n" % (name, TRACEPOINT, fields)
    page = b"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
    out = b"\x17\x08\x44tracing0.6\0\0\x08" + struct.pack("<I", 4096)
    out += b"header_page\0" + struct.pack("<Q", len(page)) + page + b"header_event\0" + struct.pack("<Q", 4) + b"none"
    out += struct.pack("<II", 0, 1) + b"evil\x1b[2J\0" + struct.pack("<IQ", 1, len(event)) + event
    return out + struct.pack("<IIQ", 0, 0, 0)


def features(path):
    """The header; the build-id is that of `path`."""
    build_id = record(recording.BUILD_ID_RECORD, aligned(struct.pack("<i", -1) + bytes(range(20)) + b"\x14\0\0\0" + padded(path)), USER)
    description = struct.pack("<II", 2, 128)
    for i, attr in enumerate(attributes()):
        description += attr + struct.pack("<I", 1) + header_text(HOSTILE + b"%d" % i) + struct.pack("<Q", IDS[i])
    return {
        recording.TRACING: tracing_data(b"nasty", bytes(96)),
        recording.BUILD_ID: build_id,
        recording.HOSTNAME: header_text(HOSTILE),
        recording.OSRELEASE: header_text(HOSTILE),
        recording.VERSION: header_text(HOSTILE),
        recording.ARCH: header_text(b"x86_64" + HOSTILE),
        recording.CPUDESC: header_text(HOSTILE),
        recording.CPUID: header_text(HOSTILE),
        recording.CMDLINE: header_texts(b"perf", HOSTILE),
        recording.EVENT_DESC: description,
        recording.CPU_TOPOLOGY: header_texts(HOSTILE) + header_texts(HOSTILE),
        recording.NUMA: struct.pack("<IIQQ", 1, 0, 1024, 512) + header_text(HOSTILE),
        recording.PMU: struct.pack("<II", 1, 4) + header_text(HOSTILE),
        recording.GROUP: struct.pack("<I", 1) + header_text(HOSTILE) + struct.pack("<II", 0, 2),
        recording.CACHE: struct.pack("<IIIIII", 1, 1, 1, 64, 64, 8) + header_text(HOSTILE) * 3,
        recording.PMU_CAPS: struct.pack("<II", 1, 1) + header_text(HOSTILE) + header_text(HOSTILE) + header_text(HOSTILE),
    }


def write(path, program):
    """The recording, of a program whose path is `program` (bytes)."""
    said = (b"x" + HOSTILE)[:95].ljust(96, b"\0")
    raw = struct.pack("<Hxxi", TRACEPOINT, PID) + said
    mapped = struct.pack("<IIQQQIIQQII", PID, PID, 0x400000, 0x10000, 0, 0, 0, 0, 0, 5, 2) + padded(program)
    records = [side_band(COMM, struct.pack("<II", PID, PID) + padded(HOSTILE), USER | EXEC), side_band(MMAP2, mapped),
               side_band(recording.CGROUP, struct.pack("<Q", CGROUP) + padded(b"/" + HOSTILE))]
    records += [sample(i, i & 1, raw) for i in range(8)]
    recording.write(path, records, attributes(), features(b"/nowhere/" + HOSTILE), ids=IDS)


def program(folder):
    """A file whose functions, source files and own name are hostile; None without a compiler."""
    name, plain = b"fn_" + b"A" * (len(HOSTILE) - 3), os.path.join(folder, "plain")
    source = os.path.join(folder, "S" * 100 + ".c")
    with open(source, "w") as out:
        out.write("int %s(int n) { return n * 3; }\nint _start(void) { return %s(2); }\n" % (name.decode(), name.decode()))
    flags = ["-g", "-O0", "-nostdlib", "-static", "-no-pie", "-Wl,-Ttext=%#x" % IP, "-Wl,--build-id=none"]
    if process.run("cc", *flags, "-o", plain, source).returncode != 0:
        return None
    data = open(plain, "rb").read().replace(name, HOSTILE).replace(b"S" * 100, (b"s" + DRIVES * 4)[:100])
    path = os.path.join(os.fsencode(folder), HOSTILE.replace(b"/", b"|"))
    with open(path, "wb") as out:
        out.write(data)
    return path
