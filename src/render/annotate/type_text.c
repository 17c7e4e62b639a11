#include "render/annotate/type_text.h"

#include <inttypes.h>

enum { INDENT = 4, COLUMNS_WIDTH = 24 };

static int value_width(const struct annotate_style *style)
{
	return style->value == ANNOTATE_PERIOD ? 11 : 7;
}

static void print_heading(const struct annotate_style *style, const struct type_view *view, struct writer *out)
{
	static const char *const titles[] = { [ANNOTATE_PERCENT] = "Percent", [ANNOTATE_PERIOD] = "Period", [ANNOTATE_SAMPLES] = "Samples" };
	struct str text CLEANUP_STR = { 0 };
	const struct data_type *type = data_types_get(view->list->types, view->sum->type);
	uint64_t samples = 0;
	for (size_t event = 0; event < view->list->event_count; event++)
		for (size_t i = 0; i < view->event_count; i++)
			samples += view->events[i] == event ? view->sum->totals[event].samples : 0;
	str_printf(&text, "Annotate type: '%s' in %s (%" PRIu64 " samples):\n", type->name, view->module, samples);
	for (size_t i = 0; view->group && i < view->event_count; i++)
		str_printf(&text, " event[%zu] = %s\n", i, view->event_names[i]);
	str_puts(&text, "============================================================================\n");
	str_printf(&text, "%*s %10s %10s  %s\n", (value_width(style) + 1) * (int)view->event_count, titles[style->value], "offset", "size",
		"field");
	writer_add(out, str_text(&text), text.len);
}

static void print_values(const struct annotate_style *style, const struct type_view *view, const struct data_member *member,
	struct writer *out)
{
	for (size_t i = 0; i < view->event_count; i++) {
		struct str text CLEANUP_STR = { 0 };
		struct hit_count count = type_sum_range(view->sum, view->events[i], member->offset, member->size);
		uint64_t whole = view->sum->inside[view->events[i]].period;
		double percent = whole ? 100.0 * (double)count.period / (double)whole : 0;
		if (style->value == ANNOTATE_PERIOD)
			str_printf(&text, " %11" PRIu64, count.period);
		else if (style->value == ANNOTATE_SAMPLES)
			str_printf(&text, " %7" PRIu64, count.samples);
		else
			str_printf(&text, " %7.2f", percent);
		annotate_colour(style, &text, percent);
		if (style->colour)
			writer_add_styled(out, str_text(&text), text.len);
		else
			writer_add(out, str_text(&text), text.len);
	}
}

static void print_member(const struct annotate_style *style, const struct type_view *view, const struct data_member *member,
	struct writer *out)
{
	struct str text CLEANUP_STR = { 0 };
	print_values(style, view, member, out);
	str_printf(&text, " %#10" PRIx64 " %#10" PRIx64 "  %*s%s\t%s%s", member->offset, member->size, INDENT * (int)member->depth, "",
		member->type, member->name ? member->name : "", member->parent ? " {\n" : ";\n");
	writer_add(out, str_text(&text), text.len);
}

/* The ends of the members that contain others, from the innermost open one to those at `depth`. */
static void print_ends(const struct annotate_style *style, const struct type_view *view, uint32_t open, uint32_t depth, struct writer *out)
{
	struct str text CLEANUP_STR = { 0 };
	while (open > depth)
		str_printf(&text, "%*s};\n", (value_width(style) + 1) * (int)view->event_count + COLUMNS_WIDTH + INDENT * (int)--open, "");
	writer_add(out, str_text(&text), text.len);
}

void type_text_print(const struct annotate_style *style, const struct type_view *view, struct writer *out)
{
	const struct data_type *type = data_types_get(view->list->types, view->sum->type);
	struct data_member whole = { .type = type->name, .size = type->size, .parent = type->members.count != 0 };
	uint32_t open = whole.parent;
	print_heading(style, view, out);
	print_member(style, view, &whole, out);
	for (size_t i = 0; i < type->members.count; i++) {
		const struct data_member *member = &type->members.items[i];
		print_ends(style, view, open, member->depth, out);
		print_member(style, view, member, out);
		open = member->depth + member->parent;
	}
	print_ends(style, view, open, 0, out);
	writer_puts(out, "\n");
}

static double percent_of(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void print_sums(uint64_t total, uint64_t good, struct str *text)
{
	str_printf(text, "total %" PRIu64 ", ok %" PRIu64 " (%.1f%%), bad %" PRIu64 " (%.1f%%)\n", total, good, percent_of(good, total),
		total - good, percent_of(total - good, total));
}

void type_statistics_print(const struct data_statistics *statistics, struct writer *out)
{
	static const char *const names[ACCESS_RESULTS] = { [ACCESS_NO_SYMBOL] = "no_sym", [ACCESS_NO_INSTRUCTION] = "no_insn",
		[ACCESS_NO_OPERANDS] = "no_insn_ops", [ACCESS_NO_MEMORY] = "no_mem_ops", [ACCESS_NO_REGISTER] = "no_reg",
		[ACCESS_NO_DEBUG_INFO] = "no_dbginfo", [ACCESS_NO_UNIT] = "no_cuinfo", [ACCESS_NO_VARIABLE] = "no_var",
		[ACCESS_NO_TYPE] = "no_typeinfo", [ACCESS_NO_SIZE] = "invalid_size", [ACCESS_BAD_OFFSET] = "bad_offset",
		[ACCESS_TRACKED] = "insn_track" };
	struct str text CLEANUP_STR = { 0 };
	str_puts(&text, "Annotate data type stats:\n");
	print_sums(statistics->total, statistics->results[ACCESS_FOUND], &text);
	str_puts(&text, "-----------------------------------------------------------\n");
	for (size_t i = ACCESS_NO_SYMBOL; i < ACCESS_RESULTS; i++)
		if (statistics->results[i])
			str_printf(&text, "%10" PRIu64 " : %s\n", statistics->results[i], names[i]);
	str_putc(&text, '\n');
	writer_add(out, str_text(&text), text.len);
}

void type_instructions_print(const struct data_statistics *statistics, struct writer *out)
{
	struct str text CLEANUP_STR = { 0 };
	uint64_t good = 0, bad = 0;
	for (size_t i = 0; i < statistics->instructions.count; i++) {
		good += statistics->instructions.items[i].good;
		bad += statistics->instructions.items[i].bad;
	}
	str_puts(&text, "Annotate Instruction stats\n");
	print_sums(good + bad, good, &text);
	str_printf(&text, "\n  %-20s: %5s %5s\n", "Name/opcode", "Good", "Bad");
	str_puts(&text, "-----------------------------------------------------------\n");
	for (size_t i = 0; i < statistics->instructions.count; i++) {
		const struct data_instruction *instruction = &statistics->instructions.items[i];
		str_printf(&text, "  %-20s: %5" PRIu64 " %5" PRIu64 "\n", instruction->name, instruction->good, instruction->bad);
	}
	str_putc(&text, '\n');
	writer_add(out, str_text(&text), text.len);
}
