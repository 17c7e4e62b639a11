#include "elf/dwarf_line.h"

#include <stdlib.h>

#include "base/memory.h"
#include "elf/dwarf_constants.h"
#include "elf/dwarf_file.h"
#include "elf/dwarf_line_header.h"

#define FILE_MAX ((1u << 20) - 1)
#define COLUMN_MAX ((1u << 12) - 1)

/* Rows as the program makes them; those from `first` on are of the sequence that is open. */
struct builder {
	VEC(struct dwarf_row) rows;
	VEC(struct dwarf_sequence) sequences;
	struct dwarf *dwarf;
	size_t first;
	uint64_t base;                /* address that the open sequence's offsets count from */
	bool unsorted, unusable;
};

struct machine {
	uint64_t address, file, line, column, discriminator;
	uint32_t operation;
};

static void rows_rebase(struct builder *b, uint64_t address)
{
	uint64_t by = b->base - address;
	for (size_t i = b->first; i < b->rows.count; i++) {
		b->unusable |= b->rows.items[i].offset + by > UINT32_MAX;
		b->rows.items[i].offset += (uint32_t)by;
	}
	b->base = address;
	b->unsorted = true;
}

static void row_add(struct builder *b, const struct machine *m)
{
	if (b->rows.count == b->first)
		b->base = m->address;
	else if (m->address < b->base)
		rows_rebase(b, m->address);
	uint64_t offset = m->address - b->base;
	b->unusable |= offset > UINT32_MAX;
	struct dwarf_row row = { .offset = (uint32_t)offset, .line = m->line <= UINT32_MAX ? (uint32_t)m->line : 0,
		.file = m->file <= FILE_MAX ? (uint32_t)m->file : 0, .column = m->column <= COLUMN_MAX ? (uint32_t)m->column : 0,
		.discriminator = (uint32_t)m->discriminator };
	struct dwarf_row *last = b->rows.count > b->first ? &b->rows.items[b->rows.count - 1] : NULL;
	if (last && last->offset == row.offset) {
		*last = row; /* of rows for one address the last one counts */
		return;
	}
	b->unsorted |= last && row.offset < last->offset;
	vec_push(&b->rows, row);
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

static void rows_sort(struct dwarf_row *rows, size_t count)
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

/* Ends the open sequence at that address, keeps the rows that say something new. */
static void sequence_end(struct builder *b, uint64_t high)
{
	size_t count = b->rows.count - b->first, kept = 0;
	struct dwarf_row *rows = count ? b->rows.items + b->first : NULL;
	uint64_t low = b->base;
	if (count && !b->unusable && high > low && low >= b->dwarf->text_low) {
		if (b->unsorted)
			rows_sort(rows, count);
		for (size_t i = 0; i < count && rows[i].offset < high - low; i++) {
			if (kept && rows[kept - 1].offset == rows[i].offset)
				rows[kept - 1] = rows[i];
			else if (!kept || !row_same_place(&rows[kept - 1], &rows[i]))
				rows[kept++] = rows[i];
		}
		vec_push(&b->sequences, ((struct dwarf_sequence){ .low = low, .high = high, .base = low, .first = (uint32_t)b->first,
			.count = (uint32_t)kept }));
	}
	b->rows.count = b->first += kept;
	b->unsorted = b->unusable = false;
}

static void machine_advance(struct machine *m, const struct line_program *p, uint64_t operations)
{
	if (p->operations_max == 1) {
		m->address += operations * p->minimum_length;
		return;
	}
	operations += m->operation;
	m->address += operations / p->operations_max * p->minimum_length;
	m->operation = (uint32_t)(operations % p->operations_max);
}

static void machine_reset(struct machine *m)
{
	*m = (struct machine){ .file = 1, .line = 1 };
}

static void extended(struct line_program *p, struct machine *m, struct builder *b)
{
	uint64_t length = take_uleb(&p->c);
	const uint8_t *body = take(&p->c, length);
	if (!body || !length)
		return;
	struct cursor c = cursor_of(body, length, p->c.swap);
	switch (take_u8(&c)) {
	case DW_LNE_end_sequence:
		sequence_end(b, m->address);
		machine_reset(m);
		break;
	case DW_LNE_set_address:
		if (length - 1 == 1 || length - 1 == 2 || length - 1 == 4 || length - 1 == 8)
			m->address = take_number(&c, (unsigned)length - 1);
		m->operation = 0;
		break;
	case DW_LNE_set_discriminator:
		m->discriminator = take_uleb(&c);
		break;
	}
}

static void standard(struct line_program *p, uint8_t opcode, struct machine *m, struct builder *b)
{
	switch (opcode) {
	case DW_LNS_copy:
		row_add(b, m);
		m->discriminator = 0;
		break;
	case DW_LNS_advance_pc:
		machine_advance(m, p, take_uleb(&p->c));
		break;
	case DW_LNS_advance_line:
		m->line = (uint32_t)(m->line + (uint64_t)take_sleb(&p->c));
		break;
	case DW_LNS_set_file:
		m->file = take_uleb(&p->c);
		break;
	case DW_LNS_set_column:
		m->column = take_uleb(&p->c);
		break;
	case DW_LNS_negate_stmt:
	case DW_LNS_set_basic_block:
		break;
	case DW_LNS_const_add_pc:
		machine_advance(m, p, (255u - p->opcode_base) / p->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		m->address += take_u16(&p->c);
		m->operation = 0;
		break;
	default:
		for (unsigned i = 0; i < p->operand_counts[opcode - 1]; i++)
			skip_leb(&p->c);
	}
}

/* DW_LNE_define_file is not obeyed: no compiler writes it, and paths would change while others read them. */
static bool program_run(struct line_program *p, struct builder *b)
{
	struct machine m;
	machine_reset(&m);
	uint64_t budget_step = 0;
	while (cursor_left(&p->c) && !p->c.short_read) {
		uint8_t opcode = take_u8(&p->c);
		if (opcode >= p->opcode_base) {
			unsigned adjusted = opcode - p->opcode_base;
			machine_advance(&m, p, adjusted / p->line_range);
			m.line = (uint32_t)(m.line + (uint64_t)(int64_t)(p->line_base + (int)(adjusted % p->line_range)));
			row_add(b, &m);
			m.discriminator = 0;
		} else if (opcode) {
			standard(p, opcode, &m, b);
		} else {
			extended(p, &m, b);
		}
		if (++budget_step % 4096 == 0 && !dwarf_work(b->dwarf, 4096))
			return false;
	}
	if (b->rows.count > b->first)
		sequence_end(b, m.address);
	return !p->c.short_read;
}

static int sequence_compare(const void *a, const void *b)
{
	const struct dwarf_sequence *x = a, *y = b;
	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->high != y->high ? x->high > y->high ? -1 : 1 : x->first < y->first ? -1 : x->first > y->first;
}

/* By address; what lies inside an earlier one goes, what hangs over begins where that one ends. */
static uint32_t sequences_order(struct dwarf_sequence *sequences, size_t count)
{
	uint32_t kept = 0;
	qsort(sequences, count, sizeof *sequences, sequence_compare);
	for (size_t i = 0; i < count; i++) {
		if (kept && sequences[i].high <= sequences[kept - 1].high)
			continue;
		sequences[kept] = sequences[i];
		if (kept && sequences[kept].low < sequences[kept - 1].high)
			sequences[kept].low = sequences[kept - 1].high;
		kept++;
	}
	return kept;
}

static size_t lines_size(const struct dwarf_lines *lines)
{
	return sizeof *lines + lines->sequence_count * sizeof *lines->sequences + lines->row_count * sizeof *lines->rows +
		lines->file_count * (sizeof *lines->files + sizeof *lines->paths) + lines->directory_count * sizeof *lines->directories;
}

struct dwarf_lines *dwarf_lines_read(struct dwarf_unit *unit)
{
	struct dwarf *dwarf = unit->file->dwarf;
	struct line_program program;
	if (unit->stmt_list == DWARF_NO_OFFSET)
		return NULL;
	struct dwarf_lines *lines = memory_zero(1, sizeof *lines);
	lines->dwarf = dwarf;
	lines->compiled_in = unit->directory;
	if (!dwarf_line_header_read(unit, lines, &program)) {
		dwarf_lines_free(lines);
		return NULL;
	}
	struct builder b = { .dwarf = dwarf };
	lines->damaged |= !program_run(&program, &b);
	lines->sequence_count = b.sequences.count ? sequences_order(b.sequences.items, b.sequences.count) : 0;
	lines->row_count = (uint32_t)b.rows.count;
	lines->rows = memory_resize(b.rows.items, lines->row_count + 1, sizeof *lines->rows);
	lines->sequences = memory_resize(b.sequences.items, lines->sequence_count + 1, sizeof *lines->sequences);
	lines->paths = memory_zero(lines->file_count + 1, sizeof *lines->paths);
	if (dwarf_memory_take(dwarf, lines_size(lines)))
		return lines;
	dwarf_lines_free(lines);
	dwarf->units_refused++;
	return NULL;
}

void dwarf_lines_free(struct dwarf_lines *lines)
{
	if (!lines)
		return;
	for (uint32_t i = 0; lines->paths && i < lines->file_count; i++)
		free(lines->paths[i]);
	free(lines->paths);
	free(lines->sequences);
	free(lines->rows);
	free(lines->files);
	free(lines->directories);
	free(lines);
}

void dwarf_lines_ranges(struct dwarf_unit *unit, uint32_t value, struct dwarf_ranges *ranges)
{
	struct dwarf_lines *lines = dwarf_lines_read(unit);
	if (!lines)
		return;
	for (uint32_t i = 0; i < lines->sequence_count; i++)
		dwarf_ranges_add(ranges, unit->file->dwarf, lines->sequences[i].low, lines->sequences[i].high, value);
	dwarf_memory_give(unit->file->dwarf, lines_size(lines));
	dwarf_lines_free(lines);
}

const struct dwarf_row *dwarf_lines_find(const struct dwarf_lines *lines, uint64_t address)
{
	uint32_t low = 0, high = lines->sequence_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (lines->sequences[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	const struct dwarf_sequence *s = low ? &lines->sequences[low - 1] : NULL;
	if (!s || address >= s->high)
		return NULL;
	const struct dwarf_row *base = lines->rows + s->first;
	uint32_t offset = address - s->base < UINT32_MAX ? (uint32_t)(address - s->base) : UINT32_MAX;
	for (uint32_t n = s->count; n > 1;) {
		uint32_t half = n / 2;
		base += base[half].offset <= offset ? half : 0;
		n -= half;
	}
	return base;
}

static char *path_join(const char *first, const char *second, const char *third)
{
	size_t a = first ? strlen(first) + 1 : 0, b = second ? strlen(second) + 1 : 0, c = strlen(third) + 1;
	char *path = memory_alloc(a + b + c), *at = path;
	if (first) {
		memcpy(at, first, a);
		at[a - 1] = '/';
		at += a;
	}
	if (second) {
		memcpy(at, second, b);
		at[b - 1] = '/';
		at += b;
	}
	memcpy(at, third, c);
	return path;
}

const char *dwarf_lines_path(struct dwarf_lines *lines, uint64_t file)
{
	if (!lines->from_zero && file-- == 0)
		return NULL;
	if (file >= lines->file_count || !lines->files[file].name)
		return NULL;
	const struct dwarf_line_file *f = &lines->files[file];
	if (*f->name == '/')
		return f->name;
	char *path = atomic_load_explicit(&lines->paths[file], memory_order_acquire);
	if (path)
		return path;
	uint64_t directory = lines->from_zero ? f->directory : f->directory - 1;
	/* binutils puts the first folder of version 5 behind the unit's own too, which only shows where they are relative. */
	bool named = lines->from_zero || f->directory;
	const char *below = named && directory < lines->directory_count ? lines->directories[directory] : NULL;
	char *made = path_join(below && *below == '/' ? NULL : lines->compiled_in, below, f->name);
	if (atomic_compare_exchange_strong(&lines->paths[file], &path, made)) {
		dwarf_memory_take(lines->dwarf, strlen(made) + 1);
		return made;
	}
	free(made);
	return path;
}
