/* Compiled call frame information of one file: a sorted table of the addresses at which rules begin, and the rules, each stored once. Six
 * bytes per row and half a byte of index. Describes the computation of frames, independent of the source format. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/vec.h"
#include "unwind/types.h"

/* Where the value of a caller's register is. */
enum saved_kind {
	SAVED_SAME,              /* never saved: the register still has the value */
	SAVED_UNDEFINED,
	SAVED_AT_CFA,            /* in memory, at the CFA + value */
	SAVED_IS_CFA,            /* equals the CFA + value */
	SAVED_IN_REGISTER,       /* in register `base` */
	SAVED_AT_REGISTER,       /* in memory, at register `base` + value */
	SAVED_AT_EXPRESSION,     /* in memory, at the address of the expression at `value` */
	SAVED_IS_EXPRESSION,
};

struct saved {
	uint8_t reg, kind, base, zero;
	int32_t value;
};

enum cfa_kind { CFA_REGISTER, CFA_LOAD, CFA_PLT, CFA_EXPRESSION };

enum rule_flag {
	RULE_SIMPLE = 1 << 0,    /* CFA_REGISTER, ra at the CFA, fp unchanged or at the CFA, other registers ignored */
	RULE_SIGNAL = 1 << 1,    /* a signal trampoline: its caller was interrupted */
	RULE_BOTTOM = 1 << 2,    /* it has no caller */
	RULE_SIGNED = 1 << 3,    /* the return address has an authentication code */
	RULE_SWITCHED = 1 << 4,  /* its caller is on another stack with unknown address */
	RULE_CLONED = 1 << 5,    /* it has no caller if the result register is 0 */
};

struct rule {
	int32_t cfa_value;       /* offset, or start of the expression */
	struct saved ra;
	struct saved fp;
	uint32_t others;         /* index of the first in `saved`: registers restored beside ra and fp */
	uint16_t others_count;
	uint8_t cfa_kind, cfa_register;
	uint8_t threshold;       /* CFA_PLT */
	uint8_t flags;
	uint16_t zero;
};

#define RULE_NONE 0u             /* rules[0]: code without rules */
#define RULE_SPAN ((uint64_t)UINT32_MAX) /* address range of one table */

struct load_range {
	uint64_t offset, size;   /* in the file */
	uint64_t address;        /* of its first byte, as linked */
};

struct rule_table {
	enum unwind_arch arch;
	uint64_t base;           /* base address of `starts` */
	uint32_t count;
	uint32_t *starts;        /* sorted */
	uint16_t *rules16;       /* index into rules by row; NULL if there are too many rules … */
	uint32_t *rules32;       /* … and these are used */
	uint32_t *pages;         /* page → the last row that starts at or before it */
	uint32_t page_count;
	uint8_t page_shift;
	struct rule *rules;
	uint32_t rule_count;
	struct saved *saved;
	uint32_t saved_count;
	uint8_t *expressions;    /* each preceded by its length (2 bytes) */
	uint32_t expressions_len;
	uint64_t needed;         /* registers, beside sp and fp, that some rule reads */
	struct load_range *loads; /* executable ones */
	uint32_t load_count;
	uint64_t entry_from, entry_to; /* addresses of the program's first instructions */
	uint64_t damaged;        /* number of invalid entries */
	bool entry_returns;      /* return addresses may be a function's first instruction */
	bool has_info;           /* the file has a section of call frame information */
};

void rule_table_fini(struct rule_table *table);
size_t rule_table_memory(const struct rule_table *table);

/* File offset → address as linked; false: in no executable segment. */
static inline bool rule_table_address(const struct rule_table *table, uint64_t offset, uint64_t *address)
{
	for (uint32_t i = 0; i < table->load_count; i++)
		if (offset - table->loads[i].offset < table->loads[i].size) {
			*address = offset - table->loads[i].offset + table->loads[i].address;
			return true;
		}
	return false;
}

static inline uint32_t rule_table_row(const struct rule_table *table, uint64_t address)
{
	uint64_t at = address - table->base;
	uint64_t page = at >> table->page_shift;
	if (page >= table->page_count)
		return UINT32_MAX;
	uint32_t low = table->pages[page], high = table->pages[page + 1] + 1;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (table->starts[middle] <= at)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* The rule of a row; NULL: none. */
static inline const struct rule *rule_table_at(const struct rule_table *table, uint32_t row)
{
	if (row == UINT32_MAX)
		return NULL;
	uint32_t rule = table->rules16 ? table->rules16[row] : table->rules32[row];
	return rule ? &table->rules[rule] : NULL;
}

/* The rule of the instruction at address; NULL: none. */
static inline const struct rule *rule_table_find(const struct rule_table *table, uint64_t address)
{
	return rule_table_at(table, rule_table_row(table, address));
}

/* Returns whether the row after this one begins at address. */
static inline bool rule_table_begins(const struct rule_table *table, uint32_t row, uint64_t address)
{
	return row < table->count - 1 && table->starts[row + 1] == address - table->base;
}

/* The rule of a row that starts at address. */
static inline const struct rule *rule_table_start(const struct rule_table *table, uint64_t address)
{
	uint32_t row = rule_table_row(table, address);
	return row != UINT32_MAX && table->starts[row] == address - table->base ? rule_table_find(table, address) : NULL;
}

struct span rule_expression(const struct rule_table *table, int32_t at);

/* Rows are added in order of address. */
struct rule_builder {
	struct rule_table *table;
	VEC(uint32_t) starts;
	VEC(uint16_t) narrow;            /* rule indices by row, until there are too many … */
	VEC(uint32_t) wide;              /* … and from then on */
	size_t room;                     /* capacity in rows; 0: `wide` is used */
	VEC(struct rule) rules;
	VEC(struct saved) saved;
	VEC(uint8_t) expressions;
	struct rule_slot {
		uint64_t hash;
		uint32_t index;          /* rule index + 1; 0: free */
	} *rule_slots;
	struct saved_slot {
		uint64_t hash;
		uint32_t first, count;   /* count UINT32_MAX: free */
	} *saved_slots;
	size_t rule_slot_count, saved_slot_count, saved_lists;
	struct idmap expression_ids;     /* hash → start */
	uint64_t needed;
	uint64_t boundary;               /* start of a function: its row is stored even if it equals the row before it */
};

/* rows: estimated number. */
void rule_builder_init(struct rule_builder *b, struct rule_table *table, size_t rows);
/* The index of an equal rule, which is added if absent. rule->others is ignored and set to the index of `others`. */
uint32_t rule_builder_rule(struct rule_builder *b, struct rule *rule, const struct saved *others, uint32_t count);
/* The start of an equal expression, which is added if absent; < 0: too long, or too many. */
int32_t rule_builder_expression(struct rule_builder *b, struct span code);
/* `rule` applies from address on. Rows below the last address are dropped. */
void rule_builder_row(struct rule_builder *b, uint64_t address, uint32_t rule);
/* The same, with a fast path. */
static inline void rule_builder_add(struct rule_builder *b, uint64_t address, uint32_t rule)
{
	size_t n = b->starts.count;
	uint64_t at = address - b->table->base;
	if (!n || n >= b->room || rule > UINT16_MAX || at <= b->starts.items[n - 1] || at > RULE_SPAN) {
		rule_builder_row(b, address, rule);
		return;
	}
	if (b->narrow.items[n - 1] == rule)
		return;
	b->starts.items[n] = (uint32_t)at;
	b->narrow.items[n] = (uint16_t)rule;
	b->starts.count = b->narrow.count = n + 1;
}
/* Another function begins at address, directly after the last one: the next row begins there. */
void rule_builder_boundary(struct rule_builder *b, uint64_t address);
/* Moves all data to the table; the builder is empty afterwards. end: address after the last covered code. */
void rule_builder_finish(struct rule_builder *b);
void rule_builder_fini(struct rule_builder *b);
