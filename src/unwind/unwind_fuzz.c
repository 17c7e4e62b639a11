/* Compiles any bytes as call frame information, unwinds a generated stack, and compares with the simple interpreter. */
#include "elf/elf_maker.h"
#include "unwind/compile.h"
#include "unwind/plain.h"
#include "unwind/tables.h"
#include "unwind/unwind.h"

#include "model/space.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FRAMES = 12, STACK = 2048, CODE = 0x1000, SECTION = 0x400000 };

struct recipe {
	enum unwind_arch arch;
	const char *section;
	uint64_t pc, seed;
};

static void *make_elf(const struct recipe *recipe, const uint8_t *frame, size_t frame_len, size_t *len)
{
	static const uint16_t machines[] = { EM_X86_64, EM_AARCH64, EM_386 };
	struct maker m = maker_new(recipe->arch != UNWIND_X86, false, machines[recipe->arch], ET_DYN);
	uint8_t code[256] = { 0 };
	maker_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, CODE, code, sizeof code);
	maker_section(&m, recipe->section, SHT_PROGBITS, SHF_ALLOC, SECTION, frame, frame_len);
	return maker_finish(&m, len);
}

/* Words that look like return addresses, like stack addresses, or like neither. */
static void make_stack(uint8_t *stack, uint64_t seed, uint64_t sp, const struct machine *machine)
{
	for (size_t i = 0; i < STACK / machine->word; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		uint64_t kind = seed >> 60, value = seed >> 20;
		value = kind < 8 ? CODE + value % 0x1000 : kind < 14 ? sp + value % STACK / 8 * 8 : value;
		memcpy(stack + i * machine->word, &value, machine->word);
	}
}

/* Unwinds with the simple interpreter as far as `frames` extend; it may stop earlier only where they stop. */
static void compare(const struct collection *c, const struct unwind_input *input, const struct map *map, const struct rule_table *table,
	const struct unwind_frame *frames, const struct unwind_result *result)
{
	const struct machine *m = machine_of(input->arch);
	struct stack_memory memory = { .address = input->stack_address, .bytes = input->stack, .word = m->word };
	struct plain_frame frame = { .known = input->registers.known, .pc = input->registers.pc };
	struct plain *p = memory_alloc(sizeof *p);
	bool exact = true;
	memcpy(frame.registers, input->registers.values, sizeof input->registers.values);
	for (size_t i = 0; i < result->count; i++) {
		uint64_t cfa, at = frame.pc - !exact, linked = 0, place = 0;
		bool inside = at >= map->start && at < map->end && rule_table_address(table, map_offset(map, at), &linked);
		if (frame.pc != frames[i].pc)
			abort();
		if (!inside || !plain_find(p, c, m, linked) || (i + 1 < result->count && frames[i + 1].guessed) || frames[i].cfa == 0)
			break;
		rule_table_address(table, map_offset(map, frame.pc), &place);
		if (frame.pc < map->start || frame.pc >= map->end)
			break; /* expressions there have no base address */
		bool on = plain_step(p, &frame, &memory, frame.pc - place, &cfa);
		if (m->ra_is_register && frame.pc >> 48)
			break; /* authentication codes are not stripped here */
		if (cfa != frames[i].cfa || (!on && i + 1 < result->count))
			abort();
		if (m->ra_is_register || !on)
			break; /* values of signed or called registers are specific to the unwinder */
		exact = p->cie->signal;
	}
	free(p);
}

static void run(const struct recipe *recipe, const uint8_t *frame_bytes, size_t frame_len)
{
	size_t len;
	uint8_t *file = make_elf(recipe, frame_bytes, frame_len, &len);
	struct elf elf;
	if (elf_open(&elf, (struct span){ file, len }, NULL) < 0)
		abort();
	const struct machine *machine = machine_of(recipe->arch);
	struct rule_table table;
	struct collection collection;
	if (rules_compile(&elf, NULL, NULL, &table, NULL) < 0)
		abort();
	collection_init(&collection, &elf, NULL, NULL);
	collection_read(&collection);
	collection_order(&collection);

	struct modules modules;
	modules_init(&modules);
	struct module *module = modules_file(&modules, "/fuzz", MODULE_FILE, &(struct module_identity){ 0 });
	struct unwind_tables *tables = unwind_tables_new(&modules, NULL);
	unwind_tables_add(tables, module, &elf, NULL);
	uint64_t load = machine->word == 4 ? 0x8000000 : 0x555500000000;
	const struct elf_section *text = elf_section(&elf, ".text");
	struct map map = { .start = load, .end = load + 0x2000, .pgoff = text->offset - CODE, .module = module->id };
	map.pgoff = text->offset & ~(uint64_t)0xfff;
	struct map_node node = { .start = map.start, .end = map.end, .map = &map };

	uint8_t stack[STACK];
	struct unwind_input input = { .arch = recipe->arch, .tables = tables, .maps = &node, .max_frames = FRAMES };
	input.stack_address = machine->word == 4 ? 0xff000000 : 0x7ffc00000000;
	make_stack(stack, recipe->seed, input.stack_address, machine);
	input.stack = (struct span){ stack, sizeof stack };
	input.registers.pc = load + (text->offset & 0xfff) + recipe->pc % 256;
	for (unsigned i = 0; i < machine->registers; i++)
		input.registers.values[i] = input.stack_address + (recipe->seed * (i + 3)) % 1024 / 8 * 8;
	input.registers.values[machine->sp] = input.stack_address;
	input.registers.known = ((uint64_t)1 << machine->registers) - 1;
	if (!machine->ra_is_register)
		input.registers.known &= ~((uint64_t)1 << machine->ra);
	struct unwind_frame frames[FRAMES];
	struct unwind_result result;
	unwind(&input, frames, &result);
	if (!result.count || result.count > FRAMES || result.end >= UNWIND_NEEDS_TABLE)
		abort();
	compare(&collection, &input, &map, &table, frames, &result);
	unwind_tables_free(tables);
	modules_fini(&modules);
	collection_fini(&collection);
	rule_table_fini(&table);
	elf_close(&elf);
	free(file);
}

/* Four bytes of parameters, then the section. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 4 || size > 65536)
		return 0;
	static const char *const sections[] = { ".eh_frame", ".sframe", ".debug_frame", ".eh_frame" };
	struct recipe recipe = { .arch = (data[0] & 63) % UNWIND_ARCHES, .section = sections[data[0] >> 6], .pc = data[1],
		.seed = (uint64_t)data[2] << 8 | data[3] };
	run(&recipe, data + 4, size - 4);
	return 0;
}
