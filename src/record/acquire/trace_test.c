#include "record/acquire/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/acquire/record_out.h"
#include "os/tsc.h"
#include "record/acquire/trace_records.h"
#include "unit.h"

static const char *const files[][2] = {
	{ "cpu", "type 4" }, { "software", "type 1" }, { "intel_bts", "type 9" }, { "intel_pt", "type 8" },
	{ "intel_pt", "max_nonturbo_ratio 28" }, { "intel_pt/caps", "topa_multiple_entries 1" }, { "intel_pt/caps", "psb_periods 3f" },
	{ "intel_pt/caps", "mtc_periods 249" }, { "intel_pt/caps", "event_trace 1" }, { "intel_pt/format", "pt config:0" },
	{ "intel_pt/format", "branch config:13" }, { "intel_pt/format", "tsc config:10" }, { "intel_pt/format", "mtc config:9" },
	{ "intel_pt/format", "mtc_period config:14-17" }, { "intel_pt/format", "psb_period config:24-27" },
};

/* A machine that traces, below a temporary folder, and the events of a test. */
struct tracing {
	char root[40];
	struct events events;
	struct trace trace;
	struct trace_options options;
	struct sampling sampling;
	struct target target;
	struct error err;
};

static struct tracing *tracing_new(const char *events)
{
	struct tracing *t = calloc(1, sizeof *t);
	strcpy(t->root, "/tmp/trace-test-XXXXXX");
	EXPECT(mkdtemp(t->root) != NULL);
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		char path[256], name[64], folder[128];
		sscanf(files[i][1], "%63s", name);
		snprintf(folder, sizeof folder, "%s/%s", t->root, files[i][0]);
		mkdir(folder, 0755);
		snprintf(path, sizeof path, "%s/%s", folder, name);
		FILE *file = fopen(path, "w");
		if (!file && strchr(files[i][0], '/')) {
			unit_fail(__FILE__, __LINE__, "%s", path);
			continue;
		}
		fprintf(file, "%s\n", files[i][1] + strlen(name) + 1);
		fclose(file);
	}
	t->events.pmus.root = t->root;
	EXPECT_INT(events_parse(&t->events, events, NULL), 0);
	t->sampling.freq = SAMPLING_FREQ_DEFAULT;
	t->target.per_thread = true;
	cpus_add(&t->target.cpus, -1);
	cpus_add(&t->target.online, 0);
	t->options.ring_pages_given = true;
	return t;
}

static int configure(struct tracing *t)
{
	return trace_configure(&t->trace, &t->events, &t->options, &t->sampling, &t->target, NULL, &t->err);
}

static void tracing_free(struct tracing *t)
{
	char command[64];
	snprintf(command, sizeof command, "rm -rf '%s'", t->root);
	EXPECT_INT(system(command), 0);
	events_fini(&t->events);
	cpus_fini(&t->target.cpus);
	cpus_fini(&t->target.online);
	free(t);
}

static void expect_refused(const char *events, struct trace_options options, const char *why)
{
	struct tracing *t = tracing_new(events);
	t->options = options;
	EXPECT(configure(t) < 0);
	EXPECT_STR(t->err.text, why);
	EXPECT_INT(t->err.sys, EINVAL);
	tracing_free(t);
}

TEST("requests that contradict each other are refused, each with its reason")
{
	expect_refused("intel_pt//,intel_bts//", (struct trace_options){ 0 }, "intel_pt and intel_bts may not be used together");
	expect_refused("intel_pt//,intel_pt//", (struct trace_options){ 0 }, "There may be only one intel_pt event");
	expect_refused("cpu-clock", (struct trace_options){ .snapshot = true }, "No AUX area tracing to snapshot");
	expect_refused("cpu-clock", (struct trace_options){ .sample = true }, "No AUX area event to sample");
	expect_refused("{intel_pt//,cpu-clock}", (struct trace_options){ .sample = true, .snapshot = true },
		"Snapshot mode (intel_pt PMU) and sample trace cannot be used together");
	expect_refused("{intel_pt//,cpu-clock}", (struct trace_options){ .sample = true, .sample_size = 61441 },
		"AUX area sample size 61441 too big, max. 61440");
	expect_refused("{intel_bts//,cpu-clock}", (struct trace_options){ .sample = true }, "Intel BTS does not support AUX area sampling");
	expect_refused("intel_pt//", (struct trace_options){ .snapshot = true, .snapshot_size = 65537, .pages = 16 },
		"Snapshot size 65537 must not be greater than AUX area tracing mmap size 65536");
	expect_refused("intel_pt//", (struct trace_options){ .pages = 1 },
		"Invalid mmap size for Intel Processor Trace: must be at least 8KiB and a power of 2");
}

TEST("without a trace and its options nothing changes")
{
	struct tracing *t = tracing_new("cpu-clock,faults");
	EXPECT_INT(configure(t), 0);
	EXPECT_INT(t->trace.kind, TRACE_NONE);
	EXPECT_INT(t->events.list.count, 2);
	EXPECT_INT(t->trace.pages, 0);
	EXPECT(!t->sampling.trace && !trace_event(&t->trace, &t->events));
	tracing_free(t);
}

TEST("the trace comes first, wakes its reader at quarters of the area, and a follower carries the side-band")
{
	struct tracing *t = tracing_new("cpu-clock,intel_pt//u");
	t->options.pages = 64;
	EXPECT_INT(configure(t), 0);
	EXPECT_INT(t->trace.kind, TRACE_INTEL_PT);
	EXPECT(t->events.list.items[0].traces && t->events.list.items[0].leader == 0);
	EXPECT_INT(t->events.list.items[0].attr.aux_watermark, 16 * sysconf(_SC_PAGESIZE));
	EXPECT_INT(configure_tracking(&t->events), 2);
	EXPECT(!t->events.list.items[2].everywhere && !t->events.list.items[2].immediate);
	EXPECT_INT(t->trace.switches, TRACE_SWITCHES_NONE);
	tracing_free(t);
}

TEST("an event whose output goes into the trace joins the trace's group, with those between them, and others do not")
{
	struct tracing *t = tracing_new("intel_pt//u,cpu-clock,faults/aux-output/,minor-faults");
	EXPECT_INT(configure(t), 0);
	for (uint32_t i = 0; i < 3; i++)
		EXPECT_INT(t->events.list.items[i].leader, 0);
	EXPECT_INT(t->events.list.items[3].leader, 3);
	tracing_free(t);
	t = tracing_new("intel_pt//u,cpu-clock,faults");
	EXPECT_INT(configure(t), 0);
	for (uint32_t i = 0; i < 3; i++)
		EXPECT_INT(t->events.list.items[i].leader, i);
	tracing_free(t);
}

TEST("a snapshot's size chooses that of the area, and what is compared is twice the period of PSB packets")
{
	struct tracing *t = tracing_new("intel_pt//u");
	t->options.snapshot = true;
	t->options.snapshot_size = 300000;
	EXPECT_INT(configure(t), 0);
	EXPECT_INT(t->trace.pages * (size_t)sysconf(_SC_PAGESIZE), 524288);
	EXPECT_INT(t->trace.snapshot_size, 300000);
	EXPECT_INT(t->trace.reference, 2 * 16384);
	EXPECT_INT(t->events.list.items[0].attr.aux_watermark, 0);
	tracing_free(t);
}

TEST("samples of a trace have as many PSB packets as possible, unless the user chose their period")
{
	struct tracing *t = tracing_new("{intel_pt//,cpu-clock}:u");
	t->options.sample = true;
	EXPECT_INT(configure(t), 0);
	EXPECT_INT(t->events.list.items[0].attr.config >> 24 & 15, 0);
	EXPECT_INT(t->events.list.items[1].attr.aux_sample_size, 4096);
	EXPECT(t->events.list.items[1].more_fields & SAMPLE_AUX);
	tracing_free(t);
	t = tracing_new("intel_pt/psb_period=2/u,cpu-clock/aux-sample-size=512/u");
	EXPECT_INT(configure(t), 0);
	EXPECT_INT(t->events.list.items[0].attr.config >> 24 & 15, 2);
	EXPECT_INT(t->events.list.items[1].leader, 0);
	EXPECT_INT(t->trace.pages, 1);
	tracing_free(t);
}

TEST("the record for decoders has the values of the PMU, the filter and the padding")
{
	struct tracing *t = tracing_new("intel_pt//u");
	struct counters counters = { 0 };
	struct writer out;
	uint64_t values[32];
	writer_open(&out, -1, 0);
	EXPECT_INT(configure(t), 0);
	t->events.list.items[0].filter = "filter 0x1000/0x10";
	trace_info_record(&t->trace, &t->events, &counters, &out);
	EXPECT_INT(out.len, 16 + 17 * 8 + 24 + 8);
	memcpy(values, out.buffer, out.len);
	EXPECT_INT(load_u32(&values[1]), TRACE_INTEL_PT);
	EXPECT_INT(values[2], 8);
	EXPECT_INT(values[7], 1 << 10);
	for (int i = 3; i < 7; i++)
		EXPECT_INT(values[i], 0); /* without a ring the clock is unknown */
	EXPECT_INT(values[8], 0);
	EXPECT_INT(values[9], t->trace.switches);
	EXPECT_INT(values[10], t->trace.snapshot);
	EXPECT_INT(values[11], t->trace.per_cpu);
	uint32_t n, d;
	tsc_crystal_ratio(&n, &d);
	EXPECT_INT(values[14], n);
	EXPECT_INT(values[15], d);
	EXPECT_INT(values[16], 0);
	EXPECT_INT(values[12], 1 << 9);
	EXPECT_INT(values[13], 15 << 14);
	EXPECT_INT(values[17], 28);
	EXPECT_INT(values[18], 18);
	EXPECT_STR((const char *)&values[19], "filter 0x1000/0x10");
	EXPECT_INT(values[22], 1);
	writer_fini(&out);
	tracing_free(t);
}

TEST("a piece names its place among the CPUs, or the thread of its ring")
{
	struct counters counters = { 0 };
	struct target target = { 0 };
	struct writer out;
	uint32_t words[12];
	const struct aux_piece piece = { .offset = 77, .size = 13 };
	writer_open(&out, -1, 0);
	for (int32_t cpu = 2; cpu < 5; cpu++)
		cpus_add(&counters.cpus, cpu);
	vec_push(&target.threads, ((struct target_thread){ .tid = 100 }));
	vec_push(&target.threads, ((struct target_thread){ .tid = 101 }));
	vec_push(&counters.rings, ((struct ring){ .fd = 50, .cpu = 4 }));
	vec_push(&counters.rings, ((struct ring){ .fd = 51, .cpu = -1 }));
	vec_push(&counters.list, ((struct counter){ .fd = 51, .tid = 101, .cpu = -1 }));
	trace_piece_record(&counters, &target, 0, &piece, &out);
	memcpy(words, out.buffer, sizeof words);
	EXPECT_INT(load_u64(&words[2]), 16);
	EXPECT_INT(load_u64(&words[4]), 77);
	EXPECT_INT(words[8], 2);
	EXPECT_INT(words[9], 100);
	EXPECT_INT(words[10], 4);
	out.len = 0;
	trace_piece_record(&counters, &target, 1, &piece, &out);
	memcpy(words, out.buffer, sizeof words);
	EXPECT_INT(words[8], 1);
	EXPECT_INT(words[9], 101);
	EXPECT_INT(words[10], -1u);
	EXPECT_INT(words[11], 0);
	vec_push(&counters.rings, ((struct ring){ .fd = 52, .cpu = -1 }));
	vec_push(&counters.list, ((struct counter){ .fd = 52, .tid = 100, .cpu = -1 }));
	counters.rings.items[0].cpu = 2;
	for (size_t ring = 0; ring < 3; ring += 2) {
		out.len = 0;
		trace_piece_record(&counters, &target, ring, &piece, &out);
		EXPECT_INT(out.len, sizeof words);
		memcpy(words, out.buffer, sizeof words);
		EXPECT_INT(words[8], 0);
		EXPECT_INT(words[9], 100);
		EXPECT_INT((int32_t)words[10], ring ? -1 : 2);
	}
	writer_fini(&out);
	cpus_fini(&counters.cpus);
	vec_fini(&counters.rings);
	vec_fini(&counters.list);
	vec_fini(&target.threads);
}
