#include "render/tui/flame.h"

#include <string.h>

#include "render/tui/face.h"

void flame_view_drop(struct flame_view *flame)
{
	if (!flame->shot)
		return;
	flame->root_was = flame->shot->rows.items[flame->root].identity;
	flame->cursor_was = flame->shot->rows.items[flame->cursor].identity;
	flame->shot = NULL;
}

void flame_view_adopt(struct flame_view *flame, const struct snapshot *snapshot)
{
	flame_view_drop(flame);
	flame->shot = snapshot;
	flame->root = flame->cursor = 1;
	flame->top = 0;
	if (snapshot->rows.count < 2)
		flame->root = flame->cursor = SNAPSHOT_TOP;
	for (uint32_t i = 1; i < snapshot->rows.count; i++) {
		flame->root = snapshot->rows.items[i].identity == flame->root_was ? i : flame->root;
		flame->cursor = snapshot->rows.items[i].identity == flame->cursor_was ? i : flame->cursor;
	}
	flame->shares = snapshot_column_of_kind(&snapshot->columns, CELL_SHARE);
	flame->names = snapshot_column_named(&snapshot->columns, "name");
	flame->modules = snapshot_column_named(&snapshot->columns, "module");
	flame->kinds = snapshot_column_named(&snapshot->columns, "kind");
}

static uint64_t weight(const struct flame_view *flame, uint32_t row)
{
	if (flame->shares == SIZE_MAX || row == SNAPSHOT_TOP)
		return 0;
	return snapshot_cell(flame->shot, row, flame->shares)->share.part;
}

static const char *text_of(const struct flame_view *flame, uint32_t row, size_t column)
{
	const struct cell *cell = column == SIZE_MAX || row == SNAPSHOT_TOP ? NULL : snapshot_cell(flame->shot, row, column);
	return cell && cell->kind == CELL_TEXT ? cell->text : "";
}

void flame_view_up(struct flame_view *flame)
{
	if (flame->cursor != flame->root)
		flame->cursor = flame->shot->rows.items[flame->cursor].parent;
}

void flame_view_down(struct flame_view *flame)
{
	const struct snapshot_row *row = &flame->shot->rows.items[flame->cursor];
	uint32_t best = row->first_child;
	for (uint32_t i = 1; i < row->child_count; i++)
		if (weight(flame, row->first_child + i) > weight(flame, best))
			best = row->first_child + i;
	if (row->child_count)
		flame->cursor = best;
}

/* A frame of the same level beside this one; at the end of the callees of one caller, of the next caller. */
static uint32_t beside(const struct flame_view *flame, uint32_t row, int step)
{
	const struct snapshot_row *rows = flame->shot->rows.items;
	if (row == flame->root || row == SNAPSHOT_TOP)
		return SNAPSHOT_TOP;
	const struct snapshot_row *parent = &rows[rows[row].parent];
	if (step > 0 ? row + 1 < parent->first_child + parent->child_count : row > parent->first_child)
		return row + (uint32_t)step;
	for (uint32_t next = beside(flame, rows[row].parent, step); next; next = beside(flame, next, step))
		if (rows[next].child_count)
			return rows[next].first_child + (step > 0 ? 0 : rows[next].child_count - 1);
	return SNAPSHOT_TOP;
}

void flame_view_side(struct flame_view *flame, int step)
{
	uint32_t next = beside(flame, flame->cursor, step);
	if (next)
		flame->cursor = next;
}

bool flame_view_find(struct flame_view *flame, const regex_t *regex, int step)
{
	uint32_t count = flame->shot ? (uint32_t)flame->shot->rows.count : 0;
	for (uint32_t i = 1; i < count; i++) {
		uint32_t row = (flame->cursor + (step > 0 ? i : count - i)) % count, above = row;
		while (above > flame->root)
			above = flame->shot->rows.items[above].parent;
		if (above != flame->root || regexec(regex, text_of(flame, row, flame->names), 0, NULL, 0) != 0)
			continue;
		flame->cursor = row;
		return true;
	}
	return false;
}

bool flame_view_select(struct flame_view *flame, const char *name)
{
	uint32_t best = SNAPSHOT_TOP;
	for (uint32_t i = 1; flame->shot && i < flame->shot->rows.count; i++)
		if (strcmp(text_of(flame, i, flame->names), name) == 0 && (best == SNAPSHOT_TOP || weight(flame, i) > weight(flame, best)))
			best = i;
	if (best != SNAPSHOT_TOP)
		flame->cursor = best;
	return best != SNAPSHOT_TOP;
}

void flame_view_zoom(struct flame_view *flame)
{
	if (flame->cursor == flame->root)
		return;
	if (flame->zoom_count == FLAME_ZOOMS) /* the oldest is forgotten */
		memmove(flame->zooms, flame->zooms + 1, --flame->zoom_count * sizeof *flame->zooms);
	flame->zooms[flame->zoom_count++] = flame->shot->rows.items[flame->root].identity;
	flame->root = flame->cursor;
	flame->top = 0;
}

bool flame_view_zoom_out(struct flame_view *flame)
{
	uint32_t all = flame->shot->rows.count > 1, root = all;
	if (flame->root == all)
		return false;
	for (uint32_t i = 1; flame->zoom_count && i < flame->shot->rows.count; i++)
		if (flame->shot->rows.items[i].identity == flame->zooms[flame->zoom_count - 1])
			root = i;
	flame->zoom_count -= flame->zoom_count > 0;
	flame->root = root;
	flame->top = 0;
	return true;
}

static uint8_t style_of(const struct flame_view *flame, uint32_t row)
{
	static const struct { const char *kind; uint8_t style; } styles[] = {
		{ "kernel", STYLE_KERNEL }, { "inline", STYLE_INLINE }, { "jit", STYLE_JIT }, { "task", STYLE_TASK }, { "unknown", STYLE_UNKNOWN },
		{ "root", STYLE_TASK },
	};
	const char *kind = text_of(flame, row, flame->kinds);
	for (size_t i = 0; i < sizeof styles / sizeof *styles; i++)
		if (strcmp(kind, styles[i].kind) == 0)
			return styles[i].style;
	return STYLE_USER;
}

/* A frame's place: [left, right) of the columns; the edges of neighbours are equal. */
struct extent {
	uint64_t from, weight; /* in the weight of the root */
};

static size_t column_of(const struct flame_view *flame, uint64_t position, size_t columns)
{
	uint64_t whole = weight(flame, flame->root);
	return whole ? (size_t)((unsigned __int128)position * columns / whole) : 0;
}

struct painting {
	struct flame_view *flame;
	struct screen *screen;
	size_t first, last;
	const regex_t *search;
};

static void paint_frame(const struct painting *p, uint32_t row, size_t depth, const struct extent *extent)
{
	const struct flame_view *flame = p->flame;
	size_t columns = p->screen->columns, left = column_of(flame, extent->from, columns);
	size_t right = column_of(flame, extent->from + extent->weight, columns);
	const char *name = text_of(flame, row, flame->names);
	uint8_t style = style_of(flame, row) | (row == flame->cursor ? STYLE_REVERSE | STYLE_BOLD : 0);
	if (p->search && regexec(p->search, name, 0, NULL, 0) == 0)
		style = STYLE_MATCH | (style & (uint8_t)~STYLE_MASK);
	if (depth < flame->top || p->first + depth - flame->top >= p->last)
		return;
	size_t line = p->first + depth - flame->top;
	screen_fill(p->screen, line, left, right, style);
	/* A separating line on the left, as colours alone do not show where a frame begins. */
	screen_put(p->screen, line, left, right, style, p->screen->ascii ? "|" : "\xe2\x96\x8f");
	screen_put_name(p->screen, line, left + 1, right, style, name);
}

static void paint_tree(const struct painting *p, uint32_t row, size_t depth, struct extent extent)
{
	const struct snapshot_row *at = &p->flame->shot->rows.items[row];
	size_t columns = p->screen->columns;
	paint_frame(p, row, depth, &extent);
	if (p->first + depth >= p->last + p->flame->top)
		return;
	for (uint32_t i = 0; i < at->child_count; i++) {
		struct extent child = { extent.from, weight(p->flame, at->first_child + i) };
		extent.from += child.weight;
		/* narrower than a column: invisible, with all its callees */
		if (column_of(p->flame, child.from, columns) < column_of(p->flame, child.from + child.weight, columns))
			paint_tree(p, at->first_child + i, depth + 1, child);
	}
}

static size_t depth_of(const struct flame_view *flame, uint32_t row)
{
	return flame->shot->rows.items[row].depth - flame->shot->rows.items[flame->root].depth;
}

void flame_view_paint(struct flame_view *flame, struct screen *screen, size_t first, size_t last, const regex_t *search)
{
	struct painting p = { flame, screen, first, last, search };
	if (!flame->shot || flame->root == SNAPSHOT_TOP || first >= last)
		return;
	size_t depth = depth_of(flame, flame->cursor), height = last - first;
	if (depth < flame->top)
		flame->top = depth;
	if (depth >= flame->top + height)
		flame->top = depth + 1 - height;
	paint_tree(&p, flame->root, 0, (struct extent){ 0, weight(flame, flame->root) });
}

bool flame_view_click(struct flame_view *flame, size_t line, size_t column, size_t columns)
{
	uint32_t row = flame->root;
	uint64_t from = 0;
	for (size_t depth = 0; depth < line + flame->top; depth++) {
		const struct snapshot_row *at = &flame->shot->rows.items[row];
		uint32_t i = 0;
		for (; i < at->child_count; i++) {
			uint64_t part = weight(flame, at->first_child + i);
			if (column_of(flame, from, columns) <= column && column < column_of(flame, from + part, columns))
				break;
			from += part;
		}
		if (i == at->child_count)
			return false;
		row = at->first_child + i;
	}
	flame->cursor = row;
	return true;
}

void flame_view_describe(const struct flame_view *flame, struct str *out)
{
	const char *module = text_of(flame, flame->cursor, flame->modules), *slash = strrchr(module, '/');
	if (!flame->shot || flame->cursor == SNAPSHOT_TOP || flame->shares == SIZE_MAX)
		return;
	face_add(snapshot_cell(flame->shot, flame->cursor, flame->shares), out);
	str_printf(out, "  %s", text_of(flame, flame->cursor, flame->names));
	if (*module)
		str_printf(out, "  [%s]", slash && slash[1] ? slash + 1 : module);
}
