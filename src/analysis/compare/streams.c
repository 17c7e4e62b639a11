#include "analysis/compare/streams.h"

#include <string.h>

#include "analysis/column/source.h"

/* The coldest one gives way, the first of several. */
static void add_stream(struct stream_side *side, const struct chain_tree *tree, const struct chain_node *node)
{
	const struct stream stream = { tree, node, -1 };
	unsigned coldest = 0;
	side->hits += node->hit;
	if (side->count < STREAMS_MAX) {
		side->streams[side->count++] = stream;
		return;
	}
	for (unsigned i = 1; i < side->count; i++)
		if (side->streams[i].node->hit < side->streams[coldest].node->hit)
			coldest = i;
	if (node->hit > side->streams[coldest].node->hit)
		side->streams[coldest] = stream;
}

static void find_side(const struct diff_side *from, struct stream_side *side)
{
	*side = (struct stream_side){ .profile = from->profile };
	for (uint32_t i = 0; from->hist && i < from->hist->count; i++) {
		const struct chain_tree *tree = from->hist->entries[i]->chain;
		for (uint32_t k = 0; tree && k < tree->end_count; k++)
			add_stream(side, tree, &tree->nodes[tree->ends[k]]);
	}
}

static bool streams_equal(const struct stream_side *before, const struct stream *a, const struct stream_side *after, const struct stream *b)
{
	if (a->node->place_count != b->node->place_count)
		return false;
	for (uint32_t i = 0; i < a->node->place_count; i++)
		if (strcmp(profile_place_line_text(before->profile, stream_place(a, i)),
				profile_place_line_text(after->profile, stream_place(b, i))) != 0)
			return false;
	return a->node->place_count != 0;
}

void streams_find(const struct diff_event *event, struct stream_side *before, struct stream_side *after)
{
	find_side(&event->sides[0], before);
	find_side(&event->sides[1], after);
	for (unsigned i = 0; i < before->count; i++)
		for (unsigned k = 0; k < after->count && before->streams[i].pair < 0; k++)
			if (streams_equal(before, &before->streams[i], after, &after->streams[k])) {
				before->streams[i].pair = (int)k;
				after->streams[k].pair = (int)i;
			}
}

int64_t stream_cycles(const struct stream *stream)
{
	int64_t cycles = 0;
	for (uint32_t i = 0; stream->tree->marks && i < stream->node->place_count; i++) {
		const struct branch_marks *marks = &stream->tree->marks[stream->node->first_place + i];
		cycles += marks->branches ? (int64_t)(marks->cycles / marks->branches) : 0;
	}
	return cycles;
}
