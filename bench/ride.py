"""Writes and builds the program that most benchmarks record: many functions in many shared objects, several processes (so that
address-space randomisation puts the same code at different addresses), several threads each, frame-pointer chains of 10 to 40
frames, some kernel time. The same seed gives the same source."""
import os
import random
import subprocess

LIBRARIES = 24
FUNCTIONS_PER_LIBRARY = 160
LAYERS = 40

WORDS = ("parse encode decode merge split lookup insert evict flush commit fetch render layout measure hash probe scan "
         "filter sort reduce expand fold visit walk emit pack unpack resolve bind schedule dispatch route").split()
NOUNS = ("page row block tree node token frame query index cache buffer stream packet session request reply record field "
         "column shard bucket segment journal cursor handle").split()
SPACES = "engine storage net codec planner runtime".split()

COMMON = r"""
#include <stdint.h>
struct ride { uint64_t random; uint32_t depth, limit; volatile uint64_t sink; };
typedef void (*step)(struct ride *);
static inline uint32_t draw(struct ride *r)
{
	r->random ^= r->random << 13; r->random ^= r->random >> 7; r->random ^= r->random << 17;
	return (uint32_t)(r->random >> 20);
}
static inline void work(struct ride *r, unsigned n)
{
	uint64_t x = r->random | 1;
	for (unsigned i = 0; i < n; i++)
		x = x * 0x9e3779b97f4a7c15u + (x >> 29);
	r->sink += x;
}
void kernel_side(struct ride *r);
"""

MAIN = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
void kernel_side(struct ride *r)
{
	static __thread char *page;
	if (!page)
		page = mmap(0, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	switch (draw(r) % 3) {
	case 0: for (int i = 0; i < 4; i++) syscall(SYS_getppid); break;
	case 1: madvise(page, 1 << 16, MADV_DONTNEED); for (int i = 0; i < 1 << 16; i += 8192) page[i] = 1; break;
	default: { int fd[2]; if (!pipe(fd)) { if (write(fd[1], page, 256) > 0 && read(fd[0], page, 256) > 0) r->sink++;
		close(fd[0]); close(fd[1]); } }
	}
}
extern const step roots[]; extern const unsigned root_count;
static double seconds;
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
static void *thread_main(void *arg)
{
	static const char *const names[] = { "acceptor", "worker", "flusher", "compactor" };
	struct ride r = { .random = 88172645463325252ull ^ ((uint64_t)(uintptr_t)arg * 0x9e3779b97f4a7c15u) };
	double end = now() + seconds;
	char name[16];
	snprintf(name, sizeof name, "%s-%u", names[(uintptr_t)arg % 4], (unsigned)((uintptr_t)arg % 8));
	prctl(PR_SET_NAME, name);
	while (now() < end)
		for (int i = 0; i < 16; i++) {
			r.depth = 0;
			r.limit = 12 + (draw(&r) % 14 + draw(&r) % 16);
			roots[(draw(&r) % 4 ? (uintptr_t)arg : draw(&r)) % root_count](&r);
		}
	return 0;
}
int main(int argc, char **argv)
{
	seconds = argc > 1 ? atof(argv[1]) : 1;
	int processes = argc > 2 ? atoi(argv[2]) : 1, threads = argc > 3 ? atoi(argv[3]) : 2;
	if (processes > 1) { /* by exec, so that each gets addresses of its own */
		for (int p = 0; p < processes; p++)
			if (fork() == 0) {
				char n[16], seed[16];
				snprintf(n, sizeof n, "%d", threads); snprintf(seed, sizeof seed, "%d", p + 1);
				execl("/proc/self/exe", argv[0], argv[1], "1", n, seed, (char *)0);
				_exit(127);
			}
		while (wait(0) > 0)
			;
		return 0;
	}
	pthread_t t[64];
	unsigned seed = argc > 4 ? atoi(argv[4]) * 64 : 0;
	for (int i = 0; i < threads && i < 64; i++)
		pthread_create(&t[i], 0, thread_main, (void *)(uintptr_t)(seed + i + 1));
	for (int i = 0; i < threads && i < 64; i++)
		pthread_join(t[i], 0);
	return 0;
}
"""


def mangled(words):
    return "_ZN" + "".join("%d%s" % (len(w), w) for w in words) + "EP4ride"


def function_names(rng):
    """A symbol per function: C names, and C++ ones as a compiler would mangle them."""
    names, seen = [], set()
    for library in range(LIBRARIES):
        for i in range(FUNCTIONS_PER_LIBRARY):
            verb, noun = rng.choice(WORDS), rng.choice(NOUNS)
            name = mangled((SPACES[library % 6], noun + "_" + rng.choice(NOUNS), verb)) if library % 3 == 0 else \
                "%s_%s_%s" % (SPACES[library % 6], noun, verb)
            if name in seen:
                name = mangled((SPACES[library % 6], "%s_%d" % (noun, len(names)), verb)) if library % 3 == 0 else \
                    "%s_%d" % (name, len(names))
            seen.add(name)
            names.append(name)
    return names


def write_sources(folder):
    rng = random.Random(20240607)
    names = function_names(rng)
    total = len(names)
    order = list(range(total))
    rng.shuffle(order)
    per_layer = total // LAYERS
    layers = [order[k * per_layer:(k + 1) * per_layer] for k in range(LAYERS)]
    text = [COMMON for _ in range(LIBRARIES)]
    for k, layer in enumerate(layers):
        for f in layer:
            below = rng.sample(layers[k + 1], 3) if k + 1 < LAYERS else []
            call = ""
            if below:
                odds = rng.choice((0, 0, 3, 8, 30))
                declare = "".join("extern void f%d(struct ride *) __asm__(\"%s\");" % (b, names[b]) for b in below)
                call = declare + " if (r->depth < r->limit) { "
                call += "uint32_t d = draw(r) %% 100; (d < %d ? f%d : d < %d ? f%d : f%d)(r); r->sink++; }" % (
                    odds, below[1], odds // 3, below[2], below[0])
            kernel = "if (draw(r) % 100 == 0) kernel_side(r);" if rng.random() < 0.2 else ""
            text[f // FUNCTIONS_PER_LIBRARY] += (
                "void f%d(struct ride *r) __asm__(\"%s\");\n"
                "void f%d(struct ride *r) { r->depth++; work(r, %d + r->depth * 3); %s %s work(r, %d + r->depth); r->depth--; }\n" % (
                    f, names[f], f, rng.choice((4, 10, 20, 60, 150)), kernel, call, rng.choice((0, 4, 20, 40))))
    for i, t in enumerate(text):
        with open(os.path.join(folder, "part%d.c" % i), "w") as out:
            out.write(t)
    with open(os.path.join(folder, "main.c"), "w") as out:
        roots = layers[0][:6]
        out.write(COMMON + MAIN + "".join("extern void f%d(struct ride *) __asm__(\"%s\");\n" % (f, names[f]) for f in roots))
        out.write("const step roots[] = { %s };\n" % ", ".join("f%d" % f for f in roots))
        out.write("const unsigned root_count = %d;\n" % len(roots))


def build(folder):
    """Path of the program; its libraries are in the same folder."""
    program = os.path.join(folder, "ride")
    if os.path.exists(program):
        return program
    os.makedirs(folder, exist_ok=True)
    write_sources(folder)
    flags = ["-O1", "-g0", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-fPIC"]
    libraries = []
    for i in range(LIBRARIES):
        name = "lib%s%d.so" % (SPACES[i % 6], i // 6)
        subprocess.run(["gcc", *flags, "-shared", "-o", name, "part%d.c" % i], cwd=folder, check=True)
        libraries.append(name)
    subprocess.run(["gcc", *flags, "-rdynamic", "-o", "ride.new", "main.c", "-Wl,--no-as-needed", "-L.",
                    *["-l:" + name for name in libraries], "-Wl,-rpath,$ORIGIN", "-pthread"], cwd=folder, check=True)
    os.rename(os.path.join(folder, "ride.new"), program)
    return program
