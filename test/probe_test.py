#!/usr/bin/env python3
"""`probe`: definitions compared with perf's, and the values that probes record compared with those that the programs print. The probes of these tests
are in groups whose names begin with perfuse_probe."""
import ctypes.util
import http.server
import os
import re
import shlex
import shutil
import sys
import threading

from suite import process
from suite.perf import need_reference
from suite.process import NOBODY, must, perfuse, run
from suite.settings import PERFUSE, TEST, TOP
from suite.tests import Skip, need, need_root, need_tools, remark, run_in_folder

SOURCES = os.path.join(TEST, "probe")
EXAMPLE = os.path.join(TOP, "docs", "examples", "failed-allocations.md")
GROUP = "perfuse_probe"
TRACING = "/sys/kernel/tracing"
C_FUNCTIONS = ["simple", "members", "real", "inlined", "user", "recursive", "sum", "main"]
C_FORMS = ["%s", "%s $params", "%s%%return $retval", "%s:1", "%s:2", "%s:3", "%s:4", "%s:5", "%s:7", "%s+4", "%s@arguments.c",
           "%s %%di +8(%%si):u32 $stack0"]
C_DEFINITIONS = ["simple a b c text:string", "simple a:x b:u c:s8", "members o->label:string o->in.name:string o->u.half o->in.x", "user n r",
                 "user;r+=*", "arguments.c;counter+=*", "arguments.c:52", "arguments.c:60", "s*", "sum list n", "user:6 i square r", "ev=simple a",
                 "grp:ev=simple a", "recursive depth c", "simple hidden counter", "members o->table[1]", "inlined v w local", "nosuch", "simple nosuch",
                 "simple+1000", "members o->nosuch", "simple a->b", "simple%return a", "simple:2+3", "simple $params nosuch"]
CXX_FUNCTIONS = ["moved", "biggest", "folded", "overloaded", "total", "words", "main", "id"]
CXX_FORMS = ["%s", "%s $params", "%s%%return $retval", "%s:1", "%s:2", "%s:3", "%s:4", "%s:5", "%s+4", "%s %%di +8(%%si):u32 $stack0", "ev=%s %%si",
             "grp:ev=%s+1 %%sp", "%s:1 $params"]
RUST_FUNCTIONS = ["scaled", "mixed", "shift", "kind_of"]
GO_FUNCTIONS = ["main.add", "main.(*Item).Total", "main.Point.Shift", "main.sum", "main.cost", "main.main", "main.show", "strconv.Atoi", "os.init"]
GO_FORMS = ["%s", "%s $params", "%s $vars", "%s%%return $retval", "%s+4", "%s@shop.go", "%s %%ax +8(%%bx):u32 $stack0"]
# perf 6.12: variables in vector registers, computed values as memory, arguments that differ between the places of an event, places in main's
# code in .text.startup, parameters before the function has stored them (docs/differences.md)
DIFFERENT = re.compile(r"arguments2\S* -D (real|inlined|sum) \$(params|vars)|arguments2\S* -D inlined v w local|"
                       r"shapes\S* -D (grp:|ev=)*biggest|shapes2\S* -D ((grp:|ev=)*(folded|main|area)|words:5)|points2\S* -D (scaled|shift) (\$|self)|"
                       r"shop\S* -D (main.(Point.Shift|sum|cost|show|main)|strconv.Atoi|os.init) \$(params|vars)")


class Programs:
    """The programs of the tests, each compiled without and with optimisation."""

    def __init__(self, folder):
        need_tools("gcc")
        self.folder = folder
        for compiler, source, names in (("gcc", "arguments.c", ("arguments0", "arguments2")), ("g++", "shapes.cc", ("shapes0", "shapes2")),
                                        ("rustc", "points.rs", ("points0", "points2"))):
            for name in names if shutil.which(compiler) else ():
                optimise = ["-O" + name[-1]] if compiler != "rustc" else ["-O"] if name.endswith("2") else []
                run(compiler, "-g", *optimise, os.path.join(SOURCES, source), "-o", self.path(name), env=process.compilers())
        if shutil.which("go"):
            run("go", "build", "-o", self.path("shop"), os.path.join(SOURCES, "shop.go"),
                env=process.compilers(GOCACHE=os.path.join(folder, "go-cache"), GO111MODULE="off"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def need(self, name):
        if not os.path.exists(self.path(name)):
            raise Skip("no compiler for " + name)
        return self.path(name)

    def probe(self, *words, **more):
        return perfuse("probe", *words, cwd=self.folder, **more)


def normal(text):
    """A definition without what differs on purpose: addresses of global variables, numbers of repeated names."""
    return re.sub(r"@(?:\w+\+\d+|\+0x[0-9a-f]+)", "@G", re.sub(r"(\w)_\d+=", r"\1=", text))


def agree(programs, name, cases):
    perf, program = need_reference(), programs.need(name)
    wrong, same = [], 0
    for words in cases:
        if DIFFERENT.search("%s %s" % (name, " ".join(words))):
            continue
        theirs = run(perf, "probe", "-x", program, *words, cwd=programs.folder)
        ours = programs.probe("-x", program, *words)
        if normal(theirs.stdout) == normal(ours.stdout) and (theirs.returncode == 0) == (ours.returncode == 0):
            same += 1
        else:
            wrong.append("%s %s: %r, perf %r" % (name, " ".join(words), ours.stdout or ours.stderr, theirs.stdout or theirs.stderr))
    need(not wrong, "\n".join(wrong[:10]))
    return same


def definitions(functions, forms):
    return [["-D", form % function] for function in functions for form in forms]


def test_agree_c(programs):
    """definitions of C programs agree with perf's"""
    cases = definitions(C_FUNCTIONS, C_FORMS) + [["-D", text] for text in C_DEFINITIONS]
    same = sum(agree(programs, name, cases) for name in ("arguments0", "arguments2"))
    need(same >= 200, "%d definitions" % same)
    remark("%d definitions" % same)


def test_agree_cxx(programs):
    """definitions of C++ programs agree with perf's"""
    cases = definitions(CXX_FUNCTIONS, CXX_FORMS) + [["-D", "total start sum"], ["-D", "words name:string"], ["-D", "_ZN3geo4Disc5movedERKNS_5PointEi"]]
    remark("%d definitions" % sum(agree(programs, name, cases) for name in ("shapes0", "shapes2")))


def test_agree_rust(programs):
    """definitions of Rust programs agree with perf's"""
    cases = definitions(RUST_FUNCTIONS, CXX_FORMS[:-1]) + [["-D", "shift self->x self->y dx"]]
    remark("%d definitions" % sum(agree(programs, name, cases) for name in ("points0", "points2")))


def test_agree_go(programs):
    """definitions of Go programs agree with perf's"""
    cases = definitions(GO_FUNCTIONS, GO_FORMS) + [["-D", text] for text in ("main.add a:x b c", "main.(*Item).Total i->ID i->Price i->Where.X i->Next->ID",
                                                                             "shop.go:35", "main.sum;total+=*", "main.a*")]
    cases += [["-V", "main.add"], ["-V", "main.sum"], ["-V", "main.Point.Shift"]]
    remark("%d definitions" % agree(programs, "shop", cases))


def test_agree_shown(programs):
    """functions, lines and variables are shown as perf shows them"""
    cases = [["-F"], ["-F", "s*"], ["-L", "arguments.c:40-60"], ["-L", "arguments.c"]] + [["-L", name] for name in C_FUNCTIONS]
    cases += [["-V", name, *more] for name in C_FUNCTIONS for more in ([], ["--range"], ["--externs"])]
    agree(programs, "arguments0", cases)
    agree(programs, "arguments2", [case for case in cases if not {"real", "inlined", "sum"} & set(case[1:2])])


MODULE = """int pad(int a) { return a + 1; }
int victim(int a) { return a * 3; }
"""
IN_MODULE = """struct { int state; void *list[2]; char name[56]; } self __attribute__((section(".gnu.linkonce.this_module"), used)) = { .name = "real_name" };
"""


def compile_module(programs, name, text):
    path, source = programs.path(name), programs.path("module.c")
    with open(source, "w", encoding="utf-8") as out:
        out.write(text)
    must("gcc", "-g", "-O1", "-c", source, "-o", path, env=process.compilers())
    return path


def test_module(programs):
    """probes in a module's file are at the named function, by the name that the kernel has for the module"""
    for name, text, called in (("two-words.ko", MODULE, "two_words"), ("other.ko", MODULE + IN_MODULE, "real_name")):
        done = programs.probe("-m", compile_module(programs, name, text), "-D", "victim a")
        need(done.stdout == "p:probe/victim %s:victim+0 a=%%di:s32\n" % called, done.stdout + done.stderr)


HIDDEN = """int value;
static inline __attribute__((always_inline)) void step(int a) { value += a; value ^= a << 1; }
__attribute__((noipa)) void seen(int a) { step(a); }
__attribute__((noipa)) void hidden(int a) { step(a + 1); }
int main(int n, char **v) { seen(n); hidden(n); return value; }
"""


def test_hidden_code(programs):
    """code without a symbol in a kernel's file has no probe: the kernel finds places by symbols"""
    need_tools("objcopy")
    source, program = programs.path("step.c"), programs.path("step")
    with open(source, "w", encoding="utf-8") as out:
        out.write(HIDDEN)
    must("gcc", "-g", "-O1", "-no-pie", source, "-o", program, env=process.compilers())
    every = programs.probe("-k", program, "-D", "step a").stdout
    seen = re.findall(r"(?m)^p:probe/step seen\+\d a=%di:s32\n", every)
    need(every.count("\n") == 2 and len(seen) == 1 and " hidden+" in every, every)
    must("objcopy", "--strip-symbol=hidden", program)
    done = programs.probe("-k", program, "-D", "step a")
    need(done.returncode == 0 and done.stdout == seen[0], done.stdout + done.stderr)


def test_one_line(programs):
    """a name from a file that is several words to the kernel is no part of a definition"""
    need_tools("objcopy")
    path = compile_module(programs, "hostile.ko", MODULE)
    for name in ("victim\np:other/event do_exit", "victim x=%di", "victim#"):
        must("objcopy", "--redefine-sym", "victim=" + name, path, path + "2")
        for words in (("-D", "victim a"), ("-D", "victim*")):
            done = programs.probe("-m", path + "2", *words)
            need(done.returncode != 0 and not done.stdout, "%r: %s" % (name, done.stdout))
    program = programs.path("a#b")
    shutil.copy(programs.need("arguments0"), program)
    need(programs.probe("-x", program, "-D", "simple").returncode != 0, "accepted #")


def test_long_names(programs):
    """a long name that many variables share is not copied without limit"""
    count, name = 100, "n" * (1 << 20)
    source, program = programs.path("long.c"), programs.path("long")
    with open(source, "w", encoding="utf-8") as out:
        out.write("typedef int %s; int main(int n, char **v) { %s %s; return v0; }\n" % (name, name, ", ".join("v%d = n" % i for i in range(count))))
    must("gcc", "-g", "-O0", source, "-o", program, env=process.compilers())
    done = programs.probe("-x", program, "-V", "main")
    need(done.returncode == 0 and "not all are shown" in done.stderr, done.stderr[:200])
    need(len(name) < len(done.stdout) < 40 * len(name), "%d bytes" % len(done.stdout))


# without debug information; {}: its path
REFUSED = [
    ("-x absent main", 129), ("-x absent -F", 129), ("-x absent -L main", 129), ("-x absent -V main", 129), ("-x absent -d main", 129),
    ("-x empty -F", 255), ("-x empty -L main", 254), ("-x empty -D main", 254), ("-x / -F", 255), ("-x {} -D absent", 254),
    ("-x {} -L main", 254), ("-x {} -D main:999", 195), ("-x {} -D 'main absent'", 195), ("-x {} main%x", 161), ("-x {} -D main%x", 129),
    ("-x {} -D ''", 129), ("-x {} 1a=main", 234), ("-x {} -D 1a=main", 129),
    ("-m absent -F", 234),
]


def test_refused(programs):
    """an absent file, a file that is no program and an absent function are refused with perf's exit codes"""
    source, program = programs.path("bare.c"), programs.path("bare")
    for path, text in ((source, "int main(void) { return 0; }\n"), (programs.path("empty"), "")):
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
    must("gcc", "-O1", source, "-o", program, env=process.compilers())
    for line, code in REFUSED:
        words = shlex.split(line.format(program))
        ours = programs.probe(*words).returncode
        perfs = run(need_reference(), "probe", *words, cwd=programs.folder).returncode
        need((ours, perfs) == (code, code), "%s: %d, perf %d" % (line, ours, perfs))


class Probes:
    """Probes of one program, removed at the end."""

    def __init__(self, programs, *definitions_, program="arguments0", more=()):
        need_root("probes need root")
        if not os.path.exists(TRACING + "/uprobe_events"):
            raise Skip("the kernel has no uprobes, or tracefs is not mounted")
        self.programs, self.program, self.group = programs, programs.need(program), "%s_%d" % (GROUP, os.getpid())
        words = [word for text in definitions_ for word in ("-a", self.group + ":" + text)]
        self.done = programs.probe("-x", self.program, *more, *words)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.programs.probe("-q", "-d", self.group + ":*")

    def values(self, *words):
        """What the program prints, and (event, {argument: value}) of each sample."""
        need(self.done.returncode == 0, self.done.stderr)
        data = self.programs.path("probe.data")
        printed = must("env", PERFUSE, "record", "-q", "-e", self.group + ":*", "-o", data, "--", self.program, *words, cwd=self.programs.folder)
        text = perfuse("script", "-i", data, "-F", "event,trace", cwd=self.programs.folder).stdout
        samples = []
        for line in text.splitlines():
            event, rest = re.match(r"\s*\w+:(\w+): \([^)]*\)(.*)", line).groups()
            samples.append((event, dict(re.findall(r'(\w+)=("[^"]*"|\S+)', rest))))
        return printed.splitlines(), samples


def need_values(printed, word, samples, event, names):
    """The words after `word` in the program's lines equal the arguments of the event's samples, in their order."""
    want = [line.split()[1:] for line in printed if line.split()[0] == word]
    got = [[arguments[name].strip('"') for name in names] for found, arguments in samples if found == event]
    need(got and want, "nothing recorded")
    got = [[str(int(value, 16)) if value.startswith("0x") else value for value in row] for row in got]
    need(got == want, "%s: recorded %r, printed %r" % (event, got, want))


def check_arguments(programs, program):
    with Probes(programs, "simple=simple a b c text:string", "members=members x=o->in.x y=o->link->x o->label:string z=o->table[2] o->flags.mid "
                "high=o->flags.high:s o->anon_b", "ret=simple%return value=$retval:s32", "state=recursive counter hidden depth c=c:s32",
                program=program) as probes:
        printed, samples = probes.values("6")
    need_values(printed, "simple", samples, "simple", ["a", "b", "c", "text_string"])
    # the kernel shows a signed bit field without its sign
    unsigned = [" ".join(w if i != 6 else str(int(w) & 63) for i, w in enumerate(line.split())) if line.startswith("members") else line
                for line in printed]
    need_values(unsigned, "members", samples, "members", ["x", "y", "label", "z", "mid", "high", "anon_b"])
    returned = [int(a["value"]) for event, a in samples if event == "ret__return"]
    want = [int(line.split()[1]) + int(line.split()[2]) for line in printed if line.startswith("simple")]
    need(returned == want, "returned %r, computed %r" % (returned, want))
    state = [a for event, a in samples if event == "state"]
    last = dict(zip(printed[-1].split()[::2], printed[-1].split()[1::2]))
    need(int(state[-1]["counter"]) == int(last["counter"]) and int(state[0]["hidden"]) == 77 and state[0]["c"] == "9", "globals: %r" % state[-1])


def test_values(programs):
    """recorded arguments, members, bit fields, globals and returned values equal the printed ones"""
    check_arguments(programs, "arguments0")


def test_values_optimised(programs):
    """… also in an optimised program"""
    check_arguments(programs, "arguments2")


def test_inlined(programs):
    """inlined calls have one event with the same arguments at each place"""
    with Probes(programs, "in=inlined $vars", program="arguments2") as probes:
        _, samples = probes.values("5")
    need([a["w"] for _, a in samples] == ["2", "2", "2", "2", "2", "7"], "w: %r" % samples)
    need([a["v"] for _, a in samples][:5] == ["0", "1", "2", "3", "4"], "v: %r" % samples)


def test_cxx_values(programs):
    """members of classes and references have the printed values; quoted names select one overload"""
    with Probes(programs, "moved=\"geo::Disc::moved(geo::Point const&, int)\" by.x by.y times this->count_", 'one="geo::overloaded(int)" a',
                'two="geo::overloaded(int, int)" a b', program="shapes2") as probes:
        printed, samples = probes.values("5")
    need_values(printed, "moved", samples, "moved", ["x", "y", "times", "count_"])
    need_values(printed, "int", samples, "one", ["a"])
    need_values(printed, "two", samples, "two", ["a", "b"])


NAMES = """#include <cstdio>
namespace ns { template <typename T, int N> struct box { T v[N];
	__attribute__((noinline)) T get(int i) const { return v[i % N]; }
	__attribute__((noinline)) T operator()(T add) { v[0] += add; return v[0]; }
	__attribute__((noinline)) bool operator<(T o) const { return v[0] < o; }
	__attribute__((noinline)) ~box() { printf("gone %d\\n", (int)v[0]); }
}; }
namespace { __attribute__((noinline)) int hidden(int a) { return printf("hidden %d\\n", a); } }
template <typename T> __attribute__((noinline)) int sized(T t) { return printf("sized %d\\n", (int)t); }
struct deep { union { int a; struct { char b, c; }; }; unsigned low : 3, high : 13; int grid[2][3]; struct { long n; } list[4]; deep *next; };
__attribute__((noinline)) int look(deep *p, int i)
{
	return printf("look %d %d %d %d %ld %d\\n", p->c, p->high, p->grid[1][2], p->grid[0][2], p->next->list[2].n, i);
}
int main(int argc, char **)
{
	ns::box<long, 3> b{{argc, 2, 3}};
	auto lambda = [&](int k) __attribute__((noinline)) { return printf("lambda %d\\n", k) + b.get(k); };
	deep d = {}, e = {};
	d.c = 7; d.high = 99; d.grid[1][2] = 12; d.grid[0][2] = 5; d.next = &e; e.list[2].n = 77;
	volatile int sum = b(4) + (b < 3) + lambda(2) + hidden(argc) + sized('x') + sized(argc + 9) + look(&d, 3);
	return sum * 0;
}
"""
NAMED = {"ns::box<long, 3>::get(int) const": "ns_box_get", "ns::box<long, 3>::operator()(long)": "ns_box_operator", "ns::box<long, 3>::operator<":
         "ns_box_operator", "ns::box<long, 3>::~box()": "ns_box_box", "main::{lambda(int)#1}::operator()(int) const": "main_operator",
         "(anonymous namespace)::hidden(int)": "hidden", "hidden": "hidden", "sized<char>": "sized"}


def test_names(programs):
    """names of templates, operators, lambdas and unnamed namespaces find their functions; arrays of arrays have the printed values"""
    source = programs.path("names.cc")
    with open(source, "w", encoding="utf-8") as out:
        out.write(NAMES)
    for level in ("-O0", "-O2"):
        must("g++", "-g", level, source, "-o", programs.path("names"), env=process.compilers())
        for name, event in NAMED.items():
            made = programs.probe("-x", programs.path("names"), "-D", '"%s"' % name)
            need(made.stdout.startswith("p:probe_names/%s /" % event) and made.stdout.count("\n") == 1, "%s: %s" % (name, made.stdout + made.stderr))
        need(programs.probe("-x", programs.path("names"), "-D", "sized").stdout.count("/sized ") == 2, "all instances")
        with Probes(programs, "differ=sized t", program="names") as probes:
            need(probes.done.returncode and "the same names and types" in probes.done.stderr, probes.done.stderr)
        with Probes(programs, "look=look p->c p->high last=p->grid[1][2] third=p->grid[0][2] p->next->list[2].n i", "sized=sized t=t:s8",
                    'hidden="(anonymous namespace)::hidden" a', 'lambda="main::{lambda(int)#1}::operator()(int) const" k', program="names") as probes:
            printed, samples = probes.values()
        for event, words in (("look", ["c", "high", "last", "third", "n", "i"]), ("sized", ["t"]), ("hidden", ["a"]), ("lambda", ["k"])):
            need_values(printed, event, samples, event, words)


def test_rust_values(programs):
    """arguments and members of Rust functions have the printed values"""
    with Probes(programs, "scaled=scaled v=v:s32 by=by:u8", "shift=shift self->x self->y dx dy", program="points2") as probes:
        printed, samples = probes.values("5")
    need_values(printed, "scaled", samples, "scaled", ["v", "by"])
    need_values([line.rsplit(" ", 1)[0] for line in printed if line.startswith("shift")], "shift", samples, "shift", ["x", "y", "dx", "dy"])


def test_go_values(programs):
    """arguments of Go functions, members of structures in several registers, and those of inlined calls have the printed values"""
    with Probes(programs, "add=main.add a b c", "total=main.(*Item).Total i->ID i->Price i->Kind i->Where.Y i->Name.len next=i->Next->ID count",
                "shift=main.Point.Shift p.X p.Y dx dy", "sum=main.sum list.len list.array[2] length=name.len", "each=main.main.func1 v",
                "second=main.Point.Shift:2 p.X p.Y", program="shop") as probes:
        printed, samples = probes.values("5")
    printed = [line.rsplit(" ", 1)[0] if line.startswith("sum") else line for line in printed]
    for event, names in (("add", ["a", "b", "c"]), ("total", ["ID", "Price", "Kind", "Y", "len", "next", "count"]), ("shift", ["X", "Y", "dx", "dy"]),
                         ("sum", ["len", "array", "length"]), ("each", ["v"])):
        need_values(printed, event, samples, event, names)
    shift = [line.replace("shift", "second").rsplit(" ", 2)[0] for line in printed if line.startswith("shift")]
    need_values(shift, "second", samples, "second", ["X", "Y"])


VERSIONS = """#include <stdio.h>
__attribute__((noinline)) int f_old(int a) { printf("old %d\\n", a); return a; }
__attribute__((noinline)) int f_new(int a, int b) { printf("new %d %d\\n", a, b); return a + b; }
__asm__(".symver f_old, f@V_1\\n.symver f_new, f@@V_2");
"""
VERSIONS_MAP = "V_1 { global: f; local: *; }; V_2 { global: f; } V_1;"
USES_BOTH = """int old(int a); int f(int a, int b);
__asm__(".symver old, f@V_1");
int main(void) { for (int i = 1; i < 4; i++) old(10 * i), f(i, 100 * i); }
"""


def test_versions(programs):
    """a version of a symbol selects its function, with and without debug information; a wrong one is answered with the right ones"""
    folder = programs.path("versions")
    os.makedirs(folder, exist_ok=True)
    for name, text in (("v.c", VERSIONS), ("v.map", VERSIONS_MAP), ("main.c", USES_BOTH)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
            out.write(text)
    must("gcc", "-g", "-O1", "-shared", "-fPIC", "v.c", "-Wl,--version-script=v.map", "-o", "libv.so", cwd=folder, env=process.compilers())
    must("gcc", "main.c", "./libv.so", "-o", "main", cwd=folder, env=process.compilers())
    must("strip", "libv.so", "-o", "libs.so", cwd=folder)
    library = os.path.join(folder, "libv.so")
    place = {version: re.search(r":(0x\w+)", programs.probe("-x", library, "-D", version).stdout + ":0x0").group(1) for version in ("f_old", "f_new")}
    need(place["f_old"] != place["f_new"], "%r" % place)
    for text, version in (("f@V_1", "f_old"), ('"f@V_1"', "f_old"), ("f@V_2", "f_new"), ('"f@@V_2"', "f_new"), ("f", "f_new"), ("f@V_1%return", "f_old")):
        for name in ("libv.so", "libs.so") if text != "f" else ("libv.so",):
            made = programs.probe("-x", os.path.join(folder, name), "-D", text)
            need(made.stdout.count("\n") == 1 and re.search(r"/f(__return)? \S+:%s\s" % place[version], made.stdout), "%s: %s" % (
                text, made.stdout + made.stderr))
    wrong = programs.probe("-x", library, "-D", '"f@@V_1"')
    need(wrong.returncode and "f@V_1, f@@V_2" in wrong.stderr, wrong.stdout + wrong.stderr)
    need_root("probes need root")
    group = "%s_versions_%d" % (GROUP, os.getpid())
    try:
        added = programs.probe("-q", "-x", library, "-a", group + ":old=f@V_1 a", "-a", group + ':new="f@@V_2" a b')
        need(added.returncode == 0, added.stderr)
        printed = must("env", PERFUSE, "record", "-q", "-e", group + ":*", "-o", "v.data", "--", "./main", cwd=folder)
    finally:
        programs.probe("-q", "-d", group + ":*")
    text = perfuse("script", "-i", "v.data", "-F", "event,trace", cwd=folder).stdout
    samples = [(re.search(r":(\w+): ", line).group(1), dict(re.findall(r"(\w+)=(\S+)", line))) for line in text.splitlines()]
    need_values(printed.splitlines(), "old", samples, "old", ["a"])
    need_values(printed.splitlines(), "new", samples, "new", ["a", "b"])


IN_REGISTERS = """#include <stdio.h>
struct pair { int first; short second, third; };
struct wide { long number; struct pair in; };
__attribute__((noinline)) long both(struct pair p, struct wide w) { __asm__ volatile("" ::: "memory"); return p.third + w.in.first; }
int main(int n, char **v)
{
	for (int i = 1; i < 4; i++) {
		struct pair p = { i + n, (short)(2 * i), (short)(3 * i) };
		printf("both %d %d %d %d %d\\n", p.first, p.second, p.third, 5 * i, 7 * i);
		both(p, (struct wide){ 5 * i, { 7 * i, 0, 0 } });
	}
}
"""


def test_registers(programs):
    """members of structures that a function gets in registers have the printed values"""
    if os.uname().machine not in ("x86_64", "aarch64"):
        raise Skip("the structures may be in memory")
    with open(programs.path("pair.c"), "w", encoding="utf-8") as out:
        out.write(IN_REGISTERS)
    must("gcc", "-g", "-O2", programs.path("pair.c"), "-o", programs.path("pair"), env=process.compilers())
    with Probes(programs, "both=both p.first p.second third=p.third w.number in=w.in.first", program="pair") as probes:
        printed, samples = probes.values()
    need_values(printed, "both", samples, "both", ["first", "second", "third", "number", "in"])


SHARED = """struct deep { int a; struct { int b, c; } in[3]; struct deep *next; long values[7]; };
static inline __attribute__((always_inline)) int twice(struct deep *d, int k) { volatile int r = d->a * k; return r + d->in[1].c; }
int one(struct deep *d, int k), two(struct deep *d, int k);
"""
SHARING = """#include "shared.h"
__attribute__((noipa)) int NAME(struct deep *d, int k) { if (k > 3) return twice(d, k) + 1; return twice(d->next, k + 1); }
"""


def test_other_units(programs):
    """inlined calls are found in all units, also if another unit, or another file, describes the function"""
    need_tools("dwz")
    folder = programs.path("shared")
    os.makedirs(folder, exist_ok=True)
    for name, text in (("shared.h", SHARED), ("one.c", SHARING.replace("NAME", "one")), ("two.c", SHARING.replace("NAME", "two")),
                       ("main.c", '#include "shared.h"\nint main(void) { struct deep a = { 0 }; a.next = &a; return one(&a, 2) + two(&a, 5); }\n')):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
            out.write(text)
    for name, words in (("plain", []), ("optimised", ["-flto"])):
        must("gcc", "-g", "-O2", *words, "one.c", "two.c", "main.c", "-o", name, cwd=folder, env=process.compilers())
    for name in ("joined", "first", "second"):
        shutil.copy(os.path.join(folder, "plain"), os.path.join(folder, name))
    must("dwz", "joined", cwd=folder)
    must("dwz", "-m", "common", "first", "second", cwd=folder)
    want = None
    for name in ("plain", "joined", "first", "optimised"):
        done = programs.probe("-x", os.path.join(folder, name), "-D", "twice d->in[1].c")
        got = sorted(re.findall(r":0x(\w+) (.*)", done.stdout))
        want = want or got
        need(len(got) == 4 and (got == want or name == "optimised"), "%s: %r, plain %r" % (name, got or done.stderr, want))


def test_list_and_delete(programs):
    """probes are listed with their place; only those that match are removed; a name that exists needs --force"""
    with Probes(programs, "first=simple a", "second=simple:2") as probes:
        group, path = probes.group, probes.program
        need("Added new events:" in probes.done.stderr and "  %s:first (on simple in %s with a)" % (group, path) in probes.done.stderr, probes.done.stderr)
        listed = programs.probe("-l", group + ":*").stdout
        need("%s:first" % group in listed and "(on simple" in listed and " with a)" in listed, listed)
        again = programs.probe("-x", path, "-a", group + ":first=simple")
        need(again.returncode and "already exists" in again.stderr, again.stderr)
        need(programs.probe("-f", "-x", path, "-a", group + ":first=simple").returncode == 0, "--force")
        removed = programs.probe("-d", group + ":first*")
        need(removed.stderr.count("Removed event: ") == 2, removed.stderr)
        need(programs.probe("-l", group + ":*").stdout.count("(on ") == 1, "the other probe is removed, too")
        need(programs.probe("-d", group + ":none").returncode == 254, "a name that does not exist")
        dry = programs.probe("-n", "-x", path, "-a", group + ":dry=simple")
        need(dry.returncode == 0 and "dry" not in open(TRACING + "/uprobe_events").read(), "--dry-run adds a probe")


def test_static_points(programs):
    """static probe points are enabled by their counter, and have the arguments that the program prints"""
    if run("gcc", "-O2", "-g", os.path.join(SOURCES, "static.c"), "-o", programs.path("static"), env=process.compilers()).returncode:
        raise Skip("no <sys/sdt.h>")
    shown = programs.probe("-x", programs.path("static"), "-D", "%sdt_perfuse_probe:step").stdout
    need(re.match(r"p:sdt_perfuse_probe/step \S+:0x\w+\(0x\w+\) arg1=\S+:s32 arg2=\S+:s64 arg3=\S+:s32\n$", shown), shown)
    need(programs.probe("-x", programs.path("static"), "-D", "%nosuch").returncode == 254, "a point that does not exist")
    need_root("probes need root")
    group, data = "sdt_perfuse_probe", programs.path("static.data")
    added = programs.probe("-x", programs.path("static"), "-a", "%sdt_perfuse_probe:step")
    try:
        need(added.returncode == 0, added.stderr)
        printed = must("env", PERFUSE, "record", "-q", "-e", group + ":step", "-o", data, "--", programs.path("static"), cwd=programs.folder)
    finally:
        programs.probe("-q", "-d", group + ":step")
    text = perfuse("script", "-i", data, "-F", "event,trace", cwd=programs.folder).stdout
    samples = [("step", dict(re.findall(r"(\w+)=(\S+)", line))) for line in text.splitlines()]
    need(printed.count("enabled") == 4, "the counter was not incremented: " + printed)
    need_values(printed.splitlines(), "step", samples, "step", ["arg1", "arg2", "arg3"])


def test_cache(programs):
    """stored probes are listed as perf lists them, added again without a program's name, and not used for a changed program"""
    home, program = programs.path("home"), programs.path("cached")
    os.makedirs(home, exist_ok=True)
    shutil.copy(programs.need("arguments0"), program)
    env, group = process.environment(programs.folder, HOME=home), "%s_cache_%d" % (GROUP, os.getpid())

    def probe(*words):
        return perfuse("probe", *words, cwd=programs.folder, env=env)
    need_root("probes need root")
    if not os.path.exists(TRACING + "/uprobe_events"):
        raise Skip("no uprobes")
    stored = ["simple a b", group + ":one=simple a", group + ":back=simple%return $retval"]
    added = [probe("-n", "-q", "--cache", "-x", program, *(word for text in stored for word in ("-a", text)))]
    need(added[0].returncode == 0, added[0].stderr)
    listed = probe("--cache", "-l").stdout.splitlines()
    need(listed[0].startswith(program + " (") and listed[1:] == stored, "%r" % listed)
    want = [line for text in stored[1:] for line in probe("-x", program, "-D", text).stdout.splitlines()]
    got = [line for name in ("one", "back__return") for line in probe("-D", "%%%s:%s" % (group, name)).stdout.splitlines()]
    need(got == want and len(got) == 2, "%r, directly %r" % (got, want))
    if run("gcc", "-O2", "-g", os.path.join(SOURCES, "static.c"), "-o", programs.path("static"), env=process.compilers()).returncode == 0:
        need(perfuse("buildid-cache", "-a", programs.path("static"), cwd=programs.folder, env=env).returncode == 0, "buildid-cache")
        point = "%sdt_perfuse_probe:step"
        need(probe("-D", point).stdout == probe("-x", programs.path("static"), "-D", point).stdout != "", "a static point by its name alone")
        listed = perfuse("list", "sdt", cwd=programs.folder, env=env).stdout
        need(re.findall(r"(?m)^ +(sdt\S+) +\[SDT event\]$", listed) == [point[1:]], listed)
        # where two programs have a point of that name, each has its path and the beginning of its build-id
        must("gcc", "-O1", "-g", os.path.join(SOURCES, "static.c"), "-o", programs.path("static2"), env=process.compilers())
        need(perfuse("buildid-cache", "-a", programs.path("static2"), cwd=programs.folder, env=env).returncode == 0, "buildid-cache")
        listed = perfuse("list", "sdt", cwd=programs.folder, env=env).stdout
        names = re.findall(r"(?m)^ +sdt_perfuse_probe:step@(\S+)\([0-9a-f]{12}\) *\[SDT event\]$", listed)
        need(sorted(names) == [programs.path("static"), programs.path("static2")], listed)
    reference = need_reference()
    theirs = run(reference, "probe", "--cache", "-l", cwd=programs.folder, env=env).stdout
    need(sorted(theirs.splitlines()) == sorted(probe("--cache", "-l").stdout.splitlines()), theirs)
    try:
        need(probe("-q", "-a", "%one").returncode == 0 and group + ":one" in probe("-l", group + ":*").stdout, "a stored probe is not added")
    finally:
        probe("-q", "-d", group + ":*")
    need("Removed cached event: " + stored[1] in probe("--cache", "-d", group + ":one").stderr, "not removed")
    need(probe("-D", "%one").returncode == 254 and probe("-D", "%back__return").returncode == 0, "another one is removed")
    shutil.copy(programs.need("arguments2"), program)
    need(probe("-D", "%back__return").returncode == 254, "of another build")


def test_places_of_the_kernel(programs):
    """the running kernel's file with debug information is found at each of its usual places"""
    need_root("only root can mount")
    script = 'mount -t tmpfs none "$1" && mkdir -p "$(dirname "$1/$2")" && cp "$3" "$1/$2" || exit 77; exec "$4" probe -L walk'
    release, tried = os.uname().release, 0
    for folder, name in (("/usr/lib/debug", "boot/vmlinux-%s"), ("/usr/lib/debug", "lib/modules/%s/vmlinux"), ("/boot", "vmlinux-%s"),
                         ("/lib/modules", "%s/build/vmlinux")):
        if not os.path.isdir(folder):
            continue
        done = run("unshare", "-m", "sh", "-c", script, "sh", folder, name % release, os.path.join(TEST, "golden/data/lines"), PERFUSE,
                   cwd=programs.folder)
        if done.returncode == 77:
            raise Skip("no mount namespaces for this user")
        need("lines.c" in done.stderr and "absent" not in done.stderr, "%s/%s: %s" % (folder, name, done.stderr))
        tried += 1
    need(tried, "none of the folders exists")


def test_example(programs):
    """the walk-through of failed allocations runs as typed, and shows the caller"""
    need_root("probes need root")
    if not os.path.exists(TRACING + "/uprobe_events") or "probe_libc" in open(TRACING + "/uprobe_events").read():
        raise Skip("no uprobes, or others have probes in the C library")
    must("gcc", "-g", "-O1", "-fno-omit-frame-pointer", os.path.join(SOURCES, "refused.c"), "-o", programs.path("refused"), env=process.compilers())
    with open(EXAMPLE, encoding="utf-8") as page:
        commands = [line.strip() for line in page if line.startswith("    perf ")]
    need(len(commands) == 5, "%r" % commands)
    os.makedirs(programs.path("bin"), exist_ok=True)
    if not os.path.lexists(programs.path("bin/perf")):
        os.symlink(PERFUSE, programs.path("bin/perf"))
    env = process.environment(programs.folder, PATH=programs.path("bin") + ":" + os.environ["PATH"])
    said = ""
    with process.start(programs.path("refused"), "4", cwd=programs.folder) as server:
        try:
            for command in commands[:3]:
                shell = command.replace("1234", str(server.pid))
                # a recording would go into a pipe
                where = {"stdout": process.DEVNULL} if " record " in command else {}
                done = run("sh", "-c", shell, cwd=programs.folder, env=env, **where)
                need(done.returncode == 0, "%s: %s" % (command, done.stderr))
                said += (done.stdout or "") + done.stderr
        finally:
            last = run("sh", "-c", commands[-1], cwd=programs.folder, env=env)
    need("Added new event:" in said and "Removed event: probe_libc:malloc__return" in last.stderr, said + last.stderr)
    need(said.count("probe_libc:malloc__return: (") == 4 and said.count("ask+0x") == 4 and "res=0x0" in said, said)


def test_namespace(programs):
    """--target-ns places probes in a program that only another mount namespace has"""
    need_root("mount namespaces")
    need_tools("unshare", "nsenter")
    folder = programs.path("hidden")
    os.makedirs(folder, exist_ok=True)
    script = "mount --make-rprivate / && mount -t tmpfs none %s && cp %s %s/inside && echo ready && exec sleep 60" % (
        folder, programs.need("arguments2"), folder)
    with process.start("unshare", "-m", "sh", "-c", script, cwd=programs.folder) as container:
        need(container.stdout.readline() == "ready\n", "no namespace")
        path, pid, group = folder + "/inside", str(container.pid), "%s_ns_%d" % (GROUP, os.getpid())
        need(not os.path.exists(path), "the file is outside, too")
        done = programs.probe("--target-ns", pid, "-x", path, "-a", group + ":simple=simple a b")
        if not os.path.exists(TRACING + "/uprobe_events"):
            raise Skip("no uprobes")
        try:
            need(done.returncode == 0, done.stderr)
            data = programs.path("ns.data")
            printed = must(PERFUSE, "record", "-q", "-e", group + ":simple", "-o", data, "--", "nsenter", "-t", pid, "-m", path, "3",
                           cwd=programs.folder)
        finally:
            programs.probe("-q", "-d", group + ":*")
    text = perfuse("script", "-i", data, "-F", "event,trace", cwd=programs.folder).stdout
    samples = [("simple", dict(re.findall(r"(\w+)=(\S+)", line))) for line in text.splitlines()]
    need_values([" ".join(line.split()[:3]) for line in printed.splitlines()], "simple", samples, "simple", ["a", "b"])


def test_debug_files(programs):
    """debug information is found in separate, split and compressed files, and in none it is asked for"""
    source, folder = os.path.join(SOURCES, "arguments.c"), programs.folder
    want = programs.probe("-x", programs.need("arguments2"), "-D", "members o->in.x o->label:string").stdout
    for name, words in (("separate", []), ("split", ["-gsplit-dwarf"]), ("packed", ["-gz"])):
        must("gcc", "-g", "-O2", *words, source, "-o", name, cwd=folder, env=process.compilers())
        if name == "separate":
            must("objcopy", "--only-keep-debug", name, name + ".debug", cwd=folder)
            must("strip", "-g", name, cwd=folder)
            must("objcopy", "--add-gnu-debuglink=" + name + ".debug", name, cwd=folder)
        got = programs.probe("-x", programs.path(name), "-D", "members o->in.x o->label:string")
        need(got.stdout.replace(name, "arguments2") == want and want, "%s: %r %r" % (name, got.stdout, got.stderr))
    if shutil.which("clang"):  # location lists by index
        made = []
        for name, words in (("listed", []), ("indexed", ["-gsplit-dwarf"])):
            must("clang", "-g", "-gdwarf-5", "-O2", *words, source, "-o", name, cwd=folder, env=process.compilers())
            made.append(programs.probe("-x", programs.path(name), "-D", "members $params").stdout.replace(name, ""))
        need(made[0] == made[1] and "o=%" in made[0], "%r" % made)
    must("gcc", "-O2", source, "-o", "none", cwd=folder, env=process.compilers())
    refused = programs.probe("-x", programs.path("none"), "-D", "members o")
    need(refused.returncode and "has no debug information" in refused.stderr, refused.stderr)
    need(programs.probe("-x", programs.path("none"), "-D", "members %di").stdout.count("members") == 1, "a register needs none")


def stripped(programs, name):
    """A program without debug information, and the file that has it."""
    must("gcc", "-g", "-O2", "-Wl,--build-id", os.path.join(SOURCES, "arguments.c"), "-o", name, cwd=programs.folder, env=process.compilers())
    must("objcopy", "--only-keep-debug", name, name + ".full", cwd=programs.folder)
    must("strip", name, cwd=programs.folder)
    return programs.path(name), programs.path(name + ".full")


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves a folder, and says nothing."""
    def log_message(self, *_):
        self.server.paths.append(self.path)


def test_server(programs):
    """debug information comes from a server of $DEBUGINFOD_URLS, and from none without it"""
    need_tools("objcopy", "readelf")
    if not ctypes.util.find_library("debuginfod"):
        raise Skip("no libdebuginfod")
    program, full = stripped(programs, "remote")
    number = re.search(r"Build ID: (\w+)", must("readelf", "-n", program)).group(1)
    folder = programs.path("served/buildid/" + number)
    os.makedirs(folder)
    shutil.copy(full, folder + "/debuginfo")
    os.remove(full)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *words: Quiet(*words, directory=programs.path("served"))) as server:
        server.paths = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        urls = {"DEBUGINFOD_URLS": "http://127.0.0.1:%d" % server.server_address[1], "DEBUGINFOD_CACHE_PATH": programs.path("fetched")}
        env = process.environment(programs.folder, **urls)
        got = programs.probe("-x", program, "-D", "members o->in.x o->label:string", env=env)
        server.shutdown()
    want = programs.probe("-x", programs.need("arguments2"), "-D", "members o->in.x o->label:string").stdout
    need(got.stdout.replace("remote", "arguments2") == want and want, got.stdout + got.stderr)
    need("/buildid/%s/debuginfo" % number in server.paths, "%r" % server.paths)
    refused = programs.probe("-x", program, "-D", "members o->in.x")
    need(refused.returncode and "has no debug information" in refused.stderr, refused.stderr)


def test_small_debug_information(programs):
    """functions that only .gnu_debugdata names are shown, and have probes without variables"""
    need_tools("objcopy", "xz", "nm")
    program, full = stripped(programs, "mini")
    must("objcopy", "-S", "--remove-section=.comment", "--keep-symbol=members", "--keep-symbol=simple", full, "mini.symbols", cwd=programs.folder)
    os.remove(full)
    if "members" not in must("nm", programs.path("mini.symbols")):
        raise Skip("this objcopy keeps no symbols of a debug file")
    must("xz", "-k", "-f", programs.path("mini.symbols"))
    must("objcopy", "--add-section", ".gnu_debugdata=mini.symbols.xz", program, cwd=programs.folder)
    shown = programs.probe("-x", program, "-F").stdout.split()
    need({"members", "simple"} <= set(shown), "%r" % shown)
    place = re.search(r" \S+:(0x\w+) ", programs.probe("-x", programs.need("arguments2"), "-D", "members o").stdout + " ").group(1)
    made = programs.probe("-x", program, "-D", "members %di")
    need(made.stdout.startswith("p:probe_mini/members %s:%s " % (program, place)), made.stdout + made.stderr)
    need("has no debug information" in programs.probe("-x", program, "-D", "members o").stderr, "a variable without debug information")


def test_replaced_file(programs):
    """a probe of a file that is replaced stays with the old one, of which the values are right; a deleted file has no new ones"""
    path = shutil.copy(programs.need("arguments0"), programs.path("replaced"))
    with Probes(programs, "simple=simple a b c text:string", program="replaced") as probes:
        need(probes.done.returncode == 0, probes.done.stderr)
        with open(path, "rb") as old:  # the old file remains open
            os.remove(path)
            shutil.copy(programs.need("arguments2"), path)
            listed = programs.probe("-l", probes.group + ":*")
            need(listed.returncode == 0 and "%s:simple" % probes.group in listed.stdout, listed.stdout + listed.stderr)
            data, run_old = programs.path("replaced.data"), "/proc/self/fd/%d" % old.fileno()
            must("env", PERFUSE, "record", "-q", "-e", probes.group + ":simple", "-o", data, "--", run_old, "3", cwd=programs.folder,
                 pass_fds=[old.fileno()])
        script = perfuse("script", "-i", data, "-F", "event,trace", cwd=programs.folder).stdout
        need(script.count(":simple: ") > 0, "no event of the old file")
    gone = programs.probe("-x", programs.path("gone"), "-a", "x:y=simple")
    need(gone.returncode == 129 and "Failed to get the absolute path of" in gone.stderr, gone.stderr)
    gone = programs.probe("-x", "libabsent.so.1", "-a", "x:y=simple")
    need(gone.returncode == 129 and "Failed to get the absolute path of libabsent.so.1" in gone.stderr, gone.stderr)


def test_beside_others(programs):
    """two runs at one time add and remove their own probes, and lines of other tools remain as they are"""
    need_root("probes need root")
    if not os.path.exists(TRACING + "/uprobe_events"):
        raise Skip("no uprobes")
    program, group, other = programs.need("arguments0"), "%s_two_%d" % (GROUP, os.getpid()), "perfuse_others_%d" % os.getpid()
    made = programs.probe("-x", program, "-D", other + ":theirs=simple %di").stdout
    events = os.open(TRACING + "/uprobe_events", os.O_WRONLY | os.O_APPEND)
    os.write(events, made.encode())
    os.close(events)
    try:
        def line():
            with open(TRACING + "/uprobe_events", encoding="utf-8") as lines:
                return [text for text in lines if other in text]
        before = line()
        need(len(before) == 1, "%r" % before)
        runs = [process.start(PERFUSE, "probe", "-q", "-x", program, *(word for i in range(6) for word in ("-a", "%s:n%d_%d=simple a" % (group, k, i))),
                              cwd=programs.folder) for k in range(4)]
        need([done.wait(60) for done in runs] == [0] * 4, "a run failed")
        added = re.findall(r"%s:(n\d_\d) " % group, programs.probe("-l", group + ":*").stdout)
        need(len(added) == len(set(added)) == 24, "%r" % added)
        runs = [process.start(PERFUSE, "probe", "-q", "-d", "%s:n%d_*" % (group, k), cwd=programs.folder) for k in range(3)]
        need([done.wait(60) for done in runs] == [0] * 3, "a run failed")
        left = re.findall(r"%s:(n\d)_\d " % group, programs.probe("-l", group + ":*").stdout)
        need(left == ["n3"] * 6, "%r" % left)
        need(line() == before, "another tool's line is changed: %r" % line())
    finally:
        programs.probe("-q", "-d", group + ":*")
        programs.probe("-q", "-d", other + ":*")


TYPES = """struct Base { long id; virtual ~Base() {} };
struct Point { int x, y; struct { short low : 3, high : 5; } bits[2]; };
struct Shape : Base { Point at[3]; const Point *far; };
__attribute__((noinline)) int area(Shape &shape, const Point *list, int n) { return shape.at[1].y + shape.far->x + list[n].y; }
int main(int n, char **) { static Point p[9]; Shape s; s.far = p; return area(s, p, n); }
"""
TYPED = "area shape.at[1].y shape.id x=shape.far->x list[2].bits[1].high:u n"


def test_type_units(programs):
    """members of types that have units of their own are found, also in split files and in packages"""
    folder, want, same = programs.path("types"), {}, 0
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "types.cc"), "w", encoding="utf-8") as out:
        out.write(TYPES)
    for compiler, version, packer in (("g++", 4, "dwp"), ("g++", 5, None), ("clang++", 4, "dwp"), ("clang++", 5, "llvm-dwp")):
        if not shutil.which(compiler):
            continue
        for words in ([], ["-fdebug-types-section"], ["-fdebug-types-section", "-gsplit-dwarf"]):
            name = "-".join([compiler, str(version), *words])
            must(compiler, "-O1", "-g", "-gdwarf-%d" % version, *words, "types.cc", "-o", name, cwd=folder, env=process.compilers())
            made = [programs.probe("-x", os.path.join(folder, name), "-D", TYPED)]
            if words[1:] and packer and shutil.which(packer) and run(packer, "-e", name, "-o", name + ".dwp", cwd=folder).returncode == 0:
                for file in os.listdir(folder):
                    if file.endswith(".dwo"):
                        os.remove(os.path.join(folder, file))
                made.append(programs.probe("-x", os.path.join(folder, name), "-D", TYPED))
            for done in made:
                got = re.sub(r"^p:\S+ \S+:", "", done.stdout)
                need(got == want.setdefault(compiler, got) and "y=+" in got, "%s: %r %r" % (name, got + done.stderr, want))
                same += 1
    need(same >= 6, "%d programs" % same)
    remark("%d programs" % same)


def test_similar(programs):
    """a wrong name is answered with the names of similar functions"""
    program = programs.need("arguments0")
    for name in ("simpel", "simpel%return"):
        need("Similar functions: simple\n" in programs.probe("-x", program, "-D", name).stderr, name)


def test_ordinary_user(programs):
    """a user without rights gets definitions, and one sentence instead of a probe"""
    need_root("another user")
    program = programs.need("arguments0")
    copy = shutil.copy(PERFUSE, programs.path("perfuse"))
    need(run(copy, "probe", "-x", program, "-D", "simple a", cwd=programs.folder, user=NOBODY).returncode == 0, "-D as a user")
    done = run(copy, "probe", "-x", program, "-a", "simple a", cwd=programs.folder, user=NOBODY)
    need(done.returncode and "ermission" in done.stderr, done.stderr)
    for word, sentence in ("-l", "Failed to show event list."), ("-d", "Failed to delete events."):
        done = run(copy, "probe", word, "nosuch:*", cwd=programs.folder, user=NOBODY)
        need(done.returncode and "ermission" in done.stderr and sentence in done.stderr and "does not hit" not in done.stderr, done.stderr)


def test_types_of_the_kernel(p):
    """parameters of the kernel's functions are found by its types alone, and a wrong name is answered with the right ones"""
    if not os.path.exists("/sys/kernel/btf/vmlinux") or "vfs_read" not in open("/proc/kallsyms", encoding="utf-8").read():
        raise Skip("the kernel publishes no types, or no symbols")
    shown = process.perfuse("probe", "-V", "vfs_read")
    if "vfs_read@" in shown.stdout or process.perfuse("probe", "-L", "vfs_read").returncode == 0:
        raise Skip("the kernel's file with debug information is installed")
    need("\t@<vfs_read+0>\n\t\tchar*\tbuf\n\t\tloff_t*\tpos\n\t\tsize_t\tcount\n" in shown.stdout, shown.stdout + shown.stderr)
    made = process.perfuse("probe", "-D", "vfs_read count size=count:u32 pos[0] buf:string").stdout
    need(made == "p:probe/vfs_read vfs_read+0 count=$arg3:x64 size=$arg3:u32 pos=+0($arg4):s64 buf=+0($arg2):string\n", made)
    wrong = process.perfuse("probe", "-D", "vfs_read length")
    need(wrong.returncode and "It has: file, buf, count, pos" in wrong.stderr, wrong.stderr)


if __name__ == "__main__":
    sys.exit(run_in_folder("probe", Programs, globals()))
