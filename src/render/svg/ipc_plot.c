#include "render/svg/ipc_plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/xml_text.h"
#include "render/svg/ipc_svg_css.h"
#include "render/svg/ipc_svg_js.h"

void ipc_plot_text(struct writer *out, const char *text)
{
	xml_text(out, text, strlen(text));
}

void ipc_plot_number(struct writer *out, double number)
{
	char text[32];
	int length = snprintf(text, sizeof text, "%.2f", number);
	while (length > 1 && text[length - 1] == '0')
		length--;
	length -= text[length - 1] == '.';
	writer_add(out, text, (size_t)length);
}

void ipc_plot_begin(struct writer *out, const char *title, const char *facts, unsigned width, unsigned height)
{
	writer_printf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%u\" "
		"height=\"%u\" viewBox=\"0 0 %u %u\">\n<title>", width, height, width, height);
	ipc_plot_text(out, title);
	writer_puts(out, "</title>\n<style>\n");
	writer_puts(out, ipc_svg_css);
	writer_puts(out, "</style>\n<rect id=\"page\" width=\"100%\" height=\"100%\"/>\n<text id=\"title\" x=\"16\" y=\"29\">");
	ipc_plot_text(out, title);
	writer_puts(out, "</text>\n<text id=\"facts\" x=\"16\" y=\"50\">");
	ipc_plot_text(out, facts);
	writer_puts(out, "</text>\n");
}

void ipc_plot_end(struct writer *out)
{
	writer_puts(out, "<script><![CDATA[\n");
	writer_puts(out, ipc_svg_js);
	writer_puts(out, "]]></script>\n</svg>\n");
}

double ipc_plot_x(const struct ipc_plot *plot, double value)
{
	double span = plot->to - plot->from;
	return span > 0 ? (value - plot->from) / span * plot->inner : 0;
}

double ipc_plot_y(const struct ipc_plot *plot, double value)
{
	double share = plot->top > 0 ? value / plot->top : 0;
	return plot->height * (1 - (share < 0 ? 0 : share > 1 ? 1 : share));
}

/* 1, 2 or 5 times a power of ten: about `parts` of them in a span. */
static double step_of(double span, double parts)
{
	double unit = pow(10, floor(log10(span / parts)));
	double ratio = span / parts / unit;
	return unit * (ratio <= 1 ? 1 : ratio <= 2 ? 2 : ratio <= 5 ? 5 : 10);
}

double ipc_plot_top(double number)
{
	if (!(number > 0))
		return 1;
	double step = step_of(number, 4);
	return ceil(number / step) * step;
}

void ipc_plot_frame(const struct ipc_plot *plot, const char *name, bool scale)
{
	struct writer *out = plot->out;
	writer_printf(out, "<rect class=\"frame\" x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\"/>\n", plot->left, plot->y, plot->inner,
		plot->height);
	writer_printf(out, "<text class=\"name\" transform=\"translate(18 %u) rotate(-90)\">", plot->y + plot->height / 2);
	ipc_plot_text(out, name);
	writer_puts(out, "</text>\n");
	double step = scale ? step_of(plot->top, 4) : 0;
	for (double value = 0; scale && value <= plot->top * 1.0001; value += step) {
		double y = plot->y + ipc_plot_y(plot, value);
		writer_printf(out, "<path class=\"grid\" d=\"M%u %.1fh%u\"/><text class=\"tick y\" x=\"%u\" y=\"%.1f\">", plot->left, y,
			plot->inner, plot->left - 6, y + 4);
		ipc_plot_number(out, value);
		writer_puts(out, "</text>\n");
	}
}

void ipc_plot_axis(const struct ipc_plot *plot, unsigned y)
{
	static const struct {
		double from, unit;
		const char *name;
	} units[] = { { 1e9, 1e9, "s" }, { 1e6, 1e6, "ms" }, { 1e3, 1e3, "\xc2\xb5s" }, { 0, 1, "ns" } };
	double span = plot->to - plot->from;
	size_t u = 3;
	for (size_t i = 4; i-- > 0;)
		if (plot->ns && span >= units[i].from)
			u = i;
	writer_printf(plot->out, "<g class=\"axis\" data-y=\"%u\">\n", y);
	double step = span > 0 ? step_of(span, 10) : 0;
	for (double value = step > 0 ? ceil(plot->from / step) * step : 0; step > 0 && value <= plot->to; value += step) {
		double x = plot->left + ipc_plot_x(plot, value);
		writer_printf(plot->out, "<text class=\"tick x\" x=\"%.1f\" y=\"%u\">", x, y);
		ipc_plot_number(plot->out, fabs(value) < step / 2 ? 0 : value / units[u].unit);
		writer_printf(plot->out, "%s</text>\n", plot->ns ? units[u].name : fabs(value) < step / 2 ? " cycles" : "");
	}
	writer_puts(plot->out, "</g>\n");
}
