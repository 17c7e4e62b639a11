"""Recordings with the types of records, and the values of groups, that those of golden/recordings.py lack: `formats.data`, `records.data`, `piped.data` (as written to
a pipe) and `deferred.data`, with types that perf 6.12 does not know. Formats: as of suite/recording.py."""
import os
import struct

from suite import recording
from suite.recording import (SAMPLE, SAMPLE_CALLCHAIN as CALLCHAIN, SAMPLE_CPU as CPU, SAMPLE_IDENTIFIER as IDENTIFIER, SAMPLE_IP as IP, SAMPLE_PERIOD as PERIOD,
                             SAMPLE_READ as READ, SAMPLE_TID as TID, SAMPLE_TIME as TIME, USER, header_text, pack, padded, record)
from tui import recordings as known
from tui.recordings import SECOND, side_band, stacks

READ_RECORD, AUX_OUTPUT_HW_ID, ID_INDEX, AUXTRACE_ERROR, EVENT_UPDATE, TIME_CONV, FINISHED_INIT = 8, 21, 69, 72, 78, 79, 82
DEFER_CALLCHAIN, DEFER_OUTPUT = 1 << 38, 1 << 39
MMAP_DATA_MISC = 1 << 13


def maps_of_cpus():
    """A record for each form: a list, with the CPU -1 too; masks of words of 4 and of 8 bytes; ranges."""
    return [pack("<HH4H", 0, 4, 0xffff, 0, 1, 5) + bytes(4), pack("<HHH2I", 1, 2, 4, 0xf0000001, 3) + bytes(2),
            pack("<HHH4x2Q", 1, 2, 8, 1 << 63 | 6, 1) + bytes(6), pack("<HBBHH", 2, 0, 0, 3, 9), pack("<HBBHH", 2, 1, 0, 0, 2)]


def updates(number):
    """The unit, scale, name and CPUs of an event."""
    return [record(EVENT_UPDATE, pack("<QQ", 0, number) + padded("Joules")), record(EVENT_UPDATE, pack("<QQd", 1, number, 0.25)),
            record(EVENT_UPDATE, pack("<QQ", 2, number) + padded("faults")), record(EVENT_UPDATE, pack("<QQHH2H", 3, number, 0, 2, 1, 3))]


def reads(read_format, n, ids):
    """The values of a group, or of one event, in the fields that the format has."""
    times = [1000 * n + 9, 900 * n + 7][:(read_format & 1) + (read_format >> 1 & 1)]
    values = [[100 * n + i, number, 3 * n + i] for i, number in enumerate(ids)]
    chosen = [[value, *([number] if read_format & 4 else []), *([lost] if read_format & 16 else [])] for value, number, lost in values]
    words = [len(ids), *times, *sum(chosen, [])] if read_format & 8 else [chosen[0][0], *times, *chosen[0][1:]]
    return pack("<%dQ" % len(words), *words)


def write_formats(write, folder):
    """An event for each read format."""
    formats = [1 << 4 | bits for bits in range(16)] + [8 | 4, 8 | 4 | 1, 4 | 2]
    kind, ids = IP | TID | TIME | READ | IDENTIFIER, [900 + i for i in range(len(formats))]
    samples = []
    for n, comm, names in stacks(len(formats) * 2):
        at, pid = n % len(formats), known.PIDS[comm]
        body = pack("<QQIIQ", ids[at], known.address(names[0]), pid, pid, SECOND + n)
        samples.append(record(SAMPLE, body + reads(formats[at], n, [ids[at]]), USER))
    attributes = [recording.attribute(kind, recording.FLAG_SAMPLE_ID_ALL, kind=1, config=2, period=1, read_format=each) for each in formats]
    write(folder, "formats.data", attributes, [*side_band(lambda pid, time: pack("<IIQQ", pid, pid, time, 900)), *samples], ids=ids)


def write_records(write, folder):
    """A group whose values have lost ones; the records that no other recording has."""
    read_format = 1 | 2 | 4 | 8 | 16
    kind, flags = IP | TID | TIME | CPU | READ | IDENTIFIER, recording.FLAG_SAMPLE_ID_ALL | recording.FLAG_COMM | recording.FLAG_MMAP

    def end(pid, time, number=1000):
        return pack("<IIQIIQ", pid, pid, time, 1, 0, number)

    t, ids = SECOND, (1000, 1001)
    records = [
        *side_band(end), *(record(recording.CPU_MAP, body) for body in maps_of_cpus()), *updates(1001),
        record(TIME_CONV, pack("<QQQ", 10, 3, 77) + pack("<QQBB6x", 5, 0xffffff, 1, 1)), record(TIME_CONV, pack("<QQQ", 10, 4, 77)),
        record(ID_INDEX, pack("<Q", 2) + pack("<8Q", 1000, 0, 0, 2 ** 64 - 1, 1001, 1, 1, 101)),
        record(recording.THREAD_MAP, pack("<Q", 2) + pack("<Q16sQ16s", 101, b"calc", 102, b"helper")), record(FINISHED_INIT, b""),
        record(recording.MMAP, pack("<IIQQQ", 101, 101, 0x7f0000100000, 0x1000, 0x2000) + padded("/data") + end(101, t), USER | MMAP_DATA_MISC),
        record(READ_RECORD, pack("<II", 101, 102) + reads(read_format & ~8, 5, ids[1:]) + end(101, t + 1, 1001)),
        record(AUX_OUTPUT_HW_ID, pack("<Q", 0x1234) + end(101, t + 2)),
        record(AUXTRACE_ERROR, pack("<IIIIIIQQ64sII", 1, 7, 2, 101, 102, 1, 0x400100, t + 3, b"Lost trace data", 0, 0)),
        record(AUXTRACE_ERROR, pack("<IIIIIIQQ64sII", 1, 8, 3, 101, 101, 2, 0x400200, t + 4, b"Overflow", 55, 1)),
    ]
    for n, comm, names in stacks(12):
        pid = known.PIDS[comm]
        body = pack("<QQIIQII", 1000, known.address(names[0]), pid, pid, t + 100 + n, n % 4, 0)
        records.append(record(SAMPLE, body + reads(read_format, n, ids), USER))
    attributes = [recording.attribute(kind, flags, kind=1, config=2 + i, period=1 - i, read_format=read_format) for i in range(2)]
    group = {recording.GROUP: pack("<I", 1) + header_text("{anon_group}") + pack("<II", 0, 2)}
    write(folder, "records.data", attributes, records, group, ids=ids)


def write_piped(folder):
    """The records that stand for a header in a pipe."""
    kind, flags = IP | TID | TIME | CPU | PERIOD | IDENTIFIER, recording.FLAG_SAMPLE_ID_ALL | recording.FLAG_COMM | recording.FLAG_MMAP

    def end(pid, time):
        return pack("<IIQIIQ", pid, pid, time, 1, 0, 51)

    records = [record(recording.HEADER_ATTR, recording.attribute(kind, flags, kind=1, config=i, period=1000, size=136) + pack("<2Q", 51 + 2 * i, 52 + 2 * i))
               for i in range(2)]
    records += [record(recording.HEADER_FEATURE, pack("<Q", bit) + body) for bit, body in (
        (recording.HOSTNAME, header_text("piped")), (recording.NRCPUS, pack("<II", 8, 6)), (recording.TOTAL_MEMORY, pack("<Q", 32 << 20)),
        (recording.CMDLINE, recording.header_texts("perf", "record", "-o", "-")))]
    records += updates(53)
    records.append(record(recording.BUILD_ID_RECORD, pack("<i", -1) + bytes(range(20)) + pack("<I", 0) + padded("/calc", 64), USER))
    records += side_band(end)
    for n, comm, names in stacks(16):
        body = pack("<QQIIQIIQ", 51 + n % 4, known.address(names[0]), known.PIDS[comm], known.PIDS[comm], SECOND + n * 1000000, n % 4, 0, 500 + n)
        records.append(record(SAMPLE, body, USER))
    records.append(record(recording.FINISHED_ROUND, b""))
    with open(os.path.join(folder, "piped.data"), "wb") as out:
        out.write(pack("<QQ", recording.MAGIC, 16) + b"".join(records))
    os.utime(os.path.join(folder, "piped.data"), (SECOND, SECOND))


def zstd_frame(data):
    """One that stores its bytes (RFC 8878: a single segment, whose size is of 4 bytes, and one raw block)."""
    return struct.pack("<IBI", 0xfd2fb528, 0xa0, len(data)) + (1 | len(data) << 3).to_bytes(3, "little") + data


def write_later(write, folder):
    """Compressed records of both forms, and user stacks that follow their samples."""
    kind, flags = IP | TID | TIME | CPU | CALLCHAIN | IDENTIFIER, recording.FLAG_SAMPLE_ID_ALL | DEFER_CALLCHAIN | DEFER_OUTPUT

    def end(pid, time):
        return pack("<IIQIIQ", pid, pid, time, 1, 0, 41)

    records, outer = list(side_band(end)), []
    for n, comm, names in stacks(16):
        pid = known.PIDS[comm]
        chain = [recording.CONTEXT_KERNEL, known.KERNEL_BASE + 0x1008, recording.CONTEXT_USER_DEFERRED, 7 + n]
        body = pack("<QQIIQII", 41, known.KERNEL_BASE + 0x1008, pid, pid, SECOND + 10 * n, 1, 0)
        user = [recording.CONTEXT_USER, *(known.address(name) for name in names if name not in known.KERNEL_FUNCTIONS)]
        outer.append(record(SAMPLE, body + recording.chain(chain), recording.KERNEL) +
                     record(recording.CALLCHAIN_DEFERRED, pack("<Q", 7 + n) + recording.chain(user) + end(pid, SECOND + 10 * n + 1), USER))
    first, second = zstd_frame(b"".join(outer[:5])), zstd_frame(b"".join(outer[5:10]))
    records += [record(recording.COMPRESSED, first), record(recording.COMPRESSED2, pack("<Q", len(second)) + recording.aligned(second)), *outer[10:]]
    compression = {recording.COMPRESSION: pack("<5I", 1, 1, 1, 1, 1 << 20)}
    write(folder, "deferred.data", [recording.attribute(kind, flags, kind=1, config=0, period=1000, size=136)], records, compression, ids=(41,))


def write_every_record(write, folder):
    write_formats(write, folder)
    write_records(write, folder)
    write_piped(folder)
    write_later(write, folder)
