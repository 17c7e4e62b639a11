#!/usr/bin/env python3
"""ipc and cycle: windows of instructions per cycle contain the true numbers of traces whose instructions and cycles are known
($PERFUSE_CORPUS/pt/truth), and add up to the total."""
import bisect
import contextlib
import csv
import io
import json
import lzma
import os
import re
import sqlite3
import struct
import sys
import tarfile
import tempfile
import xml.etree.ElementTree

from suite import process, pt_encoder
from suite.settings import CORPUS, SHORT, TOP
from suite.tests import Skip, need, remark, run_tests, tests_of

TRUTH = os.path.join(CORPUS, "pt", "truth")
ENTRY = struct.Struct("<QQQQIBBBB")  # ip, target, tsc, cycle, tid, length, kind, flags, cpu
NOT_DECODABLE = 1
SVG = "{http://www.w3.org/2000/svg}"
TRACES = ("mix.pt_cyc", "sig.pt_cyc", "mix.cpu_cyc", "kern.mix_cpu1", "pp.cpu2_cyc")


class Context:
    def __init__(self, work):
        self.work = work
        self.symfs = os.path.join(work, "symfs")
        self.known = {}

    def need_truth(self):
        if not os.path.isdir(TRUTH):
            raise Skip("no such folder: %s (PERFUSE_CORPUS names another)" % TRUTH)
        if not os.path.isdir(self.symfs):
            with tarfile.open(os.path.join(TRUTH, "symfs.tar.xz")) as files:
                files.extractall(self.symfs)

    def perfuse(self, command, name, *options, code=0):
        self.need_truth()
        vmlinux = ["-k", os.path.join(TRUTH, "kern.vmlinux")] if name.startswith("kern.") else []
        done = process.perfuse(command, "--symfs", self.symfs, *vmlinux, *options, "-i", os.path.join(TRUTH, name + ".data"))
        need(done.returncode == code, "%s of %s ends with %d: %s" % (command, name, done.returncode, done.stderr))
        return done

    def rows(self, name, *options):
        return list(csv.DictReader(io.StringIO(self.perfuse("ipc", name, *options, "--format=csv").stdout)))

    def entries(self, name):
        """By CPU: its decodable instructions, in order of execution."""
        self.need_truth()
        if name not in self.known:
            with lzma.open(os.path.join(TRUTH, name + ".gt.xz")) as file:
                data = file.read()
            cpus = {}
            for ip, _, _, cycle, _, _, _, flags, cpu in ENTRY.iter_unpack(data):
                if not flags & NOT_DECODABLE:
                    cpus.setdefault(cpu, []).append((ip, cycle))
            self.known[name] = cpus
        return self.known[name]

    def points(self, name):
        """By CPU: instructions and cycles so far, at the end of each timed range that has instructions."""
        cpus = {}
        for row in self.rows(name, "--ranges"):
            sums, points = cpus.setdefault(cpu_of(row), ([0, 0], []))
            sums[0] += int(row["instructions"])
            sums[1] += int(row["cycles"])
            if int(row["instructions"]):
                points.append(tuple(sums))
        return {cpu: points for cpu, (_, points) in cpus.items()}

    def true_cycles(self, name, cpu):
        """The traced cycle of each instruction. Cycles outside of the trace are not counted: the clock of the truth is moved by them
        where they lie, between the two instructions that are farthest apart."""
        entries, points = self.entries(name)[cpu], self.points(name)[cpu]
        cycles, done, shift, last = [], 0, None, 0
        for count, cycle in points:
            now = entries[count - 1][1] - cycle
            pause = done
            if shift is not None and now != shift:
                pause = max(range(done, count), key=lambda i: entries[i][1] - entries[i - 1][1])
            for i in range(done, count):
                cycles.append(min(max(entries[i][1] - (shift if i < pause else now), last), cycle))
            done, shift, last = count, now, cycle
        return cycles


def cpu_of(row):
    return int(row["cpu"] or 0)


def check_bounds(context, name, window, *options):
    """For both meanings of an edge: an instruction that retires in its cycle may belong to either side. Returns how many windows were checked,
    and of those of at least 2 us without a note, and with one, how far the linear number is from the true one."""
    found, errors, uncertain = {}, [], []
    for row in context.rows(name, "--window", window, *options):
        found.setdefault(cpu_of(row), []).append(row)
    need(found, "no windows of " + name)
    checked = 0
    for cpu, rows in found.items():
        cycles = context.true_cycles(name, cpu)
        need(cycles == sorted(cycles), "the true cycles of %s are not in order" % name)
        for row in rows:
            start, end = int(row["from_cycle"]), int(row["from_cycle"]) + int(row["cycles"])
            for side in (bisect.bisect_left, bisect.bisect_right):
                first = 0 if start == 0 else side(cycles, start)
                last = len(cycles) if row is rows[-1] else side(cycles, end)
                true = last - first
                need(int(row["least"]) <= true <= int(row["most"]), "%s, cycle %d of %s: %d instructions are not in %s to %s" % (
                    window, start, name, true, row["least"], row["most"]))
            if int(row["cycles"]) >= 7000:
                error = abs(float(row["linear"]) * int(row["cycles"]) - true) / max(true, 1)
                (uncertain if row["note"] else errors).append(error)
            checked += 1
    return checked, errors, uncertain


def test_bounds(context):
    """the bounds of each window contain the true number of instructions, and the linear one is within 2 % unless a note says otherwise"""
    checked, errors, uncertain = 0, [], []
    for name in TRACES[:3] if SHORT else TRACES:
        for window in ("50", "333", "1000", "2us", "10us"):
            count, some, others = check_bounds(context, name, window)
            need(not some or max(some) < 0.02, "the linear IPC of %s differs by %.1f %%" % (name, 100 * max(some, default=0)))
            checked, errors, uncertain = checked + count, errors + some, uncertain + others
    need(checked > 10000, "only %d windows" % checked)
    # of a long range, nothing shows which of its cycles retired the instructions
    far = sum(error > 0.02 for error in uncertain)
    remark("%d windows of 2 us or more differ by at most %.1f %%; %d of %d with the note by more than 2 %%" % (
        len(errors), 100 * max(errors), far, len(uncertain)))
    need(far <= 2 and len(uncertain) <= len(errors) / 10, "%d of %d windows, %d have no note" % (far, len(uncertain), len(errors)))


CR3_MOVES = (0xffffffff81000017, 0xffffffff81000028)  # of the kernel in kern.vmlinux
OTHERS = (("kern.mix_cpu1", 50000, {"threshold": 8, "mtc": 0, "psb": 2048}), ("kern.mix_cpu1", 50000, {"threshold": 3, "mtc": None, "returns": False}),
          ("kern.mix_cpu1", 20017, {"threshold": 5, "mtc": None}), ("kern.mix_cpu1", 50000, {"threshold": 4, "paging": CR3_MOVES}),
          ("kern.mix_cpu1", 50000, {"psb": 2048, "paging": CR3_MOVES}), ("mix.pt_cyc", 20017, {"threshold": 5, "mtc": None}),
          ("mix.pt_cyc", 50000, {"run": False, "mtc": 6, "psb": 1024, "long_bits": True}), ("mix.pt_cyc", 50000, {"mtc": 0, "psb": 4096}))
OVERFLOWS = (("kern.mix_cpu1", 30000, {"lost": ((10007, 10500), (20000, 20900))}), ("mix.pt_cyc", 50000, {"mtc": None, "lost": ((30011, 33333),)}),
             ("kern.mix_cpu1", 30000, {"threshold": 4, "psb": 2048, "lost": ((12345, 12350), (12400, 13000))}))


def encode(context, name, count, words):
    """The first entries of a known execution, with other parameters: the cycles of its instructions, in order, and the words that show it."""
    context.need_truth()
    with lzma.open(os.path.join(TRUTH, name + ".gt.xz")) as file:
        entries = list(ENTRY.iter_unpack(file.read(count * ENTRY.size)))
    with open(os.path.join(TRUTH, name + ".json")) as file:
        config = int(json.load(file)["config"], 16)
    with open(os.path.join(TRUTH, name + ".data"), "rb") as file:
        data = file.read()
    settings = pt_encoder.Settings(**words)
    encoder = pt_encoder.Encoder(settings, name.startswith("kern."))
    path = os.path.join(context.work, "other.data")
    pt_encoder.rewrite(path, data, encoder.run(entries), settings, config)
    return sorted(encoder.traced), ["ipc", "-f", "--symfs", context.symfs, "-k", os.path.join(TRUTH, "kern.vmlinux"), "-i", path, "--format=csv"]


def check_encoded(context, name, count, words):
    """The numbers of windows whose bounds contain the true number, and of those with a gap."""
    traced, command = encode(context, name, count, words)
    checked = gaps = 0
    for window in ("50", "700", "5000"):
        for row in csv.DictReader(io.StringIO(process.perfuse(*command, "--window", window).stdout)):
            start, end = int(row["from_cycle"]), int(row["from_cycle"]) + int(row["cycles"])
            gaps += row["note"] == "gap"
            for side in (bisect.bisect_left, bisect.bisect_right):
                true = side(traced, end) - (0 if start == 0 else side(traced, start))
                need(row["note"] == "gap" or int(row["least"]) <= true <= int(row["most"]), "%s with %s, cycle %d: %d are not in %s to %s" % (
                    name, words, start, true, row["least"], row["most"]))
            checked += row["note"] != "gap"
    need(checked > 250, "only %d windows of %s with %s" % (checked, name, words))
    return gaps, command


def spread(command):
    """The sum of the distances of the bounds."""
    return sum(int(row["most"]) - int(row["least"]) for row in csv.DictReader(io.StringIO(process.perfuse(*command, "--window", "2us").stdout)))


def test_other_parameters(context):
    """the bounds contain the true number, too, where few branches have CYC packets, and for other MTC, PSB and TNT packets and returns"""
    for name, count, words in OTHERS:
        gaps, command = check_encoded(context, name, count, words)
        need(gaps == 0, "%d gaps of %s with %s" % (gaps, name, words))
        if "paging" in words:
            spreads = [spread(command), spread(encode(context, name, count, {**words, "paging": ()})[1])]
            need(0 < spreads[0] < 0.8 * spreads[1], "packets of moves to CR3 do not make bounds narrower: %s" % spreads)


def test_overflows(context):
    """where packets overflowed, the series is interrupted and the overflow is shown; the bounds contain the true number in all other windows"""
    for name, count, words in OVERFLOWS:
        gaps, command = check_encoded(context, name, count, words)
        need(0 < gaps <= 12 * len(words["lost"]), "%d windows of %s with %s have gaps" % (gaps, name, words))
        events = [row["event"] for row in csv.DictReader(io.StringIO(process.perfuse(*command, "--events").stdout))]
        need(events.count("overflow") == len(words["lost"]) and "gap" not in events, "%s with %s: %s" % (name, words, sorted(set(events))))


def test_sums(context):
    """buckets of each length add up to the instructions and cycles of the trace"""
    for name in TRACES:
        total = {cpu_of(row): (int(row["instructions"]), int(row["cycles"])) for row in context.rows(name, "--tracks")}
        need(sum(n for n, _ in total.values()) == sum(map(len, context.entries(name).values())), "not all instructions of " + name)
        for window in ("77", "1000", "3us"):
            found = {}
            for row in context.rows(name, "--window", window):
                n, cycles = found.get(cpu_of(row), (0, 0))
                found[cpu_of(row)] = n + int(row["instructions"]), cycles + int(row["cycles"])
            need(found == total, "%s of %s: %s, not %s" % (window, name, found, total))


def test_definitions(context):
    """interior, leading and trailing instructions, and the linear number, follow from the timed ranges by their definitions"""
    for name in TRACES:
        ranges = {}
        for row in context.rows(name, "--ranges"):
            start = int(row["from_cycle"])
            ranges.setdefault(cpu_of(row), []).append((start, start + int(row["cycles"]), int(row["instructions"])))
        for row in context.rows(name, "--window", "700", "--step", "300", "--width", "0")[::11]:
            start = int(row["from_cycle"])
            end = start + int(row["cycles"])
            sums, linear = [0, 0, 0], 0
            for low, high, count in ranges[cpu_of(row)]:
                if high <= start and not (low == high == start == 0) or low >= end and low != high or low > end:
                    continue
                kind = 0 if low >= start and high <= end else 2 if low >= start else 1
                sums[kind] += count
                linear += count * (min(high, end) - max(low, start)) / (high - low) if high > low else count
            shown = [int(row[column]) for column in ("interior", "leading", "trailing")]
            need(shown == sums, "cycle %d of %s: %s, not %s" % (start, name, shown, sums))
            need(abs(float(row["linear"]) * (end - start) - linear) < 1, "cycle %d of %s: linear" % (start, name))
            need(abs(float(row["conservative"]) * (end - start) - sums[0]) < 1, "cycle %d of %s: conservative" % (start, name))
            need(abs(float(row["optimistic"]) * (end - start) - sum(sums)) < 1, "cycle %d of %s: optimistic" % (start, name))


BY_DEFINITION = """
with ranges as (
    select cpu, insn_count as n, sum(cyc_count) over before - cyc_count as low, sum(cyc_count) over before as high
    from samples where cyc_count > 0 window before as (partition by cpu order by id))
select
    coalesce(sum(case when low >= :start and high <= :end then n end), 0),
    coalesce(sum(case when low < :start then n end), 0),
    coalesce(sum(case when low >= :start and high > :end then n end), 0),
    sum(n * 1.0 * (min(high, :end) - max(low, :start)) / (high - low))
from ranges where high > :start and low < :end and cpu = :cpu
"""


def test_sql(context):
    """SQL over the exported database gives the same conservative, optimistic and linear numbers by their definitions"""
    for name in TRACES:
        path = os.path.join(context.work, name + ".db")
        vmlinux = ["-k", os.path.join(TRUTH, "kern.vmlinux")] if name.startswith("kern.") else []
        context.need_truth()
        process.must(process.PERFUSE, "data", "export", "sqlite", "-i", os.path.join(TRUTH, name + ".data"), "--symfs", context.symfs, *vmlinux,
                     "--itrace=be", "--columns", "branches", path)
        with contextlib.closing(sqlite3.connect(path)) as database:
            cpus = [cpu for (cpu,) in database.execute("select distinct cpu from samples where cyc_count > 0 order by cpu")]
            rows = context.rows(name, "--window", "2500", "--step", "900", "--width", "0")
            for row in rows[::max(1, len(rows) // 40)]:
                start, cycles = int(row["from_cycle"]), int(row["cycles"])
                cpu = cpu_of(row) if len(cpus) > 1 else cpus[0]
                interior, leading, trailing, linear = database.execute(BY_DEFINITION, {"start": start, "end": start + cycles, "cpu": cpu}).fetchone()
                for column, number in (("conservative", interior), ("optimistic", interior + leading + trailing), ("linear", linear)):
                    need(abs(float(row[column]) * cycles - number) < 0.01, "%s of cycle %d of %s: %s, not %f" % (
                        column, start, name, row[column], number / cycles))


AROUND = """
with windows as (
    select origins.rowid as origin, start, origins.cycle + start as low, origins.cycle + start + :bin as high from origins
    join (select -2 * :bin as start union select -:bin union select 0 union select :bin) on low >= 0 and high <= (select max(high) from ranges)),
rates as (
    select start, total(case when r.low >= w.low and r.high <= w.high then n end) / :bin as conservative, total(n) * 1.0 / :bin as optimistic,
        total(n * 1.0 * (min(r.high, w.high) - max(r.low, w.low)) / (r.high - r.low)) / :bin as linear
    from windows w left join ranges r on r.high > w.low and r.low < w.high group by w.origin, w.start)
select start, count(*), avg(linear), avg(conservative), avg(optimistic) from rates group by start order by start
"""


def check_around(context, name, database, cpu, event):
    """The mean around the event, of a CPU or of the only series, is that of SQL. Returns the number of its rows."""
    only = [] if cpu is None else ["--cpu", str(cpu)]
    kind, _, end = event.partition(":")
    origins = [(int(row["from_cycle"]) + (int(row["cycles"] or 0) if end else 0),) for row in context.rows(name, "--events", *only) if row["event"] == kind]
    database.executescript("drop table if exists origins; create temp table origins (cycle integer)")
    database.executemany("insert into origins values (?)", origins)
    known = {row[0]: row for row in database.execute(AROUND, {"bin": 2500})}
    rows = [row for row in context.rows(name, "--around", event, "--window", "2500", "--span", "5000", "--width", "0", *only) if int(row["count"])]
    need({int(row["from"]) for row in rows} == set(known), "%s of %s: %s, not %s" % (event, name, rows, known))
    for row in rows:
        _, count, *numbers = known[int(row["from"])]
        need(int(row["count"]) == count, "%s of %s: %s, not %d" % (event, name, row, count))
        for column, number in zip(("ipc", "conservative", "optimistic"), numbers):
            need(abs(float(row[column]) - number) < 1e-5, "%s around %s of %s: %s, not %f" % (column, event, name, row, number))
    return len(rows)


def test_around_in_sql(context):
    """SQL over the exported database gives the same means around an event, at its start and its end"""
    for name in TRACES:
        path = os.path.join(context.work, name + ".around.db")
        vmlinux = ["-k", os.path.join(TRUTH, "kern.vmlinux")] if name.startswith("kern.") else []
        context.need_truth()
        process.must(process.PERFUSE, "data", "export", "sqlite", "-i", os.path.join(TRUTH, name + ".data"), "--symfs", context.symfs, *vmlinux,
                     "--itrace=be", "--columns", "branches", path)
        with contextlib.closing(sqlite3.connect(path)) as database:
            cpus = [cpu for (cpu,) in database.execute("select distinct cpu from samples where cyc_count > 0")]
            cpu = cpus[0] if len(cpus) > 1 else None
            database.execute("""create temp table ranges as select insn_count as n, sum(cyc_count) over before - cyc_count as low,
                sum(cyc_count) over before as high from samples where cyc_count > 0 and cpu = ? window before as (order by id)""", (cpus[0],))
            shown = sum(check_around(context, name, database, cpu, event) for event in ("psb", "user:exit"))
            need(shown >= 4, "%d rows of %s" % (shown, name))


def test_known_functions(context):
    """functions that run at a known number of instructions per cycle are shown with it"""
    for name in ("mix.pt_cyc", "mix.cpu_cyc"):  # kernel code would interrupt the functions
        marks = [row for row in context.rows(name, "--mark", "ipc[0-9]*", "--events") if row["event"] == "mark"]
        need(len(marks) >= 4, "calls of %s: %d" % (name, len(marks)))
        for mark in marks:
            known = int(mark["name"][3:6]) / 100
            start, cycles = int(mark["from_cycle"]), int(mark["cycles"])
            inside = [row for row in context.rows(name, "--window", "1000")
                      if int(row["from_cycle"]) > start + 100 and int(row["from_cycle"]) + 1100 < start + cycles]
            need(inside, "no window in " + mark["name"])
            for row in inside:
                need(abs(float(row["linear"]) - known) < 0.02 * known, "%s runs at %s" % (mark["name"], row["linear"]))


def test_views(context):
    """events, lengths, a steady range, the dip around an event, a line of text and a picture are shown"""
    name = "kern.mix_cpu1"
    calls = {row["name"] for row in context.rows(name, "--events") if row["event"] == "syscall"}
    need({"futex", "getpid", "write", "mmap"} <= calls, "system calls: %s" % sorted(calls))
    lengths = context.rows(name, "--lengths")
    need(abs(float(lengths[-1]["time_share_up_to"]) - 1) < 1e-9 and abs(sum(float(row["share"]) for row in lengths) - 1) < 1e-6, str(lengths[-1]))
    steady = context.rows(name, "--steady")[0]
    need(1 <= int(steady["iterations"]) <= 3 and int(steady["to_ns"]) > int(steady["from_ns"]), str(steady))
    part = context.rows(name, "--tracks", "--time", steady["time"])[0]
    need(abs(int(part["to_ns"]) - int(steady["to_ns"])) < 1000, "%s is not the range %s" % (part, steady))
    around = context.rows(name, "--mark", "ipc400*", "--around", "mark:ipc400*", "--window", "500", "--span", "5000")
    need(len(around) == 20 and float(around[0]["ipc"]) < 1.5 and abs(float(around[-1]["ipc"]) - 4) < 0.02, "%s … %s" % (around[0], around[-1]))
    need("up to IPC" in context.perfuse("ipc", name, "--sparkline").stdout, "no line of text")
    picture = os.path.join(context.work, "ipc.svg")
    context.perfuse("ipc", name, "--mark", "ipc*", "--svg", picture)
    root = xml.etree.ElementTree.parse(picture).getroot()
    names = [node.text for node in root.iter(SVG + "title")]
    need(any((text or "").startswith("mark: ipc400") for text in names), "no function in the picture")
    need(any((text or "").startswith("syscall: futex") for text in names), "no system call in the picture")


def test_by_thread(context):
    """a trace of CPUs is shown by thread, too, with the same total"""
    name = "pp.cpu2_cyc"
    by_cpu, by_thread = context.rows(name, "--tracks"), context.rows(name, "--tracks", "--by", "thread")
    need(len(by_cpu) == 2 and {row["tid"] for row in by_thread} == {"15460", "15469"}, str(by_thread))
    for column in ("instructions", "cycles"):
        need(sum(int(row[column]) for row in by_cpu) == sum(int(row[column]) for row in by_thread), column)
    need({row["event"] for row in context.rows(name, "--events")} >= {"switch", "user", "psb", "cbr"}, "events of " + name)


def test_lost_trace(context):
    """where bytes of a trace are damaged, the series is interrupted and the gap is shown; --steady avoids it and says so"""
    context.need_truth()
    with open(os.path.join(TRUTH, "mix.pt_cyc.data"), "rb") as file:
        data = bytearray(file.read())
    psb = data.index(b"\x02\x82" * 8, 40000)
    data[psb - 3000:psb - 2900] = b"\xff\x02" * 50
    damaged = os.path.join(context.work, "damaged.data")
    with open(damaged, "wb") as file:
        file.write(data)
    words = ["ipc", "--symfs", context.symfs, "-i", damaged]
    rows = list(csv.DictReader(io.StringIO(process.perfuse(*words, "--window", "1000", "--format=csv").stdout)))
    gaps = [row for row in rows if row["note"] == "gap"]
    need(0 < len(gaps) < 10 and len(rows) > 300, "%d of %d windows have gaps" % (len(gaps), len(rows)))
    events = list(csv.DictReader(io.StringIO(process.perfuse(*words, "--events", "--format=csv").stdout)))
    lost = [row for row in events if row["event"] == "gap"]
    need(len(lost) == 1, str(lost))
    need(int(gaps[0]["from_ns"]) <= int(lost[0]["from_ns"]) <= int(gaps[-1]["to_ns"]), "%s is not at %s" % (gaps, lost))
    need("!" in process.perfuse(*words, "--sparkline").stdout, "no gap in the line of text")
    done = process.perfuse(*words, "--steady", "--format=csv")
    steady = list(csv.DictReader(io.StringIO(done.stdout)))[0]
    need("may be biased" in done.stderr and not int(steady["from_ns"]) <= int(lost[0]["from_ns"]) <= int(steady["to_ns"]), done.stderr + str(steady))
    need('class="gap" d="M' in process.perfuse(*words, "--svg", "-").stdout, "no gap in the picture")


def test_no_clock(context):
    """a trace whose clock does not convert into ns is shown by cycles, and times are refused"""
    context.need_truth()
    with open(os.path.join(TRUTH, "mix.pt_cyc.data"), "rb") as file:
        data = bytearray(file.read())
    info = data.index(struct.pack("<Q", 18446742307709551070))  # time_zero of the conversion
    multiplier = data.index(struct.pack("<Q", 581029125))
    need(multiplier < info, "the description of the trace")
    data[multiplier:multiplier + 8] = bytes(8)
    path = os.path.join(context.work, "clockless.data")
    with open(path, "wb") as file:
        file.write(data)
    words = ["ipc", "--symfs", context.symfs, "-i", path]
    done = process.perfuse(*words, "--window", "1000", "--format=csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    need(done.returncode == 0 and len(rows) > 300 and not rows[0]["from_ns"], done.stderr + str(rows[:1]))
    done = process.perfuse(*words, "--window", "2us")
    need(done.returncode == 255 and "no clock that converts" in done.stderr, done.stderr)
    need("data-unit=\"cycles\"" in process.perfuse(*words, "--svg", "-").stdout, "the axis of the picture is not of cycles")


def test_refusals(context):
    """a recording without cycles is refused with the command that records them; a small window with the smallest useful one"""
    done = context.perfuse("ipc", "mix.pt_base", code=255)
    need("recorded without 'cyc'" in done.stderr and "record -e intel_pt/cyc" in done.stderr, done.stderr)
    done = context.perfuse("ipc", "mix.lbr", code=255)
    need("no trace of Intel PT" in done.stderr and "stat record -I" in done.stderr, done.stderr)
    done = context.perfuse("ipc", "mix.pt_cyc", "--window", "20")
    need("smallest useful window is" in done.stderr, done.stderr)
    done = context.perfuse("ipc", "mix.pt_cyc", "--around", "syscall:nothing", code=255)
    need("--events" in done.stderr, done.stderr)
    context.perfuse("ipc", "mix.pt_cyc", "--window", "2us", "--step", "100", code=129)


FAULTS = "import time; kept = []\nwhile time.process_time() < 0.3: kept.append(bytes(5000))"


def test_counters(context):
    """without a trace, intervals of counters and samples of a group are ranges, marked as such, with the same sums"""
    data = os.path.join(context.work, "stat.data")
    process.must(process.PERFUSE, "stat", "record", "-I", "20", "-e", "task-clock,page-faults", "-o", data, sys.executable, "-c", FAULTS)
    words = ["ipc", "-i", data, "--counters", "task-clock,page-faults", "--format=csv"]
    rows = list(csv.DictReader(io.StringIO(process.perfuse(*words, "--ranges").stdout)))
    total = list(csv.DictReader(io.StringIO(process.perfuse(*words, "--tracks").stdout)))
    need(len(total) == 1 and total[0]["source"] == "counters" and int(total[0]["instructions"]) > 100, str(total))
    for column in ("cycles", "instructions"):
        need(sum(int(row[column]) for row in rows) == int(total[0][column]), column)
    report = process.perfuse("stat", "report", "-i", data)
    counts = [int(count) for count in re.findall(r"(\d+)\s+page-faults", report.stdout + report.stderr)]
    need(counts and counts[-1] == int(total[0]["instructions"]), "%s, not %s" % (total, counts[-1:]))
    done = process.perfuse("ipc", "-i", data)
    need(done.returncode == 255 and "no intervals with counts of cycles" in done.stderr, done.stderr)
    data = os.path.join(context.work, "group.data")
    process.must(process.PERFUSE, "record", "-q", "-e", "{cpu-clock,page-faults}:S", "-F", "500", "-o", data, sys.executable, "-c", FAULTS)
    done = process.perfuse("ipc", "-i", data, "--counters", "cpu-clock,page-faults", "--tracks", "--format=csv")
    total = list(csv.DictReader(io.StringIO(done.stdout)))
    periods = [int(line.split()[0]) for line in process.perfuse("script", "-i", data, "-F", "period,event").stdout.splitlines() if "page-faults" in line]
    need(len(total) == 1 and total[0]["source"] == "counters", done.stdout + done.stderr)
    need(int(total[0]["instructions"]) == sum(periods), "%s, not %d" % (total, sum(periods)))
    shown = process.perfuse("ipc", "-i", data, "--counters", "cpu-clock,page-faults", "--format=csv").stdout.splitlines()
    need(int(total[0]["ranges"]) < 8 or len(shown) > 3, "%d lines of windows for %s" % (len(shown), total))


def stacks_of(context, name):
    """The branch stacks of a recording, newest branch first: (from, to, cycles)."""
    context.need_truth()
    with lzma.open(os.path.join(TRUTH, name + ".lbr.txt.xz"), "rt") as file:
        for line in file:
            fields = [word.split("/") for word in line.split()[3:]]
            yield [(int(entry[0], 16), int(entry[1], 16), int(entry[5])) for entry in fields]


def table_of(context, name, *options):
    return list(csv.DictReader(io.StringIO(context.perfuse("cycle", name, *options, "--format=csv").stdout)))


def test_edges(context):
    """cycle counts each branch of branch stacks exactly, with its cycles, from recordings and from text"""
    for name in ("mix.lbr", "pp.lbr"):
        counts, cycles, cover = {}, {}, []
        for stack in stacks_of(context, name):
            for start, end, length in stack:
                counts[start, end] = counts.get((start, end), 0) + 1
                cycles[start, end] = cycles.get((start, end), 0) + length
            cover.append(sum(length for _, _, length in stack))
        text = os.path.join(context.work, name + ".txt")
        with open(text, "w") as file:
            file.write(context.perfuse("script", name, "-F", "brstack").stdout)
        for options in ((), ("--brstack", text)):
            rows = table_of(context, name, "--edges", "--least", "1", *options)
            found = {(int(row["from_address"], 0), int(row["to_address"], 0)): row for row in rows}
            need({edge: int(row["count"]) for edge, row in found.items()} == counts, "the branches of %s %s" % (name, options))
            need({edge: int(row["cycles"] or 0) for edge, row in found.items()} == cycles, "the cycles of %s %s" % (name, options))
        done = process.perfuse("cycle", "--brstack", text)
        need(done.returncode == 255 and "brstacksym prints them" in done.stderr, done.stderr)
        below = 0
        for row in table_of(context, name, "--cover"):
            limit = int(row["cycles"])
            need(int(row["stacks"]) == sum(below < length <= limit or (length == below == 0) for length in cover), "cover of %s: %s" % (name, row))
            below = limit


def test_text_of_symbols(context):
    """the dominant cycle of a text of symbols is that of its recording, though many of its places have no name"""
    text = os.path.join(context.work, "symbols.txt")
    with open(text, "w") as file:
        file.write(context.perfuse("script", "pp.lbr", "-F", "brstacksym").stdout)
    need("[unknown]" in open(text).read(), "all places have names")
    calls = [[row["to"] for row in table_of(context, "pp.lbr", *words) if row["kind"] == "call"] for words in ((), ("--brstack", text))]
    need(calls[0] == calls[1] and len(calls[0]) == 3, str(calls))


def test_cycle(context):
    """the loops of branch stacks and of a trace are found, with their system calls and their IPC"""
    for name, calls in (("pp.lbr", {"ipc200_branchy", "__sched_yield"}), ("mix.lbr", {"__sched_yield", "syscall"})):
        first = table_of(context, name, "--cycles")[0]["path"]
        need(calls <= set(first.split(" > ")) and "[syscall __sched_yield]" in first, "%s: %s" % (name, first))
    for name in ("mix.lbr", "mix.pt_cyc", "kern.mix_cpu1"):
        paths = [set(row["path"].split(" > ")) for row in table_of(context, name, "--cycles")]
        need({"sw", "f1", "f2", "f3"} in paths, "%s: %s" % (name, paths))
        need({"fib"} in paths and {"ack"} in paths, "recursion of %s: %s" % (name, paths))
    windows = table_of(context, "pp.lbr", "--windows", "16")
    lengths = {round(float(row["to_cycle"]) - float(row["from_cycle"]), 3) for row in windows}
    need(len(windows) == 16 and len(lengths) == 1, "windows: %s" % lengths)
    steps = table_of(context, "pp.lbr", "-a")
    need(abs(sum(float(row["instructions"] or 0) for row in steps) - sum(float(row["instructions"] or 0) for row in windows)) < 0.01, "instructions")
    need(any(int(row["syscalls"] or 0) for row in steps), "no system call on the cycle")
    graph = context.perfuse("cycle", "pp.lbr", "--dot", "-").stdout
    need('"run" -> "ipc200_branchy"' in graph and 'color="#c62828"' in graph, graph[:300])
    picture = os.path.join(context.work, "cycle.svg")
    context.perfuse("cycle", "pp.lbr", "--svg", picture)
    texts = ["".join(node.itertext()) for node in xml.etree.ElementTree.parse(picture).getroot().iter(SVG + "text")]
    need(any(text.startswith("ipc200_branchy") for text in texts) and any(text.startswith("system call: __sched_yield") for text in texts), str(texts))


def test_cycle_picture(context):
    """each call and system call of a cycle has a mark with its numbers on the ring, and a label beside it"""
    for name in ("pp.lbr", "mix.lbr"):  # a pass of the latter ends with a call
        root = xml.etree.ElementTree.fromstring(context.perfuse("cycle", name, "--svg", "-").stdout)
        shown = [row for row in table_of(context, name) if row["kind"] in ("call", "syscall", "resume") or int(row["syscalls"] or 0)]
        ends = [[float(number) for number in re.findall(r"[\d.]+", node.get("d"))] for node in root.iter(SVG + "path") if node.get("class") == "lead"]
        need(len(ends) == len(shown) and all(abs(end[1] - end[5]) < 120 for end in ends), "labels of %s: %s" % (name, ends))
        titles = [node.findtext(SVG + "title") for node in root.iter(SVG + "circle")]
        need(len(titles) == len(shown) and all(re.fullmatch(r".+: \d+ times, [\d.]+ a pass", title) for title in titles), str(titles))


def test_hostile_names(context):
    """names of functions and threads remain text in graphs and pictures"""
    name = '"];x</text><script>alert(1)</script>\\'
    stacks = os.path.join(context.work, "hostile.txt")
    with open(stacks, "w") as file:
        for _ in range(9):
            file.write(" ".join(["b+0x4/%s/P/-/-/2" % name.replace("/", "|"), "%s+0x4/b/P/-/-/3" % name.replace("/", "|")] * 4) + "\n")
    graph = process.perfuse("cycle", "--brstack", stacks, "--dot", "-").stdout
    need('\\"];x<' in graph and graph.count("\n\t") == 8 or '"];x' not in graph.replace('\\"];x', ""), graph)
    data = os.path.join(context.work, "hostile.data")
    process.must(process.PERFUSE, "record", "-q", "-e", "{cpu-clock,page-faults}:S", "-F", "500", "-o", data, sys.executable, "-c",
                 "open('/proc/self/comm', 'w').write('</g><b>&\\x1b\"')\n" + FAULTS)
    picture = process.perfuse("ipc", "-i", data, "--counters", "cpu-clock,page-faults", "--by", "thread", "--svg", "-").stdout
    xml.etree.ElementTree.fromstring(picture)
    need("</g><b>" not in picture and "&lt;/g&gt;&lt;b&gt;&amp;" in picture, picture[:2000])
    picture = process.perfuse("cycle", "--brstack", stacks, "--svg", "-").stdout
    need("<script>alert" not in picture and "alert(1)" in picture, picture[:200])
    xml.etree.ElementTree.fromstring(picture)
    done = process.perfuse("cycle", "--brstack", os.devnull)
    need(done.returncode == 255 and "brstacksym" in done.stderr, done.stderr)
    for line in (b"a" * (1 << 20), b"a/b/P/-/-/1\0\n" * 3):
        with open(stacks, "wb") as file:
            file.write(line)
        done = process.perfuse("cycle", "--brstack", stacks)
        need(done.returncode == 255 and "no text of branch stacks" in done.stderr, done.stderr)


PAGES = {"ipc-over-time.md": "kern.mix_cpu1", "dominant-cycle.md": "pp.lbr", "system-call-loop.md": "mix.pt_cyc",
         "blocking-in-a-trace.md": "pp.cpu2_cyc"}


def test_walk_throughs(context):
    """the commands of the walk-throughs about IPC, cycles and blocking print what the pages show"""
    for page, name in PAGES.items():
        with open(os.path.join(TOP, "docs", "examples", page)) as file:
            lines = file.read().split("\n")
        need(any(line.startswith("    perf record ") for line in lines), "%s does not record" % page)
        commands = [at for at, line in enumerate(lines) if line.startswith(("    perf ipc ", "    perf cycle", "    perf blocking"))]
        need(len(commands) >= 4, "%s has %d commands" % (page, len(commands)))
        for at in commands:
            shown = []
            for line in lines[at + 2:]:
                if line and (not line.startswith("    ") or line.startswith("    perf ")):
                    break
                shown += [line[4:]] if line else []
            words = lines[at].split()[1:]
            for option in ("--svg", "--dot"):
                if option in words:
                    words[words.index(option) + 1] = os.path.join(context.work, "page")
            done = context.perfuse(words[0], name, *words[1:])
            if lines[at + 1] == "" and shown:
                printed = [line.rstrip() for line in done.stdout.split("\n") if line]
                need(printed == shown, "%s, %s: %s, not %s" % (page, " ".join(words), printed[:4], shown[:4]))


def main():
    with tempfile.TemporaryDirectory() as work:
        return run_tests(tests_of(globals(), Context(work)))


if __name__ == "__main__":
    sys.exit(main())
