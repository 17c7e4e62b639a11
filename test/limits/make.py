"""Hostile files, small to make and large to read: recordings, ELF files, Zstandard streams. Formats:
tools/perf/Documentation/perf.data-file-format.txt of Linux, perf_event_open(2), elf(5), RFC 8878."""
import struct

KERNEL, USER = 1, 2
MMAP, COMM, FORK, SAMPLE, MMAP2, NAMESPACES, KSYMBOL, COMPRESSED, FINISHED_ROUND = 1, 3, 7, 9, 10, 16, 17, 81, 68
BUILD_ID, HOSTNAME, ARCH, NRCPUS, CPU_TOPOLOGY, EVENT_DESC, NUMA, GROUP_DESC, CACHE, AUXTRACE_FEATURE, COMPRESSED_FEATURE = (
    2, 3, 6, 7, 13, 12, 14, 17, 20, 18, 27)
ATTR_SIZE = 128
SAMPLE_IP, SAMPLE_TID, SAMPLE_TIME = 1, 2, 4
PERIOD_KIND = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME
SAMPLE_ID_ALL = 1 << 18
CODE = 0x400000


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def text(name):
    data = name.encode() + b"\0"
    return data + b"\0" * (-len(data) % 8)


def trailer(tid, time):
    return struct.pack("<IIQ", tid, tid, time)


def mmap2(tid, start, size, name, inode=0, generation=0, time=1, misc=USER, offset=0):
    body = struct.pack("<IIQQQIIQQII", tid, tid, start, size, offset, 8, 1, inode, generation, 5, 2) + text(name)
    return record(MMAP2, misc, body + trailer(tid, time))


def kernel_module(start, size, name, time=1):
    return record(MMAP, KERNEL, struct.pack("<IIQQQ", 2 ** 32 - 1, 0, start, size, 0) + text(name) + trailer(0, time))


def comm(tid, name, time=1):
    return record(COMM, 0, struct.pack("<II", tid, tid) + text(name) + trailer(tid, time))


def fork(tid, parent, time=1):
    return record(FORK, 0, struct.pack("<IIIIQ", tid, parent, tid, parent, time) + trailer(tid, time))


def namespaces(tid, time=1):
    links = b"".join(struct.pack("<QQ", 4, 4026531835 + i) for i in range(7))
    return record(NAMESPACES, 0, struct.pack("<IIQ", tid, tid, 7) + links + trailer(tid, time))


def sample(tid, address, time=2, misc=USER):
    return record(SAMPLE, misc, struct.pack("<QIIQ", address, tid, tid, time))


def build_id_row(name, build_id, misc=USER):
    body = struct.pack("<i", -1) + build_id.ljust(20, b"\0") + b"\0" * 4 + text(name)
    return struct.pack("<IHH", 0, misc, 8 + len(body)) + body


def attr(config=0):
    return struct.pack("<IIQQQQQ", 1, ATTR_SIZE, config, 1, PERIOD_KIND, 0, SAMPLE_ID_ALL).ljust(ATTR_SIZE, b"\0")


def recording(path, records, features=(), events=1, data_size=None, claims=None):
    """features: (bit, bytes); claims: instead of the bytes' own sizes."""
    data = b"".join(records)
    head = 104
    ids = b"".join(struct.pack("<Q", i + 1) for i in range(events)) if events > 1 else b""
    attrs = b"".join(attr(i % 7) + struct.pack("<QQ", head + 8 * i if events > 1 else 0, 8 if events > 1 else 0) for i in range(events))
    place = head + len(ids) + len(attrs)
    features = sorted(features)
    bits = sum(1 << bit for bit, _ in features)
    with open(path, "wb") as out:
        out.write(b"PERFILE2" + struct.pack("<QQQQQQQQQ", head, ATTR_SIZE + 16, head + len(ids), len(attrs), place,
                                            len(data) if data_size is None else data_size, 0, 0, bits))
        out.write(b"\0" * (head - 80) + ids + attrs + data)
        at = place + len(data) + 16 * len(features)
        for _, body in features:
            out.write(struct.pack("<QQ", at, len(body) if claims is None else claims))
            at += len(body)
        for _, body in features:
            out.write(body)


def zstd_zeros(size):
    """A Zstandard frame of zeros, 4 bytes for each 128 KB."""
    out = struct.pack("<IBBQ", 0xFD2FB528, 0xC0, 0x58, size)  # a window of 2 MB
    while size:
        part = min(size, 128 << 10)
        size -= part
        out += struct.pack("<I", (0 if size else 1) | 1 << 1 | part << 3)[:3] + b"\0"
    return out


def zstd_packed(data):
    """By the library that the program uses; the smallest there is."""
    import ctypes
    import ctypes.util
    library = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    library.ZSTD_compressBound.restype = library.ZSTD_compress.restype = ctypes.c_size_t
    library.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
    library.ZSTD_compress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
    room = library.ZSTD_compressBound(len(data))
    out = ctypes.create_string_buffer(room)
    size = library.ZSTD_compress(out, room, data, len(data), 19)
    return out.raw[:size]


class Elf:
    """A 64-bit little-endian ELF file. Sections: (name, type, flags, address, bytes, link, entry size)."""

    def __init__(self, machine=62, kind=2):
        self.machine, self.kind = machine, kind
        self.sections = [("", 0, 0, 0, b"", 0, 0)]

    def add(self, name, data, kind=1, flags=0, address=0, link=0, entry=0):
        self.sections.append((name, kind, flags, address, data, link, entry))
        return len(self.sections) - 1

    def bytes(self):
        names, places = b"\0", {}
        for section in self.sections + [(".shstrtab",)]:
            places[section[0]] = len(names) if section[0] else 0
            names += section[0].encode() + b"\0" if section[0] else b""
        sections = self.sections + [(".shstrtab", 3, 0, 0, names, 0, 0)]
        body, headers, at = b"", b"", 64 + 56
        parts = []
        for name, kind, flags, address, data, link, entry in sections:
            headers += struct.pack("<IIQQQQIIQQ", places[name], kind, flags, address, at, len(data), link, 0, 1, entry)
            parts.append(data)
            at += len(data)
        body = b"".join(parts)
        count = len(sections)
        head = b"\x7fELF\x02\x01\x01" + b"\0" * 9 + struct.pack("<HHIQQQIHHHHHH", self.kind, self.machine, 1, CODE, 64, at, 0, 64, 56, 1, 64,
                                                               count if count < 0xff00 else 0, count - 1 if count < 0xff00 else 0xffff)
        load = struct.pack("<IIQQQQQQ", 1, 5, 0, CODE, CODE, at, at, 4096)
        if count >= 0xff00:
            headers = headers[:32] + struct.pack("<QI", count, count - 1) + headers[44:]
        return head + load + body + headers


def symbols(entries):
    """(.symtab, .strtab) of (name, value, size)."""
    strings, table = b"\0", b"\0" * 24
    parts, at = [strings], 1
    rows = [table]
    for name, value, size in entries:
        data = name.encode() + b"\0" if isinstance(name, str) else None
        place = at if data else name
        if data:
            parts.append(data)
            at += len(data)
        rows.append(struct.pack("<IBBHQQ", place, 0x12, 0, 1, value, size))
    return b"".join(rows), b"".join(parts)
