#include "probe/lines.h"

#include <string.h>

#include "base/search.h"
#include "dwarf/constants.h"
#include "dwarf/dwarf.h"

enum { SCOPES_MAX = 256 };

bool probe_same_tail(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), least = n < m ? n : m;
	return memcmp(a + n - least, b + m - least, least) == 0;
}

uint32_t probe_declared_line(struct probe_target *target, const struct dwarf_die *die)
{
	uint64_t line, entry;
	struct dwarf_place place;
	if (dwarf_die_number(die, DW_AT_decl_line, &line))
		return line <= UINT32_MAX ? (uint32_t)line : 0;
	/* Go has no lines of functions */
	return dwarf_die_tag(die) == DW_TAG_subprogram && dwarf_die_entry(die, &entry) && dwarf_line(target->dwarf, entry, &place) ?
		place.line : 0;
}

bool probe_is_instance(const struct dwarf_die *die)
{
	uint16_t tag = dwarf_die_tag(die);
	return (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) && dwarf_die_has_code(die);
}

bool probe_is_definition(const struct dwarf_die *die)
{
	uint64_t entry;
	if (dwarf_die_tag(die) != DW_TAG_subprogram || dwarf_die_declares(die))
		return false;
	return dwarf_die_has(die, DW_AT_inline) || (probe_is_instance(die) && dwarf_die_entry(die, &entry));
}

/* DIEs that can contain functions. */
static bool has_functions(uint16_t tag)
{
	switch (tag) {
	case DW_TAG_module:
	case DW_TAG_lexical_block:
	case DW_TAG_entry_point:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_subprogram:
	case DW_TAG_namespace:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
		return true;
	default:
		return false;
	}
}

bool probe_functions_walk(const struct dwarf_die *unit, probe_function_fn visit, void *context)
{
	struct dwarf_walk walk = dwarf_walk_of(unit);
	struct dwarf_die die;
	while (dwarf_walk_next(&walk, &die)) {
		uint16_t tag = dwarf_die_tag(&die);
		if (tag == DW_TAG_subprogram && !dwarf_die_declares(&die) && visit(context, &die))
			return true;
		walk.skip = !has_functions(tag);
	}
	return false;
}

struct line_walk {
	struct probe_target *target;
	const struct dwarf_die *root;
	uint32_t first, last;
	probe_line_fn visit;
	void *context;
	bool whole;                   /* the root is a unit */
};

static bool offer(const struct line_walk *w, const char *file, uint32_t line, uint64_t address)
{
	return file && line && line >= w->first && line <= w->last && w->visit(w->context, file, line, address);
}

/* Whether a line of code inlined into the root counts as the root's: the line of the call, or the function inlined into itself. */
static bool inlined_counts(const struct line_walk *w, uint64_t address, uint32_t line)
{
	struct dwarf_die scopes[SCOPES_MAX];
	uint64_t call;
	if (!dwarf_scopes(w->target->dwarf, address, scopes, SCOPES_MAX) || dwarf_die_same(&scopes[0], w->root) ||
	    dwarf_die_tag(&scopes[0]) != DW_TAG_inlined_subroutine)
		return true;
	const char *declared = dwarf_die_file(w->root, DW_AT_decl_file), *from = dwarf_die_file(&scopes[0], DW_AT_call_file);
	if (from && declared && !strcmp(from, declared) && dwarf_die_number(&scopes[0], DW_AT_call_line, &call) && call == line)
		return true;
	const char *own = dwarf_die_file(&scopes[0], DW_AT_decl_file);
	return probe_declared_line(w->target, &scopes[0]) == probe_declared_line(w->target, w->root) && own == declared;
}

static bool walk_statements(const struct line_walk *w)
{
	const struct dwarf_statements *all = probe_target_statements(w->target, w->root);
	struct dwarf_ranges ranges = { .limit = 1u << 16 };
	bool ended = false;
	if (!w->whole)
		dwarf_die_ranges(w->root, &ranges);
	for (size_t i = 0; i < all->count && !ended; i++) {
		const struct dwarf_statement *s = &all->items[i];
		if (s->end || !s->statement || s->line < w->first || s->line > w->last)
			continue;
		bool within = w->whole;
		for (size_t k = 0; k < ranges.count && !within; k++)
			within = s->address >= ranges.items[k].low && s->address < ranges.items[k].high;
		if (within && (w->whole || inlined_counts(w, s->address, s->line)))
			ended = offer(w, dwarf_statement_file(w->root, s), s->line, s->address);
	}
	vec_fini(&ranges);
	return ended;
}

/* Offers the lines of calls of inlined functions; deep: also of calls in inlined functions, and the lines where these are declared. */
static bool walk_calls(const struct line_walk *w, const struct dwarf_die *function, bool deep)
{
	struct dwarf_walk walk = dwarf_walk_of(function);
	struct dwarf_die die;
	uint64_t line, address;
	if (dwarf_die_entry(function, &address) &&
	    offer(w, dwarf_die_file(function, DW_AT_decl_file), probe_declared_line(w->target, function), address))
		return true;
	while (dwarf_walk_next(&walk, &die)) {
		if (dwarf_die_tag(&die) != DW_TAG_inlined_subroutine)
			continue;
		walk.skip = !deep;
		if (!dwarf_die_number(&die, DW_AT_call_line, &line) || line > UINT32_MAX || !dwarf_die_entry(&die, &address))
			continue;
		if (offer(w, dwarf_die_file(&die, DW_AT_call_file), (uint32_t)line, address))
			return true;
		if (deep && offer(w, dwarf_die_file(&die, DW_AT_decl_file), probe_declared_line(w->target, &die), address))
			return true;
	}
	return false;
}

static bool walk_function(void *context, const struct dwarf_die *function)
{
	return probe_is_instance(function) && walk_calls(context, function, true);
}

bool probe_lines_walk(struct probe_target *target, const struct dwarf_die *root, uint32_t first, uint32_t last, probe_line_fn visit,
	void *context)
{
	uint16_t tag = dwarf_die_tag(root);
	struct line_walk w = { .target = target, .root = root, .first = first, .last = last, .visit = visit, .context = context,
		.whole = tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine };
	if (walk_statements(&w))
		return true;
	return w.whole ? probe_functions_walk(root, walk_function, &w) : walk_calls(&w, root, false);
}

/* The first statement at the last address that is not above. */
static const struct dwarf_statement *statement_at(const struct dwarf_statements *all, uint64_t address)
{
	size_t i = SEARCH_COUNT(all->count, k, all->items[k].address <= address);
	if (!i)
		return NULL;
	for (i--; i && all->items[i - 1].address == address;)
		i--;
	for (; i < all->count && all->items[i].address <= address; i++)
		if (all->items[i].statement)
			return &all->items[i];
	return NULL;
}

bool probe_line_at(struct probe_target *target, const struct dwarf_die *unit, uint64_t address, const char **file, uint32_t *line)
{
	struct dwarf_die scopes[SCOPES_MAX];
	uint64_t entry;
	size_t count = dwarf_scopes(target->dwarf, address, scopes, SCOPES_MAX);
	if (count && dwarf_die_entry(&scopes[count - 1], &entry) && entry == address) {
		*file = dwarf_die_file(&scopes[count - 1], DW_AT_decl_file);
		*line = probe_declared_line(target, &scopes[count - 1]);
		return *file && *line;
	}
	const struct dwarf_statement *statement = statement_at(probe_target_statements(target, unit), address);
	*file = statement ? dwarf_statement_file(unit, statement) : NULL;
	*line = statement ? statement->line : 0;
	return *file && *line;
}

uint64_t probe_after_prologue(struct probe_target *target, const struct dwarf_die *function, uint64_t entry, bool marked)
{
	const struct dwarf_statements *all = probe_target_statements(target, function);
	struct dwarf_ranges ranges = { .limit = 1u << 16 };
	size_t i = SEARCH_COUNT(all->count, k, all->items[k].address < entry);
	while (i < all->count && all->items[i].end)
		i++;
	dwarf_die_ranges(function, &ranges);
	uint64_t high = ranges.count == 1 ? ranges.items[0].high : 0;
	vec_fini(&ranges);
	if (!high || i >= all->count || all->items[i].address != entry || all->items[i].prologue_end)
		return entry;
	for (size_t k = i; marked && k < all->count && all->items[k].address < high; k++)
		if (all->items[k].prologue_end)
			return all->items[k].address;
	return i + 1 < all->count && all->items[i + 1].address < high ? all->items[i + 1].address : entry;
}
