/* What the user sees, as text or as a table: the rows and columns that are shown, in the order shown. */
#include <stdlib.h>

#include "render/tui/browser_state.h"

/* The view as a table: top rows and rows of a tree; rows of details are left out. */
struct shown_table {
	const struct view *view;
	size_t columns[VIEW_COLUMNS_MAX];
	VEC(uint32_t) rows;
};

static size_t shown_count(void *context, uint64_t parent)
{
	const struct shown_table *shown = context;
	return parent == TABLE_TOP ? shown->rows.count : 0;
}

static struct cell shown_cell(void *context, uint64_t row, size_t column, struct str *scratch)
{
	const struct shown_table *shown = context;
	return *snapshot_cell(shown->view->shot, shown->rows.items[row - 1], shown->columns[column]);
}

static int save_table(struct browser *browser, struct browse_export *what, struct str *path, struct error *err)
{
	const struct view *view = &browser_page(browser)->view;
	struct shown_table shown = { .view = view };
	struct table_column columns[VIEW_COLUMNS_MAX];
	const struct table_fact facts[] = { { "event", cell_text(view->shot->event) }, { "samples", cell_count(view->shot->samples) },
		{ "period", cell_count(view->shot->period) } };
	struct table table = { .name = view->shot->name, .columns = columns, .facts = facts, .fact_count = *view->shot->event ? 3 : 0,
		.context = &shown, .row_count = shown_count, .row = table_row_in_order, .cell = shown_cell };
	for (size_t i = 0; i < view->shot->columns.count && i < VIEW_COLUMNS_MAX; i++)
		if (!view_is_hidden(view, i)) {
			shown.columns[table.column_count] = i;
			columns[table.column_count++] = view->shot->columns.items[i];
		}
	for (size_t i = 0; i < view->lines.count; i++)
		if (!view->shot->rows.items[view->lines.items[i].row].detail)
			vec_push(&shown.rows, view->lines.items[i].row);
	what->table = &table;
	int result = browser->source.save(browser->source.context, what, path, err);
	vec_fini(&shown.rows);
	return result;
}

void browser_save(struct browser *browser, enum browse_format format)
{
	CLEANUP_STR struct str path = { 0 };
	CLEANUP_STR struct str text = { 0 };
	struct error err = { 0 };
	const struct browse_page *page = browser_page(browser);
	struct browse_export what = { .format = format };
	int result;
	if (!browser->source.save) {
		browser_note(browser, "this result cannot be exported");
		return;
	}
	if (format == BROWSE_SVG || format == BROWSE_FOLDED) {
		what.flame = page->flame.shot;
		what.flame_root = page->flame.root;
		result = !what.flame ? error_set(&err, ERROR_USAGE, "the flame graph is not read yet")
				     : browser->source.save(browser->source.context, &what, &path, &err);
	} else if (format == BROWSE_TEXT) {
		browser_page_text(browser, &text);
		what.text = str_text(&text);
		result = browser->source.save(browser->source.context, &what, &path, &err);
	} else {
		result = save_table(browser, &what, &path, &err);
	}
	if (result < 0)
		browser_error(browser, &err);
	else
		browser_note(browser, "written: %s", str_text(&path));
}
