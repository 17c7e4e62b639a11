#include "render/annotate/browser_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "render/annotate/counter_text.h"
#include "render/annotate/operands.h"

/* perf composes the text of an instruction in a buffer of this size. */
enum { LINE_TEXT_SIZE = 256, CYCLES_WIDTH = 6, IPC_WIDTH = 6 };

/* One printing. */
struct browsing {
	const struct annotate_style *style;
	const struct annotate_view *view;
	struct writer *out;
	int count_width, offset_width, word_width, cycles_width, counters_width; /* 0 without recorded branches, counters of branches */
	bool marked;               /* offsets are shown at jump targets */
	struct str text;
};

static int hex_width(uint64_t value)
{
	int width = 1;
	while (value >>= 4)
		width++;
	return width;
}

/* 1234 → "1K", 999 → "999 ". */
static void print_count(struct writer *out, uint64_t count)
{
	static const char units[] = { ' ', 'K', 'M', 'G' };
	unsigned unit = 0;
	while (count > 1000 && unit + 1 < sizeof units) {
		count /= 1000;
		unit++;
	}
	writer_printf(out, "%" PRIu64 "%c", count, units[unit]);
}

static void print_heading(const struct browsing *b, const struct annotate_heading *heading)
{
	const struct annotation *annotation = b->view->annotation;
	writer_puts(b->out, "Samples: ");
	print_count(b->out, heading->samples);
	writer_printf(b->out, " of event%s '%s', %" PRIu64 " Hz, Event count (approx.): %" PRIu64 ", [percent: %s]\n", heading->several ? "s" : "",
		b->view->event_name, heading->frequency, heading->period, annotate_percent_name(b->style->percent));
	writer_name(b->out, annotation->name, strlen(annotation->name));
	writer_puts(b->out, "() ");
	writer_name(b->out, annotation->module->long_name, strlen(annotation->module->long_name));
	writer_putc(b->out, '\n');
}

static void add_counts(struct browsing *b, const struct annotated_line *line, const char *title)
{
	double most = 0;
	for (size_t i = 0; line && i < b->view->event_count; i++) {
		struct hit_count count = annotated_count(line, b->view->events[i]);
		double percent = annotate_percent_of(b->style, b->view, &count, b->view->events[i]);
		most = percent > most ? percent : most;
	}
	for (size_t i = 0; most > 0 && i < b->view->event_count; i++) {
		struct hit_count count = annotated_count(line, b->view->events[i]);
		if (b->style->value == ANNOTATE_PERIOD)
			str_printf(&b->text, "%11" PRIu64 " ", count.period);
		else if (b->style->value == ANNOTATE_SAMPLES)
			str_printf(&b->text, "%7" PRIu64 " ", count.samples);
		else
			str_printf(&b->text, "%7.2f ", annotate_percent_of(b->style, b->view, &count, b->view->events[i]));
	}
	if (most == 0)
		str_printf(&b->text, "%-*s", b->count_width, title);
}

static void add_counters(struct browsing *b, const struct annotated_flow *flow, uint64_t offset)
{
	const struct annotation *annotation = b->view->annotation;
	CLEANUP_STR struct str text = { 0 };
	uint64_t place = symbols_get(b->style->symbols, annotation->module, annotation->symbol)->start + offset; /* in the module */
	counter_text_add(b->view->counters, b->view->blocks, annotation->module->id, place, flow->runs, b->style->counts, &text);
	str_printf(&b->text, "%*s ", b->counters_width, str_text(&text));
}

/* Instructions per cycle, cycles and branch counters. */
static void add_cycles(struct browsing *b, const struct annotated_flow *flow, uint64_t offset)
{
	if (!b->cycles_width)
		return;
	if (!flow) {
		str_puts(&b->text, "  IPC Cycle ");
		if (b->counters_width)
			str_printf(&b->text, "%*s ", b->counters_width, COUNTER_TEXT_TITLE);
		return;
	}
	if (flow->ipc > 0)
		str_printf(&b->text, "%*.2f ", IPC_WIDTH - 1, flow->ipc);
	else
		str_printf(&b->text, "%*s", IPC_WIDTH, " ");
	if (flow->cycles)
		str_printf(&b->text, "%*" PRIu64 " ", CYCLES_WIDTH - 1, flow->cycles);
	else
		str_printf(&b->text, "%*s", CYCLES_WIDTH, " ");
	if (b->counters_width)
		add_counters(b, flow, offset);
}

/* Ends the line: perf pads its text to the columns before it. */
static void print_line(struct browsing *b, size_t start, int width)
{
	size_t shown = b->text.len - start;
	if (shown < (size_t)width)
		str_printf(&b->text, "%*s", (int)((size_t)width - shown), "");
	text_join_lines(b->text.text, b->text.len);
	str_putc(&b->text, '\n');
	writer_add(b->out, str_text(&b->text), b->text.len);
}

/* A line without an instruction. */
static void print_plain(struct browsing *b, const char *title, const char *text)
{
	static const struct annotated_flow none;
	str_clear(&b->text);
	add_counts(b, NULL, title);
	add_cycles(b, *title != ' ' ? NULL : &none, 0);
	str_printf(&b->text, " %-*s  ", b->offset_width, " ");
	size_t start = b->text.len;
	str_puts(&b->text, text);
	print_line(b, start, *text ? b->offset_width + 2 + b->count_width + b->cycles_width - 1 : 0);
}

static const char *arrow_of(const struct annotation *annotation, const struct annotated_line *line)
{
	bool leaves = line->target - annotation->start >= annotation->size;
	switch (line->code) {
	case CODE_JUMP:
		if (line->mnemonic && strchr(line->mnemonic, ' '))
			return " ";
		return !line->direct || leaves ? "\u2192" : line->target > line->address ? "\u2193" : "\u2191";
	case CODE_CALL:
		return "\u2192";
	case CODE_RETURN:
		return line->mnemonic && strchr(line->mnemonic, ' ') ? " " : "\u2190";
	default:
		return " ";
	}
}

static void print_code(struct browsing *b, const struct annotated_line *line)
{
	const struct annotation *annotation = b->view->annotation;
	str_clear(&b->text);
	add_counts(b, line, " ");
	add_cycles(b, &line->flow, line->offset);
	if (line->jump_sources && b->marked)
		str_printf(&b->text, " %*" PRIx64 ": ", b->offset_width, line->offset);
	else
		str_printf(&b->text, " %-*s  ", b->offset_width, " ");
	str_printf(&b->text, "%s ", arrow_of(annotation, line));
	size_t start = b->text.len;
	operands_add(&b->text, annotation, line, b->word_width);
	if (b->text.len - start >= LINE_TEXT_SIZE)
		b->text.len = start + LINE_TEXT_SIZE - 1;
	print_line(b, start, b->count_width + b->cycles_width + 3 + b->offset_width + 2);
}

void browser_text_print(const struct annotate_style *style, const struct annotate_view *view, const struct annotate_heading *heading,
	struct writer *out)
{
	const struct annotation *annotation = view->annotation;
	struct browsing b = { .style = style, .view = view, .out = out, .offset_width = hex_width(annotation->size) };
	static const char *const columns[] = { [ANNOTATE_PERCENT] = "Percent", [ANNOTATE_PERIOD] = "Period", [ANNOTATE_SAMPLES] = "Samples" };
	struct str title CLEANUP_STR = { 0 };
	b.count_width = (style->value == ANNOTATE_PERIOD ? 12 : 8) * (int)view->event_count;
	b.cycles_width = annotation->flow.known ? IPC_WIDTH + CYCLES_WIDTH : 0;
	b.counters_width = b.cycles_width && view->counters && view->counters->items.count ? COUNTER_TEXT_WIDTH : 0;
	b.marked = !strstr(annotation->name, "@plt"); /* stubs jump to other functions alone */
	for (size_t i = 0; i < annotation->lines.count; i++) {
		int width = operands_word(&annotation->lines.items[i]);
		b.word_width = width > b.word_width ? width : b.word_width;
	}
	if (style->print_lines)
		annotate_summary_print(style, view, out);
	print_heading(&b, heading);
	str_printf(&title, "%#" PRIx64 " <%s>:", annotation->start, annotation->name);
	print_plain(&b, columns[style->value], str_text(&title));
	for (size_t i = 0; i < annotation->lines.count; i++) {
		const struct annotated_line *line = &annotation->lines.items[i];
		if (line->kind == ANNOTATED_CODE)
			print_code(&b, line);
		else
			print_plain(&b, " ", line->text);
	}
	str_fini(&b.text);
}
