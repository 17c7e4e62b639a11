#!/usr/bin/env python3
# sanitized: damaged code
"""annotate: counts of each address are those of script; the text is perf's; instructions begin where objdump says; code that is missing or of
another build is not shown, and the reason is."""
import bisect
import collections
import functools
import json
import os
import re
import shutil
import struct
import sys

from suite import branches, process, recording
from suite.perf import first_difference, need_reference
from suite.process import environment, must
from suite.settings import CORPUS, PERFUSE, SANITIZED, SHORT, TEST
from suite.tests import Skip, need, need_root, need_tools, run_in_folder

# name: source and options of the compiler, then words for the treatment of the program
PROGRAMS = {
    "plain": ("loops.c", "-O2 -g"),
    "slow": ("loops.c", "-O0 -g"),
    "vector": ("loops.c", "-O3 -mavx2 -g"),
    "small": ("loops.c", "-Os"),
    "static": ("loops.c", "-O2 -g -static"),
    "fixed": ("loops.c", "-O2 -g -fno-pie -no-pie"),
    "frames": ("loops.c", "-O2 -g -fno-omit-frame-pointer -falign-functions=64"),
    "stripped": ("loops.c", "-O2 -g"),
    "objects": ("objects.cc", "-O2 -g"),
    "objects0": ("objects.cc", "-O0 -g"),
    "sections": ("objects.cc", "-O1 -g -ffunction-sections"),
    # call frame information in .debug_frame, which perf reads
    "types": ("types.c", "-O2 -g -fno-asynchronous-unwind-tables"),
    "types0": ("types.c", "-O0 -g -fno-asynchronous-unwind-tables"),
    "types_eh": ("types.c", "-O2 -g"),
    "results": ("results_other.c results.c", "-O2 -g -fno-tree-vectorize"),
}
# perf looks up the symbols of operands at wrong offsets (docs/differences.md)
OPERAND_SYMBOL = re.compile(r"\t# [0-9a-f]+ <.*>")


class Context:
    def __init__(self, folder):
        self.folder = folder

    def run(self, *words, **more):
        return process.perfuse(*words, env=environment(self.folder), cwd=self.folder, **more)

    @functools.lru_cache(None)
    def program(self, name):
        source, options = PROGRAMS[name]
        sources = [os.path.join(TEST, "annotate", name) for name in source.split()]
        compiler = "g++" if source.endswith(".cc") else "gcc"
        need_tools(compiler, "objcopy", "strip")
        path = os.path.join(self.folder, name)
        must(compiler, *options.split(), "-o", path, *sources, env=process.compilers())
        if name == "stripped":
            must("objcopy", "--only-keep-debug", path, path + ".debug")
            must("strip", path)
            must("objcopy", "--add-gnu-debuglink=" + path + ".debug", path, cwd=self.folder)
        return path

    def build(self, path):
        """A build of the program that no cache has."""
        must("gcc", "-O2", "-Wl,--build-id=0x" + os.urandom(20).hex(), "-o", path, os.path.join(TEST, "annotate", "loops.c"),
             env=process.compilers())

    @functools.lru_cache(None)
    def recording(self, name, *options):
        """Of a program, made once."""
        path = os.path.join(self.folder, name + "".join(options) + ".data")
        done = self.run("record", "-q", "-e", "cpu-clock:u", *options, "-o", path, "--", self.program(name), "30")
        need(done.returncode == 0, done.stderr)
        return path

    def perf(self, *words):
        return process.run(need_reference(), *words, env=environment(self.folder), cwd=self.folder)

    def tables(self, data, *words):
        done = self.run("annotate", "-i", data, "--format=json", *words)
        need(done.returncode == 0, done.stderr)
        return json.loads(done.stdout)["tables"]

    def symbols(self, data):
        return [table["facts"]["symbol"] for table in self.tables(data)]


def script_counts(context, data):
    """Number of samples by symbol and offset."""
    done = context.run("script", "-i", data, "-F", "ip,sym,symoff")
    need(done.returncode == 0, done.stderr)
    counts = collections.defaultdict(collections.Counter)
    for line in done.stdout.splitlines():
        found = re.fullmatch(r"\s*[0-9a-f]+ (.+)\+0x([0-9a-f]+)\s*", line)
        if found:
            counts[found[1]][int(found[2], 16)] += 1
    return counts


def test_counts(context):
    """the samples of each instruction are those that script has there, in every function"""
    for name in ("plain", "slow", "objects", "static", "stripped"):
        data = context.recording(name)
        counts = script_counts(context, data)
        need(sum(map(lambda c: sum(c.values()), counts.values())) > 50, "%s: few samples" % name)
        tables = context.tables(data)
        names = collections.Counter(table["facts"]["symbol"] for table in tables)  # overloaded functions share a name
        found = collections.defaultdict(collections.Counter)
        for table in tables:
            symbol = table["facts"]["symbol"]
            rows = collections.Counter({row["offset"]: row["samples"] for row in table["rows"] if row["samples"]})
            if names[symbol] == 1:
                starts, expected = [row["offset"] for row in table["rows"]], collections.Counter()
                for offset, count in counts[symbol].items():
                    expected[starts[bisect.bisect_right(starts, offset) - 1]] += count
                need(rows == expected, "%s, %s: %s, script has %s" % (name, symbol, dict(rows), dict(expected)))
            found[symbol] += rows
        for symbol, rows in found.items():
            need(sum(rows.values()) == sum(counts[symbol].values()), "%s, %s: %s, script has %s" % (name, symbol, rows, counts[symbol]))
        need(set(found) == set(counts), "%s: functions %s, script has %s" % (name, set(found), set(counts)))


def test_shares(context):
    """shares of a function add up to 1, and its hottest instruction has the largest"""
    for table in context.tables(context.recording("plain")):
        need(abs(sum(row["share"] for row in table["rows"]) - 1) < 1e-9, table["facts"])
        most = max(table["rows"], key=lambda row: row["period"])
        need(most["address"] == table["facts"]["hottest"] or
             any(row["address"] == table["facts"]["hottest"] and row["period"] == most["period"] for row in table["rows"]), table["facts"])


def comparable(text):
    return OPERAND_SYMBOL.sub("", text)


def compare_with_perf(context, name, options, change=comparable, data=None):
    data = data or context.recording(name)
    for symbol in context.symbols(data):
        words = ("annotate", "-i", data, *options, "-s", symbol)
        ours, perfs = context.run(*words), context.perf(*words)
        if not perfs.stdout or "Disassembly of section" in perfs.stdout:
            continue  # perf crashed, or it ran objdump because of an instruction that capstone does not know
        need(change(ours.stdout) == change(perfs.stdout), "%s %s, %s: %s" % (name, " ".join(options), symbol,
                                                                             first_difference(change(ours.stdout), change(perfs.stdout))))


def runs_here(name):
    """Whether this processor has the instructions of a program."""
    with open("/proc/cpuinfo") as cpus:
        return name != "vector" or "avx2" in cpus.read()


def test_text(context):
    """the text of every function of programs in C and C++ is perf's"""
    for name in filter(runs_here, PROGRAMS if not (SHORT and SANITIZED) else ("plain", "stripped", "objects", "types")):
        compare_with_perf(context, name, ["--stdio"])


def test_options(context):
    """the text with each option that changes it is perf's, too"""
    for options in ("-n", "--show-total-period", "-M intel", "-M att", "--stdio-color always", "-P", "-v", "--percent-type hits-local",
                    "--percent-type global-period", "-C 0-63", "-d plain", "--percent-limit 5", "-q", "--group",
                    "--skip-empty"):
        compare_with_perf(context, "plain", ["--stdio", *options.split()])


def test_lines(context):
    """the summary by source line, and lines beside instructions, are perf's"""
    for name in ("plain", "objects"):
        data = context.recording(name)
        for symbol in ("hot", "choose") if name == "plain" else ("work(int)", "work"):
            for option in ("-l", "-lP"):
                words = ("annotate", "-i", data, "--stdio", option, "-s", symbol)
                ours, perfs = comparable(context.run(*words).stdout), comparable(context.perf(*words).stdout)
                need(ours == perfs, "%s %s: %s" % (name, option, first_difference(ours, perfs)))


def test_browser_text(context):
    """--stdio2 is perf's, but for the names of operands"""
    def change(text):
        text = re.sub(r"-?0x[0-9a-f]+\(%rip\)", "X", comparable(text))
        text = re.sub(r"[\w.]+(\+0x[0-9a-f]+)?(?=,%)|(?<=,)[\w.]+(\+0x[0-9a-f]+)? *$", "X", text, flags=re.M)
        text = re.sub(r"(jmpq? +\*\w*\(, .*?, ).*", r"\1", text)
        text = re.sub(r"(\u2192 call\w* +)(\*[0-9a-f]+|[\w.@]+) *$", r"\1called", text, flags=re.M)
        return re.sub(r"(\u2192 j\w+ +)(0|[\w.@]+) *$", r"\1cold", text, flags=re.M)
    for name in filter(runs_here, ("plain", "slow", "vector", "fixed")):
        compare_with_perf(context, name, ["--stdio2"], change)


def test_groups(context):
    """events of a group are columns side by side; other events follow one another"""
    for events, name in (("{cpu-clock:u,page-faults:u}", "group"), ("cpu-clock:u,page-faults:u", "events")):
        path = os.path.join(context.folder, name + ".data")
        done = context.run("record", "-q", "-e", events, "-o", path, "--", context.program("plain"), "5")
        need(done.returncode == 0, done.stderr)
        for options in ([], ["--group"], ["-n"]):
            compare_with_perf(context, name, ["--stdio", *options], data=path)


def test_boundaries(context):
    """instructions of the C library begin where objdump's do"""
    need_tools("objdump")
    data = context.recording("static")
    tables = context.tables(data)
    need(tables, "no function")
    addresses = {}
    for line in must("objdump", "-d", "--no-show-raw-insn", context.program("static")).splitlines():
        found = re.match(r"\s*([0-9a-f]+):\t(\S+)", line)
        if found:
            addresses[int(found[1], 16)] = found[2]
    for table in tables:
        for row in table["rows"]:
            if row["instruction"]:
                need(int(row["address"], 16) in addresses, "%s of %s begins no instruction" % (row["address"], table["facts"]["symbol"]))


def branch_recording(context):
    """Samples of hot() in the program that is linked at a fixed address, with branches that its code has, cycles and predictions."""
    path = os.path.join(context.folder, "branches.data")
    branches.write(path, context.program("fixed"), ["hot"], 1, 40)
    return path


def test_branches(context):
    """shares of recorded branches, cycles and instructions per cycle are perf's"""
    need_tools("objdump")
    path = branch_recording(context)
    for options in (["--stdio"], ["--stdio", "--stdio-color", "always"], ["--stdio2"]):
        ours, perfs = context.run("annotate", "-i", path, *options).stdout, context.perf("annotate", "-i", path, *options).stdout
        need("p:9" in ours or "p:8" in ours or options == ["--stdio2"], "predictions are shown")
        if options == ["--stdio2"]:  # perf has all counts at one branch
            ours, perfs = (re.sub(r"^[ \d.]{8}", "", text, flags=re.M) for text in (ours, perfs))
        need(ours == perfs, "%s: %s" % (options, first_difference(ours, perfs)))


def test_trace(context):
    """--itrace: the counts of a decoded hardware trace are those of script, and the text is perf's"""
    truth = os.path.join(CORPUS, "pt", "truth")
    if not os.path.exists(truth):
        raise Skip("no such folder: %s (PERFUSE_CORPUS names another)" % truth)
    symfs = os.path.join(context.folder, "symfs")
    os.mkdir(symfs)
    must("tar", "-C", symfs, "-xf", os.path.join(truth, "symfs.tar.xz"))
    for name, options in (("sig.pt_cyc", ["--itrace=i100us"]), ("sig.pt_cyc", ["--itrace=i10us"]), ("mix.pt_base", ["--itrace=i100us"])):
        path = os.path.join(truth, name + ".data")
        words = [*options, "--symfs", symfs, "-i", path]
        ours, perfs = (OPERAND_SYMBOL.sub("", run("annotate", "--stdio", *words).stdout) for run in (context.run, context.perf))
        need(ours == perfs and ours, "%s: %s" % (words, first_difference(ours, perfs)))
        counted = sum(row["samples"] for table in context.tables(path, *words[:-2]) for row in table["rows"] if row["samples"])
        samples = [line for line in context.run("script", "-F", "ip,sym", *words).stdout.splitlines() if "[unknown]" not in line]
        need(counted == len(samples) > 0, "%s: %d samples, script has %d" % (words, counted, len(samples)))


def test_order(context):
    """without a symbol, all functions are shown in perf's order"""
    data = context.recording("objects0")
    shown = re.findall(r"0x[0-9a-f]+ <(.*)>:", context.run("annotate", "-i", data, "--stdio").stdout)
    report = json.loads(context.run("report", "-i", data, "--format=json", "-s", "dso,sym").stdout)
    order = [row["symbol"]["symbol"] for row in report["tables"][0]["rows"]]
    want = [name for name in order if name]
    need(shown == want, "%s" % [pair for pair in zip(shown, want) if pair[0] != pair[1]][:2])


def test_missing_file(context):
    """without its file a function has no code, but a message with the paths, and its counts in the table"""
    path = os.path.join(context.folder, "gone")
    context.build(path)
    data = path + ".data"
    done = context.run("record", "-q", "-N", "-B", "-e", "cpu-clock:u", "-o", data, "--", path, "20")
    need(done.returncode == 0, done.stderr)
    counts = script_counts(context, data)
    os.rename(path, path + ".moved")
    done = context.run("annotate", "-i", data, "--stdio")
    need(not re.search(r"<hot>", done.stdout), done.stdout[:300])
    done = context.run("annotate", "-i", data, "--stdio", "--symfs", "/nowhere")
    need(done.returncode in (0, 255) and "Disassembly of gone" not in done.stdout, done.stdout[:300])
    os.rename(path + ".moved", path)
    need(counts["hot"], "hot has samples")


def test_nothing_shown(context):
    """a recording without any symbol gets a message that names the files"""
    path = os.path.join(context.folder, "strange")
    context.build(path)
    must("strip", path)
    data = path + ".data"
    done = context.run("record", "-q", "-N", "-e", "cpu-clock:u", "-o", data, "--", path, "20")
    need(done.returncode == 0, done.stderr)
    os.unlink(path)
    done = context.run("annotate", "-i", data, "--stdio", "-d", "strange")
    need(done.stdout == "" and "in no known function" in done.stderr and path in done.stderr, done.stdout[:200] + done.stderr)


def test_other_build(context):
    """a program that was replaced is not shown"""
    path = os.path.join(context.folder, "replaced")
    context.build(path)
    data = path + ".data"
    done = context.run("record", "-q", "-N", "-e", "cpu-clock:u", "-o", data, "--", path, "20")
    need(done.returncode == 0, done.stderr)
    os.unlink(path)
    shutil.copy(context.program("slow"), path)
    done = context.run("annotate", "-i", data, "--stdio")
    need("Disassembly of replaced" not in done.stdout, done.stdout[:300])


def test_objdump(context):
    """--objdump has the output that perf gets from objdump, with source lines"""
    need_tools("objdump")
    for name, symbols in (("plain", ("hot", "choose")), ("fixed", ("hot", "choose")), ("small", ("hot",)), ("slow", ("hot", "mix"))):
        for symbol in symbols:
            words = ("annotate", "-i", context.recording(name), "--stdio", "--objdump=objdump", "-s", symbol)
            ours, perfs = (re.sub(" {8}# .*", "", done.stdout) for done in (context.run(*words), context.perf(*words)))
            need(not perfs or ours == perfs, "%s, %s: %s" % (name, symbol, first_difference(ours, perfs)))


def test_hottest(context):
    """--hottest names the instruction with the most samples, in every function, with its source line"""
    data = context.recording("plain")
    lines = context.run("annotate", "-i", data, "--hottest").stdout.splitlines()[1:]
    tables = context.tables(data)
    need(len(lines) == len(tables), lines)
    for line, table in zip(lines, tables):
        need(" %s [" % table["facts"]["symbol"] in line and ": %s " % table["facts"]["hottest"][2:] in line, "%s, %s" % (line, table["facts"]))
    need(re.search(r" hot \[plain\]: .*, loops\.c:\d+; loops\.c:\d+ \d+\.\d\d%$", lines[0]), lines[0])


def test_source(context):
    """--source shows the lines of the source, --prefix finds them elsewhere"""
    data = context.recording("plain")
    text = context.run("annotate", "-i", data, "--stdio", "--source", "hot").stdout
    for line in ("s += mix(i);", "x *= 0xff51afd7ed558ccdull;", "if (s & 1)"):
        need(re.search(r"^ +: \d+ +\t*%s$" % re.escape(line), text, flags=re.M), line)
    plain = context.run("annotate", "-i", data, "--stdio", "hot").stdout
    need([line for line in text.splitlines() if not re.match(r" {8,}: [1-9]| {8,}:$", line)] == plain.splitlines(), "the other lines are the same")
    moved = os.path.join(context.folder, "moved")
    os.makedirs(moved, exist_ok=True)
    with open(os.path.join(moved, "loops.c"), "w") as to:
        to.write("// moved\n" * 60)
    strip = os.path.join(TEST, "annotate").count("/")
    text = context.run("annotate", "-i", data, "--stdio", "--source", "--prefix", moved, "--prefix-strip", str(strip), "hot").stdout
    need("// moved" in text, text[:500])


def test_inline(context):
    """--inline marks the code of inlined functions"""
    text = context.run("annotate", "-i", context.recording("plain"), "--stdio", "--inline", "hot").stdout
    marks = re.findall(r"^ +: \d+ +(mix|hot)$", text, flags=re.M)
    need("mix" in marks and "hot" in marks, marks)


def test_jit_and_strange_symbols(context):
    """an unknown function, a wrong word and a missing recording end with a message"""
    data = context.recording("plain")
    done = context.run("annotate", "-i", data, "--stdio", "nosuch")
    need(done.stdout == "" and "nosuch" in done.stderr, done.stderr)
    for words, code in ((["--percent-type", "wrong"], 129), (["--prefix-strip", "1"], 234), (["a", "b"], 129), (["--insn-stat=x"], 129)):
        need(context.run("annotate", "-i", data, *words).returncode == code, words)
    need(context.run("annotate", "-i", "nosuch.data").returncode == 255, "no file")



def test_data_types(context):
    """--data-type, --type-stat and --insn-stat print what perf prints"""
    for name in ("types", "types0"):
        data = context.recording(name)
        for options in ("", "-n", "--show-total-period", "--data-type=node", "--data-type=struct point[]", "-s walk", "--percent-limit 20",
                        "--stdio-color always"):
            options = [options] if "=" in options else options.split()
            words = ("annotate", "-i", data, "--stdio", "--data-type", "--type-stat", "--insn-stat", "-d", name, *options)
            ours, perfs = context.run(*words).stdout, context.perf(*words).stdout
            need("Annotate type" in perfs or options, "perf shows no type: " + perfs)
            need(ours == perfs, "%s %s: %s" % (name, options, first_difference(ours, perfs)))


def test_data_type_groups(context):
    """types of a group of events are side by side, as in perf"""
    path = os.path.join(context.folder, "types_group.data")
    done = context.run("record", "-q", "-e", "{cpu-clock:u,task-clock:u}", "-o", path, "--", context.program("types"), "30")
    need(done.returncode == 0, done.stderr)
    for options in ([], ["-n"]):
        words = ("annotate", "-i", path, "--stdio", "--data-type", "-d", "types", *options)
        ours, perfs = context.run(*words).stdout, context.perf(*words).stdout
        need(ours == perfs, "%s: %s" % (options, first_difference(ours, perfs)))


def type_keys_agree(context, data):
    """False: perf ends by a signal, as it does for about half of such recordings, or misses a type."""
    for keys in ("dso,type", "dso,type,typeoff", "dso,typecln", "sym,typeoff"):
        words = ("report", "-i", data, "--stdio", "-d", "types0", "-s", keys)
        done = context.perf(*words)
        if done.returncode < 0 or "point" not in done.stdout:
            return False
        ours, perfs = (re.sub(r"# \(Tip.*", "", text) for text in (context.run(*words).stdout, done.stdout))
        need(ours == perfs, "%s: %s" % (keys, first_difference(ours, perfs)))
    return True


def test_data_type_keys(context):
    """the sort keys type, typeoff and typecln of report are perf's"""
    if not any(type_keys_agree(context, context.recording("types0")) for _ in range(12)):
        raise Skip("perf ends by a signal, or misses types, for each of 12 recordings")


def test_data_type_truth(context):
    """the members that the hot loops access have samples; locals are found by .eh_frame; tables agree with the text"""
    data = context.recording("types_eh")
    done = context.run("annotate", "-i", data, "--data-type", "--format=json")
    need(done.returncode == 0, done.stderr)
    document = json.loads(done.stdout)
    types = {table["facts"]["type"]: table for table in document["tables"]}
    for name in ("struct node", "struct point[]"):
        need(name in types, "%s is missing: %s" % (name, sorted(types)))
    rows = types["struct node"]["rows"]
    need(rows[0]["size"] == 80 and rows[0]["samples"] > 0, rows[0])
    sampled = {row["field"] for row in rows if row["samples"]}
    need("w" in sampled and "fn" not in sampled and "name" not in sampled, "members with samples: %s" % sampled)
    members = [row for row in rows if row["depth"] == 1]
    need(sum(row["samples"] for row in members) == rows[0]["samples"], "members do not add up")
    need({row["field"]: row["offset"] for row in members} == {"next": 0, "p": 8, "w": 64, "fn": 72}, members)
    text = context.run("annotate", "-i", data, "--data-type", "-n").stdout
    need(len(re.findall("^Annotate type", text, flags=re.M)) == len(types), text)
    need(document["facts"]["found"] <= document["facts"]["instructions"], document["facts"])


def test_data_type_results(context):
    """what a call returns has the type of that function's result, also if another source file has a function of that name"""
    data = context.recording("results")
    done = context.run("annotate", "-i", data, "--data-type", "--format=json")
    need(done.returncode == 0, done.stderr)
    types = {table["facts"]["type"]: table["rows"] for table in json.loads(done.stdout)["tables"]}
    for name, fields in ("struct item", {"next", "before", "value"}), ("struct other", {"unused", "count"}):
        need(name in types, "%s is missing: %s" % (name, sorted(types)))
        sampled = {row["field"] for row in types[name] if row["samples"] and row["depth"]}
        need(sampled and sampled <= fields, "%s has samples at %s" % (name, sampled))


def test_bpf(context):
    """the code of a BPF program has the source lines that were recorded with it, which are those of its file"""
    need_root("only root may load BPF programs")
    data = os.path.join(context.folder, "bpf.data")
    recorder = (PERFUSE, "record", "-q", "-e", "cpu-clock:k", "-F", "20000", "-o", data, "--")
    done = context.run("trace", "-s", "-o", data + ".sums", "--", *recorder, "dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=200000")
    found = context.tables(data, "--source") if os.path.exists(data) else []
    tables = {table["facts"]["symbol"]: table["rows"] for table in found}
    rows = [row for symbol, rows in tables.items() if re.match("bpf_prog_.*_sum_(enter|leave)$", symbol) for row in rows]
    if not any(row["instruction"] for row in rows):
        raise Skip("no sample is in a BPF program with its code here: " + done.stderr[-300:])
    with open(os.path.join(TEST, "..", "src", "bpf", "trace.bpf.c"), encoding="utf-8") as file:
        source = file.read().splitlines()
    named = [row for row in rows if (row["file"] or "").endswith("/trace.bpf.c")]
    shown = [row for row in named if row["text"]]
    need(len(shown) > 10 and any(row["samples"] for row in named), "%d of %d lines" % (len(shown), len(rows)))
    for row in shown:
        need(row["text"].split() == source[row["line"] - 1].split(), row)
    hottest = context.run("annotate", "-i", data, "--hottest").stdout
    need(re.search(r"bpf_prog_\w+_sum_\w+ .*, trace\.bpf\.c:\d+; ", hottest), hottest)


def test_riscv(context):
    """the functions of a RISC-V program, libc's included, have objdump's instructions, and jumps lead to instructions"""
    need_tools("riscv64-linux-gnu-gcc", "riscv64-linux-gnu-objdump")
    program, data = os.path.join(context.folder, "riscv"), os.path.join(context.folder, "riscv.data")
    must("riscv64-linux-gnu-gcc", "-O2", "-g", "-static", "-o", program, os.path.join(TEST, "annotate", "loops.c"), env=process.compilers())
    listed, starts, name = {}, [], ""
    for line in must("riscv64-linux-gnu-objdump", "-d", "--no-show-raw-insn", "-j", ".text", program).splitlines():
        code = re.match(r" +([0-9a-f]+):\t(.*)", line)
        if code:
            # objdump of binutils 2.40 writes `add` for `addi`, and zeros as "..."
            listed[int(code.group(1), 16)] = re.sub(r"\s*(#.*|<.*>)", "", code.group(2)).split()
        elif line.endswith(">:"):
            starts.append(int(line.split()[0], 16))
    # one sample in every function: the segment of code is mapped where it is linked
    headers = must("riscv64-linux-gnu-readelf", "-lW", program)
    offset, address, size = (int(word, 16) for word in re.search(r"LOAD +(0x\w+) (0x\w+) 0x\w+ (0x\w+) 0x\w+ R E", headers).groups())
    records = [recording.comm(9, 9, "riscv", end=recording.trailer(9, 9, 1)),
               recording.mmap2(9, 9, address, size, offset, program, end=recording.trailer(9, 9, 2))]
    records += [recording.record(recording.SAMPLE, struct.pack("<QIIQQ", start, 9, 9, 3, 1), recording.USER) for start in starts]
    kind = recording.SAMPLE_IP | recording.SAMPLE_TID | recording.SAMPLE_TIME | recording.SAMPLE_PERIOD
    flags = recording.FLAG_MMAP | recording.FLAG_COMM | recording.FLAG_SAMPLE_ID_ALL | recording.FLAG_MMAP2
    recording.write(data, records, [recording.attribute(kind, flags)], {recording.ARCH: recording.header_text("riscv64")})
    seen = 0
    for table in context.tables(data):
        rows = [row for row in table["rows"] if row["instruction"]]
        inside = {int(row["address"], 16) for row in rows}
        for row in rows:
            at = int(row["address"], 16)
            ours, theirs = [row["instruction"]] + (row["operands"] or "").split(), listed.get(at)
            short = [re.sub("^(add|sll|and|srl|sra|or|xor|csr[a-z]+)i(w?)$", r"\1\2", ours[0])] + ours[1:]
            need(theirs in (ours, short) or (ours == ["unimp"] and not theirs), "%x: %s, objdump has %s" % (at, ours, theirs))
            seen += 1
        need(table["facts"]["symbol"] != "hot" or any(row["target"] and int(row["target"], 16) in inside for row in rows), "no jump in hot")
    need(seen > 20000, "%d instructions" % seen)



if __name__ == "__main__":
    sys.exit(run_in_folder("annotate", Context, globals()))
