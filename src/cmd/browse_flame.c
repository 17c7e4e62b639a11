#include "cmd/browse_flame.h"

#include <stdlib.h>

#include "base/memory.h"

enum { FLAME_WEIGHT, FLAME_SAMPLES, FLAME_NAME, FLAME_MODULE, FLAME_KIND };

static const struct table_column flame_columns[] = {
	[FLAME_WEIGHT] = { "overhead", "Overhead", NULL, CELL_SHARE },
	[FLAME_SAMPLES] = { "samples", "Samples", NULL, CELL_COUNT },
	[FLAME_NAME] = { "name", "Name", NULL, CELL_TEXT },
	[FLAME_MODULE] = { "module", "Shared Object", NULL, CELL_TEXT },
	[FLAME_KIND] = { "kind", "Kind", NULL, CELL_TEXT },
};

/* Row n is node n - 1; the nodes below node n are children[first[n] .. first[n + 1]). */
struct flame_table {
	const struct flame_tree *tree;
	uint32_t *first, *children;
};

static size_t node_count(void *context, uint64_t parent)
{
	const struct flame_table *table = context;
	return parent == TABLE_TOP ? table->tree->count > 0 : table->first[parent] - table->first[parent - 1];
}

static uint64_t node_row(void *context, uint64_t parent, size_t index)
{
	const struct flame_table *table = context;
	return parent == TABLE_TOP ? 1 : table->children[table->first[parent - 1] + index] + UINT64_C(1);
}

static struct cell node_cell(void *context, uint64_t row, size_t column, struct str *scratch)
{
	static const char *const kinds[FLAME_KIND_COUNT] = { "root", "task", "user", "kernel", "inline", "jit", "unknown" };
	const struct flame_table *table = context;
	const struct flame_node *node = &table->tree->nodes[row - 1];
	const struct flame_frame *frame = &table->tree->frames[node->frame];
	switch (column) {
	case FLAME_WEIGHT:
		return (struct cell){ .kind = CELL_SHARE, .share = { node->weight, table->tree->nodes->weight } };
	case FLAME_SAMPLES:
		return cell_count(node->samples);
	case FLAME_NAME:
		return cell_text(frame->name);
	case FLAME_MODULE:
		return cell_text(frame->module);
	default:
		return cell_text(kinds[frame->kind]);
	}
}

static void list_children(struct flame_table *table)
{
	const struct flame_tree *tree = table->tree;
	uint32_t at = 0;
	table->first = memory_zero((size_t)tree->count + 1, sizeof *table->first);
	table->children = memory_zero((size_t)tree->count + 1, sizeof *table->children);
	for (uint32_t node = 0; node < tree->count; node++) {
		table->first[node] = at;
		for (uint32_t child = node + 1; child < tree->nodes[node].end; child = tree->nodes[child].end)
			table->children[at++] = child;
	}
	table->first[tree->count] = at;
}

struct snapshot *flame_snapshot(const struct flame_tree *tree, const char *event)
{
	struct flame_table flame = { .tree = tree };
	const struct table_fact fact = { "event", cell_text(event) };
	const struct table table = { .name = "flame", .facts = &fact, .fact_count = 1, .columns = flame_columns,
		.column_count = sizeof flame_columns / sizeof *flame_columns, .tree = true, .context = &flame, .row_count = node_count,
		.row = node_row, .cell = node_cell };
	list_children(&flame);
	struct snapshot *snapshot = snapshot_new(&table, 0);
	free(flame.first);
	free(flame.children);
	return snapshot;
}

enum {
	FLAME_STACK_MAX = 512,
	FLAME_PARTS = 20000,       /* frames below this part of the whole are left out */
};

struct flame_sink *browse_flame_open(const struct flame_options *options, unsigned workers)
{
	struct flame_options all = *options;
	all.max_stack = FLAME_STACK_MAX;
	return flame_sink_new(&all, workers);
}

struct snapshot *browse_flame_finish(struct flame_sink *sink, struct session *session, const char *event)
{
	struct flame_builder builder;
	struct flame_tree tree;
	flame_builder_init(&builder);
	flame_sink_finish(sink, session, &builder);
	flame_tree_make(&tree, &builder, flame_builder_total(&builder).weight / FLAME_PARTS);
	struct snapshot *snapshot = flame_snapshot(&tree, event);
	flame_tree_fini(&tree);
	flame_builder_fini(&builder);
	return snapshot;
}
