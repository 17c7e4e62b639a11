#include "render/text/thread_values.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "data/evsel_name.h"

static int wider(int width, int other)
{
	return other > width ? other : width;
}

struct widths {
	int pid, tid, name, raw, count;
};

static struct widths widths_of(const struct thread_values *values, const struct evlist *evlist)
{
	struct widths w = { .pid = 3, .tid = 3, .name = 4, .raw = 3, .count = 5 };
	char name[EVSEL_NAME_MAX];
	for (size_t i = 0; i < values->threads.count; i++) {
		const struct thread_value *thread = &values->threads.items[i];
		w.pid = wider(w.pid, snprintf(NULL, 0, "%d", thread->pid));
		w.tid = wider(w.tid, snprintf(NULL, 0, "%d", thread->tid));
		for (size_t j = 0; j < values->events.count; j++)
			w.count = wider(w.count, snprintf(NULL, 0, "%" PRIu64, thread->counts[j]));
	}
	for (size_t j = 0; j < values->events.count; j++) {
		w.name = wider(w.name, (int)strlen(evsel_name(&evlist->events.items[values->events.items[j]], name, sizeof name)));
		w.raw = wider(w.raw, snprintf(NULL, 0, "%" PRIx32, values->events.items[j]));
	}
	return w;
}

static void print_pretty(const struct thread_values *values, const struct evlist *evlist, struct writer *out)
{
	struct widths w = widths_of(values, evlist);
	char name[EVSEL_NAME_MAX];
	int *columns = memory_zero(values->events.count + 1, sizeof *columns);
	writer_printf(out, "# %*s  %*s", w.pid, "PID", w.tid, "TID");
	for (size_t j = 0; j < values->events.count; j++) {
		const char *title = evsel_name(&evlist->events.items[values->events.items[j]], name, sizeof name);
		columns[j] = (int)strlen(title);
		for (size_t i = 0; i < values->threads.count; i++)
			columns[j] = wider(columns[j], snprintf(NULL, 0, "%" PRIu64, values->threads.items[i].counts[j]));
		writer_printf(out, "  %*s", columns[j], title);
	}
	writer_putc(out, '\n');
	for (size_t i = 0; i < values->threads.count; i++) {
		const struct thread_value *thread = &values->threads.items[i];
		writer_printf(out, "  %*d  %*d", w.pid, thread->pid, w.tid, thread->tid);
		for (size_t j = 0; j < values->events.count; j++)
			writer_printf(out, "  %*" PRIu64, columns[j], thread->counts[j]);
		writer_putc(out, '\n');
	}
	free(columns);
}

/* As perf has it: all on one line. */
static void print_raw(const struct thread_values *values, const struct evlist *evlist, struct writer *out)
{
	struct widths w = widths_of(values, evlist);
	char name[EVSEL_NAME_MAX];
	writer_printf(out, "# %*s  %*s  %*s  %*s  %*s\n", w.pid, "PID", w.tid, "TID", w.name, "Name", w.raw, "Raw", w.count, "Count");
	for (size_t i = 0; i < values->threads.count; i++)
		for (size_t j = 0; j < values->events.count; j++) {
			const struct thread_value *thread = &values->threads.items[i];
			uint32_t event = values->events.items[j];
			writer_printf(out, "  %*d  %*d  %*s  %*" PRIx32 "  %*" PRIu64, w.pid, thread->pid, w.tid, thread->tid, w.name,
				evsel_name(&evlist->events.items[event], name, sizeof name), w.raw, event, w.count, thread->counts[j]);
		}
}

void thread_values_print(const struct thread_values *values, const struct evlist *evlist, bool raw, struct writer *out)
{
	if (raw)
		print_raw(values, evlist, out);
	else
		print_pretty(values, evlist, out);
}
