#include "unwind/rules.h"

#include <stdlib.h>

#include "unwind/expression.h"

#define ROWS_PER_PAGE 8u
#define EXPRESSIONS_LIMIT (16 << 20) /* bytes of all expressions of a file */

void rule_table_fini(struct rule_table *table)
{
	free(table->starts);
	free(table->rules16);
	free(table->rules32);
	free(table->pages);
	free(table->rules);
	free(table->saved);
	free(table->expressions);
	free(table->loads);
	*table = (struct rule_table){ 0 };
}

size_t rule_table_memory(const struct rule_table *table)
{
	size_t row = sizeof *table->starts + (table->rules16 ? sizeof *table->rules16 : sizeof *table->rules32);
	return sizeof *table + table->count * row + (table->page_count + 1) * sizeof *table->pages +
		table->rule_count * sizeof *table->rules + table->saved_count * sizeof *table->saved + table->expressions_len +
		table->load_count * sizeof *table->loads;
}

struct span rule_expression(const struct rule_table *table, int32_t at)
{
	uint16_t len;
	memcpy(&len, table->expressions + at - sizeof len, sizeof len);
	return (struct span){ table->expressions + at, len };
}

void rule_builder_init(struct rule_builder *b, struct rule_table *table, size_t rows)
{
	*b = (struct rule_builder){ .table = table };
	b->starts.capacity = b->narrow.capacity = rows + 1;
	b->starts.items = memory_large(b->starts.capacity * sizeof *b->starts.items);
	b->narrow.items = memory_large(b->narrow.capacity * sizeof *b->narrow.items);
	struct rule none = { 0 };
	vec_push(&b->rules, none);
}

static void saved_slots_grow(struct rule_builder *b)
{
	size_t old_count = b->saved_slot_count;
	struct saved_slot *old = b->saved_slots;
	b->saved_slot_count = old_count ? old_count * 2 : 64;
	b->saved_slots = memory_alloc(b->saved_slot_count * sizeof *b->saved_slots);
	for (size_t i = 0; i < b->saved_slot_count; i++)
		b->saved_slots[i].count = UINT32_MAX;
	for (size_t i = 0; i < old_count; i++) {
		if (old[i].count == UINT32_MAX)
			continue;
		size_t at = old[i].hash & (b->saved_slot_count - 1);
		while (b->saved_slots[at].count != UINT32_MAX)
			at = (at + 1) & (b->saved_slot_count - 1);
		b->saved_slots[at] = old[i];
	}
	free(old);
}

static uint32_t saved_intern(struct rule_builder *b, const struct saved *others, uint32_t count)
{
	if (!count)
		return 0;
	if (b->saved_lists * 2 >= b->saved_slot_count)
		saved_slots_grow(b);
	uint64_t hash = hash_bytes(others, count * sizeof *others);
	size_t at = hash & (b->saved_slot_count - 1);
	for (;; at = (at + 1) & (b->saved_slot_count - 1)) {
		struct saved_slot *slot = &b->saved_slots[at];
		if (slot->count == UINT32_MAX)
			break;
		if (slot->hash == hash && slot->count == count &&
		    memcmp(&b->saved.items[slot->first], others, count * sizeof *others) == 0)
			return slot->first;
	}
	uint32_t first = (uint32_t)b->saved.count;
	vec_reserve(&b->saved, b->saved.count + count);
	memcpy(&b->saved.items[first], others, count * sizeof *others);
	b->saved.count += count;
	b->saved_slots[at] = (struct saved_slot){ .hash = hash, .first = first, .count = count };
	b->saved_lists++;
	return first;
}

static void rule_slots_grow(struct rule_builder *b)
{
	size_t old_count = b->rule_slot_count;
	struct rule_slot *old = b->rule_slots;
	b->rule_slot_count = old_count ? old_count * 2 : 256;
	b->rule_slots = memory_zero(b->rule_slot_count, sizeof *b->rule_slots);
	for (size_t i = 0; i < old_count; i++) {
		if (!old[i].index)
			continue;
		size_t at = old[i].hash & (b->rule_slot_count - 1);
		while (b->rule_slots[at].index)
			at = (at + 1) & (b->rule_slot_count - 1);
		b->rule_slots[at] = old[i];
	}
	free(old);
}

static void need(struct rule_builder *b, const struct saved *saved)
{
	bool uses = saved->kind == SAVED_IN_REGISTER || saved->kind == SAVED_AT_REGISTER;
	if (uses && saved->base < UNWIND_REGISTERS)
		b->needed |= (uint64_t)1 << saved->base;
	if (saved->kind == SAVED_AT_EXPRESSION || saved->kind == SAVED_IS_EXPRESSION)
		b->needed |= UINT64_MAX; /* the registers of an expression are not analysed */
}

static void note_needed(struct rule_builder *b, const struct rule *rule)
{
	if (rule->cfa_kind == CFA_EXPRESSION)
		b->needed |= UINT64_MAX;
	else if (rule->cfa_register < UNWIND_REGISTERS)
		b->needed |= (uint64_t)1 << rule->cfa_register;
	need(b, &rule->ra);
	need(b, &rule->fp);
	/* a signal trampoline restores all registers: their earlier values are not needed */
	for (uint32_t i = 0; i < rule->others_count && !(rule->flags & RULE_SIGNAL); i++)
		need(b, &b->saved.items[rule->others + i]);
}

uint32_t rule_builder_rule(struct rule_builder *b, struct rule *rule, const struct saved *others, uint32_t count)
{
	rule->others = saved_intern(b, others, count);
	rule->others_count = (uint16_t)count;
	rule->zero = 0;
	if (b->rules.count * 2 >= b->rule_slot_count)
		rule_slots_grow(b);
	uint64_t hash = hash_bytes(rule, sizeof *rule);
	size_t at = hash & (b->rule_slot_count - 1);
	for (;; at = (at + 1) & (b->rule_slot_count - 1)) {
		struct rule_slot *slot = &b->rule_slots[at];
		if (!slot->index)
			break;
		if (slot->hash == hash && memcmp(&b->rules.items[slot->index - 1], rule, sizeof *rule) == 0)
			return slot->index - 1;
	}
	vec_push(&b->rules, *rule);
	b->rule_slots[at] = (struct rule_slot){ .hash = hash, .index = (uint32_t)b->rules.count };
	note_needed(b, rule);
	return (uint32_t)b->rules.count - 1;
}

int32_t rule_builder_expression(struct rule_builder *b, struct span code)
{
	if (code.len > EXPRESSION_LENGTH || b->expressions.count > EXPRESSIONS_LIMIT)
		return -1;
	uint64_t hash = hash_bytes(code.data, code.len);
	uint32_t found = idmap_get(&b->expression_ids, hash);
	uint16_t len = (uint16_t)code.len;
	if (found != IDMAP_NONE) {
		uint16_t other;
		memcpy(&other, b->expressions.items + found - sizeof other, sizeof other);
		if (other == len && memcmp(b->expressions.items + found, code.data, len) == 0)
			return (int32_t)found;
	}
	size_t at = b->expressions.count;
	vec_reserve(&b->expressions, at + sizeof len + len);
	memcpy(b->expressions.items + at, &len, sizeof len);
	memcpy(b->expressions.items + at + sizeof len, code.data, len);
	b->expressions.count += sizeof len + len;
	idmap_set(&b->expression_ids, hash, (uint32_t)(at + sizeof len));
	return (int32_t)(at + sizeof len);
}

static uint32_t index_at(const struct rule_builder *b, size_t row)
{
	return b->wide.items ? b->wide.items[row] : b->narrow.items[row];
}

static void set_index(struct rule_builder *b, size_t row, uint32_t rule)
{
	if (rule > UINT16_MAX && !b->wide.items) {
		vec_reserve(&b->wide, b->narrow.count + 1);
		for (size_t i = 0; i < b->narrow.count; i++)
			b->wide.items[i] = b->narrow.items[i];
		b->wide.count = b->narrow.count;
	}
	if (b->wide.items && row == b->wide.count)
		vec_push(&b->wide, rule);
	else if (b->wide.items)
		b->wide.items[row] = rule;
	else if (row == b->narrow.count)
		vec_push(&b->narrow, (uint16_t)rule);
	else
		b->narrow.items[row] = (uint16_t)rule;
}

static void drop_last(struct rule_builder *b)
{
	b->starts.count--;
	if (b->wide.items)
		b->wide.count--;
	else
		b->narrow.count--;
}

void rule_builder_row(struct rule_builder *b, uint64_t address, uint32_t rule)
{
	if (!b->starts.count) {
		if (rule == RULE_NONE)
			return;
		b->table->base = address;
	}
	uint64_t at = address - b->table->base;
	if (address < b->table->base || at > RULE_SPAN)
		return;
	size_t count = b->starts.count;
	if (count && b->starts.items[count - 1] > at)
		return;
	if (count && b->starts.items[count - 1] == at) {
		set_index(b, count - 1, rule);
		b->room = b->wide.items ? 0 : b->room;
		/* it may now equal the row before it */
		if (count > 1 && index_at(b, count - 2) == rule && address != b->boundary)
			drop_last(b);
		return;
	}
	if (count && index_at(b, count - 1) == rule)
		return;
	vec_push(&b->starts, (uint32_t)at);
	set_index(b, count, rule);
	b->room = b->wide.items ? 0 : b->starts.capacity < b->narrow.capacity ? b->starts.capacity : b->narrow.capacity;
}

void rule_builder_boundary(struct rule_builder *b, uint64_t address)
{
	b->boundary = address;
	rule_builder_add(b, address, RULE_NONE); /* until its own rule replaces it */
}

/* Reduces the allocation to the used size. */
static void *shrink(void *items, size_t count, size_t size)
{
	return memory_resize(items, count ? count : 1, size);
}

static void make_pages(struct rule_table *table)
{
	uint64_t span = table->count ? (uint64_t)table->starts[table->count - 1] + 1 : 0;
	uint64_t pages = table->count / ROWS_PER_PAGE + 1;
	while (span >> table->page_shift >= pages)
		table->page_shift++;
	table->page_count = table->count ? (uint32_t)((span - 1) >> table->page_shift) + 1 : 0;
	table->pages = memory_alloc((table->page_count + 1) * sizeof *table->pages);
	memset(table->pages, 0, (table->page_count + 1) * sizeof *table->pages);
	/* without branches on row positions: first the last row that starts at or before a page's end, then pages without a row */
	uint64_t up = ((uint64_t)1 << table->page_shift) - 1;
	for (uint32_t row = 0; row < table->count; row++)
		table->pages[(table->starts[row] + up) >> table->page_shift] = row;
	for (uint32_t page = 1; page <= table->page_count; page++)
		if (table->pages[page] < table->pages[page - 1])
			table->pages[page] = table->pages[page - 1];
	table->pages[table->page_count] = table->count ? table->count - 1 : 0;
}

void rule_builder_finish(struct rule_builder *b)
{
	struct rule_table *table = b->table;
	table->count = (uint32_t)b->starts.count;
	table->starts = shrink(b->starts.items, b->starts.count, sizeof *b->starts.items);
	if (b->wide.items)
		table->rules32 = shrink(b->wide.items, b->wide.count, sizeof *b->wide.items);
	else
		table->rules16 = shrink(b->narrow.items, b->narrow.count, sizeof *b->narrow.items);
	table->rules = shrink(b->rules.items, b->rules.count, sizeof *b->rules.items);
	table->rule_count = (uint32_t)b->rules.count;
	table->saved = shrink(b->saved.items, b->saved.count, sizeof *b->saved.items);
	table->saved_count = (uint32_t)b->saved.count;
	table->expressions = shrink(b->expressions.items, b->expressions.count, 1);
	table->expressions_len = (uint32_t)b->expressions.count;
	table->needed = b->needed;
	make_pages(table);
	b->starts.items = NULL;
	b->wide.items = NULL;
	b->narrow.items = table->rules16 ? NULL : b->narrow.items;
	b->rules.items = NULL;
	b->saved.items = NULL;
	b->expressions.items = NULL;
	rule_builder_fini(b);
}

void rule_builder_fini(struct rule_builder *b)
{
	vec_fini(&b->starts);
	vec_fini(&b->narrow);
	vec_fini(&b->wide);
	vec_fini(&b->rules);
	vec_fini(&b->saved);
	vec_fini(&b->expressions);
	free(b->rule_slots);
	free(b->saved_slots);
	idmap_fini(&b->expression_ids);
	*b = (struct rule_builder){ 0 };
}
