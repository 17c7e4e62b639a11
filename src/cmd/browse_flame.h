/* The flame graph of a browser: made beside a command's own results, and as a table, which the browser copies. */
#pragma once
#include "analysis/flame/flame_sink.h"
#include "render/tui/snapshot.h"

/* Of whole stacks, whatever options->max_stack is. */
struct flame_sink *browse_flame_open(const struct flame_options *options, unsigned workers);
/* After session_run. event: its label. */
struct snapshot *browse_flame_finish(struct flame_sink *sink, struct session *session, const char *event);

struct snapshot *flame_snapshot(const struct flame_tree *tree, const char *event);
