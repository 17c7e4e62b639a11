#!/usr/bin/env python3
"""--format: the JSON and CSV of commands have the values of their text, and follow docs/formats.md; jq reads them."""
import csv
import functools
import io
import json
import os
import re
import sys
import tempfile

from suite import process
from suite.process import environment
from suite.settings import PERFUSE, SHAPE
from suite.tests import Skip, need, run_tests, tests_of

KINDS = {"count": int, "bytes": int, "time": int, "number": int, "real": (int, float), "share": (int, float), "address": str, "flag": bool,
         "text": str, "task": dict, "place": dict, "file_id": dict, "list": list, "map": dict}


class Context:
    def __init__(self, folder):
        self.folder = folder

    @functools.cached_property
    def recording(self):
        """Two events, with call chains; made once."""
        path = os.path.join(self.folder, "perf.data")
        done = self.run("record", "-q", "-g", "-e", "cpu-clock,task-clock", "-o", path, "--", SHAPE)
        need(done.returncode == 0, done.stderr)
        return path

    def run(self, *words):
        return process.perfuse(*words, env=environment(self.folder))

    def json(self, *words):
        done = self.run(*words, "--format=json", "-i", self.recording)
        need(done.returncode == 0, done.stderr)
        return json.loads(done.stdout)

    def text(self, *words):
        return self.run(*words, "-i", self.recording).stdout


def check_value(column, value):
    need(value is None or isinstance(value, KINDS[column["kind"]]), "%s is %r" % (column, value))
    if value is not None and column["kind"] == "place":
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
            need(set(row) - {"depth", "callers", "trace_fields"} == set(names), "keys %s of columns %s" % (set(row), names))
            for column in table["columns"]:
                check_value(column, row[column["name"]])


def test_schema(context):
    """documents follow the schema, whatever the columns"""
    for words in (["report"], ["report", "--hierarchy"], ["report", "--group"], ["report", "--group", "-F", "overhead,sample,sym"], ["report", "-g", "srcline"], ["report", "-g", "folded"],
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


def test_jq(context):
    """jq reads a document"""
    document = context.run("report", "--format=json", "-i", context.recording).stdout
    done = process.run("jq", "-r", ".tables[0].rows[] | [.overhead, .symbol.symbol] | @tsv", input=document)
    need(done.returncode == 0 and re.search(r"^0\.\d+\t\w+", done.stdout, re.M), done.stderr + done.stdout[:200])


def test_refused(context):
    """an unknown format is an error that lists the formats; so is a format for an output that is text only"""
    done = context.run("report", "--format=xml", "-i", context.recording)
    need(done.returncode == 129 and "one of text, json, csv" in done.stderr, done.stderr)
    done = context.run("report", "--format=json", "--stats", "-i", context.recording)
    need(done.returncode == 129 and "--format=json is for the report itself" in done.stderr and not done.stdout, done.stderr)


def main():
    with tempfile.TemporaryDirectory() as folder:
        return run_tests(tests_of(globals(), Context(folder)))


if __name__ == "__main__":
    sys.exit(main())
