#!/usr/bin/env python3
# sanitized: damaged traces
"""Intel PT traces whose instruction stream is known ($PERFUSE_CORPUS/pt/truth, which describes them): perfuse script must print each
instruction that was executed, of each thread, in order. The same traces with bytes changed must end in bounded time.
intel_pt_test.py NAME...: only the traces whose name contains one of these words."""
import bisect
import glob
import json
import lzma
import os
import random
import re
import shutil
import struct
import sys
import tarfile
import tempfile

from suite import process, traces
from suite.libipt import Libipt
from suite.perf import first_difference, need_reference
from suite.settings import CORPUS, SANITIZED, SHORT, TOP
from suite.tests import Failure, Skip, is_selected, need, report, skipped

TRUTH = os.path.join(CORPUS, "pt", "truth")
ENTRY = struct.Struct("<QQQQIBBBB")  # ip, target, tsc, cycle, tid, length, kind, flags, cpu
NOT_DECODABLE, PERHAPS = 1, 2
UNKNOWN_BRANCHES = (1, 4, 5, 6, 8)  # whose direction or target a packet has: conditional, indirect jump and call, return, return from the kernel
EXIT, AUXTRACE = 4, 71
FEATURE_AUXTRACE = 18
ONE_BUFFER = ("mix.pt_base", "mix.pt_cyc", "sig.pt_cyc")
PROGRAMS = {"mix": "p1_mix", "kern": "p1_mix"}
ONE_MISSING = ("pp.cpu2_cyc",)  # a short trace in which the calls of a missing library matter
COUNTED = ("dlopen.cpu", "kern.mix_cpu1", "pp.cpu2_cyc", "sig.pt_cyc")  # the others are the program of kern.mix_cpu1, too
MOVING_CODE = ("dlopen.cpu",)  # libraries at the same addresses one after the other
DAMAGED = 5 if SHORT else 40
# with sanitizers and in a short run: what judges values that the ordinary build has, too
LEFT_OUT = ("every instruction", "instructions of", "branches of", "times and cycles", "--xed", "time stamps", "libipt") if SANITIZED and SHORT else ()


def truth(name):
    """By thread: the addresses of its instructions, and how many of the last ones may be missing."""
    with lzma.open(os.path.join(TRUTH, name + ".gt.xz")) as file:
        data = file.read()
    threads, perhaps = {}, {}
    for ip, _, _, _, tid, _, _, flags, _ in ENTRY.iter_unpack(data):
        if flags & NOT_DECODABLE:
            continue
        threads.setdefault(tid, []).append(ip)
        perhaps[tid] = perhaps.get(tid, 0) + 1 if flags & PERHAPS else 0
    return threads, perhaps


def script(name, symfs, *options, path=None, **more):
    vmlinux = ["-k", os.path.join(TRUTH, "kern.vmlinux")] if name.startswith("kern.") else []
    return process.perfuse("script", "--symfs", symfs, *vmlinux, *options, "-i", path or os.path.join(TRUTH, name + ".data"), **more)


def compare(name, symfs):
    threads, perhaps = truth(name)
    lines = script(name, symfs, "--itrace=i1ie", "-F", "tid,ip").stdout.split("\n")
    found = {}
    for line in filter(None, lines):
        words = line.split()
        need(len(words) == 2, "not an instruction: " + line)
        found.setdefault(int(words[0]), []).append(int(words[1], 16))
    problems = []
    if name.startswith("kern."):  # an interrupt's code belongs to the thread that it interrupts
        found, threads = {0: sum(found.values(), [])}, {0: sum(threads.values(), [])}
        perhaps = {0: max(perhaps.values())}
    for tid, expected in threads.items():
        ours = found.get(tid, [])
        least = len(expected) - perhaps[tid]
        if ours != expected[:len(ours)] or len(ours) < least:
            at = next((i for i, (a, b) in enumerate(zip(ours, expected)) if a != b), min(len(ours), len(expected)))
            problems.append("thread %d: %d of %d instructions, different from %d on" % (tid, len(ours), len(expected), at))
    return problems


def branches(name, symfs):
    """The branches add up: each begins where the one before it led, or after it, in the order of time."""
    problems, last = [], 0.0
    for line in filter(None, script(name, symfs, "--itrace=b", "--ns", "-F", "time,ip,addr").stdout.split("\n")):
        time = float(line.split(":")[0])
        if time < last:
            problems.append("time goes back: " + line)
        last = time
    with open(os.path.join(TRUTH, name + ".json")) as file:
        described = json.load(file)
    need(last > 0 or not described["instructions"], "no branch has a time")
    return problems


AGREED = [["--itrace=be", "--ns", "-F", "+addr,+flags,+ipc"], ["--itrace=i100nsewxoI", "--ns", "-F", "+ipc,+flags,+insn"], [],
    ["--itrace=y1usi10usl16s3", "--ns", "-F", "+brstack,+flags"], ["--itrace=ibpq", "--ns"], ["--itrace=ipqq", "--ns"], ["--itrace=y10usbeq", "--ns", "-F", "+ipc"], ["--itrace=cre", "-F", "+flags"],
    ["--call-trace", "--graph-function", "fib,siglongjmp,main"], ["--itrace=cre", "-F", "+addr,+callindent"], ["--itrace=i2usg200"], ["--itrace=i500tbe-l", "--ns", "-F", "+ipc"],
    ["--itrace=i333nse-lq", "--ns"], ["--itrace=bps10", "--ns"], ["--itrace=c", "-F", "+insn"],
    ["--itrace=beZ"], ["--itrace=i7ieZ"]]
REPORTED = [["--itrace=i2000tl3b", "-n"]]


def agrees(name, symfs):
    """Branches, times, cycles, periods and power events are perf's, byte for byte."""
    vmlinux = ["-k", "kern.vmlinux"] if name.startswith("kern.") else []  # in symfs, too
    problems = []
    for command, options in [(["script"], row) for row in AGREED] + [(["report", "--stdio"], row) for row in REPORTED]:
        words = [*command, "--symfs", symfs, *vmlinux, *options, "-i", os.path.join(TRUTH, name + ".data")]
        perfs, ours = (process.run(program, *words, cwd=TRUTH, text=False).stdout.split(b"\n\n#\n# (Tip")[0]  # tips differ
                       for program in (need_reference(), process.PERFUSE))
        if ours != perfs:
            problems.append("%s: %s" % (" ".join(options), first_difference(ours, perfs)))
    return problems


ADDED = [["script", "--itrace=G64e"], ["script", "--itrace=L16e", "-F", "+brstack"], ["script", "--itrace=G64L8i5usg64"],
    ["report", "--stdio", "--itrace=G64i100usg64", "-g", "caller"]]


def added(name, symfs, folder):
    """Recorded samples of another event get call chains and last branches, byte for byte as in perf."""
    kernel = name.startswith("kern.")
    if name not in ONE_BUFFER and not kernel:
        return []
    dummy, first, step = 200, 2000, 3000
    with open(os.path.join(TRUTH, name + ".json")) as file:
        clock = json.load(file)
    with lzma.open(os.path.join(TRUTH, name + ".gt.xz")) as file:
        entries = [entry for entry in ENTRY.iter_unpack(file.read()) if not entry[7] & NOT_DECODABLE][first::step]
    shift, mult, path = clock["time_shift"], clock["time_mult"], os.path.join(folder, "samples.data")
    samples = [(ip, tid, (clock["time_zero"] + (tsc * mult >> shift)) % 2 ** 64, cpu if kernel else None)
        for ip, _, tsc, _, tid, _, _, _, cpu in entries]
    traces.write_samples(path, os.path.join(TRUTH, name + ".data"), dummy, samples)
    problems = []
    for words in ADDED:
        command = [*words, "--symfs", symfs, *(["-k", "kern.vmlinux"] if kernel else []), "-i", path]
        perfs, ours = (process.run(program, *command, cwd=TRUTH, text=False).stdout for program in (need_reference(), process.PERFUSE))
        if words[0] == "report":  # tips at the end differ
            perfs, ours = (text.split(b"\n\n#\n# (Tip")[0] for text in (perfs, ours))
        if ours != perfs or ours.count(b"\n") < len(samples):
            problems.append("%s: %s" % (" ".join(words), first_difference(ours, perfs)))
    return problems


def injects(name, symfs, folder):
    """The recording that inject makes has the samples of perf's. Without code, as inject reads only files at their recorded paths; read by
    perfuse, as perf crashes where those files are absent."""
    problems, trace = [], os.path.join(TRUTH, name + ".data")
    for options in [["--itrace=ibqpe"], ["--itrace=iqle", "--strip"]]:
        made = {}
        for program, path in ((need_reference(), "perf.data"), (process.PERFUSE, "ours.data")):
            process.must(program, "inject", *options, "-i", trace, "-o", os.path.join(folder, path))
            words = [process.PERFUSE, "script", "--ns", "-F", "comm,tid,time,period,event,ip", "--show-task-events", "--show-mmap-events", "-i", os.path.join(folder, path)]
            made[path] = [process.run(*words, text=False).stdout,
                process.run(need_reference(), "evlist", "-v", "-i", os.path.join(folder, path), text=False).stdout]
        for ours, perfs in zip(made["ours.data"], made["perf.data"]):
            if ours != perfs or not ours:
                problems.append("%s: %s" % (" ".join(options), first_difference(ours, perfs)))
    return problems


def disassembled(name, symfs):
    """--xed prints the text of instructions instead of their bytes, wherever it is in the command line."""
    want = script(name, symfs, "--insn-trace=disasm").stdout
    problems = ["%s: %s" % (" ".join(words), first_difference(script(name, symfs, *words).stdout.encode(), want.encode()))
                for words in (["--xed", "--insn-trace"], ["--insn-trace", "--xed"]) if script(name, symfs, *words).stdout != want]
    return problems if "mov" in want else ["no instruction is printed"]


def piped(name, symfs):
    """A trace that comes through a pipe, or is in a file in the form of a pipe, is decoded like one in a file; perf reads the pipe, too."""
    vmlinux = ["-k", "kern.vmlinux"] if name.startswith("kern.") else []
    words, problems, read = ["script", "--itrace=bpe", "--ns", "--symfs", symfs, *vmlinux, "-i"], [], []
    trace = os.path.join(TRUTH, name + ".data")
    want = process.perfuse(*words, trace, cwd=TRUTH, text=False).stdout
    for program in (process.PERFUSE, need_reference()):
        stream = process.run(program, "inject", "-i", trace, "-o", "-", text=False).stdout
        for stdin in ({"input": stream}, {}):
            with tempfile.NamedTemporaryFile() as file:
                file.write(stream)
                file.flush()
                ours = process.perfuse(*words, "-" if stdin else file.name, cwd=TRUTH, text=False, **stdin).stdout
            if ours != want or not ours:
                problems.append("%s, %s: %s" % (program, "pipe" if stdin else "file", first_difference(ours, want)))
        read.append(process.run(need_reference(), *words, "-", cwd=TRUTH, text=False, input=stream).stdout)
    if read[0] != read[1] or not read[0]:
        problems.append("read by perf: " + first_difference(*read))
    for command in (words + ["-"], ["inject", "--itrace=b", "-i", "-", "-o", os.devnull]):
        done = process.perfuse(*command, cwd=TRUTH, text=False, input=stream[:-100])
        if done.returncode != 255 or b"the stream ends at offset" not in done.stderr:
            problems.append("a pipe that ends early: %d, %s" % (done.returncode, done.stderr))
    return problems


def window(name, symfs):
    """--time shows the branches of the window, although decoding begins in the middle of the trace."""
    words = ["--itrace=b", "--ns", "-F", "tid,time,ip,addr"]
    lines = list(filter(None, script(name, symfs, *words).stdout.split("\n")))
    times = [line.split(":")[0].split()[-1] for line in lines]
    first, last = times[len(times) // 2], times[len(times) * 2 // 3]
    expected = [line for line, time in zip(lines, times) if first <= time <= last]
    found = list(filter(None, script(name, symfs, *words, "--time", first + "," + last).stdout.split("\n")))
    return [] if found == expected and found else ["%d branches instead of %d" % (len(found), len(expected))]


def time_stamps(name, symfs):
    """With CYC packets the TSC of a branch is the true one: one tick late at most, and half of them less than 3 ns early."""
    if not name.endswith("_cyc"):
        return []
    with lzma.open(os.path.join(TRUTH, name + ".gt.xz")) as file:
        data = file.read()
    true, at, early = {}, {}, []
    for ip, target, tsc, _, tid, _, _, flags, _ in ENTRY.iter_unpack(data):
        if target and not flags & NOT_DECODABLE:
            true.setdefault(tid, []).append((ip, target, tsc))
    for line in filter(None, script(name, symfs, "--itrace=b", "-F", "tid,ip,addr,tsc").stdout.split("\n")):
        tid, ip, _, target, _, tsc = line.split()
        tid, branch = int(tid), (int(ip, 16), int(target, 16))
        if not all(branch):
            continue
        while true[tid][at.get(tid, 0)][:2] != branch:
            at[tid] = at.get(tid, 0) + 1
        early.append(true[tid][at.get(tid, 0)][2] - int(tsc))
        at[tid] = at.get(tid, 0) + 1
    early.sort()
    right = early and early[0] >= -1 and early[len(early) // 2] <= 10 and early[-1] < 1000
    return [] if right else ["%d branches, %s to %s ticks early" % (len(early), early[:1], early[-1:])]


def raw_traces(name):
    """By CPU, or -1: the bytes of the trace."""
    with open(os.path.join(TRUTH, name + ".data"), "rb") as file:
        data = file.read()
    found = {}
    for kind, record in traces.records(data):
        if kind == AUXTRACE:
            length, = struct.unpack_from("<H", record, 6)
            cpu, = struct.unpack_from("<i", record, 40)
            found[cpu] = found.get(cpu, b"") + record[length:]
    return found


def raw_trace(name):
    """The bytes of the trace of a recording with one buffer."""
    only, = raw_traces(name).values()
    return only


def code_of(name, symfs):
    """Where libipt finds code: words of path, offset, size, address."""
    parts = []
    for line in script(name, symfs, "--show-mmap-events", "--itrace=p").stdout.split("\n"):
        found = re.search(r"MMAP2? .*\[(0x\w+)\((0x\w+)\) @ (0x\w+|0) .*\]: r-xp (/.*)$", line)
        if found and os.path.exists(symfs + found[4]):
            parts += [symfs + found[4], found[3], found[2], found[1]]
    if name.startswith("kern."):
        vmlinux = os.path.join(TRUTH, "kern.vmlinux")
        with open(vmlinux, "rb") as file:
            data = file.read()
        header, = struct.unpack_from("<Q", data, 32)
        for i in range(struct.unpack_from("<H", data, 56)[0]):
            kind, flags, offset, address, _, size = struct.unpack_from("<IIQQQQ", data, header + 56 * i)
            if kind == 1 and flags & 1:
                parts += [vmlinux, hex(offset), hex(size), hex(address)]
    return parts


def second_opinion(name, symfs, folder):
    """libipt decodes the same instructions, of each buffer."""
    if name in MOVING_CODE:
        return []
    libipt = Libipt(folder)
    buffers, ours, problems = raw_traces(name), {}, []
    for line in filter(None, script(name, symfs, "--itrace=i1ie", "-F", "ip" if -1 in buffers else "cpu,ip").stdout.split("\n")):
        words = line.split()
        ours.setdefault(-1 if -1 in buffers else int(words[0].strip("[]")), []).append(words[-1])
    for cpu, content in buffers.items():
        theirs, own = libipt.instructions(content, code_of(name, symfs)), ours.get(cpu, [])
        if theirs != own or not own:
            at = next((i for i, (a, b) in enumerate(zip(own, theirs)) if a != b), min(len(own), len(theirs)))
            problems.append("CPU %d: %d instructions, libipt has %d; different from %d on: %s, %s" % (cpu, len(own), len(theirs), at,
                own[at:at + 3], theirs[at:at + 3]))
    return problems


def repeat(name, folder, times):
    """A recording with one buffer, whose trace is repeated with later time stamps (TSC packets: a byte 0x19 and 7 bytes)."""
    base, size, places = 0, 0, []
    for line in script(name, folder, "-D").stdout.split("\n"):
        piece = re.search("PERF_RECORD_AUXTRACE size: 0x([0-9a-f]+)", line)
        stamp = re.match(r"\.\s+([0-9a-f]{8}):\s+19 .*\bTSC 0x", line)
        if piece:
            base, size = base + size, int(piece.group(1), 16)
        elif stamp:
            places.append(base + int(stamp.group(1), 16))
    with open(os.path.join(TRUTH, name + ".data"), "rb") as file:
        whole = file.read()
    at, length = struct.unpack_from("<QQ", whole, 40)
    records, end, head, reference = bytearray(), at + length, b"", 0
    while at < end:
        kind, _, length = struct.unpack_from("<IHH", whole, at)
        record, payload = whole[at:at + length], 0
        if kind == AUXTRACE:
            payload, _, reference = struct.unpack_from("<QQQ", whole, at + 8)
            head = head or record
        elif kind != EXIT:
            records += record
        at += length + payload
    trace, many = bytearray(raw_trace(name)), bytearray()
    stamps = [int.from_bytes(trace[place + 1:place + 8], "little") for place in places]
    for i in range(times):
        for place, stamp in zip(places, stamps):
            trace[place + 1:place + 8] = (stamp + i * (reference - stamps[0] + 20000)).to_bytes(7, "little")
        many += trace
    path = os.path.join(folder, "repeated.data")
    with open(path, "wb") as file:  # of the features, which follow the records, only the index of traces, which is empty
        begin = struct.unpack_from("<Q", whole, 40)[0]
        start = bytearray(whole[:begin])
        struct.pack_into("<Q", start, 48, len(records) + len(head) + len(many))
        struct.pack_into("<4Q", start, 72, 1 << FEATURE_AUXTRACE, 0, 0, 0)
        first = bytearray(head)
        struct.pack_into("<Q", first, 8, len(many))
        records = start + records + first + many
        file.write(records + struct.pack("<QQQ", len(records) + 16, 8, 0))
    return path


def one_cpu():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def segments(name, symfs, folder):
    """A trace that is long enough to be decoded in segments is what its part is, as often as it has it, for any number of CPUs."""
    if name not in ONE_BUFFER:
        raise Skip("it has several buffers")
    times = 4 if SHORT else 12
    words = ["-F", "tid,ip,addr,sym"]
    once = script(name, symfs, "--itrace=be", *words).stdout
    path = repeat(name, folder, times)
    problems = []
    for before in (None, one_cpu):
        many = script(name, symfs, "--itrace=be", *words, path=path, before=before).stdout
        if many != once * times:
            problems.append("branches differ: %d lines instead of %d" % (many.count("\n"), once.count("\n") * times))
    for itrace in ("i20usge", "i100usye"):
        texts = [script(name, symfs, "--itrace=" + itrace, "-F", "+tsc,+ipc", path=path, before=before).stdout
                 for before in (None, one_cpu)]
        if texts[0] != texts[1] or not texts[0]:
            problems.append("--itrace=%s differs between one CPU and all" % itrace)
    return problems


def said_gaps(text):
    """What the end says: the kinds of gaps, the instructions that are lost, and by module of which build what."""
    total = re.search(r"the decoded trace has gaps: (.*?)(?:; at least (\d+) instructions? (?:is|are) lost)?\.$", text, re.M)
    need(total, text)
    modules = re.findall(r"^  (\S.*): (\d+) from (0x\w+) to (0x\w+)(?:; at least (\d+) instructions? (?:is|are) lost)? \((.*)\)$", text, re.M)
    return total[1], int(total[2] or 0), modules


def gaps(name, folder):
    """Without code, the end says how often it was missing, where, and how many instructions are lost: each branch is one, as only branches are
    seen without code."""
    empty = os.path.join(folder, "empty")
    os.makedirs(empty, exist_ok=True)
    said = script(name, empty, "--itrace=b").stderr
    kinds, lost, modules = said_gaps(said)
    total = re.match(r"(\d+) by missing code", kinds)
    need(total and modules and (sum(int(module[1]) for module in modules) == int(total[1]) or "more modules" in said), said)
    need(all(module[5] == "no code" for module in modules), said)
    least = most = 0
    if name not in COUNTED:
        return []
    with lzma.open(os.path.join(TRUTH, name + ".gt.xz")) as file:
        for ip, _, _, _, _, _, kind, flags, _ in ENTRY.iter_unpack(file.read()):
            if kind in UNKNOWN_BRANCHES and not flags & NOT_DECODABLE:
                least += not flags & PERHAPS and not ip >> 63 # code of the kernel is known
                most += 1
    need(least <= lost <= most, "%d lost of %d to %d: %s" % (lost, least, most, said))
    return []


def one_missing(name, symfs, folder):
    """Without the C library, no other instruction than those that were executed is shown, in their order, and no other file is blamed."""
    if name not in ONE_MISSING:
        raise Skip("other traces show it")
    part = os.path.join(folder, "part")
    shutil.rmtree(part, ignore_errors=True)
    shutil.copytree(symfs, part)
    problems = []
    for path in glob.glob(os.path.join(part, "**", "libc.so.6"), recursive=True):
        os.rename(path, path + ".away")
        done = script(name, part, "--itrace=i1i", "-F", "tid,ip")
        os.rename(path + ".away", path)
        problems += ["without %s: %s" % (os.path.basename(path), why) for why in in_order(name, done.stdout)]
        _, _, modules = said_gaps(done.stderr)
        if [(os.path.basename(module[0]), module[5]) for module in modules] != [(os.path.basename(path), "no code")]:
            problems.append("without %s: %s" % (os.path.basename(path), done.stderr))
    return problems


def in_order(name, text):
    """Whether the printed instructions are executed ones, in their order: each is found behind the one before it."""
    threads, _ = truth(name)
    places, behind = {}, {}
    for tid, addresses in threads.items():
        for i, address in enumerate(addresses):
            places.setdefault((tid, address), []).append(i)
    for line in filter(None, text.split("\n")):
        tid, address = line.split()
        key = (int(tid), int(address, 16))
        found = places.get(key, [])
        place = bisect.bisect_left(found, behind.get(key[0], 0))
        if place == len(found):
            return ["%s is not executed there" % line.strip()]
        behind[key[0]] = found[place] + 1
    return [] if behind else ["no instructions"]


def other_build(name, symfs, folder):
    """A file of another build contradicts the trace; the end says so once, with the file."""
    other = os.path.join(folder, "other")
    shutil.rmtree(other, ignore_errors=True)
    shutil.copytree(symfs, other)
    programs = glob.glob(os.path.join(other, "**", "bin", PROGRAMS.get(name.split(".")[0], "none")), recursive=True)
    if not programs:
        raise Skip("the flow of its program hardly depends on short jumps")
    with open(programs[0], "rb") as file:
        code = file.read()
    with open(programs[0], "wb") as file: # the notes, with the build-id, stay; short conditional jumps become NOPs
        file.write(code[:0x1000] + re.sub(b"\x75[\0-\x7f]", b"\x90\x90", code[0x1000:0x2000], flags=re.S) + code[0x2000:])
    said = script(name, other, "--itrace=e").stderr
    kinds, lost, modules = said_gaps(said)
    need("by code that contradicts the trace" in kinds and lost, said)
    need(said.count(os.path.basename(programs[0])) == 1, said)
    blamed = {os.path.basename(module[0]): module[5] for module in modules}
    need(blamed.get(os.path.basename(programs[0])) in ("code of another build?", "no or other code"), said)
    return []


def other_terms(name, symfs, folder):
    """A trace is decoded by the terms of its own event, also if another event of the PMU, before it or behind it, has others."""
    if name != "mix.pt_cyc":
        return []
    cyc, mtc, tsc, noretcomp, no_time = 1 << 1, 1 << 9, 1 << 10, 1 << 11, ~4
    with open(os.path.join(TRUTH, name + ".data"), "rb") as file:
        data = file.read()
    records, (size, at, length) = list(traces.records(data)), struct.unpack_from("<QQQ", data, 16)
    own = data[at:at + size]
    ids, (config, sample_type) = struct.unpack_from("<QQ", own, size - 16), struct.unpack_from("<Q8xQ", own, 8)
    want, problems = script(name, symfs, "--itrace=be", "-F", "tid,time,ip,addr,flags").stdout, []
    for changed in (config & ~tsc, config | noretcomp, config & ~(cyc | mtc), None):
        other = bytearray(own)
        if changed is None:
            struct.pack_into("<Q", other, 24, sample_type & no_time)
        else:
            struct.pack_into("<Q", other, 8, changed)
        struct.pack_into("<QQ", other, size - 16, 0, 0)  # it has no ids
        path = os.path.join(folder, "terms.data")
        for before in (False, True)[:1 if changed is None else 2]:  # the first event says where the times of records are
            swapped = data[:at] + (other if before else own) + data[at + size:]
            added = own[:-16] + struct.pack("<QQ", 0, ids[1]) if before else bytes(other)
            traces.write(path, swapped, records, added, data[ids[0]:ids[0] + ids[1]])
            got = script(name, symfs, "--itrace=be", "-F", "tid,time,ip,addr,flags", path=path).stdout
            if got != want:
                problems.append("terms %s, %s: %s" % (changed, "before" if before else "behind", first_difference(got, want)))
    return problems


def lengths(folder):
    """Random instructions have the lengths that capstone finds, too."""
    program = os.path.join(folder, "lengths")
    built = process.run("cc", "-O1", "-I" + os.path.join(TOP, "src"), os.path.join(TOP, "test", "intel_pt", "lengths.c"),
                        os.path.join(TOP, "src", "arch", "x86", "instruction.c"), "-lcapstone", "-o", program)
    if built.returncode:
        raise Skip("capstone is not installed (package libcapstone-dev): " + built.stderr[-200:])
    problems = []
    for mode in ("64", "32"):
        *different, compared = process.must(program, "300000" if SHORT else "3000000", "7", mode).splitlines()
        need(int(compared.split()[1]) > 100000, compared)
        problems += ["%s-bit: %s" % (mode, line) for line in different[:5]]
    return problems


IP, TID, TIME, ADDR, BRANCHES, WEIGHT, TRANSACTIONS, REGISTERS, WEIGHTS = (1 << bit for bit in (0, 1, 2, 3, 11, 14, 17, 18, 24))
GENERAL, BASIC, MEMORY, LAST_BRANCHES, VECTORS = 1, 4, 5, 8, 16  # types of blocks
CODE = 0x555555555000
PSB, PSBEND, END, END_WITH_IP = b"\x02\x82" * 8, b"\x02\x23", b"\x02\x33", b"\x02\xb3"
BLOCKS = [  # of each record
    [(BASIC, {0: CODE, 1: 1, 2: 1000}), (GENERAL, {i: 0x100 + i for i in range(18)}), (VECTORS, {i: 0x200 + i for i in range(32)})],
    [(BASIC, {0: CODE + 1, 1: 1, 2: 2000}), (GENERAL, {i: 0x300 + i for i in range(18)}), (VECTORS, {i: 0x400 + i for i in range(32)}), (MEMORY, {0: 0x7000, 2: 55})],
    [(BASIC, {0: CODE + 2, 1: 2, 2: 3000}), (MEMORY, {0: 0x7008, 2: 7 << 32 | 9})],
    [(BASIC, {0: CODE + 3, 1: 3, 2: 4000}), (MEMORY, {0: 0x7010, 2: 0, 3: 77})],
    [(BASIC, {0: CODE + 4, 1: 6, 2: 5000}), (LAST_BRANCHES, {i: (i % 8 << 61) + i + 3 if i % 3 == 2 else 0x1000 + 16 * i for i in range(24)}),
     (LAST_BRANCHES + 1, {i: 0x2000 + i for i in range(9)})],
    [(BASIC, {0: 0xffffffff81000000, 1: 5})], [(BASIC, {2: 6000})], [(GENERAL, {1: CODE + 9})],
    [(BASIC, {0: CODE + 5, 2: 7000}), (GENERAL, {2: 0x55000001}), (MEMORY, {3: 0x12 << 32 | 5})]]


def blocks_trace(first):
    """Blocks behind a synchronization point; times are those after the first."""
    trace = PSB + b"\x19" + first.to_bytes(7, "little") + b"\x02\x03\x08\x00" + PSBEND
    for record in BLOCKS:
        for kind, items in record:
            trace += traces.block(kind, [(i, value + (first if kind == BASIC and i == 2 else 0)) for i, value in items.items()])
        trace += END
    with_ip = traces.block(GENERAL, [(2, 5), (3, 6)]) + END_WITH_IP + b"\x7d" + (CODE + 0x777).to_bytes(6, "little")
    return trace + with_ip


def records_in_trace(folder):
    """The samples of events that record into the trace are perf's, but for registers that a record does not have."""
    source, path, problems = os.path.join(TRUTH, "mix.pt_base.data"), os.path.join(folder, "blocks.data"), []
    trace = raw_trace("mix.pt_base")
    at = trace.index(b"\x19") + 1
    blocks, base = blocks_trace(int.from_bytes(trace[at:at + 7], "little")), IP | TID | TIME
    general = 0xff03ff
    for events, counters, fields in (
            ([(base | ADDR | WEIGHT, 0, 0, 1000, 300)], (), "addr,weight"), ([(base | ADDR | WEIGHTS, 0, 0, 1000, 300)], (), "hw:addr,weight,ins_lat"),
            ([(base | BRANCHES, 0, 8, 1000, 300)], (), "brstack"), ([(base | BRANCHES, 0, 8 | 1 << 17, 1000, 300)], (), "brstack"),
            ([(base | TRANSACTIONS, 0, 0, 1000, 300)], (), "transaction"),
            ([(base | REGISTERS, general | 0xffffffff << 32, 0, 1000, 300)], (), "iregs"),
            ([(base, 0, 0, 1000, 300), (base, 0, 0, 2000, 301)], (), "period"),
            ([(base, 0, 0, 1000, 300), (base, 0, 0, 2000, 301)], ((0, 300), (1, 301)), "period"),
            ([(base, 0, 0, 1000, 300), (base, 0, 0, 2000, 301)], ((0, 301), (1, 300)), "period")):
        traces.write_blocks(path, source, events, blocks, counters)
        prefix, _, rest = fields.rpartition(":")
        words = ["script", "--itrace=oe", "--ns", "-F", (prefix + ":" if prefix else "") + "tid,time,ip,event," + rest, "-i", path]
        if rest == "transaction":
            words = ["report", "--stdio", "-s", "transaction,sym", "--itrace=oe", "-i", path]
        perfs, ours = (process.run(program, *words, cwd=TRUTH).stdout.split("\n\n#\n# (Tip")[0].splitlines() for program in (need_reference(), process.PERFUSE))
        if rest == "iregs":  # perf shows registers of earlier samples, and of its own
            need("AX:0x5    BX:0x0    CX:0x6" in ours[-1] and "XMM0:0x0" in ours[-1], ours[-1])
            perfs, ours = perfs[:2], ours[:2]
        if ours != perfs or len(ours) < 2:
            problems.append("%s: %s" % (fields, first_difference("\n".join(ours).encode(), "\n".join(perfs).encode())))
    return problems


CHAINS = 1 << 5
DEEPEST, STEP = 7500, 2000  # frames: a record has 64 KiB, and deeper chains leave out outermost frames in steps


def deep_chains(folder):
    """A record in a trace has a call chain as deep as there are calls, up to the largest record, and the fields behind the chain."""
    source, path, symfs = os.path.join(TRUTH, "mix.pt_base.data"), os.path.join(folder, "deep.data"), os.path.join(folder, "symfs")
    with tarfile.open(os.path.join(TRUTH, "symfs.tar.xz")) as files:
        files.extractall(symfs)
    mapped = next(line.split() for line in script("mix.pt_base", symfs, "--show-mmap-events", "--itrace=p").stdout.split("\n")
                  if "[0x%x(" % CODE in line)
    with open(symfs + mapped[-1], "r+b") as file:
        file.seek(int(mapped[mapped.index("@") + 1], 0))
        file.write(b"\x74\x05\xe8\xf9\xff\xff\xff")  # je behind; call to the je
    trace = raw_trace("mix.pt_base")
    at = trace.index(b"\x19") + 1
    later = (int.from_bytes(trace[at:at + 7], "little") + 100000).to_bytes(7, "little")  # than the mapping
    start = b"\x99\x01\x7d" + CODE.to_bytes(6, "little")
    problems = []
    for calls in (3, 600, 8100, 12000):
        bits = b"\x80" * (calls // 6) + (bytes([2 << calls % 6]) if calls % 6 else b"")  # a 0 for each call
        record = traces.block(BASIC, [(0, CODE), (1, 1)]) + traces.block(MEMORY, [(0, 0x7000), (2, 55)])
        blocks = PSB + b"\x19" + later + b"\x02\x03\x08\x00" + start + PSBEND + bits + record + END
        traces.write_blocks(path, source, [(IP | TID | TIME | ADDR | CHAINS | WEIGHT, 0, 0, 1000, 300)], blocks)
        for size in (0, 16, 1000):
            words = ["script", "--symfs", symfs, "--itrace=og%s" % (size or ""), "--max-stack", "20000", "-F", "ip,addr,weight", "-i", path]
            done = process.run(process.PERFUSE, *words, cwd=TRUTH)
            lines = done.stdout.split("\n")
            frames = [line.split()[0] for line in lines[1:] if line.strip()]
            values = lines[0].split()
            most = min(calls, size or calls)  # the last call waits for the packet behind it
            most = DEEPEST - STEP + (calls - 1 - DEEPEST + STEP) % STEP + 1 if not size and calls - 1 > DEEPEST else most
            good = frames[:1] == ["%x" % CODE] and set(frames[1:]) <= {"%x" % (CODE + 7)}
            if values != ["7000", "55"] or not good or len(frames) != most:
                problems.append("%d calls, g%d: %d frames, %s %s" % (calls, size, len(frames), values, frames[:3]))
            if size:  # perf shows a frame less than was requested
                one_more = [word.replace("og%d" % size, "og%d" % (size + 1)) for word in words]
                perfs = process.run(need_reference(), *one_more, cwd=TRUTH).stdout
                if perfs != done.stdout:
                    problems.append("%d calls, g%d: %s" % (calls, size, first_difference(done.stdout.encode(), perfs.encode())))
    return problems


def damage(name, symfs, folder):
    """No crash and no hang, whatever the bytes are."""
    with open(os.path.join(TRUTH, name + ".data"), "rb") as file:
        whole = file.read()
    chance = random.Random(name)
    problems = []
    for attempt in range(DAMAGED):
        bytes_ = bytearray(whole)
        for _ in range(chance.choice([1, 4, 64])):
            bytes_[chance.randrange(0x300, len(bytes_))] = chance.choice([0, 2, 0x82, 0xff, chance.randrange(256)])
        path = os.path.join(folder, "damaged.data")
        with open(path, "wb") as file:
            file.write(bytes_[:chance.randrange(0x400, len(bytes_))] if attempt % 4 == 3 else bytes_)
        done = script(name, symfs, "--itrace=i1000ibewpxo", path=path, seconds=60)
        if done.returncode < 0:
            problems.append("attempt %d: signal %d: %s" % (attempt, -done.returncode, done.stderr[-300:]))
    return problems


def logs(name, folder):
    """--itrace=d writes the packets that -D prints, and root writes them through no link of another user."""
    packets = re.compile(r"^\.  [0-9a-f]{8}: .*$", re.M)
    log, target = os.path.join(folder, "intel_pt.log"), os.path.join(folder, "target")
    path = os.path.join(TRUTH, name + ".data")
    process.perfuse("script", "--itrace=d", "-i", path, cwd=folder)
    with open(log, encoding="ascii") as file:
        found = packets.findall(file.read())
    wanted = packets.findall(process.perfuse("script", "-D", "-i", path, cwd=folder).stdout)
    problems = [] if found == wanted and found else ["%d packets in the log, %d printed" % (len(found), len(wanted))]
    os.unlink(log)
    if os.geteuid() == 0:
        os.symlink(target, log)
        os.chown(log, 65534, 65534, follow_symlinks=False)
        done = process.perfuse("script", "--itrace=d", "-i", path, cwd=folder)
        problems += ["root writes through the link"] if os.path.exists(target) else []
        problems += [] if "--itrace=d: " in done.stderr else ["no message: " + done.stderr[-200:]]
        os.unlink(log)
    return problems


def main():
    names = sorted(os.path.basename(path)[:-len(".gt.xz")] for path in glob.glob(os.path.join(TRUTH, "*.gt.xz")))
    if not names:
        skipped("traces with known instructions", "no such folder: %s (PERFUSE_CORPUS names another)" % TRUTH)
        return
    failed = False
    for what, check in (("lengths of instructions are those of a second decoder", lengths),
                        ("samples that other events record into the trace are perf's", records_in_trace),
                        ("samples in a trace have deep call chains", deep_chains)):
        if not is_selected(what):
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                failed |= report(what, check(folder))
            except Skip as why:
                skipped(what, str(why))
            except Failure as why:
                failed |= report(what, [str(why)])
    with tempfile.TemporaryDirectory() as folder:
        symfs = os.path.join(folder, "symfs")
        with tarfile.open(os.path.join(TRUTH, "symfs.tar.xz")) as files:
            files.extractall(symfs)
        for name in filter(is_selected, names):
            for what, check in (("every instruction of %s is decoded", lambda: compare(name, symfs)),
                                ("branches of %s are in order", lambda: branches(name, symfs)),
                                ("times and cycles of %s are perf's", lambda: agrees(name, symfs)),
                                ("samples beside %s get chains and branches", lambda: added(name, symfs, folder)),
                                ("the samples of %s replace the trace", lambda: injects(name, symfs, folder)),
                                ("--xed prints instructions of %s as text", lambda: disassembled(name, symfs)),
                                ("%s is decoded through a pipe, too", lambda: piped(name, symfs)),
                                ("a window of %s is decoded alone", lambda: window(name, symfs)),
                                ("time stamps of %s are the true ones", lambda: time_stamps(name, symfs)),
                                ("libipt decodes the instructions of %s, too", lambda: second_opinion(name, symfs, folder)),
                                ("segments of %s are what the whole trace is", lambda: segments(name, symfs, folder)),
                                ("gaps of %s without code are counted", lambda: gaps(name, folder)),
                                ("instructions of %s without one file are executed ones", lambda: one_missing(name, symfs, folder)),
                                ("another build of the program of %s is said", lambda: other_build(name, symfs, folder)),
                                ("%s is decoded by the terms of its event", lambda: other_terms(name, symfs, folder)),
                                ("the log of %s has its packets", lambda: logs(name, folder)),
                                ("damage of %s is survived", lambda: damage(name, symfs, folder))):
                if what.startswith(LEFT_OUT):
                    continue
                try:
                    problems = check()
                except Skip as why:
                    skipped(what % name, str(why))
                    continue
                except Failure as why:
                    problems = [str(why)]
                failed |= report(what % name, problems)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
