#include "render/annotate/hottest_text.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/annotate/line_sums.h"
#include "analysis/place/source_line.h"

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

void hottest_head_print(struct writer *out)
{
	writer_puts(out, "# Overhead  Of function  Function [module]: address instruction, source line; "
		"hottest source line and its share of the function\n");
}

/* The source line with the largest sum: another one than that of the hottest instruction, where a line has many. */
static void add_line(const struct annotate_style *style, const struct annotate_view *view, struct str *text)
{
	struct line_sums sums;
	uint32_t event = view->events[0];
	line_sums_make(&sums, view->annotation, event);
	struct line_sum line = line_sums_hottest(&sums);
	line_sums_fini(&sums);
	if (!line.number)
		return;
	str_puts(text, "; ");
	source_line_add_known(&(struct source_line){ line.file, line.number }, style->full_paths, text);
	str_printf(text, " %.2f%%", share(line.count.period, view->annotation->totals[event].period));
}

void hottest_text_print(const struct annotate_style *style, const struct annotate_view *view, struct writer *out)
{
	const struct annotation *annotation = view->annotation;
	struct str text CLEANUP_STR = { 0 };
	uint32_t event = view->events[0];
	if (annotation->hottest == UINT32_MAX || !annotation->totals)
		return;
	const struct annotated_line *line = &annotation->lines.items[annotation->hottest];
	uint64_t period = annotated_count(line, event).period;
	str_printf(&text, "%9.2f%%  %10.2f%%  %s [%s]: %" PRIx64, share(period, view->whole[event].period),
		share(period, annotation->totals[event].period), annotation->name, annotation->module->short_name, line->address);
	if (line->mnemonic)
		str_printf(&text, " %s%s%s", line->mnemonic, *line->operands ? " " : "", line->operands);
	if (line->reference_name || line->target_name)
		str_printf(&text, " <%s>", line->target_name ? line->target_name : line->reference_name);
	if (line->file && line->line_number) {
		str_puts(&text, ", ");
		source_line_add_known(&(struct source_line){ line->file, line->line_number }, style->full_paths, &text);
	}
	add_line(style, view, &text);
	text_join_lines(text.text, text.len);
	str_putc(&text, '\n');
	writer_add(out, str_text(&text), text.len);
}
