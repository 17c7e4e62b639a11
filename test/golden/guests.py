"""A recording of a host that runs a virtual machine, and one of that machine: the records that `inject --guest-data` joins."""
from suite import recording

VM = 7
FLAGS = recording.FLAG_MMAP | recording.FLAG_COMM | recording.FLAG_SAMPLE_ID_ALL | recording.FLAG_MMAP2
ID_INDEX, FINISHED_INIT, SWITCHED = 69, 82, 15
OFFSET = 1 << 40  # of the guest's clock
INJECTED = (recording.SAMPLE_IDENTIFIER | recording.SAMPLE_IP | recording.SAMPLE_TID | recording.SAMPLE_TIME | recording.SAMPLE_CPU)


def end_of(identity, pid, tid, time, cpu=0):
    return recording.pack("<IIQIIQ", pid, tid, time, cpu, 0, identity)


def id_index(*rows):
    return recording.record(ID_INDEX, recording.pack("<Q", len(rows)) + b"".join(recording.pack("<QQqq", *row) for row in rows))


def host_records(threads=(("CPU 0/KVM", VM + 1), ("CPU 1/KVM", VM + 2))):
    sampled = recording.record(recording.SAMPLE, recording.pack("<QQIIQII", 5, 0x1000, 20, 20, 3000, 0, 0), recording.USER)
    return [id_index((5, 0, 0, -1), (6, 1, 1, -1)), *(recording.comm(VM, tid, name, end=end_of(0, 0, 0, 0)) for name, tid in threads),
            recording.record(FINISHED_INIT, b""), recording.comm(20, 20, "early", end=end_of(6, 20, 20, 1000)),
            recording.record(SWITCHED, recording.pack("<II", 0, 0) + end_of(5, VM, VM + 2, 1500, 3)), sampled,
            recording.record(recording.FINISHED_ROUND, b""), recording.comm(21, 21, "late", end=end_of(6, 21, 21, 4000)),
            recording.record(recording.FINISHED_ROUND, b"")]


def guest_records(ids=(5, 6), offset=OFFSET):
    """Two records without a time, two with one, and two that are not added."""
    bpf = recording.record(recording.KSYMBOL, recording.pack("<QIHH", 0x2000, 16, 1, 0) + recording.padded("prog") + end_of(ids[0], 1, 1, offset + 1500))
    sampled = recording.record(recording.SAMPLE, recording.pack("<QQIIQII", ids[0], 0x1000, 20, 20, offset + 1500, 0, 0), recording.USER)
    return [id_index((ids[0], 0, 0, -1), (ids[1], 1, 1, -1)), recording.comm(1, 1, "init", recording.USER, end=end_of(0, 0, 0, 0)),
            recording.mmap2(1, 1, 0x400000, 0x1000, 0, "/bin/init", end=end_of(0, 0, 0, 0)), bpf, sampled,
            recording.comm(30, 30, "second", end=end_of(ids[1], 30, 30, offset + 3500, 1)),
            recording.comm(31, 31, "first", end=end_of(ids[0], 31, 31, offset + 2000, 1))]


def write_guests(folder, write):
    """The host's and the guest's recording, and hosts whose threads or records do not suit."""
    attributes = [recording.attribute(INJECTED, FLAGS)]
    hosts = {"host.data": host_records(), "host-twice.data": host_records((("CPU 0/KVM", 8), ("CPU 0/KVM", 9))),
             "host-early.data": [record for record in host_records() if record[:4] != recording.record(FINISHED_INIT, b"")[:4]],
             "host-one.data": host_records((("CPU 0/KVM", 8),))}
    for name, records in hosts.items():
        write(folder, name, attributes, records, ids=(5, 6))
    rows = recording.build_id_row("/bin/init", b"\x42" * 20)
    write(folder, "guest.data", attributes, guest_records(), {recording.BUILD_ID: rows}, ids=(5, 6))
