/* compiler dump|map|both|frames|late MS: a just-in-time compiler in small. Makes three functions that do nothing but count down, and runs
 * each for MS milliseconds of its time: "first"; "second", put over it at the same address; then "first" again, where it was moved to.
 * Tells of them in jit-PID.dump of the current folder, in /tmp/perf-PID.map, or in both; with "frames", in the dump, with how their stacks
 * are unwound, and they use the frame pointer for something else. "late" is "frames", but the dump is written at the end. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
static const uint8_t countdown[] = { 0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3 };
/* push %rbp; xor %ebp, %ebp; sub $32, %rsp; …; add $32, %rsp; pop %rbp; ret */
static const uint8_t framed[] = { 0x55, 0x31, 0xed, 0x48, 0x83, 0xec, 32, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x48, 0x83, 0xc4, 32, 0x5d, 0xc3 };
/* What .eh_frame says of it, as if it lay 64 bytes behind the code; .eh_frame_hdr. */
static const uint8_t frames[] = {
	20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0,
	36, 0, 0, 0, 28, 0, 0, 0, (uint8_t)-96, 0xff, 0xff, 0xff, 64, 0, 0, 0, 0,
	0x41, 0x0e, 16, 0x86, 2, 0x46, 0x0e, 48, 0x49, 0x0e, 16, 0x41, 0x0e, 8, 0xc6, 0, 0, 0, 0, 0, 0, 0, 0,
	1, 0x1b, 3, 0x3b, (uint8_t)-68, 0xff, 0xff, 0xff, 1, 0, 0, 0, (uint8_t)-128, 0xff, 0xff, 0xff, (uint8_t)-40, 0xff, 0xff, 0xff,
};
enum { MACHINE = 62, HEADER_SIZE = 20 };
#elif defined(__aarch64__)
static const uint32_t countdown[] = { 0xf1000400, 0x54ffffe1, 0xd65f03c0 };
static const uint8_t framed[1], frames[1]; /* not asked for */
enum { MACHINE = 183, HEADER_SIZE = 0 };
#else
#error "no code for this machine"
#endif
enum { AREA = 1 << 16, MOVED = 0x1000, SIZE = 64 };

static FILE *dump, *map;
static int with_frames, late;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static uint64_t used_ns(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static void u32(uint32_t v)
{
	fwrite(&v, sizeof v, 1, dump);
}

static void u64(uint64_t v)
{
	fwrite(&v, sizeof v, 1, dump);
}

static void prefix(uint32_t type, size_t size)
{
	u32(type);
	u32((uint32_t)size);
	u64(now_ns());
}

static void begin_dump(void)
{
	char name[32];
	snprintf(name, sizeof name, "jit-%d.dump", getpid());
	dump = fopen(name, "w+");
	u32(0x4a695444);
	u32(1);
	u32(40);
	u32(MACHINE);
	u32(0);
	u32((uint32_t)getpid());
	u64(now_ns());
	u64(0);
	fflush(dump);
	/* the mapping by which a recording knows of it */
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0) == MAP_FAILED)
		exit(1);
}

static void tell_lines(uint64_t address, uint32_t line)
{
	static const char file[] = "source.jit";
	prefix(2, 32 + 16 + sizeof file);
	u64(address);
	u64(1);
	u64(address);
	u32(line);
	u32(0);
	fwrite(file, sizeof file, 1, dump);
}

static void tell_frames(void)
{
	size_t size = sizeof frames + (-sizeof frames & 7);
	prefix(4, 40 + size);
	u64(sizeof frames);
	u64(HEADER_SIZE);
	u64(size);
	fwrite(frames, sizeof frames, 1, dump);
	fwrite("\0\0\0\0\0\0\0", size - sizeof frames, 1, dump);
}

static void tell(uint64_t address, uint64_t index, const char *name)
{
	if (map) {
		fprintf(map, "%llx %x %s\n", (unsigned long long)address, SIZE, name);
		fflush(map);
	}
	if (!dump)
		return;
	tell_lines(address, (uint32_t)index * 10);
	if (with_frames)
		tell_frames();
	prefix(0, 56 + strlen(name) + 1 + SIZE);
	u32((uint32_t)getpid());
	u32((uint32_t)getpid());
	u64(address);
	u64(address);
	u64(SIZE);
	u64(index);
	fwrite(name, strlen(name) + 1, 1, dump);
	fwrite((void *)(uintptr_t)address, SIZE, 1, dump);
	if (!late)
		fflush(dump);
}

static void tell_move(uint64_t from, uint64_t to, uint64_t index)
{
	if (!dump)
		return;
	prefix(1, 64);
	u32((uint32_t)getpid());
	u32((uint32_t)getpid());
	u64(to);
	u64(from);
	u64(to);
	u64(SIZE);
	u64(index);
	if (!late)
		fflush(dump);
}

static void put(uint8_t *at)
{
	if (with_frames)
		memcpy(at, framed, sizeof framed);
	else
		memcpy(at, countdown, sizeof countdown);
	__builtin___clear_cache((char *)at, (char *)at + SIZE);
}

static void run(uint8_t *at, unsigned ms)
{
	void (*function)(uint64_t);
	memcpy(&function, &at, sizeof function);
	for (uint64_t end = used_ns() + ms * 1000000ull; used_ns() < end;)
		function(1000000);
}

int main(int argc, char **argv)
{
	unsigned ms = argc > 2 ? (unsigned)atoi(argv[2]) : 100;
	uint8_t *area = mmap(NULL, AREA, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char name[48];
	snprintf(name, sizeof name, "/tmp/perf-%d.map", getpid());
	if (argc < 2 || area == MAP_FAILED)
		return 1;
	if (strcmp(argv[1], "map") != 0)
		begin_dump();
	late = strcmp(argv[1], "late") == 0;
	with_frames = late || strcmp(argv[1], "frames") == 0;
	if (strcmp(argv[1], "map") == 0 || strcmp(argv[1], "both") == 0)
		map = fopen(name, "w");
	put(area);
	tell((uintptr_t)area, 1, "first");
	run(area, ms);
	put(area);
	tell((uintptr_t)area, 2, "second");
	/* what a compiler does around a change; it is recorded as a mapping */
	mprotect(area, AREA, PROT_READ | PROT_EXEC);
	run(area, ms);
	mprotect(area, AREA, PROT_READ | PROT_WRITE | PROT_EXEC);
	put(area + MOVED);
	tell_move((uintptr_t)area, (uintptr_t)area + MOVED, 1);
	run(area + MOVED, ms);
	return 0;
}
