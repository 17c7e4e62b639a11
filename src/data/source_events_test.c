#include "base/str.h"
#include "data/source.h"
#include "data/source_internal.h"
#include "data/test_recording.h"

enum { HEADER_BYTES = 104, ENTRY_BYTES = ATTR_SIZE_VER8 + 16, SECTION_AT = 24, NONE = -1 };

/* Three events with ids 10, 20 and 30, of which the header states two; then samples of the ids 10, 20, 30 and 21. */
static size_t make_three(struct recording *r)
{
	begin_file(r, 3);
	put_at(r, SECTION_AT + 8, 2 * ENTRY_BYTES, 8);
	size_t data = r->len;
	static const uint64_t ids[] = { 10, 20, 30, 21 };
	for (size_t i = 0; i < 4; i++)
		put_sample(r, ids[i], 0x401000 + i, 1 + i);
	end_data(r, data);
	return data;
}

/* What a recording with one changed number yields: the ids of each event, the event of each sample (-: none), damaged descriptions, or
 * the error. */
static void recording_text(const struct recording *r, struct str *out)
{
	struct source *source;
	struct error err = { 0 };
	struct record record;
	if (source_open_memory(&source, r->bytes, r->len, &err) < 0) {
		str_puts(out, err.text);
		return;
	}
	const struct evlist *evlist = &source->header.evlist;
	for (size_t i = 0; i < evlist->events.count; i++) {
		str_printf(out, "%llu[", (unsigned long long)evlist->events.items[i].attr.config);
		for (size_t k = 0; k < evlist->events.items[i].id_count; k++)
			str_printf(out, "%s%llu", k ? "," : "", (unsigned long long)evlist->events.items[i].ids[k]);
		str_puts(out, "] ");
	}
	while (source_next(source, &record, &err) == 1) {
		uint32_t event = evlist_event_of(evlist, &record), again = evlist_event_of_sample(evlist, &record);
		EXPECT_INT(again, event);
		if (event == UINT32_MAX)
			str_puts(out, "-");
		else
			str_printf(out, "%u", event);
	}
	str_printf(out, " bad %zu%s", source->header.bad_attrs, err.text);
	source_close(source);
}

TEST("attributes and tables of ids that are one entry or one byte longer or shorter than the header states yield what is whole")
{
	enum { LAST = ENTRY_BYTES - 16 };
	static const struct {
		size_t at;
		int64_t value;
		const char *want;
	} rows[] = {
		{ SECTION_AT + 8, 2 * ENTRY_BYTES, "0[10] 1[20] 01-- bad 0" },
		{ SECTION_AT + 8, 3 * ENTRY_BYTES, "0[10] 1[20] 2[30] 012- bad 0" },
		{ SECTION_AT + 8, 1 * ENTRY_BYTES, "0[10] 0000 bad 0" },
		{ SECTION_AT + 8, 2 * ENTRY_BYTES + 1, "0[10] 1[20] 01-- bad 1" },
		{ SECTION_AT + 8, 2 * ENTRY_BYTES - 1, "0[10] 0000 bad 1" },
		{ SECTION_AT + 8, ENTRY_BYTES - 1, "---- bad 2" },
		{ SECTION_AT + 8, 0, "---- bad 1" },
		/* the second event's table: none, less than one id, one and some bytes, two */
		{ HEADER_BYTES + ENTRY_BYTES + LAST + 8, 0, "0[10] 1[] 0--- bad 0" },
		{ HEADER_BYTES + ENTRY_BYTES + LAST + 8, 7, "0[10] 1[] 0--- bad 0" },
		{ HEADER_BYTES + ENTRY_BYTES + LAST + 8, 15, "0[10] 1[20] 01-- bad 0" },
		{ HEADER_BYTES + ENTRY_BYTES + LAST + 8, 16, "0[10] 1[20,30] 011- bad 0" },
		/* it begins one id late, or one byte late, so that it ends in the next one */
		{ HEADER_BYTES + ENTRY_BYTES + LAST, HEADER_BYTES + 3 * ENTRY_BYTES + 16, "0[10] 1[30] 0-1- bad 0" },
		/* the attribute states less than the smallest size, or more than its entry has */
		{ HEADER_BYTES + ENTRY_BYTES + 4, ATTR_SIZE_VER0 - 1, "0[10] 1[20] 01-- bad 1" },
		{ HEADER_BYTES + ENTRY_BYTES + 4, ATTR_SIZE_VER8 + 1, "0[10] 1[20] 01-- bad 1" },
	};
	struct recording *r = recording_new(false);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		CLEANUP_STR struct str got = { 0 };
		make_three(r);
		put_at(r, rows[i].at, (uint64_t)rows[i].value, rows[i].at % 8 == 4 ? 4 : 8);
		recording_text(r, &got);
		EXPECT_STR(str_text(&got), rows[i].want);
	}
	free(r);
}

TEST("a table of ids ends at the end of the file at the latest, and all tables together have at most the ids that fit the file")
{
	struct recording *r = recording_new(false);
	static const struct {
		int64_t from_end, size;  /* of the second event's table: its place from the end of the file */
		bool fits;
	} rows[] = { { 8, 8, true }, { 7, 8, false }, { 0, 0, true }, { -1, 0, false }, { 16, 16, true }, { 16, 17, false }, { 16, -1, false } };
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		CLEANUP_STR struct str got = { 0 };
		make_three(r);
		put_at(r, HEADER_BYTES + 2 * ENTRY_BYTES - 16, r->len - (uint64_t)rows[i].from_end, 8);
		put_at(r, HEADER_BYTES + 2 * ENTRY_BYTES - 8, (uint64_t)rows[i].size, 8);
		recording_text(r, &got);
		EXPECT((strstr(str_text(&got), "the ids of event 1 are said to be") == NULL) == rows[i].fits);
	}
	for (int more = 0; more < 2; more++) { /* the first table has the whole file but one id, the second has one, or two */
		CLEANUP_STR struct str got = { 0 };
		make_three(r);
		put_at(r, HEADER_BYTES + ENTRY_BYTES - 16, 0, 8);
		put_at(r, HEADER_BYTES + ENTRY_BYTES - 8, r->len / 8 * 8 - 8, 8);
		put_at(r, HEADER_BYTES + 2 * ENTRY_BYTES - 8, more ? 16 : 8, 8);
		recording_text(r, &got);
		EXPECT((strstr(str_text(&got), "the ids of event 1 are said to be 16 bytes") != NULL) == more);
	}
	free(r);
}

TEST("the events of a file may end at its last byte, and not behind it")
{
	struct recording *r = recording_new(false);
	for (unsigned behind = 0; behind < 2; behind++) {
		CLEANUP_STR struct str got = { 0 };
		make_three(r);
		size_t end = r->len;
		put_bytes(r, r->bytes + HEADER_BYTES, ENTRY_BYTES);
		r->len -= behind;
		put_at(r, SECTION_AT, end, 8);
		put_at(r, SECTION_AT + 8, ENTRY_BYTES, 8);
		recording_text(r, &got);
		EXPECT(strstr(str_text(&got), behind ? "the events are said to be 152 bytes at offset" : "0[10] 0000 bad 0") != NULL);
	}
	free(r);
}

/* Changes one number of a feature of make_file; the names and group of both events. */
static void names_text(const struct recording *r, struct str *out)
{
	struct source *source;
	if (source_open_memory(&source, r->bytes, r->len, NULL) < 0)
		return;
	for (size_t i = 0; i < source->header.evlist.events.count; i++) {
		const struct evsel *evsel = &source->header.evlist.events.items[i];
		str_printf(out, "%s %s %u %u; ", evsel->name ? evsel->name : "-", evsel->group_name ? evsel->group_name : "-", evsel->leader,
			evsel->group_members);
	}
	source_close(source);
}

static size_t feature_at(const struct recording *r, unsigned position)
{
	uint64_t data, size, at;
	memcpy(&data, r->bytes + 40, 8);
	memcpy(&size, r->bytes + 48, 8);
	memcpy(&at, r->bytes + data + size + 16 * position, 8);
	return at;
}

TEST("lists of names and groups that state one entry, one id or one member more or less than there are change no other event")
{
	enum { NAMES = 2, GROUPS = 3 }; /* positions in the table of features */
	static const struct {
		unsigned feature;
		size_t at;
		uint32_t value;
		const char *want;
	} rows[] = {
		{ NAMES, 0, 2, "cpu-clock both 0 2; task-clock - 0 0; " },
		{ NAMES, 0, 1, "cpu-clock both 0 2; - - 0 0; " },
		{ NAMES, 0, 3, "cpu-clock both 0 2; task-clock - 0 0; " },
		{ NAMES, 0, 0, "- both 0 2; - - 0 0; " },
		{ NAMES, 8 + ATTR_SIZE_VER8, 0, "cpu-clock both 0 2;  - 0 0; " },      /* no ids of the first event: the next is not found */
		{ NAMES, 8 + ATTR_SIZE_VER8 + 4, 8, "cpu-cloc both 0 2;  - 0 0; " },   /* its name ends early: the next is not found */
		{ NAMES, 8 + ATTR_SIZE_VER8 + 4, 1 << 20, "- both 0 2; - - 0 0; " },    /* a name longer than the list */
		{ GROUPS, 0, 0, "cpu-clock - 0 1; task-clock - 1 1; " },
		{ GROUPS, 0, 2, "cpu-clock both 0 2; task-clock - 0 0; " },             /* the second group is cut */
		{ GROUPS, 16, 1, "cpu-clock - 0 1; task-clock - 1 1; " },               /* leader 1 with two members, of two events */
		{ GROUPS, 16, 2, "cpu-clock - 0 1; task-clock - 1 1; " },
		{ GROUPS, 20, 1, "cpu-clock both 0 1; task-clock - 1 1; " },
		{ GROUPS, 20, 3, "cpu-clock - 0 1; task-clock - 1 1; " },
		{ GROUPS, 20, 0, "cpu-clock - 0 1; task-clock - 1 1; " },
	};
	struct recording *r = recording_new(false);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		CLEANUP_STR struct str got = { 0 };
		make_file(r);
		put_at(r, feature_at(r, rows[i].feature) + rows[i].at, rows[i].value, 4);
		names_text(r, &got);
		EXPECT_STR(str_text(&got), rows[i].want);
	}
	free(r);
}

TEST("an attribute in a stream whose size is 0 has the first published size, and its ids follow; a size beyond the record is counted")
{
	static const uint32_t sizes[] = { 0, ATTR_SIZE_VER0, ATTR_SIZE_VER0 + 8, ATTR_SIZE_VER8 + 8 };
	static const char *const want[] = { "0[10,20] 0 bad 0", "0[10,20] 0 bad 0", "0[20] 0 bad 0", "4294967295 bad 1" };
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		CLEANUP_STR struct str got = { 0 };
		struct recording *r = recording_new(false);
		struct source *source = NULL;
		struct record record;
		begin_stream(r);
		size_t at = begin_record(r, RECORD_HEADER_ATTR, 0), attr = r->len;
		put_attr(r, 0);
		r->len = attr + ATTR_SIZE_VER0;
		put_at(r, attr + 4, sizes[i], 4);
		put(r, 10, 8);
		put(r, 20, 8);
		end_record(r, at);
		put_sample(r, 10, 0x401000, 1);
		EXPECT_INT(source_open_memory(&source, r->bytes, r->len, NULL), 0);
		EXPECT_INT(source_next(source, &record, NULL), 1);
		const struct evlist *evlist = &source->header.evlist;
		for (size_t k = 0; k < evlist->events.count; k++) {
			str_printf(&got, "%zu[", k);
			for (size_t n = 0; n < evlist->events.items[k].id_count; n++)
				str_printf(&got, "%s%llu", n ? "," : "", (unsigned long long)evlist->events.items[k].ids[n]);
			str_puts(&got, "] ");
		}
		EXPECT_INT(source_next(source, &record, NULL), 1);
		str_printf(&got, "%u bad %zu", evlist_event_of(evlist, &record), source->header.bad_attrs);
		EXPECT_STR(str_text(&got), want[i]);
		source_close(source);
		free(r);
	}
}
