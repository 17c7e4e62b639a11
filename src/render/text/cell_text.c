#include "render/text/cell_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_MAX = 64 }; /* of a number, time or flag */

static void add_left(struct str *out, unsigned width, const char *text, size_t len)
{
	str_add(out, text, len);
	str_pad(out, ' ', width > len ? width - len : 0);
}

static void add_right(struct str *out, unsigned width, const char *text, size_t len)
{
	str_pad(out, ' ', width > len ? width - len : 0);
	str_add(out, text, len);
}

void text_left_cut(struct str *out, unsigned width, const char *text)
{
	add_left(out, width, text, strnlen(text, width));
}

static void time_text(uint64_t time, bool nanoseconds, char text[static TEXT_MAX])
{
	if (nanoseconds)
		snprintf(text, TEXT_MAX, "%" PRIu64 ".%09" PRIu64, time / 1000000000, time % 1000000000);
	else
		snprintf(text, TEXT_MAX, "%" PRIu64 ".%06" PRIu64, time / 1000000000, time % 1000000000 / 1000);
}

/* 4096 → "4K": halves and less are dropped. */
static void bytes_text(uint64_t size, char text[static TEXT_MAX])
{
	static const char letters[] = { 'B', 'K', 'M', 'G' };
	unsigned letter = 0;
	for (; letter + 1 < sizeof letters && size >= 2048; letter++)
		size /= 1024;
	snprintf(text, TEXT_MAX, "%" PRIu64 "%c", size, letters[letter]);
}

/* A text to align: in buffer, or borrowed. */
static const char *plain_text(const struct cell *cell, const struct column_type *type, const struct cell_style *style,
	char buffer[static TEXT_MAX])
{
	switch (cell->kind) {
	case CELL_COUNT:
		snprintf(buffer, TEXT_MAX, "%" PRIu64, cell->count);
		return buffer;
	case CELL_NUMBER:
		snprintf(buffer, TEXT_MAX, "%" PRId64, cell->number);
		return buffer;
	case CELL_ADDRESS:
		snprintf(buffer, TEXT_MAX, "%#" PRIx64, cell->count);
		return buffer;
	case CELL_FILE_ID:
		snprintf(buffer, TEXT_MAX, "%" PRIu64 "/0x%" PRIx64, cell->file_id.device, cell->file_id.inode);
		return buffer;
	case CELL_BYTES:
		bytes_text(cell->count, buffer);
		return buffer;
	case CELL_TIME:
		time_text(cell->count, style->nanoseconds, buffer);
		return buffer;
	case CELL_FLAG:
		return cell->flag ? type->yes : type->no;
	case CELL_TEXT:
		return cell->text;
	default:
		return type->absent ? type->absent : "";
	}
}

/* "   1234:comm": the number has at least seven characters, the comm the rest. */
static void add_task(const struct cell_task *task, unsigned width, struct str *out)
{
	str_printf(out, "%7d:", task->tid);
	if (width < 8)
		str_puts(out, task->comm); /* a width of less than nothing limits nothing */
	else
		text_left_cut(out, width - 8, task->comm);
}

static void add_level(struct str *out, char level)
{
	str_add(out, (const char[]){ '[', level, ']', ' ' }, 4);
}

/* printf's "%#.16lx". */
static void add_address(struct str *out, uint64_t address)
{
	enum { DIGITS = 16 };
	char text[2 + DIGITS] = "0x";
	for (unsigned i = 0; i < DIGITS; i++)
		text[2 + i] = "0123456789abcdef"[address >> 4 * (DIGITS - 1 - i) & 15];
	str_add(out, text + (address ? 0 : 2), address ? sizeof text : DIGITS);
}

static void add_name(const struct cell_place *place, unsigned width, size_t start, struct str *out)
{
	size_t used = out->len - start;
	str_add(out, place->symbol, strnlen(place->symbol, width > used ? width - used : UINT32_MAX));
}

/* "[k] name", "[.] data+0x12", "[k] 0x0000000000001234". */
static void add_symbol(const struct cell_place *place, const struct cell_style *style, struct str *out)
{
	size_t start = out->len;
	if (style->verbose)
		str_printf(out, "%-#18" PRIx64 " %c ", place->address, place->origin);
	add_level(out, place->level);
	if (!place->symbol) {
		add_address(out, place->address);
	} else if (place->data) {
		str_printf(out, "%s+0x%" PRIx64, place->symbol, place->offset);
	} else {
		add_name(place, style->width, start, out);
		if (place->inlined)
			str_puts(out, " (inlined)");
	}
}

static void add_symbol_offset(const struct cell_place *place, const struct cell_style *style, struct str *out)
{
	if (place->symbol)
		str_printf(out, "[%c] %s+0x%" PRIx64, place->level, place->symbol, place->offset);
	else
		str_printf(out, "[%c] %-#.*" PRIx64, place->level, (int)style->width - 4, place->address);
}

static void add_symbol_end(const struct cell_place *place, const struct cell_style *style, struct str *out)
{
	size_t start = out->len;
	add_level(out, place->level);
	if (!place->symbol) {
		add_address(out, place->address);
		return;
	}
	if (place->data)
		str_puts(out, place->symbol);
	else
		add_name(place, style->width, start, out);
	if (place->data || place->offset)
		str_printf(out, "+0x%" PRIx64, place->offset);
}

static void add_physical(const struct cell_place *place, const struct cell_style *style, struct str *out)
{
	char text[TEXT_MAX];
	snprintf(text, sizeof text, "[%c] %-#.16" PRIx64, place->level, place->address);
	text_left_cut(out, style->width, text);
}

static void add_zeros(const struct cell *cell, unsigned width, unsigned less, struct str *out)
{
	str_printf(out, "%*.*" PRId64, (int)width, (int)width - (int)less, cell->number);
}

void cell_text_add(const struct cell *cell, const struct column_type *type, const struct cell_style *style, struct str *out)
{
	enum { ZEROS_LESS = 3 };
	char buffer[TEXT_MAX];
	unsigned width = style->width;
	const char *text = plain_text(cell, type, style, buffer);
	switch (type->layout) {
	case LAYOUT_LEFT:
		add_left(out, width, text, strlen(text));
		break;
	case LAYOUT_LEFT_CUT:
		text_left_cut(out, width, text);
		break;
	case LAYOUT_CUT:
		str_add(out, text, strnlen(text, width));
		break;
	case LAYOUT_PLAIN:
		str_puts(out, text);
		break;
	case LAYOUT_RIGHT:
		add_right(out, width, text, strlen(text));
		break;
	case LAYOUT_RIGHT_CUT:
		add_right(out, width, text, strnlen(text, width));
		break;
	case LAYOUT_ZEROS:
		add_zeros(cell, width, 0, out);
		break;
	case LAYOUT_ZEROS_SHORT:
		add_zeros(cell, width, ZEROS_LESS, out);
		break;
	case LAYOUT_TASK:
		add_task(&cell->task, width, out);
		break;
	case LAYOUT_SYMBOL:
		add_symbol(&cell->place, style, out);
		break;
	case LAYOUT_SYMBOL_OFFSET:
		add_symbol_offset(&cell->place, style, out);
		break;
	case LAYOUT_SYMBOL_END:
		add_symbol_end(&cell->place, style, out);
		break;
	case LAYOUT_PHYSICAL:
		add_physical(&cell->place, style, out);
		break;
	}
}
