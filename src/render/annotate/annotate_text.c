#include "render/annotate/annotate_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/place/source_line.h"

/* perf composes a line of code, and the title of the code, in a buffer of this size. */
enum { CODE_TEXT_SIZE = 512, DASHES_MAX = 345 };
/* Percentages from which perf colours them, and above which it shows the source line. */
static const double RED = 5.0, GREEN = 0.5;

static const char *const percent_names[] = {
	[ANNOTATE_LOCAL_HITS] = "local hits", [ANNOTATE_GLOBAL_HITS] = "global hits", [ANNOTATE_LOCAL_PERIOD] = "local period",
	[ANNOTATE_GLOBAL_PERIOD] = "global period",
};

const char *annotate_percent_name(enum annotate_percent percent)
{
	return percent_names[percent];
}

double annotate_percent_of(const struct annotate_style *style, const struct annotate_view *view, const struct hit_count *count,
	uint32_t event)
{
	bool local = style->percent == ANNOTATE_LOCAL_HITS || style->percent == ANNOTATE_LOCAL_PERIOD;
	bool hits = style->percent == ANNOTATE_LOCAL_HITS || style->percent == ANNOTATE_GLOBAL_HITS;
	const struct hit_count *totals = local ? view->annotation->totals : view->whole;
	if (!totals)
		return 0;
	uint64_t part = hits ? count->samples : count->period, whole = hits ? totals[event].samples : totals[event].period;
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static const char *colour_of(double percent)
{
	return percent >= RED ? "\033[31m" : percent > GREEN ? "\033[32m" : "";
}

/* Colours a text that was added from `start` on. */
static void colour_from(const struct annotate_style *style, struct str *text, size_t start, const char *colour)
{
	if (!style->colour)
		return;
	char *copy = memory_string(str_text(text) + start);
	text_escape(copy, strlen(copy), false);
	text->len = start;
	str_printf(text, "%s%s%s", colour, copy, *colour ? "\033[m" : "");
	free(copy);
}

void annotate_colour(const struct annotate_style *style, struct str *text, double percent)
{
	colour_from(style, text, 0, colour_of(percent));
}

/* Writes a line without its end. */
static void print_finished(const struct annotate_style *style, struct str *text, struct writer *out)
{
	text_join_lines(text->text, text->len);
	str_putc(text, '\n');
	if (style->colour)
		writer_add_styled(out, str_text(text), text->len);
	else
		writer_add(out, str_text(text), text->len);
}

/* The source line of a line, as perf's srcline does: "file.c:12", or the module and the address. */
static void add_place(const struct annotate_style *style, const struct annotation *annotation, const struct annotated_line *line,
	struct str *out)
{
	struct source_line at = { line->file, line->line_number };
	if (at.file && at.line)
		source_line_add_known(&at, style->full_paths, out);
	else
		str_printf(out, "%s[%" PRIx64 "]", annotation->module->short_name, line->address);
}

/* One row of the summary: a source line and the sums of its percentages. */
struct summed {
	char *path;
	double *sums;
};

struct summary {
	VEC(struct summed) rows;
	size_t event_count;
};

static void summary_add(struct summary *summary, const char *path, const double *percents)
{
	size_t i = 0;
	while (i < summary->rows.count && strcmp(summary->rows.items[i].path, path) != 0)
		i++;
	if (i == summary->rows.count)
		vec_push(&summary->rows, ((struct summed){ memory_string(path), memory_zero(summary->event_count, sizeof(double)) }));
	for (size_t k = 0; k < summary->event_count; k++)
		summary->rows.items[i].sums[k] += percents[k];
}

static int summed_compare(const void *left, const void *right, void *context)
{
	const struct summed *a = left, *b = right;
	const struct summary *summary = context;
	for (size_t i = 0; i < summary->event_count; i++)
		if (a->sums[i] != b->sums[i])
			return a->sums[i] > b->sums[i] ? -1 : 1;
	return strcmp(b->path, a->path);
}

/* Stores the percentages of a line; returns the largest. */
static double line_percents(const struct annotate_style *style, const struct annotate_view *view, const struct annotated_line *line,
	double *percents)
{
	double most = 0;
	for (size_t i = 0; i < view->event_count; i++) {
		struct hit_count count = annotated_count(line, view->events[i]);
		percents[i] = annotate_percent_of(style, view, &count, view->events[i]);
		most = percents[i] > most ? percents[i] : most;
	}
	return most;
}

static void print_summed(const struct annotate_style *style, const struct summary *summary, const struct summed *row, struct writer *out)
{
	struct str text CLEANUP_STR = { 0 };
	double most = 0;
	for (size_t i = 0; i < summary->event_count; i++) {
		size_t start = text.len;
		str_printf(&text, " %7.2f", row->sums[i]);
		colour_from(style, &text, start, colour_of(row->sums[i]));
		most = row->sums[i] > most ? row->sums[i] : most;
	}
	size_t start = text.len;
	str_printf(&text, " %s", row->path);
	colour_from(style, &text, start, colour_of(most));
	print_finished(style, &text, out);
}

void annotate_summary_print(const struct annotate_style *style, const struct annotate_view *view, struct writer *out)
{
	const struct annotation *annotation = view->annotation;
	struct summary summary = { .event_count = view->event_count };
	double *percents = memory_zero(view->event_count, sizeof *percents);
	struct str path CLEANUP_STR = { 0 };
	writer_puts(out, "\nSorted summary for file ");
	writer_name(out, annotation->module->long_name, strlen(annotation->module->long_name));
	writer_puts(out, "\n----------------------------------------------\n\n");
	for (size_t i = 0; i < annotation->lines.count; i++) {
		const struct annotated_line *line = &annotation->lines.items[i];
		if (line->kind != ANNOTATED_CODE || line_percents(style, view, line, percents) <= GREEN)
			continue;
		str_clear(&path);
		add_place(style, annotation, line, &path);
		summary_add(&summary, str_text(&path), percents);
	}
	if (!summary.rows.count)
		writer_printf(out, " Nothing higher than %1.1f%%\n", GREEN);
	else
		qsort_r(summary.rows.items, summary.rows.count, sizeof *summary.rows.items, summed_compare, &summary);
	for (size_t i = 0; i < summary.rows.count; i++) {
		print_summed(style, &summary, &summary.rows.items[i], out);
		free(summary.rows.items[i].path);
		free(summary.rows.items[i].sums);
	}
	vec_fini(&summary.rows);
	free(percents);
}

/* One printing. */
struct printing {
	const struct annotate_style *style;
	const struct annotate_view *view;
	struct writer *out;
	int count_width, address_width;
	double *percents;
	uint32_t number;           /* objdump: of the line */
	struct str text, path, last_path;
};

static void print_title(const struct printing *p)
{
	const struct annotation *annotation = p->view->annotation;
	const char *file = annotation->module->long_name, *slash = strrchr(file, '/');
	static const char *const columns[] = { [ANNOTATE_PERCENT] = "Percent", [ANNOTATE_PERIOD] = "Period", [ANNOTATE_SAMPLES] = "Samples" };
	struct str text CLEANUP_STR = { 0 };
	uint64_t samples = annotation->totals ? annotation->totals[p->view->events[0]].samples : 0;
	str_printf(&text, " %-*.*s|\tSource code & Disassembly of %s for %s (%" PRIu64 " samples, percent: %s)", p->count_width,
		p->count_width, columns[p->style->value], !p->style->full_paths && slash && slash[1] ? slash + 1 : file, p->view->event_name,
		samples, percent_names[p->style->percent]);
	size_t len = text.len + 1, dashes = len < DASHES_MAX ? len : DASHES_MAX;
	text_join_lines(text.text, text.len);
	writer_printf(p->out, "%s\n", str_text(&text));
	writer_pad(p->out, '-', dashes);
	writer_pad(p->out, ' ', len - dashes);
	writer_puts(p->out, "----\n");
}

static void print_hits(const struct printing *p)
{
	const struct annotation *annotation = p->view->annotation;
	uint32_t event = p->view->events[0];
	for (size_t i = 0; i < annotation->lines.count; i++) {
		const struct annotated_line *line = &annotation->lines.items[i];
		for (uint32_t k = 0; k < line->hit_count; k++)
			if (line->hits[k].event == event)
				writer_printf(p->out, "%*" PRIx64 ": %" PRIu64 "\n", 32, line->hits[k].offset, line->hits[k].count.samples);
	}
	writer_printf(p->out, "%*s: %" PRIu64 "\n", 32, "h->nr_samples", annotation->totals ? annotation->totals[event].samples : 0);
}

/* A line without counts; number: as shown. */
static void print_plain(const struct printing *p, uint32_t number, const char *text)
{
	if (!*text)
		writer_printf(p->out, " %*s:\n", p->count_width, " ");
	else
		writer_printf(p->out, " %*s: %-*u %s\n", p->count_width, " ", p->address_width, number, text);
}

static void add_spaces(struct str *text, size_t count)
{
	str_reserve(text, count);
	memset(text->text + text->len, ' ', count);
	text->len += count;
	text->text[text->len] = '\0';
}

/* "%*lx" */
static void add_address(struct str *text, uint64_t address, size_t width)
{
	char digits[16];
	size_t at = sizeof digits;
	do {
		digits[--at] = "0123456789abcdef"[address % 16];
		address /= 16;
	} while (address);
	size_t count = sizeof digits - at;
	add_spaces(text, count < width ? width - count : 0);
	str_add(text, digits + at, count);
}

static void add_counts(struct printing *p, const struct annotated_line *line)
{
	for (size_t i = 0; i < p->view->event_count; i++) {
		struct hit_count count = annotated_count(line, p->view->events[i]);
		size_t start = p->text.len;
		if (p->style->value == ANNOTATE_PERIOD)
			str_printf(&p->text, " %11" PRIu64, count.period);
		else if (p->style->value == ANNOTATE_SAMPLES)
			str_printf(&p->text, " %7" PRIu64, count.samples);
		else if (p->percents[i] == 0)
			str_puts(&p->text, "    0.00"); /* of most lines */
		else
			str_printf(&p->text, " %7.2f", p->percents[i]);
		colour_from(p->style, &p->text, start, colour_of(p->percents[i]));
	}
}

static void add_raw(struct printing *p, const struct annotated_line *line)
{
	enum { RAW_WIDTH = 10 };
	for (unsigned i = 0; i < RAW_WIDTH || i < line->length; i++) {
		if (i < line->length)
			str_printf(&p->text, " %02x", line->bytes[i]);
		else
			str_puts(&p->text, "   ");
	}
}

/* As objdump's lines with their tabs expanded: the address decides about the first one. */
static void add_objdump(struct printing *p, const struct annotated_line *line)
{
	enum { TAB = 8 };
	int head = snprintf(NULL, 0, "%" PRIx64 ":", line->address);
	str_printf(&p->text, "%*s", TAB - head % TAB, "");
	if (*line->operands)
		str_printf(&p->text, "%-6s %s", line->mnemonic, line->operands);
	else
		str_puts(&p->text, line->mnemonic);
	if (line->reference_name)
		str_printf(&p->text, "        # %" PRIx64 " <%s>", line->reference, line->reference_name);
	else if (line->reference)
		str_printf(&p->text, "        # %" PRIx64, line->reference);
}

static void add_code(struct printing *p, const struct annotated_line *line)
{
	if (p->style->objdump && line->mnemonic) {
		add_objdump(p, line);
		return;
	}
	enum { MNEMONIC_WIDTH = 7 };
	struct str *text = &p->text;
	const char *mnemonic = line->mnemonic ? line->mnemonic : "", *operands = line->mnemonic ? line->operands : "";
	size_t start = text->len, len = strlen(mnemonic);
	add_spaces(text, 7);
	str_add(text, mnemonic, len);
	add_spaces(text, len < MNEMONIC_WIDTH ? MNEMONIC_WIDTH - len + 1 : 1);
	str_puts(text, operands);
	if (line->reference_name)
		str_printf(text, "\t# %" PRIx64 " <%s>", line->reference, line->reference_name);
	if (text->len - start >= CODE_TEXT_SIZE)
		text->len = start + CODE_TEXT_SIZE - 1;
	while (text->len > start && text->text[text->len - 1] == ' ')
		text->len--;
	text->text[text->len] = '\0';
}

/* The source line follows hot instructions, once for consecutive ones. */
static void add_hot_place(struct printing *p, const struct annotated_line *line, double most)
{
	if (!p->style->print_lines || most <= GREEN)
		return;
	str_clear(&p->path);
	add_place(p->style, p->view->annotation, line, &p->path);
	if (p->last_path.len && strcmp(str_text(&p->last_path), str_text(&p->path)) == 0)
		return;
	size_t start = p->text.len;
	str_printf(&p->text, " // %s", str_text(&p->path));
	colour_from(p->style, &p->text, start, colour_of(p->percents[p->view->event_count - 1]));
	str_clear(&p->last_path);
	str_puts(&p->last_path, str_text(&p->path));
}

/* The colours of an address and of code, by how often recorded branches prove that it ran. */
static const char *address_colour(bool recorded, const struct annotated_flow *flow)
{
	return recorded && flow->coverage < 0.01 ? "" : flow->coverage > 0.75 ? "\033[31m" : "\033[35m";
}

static const char *code_colour(bool recorded, const struct annotated_flow *flow)
{
	return recorded && flow->coverage < 0.01 ? "" : "\033[34m";
}

/* "# +50.00% -100.00% (p:98.00%)": how many blocks are entered and left here. */
static void add_flow(struct printing *p, const struct annotated_flow *flow)
{
	const double least = 0.1;
	if (flow->entered > least || flow->left > least)
		str_puts(&p->text, "\t#");
	if (flow->entered > least)
		str_printf(&p->text, " +%.2f%%", flow->entered);
	if (flow->left > least)
		str_printf(&p->text, " -%.2f%% (p:%.2f%%)", flow->left, flow->predicted);
}

static void print_code(struct printing *p, const struct annotated_line *line)
{
	double most = line_percents(p->style, p->view, line, p->percents);
	str_clear(&p->text);
	add_counts(p, line);
	str_puts(&p->text, " : ");
	size_t start = p->text.len;
	add_spaces(&p->text, 2);
	add_address(&p->text, line->address, (size_t)p->address_width);
	str_putc(&p->text, ':');
	colour_from(p->style, &p->text, start, address_colour(p->view->annotation->flow.recorded, &line->flow));
	start = p->text.len;
	if (p->style->raw)
		add_raw(p, line);
	add_code(p, line);
	colour_from(p->style, &p->text, start, code_colour(p->view->annotation->flow.recorded, &line->flow));
	add_flow(p, &line->flow);
	add_hot_place(p, line, most);
	print_finished(p->style, &p->text, p->out);
}

static int address_width(const struct annotation *annotation)
{
	char text[32];
	for (size_t i = annotation->lines.count; i-- > 0;)
		if (annotation->lines.items[i].kind == ANNOTATED_CODE)
			return snprintf(text, sizeof text, "%" PRIx64, annotation->lines.items[i].address);
	return 0;
}

/* The lines of objdump before the code; perf numbers all lines. */
static void print_objdump_head(struct printing *p)
{
	const struct annotation *annotation = p->view->annotation;
	char text[CODE_TEXT_SIZE];
	for (p->number = 0; p->number < 3; p->number++)
		print_plain(p, p->number, "");
	snprintf(text, sizeof text, "Disassembly of section %s:", annotation->section ? annotation->section : ".text");
	print_plain(p, p->number++, text);
	print_plain(p, p->number++, "");
	snprintf(text, sizeof text, "%016" PRIx64 " <%s>:", annotation->start, annotation->name);
	print_plain(p, p->number++, text);
}

/* A source line as perf shows objdump's: without blanks around it, tabs expanded. */
static void print_source(struct printing *p, const char *line)
{
	struct str text CLEANUP_STR = { 0 };
	line += strspn(line, " \t");
	size_t len = strlen(line);
	while (len && (line[len - 1] == ' ' || line[len - 1] == '\t'))
		len--;
	for (size_t i = 0; i < len; i++) {
		str_putc(&text, line[i] == '\t' ? ' ' : line[i]);
		while (line[i] == '\t' && text.len % 8)
			str_putc(&text, ' ');
	}
	print_plain(p, p->number, str_text(&text));
}

static void print_head(struct printing *p)
{
	char text[CODE_TEXT_SIZE];
	if (p->style->objdump) {
		print_objdump_head(p);
		return;
	}
	snprintf(text, sizeof text, "%#" PRIx64 " <%s>:", p->view->annotation->start, p->view->annotation->name);
	print_plain(p, 0, text);
}

void annotate_text_print(const struct annotate_style *style, const struct annotate_view *view, struct writer *out)
{
	const struct annotation *annotation = view->annotation;
	struct printing p = { .style = style, .view = view, .out = out };
	p.count_width = (style->value == ANNOTATE_PERIOD ? 12 : 8) * (int)view->event_count;
	p.address_width = address_width(annotation);
	p.percents = memory_zero(view->event_count, sizeof *p.percents);
	if (style->print_lines)
		annotate_summary_print(style, view, out);
	print_title(&p);
	if (style->counts)
		print_hits(&p);
	print_head(&p);
	for (size_t i = 0; i < annotation->lines.count; i++) {
		const struct annotated_line *line = &annotation->lines.items[i];
		if (line->kind == ANNOTATED_CODE)
			print_code(&p, line);
		else if (style->objdump)
			print_source(&p, line->text);
		else
			print_plain(&p, line->line_number, line->text);
		p.number++;
	}
	free(p.percents);
	str_fini(&p.text);
	str_fini(&p.path);
	str_fini(&p.last_path);
}
