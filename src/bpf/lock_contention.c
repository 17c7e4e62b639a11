#include "bpf/lock_contention.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/memory.h"
#include "bpf/lock_contention.bpf.h"
#include "bpf/lock_runqueues.bpf.h"

static int set_flag(struct lock_contention *c, const char *name, bool value, struct error *err)
{
	bool *variable = loader_variable(&c->loader, name, sizeof *variable);
	if (!variable)
		return error_set(err, ERROR_UNSUPPORTED, "lock: the BPF programs have no variable '%s'", name);
	*variable = value;
	return 0;
}

static int set_number(struct lock_contention *c, const char *name, uint32_t value, struct error *err)
{
	uint32_t *variable = loader_variable(&c->loader, name, sizeof *variable);
	if (!variable)
		return error_set(err, ERROR_UNSUPPORTED, "lock: the BPF programs have no variable '%s'", name);
	*variable = value;
	return 0;
}

/* Of the call chain of an owner. */
static uint32_t owner_bytes(const struct lock_contention_options *options)
{
	enum { FRAMES_MAX = 127 };
	return (options->max_stack < FRAMES_MAX ? options->max_stack : FRAMES_MAX) * (uint32_t)sizeof(uint64_t);
}

static int set_variables(struct lock_contention *c, struct error *err)
{
	const struct lock_contention_options *o = &c->options;
	const struct {
		const char *name;
		bool value;
	} flags[] = {
		{ "by_cpu", o->cpu_count }, { "by_task", o->task_count }, { "by_process", o->processes }, { "by_type", o->type_count },
		{ "by_address", o->address_count || o->no_match }, { "by_cgroup", o->cgroup_count }, { "follow", o->follow },
		{ "want_stack", o->stacks }, { "want_owner", o->owners },
		{ "want_owner_stack", o->owner_stacks }, { "unified", o->unified },
	};
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		if (set_flag(c, flags[i].name, flags[i].value, err) < 0)
			return -1;
	bool failed = set_number(c, "mode", o->mode, err) < 0 || set_number(c, "stack_skip", o->stack_skip, err) < 0 ||
		set_number(c, "owner_bytes", owner_bytes(o), err) < 0;
	return failed ? -1 : 0;
}

enum { FOLLOWED_MAX = 65536, DEPTH_MAX = 1024 };

static int set_sizes(struct lock_contention *c, struct error *err)
{
	const struct lock_contention_options *o = &c->options;
	const struct {
		const char *map;
		size_t entries;
	} sizes[] = {
		{ "cpus", o->cpu_count }, { "tasks", o->follow ? FOLLOWED_MAX : o->task_count }, { "types", o->type_count },
		{ "addresses", o->address_count }, { "cgroups", o->cgroup_count }, { "sums", o->entries },
		{ "comms", o->mode == LOCK_BY_TASK ? o->entries : 1 }, { "stacks", o->stacks ? o->entries : 1 },
		{ "owner_stacks", o->owner_stacks ? o->entries : 1 }, { "owner_sums", o->owner_stacks ? o->entries : 1 },
	};
	if (o->max_stack > DEPTH_MAX)
		return error_set(err, ERROR_LIMIT, "lock: a call chain of BPF has at most %d frames", DEPTH_MAX);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		if (loader_resize(&c->loader, sizes[i].map, sizes[i].entries ? (uint32_t)sizes[i].entries : 1, err) < 0)
			return -1;
	bool failed = loader_value_size(&c->loader, "stacks", o->max_stack * 8, err) < 0 ||
		loader_value_size(&c->loader, "owner_stacks", owner_bytes(o), err) < 0 ||
		loader_value_size(&c->loader, "owner_frames", owner_bytes(o), err) < 0;
	return failed ? -1 : 0;
}

static int add_to_filter(const struct lock_contention *c, const char *map, const void *key, struct error *err)
{
	const uint8_t one = 1;
	int fd = loader_map(&c->loader, map);
	if (fd < 0 || bpf_map_update_elem(fd, key, &one, BPF_ANY) < 0)
		return error_system(err, "lock: the filter '%s' cannot be filled", map);
	return 0;
}

static int fill_filter(const struct lock_contention *c, const char *map, const void *keys, size_t size, size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++)
		if (add_to_filter(c, map, (const char *)keys + i * size, err) < 0)
			return -1;
	return 0;
}

static int fill_filters(const struct lock_contention *c, struct error *err)
{
	const struct lock_contention_options *o = &c->options;
	bool failed = fill_filter(c, "cpus", o->cpus, sizeof *o->cpus, o->cpu_count, err) < 0 ||
		fill_filter(c, "tasks", o->tasks, sizeof *o->tasks, o->task_count, err) < 0 ||
		fill_filter(c, "types", o->types, sizeof *o->types, o->type_count, err) < 0 ||
		fill_filter(c, "addresses", o->addresses, sizeof *o->addresses, o->address_count, err) < 0 ||
		fill_filter(c, "cgroups", o->cgroups, sizeof *o->cgroups, o->cgroup_count, err) < 0;
	return failed ? -1 : 0;
}

int lock_contention_open(struct lock_contention *c, const struct lock_contention_options *options, struct error *err)
{
	*c = (struct lock_contention){ .options = *options };
	c->no_owner_stacks = options->owner_stacks && !loader_kernel_has("bpf_task_from_pid");
	c->options.owner_stacks = options->owner_stacks && !c->no_owner_stacks;
	if (loader_open(&c->loader, "lock", lock_contention_object, sizeof lock_contention_object, err) < 0)
		return -1;
	if (set_variables(c, err) < 0 || set_sizes(c, err) < 0)
		return -1;
	if (!options->follow) {
		loader_disable(&c->loader, "follow_child");
		loader_disable(&c->loader, "forget_process");
	}
	if (loader_load(&c->loader, err) == 0)
		return fill_filters(c, err);
	/* only now, as it reads the kernel's types once more */
	if ((!err || err->kind != ERROR_PERMISSION) && !loader_kernel_has("btf_trace_contention_begin")) {
		error_set(err, ERROR_UNSUPPORTED, "lock: the kernel has no tracepoint lock:contention_begin");
		return error_hint(err, "it exists since Linux 5.19");
	}
	return -1;
}

int lock_contention_add_task(struct lock_contention *c, uint32_t task, struct error *err)
{
	return add_to_filter(c, "tasks", &task, err);
}

int lock_contention_start(struct lock_contention *c, struct error *err)
{
	static const char *const programs[] = { "follow_child", "forget_process", "contention_end", "contention_begin" };
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
		if (loader_program(&c->loader, programs[i]) >= 0 && loader_attach_one(&c->loader, programs[i], err) < 0)
			return -1;
	return 0;
}

static uint64_t monotonic_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Adds a wait that has not ended to a sum that exists, as perf does: a lock without a complete wait is not shown. */
static void add_open_wait(struct lock_contention *c, const struct lock_wait *wait, uint32_t tid)
{
	struct lock_key key = { .stack = c->options.stacks ? wait->stack : 0 };
	struct lock_sum sum;
	int sums = loader_map(&c->loader, "sums");
	if (wait->since >= c->ended_ns || c->options.mode == LOCK_BY_CGROUP)
		return;
	uint64_t ns = c->ended_ns - wait->since;
	if (c->options.mode == LOCK_BY_TASK)
		key.task = c->options.owners ? wait->flags : tid;
	else if (c->options.mode == LOCK_BY_ADDRESS)
		key.address = wait->lock;
	if (bpf_map_lookup_elem(sums, &key, &sum) < 0)
		return;
	sum.total += ns;
	sum.count++;
	sum.max = sum.max < ns ? ns : sum.max;
	sum.min = sum.min > ns ? ns : sum.min;
	bpf_map_update_elem(sums, &key, &sum, BPF_EXIST);
}

static void add_task_waits(struct lock_contention *c)
{
	struct lock_open_wait open[64];
	int link = bpf_link_create(loader_program(&c->loader, "open_waits"), 0, BPF_TRACE_ITER, NULL);
	int iterator = link >= 0 ? bpf_iter_create(link) : -1;
	ssize_t n;
	while (iterator >= 0 && (n = read(iterator, open, sizeof open)) > 0)
		for (size_t i = 0; i < (size_t)n / sizeof *open; i++)
			add_open_wait(c, &open[i].wait, open[i].tid);
	if (iterator >= 0)
		close(iterator);
	if (link >= 0)
		close(link);
}

static void add_cpu_waits(struct lock_contention *c)
{
	uint32_t zero = 0;
	int cpus = loader_cpus();
	struct lock_wait *waits = memory_zero((size_t)(cpus > 0 ? cpus : 1), sizeof *waits);
	/* the thread is unknown */
	if (c->options.mode != LOCK_BY_TASK && bpf_map_lookup_elem(loader_map(&c->loader, "cpu_waits"), &zero, waits) == 0)
		for (int i = 0; i < cpus; i++)
			if (waits[i].lock)
				add_open_wait(c, &waits[i], 0);
	free(waits);
}

/* Without this program the locks of run queues have no names. */
static void find_runqueues(struct lock_contention *c)
{
	if (loader_open(&c->runqueues, "lock", lock_runqueues_object, sizeof lock_runqueues_object, NULL) < 0)
		return;
	if (loader_load(&c->runqueues, NULL) < 0)
		loader_close(&c->runqueues);
	else
		bpf_prog_test_run_opts(loader_program(&c->runqueues, "find_runqueues"), NULL);
}

void lock_contention_stop(struct lock_contention *c)
{
	c->ended_ns = monotonic_ns();
	loader_detach(&c->loader);
	add_task_waits(c);
	add_cpu_waits(c);
	if (c->options.mode == LOCK_BY_ADDRESS)
		find_runqueues(c);
}

void lock_contention_each(const struct lock_contention *c,
	void (*visit)(void *context, const struct lock_key *key, const struct lock_sum *sum, const uint64_t *stack), void *context)
{
	int sums = loader_map(&c->loader, "sums"), stacks = loader_map(&c->loader, "stacks");
	struct lock_key key, *previous = NULL;
	struct lock_sum sum;
	size_t size = c->options.max_stack * sizeof(uint64_t);
	CLEANUP_FREE uint64_t *stack = memory_zero(c->options.max_stack, sizeof *stack);
	while (bpf_map_get_next_key(sums, previous, &key) == 0) {
		previous = &key;
		if (bpf_map_lookup_elem(sums, &key, &sum) < 0)
			continue;
		memset(stack, 0, size);
		if (c->options.stacks && key.stack >= 0)
			bpf_map_lookup_elem(stacks, &key.stack, stack);
		visit(context, &key, &sum, stack);
	}
}

void lock_contention_each_owner(const struct lock_contention *c,
	void (*visit)(void *context, uint64_t id, const struct lock_sum *sum, const uint64_t *stack), void *context)
{
	int sums = loader_map(&c->loader, "owner_sums"), stacks = loader_map(&c->loader, "owner_stacks");
	uint64_t id, *previous = NULL;
	struct lock_sum sum;
	CLEANUP_FREE uint64_t *stack = memory_zero(c->options.max_stack, sizeof *stack);
	while (c->options.owner_stacks && bpf_map_get_next_key(sums, previous, &id) == 0) {
		previous = &id;
		if (bpf_map_lookup_elem(sums, &id, &sum) == 0 && bpf_map_lookup_elem(stacks, &id, stack) == 0)
			visit(context, id, &sum, stack);
	}
}

bool lock_contention_comm(const struct lock_contention *c, uint32_t tid, struct lock_task *task)
{
	bool found = bpf_map_lookup_elem(loader_map(&c->loader, "comms"), &tid, task) == 0;
	task->comm[sizeof task->comm - 1] = '\0';
	return found;
}

bool lock_contention_is_runqueue(const struct lock_contention *c, uint64_t address)
{
	uint8_t one;
	return c->runqueues.object && bpf_map_lookup_elem(loader_map(&c->runqueues, "runqueue_locks"), &address, &one) == 0;
}

uint64_t lock_contention_lost(const struct lock_contention *c, enum lock_loss loss)
{
	return loader_sum(&c->loader, "losses", loss);
}

void lock_contention_close(struct lock_contention *c)
{
	loader_close(&c->loader);
	loader_close(&c->runqueues);
}
