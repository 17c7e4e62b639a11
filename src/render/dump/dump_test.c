#include "render/dump/dump.h"

#include "unit.h"

/* A stream with one event, and its dump. */
struct dumped {
	struct source source;
	struct session session;
	struct dump dump;
	struct writer out;
};

static void dumped_init(struct dumped *d, const struct attr *attr)
{
	*d = (struct dumped){ .source.header.pipe = true };
	d->session.source = &d->source;
	evlist_add(&d->source.header.evlist, attr, NULL, 0, "cycles");
	writer_open(&d->out, -1, 0);
	dump_init(&d->dump, &d->session, DUMP_REPORT, &d->out);
	d->dump.attrs_seen = 1;
}

static const char *dumped_record(struct dumped *d, const struct record *record)
{
	struct sample sample;
	const struct evsel *evsel = &d->source.header.evlist.events.items[0];
	struct resolved r = { .session = &d->session, .record = record, .sample = &sample, .evsel = evsel };
	if (record->type == RECORD_SAMPLE)
		sample_decode(&sample, &evsel->layout, record, NULL);
	else
		sample_decode_trailer(&sample, &evsel->layout, record);
	d->out.len = 0;
	dump_record(&d->dump, &r);
	writer_putc(&d->out, '\0');
	return d->out.buffer;
}

static void dumped_fini(struct dumped *d)
{
	dump_fini(&d->dump);
	writer_fini(&d->out);
	header_fini(&d->source.header);
}

TEST("a sample is dumped as bytes, then field by field")
{
	struct dumped d;
	struct attr attr = { .sample_type = SAMPLE_IP | SAMPLE_TIME | SAMPLE_CALLCHAIN, .sample_period = 3,
		.flags = 1ull << ATTR_SAMPLE_ID_ALL };
	uint64_t body[] = { 0x401000, 99, 1, 0x4141414141414141 };
	struct record record = { .type = RECORD_SAMPLE, .misc = 2, .body = (uint8_t *)body, .body_len = sizeof body,
		.offset = 0x28 };
	dumped_init(&d, &attr);
	static const char *const bytes[] = {
		".  0000:  09 00 00 00 02 00 28 00 00 10 40 00 00 00 00 00  ......(...@.....\n"
		".  0010:  63 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00  c...............\n",
		".  0000:  00 00 00 09 00 02 00 28 00 00 00 00 00 40 10 00  .......(.....@..\n"
		".  0010:  00 00 00 00 00 00 00 63 00 00 00 00 00 00 00 01  .......c........\n",
	};
	const char *text = dumped_record(&d, &record), *head = "\n0x28@pipe [0x28]: event: 9\n.\n. ... raw event: size 40 bytes\n";
	EXPECT(strncmp(text, head, strlen(head)) == 0);
	text += strlen(head);
	EXPECT(strncmp(text, bytes[HOST_IS_BIG_ENDIAN], strlen(bytes[0])) == 0);
	EXPECT_STR(text + strlen(bytes[0]),
		".  0020:  41 41 41 41 41 41 41 41                          AAAAAAAA        \n\n"
		"99 0x28 [0x28]: PERF_RECORD_SAMPLE(IP, 0x2): -1/-1: 0x401000 period: 3 addr: 0\n"
		"... FP chain: nr:1\n.....  0: 4141414141414141\n");
	dumped_fini(&d);
}

TEST("an empty stack is shown at its position")
{
	struct dumped d;
	struct attr attr = { .sample_type = SAMPLE_REGS_USER | SAMPLE_STACK_USER | SAMPLE_DATA_SRC, .sample_regs_user = 1 };
	uint64_t body[] = { 0, 0, 5 };
	struct record record = { .type = RECORD_SAMPLE, .body = (uint8_t *)body, .body_len = sizeof body };
	dumped_init(&d, &attr);
	const char *text = strstr(dumped_record(&d, &record), "... ustack");
	EXPECT_STR(text, "... ustack: size 0, offset 0x10\n . data_src: 0x5\n");
	dumped_fini(&d);
}

TEST("records that one tool handles are unhandled in the other, and compressed records are not shown")
{
	struct dumped d;
	struct attr attr = { .sample_type = SAMPLE_IP };
	struct record round = { .type = RECORD_FINISHED_ROUND }, throttle = { .type = RECORD_THROTTLE };
	struct record packed = { .type = RECORD_COMPRESSED };
	dumped_init(&d, &attr);
	EXPECT(strstr(dumped_record(&d, &round), "-1 -1 0 [0x8]: PERF_RECORD_FINISHED_ROUND\n"));
	EXPECT(strstr(dumped_record(&d, &throttle), "PERF_RECORD_THROTTLE: unhandled!\n"));
	d.dump.tool = DUMP_SCRIPT;
	EXPECT(!strstr(dumped_record(&d, &throttle), "unhandled"));
	EXPECT_STR(dumped_record(&d, &packed), "");
	dumped_fini(&d);
}
