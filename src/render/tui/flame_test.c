#include "render/tui/flame.h"

#include "unit.h"

/* root 1000: 2 has 600 of it, 3 has 300; 4 has 150 of 2, 5 has 100 of 3. */
static size_t callees(void *context, uint64_t parent)
{
	return parent == TABLE_TOP ? 1 : parent == 1 ? 2 : parent <= 3 ? 1 : 0;
}

static uint64_t callee(void *context, uint64_t parent, size_t index)
{
	return parent == TABLE_TOP ? 1 : parent == 1 ? 2 + index : parent + 2;
}

static struct cell share_of(void *context, uint64_t row, size_t column, struct str *scratch)
{
	static const uint64_t parts[] = { 0, 1000, 600, 300, 150, 100 };
	return (struct cell){ .kind = CELL_SHARE, .share = { parts[row], 1000 } };
}

static struct snapshot *graph(void)
{
	static const struct table_column column = { "weight", "Weight", NULL, CELL_SHARE };
	const struct table table = { .name = "flame", .columns = &column, .column_count = 1, .tree = true, .row_count = callees, .row = callee,
		.cell = share_of };
	return snapshot_new(&table, 0);
}

/* The part of the frame that a click selects; 0: none is there. */
static uint64_t clicked(struct flame_view *flame, size_t line, size_t column)
{
	if (!flame_view_click(flame, line, column, 1000))
		return 0;
	return snapshot_cell(flame->shot, flame->cursor, flame->shares)->share.part;
}

TEST("a click selects the frame under it, from its first to its last column")
{
	struct snapshot *shot = graph();
	struct flame_view flame = { 0 };
	flame_view_adopt(&flame, shot);
	EXPECT_INT(clicked(&flame, 0, 0), 1000);
	EXPECT_INT(clicked(&flame, 0, 999), 1000);
	EXPECT_INT(clicked(&flame, 1, 0), 600);
	EXPECT_INT(clicked(&flame, 1, 599), 600);
	EXPECT_INT(clicked(&flame, 1, 600), 300);
	EXPECT_INT(clicked(&flame, 1, 899), 300);
	EXPECT_INT(clicked(&flame, 1, 900), 0);
	EXPECT_INT(clicked(&flame, 2, 149), 150);
	EXPECT_INT(clicked(&flame, 2, 150), 0);
	EXPECT_INT(clicked(&flame, 2, 600), 100);
	EXPECT_INT(clicked(&flame, 3, 600), 0);
	flame.top = 1; /* scrolled by a level */
	EXPECT_INT(clicked(&flame, 0, 0), 600);
	snapshot_free(shot);
}
