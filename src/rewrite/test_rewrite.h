/* For tests: a recording in memory, rewritten to a file in a temporary folder, and what that file has, as text. */
#pragma once
#include <unistd.h>

#include "base/str.h"
#include "image/test_folder.h"
#include "model/model.h"
#include "rewrite/rewrite.h"
#include "tape.h"

/* One event, ip|tid|time|callchain, whose mappings are recorded. */
static inline struct tape *recording_new(void)
{
	struct tape *tape = tape_new();
	struct attr attr = { .type = ATTR_SOFTWARE, .sample_period = 1, .flags = 1ull << ATTR_SAMPLE_ID_ALL | 1ull << ATTR_MMAP,
			     .sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CALLCHAIN };
	evlist_add(&tape->source.header.evlist, &attr, NULL, 0, "cpu-clock");
	return tape;
}

static inline void put_chain_sample(struct tape *t, uint32_t tid, uint64_t time, uint64_t ip, const uint64_t *chain, uint64_t count)
{
	put_head(t, RECORD_SAMPLE, RECORD_MISC_USER, 32 + count * 8);
	put_u64(t, ip);
	put_ids(t, tid);
	put_u64(t, time);
	put_u64(t, count);
	put(t, chain, count * 8);
}

static inline void put_sample(struct tape *t, uint32_t tid, uint64_t time, uint64_t ip)
{
	put_chain_sample(t, tid, time, ip, NULL, 0);
}

/* time 0: a record without a time. */
static inline void put_mmap(struct tape *t, uint32_t tid, uint64_t time, uint64_t start, uint64_t len, const char *name)
{
	char padded[64] = { 0 };
	size_t room = (strlen(name) + 8) / 8 * 8;
	memcpy(padded, name, strlen(name));
	put_head(t, RECORD_MMAP, RECORD_MISC_USER, 32 + room + 16);
	put_ids(t, tid);
	put_u64(t, start);
	put_u64(t, len);
	put_u64(t, 0);
	put(t, padded, room);
	put_ids(t, tid);
	put_u64(t, time);
}

/* id: the first byte of its build-id, in place of the file's numbers; 0: it has numbers. name: at most 7 bytes. */
static inline void put_mmap2(struct tape *t, uint32_t tid, uint64_t time, uint64_t start, uint64_t len, uint8_t id, const char *name)
{
	char padded[8] = { 0 };
	memcpy(padded, name, strlen(name));
	put_head(t, RECORD_MMAP2, RECORD_MISC_USER | (id ? RECORD_MISC_MMAP_BUILD_ID : 0), 64 + 8 + 16);
	put_ids(t, tid);
	put_u64(t, start);
	put_u64(t, len);
	put_u64(t, 0);
	put(t, (uint8_t[24]){ [0] = id ? 20 : 0, [4] = id }, 24);
	put(t, (uint32_t[]){ 5, 2 }, 8);
	put(t, padded, 8);
	put_ids(t, tid);
	put_u64(t, time);
}

static inline void put_fork(struct tape *t, uint32_t pid, uint32_t ppid, uint64_t time)
{
	put_head(t, RECORD_FORK, 0, 24 + 16);
	put(t, (uint32_t[]){ pid, ppid, pid, ppid }, 16);
	put_u64(t, time);
	put_ids(t, ppid);
	put_u64(t, time);
}

static inline void put_round(struct tape *t)
{
	put_head(t, RECORD_FINISHED_ROUND, 0, 0);
}

/* A row of the table of build-ids: `first`, then zeros. */
static inline void add_build_id(struct tape *t, const char *path, uint8_t first, uint8_t len)
{
	vec_push(&t->source.header.build_ids,
		 ((struct build_id_entry){ .filename = path, .id = { .bytes = { first }, .len = len }, .misc = RECORD_MISC_USER, .pid = -1 }));
}

/* One rewriting, and its result. */
struct trial {
	struct folder folder;
	char output[64];
	struct rewrite_counters counters;
	struct losses losses;
	struct error error;
	struct str records;          /* of the result, one line each */
	struct str table;            /* its table of build-ids, one line each */
	int result;                  /* of the first function that failed, or 0 */
};

/* The text at an offset of a record, which may lack its end. */
static inline void show_text(struct str *out, const struct record *record, uint32_t at)
{
	str_printf(out, " %.*s\n", (int)(record->body_len - at), (const char *)record->body + at);
}

static inline void show_record(struct str *out, const struct source *source, const struct record *record)
{
	static const struct sample_layout none = { .time_at = -1, .id_at = -1 };
	const struct evlist *evlist = &source->header.evlist;
	uint32_t event = evlist_event_of(evlist, record);
	const struct sample_layout *layout = event < evlist->events.count ? &evlist->events.items[event].layout : &none;
	struct sample sample;
	const uint8_t *b = record->body;
	bool id = record->misc & RECORD_MISC_MMAP_BUILD_ID;
	struct record any = *record;
	any.type = RECORD_COMM; /* tool records have no trailer for the decoder */
	if (record->type != RECORD_SAMPLE)
		sample_decode_trailer(&sample, layout, &any);
	else if (sample_decode(&sample, layout, record, NULL) < 0)
		sample = (struct sample){ 0 };
	switch (record->type) {
	case RECORD_SAMPLE:
		str_printf(out, "sample %d %llx", (int)sample.time, (unsigned long long)sample.ip);
		if (sample.present & SAMPLE_PERIOD)
			str_printf(out, " %llu", (unsigned long long)sample.period);
		str_putc(out, '\n');
		break;
	case RECORD_MMAP:
		str_printf(out, "mmap %d %d:%llx+%llx", (int)sample.time, (int)load_u32(b), (unsigned long long)load_u64(b + 8),
			   (unsigned long long)load_u64(b + 16));
		show_text(out, record, 32);
		break;
	case RECORD_MMAP2:
		str_printf(out, "mmap2 %d %d:%llx+%llx@%llx", (int)sample.time, (int)load_u32(b), (unsigned long long)load_u64(b + 8),
			   (unsigned long long)load_u64(b + 16), (unsigned long long)load_u64(b + 24));
		if (id)
			str_printf(out, " id %u:%02x", b[32], b[36]);
		if (load_u32(b + 56) & S_IFMT)
			str_puts(out, S_ISREG(load_u32(b + 56)) ? " file mode" : " other mode");
		show_text(out, record, 64);
		break;
	case RECORD_HEADER_BUILD_ID:
		str_printf(out, "build-id %d %u:%02x", (int)sample.time, b[24], b[4]);
		show_text(out, record, 28);
		break;
	case RECORD_COMM:
	case RECORD_FORK:
		str_printf(out, "%s %d\n", record->type == RECORD_COMM ? "comm" : "fork", (int)sample.time);
		break;
	default:
		str_puts(out, record->type == RECORD_FINISHED_ROUND ? "round\n" : "other\n");
	}
}

static inline void show_result(struct trial *trial)
{
	struct source *source;
	struct record record;
	const struct source_options options = { .force = true };
	EXPECT_INT(source_open(&source, trial->output, &options, &trial->error), 0);
	for (size_t i = 0; source && i < source->header.build_ids.count; i++) {
		const struct build_id_entry *row = &source->header.build_ids.items[i];
		str_printf(&trial->table, "%u:%02x %s\n", row->id.len, row->id.bytes[0], row->filename);
	}
	/* afterwards: records with build-ids add rows, too */
	while (source && source_next(source, &record, &trial->error) > 0)
		show_record(&trial->records, source, &record);
	EXPECT_STR(trial->error.text, "");
	source_close(source);
}

/* Rewrites the tape, and closes it. options.output and .command are set here. */
static inline void trial_run(struct trial *trial, struct tape *tape, struct rewrite_options options)
{
	static const char *const command[] = { "perfuse", "inject", NULL };
	struct rewrite *rewrite;
	*trial = (struct trial){ 0 };
	folder_open(&trial->folder);
	snprintf(trial->output, sizeof trial->output, "%s", folder_path(&trial->folder, "out"));
	options.output = trial->output;
	options.command = command;
	trial->result = rewrite_open(&rewrite, &tape->source, &options, &trial->error);
	if (trial->result == 0)
		trial->result = rewrite_run(rewrite, &trial->error);
	if (trial->result == 0)
		trial->result = rewrite_finish(rewrite, NULL, &trial->error);
	trial->counters = *rewrite_counters(rewrite);
	rewrite_losses(rewrite, &trial->losses);
	rewrite_close(rewrite);
	vec_fini(&tape->source.header.build_ids);
	source_close(&tape->source);
	if (trial->result == 0)
		show_result(trial);
}

static inline void trial_close(struct trial *trial)
{
	str_fini(&trial->records);
	str_fini(&trial->table);
	folder_close(&trial->folder);
}
