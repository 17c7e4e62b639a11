#!/usr/bin/env python3
"""data convert: the document of perf. data export: the tables of a recording agree with what `script` prints of it, in SQLite and in PostgreSQL; names cannot change a statement;
an export that fails leaves nothing behind."""
import ast
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import struct
import sys
import tempfile
import time

from suite import process, recording as r
from suite.process import perfuse
from suite.perf import need_reference
from suite.settings import CORPUS, PERFUSE
from suite.tests import Skip, by_samples, need, need_tools, run_tests, tests_of

HOSTILE = "'); DROP --"
TABLES = {
    "selected_events": "id name", "machines": "id pid root_dir", "threads": "id machine_id process_id pid tid",
    "comms": "id comm c_thread_id c_time exec_flag has_calls", "comm_threads": "id comm_id thread_id",
    "dsos": "id machine_id short_name long_name build_id", "symbols": "id dso_id sym_start sym_end binding name", "branch_types": "id name",
    "samples": "id evsel_id machine_id thread_id comm_id dso_id symbol_id sym_offset ip time cpu to_dso_id to_symbol_id to_sym_offset to_ip "
               "period weight transaction_ data_src branch_type in_tx call_path_id insn_count cyc_count flags",
    "call_paths": "id parent_id symbol_id ip",
    "calls": "id thread_id comm_id call_path_id call_time return_time branch_count call_id return_id parent_call_path_id flags parent_id "
             "insn_count cyc_count",
    "samples_view": "id time cpu pid tid command event ip_hex symbol sym_offset dso_short_name to_ip_hex to_symbol to_sym_offset "
                    "to_dso_short_name branch_type_name in_tx insn_count cyc_count IPC flags",
    "calls_view": "id thread_id pid tid command call_path_id ip symbol_id symbol call_time return_time elapsed_time branch_count insn_count "
                  "cyc_count IPC call_id return_id flags parent_call_path_id parent_id",
    "call_paths_view": "id ip symbol_id symbol dso_id dso_short_name parent_id parent_ip parent_symbol_id parent_symbol parent_dso_id "
                       "parent_dso_short_name",
    "comm_threads_view": "comm_id command thread_id pid tid", "symbols_view": "id name dso dso_id sym_start sym_end binding",
    "dsos_view": "id machine_id host_or_guest short_name long_name build_id", "machines_view": "id pid root_dir host_or_guest",
    "threads_view": "id machine_id host_or_guest process_id pid tid",
}
TEXTS = {"selected_events": [80], "machines": [4096], "comms": [16], "dsos": [256, 4096, 64], "symbols": [2048], "branch_types": [80]}
TRUTH = os.path.join(CORPUS, "pt", "truth")
VIEWER = "/usr/lib/perf-core/scripts/python/exported-sql-viewer.py"


class Context:
    def __init__(self, work):
        self.work = work
        self.path = os.path.join(work, "some.data")
        write(self.path, 50)

    def export(self, name, *words, path=None):
        out = os.path.join(self.work, name)
        if os.path.exists(out):
            os.remove(out)
        done = perfuse("data", "export", "sqlite", *words, "-i", path or self.path, out, cwd=self.work)
        need(done.returncode == 0, done.stderr)
        return sqlite3.connect(out)


def write(path, samples, chains=True):
    """Samples with call chains (or empty ones) of two threads, one with a name that ends a string."""
    kind = r.SAMPLE_IP | r.SAMPLE_TID | r.SAMPLE_TIME | r.SAMPLE_CALLCHAIN | r.SAMPLE_PERIOD
    attribute = r.attribute(kind, r.FLAG_SAMPLE_ID_ALL | r.FLAG_COMM | r.FLAG_MMAP)
    records = [r.comm(10, 10, HOSTILE, end=r.trailer(10, 10, 1)), r.comm(20, 20, "other", end=r.trailer(20, 20, 2)),
               r.mmap(10, 10, 0x10000, 0x4000, 0, "/no/such/\u00e4'file", end=r.trailer(10, 10, 3))]
    for number in range(samples):
        tid = 20 if number % 5 == 4 else 10
        ip = 0x10000 + 16 * (number % 7)
        body = (ip.to_bytes(8, "little") + tid.to_bytes(4, "little") * 2 + (100 + number).to_bytes(8, "little")
                + (7).to_bytes(8, "little") + r.chain([r.CONTEXT_USER, ip, 0x12000 + number % 3] if chains else []))
        records.append(r.record(r.SAMPLE, body, r.USER))
    r.write(path, records, [attribute])


def script(path):
    lines = perfuse("script", "-G", "-F", "comm,tid,time,ip", "--ns", "-i", path).stdout.splitlines()
    return [(line.split()[-1], int(line.split()[-3])) for line in lines]


def converted(program, path, out, *words):
    if os.path.exists(out):
        os.remove(out)
    done = process.run(program, "data", "convert", "--to-json", out, "-i", path, *words)
    need(done.returncode == 0, done.stderr)
    return open(out).read(), done.stderr.splitlines()[-2:]


def test_json(c):
    """convert writes perf's document of recordings with call chains, tracepoints and several events"""
    perf, out = need_reference(), os.path.join(c.work, "some.json")
    for name in ("linuxtracepoints.data", "linux-perf-data.sleep.data", "covlizer.lbr.data"):
        path = os.path.join(CORPUS, "perfdata", name)
        if not os.path.exists(path):
            raise Skip("no such file: %s (PERFUSE_CORPUS names another folder)" % path)
        ours, perfs = converted(PERFUSE, path, out, "-f"), converted(perf, path, out, "-f")
        need(ours == perfs, "%s: another document, or %s" % (name, ours[1]))


def test_json_refusals(c):
    """convert replaces no file without -f, needs a name, and reads a pipe's recording, whose header has less"""
    out = os.path.join(c.work, "there.json")
    with open(out, "w") as file:
        file.write("mine")
    for words, text in ((("--to-json", out), "Output file exists. Use --force to overwrite it.\n"), ((), "You must specify --to-json.\n"),
                        (("--all", "--to-json", out), "--all is currently unsupported for JSON output.\n")):
        done = perfuse("data", "convert", "-i", c.path, *words)
        need(done.returncode == 255 and done.stderr == text, "%s: %d %s" % (words, done.returncode, done.stderr))
    need(open(out).read() == "mine", "an existing file was replaced")
    samples = json.loads(converted(PERFUSE, c.path, out, "-f")[0])["samples"]
    need(len(samples) == 50 and samples[0]["comm"] == HOSTILE and samples[0]["pid"] == 10 and "cpu" not in samples[0], samples[0])
    need([frame["ip"] for frame in samples[0]["callchain"]], samples[0])


def test_json_time(c):
    """convert --time writes the samples of a span, both ends included, and refuses what is no span"""
    out = os.path.join(c.work, "span.json")
    for text, least, most in (("0.000000110,0.000000119", 110, 119), ("0.000000140,", 140, 149), (",0.000000101", 100, 101)):
        samples = json.loads(converted(PERFUSE, c.path, out, "-f", "--time", text)[0])["samples"]
        need([s["timestamp"] for s in samples] == list(range(least, most + 1)), "%s: %s" % (text, samples))
    done = perfuse("data", "convert", "-i", c.path, "--to-json", os.path.join(c.work, "none.json"), "--time", "words")
    need(done.returncode != 0 and "words" in done.stderr and not os.path.exists(os.path.join(c.work, "none.json")), repr(done))


def test_tables(c):
    """tables and views have the columns of perf's, and the optional tables without rows are not there"""
    database = c.export("all.db", "--calls", "--callchains")
    for name, columns in TABLES.items():
        found = [row[1] for row in database.execute("PRAGMA table_info(%s)" % name)]
        need(found == columns.split(), "%s has %s" % (name, found))
        texts = [row[2] for row in database.execute("PRAGMA table_info(%s)" % name) if row[2].startswith("varchar")]
        need(name.endswith("_view") or texts == ["varchar(%d)" % length for length in TEXTS.get(name, [])], "%s has %s" % (name, texts))
    names = {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")}
    need(not names & {"cbr", "ptwrite", "mwait", "context_switches", "power_events_view"}, str(names))
    columns = [row[1] for row in c.export("few.db", "--columns", "branches").execute("PRAGMA table_info(samples)")]
    need("period" not in columns and len(columns) == 21, str(columns))


def test_rows(c):
    """each sample is a row with its address, thread and call path, and the rest of the database knows its ids"""
    database = c.export("rows.db", "--callchains")
    rows = database.execute("SELECT ip_hex, tid FROM samples_view WHERE id > 0 ORDER BY id").fetchall()
    need(rows == script(c.path) and len(rows) == 50, "%s and %s" % (rows[:3], script(c.path)[:3]))
    for column, table in (("thread_id", "threads"), ("comm_id", "comms"), ("symbol_id", "symbols"), ("dso_id", "dsos"),
                          ("call_path_id", "call_paths"), ("evsel_id", "selected_events")):
        lost = database.execute("SELECT count(*) FROM samples WHERE %s NOT IN (SELECT id FROM %s)" % (column, table)).fetchone()
        need(lost == (0,), "%s: %s" % (column, lost))
    (paths,) = database.execute("SELECT count(DISTINCT call_path_id) FROM samples WHERE call_path_id").fetchone()
    need(paths == len({(n % 7, n % 3, n % 5 == 4) for n in range(50)} - {None}) or paths >= 21, "%d call paths" % paths)
    need(database.execute("SELECT sum(period), min(time), max(time) FROM samples WHERE id").fetchone() == (350, 100, 149), "values differ")
    path = os.path.join(c.work, "without.data")
    write(path, 5, chains=False)
    for words in ((), ("--callchains",)):
        without = c.export("without.db", *words, path=path).execute("SELECT count(*), sum(call_path_id) FROM samples WHERE id").fetchone()
        need(without == (5, 0), "samples without a call chain have a call path: %s" % (without,))


def test_names(c):
    """a name that ends a string of SQL is a name"""
    database = c.export("names.db")
    need(database.execute("SELECT count(*) FROM samples_view WHERE command = ?", (HOSTILE,)).fetchone() == (40,), "the command differs")
    need(database.execute("SELECT long_name FROM dsos WHERE id = 1").fetchone() == ("/no/such/\u00e4'file",), "the file differs")


def test_script(c):
    """script -s export-to-sqlite.py is the same export"""
    ours = list(c.export("ours.db", "--callchains").iterdump())
    out = os.path.join(c.work, "script.db")
    process.must(PERFUSE, "script", "-i", c.path, "-s", "/usr/lib/perf-core/scripts/python/export-to-sqlite.py", out, "all", "callchains")
    need(list(sqlite3.connect(out).iterdump()) == ours, "the databases differ")
    for words in (("out.db", "some"), ("out.db", "all", "some"), ()):
        done = perfuse("script", "-i", c.path, "-s", "export-to-sqlite.py", *words, cwd=c.work)
        need(done.returncode == 129 and not os.path.exists(os.path.join(c.work, "out.db")), "%s: %d" % (words, done.returncode))
    need(perfuse("script", "-i", c.path, "-s", "other.py").returncode == 255, "another script runs")


def trace_symfs(c):
    """The folder of the programs of the traces."""
    folder = os.path.join(c.work, "symfs")
    if not os.path.exists(folder):
        os.makedirs(folder)
        process.must("tar", "xf", os.path.join(TRUTH, "symfs.tar.xz"), "-C", folder)
    return folder


def test_calls(c):
    """calls of an Intel PT trace: as many as the branches show, with the truth of perf's export"""
    if not os.path.exists(TRUTH):
        raise Skip("no traces: PERFUSE_CORPUS names their folder")
    database = c.export("pt.db", "--symfs", trace_symfs(c), "--calls", "--itrace=bep", path=os.path.join(TRUTH, "pp.cpu2_cyc.data"))
    found = [database.execute("SELECT %s" % what).fetchone()[0] for what in (
        "count(*) FROM samples", "count(*) FROM calls", "count(*) FROM call_paths", "count(*) FROM cbr", "count(*) FROM calls WHERE flags = 0")]
    need(found == [27361, 10669, 9360, 4, 1542], str(found))  # as perf's export has them
    (odd,) = database.execute("SELECT count(*) FROM calls_view WHERE elapsed_time < 0 OR branch_count < 0 OR insn_count < 0").fetchone()
    need(odd == 0, "%d calls end before they begin" % odd)
    (inner,) = database.execute("SELECT count(*) FROM calls c JOIN calls p ON p.id = c.parent_id WHERE c.id > 0 AND c.parent_id > 0 "
                                "AND (c.call_time < p.call_time OR c.return_time > p.return_time)").fetchone()
    need(inner == 0, "%d calls are not within their callers'" % inner)


def test_thread_without_process(c):
    """as in perf, a thread whose first sample precedes the record of its process has one row, without the process"""
    if not os.path.exists(TRUTH):
        raise Skip("no traces: PERFUSE_CORPUS names their folder")
    database = c.export("thread.db", "--symfs", trace_symfs(c), "--itrace=bep", path=os.path.join(TRUTH, "sig.pt_cyc.data"))
    need(database.execute("SELECT pid, tid FROM threads WHERE id").fetchall() == [(-1, 15418)], "other threads")
    need(database.execute("SELECT comm FROM comms WHERE id").fetchall() == [(":15418",)], "other comms")
    found = [database.execute("SELECT count(*) FROM " + what).fetchone()[0] for what in ("samples", "comm_threads", "samples WHERE comm_id = 1")]
    need(found == [28167, 0, 28164], str(found))  # as perf's export has them


def queries(path):
    """The constant parts of the queries in a Python program; NUL is what it inserts."""
    def text(node):
        if isinstance(node, ast.BinOp):
            return text(node.left) + text(node.right)
        return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else "\0"
    with open(path) as file:
        nodes = [node for node in ast.walk(ast.parse(file.read())) if isinstance(node, (ast.BinOp, ast.Constant))]
    inner = {child for node in nodes if isinstance(node, ast.BinOp) for child in (node.left, node.right)}
    found = {text(node) for node in nodes if node not in inner}
    return sorted(query for query in found if query.startswith("SELECT ") and "information_schema" not in query)


def test_viewer(c):
    """the queries of perf's viewer of databases run"""
    if not os.path.exists(VIEWER):
        raise Skip("no such file: %s" % VIEWER)
    database = c.export("viewer.db", "--calls", "--callchains")
    inserted = (("SELECT \0 FROM \0 \0 ", "SELECT id FROM samples "), ("FROM \0 WHERE comm_id", "FROM comm_threads_view WHERE comm_id"),
                ("FROM \0", "FROM samples_view"), ("WHERE \0 =", "WHERE pid ="), ("symbols.name\0", "symbols.name = 'main'"),
                (r"([=><]|LIMIT|OFFSET) \0", r"\1 1"), ("\0", ""), ("$$last_id$$", "0"))
    count = 0
    for query in queries(VIEWER):
        if "context_switches" in query or "threads.thread_id = calls" in query or "VERSION()" in query:
            continue  # of recordings with switches; of a column that perf's databases do not have; of PostgreSQL
        for old, new in inserted:
            query = re.sub(old, new, query) if old.startswith("(") else query.replace(old, new)
        try:
            database.execute(query).fetchall()
        except sqlite3.Error as error:
            need(False, "%s: %s" % (error, query))
        count += 1
    need(count > 25, "only %d queries" % count)


INLINED = """
volatile long x;
static inline __attribute__((always_inline)) void leaf(int i) { for (int k = 0; k < 50; k++) x += i * k; }
static inline __attribute__((always_inline)) void mid(int i) { leaf(i); x++; }
__attribute__((noinline)) void work(int i) { mid(i); x--; }
static inline __attribute__((always_inline)) void calls(int i) { work(i); x += 2; }
__attribute__((noinline)) void outer(int i) { calls(i); x++; }
__attribute__((noinline)) void other(int i) { work(i); x += 3; }
int main(void) { for (int i = 0; i < 1500000; i++) i & 1 ? outer(i) : other(i); }
"""


@by_samples
def test_inlined(c):
    """each sample has the call path that script prints; inlined functions are in it, with the range of the function around them"""
    need_tools("gcc")
    source, program, data = (os.path.join(c.work, name) for name in ("inlined.c", "inlined", "inlined.data"))
    with open(source, "w") as file:
        file.write(INLINED)
    process.must("gcc", "-O2", "-g", "-o", program, source, env=process.compilers())
    process.must(PERFUSE, "record", "-q", "-F", "2000", "-e", "cpu-clock:u", "--call-graph", "dwarf", "-o", data, program)
    database = c.export("inlined.db", "--callchains", path=data)
    parents = {row[0]: row[1:] for row in database.execute("SELECT p.id, p.parent_id, s.name FROM call_paths p JOIN symbols s ON s.id = p.symbol_id")}
    paths = []
    for (at,) in database.execute("SELECT call_path_id FROM samples WHERE id ORDER BY id"):
        names = []
        while at > 1:
            at, name = parents[at]
            names.append(name)
        paths.append(" ".join(names))
    stacks = perfuse("script", "-F", "ip,sym", "-i", data).stdout.replace("[unknown]", "unknown").strip("\n").split("\n\n")
    printed = [" ".join(line.split(maxsplit=1)[1].removesuffix(" (inlined)") for line in stack.strip("\n").splitlines()) for stack in stacks]
    need(paths == printed, str([pair for pair in zip(paths, printed) if pair[0] != pair[1]][:1]))
    for end in "leaf mid work calls outer main", "leaf mid work other main":
        need(any(path.startswith(end) for path in paths), "%s: %s" % (end, set(paths)))
    ranges = {}
    for name, start, end in database.execute("SELECT name, sym_start, sym_end FROM symbols"):
        ranges.setdefault(name, set()).add((start, end))
    need(ranges["leaf"] == ranges["mid"] == ranges["work"] and ranges["calls"] == ranges["outer"] != ranges["work"], str(ranges))
    need(database.execute("SELECT count(*) FROM symbols WHERE name = 'leaf'").fetchone()[0] > 1, "one symbol for all addresses")
    process.must(PERFUSE, "record", "-q", "-F", "2000", "-e", "cpu-clock:u", "-g", "-o", data, program)
    names = {name for name, in c.export("recorded.db", "--callchains", path=data).execute("SELECT name FROM symbols")}
    need("work" in names and "leaf" not in names, "recorded chains, which script prints without inlined functions: %s" % names)


def test_values(c):
    """each event with a value in a sample that counts a group has a row, whose period is what the event has gained"""
    data = os.path.join(c.work, "values.data")
    kind = r.SAMPLE_IP | r.SAMPLE_TID | r.SAMPLE_TIME | r.SAMPLE_READ | r.SAMPLE_ID
    attributes = [r.attribute(kind, config=config, read_format=4 | 8) for config in (0, 2)]  # PERF_FORMAT_ID | PERF_FORMAT_GROUP
    records = [r.record(r.SAMPLE, struct.pack("<QIIQQ5Q", 0x1000, 10, 10, time, 1, 2, clock, 1, faults, 2), r.USER)
               for time, clock, faults in ((5, 100, 3), (6, 150, 3), (7, 230, 4))]
    r.write(data, records, attributes, ids=(1, 2))
    found = c.export("values.db", path=data).execute("SELECT time, evsel_id, period FROM samples WHERE id").fetchall()
    need(found == [(5, 1, 100), (5, 2, 3), (6, 1, 50), (7, 1, 80), (7, 2, 1)], str(found))


def test_fault_on_itself(c):
    """as in perf, an instruction without a symbol that faults on its own page has a symbol for each of both places"""
    data = os.path.join(c.work, "fault.data")
    attribute = r.attribute(r.SAMPLE_IP | r.SAMPLE_TID | r.SAMPLE_TIME | r.SAMPLE_ADDR, config=2)
    records = [r.mmap(10, 10, 0x10000, 0x4000, 0, "/no/such/file")]
    records += [r.record(r.SAMPLE, struct.pack("<QIIQQ", 0x10040, 10, 10, time, 0x10040), r.USER) for time in (5, 6)]
    r.write(data, records, [attribute])
    database = c.export("fault.db", path=data)
    need(database.execute("SELECT symbol_id, to_symbol_id FROM samples WHERE id").fetchall() == [(1, 2), (1, 1)], "other symbols")
    need(database.execute("SELECT name, sym_start FROM symbols WHERE id").fetchall() == [("unknown", 0x40)] * 2, "other names")


def test_reaped_threads(c):
    """as in perf, samples of threads that have no id any more are of one thread, in the process of the first of them"""
    data = os.path.join(c.work, "reaped.data")
    attribute = r.attribute(r.SAMPLE_IP | r.SAMPLE_TID | r.SAMPLE_TIME)
    records = [r.comm(pid, pid, "some") for pid in (10, 20)]
    records += [r.record(r.SAMPLE, struct.pack("<QIiQ", 0x10040, pid, -1, pid), r.USER) for pid in (10, 20)]
    r.write(data, records, [attribute])
    rows = c.export("reaped.db", path=data).execute("SELECT pid, tid FROM threads WHERE id").fetchall()
    need(rows == [(10, 10), (10, -1)], str(rows))


def test_end_of_calls(c):
    """the calls of a thread end with it, before those of threads that live longer"""
    data = os.path.join(c.work, "ends.data")
    attribute = r.attribute(r.SAMPLE_IP | r.SAMPLE_TID | r.SAMPLE_TIME | r.SAMPLE_ADDR, config=2)
    records = [r.mmap(tid, tid, 0x10000, 0x4000, 0, "/no/such/file") for tid in (10, 20)]
    records += [r.record(r.SAMPLE, struct.pack("<QIIQQ", 0x10040, tid, tid, 5 + tid, 0x12000), r.USER) for tid in (10, 20)]
    records.append(r.record(r.EXIT, struct.pack("<IIIIQ", 20, 20, 20, 20, 40)))
    r.write(data, records, [attribute])
    calls = c.export("ends.db", "--calls", path=data).execute("SELECT tid, return_time FROM calls_view WHERE call_path_id ORDER BY id").fetchall()
    need(calls == [(20, 25), (10, 15)], str(calls))


def test_existing(c):
    """an existing file stays as it is"""
    path = os.path.join(c.work, "old.db")
    with open(path, "w") as file:
        file.write("old")
    for words in (("sqlite",), ("postgresql",)):
        done = perfuse("data", "export", *words, "-i", c.path, path)
        need(done.returncode == 255 and "exists" in done.stderr, done.stderr)
    with open(path) as file:
        need(file.read() == "old", "the file changed")


def test_failures(c):
    """a full disk and a killed export leave no file"""
    folder, large = os.path.join(c.work, "full"), os.path.join(c.work, "large.data")
    os.makedirs(folder)
    write(large, 60000)

    def limited(size):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        return limit
    for kind in ("sqlite", "postgresql"):
        whole = os.path.join(c.work, "whole." + kind)
        process.must(PERFUSE, "data", "export", kind, "-i", large, whole)
        for size in (5000, 300000, os.path.getsize(whole) - 1):  # while tables are made, rows are added, the file is completed
            done = perfuse("data", "export", kind, "-i", large, os.path.join(folder, "out"), before=limited(size))
            need(done.returncode in (1, 255) and "cannot write" in done.stderr and os.listdir(folder) == [], "%s: %d %s %s" % (
                kind, done.returncode, done.stderr, os.listdir(folder)))
    with open("/dev/full", "w") as full:
        done = process.run(PERFUSE, "data", "export", "postgresql", "-i", large, stdout=full)
    need(done.returncode == 1 and done.stderr.count("No space left") == 1, done.stderr)
    for delay in (0.02, 0.1):
        with process.start(PERFUSE, "data", "export", "sqlite", "-i", large, os.path.join(folder, "out")) as running:
            time.sleep(delay)
            running.kill()
            running.wait()
        need(os.listdir(folder) in ([], ["out"]), str(os.listdir(folder)))
        if os.listdir(folder):  # it was faster: then it is complete
            need(sqlite3.connect(os.path.join(folder, "out")).execute("SELECT count(*) FROM samples").fetchone() == (60001,), "incomplete")
            os.remove(os.path.join(folder, "out"))


def check_counts(c, psql, path, options):
    """The same tables and views in both databases, with the same numbers of rows."""
    text = os.path.join(c.work, "counts.sql")
    if os.path.exists(text):
        os.remove(text)
    process.must(PERFUSE, "data", "export", "postgresql", "--calls", "--callchains", *options, "-i", path, text)
    process.must(*psql, "-c", "DROP SCHEMA public CASCADE; CREATE SCHEMA public", stderr=process.DEVNULL)
    process.must(*psql, "-f", text)
    database = c.export("counts.db", "--calls", "--callchains", *options, path=path)
    names = sorted(row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"))
    counts = " UNION ALL ".join("SELECT '%s', count(*) FROM %s" % (name, name) for name in names) + " ORDER BY 1"
    listed = process.run(*psql, "-c", "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1").stdout.split()
    need(sorted(listed) == names, "%s and %s" % (listed, names))
    found = {tuple(line.split("|")) for line in process.run(*psql, "-c", counts).stdout.splitlines()}
    ours = {(name, str(count)) for name, count in database.execute(counts)}
    need(found == ours and len(ours) >= len(TABLES), str(found ^ ours))


def test_postgresql(c):
    """a PostgreSQL server reads the text: it has SQLite's tables and views, with the same rows"""
    binaries = "/usr/lib/postgresql"
    if not os.path.isdir(binaries) or os.getuid() != 0:
        raise Skip("no postgresql, or not root")
    binaries = os.path.join(binaries, sorted(os.listdir(binaries))[-1], "bin")
    text = os.path.join(c.work, "text.sql")
    process.must(PERFUSE, "data", "export", "postgresql", "--calls", "--callchains", "-i", c.path, text)
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        shutil.chown(folder, "postgres")
        server = "%s/pg_ctl -D %s/data -o \"-k %s -h ''\" -l %s/log -w" % (binaries, folder, folder, folder)
        process.must("su", "postgres", "-s", "/bin/sh", "-c", "%s/initdb -N -D %s/data -A trust && %s start" % (binaries, folder, server),
                     cwd=folder, stdout=process.DEVNULL)
        try:
            psql = ("psql", "-q", "-At", "-v", "ON_ERROR_STOP=1", "-U", "postgres", "-h", folder)
            process.must(*psql, "-f", text)
            query = "SELECT id, tid, command, ip_hex, symbol, sym_offset FROM samples_view WHERE id > 0 ORDER BY id"
            rows = [tuple(line.split("|")) for line in process.run(*psql, "-c", query).stdout.splitlines()]
            ours = [tuple(map(str, row)) for row in c.export("same.db", "--calls", "--callchains").execute(query)]
            need(rows == ours and len(rows) == 50, "%s and %s" % (rows[:2], ours[:2]))
            check_counts(c, psql, c.path, ())
            if os.path.exists(TRUTH):
                check_counts(c, psql, os.path.join(TRUTH, "pp.cpu2_cyc.data"), ("--symfs", trace_symfs(c), "--itrace=bep"))
        finally:
            process.run("su", "postgres", "-s", "/bin/sh", "-c", server + " -m immediate stop", cwd=folder)


def main():
    with tempfile.TemporaryDirectory(prefix="perfuse-data-") as work:
        return run_tests(tests_of(globals(), Context(work)))


if __name__ == "__main__":
    sys.exit(main())
