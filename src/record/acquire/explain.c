/* Explains in a sentence why an event could not be opened, with a hint. */
#include <errno.h>
#include <string.h>

#include "event/event_names.h"
#include "os/permission.h"
#include "record/acquire/counters.h"

/* The level of kernel.perf_event_paranoid that would allow the event. */
static int refused(struct error *err, const struct event *event, const struct target *target)
{
	if (event->attr.type == ATTR_TRACEPOINT)
		return permission_refused(err, event->name, "tracepoints", -1);
	if (target->system_wide)
		return permission_refused(err, event->name, "whole CPUs", 0);
	if (!attr_flag(&event->attr, ATTR_EXCLUDE_KERNEL))
		return permission_refused(err, event->name, "kernel code", 1);
	return permission_refused(err, event->name, target->attached ? "that process" : "processes", 2);
}

static int unsupported(struct error *err, const struct event *event)
{
	const struct attr *attr = &event->attr;
	if (attr->sample_type & SAMPLE_BRANCH_STACK)
		return error_set(err, ERROR_UNSUPPORTED, "%s: PMU Hardware or event type doesn't support branch stack sampling.", event->name);
	if (attr_flag(attr, ATTR_AUX_OUTPUT))
		return error_set(err, ERROR_UNSUPPORTED, "%s: PMU Hardware doesn't support 'aux_output' feature", event->name);
	if (attr->sample_period) {
		return error_set(err, ERROR_UNSUPPORTED, "%s: PMU Hardware doesn't support sampling/overflow-interrupts.", event->name);
	}
	if (attr_precise_ip(attr))
		return error_set(err, ERROR_UNSUPPORTED, "%s: the processor cannot sample precisely here; try without 'p'", event->name);
	return error_set(err, ERROR_UNSUPPORTED, "the kernel cannot do that with %s", event->name);
}

static int absent(struct error *err, const struct event *event)
{
	uint32_t type = event->attr.type;
	error_set(err, ERROR_UNSUPPORTED, "The %s event is not supported.", event->name);
	if (type == ATTR_HARDWARE || type == ATTR_HW_CACHE || type == ATTR_RAW)
		return error_hint(err, COUNTER_ABSENT_HINT "; 'list' prints the events that exist here");
	if (type == EVENT_TYPE_TOOL)
		return error_hint(err, "it is a time that 'stat' measures, and has no samples");
	return type == ATTR_SOFTWARE ? error_hint(err, "this kernel is too old for it") : -1;
}

static int invalid(struct error *err, const struct event *event, const struct target *target)
{
	const struct attr *attr = &event->attr;
	if (attr_flag(attr, ATTR_USE_CLOCKID))
		return error_set(err, ERROR_UNSUPPORTED, "clockid feature not supported with this event or clock (%s, clock %d)", event->name,
			attr->clockid);
	if (attr->sample_type & SAMPLE_BRANCH_STACK)
		return unsupported(err, event);
	/* fields that kernels know since 5.7 */
	if (attr->sample_type >= SAMPLE_CGROUP || attr_flag(attr, ATTR_NAMESPACES))
		return error_set(err, ERROR_UNSUPPORTED, "the kernel does not know a part of what %s was asked to record", event->name);
	if (!target->system_wide)
		return error_set(err, ERROR_USAGE, "Invalid event (%s) in per-thread mode, enable system wide with '-a'.", event->name);
	return error_set(err, ERROR_SYSTEM, "The sys_perf_event_open() syscall returned with %d (%s) for event (%s).\n"
		"\"dmesg | grep -i perf\" may provide additional information.", EINVAL, strerror(EINVAL), event->name);
}

int counter_explain(struct error *err, const struct event *event, const struct target *target, int sys)
{
	switch (sys) {
	case EPERM:
	case EACCES:
		return refused(err, event, target);
	case ENOENT:
	case ENXIO:
		return absent(err, event);
	case EOPNOTSUPP:
		return unsupported(err, event);
	case EINVAL:
		return invalid(err, event, target);
	case ENODEV:
		return error_set(err, ERROR_USAGE, "%s cannot be measured on one of the CPUs asked for: is it offline, or not of this PMU?",
			event->name);
	case ESRCH:
		return error_set(err, ERROR_USAGE, "the process ended before it could be measured");
	case EMFILE:
		error_set(err, ERROR_LIMIT, "too many events are opened for the limit of open files");
		return error_hint(err, "use fewer events, threads or CPUs, or raise the limit: ulimit -n <more>");
	case EBUSY:
		return error_set(err, ERROR_SYSTEM, "The PMU %s counters are busy and in use by another process.", event->pmu ? event->pmu : "");
	case ENOSPC:
		return error_set(err, ERROR_LIMIT, "there are not enough hardware registers for %s", event->name);
	case ENOMEM:
		if (event->attr.sample_type & SAMPLE_CALLCHAIN) {
			error_set(err, ERROR_LIMIT, "not enough memory for the call chains of %s", event->name);
			return error_hint(err, "lower kernel.perf_event_max_stack: sysctl -w kernel.perf_event_max_stack=127");
		}
		break;
	case EOVERFLOW:
		return error_set(err, ERROR_LIMIT, "the call chain of %s is longer than kernel.perf_event_max_stack allows", event->name);
	default:
		break;
	}
	return error_set(err, ERROR_SYSTEM, "The sys_perf_event_open() syscall returned with %d (%s) for event (%s).\n"
		"\"dmesg | grep -i perf\" may provide additional information.", sys, strerror(sys), event->name);
}
