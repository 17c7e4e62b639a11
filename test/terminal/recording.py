"""A recording in which every text is hostile: names of threads, files, events, cgroups, functions and source files, what tracepoints say,
the texts of the header. Written by hand, as no kernel lets all of them through."""
import os
import struct
import subprocess

# What terminals obey, and a line that could be taken for a sample; FORGED marks where a line of its own would begin.
DRIVES = b"\x1b[31m\x1b]0;t\x07\x08\x08\x0d\x9b2J\xc2\x9b2J\xe2\x80\xae\xe2\x80\xa8\x85\x0bFORGED\x7f"
HOSTILE = b"e" + DRIVES + b"\nFORGED 999/999 [000]     1.000000:          1 cycles:      dead forged (/bin/forged)\n"
PID, IP, CGROUP, TRACEPOINT = 4242, 0x401000, 77, 4711
IDS = (11, 12)
SAMPLE_TYPE = 1 | 2 | 4 | 8 | 0x20 | 0x80 | 0x100 | 0x400 | 0x10000 | 0x200000
FLAGS = 1 << 18 | 1 << 8 | 1 << 9 | 1 << 23 | 1 << 24 | 1 << 32
FEATURES = {"tracing": 1, "build_id": 2, "hostname": 3, "osrelease": 4, "version": 5, "arch": 6, "cpudesc": 8, "cpuid": 9, "cmdline": 11,
            "event_desc": 12, "topology": 13, "numa": 14, "pmu": 16, "group": 17, "cache": 20, "pmu_caps": 31}


def attribute(kind, config):
    return struct.pack("<IIQQQQQ", kind, 128, config, 1, SAMPLE_TYPE, 4, FLAGS).ljust(128, b"\0")


def record(kind, body, misc=2):
    body = body.ljust((len(body) + 7) // 8 * 8, b"\0")
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def padded(text):
    return text + b"\0" * (8 - len(text) % 8)


def side_band(kind, body, misc=2):
    return record(kind, body + struct.pack("<IIQIIQ", PID, PID, 1000, 0, 0, IDS[0]), misc)


def sample(number, event, raw):
    body = struct.pack("<QQIIQQIIQ", IDS[event], IP + 8, PID, PID, 2000 + number * 1000, IP + 4, 0, 0, 1)
    body += struct.pack("<QQQQ", 3, 2**64 - 512, IP + 8, IP + 4)
    body += struct.pack("<I", len(raw) + 4) + raw + b"\0" * 4 if (len(raw) + 8) % 8 == 0 else struct.pack("<I", len(raw)) + raw
    return record(9, body + struct.pack("<Q", CGROUP))


def text(value):
    room = (len(value) + 64) // 64 * 64
    return struct.pack("<I", room) + value.ljust(room, b"\0")


def texts(*values):
    return struct.pack("<I", len(values)) + b"".join(text(v) for v in values)


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
    build_id = record(67, struct.pack("<i", -1) + bytes(range(20)) + b"\x14\0\0\0" + padded(path))
    attributes = (attribute(1, 0), attribute(2, TRACEPOINT))
    description = struct.pack("<II", 2, 128)
    for i, attr in enumerate(attributes):
        description += attr + struct.pack("<I", 1) + text(HOSTILE + b"%d" % i) + struct.pack("<Q", IDS[i])
    return {
        "tracing": tracing_data(b"nasty", bytes(96)), "build_id": build_id,
        "hostname": text(HOSTILE), "osrelease": text(HOSTILE), "version": text(HOSTILE), "arch": text(b"x86_64" + HOSTILE),
        "cpudesc": text(HOSTILE), "cpuid": text(HOSTILE), "cmdline": texts(b"perf", HOSTILE), "event_desc": description,
        "topology": texts(HOSTILE) + texts(HOSTILE), "numa": struct.pack("<IIQQ", 1, 0, 1024, 512) + text(HOSTILE),
        "pmu": struct.pack("<II", 1, 4) + text(HOSTILE), "group": struct.pack("<I", 1) + text(HOSTILE) + struct.pack("<II", 0, 2),
        "cache": struct.pack("<IIIIII", 1, 1, 1, 64, 64, 8) + text(HOSTILE) * 3,
        "pmu_caps": struct.pack("<II", 1, 1) + text(HOSTILE) + text(HOSTILE) + text(HOSTILE),
    }


def write(path, program):
    """The recording, of a program whose path is `program` (bytes)."""
    said = (b"x" + HOSTILE)[:95].ljust(96, b"\0")
    raw = struct.pack("<Hxxi", TRACEPOINT, PID) + said
    mapped = struct.pack("<IIQQQIIQQII", PID, PID, 0x400000, 0x10000, 0, 0, 0, 0, 0, 5, 2) + padded(program)
    data = side_band(3, struct.pack("<II", PID, PID) + padded(HOSTILE), 2 | 1 << 13)
    data += side_band(10, mapped) + side_band(19, struct.pack("<Q", CGROUP) + padded(b"/" + HOSTILE))
    data += b"".join(sample(i, i & 1, raw) for i in range(8))
    attributes = [attribute(1, 0), attribute(2, TRACEPOINT)]
    attrs_at, attr_size = 104 + 16, 128 + 16
    data_at = attrs_at + 2 * attr_size
    bits, sections, bodies = 0, b"", b""
    made = features(b"/nowhere/" + HOSTILE)
    body_at = data_at + len(data) + 16 * len(made)
    for name, bit in sorted(FEATURES.items(), key=lambda row: row[1]):
        bits |= 1 << bit
        sections += struct.pack("<QQ", body_at + len(bodies), len(made[name]))
        bodies += made[name]
    head = b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, attr_size, attrs_at, 2 * attr_size, data_at, len(data), 0, 0)
    head += struct.pack("<QQQQ", bits, 0, 0, 0)
    ids = struct.pack("<QQ", *IDS)
    attrs = b"".join(a + struct.pack("<QQ", 104 + 8 * i, 8) for i, a in enumerate(attributes))
    with open(path, "wb") as out:
        out.write(head + ids + attrs + data + sections + bodies)


def program(folder):
    """A file whose functions, source files and own name are hostile; None without a compiler."""
    name, plain = b"fn_" + b"A" * (len(HOSTILE) - 3), os.path.join(folder, "plain")
    source = os.path.join(folder, "S" * 100 + ".c")
    with open(source, "w") as out:
        out.write("int %s(int n) { return n * 3; }\nint _start(void) { return %s(2); }\n" % (name.decode(), name.decode()))
    flags = ["-g", "-O0", "-nostdlib", "-static", "-no-pie", "-Wl,-Ttext=%#x" % IP, "-Wl,--build-id=none"]
    if subprocess.run(["cc", *flags, "-o", plain, source], stderr=subprocess.DEVNULL).returncode != 0:
        return None
    data = open(plain, "rb").read().replace(name, HOSTILE).replace(b"S" * 100, (b"s" + DRIVES * 4)[:100])
    path = os.path.join(os.fsencode(folder), HOSTILE.replace(b"/", b"|"))
    with open(path, "wb") as out:
        out.write(data)
    return path
