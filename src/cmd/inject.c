#include "cmd/inject.h"
#include "cmd/kernel_files.h"

#include <stdlib.h>
#include <unistd.h>

#include "cmd/loss_summary.h"
#include "os/process.h"

extern const struct command command_inject;

enum { RELEASE_EVERY = 1 << 16 }; /* records */

#define I struct inject_options
static const struct option inject_table[] = {
	OPT_BOOL('b', "build-ids", I, build_ids, "add the build-ids of files that samples hit"),
	OPT_BOOL('B', "mmap2-buildids", I, mmap2_hit, "keep only mappings that samples hit, and give those their build-ids"),
	OPT_BOOL('f', "force", I, force, "do not ask whose file it is"),
	OPT_STRING('i', "input", I, input, "file", "the recording to read (standard input)"),
	OPT_BOOL('j', "jit", I, jit, "make files and mappings of the code in jitdumps"),
	OPT_STRING('k', "vmlinux", I, vmlinux, "file", "the kernel's symbols are in this vmlinux"),
	OPT_STRING('o', "output", I, output, "file", "where the new recording goes (standard output)"),
	OPT_BOOL('s', "sched-stat", I, sched_stat, "show where tasks slept: their sched_stat with the stack of their last switch"),
	OPT_INCR('v', "verbose", I, verbose, "tell more"),
	OPT_BOOL(0, "buildid-all", I, build_ids_all, "add the build-ids of all files that were mapped"),
	OPT_LATER_OPTARG(0, "guest-data", "opts", "merge a guest's recording"),
	OPT_STRING(0, "guestmount", I, guestmount, "directory", "guests have their files below this folder"),
	OPT_BOOL(0, "ignore-vmlinux", I, ignore_vmlinux, "do not use a vmlinux"),
	OPT_LATER_OPTARG(0, "itrace", "opts", "events decoded from hardware traces"),
	OPT_STRING(0, "kallsyms", I, kallsyms, "file", "the kernel's symbols are in this kallsyms"),
	OPT_STRING(0, "known-build-ids", I, known_build_ids, "buildid path [,buildid path...]", "build-ids of these files, as they are given"),
	OPT_BOOL(0, "mmap2-buildid-all", I, mmap2_all, "give all mappings their build-ids"),
	OPT_BOOL(0, "strip", I, strip, "leave out what was not decoded (with --itrace)"),
	OPT_LATER_OPTARG(0, "vm-time-correlation", "opts", "the host's times in a guest's traces"),
	OPT_END(),
};
#undef I

static const char *const inject_usage[] = { "perf inject [<options>]", NULL };

static uint64_t time_of(const struct evlist *evlist, const struct record *record)
{
	uint32_t event = evlist_event_of(evlist, record);
	if (event >= evlist->events.count)
		return UINT64_MAX;
	const struct sample_layout *layout = &evlist->events.items[event].layout;
	int at = record->type == RECORD_SAMPLE ? layout->time_at : (int)(record->body_len / 8) - layout->trailer_time_at;
	bool none = record->type == RECORD_SAMPLE ? at < 0 : !layout->trailer_time_at || at < 0;
	return none || (size_t)at * 8 + 8 > record->body_len ? UINT64_MAX : load_u64(record->body + (size_t)at * 8);
}

static void take_build_ids(struct inject *inject)
{
	const struct header *header = &inject->source->header;
	for (; inject->build_ids_taken < header->build_ids.count; inject->build_ids_taken++) {
		const struct build_id_entry *row = &header->build_ids.items[inject->build_ids_taken];
		const struct module_identity identity = { .maj = row->maj, .min = row->min, .ino = row->ino,
			.ino_generation = row->ino_generation };
		model_set_build_id(&inject->model, row->filename, row->misc, row->one_of_many ? &identity : NULL, row->id.bytes, row->id.len);
	}
}

static void decode(struct step *step, const struct evlist *evlist)
{
	static const struct sample_layout none = { .time_at = -1, .id_at = -1 };
	uint32_t event = evlist_event_of(evlist, &step->record);
	step->evsel = event < evlist->events.count ? &evlist->events.items[event] : NULL;
	if (step->record.type == RECORD_SAMPLE)
		step->decoded = step->evsel && sample_decode(&step->sample, &step->evsel->layout, &step->record, NULL) == 0;
	else
		sample_decode_trailer(&step->sample, step->evsel ? &step->evsel->layout : &none, &step->record);
}

static void judge_sample(struct inject *inject, const struct record *record)
{
	const struct evlist *evlist = &inject->source->header.evlist;
	uint32_t event = evlist_event_of(evlist, record);
	if (event == UINT32_MAX)
		inject->unknown_ids++;
	else if (sample_is_whole(&evlist->events.items[event].layout, record))
		inject->samples++;
	else
		inject->bad_samples++;
}

/* A record of the kernel's (or synthesised like one), in its turn. */
static int process(struct inject *inject, const struct record *record, struct error *err)
{
	bool mapping = record->type == RECORD_MMAP || record->type == RECORD_MMAP2, sample = record->type == RECORD_SAMPLE;
	struct step step = { .record = *record };
	inject->clock++;
	if (sample)
		judge_sample(inject, record);
	if (inject->tracks) {
		decode(&step, &inject->source->header.evlist);
		take_build_ids(inject);
		if (mapping && inject->jit) {
			int taken = jit_mapping(inject, &step, err);
			if (taken)
				return taken < 0 ? -1 : 0;
		}
		model_apply(&inject->model, record, &step.sample, inject->clock);
		if (record->type == RECORD_FORK)
			ids_fork(inject, &step);
		if (mapping && ids_mapping(inject, &step))
			return 0;
		if (sample && inject->sched_stat && sched_sample(inject, &step))
			return 0;
		if (sample && inject->ids != IDS_ALL)
			ids_sample(inject, &step);
	}
	inject_write_record(&inject->out, record, (struct span){ 0 });
	return 0;
}

/* What the recorder itself wrote goes on at once. */
static int process_own(struct inject *inject, const struct record *record, struct error *err)
{
	struct span payload = { 0 };
	switch (record->type) {
	case RECORD_COMPRESSED:
	case RECORD_COMPRESSED2:
		return 0; /* what is in it comes by itself */
	case RECORD_FINISHED_ROUND:
		if (inject->jit)
			return 0; /* functions of a dump are all written at once: no round holds */
		break;
	case RECORD_TIME_CONV:
		if (inject->jit)
			jit_clock(inject, record);
		break;
	case RECORD_HEADER_TRACING_DATA:
		payload = inject->source->header.feature_data[FEATURE_TRACING_DATA];
		break;
	case RECORD_AUXTRACE:
		payload.len = (size_t)load_u64(record->body);
		payload.data = source_payload(inject->source, record, payload.len);
		if (!payload.data && payload.len)
			return error_set(err, ERROR_UNSUPPORTED, "hardware traces of a stream cannot be passed on yet");
		break;
	default:
		break;
	}
	inject_write_record(&inject->out, record, payload);
	return 0;
}

static int compare_waiting(const void *a, const void *b)
{
	const struct waiting *left = a, *right = b;
	if (left->time != right->time)
		return left->time < right->time ? -1 : 1;
	return left->mark < right->mark ? -1 : left->mark > right->mark;
}

static struct record record_of(const struct waiting *waiting)
{
	const uint8_t *head = waiting->body - 8;
	uint16_t misc, size;
	memcpy(&misc, head + 4, sizeof misc);
	memcpy(&size, head + 6, sizeof size);
	return (struct record){ .type = load_u32(head), .misc = misc, .body_len = size - 8u, .body = waiting->body, .offset = waiting->offset };
}

/* What was written is not needed again, but for what of it stands behind a record that still waits. */
static void release_before(struct inject *inject, size_t next)
{
	uint64_t mark = source_mark(inject->source);
	for (size_t i = next; i < inject->waiting.count; i++)
		mark = inject->waiting.items[i].mark < mark ? inject->waiting.items[i].mark : mark;
	source_release(inject->source, mark);
}

static int process_waiting(struct inject *inject, struct error *err)
{
	for (size_t i = 1; i < inject->waiting.count; i++)
		if (inject->waiting.items[i].time < inject->waiting.items[i - 1].time) {
			qsort(inject->waiting.items, inject->waiting.count, sizeof *inject->waiting.items, compare_waiting);
			break;
		}
	for (size_t i = 0; i < inject->waiting.count; i++) {
		struct record record = record_of(&inject->waiting.items[i]);
		if (process(inject, &record, err) < 0)
			return -1;
		if (i % RELEASE_EVERY == RELEASE_EVERY - 1)
			release_before(inject, i + 1);
	}
	return 0;
}

static int read_record(struct inject *inject, const struct record *record, uint64_t mark, struct error *err)
{
	if (record->type >= RECORD_USER_TYPE_START)
		return process_own(inject, record, err);
	uint64_t time = inject->ordered ? time_of(&inject->source->header.evlist, record) : UINT64_MAX;
	if (!time || time == UINT64_MAX)
		return process(inject, record, err);
	struct waiting waiting = { .time = time, .mark = mark, .offset = record->offset, .body = record->body };
	vec_push(&inject->waiting, waiting);
	return 0;
}

/* What is whole of the recording; inject->stop says what ended it early. < 0: it cannot be injected. */
static int read_all(struct inject *inject, struct error *err)
{
	struct record record;
	for (;;) {
		uint64_t mark = source_mark(inject->source);
		if (source_next(inject->source, &record, &inject->stop) <= 0)
			break;
		if (read_record(inject, &record, mark, err) < 0)
			return -1;
		if (!inject->ordered)
			source_release(inject->source, source_mark(inject->source));
	}
	return process_waiting(inject, err);
}

static int finish(struct inject *inject, struct error *err)
{
	struct writer table;
	bool listed = header_has(&inject->source->header, FEATURE_BUILD_ID) || inject->ids == IDS_HIT || inject->ids == IDS_ALL;
	writer_open(&table, -1, 64);
	if (listed)
		ids_feature(inject, &table);
	struct span body = { table.len ? (const uint8_t *)table.buffer : NULL, table.len };
	int result = inject_write_finish(&inject->out, body, err);
	writer_fini(&table);
	return result;
}

static void inject_command(struct inject *inject)
{
	process_self_path(inject->self, sizeof inject->self, inject->cli->program);
	size_t count = process_self_command(&inject->words), used = 0;
	inject->command[used++] = inject->self;
	const char *word = str_text(&inject->words);
	for (size_t i = 0; i < count && used < INJECT_WORDS_MAX; i++, word += strlen(word) + 1)
		if (i)
			inject->command[used++] = word;
}

static enum inject_ids ids_of(const struct inject_options *options)
{
	return options->build_ids_all ? IDS_ALL : options->build_ids ? IDS_HIT : options->mmap2_all ? IDS_MMAP2_ALL :
		options->mmap2_hit ? IDS_MMAP2_HIT : IDS_NONE;
}

static int inject_all(struct inject *inject, struct error *err)
{
	const struct inject_options *options = inject->options;
	if (inject->source->header.swapped)
		return error_set(err, ERROR_UNSUPPORTED, "recordings of the other byte order are not supported yet");
	inject_command(inject);
	if (inject_write_open(&inject->out, options->output ? options->output : "-", inject->source, inject->command, err) < 0)
		return -1;
	inject->ids = ids_of(options);
	inject->sched_stat = options->sched_stat && inject->ids != IDS_HIT && inject->ids != IDS_MMAP2_HIT;
	inject->ordered = options->jit || options->sched_stat || inject->ids == IDS_HIT || inject->ids == IDS_MMAP2_HIT;
	inject->tracks = inject->ordered || inject->ids != IDS_NONE;
	if (options->jit)
		jit_open(inject);
	ids_open(inject);
	take_build_ids(inject);
	return read_all(inject, err) < 0 || finish(inject, err) < 0 ? -1 : 0;
}

/* Damaged records are written as they are, for the reader of the new recording to judge; who makes it learns of them, too. */
static int tell_losses(const struct inject *inject, const char *input)
{
	struct losses losses;
	losses_of_source(&losses, inject->source, &inject->stop);
	losses.bad_records += inject->model.bad_records;
	losses.samples = inject->samples;
	losses.bad_samples = inject->bad_samples;
	losses.unknown_ids = inject->unknown_ids;
	return loss_summary_print(inject->cli, input, &losses, false);
}

static int inject_run(struct cli *cli, void *arg, int argc, const char **argv)
{
	struct inject inject = { .cli = cli, .options = arg };
	const struct inject_options *options = arg;
	struct source_options source_options = { .force = options->force };
	struct error err = { 0 };
	if (argc)
		return cli_usage(cli, &command_inject, NULL);
	if (options->strip) {
		error_set(&err, ERROR_USAGE, "--strip option requires --itrace option");
		cli_complain(cli, &err);
		return EXIT_FAILED;
	}
	if (kernel_files_check(options->vmlinux, options->kallsyms, &err) < 0) {
		cli_complain(cli, &err);
		return EXIT_FAILED;
	}
	inject.out.output = (struct output){ .fd = -1, .at = -1, .inside = -1 };
	model_init(&inject.model);
	inject.model.keep_exited = true;
	const char *input = options->input ? options->input : "-";
	int result = source_open(&inject.source, input, &source_options, &err), damaged = 0;
	if (result == 0)
		result = inject_all(&inject, &err);
	if (result < 0)
		cli_complain(cli, &err);
	if (inject.source)
		damaged = tell_losses(&inject, input);
	inject_write_close(&inject.out);
	ids_close(&inject);
	sched_close(&inject);
	jit_close(&inject);
	str_fini(&inject.words);
	vec_fini(&inject.waiting);
	model_fini(&inject.model);
	source_close(inject.source);
	return result < 0 ? EXIT_FAILED : damaged;
}

const struct command command_inject = {
	.name = "inject",
	.summary = "rewrite a recording: add build-ids, code of JIT compilers, sleeping times",
	.usage = inject_usage,
	.options = inject_table,
	.options_size = sizeof(struct inject_options),
	.run = inject_run,
};
