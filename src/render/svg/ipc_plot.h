/* What pictures over time share (of IPC, timecharts): the page, its scales, axes and lines. Lengths are pixels. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/writer.h"

enum { IPC_PLOT_WIDTH = 1200, IPC_PLOT_LEFT = 76, IPC_PLOT_RIGHT = 20, IPC_PLOT_HEAD = 64,
	IPC_PLOT_INNER = IPC_PLOT_WIDTH - IPC_PLOT_LEFT - IPC_PLOT_RIGHT };

/* One panel: the data's ranges [from, to] and [0, top] on its width and height. */
struct ipc_plot {
	struct writer *out;
	double from, to, top;
	unsigned left, inner, y, height; /* of the panel on the page; inner: its width */
	bool ns;                      /* the unit of x; otherwise cycles */
};

void ipc_plot_begin(struct writer *out, const char *title, const char *facts, unsigned width, unsigned height);
void ipc_plot_end(struct writer *out);
/* Of a value, in the panel's own coordinates. */
double ipc_plot_x(const struct ipc_plot *plot, double value);
double ipc_plot_y(const struct ipc_plot *plot, double value);
/* A number without the zeros at its end. */
void ipc_plot_number(struct writer *out, double number);
void ipc_plot_text(struct writer *out, const char *text);
/* The frame of a panel, its name, and the lines of its vertical scale (scale: has one). */
void ipc_plot_frame(const struct ipc_plot *plot, const char *name, bool scale);
/* The horizontal axis below a panel. */
void ipc_plot_axis(const struct ipc_plot *plot, unsigned y);
/* A round number at or above `number` for the top of a scale. */
double ipc_plot_top(double number);
