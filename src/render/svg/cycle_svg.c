#include "render/svg/cycle_svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/xml_text.h"
#include "render/svg/ipc_plot.h"

enum { SIZE = 640, CENTRE_X = 600, CENTRE_Y = IPC_PLOT_HEAD + 330, OUTER = 215, INNER = 165, LABELS_MAX = 60, LABEL = 48, TICK = 10 };

static const double FULL = 6.283185307179586, PULL = 34;

struct ring {
	const struct cycle_result *result;
	struct writer *out;
	double all;             /* of the measure around the ring */
	double top;             /* the largest IPC */
};

/* Clockwise from the top. */
static double x_of(double share, double radius)
{
	return CENTRE_X + radius * sin(share * FULL);
}

static double y_of(double share, double radius)
{
	return CENTRE_Y - radius * cos(share * FULL);
}

static void write_segment(const struct ring *ring, double from, double to, double inner, double outer)
{
	unsigned large = to - from > 0.5;
	to = to - from > 0.9999 ? from + 0.9999 : to; /* an arc is no whole circle */
	writer_printf(ring->out, "M%.2f %.2fA%.1f %.1f 0 %u 1 %.2f %.2f", x_of(from, outer), y_of(from, outer), outer, outer, large,
		x_of(to, outer), y_of(to, outer));
	writer_printf(ring->out, "L%.2f %.2fA%.1f %.1f 0 %u 0 %.2f %.2fz", x_of(to, inner), y_of(to, inner), inner, inner, large,
		x_of(from, inner), y_of(from, inner));
}

static void write_windows(const struct ring *ring)
{
	const struct cycle_result *result = ring->result;
	for (size_t i = 0; i < result->window_count; i++) {
		const struct flow_window *window = &result->windows[i];
		double cycles = window->to_cycle - window->from_cycle, rate = cycles > 0 ? window->instructions / cycles : 0;
		double share = ring->top > 0 ? rate / ring->top : 0;
		writer_printf(ring->out, "<path class=\"ring\" d=\"");
		write_segment(ring, window->from_cycle / result->pass, window->to_cycle / result->pass, INNER, OUTER);
		writer_puts(ring->out, "\"/>\n<path class=\"rate\" d=\"");
		write_segment(ring, window->from_cycle / result->pass, window->to_cycle / result->pass, INNER, INNER + share * (OUTER - INNER));
		writer_printf(ring->out, "\"><title>cycles %.1f to %.1f: IPC %.*f</title></path>\n", window->from_cycle, window->to_cycle,
			rate < 0.1 ? 4 : 2, rate);
	}
}

static void write_label(const struct ring *ring, const struct flow_edge *edge)
{
	const struct flow_graph *graph = ring->result->graph;
	struct str text CLEANUP_STR = { 0 };
	if (edge->kind == FLOW_CALL) {
		flow_place_text(graph, &edge->to, &text);
	} else {
		str_puts(&text, edge->kind == FLOW_RESUME ? "back in user code: " : "system call: ");
		flow_place_text(graph, &(struct flow_place){ edge->from.address, edge->from.function, 0 }, &text);
	}
	size_t shown = text_columns_prefix(text.text, text.len, LABEL);
	xml_text(ring->out, text.text, shown);
	writer_puts(ring->out, shown < text.len ? "\xe2\x80\xa6" : "");
}

/* A label on one side of the ring, moved so that it does not overlap the one before it on that side. */
static double place_label(double y, double *last, bool right)
{
	if (right && y < *last + 15)
		y = *last + 15;
	if (!right && y > *last - 15)
		y = *last - 15;
	*last = y;
	return y;
}

/* A call is a disk and a boundary a circle around it, so that both are seen where they have one place. */
static void write_mark(const struct ring *ring, const struct flow_edge *edge, double share, const char *times)
{
	bool boundary = edge->kind != FLOW_CALL || edge->syscalls;
	writer_printf(ring->out, "<circle class=\"%s\" cx=\"%.2f\" cy=\"%.2f\" r=\"%d\"%s><title>", boundary ? "boundary" : "call",
		x_of(share, OUTER), y_of(share, OUTER), boundary ? 8 : 5,
		boundary ? " style=\"fill: none; stroke: #d50000; stroke-width: 3px\"" : "");
	write_label(ring, edge);
	writer_printf(ring->out, ": %s</title></circle>\n", times);
}

static void write_steps(const struct ring *ring)
{
	const struct cycle_result *result = ring->result;
	const struct flow_cycle *cycle = cycle_result_cycle(result);
	double last_right = IPC_PLOT_HEAD, last_left = IPC_PLOT_HEAD + SIZE + 20;
	size_t drawn = 0;
	for (size_t i = 0; i < result->steps.count && drawn < LABELS_MAX; i++) {
		const struct cycle_step *step = &result->steps.items[i];
		const struct flow_edge *edge = &result->graph->edges.items[cycle->edges[step->index]];
		if (edge->kind != FLOW_CALL && edge->kind != FLOW_SYSCALL && edge->kind != FLOW_RESUME && !edge->syscalls)
			continue;
		double share = (result->pass > 0 ? step->at : (double)(step->index + 1)) / ring->all;
		bool right = share < 0.5; /* the end of a pass is on the left, behind all others */
		double y = place_label(y_of(share, OUTER + PULL), right ? &last_right : &last_left, right), x = right ? CENTRE_X + OUTER + 60 :
			CENTRE_X - OUTER - 60;
		writer_printf(ring->out, "<path class=\"lead\" d=\"M%.2f %.2fL%.2f %.2fL%.1f %.1f\"/>\n", x_of(share, OUTER), y_of(share, OUTER),
			x_of(share, OUTER + TICK), y_of(share, OUTER + TICK), x, y);
		char times[64];
		snprintf(times, sizeof times, "%llu times, %.2f a pass", (unsigned long long)edge->count, (double)edge->count / (double)cycle->width);
		write_mark(ring, edge, share, times);
		writer_printf(ring->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", right ? x + 5 : x - 5, y + 4, right ? "start" : "end");
		write_label(ring, edge);
		writer_printf(ring->out, "<title>%s</title></text>\n", times);
		drawn++;
	}
}

void cycle_svg_write(const struct cycle_result *result, struct writer *out)
{
	const struct flow_cycle *cycle = cycle_result_cycle(result);
	struct ring ring = { .result = result, .out = out };
	struct str facts CLEANUP_STR = { 0 };
	if (!cycle)
		return;
	ring.all = result->pass > 0 ? result->pass : (double)cycle->count;
	for (size_t i = 0; i < result->window_count; i++)
		ring.top = fmax(ring.top, result->windows[i].instructions / (result->windows[i].to_cycle - result->windows[i].from_cycle));
	str_printf(&facts, "%zu branches, %zu calls; seen at least %llu times; ring: IPC in %zu windows of equal cycles, up to %.2f; red: "
		"system calls", cycle->count, cycle->calls, (unsigned long long)cycle->width, result->window_count, ring.top);
	ipc_plot_begin(out, result->shown ? "A cycle of function calls" : "Dominant cycle of function calls", str_text(&facts), IPC_PLOT_WIDTH,
		IPC_PLOT_HEAD + SIZE + 30);
	write_windows(&ring);
	if (!result->window_count)
		writer_printf(out, "<circle class=\"ring\" cx=\"%d\" cy=\"%d\" r=\"%d\"/>\n", CENTRE_X, CENTRE_Y, OUTER);
	write_steps(&ring);
	if (result->pass > 0) {
		writer_printf(out, "<text class=\"track\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">%.1f cycles a pass</text>\n", CENTRE_X, CENTRE_Y - 6,
			result->pass);
		writer_printf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">its functions: %.1f%% of the cycles</text>\n", CENTRE_X, CENTRE_Y + 14,
			100.0 * (double)cycle->weight / result->graph->cycles);
	}
	ipc_plot_end(out);
}
