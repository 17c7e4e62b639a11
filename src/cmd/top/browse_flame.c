#include "cmd/top/browse_flame.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cmd/browse_flame.h"
#include "session/session.h"

enum { FRAMES_MAX = 512, STACKS_MAX = 1 << 18, PARTS = 20000 }; /* PARTS: frames below this part of the whole are left out */

struct top_flame {
	struct top *top;
	pthread_mutex_t lock;
	char wanted[256];               /* the event; "": none. Under the lock */
	char event[256];                /* of the sink; "": there is no sink */
	struct flame_sink *collected;   /* since the last table or generation */
	struct sink sink;
	struct flame_builder builder;   /* what was collected before, with names */
};

struct top_flame *top_flame_new(struct top *top)
{
	struct top_flame *flame = memory_zero(1, sizeof *flame);
	flame->top = top;
	pthread_mutex_init(&flame->lock, NULL);
	flame_builder_init(&flame->builder);
	return flame;
}

void top_flame_free(struct top_flame *flame)
{
	if (!flame)
		return;
	flame_sink_free(flame->collected);
	flame_builder_fini(&flame->builder);
	pthread_mutex_destroy(&flame->lock);
	free(flame);
}

void top_flame_ask(struct top_flame *flame, const char *event)
{
	pthread_mutex_lock(&flame->lock);
	snprintf(flame->wanted, sizeof flame->wanted, "%s", event);
	pthread_mutex_unlock(&flame->lock);
}

static void begin(struct top_flame *flame)
{
	const struct top *top = flame->top;
	const struct flame_options options = { .symbols = top->symbols, .filter = top->filter, .event = flame->event, .max_stack = FRAMES_MAX };
	flame_sink_free(flame->collected);
	flame->collected = flame_sink_new(&options, session_workers(&top->live.session));
	flame->sink = flame_sink_of(flame->collected);
}

void top_flame_zero(struct top_flame *flame)
{
	flame_builder_fini(&flame->builder);
	flame_builder_init(&flame->builder);
	if (*flame->event)
		begin(flame);
}

void top_flame_serve(struct top_flame *flame)
{
	pthread_mutex_lock(&flame->lock);
	bool changed = strcmp(flame->event, flame->wanted) != 0;
	if (changed)
		memcpy(flame->event, flame->wanted, sizeof flame->event);
	pthread_mutex_unlock(&flame->lock);
	if (changed)
		top_flame_zero(flame);
}

void top_flame_add(struct top_flame *flame, const struct resolved *r)
{
	if (*flame->event)
		flame->sink.record(flame->sink.context, r, 0);
}

void top_flame_settle(struct top_flame *flame)
{
	if (!*flame->event)
		return;
	if (flame->builder.stacks.count > STACKS_MAX) {
		flame_builder_fini(&flame->builder);
		flame_builder_init(&flame->builder);
	}
	flame_sink_finish(flame->collected, &flame->top->live.session, &flame->builder);
	begin(flame);
}

struct snapshot *top_flame_show(struct top_flame *flame)
{
	struct flame_tree tree;
	if (!*flame->event)
		return NULL;
	top_flame_settle(flame);
	flame_tree_make(&tree, &flame->builder, flame_builder_total(&flame->builder).weight / PARTS);
	struct snapshot *snapshot = flame_snapshot(&tree, flame->event);
	flame_tree_fini(&tree);
	return snapshot;
}
