#include "session/trace.h"
#include "session/trace_guest_time.h"

#include "base/str.h"
#include "data/evsel_name.h"
#include "data/test_recording.h"
#include "decode/intel_bts/bts.h"
#include "session/session.h"
#include "unit.h"

/* A recording of a program at 0x1000: samples of cpu-clock (id 10), and a trace of the PMU 10 (id 20). */
enum { PMU = 10, ATTR_BYTES = ATTR_SIZE_VER8 + 16, TRACE_ATTR = 104 + ATTR_BYTES, TSC_BIT = 1 << 10 };
#define KERNEL UINT64_C(0xffff800000000000)

static const uint8_t program[] = {
	0xe8, 0x0b, 0, 0, 0,    /* 1000: call 1010 */
	0x90, 0xeb, 0xf8,       /* 1005: nop; jmp 1000 */
	0, 0, 0, 0, 0, 0, 0, 0,
	0xc3, 0x0f, 0x05, 0x90, /* 1010: ret; syscall; nop */
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	0x0f, 0x01, 0xf8, 0x0f, 0x22, 0xd8, 0xff, 0xe0, /* 1020: swapgs; mov %rax,%cr3; jmp *%rax */
};

/* Of a record of a thread, from the event with this id: what follows its body. */
static void end_with(struct recording *r, size_t at, uint32_t tid, uint64_t time, uint64_t id)
{
	put(r, tid, 4);
	put(r, tid, 4);
	put(r, time, 8);
	put(r, id, 8);
	end_record(r, at);
}

static void put_mmap(struct recording *r, uint32_t pid, uint64_t start, uint64_t time)
{
	size_t at = begin_record(r, RECORD_MMAP, RECORD_MISC_USER);
	put(r, pid, 4);
	put(r, pid, 4);
	put(r, start, 8);
	put(r, 0x1000, 8);
	put(r, 0, 8);
	put_bytes(r, "/prog\0\0", 8);
	end_with(r, at, pid, time, 10);
}

/* The kernel names the event of the trace. */
static void put_start(struct recording *r, uint32_t tid, uint64_t time)
{
	size_t at = begin_record(r, RECORD_ITRACE_START, 0);
	put(r, tid, 4);
	put(r, tid, 4);
	end_with(r, at, tid, time, 20);
}

static void put_exit(struct recording *r, uint32_t tid, uint64_t time)
{
	size_t at = begin_record(r, RECORD_EXIT, 0);
	const uint32_t words[] = { tid, 1, tid, 1 };
	for (size_t i = 0; i < 4; i++)
		put(r, words[i], 4);
	put(r, time, 8);
	end_with(r, at, tid, time, 10);
}

static void put_info(struct recording *r, uint32_t type, const uint64_t *words, size_t count)
{
	size_t at = begin_record(r, RECORD_AUXTRACE_INFO, 0);
	put(r, type, 4);
	put(r, 0, 4);
	for (size_t i = 0; i < count; i++)
		put(r, words[i], 8);
	end_record(r, at);
}

static void put_piece(struct recording *r, uint32_t index, uint32_t tid, uint64_t reference, const void *bytes, size_t size)
{
	size_t at = begin_record(r, RECORD_AUXTRACE, 0);
	const uint64_t words[] = { size, 0, reference };
	for (size_t i = 0; i < 3; i++)
		put(r, words[i], 8);
	const uint32_t ids[] = { index, tid, (uint32_t)-1, 0 };
	for (size_t i = 0; i < 4; i++)
		put(r, ids[i], 4);
	end_record(r, at);
	put_bytes(r, bytes, size);
}

/* A part of a trace whose end was lost. */
static void put_aux(struct recording *r, uint64_t time)
{
	size_t at = begin_record(r, RECORD_AUX, 0);
	const uint64_t words[] = { 0, 0x1000, 1 };
	for (size_t i = 0; i < 3; i++)
		put(r, words[i], 8);
	end_with(r, at, 7, time, 20);
}

static bool code_of(void *context, const struct module *module, uint64_t offset, struct trace_code *code)
{
	(void)context, (void)offset;
	*code = (struct trace_code){ .bytes = { program, sizeof program } };
	return strcmp(module->name, "/prog") == 0;
}

static void parts_text(const struct sample *sample, struct str *out)
{
	for (uint64_t i = 0; i < sample->callchain_count; i++)
		str_printf(out, "%s%llx", i ? "," : " chain ", (unsigned long long)load_u64(sample->callchain + 8 * i));
	for (uint64_t i = 0; i < sample->branch_count; i++)
		str_printf(out, "%s%llx>%llx", i ? "," : " branches ", (unsigned long long)load_u64(sample->branches + 24 * i),
			(unsigned long long)load_u64(sample->branches + 24 * i + 8));
	if (sample->raw_size == 12)
		str_printf(out, " raw %x,%llx", load_u32(sample->raw), (unsigned long long)load_u64(sample->raw + 4));
}

/* Each sample, error and end of a thread: samples of cpu-clock as "| @TIME", those of the trace with flags, size of the
 * instruction, period and mode. */
static void record_line(void *context, const struct resolved *r, size_t slice)
{
	struct str *out = context;
	(void)slice;
	if (r->record->type == RECORD_AUXTRACE_ERROR)
		str_printf(out, "error %u at %llx tid %u; ", load_u32(r->record->body + 4), (unsigned long long)load_u64(r->record->body + 24),
			load_u32(r->record->body + 16));
	if (r->record->type == RECORD_EXIT)
		str_printf(out, "exit %u; ", load_u32(r->record->body + 8));
	if (r->record->type != RECORD_SAMPLE)
		return;
	const struct trace_note *note = trace_note_of(r);
	if (note)
		str_printf(out, "%s %d", evsel_name(r->evsel, (char[64]){ 0 }, 64), r->tid);
	else
		str_puts(out, "|");
	if (r->sample->present & SAMPLE_TIME)
		str_printf(out, " @%llu", (unsigned long long)r->sample->time);
	if (note)
		str_printf(out, " %llx", (unsigned long long)r->sample->ip);
	if (r->sample->present & SAMPLE_ADDR)
		str_printf(out, ">%llx", (unsigned long long)r->sample->addr);
	if (note)
		str_printf(out, " %x+%u*%llu %s", note->flags, note->instruction_size, (unsigned long long)r->sample->period,
			r->record->misc == RECORD_MISC_KERNEL ? "k" : "u");
	if (note && note->flags & TRACE_POINT)
		str_printf(out, " %llu cycles of %llu", (unsigned long long)note->cycles, (unsigned long long)note->instructions);
	parts_text(r->sample, out);
	str_puts(out, "; ");
}

/* What a recording shows with the text of --itrace, with or without points at moves to CR3, of a range of time (0: open). */
static void expect_samples(const struct recording *recording, const char *itrace, bool paging, uint64_t from, uint64_t until,
	const char *want)
{
	static const char *const names[] = { "data", NULL };
	char folder[] = "/tmp/trace_test.XXXXXX", path[64];
	struct trace_options trace = { .code = code_of };
	struct session_options options = { .threads = 1, .trace = &trace };
	CLEANUP_STR struct str got = { 0 };
	struct sink sink = { .context = &got, .record = record_line, .serial = true, .want_records = true };
	struct session session;
	struct source *source;
	struct error err = { 0 };
	EXPECT(mkdtemp(folder) != NULL);
	write_file(folder, "data", recording->bytes, recording->len);
	snprintf(path, sizeof path, "%s/data", folder);
	EXPECT_INT(itrace_parse(&trace.itrace, itrace, true, &err), 0);
	trace.itrace.paging = paging;
	EXPECT_INT(source_open(&source, path, NULL, &err), 0);
	EXPECT_INT(session_open(&session, source, &options, &err), 0);
	session_trace_window(&session, from, until);
	EXPECT_INT(session_run(&session, &sink, &err), 0);
	if (strcmp(str_text(&got), want) != 0)
		printf("# --itrace=%s:\n", itrace);
	EXPECT_STR(str_text(&got), want);
	session_close(&session);
	remove_folder(folder, names);
}

static void expect_window(const struct recording *recording, const char *itrace, uint64_t from, uint64_t until, const char *want)
{
	expect_samples(recording, itrace, false, from, until, want);
}

static void expect_trace(const struct recording *recording, const char *itrace, const char *want)
{
	expect_window(recording, itrace, 0, 0, want);
}

/* A sample of thread 7. */
static void put_clock(struct recording *r, uint64_t ip, uint64_t time)
{
	put_sample(r, 10, ip, time);
	put_at(r, r->len - 16, 7, 4);
	put_at(r, r->len - 12, 7, 4);
}

static struct recording *recording_begin(uint64_t config)
{
	struct recording *r = recording_new(false);
	begin_file(r, 2);
	put_at(r, TRACE_ATTR, PMU, 4);
	put_at(r, TRACE_ATTR + 8, config, 8);
	return r;
}

static size_t add_branch(uint64_t *words, size_t count, uint64_t from, uint64_t to)
{
	words[count] = from;
	words[count + 1] = to;
	words[count + 2] = 0;
	return count + 3;
}

/* Threads 7, which ends at 150, and 8: pieces that were written at 100 and 200, and at 120. */
static struct recording *bts_recording(uint64_t snapshot)
{
	const uint64_t info[] = { PMU, 0, 1, 0, 1, snapshot };
	static const uint64_t first[][2] = { { 0, 0x1000 }, { 0x1000, 0x1010 }, { 0x1010, 0x1005 }, { 0, 0 }, { 0x1006, 0x1000 } };
	static const uint64_t second[][2] = { { 0x1010, 0x1005 }, { 0, 0 }, { 0x1006, 0x1000 }, { 0x1011, KERNEL },
		{ KERNEL, 0x1013 }, { 0x1013, KERNEL }, { 0x9000, 0x1000 }, { 0x1000, 0 } };
	uint64_t words[64];
	size_t count = 0;
	struct recording *r = recording_begin(0);
	size_t data = r->len;
	put_info(r, TRACE_INTEL_BTS, info, sizeof info / sizeof *info);
	put_mmap(r, 7, 0x1000, 1);
	put_mmap(r, 8, 0x1000, 2);
	for (size_t i = 0; i < sizeof first / sizeof *first; i++)
		count = add_branch(words, count, first[i][0], first[i][1]);
	put_piece(r, 0, 7, 100, words, count * 8);
	put_piece(r, 1, 8, 120, words + 3, 3 * 8 + 5);
	count = 0;
	for (size_t i = 0; i < sizeof second / sizeof *second; i++)
		count = add_branch(words, count, second[i][0], second[i][1]);
	put_piece(r, 0, 7, 200, words, count * 8);
	static const uint64_t times[] = { 50, 99, 100, 119, 121, 160 };
	for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
		put_clock(r, 0x1005, times[i]);
		if (i == 4)
			put_exit(r, 7, 150);
	}
	end_data(r, data);
	return r;
}

TEST("branches of BTS precede the end of their thread and records that are newer than their piece, with kinds of instructions")
{
	struct recording *r = bts_recording(0);
	expect_trace(r, "be",
			"| @50; | @99; branches:HG 7 0>1000 101+0*1 u; branches:HG 7 1000>1010 3+5*1 u; branches:HG 7 1010>1005 5+1*1 u; "
			"branches:HG 7 1006>1000 1+2*1 u; | @100; | @119; branches:HG 8 1000>1010 3+5*1 u; | @121; "
			"branches:HG 7 1010>1005 5+1*1 u; branches:HG 7 1006>1000 1+2*1 u; branches:HG 7 1011>ffff800000000000 13+2*1 u; "
			"error 5 at ffff800000000000 tid 7; branches:HG 7 ffff800000000000>1013 0+0*1 k; "
			"branches:HG 7 1013>ffff800000000000 63+1*1 u; error 5 at 9000 tid 7; branches:HG 7 9000>1000 0+0*1 u; "
			"branches:HG 7 1000>0 201+0*1 u; exit 7; | @160; ");
	expect_trace(r, "cr",
			"| @50; | @99; branches:HG 7 0>1000 101+0*1 u; branches:HG 7 1000>1010 3+5*1 u; branches:HG 7 1010>1005 5+1*1 u; "
			"| @100; | @119; branches:HG 8 1000>1010 3+5*1 u; | @121; branches:HG 7 1010>1005 5+1*1 u; "
			"branches:HG 7 1011>ffff800000000000 13+2*1 u; branches:HG 7 1013>ffff800000000000 63+1*1 u; "
			"branches:HG 7 1000>0 201+0*1 u; exit 7; | @160; ");
	expect_trace(r, "bs2",
			"| @50; | @99; branches:HG 7 1006>1000 1+2*1 u; | @100; | @119; branches:HG 8 1000>1010 3+5*1 u; | @121; "
			"branches:HG 7 1010>1005 5+1*1 u; branches:HG 7 1006>1000 1+2*1 u; branches:HG 7 1011>ffff800000000000 13+2*1 u; "
			"branches:HG 7 ffff800000000000>1013 0+0*1 k; branches:HG 7 1013>ffff800000000000 63+1*1 u; "
			"branches:HG 7 9000>1000 0+0*1 u; branches:HG 7 1000>0 201+0*1 u; exit 7; | @160; ");
	expect_trace(r, "G", "| @50; | @99; | @100; | @119; | @121; exit 7; | @160; ");
	free(r);
}

TEST("a snapshot of BTS has the branches that the one before did not have")
{
	const uint64_t info[] = { PMU, 0, 1, 0, 1, 1 };
	uint64_t words[12];
	size_t count = 0;
	struct recording *r = recording_begin(0);
	size_t data = r->len;
	put_info(r, TRACE_INTEL_BTS, info, sizeof info / sizeof *info);
	put_mmap(r, 7, 0x1000, 1);
	for (uint64_t i = 0; i < 4; i++)
		count = add_branch(words, count, 0, 0x1000 + i);
	put_piece(r, 0, 7, 100, words, 9 * 8);
	put_piece(r, 0, 7, 200, words + 3, 9 * 8);
	put_piece(r, 0, 7, 300, words + 3, 9 * 8);
	put_clock(r, 0x1005, 150);
	put_aux(r, 160);
	end_data(r, data);
	expect_trace(r, "be",
			"branches:HG 7 0>1000 101+0*1 u; branches:HG 7 0>1001 101+0*1 u; branches:HG 7 0>1002 101+0*1 u; | @150; "
			"error 9 at 0 tid 7; branches:HG 7 0>1003 101+0*1 u; ");
	free(r);
}

#define PSB "\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82"
#define PSBEND "\x02\x23"
#define TSC(low) "\x19" low "\0\0\0\0\0\0"
#define LONG_MODE "\x99\x01"
#define BUS_RATIO(n) "\x02\x03" n "\0"
#define BEGIN_1000 "\x71\x00\x10\0\0\0\0"
#define BEGIN_1005 "\x71\x05\x10\0\0\0\0"
#define TAKEN "\x06"
#define END "\x01"
#define OVERFLOW "\x02\xf3"
#define PTWRITE "\x02\x12\x78\x56\x34\x12"

static struct recording *pt_recording(uint64_t config)
{
	static const char first[] = PSB TSC("\x50") BUS_RATIO("\x0a") PSBEND LONG_MODE BEGIN_1000 TAKEN TAKEN TSC("\x6e")
		BUS_RATIO("\x0c") TAKEN PTWRITE END;
	static const char second[] = PSB TSC("\xa0") PSBEND OVERFLOW BEGIN_1005 TAKEN END;
	const uint64_t info[] = { PMU, 0, 1, 0, 1, TSC_BIT, 1 << 11, 0, 0, 0, 0, 0, 0, 0, 0, 20, 0 };
	struct recording *r = recording_begin(config);
	size_t data = r->len;
	put_info(r, TRACE_INTEL_PT, info, sizeof info / sizeof *info);
	put_mmap(r, 7, 0x1000, 1);
	put_start(r, 7, 2);
	put_piece(r, 0, 7, 0, first, sizeof first - 1);
	put_piece(r, 0, 7, 0, second, sizeof second - 1);
	static const uint64_t times[] = { 79, 81, 109, 111, 159, 161 };
	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		put_clock(r, 0x1005, times[i]);
	end_data(r, data);
	return r;
}

/* Texts of --itrace, with what they show. */
static const char *const pt_rows[][2] = {
	{ "be",
		"| @79; branches:HG 7 @80 0>1000 101+0*1 u; branches:HG 7 @80 1000>1010 3+5*1 u; branches:HG 7 @80 1010>1005 5+1*1 u; "
		"branches:HG 7 @80 1006>1000 1+2*1 u; branches:HG 7 @80 1000>1010 3+5*1 u; branches:HG 7 @80 1010>1005 5+1*1 u; | @81; "
		"| @109; branches:HG 7 @110 1006>1000 1+2*1 u; branches:HG 7 @110 1000>1010 3+5*1 u; "
		"branches:HG 7 @110 1010>1005 5+1*1 u; branches:HG 7 @110 1006>1000 1+2*1 u; branches:HG 7 @110 1000>1010 3+5*1 u; "
		"branches:HG 7 @110 1010>0 205+1*1 u; | @111; | @159; error 7 at 0 tid 7; branches:HG 7 @160 0>1005 101+0*1 u; "
		"branches:HG 7 @160 1006>1000 1+2*1 u; branches:HG 7 @160 1000>1010 3+5*1 u; branches:HG 7 @160 1010>1005 5+1*1 u; "
		"branches:HG 7 @160 1006>1000 1+2*1 u; branches:HG 7 @160 1000>1010 3+5*1 u; branches:HG 7 @160 1010>0 205+1*1 u; "
		"| @161; " },
	{ "cr",
		"| @79; branches:HG 7 @80 0>1000 101+0*1 u; branches:HG 7 @80 1000>1010 3+5*1 u; branches:HG 7 @80 1010>1005 5+1*1 u; "
		"branches:HG 7 @80 1000>1010 3+5*1 u; branches:HG 7 @80 1010>1005 5+1*1 u; | @81; | @109; "
		"branches:HG 7 @110 1000>1010 3+5*1 u; branches:HG 7 @110 1010>1005 5+1*1 u; branches:HG 7 @110 1000>1010 3+5*1 u; "
		"branches:HG 7 @110 1010>0 205+1*1 u; | @111; | @159; branches:HG 7 @160 0>1005 101+0*1 u; "
		"branches:HG 7 @160 1000>1010 3+5*1 u; branches:HG 7 @160 1010>1005 5+1*1 u; branches:HG 7 @160 1000>1010 3+5*1 u; "
		"branches:HG 7 @160 1010>0 205+1*1 u; | @161; " },
	{ "i1i",
		"| @79; instructions:HG 7 @80 1000 3+5*1 u; instructions:HG 7 @80 1010 5+1*1 u; instructions:HG 7 @80 1005 0+1*1 u; "
		"instructions:HG 7 @80 1006 1+2*1 u; instructions:HG 7 @80 1000 3+5*1 u; instructions:HG 7 @80 1010 5+1*1 u; | @81; "
		"| @109; instructions:HG 7 @110 1005 0+1*1 u; instructions:HG 7 @110 1006 1+2*1 u; "
		"instructions:HG 7 @110 1000 3+5*1 u; instructions:HG 7 @110 1010 5+1*1 u; instructions:HG 7 @110 1005 0+1*1 u; "
		"instructions:HG 7 @110 1006 1+2*1 u; instructions:HG 7 @110 1000 3+5*1 u; instructions:HG 7 @110 1010 205+1*1 u; "
		"| @111; | @159; instructions:HG 7 @160 1005 0+1*1 u; instructions:HG 7 @160 1006 1+2*1 u; "
		"instructions:HG 7 @160 1000 3+5*1 u; instructions:HG 7 @160 1010 5+1*1 u; instructions:HG 7 @160 1005 0+1*1 u; "
		"instructions:HG 7 @160 1006 1+2*1 u; instructions:HG 7 @160 1000 3+5*1 u; instructions:HG 7 @160 1010 205+1*1 u; "
		"| @161; " },
	{ "i2ig",
		"| @79; instructions:HG 7 @80 1010 5+1*2 u chain fffffffffffffe00,1010,1005; "
		"instructions:HG 7 @80 1006 1+2*2 u chain fffffffffffffe00,1006; "
		"instructions:HG 7 @80 1010 5+1*2 u chain fffffffffffffe00,1010,1005; | @81; | @109; "
		"instructions:HG 7 @110 1006 1+2*2 u chain fffffffffffffe00,1006; "
		"instructions:HG 7 @110 1010 5+1*2 u chain fffffffffffffe00,1010,1005; "
		"instructions:HG 7 @110 1006 1+2*2 u chain fffffffffffffe00,1006; "
		"instructions:HG 7 @110 1010 205+1*2 u chain fffffffffffffe00,1010,1005; | @111; | @159; "
		"instructions:HG 7 @160 1006 1+2*2 u chain fffffffffffffe00,1006; "
		"instructions:HG 7 @160 1010 5+1*2 u chain fffffffffffffe00,1010,1005; "
		"instructions:HG 7 @160 1006 1+2*2 u chain fffffffffffffe00,1006; "
		"instructions:HG 7 @160 1010 205+1*2 u chain fffffffffffffe00,1010,1005; | @161; " },
	{ "i3il2",
		"| @79; instructions:HG 7 @80 1005 0+1*3 u branches 1010>1005,1000>1010; "
		"instructions:HG 7 @80 1010 5+1*3 u branches 1000>1010,1006>1000; | @81; | @109; "
		"instructions:HG 7 @110 1000 3+5*3 u branches 1006>1000,1010>1005; "
		"instructions:HG 7 @110 1006 1+2*3 u branches 1010>1005,1000>1010; | @111; | @159; "
		"instructions:HG 7 @160 1005 0+1*3 u branches 0>1005,1010>0; "
		"instructions:HG 7 @160 1010 5+1*3 u branches 1000>1010,1006>1000; "
		"instructions:HG 7 @160 1000 3+5*3 u branches 1006>1000,1010>1005; | @161; " },
	{ "pw",
		"| @79; psb 7 @80 0 0+0*1 u raw 0,0; cbr 7 @80 0 0+0*1 u raw 14000a,7a120; | @81; "
		"| @109; cbr 7 @110 1005 0+0*1 u raw 14000c,927c0; "
		"ptwrite 7 @110 1005 0+0*1 u raw 0,12345678; | @111; | @159; "
		"psb 7 @160 0 0+0*1 u raw 0,3d; | @161; " },
	{ "bZ",
		"| @79; | @81; | @109; | @111; | @159; | @161; branches:HG 7 0>1000 101+0*1 u; branches:HG 7 1000>1010 3+5*1 u; "
		"branches:HG 7 1010>1005 5+1*1 u; branches:HG 7 1006>1000 1+2*1 u; branches:HG 7 1000>1010 3+5*1 u; "
		"branches:HG 7 1010>1005 5+1*1 u; branches:HG 7 1006>1000 1+2*1 u; branches:HG 7 1000>1010 3+5*1 u; "
		"branches:HG 7 1010>1005 5+1*1 u; branches:HG 7 1006>1000 1+2*1 u; branches:HG 7 1000>1010 3+5*1 u; "
		"branches:HG 7 1010>0 205+1*1 u; branches:HG 7 0>1005 101+0*1 u; branches:HG 7 1006>1000 1+2*1 u; "
		"branches:HG 7 1000>1010 3+5*1 u; branches:HG 7 1010>1005 5+1*1 u; branches:HG 7 1006>1000 1+2*1 u; "
		"branches:HG 7 1000>1010 3+5*1 u; branches:HG 7 1010>0 205+1*1 u; " },
	{ "bs3",
		"| @79; branches:HG 7 @80 1006>1000 1+2*1 u; branches:HG 7 @80 1000>1010 3+5*1 u; branches:HG 7 @80 1010>1005 5+1*1 u; "
		"| @81; | @109; branches:HG 7 @110 1006>1000 1+2*1 u; branches:HG 7 @110 1000>1010 3+5*1 u; "
		"branches:HG 7 @110 1010>1005 5+1*1 u; branches:HG 7 @110 1006>1000 1+2*1 u; branches:HG 7 @110 1000>1010 3+5*1 u; "
		"branches:HG 7 @110 1010>0 205+1*1 u; | @111; | @159; branches:HG 7 @160 0>1005 101+0*1 u; "
		"branches:HG 7 @160 1006>1000 1+2*1 u; branches:HG 7 @160 1000>1010 3+5*1 u; branches:HG 7 @160 1010>1005 5+1*1 u; "
		"branches:HG 7 @160 1006>1000 1+2*1 u; branches:HG 7 @160 1000>1010 3+5*1 u; branches:HG 7 @160 1010>0 205+1*1 u; "
		"| @161; " },
	{ "i6iG",
		"| @79 chain fffffffffffffe00,1005; instructions:HG 7 @80 1010 5+1*6 u; | @81 chain fffffffffffffe00,1005; "
		"| @109 chain fffffffffffffe00,1005; instructions:HG 7 @110 1006 1+2*6 u; | @111 chain fffffffffffffe00,1005; "
		"| @159 chain fffffffffffffe00,1005; instructions:HG 7 @160 1010 5+1*6 u; | @161 chain fffffffffffffe00,1005; " },
	{ "L3",
		"| @79; | @81 branches 1010>1005,1000>1010,1006>1000; | @109 branches 1010>1005,1000>1010,1006>1000; "
		"| @111 branches 1000>1010,1006>1000,1010>1005; | @159 branches 1000>1010,1006>1000,1010>1005; "
		"| @161 branches 1000>1010,1006>1000,1010>1005; " },
	{ "e-o", "| @79; | @81; | @109; | @111; | @159; | @161; " },
	{ "e", "| @79; | @81; | @109; | @111; | @159; error 7 at 0 tid 7; | @161; " },
	{ "", "| @79; | @81; | @109; | @111; | @159; | @161; " },
};

TEST("samples of Intel PT are between the records of their times, for each kind of sample")
{
	struct recording *r = pt_recording(TSC_BIT);
	for (size_t i = 0; i < sizeof pt_rows / sizeof *pt_rows; i++)
		expect_trace(r, pt_rows[i][0], pt_rows[i][1]);
	free(r);
}

TEST("of a range of time, the trace is decoded from the synchronization point before it")
{
	struct recording *r = pt_recording(TSC_BIT);
	expect_window(r, "c", 161, 0,
			"| @79; | @81; | @109; | @111; | @159; branches:HG 7 @160 1000>1010 3+5*1 u; branches:HG 7 @160 1000>1010 3+5*1 u; "
			"branches:HG 7 @160 1010>0 205+1*1 u; | @161; ");
	expect_window(r, "c", 0, 100,
			"| @79; branches:HG 7 @80 1000>1010 3+5*1 u; branches:HG 7 @80 1000>1010 3+5*1 u; | @81; | @109; | @111; | @159; "
			"| @161; ");
	free(r);
}

TEST("traces without times come one after the other, by the index of their AUX areas")
{
	static const char packets[] = PSB PSBEND LONG_MODE BEGIN_1000 TAKEN END;
	const uint64_t info[] = { PMU, 0, 1, 0, 1, 0, 1 << 11, 0, 0, 0, 0, 0, 0, 0, 0, 20, 0 };
	struct recording *r = recording_begin(0);
	size_t data = r->len;
	put_info(r, TRACE_INTEL_PT, info, sizeof info / sizeof *info);
	for (uint32_t tid = 7; tid < 10; tid++)
		put_mmap(r, tid, 0x1000, 1);
	put_piece(r, 5, 7, 0, packets, sizeof packets - 1);
	put_piece(r, 2, 8, 0, packets, sizeof packets - 1);
	put_piece(r, 3, 9, 0, packets, sizeof packets - 1);
	end_data(r, data);
	expect_trace(r, "r",
		"branches:HG 8 0>1000 101+0*1 u; branches:HG 8 1010>1005 5+1*1 u; branches:HG 8 1010>0 205+1*1 u; "
		"branches:HG 9 0>1000 101+0*1 u; branches:HG 9 1010>1005 5+1*1 u; branches:HG 9 1010>0 205+1*1 u; "
		"branches:HG 7 0>1000 101+0*1 u; branches:HG 7 1010>1005 5+1*1 u; branches:HG 7 1010>0 205+1*1 u; ");
	free(r);
}

TEST("code of a trace in no mapping is an error, on both sides of a mapping and in the kernel, and decoding goes on at the next address")
{
	static const char packets[] = PSB PSBEND LONG_MODE "\x71\xff\x0f\0\0\0\0" TAKEN BEGIN_1000 TAKEN END
		"\x71\x00\x20\0\0\0\0" TAKEN BEGIN_1000 TAKEN END "\x71\x00\x10\0\0\0\x80" TAKEN BEGIN_1000 TAKEN END;
#define FOLLOWED "branches:HG 7 0>1000 101+0*1 u; branches:HG 7 1010>1005 5+1*1 u; branches:HG 7 1010>0 205+1*1 u; "
	const uint64_t info[] = { PMU, 0, 1, 0, 1, 0, 1 << 11, 0, 0, 0, 0, 0, 0, 0, 0, 20, 0 };
	struct recording *r = recording_begin(0);
	size_t data = r->len;
	put_info(r, TRACE_INTEL_PT, info, sizeof info / sizeof *info);
	put_mmap(r, 7, 0x1000, 1);
	put_piece(r, 0, 7, 0, packets, sizeof packets - 1);
	end_data(r, data);
	expect_trace(r, "re",
		"branches:HG 7 0>fff 101+0*1 u; error 5 at fff tid 7; " FOLLOWED
		"branches:HG 7 0>2000 101+0*1 u; error 5 at 2000 tid 7; " FOLLOWED
		"branches:HG 7 0>ffff800000001000 101+0*1 k; error 5 at ffff800000001000 tid 7; " FOLLOWED);
	free(r);
}

TEST("with points, each move to CR3 whose cycles are counted is a sample at its time, with what was counted since the sample before")
{
#define CYC_5 "\x2b"
#define CYC_16 "\x83"
#define PIP "\x02\x43\x00\0\0\0\0\0"
#define CYC_7 "\x3b"
#define TO_1020 "\x2d\x20\x10"
	enum { CYC = 1 << 1 };
	static const char packets[] = PSB TSC("\x50") BUS_RATIO("\x0a") PSBEND LONG_MODE "\x71\x20\x10\0\0\0\0" CYC_5 PIP
		CYC_16 TO_1020 CYC_7 PIP TO_1020;
	const uint64_t info[] = { PMU, 0, 1, 0, 1, TSC_BIT, 1 << 11, 0, 0, 0, 0, 0, 0, 0, CYC, 20, 0 };
	struct recording *r = recording_begin(TSC_BIT | CYC);
	size_t data = r->len;
	put_info(r, TRACE_INTEL_PT, info, sizeof info / sizeof *info);
	put_mmap(r, 7, 0x1000, 1);
	put_start(r, 7, 2);
	put_piece(r, 0, 7, 0, packets, sizeof packets - 1);
	end_data(r, data);
	expect_samples(r, "be", true, 0, 0,
			"branches:HG 7 @80 0>1020 101+0*1 u; branches:HG 7 @90 1023>0 8000+0*1 u 5 cycles of 2; "
			"branches:HG 7 @122 1026>1020 1+2*1 u; branches:HG 7 @136 1023>0 8000+0*1 u 7 cycles of 2; "
			"branches:HG 7 @136 1026>1020 1+2*1 u; ");
	expect_trace(r, "be",
			"branches:HG 7 @80 0>1020 101+0*1 u; branches:HG 7 @122 1026>1020 1+2*1 u; branches:HG 7 @136 1026>1020 1+2*1 u; ");
	free(r);
}

struct changes {
	unsigned count;
	uint64_t first; /* offset in the file */
	uint64_t ticks;
};

static void note_change(void *context, uint64_t offset, uint8_t value)
{
	struct changes *changes = context;
	changes->first = changes->count++ ? changes->first : offset;
}

static void note_offset(void *context, enum pt_guest_remark remark, uint64_t vmcs, uint64_t ticks)
{
	struct changes *changes = context;
	changes->ticks = remark == PT_GUEST_OFFSET && vmcs == 5 ? ticks : 0;
}

TEST("the time of a guest whose trace is in pieces is changed where the file has it, whatever their number")
{
	/* of the host at 0x1000, a tick of the crystal later of the guest, at 0x7000 instead of 0x2000 */
#define STATE(tsc, counter, guest) PSB "\x19\0" tsc "\0\0\0\0\0" "\x02\x73" counter "\0\0\0\0\x02\x43" guest "\0\0\0\0\0" \
	"\x02\xc8\5\0\0\0\0\x7d\0\x10\0\0\0\0" PSBEND
	static const char packets[] = STATE("\x10", "\0", "\0") "\x59\1" STATE("\x70", "\x08", "\1");
	enum { MTC = 1 << 9, PERIOD = 3 << 14, GUEST_TSC = 16 + 8 + 7 + 8 + 7 + 7 + 2 + 2 + 16 + 1 };
	static const char *const names[] = { "data", NULL };
	const uint64_t info[] = { PMU, 0, 1, 0, 1, TSC_BIT, 1 << 11, 0, 0, 0, MTC, 15 << 14, 0x200, 1, 0, 20, 0 };
	for (size_t pieces = 1; pieces <= 9; pieces++) {
		char folder[] = "/tmp/trace_test.XXXXXX", path[64];
		struct recording *r = recording_begin(TSC_BIT | MTC | PERIOD);
		struct source *source;
		struct error err = { 0 };
		struct changes changes = { 0 };
		struct pt_guest_times times = { .usual = 0 };
		const struct trace_guest_times wanted = { note_change, note_offset, &changes };
		size_t data = r->len, size = sizeof packets - 1, guest = 0;
		put_info(r, TRACE_INTEL_PT, info, sizeof info / sizeof *info);
		for (size_t i = 0; i < pieces; i++) {
			size_t from = size * i / pieces, to = size * (i + 1) / pieces;
			put_piece(r, 0, 7, 0x100000, packets + from, to - from);
			if (from <= GUEST_TSC && GUEST_TSC < to)
				guest = r->len - to + GUEST_TSC;
		}
		end_data(r, data);
		EXPECT(mkdtemp(folder) != NULL);
		write_file(folder, "data", r->bytes, r->len);
		snprintf(path, sizeof path, "%s/data", folder);
		EXPECT_INT(source_open(&source, path, NULL, &err), 0);
		struct trace *trace = trace_open(source, &(struct trace_options){ .code = NULL }, NULL);
		EXPECT(trace != NULL);
		EXPECT_INT(trace ? trace_correct_guests(trace, &times, &wanted, &err) : -1, 0);
		EXPECT_INT(changes.count, 7);
		EXPECT_INT(changes.first, guest);
		EXPECT_INT(changes.ticks, 0x5000);
		trace_free(trace);
		pt_guest_times_fini(&times);
		source_close(source);
		remove_folder(folder, names);
		free(r);
	}
}

/* The number of kB of a file that this process has mapped. */
static unsigned long resident_kb(const char *path)
{
	char line[512];
	unsigned long sum = 0, kb;
	bool of_file = false;
	FILE *maps = fopen("/proc/self/smaps", "r");
	while (maps && fgets(line, sizeof line, maps)) {
		if (strstr(line, path))
			of_file = true;
		else if (strncmp(line, "VmFlags:", 8) == 0)
			of_file = false;
		else if (of_file && sscanf(line, "Rss: %lu", &kb) == 1)
			sum += kb;
	}
	if (maps)
		fclose(maps);
	return sum;
}

/* Writes a recording whose trace of BTS has so many pieces of 2 MiB, all of one branch, and runs a session over it: how much of it is in
 * memory then. */
static unsigned long resident_after(const char *folder, unsigned pieces)
{
	enum { PIECE_BRANCHES = (2 << 20) / BTS_RECORD_BYTES };
	const uint64_t info[] = { PMU, 0, 1, 0, 1, 0 }, branch[] = { 0x1006, 0x1000, 0 };
	struct trace_options trace = { .code = code_of, .itrace.errors = true };
	struct session_options options = { .threads = 1, .trace = &trace };
	CLEANUP_STR struct str got = { 0 };
	struct sink sink = { .context = &got, .record = record_line, .serial = true };
	struct session session;
	struct source *source;
	char path[64];
	struct recording *r = recording_begin(0);
	size_t data = r->len;
	put_info(r, TRACE_INTEL_BTS, info, sizeof info / sizeof *info);
	put_mmap(r, 7, 0x1000, 1);
	size_t begin = r->len;
	put_piece(r, 0, 7, 1, NULL, 0);
	size_t head = r->len - begin;
	put_at(r, begin + 8, (uint64_t)PIECE_BRANCHES * BTS_RECORD_BYTES, 8);
	put_at(r, 48, begin - data + pieces * (head + (uint64_t)PIECE_BRANCHES * BTS_RECORD_BYTES), 8);
	snprintf(path, sizeof path, "%s/data", folder);
	FILE *file = fopen(path, "w");
	EXPECT(file && fwrite(r->bytes, begin, 1, file) == 1);
	for (unsigned i = 0; i < pieces; i++) {
		fwrite(r->bytes + begin, head, 1, file);
		for (unsigned k = 0; k < PIECE_BRANCHES; k++)
			fwrite(branch, sizeof branch, 1, file);
	}
	fclose(file);
	free(r);
	EXPECT_INT(source_open(&source, path, NULL, NULL), 0);
	EXPECT_INT(session_open(&session, source, &options, NULL), 0);
	EXPECT_INT(session_run(&session, &sink, NULL), 0);
	EXPECT_STR(str_text(&got), "");
	unsigned long kb = resident_kb(path);
	session_close(&session);
	return kb;
}

TEST("the memory of a trace that is decoded does not grow with its length")
{
	enum { PIECE_KB = 2 << 10 };
	static const char *const names[] = { "data", NULL };
	char folder[] = "/tmp/trace_test.XXXXXX";
	EXPECT(mkdtemp(folder) != NULL);
	unsigned long few = resident_after(folder, 3), many = resident_after(folder, 9);
	EXPECT(few <= 3 * PIECE_KB);
	EXPECT(many < few + PIECE_KB);
	remove_folder(folder, names);
}

TEST("a trace without times has its samples after all records")
{
	struct recording *r = pt_recording(0);
	expect_trace(r, "r",
			"| @79; | @81; | @109; | @111; | @159; | @161; branches:HG 7 0>1000 101+0*1 u; branches:HG 7 1010>1005 5+1*1 u; "
			"branches:HG 7 1010>1005 5+1*1 u; branches:HG 7 1010>1005 5+1*1 u; branches:HG 7 1010>0 205+1*1 u; "
			"branches:HG 7 0>1005 101+0*1 u; branches:HG 7 1010>1005 5+1*1 u; branches:HG 7 1010>0 205+1*1 u; ");
	expect_window(r, "r", 161, 162,
			"| @79; | @81; | @109; | @111; | @159; | @161; branches:HG 7 0>1000 101+0*1 u; branches:HG 7 1010>1005 5+1*1 u; "
			"branches:HG 7 1010>1005 5+1*1 u; branches:HG 7 1010>1005 5+1*1 u; branches:HG 7 1010>0 205+1*1 u; "
			"branches:HG 7 0>1005 101+0*1 u; branches:HG 7 1010>1005 5+1*1 u; branches:HG 7 1010>0 205+1*1 u; ");
	free(r);
}

/* A trace that is long enough to be decoded in segments: groups of packets at the times 1000, 1002 …, each from a synchronization point to
 * the end of tracing. Of each group the number of rounds through the program, and whether it begins with an overflow. */
enum { GROUPS = 9000, GROUPS_FROM = 1000, CLOCK_EVERY = 700 };

static unsigned rounds_of(unsigned group)
{
	return 1 + group % 3 + (group / 1000 == 4 ? 20 : 0);
}

static bool overflows(unsigned group)
{
	return group % 50 == 49;
}

static size_t add_group(char *to, unsigned group)
{
	static const char begin[] = PSB, end[] = PSBEND LONG_MODE, lost[] = PSBEND OVERFLOW LONG_MODE, start[] = BEGIN_1000;
	const unsigned time = GROUPS_FROM + 2 * group;
	size_t len = 0;
	memcpy(to, begin, sizeof begin - 1);
	len += sizeof begin - 1;
	const char tsc[] = { 0x19, (char)time, (char)(time >> 8), (char)(time >> 16), 0, 0, 0, 0 };
	memcpy(to + len, tsc, sizeof tsc);
	len += sizeof tsc;
	const char *next = overflows(group) ? lost : end;
	size_t size = overflows(group) ? sizeof lost - 1 : sizeof end - 1;
	memcpy(to + len, next, size);
	len += size;
	memcpy(to + len, start, sizeof start - 1);
	len += sizeof start - 1;
	for (unsigned i = 0; i < rounds_of(group); i++)
		to[len++] = TAKEN[0];
	to[len++] = END[0];
	return len;
}

/* What a group shows, by the letters of --itrace. */
static void group_text(struct str *out, unsigned group, const char *itrace)
{
	static const struct {
		const char *letters, *text;
		bool last, first;
	} rows[] = {
		{ "br", "0>1000 101+0*1", .first = true }, { "bc", "1000>1010 3+5*1" }, { "br", "1010>1005 5+1*1" }, { "b", "1006>1000 1+2*1" },
		{ "bcr", "1010>0 205+1*1", .last = true },
	};
	if (overflows(group) && strchr(itrace, 'e'))
		str_puts(out, "error 7 at 0 tid 7; ");
	for (unsigned round = 0; round <= rounds_of(group); round++)
		for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
			bool last = round == rounds_of(group);
			if ((rows[i].first && round) || (rows[i].last && !last) || (last && (i == 2 || i == 3)) || !strpbrk(rows[i].letters, itrace))
				continue;
			str_printf(out, "branches:HG 7 @%u %s u; ", GROUPS_FROM + 2 * group, rows[i].text);
		}
}

static void write_long_recording(const char *path)
{
	const uint64_t info[] = { PMU, 0, 1, 0, 1, TSC_BIT, 1 << 11, 0, 0, 0, 0, 0, 0, 0, 0, 20, 0 };
	char *packets = malloc(GROUPS * 80);
	size_t len = 0;
	for (unsigned group = 0; group < GROUPS; group++)
		len += add_group(packets + len, group);
	while (len % 8)
		packets[len++] = 0; /* padding */
	struct recording *r = recording_begin(TSC_BIT);
	size_t data = r->len;
	put_info(r, TRACE_INTEL_PT, info, sizeof info / sizeof *info);
	put_mmap(r, 7, 0x1000, 1);
	for (unsigned group = 0; group < GROUPS; group += CLOCK_EVERY)
		put_clock(r, 0x1005, GROUPS_FROM + 2 * group + 1);
	size_t begin = r->len;
	put_piece(r, 0, 7, 0, NULL, 0);
	put_at(r, begin + 8, len, 8);
	put_at(r, 48, r->len - data + len, 8);
	FILE *file = fopen(path, "w");
	EXPECT(file && fwrite(r->bytes, r->len, 1, file) == 1 && fwrite(packets, len, 1, file) == 1);
	if (file)
		fclose(file);
	free(r);
	free(packets);
}

static void expect_long(const char *path, const char *itrace, unsigned threads)
{
	struct trace_options trace = { .code = code_of };
	struct session_options options = { .threads = threads, .trace = &trace };
	CLEANUP_STR struct str got = { 0 }, want = { 0 };
	struct sink sink = { .context = &got, .record = record_line, .serial = true, .want_records = true };
	struct session session;
	struct source *source;
	struct error err = { 0 };
	EXPECT_INT(itrace_parse(&trace.itrace, itrace, true, &err), 0);
	EXPECT_INT(source_open(&source, path, NULL, &err), 0);
	EXPECT_INT(session_open(&session, source, &options, &err), 0);
	EXPECT_INT(session_run(&session, &sink, &err), 0);
	session_close(&session);
	for (unsigned group = 0; group < GROUPS; group++) {
		group_text(&want, group, itrace);
		if (group % CLOCK_EVERY == 0)
			str_printf(&want, "| @%u; ", GROUPS_FROM + 2 * group + 1);
	}
	const char *a = str_text(&got), *b = str_text(&want);
	size_t same = 0;
	while (a[same] && a[same] == b[same])
		same++;
	if (a[same] != b[same])
		unit_fail(__FILE__, __LINE__, "--itrace=%s with %u threads: at %zu of %zu \"%.120s\", expected \"%.120s\"", itrace, threads,
			same, want.len, a + (same > 60 ? same - 60 : 0), b + (same > 60 ? same - 60 : 0));
}

TEST("a long trace that is decoded in segments shows each branch once, in order, with any number of threads")
{
	static const char *const names[] = { "data", NULL };
	static const char *const itraces[] = { "be", "cr", "c", "re", "e" };
	char folder[] = "/tmp/trace_test.XXXXXX", path[64];
	EXPECT(mkdtemp(folder) != NULL);
	snprintf(path, sizeof path, "%s/data", folder);
	write_long_recording(path);
	for (size_t i = 0; i < sizeof itraces / sizeof *itraces; i++)
		for (unsigned threads = 1; threads <= 4; threads += 3)
			expect_long(path, itraces[i], threads);
	remove_folder(folder, names);
}
