#include "rewrite/new_recording.h"

#include <fcntl.h>

#include "rewrite/test_rewrite.h"

static const char *const command[] = { "/bin/perfuse", "inject", NULL };

static const union {
	struct {
		uint32_t length;
		char text[8];
	} words;
	uint8_t bytes[12];
} host_text = { { 8, "host" } };
static const uint8_t *const host = host_text.bytes;

/* A source with features that stay, and such as are not true of one plain file. */
static struct tape *featured(void)
{
	static const unsigned features[] = { FEATURE_HOSTNAME, FEATURE_CMDLINE, FEATURE_EVENT_DESC, FEATURE_BRANCH_STACK, FEATURE_COMPRESSED,
		FEATURE_DIR_FORMAT, FEATURE_OSRELEASE, FEATURE_BUILD_ID };
	struct tape *t = recording_new();
	struct header *header = &t->source.header;
	for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
		header->features[0] |= 1ull << features[i];
		if (features[i] != FEATURE_BRANCH_STACK && features[i] != FEATURE_OSRELEASE)
			header->feature_data[features[i]] = (struct span){ host, sizeof host_text };
	}
	return t;
}

/* Adds one sample, and finishes. */
static void write_one(struct tape *t, const char *path, struct span build_ids)
{
	struct new_recording new;
	struct record record;
	struct error err = { 0 };
	put_sample(t, 7, 30, 0x1010);
	EXPECT_INT(new_recording_open(&new, path, &t->source, command, &err), 0);
	while (source_next(&t->source, &record, &err) > 0)
		new_recording_add(&new, &record, (struct span){ 0 });
	EXPECT_INT(new_recording_finish(&new, build_ids, &err), 0);
	EXPECT_STR(err.text, "");
	new_recording_close(&new);
	source_close(&t->source);
}

static void expect_features(const struct header *header)
{
	EXPECT_STR(header_string(header, FEATURE_HOSTNAME), "host");
	EXPECT(header_has(header, FEATURE_CMDLINE) && header_has(header, FEATURE_EVENT_DESC) && header_has(header, FEATURE_BRANCH_STACK));
	EXPECT(!header_has(header, FEATURE_COMPRESSED) && !header_has(header, FEATURE_DIR_FORMAT) && !header_has(header, FEATURE_OSRELEASE));
	struct span words = header->feature_data[FEATURE_CMDLINE];
	EXPECT(words.len == 4 + 2 * 68 && load_u32(words.data) == 2);
	EXPECT_STR((const char *)words.data + 8, "/bin/perfuse");
	EXPECT_STR((const char *)words.data + 8 + 68, "inject");
	EXPECT_INT(header->evlist.events.count, 1);
	EXPECT_STR(header->evlist.events.items[0].name, "cpu-clock");
}

TEST("the header of a file has the features that are still true, and the new command line")
{
	struct folder folder;
	struct source *source;
	const struct source_options options = { .force = true };
	folder_open(&folder);
	for (int listed = 0; listed < 2; listed++) {
		struct span ids = { listed ? host : NULL, 0 };
		write_one(featured(), folder_path(&folder, "out"), ids);
		EXPECT_INT(source_open(&source, folder_path(&folder, "out"), &options, NULL), 0);
		expect_features(&source->header);
		EXPECT_INT(header_has(&source->header, FEATURE_BUILD_ID), listed);
		source_close(source);
	}
	folder_close(&folder);
}

/* Runs write_one with standard output in a file. */
static void write_stream(struct tape *t, const char *path)
{
	fflush(stdout);
	int before = dup(STDOUT_FILENO), fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	EXPECT(before >= 0 && fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0);
	write_one(t, "-", (struct span){ host, 0 });
	dup2(before, STDOUT_FILENO);
	close(before);
	close(fd);
}

TEST("a stream has the header of a file as records, and not a second time if it is made of a stream")
{
	struct folder folder;
	const struct source_options options = { .force = true };
	folder_open(&folder);
	for (int stream = 0; stream < 2; stream++) {
		struct tape *t = featured();
		struct source *source;
		struct record record;
		unsigned attrs = 0, samples = 0;
		t->source.header.pipe = stream;
		if (stream) {
			put_head(t, RECORD_HEADER_ATTR, 0, ATTR_SIZE_VER8);
			uint8_t bytes[ATTR_SIZE_VER9] = { 0 };
			struct attr attr = t->source.header.evlist.events.items[0].attr;
			attr.size = ATTR_SIZE_VER8;
			attr_encode(&attr, bytes);
			put(t, bytes, ATTR_SIZE_VER8);
		}
		write_stream(t, folder_path(&folder, "out"));
		EXPECT_INT(source_open(&source, folder_path(&folder, "out"), &options, NULL), 0);
		EXPECT(source->header.pipe);
		while (source_next(source, &record, NULL) > 0) {
			attrs += record.type == RECORD_HEADER_ATTR;
			samples += record.type == RECORD_SAMPLE;
		}
		EXPECT_INT(attrs, 1);
		EXPECT_INT(samples, 1);
		if (!stream)
			expect_features(&source->header);
		source_close(source);
	}
	folder_close(&folder);
}

TEST("a file that is made of a stream has no records that repeat its header")
{
	struct folder folder;
	struct source *source;
	struct record record;
	const struct source_options options = { .force = true };
	struct tape *t = featured();
	t->source.header.pipe = true;
	put_head(t, RECORD_HEADER_FEATURE, 0, 8);
	put_u64(t, FEATURE_HOSTNAME);
	folder_open(&folder);
	write_one(t, folder_path(&folder, "out"), (struct span){ 0 });
	EXPECT_INT(source_open(&source, folder_path(&folder, "out"), &options, NULL), 0);
	EXPECT_INT(source_next(source, &record, NULL), 1);
	EXPECT_INT(record.type, RECORD_SAMPLE);
	EXPECT_INT(source_next(source, &record, NULL), 0);
	source_close(source);
	folder_close(&folder);
}

TEST("the index of hardware traces states where they are in the new file")
{
	struct folder folder;
	struct new_recording new;
	struct source *source;
	const struct source_options options = { .force = true };
	struct tape *t = featured();
	t->source.header.features[0] |= 1ull << FEATURE_AUXTRACE;
	t->source.header.feature_data[FEATURE_AUXTRACE] = (struct span){ host, sizeof host_text };
	put_sample(t, 7, 30, 0x1010);
	size_t at = t->bytes.count;
	put_head(t, RECORD_AUXTRACE, 0, 40);
	put(t, (uint64_t[]){ 16, 0, 0, 0, 0 }, 40);
	folder_open(&folder);
	EXPECT_INT(new_recording_open(&new, folder_path(&folder, "out"), &t->source, command, NULL), 0);
	struct record record;
	while (source_next(&t->source, &record, NULL) > 0)
		new_recording_add(&new, &record, record.type == RECORD_AUXTRACE ? (struct span){ host, 8 } : (struct span){ 0 });
	EXPECT_INT(new.aux.count, 1);
	EXPECT_INT(new_recording_finish(&new, (struct span){ 0 }, NULL), 0);
	EXPECT_INT(source_open(&source, folder_path(&folder, "out"), &options, NULL), 0);
	struct span index = source->header.feature_data[FEATURE_AUXTRACE];
	EXPECT_INT(index.len, 24);
	EXPECT_INT(load_u64(index.data), 1);
	EXPECT_INT(load_u64(index.data + 8), source->header.data_offset + at);
	EXPECT_INT(load_u64(index.data + 16), 48);
	source_close(source);
	new_recording_close(&new);
	source_close(&t->source);
	folder_close(&folder);
}
