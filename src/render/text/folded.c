#include "render/text/folded.h"

#include <stdlib.h>

/* A node has up to two items to sort among its siblings: its own line, "name", and its children, "name;". So the lines are in the order
 * of their bytes even if one sibling's name is the beginning of another's. */
struct folded_item {
	const char *name;
	uint32_t node;
	bool own;
};

struct folded_level {
	uint32_t next, end;   /* into items */
	size_t path_length;
};

struct folder {
	struct writer *out;
	const struct flame_tree *tree;
	VEC(struct folded_item) items;   /* of all levels now open, the innermost last */
	VEC(struct folded_level) levels;
	struct str path;
};

static int item_compare(const void *a, const void *b)
{
	const struct folded_item *x = a, *y = b;
	const char *p = x->name, *q = y->name;
	while (*p && *p == *q)
		p++, q++;
	int left = *p ? (unsigned char)*p : x->own ? 0 : ';', right = *q ? (unsigned char)*q : y->own ? 0 : ';';
	return left - right;
}

static void open_level(struct folder *folder, uint32_t parent)
{
	const struct flame_tree *tree = folder->tree;
	uint32_t from = (uint32_t)folder->items.count;
	for (uint32_t i = parent + 1; i < tree->nodes[parent].end; i = tree->nodes[i].end) {
		const char *name = tree->frames[tree->nodes[i].frame].name;
		if (tree->nodes[i].self)
			vec_push(&folder->items, ((struct folded_item){ .name = name, .node = i, .own = true }));
		if (tree->nodes[i].end > i + 1)
			vec_push(&folder->items, ((struct folded_item){ .name = name, .node = i }));
	}
	uint32_t to = (uint32_t)folder->items.count;
	if (to > from)
		qsort(folder->items.items + from, to - from, sizeof *folder->items.items, item_compare);
	vec_push(&folder->levels, ((struct folded_level){ .next = from, .end = to, .path_length = folder->path.len }));
}

static void folded_line(struct folder *folder, const struct folded_item *item)
{
	writer_add(folder->out, str_text(&folder->path), folder->path.len);
	writer_puts(folder->out, item->name);
	writer_putc(folder->out, ' ');
	const struct flame_tree *tree = folder->tree;
	if (tree->sides) {
		writer_decimal(folder->out, tree->own_sides[item->node][FLAME_OLD].weight, 0);
		writer_putc(folder->out, ' ');
		writer_decimal(folder->out, tree->own_sides[item->node][FLAME_NEW].weight, 0);
	} else {
		writer_decimal(folder->out, tree->nodes[item->node].self, 0);
	}
	writer_putc(folder->out, '\n');
}

void folded_write(struct writer *out, const struct flame_tree *tree)
{
	struct folder folder = { .out = out, .tree = tree };
	open_level(&folder, 0);
	while (folder.levels.count) {
		struct folded_level *level = &folder.levels.items[folder.levels.count - 1];
		if (folder.path.len > level->path_length) {
			folder.path.len = level->path_length;
			folder.path.text[folder.path.len] = '\0';
		}
		if (level->next == level->end) {
			folder.levels.count--;
			folder.items.count = folder.levels.count ? folder.levels.items[folder.levels.count - 1].end : 0;
			continue;
		}
		struct folded_item item = folder.items.items[level->next++];
		if (item.own) {
			folded_line(&folder, &item);
		} else {
			str_puts(&folder.path, item.name);
			str_putc(&folder.path, ';');
			open_level(&folder, item.node);
		}
	}
	str_fini(&folder.path);
	vec_fini(&folder.items);
	vec_fini(&folder.levels);
}
