"""Recordings that are small to make and large to read."""
import struct

from suite import recording
from suite.recording import (FLAG_SAMPLE_ID_ALL, KERNEL, NAMESPACES, NO_PID, SAMPLE, SAMPLE_CALLCHAIN, SAMPLE_IP, SAMPLE_TID, SAMPLE_TIME,
                             USER, trailer)

SAMPLE_KIND = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME
HEADER_ATTR, FINISHED_ROUND, CONTEXT_USER = 64, 68, 2 ** 64 - 512


def mmap2(tid, start, size, name, inode=0, generation=0, time=1):
    return recording.mmap2(tid, tid, start, size, 0, name, inode=inode, generation=generation, end=trailer(tid, tid, time))


def kernel_module(start, size, name, time=1):
    return recording.mmap(NO_PID, 0, start, size, 0, name, KERNEL, trailer(0, 0, time))


def comm(tid, name, time=1):
    return recording.comm(tid, tid, name, end=trailer(tid, tid, time))


def fork(tid, parent, time=1):
    return recording.fork(tid, parent, time, trailer(tid, tid, time))


def leave(tid, time=1):
    return recording.leave(tid, tid, tid, time, trailer(tid, tid, time))


def namespaces(tid, time=1):
    links = b"".join(struct.pack("<QQ", 4, 4026531835 + i) for i in range(7))
    return recording.record(NAMESPACES, struct.pack("<IIQ", tid, tid, 7) + links + trailer(tid, tid, time))


def sample(tid, address, time=2, misc=USER):
    return recording.record(SAMPLE, struct.pack("<QIIQ", address, tid, tid, time), misc)


def chain_sample(tid, addresses, time=2):
    """For a recording with `chains`."""
    return recording.record(SAMPLE, struct.pack("<QIIQQQ", addresses[0], tid, tid, time, len(addresses) + 1, CONTEXT_USER) +
                            struct.pack("<%dQ" % len(addresses), *addresses), USER)


def finished_round():
    return recording.record(FINISHED_ROUND, b"")


def build_id_row(name, build_id, misc=USER):
    return recording.build_id_row(name, build_id, misc)


TRACE_KIND = 8  # the number of intel_pt among the PMUs


def trace_info():
    """Of a trace without times."""
    return recording.record(70, struct.pack("<II10Q", 1, 0, TRACE_KIND, *[0] * 9))


def trace_piece(queue, tid, packets):
    return recording.record(71, struct.pack("<QQQIiiI", len(packets), 0, 0, queue, tid, -1, 0)) + packets


def alike(count):
    """User addresses without a module whose hashes (base/hash.h) differ only in bits that choose no slot of the table of points."""
    salt, limit, factor, out = (0xffffffff << 8 | USER) * 0x9e3779b97f4a7c15, (1 << 64) - 1, pow(0xd6e8feb86659fd93, -1, 1 << 64), []
    for number in range(count + count // 8):
        word = number << 32 | 7
        for _ in range(2):
            word = (word ^ word >> 32) * factor & limit
        word ^= word >> 32
        word = word - salt & limit
        if word < limit - 4096:
            out.append(word)
    return out[:count]


def event(identity):
    """Describes an event in a stream."""
    return recording.record(HEADER_ATTR, recording.attribute(SAMPLE_KIND, FLAG_SAMPLE_ID_ALL) + struct.pack("<Q", identity))


def streamed(path, records):
    """What a recorder writes to a pipe, as a file: the records describe the events."""
    with open(path, "wb") as out:
        out.write(b"PERFILE2" + struct.pack("<Q", 16) + b"".join(records))


def recorded(path, records, features=(), events=1, kind=1, chains=False, **more):
    """events: how many the header describes, each with an id if there are several; kind: their type; chains: samples have call chains."""
    sample_type = SAMPLE_KIND | (SAMPLE_CALLCHAIN if chains else 0)
    attributes = [recording.attribute(sample_type, FLAG_SAMPLE_ID_ALL, kind, config=i % 7) for i in range(events)]
    recording.write(path, records, attributes, features, ids=range(1, events + 1) if events > 1 else (), **more)
