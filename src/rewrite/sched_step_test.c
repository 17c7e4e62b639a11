#include "rewrite/test_rewrite.h"

#define PLAIN (SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME)
#define WITH_RAW (PLAIN | SAMPLE_PERIOD | SAMPLE_RAW)

enum { SWITCH = 1, STAT = 2, EXIT = 3, OTHER = 4, STAT_FORMAT = 77 };

static const char formats[] = "name: sched_stat_sleep\nID: 77\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n";

static void put_number(struct str *out, uint64_t value, size_t size)
{
	const uint32_t half = (uint32_t)value;
	str_add(out, size == sizeof half ? (const char *)&half : (const char *)&value, size);
}

/* The body of TRACING_DATA (tracepoint/blob.h) with the one format. */
static void tracing_data(struct str *out)
{
	str_add(out, "\x17\x08\x44tracing0.5\0", 14);
	str_putc(out, HOST_IS_BIG_ENDIAN);
	str_putc(out, 8); /* bytes of a long */
	put_number(out, 4096, 4);
	str_add(out, "header_page", 12);
	put_number(out, 0, 8);
	str_add(out, "header_event", 13);
	put_number(out, 0, 8);
	put_number(out, 0, 4);
	put_number(out, 1, 4);
	str_add(out, "sched", 6);
	put_number(out, 1, 4);
	put_number(out, strlen(formats), 8);
	str_puts(out, formats);
	put_number(out, 0, 4);
	put_number(out, 0, 4);
}

/* switches: the fields of sched_switch's samples; the others have a raw part, too. */
static struct tape *sched_recording(struct str *blob, uint64_t switches)
{
	static const char *const names[] = { "sched:sched_switch", "sched:sched_stat_sleep", "sched:sched_process_exit", "sched:sched_waking" };
	struct tape *t = tape_new();
	for (uint64_t i = 0; i < 4; i++) {
		struct attr attr = { .type = ATTR_TRACEPOINT, .config = i + 1 == STAT ? STAT_FORMAT : i, .flags = 1ull << ATTR_SAMPLE_ID_ALL,
			.sample_type = i + 1 == SWITCH ? switches : WITH_RAW };
		const uint64_t id = i + 1;
		evlist_add(&t->source.header.evlist, &attr, &id, 1, names[i]);
	}
	tracing_data(blob);
	t->source.header.feature_data[FEATURE_TRACING_DATA] = (struct span){ (const uint8_t *)blob->text, blob->len };
	return t;
}

/* pid: in the tracepoint's own data. */
static void put_event(struct tape *t, uint64_t id, uint32_t tid, uint64_t time, uint64_t ip, uint64_t period, uint32_t pid)
{
	put_head(t, RECORD_SAMPLE, RECORD_MISC_USER, 56);
	put_u64(t, id);
	put_u64(t, ip);
	put_ids(t, tid);
	put_u64(t, time);
	put_u64(t, period);
	put(t, (uint32_t[]){ 12 }, 4);
	put(t, (uint16_t[]){ STAT_FORMAT, 0 }, 4);
	put(t, (uint32_t[]){ 0, pid }, 8);
}

TEST("a sample of sched_stat_* becomes the last sched_switch of its task, with its own time and period")
{
	struct str blob = { 0 };
	struct tape *t = sched_recording(&blob, WITH_RAW);
	struct trial trial;
	put_event(t, SWITCH, 9, 10, 0x111, 1, 0);
	put_event(t, SWITCH, 8, 11, 0x222, 1, 0);
	put_event(t, STAT, 1, 20, 0x999, 500, 9);
	put_event(t, OTHER, 9, 21, 0x333, 1, 9);
	put_event(t, STAT, 1, 22, 0x999, 600, 9);
	put_event(t, STAT, 1, 23, 0x999, 700, 7);
	put_event(t, SWITCH, 9, 24, 0x444, 1, 0);
	put_event(t, STAT, 1, 25, 0x999, 800, 9);
	trial_run(&trial, t, (struct rewrite_options){ .sched_stat = true });
	EXPECT_STR(str_text(&trial.records), "sample 20 111 500\nsample 21 333 1\nsample 22 111 600\nsample 25 444 800\n");
	EXPECT_INT(trial.counters.samples, 8);
	trial_close(&trial);
	str_fini(&blob);
}

TEST("a switch whose samples end before the period stays without one")
{
	for (uint64_t period = 0; period < 2; period++) {
		struct str blob = { 0 };
		struct tape *t = sched_recording(&blob, PLAIN | (period ? SAMPLE_PERIOD : 0));
		struct trial trial;
		put_head(t, RECORD_SAMPLE, RECORD_MISC_USER, 32 + 8 * period);
		put_u64(t, SWITCH);
		put_u64(t, 0x111);
		put_ids(t, 9);
		put_u64(t, 10);
		if (period)
			put_u64(t, 1);
		put_event(t, STAT, 1, 20, 0x999, 500, 9);
		trial_run(&trial, t, (struct rewrite_options){ .sched_stat = true });
		EXPECT_STR(str_text(&trial.records), period ? "sample 20 111 500\n" : "sample 20 111\n");
		trial_close(&trial);
		str_fini(&blob);
	}
}

TEST("with --buildid-all the table lists what samples hit that replace others, as perf's does")
{
	struct str blob = { 0 };
	struct tape *t = sched_recording(&blob, WITH_RAW);
	struct trial trial;
	put_mmap2(t, 9, 99, 0x1000, 0x1000, 0, "/bin/x"); /* of no known event: the mapping itself hits nothing */
	add_build_id(t, "/bin/x", 0xaa, 20);
	put_event(t, SWITCH, 9, 10, 0x1010, 1, 0);
	put_event(t, STAT, 1, 20, 0x999, 500, 9);
	trial_run(&trial, t, (struct rewrite_options){ .sched_stat = true, .ids = IDS_ALL });
	EXPECT_STR(str_text(&trial.table), "20:aa /bin/x\n");
	trial_close(&trial);
	str_fini(&blob);
}

TEST("the switch of a task that has exited is forgotten")
{
	struct str blob = { 0 };
	struct tape *t = sched_recording(&blob, WITH_RAW);
	struct trial trial;
	put_event(t, SWITCH, 9, 10, 0x111, 1, 0);
	put_event(t, SWITCH, 8, 10, 0x222, 1, 0);
	put_event(t, EXIT, 9, 11, 0x333, 1, 0);
	put_event(t, STAT, 1, 20, 0x999, 500, 9);
	put_event(t, STAT, 1, 21, 0x999, 500, 8);
	trial_run(&trial, t, (struct rewrite_options){ .sched_stat = true });
	EXPECT_STR(str_text(&trial.records), "sample 21 222 500\n");
	trial_close(&trial);
	str_fini(&blob);
}

TEST("samples of the scheduler stay as they are where build-ids of what they hit are added")
{
	struct str blob = { 0 };
	struct tape *t = sched_recording(&blob, WITH_RAW);
	struct trial trial;
	put_event(t, SWITCH, 9, 10, 0x111, 1, 0);
	put_event(t, STAT, 1, 20, 0x999, 500, 9);
	trial_run(&trial, t, (struct rewrite_options){ .sched_stat = true, .ids = IDS_HIT });
	EXPECT_STR(str_text(&trial.records), "sample 10 111 1\nsample 20 999 500\n");
	trial_close(&trial);
	str_fini(&blob);
}
