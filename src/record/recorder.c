#include "record/recorder.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "image/kcore.h"
#include "os/checked.h"
#include "os/file.h"
#include "os/permission.h"
#include "record/acquire/existing.h"
#include "record/acquire/programs.h"
#include "record/acquire/record_out.h"
#include "record/address_filters.h"
#include "record/recorder_internal.h"
#include "record/write/add_index.h"
#include "record/write/build_ids.h"
#include "record/write/buildid_cache.h"
#include "record/write/features.h"

void recording_fini(struct recording *recording)
{
	str_fini(&recording->notes);
	str_fini(&recording->warnings);
}

enum {
	STACKS_BY_RATE = 8 << 20,    /* of a ring: an eighth of a second at the rate that determines the size of copies */
	STACKS_LEAST = 128,          /* that a ring must be able to hold */
};

/* Whether an event fills a ring of the usual size within a few milliseconds: each hit of a tracepoint, or very many samples a second. */
static bool is_busy(const struct event *event)
{
	enum { BUSY_HZ = 10000 };
	const struct attr *attr = &event->attr;
	if (attr_flag(attr, ATTR_FREQ))
		return attr->sample_period > BUSY_HZ;
	return event->tracepoint && attr->sample_period == 1;
}

/* The size of a ring that lets a recorder wait for a CPU without losses; 0: the usual size suffices. */
static size_t ring_bytes_wanted(const struct recorder *r)
{
	enum { STACKS = 512, UNWINDING_LEAST = 1 << 20, FREQUENT = 2 << 20, EACH_HIT = 8 << 20 };
	const struct measurement *m = &r->measurement;
	if (configure_unwinds(m->events)) {
		size_t bytes = (size_t)configure_stack_bytes(m->events) * STACKS;
		if (!m->sampling.stack_given && bytes > STACKS_BY_RATE)
			bytes = STACKS_BY_RATE;
		return bytes > UNWINDING_LEAST ? bytes : UNWINDING_LEAST;
	}
	/* a reader of a pipe waits for a ring that is half full, and an overwritten ring is what the user gets */
	bool usual = output_is_pipe(r->options->output) || m->trace.kind != TRACE_NONE;
	for (size_t i = 0; i < m->events->list.count && !usual; i++)
		if (is_busy(&m->events->list.items[i]) && !attr_flag(&m->events->list.items[i].attr, ATTR_WRITE_BACKWARD))
			return attr_flag(&m->events->list.items[i].attr, ATTR_FREQ) ? FREQUENT : EACH_HIT;
	return 0;
}

/* Rings may be larger than what the kernel allows every user. */
static bool has_large_rings(void)
{
	struct permission permission;
	permission_read(&permission);
	return permission.root || permission.paranoid < 0;
}

/* The size of a ring for so many bytes: all rings share a budget. */
static size_t ring_bytes(size_t wanted)
{
	enum { RINGS_BYTES = 64 << 20, RING_LEAST = 1 << 20, RING_MOST = 32 << 20 };
	size_t bytes = RING_LEAST;
	while (bytes < RING_MOST && bytes < wanted && 2 * bytes * cpus_online_count() <= RINGS_BYTES)
		bytes *= 2;
	return bytes;
}

static size_t ring_pages(const struct recorder *r)
{
	size_t pages = r->measurement.trace.ring_pages ? r->measurement.trace.ring_pages : ring_default_pages();
	size_t wanted = r->options->pages ? 0 : ring_bytes_wanted(r);
	if (!wanted)
		return r->options->pages ? r->options->pages : pages;
	size_t more = ring_bytes(wanted) / (size_t)sysconf(_SC_PAGESIZE);
	return has_large_rings() && more > pages ? more : pages;
}

/* Refuses options that --threads cannot be combined with. */
static int check_ring_readers(const struct recorder *r, struct error *err)
{
	const struct record_switch *switching = &r->options->switching;
	const char *what = output_is_pipe(r->options->output) ? "a pipe" : r->measurement.target.per_thread ? "--per-thread" :
		r->measurement.trace.kind != TRACE_NONE ? "a hardware trace" :
		switching->on_signal || switching->bytes || switching->seconds ? "--switch-output" :
		r->options->affinity != AFFINITY_ANY ? "--affinity" : NULL;
	if (!r->options->groups || !what)
		return 0;
	return error_set(err, ERROR_USAGE, "--threads and %s cannot be combined", what);
}

/* Not if the file has no table of them, or its records have them. */
static bool wants_builds(const struct recorder *r)
{
	const struct record_options *options = r->options;
	return !options->no_build_ids && !output_is_pipe(options->output) && !r->measurement.sampling.build_id_mmap;
}

static int open_measurement(struct recorder *r, struct error *err)
{
	const struct record_options *o = r->options;
	struct sampling sampling = o->sampling;
	if (address_filters_resolve(o->events, err) < 0)
		return -1;
	if (!o->pages && has_large_rings())
		sampling.stack_most = ring_bytes(STACKS_BY_RATE) / STACKS_LEAST;
	const struct measurement_options options = {
		.sampling = sampling, .target = o->target, .events = o->events, .command = o->command,
		.command_to_stderr = output_is_pipe(o->output), .user_signal = o->switching.on_signal || o->trace.snapshot, .trace = &o->trace,
		.warnings = &r->recording->warnings, .notes = &r->recording->notes,
	};
	int status = measurement_open(&r->measurement, &options, err);
	r->recording->refused = r->measurement.refused;
	r->recording->stack_bytes = configure_stack_bytes(o->events);
	r->recording->missing_threads = r->measurement.counters.missing_threads;
	return status < 0 ? status : sample_filters_open(&r->filters, &r->measurement, err);
}

static int open_rings(struct recorder *r, struct error *err)
{
	struct measurement *m = &r->measurement;
	const struct reader_groups *groups = r->options->groups;
	bool unwinds = configure_unwinds(m->events);
	if (check_ring_readers(r, err) < 0)
		return -1;
	r->recording->ring_pages = ring_pages(r);
	if (measurement_map(m, r->recording->ring_pages, !groups || unwinds, err) < 0)
		return -1;
	struct ring_clock clock;
	if (m->trace.kind != TRACE_NONE && m->counters.rings.count && !ring_clock(&m->counters.rings.items[0], &clock))
		str_printf(&r->recording->warnings, "Warning:\nIntel %s: TSC not available\n",
			m->trace.kind == TRACE_INTEL_PT ? "Processor Trace" : "BTS");
	r->seen = memory_zero(m->counters.rings.count + 1, sizeof *r->seen);
	r->maps = output_is_pipe(r->options->output) ? NULL : build_reader_new(!wants_builds(r));
	r->builds = wants_builds(r) ? r->maps : NULL;
	if (unwinds) {
		const struct unwinding_options how = { .buildid_dir = r->options->buildid_dir, .budget = r->options->budget, .builds = r->builds,
			.by_ring = groups, .threads = groups ? (unsigned)groups->list.count : 0, .no_guess = r->options->no_guess,
			.no_join = r->options->no_join };
		r->unwinding = unwinding_new(m->events, &m->counters, &how);
	}
	return 0;
}

/* All facts but those of the second reading. tracing: receives the body of TRACING_DATA. */
static struct feature_facts facts_of(struct recorder *r, struct writer *tracing)
{
	struct measurement *m = &r->measurement;
	uint64_t from = r->compressor.in + r->read_totals.compressed_from, to = r->compressor.out + r->read_totals.compressed_to;
	struct feature_facts facts = {
		.version = r->options->version, .command = r->options->whole_command, .events = m->events, .evlist = &r->evlist,
		.programs = &m->programs, .use_clockid = m->sampling.use_clockid, .clockid = m->sampling.clockid,
		.directory = r->options->groups, .compressed = r->options->compression != 0,
		.compression_level = (uint32_t)r->options->compression, .compression_ratio = to ? (uint32_t)((from * 10 / to + 5) / 10) : 0,
	};
	bool tracepoints = false;
	facts.traces = m->trace.kind != TRACE_NONE;
	facts.trace_index = (struct span){ (const uint8_t *)r->traces.index.items, r->traces.index.count * sizeof *r->traces.index.items };
	for (size_t i = 0; i < m->events->list.count; i++) {
		tracepoints |= m->events->list.items[i].system != NULL;
		facts.branch_stack |= (m->events->list.items[i].attr.sample_type & SAMPLE_BRANCH_STACK) != 0;
	}
	if (m->counters.rings.count)
		facts.ring_bytes = (uint32_t)(m->counters.rings.items[0].size + (size_t)sysconf(_SC_PAGESIZE));
	if (tracepoints && tracing_data_make(tracing, m->events, NULL) == 0)
		facts.tracing = (struct span){ (const uint8_t *)tracing->buffer, tracing->len };
	return facts;
}

void recorder_flush_made(struct recorder *r)
{
	data_writer_add(&r->writer, r->made.buffer, r->made.len);
	r->made.len = 0;
}

/* A pipe has records instead of a header. */
static void write_pipe_head(struct recorder *r)
{
	struct writer tracing;
	struct features features;
	writer_open(&tracing, -1, 0);
	struct feature_facts facts = facts_of(r, &tracing);
	synthesize_attributes(&r->made, &r->evlist);
	features_make(&features, &facts);
	features_records(&features, &r->made);
	if (facts.tracing.len) {
		size_t at = record_open(&r->made, RECORD_HEADER_TRACING_DATA, 0);
		size_t padded = (facts.tracing.len + 7) & ~(size_t)7;
		out_u32(&r->made, (uint32_t)padded);
		record_close(&r->made, at, 0);
		writer_add(&r->made, facts.tracing.data, facts.tracing.len);
		writer_pad(&r->made, '\0', padded - facts.tracing.len);
	}
	features_fini(&features);
	writer_fini(&tracing);
}

/* Records about what existed before. */
static void write_existing(struct recorder *r)
{
	const struct record_options *options = r->options;
	struct synthesis synthesis = {
		.map_timeout_ms = options->map_timeout_ms, .no_tasks = options->no_tasks, .no_maps = options->no_maps,
		.no_cgroups = options->no_cgroups, .command_runs = r->started, .cache = options->user_cache,
	};
	existing_write(&synthesis, &r->measurement, r->output.pipe, &r->made);
	r->recording->slow_maps = synthesis.truncated;
}

/* Unwinding needs those records before the first sample, wherever the file has them. head: the bytes before them. */
static void pass_existing(struct recorder *r, size_t head)
{
	if (r->options->tail_synthesis)
		write_existing(r);
	unwinding_existing(r->unwinding, (struct span){ (const uint8_t *)r->made.buffer + head, r->made.len - head });
	if (r->options->tail_synthesis)
		r->made.len = head;
}

/* Writes the part of a file before its first sample. */
static int begin_file(struct recorder *r, struct error *err)
{
	if (r->options->compression && compressor_open(&r->compressor, r->options->compression, err) < 0)
		return -1;
	if (data_writer_open(&r->writer, r->output.fd, r->output.pipe, &r->evlist, err) < 0)
		return -1;
	if (r->output.pipe)
		write_pipe_head(r);
	size_t head = r->made.len;
	if (!r->options->tail_synthesis)
		write_existing(r);
	if (r->unwinding && !r->files.count)
		pass_existing(r, head);
	build_reader_see_all(r->maps, (struct span){ (const uint8_t *)r->made.buffer, r->made.len });
	recorder_flush_made(r);
	return data_writer_flush(&r->writer, err);
}

/* Copies the kernel's current code into the folder. */
static int copy_kernel(const struct recorder *r, struct error *err)
{
	CLEANUP_FD int to = checked_make(r->output.inside, "kcore_dir", S_IRWXU, err);
	return to < 0 ? -1 : kcore_copy("/proc", to, err);
}

static int open_output(struct recorder *r, struct error *err)
{
	const struct record_options *o = r->options;
	if (o->kcore && access("/proc/kcore", R_OK) != 0)
		return error_set(err, ERROR_UNSUPPORTED, "ERROR: kcore is not readable.");
	if (o->kcore && (output_is_pipe(o->output) || o->switching.on_signal || o->switching.bytes || o->switching.seconds))
		return error_set(err, ERROR_USAGE, "--kcore makes one folder: it goes neither to a pipe nor with --switch-output");
	if ((o->groups || o->kcore ? output_open_folder : output_open)(&r->output, o->output, err) < 0)
		return -1;
	if (o->kcore && copy_kernel(r, err) < 0)
		return -1;
	snprintf(r->recording->path, sizeof r->recording->path, "%s", r->output.pipe ? "-" : r->output.path);
	counters_evlist(&r->measurement.counters, r->measurement.events, configure_written, &r->evlist);
	return begin_file(r, err);
}

static int set_realtime(const struct recorder *r, struct error *err)
{
	const struct sched_param parameter = { .sched_priority = r->options->realtime };
	if (!r->options->realtime || sched_setscheduler(0, SCHED_FIFO, &parameter) == 0)
		return 0;
	return error_set(err, ERROR_SYSTEM, "Could not set realtime priority: %s", strerror(errno));
}

bool recorder_is_frequent(const struct recorder *r)
{
	const struct events *events = r->measurement.events;
	for (size_t i = 0; i < events->list.count; i++)
		if (attr_flag(&events->list.items[i].attr, ATTR_FREQ) && is_busy(&events->list.items[i]))
			return true;
	return false;
}

/* While rings are read: on a machine without an idle CPU, a recorder that waits for its turn loses records. The user's own choice of a
 * priority stays, and users without the right to raise it record as before. Very frequent samples can occupy a machine whatever the
 * recorder does: there it takes no time from the others before it comes late. Ring readers have priorities of their own. */
static void open_urgency(struct recorder *r)
{
	urgency_open(&r->urgency, !r->options->realtime && (!r->options->groups || r->unwinding), !recorder_is_frequent(r));
}

/* Writes the header and the features after the records. */
static int finish_file(struct recorder *r, struct error *err)
{
	struct recording *recording = r->recording;
	const struct record_options *options = r->options;
	struct recording_facts found = { 0 };
	struct writer tracing, ids;
	struct features features;
	writer_open(&tracing, -1, 0);
	writer_open(&ids, -1, 0);
	struct feature_facts facts = facts_of(r, &tracing);
	int status = 0;
	struct stat st;
	/* a device cannot be read again */
	bool readable = fstat(r->output.fd, &st) == 0 && S_ISREG(st.st_mode), traces = r->measurement.trace.kind != TRACE_NONE;
	facts.perf_maps = build_reader_maps(r->maps);
	if (readable && (!options->no_build_ids || options->time_boundary || traces)) {
		const struct feature_bodies none = { 0 };
		const struct build_ids_options how = { .all = (options->all_build_ids && !options->time_boundary) || traces, .builds = r->builds };
		status = data_writer_finish(&r->writer, &r->evlist, &none, err);
		if (status == 0)
			status = recording_facts(&found, r->output.path, &how, err);
		build_ids_body(&found, &ids);
		facts.first_time = found.first_time;
		facts.last_time = found.last_time;
		if (!options->no_build_ids)
			facts.build_ids = (struct span){ (const uint8_t *)ids.buffer, ids.len };
		recording->samples = traces ? 0 : found.samples; /* a trace has more than its file's samples */
		recording->cut_traces = found.cut_traces;
		recording->trace_pieces = found.trace_pieces;
		recording->lost_events = found.lost_events;
		recording->user_chains = found.user_chains;
		recording->short_chains = found.short_chains;
		recording->lost_chunks = found.lost_chunks;
	}
	if (!r->measurement.sampling.no_bpf_event)
		bpf_programs_read(&r->measurement.programs);
	features_make(&features, &facts);
	const struct feature_bodies bodies = features_bodies(&features);
	if (status == 0)
		status = data_writer_finish(&r->writer, &r->evlist, &bodies, err);
	if (status == 0 && options->indexed && readable)
		status = recording_add_index(r->output.path, r->output.fd, err);
	if (status == 0 && options->buildid_dir && !options->no_build_ids)
		buildid_cache_add(options->buildid_dir, &found, options->debuginfod);
	recording_facts_fini(&found);
	features_fini(&features);
	writer_fini(&ids);
	writer_fini(&tracing);
	return status;
}

enum { SUFFIX_SIZE = 64, HUNDREDTH_NS = 10000000, NAME_ATTEMPTS_MAX = 500 };

/* The time as ".2024010203040567", in local time. */
static int time_suffix(char suffix[static SUFFIX_SIZE], struct error *err)
{
	char stamp[32];
	struct timespec now;
	struct tm local;
	clock_gettime(CLOCK_REALTIME, &now);
	if (!localtime_r(&now.tv_sec, &local) || !strftime(stamp, sizeof stamp, "%Y%m%d%H%M%S", &local))
		return error_set(err, ERROR_SYSTEM, "cannot tell the time");
	unsigned hundredths = (unsigned)(now.tv_nsec / HUNDREDTH_NS) % 100;
	snprintf(suffix, SUFFIX_SIZE, ".%s%02u", stamp, hundredths);
	return 0;
}

/* Two files may be finished within a hundredth of a second: the second waits for a name of its own. */
static int add_time_to_name(struct recorder *r, struct error *err)
{
	char suffix[SUFFIX_SIZE];
	for (int attempt = 0; attempt < NAME_ATTEMPTS_MAX; attempt++) {
		int renamed = time_suffix(suffix, err) < 0 ? -1 : output_rename(&r->output, suffix, err);
		if (renamed != OUTPUT_NAME_TAKEN)
			return renamed;
		nanosleep(&(struct timespec){ .tv_nsec = HUNDREDTH_NS }, NULL);
	}
	return error_set(err, ERROR_SYSTEM, "cannot name %s: there is a file %s%s", r->output.path, r->output.path, suffix);
}

void recorder_say(struct recorder *r, const char *format, ...)
{
	struct str line = { 0 };
	va_list args;
	if (!r->options->say)
		return;
	va_start(args, format);
	str_vprintf(&line, format, args);
	va_end(args);
	r->options->say(r->options->say_context, str_text(&line));
	str_fini(&line);
}

/* Adds a finished file; the oldest is removed if there are too many. */
static void add_file(struct recorder *r)
{
	unsigned most = r->options->switching.files;
	vec_push(&r->files, memory_string(r->output.path));
	while (most && r->files.count > most) {
		output_remove(&r->output, r->files.items[0]);
		free(r->files.items[0]);
		memmove(&r->files.items[0], &r->files.items[1], --r->files.count * sizeof r->files.items[0]);
	}
}

/* Finishes the file under a name with the time. */
static int finish_switched_file(struct recorder *r, struct error *err)
{
	if (r->options->tail_synthesis)
		write_existing(r);
	recorder_flush_made(r);
	if (data_writer_flush(&r->writer, err) < 0 || finish_file(r, err) < 0 || add_time_to_name(r, err) < 0)
		return -1;
	add_file(r);
	return output_close(&r->output, err);
}

int recorder_switch(struct recorder *r, struct error *err)
{
	r->switch_now = false;
	urgency_pause(&r->urgency);
	if (loop_snapshot(r, err) < 0 || finish_switched_file(r, err) < 0)
		return -1;
	recorder_say(r, "[ perf record: dump data: Woken up %llu times ]",
		(unsigned long long)(r->recording->wakeups - r->wakeups_before));
	recorder_say(r, "[ perf record: Dump %s ]", r->output.path);
	r->wakeups_before = r->recording->wakeups;
	data_writer_fini(&r->writer);
	vec_clear(&r->traces.index);
	compressor_close(&r->compressor);
	if (output_open(&r->output, r->options->output, err) < 0 || begin_file(r, err) < 0)
		return -1;
	urgency_resume(&r->urgency);
	return 0;
}

/* A pipe has no place for what is known at the end alone, but records. */
static void write_pipe_end(struct recorder *r)
{
	if (r->measurement.sampling.no_bpf_event)
		return;
	bpf_programs_read(&r->measurement.programs);
	programs_records(&r->measurement.programs, &r->made);
}

static int complete_recording(struct recorder *r, struct error *err)
{
	struct recording *recording = r->recording;
	measurement_report_cpus(&r->measurement, &recording->warnings);
	build_reader_stop(r->maps);
	/* now: samples that are lost after this were not to be recorded */
	recording->lost_samples += existing_write_lost(&r->measurement, &r->made);
	recording->filtered_samples += sample_filters_write(&r->filters, &r->measurement, &r->made);
	off_cpu_write(&r->off_cpu, &r->measurement, &r->evlist, &r->made, &recording->warnings);
	if (!r->trigger.open && loop_snapshot(r, err) < 0)
		return -1;
	if (r->options->trace.snapshot_at_exit) {
		trace_writing_stop(&r->measurement);
		if (trace_writing_snapshot(&r->traces, &r->measurement, &r->writer, true, err) < 0)
			return -1;
	}
	if (r->options->tail_synthesis)
		write_existing(r);
	if (r->output.pipe)
		write_pipe_end(r);
	recorder_flush_made(r);
	if (data_writer_flush(&r->writer, err) < 0)
		return -1;
	if (r->unwinding)
		recording->unwound = *unwinding_counts(r->unwinding);
	if (r->ring_files && ring_files_end(r->ring_files, err) < 0)
		return -1;
	if (r->ring_files)
		r->read_totals = ring_files_totals(r->ring_files);
	recording->wakeups -= r->wakeups_before;
	recording->compressed_from = r->compressor.in + r->read_totals.compressed_from;
	recording->compressed_to = r->compressor.out + r->read_totals.compressed_to;
	recording->bytes = data_writer_size(&r->writer) + r->read_totals.bytes;
	recording->wakeups += r->read_totals.wakeups;
	if (r->output.pipe)
		return 0;
	if (finish_file(r, err) < 0)
		return -1;
	recording->bytes += r->writer.data_offset; /* to the end of the records, as perf counts */
	bool timed = r->options->time_in_name;
	if (timed)
		snprintf(recording->path, sizeof recording->path, "%.4000s.<timestamp>", r->output.path);
	if (timed && add_time_to_name(r, err) < 0)
		return -1;
	if (timed)
		add_file(r);
	snprintf(timed ? recording->dumped : recording->path, sizeof recording->dumped, "%s", r->output.path);
	return output_close(&r->output, err);
}

static int record_target(struct recorder *r, struct error *err)
{
	struct measurement *m = &r->measurement;
	if (open_measurement(r, err) < 0 || (r->options->off_cpu.wanted && off_cpu_open(&r->off_cpu, &r->options->off_cpu, m, err) < 0))
		return -1;
	if (loop_open(r, err) < 0 || open_rings(r, err) < 0)
		return -1;
	if (open_output(r, err) < 0 || set_realtime(r, err) < 0)
		return -1;
	open_urgency(r);
	if (loop_start(r, err) < 0 || off_cpu_start(&r->off_cpu, err) < 0)
		return -1;
	if (measurement_start(m, err) < 0) {
		char why[sizeof err->text];
		snprintf(why, sizeof why, "%s", strerror(err->sys));
		return error_set(err, ERROR_USAGE, "Failed to collect '%.128s' for the '%.128s' workload: %.128s", m->events->list.items[0].name,
			r->options->command[0], why);
	}
	r->started = true;
	if (m->workload.pid && !r->builds) /* without a look at every new mapping, the command alone is known */
		build_reader_add_maker(r->maps, m->workload.pid);
	int status = loop_run(r, err);
	urgency_close(&r->urgency);
	measurement_stop(m);
	/* the file is complete before the command has ended, which may take long */
	return status < 0 ? status : complete_recording(r, err);
}

int record_run(struct recording *recording, const struct record_options *options, struct error *err)
{
	struct recorder r = {
		.options = options, .recording = recording, .timer = -1, .switch_timer = -1,
		.output = { .fd = -1, .at = -1, .inside = -1 },
	};
	*recording = (struct recording){ 0 };
	writer_open(&r.made, -1, 0);
	writer_open(&r.packed, -1, 0);
	writer_open(&r.unwound, -1, 0);
	trace_writing_open(&r.traces);
	struct error why = { 0 };
	int status = record_target(&r, &why);
	urgency_close(&r.urgency);
	measurement_end_command(&r.measurement);
	recording->has_status = r.started && r.measurement.workload.reaped;
	recording->status = r.measurement.workload.status;
	bool unread = status < 0 && r.output.pipe && why.sys == EPIPE;
	if (status < 0 && err)
		*err = why;
	if (status < 0 && !r.started && (r.output.fd >= 0 || r.output.renamed))
		output_discard(&r.output);
	output_close(&r.output, NULL);
	ring_readers_free(r.ring_readers);
	ring_files_free(r.ring_files);
	unwinding_free(r.unwinding);
	build_reader_free(r.maps);
	free(r.seen);
	loop_close(&r);
	sample_filters_close(&r.filters);
	off_cpu_close(&r.off_cpu);
	measurement_close(&r.measurement);
	recording->signal = unread ? SIGPIPE : r.measurement.signals.ended_by;
	compressor_close(&r.compressor);
	data_writer_fini(&r.writer);
	evlist_fini(&r.evlist);
	for (size_t i = 0; i < r.files.count; i++)
		free(r.files.items[i]);
	vec_fini(&r.files);
	writer_fini(&r.made);
	writer_fini(&r.packed);
	writer_fini(&r.unwound);
	trace_writing_fini(&r.traces);
	return status;
}
