/* Nanoseconds a frame, of the same stack in one run: perfuse's unwinder over a copy of the stack, libunwind's unw_step (local, with
 * its cache), libdw's dwfl_getthread_frames (of this process). Warm: each walks the stack many times before the clock starts.
 *
 * unwind_steps [DEPTH [ROUNDS]]
 * unwind_steps FILE: how long its rules take to compile, and what memory against its .eh_frame. */
#define UNW_LOCAL_ONLY
#include <elfutils/libdwfl.h>
#include <inttypes.h>
#include <libunwind.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "model/space.h"
#include "unwind/compile.h"
#include "unwind/tables.h"
#include "unwind/unwind.h"

#define FRAMES_MAX 512
#define STACK_MAX (64 * 1024)

struct bench {
	unsigned rounds;
	uint64_t found[3][FRAMES_MAX];
	size_t count[3];
	double frame_ns[3];
	struct modules modules;
	struct map maps[512];
	struct map_node nodes[512];
	size_t map_count;
};

static struct bench bench;

static double now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* the machine may have other work */
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void read_maps(struct bench *b)
{
	char line[4096], name[4096];
	FILE *file = fopen("/proc/self/maps", "r");
	modules_init(&b->modules);
	while (file && fgets(line, sizeof line, file) && b->map_count < 512) {
		uint64_t start, end, offset;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %4095s", &start, &end, &offset, name) != 4)
			continue;
		enum module_kind kind = name[0] == '/' ? MODULE_FILE : name[1] == 'v' && name[2] == 'd' ? MODULE_VDSO : MODULE_NONE;
		struct module *module = modules_file(&b->modules, name, kind, &(struct module_identity){ 0 });
		b->maps[b->map_count++] = (struct map){ .start = start, .end = end, .pgoff = offset, .module = module->id };
	}
	if (file)
		fclose(file);
}

static const struct map_node *make_tree(struct bench *b, size_t from, size_t to)
{
	size_t middle = from + (to - from) / 2;
	if (from == to)
		return NULL;
	b->nodes[middle] = (struct map_node){ .start = b->maps[middle].start, .end = b->maps[middle].end, .map = &b->maps[middle],
		.left = make_tree(b, from, middle), .right = make_tree(b, middle + 1, to) };
	return &b->nodes[middle];
}

static void take_registers(struct unwind_registers *r, const ucontext_t *context)
{
	const greg_t *g = context->uc_mcontext.gregs;
	static const int order[] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8, REG_R9, REG_R10,
		REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };
	for (unsigned i = 0; i < sizeof order / sizeof *order; i++)
		r->values[i] = (uint64_t)g[order[i]];
	r->known = 0xffff;
	r->pc = (uint64_t)g[REG_RIP];
}

static void bench_own(struct bench *b, const ucontext_t *context)
{
	static uint8_t copy[STACK_MAX];
	static struct unwind_frame frames[FRAMES_MAX];
	struct unwind_result result;
	struct unwind_input input = { .arch = UNWIND_X86_64, .max_frames = FRAMES_MAX };
	struct image_options options = { 0 };
	struct unwind_tables *tables = unwind_tables_new(&b->modules, &options);
	take_registers(&input.registers, context);
	input.tables = tables;
	input.maps = make_tree(b, 0, b->map_count);
	input.stack_address = input.registers.values[7];
	const struct map *stack = map_find(input.maps, input.stack_address);
	size_t size = stack->end - input.stack_address < STACK_MAX ? stack->end - input.stack_address : STACK_MAX;
	memcpy(copy, (const void *)(uintptr_t)input.stack_address, size);
	input.stack = (struct span){ copy, size };
	for (unwind(&input, frames, &result); result.end == UNWIND_NEEDS_TABLE; unwind(&input, frames, &result))
		unwind_tables_load(tables, modules_get(&b->modules, result.module));
	double began = now_ns();
	for (unsigned i = 0; i < b->rounds; i++)
		unwind(&input, frames, &result);
	b->frame_ns[0] = (now_ns() - began) / b->rounds / (double)result.count;
	for (size_t i = 0; i < result.count; i++)
		b->found[0][b->count[0]++] = frames[i].pc;
	unwind_tables_free(tables);
}

static size_t walk_libunwind(unw_context_t *context, uint64_t *found)
{
	unw_cursor_t cursor;
	unw_word_t pc;
	size_t count = 0;
	unw_init_local(&cursor, context);
	do {
		unw_get_reg(&cursor, UNW_REG_IP, &pc);
		found[count++] = pc;
	} while (count < FRAMES_MAX && unw_step(&cursor) > 0);
	return count;
}

static void bench_libunwind(struct bench *b, unw_context_t *context)
{
	unw_set_caching_policy(unw_local_addr_space, UNW_CACHE_PER_THREAD);
	for (unsigned i = 0; i < 100; i++)
		b->count[1] = walk_libunwind(context, b->found[1]);
	double began = now_ns();
	for (unsigned i = 0; i < b->rounds; i++)
		walk_libunwind(context, b->found[1]);
	b->frame_ns[1] = (now_ns() - began) / b->rounds / (double)b->count[1];
}

static pid_t next_thread(Dwfl *dwfl, void *context, void **state)
{
	(void)dwfl;
	if (*state)
		return 0;
	*state = context;
	return getpid();
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *result, void *context)
{
	(void)dwfl, (void)context;
	*result = *(const Dwarf_Word *)(uintptr_t)address;
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *context)
{
	struct unwind_registers r = { 0 };
	Dwarf_Word words[17];
	take_registers(&r, context);
	for (unsigned i = 0; i < 16; i++)
		words[i] = r.values[i];
	words[16] = r.pc;
	return dwfl_thread_state_registers(thread, 0, 17, words);
}

static int take_frame(Dwfl_Frame *state, void *context)
{
	struct bench *b = context;
	Dwarf_Addr pc = 0;
	bool activation;
	dwfl_frame_pc(state, &pc, &activation);
	b->found[2][b->count[2]++] = pc;
	return b->count[2] == FRAMES_MAX ? DWARF_CB_ABORT : DWARF_CB_OK;
}

static void walk_libdw(struct bench *b, Dwfl *dwfl)
{
	b->count[2] = 0;
	dwfl_getthread_frames(dwfl, getpid(), take_frame, b);
}

static void bench_libdw(struct bench *b, ucontext_t *context)
{
	static const Dwfl_Callbacks callbacks = { .find_elf = dwfl_linux_proc_find_elf, .find_debuginfo = dwfl_standard_find_debuginfo };
	static const Dwfl_Thread_Callbacks threads = { .next_thread = next_thread, .memory_read = read_memory,
		.set_initial_registers = set_registers };
	Dwfl *dwfl = dwfl_begin(&callbacks);
	dwfl_linux_proc_report(dwfl, getpid());
	dwfl_report_end(dwfl, NULL, NULL);
	if (!dwfl_attach_state(dwfl, NULL, getpid(), &threads, context)) {
		printf("libdw: %s\n", dwfl_errmsg(-1));
		return;
	}
	unsigned rounds = b->rounds / 10 + 1;
	for (unsigned i = 0; i < 10; i++)
		walk_libdw(b, dwfl);
	double began = now_ns();
	for (unsigned i = 0; i < rounds; i++)
		walk_libdw(b, dwfl);
	b->frame_ns[2] = (now_ns() - began) / rounds / (double)b->count[2];
	dwfl_end(dwfl);
}

static void __attribute__((noinline)) bottom(struct bench *b)
{
	static ucontext_t context;
	static unw_context_t unw;
	unw_getcontext(&unw);
	getcontext(&context);
	bench_own(b, &context);
	bench_libunwind(b, &unw);
	bench_libdw(b, &context);
}

/* Four shapes of frames, in turn. */
static unsigned __attribute__((noinline)) down_a(struct bench *b, unsigned depth);

static unsigned __attribute__((noinline)) down_d(struct bench *b, unsigned depth)
{
	volatile char room[500];
	room[depth % 500] = 1;
	return down_a(b, depth - 1) + (unsigned)room[depth % 500];
}

static unsigned __attribute__((noinline)) down_c(struct bench *b, unsigned depth)
{
	volatile char *room = __builtin_alloca(16 + depth % 64);
	room[0] = 1;
	return down_d(b, depth) * 3 + (unsigned)room[0];
}

static unsigned __attribute__((noinline)) down_b(struct bench *b, unsigned depth)
{
	unsigned x = depth * 3, y = depth ^ 5, z = depth | 9;
	__asm__ volatile("" : "+r"(x), "+r"(y), "+r"(z));
	unsigned result = down_c(b, depth);
	__asm__ volatile("" : "+r"(x), "+r"(y), "+r"(z));
	return result + x + y + z;
}

static unsigned __attribute__((noinline)) down_a(struct bench *b, unsigned depth)
{
	if (!depth) {
		bottom(b);
		return 1;
	}
	return down_b(b, depth) + 1;
}

static int bench_compile(const char *path)
{
	struct image image;
	struct rule_table table;
	if (image_open(&image, -1, path, NULL, NULL) < 0 || rules_compile(&image.elf, NULL, NULL, &table, NULL) < 0) {
		printf("%s: no file with call frame information\n", path);
		return 1;
	}
	rule_table_fini(&table); /* that one read the file */
	double began = now_ns();
	rules_compile(&image.elf, NULL, NULL, &table, NULL);
	double took = now_ns() - began;
	const struct elf_section *section = elf_section(&image.elf, ".eh_frame");
	double frame = section ? (double)elf_section_bytes(&image.elf, section).len : 0;
	printf("%s: %.1f ms, %u rows, %u rules, %zu bytes = %.2f x .eh_frame (%.0f bytes)\n", path, took / 1e6, table.count,
		table.rule_count, rule_table_memory(&table), (double)rule_table_memory(&table) / frame, frame);
	rule_table_fini(&table);
	image_close(&image);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strchr(argv[1], '/'))
		return bench_compile(argv[1]);
	static const char *const names[] = { "perfuse", "libunwind", "libdw" };
	unsigned depth = argc > 1 ? (unsigned)atoi(argv[1]) : 10;
	bench.rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 20000;
	read_maps(&bench);
	unsigned result = down_a(&bench, depth);
	for (unsigned i = 0; i < 3; i++) {
		size_t same = 0;
		/* their first frame is where they were called; the callers are the same */
		while (same < bench.count[0] && same < bench.count[i] && bench.found[0][bench.count[0] - 1 - same] ==
			bench.found[i][bench.count[i] - 1 - same])
			same++;
		printf("%-10s %3zu frames (%zu of them perfuse's) %8.1f ns a frame %6.1fx\n", names[i], bench.count[i], same,
			bench.frame_ns[i], bench.frame_ns[i] / bench.frame_ns[0]);
	}
	return result == 0;
}
