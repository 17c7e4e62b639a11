"""Hardware traces: for each command line of the file `traces`, the attributes, the sizes of the rings and AUX areas, the address filters and
the trace records that perf makes on a machine with Intel PT. Its PMUs are planted below /sys; events that this kernel refuses are opened as
dummies, and memory takes the place of the AUX areas, which holds a known trace."""
import collections
import concurrent.futures
import functools
import hashlib
import os
import re
import shlex
import shutil
import tempfile

from attributes import grammar
from suite import process
from suite.settings import PERFUSE, SHORT
from suite.tests import is_selected, need, remark, skipped

HERE = os.path.dirname(os.path.abspath(__file__))
AT_A_TIME = 8  # perf waits a second before it ends
STEP = 4 if SHORT else 1  # of the lines every STEPth is tried
AREA = 100000  # bytes of trace in each area
PROGRAM = """
static void twice(void) { __asm__ volatile("nop"); }
void other(void);
int second(int n) { twice(); return n + 1; }
int main(void) { other(); return second(-1); }
"""
OTHER = 'static void twice(void) { __asm__ volatile("nop; nop"); }\nvoid other(void) { twice(); }\n'


def perf_for_this_processor(c):
    """perf looks at the processor's vendor before it traces: a copy of it that takes this processor's for Intel's; None if its code does
    not compare the name as expected."""
    vendor = next((line.split()[-1].encode() for line in open("/proc/cpuinfo") if line.startswith("vendor_id")), b"") + b","
    if vendor == b"GenuineIntel,":
        return c.reference
    code = open(c.reference, "rb").read()
    load = b"\x48\xb8"  # movabs to rax
    if len(vendor) != 13 or code.count(load + b"GenuineI") != 1 or code.count(load + b"neIntel,") != 1:
        return None
    path = os.path.join(c.work, "perf-of-vendor")
    with open(path, "wb") as file:
        file.write(code.replace(load + b"GenuineI", load + vendor[:8]).replace(load + b"neIntel,", load + vendor[5:]))
    os.chmod(path, 0o700)
    return path


def maps_of(path):
    """(attribute's type, CPU, length, protection and offset) of each mapping of an event, and the numbers of the filters."""
    opened, maps = {}, collections.Counter()
    for line in open(path):
        words = line.rstrip("\n").split(" ", 2) + [""]
        fd = int(words[1])
        if words[0] == "open":
            pid, cpu, group, flags, raw = words[2].split(" ")
            attribute = bytes.fromhex(raw)
            kind, flags = int.from_bytes(attribute[:4], "little"), int.from_bytes(attribute[40:48], "little")
            # the event that watches for BPF programs: a software event that wakes at the first byte
            opened[fd] = None if kind == 1 and flags >> 14 & 1 else (kind, int(cpu), pid)
        elif words[0] == "map" and opened.get(fd):
            maps[opened[fd][0], opened[fd][1], words[2]] += 1
        if words[0] == "map" and len(words[2].split()) == 3 and fd not in opened:
            maps["unknown", fd, words[2]] += 1
    return maps


def switched_on(path):
    """The types of events of hardware that are switched on by a call; others begin with the program, or are not used."""
    opened, found = {}, set()
    for line in open(path):
        words = line.split()
        if words[0] == "open":
            opened[words[1]] = int.from_bytes(bytes.fromhex(words[6])[:4], "little")
        elif words[0] == "switch" and words[2] == "on" and opened.get(words[1], 1) != 1:
            found.add(opened[words[1]])
    return found


def trace_records(c, path):
    """The fields of AUXTRACE_INFO and AUXTRACE, without those that differ at each run, and the bytes of each piece."""
    text = process.run(c.reference, "report", "-D", "-i", path).stdout
    data = open(path, "rb").read()
    found, info = [], re.search(r"PERF_RECORD_AUXTRACE_INFO type: \d+\n((?:  \S.*\n)*)", text)
    for at, size, line in re.findall(r"(0x[0-9a-f]+) \[0x30\]: PERF_RECORD_AUXTRACE (size: 0x[0-9a-f]+)  (.*)", text):
        start, length = int(at, 16) + 0x30, int(size.split()[1], 16)
        line = re.sub(r"  ref: \S+|  tid: -?\d+", "", line)
        found.append((size, line, hashlib.sha1(data[start:start + length]).hexdigest()))
    return (info.group(0).replace(os.path.dirname(path), "FOLDER") if info else "no AUXTRACE_INFO"), sorted(found)


def record(c, program, tree, words):
    folder = tempfile.mkdtemp(dir=c.work)
    log, data = os.path.join(folder, "log"), os.path.join(folder, "perf.data")
    for name in ("target",):
        shutil.copy(os.path.join(c.work, "traced"), os.path.join(folder, name))
    environment = {"PATH": os.environ["PATH"], "HOME": folder, "PERF_CONFIG": "/dev/null", "LC_ALL": "C", "PERF_CPUID": grammar.CPU}
    start = ["env", "LD_PRELOAD=" + c.library, "OPENED=" + log, "OPENED_ANY=1", "OPENED_AREA=%d" % AREA, program, "record", "-o", data]
    done = process.run(*grammar.planted(tree, start + words + ["--", "true"]), cwd=folder, env=environment)
    events, filters = c.events_of(log)
    filters = collections.Counter({(event, text.replace(folder, "FOLDER")): count for (event, text), count in filters.items()})
    maps = (maps_of(log), switched_on(log)) if os.path.exists(log) else None
    file = os.path.join(data, "data") if os.path.isdir(data) else data
    records = trace_records(c, file) if done.returncode == 0 else None
    shutil.rmtree(folder, ignore_errors=True)
    return done, events, filters, maps, records


def compare(c, both, again):
    """`again` makes both recordings once more: the range of the whole kernel ends with the last BPF program, and other programs of the machine
    load some."""
    results = both.result()
    for _ in range(4):
        if not again or results[0][2] == results[1][2]:
            break
        results = again()
    (done, events, filters, maps, records), (mine, my_events, my_filters, my_maps, my_records) = results
    need(mine.returncode == done.returncode, "exit code %d, perf's %d\nperfuse: %s\nperf: %s" %
         (mine.returncode, done.returncode, mine.stderr[-600:], done.stderr[-600:]))
    if done.returncode:
        need(mine.stderr.strip(), "it fails without a sentence")
        return
    lines = c.difference(my_events, events) + c.difference(my_filters, filters)
    need(events and not lines, "\n".join(lines))
    need(not my_maps[0] - maps[0], "mapped by perfuse only: %s" % (my_maps[0] - maps[0]))
    need(my_maps[1] == maps[1], "switched on: events of types %s, by perf %s" % (my_maps[1], maps[1]))
    need(records == my_records, "trace records are %s\nperf's: %s" % (my_records, records))


def tests(c):
    if not grammar.can_plant():
        skipped("hardware traces", "this user may not mount; as root it runs")
        return []
    perf = perf_for_this_processor(c)
    if not perf:
        skipped("hardware traces", "this perf compares the vendor of the processor in an unknown way")
        return []
    tree = os.path.join(c.work, "traces")
    grammar.plant("intel-pt", tree)
    for name, text in (("first.c", PROGRAM), ("second.c", OTHER)):
        with open(os.path.join(c.work, name), "w") as file:
            file.write(text)
    process.must("cc", "-O0", "-no-pie", "-o", os.path.join(c.work, "traced"), os.path.join(c.work, "first.c"), os.path.join(c.work, "second.c"))
    if SHORT:
        remark("every %dth line of hardware traces; without PERFUSE_SHORT all" % STEP)
    pool, found = concurrent.futures.ThreadPoolExecutor(AT_A_TIME), []
    for line in open(os.path.join(HERE, "traces")).read().splitlines()[::STEP]:
        name = "%s: traced as by perf" % line
        if not line or line[0] == "#" or not is_selected(name):
            continue
        words = shlex.split(line)
        def make(words=words):
            return record(c, perf, tree, words), record(c, PERFUSE, tree, words)
        found.append((name, functools.partial(compare, c, pool.submit(make), make if "filter *" in words else None)))
    return found
