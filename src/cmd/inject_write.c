#include "cmd/inject_write.h"

#include "data/evsel_name.h"
#include "record/acquire/record_out.h"

int inject_write_open(struct inject_write *write, const char *path, const struct source *source, const char *const *command,
	struct error *err)
{
	*write = (struct inject_write){ .source = source, .command = command };
	writer_open(&write->made, -1, 0);
	return output_open(&write->output, path, err);
}

static bool has_feature(const struct header *header, unsigned feature)
{
	static const uint64_t without_body = 1ull << FEATURE_BRANCH_STACK | 1ull << FEATURE_STAT;
	/* not true of a recording that is one file and not compressed */
	static const uint64_t dropped = 1ull << FEATURE_DIR_FORMAT | 1ull << FEATURE_COMPRESSED;
	return header_has(header, feature) && !(dropped >> feature & 1) && (header->feature_data[feature].data || without_body >> feature & 1);
}

static void put_feature(struct features *features, unsigned feature, size_t at)
{
	features->present |= (uint64_t)1 << feature;
	features->place[feature].at = at;
	features->place[feature].len = features->out.len - at;
}

static void add_text(struct writer *out, const char *text)
{
	enum { ALIGN = 64 };
	size_t len = strlen(text) + 1, room = (len + ALIGN - 1) / ALIGN * ALIGN;
	out_u32(out, (uint32_t)room);
	writer_add(out, text, len);
	writer_pad(out, '\0', room - len);
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
		add_text(out, evsel_name(evsel, name, sizeof name));
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
		add_text(&features->out, command[i]);
	put_feature(features, FEATURE_CMDLINE, at);
}

static void add_aux_index(const struct inject_write *write, struct features *features)
{
	size_t at = features->out.len;
	out_u64(&features->out, write->aux.count);
	for (size_t i = 0; i < write->aux.count; i++) {
		out_u64(&features->out, write->aux.items[i].offset);
		out_u64(&features->out, write->aux.items[i].size);
	}
	put_feature(features, FEATURE_AUXTRACE, at);
}

static void make_features(const struct inject_write *write, struct span build_ids, struct features *features)
{
	const struct header *header = &write->source->header;
	*features = (struct features){ 0 };
	writer_open(&features->out, -1, 0);
	for (unsigned i = 0; i < FEATURE_COUNT; i++) {
		size_t at = features->out.len;
		if (i == FEATURE_BUILD_ID && build_ids.data) {
			writer_add(&features->out, build_ids.data, build_ids.len);
			put_feature(features, i, at);
		} else if (!has_feature(header, i) || i == FEATURE_BUILD_ID) {
			continue;
		} else if (i == FEATURE_CMDLINE) {
			add_command(features, write->command);
		} else if (i == FEATURE_EVENT_DESC) {
			add_events(features, &header->evlist);
		} else if (i == FEATURE_AUXTRACE) {
			add_aux_index(write, features);
		} else {
			writer_add(&features->out, header->feature_data[i].data, header->feature_data[i].len);
			put_feature(features, i, at);
		}
	}
}

/* A file becomes a pipe: what its header tells comes as records. */
static void add_head_records(struct inject_write *write)
{
	const struct header *header = &write->source->header;
	struct features features;
	for (size_t i = 0; i < header->evlist.events.count; i++) {
		const struct evsel *evsel = &header->evlist.events.items[i];
		struct attr attr = evsel->attr;
		uint8_t bytes[ATTR_SIZE_VER9];
		attr.size = ATTR_SIZE_VER8; /* perf takes its own full structure from the record, whatever size that states */
		size_t at = record_open(&write->made, RECORD_HEADER_ATTR, 0);
		writer_add(&write->made, bytes, attr_encode(&attr, bytes));
		size_t room = (RECORD_SIZE_MAX - (write->made.len - at)) / 8;
		writer_add(&write->made, evsel->ids, (evsel->id_count < room ? evsel->id_count : room) * 8);
		record_close(&write->made, at, 0);
	}
	make_features(write, (struct span){ 0 }, &features);
	features_records(&features, &write->made);
	features_fini(&features);
	struct span formats = header->feature_data[FEATURE_TRACING_DATA];
	if (formats.data) {
		size_t at = record_open(&write->made, RECORD_HEADER_TRACING_DATA, 0), padded = (formats.len + 7) & ~(size_t)7;
		out_u32(&write->made, (uint32_t)padded);
		record_close(&write->made, at, 0);
		writer_add(&write->made, formats.data, formats.len);
		writer_pad(&write->made, '\0', padded - formats.len);
	}
}

/* With the first record, as a pipe tells its events before any other. */
static bool begin(struct inject_write *write)
{
	const struct header *header = &write->source->header;
	if (write->begun || write->error.kind != ERROR_NONE)
		return write->begun;
	write->begun = data_writer_open(&write->writer, write->output.fd, write->output.pipe, &header->evlist, &write->error) == 0;
	if (write->begun && write->output.pipe && !header->pipe) {
		struct writer kept = write->made;
		writer_open(&write->made, -1, 0);
		add_head_records(write);
		data_writer_add(&write->writer, write->made.buffer, write->made.len);
		writer_fini(&write->made);
		write->made = kept;
	}
	return write->begun;
}

/* Of a pipe: what the header of a file tells already. */
static bool is_told_by_header(const struct inject_write *write, uint32_t type)
{
	return !write->output.pipe &&
		(type == RECORD_HEADER_ATTR || type == RECORD_HEADER_FEATURE || type == RECORD_HEADER_TRACING_DATA);
}

void inject_write_record(struct inject_write *write, const struct record *record, struct span payload)
{
	if (is_told_by_header(write, record->type) || !begin(write))
		return;
	if (record->type == RECORD_AUXTRACE) {
		uint64_t offset = write->writer.data_offset + write->writer.data_bytes;
		vec_push(&write->aux, ((struct aux_entry){ .offset = offset, .size = record->body_len + 8 }));
	}
	data_writer_add(&write->writer, record->body - 8, record->body_len + 8);
	if (payload.len)
		data_writer_add(&write->writer, payload.data, payload.len);
}

void inject_write_made(struct inject_write *write)
{
	if (begin(write))
		data_writer_add(&write->writer, write->made.buffer, write->made.len);
	write->made.len = 0;
}

void inject_add_trailer(struct writer *out, const struct evsel *evsel, const struct sample *sample)
{
	uint64_t type = evsel ? evsel->attr.sample_type : 0;
	if (!evsel || !attr_flag(&evsel->attr, ATTR_SAMPLE_ID_ALL))
		return;
	if (type & SAMPLE_TID) {
		out_u32(out, sample->pid);
		out_u32(out, sample->tid);
	}
	if (type & SAMPLE_TIME)
		out_u64(out, sample->time);
	if (type & SAMPLE_ID)
		out_u64(out, sample->id);
	if (type & SAMPLE_STREAM_ID)
		out_u64(out, sample->stream_id);
	if (type & SAMPLE_CPU) {
		out_u32(out, sample->cpu);
		out_u32(out, 0);
	}
	if (type & SAMPLE_IDENTIFIER)
		out_u64(out, sample->id);
}

int inject_write_finish(struct inject_write *write, struct span build_ids, struct error *err)
{
	struct features features;
	int failed = 0;
	if (begin(write) && write->error.kind == ERROR_NONE) {
		make_features(write, build_ids, &features);
		struct feature_bodies bodies = features_bodies(&features);
		failed = data_writer_finish(&write->writer, &write->source->header.evlist, &bodies, &write->error);
		features_fini(&features);
	}
	if (failed < 0 || write->error.kind != ERROR_NONE) {
		if (err)
			*err = write->error;
		return -1;
	}
	if (output_close(&write->output, err) < 0)
		return -1;
	write->finished = true;
	return 0;
}

void inject_write_close(struct inject_write *write)
{
	if (!write->finished && !write->output.pipe)
		output_discard(&write->output);
	if (write->begun)
		data_writer_fini(&write->writer);
	writer_fini(&write->made);
	vec_fini(&write->aux);
}
