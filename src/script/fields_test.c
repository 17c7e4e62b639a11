#include "script/fields.h"
#include "unit.h"

#define BIT(name) FIELD_BIT(FIELD_##name)

static bool parses(struct fields *fields, const char *text)
{
	struct str notes = { 0 };
	struct error err = { 0 };
	int result = fields_parse(fields, text, &notes, &err);

	str_fini(&notes);
	EXPECT((result < 0) == (err.kind != ERROR_NONE));
	return result >= 0;
}

static uint64_t shown(const char *text, enum event_class class)
{
	struct fields fields;

	fields_init(&fields);
	EXPECT(parses(&fields, text));
	return fields.classes[class].shown;
}

TEST("a list replaces the default fields")
{
	EXPECT(shown("comm,tid", CLASS_HARDWARE) == (BIT(COMM) | BIT(TID)));
	EXPECT(shown("comm,tid", CLASS_TRACEPOINT) == (BIT(COMM) | BIT(TID)));
	EXPECT(shown(",comm,,tid,", CLASS_OTHER) == (BIT(COMM) | BIT(TID)));
}

TEST("signs add to the default fields and remove from them")
{
	struct fields usual;
	fields_init(&usual);
	uint64_t hardware = usual.classes[CLASS_HARDWARE].shown;
	EXPECT(shown("+addr,-period", CLASS_HARDWARE) == ((hardware | BIT(ADDR)) & ~BIT(PERIOD)));
	EXPECT(shown("-ip", CLASS_HARDWARE) == (hardware & ~BIT(IP)));
}

TEST("a type before the list selects the class of events")
{
	struct fields usual;
	fields_init(&usual);
	EXPECT(shown("sw:comm", CLASS_SOFTWARE) == BIT(COMM));
	EXPECT(shown("sw:comm", CLASS_HARDWARE) == usual.classes[CLASS_HARDWARE].shown);
	EXPECT(shown("trace:", CLASS_TRACEPOINT) == 0);
	EXPECT(shown("break:ip", CLASS_BREAKPOINT) == BIT(IP));
}

TEST("fields that a class cannot have are left out of lists for all classes, and refused in a list for that class")
{
	EXPECT(shown("trace,comm", CLASS_HARDWARE) == BIT(COMM));
	EXPECT(shown("trace,comm", CLASS_TRACEPOINT) == (BIT(TRACE) | BIT(COMM)));
	struct fields fields;
	fields_init(&fields);
	EXPECT(!parses(&fields, "hw:trace"));
}

TEST("names are needed only for fields that show them")
{
	struct fields fields;
	fields_init(&fields);
	EXPECT(fields_show_names(&fields));
	EXPECT(parses(&fields, "ip,brstack"));
	EXPECT(!fields_show_names(&fields));
	EXPECT(parses(&fields, "+sym"));
	EXPECT(fields_show_names(&fields));
}

TEST("invalid lists are refused")
{
	static const char *const bad[] = { "", "nosuch", "comm,+ip", "+ip,comm", "xx:comm", "comm:ip", "+", "metric" };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct fields fields;
		fields_init(&fields);
		EXPECT(!parses(&fields, bad[i]));
	}
}

/* A recording's header with one event. */
static void header_with(struct header *header, uint32_t type, uint64_t config, uint64_t sample_type)
{
	struct attr attr = { .type = type, .config = config, .sample_type = sample_type };

	*header = (struct header){ 0 };
	evlist_add(&header->evlist, &attr, NULL, 0, NULL);
}

TEST("default fields that the samples lack are left out, fields that were asked for are refused")
{
	struct header header;
	struct fields fields;
	struct error err = { 0 };

	header_with(&header, ATTR_HARDWARE, 0, SAMPLE_IP | SAMPLE_TID);
	fields_init(&fields);
	EXPECT_INT(fields_settle(&fields, &header, false, NULL), 0);
	EXPECT(!(fields.classes[CLASS_HARDWARE].shown & (BIT(TIME) | BIT(CPU))));
	EXPECT(fields.classes[CLASS_HARDWARE].shown & BIT(IP));
	EXPECT(!fields.chains);
	fields_init(&fields);
	EXPECT(parses(&fields, "+cpu"));
	EXPECT(fields_settle(&fields, &header, false, &err) < 0);
	EXPECT_INT(err.kind, ERROR_USAGE);
	evlist_fini(&header.evlist);
}

TEST("tracepoints with call chains show their place")
{
	struct header header;
	struct fields fields;

	header_with(&header, ATTR_TRACEPOINT, 5, SAMPLE_IP | SAMPLE_TID | SAMPLE_RAW | SAMPLE_CALLCHAIN);
	fields_init(&fields);
	EXPECT_INT(fields_settle(&fields, &header, false, NULL), 0);
	EXPECT(fields.classes[CLASS_TRACEPOINT].place == (BIT(IP) | BIT(SYM) | BIT(SYMOFF) | BIT(DSO)));
	fields_init(&fields);
	EXPECT_INT(fields_settle(&fields, &header, true, NULL), 0);
	EXPECT(fields.classes[CLASS_TRACEPOINT].place == 0);
	evlist_fini(&header.evlist);
}

TEST("offsets need symbols, symbols need addresses")
{
	struct header header;
	struct fields fields;

	header_with(&header, ATTR_HARDWARE, 0, SAMPLE_TID);
	fields_init(&fields);
	EXPECT(parses(&fields, "comm,sym"));
	EXPECT(fields_settle(&fields, &header, false, NULL) < 0);
	evlist_fini(&header.evlist);
	header_with(&header, ATTR_HARDWARE, 0, SAMPLE_IP);
	fields_init(&fields);
	EXPECT(parses(&fields, "ip,symoff"));
	EXPECT(fields_settle(&fields, &header, false, NULL) < 0);
	evlist_fini(&header.evlist);
}

TEST("source lines need their address")
{
	static const char *const without[] = { "comm,srcline", "sym,srccode" };
	struct header header;
	struct fields fields;

	header_with(&header, ATTR_HARDWARE, 0, SAMPLE_IP | SAMPLE_TID);
	for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
		fields_init(&fields);
		EXPECT(parses(&fields, without[i]));
		EXPECT(fields_settle(&fields, &header, false, NULL) < 0);
	}
	fields_init(&fields);
	EXPECT(parses(&fields, "ip,srcline,srccode"));
	EXPECT_INT(fields_settle(&fields, &header, false, NULL), 0);
	evlist_fini(&header.evlist);
}
