#include "render/tui/view.h"

#include "render/tui/tui_test.h"
#include "unit.h"

/* The symbols of the lines that are shown, the one under the cursor in brackets. */
static const char *shown(const struct view *view)
{
	static char text[400];
	size_t len = 0;
	text[0] = '\0';
	for (size_t i = 0; i < view->lines.count; i++) {
		uint32_t row = view->lines.items[i].row;
		const struct snapshot_columns *columns = snapshot_columns_of(view->shot, row);
		const struct cell *cell = snapshot_cell(view->shot, row, columns->count - 1);
		len += (size_t)snprintf(text + len, sizeof text - len, i == view->cursor ? "%s[%.5s]" : "%s%.5s", i ? " " : "", cell->place.symbol);
	}
	return text;
}

struct viewed {
	struct snapshot *shot;
	struct view view;
};

static struct viewed open_view(size_t rows)
{
	struct viewed viewed = { .shot = tui_snapshot(rows, "cycles") };
	view_init(&viewed.view);
	view_adopt(&viewed.view, viewed.shot);
	view_resize(&viewed.view, 3);
	return viewed;
}

static void close_view(struct viewed *viewed)
{
	view_fini(&viewed->view);
	snapshot_free(viewed->shot);
}

TEST("a view shows the top rows, with the cursor on the first")
{
	struct viewed v = open_view(4);
	EXPECT_STR(shown(&v.view), "[parse] memcp do_re link");
	close_view(&v);
}

TEST("the cursor stays between the first and last line, and the screen follows it")
{
	struct viewed v = open_view(4);
	view_move(&v.view, -1);
	EXPECT_INT(v.view.cursor, 0);
	view_move(&v.view, 2);
	EXPECT_INT(v.view.top, 0);
	view_move(&v.view, 1);
	EXPECT_INT(v.view.top, 1);
	view_move(&v.view, 100);
	EXPECT_INT(v.view.cursor, 3);
	view_move(&v.view, -2);
	EXPECT_INT(v.view.top, 1);
	view_move(&v.view, -100);
	EXPECT_INT(v.view.top, 0);
	close_view(&v);
}

TEST("a row opens to its callers and closes again")
{
	struct viewed v = open_view(3);
	EXPECT(view_toggle(&v.view));
	EXPECT_STR(shown(&v.view), "[parse] main start memcp do_re");
	view_move(&v.view, 1);
	EXPECT(view_toggle(&v.view));
	EXPECT_STR(shown(&v.view), "parse [main] memcp do_re");
	EXPECT(view_toggle(&v.view));
	EXPECT_STR(shown(&v.view), "parse [main] start memcp do_re");
	view_move(&v.view, 1);
	EXPECT(!view_toggle(&v.view));
	view_expand_entry(&v.view, false);
	EXPECT_STR(shown(&v.view), "[parse] memcp do_re");
	view_expand_all(&v.view, true);
	EXPECT_STR(shown(&v.view), "[parse] main start memcp parse link do_re");
	view_move(&v.view, 4);
	view_expand_all(&v.view, false);
	EXPECT_STR(shown(&v.view), "parse [memcp] do_re");
	close_view(&v);
}

TEST("a row that opens scrolls as far as its callers need, and remains on the screen")
{
	struct viewed v = open_view(3); /* 3 lines of them are visible */
	view_move(&v.view, 1);
	view_toggle(&v.view);
	EXPECT_STR(shown(&v.view), "parse [memcp] parse link do_re");
	EXPECT_INT(v.view.top, 1);
	view_toggle(&v.view);
	view_resize(&v.view, 2);
	view_toggle(&v.view);
	EXPECT_INT(v.view.top, v.view.cursor);
	close_view(&v);
}

TEST("a newer snapshot leaves the cursor, open rows and marks on their rows")
{
	struct viewed v = open_view(2);
	struct snapshot *next = tui_snapshot(4, "cycles");
	view_move(&v.view, 1);
	view_toggle(&v.view);
	view_mark(&v.view);
	view_adopt(&v.view, next);
	EXPECT_STR(shown(&v.view), "parse [memcp] parse link do_re link");
	EXPECT(view_is_marked(&v.view, view_row(&v.view)));
	snapshot_free(v.shot);
	v.shot = next;
	close_view(&v);
}

TEST("until the cursor is moved it stays on the first line of newer snapshots")
{
	struct viewed v = open_view(2);
	view_sort(&v.view, 1);
	view_sort(&v.view, 1);
	struct snapshot *next = tui_snapshot(4, "cycles");
	view_adopt(&v.view, next);
	EXPECT_STR(shown(&v.view), "[do_re] link parse memcp");
	snapshot_free(v.shot);
	v.shot = next;
	close_view(&v);
}

TEST("filters add up, and are undone one by one")
{
	struct viewed v = open_view(4);
	view_move_to(&v.view, 0);
	CLEANUP_STR struct str text = { 0 };
	struct error err = { 0 };
	EXPECT(view_filter_equal(&v.view, "comm", "ld"));
	EXPECT(!view_filter_equal(&v.view, "comm", "ld"));
	EXPECT(!view_filter_equal(&v.view, "cpu", "1"));
	EXPECT_STR(shown(&v.view), "[do_re] link");
	EXPECT_INT(view_filter_match(&v.view, "^\\[.\\] li", &err), 0);
	EXPECT_STR(shown(&v.view), "[link]");
	view_filter_text(&v.view, &text);
	EXPECT_STR(str_text(&text), "comm = ld, /^\\[.\\] li/");
	EXPECT_INT(view_filter_match(&v.view, "(", &err), -1);
	EXPECT(view_filter_undo(&v.view));
	EXPECT_STR(shown(&v.view), "do_re [link]");
	EXPECT(view_filter_undo(&v.view));
	EXPECT(!view_filter_undo(&v.view));
	EXPECT_STR(shown(&v.view), "parse memcp do_re [link]");
	close_view(&v);
}

TEST("a limit shows rows of at least this percentage")
{
	struct viewed v = open_view(5);
	view_filter_share(&v.view, 4);
	EXPECT_STR(shown(&v.view), "[parse] memcp do_re link");
	view_filter_undo(&v.view);
	view_filter_share(&v.view, 4.1);
	EXPECT_STR(shown(&v.view), "[parse] memcp do_re");
	close_view(&v);
}

TEST("relative shares are parts of the rows that pass")
{
	struct viewed v = open_view(5);
	CLEANUP_STR struct str text = { 0 };
	view_filter_equal(&v.view, "comm", "ld");
	view_cell_text(&v.view, view_row(&v.view), 0, &text);
	EXPECT_STR(str_text(&text), "15.00%");
	view_relative(&v.view, true);
	str_clear(&text);
	view_cell_text(&v.view, view_row(&v.view), 0, &text);
	EXPECT_STR(str_text(&text), "75.00%");
	close_view(&v);
}

TEST("numbers sort from the largest on, texts from A on, and once more in reverse")
{
	struct viewed v = open_view(4);
	view_move_to(&v.view, 0);
	view_sort(&v.view, 3);
	EXPECT_STR(shown(&v.view), "link memcp [parse] do_re");
	view_sort(&v.view, 3);
	EXPECT_STR(shown(&v.view), "do_re [parse] memcp link");
	view_sort(&v.view, 0);
	EXPECT_STR(shown(&v.view), "[parse] memcp do_re link");
	view_sort(&v.view, 0);
	EXPECT_STR(shown(&v.view), "link do_re memcp [parse]");
	view_sort(&v.view, VIEW_NO_SORT);
	EXPECT_STR(shown(&v.view), "[parse] memcp do_re link");
	close_view(&v);
}

TEST("the next column to sort by skips hidden ones and ends at the order of the analysis")
{
	struct viewed v = open_view(4);
	view_hide(&v.view, 1, true);
	view_sort_next(&v.view, 1);
	EXPECT_INT(v.view.sort, 0);
	view_sort_next(&v.view, 1);
	EXPECT_INT(v.view.sort, 2);
	view_sort_next(&v.view, 1);
	view_sort_next(&v.view, 1);
	EXPECT_INT(v.view.sort, VIEW_NO_SORT);
	view_sort_next(&v.view, -1);
	EXPECT_INT(v.view.sort, 3);
	close_view(&v);
}

TEST("a search finds lines in both directions, round the ends")
{
	struct viewed v = open_view(4);
	struct error err = { 0 };
	EXPECT(!view_search_next(&v.view, 1));
	EXPECT_INT(view_search(&v.view, "ld|libc", &err), 0);
	EXPECT_INT(v.view.matches, 3);
	EXPECT(view_search_next(&v.view, 1));
	EXPECT_INT(v.view.cursor, 1);
	EXPECT(view_search_next(&v.view, -1));
	EXPECT_INT(v.view.cursor, 3);
	EXPECT(view_search_next(&v.view, 1));
	EXPECT_INT(v.view.cursor, 1);
	EXPECT_INT(view_search(&v.view, "nothing", &err), 0);
	EXPECT(!view_search_next(&v.view, 1));
	EXPECT_INT(view_search(&v.view, "", &err), 0);
	EXPECT(!v.view.search);
	close_view(&v);
}

TEST("the hottest row is the one with the largest share of its own, also when sorted otherwise")
{
	struct viewed v = open_view(4);
	view_sort(&v.view, 3);
	view_move_to(&v.view, 0);
	view_hottest(&v.view);
	EXPECT_STR(shown(&v.view), "link memcp [parse] do_re");
	close_view(&v);
}

TEST("only marked rows pass the filter of marks")
{
	struct viewed v = open_view(4);
	view_move(&v.view, 2);
	view_mark(&v.view);
	view_filter_marked(&v.view);
	EXPECT_STR(shown(&v.view), "[do_re]");
	view_mark(&v.view);
	view_filter_undo(&v.view);
	EXPECT(!view_is_marked(&v.view, view_row(&v.view)));
	close_view(&v);
}

TEST("a filter shows its first rows, and the row under the cursor if it passes")
{
	struct viewed v = open_view(5);
	view_resize(&v.view, 2);
	view_move_to(&v.view, 4);
	view_move_to(&v.view, 3);
	EXPECT_INT(v.view.top, 3);
	view_filter_equal(&v.view, "comm", "ld"); /* rows 2, 3, 4 */
	EXPECT_INT(v.view.cursor, 1);
	EXPECT_INT(v.view.top, 0);
	view_filter_undo(&v.view);
	view_move_to(&v.view, 4);
	view_filter_equal(&v.view, "comm", "ld");
	EXPECT_INT(v.view.cursor, 2);
	EXPECT_INT(v.view.top, 1);
	view_filter_undo(&v.view);
	view_filter_equal(&v.view, "comm", "cc1"); /* not the row under the cursor */
	EXPECT_INT(v.view.cursor, 0);
	EXPECT_INT(v.view.top, 0);
	close_view(&v);
}

TEST("a view of no rows has no row under the cursor")
{
	struct viewed v = open_view(0);
	EXPECT_INT(view_row(&v.view), UINT32_MAX);
	view_move(&v.view, 1);
	view_mark(&v.view);
	view_hottest(&v.view);
	view_expand_all(&v.view, true);
	EXPECT(!view_toggle(&v.view));
	EXPECT_INT(v.view.cursor, 0);
	close_view(&v);
}

TEST("centring scrolls to the middle, but not beyond the ends")
{
	struct viewed viewed = open_view(5); /* 3 lines of them are visible */
	view_move_to(&viewed.view, 2);
	view_center(&viewed.view);
	EXPECT_INT(viewed.view.top, 1);
	view_move_to(&viewed.view, 0);
	view_center(&viewed.view);
	EXPECT_INT(viewed.view.top, 0);
	view_move_to(&viewed.view, 4);
	view_center(&viewed.view);
	EXPECT_INT(viewed.view.top, 2);
	close_view(&viewed);
}

TEST("the next hot line is the one with the next smaller share, and after the last the first")
{
	struct viewed viewed = open_view(4);
	view_hot_next(&viewed.view, 1);
	EXPECT_STR(shown(&viewed.view), "parse [memcp] do_re link");
	view_sort(&viewed.view, 3); /* by name: the order of heat stays */
	EXPECT_STR(shown(&viewed.view), "link [memcp] parse do_re");
	view_hot_next(&viewed.view, 1);
	EXPECT_STR(shown(&viewed.view), "link memcp parse [do_re]");
	view_hot_next(&viewed.view, 1);
	EXPECT_STR(shown(&viewed.view), "[link] memcp parse do_re");
	view_hot_next(&viewed.view, 1);
	EXPECT_STR(shown(&viewed.view), "link memcp [parse] do_re");
	view_hot_next(&viewed.view, -1);
	EXPECT_STR(shown(&viewed.view), "[link] memcp parse do_re");
	close_view(&viewed);
}

TEST("rows without the required cell are not shown until the column is not required")
{
	struct viewed v = open_view(4);
	((struct cell *)snapshot_cell(v.shot, 2, 1))->kind = CELL_ABSENT;
	view_require(&v.view, 1);
	EXPECT_STR(shown(&v.view), "[parse] do_re link");
	view_require(&v.view, 2);
	EXPECT_STR(shown(&v.view), "[parse] memcp do_re link");
	view_require(&v.view, 1);
	view_require(&v.view, VIEW_NO_COLUMN);
	EXPECT_STR(shown(&v.view), "[parse] memcp do_re link");
	close_view(&v);
}
