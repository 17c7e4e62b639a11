"""Recordings made of an Intel PT recording whose instructions are known: the same with the branches of one thread as the records of Intel BTS, or
with samples. No machine of the tests has BTS or PT."""
import struct

from suite.recording import AUXTRACE, AUXTRACE_INDEX, AUXTRACE_INFO, EVENT_DESC, EXIT, MMAP2, SAMPLE

HEADER = struct.Struct("<8sQQQQQQQQ4Q")
HW_ID = 21
BTS, PREDICTED = 2, 0x10
TAKEN = 4


def branches(truth):
    """(from, to) of what an execution jumped over; truth: (ip, length, flags) of its instructions."""
    found = []
    for (ip, length, flags), (after, _, _) in zip(truth, truth[1:]):
        if after != ip + length or flags & TAKEN:
            found.append((ip, after))
    return found


def body(pairs):
    return b"".join(struct.pack("<QQQ", at, to, PREDICTED if i % 3 else 0) for i, (at, to) in enumerate(pairs))


def records(data):
    """The records, with the bytes of the trace behind them."""
    at, size = struct.unpack_from("<QQ", data, 40)
    end = at + size
    while at < end:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        payload = struct.unpack_from("<Q", data, at + 8)[0] if kind == AUXTRACE else 0
        yield kind, data[at:at + length + payload]
        at += length + payload


def info(record):
    """AUXTRACE_INFO: the type of the PMU, the clock, no snapshot."""
    values = struct.unpack_from("<5Q", record, 16)
    return struct.pack("<IHHIIQQQQQQ", AUXTRACE_INFO, 0, 64, BTS, 0, *values, 0)


def write(path, data, changed, attributes=b"", ids=b""):
    """The recording `data` with other records: [(kind, bytes)], and with more events: their part of the table, which refers to ids by their
    offset in `ids`. Names of events are dropped then."""
    header = list(HEADER.unpack_from(data))
    old, size, features = header[5], header[6], header[9]
    before = data[HEADER.size:old]
    if attributes:
        place, table = HEADER.size + len(before), data[header[3]:header[3] + header[4]]
        added = bytearray(attributes)
        for at in range(header[2] - 16, len(added), header[2]):
            struct.pack_into("<Q", added, at, struct.unpack_from("<Q", added, at)[0] + place)
        before += ids + table + added
        header[3], header[4] = place + len(ids), len(table) + len(added)
        features &= ~(1 << EVENT_DESC)
    start = HEADER.size + len(before)
    header[5] = start
    out, index = bytearray(), []
    for kind, record in changed:
        if kind == AUXTRACE:
            index.append((start + len(out), 48))
        out += record
    header[6] = len(out)
    sections, contents = b"", b""
    numbers = [i for i in range(64) if header[9] >> i & 1]
    shown = [i for i in numbers if features >> i & 1]
    header[9] = features
    place = start + len(out) + 16 * len(shown)
    for i, number in enumerate(numbers):
        at, length = struct.unpack_from("<QQ", data, old + size + 16 * i)
        if number not in shown:
            continue
        content = data[at:at + length]
        if number == AUXTRACE_INDEX:
            content = struct.pack("<Q", len(index)) + b"".join(struct.pack("<QQ", *entry) for entry in index)
        sections += struct.pack("<QQ", place + len(contents), len(content))
        contents += content
    with open(path, "wb") as file:
        file.write(HEADER.pack(*header) + before + out + sections + contents)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write_bts(path, source, pieces):
    """source: the PT recording of one thread; pieces: [(time stamp relative to that of its trace, bytes)]."""
    data, changed = read(source), []
    for kind, record in records(data):
        if kind == AUXTRACE_INFO:
            changed.append((kind, info(record)))
        elif kind == AUXTRACE:
            offset = 0
            for later, piece in pieces:
                fields = list(struct.unpack_from("<QQQIIII", record, 8))
                fields[:3] = len(piece), offset, fields[2] + later
                changed.append((kind, record[:8] + struct.pack("<QQQIIII", *fields) + piece))
                offset += len(piece)
        else:
            changed.append((kind, record))
    write(path, data, changed)


def write_samples(path, source, event, samples):
    """Samples (ip, tid, ns, CPU or None) of an event (its id) with IDENTIFIER, IP, TID, TIME and perhaps CPU, before the first end of a thread."""
    data, changed, added = read(source), [], []
    for ip, tid, ns, cpu in samples:
        body = struct.pack("<QQIIQ", event, ip, tid, tid, ns) + (b"" if cpu is None else struct.pack("<II", cpu, 0))
        added.append((SAMPLE, struct.pack("<IHH", SAMPLE, 1 if ip >> 63 else 2, 8 + len(body)) + body))
    for kind, record in records(data):
        if kind == EXIT:
            changed, added = changed + added, []
        changed.append((kind, record))
    write(path, data, changed)


def block(kind, items):
    """The packets of a block: BBP, then a BIP for each (number, value)."""
    return b"\x02\x63" + bytes([kind]) + b"".join(bytes([number << 3 | 4]) + value.to_bytes(8, "little") for number, value in items)


def write_blocks(path, source, events, trace, counters=()):
    """Another trace, and events that record into it: (sample type, registers, types of branches, period, id); counters: (counter, id)."""
    IDENTIFIER, SAMPLE_ID_ALL, AUX_OUTPUT = 1 << 16, 1 << 18, 1 << 31
    data, changed, attributes, ids = read(source), [], b"", b""
    width = HEADER.unpack_from(data)[2]
    for kinds, registers, branches, period, number in events:
        one = bytearray(width)
        struct.pack_into("<IIQQQQQ", one, 0, 0, width - 16, 0, period, IDENTIFIER | kinds, 0, SAMPLE_ID_ALL | AUX_OUTPUT)
        struct.pack_into("<Q", one, 72, branches)
        struct.pack_into("<Q", one, 96, registers)
        struct.pack_into("<QQ", one, width - 16, len(ids), 8)
        attributes += one
        ids += struct.pack("<Q", number)
    for kind, record in records(data):
        if kind == AUXTRACE:
            length, = struct.unpack_from("<H", record, 6)
            record = record[:8] + struct.pack("<Q", len(trace)) + record[16:length] + trace
            tid, = struct.unpack_from("<I", record, 36)
        changed.append((kind, record))
    first = next(i for i, (kind, _) in enumerate(changed) if kind == MMAP2)
    for at, (counter, number) in enumerate(counters):
        body = struct.pack("<QIIQQ", counter, tid, tid, at + 1, number)
        changed.insert(first + at, (HW_ID, struct.pack("<IHH", HW_ID, 0, 8 + len(body)) + body))
    write(path, data, changed, attributes, ids)
