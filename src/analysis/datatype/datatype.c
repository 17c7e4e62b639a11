#include "analysis/datatype/datatype.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/datatype/members.h"
#include "base/memory.h"
#include "data/header.h"
#include "dwarf/constants.h"
#include "dwarf/type.h"
#include "image/search.h"
#include "symbol/lines.h"
#include "unwind/compile.h"

/* Limits on the instructions that stay decoded, and on the bytes of one function. */
enum { STEPS_MAX = 1 << 20, DATA_CODE_MAX = 1 << 20 };

struct decoded {
	struct function function;
	uint64_t shift;            /* from addresses of the code to those of the debug information */
};

struct data_types {
	struct data_types_options options;
	const char *cpuid;
	struct code_source *source;
	struct disassembler *disassembler; /* NULL: this build has none */
	struct strtab names;               /* of instructions */
	VEC(struct data_instruction) instructions; /* by id of the name */
	VEC(uint32_t) first_used;          /* their ids in the order of the first use */
	VEC(struct module_types *) modules;
	VEC(struct decoded) functions;
	struct idmap by_symbol;            /* module << 32 | symbol → index in functions */
	size_t steps;
	VEC(struct data_type) types;
	struct idmap by_name;              /* hash of module, size and name → index in types */
	struct arena texts;
	uint64_t total, results[ACCESS_RESULTS];
};

static uint32_t add_type(struct data_types *types, uint32_t module, const char *name, uint64_t size)
{
	struct data_type *type = vec_add(&types->types);
	*type = (struct data_type){ .module = module, .name = text_one_line(&types->texts, name, strlen(name)), .size = size };
	return (uint32_t)types->types.count - 1;
}

struct data_types *data_types_new(const struct data_types_options *options)
{
	struct data_types *types = memory_zero(1, sizeof *types);
	struct error ignored;
	types->options = *options;
	types->cpuid = options->header ? header_string(options->header, FEATURE_CPUID) : NULL;
	types->source = code_source_new(options->symbols, options->header, options->kcore);
	if (disassembler_open(&types->disassembler, &(struct code_machine){ .machine = EM_X86_64, .is64 = true }, CODE_ATT, &ignored) < 0)
		types->disassembler = NULL;
	add_type(types, MODULE_ID_NONE, "(unknown)", 0);
	add_type(types, MODULE_ID_NONE, "(stack operation)", 0);
	add_type(types, MODULE_ID_NONE, "(stack canary)", 0);
	return types;
}

static void drop_functions(struct data_types *types)
{
	for (size_t i = 0; i < types->functions.count; i++)
		function_fini(&types->functions.items[i].function);
	vec_clear(&types->functions);
	idmap_fini(&types->by_symbol);
	types->steps = 0;
}

void data_types_free(struct data_types *types)
{
	if (!types)
		return;
	drop_functions(types);
	vec_fini(&types->functions);
	for (size_t i = 0; i < types->modules.count; i++) {
		if (!types->modules.items[i])
			continue;
		rule_table_fini(&types->modules.items[i]->rules);
		vec_fini(&types->modules.items[i]->globals);
		free(types->modules.items[i]);
	}
	vec_fini(&types->modules);
	for (size_t i = 0; i < types->types.count; i++)
		vec_fini(&types->types.items[i].members);
	vec_fini(&types->types);
	idmap_fini(&types->by_name);
	vec_fini(&types->instructions);
	vec_fini(&types->first_used);
	strtab_fini(&types->names);
	arena_fini(&types->texts);
	disassembler_close(types->disassembler);
	code_source_free(types->source);
	free(types);
}

static struct module_types *module_of(struct data_types *types, const struct module *module)
{
	while (types->modules.count <= module->id)
		vec_push(&types->modules, NULL);
	struct module_types **slot = &types->modules.items[module->id];
	if (!*slot)
		*slot = memory_zero(1, sizeof **slot);
	struct module_types *known = *slot;
	struct lines_debug debug;
	struct error ignored;
	if (known->opened)
		return known;
	known->opened = true;
	known->kernel = module->kind == MODULE_KERNEL || module->kind == MODULE_KMODULE;
	if (!lines_debug(types->options.symbols, module, &debug))
		return known;
	known->dwarf = debug.dwarf;
	if (rules_compile(debug.runs, debug.debug, symbols_images(types->options.symbols)->budget, &known->rules, &ignored) < 0)
		known->rules = (struct rule_table){ 0 };
	return known;
}

/* The decoded code of a symbol; NULL: its code is absent, or of another machine. */
static const struct decoded *decoded_of(struct data_types *types, const struct module *module, uint32_t symbol)
{
	uint64_t key = (uint64_t)module->id << 32 | symbol;
	uint32_t found = idmap_get(&types->by_symbol, key);
	if (found != IDMAP_NONE)
		return &types->functions.items[found];
	if (types->steps > STEPS_MAX)
		drop_functions(types);
	const struct symbol *extent = symbols_get(types->options.symbols, module, symbol);
	uint64_t size = extent->end - extent->start;
	struct code_bytes code;
	struct error ignored;
	struct decoded decoded = { 0 };
	if (types->disassembler && size && code_source_read(types->source, module, extent->start,
			size < DATA_CODE_MAX ? size : DATA_CODE_MAX, &code, &ignored) == 0 && code.machine.machine == EM_X86_64) {
		function_decode(&decoded.function, types->disassembler, &code, &types->names);
		decoded.shift = lines_address(types->options.symbols, module, extent->start) - code.address;
	}
	types->steps += decoded.function.steps.count;
	idmap_set(&types->by_symbol, key, (uint32_t)types->functions.count);
	vec_push(&types->functions, decoded);
	return &types->functions.items[types->functions.count - 1];
}

/* For the results of calls: the symbol that begins at the address. */
struct naming {
	struct data_types *types;
	const struct module *module;
};

static const char *name_at(void *context, uint64_t address)
{
	const struct naming *naming = context;
	struct symbols *symbols = naming->types->options.symbols;
	uint64_t offset;
	if (!code_source_offset(naming->types->source, naming->module, address, &offset))
		return NULL;
	uint32_t id = symbols_lookup(symbols, naming->module, offset);
	return id ? symbols_name(symbols, naming->module, id) : NULL;
}

static uint32_t intern_type(struct data_types *types, uint32_t module, struct dwarf_die *die)
{
	struct str name CLEANUP_STR = { 0 };
	uint64_t size = 0;
	bool added;
	if (!dwarf_type_text(die, &name))
		str_puts(&name, "(unknown type)");
	if (dwarf_die_tag(die) == DW_TAG_typedef)
		dwarf_type_real(die, die);
	dwarf_type_size(die, &size);
	uint64_t key = hash_pair(hash_bytes(name.text, name.len), hash_pair(module, size));
	uint32_t id = idmap_add(&types->by_name, key, (uint32_t)types->types.count, &added);
	if (added) {
		add_type(types, module, str_text(&name), size);
		members_add(&types->types.items[id], die, &types->texts);
	}
	return id;
}

static struct data_instruction *instruction_of(struct data_types *types, const struct step *step)
{
	while (types->instructions.count <= step->name) {
		const char *name = strtab_text(&types->names, (uint32_t)types->instructions.count);
		vec_push(&types->instructions, ((struct data_instruction){ .name = name }));
	}
	struct data_instruction *instruction = &types->instructions.items[step->name];
	for (size_t i = types->first_used.count; i-- > 0;)
		if (types->first_used.items[i] == step->name)
			return instruction;
	vec_push(&types->first_used, step->name);
	return instruction;
}

/* The operand in memory, the source first; false: the instruction has none. */
static bool memory_operand(const struct step *step, struct operand *operand)
{
	const struct operand *operands[] = { &step->operands.source, &step->operands.target };
	for (size_t i = 0; i < 2; i++)
		if (operands[i]->memory || operands[i]->per_cpu) {
			*operand = *operands[i];
			return true;
		}
	return false;
}

/* Looks up the type that an instruction accesses. */
static enum access_result find_at(struct data_types *types, const struct module *module, struct module_types *known,
	const struct decoded *decoded, uint32_t at, struct operand *operand, struct data_access *access)
{
	struct naming naming = { types, module };
	struct search search = { .module = known, .function = &decoded->function, .step = at, .operand = operand, .shift = decoded->shift,
		.name_at = name_at, .context = &naming };
	if (known->kernel && operand->per_cpu && operand->immediate)
		operand->first = REGISTER_PC;
	enum access_result result = search_run(&search);
	if (result == ACCESS_FOUND)
		*access = (struct data_access){ intern_type(types, module->id, &search.type), search.offset };
	types->results[ACCESS_TRACKED] += search.tracked;
	return result;
}

static enum access_result find_access(struct data_types *types, const struct module *module, uint32_t symbol, uint64_t offset,
	struct data_access *access)
{
	struct module_types *known = module_of(types, module);
	if (!known->dwarf)
		return ACCESS_NO_DEBUG_INFO;
	const struct decoded *decoded = decoded_of(types, module, symbol);
	const struct step *steps = decoded->function.steps.items;
	const struct symbol *extent = symbols_get(types->options.symbols, module, symbol);
	uint32_t at = decoded->function.steps.count ? function_step(&decoded->function, steps[0].address + (offset - extent->start)) : UINT32_MAX;
	if (at == UINT32_MAX)
		return ACCESS_NO_INSTRUCTION;
	for (;; at--) {
		struct data_instruction *instruction = instruction_of(types, &steps[at]);
		struct operand operand;
		if (steps[at].operands.unknown) {
			instruction->bad++;
			return ACCESS_NO_OPERANDS;
		}
		if (steps[at].operands.stack) {
			instruction->good++;
			access->type = DATA_TYPE_STACK;
			return ACCESS_FOUND;
		}
		if (memory_operand(&steps[at], &operand)) {
			enum access_result result = find_at(types, module, known, decoded, at, &operand, access);
			bool canary = result != ACCESS_FOUND && operand.per_cpu && operand.immediate && operand.offset == 40;
			if (canary)
				access->type = DATA_TYPE_CANARY;
			instruction->good += canary || result == ACCESS_FOUND;
			instruction->bad += !canary && result != ACCESS_FOUND;
			return result;
		}
		if (at && operands_fuse(types->cpuid, strtab_text(&types->names, steps[at - 1].name), instruction->name))
			continue;
		instruction->bad++;
		return ACCESS_NO_MEMORY;
	}
}

struct data_access data_types_find(struct data_types *types, uint32_t module, uint32_t symbol, uint64_t offset)
{
	struct data_access access = { 0 };
	types->total++;
	enum access_result result = !symbol ? ACCESS_NO_SYMBOL :
		find_access(types, modules_get(types->options.modules, module), symbol, offset, &access);
	types->results[result]++;
	return access;
}

const struct data_type *data_types_get(const struct data_types *types, uint32_t type)
{
	return &types->types.items[type];
}

void data_types_statistics(const struct data_types *types, struct data_statistics *statistics)
{
	*statistics = (struct data_statistics){ .total = types->total };
	memcpy(statistics->results, types->results, sizeof types->results);
	for (size_t i = 0; i < types->first_used.count; i++) {
		const struct data_instruction *instruction = &types->instructions.items[types->first_used.items[i]];
		vec_push(&statistics->instructions, *instruction);
		size_t at = statistics->instructions.count - 1;
		uint64_t sum = instruction->good + instruction->bad;
		for (; at; at--) { /* those of equal frequency stay in order */
			struct data_instruction *before = &statistics->instructions.items[at - 1];
			if (before->good + before->bad >= sum)
				break;
			statistics->instructions.items[at] = *before;
		}
		statistics->instructions.items[at] = *instruction;
	}
}

void data_statistics_fini(struct data_statistics *statistics)
{
	vec_fini(&statistics->instructions);
}
