#include "cmd/offcpu_text.h"

#include <string.h>

void offcpu_text_time(uint64_t ns, struct writer *out)
{
	if (ns >= 1000000000)
		writer_printf(out, "%7.2f s ", (double)ns / 1e9);
	else if (ns >= 1000000)
		writer_printf(out, "%7.2f ms", (double)ns / 1e6);
	else
		writer_printf(out, "%7.2f us", (double)ns / 1e3);
}

/* One function a line, innermost first. */
static void print_stack(const char *stack, struct writer *out)
{
	const char *end = stack + strlen(stack);
	while (end > stack) {
		const char *start = memrchr(stack, ';', (size_t)(end - stack));
		start = start ? start + 1 : stack;
		writer_puts(out, "               ");
		writer_name(out, start, (size_t)(end - start));
		writer_putc(out, '\n');
		end = start > stack ? start - 1 : stack;
	}
	writer_putc(out, '\n');
}

static void print_heading(enum offcpu_group group, struct writer *out)
{
	writer_puts(out, "#     Time   Share    Waits        Max  ");
	if (group == OFFCPU_BY_FUTEX)
		writer_puts(out, "           Futex  Holder                   Waiter            Lock (where)\n");
	else if (group == OFFCPU_BY_REASON)
		writer_puts(out, "Reason\n");
	else
		writer_puts(out, group == OFFCPU_BY_THREAD ? "Reason      State      TID  Command\n" : "Reason      State  Command           Where\n");
}

static void print_futex(const struct offcpu_row *row, struct writer *out)
{
	static const char state[] = "-";
	if (row->holder)
		writer_printf(out, "%16llx  %7d %-15s  ", (unsigned long long)row->futex, row->holder, row->holder_comm);
	else
		writer_printf(out, "%16llx  %7s %-15s  ", (unsigned long long)row->futex, state, "");
	writer_printf(out, "%-16s  %s (%s)\n", row->comm, *row->symbol ? row->symbol : "-", row->where);
}

static void print_row(const struct offcpu_rows *rows, const struct offcpu_row *row, struct writer *out)
{
	static const char *const states[] = { "-", "S", "D", "S D" };
	const char *reason = wait_reason_title(row->reason);
	offcpu_text_time(row->total_ns, out);
	writer_printf(out, "  %5.1f%%  %7llu ", rows->total_ns ? 100.0 * (double)row->total_ns / (double)rows->total_ns : 0,
		(unsigned long long)row->count);
	offcpu_text_time(row->max_ns, out);
	writer_puts(out, "  ");
	switch (rows->options.group) {
	case OFFCPU_BY_FUTEX:
		print_futex(row, out);
		break;
	case OFFCPU_BY_REASON:
		writer_printf(out, "%s\n", reason);
		break;
	case OFFCPU_BY_THREAD:
		writer_printf(out, "%-10s  %-5s  %7d  %s\n", reason, states[row->state & 3], row->tid, row->comm);
		break;
	default:
		writer_printf(out, "%-10s  %-5s  %-16s  %s", reason, states[row->state & 3], row->comm, row->where);
		writer_printf(out, *row->waker ? "  (woken by %s)\n" : "%s\n", row->waker);
	}
}

void offcpu_text_print(const struct offcpu_rows *rows, const struct offcpu_text *how, struct writer *out)
{
	writer_puts(out, "# ");
	offcpu_text_time(rows->total_ns, out);
	writer_printf(out, " blocked in %llu waits\n", (unsigned long long)rows->count);
	print_heading(rows->options.group, out);
	for (size_t i = 0; i < rows->list.count && i < how->entries; i++) {
		print_row(rows, &rows->list.items[i], out);
		if (how->stacks && rows->options.group != OFFCPU_BY_REASON)
			print_stack(rows->list.items[i].stack, out);
	}
	if (rows->list.count > how->entries)
		writer_printf(out, "# %zu more rows: -E\n", rows->list.count - how->entries);
}
