/* Lines of branches with steps that count their calls: a line that is like the one before is copied. */
#include <stdlib.h>

#include "base/memory.h"
#include "script/internal.h"
#include "session/trace.h"
#include "unit.h"

static unsigned calls; /* of all steps but that of the cycles */

static void step_thread(const struct listing_line *line, const struct field_row *row)
{
	calls++;
	writer_printf(line->out, "%u ", line->r->sample->tid);
}

static void step_time(const struct listing_line *line, const struct field_row *row)
{
	calls++;
	writer_printf(line->out, "%llu: ", (unsigned long long)line->r->sample->time);
}

static void step_places(const struct listing_line *line, const struct field_row *row)
{
	calls++;
	writer_printf(line->out, "%llx => %llx %s", (unsigned long long)line->r->sample->ip, (unsigned long long)line->r->sample->addr,
		line->plan->label);
}

static void step_cycles(const struct listing_line *line, const struct field_row *row)
{
	writer_printf(line->out, " %llu", (unsigned long long)trace_note_of(line->r)->cycles);
}

/* A branch, and all that its line needs. The note follows the body. */
struct branch {
	struct { uint64_t body; struct trace_note note; } bytes;
	struct record record;
	struct evsel evsel;
	struct sample sample;
	struct resolved r;
	struct listing listing;
	struct listing_plan plan;
	struct listing_worker worker;
	struct writer out;
	struct listing_line line;
};

static void branch_init(struct branch *b)
{
	*b = (struct branch){ .evsel.decoded = true, .sample = { .ip = 0x1000, .addr = 0x2000, .tid = 7, .time = 5000 } };
	b->bytes.note.flags = TRACE_BRANCH;
	b->bytes.note.cycles = 1;
	b->record = (struct record){ .type = RECORD_SAMPLE, .misc = RECORD_MISC_USER, .body = (const uint8_t *)&b->bytes.body, .body_len = 8 };
	b->r = (struct resolved){ .record = &b->record, .sample = &b->sample, .evsel = &b->evsel };
	b->plan = (struct listing_plan){ .label = "", .line_count = 4, .step_count = 4, .time_step = 1, .cycles_step = 3,
		.steps = { { step_thread, NULL }, { step_time, NULL }, { step_places, NULL }, { step_cycles, NULL } } };
	writer_open(&b->out, -1, 1 << 14);
	b->worker.out = &b->out;
	b->line = (struct listing_line){ .listing = &b->listing, .worker = &b->worker, .plan = &b->plan, .r = &b->r, .out = &b->out };
	calls = 0;
}

static void branch_fini(struct branch *b)
{
	branch_line_forget(&b->worker);
	EXPECT(!b->worker.branch_lines);
	free(b->out.buffer);
}

/* What the line has, and how many steps made it. */
static void expect_line(struct branch *b, const char *text, unsigned made)
{
	calls = 0;
	b->out.len = 0;
	EXPECT(branch_line_print(&b->line));
	EXPECT_INT(calls, made);
	EXPECT_INT(b->out.len, strlen(text));
	EXPECT(memcmp(b->out.buffer, text, b->out.len) == 0);
}

TEST("the line of the same branch is copied, but for the time and the cycles")
{
	struct branch b;
	branch_init(&b);
	expect_line(&b, "7 5000: 1000 => 2000  1\n", 3);
	b.bytes.note.cycles = 22;
	expect_line(&b, "7 5000: 1000 => 2000  22\n", 1); /* the text of the time is stored with the second line */
	expect_line(&b, "7 5000: 1000 => 2000  22\n", 0);
	b.sample.time = 6000;
	expect_line(&b, "7 6000: 1000 => 2000  22\n", 1);
	branch_fini(&b);
}

TEST("the text of the time is copied within a microsecond, or with nanoseconds only at the same one")
{
	struct branch b;
	branch_init(&b);
	expect_line(&b, "7 5000: 1000 => 2000  1\n", 3);
	expect_line(&b, "7 5000: 1000 => 2000  1\n", 1);
	b.sample.time = 5999;
	expect_line(&b, "7 5000: 1000 => 2000  1\n", 0);
	b.listing.options.nanoseconds = true;
	expect_line(&b, "7 5999: 1000 => 2000  1\n", 1);
	b.sample.time = 5998;
	expect_line(&b, "7 5998: 1000 => 2000  1\n", 1);
	expect_line(&b, "7 5998: 1000 => 2000  1\n", 0);
	branch_fini(&b);
}

TEST("a line that differs in anything it depends on is made anew")
{
	struct branch b;
	branch_init(&b);
	expect_line(&b, "7 5000: 1000 => 2000  1\n", 3);
	expect_line(&b, "7 5000: 1000 => 2000  1\n", 1);
	b.sample.tid = 8;
	expect_line(&b, "8 5000: 1000 => 2000  1\n", 3);
	b.sample.ip = 0x1001;
	expect_line(&b, "8 5000: 1001 => 2000  1\n", 3);
	b.sample.addr = 0x2001;
	expect_line(&b, "8 5000: 1001 => 2001  1\n", 3);
	b.sample.period = 3;
	expect_line(&b, "8 5000: 1001 => 2001  1\n", 3);
	b.bytes.note.flags = TRACE_BRANCH | TRACE_CALL;
	expect_line(&b, "8 5000: 1001 => 2001  1\n", 3);
	b.sample.pid = 9;
	expect_line(&b, "8 5000: 1001 => 2001  1\n", 3);
	b.sample.cpu = 2;
	expect_line(&b, "8 5000: 1001 => 2001  1\n", 3);
	b.r.event = 1;
	expect_line(&b, "8 5000: 1001 => 2001  1\n", 3);
	b.r.comm = 4;
	expect_line(&b, "8 5000: 1001 => 2001  1\n", 3);
	b.r.tid = 4;
	expect_line(&b, "8 5000: 1001 => 2001  1\n", 3);
	b.bytes.note.instruction_size = 3;
	expect_line(&b, "8 5000: 1001 => 2001  1\n", 3);
	b.bytes.note.has_instruction = true;
	expect_line(&b, "8 5000: 1001 => 2001  1\n", 3);
	b.bytes.note.instruction[2] = 0x90;
	expect_line(&b, "8 5000: 1001 => 2001  1\n", 3);
	b.bytes.note.instruction[14] = 0x90;
	expect_line(&b, "8 5000: 1001 => 2001  1\n", 3);
	b.record.misc = RECORD_MISC_KERNEL;
	expect_line(&b, "8 5000: 1001 => 2001  1\n", 3);
	expect_line(&b, "8 5000: 1001 => 2001  1\n", 0);
	branch_fini(&b);
}

/* Indents the line by the depth of calls, in a column that it makes as wide as the depth. */
static void step_indent(const struct listing_line *line, const struct field_row *row)
{
	unsigned depth = trace_note_of(line->r)->depth, *width = &line->listing->call_width;
	calls++;
	writer_pad(line->out, '.', *width > depth ? *width : depth);
	*width = depth;
}

TEST("a stored line with callindent is that of a depth and of a width of the column, which is the one behind it again")
{
	struct branch b;
	branch_init(&b);
	b.plan.steps[2].print = step_indent;
	b.plan.shown = FIELD_BIT(FIELD_CALLINDENT);
	b.bytes.note.depth = 2;
	expect_line(&b, "7 5000: .. 1\n", 3);
	expect_line(&b, "7 5000: .. 1\n", 3); /* the column was narrower before the first line */
	expect_line(&b, "7 5000: .. 1\n", 1);
	b.bytes.note.depth = 1;
	expect_line(&b, "7 5000: .. 1\n", 3);
	EXPECT_INT(b.listing.call_width, 1);
	b.listing.call_width = 2;
	expect_line(&b, "7 5000: .. 1\n", 0);
	EXPECT_INT(b.listing.call_width, 1);
	b.plan.shown = 0; /* neither counts */
	expect_line(&b, "7 5000: . 1\n", 3);
	b.bytes.note.depth = 5;
	expect_line(&b, "7 5000: . 1\n", 0);
	branch_fini(&b);
}

TEST("a forgotten line is made anew, and one that is too long is never stored")
{
	char name[400];
	struct branch b;
	branch_init(&b);
	expect_line(&b, "7 5000: 1000 => 2000  1\n", 3);
	branch_line_forget(&b.worker);
	expect_line(&b, "7 5000: 1000 => 2000  1\n", 3);
	branch_line_forget(&b.worker);
	/* "7 " and "1000 => 2000 " are 15 bytes, 312 are stored */
	memset(name, 'x', sizeof name);
	for (size_t len = 296; len <= 298; len++) {
		name[len] = '\0';
		b.plan.label = name;
		branch_line_forget(&b.worker);
		for (unsigned i = 0; i < 3; i++) {
			calls = 0;
			EXPECT(branch_line_print(&b.line));
			EXPECT(i < 2 || calls == (len == 298 ? 3u : 0u));
		}
		name[len] = 'x';
	}
	branch_fini(&b);
}

TEST("lines of other samples, with a call chain, or of which the order matters, are the caller's")
{
	struct branch b;
	struct writer other = { 0 };
	branch_init(&b);
	b.plan.time_step = 0;
	EXPECT(!branch_line_print(&b.line));
	b.plan.time_step = 1;
	b.evsel.decoded = false;
	EXPECT(!branch_line_print(&b.line));
	b.evsel.decoded = true;
	b.sample.present = SAMPLE_CALLCHAIN;
	EXPECT(!branch_line_print(&b.line));
	b.sample.present = 0;
	b.listing.varies = true;
	EXPECT(!branch_line_print(&b.line));
	b.listing.varies = false;
	b.line.out = &other;
	EXPECT(!branch_line_print(&b.line));
	b.line.out = &b.out;
	EXPECT_INT(calls, 0);
	EXPECT(branch_line_print(&b.line));
	branch_fini(&b);
}

/* The time's step, and the one of the cycles, for these steps of a line; a step more follows the line if `more`. */
static void expect_plan(struct listing_plan plan, field_print *const *steps, unsigned count, unsigned time, unsigned cycles)
{
	for (unsigned i = 0; i < count; i++)
		plan.steps[i].print = steps[i];
	plan.step_count += count;
	plan.line_count = count;
	plan.time_step = 99;
	branch_line_plan(&plan);
	EXPECT_INT(plan.time_step, time);
	if (time)
		EXPECT_INT(plan.cycles_step, cycles);
}
#define EXPECT_PLAN(time, cycles, ...)                                                             \
	expect_plan((struct listing_plan){ .branch_trace = true }, (field_print *const[]){ __VA_ARGS__ },  \
		sizeof((field_print *const[]){ __VA_ARGS__ }) / sizeof(field_print *), time, cycles)

TEST("lines are stored where the time is between fields that do not change, and the cycles are at the end")
{
	static field_print *const usual[] = { print_comm, print_time, print_branch_trace };
	EXPECT_PLAN(1, 3, print_comm, print_time, print_branch_trace);
	EXPECT_PLAN(3, 8, print_comm, print_ids, print_cpu, print_time, print_period, print_event, print_flags, print_branch_trace);
	EXPECT_PLAN(1, 3, print_comm, print_time, print_branch_trace, print_ipc);
	EXPECT_PLAN(0, 0, print_time, print_branch_trace);
	EXPECT_PLAN(0, 0, print_comm);
	EXPECT_PLAN(0, 0, print_comm, print_branch_trace);
	EXPECT_PLAN(0, 0, print_comm, print_time);
	EXPECT_PLAN(0, 0, print_comm, print_time, print_ipc);
	EXPECT_PLAN(0, 0, print_comm, print_time, print_branch_trace, print_ipc, print_ipc);
	EXPECT_PLAN(0, 0, print_comm, print_time, print_branch_trace, print_comm);
	EXPECT_PLAN(1, 4, print_comm, print_time, print_ip, print_instruction);
	expect_plan((struct listing_plan){ .branch_trace = false }, usual, 3, 1, 3);
	expect_plan((struct listing_plan){ .branch_trace = true, .comm_plain = true }, usual, 3, 0, 0);
	expect_plan((struct listing_plan){ .branch_trace = true, .step_count = 1 }, usual, 3, 0, 0);
	expect_plan((struct listing_plan){ .branch_trace = true, .shown = FIELD_BIT(FIELD_CALLINDENT) }, usual, 3, 1, 3);
	expect_plan((struct listing_plan){ .branch_trace = true, .shown = FIELD_BIT(FIELD_TIME) }, usual, 3, 1, 3);
}
