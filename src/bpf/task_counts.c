#include "bpf/task_counts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi/attr.h"
#include "bpf/task_programs.h"
#include "bpf/type_search.h"
#include "os/bpf.h"
#include "os/bpf_tracing.h"
#include "os/counter.h"

/* Ids of tasks in the programs are those of the first namespace (linux/nsfs.h: its inode is a constant of the kernel). */
static bool in_first_namespace(void)
{
	enum { FIRST_PID_NAMESPACE = 0xeffffffc };
	struct stat status;
	return stat("/proc/self/ns/pid", &status) == 0 && status.st_ino == (ino_t)(uint32_t)FIRST_PID_NAMESPACE;
}

/* Room for all tasks and those that begin until they are listed. */
static uint32_t slots_wanted(void)
{
	unsigned runnable, tasks = 0;
	FILE *file = fopen("/proc/loadavg", "re");
	if (!file || fscanf(file, "%*f %*f %*f %u/%u", &runnable, &tasks) != 2)
		tasks = 1 << 16;
	if (file)
		fclose(file);
	return tasks < 1 << 22 ? tasks + tasks / 4 + 256 : 1 << 22;
}

static int find_places(struct task_programs *places, uint32_t ids[TASK_PROGRAMS], struct error *err)
{
	enum { TASK, ENTITY, FIRST_POINT };
	struct type_search types[] = {
		[TASK] = { "task_struct", TYPE_SEARCH_STRUCTURE }, [ENTITY] = { "sched_entity", TYPE_SEARCH_STRUCTURE },
		[FIRST_POINT + TASK_PROGRAM_SWITCH] = { "btf_trace_sched_switch", TYPE_SEARCH_TYPEDEF },
		[FIRST_POINT + TASK_PROGRAM_FORK] = { "btf_trace_sched_process_fork", TYPE_SEARCH_TYPEDEF },
		[FIRST_POINT + TASK_PROGRAM_EXIT] = { "btf_trace_sched_process_exit", TYPE_SEARCH_TYPEDEF },
		[FIRST_POINT + TASK_PROGRAM_LIST] = { "bpf_iter_task", TYPE_SEARCH_FUNCTION },
	};
	struct member_search members[] = {
		{ TASK, "pid" }, { TASK, "tgid" }, { TASK, "flags" }, { TASK, "comm" }, { TASK, "se" }, { ENTITY, "nr_migrations" },
	};
	const size_t count = sizeof types / sizeof *types;
	if (type_search(types, count, members, sizeof members / sizeof *members, err) < 0)
		return -1;
	places->pid = members[0].at;
	places->tgid = members[1].at;
	places->flags = members[2].at;
	places->comm = members[3].at;
	places->migrations = members[4].at + members[5].at;
	for (size_t i = FIRST_POINT; i < count; i++)
		ids[i - FIRST_POINT] = types[i].id;
	return 0;
}

static void *map_memory(int map, size_t bytes, struct error *err)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
	if (memory != MAP_FAILED)
		return memory;
	error_system(err, "cannot map the memory of a BPF map");
	return NULL;
}

static int make_maps(struct task_counts *c, struct task_programs *places, struct error *err)
{
	c->slots = slots_wanted();
	c->tasks = bpf_task_map_make(TASK_WORDS, err);
	if (c->tasks < 0)
		return -1;
	c->cpu_states = bpf_map_make(BPF_MAP_KIND_PER_CPU, CPU_WORDS * sizeof(uint64_t), 1, err);
	if (c->cpu_states < 0)
		return -1;
	c->control_map = bpf_map_make(BPF_MAP_KIND_MAPPED, TASK_CONTROLS * sizeof(uint32_t), 1, err);
	if (c->control_map < 0)
		return -1;
	c->sum_map = bpf_map_make(BPF_MAP_KIND_MAPPED, sizeof(struct task_sum), c->slots, err);
	if (c->sum_map < 0)
		return -1;
	c->control = map_memory(c->control_map, TASK_CONTROLS * sizeof(uint32_t), err);
	if (!c->control)
		return -1;
	c->sums = map_memory(c->sum_map, c->slots * sizeof *c->sums, err);
	places->tasks = c->tasks;
	places->cpu_states = c->cpu_states;
	places->control = c->control_map;
	places->sums = c->sum_map;
	return c->sums ? 0 : -1;
}

static int load_programs(struct task_counts *c, const struct task_counts_options *options, const struct task_programs *places,
	const uint32_t *ids, struct error *err)
{
	for (unsigned i = 0; i < TASK_PROGRAM_FAULT; i++) {
		struct bpf_instructions code = { 0 };
		enum bpf_tracing_kind kind = i == TASK_PROGRAM_LIST ? BPF_TRACING_ITERATOR :
			i == TASK_PROGRAM_UPDATE ? BPF_TRACING_COMMAND : BPF_TRACING_TRACEPOINT;
		if (i == TASK_PROGRAM_FORK && !options->follow)
			continue;
		task_program_make(places, i, 0, &code);
		c->programs[i] = bpf_tracing_load(kind, i == TASK_PROGRAM_UPDATE ? 0 : ids[i], code.list.items, code.list.count, err);
		vec_fini(&code.list);
		if (c->programs[i] < 0)
			return -1;
		if (kind == BPF_TRACING_TRACEPOINT && (c->links[i] = bpf_tracing_attach(c->programs[i], err)) < 0)
			return -1;
	}
	return 0;
}

static int open_fault_counters(struct task_counts *c, enum task_fault fault, struct error *err)
{
	static const uint64_t configs[] = { [TASK_FAULT_ANY] = 2, [TASK_FAULT_MINOR] = 5, [TASK_FAULT_MAJOR] = 6 };
	struct attr attr = { .type = ATTR_SOFTWARE, .config = configs[fault], .sample_period = 1, .flags = (uint64_t)1 << ATTR_DISABLED };
	for (size_t i = 0; i < c->cpus.list.count; i++) {
		int fd = counter_open(&attr, -1, c->cpus.list.items[i], -1, 0);
		if (fd == -ENODEV) /* it went offline */
			continue;
		if (fd >= 0)
			vec_push(&c->fault_counters, fd);
		int status = fd < 0 ? fd : counter_set_bpf(fd, c->fault_programs[fault]);
		errno = -status;
		if (status < 0)
			return error_system(err, "cannot count page faults by a BPF program");
	}
	return 0;
}

static int open_faults(struct task_counts *c, const struct task_counts_options *options, const struct task_programs *places,
	struct error *err)
{
	for (unsigned i = 0; i < TASK_FAULTS; i++) {
		struct bpf_instructions code = { 0 };
		if (!options->faults[i])
			continue;
		task_program_make(places, TASK_PROGRAM_FAULT, (uint32_t)(offsetof(struct task_sum, faults) / sizeof(uint64_t)) + i, &code);
		c->fault_programs[i] = bpf_sample_program_load(code.list.items, code.list.count, err);
		vec_fini(&code.list);
		if (c->fault_programs[i] < 0 || open_fault_counters(c, i, err) < 0)
			return -1;
	}
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct task_found *a = left, *b = right;
	if (a->tgid != b->tgid)
		return a->tgid < b->tgid ? -1 : 1;
	return (a->tid > b->tid) - (a->tid < b->tid);
}

/* Of the tasks with one slot, the first is counted; the others are its children. */
static int list_tasks(struct task_counts *c, struct error *err)
{
	enum { READ = 256 };
	int fd = bpf_tracing_iterate(c->programs[TASK_PROGRAM_LIST], err);
	uint32_t last = 0;
	ssize_t n = 0;
	while (fd >= 0) {
		struct task_found found[READ];
		n = read(fd, found, sizeof found);
		if (n <= 0 || n % (ssize_t)sizeof *found)
			break;
		for (size_t i = 0; i < (size_t)n / sizeof *found; i++) {
			if (found[i].slot <= last)
				continue;
			last = found[i].slot;
			found[i].comm[sizeof found[i].comm - 1] = '\0';
			vec_push(&c->list, found[i]);
		}
	}
	if (fd < 0)
		return -1;
	close(fd);
	if (n != 0)
		return error_system(err, "cannot list the tasks by a BPF iterator");
	if (last >= c->slots || !c->list.count)
		return error_set(err, ERROR_LIMIT, "the number of tasks grew from %u to %u", c->slots, last);
	qsort(c->list.items, c->list.count, sizeof *c->list.items, compare);
	return 0;
}

static int open_all(struct task_counts *c, const struct task_counts_options *options, struct error *err)
{
	struct task_programs places = { 0 };
	uint32_t ids[TASK_PROGRAMS];
	if (!in_first_namespace())
		return error_set(err, ERROR_UNSUPPORTED, "the process ids are those of a namespace");
	if (cpus_online(&c->cpus, err) < 0 || find_places(&places, ids, err) < 0 || make_maps(c, &places, err) < 0)
		return -1;
	if (open_faults(c, options, &places, err) < 0)
		return -1;
	/* children that begin while the tasks are listed get the slots of their parents */
	return load_programs(c, options, &places, ids, err) < 0 ? -1 : list_tasks(c, err);
}

int task_counts_open(struct task_counts *c, const struct task_counts_options *options, struct error *err)
{
	*c = (struct task_counts){ .tasks = -1, .cpu_states = -1, .control_map = -1, .sum_map = -1 };
	for (size_t i = 0; i < TASK_PROGRAMS; i++)
		c->programs[i] = c->links[i] = -1;
	for (size_t i = 0; i < TASK_FAULTS; i++)
		c->fault_programs[i] = -1;
	if (open_all(c, options, err) == 0)
		return 0;
	task_counts_close(c);
	return -1;
}

void task_counts_leave_out(struct task_counts *c, pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd < 0)
		return;
	bpf_task_map_remove(c->tasks, fd);
	close(fd);
}

void task_counts_read(struct task_counts *c)
{
	for (size_t i = 0; i < c->cpus.list.count; i++) /* one that went offline runs no task */
		bpf_tracing_run(c->programs[TASK_PROGRAM_UPDATE], c->cpus.list.items[i]);
}

void task_counts_switch(struct task_counts *c, bool on)
{
	c->control[TASK_CONTROL_ON] = on;
	for (size_t i = 0; i < c->fault_counters.count && on; i++)
		counter_enable(c->fault_counters.items[i]);
	task_counts_read(c);
	for (size_t i = 0; i < c->fault_counters.count && !on; i++)
		counter_disable(c->fault_counters.items[i]);
}

struct task_sum task_counts_sum(const struct task_counts *c, size_t index)
{
	return *(const struct task_sum *)&c->sums[c->list.items[index].slot];
}

uint64_t task_counts_lost(const struct task_counts *c)
{
	return c->sums ? c->sums[0].switches : 0;
}

uint64_t task_counts_missed(const struct task_counts *c, uint64_t *ns)
{
	*ns = c->sums ? c->sums[0].runtime_ns : 0;
	return c->sums ? c->sums[0].migrations : 0;
}

static void close_each(const int *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] > 0)
			close(list[i]);
}

void task_counts_close(struct task_counts *c)
{
	const int maps[] = { c->tasks, c->cpu_states, c->control_map, c->sum_map };
	if (c->sums)
		munmap((void *)c->sums, c->slots * sizeof *c->sums);
	if (c->control)
		munmap((void *)c->control, TASK_CONTROLS * sizeof(uint32_t));
	close_each(c->links, TASK_PROGRAMS);
	close_each(c->fault_counters.items, c->fault_counters.count);
	close_each(c->programs, TASK_PROGRAMS);
	close_each(c->fault_programs, TASK_FAULTS);
	close_each(maps, sizeof maps / sizeof *maps);
	vec_fini(&c->fault_counters);
	vec_fini(&c->list);
	cpus_fini(&c->cpus);
	*c = (struct task_counts){ 0 };
}
