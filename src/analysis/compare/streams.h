/* Streams of two profiles: the hottest chains of branches and calls of each, and which of them are in both. Independent of formats. */
#pragma once
#include "analysis/compare/diff.h"
#include "analysis/stack/chain_tree.h"

enum { STREAMS_MAX = 5 };

struct stream {
	const struct chain_tree *tree;
	const struct chain_node *node; /* its own frames alone are the stream */
	int pair;                      /* index in the other side; -1: the other side has no such stream */
};

struct stream_side {
	const struct profile *profile;
	struct stream streams[STREAMS_MAX];
	unsigned count;
	uint64_t hits;                 /* of all chains */
};

/* Finds the streams of an event of the baseline and of the second file, whose profiles have chains by source line. */
void streams_find(const struct diff_event *event, struct stream_side *before, struct stream_side *after);
/* The sum of the average cycles of the stream's branches. */
int64_t stream_cycles(const struct stream *stream);
/* The frame of a stream: a place of its profile. */
static inline uint32_t stream_place(const struct stream *stream, uint32_t frame)
{
	return stream->tree->places[stream->node->first_place + frame];
}
