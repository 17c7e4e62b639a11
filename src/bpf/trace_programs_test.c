#include "bpf/trace_programs.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "unit.h"

struct seen {
	int32_t number;
	unsigned calls, tasks;
	int64_t result;
	uint64_t first;
	char text[64];
};

static void see(void *context, const void *record, size_t size)
{
	struct seen *seen = context;
	const struct trace_call *call = record;
	const struct trace_item *item;
	const uint8_t *bytes;
	if (call->kind == TRACE_TASK) {
		seen->tasks++;
		return;
	}
	for (size_t at = 0; trace_item_next(call, &at, &item, &bytes);)
		if (!item->failed)
			snprintf(seen->text, sizeof seen->text, "%.*s", (int)item->size, (const char *)bytes);
	if (call->number != seen->number)
		return;
	if (call->arguments_sent)
		seen->first = call->arguments[0];
	if (call->kind != TRACE_ENTERED) {
		seen->calls++;
		seen->result = call->result;
	}
}

static bool opened(struct trace_programs *programs, const struct trace_programs_options *options)
{
	struct error err = { 0 };
	if (trace_programs_open(programs, options, &err) == 0)
		return true;
	if (err.kind == ERROR_PERMISSION || err.kind == ERROR_UNSUPPORTED || err.sys == ENOSYS)
		unit_skip(err.text);
	else
		unit_fail(__FILE__, __LINE__, "%s", err.text);
	return false;
}

TEST("the selected calls of this thread arrive, with their arguments, results and strings")
{
	static struct trace_rule rules[2 * TRACE_NUMBERS];
	struct trace_programs programs;
	struct seen seen = { .number = SYS_faccessat };
	const pid_t self = getpid();
	rules[SYS_faccessat] = (struct trace_rule){ .flags = TRACE_RULE_SHOWN, .copied = 1 << 1, .arguments = 3,
		.copies = { 0, TRACE_COPY_STRING } };
	rules[SYS_getpgid] = (struct trace_rule){ .flags = TRACE_RULE_SHOWN, .arguments = 1 };
	const struct trace_programs_options options = { .targets = &self, .target_count = 1, .cgroup = -1, .rules = rules };
	if (!opened(&programs, &options))
		return;
	for (int i = 0; i < 1000; i++) {
		syscall(SYS_getpgid, i);
		syscall(SYS_getppid);
	}
	syscall(SYS_faccessat, AT_FDCWD, "/no/such", 0);
	trace_programs_read(&programs, UINT64_MAX, see, &seen);
	EXPECT_INT(seen.calls, 1);
	EXPECT_INT(seen.result, -2);
	EXPECT_STR(seen.text, "/no/such");
	EXPECT_INT(seen.tasks, 1);
	syscall(SYS_getpgid, -1);
	seen = (struct seen){ .number = SYS_getpgid };
	trace_programs_read(&programs, UINT64_MAX, see, &seen);
	EXPECT_INT(seen.calls, 1);
	EXPECT_INT((int)seen.first, -1);
	EXPECT_INT(seen.result, -3);
	EXPECT_INT(trace_programs_lost(&programs), 0);
	trace_programs_close(&programs);
}

/* The bytes of each argument's string, if all of them are the argument's own letter. */
static void measure_letters(void *context, const void *record, size_t size)
{
	size_t *lengths = context;
	const struct trace_item *item;
	const uint8_t *bytes;
	for (size_t at = 0; ((const struct trace_call *)record)->kind != TRACE_TASK && trace_item_next(record, &at, &item, &bytes);) {
		size_t length = 0;
		while (length < item->size && bytes[length] == 'a' + item->argument)
			length++;
		lengths[item->argument] = length;
	}
}

TEST("three strings of the greatest length are copied whole")
{
	static struct trace_rule rules[2 * TRACE_NUMBERS];
	static char strings[3][2 * TRACE_STRING_MAX];
	struct trace_programs programs;
	size_t lengths[TRACE_ARGUMENTS] = { 0 };
	const pid_t self = getpid();
	rules[SYS_request_key] = (struct trace_rule){ .flags = TRACE_RULE_SHOWN, .copied = 7, .arguments = 4,
		.copies = { TRACE_COPY_STRING, TRACE_COPY_STRING, TRACE_COPY_STRING } };
	const struct trace_programs_options options = { .targets = &self, .target_count = 1, .cgroup = -1, .rules = rules };
	if (!opened(&programs, &options))
		return;
	for (int i = 0; i < 3; i++)
		memset(strings[i], 'a' + i, sizeof strings[i] - 1);
	syscall(SYS_request_key, strings[0], strings[1], strings[2], 0);
	trace_programs_read(&programs, UINT64_MAX, measure_letters, lengths);
	for (int i = 0; i < 3; i++)
		EXPECT_INT(lengths[i], TRACE_STRING_MAX - 1);
	trace_programs_close(&programs);
}

TEST("calls with tracepoints of their own arrive as others do, with the arguments that they have")
{
	static struct trace_rule rules[2 * TRACE_NUMBERS];
	static const char *const calls[] = { "faccessat", "getpgid" };
	struct trace_programs programs;
	struct seen seen = { .number = SYS_faccessat };
	const pid_t self = getpid();
	rules[SYS_faccessat] = (struct trace_rule){ .flags = TRACE_RULE_SHOWN, .copied = 1 << 1, .arguments = 3,
		.copies = { 0, TRACE_COPY_STRING } };
	rules[SYS_getpgid] = (struct trace_rule){ .flags = TRACE_RULE_SHOWN, .arguments = 1 };
	const struct trace_programs_options options = { .targets = &self, .target_count = 1, .cgroup = -1, .rules = rules, .calls = calls,
		.call_count = 2 };
	if (!opened(&programs, &options))
		return;
	syscall(SYS_faccessat, AT_FDCWD, "/no/such", 0, 7L, 8L, 9L);
	syscall(SYS_getpgid, -1);
	syscall(SYS_getppid);
	trace_programs_read(&programs, UINT64_MAX, see, &seen);
	EXPECT_INT(seen.calls, 1);
	EXPECT_INT(seen.result, -2);
	EXPECT_STR(seen.text, "/no/such");
	trace_programs_close(&programs);
}

TEST("records that find no room are counted")
{
	static struct trace_rule rules[2 * TRACE_NUMBERS];
	struct trace_programs programs;
	struct seen seen = { .number = SYS_getppid };
	const pid_t self = getpid();
	rules[SYS_getppid] = (struct trace_rule){ .flags = TRACE_RULE_SHOWN };
	const struct trace_programs_options options = { .targets = &self, .target_count = 1, .cgroup = -1, .rules = rules, .ring_bytes = 4096 };
	if (!opened(&programs, &options))
		return;
	for (int i = 0; i < 5000; i++)
		syscall(SYS_getppid);
	uint64_t lost = trace_programs_lost(&programs);
	trace_programs_read(&programs, UINT64_MAX, see, &seen);
	EXPECT(lost > 0);
	EXPECT_INT(seen.calls + lost, 5000);
	trace_programs_close(&programs);
}

static void see_sum(void *context, const struct trace_sum_key *key, const struct trace_sum *sum)
{
	struct trace_sum *to = context;
	if (key->number != SYS_getpgid)
		return;
	if (!to->calls || sum->min < to->min)
		to->min = sum->min;
	if (sum->max > to->max)
		to->max = sum->max;
	to->calls += sum->calls;
	to->errors += sum->errors;
	to->total += sum->total;
}

static void see_error(void *context, const struct trace_error_key *key, uint64_t count)
{
	struct trace_sum *to = context;
	if (key->error == 3)
		to->unseen = count;
}

static void run_on(int cpu)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof set, &set);
}

TEST("sums are exact, of a thread that moves between CPUs, and of two calls that share the place of a part")
{
	const int other = SYS_getpgid - TRACE_PARTS;
	cpu_set_t all;
	static struct trace_rule rules[2 * TRACE_NUMBERS];
	struct trace_programs programs;
	struct trace_sum sum = { 0 };
	const pid_t self = getpid();
	rules[SYS_getpgid] = rules[other] = (struct trace_rule){ .flags = TRACE_RULE_SHOWN };
	sched_getaffinity(0, sizeof all, &all);
	const struct trace_programs_options options = { .targets = &self, .target_count = 1, .cgroup = -1, .rules = rules, .sums = true,
		.error_sums = true };
	if (!opened(&programs, &options))
		return;
	for (int i = 0; i < 2000; i++) {
		syscall(SYS_getpgid, i % 4 ? 0 : -1);
		if (i % 100 == 0)
			run_on(i / 100 % 2);
		if (i % 3 == 0)
			syscall(other, -1, NULL, NULL);
	}
	sched_setaffinity(0, sizeof all, &all);
	trace_programs_sums(&programs, see_sum, see_error, &sum);
	EXPECT_INT(sum.calls, 2000);
	EXPECT_INT(sum.errors, 500);
	EXPECT_INT(sum.unseen, 500);
	EXPECT(sum.min > 0 && sum.min <= sum.max && sum.max <= sum.total);
	EXPECT_INT(trace_programs_unsummed(&programs), 0);
	trace_programs_close(&programs);
}

static void read_in_two_parts(bool sorted)
{
	static struct trace_rule rules[2 * TRACE_NUMBERS];
	struct trace_programs programs;
	struct seen seen = { .number = SYS_getppid };
	struct timespec now;
	const pid_t self = getpid();
	rules[SYS_getppid] = (struct trace_rule){ .flags = TRACE_RULE_SHOWN };
	const struct trace_programs_options options = { .targets = &self, .target_count = 1, .cgroup = -1, .rules = rules, .sorted = sorted };
	if (!opened(&programs, &options))
		return;
	syscall(SYS_getppid);
	clock_gettime(CLOCK_MONOTONIC, &now);
	syscall(SYS_getppid);
	trace_programs_read(&programs, (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec, see, &seen);
	EXPECT_INT(seen.calls, 1);
	trace_programs_read(&programs, UINT64_MAX, see, &seen);
	EXPECT_INT(seen.calls, 2);
	trace_programs_close(&programs);
}

TEST("records behind a time wait for the next reading")
{
	read_in_two_parts(false);
}

TEST("records that are sorted wait for the next reading, too")
{
	read_in_two_parts(true);
}

TEST("a payload that ends early has no further item")
{
	struct {
		struct trace_call call;
		struct trace_item item;
		uint8_t bytes[8];
	} record = { .call = { .arguments_sent = TRACE_ARGUMENTS, .payload = sizeof record.item + 8 }, .item = { .size = 5 } };
	const struct trace_item *item;
	const uint8_t *bytes;
	size_t at = 0;
	EXPECT(trace_item_next(&record.call, &at, &item, &bytes));
	EXPECT_INT(at, sizeof record.item + 8);
	EXPECT(!trace_item_next(&record.call, &at, &item, &bytes));
	at = 0;
	record.item.size = 9;
	EXPECT(!trace_item_next(&record.call, &at, &item, &bytes));
}

TEST("a record is as long as its arguments and its payload, and has at most six arguments")
{
	enum { FIXED_BYTES = offsetof(struct trace_call, arguments) };
	struct {
		struct trace_call call;
		uint8_t payload[16];
	} record = { .call = { .kind = TRACE_WHOLE, .arguments_sent = 3, .payload = 16 } };
	EXPECT(trace_record_valid(&record, FIXED_BYTES + 3 * 8 + 16));
	EXPECT(!trace_record_valid(&record, FIXED_BYTES + 3 * 8 + 15));
	record.call.payload = UINT32_MAX;
	EXPECT(!trace_record_valid(&record, sizeof record));
	record.call.payload = 0;
	EXPECT(trace_record_valid(&record, FIXED_BYTES + 3 * 8));
	EXPECT(!trace_record_valid(&record, FIXED_BYTES + 3 * 8 - 1));
	record.call.arguments_sent = 0;
	EXPECT(trace_record_valid(&record, FIXED_BYTES));
	EXPECT(!trace_record_valid(&record, FIXED_BYTES - 1));
	record.call.arguments_sent = TRACE_ARGUMENTS;
	EXPECT(trace_record_valid(&record, sizeof record));
	record.call.arguments_sent = TRACE_ARGUMENTS + 1;
	EXPECT(!trace_record_valid(&record, sizeof record));
}

TEST("a record of a task is complete, or none")
{
	struct trace_task_record record = { .kind = TRACE_TASK };
	EXPECT(trace_record_valid(&record, sizeof record));
	EXPECT(!trace_record_valid(&record, sizeof record - 1));
	EXPECT(!trace_record_valid(&record, 0));
}
