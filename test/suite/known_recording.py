"""Recordings whose every record is known, as a file, a stream, a folder or compressed, so that a test can damage each; and a walk over the
records of any recording, which shares no code with the program under test."""
import os
import struct

from suite import recording, zstd
from suite.recording import (
    AUXTRACE, BUILD_ID, BUILD_ID_RECORD, CMDLINE, COMPRESSED, COMPRESSION, DIR_FORMAT, FINISHED_ROUND, FLAG_EXCLUDE_GUEST,
    FLAG_SAMPLE_ID_ALL, HEADER_ATTR, HEADER_BYTES, HEADER_FEATURE, HOSTNAME, MAGIC, SAMPLE, SAMPLE_IP, SAMPLE_TID, SAMPLE_TIME, TRACING_DATA,
    USER, header_text, record)

ATTR_BYTES = 136
DATA_AT = HEADER_BYTES + ATTR_BYTES + 16
TYPE_KNOWN = set(range(1, 23)) | set(range(64, 84))
PID = 100
COMPRESSION_USED = {COMPRESSION: struct.pack("<IIIII", 1, 1, 1, 1, 0)}


def attr():
    """cpu-clock"""
    return recording.attribute(SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME, FLAG_SAMPLE_ID_ALL | FLAG_EXCLUDE_GUEST, period=1000000, size=ATTR_BYTES)


def trailer(time):
    return recording.trailer(PID, PID, time)


def sample(n):
    return record(SAMPLE, struct.pack("<QIIQ", 0x401000 + n % 7 * 16, PID, PID, 1000 + n), USER)


def side_band():
    return [recording.comm(PID, PID, "prog", end=trailer(1)), recording.mmap(PID, PID, 0x401000, 0x1000, 0, "/no/such/prog", end=trailer(2))]


def records(samples=47):
    """The records of a whole recording."""
    return side_band() + [sample(n) for n in range(samples)] + [record(FINISHED_ROUND, b"")]


def build_id_row(name="/no/such/prog"):
    return recording.build_id_row(name, b"\x5a" * 20, USER | 1 << 15, room=64, size=20)


def features(more=()):
    made = {BUILD_ID: build_id_row() + build_id_row("/no/such/lib"), HOSTNAME: header_text("host"),
            CMDLINE: recording.header_texts("perf", "record")}
    made.update(more)
    return made


def as_file(body, made=None, one=attr(), data_size=None):
    """The recording as a file: header, attribute, data, features."""
    return b"".join(recording.pieces(body, [one], features() if made is None else made, data_size=data_size))


def as_stream(body, one=attr()):
    head = [record(HEADER_ATTR, one)]
    head += [record(HEADER_FEATURE, struct.pack("<Q", bit) + made) for bit, made in features().items() if bit != BUILD_ID]
    head += [record(BUILD_ID_RECORD, build_id_row()[8:], misc=2 | 1 << 15)]
    return struct.pack("<QQ", MAGIC, 16) + b"".join(head + body)


def compressed(body):
    """The records, in compressed frames of ten."""
    made = []
    for at in range(0, len(body), 10):
        frame = zstd.raw(b"".join(body[at:at + 10]))
        made.append(record(COMPRESSED, frame))
    return made


def as_compressed(body):
    return as_file(compressed(body), features(COMPRESSION_USED))


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
    """The record headers of a recording that is neither compressed nor a folder: the number of samples, whether the records end where
    they should, the number of records of unknown types."""

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
