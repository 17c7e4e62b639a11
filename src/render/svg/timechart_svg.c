#include "render/svg/timechart_svg.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/str.h"
#include "base/xml_text.h"
#include "render/svg/ipc_plot.h"

enum {
	LEFT = 190, RIGHT = 16, LEGEND = 24, GAP = 6, CPU = 26, POWER = 10, TASK = 18, AXIS = 26, /* pixels */
	LETTER = 6, LABEL_LETTERS = 32, NAME_LETTERS = 18,
	TINTS = 6,
	LABELS_MAX = 6000, WAKES_MAX = 24000, /* of the picture */
};

enum bar_class { CLASS_RUN, CLASS_HIGHLIGHT = CLASS_RUN + TINTS, CLASS_WAIT, CLASS_BLOCK, CLASS_UNKNOWN, CLASS_IDLE,
	CLASS_IO = CLASS_IDLE + LANE_KINDS, CLASS_ERROR = CLASS_IO + IO_KINDS };

static const char *const class_names[] = { "run t0", "run t1", "run t2", "run t3", "run t4", "run t5", "run hi", "wait", "block",
	"unknown", "idle c0", "idle c1", "idle c2", "idle c3", "disk", "disk", "net", "net", "sync", "poll", "error" };

/* A rectangle in units of the picture. */
struct piece {
	uint32_t x, width;
	uint16_t y, height;
	uint8_t class, kind;   /* kind: of the lane's bar, or of the call */
	uint32_t about, error;
	uint32_t index;
};

struct picture {
	struct writer *out;
	const struct timechart_svg *svg;
	const struct timechart *chart;
	VEC(struct piece) pieces;     /* of the current lane */
	struct ipc_plot plot;         /* from, to: ns since the first sample */
	unsigned labels_px;           /* bars of at least this width have a label */
	uint32_t *rows;               /* by task: its row + 1; 0: not shown */
};

static double unit_ns(const struct picture *picture)
{
	double span = picture->plot.to - picture->plot.from;
	return span > 0 ? span / TIMECHART_SVG_UNITS : 1;
}

static uint32_t units(const struct picture *picture, uint64_t time)
{
	uint64_t first = picture->chart->first;
	double at = time > first ? (double)(time - first) / unit_ns(picture) : 0;
	return (uint32_t)(at < TIMECHART_SVG_UNITS ? at + 0.5 : TIMECHART_SVG_UNITS);
}

/* The part [low, high) of the height, of 1, that bars of `ns` have between two times. */
static void add_piece(struct picture *picture, uint64_t from, uint64_t to, double low, double high, struct piece piece)
{
	uint32_t start = units(picture, from), end = units(picture, to);
	if (end <= start) { /* the area is the time */
		double share = to > from ? (double)(to - from) / unit_ns(picture) : 0;
		high = low + (high - low) * (share < 1 ? share : 1);
		end = start + 1;
	}
	double height = (high - low) * TIMECHART_SVG_HEIGHT;
	piece.x = start;
	piece.width = end - start;
	piece.height = height >= 1 ? (uint16_t)(height + 0.5) : 1;
	piece.y = (uint16_t)((1 - low) * TIMECHART_SVG_HEIGHT + 0.5);
	piece.y = piece.y > piece.height ? piece.y - piece.height : 0;
	piece.index = (uint32_t)picture->pieces.count;
	vec_push(&picture->pieces, piece);
}

/* Stacks the kinds of a mixed bar; of others one fills the height. */
static void add_bar(struct picture *picture, const struct lane_bar *bar, const uint8_t classes[static LANE_KINDS])
{
	double low = 0, length = (double)(bar->to - bar->from);
	for (unsigned kind = 0; kind < LANE_KINDS; kind++) {
		double part = lane_bar_part(bar, kind) / length;
		if (part <= 0)
			continue;
		const struct piece piece = { .class = classes[kind], .kind = (uint8_t)kind,
			.about = bar->kind == LANE_MIXED && kind ? LANE_SEVERAL : bar->about };
		add_piece(picture, bar->from, bar->to, low, low + part > 1 ? 1 : low + part, piece);
		low += part;
	}
}

static bool same_group(const struct piece *a, const struct piece *b)
{
	return a->class == b->class && a->about == b->about && a->kind == b->kind && a->error == b->error;
}

static int by_group(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;
	if (x->class != y->class)
		return x->class - y->class;
	if (x->about != y->about)
		return x->about < y->about ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind - y->kind;
	if (x->error != y->error)
		return x->error < y->error ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

static void write_task(const struct picture *picture, uint32_t task, size_t columns)
{
	char number[16];
	const char *name = task < picture->chart->tasks.count ? picture->chart->tasks.items[task].name : NULL;
	name = name ? name : "";
	xml_text(picture->out, name, text_columns_prefix(name, strlen(name), columns));
	snprintf(number, sizeof number, ":%d", picture->chart->reader.states.tasks.items[task].tid);
	writer_puts(picture->out, number);
}

enum lane_type { LANE_CPU, LANE_POWER, LANE_TASK, LANE_IO };

/* What the script says about the bars of a group. */
static void write_what(const struct picture *picture, enum lane_type type, const struct piece *piece)
{
	static const char *const io[IO_KINDS] = { "reads", "writes", "receives", "sends", "synchronizes", "polls" };
	struct writer *out = picture->out;
	if (piece->class == CLASS_UNKNOWN) {
		writer_puts(out, "unknown, as events were lost");
	} else if (type == LANE_POWER) {
		if (piece->about == LANE_SEVERAL)
			writer_puts(out, "idle");
		else
			writer_printf(out, "idle, state %u", piece->about);
	} else if (type == LANE_IO) {
		writer_puts(out, io[piece->kind]);
		if (piece->about != (uint32_t)IO_SEVERAL)
			writer_printf(out, ", descriptor %d", (int)piece->about);
		if (piece->error)
			writer_printf(out, ", error %u", piece->error);
	} else if (type == LANE_CPU && piece->about == LANE_SEVERAL) {
		writer_puts(out, "several tasks run");
	} else if (type == LANE_CPU) {
		write_task(picture, piece->about, SIZE_MAX);
		writer_puts(out, " runs");
	} else if (piece->class == CLASS_WAIT) {
		writer_puts(out, "waits for a CPU");
	} else if (piece->class == CLASS_BLOCK) {
		bool known = piece->about < WAIT_REASONS && piece->about != WAIT_DISK && piece->about != WAIT_UNKNOWN;
		writer_printf(out, "blocked%s%s", known ? ": " : "", known ? wait_reason_title((enum wait_reason)piece->about) : "");
	} else if (piece->about == LANE_SEVERAL) {
		writer_puts(out, "runs");
	} else {
		writer_printf(out, "runs on CPU %u", piece->about);
	}
}

/* The script finds the lane by its class of data. */
static void begin_lane(struct picture *picture, unsigned height, const char *class)
{
	struct ipc_plot *plot = &picture->plot;
	plot->height = height;
	writer_printf(picture->out, "<g class=\"%s\" data-lane=\"%u\" data-end=\"%u\">\n", class, plot->y, plot->y + height);
	vec_clear(&picture->pieces);
}

static void open_panel(const struct picture *picture, double scale)
{
	const struct ipc_plot *plot = &picture->plot;
	writer_printf(picture->out, "<svg x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\"><g class=\"plot\"><g transform=\"scale(%.9g %.9g)\">\n",
		plot->left, plot->y, plot->inner, plot->height, (double)plot->inner / TIMECHART_SVG_UNITS, scale);
}

static void write_pieces(struct picture *picture, enum lane_type type)
{
	struct writer *out = picture->out;
	if (picture->pieces.count)
		qsort(picture->pieces.items, picture->pieces.count, sizeof *picture->pieces.items, by_group);
	for (size_t i = 0; i < picture->pieces.count; i++) {
		const struct piece *piece = &picture->pieces.items[i];
		if (!i || !same_group(piece - 1, piece)) {
			writer_printf(out, "%s<path class=\"%s\" data-what=\"", i ? "\"/>\n" : "", class_names[piece->class]);
			write_what(picture, type, piece);
			writer_puts(out, "\" d=\"");
		}
		writer_printf(out, "M%u %uv%uh%uv-%uz", piece->x, piece->y, piece->height, piece->width, piece->height);
	}
	if (picture->pieces.count)
		writer_puts(out, "\"/>\n");
}

/* Names in bars that are wide enough, at once or when the picture is zoomed. */
static void write_labels(const struct picture *picture, const struct lane *lane)
{
	const struct ipc_plot *plot = &picture->plot;
	for (size_t i = 0; i < lane->bars.count; i++) {
		const struct lane_bar *bar = &lane->bars.items[i];
		double x = ipc_plot_x(plot, (double)(bar->from - picture->chart->first));
		double width = ipc_plot_x(plot, (double)(bar->to - bar->from));
		if (width < picture->labels_px || bar->kind != TIMECHART_RUNNING || bar->about >= picture->chart->tasks.count)
			continue;
		const char *name = picture->chart->tasks.items[bar->about].name;
		size_t shown = name ? text_columns_prefix(name, strlen(name), LABEL_LETTERS) : 0;
		double need = (double)shown * LETTER + 4;
		writer_printf(picture->out, "<text class=\"label\" data-x=\"%.2f\" data-w=\"%.2f\" data-need=\"%.0f\" "
			"transform=\"translate(%.2f 0)\" x=\"2\" y=\"%u\"%s>", x, width, need, x, plot->height - 8,
			width < need ? " visibility=\"hidden\"" : "");
		xml_text(picture->out, name ? name : "", shown);
		writer_puts(picture->out, "</text>\n");
	}
}

static bool is_highlighted(const struct picture *picture, const struct lane_bar *bar, uint32_t task)
{
	const struct timechart_svg *svg = picture->svg;
	const char *name = task < picture->chart->tasks.count ? picture->chart->tasks.items[task].name : NULL;
	if (bar->kind != TIMECHART_RUNNING)
		return false;
	return (svg->highlight_ns && bar->to - bar->from >= svg->highlight_ns) ||
		(svg->highlight_name && name && strstr(name, svg->highlight_name));
}

static unsigned tint_of(const struct picture *picture, uint32_t task)
{
	const char *name = task < picture->chart->tasks.count ? picture->chart->tasks.items[task].name : NULL;
	return name ? (unsigned)(hash_bytes(name, strlen(name)) % TINTS) : 0;
}

static void write_side_text(const struct picture *picture, const char *text)
{
	unsigned y = picture->plot.y + picture->plot.height / 2 + 4;
	writer_printf(picture->out, "<text class=\"lane\" x=\"%d\" y=\"%u\">%s</text>\n", LEFT - 6, y, text);
}

static void write_clocks(const struct picture *picture, const struct timechart_cpu *cpu)
{
	struct writer *out = picture->out;
	if (!cpu->clocks.count || !picture->chart->most_khz)
		return;
	writer_puts(out, "<path class=\"clock\" d=\"");
	for (size_t i = 0; i < cpu->clocks.count; i++) {
		const struct timechart_clock *clock = &cpu->clocks.items[i];
		unsigned y = (unsigned)(TIMECHART_SVG_HEIGHT * (1 - 0.9 * (double)clock->khz / picture->chart->most_khz));
		writer_printf(out, i ? "H%uV%u" : "M%u %u", units(picture, clock->time), y);
	}
	writer_printf(out, "H%d\"/>\n", TIMECHART_SVG_UNITS);
}

static void write_power(struct picture *picture, const struct timechart_cpu *cpu)
{
	static const uint8_t classes[LANE_KINDS] = { CLASS_IDLE, CLASS_IDLE + 1, CLASS_IDLE + 2, CLASS_IDLE + 3 };
	begin_lane(picture, POWER, "power-lane");
	for (size_t i = 0; i < cpu->idle.bars.count; i++)
		add_bar(picture, &cpu->idle.bars.items[i], classes);
	open_panel(picture, (double)POWER / TIMECHART_SVG_HEIGHT);
	write_pieces(picture, LANE_POWER);
	write_clocks(picture, cpu);
	writer_puts(picture->out, "</g></g></svg></g>\n");
	picture->plot.y += POWER;
}

static bool has_power(const struct picture *picture)
{
	bool found = false;
	for (size_t i = 0; i < picture->chart->cpus.count; i++)
		found |= picture->chart->cpus.items[i].idle.bars.count || picture->chart->cpus.items[i].clocks.count;
	return found && !picture->svg->no_power;
}

static void write_cpu(struct picture *picture, int32_t number, bool power)
{
	const struct timechart_cpu *cpu = &picture->chart->cpus.items[number];
	char text[48];
	begin_lane(picture, CPU, "cpu-lane");
	writer_printf(picture->out, "<rect class=\"frame\" x=\"%u\" y=\"%u\" width=\"%u\" height=\"%d\"/>\n", picture->plot.left, picture->plot.y,
		picture->plot.inner, CPU);
	for (size_t i = 0; i < cpu->running.bars.count; i++) {
		const struct lane_bar *bar = &cpu->running.bars.items[i];
		unsigned run = is_highlighted(picture, bar, bar->about) ? CLASS_HIGHLIGHT : CLASS_RUN + tint_of(picture, bar->about);
		const uint8_t classes[LANE_KINDS] = { (uint8_t)run, CLASS_WAIT, CLASS_BLOCK, CLASS_UNKNOWN };
		add_bar(picture, bar, classes);
	}
	double busy = (double)cpu->running.total[TIMECHART_RUNNING] / (picture->plot.to > 0 ? picture->plot.to : 1);
	snprintf(text, sizeof text, "CPU %d (%.1f %%)", number, 100 * busy);
	write_side_text(picture, text);
	open_panel(picture, (double)CPU / TIMECHART_SVG_HEIGHT);
	write_pieces(picture, LANE_CPU);
	writer_puts(picture->out, "</g>\n");
	write_labels(picture, &cpu->running);
	writer_puts(picture->out, "</g></svg></g>\n");
	picture->plot.y += CPU;
	if (power)
		write_power(picture, cpu);
	picture->plot.y += GAP;
}

/* Where the task existed, as far as its bars show. */
static void write_life(const struct picture *picture, const struct timechart_task *task)
{
	uint32_t from = units(picture, task->first), to = units(picture, task->last);
	writer_printf(picture->out, "<path class=\"life\" d=\"M%u 0v%dh%uv-%dz\"/>\n", from, TIMECHART_SVG_HEIGHT, to > from ? to - from : 1,
		TIMECHART_SVG_HEIGHT);
}

static void write_task_name(const struct picture *picture, uint32_t index)
{
	const struct timechart_task *task = &picture->chart->tasks.items[index];
	double amount = (double)(picture->chart->calls ? task->io.bytes : task->lane.total[TIMECHART_RUNNING]);
	writer_printf(picture->out, "<text class=\"lane\" x=\"%d\" y=\"%u\">", LEFT - 6, picture->plot.y + TASK - 5);
	write_task(picture, index, NAME_LETTERS);
	if (picture->chart->calls) {
		static const char units_of[] = { ' ', 'K', 'M', 'G' };
		unsigned unit = 0;
		for (; unit < 3 && amount > 1024; unit++)
			amount /= 1024;
		writer_printf(picture->out, " (%.1f %.*sbytes)", amount, unit > 0, &units_of[unit]);
	} else if (amount > 5e9) {
		writer_printf(picture->out, " (%.2f s)", amount / 1e9);
	} else {
		writer_printf(picture->out, " (%.1f ms)", amount / 1e6);
	}
	writer_puts(picture->out, "</text>\n");
}

/* What comes in is in the upper half, what leaves in the lower one. */
static void add_call(struct picture *picture, const struct io_bars *io, const struct io_bar *bar)
{
	static const double LEAST = 0.1;
	double part = io->longest_bytes ? (double)bar->bytes / (double)io->longest_bytes : 1, low = 0, high = 1;
	part = part < LEAST ? LEAST : part > 1 ? 1 : part;
	if (!bar->error && (bar->kind == IO_READ || bar->kind == IO_RECEIVE))
		low = 1 - part / 2;
	else if (!bar->error && (bar->kind == IO_WRITE || bar->kind == IO_SEND))
		high = part / 2;
	const struct piece piece = { .class = bar->error ? CLASS_ERROR : (uint8_t)(CLASS_IO + bar->kind), .kind = bar->kind,
		.about = (uint32_t)bar->descriptor, .error = (uint32_t)bar->error };
	add_piece(picture, bar->from, bar->to, low, high, piece);
}

static void write_task_lane(struct picture *picture, uint32_t index)
{
	const struct timechart_task *task = &picture->chart->tasks.items[index];
	begin_lane(picture, TASK, "task-lane");
	for (size_t i = 0; i < task->lane.bars.count && !picture->chart->calls; i++) {
		const struct lane_bar *bar = &task->lane.bars.items[i];
		const uint8_t classes[LANE_KINDS] = { is_highlighted(picture, bar, index) ? CLASS_HIGHLIGHT : CLASS_RUN, CLASS_WAIT, CLASS_BLOCK,
			CLASS_UNKNOWN };
		add_bar(picture, bar, classes);
	}
	for (size_t i = 0; i < task->io.list.count; i++)
		if (!picture->svg->skip_again || task->io.list.items[i].error != EAGAIN)
			add_call(picture, &task->io, &task->io.list.items[i]);
	write_task_name(picture, index);
	open_panel(picture, (double)TASK / TIMECHART_SVG_HEIGHT);
	write_life(picture, task);
	write_pieces(picture, picture->chart->calls ? LANE_IO : LANE_TASK);
	writer_puts(picture->out, "</g></g></svg></g>\n");
	picture->plot.y += TASK + GAP;
}

/* A line between the rows of the waker and the task, a short one if the waker has no row; at most one for each pixel of a row. */
static void write_wakes(struct picture *picture, unsigned top)
{
	const struct timechart *chart = picture->chart;
	struct writer *out = picture->out;
	double px = TIMECHART_SVG_UNITS / (double)picture->plot.inner, least = (double)chart->shown.count * TIMECHART_SVG_UNITS / WAKES_MAX;
	uint32_t grain = (uint32_t)fmax(1, fmax(px, least)), *drawn = memory_zero(chart->shown.count, sizeof *drawn);
	picture->plot.height = picture->plot.y - top;
	picture->plot.y = top;
	open_panel(picture, 1);
	writer_puts(out, "<path class=\"wake\" d=\"");
	for (size_t i = 0; i < chart->wakes.count; i++) {
		const struct timechart_wake *wake = &chart->wakes.items[i];
		uint32_t row = picture->rows[wake->task], waker = wake->waker < chart->tasks.count ? picture->rows[wake->waker] : 0;
		uint32_t x = units(picture, wake->time);
		if (!row || drawn[row - 1] == x / grain + 1)
			continue;
		drawn[row - 1] = x / grain + 1;
		unsigned to = (row - 1) * (TASK + GAP), from = waker ? (waker - 1) * (TASK + GAP) : 0;
		if (!waker)
			writer_printf(out, "M%u %uv5", x, to);
		else if (waker < row)
			writer_printf(out, "M%u %uV%u", x, from + TASK, to);
		else
			writer_printf(out, "M%u %uV%u", x, from, to + TASK);
	}
	writer_puts(out, "\"/>\n</g></g></svg>\n");
	picture->plot.y = top + picture->plot.height;
	free(drawn);
}

static void write_legend(const struct picture *picture, unsigned y)
{
	static const struct {
		const char *class, *text;
	} tasks[] = { { "run t0", "runs" }, { "run hi", "highlighted" }, { "wait", "waits for a CPU" }, { "block", "blocked" },
		{ "unknown", "unknown" },
		{ "idle c1", "idle" }, { "idle c3", "deepest idle" } },
	  calls[] = { { "disk", "file" }, { "net", "network" }, { "sync", "synchronize" }, { "poll", "poll" }, { "error", "error" } };
	bool io = picture->chart->calls;
	size_t count = io ? sizeof calls / sizeof *calls : sizeof tasks / sizeof *tasks;
	unsigned x = 16;
	for (size_t i = 0; i < count; i++) {
		const char *class = io ? calls[i].class : tasks[i].class, *text = io ? calls[i].text : tasks[i].text;
		writer_printf(picture->out, "<rect class=\"%s\" x=\"%u\" y=\"%u\" width=\"11\" height=\"11\"/><text class=\"key\" x=\"%u\" "
			"y=\"%u\">%s</text>\n", class, x, y, x + 15, y + 10, text);
		x += 34 + LETTER * (unsigned)strlen(text);
	}
}

static void write_axis(struct picture *picture)
{
	ipc_plot_axis(&picture->plot, picture->plot.y + 14);
	picture->plot.y += AXIS;
}

static unsigned height_of(const struct picture *picture, bool power)
{
	unsigned cpus = picture->chart->calls ? 0 : (unsigned)picture->svg->cpu_count;
	unsigned height = IPC_PLOT_HEAD + LEGEND + cpus * (CPU + (power ? POWER : 0) + GAP) + (cpus ? AXIS : 0);
	unsigned tasks = (unsigned)picture->chart->shown.count;
	return height + tasks * (TASK + GAP) + (tasks || !cpus ? AXIS : 0) + 8;
}

static void write_tasks(struct picture *picture)
{
	const struct timechart *chart = picture->chart;
	unsigned top = picture->plot.y;
	for (size_t i = 0; i < chart->shown.count; i++) {
		picture->rows[chart->shown.items[i]] = (uint32_t)i + 1;
		write_task_lane(picture, chart->shown.items[i]);
	}
	if (chart->wakes.count && chart->shown.count)
		write_wakes(picture, top);
	write_axis(picture);
}

/* As many labels as fit into the picture. */
static unsigned labels_px(const struct picture *picture)
{
	unsigned per_cpu = LABELS_MAX / ((unsigned)picture->svg->cpu_count + 1);
	return picture->plot.inner / (per_cpu ? per_cpu : 1) + 1;
}

void timechart_svg_write(struct writer *out, const struct timechart_svg *svg)
{
	const struct timechart *chart = svg->chart;
	struct picture picture = { .out = out, .svg = svg, .chart = chart, .rows = memory_zero(chart->tasks.count + 1, sizeof *picture.rows),
		.plot = { .out = out, .left = LEFT, .inner = svg->width - LEFT - RIGHT, .to = (double)(chart->last - chart->first), .ns = true } };
	bool power = has_power(&picture);
	unsigned height = height_of(&picture, power);
	picture.labels_px = labels_px(&picture);
	ipc_plot_begin(out, chart->calls ? "Timechart of input and output" : "Timechart", svg->facts, svg->width, height);
	write_legend(&picture, IPC_PLOT_HEAD);
	writer_printf(out, "<g id=\"area\" data-left=\"%u\" data-width=\"%u\" data-top=\"%d\" data-bottom=\"%u\" data-from=\"0\" data-to=\"%.0f\" "
		"data-unit=\"ns\"/>\n", picture.plot.left, picture.plot.inner, IPC_PLOT_HEAD + LEGEND, height, picture.plot.to);
	picture.plot.y = IPC_PLOT_HEAD + LEGEND;
	for (size_t i = 0; i < svg->cpu_count && !chart->calls; i++)
		write_cpu(&picture, svg->cpus[i], power);
	if (!chart->calls && svg->cpu_count)
		write_axis(&picture);
	if (chart->shown.count || chart->calls || !svg->cpu_count)
		write_tasks(&picture);
	ipc_plot_end(out);
	vec_fini(&picture.pieces);
	free(picture.rows);
}
