"""The bytes of recordings: records, attributes, header features, files. Formats: tools/perf/Documentation/perf.data-file-format.txt of Linux,
perf_event_open(2)."""
import contextlib
import struct

KERNEL, USER, EXEC, BUILD_ID_MISC = 1, 2, 1 << 13, 1 << 14
MMAP, LOST, COMM, EXIT, THROTTLE, UNTHROTTLE, FORK, SAMPLE, MMAP2, AUX, ITRACE_START, LOST_SAMPLES, SWITCH, SWITCH_CPU_WIDE, NAMESPACES, KSYMBOL = (
    1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17)
BPF_EVENT, CGROUP, TEXT_POKE, CALLCHAIN_DEFERRED = 18, 19, 20, 22
HEADER_ATTR, TRACING_DATA, BUILD_ID_RECORD, FINISHED_ROUND, AUXTRACE_INFO, AUXTRACE, HEADER_FEATURE, COMPRESSED, COMPRESSED2 = (
    64, 66, 67, 68, 70, 71, 80, 81, 83)
THREAD_MAP, CPU_MAP, STAT_CONFIG, STAT, STAT_ROUND = 73, 74, 75, 76, 77
SAMPLE_IP, SAMPLE_TID, SAMPLE_TIME, SAMPLE_ADDR, SAMPLE_READ, SAMPLE_CALLCHAIN, SAMPLE_ID, SAMPLE_CPU, SAMPLE_PERIOD, SAMPLE_RAW, SAMPLE_BRANCH_STACK = (
    1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80, 0x100, 0x400, 0x800)
SAMPLE_WEIGHT, SAMPLE_DATA_SRC, SAMPLE_IDENTIFIER, SAMPLE_TRANSACTION = 0x4000, 0x8000, 0x10000, 0x20000
SAMPLE_PHYS_ADDR, SAMPLE_CGROUP, SAMPLE_DATA_PAGE_SIZE, SAMPLE_CODE_PAGE_SIZE = 0x80000, 0x200000, 0x400000, 0x800000
FLAG_MMAP, FLAG_COMM, FLAG_SAMPLE_ID_ALL, FLAG_EXCLUDE_GUEST, FLAG_MMAP2 = 1 << 8, 1 << 9, 1 << 18, 1 << 20, 1 << 23
CONTEXT_KERNEL, CONTEXT_USER, CONTEXT_USER_DEFERRED = 2 ** 64 - 128, 2 ** 64 - 512, 2 ** 64 - 640
# header features by the number of their bit
(TRACING, BUILD_ID, HOSTNAME, OSRELEASE, VERSION, ARCH, NRCPUS, CPUDESC, CPUID, TOTAL_MEMORY, CMDLINE, EVENT_DESC, CPU_TOPOLOGY, NUMA, BRANCH_STACK, PMU,
 GROUP, AUXTRACE_INDEX, STAT_FEATURE, CACHE) = range(1, 21)
DIR_FORMAT, COMPRESSION, CPU_PMU_CAPS, PMU_CAPS = 24, 27, 28, 31
MAGIC = 0x32454c4946524550  # PERFILE2 of a little-endian machine
ATTRIBUTE_FLAGS = [1] * 15 + [2] + [1] * 47  # bits of each
BRANCH_FLAGS = [1, 1, 1, 1, 16, 4, 2, 4, 3, 31]
HEADER_BYTES = 104
NO_PID = 2 ** 32 - 1  # of the kernel's mappings


class Machine:
    """The one on which a recording is made."""
    big_endian = False


@contextlib.contextmanager
def big_endian():
    """Recordings that are made here are those of a big-endian machine."""
    Machine.big_endian = True
    try:
        yield
    finally:
        Machine.big_endian = False


def pack(layout, *values):
    """As struct.pack with a layout that begins with "<", in the order of the machine."""
    return struct.pack(">" + layout[1:] if Machine.big_endian else layout, *values)


def bit_fields(word, widths):
    """A word of bit fields: on big-endian machines, the first one has the highest bits."""
    if not Machine.big_endian:
        return word
    out, at = 0, 0
    for width in widths:
        out |= (word >> at & (1 << width) - 1) << 64 - at - width
        at += width
    return out


def record(kind, body, misc=0):
    return pack("<IHH", kind, misc, 8 + len(body)) + body


def padded(name, room=8):
    """A name (text or bytes) with its end, in a multiple of so many bytes."""
    data = name.encode() if isinstance(name, str) else name
    return data.ljust((len(data) // room + 1) * room, b"\0")


def aligned(body):
    return body + b"\0" * (-len(body) % 8)


def trailer(pid, tid, time):
    """What sample_id_all appends to a record, with SAMPLE_TID | SAMPLE_TIME."""
    return pack("<IIQ", pid, tid, time)


def comm(pid, tid, name, misc=0, end=b""):
    return record(COMM, pack("<II", pid, tid) + padded(name) + end, misc)


def fork(pid, parent, time, end=b""):
    return record(FORK, pack("<IIIIQ", pid, parent, pid, parent, time) + end)


def leave(pid, tid, parent, time, end=b""):
    return record(EXIT, pack("<IIIIQ", pid, parent, tid, parent, time) + end)


def mmap(pid, tid, start, size, offset, name, misc=USER, end=b""):
    return record(MMAP, pack("<IIQQQ", pid, tid, start, size, offset) + padded(name) + end, misc)


def mmap2(pid, tid, start, size, offset, name, device=(8, 1), inode=0, generation=0, build_id=None, misc=USER, end=b""):
    """Of readable and executable private memory; of a file's identity, or of its build-id."""
    if build_id is None:
        identity = pack("<IIQQ", *device, inode, generation)
    else:
        identity, misc = pack("<BBH", len(build_id), 0, 0) + build_id.ljust(20, b"\0"), misc | BUILD_ID_MISC
    body = pack("<IIQQQ", pid, tid, start, size, offset) + identity + pack("<II", 5, 2)
    return record(MMAP2, body + padded(name) + end, misc)


def chain(addresses):
    return pack("<Q%dQ" % len(addresses), len(addresses), *addresses)


def branches(entries):
    """(from, to, flags) of each."""
    return b"".join(pack("<QQQ", source, target, bit_fields(flags, BRANCH_FLAGS)) for source, target, flags in entries)


def attribute(sample_type, flags=0, kind=1, config=0, period=1, read_format=0, branch_type=0, size=128):
    """Of a software event (cpu-clock) unless kind and config give another."""
    return pack("<IIQQQQQIIQQQ", kind, size, config, period, sample_type, read_format, bit_fields(flags, ATTRIBUTE_FLAGS), 0, 0, 0, 0,
                branch_type).ljust(size, b"\0")


def header_text(word):
    """A text of a header feature."""
    text = padded(word, 64)
    return pack("<I", len(text)) + text


def header_texts(*words):
    return pack("<I", len(words)) + b"".join(header_text(word) for word in words)


def event_descriptions(attributes, names, ids):
    """The header's descriptions of events, with as many ids for each."""
    out, each = pack("<II", len(attributes), len(attributes[0])), len(ids) // len(attributes)
    for i, (one, name) in enumerate(zip(attributes, names)):
        out += one + pack("<I", each) + header_text(name) + pack("<%dQ" % each, *ids[each * i:each * (i + 1)])
    return out


def build_id_row(name, build_id, misc=USER, room=8, size=0):
    """A row of the header's table of build-ids. size: how long the build-id is, where the row gives that."""
    return record(0, pack("<i", -1) + build_id.ljust(20, b"\0") + pack("<I", size) + padded(name, room), misc)


def pieces(records, attributes, features=(), ids=(), data_size=None, claims=None):
    """The parts of a file. features: {bit: bytes}; ids: as many for each attribute, or none; data_size, claims: what the header claims of the
    data and of each feature, if not the truth."""
    features = dict(features)
    data = b"".join(records)
    numbers = b"".join(pack("<Q", number) for number in ids)
    each = 8 * len(ids) // len(attributes)
    table = b"".join(one + pack("<QQ", HEADER_BYTES + each * i if ids else 0, each) for i, one in enumerate(attributes))
    data_at = HEADER_BYTES + len(numbers) + len(table)
    yield pack("<9Q", MAGIC, HEADER_BYTES, len(attributes[0]) + 16, HEADER_BYTES + len(numbers), len(table), data_at,
               len(data) if data_size is None else data_size, 0, 0)
    yield pack("<4Q", *(sum(1 << bit % 64 for bit in features if bit // 64 == word) for word in range(4))) + numbers + table
    yield data
    at = data_at + len(data) + 16 * len(features)
    for bit in sorted(features):
        yield pack("<QQ", at, len(features[bit]) if claims is None else claims)
        at += len(features[bit])
    for bit in sorted(features):
        yield features[bit]


def write(path, records, attributes, features=(), **more):
    with open(path, "wb") as out:
        out.writelines(pieces(records, attributes, features, **more))


def header_features(data):
    """{bit: bytes} of a file's header."""
    start, size = struct.unpack_from("<QQ", data, 40)
    bits = int.from_bytes(data[72:104], "little")
    present = [bit for bit in range(256) if bits >> bit & 1]
    places = [struct.unpack_from("<QQ", data, start + size + 16 * i) for i in range(len(present))]
    return {bit: data[at:at + length] for bit, (at, length) in zip(present, places)}
