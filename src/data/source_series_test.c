#include "data/source.h"

#include <sys/stat.h>

#include "base/str.h"
#include "data/test_recording.h"
#include "unit.h"

static const char *const names[] = { "perf.data.2026010100000001", "perf.data.2026010100000000", "perf.data.2026010100000002",
	"perf.data.old", "notes.1234", NULL };

/* A recording with one sample at `ip`, at a time that falls from file to file. */
static struct recording *one_sample(uint64_t ip, unsigned events)
{
	struct recording *r = recording_new(false);
	begin_file(r, events);
	size_t data = r->len;
	put_sample(r, 10, ip, 1000 - ip);
	end_data(r, data);
	return r;
}

static void write_sample(const char *folder, const char *name, uint64_t ip, unsigned events)
{
	struct recording *r = one_sample(ip, events);
	write_file(folder, name, r->bytes, r->len);
	free(r);
}

static void write_all(char folder[static 32])
{
	strcpy(folder, "/tmp/perfuse-series-XXXXXX");
	EXPECT(mkdtemp(folder) != NULL);
	for (uint64_t i = 0; names[i]; i++)
		write_sample(folder, names[i], i == 0 ? 2 : i == 1 ? 1 : i + 1, 2);
}

static void expect_ips(const char *path, const char *want)
{
	struct source *source = NULL;
	struct error err = { 0 };
	struct record record;
	CLEANUP_STR struct str out = { 0 };
	uint64_t mark = 0;
	EXPECT_INT(source_open(&source, path, &(struct source_options){ .force = true, .series = true }, &err), 0);
	while (source && source_next(source, &record, &err) == 1) {
		struct sample sample;
		EXPECT(sample_decode(&sample, &source->header.evlist.events.items[0].layout, &record, NULL) == 0);
		str_printf(&out, "%u:%llu ", source->part, (unsigned long long)sample.ip);
		EXPECT(source_mark(source) > mark);
		mark = source_mark(source);
		source_release(source, mark);
	}
	EXPECT_STR(str_text(&out), want);
	if (source)
		EXPECT_INT(source->counters.bytes_read, source->counters.bytes_total);
	source_close(source);
}

TEST("files of a pattern or a folder are read in the order of their names, each as a part")
{
	char folder[32], pattern[128];
	write_all(folder);
	expect_ips(folder, "0:1 1:2 2:3 ");
	snprintf(pattern, sizeof pattern, "%s/perf.data.*[12d]", folder);
	expect_ips(pattern, "0:2 1:3 2:4 ");
	snprintf(pattern, sizeof pattern, "%s/perf.data.old", folder);
	expect_ips(pattern, "0:4 ");
	remove_folder(folder, names);
}

TEST("recordings of other events, streams and patterns without a file are refused")
{
	char folder[32], pattern[128];
	struct source *source = NULL;
	struct source_options options = { .force = true, .series = true };
	struct error err = { 0 };
	struct recording *r = recording_new(false);
	write_all(folder);
	write_sample(folder, names[2], 3, 1);
	EXPECT(source_open(&source, folder, &options, &err) < 0 && strstr(err.text, "its events differ from those of"));
	make_stream(r);
	write_file(folder, names[2], r->bytes, r->len);
	EXPECT(source_open(&source, folder, &options, &err) < 0 && strstr(err.text, "it is a stream"));
	snprintf(pattern, sizeof pattern, "%s/none*", folder);
	EXPECT(source_open(&source, pattern, &options, &err) < 0 && strstr(err.text, "failed to open"));
	options.series = false;
	EXPECT(source_open(&source, folder, &options, &err) < 0);
	free(r);
	remove_folder(folder, names);
}

/* A recording with an update of the name of its second event, and one of an event that it does not have. */
static void write_updates(const char *folder, const char *name, const char *event)
{
	struct recording *r = recording_new(false);
	begin_file(r, 2);
	size_t data = r->len;
	for (uint64_t id = 20; id < 100; id += 60) {
		size_t at = begin_record(r, RECORD_EVENT_UPDATE, 0);
		put(r, 2, 8);
		put(r, id, 8);
		put_bytes(r, event, 8);
		end_record(r, at);
	}
	end_data(r, data);
	write_file(folder, name, r->bytes, r->len);
	free(r);
}

TEST("records that describe events describe those of all files")
{
	char folder[32];
	struct source *source = NULL;
	struct source_options options = { .force = true, .series = true };
	struct record record;
	write_all(folder);
	write_updates(folder, names[1], "first\0\0");
	write_updates(folder, names[2], "third\0\0");
	EXPECT_INT(source_open(&source, folder, &options, NULL), 0);
	EXPECT_INT(source_next(source, &record, NULL), 1);
	EXPECT_STR(source->header.evlist.events.items[1].name, "first");
	EXPECT_INT(source->counters.bad_records, 0);
	while (source_next(source, &record, NULL) == 1)
		;
	EXPECT_STR(source->header.evlist.events.items[1].name, "third");
	EXPECT_INT(source->counters.bad_records, 2);
	source_close(source);
	remove_folder(folder, names);
}

TEST("a FIFO among recordings is refused, and not waited for")
{
	char folder[32], path[128];
	struct source *source = NULL;
	struct source_options options = { .force = true, .series = true };
	struct error err = { 0 };
	write_all(folder);
	snprintf(path, sizeof path, "%s/%s", folder, names[2]);
	EXPECT(unlink(path) == 0 && mkfifo(path, 0600) == 0);
	EXPECT(source_open(&source, folder, &options, &err) < 0 && strstr(err.text, "a stream cannot be read together with others"));
	remove_folder(folder, names);
}

TEST("damaged descriptions of events are counted in all files, and the series has the path of its first one")
{
	char folder[32], first[128];
	struct source *source = NULL;
	struct source_options options = { .force = true, .series = true };
	struct error err = { 0 };
	write_all(folder);
	for (int i = 0; i < 3; i++) {
		struct recording *r = one_sample(1, 2);
		put_at(r, 104 + 4, 4000, 4);
		write_file(folder, names[i], r->bytes, r->len);
		free(r);
	}
	EXPECT_INT(source_open(&source, folder, &options, &err), 0);
	snprintf(first, sizeof first, "%s/%s", folder, names[1]);
	EXPECT_STR(source->path, first);
	EXPECT_INT(source->header.bad_attrs, 3);
	source_close(source);
	remove_folder(folder, names);
}
