"""Small recordings of kernel code that never ran."""
import struct

from suite import recording
from suite.recording import CONTEXT_KERNEL, KERNEL, NO_PID, OSRELEASE, SAMPLE, SAMPLE_CALLCHAIN, SAMPLE_IP, SAMPLE_TID, SAMPLE_TIME

SAMPLE_KIND = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CALLCHAIN


def mapping(start, size, offset, name):
    """Of the kernel, or of one of its modules."""
    return recording.mmap(NO_PID, 0, start, size, offset, name, KERNEL)


def mapping_of_build(start, size, name, build_id):
    return recording.mmap2(NO_PID, 0, start, size, 0, name, build_id=build_id, misc=KERNEL)


def sample(address, callers=()):
    chain = recording.chain((CONTEXT_KERNEL, address, *callers))
    return recording.record(SAMPLE, struct.pack("<QIIQ", address, 0, 0, 1000) + chain, KERNEL)


def write(path, records, release=None):
    """A recording of the records, with one event: cpu-clock; of the kernel of that release."""
    recording.write(path, records, [recording.attribute(SAMPLE_KIND)], {OSRELEASE: recording.header_text(release)} if release else {})
