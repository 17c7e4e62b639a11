#include "script/fields.h"
#include "script/rows.h"
#include "unit.h"

enum { ALL_CLASSES = (1 << CLASS_COUNT) - 1 };

/* A header with one event of the class. */
static void header_with(struct header *header, enum event_class class, uint64_t sample_type)
{
	struct attr attr = { .type = class == CLASS_SYNTH ? 0x80000000u : class == CLASS_OTHER ? 77 : class, .sample_type = sample_type };

	*header = (struct header){ 0 };
	evlist_add(&header->evlist, &attr, NULL, 0, "e");
}

static enum event_class class_of(const struct field_row *row)
{
	enum event_class class = CLASS_HARDWARE;

	while (row->absent >> class & 1)
		class++;
	return class;
}

/* Whether a list with this field, and the field that it needs, can be shown for events with these bits. */
static bool shows(const struct field_row *row, uint64_t sample_type, struct error *err)
{
	struct header header;
	struct fields fields;
	struct str notes = { 0 }, list = { 0 };

	for (int i = 0; i < FIELD_COUNT; i++)
		if (row->need.shown >> i & 1)
			str_printf(&list, "%s,", field_rows[i].name);
	str_puts(&list, row->name);
	header_with(&header, class_of(row), sample_type);
	fields_init(&fields);
	EXPECT_INT(fields_parse(&fields, str_text(&list), &notes, NULL), 0);
	int result = fields_settle(&fields, &header, false, err);
	EXPECT(result < 0 || fields_shown(&fields) & FIELD_BIT(row - field_rows));
	evlist_fini(&header.evlist);
	str_fini(&notes);
	str_fini(&list);
	return result >= 0;
}

TEST("every field has a name of its own, and classes that can have it")
{
	for (int i = 0; i < FIELD_COUNT; i++) {
		const struct field_row *row = &field_rows[i];
		EXPECT(row->name && *row->name && !row->name[strcspn(row->name, ",+-: ")] == !strchr(row->name, '-'));
		EXPECT(row->absent != ALL_CLASSES && !(row->absent & row->shown));
		for (int other = 0; other < i; other++)
			EXPECT(strcmp(row->name, field_rows[other].name));
	}
}

TEST("every supported field has a column of its own name, and columns have different names")
{
	for (int i = 0; i < FIELD_COUNT; i++) {
		const struct field_row *row = &field_rows[i];
		EXPECT(row->unsupported == !row->columns[0].name);
		EXPECT(row->unsupported || !strcmp(row->name, row->columns[0].name));
		EXPECT(!row->columns[1].name || row->columns[1].value);
		for (int other = 0; row->columns[1].name && other < FIELD_COUNT; other++)
			EXPECT(strcmp(row->columns[1].name, field_rows[other].name));
		EXPECT(!row->joined || row->print == row[-1].print);
	}
}

TEST("a field that is asked for needs its bits, and no other")
{
	for (int i = 0; i < FIELD_COUNT; i++) {
		const struct field_row *row = &field_rows[i];
		struct error err = { 0 };
		if (!row->need.sample_type)
			continue;
		EXPECT(!shows(row, ~row->need.sample_type & (SAMPLE_ADDR * 2 - 1), &err));
		EXPECT(err.kind == ERROR_USAGE);
		EXPECT(strstr(err.text, row->need.missing ? row->need.missing : row->need.sentence));
		if (row->need.missing)
			EXPECT(strstr(err.text, row->name));
		for (uint64_t bit = 1; bit && bit <= row->need.sample_type; bit <<= 1)
			if (row->need.sample_type & bit)
				EXPECT(shows(row, bit, &err));
	}
}

TEST("a field that needs another field is refused without it")
{
	for (int i = 0; i < FIELD_COUNT; i++) {
		const struct field_row *row = &field_rows[i];
		struct error err = { 0 };
		if (!row->need.shown)
			continue;
		EXPECT(shows(row, SAMPLE_IP, &err));
		struct header header;
		struct fields fields;
		struct str notes = { 0 };
		header_with(&header, CLASS_HARDWARE, SAMPLE_IP);
		fields_init(&fields);
		EXPECT_INT(fields_parse(&fields, row->name, &notes, NULL), 0);
		EXPECT(fields_settle(&fields, &header, false, &err) < 0);
		EXPECT_STR(err.text, row->need.sentence);
		evlist_fini(&header.evlist);
		str_fini(&notes);
	}
}

TEST("a field that the recording lacks is refused with the command that records it")
{
	for (int i = 0; i < FIELD_COUNT; i++) {
		const struct field_row *row = &field_rows[i];
		struct error err = { 0 };
		if (!row->need.recorded)
			continue;
		EXPECT(!shows(row, SAMPLE_IP, &err));
		EXPECT_STR(err.text, row->need.sentence);
		EXPECT_STR(err.hint, row->need.hint);
	}
}
