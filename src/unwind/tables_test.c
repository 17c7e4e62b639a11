#include "unwind/tables.h"
#include "unwind/unwind.h"

#include <pthread.h>
#include <unistd.h>

#include "model/space.h"
#include "unit.h"
#include "unwind/compile.h"
#include "unwind/plain.h"
#include "unwind/tables_internal.h"

/* The path of this process's C library. */
static bool library_path(char *path, size_t size)
{
	char line[4096];
	bool found = false;
	FILE *file = fopen("/proc/self/maps", "r");
	while (file && !found && fgets(line, sizeof line, file)) {
		char *at = strchr(line, '/');
		line[strcspn(line, "\n")] = '\0';
		if (at && strstr(at, "libc.so") && strlen(at) < size) {
			strcpy(path, at);
			found = true;
		}
	}
	if (file)
		fclose(file);
	return found;
}

static size_t frame_bytes(const struct elf *elf)
{
	const struct elf_section *section = elf_section(elf, ".eh_frame");
	return section ? elf_section_bytes(elf, section).len : 0;
}

/* The C libraries to read: this process's, and those of installed cross compilers. */
static unsigned libraries(char paths[static 3][4096])
{
	static const char *const others[] = { "/usr/aarch64-linux-gnu/lib/libc.so.6", "/usr/i686-linux-gnu/lib/libc.so.6" };
	unsigned count = library_path(paths[0], sizeof paths[0]);
	for (unsigned i = 0; i < 2; i++)
		if (access(others[i], R_OK) == 0)
			strcpy(paths[count++], others[i]);
	if (!count)
		unit_skip("there is no C library to read");
	return count;
}

TEST("rules of C libraries use at most twice the memory of their call frame information")
{
	char paths[3][4096];
	for (unsigned i = 0, count = libraries(paths); i < count; i++) {
		struct image image;
		struct rule_table table;
		if (image_open(&image, -1, paths[i], NULL, NULL) < 0)
			continue;
		EXPECT_INT(rules_compile(&image.elf, NULL, NULL, &table, NULL), 0);
		EXPECT(table.count > 1000);
		EXPECT(rule_table_memory(&table) <= 2 * frame_bytes(&image.elf) + 4096);
		EXPECT_INT(table.damaged, 0);
		rule_table_fini(&table);
		image_close(&image);
	}
}

/* Compares one step from address by the table and by the simple interpreter. */
static void compare_at(const struct collection *c, struct unwind_input *input, const struct map *map, const struct rule_table *table,
	uint64_t address, struct plain *plain)
{
	const struct machine *m = machine_of(input->arch);
	struct unwind_frame frames[2];
	struct unwind_result result;
	uint64_t pc = 0, cfa = 0;
	for (uint32_t i = 0; i < table->load_count; i++)
		if (address - table->loads[i].address < table->loads[i].size)
			pc = map->start + address - table->loads[i].address + table->loads[i].offset;
	if (!pc || !plain_find(plain, c, m, address))
		return;
	input->registers.pc = pc;
	unwind(input, frames, &result);
	struct plain_frame frame = { .known = input->registers.known, .pc = pc };
	struct stack_memory memory = { .address = input->stack_address, .bytes = input->stack, .word = m->word };
	memcpy(frame.registers, input->registers.values, sizeof input->registers.values);
	bool on = plain_step(plain, &frame, &memory, pc - address, &cfa);
	EXPECT(on == (result.count == 2 || result.null_return));
	/* on AArch64 the bits above an address authenticate it, and are stripped */
	uint64_t mask = m->ra_is_register ? 0xffffffffffff : UINT64_MAX;
	if (on && result.count == 2)
		EXPECT(cfa == frames[0].cfa && (frame.pc & mask) == frames[1].pc);
}

static void compare_library(const char *path)
{
	struct image image;
	struct rule_table table;
	struct modules modules;
	struct collection c;
	uint8_t stack[4096];
	if (image_open(&image, -1, path, NULL, NULL) < 0 || rules_compile(&image.elf, NULL, NULL, &table, NULL) < 0)
		return;
	const struct machine *m = machine_of(table.arch);
	modules_init(&modules);
	struct module *module = modules_file(&modules, path, MODULE_FILE, &(struct module_identity){ 0 });
	struct unwind_tables *tables = unwind_tables_new(&modules, NULL);
	unwind_tables_add(tables, module, &image.elf, NULL);
	collection_init(&c, &image.elf, NULL, NULL);
	collection_read(&c);
	collection_order(&c);
	struct map map = { .start = m->word == 4 ? 0x80000000 : 0x7f0000000000, .module = module->id };
	map.end = map.start + 0x10000000;
	struct map_node node = { .start = map.start, .end = map.end, .map = &map };
	struct unwind_input input = { .arch = table.arch, .tables = tables, .maps = &node, .max_frames = 2,
		.stack_address = m->word == 4 ? 0xff000000 : 0x7ffc00000000, .stack = { stack, sizeof stack } };
	for (unsigned i = 0; i < sizeof stack; i++)
		stack[i] = (uint8_t)(i * 7 + 1);
	for (unsigned i = 0; i < m->registers; i++)
		input.registers.values[i] = input.stack_address + 64 * i;
	input.registers.values[m->sp] = input.stack_address;
	input.registers.known = (((uint64_t)1 << m->registers) - 1) & ~((uint64_t)!m->ra_is_register << m->ra);
	struct plain *plain = memory_alloc(sizeof *plain);
	for (size_t i = 0; i < c.pieces.count; i += 7)
		for (uint64_t at = c.pieces.items[i].start; at < c.pieces.items[i].end; at += 1 + (at * 13) % 29)
			compare_at(&c, &input, &map, &table, at, plain);
	free(plain);
	collection_fini(&c);
	rule_table_fini(&table);
	unwind_tables_free(tables);
	modules_fini(&modules);
	image_close(&image);
}

TEST("rules of C libraries equal the simple interpretation of their call frame information")
{
	char paths[3][4096];
	for (unsigned i = 0, count = libraries(paths); i < count; i++)
		compare_library(paths[i]);
}

struct race {
	struct unwind_tables *tables;
	struct modules *modules;
};

static void *load_all(void *context)
{
	struct race *race = context;
	for (size_t i = 0; i < race->modules->list.count; i++)
		unwind_tables_load(race->tables, race->modules->list.items[i]);
	return NULL;
}

TEST("several threads may request the same table")
{
	char path[4096];
	struct modules modules;
	pthread_t threads[4];
	modules_init(&modules);
	if (library_path(path, sizeof path))
		modules_file(&modules, path, MODULE_FILE, &(struct module_identity){ 0 });
	modules_file(&modules, "/proc/self/exe", MODULE_FILE, &(struct module_identity){ 0 });
	modules_file(&modules, "[heap]", MODULE_NONE, &(struct module_identity){ 0 });
	struct image_options options = { 0 };
	struct race race = { unwind_tables_new(&modules, &options), &modules };
	for (unsigned i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, load_all, &race);
	for (unsigned i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	struct unwind_counters counters = unwind_tables_counters(race.tables);
	EXPECT_INT(counters.modules + counters.modules_without, modules.list.count);
	EXPECT(counters.modules_without >= 1);
	unwind_tables_free(race.tables);
	modules_fini(&modules);
}

static bool is_first(void *context, uint32_t module)
{
	(void)context;
	return module == 0;
}

TEST("tables that were not used for some time are dropped beyond a limit, and compiled again on demand")
{
	char path[4096];
	struct modules modules;
	modules_init(&modules);
	if (!library_path(path, sizeof path))
		unit_skip("there is no C library to read");
	struct module *first = modules_file(&modules, path, MODULE_FILE, &(struct module_identity){ 0 });
	struct module *second = modules_file(&modules, "/proc/self/exe", MODULE_FILE, &(struct module_identity){ 0 });
	struct image_options options = { 0 };
	struct unwind_tables *tables = unwind_tables_new(&modules, &options);
	unwind_tables_load(tables, first);
	size_t one = unwind_tables_memory(tables);
	unwind_tables_load(tables, second);
	EXPECT(unwind_tables_memory(tables) > one);
	for (unsigned i = 0; i < 4; i++)
		unwind_tables_trim(tables, SIZE_MAX, NULL, NULL);
	EXPECT(unwind_tables_tried(tables, 0) && unwind_tables_tried(tables, 1));
	unwind_tables_trim(tables, 0, is_first, NULL);
	EXPECT(!unwind_tables_tried(tables, 0) && unwind_tables_tried(tables, 1));
	unwind_tables_load(tables, first);
	tables_note_use(tables, 0);
	unwind_tables_trim(tables, one, NULL, NULL); /* the first was just used */
	EXPECT(unwind_tables_tried(tables, 0) && !unwind_tables_tried(tables, 1));
	EXPECT_INT(unwind_tables_memory(tables), one);
	unwind_tables_trim(tables, 0, NULL, NULL);
	EXPECT_INT(unwind_tables_memory(tables), 0);
	unwind_tables_free(tables);
	modules_fini(&modules);
}

/* push %rbp at 0, sub $32, %rsp at 1 … 7, add at 16, pop at 17: for 64 bytes of code that precede it by 64. */
static const uint8_t jit_frames[] = {
	20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0,
	36, 0, 0, 0, 28, 0, 0, 0, (uint8_t)-96, 0xff, 0xff, 0xff, 64, 0, 0, 0, 0,
	0x41, 0x0e, 16, 0x86, 2, 0x46, 0x0e, 48, 0x49, 0x0e, 16, 0x41, 0x0e, 8, 0xc6, 0, 0, 0, 0, 0, 0, 0, 0,
};

TEST("code of a just-in-time compiler has the rules of the compiler, and no function has those of another's code")
{
	struct modules modules;
	struct rule_table table;
	modules_init(&modules);
	struct jit *jit = modules_make_jit(&modules, modules_file(&modules, "/tmp/jit-1.dump", MODULE_FILE, NULL)->id);
	jit->machine = 62; /* EM_X86_64 */
	EXPECT(jit_add_code(jit, 0x1001, 64, "told"));
	jit_add_frames(jit, jit_frames, sizeof jit_frames);
	EXPECT(jit_add_code(jit, 0x2000, 64, "not told"));
	EXPECT(jit_add_code(jit, 0x2100, 32, "told of what lies before it"));
	jit_add_frames(jit, jit_frames, sizeof jit_frames);
	EXPECT(jit_add_code(jit, 0x2200, 32, "nonsense"));
	jit_add_frames(jit, jit_frames + 7, sizeof jit_frames - 7);
	EXPECT_INT(rules_compile_jit(jit, &table, NULL), 0);
	const struct rule *rule = rule_table_find(&table, 0x1001 + 10);
	EXPECT(rule && rule->cfa_value == 48);
	rule = rule_table_find(&table, 0x1001 + 17);
	EXPECT(rule && rule->cfa_value == 8);
	EXPECT(!rule_table_find(&table, 0x1000) && !rule_table_find(&table, 0x1001 + 64) && !rule_table_find(&table, 0x2010));
	EXPECT(!rule_table_find(&table, 0x2100 - 20) && !rule_table_find(&table, 0x2110) && !rule_table_find(&table, 0x2210));
	EXPECT(table.damaged >= 1);
	rule_table_fini(&table);
	jit->machine = 0;
	EXPECT(rules_compile_jit(jit, &table, NULL) < 0);
	modules_fini(&modules);
}

static void add_word(uint8_t **at, uint32_t word)
{
	memcpy(*at, &word, sizeof word);
	*at += sizeof word;
}

/* A CIE with this many instructions that change nothing. */
static void add_cie(uint8_t **at, uint32_t idle)
{
	static const uint8_t start[] = { 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1 };
	add_word(at, 4 + sizeof start + idle);
	add_word(at, 0);
	memcpy(*at, start, sizeof start);
	*at += sizeof start + idle; /* DW_CFA_nop is 0 */
}

TEST("functions that take turns with two long CIEs have rules until these have cost 64 MiB more than the section has")
{
	enum { IDLE = 5 << 20, CIE_BYTES = 22 + IDLE, FUNCTIONS = 16, FUNCTION = 16, FDE_BYTES = 20, START = 0x1000 };
	enum { TURNS = (64 + 2 * 5) / 5 };
	struct modules modules;
	struct rule_table table;
	size_t len = 2 * CIE_BYTES + FUNCTIONS * FDE_BYTES;
	uint8_t *frames = calloc(1, len), *at = frames;
	modules_init(&modules);
	struct jit *jit = modules_make_jit(&modules, modules_file(&modules, "/tmp/jit-1.dump", MODULE_FILE, NULL)->id);
	jit->machine = 62; /* EM_X86_64 */
	add_cie(&at, IDLE);
	add_cie(&at, IDLE);
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		add_word(&at, FDE_BYTES - 4);
		add_word(&at, (uint32_t)(at - frames) - i % 2 * CIE_BYTES);
		add_word(&at, i * FUNCTION - FUNCTIONS * FUNCTION - (uint32_t)(at - frames)); /* from here to the function before the frames */
		add_word(&at, FUNCTION);
		add_word(&at, 0);
	}
	EXPECT_INT(at - frames, (ptrdiff_t)len);
	EXPECT(jit_add_code(jit, START, FUNCTIONS * FUNCTION, "many"));
	jit_add_frames(jit, frames, len);
	EXPECT_INT(rules_compile_jit(jit, &table, NULL), 0);
	for (unsigned i = 0; i < FUNCTIONS; i++)
		EXPECT_INT(rule_table_find(&table, START + i * FUNCTION) != NULL, i < TURNS);
	EXPECT_INT(table.damaged, FUNCTIONS - TURNS);
	rule_table_fini(&table);
	modules_fini(&modules);
	free(frames);
}
