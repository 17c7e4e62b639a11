"""Recordings made by hand, as a file, a stream, a folder or compressed, so that a test knows each record and can damage it; and a walk over
the records of any recording that knows nothing of the program under test. Format: tools/perf/Documentation/perf.data-file-format.txt"""
import os
import struct

MMAP, LOST, COMM, SAMPLE, LOST_SAMPLES = 1, 2, 3, 9, 13
HEADER_ATTR, BUILD_ID_RECORD, FINISHED_ROUND, HEADER_FEATURE, COMPRESSED, COMPRESSED2 = 64, 67, 68, 80, 81, 83
AUXTRACE, TRACING_DATA = 71, 66
TYPE_KNOWN = set(range(1, 23)) | set(range(64, 84))
BUILD_ID, HOSTNAME, CMDLINE, COMPRESSION, DIR_FORMAT = 2, 3, 11, 27, 24
HEADER_BYTES, ATTR_BYTES = 104, 136
SAMPLE_IP, SAMPLE_TID, SAMPLE_TIME, SAMPLE_CALLCHAIN, SAMPLE_ID_ALL = 1, 2, 4, 32, 1 << 18
EXCLUDE_GUEST = 1 << 20
MAGIC = b"PERFILE2"


def attr(callchain=False):
    """cpu-clock"""
    sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | (SAMPLE_CALLCHAIN if callchain else 0)
    return struct.pack("<IIQQQQQ", 1, ATTR_BYTES, 0, 1000000, sample_type, 0, SAMPLE_ID_ALL | EXCLUDE_GUEST).ljust(ATTR_BYTES, b"\0")


def record(kind, body, misc=0):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def trailer(time):
    return struct.pack("<IIQ", 100, 100, time)


def text(word, room=8):
    return word.encode().ljust((len(word) // room + 1) * room, b"\0")


def sample(n):
    return record(SAMPLE, struct.pack("<QIIQ", 0x401000 + n % 7 * 16, 100, 100, 1000 + n), misc=2)


def side_band():
    return [record(COMM, struct.pack("<II", 100, 100) + text("prog") + trailer(1)),
            record(MMAP, struct.pack("<IIQQQ", 100, 100, 0x401000, 0x1000, 0) + text("/no/such/prog") + trailer(2), misc=2)]


def records(samples=47):
    """The records of a whole recording."""
    return side_band() + [sample(n) for n in range(samples)] + [record(FINISHED_ROUND, b"")]


def string_feature(word):
    return struct.pack("<I", len(text(word, 64))) + text(word, 64)


def build_id_row(name="/no/such/prog"):
    return record(0, struct.pack("<i", -1) + b"\x5a" * 20 + b"\x14\0\0\0" + text(name, 64), misc=2 | 1 << 15)


def features(more=()):
    made = {BUILD_ID: build_id_row() + build_id_row("/no/such/lib"), HOSTNAME: string_feature("host"),
            CMDLINE: struct.pack("<I", 2) + string_feature("perf") + string_feature("record")}
    made.update(more)
    return made


def as_file(body, made=None, one=attr(), data_size=None):
    """The recording as a file: header, attribute, data, features."""
    made = features() if made is None else made
    data_at = HEADER_BYTES + len(one) + 16
    data = b"".join(body)
    bits = sum(1 << bit for bit in made)
    header = MAGIC + struct.pack("<QQ", HEADER_BYTES, len(one) + 16) + struct.pack("<QQ", HEADER_BYTES, len(one) + 16)
    header += struct.pack("<QQ", data_at, len(data) if data_size is None else data_size) + bytes(16)
    header += bits.to_bytes(32, "little")
    table, bodies, at = b"", b"", data_at + len(data) + 16 * len(made)
    for bit in sorted(made):
        table += struct.pack("<QQ", at + len(bodies), len(made[bit]))
        bodies += made[bit]
    return header + one + bytes(16) + data + table + bodies


def as_stream(body, one=attr()):
    head = [record(HEADER_ATTR, one)]
    head += [record(HEADER_FEATURE, struct.pack("<Q", bit) + made) for bit, made in features().items() if bit != BUILD_ID]
    head += [record(BUILD_ID_RECORD, build_id_row()[8:], misc=2 | 1 << 15)]
    return MAGIC + struct.pack("<Q", 16) + b"".join(head + body)


def zstd_frame(content):
    """What zstd makes of it at best: one raw block."""
    return b"\x28\xb5\x2f\xfd\x00\x58" + (len(content) << 3 | 1).to_bytes(3, "little") + content


def compressed(body):
    """The records, but in frames of ten."""
    made = []
    for at in range(0, len(body), 10):
        frame = zstd_frame(b"".join(body[at:at + 10]))
        made.append(record(COMPRESSED, frame))
    return made


def as_compressed(body):
    return as_file(compressed(body), features({COMPRESSION: struct.pack("<IIIII", 1, 1, 1, 1, 0)}))


def as_folder(path, parts, body):
    """A folder: the side-band in its main file, samples in the others. Returns the names of the parts."""
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, "data"), "wb") as out:
        out.write(as_file(side_band() + [record(FINISHED_ROUND, b"")], features({DIR_FORMAT: struct.pack("<Q", 1)})))
    names = []
    for i in range(parts):
        names.append(os.path.join(path, "data.%d" % i))
        with open(names[-1], "wb") as out:
            out.write(b"".join(body[i::parts]))
    return names


class Walk:
    """What a recording that is neither compressed nor a folder says of itself, header by header: how many samples there are, whether the
    records end where they should, and which types nothing is known of."""

    def __init__(self, data):
        self.samples = self.unknown = 0
        self.whole = False
        stream = struct.unpack_from("<Q", data, 8)[0] == 16
        at, size = (16, len(data) - 16) if stream else struct.unpack_from("<QQ", data, 40)
        end = at + size
        while at + 8 <= min(end, len(data)):
            kind, _, length = struct.unpack_from("<IHH", data, at)
            if length < 8 or at + length > min(end, len(data)):
                return
            if kind in (AUXTRACE, TRACING_DATA) and length >= 16:
                length += struct.unpack_from("<Q" if kind == AUXTRACE else "<I", data, at + 8)[0]
            self.samples += kind == SAMPLE
            self.unknown += kind not in TYPE_KNOWN
            at += length
        self.whole = at == end
