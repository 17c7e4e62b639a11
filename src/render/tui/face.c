#include "render/tui/face.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/table/cell_text.h"
#include "render/tui/screen.h"

/* Tabs, which lines of source have, reach to the next of the columns of a text that are multiples of eight. */
static void add_text(struct str *out, const char *text)
{
	enum { TAB = 8 };
	size_t start = out->len, length;
	for (; text[length = strcspn(text, "\t")]; text += length + 1) {
		str_add(out, text, length);
		size_t column = text_columns(out->text ? out->text + start : "");
		str_printf(out, "%*s", (int)(TAB - column % TAB), "");
	}
	str_puts(out, text);
	if (!out->text)
		return;
	text_make_printable(out->text + start);
	text_join_lines(out->text + start, out->len - start);
}

static void add_place(const struct cell_place *place, struct str *out)
{
	str_printf(out, "[%c] ", place->level ? place->level : '.');
	if (place->symbol)
		add_text(out, place->symbol);
	else
		str_printf(out, "0x%016" PRIx64, place->address);
	if (place->inlined)
		str_puts(out, " (inlined)");
}

static void add_parts(const struct cell *cell, struct str *out)
{
	size_t count = cell->kind == CELL_LIST ? cell->list.count : cell->map.count;
	for (size_t i = 0; i < count; i++) {
		str_puts(out, i ? " " : "");
		if (cell->kind == CELL_MAP) {
			add_text(out, cell->map.items[i].name);
			str_putc(out, '=');
		}
		face_add(cell->kind == CELL_LIST ? &cell->list.items[i] : &cell->map.items[i].value, out);
	}
}

void face_add(const struct cell *cell, struct str *out)
{
	char text[CELL_VALUE_MAX];
	switch (cell->kind) {
	case CELL_TEXT:
		add_text(out, cell->text);
		break;
	case CELL_TASK:
		str_printf(out, "%d:", cell->task.tid);
		add_text(out, cell->task.comm ? cell->task.comm : "");
		break;
	case CELL_PLACE:
		add_place(&cell->place, out);
		break;
	case CELL_LIST:
	case CELL_MAP:
		add_parts(cell, out);
		break;
	default:
		str_add(out, text, cell_value_text(cell, CELL_FORM_SCREEN, text));
		break;
	}
}

static int order(double a, double b)
{
	return (a > b) - (a < b);
}

int face_compare(const struct cell *a, const struct cell *b)
{
	CLEANUP_STR struct str x = { 0 };
	CLEANUP_STR struct str y = { 0 };
	if (a->kind != b->kind)
		return (int)a->kind - (int)b->kind;
	switch (a->kind) {
	case CELL_COUNT:
	case CELL_BYTES:
	case CELL_TIME:
	case CELL_ADDRESS:
		return (a->count > b->count) - (a->count < b->count);
	case CELL_NUMBER:
		return (a->number > b->number) - (a->number < b->number);
	case CELL_REAL:
		return order(a->real, b->real);
	case CELL_SHARE:
		if (a->share.whole == b->share.whole)
			return (a->share.part > b->share.part) - (a->share.part < b->share.part);
		return order(cell_fraction(a), cell_fraction(b));
	case CELL_TEXT:
		return strcmp(a->text, b->text);
	default:
		face_add(a, &x);
		face_add(b, &y);
		return strcmp(str_text(&x), str_text(&y));
	}
}

void face_add_short(uint64_t count, struct str *out)
{
	static const char units[] = { 'K', 'M', 'G', 'T' };
	double value = (double)count;
	int unit = -1;
	while (value >= 1000 && unit + 1 < (int)sizeof units) {
		value /= 1000;
		unit++;
	}
	if (unit < 0)
		str_printf(out, "%" PRIu64, count);
	else
		str_printf(out, value < 10 ? "%.1f%c" : "%.0f%c", value, units[unit]);
}
