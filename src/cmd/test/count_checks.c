/* Self-checks that open counters: what this machine and its kernel count for this user. */
#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cmd/test/check.h"
#include "event/event.h"
#include "os/counter.h"
#include "os/process.h"
#include "os/tracefs.h"
#include "workload/workload.h"

static void run_workload(const char *name, const char *argument)
{
	const char *words[] = { argument, NULL };
	workload_find(name)->run(1, words);
}

/* Reads the counter and closes it; false if it cannot be read. */
static bool read_counter(int fd, uint64_t *value)
{
	bool done = counter_read(fd, value, sizeof *value) == (ssize_t)sizeof *value;
	counter_close(fd);
	return done;
}

static enum verdict check_event(struct check_run *run, const char *event, const char *absent)
{
	uint64_t value;
	int fd = check_counter(event);
	if (fd < 0)
		return check_refused(run, fd, absent);
	run_workload("brstack", "100000");
	if (!read_counter(fd, &value))
		return check_failed(run, "%s cannot be read", event);
	check_log("%s: %llu", event, (unsigned long long)value);
	return value ? CHECK_OK : check_failed(run, "%s counted nothing", event);
}

enum verdict check_software(struct check_run *run)
{
	return check_event(run, "cpu-clock:u", NULL);
}

enum verdict check_hardware(struct check_run *run)
{
	return check_event(run, "cycles:u", "this machine has no PMU, or does not pass it to its guests");
}

enum verdict check_branches(struct check_run *run)
{
	struct events events = { 0 };
	int fd = -ENOENT;
	if (events_parse(&events, "cycles:u", NULL) == 0) {
		struct attr *attr = &events.list.items[0].attr;
		attr->sample_period = 100000;
		attr->sample_type = SAMPLE_IP | SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = BRANCH_ANY | BRANCH_USER;
		fd = counter_open(attr, 0, -1, -1, 0);
	}
	events_fini(&events);
	if (fd < 0)
		return check_refused(run, fd, "this processor or its PMU's driver records no branches");
	counter_close(fd);
	return CHECK_OK;
}

/* Opens a counter of a tracepoint for this process; < 0: *verdict is set. */
static int open_tracepoint(struct check_run *run, const char *system, const char *name, enum verdict *verdict)
{
	struct error err = { 0 };
	uint64_t id;
	char event[128];
	if (!tracefs_path()) {
		*verdict = check_skip(run, "tracefs is not mounted, or this user cannot read it");
		return -1;
	}
	if (tracefs_id(system, name, &id, &err) < 0) {
		*verdict = check_skip(run, "%s", err.text);
		return -1;
	}
	snprintf(event, sizeof event, "%s:%s", system, name);
	int fd = check_counter(event);
	if (fd < 0)
		*verdict = check_refused(run, fd, NULL);
	return fd;
}

enum { CALLS = 7 };

static enum verdict count_calls(struct check_run *run, int fd, uint64_t least, uint64_t most)
{
	uint64_t value;
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	if (!read_counter(fd, &value))
		return check_failed(run, "the counter cannot be read");
	if (value < least || value > most)
		return check_failed(run, "%llu of %d system calls are counted", (unsigned long long)value, CALLS);
	return CHECK_OK;
}

enum verdict check_tracepoint(struct check_run *run)
{
	enum verdict verdict = CHECK_OK;
	int fd = open_tracepoint(run, "raw_syscalls", "sys_enter", &verdict);
	return fd < 0 ? verdict : count_calls(run, fd, CALLS, UINT64_MAX);
}

enum verdict check_filter(struct check_run *run)
{
	enum verdict verdict = CHECK_OK;
	char filter[64];
	int fd = open_tracepoint(run, "raw_syscalls", "sys_enter", &verdict);
	if (fd < 0)
		return verdict;
	snprintf(filter, sizeof filter, "id == %d", (int)SYS_getppid);
	int result = counter_set_filter(fd, filter);
	if (result < 0) {
		counter_close(fd);
		return check_failed(run, "the kernel refuses the filter \"%s\": %s", filter, strerror(-result));
	}
	counter_reset(fd); /* without the calls before the filter was set */
	return count_calls(run, fd, CALLS, CALLS);
}

/* Where a function of this program is in its file. */
struct place_in_file {
	uint64_t address, offset;
	bool found;
};

static int find_place(void *context, const struct process_map *map)
{
	struct place_in_file *place = context;
	if (place->address >= map->start && place->address < map->end) {
		place->offset = place->address - map->start + map->pgoff;
		place->found = true;
	}
	return 0;
}

enum verdict check_uprobe(struct check_run *run)
{
	const struct workload *workload = workload_find("traploop");
	struct place_in_file place = { .address = (uintptr_t)workload->run };
	struct pmus pmus = { 0 };
	bool timed_out;
	uint64_t value;
	const struct pmu *pmu = pmus_named(&pmus, "uprobe");
	struct attr attr = { .type = pmu ? pmu->type : 0, .config1 = (uintptr_t)run->self };
	pmus_fini(&pmus);
	if (!pmu)
		return check_skip(run, "this kernel has no uprobes");
	if (process_maps(getpid(), 0, &timed_out, find_place, &place, NULL) < 0 || !place.found)
		return check_failed(run, "the mapping of this program is not in /proc");
	attr.config2 = place.offset;
	int fd = counter_open(&attr, 0, -1, -1, 0);
	if (fd < 0)
		return check_refused(run, fd, NULL);
	for (int i = 0; i < CALLS; i++)
		run_workload("traploop", "0");
	if (!read_counter(fd, &value))
		return check_failed(run, "the counter cannot be read");
	return value == CALLS ? CHECK_OK : check_failed(run, "%llu of %d calls are counted", (unsigned long long)value, CALLS);
}

enum verdict check_breakpoint(struct check_run *run)
{
	volatile uint32_t watched = 0;
	char event[64];
	uint64_t value;
	snprintf(event, sizeof event, "mem:0x%lx/4:w:u", (unsigned long)(uintptr_t)&watched);
	int fd = check_counter(event);
	if (fd < 0)
		return check_refused(run, fd, "this processor has no breakpoint registers, or does not pass them to its guests");
	for (uint32_t i = 0; i < CALLS; i++)
		watched = i;
	if (!read_counter(fd, &value))
		return check_failed(run, "the counter cannot be read");
	return value == CALLS ? CHECK_OK : check_failed(run, "%llu of %d writes are counted", (unsigned long long)value, CALLS);
}
