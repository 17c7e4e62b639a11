"""Small recordings made by hand: kernel code that never ran. Format: tools/perf/Documentation/perf.data-file-format.txt of Linux, and
perf_event_open(2)."""
import struct

KERNEL, USER, BUILD_ID = 1, 2, 1 << 14
MMAP, MMAP2, SAMPLE = 1, 10, 9
ATTR_SIZE = 128
SAMPLE_IP, SAMPLE_TID, SAMPLE_TIME, SAMPLE_CALLCHAIN = 1, 2, 4, 32
CHAIN_KERNEL = 2 ** 64 - 128
OSRELEASE = 4


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def padded(name):
    data = name.encode() + b"\0"
    return data + b"\0" * (-len(data) % 8)


def mapping(start, size, offset, name):
    """The kernel's, or of one of its modules."""
    return record(MMAP, KERNEL, struct.pack("<IIQQQ", 2 ** 32 - 1, 0, start, size, offset) + padded(name))


def mapping_of_build(start, size, name, build_id):
    body = struct.pack("<IIQQQ", 2 ** 32 - 1, 0, start, size, 0) + struct.pack("<BBH", len(build_id), 0, 0) + build_id.ljust(20, b"\0")
    return record(MMAP2, KERNEL | BUILD_ID, body + struct.pack("<II", 5, 2) + padded(name))


def sample(address, callers=()):
    chain = (CHAIN_KERNEL, address, *callers)
    return record(SAMPLE, KERNEL, struct.pack("<QIIQQ%dQ" % len(chain), address, 0, 0, 1000, len(chain), *chain))


def write(path, records, release=None):
    """A recording of the records, with one event: cpu-clock; of the kernel of that release."""
    kind = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CALLCHAIN
    attr = struct.pack("<IIQQQQQ", 1, ATTR_SIZE, 0, 1, kind, 0, 0).ljust(ATTR_SIZE, b"\0")
    data = b"".join(records)
    head = 104
    attrs = attr + struct.pack("<QQ", 0, 0)
    place = head + len(attrs)
    with open(path, "wb") as out:
        out.write(b"PERFILE2" + struct.pack("<QQQQQQQQQ", head, len(attrs), head, len(attrs), place, len(data), 0, 0,
                                            1 << OSRELEASE if release else 0))
        out.write(b"\0" * (head - 80) + attrs + data)
        if release:
            text = release.encode().ljust(64, b"\0")
            out.write(struct.pack("<QQI", place + len(data) + 16, 4 + len(text), len(text)) + text)
