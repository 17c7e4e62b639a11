#include "cmd/record/options.h"

#include <stdio.h>
#include <time.h>

#include "abi/attr.h"
#include "cmd/test_words.h"
#include "unit.h"

/* The options of a command line, and what options_parse returns. */
static int parse(struct record_command *o, const char *text, struct error *err)
{
	static char line[256];
	char *words[WORDS_MAX];
	snprintf(line, sizeof line, "%s", text);
	int count = words_split(line, words);
	*o = (struct record_command){ 0 };
	*err = (struct error){ 0 };
	return options_parse(record_table, o, count - 1, (const char **)words + 1, 0, err);
}

static void release(struct record_command *o)
{
	vec_fini(&o->words);
	vec_fini(&o->windows);
	reader_groups_fini(&o->groups);
}

static void expect_refused(const char *text, const char *why)
{
	struct record_command o;
	struct error err;
	EXPECT(parse(&o, text, &err) < 0);
	EXPECT_STR(err.text, why);
	release(&o);
}

/* "seconds bytes signal" of --switch-output. */
static const char *switches(const char *text)
{
	static char shown[64];
	struct record_command o;
	struct error err;
	EXPECT_INT(parse(&o, text, &err), 0);
	snprintf(shown, sizeof shown, "%llu %llu %d%s", (unsigned long long)o.record.switching.seconds,
		(unsigned long long)o.record.switching.bytes, o.record.switching.on_signal, o.refused ? " refused" : "");
	release(&o);
	return shown;
}

TEST("record: --switch-output takes a signal, a size or a time; the last one counts")
{
	EXPECT_STR(switches("--switch-output"), "0 0 1");
	EXPECT_STR(switches("--switch-output=signal"), "0 0 1");
	EXPECT_STR(switches("--switch-output=30s"), "30 0 0");
	EXPECT_STR(switches("--switch-output=2m"), "120 0 0");
	EXPECT_STR(switches("--switch-output=3h"), "10800 0 0");
	EXPECT_STR(switches("--switch-output=1d"), "86400 0 0");
	EXPECT_STR(switches("--switch-output=100M"), "0 104857600 0");
	EXPECT_STR(switches("--switch-output=signal --switch-output=1K"), "0 1024 0");
	EXPECT_STR(switches("--switch-output=1K --no-switch-output"), "0 0 0");
	EXPECT_STR(switches("--switch-output=100"), "0 0 0 refused");
	EXPECT_STR(switches("--switch-output=0s"), "0 0 0 refused");
	EXPECT_STR(switches("--switch-output=30sx"), "0 0 0 refused");
	EXPECT_STR(switches("--switch-output=2147483647s"), "0 0 0 refused");
	EXPECT_STR(switches("--switch-output=2147483646s"), "2147483646 0 0");
}

/* "delay from-to from-to" of -D. */
static const char *delays(const char *text)
{
	static char shown[128];
	struct record_command o;
	struct error err;
	EXPECT_INT(parse(&o, text, &err), 0);
	int length = snprintf(shown, sizeof shown, "%d", o.record.sampling.delay_ms);
	for (size_t i = 0; i < o.windows.count; i++)
		length += snprintf(shown + length, sizeof shown - (size_t)length, " %llu-%llu",
			(unsigned long long)o.windows.items[i].from_ms, (unsigned long long)o.windows.items[i].to_ms);
	release(&o);
	return shown;
}

TEST("record: -D takes a delay, or ranges in order, of which the last option's count")
{
	static const char why[] = "-D takes milliseconds, -1, or ranges in order such as 10-20,30-40";
	static const char *const wrong[] = { "-D -2", "-D x", "-D 10-", "-D 10-10", "-D 10-20,20-30", "-D 10-20x", "-D 2147483648",
		"-D 1-2147483648", "-D 10-20,5-8", "-D 10-20,-30" };
	EXPECT_STR(delays("-D 10"), "10");
	EXPECT_STR(delays("-D 2147483647"), "2147483647");
	EXPECT_STR(delays("-D -1"), "-1");
	EXPECT_STR(delays("-D 0"), "0");
	EXPECT_STR(delays("-D 10-20"), "-1 10-20");
	EXPECT_STR(delays("-D 10-20,21-30"), "-1 10-20 21-30");
	EXPECT_STR(delays("-D 10-20 -D 5-6"), "-1 5-6");
	EXPECT_STR(delays("-D 5 --no-delay"), "0");
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		expect_refused(wrong[i], why);
}

TEST("record: -z takes a level from 1 to 22, and 1 for what is below")
{
	static const struct { const char *text; int level; } rows[] = { { "", 0 }, { "-z", 1 }, { "-z22", 22 }, { "-z23", 22 }, { "-z7", 7 },
		{ "-z0", 1 }, { "-z-3", 1 }, { "--compression-level=5", 5 }, { "-z5 --no-compression-level", 0 } };
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct record_command o;
		struct error err;
		EXPECT_INT(parse(&o, rows[i].text, &err), 0);
		EXPECT_INT(o.record.compression, rows[i].level);
		release(&o);
	}
}

TEST("record: --synth takes what of running processes is recorded")
{
	static const struct { const char *text; bool tasks, maps, cgroups; } rows[] = { { "", 1, 1, 1 }, { "--synth=no", 0, 0, 0 },
		{ "--synth=task", 1, 0, 0 }, { "--synth=mmap", 1, 1, 0 }, { "--synth=cgroup", 0, 0, 1 }, { "--synth=all", 1, 1, 1 },
		{ "--synth=task,cgroup", 1, 0, 1 }, { "--synth=no,mmap", 1, 1, 0 }, { "--synth=mmap,", 1, 1, 0 } };
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct record_command o;
		struct error err;
		EXPECT_INT(parse(&o, rows[i].text, &err), 0);
		EXPECT(o.record.no_tasks != rows[i].tasks && o.record.no_maps != rows[i].maps && o.record.no_cgroups != rows[i].cgroups);
		release(&o);
	}
	expect_refused("--synth=tasks", "--synth takes no, all, task, mmap or cgroup, not tasks");
	expect_refused("--synth=task,x,mmap", "--synth takes no, all, task, mmap or cgroup, not x,mmap");
	expect_refused("--no-synth", "--synth cannot be undone");
}

TEST("record: sizes of rings, of AUX areas, of snapshots and of files")
{
	struct record_command o;
	struct error err;
	EXPECT_INT(parse(&o, "-m 8,16 -S4096 --max-size=2M --mmap-flush=3K --aux-sample=512", &err), 0);
	EXPECT(o.record.pages == 8 && o.record.trace.pages == 16 && o.record.trace.ring_pages_given && !o.pages_rounded && !o.area_rounded);
	EXPECT(o.record.trace.snapshot && !o.record.trace.snapshot_at_exit && !o.snapshot_refused);
	EXPECT_INT(o.record.trace.snapshot_size, 4096);
	EXPECT_INT(o.record.size_limit, 2 << 20);
	EXPECT_INT(o.record.flush_bytes, 3 << 10);
	EXPECT(o.record.trace.sample && o.record.trace.sample_size == 512);
	release(&o);
	EXPECT_INT(parse(&o, "-m ,3 -Se --mmap-flush=x --aux-sample", &err), 0);
	EXPECT(o.record.pages == 0 && o.record.trace.pages == 4 && !o.record.trace.ring_pages_given && o.area_rounded && !o.pages_rounded);
	EXPECT(o.record.trace.snapshot && o.record.trace.snapshot_at_exit && !o.record.trace.snapshot_size && !o.snapshot_refused);
	EXPECT_INT(o.record.flush_bytes, 1);
	EXPECT(o.record.trace.sample && o.record.trace.sample_size == 0 && !o.refused);
	release(&o);
	EXPECT_INT(parse(&o, "-m 3 -Se16x --aux-sample=4294967296 --max-size=1K --no-max-size --no-mmap-flush", &err), 0);
	EXPECT(o.record.pages == 4 && o.pages_rounded && o.snapshot_refused && o.record.trace.snapshot_size == 16);
	EXPECT_STR(o.refused, "aux-sample");
	EXPECT_STR(o.refusal.text, "Bad AUX area sampling option: '4294967296'");
	EXPECT(o.record.size_limit == 0 && o.record.flush_bytes == 1);
	release(&o);
	EXPECT_INT(parse(&o, "-S-1 --aux-sample=4294967295", &err), 0);
	EXPECT(o.snapshot_refused && !o.refused && o.record.trace.sample_size == UINT32_MAX);
	release(&o);
	expect_refused("-m 8,x", "Invalid argument for --mmap_pages/-m");
	expect_refused("-m 0", "Invalid argument for --mmap_pages/-m");
	expect_refused("--max-size=0K", "--max-size takes a size with its unit, such as 100M");
	expect_refused("--max-size=100", "--max-size takes a size with its unit, such as 100M");
}

TEST("record: call graphs, branches, clocks and affinity are undone by their negation")
{
	struct record_command o;
	struct error err;
	EXPECT_INT(parse(&o, "-g -b -k 63 --affinity=NODE --aio", &err), 0);
	EXPECT(o.call_graph && o.record.sampling.call_graph == CALL_GRAPH_FP && o.record.sampling.branch == BRANCH_ANY && o.aio);
	EXPECT(o.record.sampling.use_clockid && o.record.sampling.clockid == 63 && o.record.affinity == AFFINITY_NODE);
	release(&o);
	EXPECT_INT(parse(&o, "--call-graph dwarf,1024 -g -k monotonic_raw --affinity cpu -j any_call,u", &err), 0);
	EXPECT(o.record.sampling.call_graph == CALL_GRAPH_DWARF && o.record.sampling.stack_size == 1024 && o.record.sampling.stack_given);
	EXPECT(o.record.sampling.clockid == CLOCK_MONOTONIC_RAW && o.record.affinity == AFFINITY_CPU);
	EXPECT_INT(o.record.sampling.branch, BRANCH_ANY_CALL | BRANCH_USER);
	release(&o);
	EXPECT_INT(parse(&o, "--call-graph dwarf --no-call-graph -k 1 --no-clockid -b --no-branch-any --affinity=x --aio --no-aio", &err), 0);
	EXPECT(!o.call_graph && o.record.sampling.call_graph == CALL_GRAPH_NONE && !o.record.sampling.branch && !o.record.sampling.use_clockid);
	EXPECT(o.record.affinity == AFFINITY_ANY && !o.aio && !o.record.sampling.stack_given);
	release(&o);
	expect_refused("-k 64", "Warning:\nunknown clockid 64, check man page");
	expect_refused("-k -1", "Warning:\nunknown clockid -1, check man page");
	expect_refused("-k 1x", "Warning:\nunknown clockid 1x, check man page");
}

TEST("record: events, filters and cgroups are one list in their order")
{
	static const struct event_word want[] = { { WORD_EVENT, "a" }, { WORD_FILTER, "x > 1" }, { WORD_EXCLUDE_SELF, NULL }, { WORD_EVENT, "b" },
		{ WORD_CGROUP, "/c" }, { WORD_PFM_EVENT, "p" } };
	struct record_command o;
	struct error err;
	EXPECT_INT(parse(&o, "-e a --filter 'x > 1' --exclude-perf -e b -G /c --pfm-events p", &err), 0);
	EXPECT_INT(o.words.count, 6);
	for (size_t i = 0; i < 6 && o.words.count == 6; i++) {
		EXPECT_INT(o.words.items[i].kind, want[i].kind);
		EXPECT(want[i].text ? o.words.items[i].text && strcmp(o.words.items[i].text, want[i].text) == 0 : !o.words.items[i].text);
	}
	release(&o);
}

TEST("record: --off-cpu-details, --control and --threads")
{
	struct record_command o;
	struct error err;
	EXPECT_INT(parse(&o, "--off-cpu-details wakers --control fd:3,4 --threads", &err), 0);
	EXPECT(o.record.off_cpu.details && o.record.off_cpu.wakers && !o.record.off_cpu.futexes);
	EXPECT_STR(o.control_text, "fd:3,4");
	EXPECT(o.record.groups == &o.groups && !o.refused);
	release(&o);
	EXPECT_INT(parse(&o, "--off-cpu-details futexes --control fifo:x --threads=nosuch", &err), 0);
	EXPECT(o.record.off_cpu.details && !o.record.off_cpu.wakers && o.record.off_cpu.futexes);
	EXPECT_STR(o.refused, "threads");
	release(&o);
	EXPECT_INT(parse(&o, "--off-cpu-details state --threads=core --no-threads", &err), 0);
	EXPECT(o.record.off_cpu.details && !o.record.off_cpu.wakers && !o.record.off_cpu.futexes && !o.record.groups);
	release(&o);
	EXPECT_INT(parse(&o, "--off-cpu --off-cpu-thresh 0", &err), 0);
	EXPECT(o.record.off_cpu.wanted && o.record.off_cpu.alone && o.record.off_cpu.least_ms == 0);
	release(&o);
	EXPECT_INT(parse(&o, "--off-cpu", &err), 0);
	EXPECT(o.record.off_cpu.wanted && !o.record.off_cpu.alone);
	release(&o);
	expect_refused("--off-cpu-details x", "--off-cpu-details takes state, wakers or futexes, not 'x'");
	expect_refused("--control fx:3", "--control takes fd:ctl-fd[,ack-fd] or fifo:ctl-fifo[,ack-fifo]");
	expect_refused("--no-control", "--control cannot be undone");
}
