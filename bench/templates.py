"""Writes and builds a C++ program with more than 10 MB of debug information: containers, algorithms and functors of the standard
library, instantiated for types of many translation units, inlined several calls deep; frame-pointer chains of 10 to 40 frames, two
threads. With frame pointers (`templates`) and without (`templates-omit`), from the same source. The same seed gives the same source."""
import os
import random
import subprocess

UNITS = 20
STAGES = 12  # functions of a unit that call one another

HEAD = r"""
#include <algorithm>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>
#include <cstdint>
struct ride { uint64_t random; unsigned depth, limit; volatile uint64_t sink; };
static inline unsigned draw(ride &r)
{
	r.random ^= r.random << 13; r.random ^= r.random >> 7; r.random ^= r.random << 17;
	return unsigned(r.random >> 20);
}
"""

UNIT = r"""
namespace unit%(u)d {
struct key { uint32_t a, b; bool operator<(const key &o) const { return std::tie(a, b) < std::tie(o.a, o.b); }
	bool operator==(const key &o) const { return a == o.a && b == o.b; } };
struct hash { size_t operator()(const key &k) const { return k.a * 0x9e3779b97f4a7c15u ^ k.b; } };
template <int N> struct table {
	std::map<key, std::vector<uint64_t>> tree;
	std::unordered_map<key, std::string, hash> names;
	std::variant<uint64_t, std::string, std::pair<key, key>> last;
	template <typename F> uint64_t fold(F &&f) const
	{
		return std::accumulate(tree.begin(), tree.end(), uint64_t(N), [&](uint64_t sum, const auto &kv) {
			return std::accumulate(kv.second.begin(), kv.second.end(), sum, f); });
	}
	void put(ride &r)
	{
		key k{draw(r) %% 64, draw(r) %% 4};
		auto &v = tree[k];
		v.push_back(r.random);
		if (v.size() > 24) v.erase(v.begin(), v.begin() + 12);
		std::sort(v.begin(), v.end(), [](uint64_t a, uint64_t b) { return a %% (N + 3) < b %% (N + 3); });
		auto it = names.find(k);
		if (it == names.end()) names.emplace(k, std::string(size_t(1 + draw(r) %% 30), char('a' + N %% 26)));
		else it->second.append(1, char('a' + v.size() %% 26)).resize(it->second.size() %% 40);
		last = draw(r) %% 2 ? decltype(last)(r.random) : decltype(last)(std::make_pair(k, k));
	}
};
%(functions)s
void enter(ride &r) { stage0(r); }
bool matches(const std::string &s)
{
	static const std::regex word("([a-z]+)_%(u)d([0-9]*)(x|y)?", std::regex::optimize);
	std::smatch m;
	return std::regex_search(s, m, word) && m.size() > 1;
}
}
"""

FUNCTION = r"""
__attribute__((noinline)) void stage%(i)d(ride &r)
{
	static thread_local table<%(n)d> t;
	static thread_local std::vector<std::function<uint64_t(ride &)>> steps{
		[](ride &q) { return q.random %% %(n)d; }, [](ride &q) { return uint64_t(draw(q)); } };
	r.depth++;
	for (unsigned i = 0; i < %(work)d; i++) t.put(r);
	r.sink += t.fold([](uint64_t a, uint64_t b) { return a * 31 + (b >> %(shift)d); }) + steps[draw(r) %% 2](r);
	if (r.depth < r.limit) { %(call)s r.sink++; }
	if (draw(r) %% 512 == 0) r.sink += matches("abc_%(u)d7x");
	r.depth--;
}
"""

MAIN = r"""
#include <thread>
#include <chrono>
#include <cstdlib>
%(declare)s
static void (*const entries[])(ride &) = { %(entries)s };
static void thread_main(unsigned seed, double seconds)
{
	ride r{88172645463325252ull ^ seed * 0x9e3779b97f4a7c15u, 0, 0, 0};
	auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
	while (std::chrono::steady_clock::now() < end) {
		r.depth = 0;
		r.limit = 8 + draw(r) %% 24;
		entries[draw(r) %% (sizeof entries / sizeof *entries)](r);
	}
}
int main(int argc, char **argv)
{
	double seconds = argc > 1 ? std::atof(argv[1]) : 1;
	std::thread other(thread_main, 7u, seconds);
	thread_main(11, seconds);
	other.join();
}
"""


def write_sources(folder):
    rng = random.Random(20260101)
    for u in range(UNITS):
        functions = "bool matches(const std::string &s);\n" + "".join("void stage%d(ride &r);\n" % i for i in range(STAGES))
        for i in range(STAGES):
            if i + 1 < STAGES:
                call = "draw(r) %% 4 ? stage%d(r) : stage%d(r);" % (i + 1, min(STAGES - 1, i + 2))
            else:
                call = "unit%d::enter(r);" % rng.randrange(UNITS)
            functions += FUNCTION % {"i": i, "n": u * STAGES + i + 2, "work": rng.choice((1, 2, 4)), "shift": rng.randrange(1, 9),
                                     "call": call, "u": u}
        declare = "".join("namespace unit%d { void enter(ride &r); }\n" % other for other in range(UNITS))
        with open(os.path.join(folder, "unit%d.cc" % u), "w") as out:
            out.write(HEAD + declare + UNIT % {"u": u, "functions": functions})
    with open(os.path.join(folder, "main.cc"), "w") as out:
        out.write(HEAD + MAIN % {
            "declare": "".join("namespace unit%d { void enter(ride &r); }\n" % u for u in range(UNITS)),
            "entries": ", ".join("unit%d::enter" % u for u in range(UNITS))})


def build(folder, frame_pointers):
    """Path of the program."""
    flavour = "frame" if frame_pointers else "omit"
    program = os.path.join(folder, "templates-" + flavour)
    if os.path.exists(program):
        return program
    os.makedirs(folder, exist_ok=True)
    write_sources(folder)
    flags = ["-std=c++17", "-O2", "-g", "-f%somit-frame-pointer" % ("no-" if frame_pointers else ""), "-pthread"]
    objects, running = [], []
    for name in ["main"] + ["unit%d" % u for u in range(UNITS)]:
        objects.append("%s.%s.o" % (name, flavour))
        if os.path.exists(os.path.join(folder, objects[-1])):
            continue
        running.append(subprocess.Popen(["g++", *flags, "-c", "-o", objects[-1] + ".new", name + ".cc"], cwd=folder))
        if len(running) >= (os.cpu_count() or 1):
            finish(running.pop(0), folder)
    for process in running:
        finish(process, folder)
    subprocess.run(["g++", *flags, "-o", program + ".new", *objects], cwd=folder, check=True)
    os.rename(program + ".new", program)
    return program


def finish(process, folder):
    if process.wait() != 0:
        raise SystemExit("bench: g++ failed in %s" % folder)
    made = os.path.join(folder, process.args[-2])
    os.rename(made, made[:-len(".new")])
