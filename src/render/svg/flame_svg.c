#include "render/svg/flame_svg.h"

#include <math.h>
#include <stdlib.h>

#include "base/xml_text.h"
#include "render/svg/flame_colour.h"
#include "render/svg/flame_svg_css.h"
#include "render/svg/flame_svg_js.h"

enum {
	ROW = 18,               /* from one row of frames to the next */
	HEAD = 72,              /* above the frames */
	SUBTITLE = 18,          /* added if there is a subtitle */
	FOOT = 12,
	LABEL_PAD = 4,
	LABEL_LETTERS_MIN = 4,
	GAP_PIXELS_MIN = 4,     /* narrower frames have no gap between them */
	NAME_BYTES_MAX = 1000,  /* of a name in the page; truncated names end in "…" */
	LEGEND_LINE = 20,       /* added for the modules' legend */
};
static const double LETTER_WIDTH = 6.63; /* of the labels' font, at most */

uint64_t flame_svg_least(double pixels, uint64_t total, unsigned width)
{
	double least = pixels / ((width ? width : FLAME_SVG_WIDTH) - 2 * FLAME_SVG_MARGIN) * (double)total;
	least = ceil(least * (1 - 1e-12)); /* a number that is whole except for rounding is whole */
	return least < 1 ? 1 : least >= (double)UINT64_MAX ? UINT64_MAX : (uint64_t)least;
}

static void write_text(struct writer *out, const char *text)
{
	xml_text(out, text, strlen(text));
}

/* 1234567 as "1,234,567". */
static void write_number(struct writer *out, uint64_t number)
{
	char digits[32];
	size_t at = sizeof digits;
	for (unsigned n = 0; n == 0 || number; number /= 10) {
		if (n && n % 3 == 0)
			digits[--at] = ',';
		digits[--at] = (char)('0' + number % 10);
		n++;
	}
	writer_add(out, digits + at, sizeof digits - at);
}

static void write_samples(struct writer *out, uint64_t samples)
{
	write_number(out, samples);
	writer_puts(out, samples == 1 ? " sample" : " samples");
}

static void write_share(struct writer *out, uint64_t part, uint64_t whole)
{
	double share = 100.0 * (double)part / (double)whole;
	unsigned hundredths = (unsigned)(share * 100 + 0.5);
	if (hundredths == 0 && part) {
		writer_puts(out, "&lt;0.01%");
		return;
	}
	writer_decimal(out, hundredths / 100, 0);
	char decimals[] = { '.', (char)('0' + hundredths / 10 % 10), (char)('0' + hundredths % 10), '%' };
	writer_add(out, decimals, sizeof decimals);
}

/* A length as a percentage of the frames' width: six decimals, without the zeros at their end. */
static void write_percent(struct writer *out, double percent)
{
	uint64_t millionths = (uint64_t)(percent * 1e6 + 0.5);
	writer_decimal(out, millionths / 1000000, 0);
	char decimals[8] = ".";
	unsigned rest = (unsigned)(millionths % 1000000), len = 0;
	for (unsigned unit = 100000; rest; unit /= 10) {
		decimals[++len] = (char)('0' + rest / unit);
		rest %= unit;
	}
	writer_add(out, decimals, len ? len + 1 : 0);
	writer_putc(out, '%');
}

struct page {
	struct writer *out;
	const struct flame_tree *tree;
	const struct flame_svg *options;
	unsigned width, inner, top; /* of the page, of the frames; above the frames */
	unsigned legend;            /* the height of its line; 0: it is beside the facts */
	struct flame_palette palette;
};

static void write_style(const struct flame_palette *palette, struct writer *out)
{
	writer_puts(out, "<style>\n");
	writer_puts(out, flame_svg_css);
	flame_palette_style(palette, out);
	writer_puts(out, "</style>\n");
}

static void write_opening(const struct page *page, unsigned height)
{
	struct writer *out = page->out;
	writer_printf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\""
		" class=\"%s%s\" data-row=\"%d\">\n<title>", page->width, height, page->width, height,
		page->options->inverted ? "icicle" : "flame", page->options->width ? "" : " fluid", ROW);
	write_text(out, page->options->title);
	writer_puts(out, "</title>\n");
	write_style(&page->palette, out);
	writer_puts(out, "<rect id=\"page\" width=\"100%\" height=\"100%\"/>\n");
}

/* "145 samples, 15.00%", of one recording of a comparison. */
static void write_side(const struct page *page, uint32_t node, enum flame_side side)
{
	const struct flame_weight *weight = &page->tree->sides[node][side];
	write_samples(page->out, weight->samples);
	writer_puts(page->out, ", ");
	write_share(page->out, weight->weight, page->tree->sides[0][side].weight);
}

static void write_change(const struct page *page, uint32_t node)
{
	struct writer *out = page->out;
	double change = flame_share_of_side(page->tree, node, FLAME_NEW) - flame_share_of_side(page->tree, node, FLAME_OLD);
	writer_puts(out, "\nbefore: ");
	write_side(page, node, FLAME_OLD);
	writer_printf(out, "\nchange: %+.2f points", 100 * change);
}

/* Without script, the browser shows it as the tip of a frame. */
static void write_title(const struct page *page, const struct flame_node *node, const struct flame_frame *frame)
{
	struct writer *out = page->out;
	uint64_t all = page->tree->nodes[0].weight;
	size_t len = strlen(frame->name), kept = len > NAME_BYTES_MAX ? NAME_BYTES_MAX : len;
	while (kept < len && kept > 0 && ((unsigned char)frame->name[kept] & 0xc0) == 0x80)
		kept--;
	writer_puts(out, "<title>");
	xml_text(out, frame->name, kept);
	writer_puts(out, kept < len ? "\xe2\x80\xa6 (" : " (");
	uint32_t number = (uint32_t)(node - page->tree->nodes);
	if (page->tree->sides) {
		write_side(page, number, FLAME_NEW);
	} else {
		write_samples(out, node->samples);
		writer_puts(out, ", ");
		write_share(out, node->weight, all);
	}
	writer_putc(out, ')');
	if (page->tree->sides) {
		write_change(page, number);
	} else if (node->self && node->self < node->weight) {
		writer_puts(out, "\nself: ");
		write_samples(out, node->self_samples);
		writer_puts(out, ", ");
		write_share(out, node->self, all);
	}
	if (*frame->module) {
		writer_putc(out, '\n');
		xml_text(out, frame->module, strnlen(frame->module, NAME_BYTES_MAX));
	}
	writer_puts(out, "</title>");
}

/* The name, as much of it as fits. */
static void write_label(const struct page *page, const char *name, double x, unsigned y, double pixels)
{
	struct writer *out = page->out;
	size_t len = strlen(name), columns = (size_t)((pixels - 2 * LABEL_PAD) / LETTER_WIDTH);
	size_t fits = text_columns_prefix(name, len, columns);
	writer_puts(out, "<text x=\"");
	write_percent(out, x);
	writer_printf(out, "\" dx=\"%d\" y=\"%u.5\">", LABEL_PAD, y + 12);
	if (fits == len) {
		xml_text(out, name, len);
	} else {
		xml_text(out, name, text_columns_prefix(name, len, columns - 1));
		writer_puts(out, "\xe2\x80\xa6");
	}
	writer_puts(out, "</text>");
}

static void write_frame(struct page *page, const struct flame_node *node, double x, double width)
{
	struct writer *out = page->out;
	const struct flame_frame *frame = &page->tree->frames[node->frame];
	unsigned row = page->options->inverted ? node->depth : page->tree->max_depth - node->depth, y = row * ROW;
	double pixels = width / 100 * page->inner;
	bool labelled = pixels >= LABEL_LETTERS_MIN * LETTER_WIDTH + 2 * LABEL_PAD;
	writer_puts(out, labelled ? "<g class=\"t\">" : pixels >= GAP_PIXELS_MIN ? "<g class=\"s\">" : "<g>");
	write_title(page, node, frame);
	char class[FLAME_CLASS_MAX];
	flame_palette_class(&page->palette, (uint32_t)(node - page->tree->nodes), class);
	writer_puts(out, "<rect class=\"");
	writer_puts(out, class);
	writer_puts(out, "\" x=\"");
	write_percent(out, x);
	writer_puts(out, "\" y=\"");
	writer_decimal(out, y, 0);
	writer_puts(out, "\" width=\"");
	write_percent(out, width);
	writer_puts(out, "\" height=\"17\"/>");
	if (labelled)
		write_label(page, frame->name, x, y, pixels);
	writer_puts(out, "</g>\n");
}

/* Preorder: a frame starts where its elder sibling ended, or where its parent starts. */
static void write_frames(struct page *page)
{
	const struct flame_tree *tree = page->tree;
	double all = (double)tree->nodes[0].weight;
	struct extent { double next, end; } *rows CLEANUP_FREE = memory_zero(tree->max_depth + 2, sizeof *rows);
	rows[0].end = all;
	writer_printf(page->out, "<svg id=\"frames\" x=\"%d\" y=\"%u\" width=\"%u\" height=\"%u\">\n", FLAME_SVG_MARGIN, page->top,
		page->inner, (tree->max_depth + 1) * ROW);
	for (uint32_t i = 0; i < tree->count && all > 0; i++) {
		const struct flame_node *node = &tree->nodes[i];
		struct extent *row = &rows[node->depth];
		double x = row->next, width = (double)node->weight;
		if (x + width > row->end) /* sums that stopped at the largest number */
			width = row->end > x ? row->end - x : 0;
		row->next = x + width;
		row[1] = (struct extent){ .next = x, .end = x + width };
		write_frame(page, node, 100 * x / all, 100 * width / all);
	}
	writer_puts(page->out, "</svg>\n");
}

static void write_head(const struct page *page)
{
	struct writer *out = page->out;
	const struct flame_svg *options = page->options;
	writer_printf(out, "<g id=\"head\">\n<rect width=\"100%%\" height=\"%u\"/>\n<text id=\"title\" x=\"%d\" y=\"29\">", page->top - 8,
		FLAME_SVG_MARGIN);
	write_text(out, options->title);
	writer_puts(out, "</text>\n");
	if (options->subtitle) {
		writer_printf(out, "<text id=\"subtitle\" x=\"%d\" y=\"%u\">", FLAME_SVG_MARGIN, page->top - 18 - SUBTITLE - page->legend);
		write_text(out, options->subtitle);
		writer_puts(out, "</text>\n");
	}
	writer_printf(out, "<text id=\"facts\" x=\"%d\" y=\"%u\">", FLAME_SVG_MARGIN, page->top - 18 - page->legend);
	write_text(out, options->facts);
	writer_puts(out, "</text>\n");
	flame_palette_legend(&page->palette, page->top - 18, page->width, out);
	writer_puts(out, "</g>\n");
}

void flame_svg_write(struct writer *out, const struct flame_tree *tree, const struct flame_svg *options)
{
	struct page page = { .out = out, .tree = tree, .options = options, .width = options->width ? options->width : FLAME_SVG_WIDTH };
	page.inner = page.width - 2 * FLAME_SVG_MARGIN;
	flame_palette_init(&page.palette, tree, options->colours);
	page.legend = flame_palette_has_line(&page.palette) ? LEGEND_LINE : 0;
	page.top = HEAD + (options->subtitle ? SUBTITLE : 0) + page.legend;
	write_opening(&page, page.top + (tree->max_depth + 1) * ROW + FOOT);
	write_frames(&page);
	if (tree->nodes[0].weight == 0)
		writer_printf(out, "<text x=\"%d\" y=\"%u\">No samples to show.</text>\n", FLAME_SVG_MARGIN, page.top + 13);
	write_head(&page);
	writer_puts(out, "<script><![CDATA[\n");
	writer_puts(out, flame_svg_js);
	writer_puts(out, "]]></script>\n</svg>\n");
}
