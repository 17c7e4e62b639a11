#include "dwarf/function.h"

#include <stdlib.h>

#include "base/memory.h"
#include "dwarf/abbrev.h"
#include "dwarf/constants.h"
#include "dwarf/file.h"
#include "dwarf/form.h"

const char dwarf_no_name[] = "";

#define ORIGINS_MAX 32u /* a longer sequence of references is circular */

/* Valid units have fewer ranges than bytes; damaged DIEs could all refer to one long list. */
#define RANGES_LEAST 65536u

enum walk_aim {
	WALK_SHALLOW,                  /* functions; bodies and types are skipped if possible */
	WALK_DEEP,                     /* all functions */
	WALK_INLINES,                  /* one function with all inlined calls in it */
};

struct walk {
	struct dwarf_unit *unit;
	enum walk_aim aim;
	bool leapt;
	struct cursor c;
	VEC(struct dwarf_node) nodes;
	struct dwarf_ranges ranges;
	uint32_t depth;
	uint32_t around[DWARF_DEPTH];  /* by level: the function that contains the DIEs of the level */
};

/* The attributes of one DIE that a walk reads. */
struct die {
	const struct dwarf_abbrev *abbrev;
	struct dwarf_value values[SLOT_COUNT];
	uint32_t present;              /* one bit per slot */
	size_t at;
};

static bool die_has(const struct die *e, enum dwarf_slot slot)
{
	return e->present & 1u << slot;
}

static bool die_read(const struct dwarf_unit *unit, struct cursor *c, struct die *e)
{
	const struct dwarf_abbrev *abbrev = e->abbrev;
	const struct dwarf_step *step = unit->abbrevs->steps + abbrev->steps, *end = step + abbrev->step_count;
	e->present = 0;
	for (; step < end; step++) {
		take(c, step->skip);
		if (step->slot == SLOT_NONE) {
			if (!dwarf_step_skip(unit, step, c))
				return false;
			continue;
		}
		struct dwarf_attribute attribute = { .form = step->form, .constant = unit->abbrevs->constants[step->constant] };
		if (!dwarf_value_read(unit, &attribute, c, &e->values[step->slot]))
			return false;
		e->present |= 1u << step->slot;
	}
	take(c, abbrev->tail);
	return !c->short_read;
}

static void die_ranges(const struct dwarf_unit *unit, const struct die *e, uint32_t value, struct dwarf_ranges *ranges)
{
	uint64_t low, high;
	if (die_has(e, SLOT_RANGES)) {
		const struct dwarf_value *v = &e->values[SLOT_RANGES];
		dwarf_ranges_read(ranges, unit, v->form, v->number, value);
		return;
	}
	if (!die_has(e, SLOT_LOW) || !die_has(e, SLOT_HIGH) || !dwarf_value_address(unit, &e->values[SLOT_LOW], &low))
		return;
	if (e->values[SLOT_HIGH].kind == VALUE_NUMBER)
		high = low + e->values[SLOT_HIGH].number;
	else if (!dwarf_value_address(unit, &e->values[SLOT_HIGH], &high))
		return;
	dwarf_ranges_add(ranges, unit->file->dwarf, low, high, value);
}

static uint32_t die_small_number(const struct die *e, enum dwarf_slot slot)
{
	return die_has(e, slot) && e->values[slot].number <= UINT32_MAX ? (uint32_t)e->values[slot].number : 0;
}

/* Adds a node for the function; returns the node that its children belong to. */
static uint32_t walk_function(struct walk *w, const struct die *e, uint32_t around)
{
	bool inlined = e->abbrev->kind == ENTRY_INLINED;
	if (inlined && w->aim != WALK_INLINES)
		return around;
	uint32_t node = (uint32_t)w->nodes.count;
	size_t before = w->ranges.count;
	if (e->abbrev->code)
		die_ranges(w->unit, e, node, &w->ranges);
	/* an inlined call without code may contain inlined calls that have code */
	if (w->ranges.count == before && (!inlined || around == DWARF_NODE_NONE || !e->abbrev->children))
		return inlined ? around : DWARF_NODE_NONE;
	vec_push(&w->nodes, ((struct dwarf_node){ .entry = (uint32_t)(e->at - w->unit->offset), .inlined = inlined,
		.parent = inlined ? around : DWARF_NODE_NONE, .call_file = die_small_number(e, SLOT_CALL_FILE),
		.call_line = die_small_number(e, SLOT_CALL_LINE) }));
	return node;
}

/* Skips the children if DW_AT_sibling gives their end and they cannot contain functions that the walk looks for. */
static bool walk_skip_children(struct walk *w, const struct die *e)
{
	if (!die_has(e, SLOT_SIBLING) || e->values[SLOT_SIBLING].kind != VALUE_UNIT_REFERENCE)
		return false;
	if (e->abbrev->kind != ENTRY_CODELESS && w->aim != WALK_SHALLOW)
		return false;
	uint64_t target = e->values[SLOT_SIBLING].number;
	if (target >= w->unit->end - w->unit->offset || w->unit->offset + target < w->c.at)
		return false;
	w->c.at = w->unit->offset + target;
	w->leapt |= e->abbrev->kind != ENTRY_CODELESS;
	return true;
}

/* Reads one DIE; false at the end or if it is damaged (w->c.short_read). */
static bool walk_die(struct walk *w)
{
	struct die e; /* not initialised: that would take longer than reading the DIE */
	e.at = w->c.at;
	uint64_t code = take_uleb(&w->c);
	if (!code) {
		w->depth -= w->depth != 0;
		return !w->c.short_read && w->depth;
	}
	e.abbrev = dwarf_abbrev_find(w->unit->abbrevs, code);
	if (!e.abbrev || !die_read(w->unit, &w->c, &e)) {
		w->c.short_read = true;
		return false;
	}
	uint32_t node = w->around[w->depth - 1];
	if (e.abbrev->kind >= ENTRY_FUNCTION)
		node = walk_function(w, &e, node);
	if (e.abbrev->children && !walk_skip_children(w, &e)) {
		if (w->depth == DWARF_DEPTH) {
			w->c.short_read = true;
			return false;
		}
		w->around[w->depth++] = node;
	}
	return true;
}

static struct walk *walk_new(struct dwarf_unit *unit, enum walk_aim aim)
{
	struct walk *w = memory_zero(1, sizeof *w);
	w->unit = unit;
	w->aim = aim;
	w->ranges.limit = RANGES_LEAST + (unit->end - unit->offset);
	w->c = unit_cursor(unit);
	w->around[0] = DWARF_NODE_NONE;
	w->depth = 1;
	return w;
}

static void walk_free(struct walk *w)
{
	vec_fini(&w->nodes);
	vec_fini(&w->ranges);
	free(w);
}

/* Returns false if the unit is damaged or exceeds the limits; the nodes before that are valid. */
static bool walk_unit(struct walk *w)
{
	const struct dwarf_unit *unit = w->unit;
	cursor_seek(&w->c, unit->offset + unit->die_at);
	struct die top = { .abbrev = dwarf_abbrev_find(unit->abbrevs, take_uleb(&w->c)) };
	if (!top.abbrev || !die_read(unit, &w->c, &top))
		return false;
	if (!top.abbrev->children || !unit->abbrevs->code)
		return true;
	while (w->c.at < w->c.len && walk_die(w) && !w->ranges.refused)
		;
	return !w->c.short_read && !w->ranges.refused;
}

/* Nodes before damage are valid. */
static void walk_function_at(struct walk *w, uint32_t entry)
{
	cursor_seek(&w->c, w->unit->offset + entry);
	while (walk_die(w) && w->depth > 1 && w->c.at < w->c.len && !w->ranges.refused)
		;
}

/* Converts the ranges to segments and reserves `bytes` in addition; false: the memory limit is exceeded. */
static bool walk_segments(struct walk *w, size_t bytes, struct dwarf_segments *segments)
{
	struct dwarf *dwarf = w->unit->file->dwarf;
	if (!dwarf_memory_take(dwarf, bytes))
		return false;
	if (dwarf_segments_make(segments, dwarf, &w->ranges, true))
		return true;
	dwarf_memory_give(dwarf, bytes);
	return false;
}

struct dwarf_functions *dwarf_functions_read(struct dwarf_unit *body, bool deep)
{
	struct walk *w = walk_new(body, deep ? WALK_DEEP : WALK_SHALLOW);
	struct dwarf_functions *out = memory_zero(1, sizeof *out);
	out->damaged = !walk_unit(w);
	out->leapt = w->leapt;
	if (walk_segments(w, sizeof *out + w->nodes.count * sizeof *out->items, &out->segments)) {
		out->count = (uint32_t)w->nodes.count;
		out->items = memory_zero(out->count + 1, sizeof *out->items);
		for (uint32_t i = 0; i < out->count; i++)
			out->items[i].entry = w->nodes.items[i].entry;
	} else {
		free(out);
		out = NULL;
	}
	walk_free(w);
	return out;
}

struct dwarf_inlines *dwarf_inlines_read(struct dwarf_unit *body, uint32_t entry)
{
	struct walk *w = walk_new(body, WALK_INLINES);
	struct dwarf_inlines *out = memory_zero(1, sizeof *out);
	walk_function_at(w, entry);
	if (walk_segments(w, sizeof *out + w->nodes.count * sizeof *out->nodes, &out->segments)) {
		out->count = (uint32_t)w->nodes.count;
		out->nodes = memory_resize(w->nodes.items, out->count + 1, sizeof *out->nodes);
		w->nodes.items = NULL;
	} else {
		out->refused = true;
	}
	walk_free(w);
	return out;
}

static void inlines_free(struct dwarf_inlines *inlines)
{
	if (!inlines)
		return;
	free(inlines->nodes);
	free(inlines->segments.starts);
	free(inlines);
}

void dwarf_functions_free(struct dwarf_functions *functions)
{
	if (!functions)
		return;
	for (uint32_t i = 0; i < functions->count; i++)
		inlines_free(functions->items[i].inlines);
	free(functions->items);
	free(functions->segments.starts);
	free(functions);
}

void dwarf_functions_ranges(struct dwarf_unit *body, uint32_t value, struct dwarf_ranges *ranges)
{
	struct walk *w = walk_new(body, WALK_DEEP);
	walk_unit(w);
	for (size_t i = 0; i < w->ranges.count; i++)
		dwarf_ranges_add(ranges, body->file->dwarf, w->ranges.items[i].low, w->ranges.items[i].high, value);
	walk_free(w);
}

void dwarf_node_ranges(struct dwarf_unit *body, const struct dwarf_node *node, struct dwarf_ranges *ranges)
{
	struct cursor c = unit_cursor(body);
	struct die e = { .at = body->offset + node->entry };
	if (!cursor_seek(&c, e.at))
		return;
	e.abbrev = dwarf_abbrev_find(body->abbrevs, take_uleb(&c));
	if (e.abbrev && die_read(body, &c, &e))
		die_ranges(body, &e, 0, ranges);
}

/* A DIE on the path to a function's name, and the names found so far. */
struct naming {
	struct dwarf_unit *unit;
	uint64_t offset;
	const char *linked, *written;
	bool plain;
};

static bool naming_follow(struct naming *n)
{
	struct dwarf_unit *unit = n->unit, *next = NULL;
	struct cursor c = unit_cursor(unit);
	if (!cursor_seek(&c, n->offset))
		return false;
	const struct dwarf_abbrev *abbrev = dwarf_abbrev_find(unit->abbrevs, take_uleb(&c));
	if (!abbrev)
		return false;
	for (struct dwarf_spec spec = dwarf_spec_of(unit, abbrev); dwarf_spec_next(&spec);) {
		struct dwarf_value v;
		if (!dwarf_value_read(unit, &spec.attribute, &c, &v))
			return false;
		switch (spec.attribute.name) {
		case DW_AT_name:
			if (!n->written && (n->written = dwarf_value_string(unit, &v)))
				n->plain = unit->plain_names;
			break;
		case DW_AT_linkage_name:
		case DW_AT_MIPS_linkage_name:
			n->linked = dwarf_value_string(unit, &v);
			if (n->linked)
				return false;
			break;
		case DW_AT_abstract_origin:
		case DW_AT_specification:
			next = dwarf_value_target(unit, &v, &n->offset);
			break;
		}
		if (next && abbrev->kind == ENTRY_INLINED)
			break; /* an inlined call has no name attribute */
	}
	n->unit = next;
	return next && !n->plain;
}

const char *dwarf_node_name(struct dwarf_unit *body, struct dwarf_node *node, bool *linked)
{
	const char *name = atomic_load_explicit(&node->name, memory_order_acquire);
	if (!name) {
		struct naming n = { .unit = body, .offset = body->offset + node->entry };
		for (unsigned i = 0; i < ORIGINS_MAX && naming_follow(&n); i++)
			;
		name = n.linked ? n.linked : n.written ? n.written : dwarf_no_name;
		atomic_store_explicit(&node->linked, n.linked || n.plain, memory_order_relaxed);
		atomic_store_explicit(&node->name, name, memory_order_release);
	}
	*linked = atomic_load_explicit(&node->linked, memory_order_relaxed);
	return name;
}
