#include "render/lock/lock_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/lock/lock_type.h"

static const char *const broken_names[LOCK_BROKEN_COUNT] = { "acquire", "acquired", "contended", "release" };
static const char *const loss_names[LOCK_LOSS_CAUSES] = { "task", "stack", "time", "data" };

/* perf divides as float. */
static void time_print(uint64_t ns, unsigned width, struct writer *out)
{
	static const struct {
		float base;
		const char *unit;
	} units[] = { { 1e9f * 3600, "h " }, { 1e9f * 60, "m " }, { 1e9f, "s " }, { 1e6f, "ms" }, { 1e3f, "us" } };
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		if ((float)ns >= units[i].base) {
			writer_printf(out, "%*.2f %s", (int)width - 3, (double)((float)ns / units[i].base), units[i].unit);
			return;
		}
	}
	writer_printf(out, "%*" PRIu64 " ns", (int)width - 3, ns);
}

static void field_print(const struct lock_stat *stat, enum lock_field_id field, struct writer *out)
{
	uint64_t value = lock_stat_value(stat, field);
	if (lock_fields[field].time)
		time_print(value, lock_fields[field].width, out);
	else
		writer_decimal(out, value, lock_fields[field].width);
}

static void headings(const struct lock_view *view, struct writer *out)
{
	for (unsigned i = 0; i < view->choice->count; i++) {
		const struct lock_field *field = &lock_fields[view->choice->shown[i]];
		writer_printf(out, "%*s ", (int)field->width, field->title);
	}
}

static uint64_t sum_of(const uint32_t counts[LOCK_BROKEN_COUNT])
{
	uint64_t sum = 0;
	for (unsigned i = 0; counts && i < LOCK_BROKEN_COUNT; i++)
		sum += counts[i];
	return sum;
}

static uint64_t lost_of(const struct lock_view *view)
{
	uint64_t sum = 0;
	for (unsigned i = 0; view->lost && i < LOCK_LOSS_CAUSES; i++)
		sum += view->lost[i];
	return sum;
}

static void rate_print(uint64_t bad, uint64_t total, const char *title, struct writer *out)
{
	writer_printf(out, "\n=== output for debug ===\n\nbad: %" PRIu64 ", total: %" PRIu64 "\n", bad, total);
	writer_printf(out, "bad rate: %.2f %%\nhistogram of %s\n", (double)bad / (double)total * 100, title);
}

static void broken_print(const struct lock_view *view, uint64_t bad, uint64_t total, struct writer *out)
{
	if (view->quiet || !total || (!sum_of(view->broken) && view->verbose <= 0))
		return;
	rate_print(bad, total, "events caused bad sequence", out);
	for (unsigned i = 0; i < LOCK_BROKEN_COUNT; i++)
		writer_printf(out, " %10s: %u\n", broken_names[i], view->broken ? view->broken[i] : 0);
}

void lock_report_print(const struct lock_view *view, struct writer *out)
{
	enum { NAME_WIDTH = 20, NAME_CUT = 16 };
	uint64_t total = 0, bad = 0;
	int printed = 0;
	if (!view->quiet) {
		writer_printf(out, "%*s ", NAME_WIDTH, "Name");
		headings(view, out);
		writer_puts(out, "\n\n");
	}
	for (size_t i = 0; i < view->order->list.count; i++) {
		const struct lock_stat *stat = view->order->list.items[i];
		total++;
		bad += stat->broken;
		if (!stat->acquired)
			continue;
		bool cut = strlen(stat->name) >= NAME_WIDTH;
		writer_printf(out, cut ? "%*s%.*s... " : "%*s%.*s ", cut ? 1 : (int)(NAME_WIDTH - strlen(stat->name)), "",
			cut ? NAME_CUT : NAME_WIDTH, stat->name);
		for (unsigned k = 0; k < view->choice->count; k++) {
			field_print(stat, view->choice->shown[k], out);
			writer_putc(out, ' ');
		}
		writer_putc(out, '\n');
		if (++printed >= view->entries)
			break;
	}
	broken_print(view, bad, total, out);
}

static void contention_headings(const struct lock_view *view, struct writer *out)
{
	const char *who = view->owners ? "owner" : "comm", *x = view->separator;
	if (!x) {
		headings(view, out);
		switch (view->group) {
		case LOCK_GROUP_TASK:
			writer_printf(out, "  %10s   %s\n\n", "pid", who);
			return;
		case LOCK_GROUP_CALLER:
			writer_printf(out, "  %10s   %s\n\n", "type", "caller");
			return;
		case LOCK_GROUP_ADDRESS:
			writer_printf(out, "  %16s   %s\n\n", "address", "symbol");
			return;
		default:
			writer_puts(out, "  cgroup\n\n");
			return;
		}
	}
	writer_puts(out, "# output: ");
	for (unsigned i = 0; i < view->choice->count; i++)
		writer_printf(out, "%s%s ", lock_fields[view->choice->shown[i]].title, x);
	switch (view->group) {
	case LOCK_GROUP_TASK:
		writer_printf(out, "pid%s %s\n", x, who);
		break;
	case LOCK_GROUP_CALLER:
		writer_printf(out, "type%s caller", x);
		if (view->verbose > 0)
			writer_printf(out, "%s stacktrace", x);
		writer_putc(out, '\n');
		break;
	case LOCK_GROUP_ADDRESS:
		writer_printf(out, "address%s symbol%s type\n", x, x);
		break;
	default:
		writer_puts(out, "cgroup\n");
	}
}

static void row_print(const struct lock_view *view, const struct lock_stat *stat, struct writer *out)
{
	char text[256];
	for (unsigned i = 0; i < view->choice->count; i++) {
		field_print(stat, view->choice->shown[i], out);
		writer_putc(out, ' ');
	}
	switch (view->group) {
	case LOCK_GROUP_CALLER:
		writer_printf(out, "  %10s   %s\n", lock_type_text(stat->flags), stat->name);
		break;
	case LOCK_GROUP_TASK:
		writer_printf(out, "  %10d   %s\n", (int)stat->key, stat->name);
		break;
	case LOCK_GROUP_ADDRESS:
		writer_printf(out, "  %016" PRIx64 "   %s (%s)\n", stat->key, stat->name, lock_type_name(stat->flags));
		break;
	default:
		writer_printf(out, "  %s\n", stat->name);
	}
	for (uint32_t i = 0; view->group == LOCK_GROUP_CALLER && view->verbose > 0 && i < stat->frame_count; i++) {
		lock_frame_text(&stat->frames[i], text, sizeof text);
		writer_printf(out, "\t\t\t%#" PRIx64 "  %s\n", stat->frames[i].address, text);
	}
}

static void row_print_separated(const struct lock_view *view, const struct lock_stat *stat, struct writer *out)
{
	char text[256];
	const char *x = view->separator;
	for (unsigned i = 0; i < view->choice->count; i++)
		writer_printf(out, "%" PRIu64 "%s ", lock_stat_value(stat, view->choice->shown[i]), x);
	switch (view->group) {
	case LOCK_GROUP_CALLER:
		writer_printf(out, "%s%s %s", lock_type_text(stat->flags), x, stat->name);
		break;
	case LOCK_GROUP_TASK:
		writer_printf(out, "%d%s %s", (int)stat->key, x, stat->name);
		break;
	case LOCK_GROUP_ADDRESS:
		writer_printf(out, "%" PRIx64 "%s %s%s %s", stat->key, x, stat->name, x, lock_type_name(stat->flags));
		break;
	default:
		writer_puts(out, stat->name);
	}
	for (uint32_t i = 0; view->group == LOCK_GROUP_CALLER && view->verbose > 0 && i < stat->frame_count; i++) {
		lock_frame_text(&stat->frames[i], text, sizeof text);
		writer_printf(out, "%s %#" PRIx64 " %s", i ? ":" : x, stat->frames[i].address, text);
	}
	writer_putc(out, '\n');
}

static void footer(const struct lock_view *view, uint64_t total, uint64_t bad, struct writer *out)
{
	uint64_t lost = lost_of(view);
	if (view->broken)
		broken_print(view, bad, total, out);
	if (view->quiet || !total || (!lost && view->verbose <= 0))
		return;
	rate_print(lost, total + lost, "failure reasons", out);
	for (unsigned i = 0; i < LOCK_LOSS_CAUSES; i++)
		writer_printf(out, " %10s: %" PRIu64 "\n", loss_names[i], view->lost ? view->lost[i] : 0);
}

static void footer_separated(const struct lock_view *view, uint64_t total, uint64_t bad, struct writer *out)
{
	if (view->lost)
		bad = lost_of(view);
	if (view->quiet || !total || (!bad && view->verbose <= 0))
		return;
	writer_printf(out, "# debug: total=%" PRIu64 "%s bad=%" PRIu64, total + bad, view->separator, bad);
	for (unsigned i = 0; view->lost && i < LOCK_LOSS_CAUSES; i++)
		writer_printf(out, "%s bad_%s=%" PRIu64, view->separator, loss_names[i], view->lost[i]);
	for (unsigned i = 0; !view->lost && i < LOCK_BROKEN_COUNT; i++)
		writer_printf(out, "%s bad_%s=%u", view->separator, broken_names[i], view->broken ? view->broken[i] : 0);
	writer_putc(out, '\n');
}

/* As perf 6.15 has it. */
static void owner_stacks_print(const struct lock_view *view, struct writer *out)
{
	struct lock_view callers = *view;
	callers.group = LOCK_GROUP_CALLER;
	writer_puts(out, view->separator ? "# owner stack trace:\n" : "\n=== owner stack trace ===\n\n");
	for (size_t i = 0; i < view->owner_stacks->list.count; i++)
		if (view->owner_stacks->list.items[i]->total_ns)
			(view->separator ? row_print_separated : row_print)(&callers, view->owner_stacks->list.items[i], out);
}

void lock_contention_print(const struct lock_view *view, struct writer *out)
{
	uint64_t total = 0, bad = 0;
	int printed = 0;
	bool more = true;
	if (!view->quiet)
		contention_headings(view, out);
	for (size_t i = 0; i < view->order->list.count; i++) {
		const struct lock_stat *stat = view->order->list.items[i];
		if (!more && !view->entries)
			break;
		total += view->lost ? stat->contended : 1;
		bad += stat->broken;
		if (!more || !stat->total_ns)
			continue;
		(view->separator ? row_print_separated : row_print)(view, stat, out);
		more = ++printed < view->entries;
	}
	total += view->filtered;
	if (view->owner_stacks)
		owner_stacks_print(view, out);
	(view->separator ? footer_separated : footer)(view, total, bad, out);
}

static int compare_threads(const void *a, const void *b)
{
	const struct lock_thread *left = a, *right = b;
	return (uint32_t)left->tid < (uint32_t)right->tid ? -1 : (uint32_t)left->tid > (uint32_t)right->tid;
}

void lock_info_print(const struct lock_sink *sink, bool threads, bool locks, struct writer *out)
{
	if (threads) {
		size_t count = sink->threads.count;
		struct lock_thread *sorted = memory_zero(count + 1, sizeof *sorted);
		if (count)
			memcpy(sorted, sink->threads.items, count * sizeof *sorted);
		qsort(sorted, count, sizeof *sorted, compare_threads);
		writer_printf(out, "%10s: comm\n", "Thread ID");
		for (size_t i = 0; i < count; i++) {
			writer_printf(out, "%10d: ", sorted[i].tid);
			if (sorted[i].comm)
				writer_name(out, sorted[i].comm, strlen(sorted[i].comm));
			else
				writer_printf(out, ":%d", sorted[i].tid);
			writer_putc(out, '\n');
		}
		free(sorted);
	}
	if (locks) {
		struct lock_order order = { 0 };
		lock_stats_order_names(&sink->stats, &order);
		writer_puts(out, threads ? "\nAddress of instance: name of class\n" : "Address of instance: name of class\n");
		for (size_t i = 0; i < order.list.count; i++)
			writer_printf(out, " %#" PRIx64 ": %s\n", order.list.items[i]->key, order.list.items[i]->name);
		vec_fini(&order.list);
	}
}
