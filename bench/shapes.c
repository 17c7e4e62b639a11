/* Writes recordings of large machines and large programs: a shape, a size, a seed; equal arguments yield equal bytes.
 * usage: shapes SHAPE SIZE FILE [FOLDER]
 * FOLDER receives the ELF files that the mappings show (a symbol table each, no code); without it the names lead nowhere.
 *   processes  SIZE processes of 40 mappings that all live, 50 samples each
 *   build      SIZE short processes (fork, exec, 15 mappings, 20 samples, exit) on 16 CPUs; cycles and dummy:u, as record -a writes
 *   program    one process, SIZE samples of 10,000 stacks
 *   deep       SIZE samples of stacks of 1,000 frames
 *   deepest    SIZE samples of stacks of 8,000 frames, about as many as a record can have
 *   comms      SIZE threads with a name each, 4 samples each
 *   modules    SIZE modules in 20 processes, 20 samples each
 *   tasks      SIZE processes of one mapping that all live, with a name each, one sample each
 *   mappings   SIZE mappings in one process, one sample each
 *   stacks     SIZE samples, no two with the same stack */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	MMAP = 1, COMM = 3, EXIT = 4, FORK = 7, SAMPLE = 9, MMAP2 = 10, FINISHED_ROUND = 68,
	KERNEL = 1, USER = 2, COMM_EXEC = 1 << 13,
	EVENT_CYCLES = 1, EVENT_DUMMY = 2, /* ids */
	ATTR_SIZE = 128, HEADER_SIZE = 104,
	SYMBOLS = 400, SYMBOL_SIZE = 64, TEXT_AT = 0x1000,
	CHAIN_MAX = 8100,
};

#define CONTEXT_KERNEL (-128ull)
#define CONTEXT_USER (-512ull)
#define KERNEL_TEXT 0xffffffff81000000ull

static FILE *out;
static uint64_t now_ns = 1000000000, seed = 0x5eed, since_round;
static const char *folder = "/nowhere/shapes";

static uint64_t random_next(void)
{
	uint64_t z = seed += 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static uint64_t below(uint64_t limit)
{
	return random_next() % limit;
}

static void put(const void *data, size_t size)
{
	if (size && fwrite(data, 1, size, out) != size) {
		perror("shapes");
		exit(1);
	}
}

static void put_u64(uint64_t value)
{
	put(&value, sizeof value);
}

static void put_record(uint32_t type, uint16_t misc, const void *body, size_t size)
{
	struct { uint32_t type; uint16_t misc, size; } head = { type, misc, (uint16_t)(size + 8) };
	put(&head, sizeof head);
	put(body, size);
}

/* pid, tid, time, cpu, identifier: sample_type has TID, TIME, CPU and IDENTIFIER */
struct trailer {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, zero;
	uint64_t id;
};

static struct trailer trailer(uint32_t pid, uint32_t tid)
{
	now_ns += 1000;
	return (struct trailer){ pid, tid, now_ns, pid % 16, 0, EVENT_DUMMY };
}

static void put_side_band(uint32_t type, uint16_t misc, const void *fixed, size_t fixed_size, const char *text, uint32_t pid, uint32_t tid)
{
	uint8_t body[512] = { 0 };
	struct trailer end = trailer(pid, tid);
	size_t size = fixed_size, text_size = text ? (strlen(text) + 8) / 8 * 8 : 0;
	memcpy(body, fixed, fixed_size);
	if (text)
		memcpy(body + size, text, strlen(text));
	size += text_size;
	memcpy(body + size, &end, sizeof end);
	put_record(type, misc, body, size + sizeof end);
}

static void put_comm(uint32_t pid, uint32_t tid, const char *name, uint16_t misc)
{
	uint32_t ids[2] = { pid, tid };
	put_side_band(COMM, misc, ids, sizeof ids, name, pid, tid);
}

static void put_task(uint32_t type, uint32_t pid, uint32_t ppid, uint32_t tid, uint32_t ptid)
{
	struct { uint32_t pid, ppid, tid, ptid; uint64_t time; } task = { pid, ppid, tid, ptid, now_ns + 1000 };
	put_side_band(type, 0, &task, sizeof task, NULL, pid, tid);
}

static uint64_t module_base(uint32_t pid, uint32_t slot)
{
	return 0x7f0000000000ull + ((uint64_t)(pid * 2654435761u) % 65536 << 24) + (uint64_t)slot * 0x100000;
}

static void put_mapping(uint32_t pid, uint32_t slot, uint32_t module)
{
	struct {
		uint32_t pid, tid;
		uint64_t start, len, pgoff;
		uint32_t maj, min;
		uint64_t ino, generation;
		uint32_t prot, flags;
	} map = { pid, pid, module_base(pid, slot), 0x10000, 0, 8, 1, 1000 + module, 0, 5, 2 };
	char name[256];
	snprintf(name, sizeof name, "%s/module%05u.so", folder, module);
	put_side_band(MMAP2, USER, &map, sizeof map, name, pid, pid);
}

static void put_round(void)
{
	put_record(FINISHED_ROUND, 0, NULL, 0);
	since_round = 0;
}

/* An address of a function of the module in a slot. */
static uint64_t user_address(uint32_t pid, uint32_t slot, uint32_t function)
{
	return module_base(pid, slot) + TEXT_AT + (uint64_t)(function % SYMBOLS) * SYMBOL_SIZE + 4 * (function % 13);
}

static uint64_t chain[CHAIN_MAX];
static uint32_t chain_count;

static void push(uint64_t address)
{
	chain[chain_count++] = address;
}

/* identifier, ip, pid/tid, time, cpu, period, callchain */
static void put_sample(uint32_t pid, uint32_t tid)
{
	static uint64_t body[CHAIN_MAX + 16];
	size_t n = 0;
	bool kernel = chain[0] == CONTEXT_KERNEL;
	now_ns += 1000;
	body[n++] = EVENT_CYCLES;
	body[n++] = chain[1];
	body[n++] = (uint64_t)tid << 32 | pid;
	body[n++] = now_ns;
	body[n++] = pid % 16;
	body[n++] = 100000 + below(1000);
	body[n++] = chain_count;
	memcpy(body + n, chain, chain_count * sizeof *chain);
	put_record(SAMPLE, kernel ? KERNEL : USER, body, (n + chain_count) * 8);
	chain_count = 0;
	if (++since_round == 8192)
		put_round();
}

static void put_kernel(void)
{
	struct { uint32_t pid, tid; uint64_t start, len, pgoff; } map = { UINT32_MAX, 0, KERNEL_TEXT, 0x1000000, KERNEL_TEXT };
	put_side_band(MMAP, KERNEL, &map, sizeof map, "[kernel.kallsyms]_text", UINT32_MAX, 0);
}

static void start(uint32_t pid, const char *name, uint32_t maps, uint32_t modules)
{
	put_comm(pid, pid, name, COMM_EXEC);
	for (uint32_t i = 0; i < maps; i++)
		put_mapping(pid, i, i < modules && below(8) ? i : (uint32_t)below(modules));
}

static void push_user(uint32_t pid, uint32_t maps, uint32_t depth, uint32_t variants)
{
	push(CONTEXT_USER);
	uint32_t variant = (uint32_t)below(variants);
	for (uint32_t i = 0; i < depth; i++) {
		uint32_t mix = (variant >> (depth - i) / 2) * 40503u + (depth - i) * 7919u;
		push(user_address(pid, mix % maps, mix >> 3));
	}
}

static void push_kernel(uint32_t depth)
{
	uint32_t variant = (uint32_t)below(1024);
	push(CONTEXT_KERNEL);
	for (uint32_t i = 0; i < depth; i++)
		push(KERNEL_TEXT + ((uint64_t)(variant >> (depth - i)) * 40503u + (depth - i) * 7919u) % 0xf00000 / 16 * 16);
}

static void shape_processes(uint64_t size)
{
	char name[32];
	for (uint32_t pid = 1; pid <= size; pid++) {
		snprintf(name, sizeof name, "worker%u", pid % 20);
		start(pid, name, 40, 60);
	}
	put_round();
	for (uint64_t i = 0; i < size * 50; i++) {
		uint32_t pid = 1 + (uint32_t)below(size);
		push_user(pid, 40, 8, 256);
		put_sample(pid, pid);
	}
}

static void shape_build(uint64_t size)
{
	enum { RUNNING = 32, MAKE = 100 };
	static const char *const names[] = { "cc1", "as", "collect2", "ld", "sh", "sed", "gcc", "rm" };
	uint32_t running[RUNNING] = { 0 }, left[RUNNING] = { 0 };
	uint64_t started = 0, ended = 0;
	start(MAKE, "make", 15, 40);
	while (ended < size) {
		uint32_t i = (uint32_t)below(RUNNING);
		if (!running[i]) {
			if (started == size)
				continue;
			running[i] = 1000 + (uint32_t)(started++ % 4000000);
			left[i] = 10 + (uint32_t)below(21);
			put_task(FORK, running[i], MAKE, running[i], MAKE);
			start(running[i], names[below(8)], 15, 40);
		} else if (left[i]--) {
			if (below(2))
				push_kernel(10);
			push_user(running[i], 15, 12, 1024);
			put_sample(running[i], running[i]);
		} else {
			put_task(EXIT, running[i], MAKE, running[i], MAKE);
			running[i] = 0;
			ended++;
		}
	}
}

static void shape_program(uint64_t size)
{
	start(7, "program", 30, 30);
	for (uint64_t i = 0; i < size; i++) {
		if (below(5) == 0)
			push_kernel(8);
		push_user(7, 30, 30, 10000);
		put_sample(7, 7);
	}
}

static void shape_deep(uint64_t size)
{
	start(7, "deep", 30, 30);
	for (uint64_t i = 0; i < size; i++) {
		push_user(7, 30, 1000, 1 << 20);
		put_sample(7, 7);
	}
}

static void shape_deepest(uint64_t size)
{
	start(7, "deepest", 30, 30);
	for (uint64_t i = 0; i < size; i++) {
		push_user(7, 30, 8000, 1 << 20);
		put_sample(7, 7);
	}
}

static void shape_comms(uint64_t size)
{
	char name[32];
	start(7, "comms", 30, 30);
	for (uint32_t tid = 8; tid < 8 + size; tid++) {
		put_task(FORK, 7, 7, tid, 7);
		snprintf(name, sizeof name, "thread%u", tid);
		put_comm(7, tid, name, 0);
	}
	for (uint64_t i = 0; i < size * 4; i++) {
		push_user(7, 30, 8, 1024);
		put_sample(7, 8 + (uint32_t)below(size));
	}
}

static void shape_modules(uint64_t size)
{
	enum { PROCESSES = 20 };
	uint32_t each = (uint32_t)(size / PROCESSES);
	for (uint32_t pid = 1; pid <= PROCESSES; pid++) {
		put_comm(pid, pid, "modules", COMM_EXEC);
		for (uint32_t i = 0; i < each; i++)
			put_mapping(pid, i, (pid - 1) * each + i);
	}
	for (uint64_t i = 0; i < size * 20; i++) {
		uint32_t pid = 1 + (uint32_t)below(PROCESSES);
		push_user(pid, each, 10, 1 << 20);
		put_sample(pid, pid);
	}
}

static void shape_tasks(uint64_t size)
{
	char name[32];
	start(1, "tasks", 1, 1);
	for (uint32_t pid = 2; pid < 2 + size; pid++) {
		put_task(FORK, pid, 1, pid, 1);
		snprintf(name, sizeof name, "task%u", pid);
		start(pid, name, 1, 30);
	}
	put_round();
	for (uint64_t i = 0; i < size; i++) {
		uint32_t pid = 2 + (uint32_t)below(size);
		push_user(pid, 1, 8, 256);
		put_sample(pid, pid);
	}
}

static void shape_mappings(uint64_t size)
{
	put_comm(7, 7, "mappings", COMM_EXEC);
	for (uint64_t i = 0; i < size; i++)
		put_mapping(7, (uint32_t)i, (uint32_t)(i % 30));
	put_round();
	for (uint64_t i = 0; i < size; i++) {
		push_user(7, (uint32_t)size, 8, 1 << 20);
		put_sample(7, 7);
	}
}

static void shape_stacks(uint64_t size)
{
	start(7, "stacks", 30, 30);
	for (uint64_t i = 0; i < size; i++) {
		push(CONTEXT_USER);
		for (uint64_t rest = i, n = 0; n < 24; n++, rest /= 3)
			push(user_address(7, (uint32_t)(rest % 30), n < 12 ? (uint32_t)below(4000) : (uint32_t)(rest % 3 + n * 3)));
		put_sample(7, 7);
	}
}

/* A file with SYMBOLS functions and a hole for code. */
static void write_module(uint32_t number)
{
	char path[512], names[SYMBOLS * 24] = "";
	static const char sections[] = "\0.text\0.symtab\0.strtab\0.shstrtab";
	struct { uint32_t name; uint8_t info, other; uint16_t section; uint64_t value, size; } symbols[SYMBOLS + 1] = { { 0 } };
	size_t names_size = 1, text_size = SYMBOLS * SYMBOL_SIZE, at = TEXT_AT + text_size;
	for (int i = 0; i < SYMBOLS; i++) {
		symbols[i + 1].name = (uint32_t)names_size;
		symbols[i + 1].info = 1 << 4 | 2;
		symbols[i + 1].section = 1;
		symbols[i + 1].value = TEXT_AT + (uint64_t)i * SYMBOL_SIZE;
		symbols[i + 1].size = SYMBOL_SIZE;
		names_size += (size_t)sprintf(names + names_size, "function%u_%d", number, i) + 1;
	}
	struct { uint32_t name, type; uint64_t flags, addr, offset, size; uint32_t link, info; uint64_t align, entsize; } rows[5] = {
		{ 0 }, { 1, 1, 6, TEXT_AT, TEXT_AT, text_size, 0, 0, 16, 0 },
		{ 7, 2, 0, 0, at, sizeof symbols, 3, 1, 8, 24 }, { 15, 3, 0, 0, at + sizeof symbols, names_size, 0, 0, 1, 0 },
		{ 23, 3, 0, 0, at + sizeof symbols + names_size, sizeof sections, 0, 0, 1, 0 },
	};
	uint64_t rows_at = (at + sizeof symbols + names_size + sizeof sections + 7) / 8 * 8;
	struct {
		uint8_t ident[16]; uint16_t type, machine; uint32_t version; uint64_t entry, phoff, shoff; uint32_t flags;
		uint16_t ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
	} head = { { 0x7f, 'E', 'L', 'F', 2, 1, 1 }, 3, 62, 1, 0, 64, rows_at, 0, 64, 56, 1, 64, 5, 4 };
	struct { uint32_t type, flags; uint64_t offset, vaddr, paddr, filesz, memsz, align; } load = { 1, 5, 0, 0, 0, at, at, 0x1000 };
	snprintf(path, sizeof path, "%s/module%05u.so", folder, number);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd < 0 || pwrite(fd, &head, sizeof head, 0) < 0 || pwrite(fd, &load, sizeof load, 64) < 0 ||
	    pwrite(fd, symbols, sizeof symbols, (off_t)at) < 0 || pwrite(fd, names, names_size, (off_t)rows[3].offset) < 0 ||
	    pwrite(fd, sections, sizeof sections, (off_t)rows[4].offset) < 0 || pwrite(fd, rows, sizeof rows, (off_t)rows_at) < 0) {
		perror(path);
		exit(1);
	}
	close(fd);
}

static void put_attr(uint32_t type, uint64_t config, uint64_t sample_type, uint64_t flags, uint64_t ids_at)
{
	uint8_t attr[ATTR_SIZE] = { 0 };
	uint32_t size = ATTR_SIZE;
	uint64_t period = 100000, read_format = 1 << 2;
	memcpy(attr, &type, 4);
	memcpy(attr + 4, &size, 4);
	memcpy(attr + 8, &config, 8);
	memcpy(attr + 16, &period, 8);
	memcpy(attr + 24, &sample_type, 8);
	memcpy(attr + 32, &read_format, 8);
	memcpy(attr + 40, &flags, 8);
	put(attr, sizeof attr);
	put_u64(ids_at);
	put_u64(8);
}

/* The header is written again when the size of the data is known. */
static void put_header(uint64_t data_size)
{
	enum { TIMES = 1 << 1 | 1 << 2 | 1 << 7 | 1 << 8 | 1 << 16, CALLCHAIN = 1 << 5 };
	enum { DISABLED = 1, MMAP_BIT = 1 << 8, COMM_BIT = 1 << 9, TASK = 1 << 13, ID_ALL = 1 << 18, MMAP2_BIT = 1 << 23, COMM_EXEC_BIT = 1 << 24 };
	uint64_t attrs_at = HEADER_SIZE, ids_at = attrs_at + 2 * (ATTR_SIZE + 16), data_at = ids_at + 16;
	rewind(out);
	put("PERFILE2", 8);
	put_u64(HEADER_SIZE);
	put_u64(ATTR_SIZE + 16);
	put_u64(attrs_at);
	put_u64(2 * (ATTR_SIZE + 16));
	put_u64(data_at);
	put_u64(data_size);
	for (int i = 0; i < 6; i++)
		put_u64(0); /* event types, features */
	put_attr(0, 0, TIMES | CALLCHAIN | 1, DISABLED | ID_ALL, ids_at);
	put_attr(1, 9, TIMES | 1, DISABLED | MMAP_BIT | COMM_BIT | TASK | ID_ALL | MMAP2_BIT | COMM_EXEC_BIT | 1 << 5, ids_at + 8);
	put_u64(EVENT_CYCLES);
	put_u64(EVENT_DUMMY);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*write)(uint64_t size);
		uint32_t modules;    /* 0: SIZE */
	} shapes[] = {
		{ "processes", shape_processes, 60 }, { "build", shape_build, 40 }, { "program", shape_program, 30 }, { "deep", shape_deep, 30 },
		{ "deepest", shape_deepest, 30 },
		{ "comms", shape_comms, 30 }, { "modules", shape_modules, 0 }, { "tasks", shape_tasks, 30 },
		{ "mappings", shape_mappings, 30 }, { "stacks", shape_stacks, 30 },
	};
	size_t i = 0, count = sizeof shapes / sizeof *shapes;
	while (argc > 3 && i < count && strcmp(shapes[i].name, argv[1]))
		i++;
	if (argc < 4 || argc > 5 || i == count || strtoull(argv[2], NULL, 0) < 1) {
		fprintf(stderr, "usage: shapes SHAPE SIZE FILE [FOLDER]\n");
		return 2;
	}
	uint64_t size = strtoull(argv[2], NULL, 0);
	if (argc == 5) {
		folder = argv[4];
		mkdir(folder, 0755);
		for (uint32_t m = 0; m < (shapes[i].modules ? shapes[i].modules : size); m++)
			write_module(m);
	}
	if (!(out = fopen(argv[3], "wb"))) {
		perror(argv[3]);
		return 1;
	}
	put_header(0);
	uint64_t data_at = (uint64_t)ftell(out);
	put_kernel();
	shapes[i].write(size);
	put_round();
	put_header((uint64_t)ftell(out) - data_at);
	if (fclose(out)) {
		perror(argv[3]);
		return 1;
	}
	return 0;
}
