#include "cmd/ipc/ipc_text.h"

#include <string.h>

enum { SPARKS = 8, SPARKLINE_MAX = 160 };

static void put_length(const struct ipc_length *length, struct writer *out)
{
	unsigned long long count = length->count;
	if (!length->ns)
		writer_printf(out, "%llu cycles", count);
	else if (count >= 1000000)
		writer_printf(out, "%g ms", (double)count / 1e6);
	else if (count >= 1000)
		writer_printf(out, "%g us", (double)count / 1e3);
	else
		writer_printf(out, "%llu ns", count);
}

static void put_track(const struct ipc_result *result, const struct ipc_track *track, struct writer *out)
{
	struct str title CLEANUP_STR = { 0 };
	ipc_track_title(result->tracks, track, &title);
	writer_name(out, str_text(&title), title.len);
}

void ipc_text_head(const struct ipc_result *result, const struct ipc_grid *grid, struct writer *out)
{
	for (size_t i = 0; i < result->tracks->list.count; i++) {
		const struct ipc_track *track = &result->tracks->list.items[i];
		writer_puts(out, "# ");
		put_track(result, track, out);
		writer_printf(out, ": %llu instructions in %llu cycles, IPC %.3f; %zu %s", (unsigned long long)track->instructions,
			(unsigned long long)track->cycles, track->cycles ? (double)track->instructions / (double)track->cycles : 0,
			track->ranges.count, result->tracks->counted ? "intervals of counters" : "timed ranges");
		if (track->gaps)
			writer_printf(out, ", %llu with lost trace", (unsigned long long)track->gaps);
		writer_putc(out, '\n');
	}
	if (!grid->window.count)
		return;
	writer_puts(out, grid->window.count == grid->step.count ? "# buckets of " : "# windows of ");
	put_length(&grid->window, out);
	if (grid->window.count != grid->step.count) {
		writer_puts(out, " every ");
		put_length(&grid->step, out);
	}
	writer_puts(out, "\n");
}

/* The mean of the windows that one letter shows; < 0: lost trace. */
static double mean_of(const struct ipc_windows *windows, size_t from, size_t to)
{
	double instructions = 0, cycles = 0;
	for (size_t i = from; i < to; i++) {
		if (windows->list.items[i].gap)
			return -1;
		instructions += windows->list.items[i].linear;
		cycles += (double)ipc_window_cycles(&windows->list.items[i]);
	}
	return cycles > 0 ? instructions / cycles : 0;
}

static void put_sparkline(const struct ipc_result *result, const struct ipc_windows *windows, double largest, struct writer *out)
{
	static const char *const sparks[SPARKS] = { "\xe2\x96\x81", "\xe2\x96\x82", "\xe2\x96\x83", "\xe2\x96\x84", "\xe2\x96\x85",
		"\xe2\x96\x86", "\xe2\x96\x87", "\xe2\x96\x88" };
	size_t count = windows->list.count, letters = count < SPARKLINE_MAX ? count : SPARKLINE_MAX;
	uint64_t before = 0;
	for (size_t i = 0; i < letters; i++) {
		size_t from = i * count / letters, to = (i + 1) * count / letters;
		const struct ipc_window *first = &windows->list.items[from];
		/* a pause of more than a window */
		if (i && !result->tracks->timeless && first->from_ns > before + (windows->list.items[to - 1].to_ns - first->from_ns))
			writer_putc(out, ' ');
		before = windows->list.items[to - 1].to_ns;
		double mean = mean_of(windows, from, to);
		size_t level = largest > 0 && mean > 0 ? (size_t)(mean / largest * SPARKS) : 0;
		writer_puts(out, mean < 0 ? "!" : sparks[level < SPARKS ? level : SPARKS - 1]);
	}
}

void ipc_text_sparklines(const struct ipc_result *result, const struct ipc_grid *grid, struct writer *out)
{
	double largest = 0;
	for (size_t t = 0; t < result->windows.count; t++)
		for (size_t i = 0; i < result->windows.items[t].list.count; i++) {
			const struct ipc_window *window = &result->windows.items[t].list.items[i];
			double rate = ipc_window_rate(window, window->linear);
			largest = rate > largest ? rate : largest;
		}
	for (size_t t = 0; t < result->windows.count; t++) {
		put_track(result, &result->tracks->list.items[t], out);
		writer_puts(out, "  ");
		put_sparkline(result, &result->windows.items[t], largest, out);
		writer_puts(out, "  up to IPC ");
		writer_printf(out, "%.2f, ", largest);
		put_length(&grid->window, out);
		writer_puts(out, " each\n");
	}
}
