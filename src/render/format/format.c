#include "render/format/format.h"

#include <inttypes.h>
#include <string.h>

#include "render/format/list.h" /* FORMATS(X): X(name) for each name in meson.build */

static const struct format format_text = { "text", "as perf prints it", NULL };

#define DECLARE(name) extern const struct format format_##name;
FORMATS(DECLARE)

#define ADDRESS(name) &format_##name,
static const struct format *const formats[] = { &format_text, FORMATS(ADDRESS) };
enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

void format_words(struct str *to)
{
	for (size_t i = 0; i < FORMAT_COUNT; i++)
		str_printf(to, "%s%s", i ? ", " : "", formats[i]->name);
}

const struct format *format_find(const char *name, struct error *err)
{
	CLEANUP_STR struct str names = { 0 };
	for (size_t i = 0; i < FORMAT_COUNT; i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	format_words(&names);
	error_set(err, ERROR_OPTION, "there is no format '%s': it is one of %s", name, str_text(&names));
	return NULL;
}

static void json_escaped(const struct cell *cell, void (*add_text)(const char *text, struct writer *out), struct writer *out)
{
	struct writer text;
	writer_open(&text, -1, 256);
	cell_json(cell, &text);
	writer_putc(&text, '\0');
	add_text(text.buffer, out);
	writer_fini(&text);
}

void cell_escaped(const struct cell *cell, enum cell_form form, void (*add_text)(const char *text, struct writer *out), struct writer *out)
{
	char text[CELL_VALUE_MAX];
	switch (cell->kind) {
	case CELL_TEXT:
		add_text(cell->text, out);
		break;
	case CELL_TASK:
		writer_printf(out, "%d", cell->task.tid);
		if (form == CELL_FORM_DOCUMENT) {
			writer_putc(out, ' ');
			add_text(cell->task.comm ? cell->task.comm : "", out);
		}
		break;
	case CELL_PLACE:
		if (cell->place.symbol)
			add_text(cell->place.symbol, out);
		else
			writer_printf(out, "0x%" PRIx64, cell->place.address);
		break;
	case CELL_LIST:
	case CELL_MAP:
		json_escaped(cell, add_text, out);
		break;
	default:
		writer_add(out, text, cell_value_text(cell, form, text));
		break;
	}
}
