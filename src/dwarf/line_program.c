#include "dwarf/line_program.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dwarf/constants.h"

#define FILE_MAX ((1u << 20) - 1)
#define COLUMN_MAX ((1u << 12) - 1)

struct machine {
	uint64_t address, file, line, column, discriminator;
	uint32_t operation;
	bool statement, prologue_end;
};

/* One execution of a program. */
struct run {
	const struct line_program *program;
	struct dwarf *dwarf;
	struct cursor c;
	struct machine machine;
	struct line_sequences *sequences; /* NULL: collect rows of the sequence at the start */
	struct line_files *files;     /* set together with sequences */
	struct dwarf_statements *statements; /* or: collect the rows of all sequences here */
	VEC(struct dwarf_row) rows;
	size_t start;                 /* offset of the current sequence's instructions */
	uint64_t steps;               /* not yet charged to the budget */
	uint64_t low, high;           /* of the addresses of the current sequence */
	size_t taken;                 /* bytes of the budget, for rows */
	bool any, unsorted, over;
	bool full;                    /* the rows do not fit in memory */
};

/* Until the end of the run. */
static bool run_take(struct run *r, size_t bytes)
{
	r->full = !dwarf_memory_take(r->dwarf, bytes);
	r->taken += r->full ? 0 : bytes;
	return !r->full;
}

/* Takes the memory of the larger array before the rows grow into it. */
static bool has_room(struct run *r)
{
	enum { LEAST = 8 };
	if (r->rows.count < r->rows.capacity)
		return true;
	size_t more = r->rows.capacity ? r->rows.capacity * 2 : LEAST;
	if (!run_take(r, more * sizeof *r->rows.items))
		return false;
	vec_reserve(&r->rows, more);
	return true;
}

static void rows_rebase(struct run *r, uint64_t address)
{
	for (size_t i = 0; i < r->rows.count; i++)
		r->rows.items[i].offset += (uint32_t)(r->low - address);
	r->unsorted = true;
}

static void row_store(struct run *r)
{
	const struct machine *m = &r->machine;
	struct dwarf_row row = { .offset = (uint32_t)(m->address - r->low), .line = m->line <= UINT32_MAX ? (uint32_t)m->line : 0,
		.file = m->file <= FILE_MAX ? (uint32_t)m->file : 0, .column = m->column <= COLUMN_MAX ? (uint32_t)m->column : 0,
		.discriminator = (uint32_t)m->discriminator };
	struct dwarf_row *last = r->rows.count ? &r->rows.items[r->rows.count - 1] : NULL;
	if (last && last->offset == row.offset) {
		*last = row; /* of several rows with one address the last one counts */
		return;
	}
	r->unsorted |= last && row.offset < last->offset;
	r->over |= !has_room(r);
	if (!r->over)
		vec_push(&r->rows, row);
}

/* Rows of discarded code are left out. */
static void statement_add(struct run *r, bool end)
{
	const struct machine *m = &r->machine;
	if (m->address < r->dwarf->text_low)
		return;
	struct dwarf_statements *s = r->statements;
	if (s->count == s->capacity) {
		size_t more = s->capacity ? s->capacity * 2 : 64;
		if (!run_take(r, (more - s->capacity) * sizeof *s->items)) {
			r->over = true;
			return;
		}
		vec_reserve(s, more);
	}
	vec_push(s, ((struct dwarf_statement){ .address = m->address, .line = m->line <= UINT32_MAX ? (uint32_t)m->line : 0,
		.file = m->file <= UINT32_MAX ? (uint32_t)m->file : 0, .statement = m->statement, .prologue_end = m->prologue_end, .end = end }));
}

static void row_add(struct run *r)
{
	if (r->statements) {
		statement_add(r, false);
		r->machine.prologue_end = false;
		return;
	}
	uint64_t address = r->machine.address;
	if (!r->any) {
		r->low = r->high = address;
		r->any = true;
	}
	if (address > r->high)
		r->high = address;
	if (address < r->low) {
		rows_rebase(r, address);
		r->low = address;
	}
	if (!r->sequences)
		row_store(r);
	r->machine.discriminator = 0;
}

static void machine_reset(struct run *r)
{
	r->machine = (struct machine){ .file = 1, .line = 1, .statement = r->program->statement };
}

/* The offset of a row has 32 bits. Sequences below the code describe code that the linker discarded. */
static void sequence_end(struct run *r)
{
	uint64_t end = r->machine.address;
	if (r->statements)
		statement_add(r, true);
	else if (!r->sequences)
		r->over = true;
	else if (r->any && end > r->low && r->high - r->low <= UINT32_MAX && r->low >= r->dwarf->text_low)
		vec_push(r->sequences, ((struct dwarf_sequence){ .low = r->low, .high = end, .base = r->low, .start = r->start }));
	r->any = false;
	r->start = r->c.at;
	machine_reset(r);
}

static void machine_advance(struct run *r, uint64_t operations)
{
	const struct line_program *p = r->program;
	struct machine *m = &r->machine;
	if (p->operations_max == 1) {
		m->address += operations * p->minimum_length;
		return;
	}
	operations += m->operation;
	m->address += operations / p->operations_max * p->minimum_length;
	m->operation = (uint32_t)(operations % p->operations_max);
}

static void file_define(struct line_files *files, struct cursor *c)
{
	const char *name = (const char *)c->data + c->at;
	const uint8_t *end = memchr(name, 0, cursor_left(c));
	if (!end)
		return;
	c->at += (size_t)((const char *)end - name) + 1;
	vec_push(files, ((struct dwarf_line_file){ .name = name, .directory = take_uleb(c) }));
}

static void execute_extended(struct run *r)
{
	uint64_t length = take_uleb(&r->c);
	const uint8_t *body = take(&r->c, length);
	if (!body || !length)
		return;
	struct cursor c = cursor_of(body, length, r->c.swap);
	switch (take_u8(&c)) {
	case DW_LNE_end_sequence:
		sequence_end(r);
		break;
	case DW_LNE_set_address:
		if (length - 1 == 1 || length - 1 == 2 || length - 1 == 4 || length - 1 == 8)
			r->machine.address = take_number(&c, (unsigned)length - 1);
		r->machine.operation = 0;
		break;
	case DW_LNE_set_discriminator:
		r->machine.discriminator = take_uleb(&c);
		break;
	case DW_LNE_define_file:
		if (r->files)
			file_define(r->files, &c);
		break;
	}
}

static void execute_standard(struct run *r, uint8_t opcode)
{
	struct machine *m = &r->machine;
	switch (opcode) {
	case DW_LNS_copy:
		row_add(r);
		break;
	case DW_LNS_advance_pc:
		machine_advance(r, take_uleb(&r->c));
		break;
	case DW_LNS_advance_line:
		m->line = (uint32_t)(m->line + (uint64_t)take_sleb(&r->c));
		break;
	case DW_LNS_set_file:
		m->file = take_uleb(&r->c);
		break;
	case DW_LNS_set_column:
		m->column = take_uleb(&r->c);
		break;
	case DW_LNS_negate_stmt:
		m->statement = !m->statement;
		break;
	case DW_LNS_set_basic_block:
		break;
	case DW_LNS_set_prologue_end:
		m->prologue_end = true;
		break;
	case DW_LNS_const_add_pc:
		machine_advance(r, r->program->advance[255]);
		break;
	case DW_LNS_fixed_advance_pc:
		m->address += take_u16(&r->c);
		m->operation = 0;
		break;
	default:
		for (unsigned i = 0; i < r->program->operand_counts[opcode - 1]; i++)
			skip_leb(&r->c);
	}
}

enum { LEB_BYTES = 10, INSTRUCTION_BYTES = 32 }; /* the maximum size of an instruction that is skipped */

static const uint8_t *leb_end(const uint8_t *at)
{
	for (unsigned i = 0; i < LEB_BYTES; i++)
		if (at[i] < 0x80)
			return at + i + 1;
	return NULL;
}

/* Returns the next instruction if this one only adds a row or changes values of later rows; NULL: it may do more. */
static const uint8_t *skipped_end(const uint8_t *at, uint64_t *address, bool *row, const struct line_program *p)
{
	uint8_t opcode = load_u8(at), length;
	*row = opcode >= p->opcode_base || opcode == DW_LNS_copy;
	if (opcode >= p->opcode_base) {
		*address += (uint64_t)p->advance[opcode] * p->minimum_length;
		return at + 1;
	}
	switch (opcode) {
	case DW_LNS_copy:
	case DW_LNS_negate_stmt:
	case DW_LNS_set_basic_block:
		return at + 1;
	case DW_LNS_advance_line:
	case DW_LNS_set_file:
	case DW_LNS_set_column:
		return leb_end(at + 1);
	case 0: /* an extended opcode */
		length = load_u8(at + 1);
		return length && length <= LEB_BYTES + 1 && at[2] == DW_LNE_set_discriminator ? at + 2 + length : NULL;
	default:
		return NULL;
	}
}

/* Scanning needs only addresses: skips instructions that skipped_end accepts. Returns the number of bytes skipped. */
static size_t skip_instructions(struct run *r)
{
	const struct line_program *p = r->program;
	const uint8_t *start = r->c.data + r->c.at, *at = start, *next;
	uint64_t address = r->machine.address;
	bool row;
	while (r->c.len - r->c.at - (size_t)(at - start) >= INSTRUCTION_BYTES && (next = skipped_end(at, &address, &row, p))) {
		if (row && !r->any) {
			r->low = r->high = address;
			r->any = true;
		}
		if (row && address < r->low)
			r->low = address;
		if (row && address > r->high)
			r->high = address;
		at = next;
	}
	r->machine.address = address;
	r->c.at += (size_t)(at - start);
	return (size_t)(at - start);
}

static bool run_charge(struct run *r, uint64_t steps)
{
	enum { BOOKED_AT_ONCE = 4096 };
	r->steps += steps;
	if (r->steps < BOOKED_AT_ONCE)
		return true;
	steps = r->steps;
	r->steps = 0;
	return dwarf_work(r->dwarf, steps);
}

static bool run_execute(struct run *r)
{
	const struct line_program *p = r->program;
	bool leaps = r->sequences && p->operations_max == 1;
	machine_reset(r);
	while (cursor_left(&r->c) && !r->c.short_read && !r->over) {
		if (!run_charge(r, 1 + (leaps ? skip_instructions(r) : 0)))
			return false;
		uint8_t opcode = take_u8(&r->c);
		if (opcode >= p->opcode_base) {
			machine_advance(r, p->advance[opcode]);
			r->machine.line = (uint32_t)(r->machine.line + (uint64_t)(int64_t)p->step[opcode]);
			row_add(r);
		} else if (opcode) {
			execute_standard(r, opcode);
		} else {
			execute_extended(r);
		}
	}
	if (r->any)
		sequence_end(r);
	return !r->c.short_read;
}

bool line_program_scan(const struct line_program *program, struct dwarf *dwarf, struct line_sequences *sequences,
	struct line_files *files)
{
	struct run run = { .program = program, .dwarf = dwarf, .c = program->c, .sequences = sequences, .files = files,
		.start = program->c.at };
	return run_execute(&run);
}

bool line_program_statements(const struct line_program *program, struct dwarf *dwarf, struct dwarf_statements *statements)
{
	struct run run = { .program = program, .dwarf = dwarf, .c = program->c, .statements = statements };
	bool whole = run_execute(&run) && !run.full;
	dwarf_memory_give(dwarf, run.taken); /* the caller frees the rows after use */
	return whole;
}

static bool row_same_place(const struct dwarf_row *a, const struct dwarf_row *b)
{
	return a->line == b->line && a->file == b->file && a->column == b->column && a->discriminator == b->discriminator;
}

struct sort_key {
	uint32_t offset, place;
};

static int key_compare(const void *a, const void *b)
{
	const struct sort_key *x = a, *y = b;
	return x->offset != y->offset ? x->offset < y->offset ? -1 : 1 : x->place < y->place ? -1 : x->place > y->place;
}

static void line_rows_sort(struct dwarf_row *rows, size_t count)
{
	struct sort_key *keys = memory_alloc(count * sizeof *keys + 1);
	struct dwarf_row *old = memory_alloc(count * sizeof *old + 1);
	memcpy(old, rows, count * sizeof *old);
	for (size_t i = 0; i < count; i++)
		keys[i] = (struct sort_key){ rows[i].offset, (uint32_t)i };
	qsort(keys, count, sizeof *keys, key_compare);
	for (size_t i = 0; i < count; i++)
		rows[i] = old[keys[i].place];
	free(keys);
	free(old);
}

struct dwarf_rows *line_program_rows(const struct line_program *program, struct dwarf *dwarf,
	const struct dwarf_sequence *sequence)
{
	struct run run = { .program = program, .dwarf = dwarf, .c = program->c };
	run.c.at = sequence->start;
	run_execute(&run);
	struct dwarf_row *rows = run.rows.items;
	size_t kept = 0;
	run.unsorted &= !run.full && run_take(&run, run.rows.count * (sizeof(struct sort_key) + sizeof *rows));
	if (run.unsorted)
		line_rows_sort(rows, run.rows.count);
	for (size_t i = 0; i < run.rows.count && !run.full && rows[i].offset < sequence->high - sequence->base; i++) {
		if (kept && rows[kept - 1].offset == rows[i].offset)
			rows[kept - 1] = rows[i];
		else if (!kept || !row_same_place(&rows[kept - 1], &rows[i]))
			rows[kept++] = rows[i];
	}
	struct dwarf_rows *out = run.full ? NULL : memory_alloc(sizeof *out + kept * sizeof *rows);
	if (out)
		out->count = (uint32_t)kept;
	if (out && kept)
		memcpy(out->items, rows, kept * sizeof *rows);
	vec_fini(&run.rows);
	dwarf_memory_give(dwarf, run.taken);
	return out;
}
