#include "bpf/shared_counts.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "bpf/program_target.h"
#include "bpf/shared_counts.bpf.h"

enum { FOLLOWED_MAX = 65536 };
static const char name[] = "shared counters";

/* The attribute by which processes find each other's counters: nothing in it depends on the process. */
static struct attr shared_attr(const struct attr *attr)
{
	static const enum attr_flag own[] = { ATTR_DISABLED, ATTR_INHERIT, ATTR_INHERIT_STAT, ATTR_ENABLE_ON_EXEC };
	struct attr shared = *attr;
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		shared.flags &= ~((uint64_t)1 << own[i]);
	shared.read_format = READ_TOTAL_TIME_ENABLED | READ_TOTAL_TIME_RUNNING;
	shared.size = 0;
	return shared;
}

struct readings {
	struct attr attrs[SHARED_READINGS];
	uint32_t count;
};

/* The reading of an attribute, whose counters are opened if it is new; -errno. */
static int find_reading(struct shared_counts *c, struct readings *readings, const struct shared_counts_event *event)
{
	const struct attr attr = shared_attr(event->attr);
	for (uint32_t i = 0; i < readings->count; i++)
		if (memcmp(&readings->attrs[i], &attr, sizeof attr) == 0)
			return (int)i;
	if (readings->count == SHARED_READINGS)
		return -E2BIG;
	int counters = counter_registry_counters(&c->registry, &attr, event->cpus && event->cpus->list.count ? event->cpus : &c->cpus);
	if (counters < 0)
		return counters;
	const uint32_t at = readings->count;
	int status = bpf_map_update_elem(loader_map(&c->loader, "arrays"), &at, &counters, BPF_ANY) < 0 ? -errno : (int)at;
	close(counters);
	if (status < 0)
		return status;
	readings->attrs[readings->count++] = attr;
	return status;
}

static int fill_threads(const struct shared_counts *c, const struct shared_counts_options *options, struct error *err)
{
	for (uint32_t i = 0; i < options->thread_count; i++) {
		const uint32_t slot = i | (options->from_exec ? SHARED_WAITS : 0);
		if (bpf_map_update_elem(loader_map(&c->loader, "threads"), &options->threads[i], &slot, BPF_ANY) < 0)
			return error_system(err, "%s: the list of threads cannot be filled", name);
	}
	return 0;
}

static int set_number(struct shared_counts *c, const char *variable, const void *value, size_t size, struct error *err)
{
	void *memory = loader_variable(&c->loader, variable, size);
	if (!memory)
		return error_set(err, ERROR_UNSUPPORTED, "%s: the BPF programs have no variable '%s'", name, variable);
	memcpy(memory, value, size);
	return 0;
}

/* Before the load: what the programs read, and the sizes of maps. The readings follow, whose map exists then. */
static int prepare(struct shared_counts *c, const struct shared_counts_options *options, size_t cgroups, struct error *err)
{
	const uint32_t events = (uint32_t)options->event_count, slots = (uint32_t)c->slots;
	const bool by_thread = options->thread_count > 0, by_program = options->program != 0;
	const bool by_switch = !by_program && (by_thread || cgroups); /* otherwise the difference of two readings is the count */
	if (set_number(c, "event_count", &events, sizeof events, err) < 0 || set_number(c, "slots", &slots, sizeof slots, err) < 0 ||
	    set_number(c, "by_thread", &by_thread, sizeof by_thread, err) < 0 ||
	    set_number(c, "by_switch", &by_switch, sizeof by_switch, err) < 0 ||
	    set_number(c, "by_program", &by_program, sizeof by_program, err) < 0)
		return -1;
	if (!options->follow || !by_thread)
		loader_disable(&c->loader, "on_fork");
	if (!options->from_exec)
		loader_disable(&c->loader, "on_exec");
	if (!by_switch)
		loader_disable(&c->loader, "on_switch");
	loader_attach_later(&c->loader, "on_command");
	if (loader_resize(&c->loader, "sums", events * slots, err) < 0 ||
	    loader_resize(&c->loader, "threads", (uint32_t)options->thread_count + FOLLOWED_MAX, err) < 0)
		return -1;
	return loader_resize(&c->loader, "cgroups", cgroups ? (uint32_t)cgroups : 1, err);
}

/* Events of one cgroup have an element each: the kernel compares pointers. */
static int fill_events(struct shared_counts *c, const struct shared_counts_options *options, struct error *err)
{
	struct readings readings = { 0 };
	uint32_t cgroups = 0;
	for (uint32_t i = 0; i < options->event_count; i++) {
		const struct shared_counts_event *event = &options->events[i];
		int reading = find_reading(c, &readings, event);
		struct shared_event filled = { reading < 0 ? SHARED_READINGS : (uint32_t)reading, event->cgroup >= 0 ? (int32_t)cgroups : -1 };
		vec_push(&c->states, reading < 0 ? reading : 0);
		if (event->cgroup >= 0 && bpf_map_update_elem(loader_map(&c->loader, "cgroups"), &cgroups, &event->cgroup, BPF_ANY) < 0)
			return errno == EBADF ? error_set(err, ERROR_UNSUPPORTED, "%s: only cgroups of version 2 are counted", name) :
				error_system(err, "%s: the list of cgroups cannot be filled", name);
		cgroups += event->cgroup >= 0;
		if (bpf_map_update_elem(loader_map(&c->loader, "events"), &i, &filled, BPF_ANY) < 0)
			return error_system(err, "%s: the list of events cannot be filled", name);
	}
	return 0;
}

static int load(struct shared_counts *c, uint32_t id, struct error *err)
{
	struct program_target target;
	c->program = id;
	if (!id)
		return loader_load(&c->loader, err);
	if (program_target_open(&target, id, err) < 0)
		return -1;
	int status = loader_target(&c->loader, "on_enter", target.fd, target.function, err);
	if (status == 0)
		status = loader_target(&c->loader, "on_leave", target.fd, target.function, err);
	if (status == 0)
		status = loader_load(&c->loader, err);
	if (status < 0 && err && err->kind == ERROR_PERMISSION) {
		error_set(err, ERROR_PERMISSION, "the kernel does not let this user attach programs to BPF program %u (fentry)", id);
		error_hint(err, "it needs CAP_BPF and CAP_PERFMON, or root, and a kernel that permits it");
	}
	program_target_close(&target);
	return status;
}

int shared_counts_open(struct shared_counts *c, const struct shared_counts_options *options, struct error *err)
{
	size_t cgroups = 0;
	*c = (struct shared_counts){ .registry = { .place.folder = -1, .map = -1, .sign = -1 } };
	for (size_t i = 0; i < options->event_count; i++)
		cgroups += options->events[i].cgroup >= 0;
	if (options->event_count > SHARED_EVENTS)
		return error_set(err, ERROR_LIMIT, "%s: at most %d events", name, SHARED_EVENTS);
	c->slots = options->thread_count ? options->thread_count : 1;
	c->cpu_count = (size_t)(loader_cpus() > 0 ? loader_cpus() : 1);
	if (c->slots > UINT32_MAX / SHARED_EVENTS / c->cpu_count)
		return error_set(err, ERROR_LIMIT, "%s: too many threads", name);
	if (cpus_online(&c->cpus, err) < 0 || loader_open(&c->loader, name, shared_counts_object, sizeof shared_counts_object, err) < 0)
		return -1;
	if (prepare(c, options, cgroups, err) < 0 || load(c, options->program, err) < 0)
		return -1;
	if (counter_registry_open(&c->registry, options->registry, err) < 0)
		return -1;
	if (fill_events(c, options, err) < 0)
		return -1;
	return fill_threads(c, options, err);
}

int shared_counts_start(struct shared_counts *c, struct error *err)
{
	/* in this order: an exit without entry is left out, an entry without exit would not be */
	if (c->program)
		return loader_attach_one(&c->loader, "on_leave", err) < 0 || loader_attach_one(&c->loader, "on_enter", err) < 0 ? -1 : 0;
	return loader_attach(&c->loader, err);
}

/* Runs the program on_command on each CPU. */
static void command(struct shared_counts *c, enum shared_command number, uint64_t event)
{
	uint64_t arguments[] = { number, event };
	for (size_t i = 0; i < c->cpus.list.count; i++) {
		LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = arguments, .ctx_size_in = sizeof arguments, .flags = BPF_F_TEST_RUN_ON_CPU,
			.cpu = (uint32_t)c->cpus.list.items[i]);
		bpf_prog_test_run_opts(loader_program(&c->loader, "on_command"), &options); /* fails on a CPU that is offline */
	}
}

void shared_counts_switch(struct shared_counts *c, uint32_t event, bool on)
{
	command(c, on ? SHARED_START : SHARED_STOP, event == UINT32_MAX ? UINT64_MAX : event);
}

void shared_counts_read(struct shared_counts *c)
{
	int map = loader_map(&c->loader, "sums");
	uint32_t count = (uint32_t)(c->states.count * c->slots);
	command(c, SHARED_READ, UINT64_MAX);
	vec_clear(&c->sums);
	vec_reserve(&c->sums, count * c->cpu_count);
	for (uint32_t i = 0; i < count; i++) {
		struct shared_sum *sums = &c->sums.items[i * c->cpu_count];
		if (bpf_map_lookup_elem(map, &i, sums) < 0)
			memset(sums, 0, c->cpu_count * sizeof *sums);
	}
	c->sums.count = count * c->cpu_count;
}

struct shared_sum shared_counts_get(const struct shared_counts *c, size_t event, size_t slot, int32_t cpu)
{
	size_t first = (event * c->slots + slot) * c->cpu_count;
	struct shared_sum all = { 0 };
	if (first + c->cpu_count > c->sums.count)
		return all;
	if (cpu >= 0)
		return (size_t)cpu < c->cpu_count ? c->sums.items[first + (size_t)cpu] : all;
	for (size_t i = 0; i < c->cpu_count; i++) {
		const struct shared_sum *sum = &c->sums.items[first + i];
		all.value += sum->value;
		all.enabled += sum->enabled;
		all.running += sum->running;
	}
	return all;
}

uint64_t shared_counts_lost(const struct shared_counts *c, enum shared_loss loss)
{
	return loader_sum(&c->loader, "losses", loss);
}

void shared_counts_close(struct shared_counts *c)
{
	if (c->loader.object)
		loader_close(&c->loader);
	counter_registry_close(&c->registry);
	vec_fini(&c->states);
	vec_fini(&c->sums);
	cpus_fini(&c->cpus);
}
