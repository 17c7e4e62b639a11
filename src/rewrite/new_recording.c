#include "rewrite/new_recording.h"

#include <unistd.h>

#include "data/evsel_name.h"
#include "record/acquire/record_out.h"
#include "record/write/features.h"
#include "session/order.h"

void new_recording_init(struct new_recording *new)
{
	*new = (struct new_recording){ .output = { .fd = -1, .at = -1, .inside = -1 } };
}

int new_recording_open(struct new_recording *new, const char *path, const struct source *source, const char *const *command,
	struct error *err)
{
	new_recording_init(new);
	new->source = source;
	new->evlist = &source->header.evlist;
	new->command = command;
	writer_open(&new->made, -1, 0);
	return output_open(&new->output, path, err);
}

static bool has_feature(const struct header *header, unsigned feature)
{
	static const uint64_t without_body = 1ull << FEATURE_BRANCH_STACK | 1ull << FEATURE_STAT;
	/* false for one file that is not compressed */
	static const uint64_t dropped = 1ull << FEATURE_DIR_FORMAT | 1ull << FEATURE_COMPRESSED;
	return header_has(header, feature) && !(dropped >> feature & 1) && (header->feature_data[feature].data || without_body >> feature & 1);
}

static void put_feature(struct features *features, unsigned feature, size_t at)
{
	features->present |= (uint64_t)1 << feature;
	features->place[feature].at = at;
	features->place[feature].len = features->out.len - at;
}

/* Attributes as wide as those of the header. */
static void add_events(struct features *features, const struct evlist *evlist)
{
	struct writer *out = &features->out;
	size_t at = out->len;
	out_u32(out, (uint32_t)evlist->events.count);
	out_u32(out, ATTR_SIZE_VER8);
	for (size_t i = 0; i < evlist->events.count; i++) {
		const struct evsel *evsel = &evlist->events.items[i];
		struct attr attr = evsel->attr;
		uint8_t bytes[ATTR_SIZE_VER9];
		char name[EVSEL_NAME_MAX];
		attr.size = ATTR_SIZE_VER8;
		attr_encode(&attr, bytes);
		writer_add(out, bytes, ATTR_SIZE_VER8);
		out_u32(out, (uint32_t)evsel->id_count);
		out_feature_text(out, evsel_name(evsel, name, sizeof name));
		writer_add(out, evsel->ids, evsel->id_count * sizeof *evsel->ids);
	}
	put_feature(features, FEATURE_EVENT_DESC, at);
}

static void add_command(struct features *features, const char *const *command)
{
	size_t at = features->out.len;
	uint32_t count = 0;
	while (command[count])
		count++;
	out_u32(&features->out, count);
	for (uint32_t i = 0; i < count; i++)
		out_feature_text(&features->out, command[i]);
	put_feature(features, FEATURE_CMDLINE, at);
}

static void add_aux_index(const struct new_recording *new, struct features *features)
{
	size_t at = features->out.len;
	out_u64(&features->out, new->aux.count);
	for (size_t i = 0; i < new->aux.count; i++) {
		out_u64(&features->out, new->aux.items[i].offset);
		out_u64(&features->out, new->aux.items[i].size);
	}
	put_feature(features, FEATURE_AUXTRACE, at);
}

static void make_features(const struct new_recording *new, struct span build_ids, struct features *features)
{
	const struct header *header = &new->source->header;
	*features = (struct features){ 0 };
	writer_open(&features->out, -1, 0);
	for (unsigned i = 0; i < FEATURE_COUNT; i++) {
		size_t at = features->out.len;
		/* a pipe has no places that an index could give; a reader of one would reject it */
		if (i == FEATURE_AUXTRACE && (new->without_traces || new->output.pipe))
			continue;
		if (i == FEATURE_BRANCH_STACK && new->with_branches) {
			put_feature(features, i, at);
		} else if (i == FEATURE_BUILD_ID && build_ids.data) {
			writer_add(&features->out, build_ids.data, build_ids.len);
			put_feature(features, i, at);
		} else if (i == FEATURE_AUXTRACE && (new->aux.count || has_feature(header, i))) {
			add_aux_index(new, features);
		} else if (!has_feature(header, i) || i == FEATURE_BUILD_ID) {
			continue;
		} else if (i == FEATURE_CMDLINE && new->command) {
			add_command(features, new->command);
		} else if (i == FEATURE_EVENT_DESC) {
			add_events(features, new->evlist);
		} else {
			writer_add(&features->out, header->feature_data[i].data, header->feature_data[i].len);
			put_feature(features, i, at);
		}
	}
}

/* A file becomes a pipe: records replace the file's header. */
static void add_head_records(struct new_recording *new)
{
	const struct header *header = &new->source->header;
	struct features features;
	for (size_t i = 0; i < new->evlist->events.count; i++) {
		const struct evsel *evsel = &new->evlist->events.items[i];
		struct attr attr = evsel->attr;
		uint8_t bytes[ATTR_SIZE_VER9];
		attr.size = ATTR_SIZE_VER8; /* perf takes its own full structure from the record, whatever size that states */
		size_t at = record_open(&new->made, RECORD_HEADER_ATTR, 0);
		writer_add(&new->made, bytes, attr_encode(&attr, bytes));
		size_t room = (RECORD_SIZE_MAX - (new->made.len - at)) / 8;
		writer_add(&new->made, evsel->ids, (evsel->id_count < room ? evsel->id_count : room) * 8);
		record_close(&new->made, at, 0);
	}
	make_features(new, (struct span){ 0 }, &features);
	features_records(&features, &new->made);
	features_fini(&features);
	struct span formats = header->feature_data[FEATURE_TRACING_DATA];
	if (formats.data) {
		size_t at = record_open(&new->made, RECORD_HEADER_TRACING_DATA, 0), padded = (formats.len + 7) & ~(size_t)7;
		out_u32(&new->made, (uint32_t)padded);
		record_close(&new->made, at, 0);
		writer_add(&new->made, formats.data, formats.len);
		writer_pad(&new->made, '\0', padded - formats.len);
	}
}

/* Opens the writer, with the first record: a pipe's attributes may precede it as records. */
static bool begin(struct new_recording *new)
{
	const struct header *header = &new->source->header;
	if (new->begun || new->error.kind != ERROR_NONE)
		return new->begun;
	new->begun = data_writer_open(&new->writer, new->output.fd, new->output.pipe, new->evlist, &new->error) == 0;
	if (new->begun && new->output.pipe && !header->pipe) {
		struct writer waiting = new->made;
		writer_open(&new->made, -1, 0);
		add_head_records(new);
		data_writer_add(&new->writer, new->made.buffer, new->made.len);
		writer_fini(&new->made);
		new->made = waiting;
	}
	return new->begun;
}

/* Records of a pipe whose content a file has in its header. */
static bool is_in_file_header(const struct new_recording *new, uint32_t type)
{
	return !new->output.pipe &&
		(type == RECORD_HEADER_ATTR || type == RECORD_HEADER_FEATURE || type == RECORD_HEADER_TRACING_DATA);
}

static void index_record(struct new_recording *new, const struct record *record, uint64_t before, uint64_t size)
{
	time_index_add(&new->index, new->writer.data_offset + new->writer.data_bytes + before, size, record->type == RECORD_SAMPLE,
		evlist_time_of(&new->source->header.evlist, record));
}

void new_recording_add(struct new_recording *new, const struct record *record, struct span payload)
{
	if (is_in_file_header(new, record->type) || !begin(new))
		return;
	if (record->type == RECORD_AUXTRACE) {
		uint64_t offset = new->writer.data_offset + new->writer.data_bytes;
		vec_push(&new->aux, ((struct aux_entry){ .offset = offset, .size = record->body_len + 8 }));
	}
	if (new->indexed)
		index_record(new, record, 0, record->body_len + 8 + payload.len);
	data_writer_add(&new->writer, record->body - 8, record->body_len + 8);
	if (payload.len)
		data_writer_add(&new->writer, payload.data, payload.len);
}

static void index_made(struct new_recording *new)
{
	for (size_t at = 0; at < new->made.len;) {
		struct record record = entry_record(&(struct entry){ .body = (const uint8_t *)new->made.buffer + at + 8 });
		index_record(new, &record, at, record.body_len + 8);
		at += record.body_len + 8;
	}
}

void new_recording_add_made(struct new_recording *new)
{
	bool begun = begin(new);
	if (begun && new->indexed)
		index_made(new);
	if (begun)
		data_writer_add(&new->writer, new->made.buffer, new->made.len);
	new->made.len = 0;
}

int new_recording_finish(struct new_recording *new, struct span build_ids, struct error *err)
{
	struct features features;
	int failed = 0;
	if (begin(new) && new->error.kind == ERROR_NONE) {
		make_features(new, build_ids, &features);
		struct feature_bodies bodies = features_bodies(&features);
		failed = data_writer_finish(&new->writer, new->evlist, &bodies, &new->error);
		features_fini(&features);
	}
	if (failed == 0 && new->error.kind == ERROR_NONE && new->indexed && !new->output.pipe)
		failed = time_index_append(&new->index, new->output.fd, &new->error);
	if (failed < 0 || new->error.kind != ERROR_NONE) {
		if (err)
			*err = new->error;
		return -1;
	}
	if (output_close(&new->output, err) < 0)
		return -1;
	new->finished = true;
	return 0;
}

void new_recording_close(struct new_recording *new)
{
	if (!new->finished && !new->output.pipe)
		output_discard(&new->output);
	if (new->begun)
		data_writer_fini(&new->writer);
	writer_fini(&new->made);
	vec_fini(&new->aux);
	time_index_fini(&new->index);
}
