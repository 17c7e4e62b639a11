#include <errno.h>

#include "event/event_names.h"
#include "record/acquire/counters.h"
#include "unit.h"

enum { CHAIN = 1, BRANCHES = 2, AUX = 4, PERIOD = 8, PRECISE = 16, CLOCK = 32, CGROUP = 64, NAMESPACES = 128, USER = 256 };

/* An event with what these words say. */
static struct event made(uint32_t type, int has)
{
	struct event event = { .name = "the-event", .attr = { .type = type } };
	struct attr *attr = &event.attr;
	attr->sample_type = (has & CHAIN ? SAMPLE_CALLCHAIN : 0) | (has & BRANCHES ? SAMPLE_BRANCH_STACK : 0) | (has & CGROUP ? SAMPLE_CGROUP : 0);
	attr->sample_period = has & PERIOD ? 1 : 0;
	attr->clockid = has & CLOCK ? 7 : 0;
	attr->flags |= has & AUX ? (uint64_t)1 << ATTR_AUX_OUTPUT : 0;
	attr->flags |= has & CLOCK ? (uint64_t)1 << ATTR_USE_CLOCKID : 0;
	attr->flags |= has & NAMESPACES ? (uint64_t)1 << ATTR_NAMESPACES : 0;
	attr->flags |= has & USER ? (uint64_t)1 << ATTR_EXCLUDE_KERNEL : 0;
	attr->flags |= has & PRECISE ? (uint64_t)2 << ATTR_PRECISE_IP : 0;
	return event;
}

TEST("for each reason why an event cannot be opened, there is a sentence, and a hint where something helps")
{
	static const struct target command = { .command = true }, system = { .system_wide = true };
#define SYSCALL(number, text) "The sys_perf_event_open() syscall returned with " number " (" text ") for event (the-event).\n" \
	"\"dmesg | grep -i perf\" may provide additional information."
#define NO_PMU COUNTER_ABSENT_HINT "; 'list' prints the events that exist here"
	static const struct {
		int sys;
		uint32_t type;
		int has;
		const struct target *target;
		enum error_kind kind;
		const char *text, *hint;
	} rows[] = {
		{ ENOENT, ATTR_HARDWARE, 0, &command, ERROR_UNSUPPORTED, "The the-event event is not supported.", NO_PMU },
		{ ENXIO, ATTR_HW_CACHE, 0, &command, ERROR_UNSUPPORTED, "The the-event event is not supported.", NO_PMU },
		{ ENOENT, ATTR_RAW, 0, &command, ERROR_UNSUPPORTED, "The the-event event is not supported.", NO_PMU },
		{ ENOENT, ATTR_SOFTWARE, 0, &command, ERROR_UNSUPPORTED, "The the-event event is not supported.", "this kernel is too old for it" },
		{ ENOENT, ATTR_TRACEPOINT, 0, &command, ERROR_UNSUPPORTED, "The the-event event is not supported.", "" },
		{ ENOENT, EVENT_TYPE_TOOL, 0, &command, ERROR_UNSUPPORTED, "The the-event event is not supported.",
			"it is a time that 'stat' measures, and has no samples" },
		{ EOPNOTSUPP, ATTR_HARDWARE, BRANCHES | PERIOD, &command, ERROR_UNSUPPORTED,
			"the-event: PMU Hardware or event type doesn't support branch stack sampling.", "" },
		{ EOPNOTSUPP, ATTR_HARDWARE, AUX | PERIOD, &command, ERROR_UNSUPPORTED,
			"the-event: PMU Hardware doesn't support 'aux_output' feature", "" },
		{ EOPNOTSUPP, ATTR_HARDWARE, PERIOD | PRECISE, &command, ERROR_UNSUPPORTED,
			"the-event: PMU Hardware doesn't support sampling/overflow-interrupts.", "" },
		{ EOPNOTSUPP, ATTR_HARDWARE, PRECISE, &command, ERROR_UNSUPPORTED,
			"the-event: the processor cannot sample precisely here; try without 'p'", "" },
		{ EOPNOTSUPP, ATTR_HARDWARE, 0, &command, ERROR_UNSUPPORTED, "the kernel cannot do that with the-event", "" },
		{ EINVAL, ATTR_HARDWARE, CLOCK | BRANCHES, &command, ERROR_UNSUPPORTED,
			"clockid feature not supported with this event or clock (the-event, clock 7)", "" },
		{ EINVAL, ATTR_HARDWARE, BRANCHES, &command, ERROR_UNSUPPORTED,
			"the-event: PMU Hardware or event type doesn't support branch stack sampling.", "" },
		{ EINVAL, ATTR_HARDWARE, CGROUP, &command, ERROR_UNSUPPORTED,
			"the kernel does not know a part of what the-event was asked to record", "" },
		{ EINVAL, ATTR_HARDWARE, NAMESPACES, &system, ERROR_UNSUPPORTED,
			"the kernel does not know a part of what the-event was asked to record", "" },
		{ EINVAL, ATTR_HARDWARE, 0, &command, ERROR_USAGE,
			"Invalid event (the-event) in per-thread mode, enable system wide with '-a'.", "" },
		{ EINVAL, ATTR_HARDWARE, 0, &system, ERROR_SYSTEM, SYSCALL("22", "Invalid argument"), "" },
		{ ENODEV, ATTR_HARDWARE, 0, &system, ERROR_USAGE,
			"the-event cannot be measured on one of the CPUs asked for: is it offline, or not of this PMU?", "" },
		{ ESRCH, ATTR_HARDWARE, 0, &command, ERROR_USAGE, "the process ended before it could be measured", "" },
		{ EMFILE, ATTR_HARDWARE, 0, &command, ERROR_LIMIT, "too many events are opened for the limit of open files",
			"use fewer events, threads or CPUs, or raise the limit: ulimit -n <more>" },
		{ EBUSY, ATTR_HARDWARE, 0, &command, ERROR_SYSTEM, "The PMU  counters are busy and in use by another process.", "" },
		{ ENOSPC, ATTR_HARDWARE, 0, &command, ERROR_LIMIT, "there are not enough hardware registers for the-event", "" },
		{ ENOMEM, ATTR_HARDWARE, CHAIN, &command, ERROR_LIMIT, "not enough memory for the call chains of the-event",
			"lower kernel.perf_event_max_stack: sysctl -w kernel.perf_event_max_stack=127" },
		{ ENOMEM, ATTR_HARDWARE, 0, &command, ERROR_SYSTEM, SYSCALL("12", "Cannot allocate memory"), "" },
		{ EOVERFLOW, ATTR_HARDWARE, CHAIN, &command, ERROR_LIMIT,
			"the call chain of the-event is longer than kernel.perf_event_max_stack allows", "" },
		{ EIO, ATTR_HARDWARE, 0, &command, ERROR_SYSTEM, SYSCALL("5", "Input/output error"), "" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct event event = made(rows[i].type, rows[i].has);
		struct error err = { 0 };
		EXPECT(counter_explain(&err, &event, rows[i].target, rows[i].sys) < 0);
		EXPECT_INT(err.kind, rows[i].kind);
		EXPECT_STR(err.text, rows[i].text);
		EXPECT_STR(err.hint, rows[i].hint);
	}
}

TEST("where permission is missing, the sentence says what for")
{
	static const struct target command = { .command = true }, attached = { .attached = true }, system = { .system_wide = true };
	static const struct {
		uint32_t type;
		int has;
		const struct target *target;
		const char *text;
	} rows[] = {
		{ ATTR_TRACEPOINT, USER, &system, "no permission to measure tracepoints with the-event: " },
		{ ATTR_SOFTWARE, USER, &system, "no permission to measure whole CPUs with the-event: " },
		{ ATTR_SOFTWARE, 0, &command, "no permission to measure kernel code with the-event: " },
		{ ATTR_SOFTWARE, USER, &command, "no permission to measure processes with the-event: " },
		{ ATTR_SOFTWARE, USER, &attached, "no permission to measure that process with the-event: " },
	};
	for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
		struct event event = made(rows[i / 2].type, rows[i / 2].has);
		struct error err = { 0 };
		EXPECT(counter_explain(&err, &event, rows[i / 2].target, i % 2 ? EPERM : EACCES) < 0);
		EXPECT_INT(err.kind, ERROR_PERMISSION);
		err.text[strlen(rows[i / 2].text)] = '\0'; /* then what this machine allows */
		EXPECT_STR(err.text, rows[i / 2].text);
	}
}
