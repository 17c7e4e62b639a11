#include "data/branch_counters.h"

#include "data/source_internal.h"
#include "data/test_recording.h"

static void add_event(struct header *header, const char *name, bool counts)
{
	struct attr attr = { .type = ATTR_HARDWARE, .branch_sample_type = counts ? BRANCH_COUNTERS : 0 };
	evlist_add(&header->evlist, &attr, NULL, 0, name);
}

TEST("events of one name have one letter, and events that do not count have none")
{
	struct header header = { 0 };
	struct branch_counters counters;
	struct writer out;
	add_event(&header, "a", true);
	add_event(&header, "b", false);
	add_event(&header, "c", true);
	add_event(&header, "a", true);
	add_event(&header, "d", true);
	branch_counters_init(&counters, &header);
	EXPECT_INT(counters.items.count, 4);
	EXPECT_INT(counters.items.items[2].event, 3);
	EXPECT_INT(counters.items.items[2].letter, 0);
	EXPECT_INT(counters.bits, 0);
	writer_open(&out, -1, 0);
	branch_counters_explain(&counters, &header, &out);
	writer_add(&out, "", 1);
	EXPECT_STR(out.buffer, "# Branch counter abbr list:\n# a = A\n# c = B\n# a = A\n# d = C\n# '-' No event occurs\n"
		"# '+' Event occurrences may be lost due to branch counter saturated\n");
	writer_fini(&out);
	branch_counters_fini(&counters);
	header_fini(&header);
}

TEST("letters have digits after Z, and end at Z9")
{
	static const struct { unsigned letter; const char *name; } rows[] = {
		{ 0, "A" }, { 25, "Z" }, { 26, "A0" }, { 51, "Z0" }, { 52, "A1" }, { 285, "Z9" }, { 286, "NA" }, { 4000000000u, "NA" },
	};
	char buffer[BRANCH_COUNTER_NAME_MAX];
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		EXPECT_STR(branch_counter_name(rows[i].letter, buffer), rows[i].name);
}

TEST("samples of all events of a group have counters if one event counts, and those of other groups do not")
{
	struct recording *r = recording_new(false);
	struct header header = { 0 };
	add_event(&header, "leader", false);
	add_event(&header, "counts", true);
	add_event(&header, "alone", false);
	put(r, 1, 4);                /* one group */
	put(r, 64, 4);
	put_bytes(r, "{anon_group}", 13);
	r->len += 64 - 13;
	put(r, 0, 4);                /* leader */
	put(r, 2, 4);                /* members */
	header.feature_data[FEATURE_GROUP_DESC] = (struct span){ r->bytes, r->len };
	header_read_groups(&header);
	const struct evsel *events = header.evlist.events.items;
	EXPECT_INT(events[1].leader, 0);
	EXPECT(events[0].layout.branch_sample_type & BRANCH_COUNTERS);
	EXPECT(events[1].layout.branch_sample_type & BRANCH_COUNTERS);
	EXPECT(!(events[2].layout.branch_sample_type & BRANCH_COUNTERS));
	EXPECT(!evsel_counts_branches(&events[0]));
	header_fini(&header);
	free(r);
}
