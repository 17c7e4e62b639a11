#include "render/svg/ipc_svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/ipc/ipc_lengths.h"
#include "base/xml_text.h"
#include "render/svg/ipc_plot.h"

enum {
	TRACK_HEAD = 26, RANGES_HEIGHT = 110, IPC_HEIGHT = 170, GAP = 12, LANE = 18, AXIS = 30, /* pixels, from the top of a track down */
	PIECES = 8000,          /* of a panel: ranges that are narrower are joined */
	WINDOWS = 4000, WINDOWS_CHOSEN = 400, STEPS = 4, EVENTS = 6000,
	LETTER = 6,             /* width of a letter of a label */
	DOTS = 200,             /* of more windows around an event, the dots are small */
};

enum lane { LANE_MODE, LANE_CALLS, LANE_SWITCHES, LANE_MARKS, LANE_PACKETS, LANE_LOSSES, LANES };

static const char *const lane_names[LANES] = { "mode", "system calls", "switches", "functions", "packets", "losses" };

static enum lane lane_of(uint8_t kind)
{
	static const uint8_t lanes[IPC_EVENT_KINDS] = { LANE_MODE, LANE_MODE, LANE_MODE, LANE_CALLS, LANE_SWITCHES, LANE_MARKS, LANE_SWITCHES,
		LANE_PACKETS, LANE_PACKETS, LANE_PACKETS, LANE_LOSSES, LANE_LOSSES };
	return lanes[kind];
}

struct picture {
	struct writer *out;
	const struct ipc_svg *svg;
	struct ipc_grid grid;
	double from, to;        /* of all tracks */
	bool ns;
};

static double start_of(const struct picture *picture, const struct ipc_range *range)
{
	return picture->ns ? (double)range->from_ns : (double)range->from_cycle;
}

static double end_of(const struct picture *picture, const struct ipc_range *range)
{
	return picture->ns ? (double)range->to_ns : (double)range->to_cycle;
}

/* Ranges that are drawn as one. */
struct piece {
	double from, to;
	uint64_t cycles, instructions;
	unsigned kind;          /* 0: known, 1: long, 2: gap */
};

static unsigned kind_of(const struct picture *picture, const struct ipc_range *range)
{
	uint64_t limit = picture->svg->limit ? picture->svg->limit : picture->grid.window.ns ? UINT64_MAX : picture->grid.window.count;
	return range->gap ? 2 : range->to_cycle - range->from_cycle > limit;
}

typedef VEC(struct piece) pieces;

static void join_ranges(const struct picture *picture, const struct ipc_track *track, pieces *to)
{
	double least = (picture->to - picture->from) / PIECES;
	for (size_t i = 0; i < track->ranges.count; i++) {
		const struct ipc_range *range = &track->ranges.items[i];
		double from = start_of(picture, range), end = end_of(picture, range);
		unsigned kind = kind_of(picture, range);
		struct piece *last = to->count ? &to->items[to->count - 1] : NULL;
		if (!last || last->kind != kind || from - last->to > least || last->to - last->from >= least || kind) {
			last = vec_add(to);
			*last = (struct piece){ .from = from, .kind = kind };
		}
		last->to = end;
		last->cycles += range->to_cycle - range->from_cycle;
		last->instructions += range->instructions;
	}
}

static double piece_rate(const struct piece *piece)
{
	return piece->cycles ? (double)piece->instructions / (double)piece->cycles : 0;
}

static void open_plot(const struct ipc_plot *plot)
{
	writer_printf(plot->out, "<svg x=\"%d\" y=\"%u\" width=\"%d\" height=\"%u\"><g class=\"plot\">\n", IPC_PLOT_LEFT, plot->y, IPC_PLOT_INNER,
		plot->height);
}

static void close_plot(const struct ipc_plot *plot)
{
	writer_puts(plot->out, "</g></svg>\n");
}

static void write_ranges(const struct picture *picture, const struct ipc_plot *plot, const struct ipc_track *track)
{
	static const char *const classes[] = { "known", "long", "gap" };
	struct writer *out = plot->out;
	pieces drawn = { 0 };
	join_ranges(picture, track, &drawn);
	ipc_plot_frame(plot, "IPC of ranges", true);
	open_plot(plot);
	for (unsigned kind = 0; kind < 3; kind++) {
		writer_printf(out, "<path class=\"%s\" d=\"", classes[kind]);
		for (size_t i = 0; i < drawn.count; i++) {
			const struct piece *piece = &drawn.items[i];
			double x = ipc_plot_x(plot, piece->from), width = ipc_plot_x(plot, piece->to) - x;
			double y = kind == 2 ? 0 : ipc_plot_y(plot, piece_rate(piece));
			if (piece->kind == kind)
				writer_printf(out, "M%.3f %uV%.1fh%.3fV%uz", x, plot->height, y, width > 0.001 ? width : 0.001, plot->height);
		}
		writer_puts(out, "\"/>\n");
	}
	close_plot(plot);
	writer_printf(out, "<g data-kind=\"ranges\" data-top=\"%u\" data-bottom=\"%u\" data-rows=\"[", plot->y, plot->y + plot->height);
	for (size_t i = 0; i < drawn.count; i++)
		writer_printf(out, "%s[%.0f,%.0f,%llu,%llu,%u]", i ? "," : "", drawn.items[i].from - picture->from, drawn.items[i].to - picture->from,
			(unsigned long long)drawn.items[i].cycles, (unsigned long long)drawn.items[i].instructions, drawn.items[i].kind);
	writer_puts(out, "]\"/>\n");
	vec_fini(&drawn);
}

static double window_middle(const struct picture *picture, const struct ipc_window *window)
{
	return picture->ns ? ((double)window->from_ns + (double)window->to_ns) / 2 : ((double)window->from_cycle + (double)window->to_cycle) / 2;
}

/* The series is interrupted by lost trace, and by pauses longer than two windows. */
static bool interrupted(const struct picture *picture, const struct ipc_window *before, const struct ipc_window *window)
{
	if (before->gap || window->gap)
		return true;
	double length = picture->ns ? (double)(before->to_ns - before->from_ns) : (double)ipc_window_cycles(before);
	return window_middle(picture, window) - window_middle(picture, before) > 3 * length + 1;
}

/* The windows [first, end) as a band and a line. */
static void write_stretch(const struct picture *picture, const struct ipc_plot *plot, const struct ipc_window *windows, size_t first,
	size_t end)
{
	struct writer *out = plot->out;
	writer_puts(out, "<path class=\"band\" d=\"");
	for (size_t i = first; i < end; i++)
		writer_printf(out, "%c%.2f %.1f", i == first ? 'M' : 'L', ipc_plot_x(plot, window_middle(picture, &windows[i])),
			ipc_plot_y(plot, ipc_window_rate(&windows[i], (double)windows[i].most)));
	for (size_t i = end; i-- > first;)
		writer_printf(out, "L%.2f %.1f", ipc_plot_x(plot, window_middle(picture, &windows[i])),
			ipc_plot_y(plot, ipc_window_rate(&windows[i], (double)windows[i].least)));
	writer_puts(out, "z\"/>\n<path class=\"mean\" d=\"");
	for (size_t i = first; i < end; i++)
		writer_printf(out, "%c%.2f %.1f", i == first ? 'M' : 'L', ipc_plot_x(plot, window_middle(picture, &windows[i])),
			ipc_plot_y(plot, ipc_window_rate(&windows[i], windows[i].linear)));
	if (end - first == 1)
		writer_puts(out, "h0.5");
	writer_puts(out, "\"/>\n");
}

static void write_rates(const struct picture *picture, const struct ipc_plot *plot, const struct ipc_windows *windows)
{
	struct writer *out = plot->out;
	const struct ipc_window *list = windows->list.items;
	ipc_plot_frame(plot, "IPC", true);
	open_plot(plot);
	for (size_t i = 0, first = 0; i < windows->list.count; i++) {
		if (i + 1 < windows->list.count && !interrupted(picture, &list[i], &list[i + 1]))
			continue;
		if (!list[first].gap)
			write_stretch(picture, plot, list, first, i + 1);
		first = i + 1;
	}
	close_plot(plot);
	writer_printf(out, "<g data-kind=\"rates\" data-top=\"%u\" data-bottom=\"%u\" data-rows=\"[", plot->y, plot->y + plot->height);
	for (size_t i = 0; i < windows->list.count; i++) {
		double half = picture->grid.step.count < picture->grid.window.count ? 0.5 * (double)picture->grid.step.count /
			(double)picture->grid.window.count : 0.5;
		double middle = window_middle(picture, &list[i]) - picture->from;
		double length = picture->ns ? (double)(list[i].to_ns - list[i].from_ns) : (double)ipc_window_cycles(&list[i]);
		writer_printf(out, "%s[%.0f,%.0f,%.3f,%.3f,%.3f,%d]", i ? "," : "", middle - half * length, middle + half * length,
			ipc_window_rate(&list[i], (double)list[i].least), ipc_window_rate(&list[i], list[i].linear),
			ipc_window_rate(&list[i], (double)list[i].most), list[i].gap);
	}
	writer_puts(out, "]\"/>\n");
}

static void write_span(struct writer *out, double span)
{
	if (span >= 1e6)
		writer_printf(out, "%.3f ms", span / 1e6);
	else if (span >= 1e3)
		writer_printf(out, "%.3f \xc2\xb5s", span / 1e3);
	else
		writer_printf(out, "%.0f ns", span);
}

static void write_event_title(const struct picture *picture, const struct ipc_event *event)
{
	struct writer *out = picture->out;
	const char *name = strtab_text(&picture->svg->tracks->names, event->name);
	writer_puts(out, "<title>");
	writer_puts(out, ipc_event_word(event->kind));
	if (*name) {
		writer_puts(out, ": ");
		ipc_plot_text(out, name);
	}
	if (picture->ns && (double)event->from_ns >= picture->from) {
		writer_puts(out, "\nat ");
		write_span(out, (double)event->from_ns - picture->from);
		if (event->to_ns > event->from_ns) {
			writer_puts(out, ", ");
			write_span(out, (double)(event->to_ns - event->from_ns));
		}
	}
	if (event->to_cycle > event->from_cycle)
		writer_printf(out, "\n%llu traced cycles", (unsigned long long)(event->to_cycle - event->from_cycle));
	writer_puts(out, "</title>");
}

static double start_of_event(const struct picture *picture, const struct ipc_event *event)
{
	return picture->ns ? (double)event->from_ns : (double)event->from_cycle;
}

/* From an event at x to the next one of its lane that is drawn farther right, or to the end of the picture. *next: where the search for the
 * events before it ended. */
static double room_behind(const struct picture *picture, const struct ipc_plot *plot, const struct ipc_track *track, size_t number,
	double x, size_t *next)
{
	enum lane lane = lane_of(track->events.items[number].kind);
	for (*next = *next > number ? *next : number + 1; *next < track->events.count; ++*next) {
		double other = ipc_plot_x(plot, start_of_event(picture, &track->events.items[*next]));
		if (other > x && lane_of(track->events.items[*next].kind) == lane)
			return other - x;
	}
	return IPC_PLOT_INNER - x;
}

static void write_event(const struct picture *picture, const struct ipc_plot *plot, const struct ipc_track *track, size_t number,
	size_t *next)
{
	static const double POINT = 1.5;
	const struct ipc_event *event = &track->events.items[number];
	struct writer *out = picture->out;
	const char *own = strtab_text(&picture->svg->tracks->names, event->name);
	const char *name = lane_of(event->kind) == LANE_MODE ? ipc_event_word(event->kind) : own;
	double to = picture->ns ? (double)event->to_ns : (double)event->to_cycle;
	double x = ipc_plot_x(plot, start_of_event(picture, event)), width = ipc_plot_x(plot, to) - x;
	if (event->kind == IPC_EVENT_CBR && x < 0)
		x = 0; /* the frequency at the start */
	bool is_span = event->kind <= IPC_EVENT_MARK;
	unsigned y = lane_of(event->kind) * LANE + 2;
	if (x < 0 || x > IPC_PLOT_INNER)
		return;
	width = is_span ? (width > 0.05 ? width : 0.05) : POINT;
	writer_printf(out, "<rect class=\"%s%s\" x=\"%.3f\" y=\"%u\" width=\"%.3f\" height=\"%d\">", event->kind == IPC_EVENT_GAP ? "lost" :
		ipc_event_word(event->kind), is_span ? "" : " point", x, y, width, LANE - 4);
	write_event_title(picture, event);
	writer_puts(out, "</rect>\n");
	if (!*name || (!is_span && event->kind != IPC_EVENT_CBR))
		return;
	const char *detail = event->kind == IPC_EVENT_CBR ? strstr(name, " (") : NULL;
	size_t shown = text_columns_prefix(name, detail ? (size_t)(detail - name) : strlen(name), 40);
	double need = (double)shown * LETTER + 4, room = is_span ? width : room_behind(picture, plot, track, number, x, next);
	writer_printf(out, "<text class=\"label\" data-x=\"%.3f\" data-w=\"%.3f\" data-need=\"%.0f\" transform=\"translate(%.3f 0)\" x=\"3\" "
		"y=\"%u\"%s>", x, room, need, x, y + 11, room < need ? " visibility=\"hidden\"" : "");
	xml_text(out, name, shown);
	writer_puts(out, "</text>\n");
}

/* Events, at most EVENTS of a lane; of more, those that are drawn widest come first. */
static void write_events(const struct picture *picture, const struct ipc_plot *plot, const struct ipc_track *track)
{
	unsigned counts[LANES] = { 0 }, drawn[LANES] = { 0 };
	size_t next = 0; /* labels without a width are in one lane */
	ipc_plot_frame(plot, "", false);
	for (unsigned lane = 0; lane < LANES; lane++)
		writer_printf(picture->out, "<text class=\"lane\" x=\"%d\" y=\"%u\">%s</text>\n", IPC_PLOT_LEFT - 6, plot->y + lane * LANE + 13,
			lane == LANE_CALLS ? "calls" : lane_names[lane]);
	open_plot(plot);
	for (size_t i = 0; i < track->events.count; i++)
		counts[lane_of(track->events.items[i].kind)]++;
	for (size_t i = 0; i < track->events.count; i++) {
		const struct ipc_event *event = &track->events.items[i];
		enum lane lane = lane_of(event->kind);
		double width = picture->ns ? (double)(event->to_ns - event->from_ns) : (double)(event->to_cycle - event->from_cycle);
		bool wide = width >= (picture->to - picture->from) / EVENTS;
		if (counts[lane] > EVENTS && !wide && (drawn[lane] >= EVENTS || i % (counts[lane] / EVENTS + 1)))
			continue;
		drawn[lane]++;
		write_event(picture, plot, track, i, &next);
	}
	close_plot(plot);
}

static unsigned track_height(void)
{
	return TRACK_HEAD + RANGES_HEIGHT + GAP + IPC_HEIGHT + GAP + LANES * LANE + AXIS;
}

static void write_track_name(const struct picture *picture, const struct ipc_track *track, unsigned y)
{
	struct writer *out = picture->out;
	struct str title CLEANUP_STR = { 0 };
	ipc_track_title(picture->svg->tracks, track, &title);
	writer_printf(out, "<text class=\"track\" x=\"%d\" y=\"%u\">", IPC_PLOT_LEFT, y + 18);
	ipc_plot_text(out, str_text(&title));
	writer_printf(out, ": IPC %.3f</text>\n", track->cycles ? (double)track->instructions / (double)track->cycles : 0);
}

static void write_track(const struct picture *picture, const struct ipc_track *track, unsigned y)
{
	struct ipc_windows windows = { 0 };
	ipc_windows_make(&windows, track, &picture->grid);
	double top = 0;
	for (size_t i = 0; i < windows.list.count; i++)
		top = fmax(top, ipc_window_rate(&windows.list.items[i], windows.list.items[i].gap ? windows.list.items[i].linear :
			(double)windows.list.items[i].most));
	struct ipc_plot plot = { .out = picture->out, .left = IPC_PLOT_LEFT, .inner = IPC_PLOT_INNER,
		.from = picture->from, .to = picture->to, .top = ipc_plot_top(top), .ns = picture->ns,
		.y = y + TRACK_HEAD, .height = RANGES_HEIGHT };
	write_track_name(picture, track, y);
	write_ranges(picture, &plot, track);
	plot.y += RANGES_HEIGHT + GAP;
	plot.height = IPC_HEIGHT;
	write_rates(picture, &plot, &windows);
	plot.y += IPC_HEIGHT + GAP;
	plot.height = LANES * LANE;
	write_events(picture, &plot, track);
	plot.to -= plot.from;
	plot.from = 0;
	ipc_plot_axis(&plot, plot.y + plot.height + 16);
	vec_fini(&windows.list);
}

/* A window that suits the width of the picture, unless one is given. */
static void choose_grid(struct picture *picture)
{
	const struct ipc_tracks *tracks = picture->svg->tracks;
	uint64_t longest = 1;
	picture->grid = picture->svg->grid;
	for (size_t i = 0; i < tracks->list.count; i++)
		longest = tracks->list.items[i].cycles > longest ? tracks->list.items[i].cycles : longest;
	if (!picture->grid.window.count) {
		picture->grid.window = (struct ipc_length){ .count = ipc_round_up(longest / WINDOWS_CHOSEN + 1) };
		picture->grid.step = picture->grid.window;
		picture->grid.step.count = (picture->grid.window.count + STEPS - 1) / STEPS;
	}
	uint64_t whole = picture->grid.window.ns ? (uint64_t)(picture->to - picture->from) : longest;
	if (whole / picture->grid.step.count > WINDOWS)
		picture->grid.step.count = whole / WINDOWS + 1;
}

static void choose_axis(struct picture *picture)
{
	const struct ipc_tracks *tracks = picture->svg->tracks;
	picture->ns = !tracks->timeless;
	picture->from = INFINITY;
	for (size_t i = 0; i < tracks->list.count; i++) {
		const struct ipc_track *track = &tracks->list.items[i];
		picture->from = fmin(picture->from, start_of(picture, &track->ranges.items[0]));
		picture->to = fmax(picture->to, end_of(picture, &track->ranges.items[track->ranges.count - 1]));
	}
}

void ipc_svg_write(struct writer *out, const struct ipc_svg *svg)
{
	struct picture picture = { .out = out, .svg = svg };
	const struct ipc_tracks *tracks = svg->tracks;
	size_t shown = tracks->list.count < IPC_SVG_TRACKS_MAX ? tracks->list.count : IPC_SVG_TRACKS_MAX;
	choose_axis(&picture);
	choose_grid(&picture);
	unsigned bottom = IPC_PLOT_HEAD + (unsigned)shown * track_height();
	struct str facts CLEANUP_STR = { 0 };
	str_printf(&facts, "windows of %llu %s every %llu %s; band: between the conservative and the optimistic number; blue: timed ranges, "
		"amber: ranges longer than the window, red: lost trace", (unsigned long long)picture.grid.window.count,
		picture.grid.window.ns ? "ns" : "cycles", (unsigned long long)picture.grid.step.count, picture.grid.window.ns ? "ns" : "cycles");
	if (tracks->counted)
		str_puts(&facts, "; from counters, not from a trace");
	if (shown < tracks->list.count)
		str_printf(&facts, "; %zu more series are not drawn", tracks->list.count - shown);
	ipc_plot_begin(out, svg->title, str_text(&facts), IPC_PLOT_WIDTH, bottom + 8);
	writer_printf(out, "<g id=\"area\" data-left=\"%d\" data-width=\"%d\" data-top=\"%d\" data-bottom=\"%u\" data-from=\"0\" data-to=\"%.0f\" "
		"data-unit=\"%s\"/>\n", IPC_PLOT_LEFT, IPC_PLOT_INNER, IPC_PLOT_HEAD, bottom, picture.to - picture.from, picture.ns ? "ns" : "cycles");
	for (size_t i = 0; i < shown; i++)
		write_track(&picture, &tracks->list.items[i], IPC_PLOT_HEAD + (unsigned)i * track_height());
	ipc_plot_end(out);
}

static double row_x(const struct ipc_plot *plot, const struct ipc_around_row *row)
{
	return ipc_plot_x(plot, ((double)row->from + (double)row->to) / 2);
}

/* The polygon between two of the rows' members. */
static void write_band(const struct ipc_plot *plot, const struct ipc_around_row *rows, size_t count,
	const char *class, size_t low, size_t high)
{
	struct writer *out = plot->out;
	writer_printf(out, "<path class=\"%s\" d=\"", class);
	for (size_t i = 0; i < 2 * count; i++) {
		const struct ipc_around_row *row = &rows[i < count ? i : 2 * count - 1 - i];
		const double *value = (const double *)(const void *)((const char *)row + (i < count ? high : low));
		writer_printf(out, "%c%.2f %.1f", i ? 'L' : 'M', row_x(plot, row), ipc_plot_y(plot, *value));
	}
	writer_puts(out, "z\"/>\n");
}

/* Consecutive rows that all have occurrences: where none has cycles, nothing is drawn. */
static void write_around_stretch(const struct ipc_plot *plot, const struct ipc_around_row *rows, size_t count)
{
	struct writer *out = plot->out;
	write_band(plot, rows, count, "band", offsetof(struct ipc_around_row, least), offsetof(struct ipc_around_row, most));
	write_band(plot, rows, count, "trust", offsetof(struct ipc_around_row, low), offsetof(struct ipc_around_row, high));
	writer_puts(out, "<path class=\"mean\" d=\"");
	for (size_t i = 0; i < count; i++)
		writer_printf(out, "%c%.2f %.1f", i ? 'L' : 'M', row_x(plot, &rows[i]), ipc_plot_y(plot, rows[i].mean));
	writer_puts(out, "\"/>\n");
	for (size_t i = 0; i < count; i++)
		writer_printf(out, "<circle class=\"dot\" cx=\"%.2f\" cy=\"%.1f\" r=\"%s\"><title>%lld to %lld %s\nIPC %.2f, 95 %%: %.2f to %.2f\n"
			"bounds: %.2f to %.2f\n%llu occurrences</title></circle>\n", row_x(plot, &rows[i]), ipc_plot_y(plot, rows[i].mean),
			count > DOTS ? "1" : "2.5", (long long)rows[i].from, (long long)rows[i].to, plot->ns ? "ns" : "cycles", rows[i].mean, rows[i].low,
			rows[i].high, rows[i].least, rows[i].most, (unsigned long long)rows[i].count);
}

void ipc_around_svg_write(struct writer *out, const struct ipc_around *around, const struct ipc_around_svg *svg)
{
	enum { HEIGHT = 360 };
	double top = 0;
	for (size_t i = 0; i < around->rows.count; i++)
		top = fmax(top, fmax(around->rows.items[i].most, around->rows.items[i].high));
	struct ipc_plot plot = { .out = out, .left = IPC_PLOT_LEFT, .inner = IPC_PLOT_INNER,
		.from = (double)around->rows.items[0].from, .top = ipc_plot_top(top), .ns = svg->ns,
		.to = (double)around->rows.items[around->rows.count - 1].to, .y = IPC_PLOT_HEAD + GAP, .height = HEIGHT };
	struct str facts CLEANUP_STR = { 0 };
	str_printf(&facts, "mean of %llu occurrences of %s; green: 95 %% confidence of the mean; violet: between the conservative and the "
		"optimistic number", (unsigned long long)around->occurrences, svg->event);
	ipc_plot_begin(out, svg->title, str_text(&facts), IPC_PLOT_WIDTH, plot.y + HEIGHT + AXIS + 8);
	ipc_plot_frame(&plot, "IPC", true);
	open_plot(&plot);
	const struct ipc_around_row *rows = around->rows.items;
	for (size_t i = 0, first = 0; i < around->rows.count; i++) {
		if (!rows[i].count)
			first = i + 1;
		else if (i + 1 == around->rows.count || !rows[i + 1].count)
			write_around_stretch(&plot, rows + first, i + 1 - first);
	}
	writer_printf(out, "<path class=\"origin\" d=\"M%.2f 0V%d\"/>\n", ipc_plot_x(&plot, 0), HEIGHT);
	close_plot(&plot);
	ipc_plot_axis(&plot, plot.y + HEIGHT + 16);
	ipc_plot_end(out);
}
