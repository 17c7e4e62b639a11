#include "analysis/datatype/search.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "dwarf/constants.h"
#include "dwarf/dwarf.h"
#include "dwarf/location.h"
#include "dwarf/type.h"

/* Limit on the variables of static storage of a module. */
enum { GLOBALS_MAX = 1 << 20 };

static int global_compare(const void *left, const void *right)
{
	const struct global *a = left, *b = right;
	return a->start < b->start ? -1 : a->start > b->start;
}

static void collect_globals(struct module_types *module)
{
	uint32_t count = dwarf_unit_count(module->dwarf);
	module->has_globals = true;
	for (uint32_t i = 0; i < count; i++) {
		struct dwarf_die top, die, type;
		if (!dwarf_unit_top(module->dwarf, i, &top))
			continue;
		struct dwarf_walk walk = dwarf_walk_of(&top);
		for (; dwarf_walk_next(&walk, &die) && module->globals.count < GLOBALS_MAX; walk.skip = true) {
			struct global global = { .die = die };
			uint64_t size;
			if (!variable_address(&die, &global.start) || !dwarf_type_real(&die, &type) || !dwarf_type_size(&type, &size) || !size)
				continue;
			global.end = global.start + size;
			vec_push(&module->globals, global);
		}
	}
	if (module->globals.count)
		qsort(module->globals.items, module->globals.count, sizeof *module->globals.items, global_compare);
}

static const struct global *find_global(struct search *search, uint64_t data)
{
	struct module_types *module = search->module;
	if (!module->has_globals)
		collect_globals(module);
	size_t low = SEARCH_COUNT(module->globals.count, i, module->globals.items[i].start <= data);
	return low && data < module->globals.items[low - 1].end ? &module->globals.items[low - 1] : NULL;
}

bool search_global(struct search *search, uint64_t data, struct dwarf_die *type, int64_t *offset)
{
	const struct global *global = find_global(search, data);
	*offset = global ? (int64_t)(data - global->start) : 0;
	return global && dwarf_type_plain(&global->die, type);
}

const char *search_global_name(struct search *search, uint64_t data)
{
	const struct global *global = find_global(search, data);
	const char *name = global ? dwarf_die_name(&global->die) : NULL;
	return name ? name : "";
}

int search_cfa(const struct search *search, uint32_t step, int64_t *offset)
{
	const struct rule_table *rules = &search->module->rules;
	const struct rule *rule = rules->count ? rule_table_find(rules, search->function->steps.items[step].address) : NULL;
	*offset = 0;
	if (!rule || rule->cfa_kind != CFA_REGISTER)
		return REGISTER_NONE;
	*offset = rule->cfa_value;
	return rule->cfa_register;
}

uint64_t search_relative(const struct search *search, uint32_t step, int64_t offset)
{
	const struct step *at = &search->function->steps.items[step];
	return at->address + at->length + (uint64_t)offset + search->shift;
}

/* Finds the register of the frame base of the function. */
static void find_frame(struct search *search, const struct dwarf_die *function)
{
	struct dwarf_datum datum;
	if (!dwarf_die_get(function, DW_AT_frame_base, &datum) || datum.bytes.len != 1)
		return;
	uint8_t code = datum.bytes.data[0];
	if (code >= DW_OP_reg0 && code <= DW_OP_reg31)
		search->frame = code - DW_OP_reg0;
	search->by_cfa = code == DW_OP_call_frame_cfa;
	if (search->by_cfa)
		search->frame = search_cfa(search, search->step, &search->frame_offset);
}

static bool is_frame(const struct search *search, int reg)
{
	return reg == search->frame && reg != REGISTER_NONE;
}

/* Whether the variable fits the access; fills *type with the type of the memory. */
static enum access_result check_variable(const struct search *search, const struct dwarf_die *variable, int reg, int64_t offset,
	struct dwarf_die *type)
{
	bool points = reg != REGISTER_PC && !is_frame(search, reg) && reg != REGISTER_STACK;
	uint64_t size;
	if (!dwarf_type_plain(variable, type))
		return ACCESS_NO_TYPE;
	if (points && (!type_is_pointer(type) || !dwarf_type_plain(type, type)))
		return ACCESS_NO_TYPE;
	if (!type_size(type, &size))
		return ACCESS_NO_SIZE;
	return (uint32_t)offset < size ? ACCESS_FOUND : ACCESS_BAD_OFFSET;
}

/* Looks for a variable in the scopes, innermost first, by one register; prefers the better type. */
static enum access_result search_scopes(struct search *search, const struct dwarf_die *scopes, size_t count, int reg, int64_t offset)
{
	uint64_t pc = search->function->steps.items[search->step].address + search->shift;
	enum access_result result = ACCESS_NO_VARIABLE;
	bool found = false;
	for (size_t i = count; i-- > 0;) {
		struct dwarf_die variable, type;
		int64_t inside = offset;
		bool known = reg == REGISTER_PC ? variable_by_address(&scopes[i], (uint64_t)offset, &inside, &variable)
			: variable_by_register(&scopes[i], pc, reg, is_frame(search, reg), &inside, &variable);
		if (!known)
			continue;
		result = check_variable(search, &variable, reg, inside, &type);
		if (result != ACCESS_FOUND || (found && !type_is_better(&search->type, &type)))
			continue;
		search->type = type;
		search->offset = inside;
		found = true;
	}
	return found ? ACCESS_FOUND : result;
}

static enum access_result result_of(enum track_result result)
{
	return result == TRACK_FOUND ? ACCESS_FOUND : result == TRACK_NO_TYPE ? ACCESS_NO_TYPE :
		result == TRACK_BAD_OFFSET ? ACCESS_BAD_OFFSET : ACCESS_NO_VARIABLE;
}

/* Follows the code from the start of each scope, innermost first, to the instruction. */
static enum access_result search_code(struct search *search, const struct dwarf_die *scopes, size_t count)
{
	struct step_path path = { 0 };
	struct variables variables = { 0 };
	enum track_result result = TRACK_UNKNOWN;
	uint32_t to = search->step, before = to;
	for (size_t i = count; i-- > 0;) {
		struct dwarf_ranges ranges = { .limit = 1u << 16 };
		struct step_path first = { 0 };
		dwarf_die_ranges(&scopes[i], &ranges);
		uint64_t start = ranges.count ? ranges.items[0].low : 0;
		bool known = ranges.count != 0;
		vec_fini(&ranges);
		if (!known)
			break;
		uint32_t from = function_step(search->function, start - search->shift);
		if (from == UINT32_MAX)
			continue;
		if (!function_path(search->function, from, to, &first)) {
			if (before == to || !function_path(search->function, from, before, &first))
				continue;
			to = before;
		}
		step_path_prepend(&path, &first);
		vec_fini(&first.ranges);
		variable_collect(&scopes[i], &variables);
		for (size_t k = 0; k < variables.list.count; k++)
			if (!variables.list.items[k].from)
				variables.list.items[k].from = start;
		result = search_track(search, &path, &variables);
		if (result == TRACK_FOUND || result == TRACK_END)
			break;
		before = to;
		to = from;
	}
	vec_fini(&path.ranges);
	vec_fini(&variables.list);
	return result_of(result);
}

enum access_result search_run(struct search *search)
{
	struct dwarf_die scopes[SCOPES_MAX];
	struct dwarf_place place;
	const struct operand *operand = search->operand;
	uint64_t pc = search->function->steps.items[search->step].address + search->shift;
	bool relative = operand->first == REGISTER_PC;
	int64_t offset = operand->offset;
	search->offset = operand->offset;
	search->frame = REGISTER_NONE;
	if (relative && !operand->immediate)
		offset = (int64_t)search_relative(search, search->step, offset);
	size_t count = variable_scopes(search->module->dwarf, pc, scopes);
	if (!count && !dwarf_line(search->module->dwarf, pc, &place))
		return ACCESS_NO_UNIT;
	if (relative && search_global(search, (uint64_t)offset, &search->type, &search->offset))
		return ACCESS_FOUND;
	if (!count)
		return ACCESS_NO_VARIABLE;
	search->unit = dwarf_die_top(&scopes[0]);
	if (!relative)
		find_frame(search, &scopes[0]);
	if (!relative && is_frame(search, operand->first))
		offset -= search->frame_offset;
	enum access_result result = search_scopes(search, scopes, count, operand->first, offset);
	if (result != ACCESS_FOUND && operand->several && operand->first != operand->second) {
		if (is_frame(search, operand->second))
			offset = operand->offset - search->frame_offset;
		enum access_result second = search_scopes(search, scopes, count, operand->second, offset);
		result = second == ACCESS_NO_VARIABLE ? result : second;
	}
	if (result == ACCESS_FOUND || relative)
		return result;
	result = search_code(search, scopes, count);
	search->tracked = result == ACCESS_FOUND;
	return result;
}
