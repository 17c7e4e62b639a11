#include "analysis/ipc/ipc_around.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

#include "base/statistics.h"

bool ipc_anchor_parse(struct ipc_anchor *anchor, const char *text)
{
	*anchor = (struct ipc_anchor){ .kind = -1 };
	size_t len = strlen(text);
	static const char exit_word[] = ":exit";
	if (len > strlen(exit_word) && strcmp(text + len - strlen(exit_word), exit_word) == 0) {
		anchor->exit = true;
		len -= strlen(exit_word);
	}
	size_t word = 0;
	while (word < len && text[word] != ':')
		word++;
	for (int kind = 0; kind < IPC_EVENT_KINDS; kind++) {
		const char *known = ipc_event_word(kind);
		if (strlen(known) == word && strncmp(known, text, word) == 0)
			anchor->kind = kind;
	}
	if (anchor->kind >= 0)
		word += word < len;
	else if (word < len)
		return false;
	else
		word = 0;
	if (len - word >= sizeof anchor->name || len == 0)
		return false;
	memcpy(anchor->name, text + word, len - word);
	return true;
}

bool ipc_anchor_matches(const struct ipc_anchor *anchor, const struct ipc_tracks *tracks, const struct ipc_event *event)
{
	return (anchor->kind < 0 || anchor->kind == event->kind)
		&& (!anchor->name[0] || fnmatch(anchor->name, strtab_text(&tracks->names, event->name), 0) == 0);
}

static void add_window(struct ipc_around *around, struct ipc_around_row *row, const struct ipc_track *track, uint64_t from, uint64_t to,
	unsigned width)
{
	struct ipc_window window;
	if (from >= to)
		return;
	ipc_window_at(track, from, to, width, &window);
	if (window.gap) {
		around->gaps++;
		return;
	}
	double rate = ipc_window_rate(&window, window.linear);
	row->count++;
	row->sum += rate;
	row->squares += rate * rate;
	row->least += ipc_window_rate(&window, (double)window.least);
	row->most += ipc_window_rate(&window, (double)window.most);
}

/* origin + offset on an axis that ends at `end`; false: outside. */
static bool place_of(uint64_t origin, int64_t offset, uint64_t first, uint64_t end, uint64_t *place)
{
	if (offset < 0 && origin - first < (uint64_t)-offset)
		return false;
	*place = origin + (uint64_t)offset;
	return *place <= end;
}

static void add_occurrence(struct ipc_around *around, const struct ipc_track *track, const struct ipc_event *event, bool exit,
	const struct ipc_grid *grid)
{
	const struct ipc_range *ranges = track->ranges.items;
	bool ns = grid->window.ns;
	uint64_t first = ns ? ranges[0].from_ns : 0, end = ns ? ranges[track->ranges.count - 1].to_ns : track->cycles;
	uint64_t origin = ns ? (exit ? event->to_ns : event->from_ns) : exit ? event->to_cycle : event->from_cycle;
	if (origin < first || origin > end)
		return;
	around->occurrences++;
	for (size_t i = 0; i < around->rows.count; i++) {
		struct ipc_around_row *row = &around->rows.items[i];
		uint64_t from, to;
		if (!place_of(origin, row->from, first, end, &from) || !place_of(origin, row->to, first, end, &to))
			continue;
		if (ns) {
			from = ipc_track_cycle(track, from);
			to = ipc_track_cycle(track, to);
		}
		add_window(around, row, track, from, to, grid->width);
	}
}

static void finish_row(struct ipc_around_row *row)
{
	static const double CONFIDENCE = 0.975; /* two-sided: 95 % */
	double n = (double)row->count;
	if (!row->count)
		return;
	row->mean = row->sum / n;
	row->least /= n;
	row->most /= n;
	double variance = n > 1 ? (row->squares - n * row->mean * row->mean) / (n - 1) : 0;
	double error = n > 1 && variance > 0 ? sqrt(variance / n) * statistics_student_quantile(CONFIDENCE, n - 1) : 0;
	row->low = row->mean - error;
	row->high = row->mean + error;
}

void ipc_around_make(struct ipc_around *around, const struct ipc_tracks *tracks, const struct ipc_anchor *anchor, uint64_t span,
	const struct ipc_grid *grid)
{
	int64_t bin = (int64_t)grid->window.count, bins = (int64_t)(span / grid->window.count);
	bins = bins < 1 ? 1 : bins > IPC_AROUND_ROWS_MAX / 2 ? IPC_AROUND_ROWS_MAX / 2 : bins;
	for (int64_t i = -bins; i < bins; i++)
		vec_push(&around->rows, ((struct ipc_around_row){ .from = i * bin, .to = (i + 1) * bin }));
	for (size_t t = 0; t < tracks->list.count; t++) {
		const struct ipc_track *track = &tracks->list.items[t];
		for (size_t i = 0; i < track->events.count; i++)
			if (ipc_anchor_matches(anchor, tracks, &track->events.items[i]))
				add_occurrence(around, track, &track->events.items[i], anchor->exit, grid);
	}
	for (size_t i = 0; i < around->rows.count; i++)
		finish_row(&around->rows.items[i]);
}
