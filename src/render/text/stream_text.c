#include "render/text/stream_text.h"

#include <inttypes.h>

#include "render/text/chain_text.h"

/* perf's widths and buffers. */
enum { SIDE_WIDTH = 35, FRAME_MAX = 255, LINE_MAX_LENGTH = 511 };

static void heading(const struct stream_side *side, const struct stream *stream, struct str *out)
{
	double share = (double)stream->node->hit / (double)side->hits * 100.0;
	str_printf(out, "cycles: %" PRId64 ", hits: %.2f%%", stream_cycles(stream), share);
}

static void frame(const struct stream_side *side, const struct stream *stream, uint32_t i, struct str *out)
{
	chain_frame_add(side->profile, stream_place(stream, i), false, out);
	if (out->len > FRAME_MAX) {
		out->len = FRAME_MAX;
		out->text[FRAME_MAX] = '\0';
	}
}

/* A line of both sides; left NULL: there is one side; right NULL: only the left one. */
static void print_line(const char *left, const char *right, struct writer *out)
{
	struct str text CLEANUP_STR = { 0 };
	str_printf(&text, "%*s", SIDE_WIDTH, left ? left : "");
	if (right)
		str_printf(&text, "\t%*s", SIDE_WIDTH, right);
	if (text.len > LINE_MAX_LENGTH)
		text.len = LINE_MAX_LENGTH;
	writer_add(out, str_text(&text), text.len);
	writer_puts(out, "\n");
}

static void print_pair(const struct stream_side *before, const struct stream *a, const struct stream_side *after, const struct stream *b,
	struct writer *out)
{
	struct str left CLEANUP_STR = { 0 }, right CLEANUP_STR = { 0 };
	heading(before, a, &left);
	heading(after, b, &right);
	print_line(str_text(&left), str_text(&right), out);
	print_line("---------------------------", "--------------------------", out);
	for (uint32_t i = 0; i < a->node->place_count; i++) {
		str_clear(&left);
		str_clear(&right);
		frame(before, a, i, &left);
		frame(after, b, i, &right);
		print_line(str_text(&left), str_text(&right), out);
	}
}

static void print_alone(const struct stream_side *side, const struct stream *stream, bool right, struct writer *out)
{
	struct str text CLEANUP_STR = { 0 };
	heading(side, stream, &text);
	print_line(right ? "" : str_text(&text), right ? str_text(&text) : NULL, out);
	print_line(right ? "" : "--------------------------", right ? "--------------------------" : NULL, out);
	for (uint32_t i = 0; i < stream->node->place_count; i++) {
		str_clear(&text);
		frame(side, stream, i, &text);
		print_line(right ? "" : str_text(&text), right ? str_text(&text) : NULL, out);
	}
}

static void print_unpaired(const struct stream_side *side, bool right, struct writer *out)
{
	unsigned number = 0;
	for (unsigned i = 0; i < side->count; i++) {
		if (side->streams[i].pair >= 0)
			continue;
		writer_printf(out, "\nhot chain %u:\n", ++number);
		print_alone(side, &side->streams[i], right, out);
	}
}

void stream_text_print(const struct stream_side *before, const struct stream_side *after, struct writer *out)
{
	unsigned number = 0;
	writer_puts(out, "[ Matched hot streams ]\n");
	for (unsigned i = 0; i < before->count; i++) {
		const struct stream *stream = &before->streams[i];
		if (stream->pair < 0)
			continue;
		writer_printf(out, "\nhot chain pair %u:\n", ++number);
		print_pair(before, stream, after, &after->streams[stream->pair], out);
	}
	writer_puts(out, "\n[ Hot streams in old perf data only ]\n");
	print_unpaired(before, false, out);
	writer_puts(out, "\n[ Hot streams in new perf data only ]\n");
	print_unpaired(after, true, out);
}
