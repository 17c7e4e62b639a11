#include "cmd/evlist_results.h"

#include "data/evsel_name.h"
#include "unit.h"

static size_t column(const struct table *table, const char *name)
{
	for (size_t i = 0; i < table->column_count; i++)
		if (strcmp(table->columns[i].name, name) == 0)
			return i;
	EXPECT(!"the column exists");
	return 0;
}

static struct cell cell(const struct table *table, uint64_t row, const char *name)
{
	static char text[EVSEL_NAME_MAX];
	CLEANUP_STR struct str scratch = { 0 };
	struct cell cell = table->cell(table->context, row, column(table, name), &scratch);
	if (cell.kind == CELL_TEXT && cell.text) {
		snprintf(text, sizeof text, "%s", cell.text);
		cell.text = text;
	}
	return cell;
}

TEST("each event is a row with its name, its group's leader and its attribute")
{
	struct evlist evlist = { 0 };
	struct evlist_results results;
	struct attr attr = { .type = ATTR_SOFTWARE, .config = 0, .sample_period = 4000 };
	evlist_add(&evlist, &attr, NULL, 0, "first");
	attr.config = 1;
	attr.sample_period = 99;
	attr.flags |= 1ull << ATTR_FREQ;
	evlist_add(&evlist, &attr, NULL, 0, "second");
	evlist.events.items[0].group_name = "both";
	evlist.events.items[0].leader = evlist.events.items[1].leader = 0;
	evlist_results_init(&results, &evlist, NULL, NULL, false);
	const struct table *table = &results.table;
	EXPECT_STR(results.results.schema, "perfuse.evlist");
	EXPECT_INT(table->row_count(table->context, TABLE_TOP), 2);
	EXPECT_INT(table->row_count(table->context, 1), 0);
	EXPECT_INT(table->row(table->context, TABLE_TOP, 0), 1);
	EXPECT_INT(table->row(table->context, TABLE_TOP, 1), 2);
	EXPECT_STR(cell(table, 1, "event").text, "first");
	EXPECT_STR(cell(table, 2, "event").text, "second");
	EXPECT_INT(cell(table, 2, "group").count, 0);
	EXPECT_STR(cell(table, 2, "group_name").text, "both");
	EXPECT_INT(cell(table, 2, "config").count, 1);
	EXPECT_INT(cell(table, 1, "sample_period").count, 4000);
	EXPECT_INT(cell(table, 1, "sample_freq").kind, CELL_ABSENT);
	EXPECT_INT(cell(table, 2, "sample_period").kind, CELL_ABSENT);
	EXPECT_INT(cell(table, 2, "sample_freq").count, 99);
	struct table detail;
	EXPECT(!table->detail(table->context, 1, &detail));
	evlist_results_fini(&results);
	evlist_fini(&evlist);
}

TEST("names are made from the attributes where the recording's names follow later")
{
	struct attr attr = { .type = ATTR_SOFTWARE, .config = 0 };
	struct evlist evlist = { 0 };
	char buffer[EVSEL_NAME_MAX];
	evlist_add(&evlist, &attr, NULL, 0, "named");
	EXPECT_STR(evlist_event_name(&evlist.events.items[0], false, buffer, sizeof buffer), "named");
	EXPECT(strncmp(evlist_event_name(&evlist.events.items[0], true, buffer, sizeof buffer), "cpu-clock", 9) == 0);
	evlist_fini(&evlist);
}
