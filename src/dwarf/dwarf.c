#include "dwarf/dwarf.h"

#include <elf.h>
#include <stdlib.h>

#include "base/budget.h"
#include "base/memory.h"
#include "dwarf/abbrev.h"
#include "dwarf/die.h"
#include "dwarf/constants.h"
#include "dwarf/file.h"
#include "dwarf/function.h"
#include "dwarf/index.h"
#include "dwarf/internal.h"
#include "dwarf/line.h"
#include "dwarf/split.h"

/* Valid files need less than one step per byte. */
#define WORK_PER_BYTE 4u
#define WORK_LEAST ((uint64_t)1 << 20)

bool dwarf_memory_take(struct dwarf *dwarf, size_t bytes)
{
	size_t before = atomic_fetch_add_explicit(&dwarf->memory, bytes, memory_order_relaxed);
	bool fits = before <= dwarf->memory_limit && bytes <= dwarf->memory_limit - before;
	if (fits && budget_take(dwarf->parts.budget, bytes))
		return true;
	atomic_fetch_sub_explicit(&dwarf->memory, bytes, memory_order_relaxed);
	return false;
}

void dwarf_memory_give(struct dwarf *dwarf, size_t bytes)
{
	atomic_fetch_sub_explicit(&dwarf->memory, bytes, memory_order_relaxed);
	budget_give(dwarf->parts.budget, bytes);
}

/* Returns the lowest address of code: discarded code is described at address 0. In object files code does lie at 0. */
static uint64_t lowest_code(const struct elf *elf)
{
	uint64_t low = UINT64_MAX;
	for (uint32_t i = 1; i < elf->section_count && elf->type != ET_REL; i++) {
		const struct elf_section *s = &elf->sections[i];
		if (s->flags & SHF_EXECINSTR && s->flags & SHF_ALLOC && s->size && s->address < low)
			low = s->address;
	}
	return low == UINT64_MAX ? 0 : low;
}

static void work_limit_raise(struct dwarf *dwarf, const struct dwarf_file *file)
{
	uint64_t bytes = 0;
	for (unsigned i = 0; i < SECTION_COUNT; i++)
		bytes += file->section[i].len;
	atomic_fetch_add(&dwarf->work_limit, bytes * WORK_PER_BYTE);
}

int dwarf_open(struct dwarf **out, const struct dwarf_parts *parts, struct error *err)
{
	struct dwarf *dwarf = memory_zero(1, sizeof *dwarf);
	dwarf->parts = *parts;
	dwarf->memory_limit = parts->memory_limit ? parts->memory_limit : DWARF_MEMORY_LIMIT;
	dwarf->work_limit = WORK_LEAST;
	dwarf->text_low = lowest_code(parts->debug);
	pthread_mutex_init(&dwarf->lock, NULL);
	for (unsigned i = 0; i < DWARF_LOCKS; i++)
		pthread_mutex_init(&dwarf->unit_locks[i], NULL);
	*out = NULL;
	if (dwarf_file_open(&dwarf->main, dwarf, parts->debug, DWARF_MAIN, err) < 0) {
		dwarf_close(dwarf);
		return -1;
	}
	work_limit_raise(dwarf, &dwarf->main);
	if (parts->alternate) {
		dwarf->has_alternate = dwarf_file_open(&dwarf->alternate, dwarf, parts->alternate, DWARF_ALTERNATE, NULL) == 0;
		work_limit_raise(dwarf, &dwarf->alternate);
	}
	if (parts->package) {
		dwarf->has_package = dwarf_file_open(&dwarf->package, dwarf, parts->package, DWARF_PACKAGE, NULL) == 0;
		work_limit_raise(dwarf, &dwarf->package);
	}
	dwarf_index_build(dwarf);
	*out = dwarf;
	return 0;
}

void dwarf_close(struct dwarf *dwarf)
{
	if (!dwarf)
		return;
	for (uint32_t i = 0; i < dwarf->main.unit_count; i++) {
		dwarf_functions_free(dwarf->main.units[i].functions);
		dwarf_functions_free(dwarf->main.units[i].deep);
		dwarf_lines_free(dwarf->main.units[i].lines);
	}
	for (uint32_t i = 0; i < dwarf->alternate.unit_count; i++)
		dwarf_lines_free(dwarf->alternate.units[i].lines);
	dwarf_split_close(dwarf);
	dwarf_file_close(&dwarf->package);
	dwarf_file_close(&dwarf->alternate);
	dwarf_file_close(&dwarf->main);
	free(dwarf->segment_starts);
	budget_give(dwarf->parts.budget, dwarf->memory);
	pthread_mutex_destroy(&dwarf->lock);
	for (unsigned i = 0; i < DWARF_LOCKS; i++)
		pthread_mutex_destroy(&dwarf->unit_locks[i]);
	free(dwarf);
}

static struct dwarf_unit *unit_at(struct dwarf *dwarf, uint64_t address)
{
	uint32_t number = dwarf_segment_at(dwarf->segment_starts, dwarf->segment_units, dwarf->segment_count, address);
	struct dwarf_unit *unit = number == SEGMENT_NONE ? NULL : &dwarf->main.units[number];
	return unit && dwarf_unit_prepare(unit) ? unit : NULL;
}

static pthread_mutex_t *unit_lock(struct dwarf *dwarf, const struct dwarf_unit *unit)
{
	return &dwarf->unit_locks[unit->offset % DWARF_LOCKS];
}

/* Finds the unit's split file at the first call, with the unit's lock. False: it is absent. */
static bool unit_split(struct dwarf *dwarf, struct dwarf_unit *unit)
{
	if (unit->split_name && !unit->split_tried) {
		struct dwarf_unit *body = dwarf_split_open(unit);
		unit->split_tried = true;
		if (body) {
			body->skeleton = unit;
			unit->body = body;
		} else {
			dwarf->units_missing++;
		}
	}
	return !unit->split_name || unit->body != unit;
}

bool dwarf_unit_body(struct dwarf *dwarf, struct dwarf_unit *unit)
{
	pthread_mutex_lock(unit_lock(dwarf, unit));
	bool found = unit_split(dwarf, unit);
	pthread_mutex_unlock(unit_lock(dwarf, unit));
	return found;
}

static void unit_functions_parse(struct dwarf *dwarf, struct dwarf_unit *unit)
{
	unit_split(dwarf, unit);
	struct dwarf_functions *functions = dwarf_functions_read(unit->body, false);
	dwarf->units_parsed++;
	dwarf->units_refused += !functions;
	dwarf->units_damaged += functions && functions->damaged;
	atomic_store_explicit(&unit->functions, functions, memory_order_release);
	atomic_store_explicit(&unit->functions_tried, true, memory_order_release);
}

static struct dwarf_functions *unit_functions(struct dwarf *dwarf, struct dwarf_unit *unit)
{
	if (!atomic_load_explicit(&unit->functions_tried, memory_order_acquire)) {
		pthread_mutex_lock(unit_lock(dwarf, unit));
		if (!unit->functions_tried)
			unit_functions_parse(dwarf, unit);
		pthread_mutex_unlock(unit_lock(dwarf, unit));
	}
	return atomic_load_explicit(&unit->functions, memory_order_acquire);
}

static struct dwarf_functions *unit_functions_deep(struct dwarf *dwarf, struct dwarf_unit *unit)
{
	if (!atomic_load_explicit(&unit->deep_tried, memory_order_acquire)) {
		pthread_mutex_lock(unit_lock(dwarf, unit));
		if (!unit->deep_tried) {
			atomic_store_explicit(&unit->deep, dwarf_functions_read(unit->body, true), memory_order_release);
			atomic_store_explicit(&unit->deep_tried, true, memory_order_release);
		}
		pthread_mutex_unlock(unit_lock(dwarf, unit));
	}
	return atomic_load_explicit(&unit->deep, memory_order_acquire);
}

static struct dwarf_function *function_in_segments(const struct dwarf_functions *functions, uint64_t address)
{
	const struct dwarf_segments *s = &functions->segments;
	uint32_t item = dwarf_segment_at(s->starts, s->values, s->count, address);
	return item == SEGMENT_NONE ? NULL : &functions->items[item];
}

static struct dwarf_function *function_at(struct dwarf *dwarf, struct dwarf_unit *unit, uint64_t address)
{
	const struct dwarf_functions *functions = unit_functions(dwarf, unit);
	struct dwarf_function *found = functions ? function_in_segments(functions, address) : NULL;
	if (found || !functions || !functions->leapt)
		return found;
	functions = unit_functions_deep(dwarf, unit);
	return functions ? function_in_segments(functions, address) : NULL;
}

static const struct dwarf_inlines *function_inlines(struct dwarf *dwarf, struct dwarf_unit *unit, struct dwarf_function *function)
{
	struct dwarf_inlines *inlines = atomic_load_explicit(&function->inlines, memory_order_acquire);
	if (inlines)
		return inlines;
	pthread_mutex_lock(unit_lock(dwarf, unit));
	inlines = function->inlines;
	if (!inlines) {
		inlines = dwarf_inlines_read(unit->body, function->entry);
		dwarf->units_refused += inlines->refused;
		atomic_store_explicit(&function->inlines, inlines, memory_order_release);
	}
	pthread_mutex_unlock(unit_lock(dwarf, unit));
	return inlines;
}

struct dwarf_lines *dwarf_unit_lines(struct dwarf_unit *unit)
{
	struct dwarf *dwarf = unit->file->dwarf;
	unit = unit->skeleton ? unit->skeleton : unit;
	if (!atomic_load_explicit(&unit->lines_tried, memory_order_acquire)) {
		pthread_mutex_lock(unit_lock(dwarf, unit));
		if (!unit->lines_tried) {
			unit->lines = dwarf_lines_read(unit);
			atomic_store_explicit(&unit->lines_tried, true, memory_order_release);
		}
		pthread_mutex_unlock(unit_lock(dwarf, unit));
	}
	return atomic_load_explicit(&unit->lines, memory_order_acquire);
}

static struct dwarf_place line_table_place(struct dwarf_lines *lines, uint64_t address)
{
	const struct dwarf_row *row = lines ? dwarf_lines_find(lines, address) : NULL;
	if (!row)
		return (struct dwarf_place){ 0 };
	return (struct dwarf_place){ .file = dwarf_lines_path(lines, row->file), .line = row->line, .column = row->column,
		.discriminator = row->discriminator };
}

bool dwarf_line(struct dwarf *dwarf, uint64_t address, struct dwarf_place *place)
{
	struct dwarf_unit *unit = unit_at(dwarf, address);
	*place = (struct dwarf_place){ 0 };
	if (unit)
		*place = line_table_place(dwarf_unit_lines(unit), address);
	return place->file || place->line;
}

/* Returns the innermost function at address, or NULL; its parents in *nodes are the functions that it is inlined into. */
static struct dwarf_node *function_node_at(struct dwarf *dwarf, struct dwarf_unit *unit, uint64_t address, struct dwarf_node **nodes)
{
	struct dwarf_function *function = function_at(dwarf, unit, address);
	if (!function)
		return NULL;
	const struct dwarf_inlines *inlines = function_inlines(dwarf, unit, function);
	const struct dwarf_segments *s = &inlines->segments;
	uint32_t node = dwarf_segment_at(s->starts, s->values, s->count, address);
	*nodes = inlines->nodes;
	return node == SEGMENT_NONE ? NULL : &inlines->nodes[node];
}

size_t dwarf_frames(struct dwarf *dwarf, uint64_t address, struct dwarf_frame *frames, size_t max)
{
	struct dwarf_unit *unit = unit_at(dwarf, address);
	struct dwarf_node *nodes, *node = unit ? function_node_at(dwarf, unit, address, &nodes) : NULL;
	if (!node || !max)
		return 0;
	struct dwarf_lines *lines = dwarf_unit_lines(unit);
	struct dwarf_place place = line_table_place(lines, address);
	size_t count = 0;
	while (count < max && count < DWARF_INLINE_DEPTH) {
		const char *name = dwarf_node_name(unit->body, node, &frames[count].linked);
		frames[count].name = name == dwarf_no_name ? NULL : name;
		frames[count].place = place;
		frames[count++].inlined = node->inlined && node->parent != DWARF_NODE_NONE;
		if (!node->inlined || node->parent == DWARF_NODE_NONE)
			break;
		place = (struct dwarf_place){ .file = lines ? dwarf_lines_path(lines, node->call_file) : NULL, .line = node->call_line };
		node = &nodes[node->parent];
	}
	return count;
}

/* Returns the concrete function at address, or NULL. */
static struct dwarf_node *concrete_function_at(struct dwarf *dwarf, uint64_t address, struct dwarf_unit **body)
{
	struct dwarf_unit *unit = unit_at(dwarf, address);
	struct dwarf_node *nodes, *node = unit ? function_node_at(dwarf, unit, address, &nodes) : NULL;
	while (node && node->inlined)
		node = node->parent == DWARF_NODE_NONE ? NULL : &nodes[node->parent];
	*body = unit ? unit->body : NULL;
	return node;
}

size_t dwarf_scopes(struct dwarf *dwarf, uint64_t address, struct dwarf_die *scopes, size_t max)
{
	struct dwarf_unit *unit = unit_at(dwarf, address);
	struct dwarf_node *nodes, *node = unit ? function_node_at(dwarf, unit, address, &nodes) : NULL;
	size_t count = 0;
	while (node && count < max) {
		count += dwarf_die_at(unit->body, unit->body->offset + node->entry, &scopes[count]);
		node = node->inlined && node->parent != DWARF_NODE_NONE ? &nodes[node->parent] : NULL;
	}
	return count;
}

bool dwarf_function(struct dwarf *dwarf, uint64_t address, const char **name, uint64_t *start, uint64_t *end)
{
	struct dwarf_unit *body;
	struct dwarf_node *node = concrete_function_at(dwarf, address, &body);
	struct dwarf_ranges ranges = { 0 };
	bool found = false, linked;
	if (!node)
		return false;
	dwarf_node_ranges(body, node, &ranges);
	for (size_t i = 0; i < ranges.count && !found; i++) {
		*start = ranges.items[i].low;
		*end = ranges.items[i].high;
		found = address >= *start && address < *end;
	}
	vec_fini(&ranges);
	*name = dwarf_node_name(body, node, &linked);
	return found && **name;
}

bool dwarf_entry(struct dwarf *dwarf, uint64_t address, uint64_t *entry)
{
	struct dwarf_unit *body;
	struct dwarf_node *node = concrete_function_at(dwarf, address, &body);
	struct dwarf_ranges ranges = { 0 };
	if (node)
		dwarf_node_ranges(body, node, &ranges);
	bool found = ranges.count != 0;
	*entry = found ? ranges.items[0].low : 0;
	vec_fini(&ranges);
	return found;
}

struct dwarf_counters dwarf_counters(const struct dwarf *dwarf)
{
	return (struct dwarf_counters){ .units = dwarf->main.unit_count, .units_parsed = dwarf->units_parsed,
		.units_damaged = dwarf->units_damaged, .units_missing = dwarf->units_missing, .units_refused = dwarf->units_refused,
		.memory = dwarf->memory };
}

bool dwarf_alternate(const struct elf *elf, const char **name, struct span *build_id)
{
	struct span s = elf_section_bytes(elf, elf_section(elf, ".gnu_debugaltlink"));
	size_t len = s.len ? strnlen((const char *)s.data, s.len) : 0;
	if (!len || len == s.len)
		return false;
	*name = (const char *)s.data;
	*build_id = (struct span){ s.data + len + 1, s.len - len - 1 };
	return true;
}
