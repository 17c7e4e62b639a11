#include "render/tui/view.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/table/cell_text.h"
#include "base/memory.h"
#include "render/tui/face.h"

static bool is_member(const struct identities *set, uint64_t identity)
{
	return idmap_get(&set->map, identity) == 1;
}

static void set_member(struct identities *set, uint64_t identity, bool member)
{
	idmap_set(&set->map, identity, member);
}

static uint64_t identity(const struct view *view, uint32_t row)
{
	return view->shot->rows.items[row].identity;
}

void view_init(struct view *view)
{
	*view = (struct view){ .sort = VIEW_NO_SORT, .height = 1, .required = VIEW_NO_COLUMN };
}

static void filter_fini(struct view_filter *filter)
{
	if (filter->kind == VIEW_FILTER_MATCH)
		regfree(&filter->regex);
	free(filter->column);
	free(filter->text);
}

static void search_end(struct view *view)
{
	if (view->search)
		regfree(&view->search_regex);
	free(view->search);
	view->search = NULL;
	view->matches = 0;
}

void view_fini(struct view *view)
{
	search_end(view);
	for (size_t i = 0; i < view->filters.count; i++)
		filter_fini(&view->filters.items[i]);
	vec_fini(&view->filters);
	vec_fini(&view->lines);
	vec_fini(&view->passes);
	idmap_fini(&view->toggled.map);
	idmap_fini(&view->marked.map);
}

uint32_t view_row(const struct view *view)
{
	return view->cursor < view->lines.count ? view->lines.items[view->cursor].row : UINT32_MAX;
}

/* The share column of filters and relative shares: the share of the row's own samples, without those of its callees. */
static size_t own_share(const struct view *view)
{
	size_t named = snapshot_column_named(&view->shot->columns, "overhead");
	return named != SIZE_MAX ? named : snapshot_column_of_kind(&view->shot->columns, CELL_SHARE);
}

static struct cell shown_cell(const struct view *view, uint32_t row, size_t column)
{
	struct cell cell = *snapshot_cell(view->shot, row, column);
	if (cell.kind == CELL_SHARE && view->relative && view->filters.count)
		cell.share.whole = view->passing;
	return cell;
}

double view_share(const struct view *view, uint32_t row)
{
	const struct snapshot *shot = view->shot;
	if (!shot->rows.items[row].detail) {
		size_t column = snapshot_column_of_kind(&shot->columns, CELL_SHARE);
		if (column == SIZE_MAX || snapshot_cell(shot, row, column)->kind != CELL_SHARE)
			return -1;
		struct cell cell = shown_cell(view, row, column);
		return cell_fraction(&cell);
	}
	size_t column = snapshot_column_of_kind(&shot->details, CELL_COUNT);
	if (column == SIZE_MAX || !shot->whole)
		return -1;
	return (double)snapshot_cell(shot, row, column)->count / (double)(view->relative && view->filters.count ? view->passing : shot->whole);
}

void view_cell_text(const struct view *view, uint32_t row, size_t column, struct str *out)
{
	struct cell cell = shown_cell(view, row, column);
	face_add(&cell, out);
}

void view_row_text(const struct view *view, uint32_t row, struct str *out)
{
	const struct snapshot_columns *columns = snapshot_columns_of(view->shot, row);
	for (size_t i = 0; i < columns->count; i++) {
		str_puts(out, i ? "  " : "");
		view_cell_text(view, row, i, out);
	}
}

/* Expressions match the cells that identify a row, not its numbers. */
static bool row_matches(const struct view *view, uint32_t row, const regex_t *regex)
{
	CLEANUP_STR struct str text = { 0 };
	const struct snapshot_columns *columns = snapshot_columns_of(view->shot, row);
	for (size_t i = 0; i < columns->count; i++) {
		if (snapshot_is_measure(columns->items[i].kind))
			continue;
		str_clear(&text);
		view_cell_text(view, row, i, &text);
		if (regexec(regex, str_text(&text), 0, NULL, 0) == 0)
			return true;
	}
	return false;
}

bool view_matches(const struct view *view, uint32_t row)
{
	return view->search && row_matches(view, row, &view->search_regex);
}

/* A row without a column of shares has any. */
static bool has_share(const struct view *view, uint32_t row, double percent)
{
	const struct snapshot_columns *columns = &view->shot->columns;
	if (snapshot_column_of_kind(columns, CELL_SHARE) == SIZE_MAX)
		return true;
	for (size_t i = 0; i < columns->count; i++)
		if (columns->items[i].kind == CELL_SHARE && 100 * cell_fraction(snapshot_cell(view->shot, row, i)) >= percent)
			return true;
	return false;
}

static bool filter_passes(const struct view *view, const struct view_filter *filter, uint32_t row)
{
	CLEANUP_STR struct str text = { 0 };
	switch (filter->kind) {
	case VIEW_FILTER_EQUAL: {
		size_t column = snapshot_column_named(&view->shot->columns, filter->column);
		if (column == SIZE_MAX)
			return true;
		face_add(snapshot_cell(view->shot, row, column), &text);
		return strcmp(str_text(&text), filter->text) == 0;
	}
	case VIEW_FILTER_MATCH:
		return row_matches(view, row, &filter->regex);
	case VIEW_FILTER_MARKED:
		return view_is_marked(view, row);
	case VIEW_FILTER_SHARE:
		return has_share(view, row, filter->percent);
	}
	return true;
}

/* Of a tree, the rows above and below a row that passes are shown, too. A row's index is larger than its parent's. */
static void run_filters(struct view *view)
{
	const struct snapshot *shot = view->shot;
	size_t count = shot->rows.count, share = own_share(view);
	vec_reserve(&view->passes, count);
	view->passes.count = count;
	memset(view->passes.items, 1, count);
	view->passing = 0;
	for (uint32_t row = 1; view->required < shot->columns.count && row < count; row++)
		view->passes.items[row] = shot->rows.items[row].detail || snapshot_cell(shot, row, view->required)->kind != CELL_ABSENT;
	for (size_t i = 0; i < view->filters.count; i++) {
		VEC(uint8_t) own = { 0 };
		vec_reserve(&own, count);
		own.items[SNAPSHOT_TOP] = 0;
		for (size_t row = 1; row < count; row++)
			own.items[row] = !shot->rows.items[row].detail && filter_passes(view, &view->filters.items[i], (uint32_t)row);
		for (size_t row = 1; row < count; row++) /* below a row that passes */
			own.items[row] |= shot->rows.items[row].parent && (own.items[shot->rows.items[row].parent] & 1);
		for (size_t row = count; row-- > 1;)
			if (own.items[row])
				own.items[shot->rows.items[row].parent] |= 2;
		for (size_t row = 1; row < count; row++)
			view->passes.items[row] &= own.items[row] != 0;
		vec_fini(&own);
	}
	const struct snapshot_row *top = &shot->rows.items[SNAPSHOT_TOP];
	for (uint32_t i = 0; share != SIZE_MAX && i < top->child_count; i++) {
		const struct cell *cell = snapshot_cell(shot, top->first_child + i, share);
		if (view->passes.items[top->first_child + i] && cell->kind == CELL_SHARE)
			view->passing += cell->share.part;
	}
}

struct sibling {
	const struct view *view;
	uint32_t row;
};

static int by_column(const void *a, const void *b)
{
	const struct sibling *x = a, *y = b;
	const struct view *view = x->view;
	int order = face_compare(snapshot_cell(view->shot, x->row, (size_t)view->sort), snapshot_cell(view->shot, y->row, (size_t)view->sort));
	if (order)
		return view->ascending ? order : -order;
	return (x->row > y->row) - (x->row < y->row);
}

static void add_lines(struct view *view, uint32_t parent, uint32_t depth);

static void add_line(struct view *view, uint32_t row, uint32_t depth, bool more)
{
	const struct snapshot_row *at = &view->shot->rows.items[row];
	vec_push(&view->lines, ((struct view_line){ row, depth, more }));
	if (view_is_expanded(view, row)) /* only forks of callers are indented: chains are deep */
		add_lines(view, row, depth + (!at->detail || at->child_count > 1));
}

static void add_sorted(struct view *view, uint32_t parent, uint32_t depth)
{
	const struct snapshot_row *above = &view->shot->rows.items[parent];
	VEC(struct sibling) siblings = { 0 };
	for (uint32_t i = 0; i < above->child_count; i++)
		if (view->passes.items[above->first_child + i])
			vec_push(&siblings, ((struct sibling){ view, above->first_child + i }));
	if (siblings.count)
		qsort(siblings.items, siblings.count, sizeof *siblings.items, by_column);
	for (size_t i = 0; i < siblings.count; i++)
		add_line(view, siblings.items[i].row, depth, i + 1 < siblings.count);
	vec_fini(&siblings);
}

static void add_lines(struct view *view, uint32_t parent, uint32_t depth)
{
	const struct snapshot *shot = view->shot;
	const struct snapshot_row *above = &shot->rows.items[parent];
	bool detail = above->child_count && shot->rows.items[above->first_child].detail;
	if (view->sort >= 0 && (size_t)view->sort < shot->columns.count && !detail) {
		add_sorted(view, parent, depth);
		return;
	}
	size_t last = SIZE_MAX;
	for (uint32_t row = above->first_child; row < above->first_child + above->child_count; row++) {
		if (!view->passes.items[row])
			continue;
		if (last != SIZE_MAX)
			view->lines.items[last].more = true;
		last = view->lines.count;
		add_line(view, row, depth, false);
	}
}

static void keep_visible(struct view *view)
{
	size_t count = view->lines.count;
	if (view->cursor >= count)
		view->cursor = count ? count - 1 : 0;
	if (view->cursor < view->top)
		view->top = view->cursor;
	if (view->cursor >= view->top + view->height)
		view->top = view->cursor + 1 - view->height;
	if (view->top + view->height > count)
		view->top = count > view->height ? count - view->height : 0;
}

static void count_matches(struct view *view)
{
	view->matches = 0;
	for (size_t i = 0; view->search && i < view->lines.count; i++)
		view->matches += view_matches(view, view->lines.items[i].row);
}

/* Lists the lines anew; the cursor stays on its row and, if that is possible, at its place on the screen. */
static void refresh(struct view *view)
{
	size_t offset = view->cursor - view->top;
	vec_clear(&view->lines);
	add_lines(view, SNAPSHOT_TOP, 0);
	size_t found = SIZE_MAX;
	for (size_t i = 0; i < view->lines.count && found == SIZE_MAX; i++)
		if (identity(view, view->lines.items[i].row) == view->at)
			found = i;
	if (!view->moved)
		found = 0;
	if (found != SIZE_MAX) {
		view->cursor = found;
		view->top = found > offset ? found - offset : 0;
	}
	keep_visible(view);
	count_matches(view);
}

static void note_cursor(struct view *view)
{
	uint32_t row = view_row(view);
	keep_visible(view);
	if (row != UINT32_MAX)
		view->at = identity(view, row);
}

void view_adopt(struct view *view, const struct snapshot *snapshot)
{
	view->shot = snapshot;
	run_filters(view);
	refresh(view);
	note_cursor(view);
}

void view_resize(struct view *view, size_t height)
{
	view->height = height ? height : 1;
	keep_visible(view);
}

void view_center(struct view *view)
{
	view->top = view->cursor > view->height / 2 ? view->cursor - view->height / 2 : 0;
	keep_visible(view);
}

void view_move_to(struct view *view, size_t line)
{
	view->cursor = line;
	view->moved = true;
	keep_visible(view);
	note_cursor(view);
}

void view_move(struct view *view, long lines)
{
	size_t up = lines < 0 ? (size_t)-lines : 0;
	if (lines < 0)
		view_move_to(view, view->cursor > up ? view->cursor - up : 0);
	else
		view_move_to(view, view->cursor + (size_t)lines);
}

bool view_is_expanded(const struct view *view, uint32_t row)
{
	return view->shot->rows.items[row].child_count && is_member(&view->toggled, identity(view, row)) != view->all_open;
}

static void set_open(struct view *view, uint32_t row, bool open)
{
	set_member(&view->toggled, identity(view, row), open != view->all_open);
}

/* Scrolls as far as the lines below the line under the cursor need to be on the screen, and it remains there. */
static void show_below(struct view *view)
{
	const struct view_line *lines = view->lines.items;
	size_t end = view->cursor + 1;
	while (end < view->lines.count && lines[end].depth > lines[view->cursor].depth)
		end++;
	if (end > view->top + view->height)
		view->top = end - view->height < view->cursor ? end - view->height : view->cursor;
}

bool view_toggle(struct view *view)
{
	uint32_t row = view_row(view);
	if (row == UINT32_MAX || !view->shot->rows.items[row].child_count)
		return false;
	bool open = !view_is_expanded(view, row);
	set_open(view, row, open);
	/* callers in a line open together, up to the next fork */
	for (uint32_t at = row; open && view->shot->rows.items[at].child_count == 1;) {
		at = view->shot->rows.items[at].first_child;
		if (!view->shot->rows.items[at].detail || !view->shot->rows.items[at].child_count)
			break;
		set_open(view, at, true);
	}
	view->moved = true;
	refresh(view);
	if (open)
		show_below(view);
	return true;
}

void view_reveal(struct view *view, uint32_t row)
{
	for (uint32_t at = row; (at = view->shot->rows.items[at].parent) != SNAPSHOT_TOP;)
		set_open(view, at, true);
	refresh(view);
	for (size_t i = 0; i < view->lines.count; i++)
		if (view->lines.items[i].row == row)
			view_move_to(view, i);
}

/* A row's index is larger than its parent's: one pass marks all rows below `from`, which is not the top. */
static void expand_below(struct view *view, uint32_t from, bool open)
{
	const struct snapshot *shot = view->shot;
	VEC(uint8_t) below = { 0 };
	vec_reserve(&below, shot->rows.count);
	memset(below.items, 0, shot->rows.count);
	below.items[from] = 1;
	for (uint32_t row = from; row < shot->rows.count; row++) {
		below.items[row] |= below.items[shot->rows.items[row].parent];
		if (below.items[row] && shot->rows.items[row].child_count)
			set_open(view, row, open);
	}
	vec_fini(&below);
	refresh(view);
}

/* The top row above a row. */
static uint32_t entry_of(const struct snapshot *shot, uint32_t row)
{
	while (shot->rows.items[row].parent != SNAPSHOT_TOP)
		row = shot->rows.items[row].parent;
	return row;
}

void view_expand_entry(struct view *view, bool open)
{
	uint32_t row = view_row(view);
	if (row == UINT32_MAX)
		return;
	row = entry_of(view->shot, row);
	if (!open)
		view->at = identity(view, row);
	view->moved = true;
	expand_below(view, row, open);
}

void view_expand_all(struct view *view, bool open)
{
	uint32_t row = view_row(view);
	if (row == UINT32_MAX)
		return;
	if (!open)
		view->at = identity(view, entry_of(view->shot, row));
	view->all_open = open;
	idmap_fini(&view->toggled.map);
	refresh(view);
}

static struct view_filter *add_filter(struct view *view, enum view_filter_kind kind, const char *text)
{
	struct view_filter *filter = vec_add(&view->filters);
	filter->kind = kind;
	filter->text = memory_string(text);
	return filter;
}

static void filters_changed(struct view *view)
{
	run_filters(view);
	refresh(view);
	note_cursor(view);
}

/* The first rows that pass are visible, unless the row under the cursor passes and is further below. */
static void filter_added(struct view *view)
{
	uint64_t before = view->at;
	filters_changed(view);
	if (view->at != before)
		view->cursor = 0;
	view->top = 0;
	if (view->cursor >= view->height)
		view_center(view);
	note_cursor(view);
}

bool view_filter_equal(struct view *view, const char *column, const char *text)
{
	if (snapshot_column_named(&view->shot->columns, column) == SIZE_MAX)
		return false;
	for (size_t i = 0; i < view->filters.count; i++)
		if (view->filters.items[i].kind == VIEW_FILTER_EQUAL && strcmp(view->filters.items[i].column, column) == 0 &&
		    strcmp(view->filters.items[i].text, text) == 0)
			return false;
	add_filter(view, VIEW_FILTER_EQUAL, text)->column = memory_string(column);
	filter_added(view);
	return true;
}

static int compile(regex_t *regex, const char *text, struct error *err)
{
	char why[128];
	int code = regcomp(regex, text, REG_EXTENDED | REG_NOSUB);
	if (!code)
		return 0;
	regerror(code, regex, why, sizeof why);
	return error_set(err, ERROR_USAGE, "'%s' is no regular expression: %s", text, why);
}

int view_filter_match(struct view *view, const char *text, struct error *err)
{
	regex_t regex;
	if (compile(&regex, text, err) < 0)
		return -1;
	add_filter(view, VIEW_FILTER_MATCH, text)->regex = regex;
	filter_added(view);
	return 0;
}

void view_filter_marked(struct view *view)
{
	add_filter(view, VIEW_FILTER_MARKED, "");
	filter_added(view);
}

void view_filter_share(struct view *view, double percent)
{
	add_filter(view, VIEW_FILTER_SHARE, "")->percent = percent;
	filter_added(view);
}

bool view_filter_undo(struct view *view)
{
	if (!view->filters.count)
		return false;
	filter_fini(&view->filters.items[--view->filters.count]);
	filters_changed(view);
	return true;
}

void view_filter_text(const struct view *view, struct str *out)
{
	for (size_t i = 0; i < view->filters.count; i++) {
		const struct view_filter *filter = &view->filters.items[i];
		str_puts(out, i ? ", " : "");
		if (filter->kind == VIEW_FILTER_EQUAL)
			str_printf(out, "%s = %s", filter->column, filter->text);
		else if (filter->kind == VIEW_FILTER_MATCH)
			str_printf(out, "/%s/", filter->text);
		else if (filter->kind == VIEW_FILTER_MARKED)
			str_puts(out, "marked");
		else
			str_printf(out, "at least %g%%", filter->percent);
	}
}

void view_sort(struct view *view, int column)
{
	if (column < 0 || (size_t)column >= view->shot->columns.count)
		column = VIEW_NO_SORT;
	if (column == view->sort)
		view->ascending = !view->ascending;
	else
		view->ascending = column >= 0 && !cell_is_number(view->shot->columns.items[column].kind);
	view->sort = column;
	refresh(view);
	note_cursor(view);
}

void view_sort_next(struct view *view, int step)
{
	int count = (int)view->shot->columns.count, column = view->sort;
	for (int i = 0; i <= count; i++) {
		column += step;
		column = column < VIEW_NO_SORT ? count - 1 : column >= count ? VIEW_NO_SORT : column;
		if (column == VIEW_NO_SORT || !view_is_hidden(view, (size_t)column))
			break;
	}
	if (column != view->sort)
		view_sort(view, column);
}

void view_hide(struct view *view, size_t column, bool hide)
{
	if (column >= VIEW_COLUMNS_MAX)
		return;
	view->hidden = hide ? view->hidden | UINT64_C(1) << column : view->hidden & ~(UINT64_C(1) << column);
}

void view_relative(struct view *view, bool relative)
{
	view->relative = relative;
}

void view_require(struct view *view, size_t column)
{
	view->required = column;
	filters_changed(view);
}

int view_search(struct view *view, const char *text, struct error *err)
{
	regex_t regex;
	if (!*text) {
		search_end(view);
		return 0;
	}
	if (compile(&regex, text, err) < 0)
		return -1;
	search_end(view);
	view->search = memory_string(text);
	view->search_regex = regex;
	count_matches(view);
	return 0;
}

bool view_search_next(struct view *view, int step)
{
	size_t count = view->lines.count;
	for (size_t i = 1; view->search && i <= count; i++) {
		size_t line = (view->cursor + (step > 0 ? i : count - i)) % count;
		if (view_matches(view, view->lines.items[line].row)) {
			view_move_to(view, line);
			return true;
		}
	}
	return false;
}

void view_mark(struct view *view)
{
	uint32_t row = view_row(view);
	if (row != UINT32_MAX)
		set_member(&view->marked, identity(view, row), !view_is_marked(view, row));
}

bool view_is_marked(const struct view *view, uint32_t row)
{
	return is_member(&view->marked, identity(view, row));
}

bool view_is_source(const struct view *view, uint32_t row)
{
	size_t address = strcmp(view->shot->name, "code") == 0 ? snapshot_column_named(&view->shot->columns, "address") : SIZE_MAX;
	return address != SIZE_MAX && snapshot_cell(view->shot, row, address)->kind == CELL_ABSENT;
}

/* The measure that orders hot lines; NULL: a caller, a sum of rows below, a source line, or a row without it. */
static const struct cell *heat_of(const struct view *view, size_t column, size_t line)
{
	uint32_t row = view->lines.items[line].row;
	const struct snapshot_row *at = &view->shot->rows.items[row];
	if (at->detail || view_is_source(view, row) || (at->child_count && !view->shot->rows.items[at->first_child].detail))
		return NULL;
	return snapshot_cell(view->shot, row, column);
}

/* < 0: line a is hotter than line b. */
static int by_heat(const struct view *view, size_t column, size_t a, size_t b)
{
	int order = face_compare(heat_of(view, column, b), heat_of(view, column, a));
	return order ? order : (a > b) - (a < b);
}

size_t view_hottest_line(const struct view *view)
{
	size_t best = SIZE_MAX, column = own_share(view), whole = snapshot_column_named(&view->shot->columns, "line_overhead");
	for (size_t i = 0; column != SIZE_MAX && i < view->lines.count; i++) {
		if (!heat_of(view, column, i))
			continue;
		int order = best == SIZE_MAX ? -1 : whole == SIZE_MAX ? 0 : face_compare(heat_of(view, whole, best), heat_of(view, whole, i));
		if (order < 0 || (order == 0 && by_heat(view, column, i, best) < 0))
			best = i;
	}
	return best;
}

void view_hottest(struct view *view)
{
	size_t line = view_hottest_line(view);
	if (line != SIZE_MAX)
		view_move_to(view, line);
}

void view_hot_next(struct view *view, int step)
{
	size_t next = SIZE_MAX, last = SIZE_MAX, column = own_share(view), at = view->cursor;
	if (column == SIZE_MAX || at >= view->lines.count || !heat_of(view, column, at))
		return;
	for (size_t i = 0; i < view->lines.count; i++) {
		const struct cell *cell = heat_of(view, column, i);
		if (!cell || cell->kind == CELL_ABSENT)
			continue;
		if (by_heat(view, column, i, at) * step > 0 && (next == SIZE_MAX || by_heat(view, column, i, next) * step < 0))
			next = i;
		if (last == SIZE_MAX || by_heat(view, column, i, last) * step < 0)
			last = i; /* the other end */
	}
	if (next != SIZE_MAX || last != SIZE_MAX)
		view_move_to(view, next != SIZE_MAX ? next : last);
}
