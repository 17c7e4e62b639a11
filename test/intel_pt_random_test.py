#!/usr/bin/env python3
# sanitized: random packets
"""Random programs, whose executions are known, as the packets of every kind that trace them: perfuse script must print each instruction that was
executed. intel_pt_random_test.py NAME...: only the tests whose name contains one of these words; $SEED: the first seed, $COUNT: programs of each
kind; $WITH_PERF: prints, too, where perf differs."""
import array
import fcntl
import os
import random
import signal
import struct
import sys
import tempfile
import termios

from suite import process, traces
from suite import pt_program as code
from suite.libipt import Libipt
from suite.perf import first_difference, need_reference
from suite.pt_machine import Machine
from suite.pt_packets import Encoder, Options
from suite.recording import AUX, AUXTRACE, AUXTRACE_INFO, COMM, ITRACE_START, KERNEL, MMAP2, NO_PID, USER, mmap
from suite.settings import CORPUS, SHORT
from suite.tests import Failure, Skip, is_selected, report, skipped

MACHINE = os.path.join(CORPUS, "pt", "truth", "mix.cpu_cyc.data")
SOURCE = os.path.join(CORPUS, "pt", "truth", "mix.pt_cyc.data")
STEPS = 4000 if SHORT else 20000
COUNT = int(os.environ.get("COUNT", "2" if SHORT else "6"))
SEED = int(os.environ.get("SEED", "1"))
KERNEL_AT, GUEST_KERNEL = 0xffffffff81000000, 4
OFFSET = 0xffffe42722c64c41  # of the TSC of a virtual machine that began after its host
NO_RETURN_COMPRESSION, MTC, CYC, POWER, WRITES = 0x800, 0x200, 2, 0x10, 0x1000
ALL = (code.SYSCALL, code.WRITE, code.FAR_CALL, code.BEGIN, code.COMMIT, code.PAGING)


def first_time(data):
    """TSC of the trace's first packet of time."""
    trace = next(record for kind, record in traces.records(data) if kind == AUXTRACE)
    at = trace.index(b"\x02\x82" * 8) + 16
    return int.from_bytes(trace[at + 1:at + 8], "little")


def mapping(record, program):
    """The record of a mapping, of the program."""
    tail, size = record[-24:], len(program.text)  # thread, time, identifier
    if program.base >> 63:  # of a host's kernel and its guest's
        kernels = ((NO_PID, "[kernel.kallsyms]_text", KERNEL), (0, "[guest.kernel.kallsyms]_text", GUEST_KERNEL))
        return b"".join(mmap(pid, 0, program.base, size + -size % 4096, program.base, name, misc, tail) for pid, name, misc in kernels)
    body = record[8:16] + struct.pack("<QQQ", program.base, size + -size % 4096, 0x1000) + record[40:72] + b"/program".ljust(16, b"\0") + tail
    return struct.pack("<IHH", MMAP2, USER, 8 + len(body)) + body


def write(path, data, program, pieces, options, snapshot=False):
    """The recording of one thread, with another program and pieces of trace."""
    changed, place, trace, mapped = [], 0, None, False
    for kind, record in traces.records(data):
        if kind == AUXTRACE_INFO:
            info = bytearray(record)
            struct.pack_into("<Q", info, 16 + 8 * 8, int(snapshot))
            struct.pack_into("<Q", info, len(info) - 8, int(options.events))
            changed.append((kind, bytes(info)))
        elif kind == MMAP2 and not mapped:
            mapped = True
            changed.append((kind, mapping(record, program)))
        elif kind == AUXTRACE:
            trace = trace or record[:48]
        elif kind in (COMM, ITRACE_START) or kind >= 69:
            changed.append((kind, record))
        elif kind == AUX:
            aux = record
    for number, piece in enumerate(pieces):
        fields = list(struct.unpack_from("<QQQIIII", trace, 8))
        fields[:3] = len(piece) + -len(piece) % 8, place, fields[2] + number
        changed.append((AUX, aux[:8] + struct.pack("<QQQ", place, len(piece), 2 if snapshot else 0) + aux[32:]))
        changed.append((AUXTRACE, trace[:8] + struct.pack("<QQQIIII", *fields) + piece + b"\0" * (-len(piece) % 8)))
        place += len(piece) + (1 << 20 if snapshot else 0)
    traces.write(path, data, changed)
    enable(path, (MTC if options.mtc else 0) | (CYC if options.cycles else 0) | (0 if options.compress_returns else NO_RETURN_COMPRESSION),
        MTC | CYC | NO_RETURN_COMPRESSION)


def enable(path, bits, cleared=0):
    """Sets bits of the event's configuration."""
    table = bytearray(traces.read(path))
    _, _, width, attributes, *_ = traces.HEADER.unpack_from(table)
    for at in range(attributes, attributes + 2 * width, width):
        kind, _, config = struct.unpack_from("<IIQ", table, at)
        if kind == 8:
            struct.pack_into("<Q", table, at + 8, config & ~cleared | bits)
    with open(path, "wb") as file:
        file.write(table)


def wanted(encoder, steps, begin=0, end=None, of=lambda step: step.ip):
    """What must be printed, and what may be where packets are missing: [(addresses, needed)]."""
    end = encoder.known if end is None else end
    parts, at = [], begin
    for start, behind in [*encoder.gaps, (end, len(steps))]:
        for first, last, needed in ((at, start, True), (start, behind, False)):
            parts.append(([of(step) for step, traced in zip(steps[first:last], encoder.traced[first:last]) if traced], needed))
        at = behind
    return parts


def shown(place):
    return hex(place) if isinstance(place, int) else " ".join(part if isinstance(part, str) else "%x" % part for part in place)


def differences(found, parts):
    """Where instructions are not those wanted; of each gap, the first ones may be there."""
    at, places = 0, [0]
    for part, needed in parts:
        if not needed:
            places = sorted({place + length for place in places for length in range(len(part) + 1) if found[place:place + length] == part[:length]})
            continue
        fitting = [place + len(part) for place in places if found[place:place + len(part)] == part]
        if not fitting:
            place = places[0]
            same = next((i for i, (a, b) in enumerate(zip(found[place:], part)) if a != b), min(len(found) - place, len(part)))
            return ["%d of %d instructions from %d on: %s instead of %s" % (same, len(part), place, [shown(ip) for ip in found[place + same:place + same + 4]],
                [shown(ip) for ip in part[same:same + 4]])]
        places = fitting
    return [] if len(found) in places else ["%d instructions too many" % (len(found) - max(places))]


def modes(folder, path, *more):
    """[(address, whether it is a guest's)] of the instructions."""
    done = process.perfuse("script", "--symfs", folder, "--itrace=i1ie", "-F", "misc,ip", "-i", path, *more)
    lines = [line.split() for line in done.stdout.split("\n")]
    return [(int(line[1], 16), line[0]) for line in lines if len(line) == 2 and line[0] in ("U", "KGg", "K", "G")]


def in_guests(name, folder):
    """Each instruction of the host and of its virtual machines is printed with the mode that it has; without --guest-code, those of the host."""
    data, path, problems = traces.read(SOURCE), os.path.join(folder, "random.data"), []
    for seed in range(SEED, SEED + COUNT):
        program, steps, encoder, packets, options = trace(name, seed, data)
        with open(os.path.join(folder, "program"), "wb") as file:
            file.write(program.elf())
        write(path, data, program, [packets], options)
        letter = {True: "KGg", False: "U"}  # the bits of perf's letters overlap
        parts = [([(ip, letter[guest]) for ip, guest in part], needed) for part, needed in wanted(encoder, steps, of=lambda step: (step.ip, step.guest))]
        problems += ["%d: %s" % (seed, text) for text in differences(modes(folder, path, "--guest-code"), parts)]
        if not encoder.gaps:
            host = [([one for one in part if one[1] == "U"], needed) for part, needed in parts]
            problems += ["%d, host: %s" % (seed, text) for text in differences(modes(folder, path), host)]
    return problems


def in_guest_kernels(_, folder):
    """The same of kernels: the code of a guest's is that of --guestvmlinux."""
    data, path, image, problems = traces.read(SOURCE), os.path.join(folder, "random.data"), os.path.join(folder, "vmlinux"), []
    for seed in range(SEED, SEED + COUNT):
        chance = random.Random("kernels %d" % seed)
        program = code.Program(chance, 12, (code.ENTRY,) * 2, base=KERNEL_AT)
        steps, options = code.execute(program, chance, STEPS), Options(guests=True, mtc=True, cycles=chance.random() < 0.5)
        encoder = Encoder(program, chance, options, first_time(data) + 20000)
        with open(image, "wb") as file:
            file.write(program.elf())
        write(path, data, program, [encoder.run(steps)], options)
        parts = wanted(encoder, steps, of=lambda step: (step.ip, "G" if step.guest else "K"))
        found = modes(folder, path, "-k", image, "--guestvmlinux", image)
        problems += ["%d: %s" % (seed, text) for text in differences(found, parts)]
    return problems


def addresses(program, folder, path, *more):
    done = process.run(program, "script", "--symfs", folder, "--itrace=i1ie", "-F", "ip", "-i", path, *more)
    lines = [line.strip() for line in done.stdout.split("\n")]
    return [int(line, 16) for line in lines if line and " " not in line], " ".join(line for line in lines if " " in line)[:200] + done.stderr[-200:]


def variant(chance, name):
    """The options of a kind of trace, and what of it perf does not know."""
    values = {"compress_returns": chance.random() < 0.6, "long_bits": chance.choice([0.0, 0.0, 0.5, 1.0]), "cycles": chance.random() < 0.5,
        "mtc": chance.random() < 0.7, "psb_bytes": chance.choice([200, 1000, 5000]), "threshold": chance.choice([0, 0, 16])}
    values.update({"plain": {}, "deferred": {"compress_returns": False, "defer": True}, "user": {"user_only": True}, "events": {"events": True},
        "extra": {"extra": 0.02, "ratios": 0.002}, "overflow": {"overflow": 0.002}, "excluded": {"excluded": (4, 6), "user_only": chance.random() < 0.5},
        "trigger": {"trigger": 0.01}, "snapshots": {"extra": 0.005, "psb_bytes": 300}, "cut": {"extra": 0.005}, "all": {"extra": 0.01, "overflow": 0.001, "ratios": 0.001, "events": chance.random() < 0.5,
            "user_only": chance.random() < 0.5, "excluded": (5,)},
        "guests": {"guests": True, "extra": chance.choice([0, 0.01]), "overflow": chance.choice([0, 0.001])},
        "plain 32-bit": {}, "32-bit": {"extra": chance.choice([0, 0.01]), "overflow": chance.choice([0, 0.001]), "user_only": chance.random() < 0.5}}[name])
    return Options(**values)


def trace(name, seed, data, unwinds=True):
    chance = random.Random("%s %d" % (name, seed))
    options = variant(chance, name)
    program = code.Program(chance, 12, (code.ENTRY,) * 2 if name == "guests" else ALL * chance.randrange(3), 32 if "32-bit" in name else 64)
    steps = code.execute(program, chance, STEPS, chance.choice([0, 0.002]) if name != "deferred" else 0,
        chance.choice([0, 0.02]) if unwinds else 0)
    encoder = Encoder(program, chance, options, first_time(data) + 20000)
    return program, steps, encoder, encoder.run(steps), options


def known_at(encoder, place):
    """Of how many steps the packets up to a place show that they were executed."""
    return max([known for end, known in encoder.marks if end <= place], default=0)


def cut(chance, encoder, steps, packets):
    """Pieces between which bytes are missing, and what must be printed of them."""
    pieces, parts, at, before = [], [], 0, 0
    while at < len(packets):
        start = at if chance.random() < 0.7 else min(len(packets), at + chance.randrange(1, 3000))
        end = min(len(packets), start + chance.randrange(1000, 6000))
        if start == at and pieces:  # it continues the piece before, which ends in the middle of a packet
            pieces[-1] += packets[start:end]
        else:
            pieces.append(packets[start:end])
        at = end
    place = 0
    for piece in pieces:
        start = packets.index(piece, place)
        place = start + len(piece)
        index = next((index for begin, end, index in encoder.psbs if start <= begin and end <= place), None)
        if index is None:
            continue
        until = known_at(encoder, place)
        parts.append((before, index, False))
        parts.append((index, max(index, until), True))
        before = max(index, until)
    parts.append((before, len(steps), False))
    chosen = [([step.ip for step, traced in zip(steps[a:b], encoder.traced[a:b]) if traced], needed) for a, b, needed in parts]
    return pieces, chosen


def snapshots(chance, packets):
    """Pieces each of which begins with the end of the one before, with a PSB in it."""
    pieces, at, begin = [], 0, 0
    while at < len(packets):
        at = min(len(packets), at + 8 * chance.randrange(400, 1000))
        pieces.append(packets[begin:at])
        begin = max(begin, at - 8 * chance.randrange(200, 300))
    return pieces


def timed(seed, folder, name, offset, extra, data):
    """A recording of a host and its virtual machine, whose TSC differs by an offset."""
    chance, path = random.Random("times %d" % seed), os.path.join(folder, name)
    program = code.Program(chance, 12, (code.ENTRY,) * 3)
    steps = code.execute(program, chance, STEPS)
    options = Options(guests=True, mtc=True, cycles=chance.random() < 0.5, psb_bytes=chance.choice([200, 600]), guest_offset=offset, extra=extra,
        kinds=(1, 2, 4, 5, 6, 7))
    write(path, data, program, [Encoder(program, chance, options, first_time(data) + 20000).run(steps)], options)
    return path


def inject(path, value, *more):
    done = process.perfuse("inject", "-i", path, "--vm-time-correlation" + value, *more)
    return done.returncode, done.stderr, traces.read(path)


def by_other_names(path, before):
    """A file that has another name elsewhere, and one behind a link, are not changed."""
    other, problems = path + ".other", []
    for make in (os.link, os.symlink):
        make(path, other)
        code_, said, after = inject(other, "", "--force")
        problems += ["%s: %d %s" % (make.__name__, code_, said)] * (code_ != 255 or after != before or other not in said)
        os.unlink(other)
    return problems


def two_guests(folder, data):
    """A recording in which two virtual machines run one after the other."""
    path, pieces = os.path.join(folder, "two.data"), []
    for number in (0, 1):
        chance = random.Random("two %d" % number)
        program = code.Program(random.Random("two"), 12, (code.ENTRY,) * 3)
        options = Options(guests=True, mtc=True, psb_bytes=600, guest_offset=OFFSET + number * 0x10000, vmcs=0x1bff6a + number)
        pieces.append(Encoder(program, chance, options, first_time(data) + 20000 + number * 1000000000).run(code.execute(program, chance, STEPS)))
    write(path, data, program, pieces, options)
    return path


def interrupted(folder, data):
    """A run that is killed while it waits to print the offset of the second virtual machine, after it has read the first one, changes nothing."""
    path = two_guests(folder, data)
    before, lines = traces.read(path), inject(path, "=dry-run")[1].splitlines(keepends=True)
    said = "".join(lines)
    reader, writer = os.pipe()
    room = fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    filled = room - len(said) + 1
    if len(lines) < 2 or "0x1bff6b" not in lines[-1] or filled < 0:
        return ["two guests: %s" % said]
    os.write(writer, b"." * filled)
    with process.start(process.PERFUSE, "inject", "-i", path, "--vm-time-correlation", "--force", stderr=writer) as child:
        os.close(writer)
        waiting = array.array("i", [0])
        while child.poll() is None and waiting[0] < room - len(lines[-1]) + 1:
            fcntl.ioctl(reader, termios.FIONREAD, waiting)
        child.kill()
    os.close(reader)
    return ["an interrupted run has changed it"] * (child.returncode != -signal.SIGKILL or traces.read(path) != before)


def corrected(_, folder):
    """inject --vm-time-correlation makes the recording that a guest with the host's TSC would have made; nothing else changes it."""
    data, problems, changed = traces.read(SOURCE), [], 0
    for seed in range(SEED, SEED + COUNT):
        for offset in (OFFSET, 0x123456):
            path, wanted = timed(seed, folder, "guest.data", offset, 0, data), traces.read(timed(seed, folder, "host.data", 0, 0, data))
            before = traces.read(path)
            code_, said, after = inject(path, "=dry-run")
            problems += ["%d: a dry run: %d %s" % (seed, code_, said)] * (code_ != 0 or after != before)
            problems += ["%d: %s" % (seed, said)] * (before != wanted and "VMCS: 0x1bff6a  TSC Offset %#x\n" % offset not in said)
            code_, said, after = inject(path, "")
            problems += ["%d: without --force: %s" % (seed, said)] * (code_ != 255 or after != before)
            problems += ["%d: %s" % (seed, said) for said in by_other_names(path, before)]
            for value in ("", "=%#x" % offset, "=0x99:0x5,0x6 %#x : 0x1bff6a" % offset):
                with open(path, "wb") as file:
                    file.write(before)
                code_, said, after = inject(path, value, "--force")
                problems += ["%d, %s: %d, %d bytes differ: %s" % (seed, value, code_, sum(a != b for a, b in zip(after, wanted)), said)] * (code_ or after != wanted)
            changed += before != wanted
    problems += interrupted(folder, data)
    return problems or ["no guest has run"] * (not changed)


def as_perf(_, folder):
    """Branches, written values, changes of frequency and power states have perf's times."""
    data, path, problems = traces.read(SOURCE), os.path.join(folder, "random.data"), []
    for seed in range(SEED, SEED + COUNT):
        chance = random.Random("as perf %d" % seed)
        program = code.Program(chance, 12, (code.WRITE,) * 2)
        options = Options(cycles=chance.random() < 0.7, mtc=chance.random() < 0.8, threshold=chance.choice([0, 16]), extra=0.02, ratios=0.001,
            kinds=(0, 1, 2, 3, 4, 6, 7, 8), psb_bytes=chance.choice([200, 1000, 5000]))
        packets = Encoder(program, chance, options, first_time(data) + 20000).run(code.execute(program, chance, STEPS))
        with open(os.path.join(folder, "program"), "wb") as file:
            file.write(program.elf())
        write(path, data, program, [packets], options)
        enable(path, POWER | WRITES)
        for letters in ("b", "w", "p", "wpb"):
            words = ("script", "--symfs", folder, "--itrace=" + letters, "--ns", "-F", "time,event,ip,addr,synth", "-i", path)
            ours, perfs = process.run(process.PERFUSE, *words).stdout, process.run(need_reference(), *words).stdout
            problems += ["%d, %s: %s" % (seed, letters, first_difference(ours, perfs))] * (ours != perfs)
    return problems


def scheduled(_, folder):
    """On each CPU, the instructions of each turn are those of the thread that runs, in the program that its process runs then."""
    data, path, problems = traces.read(MACHINE), os.path.join(folder, "machine.data"), []
    for seed in range(SEED, SEED + COUNT):
        chance = random.Random("scheduled %d" % seed)
        options = Options(user_only=True, mtc=True, cycles=True, psb_bytes=chance.choice([200, 1000, 5000]), extra=chance.choice([0, 0.01]))
        machine = Machine(chance, folder, options, data, 20 if SHORT else 100, 1500)
        machine.write(path)
        for program in [process.PERFUSE] + [need_reference()] * ("WITH_PERF" in os.environ):
            done = process.run(program, "script", "--symfs", folder, "--itrace=i1ie", "-F", "tid,cpu,ip", "-i", path)
            lines = [line.split() for line in done.stdout.split("\n")]
            for cpu in machine.cpus:
                found = [(int(line[0]), int(line[2], 16)) for line in lines if len(line) == 3 and line[1] == "[%03d]" % cpu.number]
                problems += ["%d, CPU %d: %s" % (seed, cpu.number, text) for text in differences(found, [(cpu.truth, True)])]
            problems += ["%d: %s" % (seed, " ".join(line)) for line in lines if "error" in line][:3]
    return problems


def agreed(name, folder):
    """libipt decodes the same instructions; behind the last packet it goes on to the next branch that it needs one for. A return to another place
    than that behind its call leaves this one on libipt's stack of returns, so that there are none."""
    libipt, data, path, problems = Libipt(folder), traces.read(SOURCE), os.path.join(folder, "random.data"), []
    for seed in range(SEED, SEED + COUNT):
        program, _, _, packets, options = trace(name, seed, data, False)
        with open(os.path.join(folder, "program"), "wb") as file:
            file.write(program.elf())
        write(path, data, program, [packets], options)
        found, _ = addresses(process.PERFUSE, folder, path)
        code = (os.path.join(folder, "program"), "0x1000", hex(len(program.text)), hex(program.base))
        theirs = libipt.instructions(packets, code)
        same = next((i for i, (a, b) in enumerate(zip(found, theirs)) if "%x" % a != b), min(len(found), len(theirs)))
        if not found or same < len(found):
            problems.append("%d: %d instructions, libipt has %d; different from %d on: %s, %s" % (seed, len(found), len(theirs), same,
                [hex(ip) for ip in found[same:same + 3]], theirs[same:same + 3]))
    return problems


def decoded(name, folder):
    """Each instruction is printed, and so by perf."""
    data, path, problems = traces.read(SOURCE), os.path.join(folder, "random.data"), []
    for seed in range(SEED, SEED + COUNT):
        program, steps, encoder, packets, options = trace(name, seed, data)
        chance, pieces, parts = random.Random(seed), [packets], wanted(encoder, steps)
        if name == "snapshots":
            pieces = snapshots(chance, packets)
        elif name == "cut":
            pieces, parts = cut(chance, encoder, steps, packets)
        with open(os.path.join(folder, "program"), "wb") as file:
            file.write(program.elf())
        write(path, data, program, pieces, options, name in ("snapshots", "cut"))
        found, said = addresses(process.PERFUSE, folder, path)
        problems += ["%d: %s%s" % (seed, text, said) for text in differences(found, parts)]
        if os.environ.get("WITH_PERF"):
            theirs, said = addresses(need_reference(), folder, path)
            problems += ["%d: perf: %s%s" % (seed, text, said) for text in differences(theirs, parts)]
    return problems


def judge(what, compare, name):
    if not is_selected(what):
        return False
    with tempfile.TemporaryDirectory() as folder:
        try:
            return report(what, compare(name, folder))
        except Skip as why:
            skipped(what, str(why))
            return False
        except Failure as why:
            return report(what, [str(why)])


def main():
    if not os.path.exists(SOURCE):
        skipped("random programs and their traces", "no such file: %s (PERFUSE_CORPUS names another folder)" % SOURCE)
        return
    failed = False
    for name in ("plain", "deferred", "user", "events", "extra", "overflow", "excluded", "trigger", "all", "32-bit", "snapshots", "cut"):
        failed |= judge("random programs are decoded: " + name, decoded, name)
    failed |= judge("random programs that run virtual machines are decoded", in_guests, "guests")
    failed |= judge("random kernels that run virtual machines are decoded", in_guest_kernels, "kernels")
    failed |= judge("packets of virtual machines get the host's times", corrected, "times")
    failed |= judge("random schedules of processes on several CPUs are decoded", scheduled, "scheduled")
    failed |= judge("times in random traces are perf's", as_perf, "as perf")
    for name in ("plain", "plain 32-bit"):
        failed |= judge("libipt decodes random programs alike: " + name, agreed, name)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
