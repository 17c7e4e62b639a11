#!/usr/bin/env python3
"""Debug information of each shape that compilers write: perfuse addr2line resolves the address of every instruction.
The results are compared with those of binutils, or, for shapes that binutils does not read, with those of the same program in another shape.
addr2line_test.py NAME...: only the shapes whose name contains one of these words."""
import os
import shutil
import sys
import tempfile

from suite import process
from suite.process import Hang, compilers
from suite.settings import PERFUSE, TEST
from suite.tests import is_selected, report, skipped

COMPILE_SECONDS_MAX = 900
OPTIMIZED = ["-O2", "-fno-omit-frame-pointer"]

HEADER = r"""
static inline __attribute__((always_inline)) int twice(int x) { volatile int y = x; return y + y; }
static inline __attribute__((always_inline)) int four_times(int x) { return twice(x) +
	twice(x + 1); }
"""
FIRST = r"""
#include <stdlib.h>
int first(int x) { return x ? x : 1; }
#include "header.h"
int second(int);
static __attribute__((noinline)) int cold_or_not(int x)
{
	if (__builtin_expect(x > 100000, 0))
		abort();
	for (int i = 0; i < 10; i++) {
		if (i & x)
			x += four_times(i);
		switch (x & 7) {
		case 0: x += 3; break;
		case 1: x *= 5; break;
		case 2: x = twice(x); break;
		case 3: x ^= 9; break;
		case 4: x = four_times(x); break;
		default: x++;
		}
	}
	return x;
}
int never_called(int x) { return four_times(x) - 1; }
int main(int argc, char **argv)
{
	int sum = 0;
	for (int i = 0; i < argc; i++)
		sum += cold_or_not(atoi(argv[i])) + second(i) + first(i);
	return sum & 1;
}
"""
SECOND = r"""
int other(int x) { return x - 3; }
#include "header.h"
int second(int x)
{
	return other(x) + (x > 3 ? four_times(x) : twice(other(x)));
}
"""
NESTED = r"""
#include <stdio.h>
int base(int x) { return x; }
static inline __attribute__((always_inline)) int outer(int n)
{
	int sum = 0;
	__attribute__((noinline)) int nested(int x) { sum += x; return sum * 2; }
	for (int i = 0; i < n; i++)
		sum += nested(i);
	return sum;
}
int main(int argc, char **argv)
{
	printf("%d\n", outer(argc) + base(argc));
	return 0;
}
"""
CPP = r"""
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>
int start(int x) { return x + 1; }
namespace {
struct hidden {
	std::function<int(int)> later = [](int x) { return x * 3 + start(x); };
	std::map<std::string, int> names;
	virtual int get(const std::string &name) { return names[name] + later(2); }
	virtual ~hidden() {}
};
}
namespace outer::inner {
template <class T> struct box {
	T value;
	T get() const { struct local { static T of(T v) { return v + v; } }; return local::of(value); }
};
int use(std::vector<int> &v)
{
	std::sort(v.begin(), v.end(), [](int a, int b) { return a % 7 < b % 7; });
	auto add = [&](int n) { for (int &x : v) x += n; return v.size(); };
	return (int)(add(1) + add(2)) + box<int>{ 3 }.get() + (int)box<double>{ 2.5 }.get();
}
}
int main(int argc, char **argv)
{
	std::vector<int> v;
	for (int i = 0; i < argc * 10; i++)
		v.push_back(i * 7919 % 101);
	try {
		hidden h;
		return h.get(argv[0]) + outer::inner::use(v);
	} catch (const std::exception &) {
		return 1;
	}
}
"""
ASSEMBLY = """
	.text
	.globl _start
	.type _start, @function
_start:
	mov $60, %eax
	xor %edi, %edi
	call helper
	syscall
	.size _start, . - _start
helper:
	nop
	ret
"""
RUST = r"""
use std::collections::HashMap;
trait Shape { fn area(&self) -> f64; }
struct Square(f64);
impl Shape for Square { #[inline(never)] fn area(&self) -> f64 { self.0 * self.0 } }
#[inline(never)]
fn count(words: &[String]) -> HashMap<&str, usize> {
    let mut out = HashMap::new();
    words.iter().filter(|w| w.len() > 1).for_each(|w| *out.entry(w.as_str()).or_insert(0) += 1);
    out
}
fn main() {
    let words: Vec<String> = std::env::args().collect();
    println!("{:?} {}", count(&words).len(), Square(words.len() as f64).area());
}
"""
FORTRAN = """
program main
  integer :: total
  total = 0
  call add(3)
  print *, total
contains
  subroutine add(n)
    integer, intent(in) :: n
    integer :: i
    do i = 1, n
      total = total + twice(i)
    end do
  end subroutine
  integer function twice(x)
    integer, intent(in) :: x
    twice = x + x
  end function
end program
"""
D = r"""
module calls;
import core.stdc.stdio;
struct Box(T) { T value; T get() { return value + value; } }
class Shape { int area(int x) { return x; } }
class Square : Shape
{
	override int area(int x) { auto times = delegate int(int y) { return y * x; }; return apply(times, x); }
}
int apply(scope int delegate(int) what, int x) { int sum; foreach (i; 0 .. x) sum += what(i); return sum; }
pragma(inline, true) int twice(int x) { return x + x; }
int outer(int n)
{
	int sum;
	void nested(int x) { sum += twice(x); }
	foreach (i; 0 .. n)
		nested(i);
	return sum;
}
extern (C) int main(int argc, char** argv)
{
	auto whole = Box!int(argc);
	auto half = Box!double(argc);
	printf("%d %f %d\n", whole.get(), half.get(), outer(argc));
	return argc > 100;
}
"""
ADA = r"""
with Ada.Text_IO; use Ada.Text_IO;
procedure Calls is
   type Kind is range 0 .. 1000;
   Total : Integer := 0;
   procedure Add (N : Integer) is
      function Twice (X : Integer) return Integer is (X + X);
   begin
      for I in 1 .. N loop
         Total := Total + Twice (I);
      end loop;
   end Add;
   generic
      type T is range <>;
   function Largest (A, B : T) return T;
   function Largest (A, B : T) return T is
   begin
      if A > B then return A; else return B; end if;
   end Largest;
   function Kind_Largest is new Largest (Kind);
begin
   Add (5);
   Put_Line (Integer'Image (Total) & Kind'Image (Kind_Largest (3, 4)));
exception
   when Constraint_Error => Put_Line ("no");
end Calls;
"""
PASCAL = r"""
{$mode objfpc}
program calls;
type
  TShape = class
    function Area(x: integer): integer; virtual;
  end;
function TShape.Area(x: integer): integer; begin Area := x * 3; end;
function twice(x: integer): integer; inline; begin twice := x + x; end;
procedure add(n: integer);
var i, total: integer;
  function inner(x: integer): integer;
  begin
    inner := twice(x) + total;
  end;
begin
  total := 0;
  for i := 1 to n do total := total + inner(i);
  writeln(total);
end;
var s: TShape;
begin
  add(4); s := TShape.Create; writeln(s.Area(3)); s.Free;
end.
"""
GO = r"""
package main

import (
	"fmt"
	"os"
	"sort"
)

type shape interface{ area() int }
type square struct{ side int }

func (s *square) area() int { return twice(s.side) * s.side }
func twice(x int) int       { return x + x }
func fourTimes(x int) int {
	return twice(x) +
		twice(x+1)
}
func apply(f func(int) int, n int) (sum int) {
	defer func() { sum++ }()
	for i := 0; i < n; i++ {
		sum += f(i)
	}
	return
}
func main() {
	n := len(os.Args)
	list := []shape{&square{n}, &square{n + 1}}
	sort.Slice(list, func(a, b int) bool { return list[a].area() < list[b].area() })
	fmt.Println(apply(fourTimes, n), apply(func(x int) int { return x + n }, n))
}
"""
ZIG = r"""
const std = @import("std");
fn twice(x: anytype) @TypeOf(x) { return x + x; }
inline fn fourTimes(x: u32) u32 { return twice(x) + twice(x + 1); }
fn Box(comptime T: type) type {
    return struct {
        value: T,
        fn get(self: @This()) T { return twice(self.value); }
    };
}
noinline fn fails(x: u32) !u32 {
    if (x > 3) return error.TooMuch;
    return fourTimes(x);
}
pub fn main() !void {
    var arguments = std.process.args();
    var n: u32 = 0;
    while (arguments.next() != null) n += 1;
    const b = Box(u32){ .value = n };
    std.debug.print("{} {}\n", .{ b.get(), fails(n) catch 7 });
}
"""
NASM = """
section .text
global _start
_start:
	mov rdi, 5
	call twice
	call helper
	mov rax, 60
	xor rdi, rdi
	syscall
helper:
	nop
	ret
twice:
	add rdi, rdi
	ret
"""

SOURCES = {"header.h": HEADER, "first.c": FIRST, "second.c": SECOND, "nested.c": NESTED, "many.cc": CPP, "start.s": ASSEMBLY,
           "words.rs": RUST, "calls.f90": FORTRAN, "calls.d": D, "calls.adb": ADA, "calls.pas": PASCAL, "calls.go": GO, "calls.zig": ZIG,
           "start.asm": NASM}
C = ["first.c", "second.c"]
GCC_SPLIT = {"gcc-split-4": ["-gdwarf-4", "-gsplit-dwarf"], "gcc-split-5": ["-gdwarf-5", "-gsplit-dwarf"],
             "clang-split-4": ["-gdwarf-4", "-gsplit-dwarf"], "clang-split-5": ["-gdwarf-5", "-gsplit-dwarf"]}

# name: (compiler, options, sources[, the shape of the same code to compare with, where binutils 2.40 does not read this one])
SHAPES = {
    "gcc-2": ("gcc", OPTIMIZED + ["-gdwarf-2", "-gstrict-dwarf"], C),
    "gcc-3": ("gcc", OPTIMIZED + ["-gdwarf-3", "-gstrict-dwarf"], C),
    "gcc-4": ("gcc", OPTIMIZED + ["-gdwarf-4"], C),
    "gcc-5": ("gcc", OPTIMIZED + ["-gdwarf-5"], C),
    "gcc-5-unoptimized": ("gcc", ["-O0", "-gdwarf-5"], C),
    "gcc-5-of-64-bit-offsets": ("gcc", OPTIMIZED + ["-gdwarf-5", "-gdwarf64"], C, "gcc-5"),
    "gcc-lines-only": ("gcc", OPTIMIZED + ["-g1"], C),
    "gcc-compressed": ("gcc", OPTIMIZED + ["-g", "-gz=zlib"], C),
    "gcc-compressed-old": ("gcc", OPTIMIZED + ["-g", "-gz=zlib-gnu"], C, "gcc-5"),
    "gcc-lto": ("gcc", OPTIMIZED + ["-gdwarf-4", "-flto"], C),
    "gcc-sections": ("gcc", OPTIMIZED + ["-g", "-ffunction-sections", "-Wl,--gc-sections"], C),
    "gcc-static-addresses": ("gcc", OPTIMIZED + ["-g", "-no-pie"], C),
    "gcc-object": ("gcc", OPTIMIZED + ["-g", "-c"], C[1:]),
    "clang-object": ("clang", OPTIMIZED + ["-gdwarf-4", "-c"], C[1:]),
    "gcc-nested": ("gcc", OPTIMIZED + ["-g", "-Wl,-z,execstack"], ["nested.c"]),
    "gcc-c++-4": ("g++", OPTIMIZED + ["-gdwarf-4"], ["many.cc"]),
    "gcc-c++-5": ("g++", OPTIMIZED + ["-gdwarf-5"], ["many.cc"]),
    "gcc-types": ("g++", OPTIMIZED + ["-g", "-fdebug-types-section"], ["many.cc"], "gcc-c++-5"),
    "gcc-c++-4-unoptimized": ("g++", ["-O0", "-gdwarf-4"], ["many.cc"]),
    "assembly": ("gcc", ["-nostdlib", "-static", "-g"], ["start.s"]),
    "assembly-4": ("gcc", ["-nostdlib", "-static", "-gdwarf-4", "-Wa,-gdwarf-4"], ["start.s"]),
    "clang-2": ("clang", OPTIMIZED + ["-gdwarf-2"], C),
    "clang-3": ("clang", OPTIMIZED + ["-gdwarf-3"], C),
    "clang-4": ("clang", OPTIMIZED + ["-gdwarf-4"], C),
    "clang-5": ("clang", OPTIMIZED + ["-gdwarf-5"], C, "clang-4"),
    "clang-lines-only-4": ("clang", OPTIMIZED + ["-gmlt", "-gdwarf-4"], C),
    "clang-lines-only": ("clang", OPTIMIZED + ["-gmlt", "-gdwarf-5"], C, "clang-4"),
    "clang-aranges": ("clang", OPTIMIZED + ["-g", "-gdwarf-aranges"], C, "clang-4"),
    "clang-sections-4": ("clang", OPTIMIZED + ["-gdwarf-4", "-ffunction-sections", "-Wl,--gc-sections"], C),
    "clang-sections": ("clang", OPTIMIZED + ["-g", "-ffunction-sections", "-Wl,--gc-sections"], C, "clang-sections-4"),
    "clang-4-of-64-bit-offsets": ("clang", OPTIMIZED + ["-gdwarf-4", "-gdwarf64"], C, "clang-4"),
    "clang-5-of-64-bit-offsets": ("clang", OPTIMIZED + ["-gdwarf-5", "-gdwarf64"], C, "clang-4"),
    "clang-c++-4": ("clang++", OPTIMIZED + ["-gdwarf-4"], ["many.cc"]),
    "clang-c++-5": ("clang++", OPTIMIZED + ["-gdwarf-5"], ["many.cc"], "clang-c++-4"),
    "clang-types": ("clang++", OPTIMIZED + ["-g", "-fdebug-types-section"], ["many.cc"], "clang-c++-4"),
    "rust": ("rustc", ["-g", "-O"], ["words.rs"]),
    "fortran": ("gfortran", ["-O1", "-g"], ["calls.f90"]),
}
# What is built in other ways: (compiler, command, random addresses; 0: every instruction)
PASCAL_BUILD = "fpc -O2 %s -o{out} calls.pas"
COMMANDS = {
    "nasm": ("nasm", "nasm -f elf64 -g -F dwarf -o {out}.o start.asm && ld -o {out} {out}.o", 0),
    "gdc": ("gdc", "gdc -O1 -g -o {out} calls.d", 0),
    "gdc-unoptimized": ("gdc", "gdc -O0 -g -o {out} calls.d", 0),
    "ldc": ("ldc2", "ldc2 -O2 -g -of={out} calls.d", 0),
    "ldc-unoptimized": ("ldc2", "ldc2 -g -of={out} calls.d", 0),
    "ada-unoptimized": ("gnatmake", "gnatmake -q -f -O0 -g calls.adb -o {out}", 0),
    "pascal-2": ("fpc", PASCAL_BUILD % "-gw2", 0),
    "pascal-3": ("fpc", PASCAL_BUILD % "-gw3", 0),
    "pascal-4": ("fpc", PASCAL_BUILD % "-gw4", 0),
    "gccgo": ("gccgo", "gccgo -O2 -g -o {out} calls.go", 0),
    "go": ("go", "go build -o {out} calls.go", 20000),
    "zig": ("zig", "zig build-exe calls.zig --name {name}", 20000),
    "zig-fast": ("zig", "zig build-exe calls.zig -O ReleaseFast -fno-strip --name {name}", 20000),
}
# Which shapes get .debug_aranges taken away, and are packed by dwz.
BARE = ["gcc-4", "gcc-5", "gcc-c++-5"]
PACKED = ["gcc-4", "gcc-5"]


class Tests:
    def __init__(self):
        self.failed = 0

    def line(self, name, problem, output=""):
        self.failed += report(name, [text[:200] for text in [problem] + output.split("\n")] if problem else [], 40)

    def skip(self, name, why):
        skipped(name, why)


def run(command, **more):
    return process.run(*command, stderr=process.STDOUT, **{"env": compilers(), "seconds": COMPILE_SECONDS_MAX, **more})


def compare(tests, name, path, more=(), count=0):
    result = run([os.path.join(TEST, "addr2line_compare.py"), "--count", str(count), path] + list(more), env=compilers(PERFUSE=PERFUSE))
    tests.line(name, "" if result.returncode == 0 else "addresses differ", result.stdout)


def build(shape, folder, options, sources, compiler):
    out = os.path.join(folder, shape)
    output = ["-o", out]
    result = run([compiler] + options + sources + output, cwd=folder)
    return out if result.returncode == 0 else None


def other_shapes(tests, folder):
    """The caches of the compilers are below the folder."""
    caches = compilers(GOCACHE=os.path.join(folder, "go-cache"), GO111MODULE="off", ZIG_GLOBAL_CACHE_DIR=os.path.join(folder, "zig-cache"))
    for shape, (compiler, command, count) in COMMANDS.items():
        name, out = "addr2line-agrees-" + shape, os.path.join(folder, shape)
        if not is_selected(shape):
            continue
        if not shutil.which(compiler):
            tests.skip(name, "no " + compiler)
            continue
        result = run(["sh", "-c", command.format(out=out, name=shape)], cwd=folder, env=caches)
        if result.returncode:
            tests.skip(name, "%s does not build it: %s" % (compiler, result.stdout.strip().split("\n")[-1][:150]))
        else:
            compare(tests, name, out, count=count)


def shapes(tests, folder):
    built = {}
    for shape, (compiler, flags, sources, *same) in SHAPES.items():
        if not is_selected(shape) and not any(is_selected(other) and rest[3:] == (shape,) for other, rest in SHAPES.items()):
            continue
        name = "addr2line-agrees-" + shape
        if not shutil.which(compiler):
            tests.skip(name, "no " + compiler)
            continue
        out = build(shape, folder, flags, sources, compiler)
        if not out or (same and same[0] not in built):
            tests.skip(name, "%s does not build it" % compiler)
            continue
        built[shape] = out
        compare(tests, name, out, ["--against", built[same[0]]] if same else [])
    return built


def pack(packer, out, folder):
    """dwp of binutils reads version 4 only; that of LLVM 14 does not terminate on version 5 of gcc for C, but does for C++."""
    if not shutil.which(packer):
        return False
    try:
        return run([packer, "-e", out, "-o", out + ".dwp"], cwd=folder, seconds=20).returncode == 0
    except Hang:
        return False


def split_shapes(tests, folder, built):
    """The same code with split debug information."""
    for shape, options in GCC_SPLIT.items():
        compiler, plain = shape.split("-")[0], shape.replace("split-", "")
        name = "addr2line-finds-" + shape
        out = plain in built and build(shape, folder, OPTIMIZED + options, C, compiler)
        if not out:
            tests.skip(name, "no " + compiler)
            continue
        compare(tests, name, out, ["--against", built[plain]])
        if shape == "gcc-split-5":
            continue  # below
        packed = any(pack(p, out, folder) for p in ("dwp", "llvm-dwp"))
        for file in os.listdir(folder):
            if file.endswith(".dwo"):
                os.remove(os.path.join(folder, file))
        if packed:
            compare(tests, name + "-packed", out, ["--against", built[plain]])
        else:
            tests.skip(name + "-packed", "no dwp that reads it")


def packed_five(tests, folder):
    """A package of what gcc writes as version 5."""
    name, flags = "addr2line-finds-gcc-split-5-packed", GCC_SPLIT["gcc-split-5"]
    plain = build("gcc-5-packed-plain", folder, OPTIMIZED + ["-gdwarf-5"], ["many.cc"], "g++")
    out = plain and build("gcc-split-5-packed", folder, OPTIMIZED + flags, ["many.cc"], "g++")
    if not out or not pack("llvm-dwp", out, folder):
        tests.skip(name, "no g++, or no dwp that reads it")
        return
    for file in os.listdir(folder):
        if file.endswith(".dwo"):
            os.remove(os.path.join(folder, file))
    compare(tests, name, out, ["--against", plain])


def bare_shapes(tests, folder, built):
    for shape in BARE:
        if shape in built and shutil.which("objcopy"):
            out = os.path.join(folder, shape + "-bare")
            run(["objcopy", "-R", ".debug_aranges", built[shape], out])
            compare(tests, "addr2line-needs-no-aranges-" + shape, out, ["--against", built[shape]])


def dwz_shapes(tests, folder, built):
    for shape in PACKED:
        name = "addr2line-follows-dwz-" + shape
        if not shutil.which("dwz") or shape not in built:
            tests.skip(name, "no dwz")
            continue
        one, two = (os.path.join(folder, "%s-dwz-%d" % (shape, i)) for i in (1, 2))
        shutil.copy(built[shape], one)
        shutil.copy(built[shape], two)
        if run(["dwz", "-m", os.path.join(folder, shape + ".common"), one, two]).returncode:
            tests.skip(name, "dwz refuses")
            continue
        compare(tests, name, one, ["--against", built[shape]])


def debuglink_shape(tests, folder, built):
    name = "addr2line-follows-a-debuglink"
    if "gcc-5" not in built or not shutil.which("objcopy"):
        tests.skip(name, "no gcc")
        return
    out = os.path.join(folder, "linked")
    run(["objcopy", "--only-keep-debug", built["gcc-5"], out + ".debug"])
    run(["objcopy", "--strip-all", "--add-gnu-debuglink=" + out + ".debug", built["gcc-5"], out])
    compare(tests, name, out, ["--against", built["gcc-5"]])


def ask(arguments, text=None):
    return process.perfuse("addr2line", *arguments, input=text, stderr=process.STDOUT)


def options(tests, built):
    """The forms of the output are those of binutils."""
    path = built.get("gcc-5")
    if not path or not shutil.which("addr2line"):
        tests.skip("addr2line-prints-as-binutils", "no gcc or binutils")
        return
    symbols = run(["nm", path]).stdout.split("\n")
    address = [line.split()[0] for line in symbols if line.endswith(" second")][0]
    for flags in ([], ["-a"], ["-f"], ["-f", "-s"], ["-p", "-f", "-i"], ["-a", "-p", "-f", "-i"], ["-i", "-s"], ["-C", "-f"],
                  ["-f", "--demangle"], ["-j", ".text", "-f"], ["-a", "-f", "-p"]):
        addresses = ["0", "0x10", "ffffffffffffffff"] if "-j" in flags else [address, "0x" + address, "0", "nonsense", "-e", path]
        ours = ask(["-e", path] + flags + addresses).stdout
        theirs = run(["addr2line", "-e", path] + flags + addresses).stdout
        tests.line("addr2line-prints-as-binutils" + "".join(flags).replace(".", "-"), "" if ours == theirs else "output differs",
                   ours + "---\n" + theirs)
    tests.line("addr2line-reads-its-input", "" if ask(["-f", "-e", path], address + "\n,\n").stdout ==
               process.must("addr2line", "-f", "-e", path, input=address + "\n,\n") else "output differs")
    with process.start(PERFUSE, "addr2line", "-e", path, stdin=process.PIPE) as answer:
        answer.stdin.write(address + "\n")
        answer.stdin.flush()
        line = answer.stdout.readline()
    tests.line("addr2line-answers-before-it-waits", "" if "second.c" in line else "said " + line)
    missing = ask(["-e", "/nonexistent", "0"])
    tests.line("addr2line-says-what-it-cannot-open", "" if missing.returncode == 1 and "/nonexistent" in missing.stdout else missing.stdout)


def main():
    tests = Tests()
    cargo = os.path.expanduser("~/.cargo/bin")
    os.environ["PATH"] += ":" + cargo
    with tempfile.TemporaryDirectory() as folder:
        for name, text in SOURCES.items():
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        built = shapes(tests, folder)
        other_shapes(tests, folder)
        if sys.argv[1:]:
            sys.exit(1 if tests.failed else 0)
        split_shapes(tests, folder, built)
        packed_five(tests, folder)
        bare_shapes(tests, folder, built)
        dwz_shapes(tests, folder, built)
        debuglink_shape(tests, folder, built)
        options(tests, built)
    sys.exit(1 if tests.failed else 0)


if __name__ == "__main__":
    main()
