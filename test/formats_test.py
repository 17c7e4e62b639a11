#!/usr/bin/env python3
# sanitized: recordings of others
"""--format: the JSON and CSV of commands have the values of their text, and follow docs/formats.md; jq reads them."""
import csv
import functools
import io
import json
import os
import re
import sys

from terminal import hostile_texts
from suite import process
from suite.process import environment
from suite.settings import PERFUSE, SHAPE
from suite.tests import Skip, need, run_in_folder

KINDS = {"count": int, "bytes": int, "time": int, "number": int, "real": (int, float), "share": (int, float), "address": str, "flag": bool,
         "text": str, "task": dict, "place": dict, "file_id": dict, "list": list, "map": dict}


class Context:
    def __init__(self, folder):
        self.folder = folder

    def record(self, name, *words):
        path = os.path.join(self.folder, name)
        done = self.run("record", "-q", "-g", "-e", "cpu-clock,task-clock", "-o", path, *words, "--", SHAPE)
        need(done.returncode == 0, done.stderr)
        return path

    @functools.cached_property
    def recording(self):
        """Two events, with call chains; made once."""
        return self.record("perf.data")

    @functools.cached_property
    def few(self):
        """The same with few samples, for script."""
        return self.record("few.data", "-F", "200")

    def run(self, *words):
        return process.perfuse(*words, env=environment(self.folder))

    def json(self, *words):
        done = self.run(*words, "--format=json", "-i", self.few if words[0] == "script" else self.recording)
        need(done.returncode == 0, done.stderr)
        return json.loads(done.stdout)

    def text(self, *words):
        return self.run(*words, "-i", self.few if words[0] == "script" else self.recording).stdout


def check_value(column, value):
    kind = column["kind"]
    need(value is None or isinstance(value, KINDS[kind]) and (kind == "flag" or not isinstance(value, bool)), "%s is %r" % (column, value))
    if value is not None and kind == "address":
        need(re.fullmatch("0x[0-9a-f]+", value), value)
    if value is not None and kind == "place":
        need(re.fullmatch("0x[0-9a-f]+", value["address"]), value)
        need({"address", "symbol", "module"} <= set(value) <= {"address", "symbol", "module", "offset", "level", "inlined", "line"}, value)


def check_schema(document):
    """What docs/formats.md specifies for every document."""
    need(document["schema"].startswith("perfuse.") and isinstance(document["version"], int), "schema and version")
    need(set(document) == {"schema", "version", "facts", "tables"}, set(document))
    for table in document["tables"]:
        need(set(table) == {"name", "facts", "columns", "rows"}, set(table))
        names = [column["name"] for column in table["columns"]]
        need(len(set(names)) == len(names), names)
        for row in table["rows"]:
            need(set(row) - ({"depth", "callers", "trace_fields"} - set(names)) == set(names), "keys %s of columns %s" % (set(row), names))
            for column in table["columns"]:
                check_value(column, row[column["name"]])


def test_schema(context):
    """documents follow the schema, whatever the columns"""
    for words in (["annotate"], ["annotate", "--source", "--inline"], ["report"], ["report", "--hierarchy"], ["report", "--group"], ["report", "--group", "-F", "overhead,sample,sym"], ["report", "-g", "srcline"], ["report", "-g", "folded"],
                  ["report", "--sort", "pid,cpu,time,symbol_size,dso_size,symoff,srcline", "-F", "+sample,period,weight1"]):
        check_schema(context.json(*words))


def test_schema_of_lists(context):
    """documents of evlist and buildid-list follow the schema"""
    for words in (["evlist"], ["evlist", "-g"], ["evlist", "-v"], ["evlist", "--trace-fields"], ["buildid-list"], ["buildid-list", "-H"],
                  ["buildid-list", "-m"], ["buildid-list", "-k"]):
        document = context.json(*words)
        check_schema(document)
        need(document["schema"] == "perfuse." + words[0] and document["version"] == 1, document["schema"])
        need(document["tables"][0]["rows"], "%s has rows" % words)


def shown_field(label, value, row):
    """The value of a column as evlist -v shows it."""
    if label in ("type", "config"):
        name = row[label + "_name"]
        return ("%#x" % value if label == "config" and value else str(value)) + (" (%s)" % name if name else "")
    if label in ("config1", "config2", "bp_addr", "bp_len", "sample_regs_user", "sample_regs_intr"):
        return "%#x" % value
    return str(int(value)) if isinstance(value, bool) else str(value)


def test_attributes(context):
    """evlist's columns have the values of -v, and no others"""
    table = context.json("evlist")["tables"][0]
    lines = [line for line in context.text("evlist", "-v").splitlines() if not line.startswith("#")]
    need(len(lines) == len(table["rows"]) == 2, lines)
    for line, row in zip(lines, table["rows"]):
        shown = [re.sub(r"\s*\{ (\w+), (\w+) \}: ", r"\1/\2: ", field).strip() for field in re.sub(r"\{ (\w+), (\w+) \}", r"{ \1/\2 }",
                 line.removeprefix(row["event"] + ":")).split(", ")]
        fields = dict(field.split(": ", 1) for field in shown)
        left = {name: value for name, value in row.items() if value and name not in ("event", "group", "group_name", "type_name", "config_name")}
        left |= {"type": row["type"], "config": row["config"]}
        for label, text in fields.items():
            used = [name for name in re.findall(r"\w+", label) if name in left]
            need(len(used) == 1, "%s is %s" % (label, used))
            need(shown_field(used[0], left.pop(used[0]), row) == text, "%s: %s" % (label, text))
        need(not left, "not in the text: %s" % left)
        need(row["freq"] and row["sample_freq"] and row["sample_period"] is None, "a frequency is no period")


def test_groups(context):
    """evlist's groups are those of -g"""
    path = os.path.join(context.folder, "group.data")
    done = context.run("record", "-q", "-e", "{cpu-clock,task-clock},context-switches", "-o", path, "--", "true")
    need(done.returncode == 0, done.stderr)
    rows = json.loads(context.run("evlist", "--format=json", "-i", path).stdout)["tables"][0]["rows"]
    need([row["group"] for row in rows[:3]] == [0, 0, 2], rows)
    first = context.run("evlist", "-g", "-i", path).stdout.splitlines()[0]
    need(first == "{%s}" % ",".join(row["event"] for row in rows[:2]), first)


def test_trace_fields(context):
    """evlist's fields of tracepoints are those of the text"""
    path = os.path.join(context.folder, "trace.data")
    if context.run("record", "-q", "-e", "raw_syscalls:sys_enter", "-o", path, "--", "true").returncode:
        raise Skip("tracepoints cannot be recorded here")
    document = json.loads(context.run("evlist", "--trace-fields", "--format=json", "-i", path).stdout)
    check_schema(document)
    names = [field["name"] for field in document["tables"][0]["rows"][0]["trace_fields"]]
    text = context.run("evlist", "--trace-fields", "-i", path).stdout
    need(names and ": trace_fields: %s\n" % ",".join(names) in text, "%s in %s" % (names, text))


def test_build_ids(context):
    """buildid-list's rows are those of the text: of a recording, of the kernel's maps, of a file"""
    rows = context.json("buildid-list")["tables"][0]["rows"]
    lines = ["%-40s %s" % (row["build_id"] or "", row["name"]) for row in rows]
    need(lines == context.text("buildid-list").splitlines() and any(row["build_id"] for row in rows), lines)
    need(all(row["guest"] is None for row in rows), rows)
    rows = context.json("buildid-list", "-m")["tables"][0]["rows"]
    lines = ["%s %16x %16x %s" % (row["build_id"] or "", int(row["start"], 16), int(row["end"], 16), row["name"]) for row in rows]
    need(lines == context.text("buildid-list", "-m").splitlines(), lines)
    row = json.loads(context.run("buildid-list", "--format=json", "-i", PERFUSE).stdout)["tables"][0]["rows"][0]
    need(row["name"] == PERFUSE and row["build_id"] == context.run("buildid-list", "-i", PERFUSE).stdout.strip(), row)


def test_csv_of_lists(context):
    """CSV of evlist and buildid-list has the values of their JSON"""
    for command in ("evlist", "buildid-list"):
        rows = context.json(command)["tables"][0]["rows"]
        read = list(csv.DictReader(io.StringIO(context.run(command, "--format=csv", "-i", context.recording).stdout)))
        need(len(read) == len(rows) > 0, "%d rows" % len(read))
        for row, line in zip(rows, read):
            need(line == {name: "" if value is None else str(int(value) if isinstance(value, bool) else value)
                          for name, value in row.items()}, "%s is not %s" % (line, row))


def test_jq_of_lists(context):
    """jq reads documents of evlist and buildid-list"""
    for command, key in (("evlist", "event"), ("buildid-list", "name")):
        document = context.run(command, "--format=json", "-i", context.recording).stdout
        done = process.run("jq", "-r", ".tables[0].rows[].%s" % key, input=document)
        need(done.returncode == 0 and done.stdout.splitlines() == [row[key] for row in json.loads(document)["tables"][0]["rows"]],
             done.stderr + done.stdout[:200])


def test_numbers(context):
    """shares, samples and names are those of the text"""
    document = context.json("report", "--no-children", "-F", "overhead,sample,period,comm,dso,sym")
    lines = [line.split(None, 6) for line in context.text("report", "--stdio", "--no-children", "-g", "none", "-F",
                                                            "overhead,sample,period,comm,dso,sym").splitlines()
             if line.strip() and not line.startswith("#")]
    rows = [row for table in document["tables"] for row in table["rows"]]
    need(len(rows) == len(lines) > 3, "%d rows, %d lines" % (len(rows), len(lines)))
    for row, line in zip(rows, lines):
        place = row["symbol"]
        need(abs(float(line[0].rstrip("%")) - 100 * row["overhead"]) < 0.005 + 1e-9, "%s is not %s" % (line[0], row["overhead"]))
        shown = [line[0], str(row["sample"]), str(row["period"]), row["comm"], row["dso"] or "[unknown]",
                 "[%s]" % place["level"], place["symbol"] or "0x%016x" % int(place["address"], 16)]
        need(shown == [word.strip() for word in line], "%s is not %s" % (shown, line))
    for table in document["tables"]:
        need(table["facts"]["samples"] == sum(row["sample"] for row in table["rows"]), "samples add up")
        need(table["facts"]["period"] == sum(row["period"] for row in table["rows"]), "periods add up")


def test_callers(context):
    """callers are a tree whose sums close, and the workload's functions are in it"""
    table = context.json("report", "--children", "--percent-limit", "0", "-g", "caller,0")["tables"][0]
    known = 0
    for row in table["rows"]:
        sums = {}
        for caller in row.get("callers", []):
            depth = caller["depth"]
            need(depth == 0 or depth - 1 in sums, "a row at depth %d has one above it" % depth)
            if depth:
                need(caller["period"] <= sums[depth - 1], "%d below %d" % (caller["period"], sums[depth - 1]))
                sums[depth - 1] -= caller["period"]
            sums = {at: left for at, left in sums.items() if at < depth}
            sums[depth] = caller["period"]
            known += depth > 0 and (caller["place"]["symbol"] or "").startswith("shape_")
    need(known, "functions of the workload are called")


def test_csv(context):
    """CSV has the same rows and values"""
    document = context.json("report", "--sort", "comm,dso,sym", "-F", "overhead,sample,comm,dso,sym")
    done = context.run("report", "--format=csv", "-i", context.recording, "--sort", "comm,dso,sym", "-F", "overhead,sample,comm,dso,sym")
    tables = [list(csv.DictReader(io.StringIO(part))) for part in done.stdout.split("\n\n")]
    need(len(tables) == len(document["tables"]), "%d tables" % len(tables))
    for table, read in zip(document["tables"], tables):
        need(len(table["rows"]) == len(read) > 0, "%d rows" % len(read))
        for row, line in zip(table["rows"], read):
            need(float(line["overhead"]) == row["overhead"] and int(line["sample"]) == row["sample"] and line["comm"] == row["comm"], line)
            need(line["symbol"] == (row["symbol"]["symbol"] or row["symbol"]["address"]), line)


BRANCH = {"from": "address", "to": "address", "mispredicted": "flag", "in_transaction": "flag", "abort": "flag", "cycles": "count",
          "type": "text", "speculation": "text"}


def check_nested(row):
    """The lists and maps of perfuse.script, which have no columns of their own."""
    for place in row.get("callchain") or []:
        check_value({"kind": "place"}, place)
    for field, kind in (("brstack", "address"), ("brstacksym", "place"), ("brstackoff", "address")):
        for branch in row.get(field) or []:
            need(list(branch) == list(BRANCH), branch)
            for name, value in branch.items():
                check_value({"kind": kind if name in ("from", "to") else BRANCH[name]}, value)
    for registers in ("iregs", "uregs"):
        for value in (row.get(registers) or {}).values():
            check_value({"kind": "address"}, value)
    for value in (row.get("trace_fields") or {}).values():
        numbers = value if isinstance(value, list) else [value]
        need(all(number is None or type(number) in (int, str) for number in numbers), value)
    source = row.get("data_src")
    need(source is None or list(source) == ["value", "operation", "level", "snoop", "tlb", "lock", "block"], source)


def script(context, *words):
    """The table of `script` with these options."""
    document = context.json("script", *words)
    check_schema(document)
    need((document["schema"], document["version"]) == ("perfuse.script", 1), document["schema"])
    need([table["name"] for table in document["tables"]] == ["samples"], "one table")
    for row in document["tables"][0]["rows"]:
        check_nested(row)
    return document["tables"][0]


def columns_of(table):
    return [column["name"] for column in table["columns"]]


def test_script_schema(context):
    """documents of script follow the schema and have the columns of -F"""
    for fields in ("comm,pid,tid,time,misc,period,event", "ip,sym,symoff,dso,dsoff,srcline", "comm,ip,sym,insn,insnlen,flags,vcpu"):
        for more in ([], ["--show-task-events", "--show-mmap-events"], ["-G"], ["--inline"]):
            table = script(context, "-F", fields, *more)
            names = set(columns_of(table)) - {"callchain", "record", "record_text"}
            need(names == set(fields.split(",")) and table["rows"], "%s of %s" % (names, fields))
            need(("record" in columns_of(table)) == ("--show-task-events" in more), "columns of records")
            need(("callchain" in columns_of(table)) == ("ip" in fields.split(",") and "-G" not in more), "a column of call chains")


def text_samples(text):
    """Of script's text with -F comm,tid,time,period,event,ip,sym,symoff,dso: a tuple for each sample, its frames last."""
    samples = []
    for part in text.split("\n\n"):
        head, *frames = part.strip("\n").split("\n")
        found = re.fullmatch(r"(.+?) +(-?\d+) +(\d+)\.(\d{9}): +(\d+) +(\S+): *", head)
        if found:
            comm, tid, seconds, rest, period, event = found.groups()
            samples.append((comm.strip(), int(tid), int(seconds + rest), int(period), event, [frame.strip() for frame in frames]))
    return samples


def shown_frame(frame):
    name = frame["symbol"] or "[unknown]"
    if frame.get("inlined"):
        return "%s %s (inlined)" % (frame["address"][2:], name)
    offset = "+%#x" % frame["offset"] if frame["symbol"] else ""
    return "%s %s%s (%s)" % (frame["address"][2:], name, offset, frame["module"] or "[unknown]")


def test_script_numbers(context):
    """script's rows are the samples of its text, in its order, with the same call chains"""
    words = ["-F", "comm,tid,time,period,event,ip,sym,symoff,dso", "--ns"]
    rows = script(context, *words)["rows"]
    samples = text_samples(context.text("script", *words))
    need(len(rows) == len(samples) > 100, "%d rows, %d samples" % (len(rows), len(samples)))
    for row, sample in zip(rows, samples):
        frames = [shown_frame(frame) for frame in row["callchain"]]
        named = tuple(row[name] for name in ("comm", "tid", "time", "period", "event"))
        need(named == sample[:5], "%s is not %s" % (named, sample[:5]))
        need(frames == sample[5], "%s is not %s" % (frames[:3], sample[5][:3]))
        need((row["ip"], row["sym"]) == tuple(row["callchain"][0][name] for name in ("address", "symbol")), row["sym"])


def test_script_lines(context):
    """frames have source lines if srcline is asked for, the workload's among them"""
    table = script(context, "-F", "ip,sym,srcline")
    lines = {frame.get("line") for row in table["rows"] for frame in row["callchain"]}
    need(any(line and line.startswith("shape.c:") for line in lines), sorted(filter(None, lines))[:5])
    need(not any("line" in frame for row in script(context, "-F", "ip,sym")["rows"] for frame in row["callchain"]), "only if asked for")


def test_script_csv(context):
    """CSV of script has the values of its JSON; lists are JSON"""
    words = ["-F", "comm,tid,time,period,event,ip,sym,dso", "--show-task-events"]
    rows = script(context, *words)["rows"]
    read = list(csv.DictReader(io.StringIO(context.run("script", "--format=csv", "-i", context.few, *words).stdout)))
    need(len(read) == len(rows) > 0, "%d rows" % len(read))
    for row, line in zip(rows, read):
        for name, value in row.items():
            if name == "callchain" and value is not None:
                need(json.loads(line[name]) == value, line[name])
            else:
                need(line[name] == ("" if value is None else str(value)), "%s: %r is not %r" % (name, line[name], value))


def test_script_stream(context):
    """a recording that is piped in makes the same document"""
    want = context.run("script", "--format=json", "-i", context.few, "-F", "comm,tid,time,event,ip,sym,dso").stdout
    piped = os.path.join(context.folder, "pipe.data")
    with open(piped, "wb") as out:
        done = process.perfuse("record", "-q", "-g", "-e", "cpu-clock", "-o", "-", "--", SHAPE, stdout=out, env=environment(context.folder))
    need(done.returncode == 0, done.stderr)
    with open(piped, "rb") as source:
        done = process.perfuse("script", "--format=json", "-i", "-", "-F", "comm,tid,time,event,ip,sym,dso", stdin=source,
                               env=environment(context.folder))
    document = json.loads(done.stdout)
    check_schema(document)
    need(columns_of(document["tables"][0]) == columns_of(json.loads(want)["tables"][0]), columns_of(document["tables"][0]))
    rows = document["tables"][0]["rows"]
    need(len(rows) > 50 and all(row["callchain"] for row in rows) and any(row["sym"] == "shape_bottom" for row in rows), len(rows))


def test_script_trace(context):
    """fields of tracepoints are numbers, text and lists besides the text; rows of other events have none"""
    path = os.path.join(context.folder, "both.data")
    if context.run("record", "-q", "-e", "raw_syscalls:sys_enter,sched:sched_process_exec,cpu-clock", "-o", path, "--", "true").returncode:
        raise Skip("tracepoints cannot be recorded here")
    document = json.loads(context.run("script", "--format=json", "-i", path).stdout)
    check_schema(document)
    rows = document["tables"][0]["rows"]
    for row in rows:
        check_nested(row)
        need((row["trace"] is None) == (row["trace_fields"] is None) == (":" not in row["event"]), row)
    entered = [row for row in rows if row["event"] == "raw_syscalls:sys_enter"]
    need(entered, "system calls")
    for row in entered:
        fields = row["trace_fields"]
        need(row["trace"] == "NR %d (%s)" % (fields["id"], ", ".join("%x" % arg for arg in fields["args"])), row)
    need(any(row["trace_fields"]["filename"].endswith("/true") for row in rows if row["event"] == "sched:sched_process_exec"), "a string")


def test_script_hostile(context):
    """texts of a recording that all try to end a line or a value stay in their values"""
    folder = os.path.join(context.folder, "hostile")
    os.mkdir(folder)
    path = os.path.join(folder, "hostile.data")
    hostile_texts.write(path, hostile_texts.program(folder) or os.fsencode(folder) + b"/" + hostile_texts.HOSTILE)
    for words in ([], ["-F", "comm,tid,time,event,ip,sym,symoff,dso,srcline,trace,cgroup,addr"], ["--show-mmap-events", "--show-task-events"]):
        done = context.run("script", "--format=json", "-i", path, *words)
        document = json.loads(done.stdout)
        check_schema(document)
        for row in document["tables"][0]["rows"]:
            check_nested(row)
        need(document["tables"][0]["rows"], "%s: no rows: %s" % (words, done.stderr))
        done = process.perfuse("script", "--format=csv", "-i", path, *words, text=False, env=environment(folder))
        lines = list(csv.reader(io.StringIO(done.stdout.decode(errors="replace"), newline="")))
        need(len(lines) == 1 + len(document["tables"][0]["rows"]), "%d lines" % len(lines))
        need({len(line) for line in lines} == {len(document["tables"][0]["columns"])}, "every line has every column")


def test_script_refused(context):
    """what is text alone refuses --format of script"""
    for words in (["-D"], ["--header"], ["--header-only"], ["--debug-mode"], ["--per-event-dump"], ["--dump-unsorted-raw-trace"]):
        done = context.run("script", "--format=json", "-i", context.few, *words)
        need(done.returncode == 129 and "--format=json is for samples" in done.stderr and not done.stdout, done.stderr)
    done = context.run("script", "--format=text", "-i", context.few)
    need(done.stdout == context.text("script") and done.stdout, "text is perf's")


def test_script_jq(context):
    """jq reads a document of script"""
    document = context.run("script", "--format=json", "-i", context.few).stdout
    done = process.run("jq", "-r", '.tables[0].rows[] | [.callchain[].symbol // "?"] | reverse | join(";")', input=document)
    need(done.returncode == 0 and re.search("^.*shape_[a-z_]+", done.stdout, re.M), done.stderr + done.stdout[:200])


def test_jq(context):
    """jq reads a document"""
    document = context.run("report", "--format=json", "-i", context.recording).stdout
    done = process.run("jq", "-r", ".tables[0].rows[] | [.overhead, .symbol.symbol] | @tsv", input=document)
    need(done.returncode == 0 and re.search(r"^0\.\d+\t\w+", done.stdout, re.M), done.stderr + done.stdout[:200])


def test_refused(context):
    """an unknown format is an error that lists the formats; so is a format for an output that is text only"""
    done = context.run("report", "--format=xml", "-i", context.recording)
    need(done.returncode == 129 and "one of text, json, csv, markdown, html" in done.stderr, done.stderr)
    done = context.run("report", "--format=json", "--stats", "-i", context.recording)
    need(done.returncode == 129 and "--format=json is for the report itself" in done.stderr and not done.stdout, done.stderr)


if __name__ == "__main__":
    sys.exit(run_in_folder("formats", Context, globals()))
