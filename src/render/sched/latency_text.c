#include "render/sched/sched_text.h"
#include "render/sched/times.h"

static double milliseconds(uint64_t ns)
{
	return (double)ns / 1e6;
}

static void print_row(const struct latency *latency, const struct latency_row *row, struct writer *out)
{
	enum { NAME_COLUMNS = 24 };
	CLEANUP_STR struct str name = { 0 };
	if (row->merged > 1)
		str_printf(&name, "  %s:(%u) ", row->name, row->merged);
	else
		str_printf(&name, "  %s:%d ", row->name, latency->reader.states.tasks.items[row->task].tid);
	writer_name(out, name.text, name.len);
	if (name.len < NAME_COLUMNS)
		writer_pad(out, ' ', NAME_COLUMNS - name.len);
	writer_printf(out, "|%11.3f ms |%9llu | avg:%8.3f ms | max:%8.3f ms | max start: ", milliseconds(row->runtime_ns),
		(unsigned long long)row->count, milliseconds(latency_average_ns(row)), milliseconds(row->max_ns));
	times_add_seconds(out, row->max_start, 12);
	writer_puts(out, " s | max end: ");
	times_add_seconds(out, row->max_end, 12);
	writer_puts(out, " s\n");
}

static void print_line(struct writer *out, size_t dashes)
{
	writer_putc(out, ' ');
	writer_pad(out, '-', dashes);
	writer_putc(out, '\n');
}

void sched_faults_print(const struct sched_faults *faults, struct writer *out)
{
	if (faults->unordered && faults->wakes)
		writer_printf(out, "  INFO: %.3f%% unordered timestamps (%llu out of %llu)\n",
			(double)faults->unordered / (double)faults->wakes * 100, (unsigned long long)faults->unordered,
			(unsigned long long)faults->wakes);
	if (faults->lost && faults->events)
		writer_printf(out, "  INFO: %.3f%% lost events (%llu out of %llu, in %llu chunks)\n",
			(double)faults->lost / (double)faults->events * 100, (unsigned long long)faults->lost,
			(unsigned long long)faults->events, (unsigned long long)faults->lost_chunks);
	if (faults->contradictions && faults->wakes)
		writer_printf(out, "  INFO: %.3f%% context switch bugs (%llu out of %llu)%s\n",
			(double)faults->contradictions / (double)faults->wakes * 100, (unsigned long long)faults->contradictions,
			(unsigned long long)faults->wakes, faults->lost ? " (due to lost events?)" : "");
}

void latency_print(const struct latency *latency, const struct sched_faults *faults, struct writer *out)
{
	writer_putc(out, '\n');
	print_line(out, 139);
	writer_puts(out, "  Task                  |   Runtime ms  |  Count   | Avg delay ms    | Max delay ms    "
		"| Max delay start           | Max delay end          |\n");
	print_line(out, 139);
	for (size_t i = 0; i < latency->rows.count; i++)
		print_row(latency, &latency->rows.items[i], out);
	print_line(out, 113);
	writer_printf(out, "  TOTAL:                |%11.3f ms |%9llu |\n", milliseconds(latency->runtime_ns),
		(unsigned long long)latency->count);
	print_line(out, 51);
	sched_faults_print(faults, out);
	writer_putc(out, '\n');
}
