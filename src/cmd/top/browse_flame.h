/* The flame graph of `top`'s browser: the sum of all samples of one event since the screen asked for it. Its memory is bounded: with too
 * many different stacks it begins again. All functions but the first three are for the thread that measures. */
#pragma once
#include "analysis/flame/flame_sink.h"
#include "cmd/top/top.h"
#include "render/tui/snapshot.h"

struct top_flame;

struct top_flame *top_flame_new(struct top *top);
void top_flame_free(struct top_flame *flame); /* NULL is allowed */
/* For the screen's thread: from now on, samples of this event are summed. */
void top_flame_ask(struct top_flame *flame, const char *event);

/* Looks at what the screen has asked for. */
void top_flame_serve(struct top_flame *flame);
void top_flame_add(struct top_flame *flame, const struct resolved *r);
/* Before a new generation of the model: gives all frames their names. */
void top_flame_settle(struct top_flame *flame);
void top_flame_zero(struct top_flame *flame);
/* The graph; NULL: the screen has not asked for one. */
struct snapshot *top_flame_show(struct top_flame *flame);
