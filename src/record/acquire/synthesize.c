#include "record/acquire/synthesize.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/pool.h"
#include "image/image.h"
#include "os/cgroup.h"
#include "os/cpus.h"
#include "os/kernel.h"
#include "os/process.h"
#include "record/acquire/record_out.h"

enum { ID_ENTRY_SIZE = 32, EVENT_UPDATE_UNIT = 0, EVENT_UPDATE_SCALE = 1, EVENT_UPDATE_NAME = 2, EVENT_UPDATE_CPUS = 3 };
enum { PART_PROCESSES = 64, THREADS_MAX = 8 };

size_t synthesis_trailer(const struct attr *attr)
{
	static const uint64_t fields[] = { SAMPLE_TID, SAMPLE_TIME, SAMPLE_ID, SAMPLE_STREAM_ID, SAMPLE_CPU, SAMPLE_IDENTIFIER };
	size_t size = 0;
	if (!attr_flag(attr, ATTR_SAMPLE_ID_ALL))
		return 0;
	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
		size += attr->sample_type & fields[i] ? 8 : 0;
	return size;
}

void synthesize_mark(struct synthesis *s, uint32_t type)
{
	record_close(s->out, record_open(s->out, type, 0), 0);
}

/* A mapping of the kernel: MMAP, or MMAP2 if it carries a build-id. */
static void kernel_map(struct synthesis *s, uint64_t start, uint64_t size, uint64_t pgoff, const char *name, const uint8_t *id,
	unsigned id_len)
{
	bool with_id = s->build_ids && id_len;
	uint16_t misc = RECORD_MISC_KERNEL | (with_id ? RECORD_MISC_MMAP_BUILD_ID : 0);
	size_t at = record_open(s->out, with_id ? RECORD_MMAP2 : RECORD_MMAP, misc);
	out_u32(s->out, (uint32_t)-1);
	out_u32(s->out, 0);
	out_u64(s->out, start);
	out_u64(s->out, size);
	out_u64(s->out, pgoff);
	if (with_id) {
		const uint8_t zero[20] = { 0 };
		out_u32(s->out, id_len);
		writer_add(s->out, id, id_len);
		writer_add(s->out, zero, 20 - id_len);
		out_u32(s->out, PROT_EXEC);
		out_u32(s->out, MAP_PRIVATE);
	}
	out_string(s->out, name);
	record_close(s->out, at, s->trailer);
}

void synthesize_kernel(struct synthesis *s)
{
	struct kernel_text text;
	uint8_t id[20];
	if (kernel_text_cached(s->cache, &text, NULL) == 0 && text.symbol[0]) {
		char name[64];
		snprintf(name, sizeof name, "[kernel.kallsyms]%s", text.symbol);
		uint64_t size = text.end > text.start ? text.end - text.start : ~text.start;
		kernel_map(s, text.start, size, text.start, name, id, kernel_build_id(id));
	}
	struct kernel_modules modules = { 0 };
	kernel_modules(&modules, NULL);
	kernel_modules_cut(&modules);
	for (size_t i = 0; i < modules.list.count; i++) {
		const struct kernel_module *module = &modules.list.items[i];
		char name[160];
		snprintf(name, sizeof name, "[%s]", module->name);
		unsigned id_len = kernel_module_build_id(module->name, id);
		kernel_map(s, module->start, module->size, 0, module->path ? module->path : name, id, id_len);
	}
	kernel_modules_fini(&modules);
}

void synthesize_attributes(struct writer *out, const struct evlist *evlist)
{
	for (size_t i = 0; i < evlist->events.count; i++) {
		const struct evsel *evsel = &evlist->events.items[i];
		uint8_t bytes[ATTR_SIZE_VER9];
		struct attr attr = evsel->attr;
		attr.size = ATTR_SIZE_VER8; /* perf reads its own full structure from the record and ignores the size */
		size_t at = record_open(out, RECORD_HEADER_ATTR, 0);
		writer_add(out, bytes, attr_encode(&attr, bytes));
		size_t room = (RECORD_SIZE_MAX - (out->len - at)) / 8;
		writer_add(out, evsel->ids, (evsel->id_count < room ? evsel->id_count : room) * 8);
		record_close(out, at, 0);
	}
}

void synthesize_id_index(struct synthesis *s, const struct counters *counters)
{
	enum { MOST = (RECORD_SIZE_MAX - 16) / ID_ENTRY_SIZE };
	size_t total = 0, next = 0;
	for (size_t i = 0; i < counters->list.count; i++)
		total += counters->list.items[i].fd >= 0;
	while (total) {
		size_t count = total < MOST ? total : MOST;
		total -= count;
		size_t at = record_open(s->out, RECORD_ID_INDEX, 0);
		out_u64(s->out, count);
		for (; count; next++) {
			const struct counter *counter = &counters->list.items[next];
			if (counter->fd < 0)
				continue;
			out_u64(s->out, counter->id);
			out_u64(s->out, counter->ring);
			out_u64(s->out, (uint64_t)(int64_t)counter->cpu);
			out_u64(s->out, (uint64_t)(int64_t)counter->tid);
			count--;
		}
		record_close(s->out, at, 0);
	}
}

static size_t open_update(struct synthesis *s, uint64_t type, uint64_t id)
{
	size_t at = record_open(s->out, RECORD_EVENT_UPDATE, 0);
	out_u64(s->out, type);
	out_u64(s->out, id);
	return at;
}

/* A CPU list in its shorter form, a range or numbers, with the type of PERF_RECORD_CPU_MAP. */
static void out_cpu_map(struct writer *out, const struct cpus *cpus)
{
	enum { MAP_CPUS = 0, MAP_RANGE = 2 };
	size_t count = cpus->list.count;
	int32_t first = count ? cpus->list.items[0] : -1;
	if (first >= 0 && cpus_contiguous(cpus)) {
		out_u16(out, MAP_RANGE);
		out_u16(out, 0); /* any CPU: no */
		out_u16(out, (uint16_t)first);
		out_u16(out, (uint16_t)cpus->list.items[count - 1]);
		return;
	}
	out_u16(out, MAP_CPUS);
	out_u16(out, (uint16_t)(count ? count : 1));
	if (!count) /* no counter is open: any CPU, as readers refuse an empty list */
		out_u16(out, UINT16_MAX);
	for (size_t i = 0; i < count; i++)
		out_u16(out, (uint16_t)cpus->list.items[i]);
}

void synthesize_event_updates(struct synthesis *s, const struct events *events, const struct counters *counters, bool names)
{
	for (size_t i = 0; i < events->list.count; i++) {
		const struct event *event = &events->list.items[i];
		uint64_t id = 0;
		for (size_t k = counters->first.items[i]; k < counters->first.items[i + 1] && !id; k++)
			id = counters->list.items[k].id;
		if (!id) /* no counter is open */
			continue;
		if (event->unit) {
			size_t at = open_update(s, EVENT_UPDATE_UNIT, id);
			out_string(s->out, event->unit);
			record_close(s->out, at, 0);
		}
		if (event->scale != 1) {
			size_t at = open_update(s, EVENT_UPDATE_SCALE, id);
			writer_add(s->out, &event->scale, sizeof event->scale);
			record_close(s->out, at, 0);
		}
		if (event->cpus && event->cpus->list.count) {
			size_t at = open_update(s, EVENT_UPDATE_CPUS, id);
			out_cpu_map(s->out, event->cpus);
			record_close(s->out, at, 0);
		}
		if (names) {
			size_t at = open_update(s, EVENT_UPDATE_NAME, id);
			out_string(s->out, event->name);
			record_close(s->out, at, 0);
		}
	}
}

void synthesize_thread_map(struct synthesis *s, const struct target *target)
{
	enum { MOST = (RECORD_SIZE_MAX - 16) / 24 };
	size_t count = target->threads.count < MOST ? target->threads.count : MOST;
	size_t at = record_open(s->out, RECORD_THREAD_MAP, 0);
	out_u64(s->out, count);
	for (size_t i = 0; i < count; i++) {
		out_u64(s->out, (uint64_t)(int64_t)target->threads.items[i].tid);
		writer_add(s->out, target->threads.items[i].comm, PROCESS_COMM_SIZE);
	}
	record_close(s->out, at, 0);
}

void synthesize_cpu_map(struct synthesis *s, const struct counters *counters)
{
	size_t at = record_open(s->out, RECORD_CPU_MAP, 0);
	out_cpu_map(s->out, &counters->cpus);
	record_close(s->out, at, 0);
}

void synthesize_clock(struct synthesis *s, const struct counters *counters)
{
	struct ring_clock clock;
	if (!counters->rings.count || !ring_clock(&counters->rings.items[0], &clock))
		return;
	size_t at = record_open(s->out, RECORD_TIME_CONV, 0);
	out_u64(s->out, clock.shift);
	out_u64(s->out, clock.mult);
	out_u64(s->out, clock.zero);
	out_u64(s->out, clock.cycles);
	out_u64(s->out, clock.mask);
	const uint8_t flags[8] = { clock.has_zero, clock.short_counter };
	writer_add(s->out, flags, sizeof flags);
	record_close(s->out, at, 0);
}

static int cgroup_record(void *context, uint64_t id, const char *path)
{
	struct synthesis *s = context;
	if (strlen(path) > 4096)
		return 0;
	size_t at = record_open(s->out, RECORD_CGROUP, 0);
	out_u64(s->out, id);
	out_string(s->out, path);
	record_close(s->out, at, s->trailer);
	return 0;
}

void synthesize_cgroups(struct synthesis *s)
{
	if (!s->no_cgroups)
		cgroup_each(cgroup_record, s, NULL);
}

static void comm_record(struct synthesis *s, pid_t pid, pid_t tid, const char *comm)
{
	size_t at = record_open(s->out, RECORD_COMM, 0);
	out_u32(s->out, (uint32_t)pid);
	out_u32(s->out, (uint32_t)tid);
	out_string(s->out, comm);
	record_close(s->out, at, s->trailer);
}

static void fork_record(struct synthesis *s, pid_t pid, pid_t tid, pid_t ppid)
{
	/* separate records give the child's mappings: FORK_EXEC means that the parent's are not copied */
	size_t at = record_open(s->out, RECORD_FORK, RECORD_MISC_FORK_EXEC);
	pid_t parent = pid == tid ? ppid : pid;
	out_u32(s->out, (uint32_t)pid);
	out_u32(s->out, (uint32_t)parent);
	out_u32(s->out, (uint32_t)tid);
	out_u32(s->out, (uint32_t)parent);
	out_u64(s->out, 0);
	record_close(s->out, at, s->trailer);
}

static void namespaces_record(struct synthesis *s, pid_t pid, pid_t tid)
{
	struct process_namespace namespaces[PROCESS_NAMESPACES];
	process_namespaces(pid, tid, namespaces);
	size_t at = record_open(s->out, RECORD_NAMESPACES, 0);
	out_u32(s->out, (uint32_t)pid);
	out_u32(s->out, (uint32_t)tid);
	out_u64(s->out, PROCESS_NAMESPACES);
	for (int i = 0; i < PROCESS_NAMESPACES; i++) {
		out_u64(s->out, namespaces[i].dev);
		out_u64(s->out, namespaces[i].inode);
	}
	record_close(s->out, at, s->trailer);
}

struct map_context {
	struct synthesis *s;
	pid_t pid;
};

static const char *map_name(const struct process_map *map)
{
	if (!map->path[0] || strncmp(map->path, "/anon_hugepage", 14) == 0)
		return "//anon";
	return map->path;
}

static int map_record(void *context, const struct process_map *map)
{
	const struct map_context *c = context;
	struct writer *out = c->s->out;
	bool executable = map->prot & PROT_EXEC;
	uint8_t id[ELF_BUILD_ID_MAX] = { 0 };
	unsigned id_len = 0;
	if ((!executable && !c->s->data_maps) || strlen(map->path) > 4096)
		return 0;
	if (c->s->build_ids && map->ino && executable)
		id_len = image_build_id_of_path(map->path, id);
	uint16_t misc = RECORD_MISC_USER | (executable ? 0 : RECORD_MISC_MMAP_DATA) | (id_len ? RECORD_MISC_MMAP_BUILD_ID : 0);
	size_t at = record_open(out, RECORD_MMAP2, misc);
	out_u32(out, (uint32_t)c->pid);
	out_u32(out, (uint32_t)c->pid);
	out_u64(out, map->start);
	out_u64(out, map->end - map->start);
	out_u64(out, map->pgoff);
	if (id_len) {
		out_u32(out, id_len);
		writer_add(out, id, sizeof id);
	} else {
		out_u32(out, map->maj);
		out_u32(out, map->min);
		out_u64(out, map->ino);
		out_u64(out, 0);
	}
	out_u32(out, map->prot);
	out_u32(out, map->flags);
	out_string(out, map_name(map));
	record_close(out, at, c->s->trailer);
	return 0;
}

static bool task_wanted(const struct target *only, pid_t tid)
{
	for (size_t i = 0; only && i < only->threads.count; i++)
		if (only->threads.items[i].tid == tid)
			return true;
	return !only;
}

/* Returns the number of threads of its process, < 1 if it has ended. */
static long thread_records(struct synthesis *s, pid_t pid, pid_t tid, bool forks, bool maps)
{
	struct process_status status;
	if (pid == tid ? !process_brief(pid, &status) : !process_status(pid, tid, &status))
		return 0;
	if (forks)
		fork_record(s, pid, tid, status.ppid);
	if (s->namespaces)
		namespaces_record(s, pid, tid);
	comm_record(s, pid, tid, status.comm);
	if (pid != tid || status.kernel || s->no_maps || !maps)
		return status.threads;
	bool timed_out = false;
	struct map_context context = { s, pid };
	if (s->data_maps)
		process_maps(pid, s->map_timeout_ms, &timed_out, map_record, &context, NULL);
	else
		process_code_maps(&s->code_maps, pid, s->map_timeout_ms, &timed_out, map_record, &context, NULL);
	s->truncated += timed_out;
	return status.threads;
}

void synthesize_process(struct synthesis *s, pid_t pid, bool forks, const struct target *only)
{
	struct process_ids tids = { 0 };
	/* the leader first, with the mappings of all threads, which follow in ascending order */
	if (s->no_tasks || thread_records(s, pid, pid, forks, true) == 1)
		return;
	process_threads(pid, &tids, NULL);
	for (size_t i = 0; i < tids.list.count; i++)
		if (tids.list.items[i] != pid && task_wanted(only, tids.list.items[i]))
			thread_records(s, pid, tids.list.items[i], forks, true);
	vec_fini(&tids.list);
}

void synthesize_command(struct synthesis *s, pid_t pid)
{
	if (!s->no_tasks)
		thread_records(s, pid, pid, false, false);
}

/* A part of all processes, whose records are made by one thread. */
struct part {
	struct synthesis synthesis;
	struct writer out;
};

struct parts {
	struct process_ids pids;
	struct part *list;
};

static void make_part(void *context, size_t index, unsigned worker)
{
	struct parts *parts = context;
	struct part *part = &parts->list[index];
	size_t end = (index + 1) * PART_PROCESSES;
	(void)worker;
	writer_open(&part->out, -1, 0);
	part->synthesis.out = &part->out;
	for (size_t i = index * PART_PROCESSES; i < end && i < parts->pids.list.count; i++)
		synthesize_process(&part->synthesis, parts->pids.list.items[i], true, NULL);
}

/* The kernel makes the text of /proc in the time of the reader: several readers use several CPUs. */
static void synthesize_all(struct synthesis *s)
{
	struct parts parts = { 0 };
	process_list(&parts.pids, NULL);
	size_t count = (parts.pids.list.count + PART_PROCESSES - 1) / PART_PROCESSES;
	unsigned threads = cpus_online_count() < THREADS_MAX ? cpus_online_count() : THREADS_MAX;
	struct pool *pool = pool_new(count > 1 && !s->no_tasks ? threads : 1);
	parts.list = memory_zero(count + 1, sizeof *parts.list);
	for (size_t i = 0; i < count; i++) {
		parts.list[i].synthesis = *s;
		parts.list[i].synthesis.truncated = 0;
	}
	pool_run(pool, count, make_part, &parts);
	pool_free(pool);
	for (size_t i = 0; i < count; i++) {
		struct part *part = &parts.list[i];
		writer_add(s->out, part->out.buffer, part->out.len);
		s->truncated += part->synthesis.truncated;
		writer_fini(&part->out);
	}
	free(parts.list);
	vec_fini(&parts.pids.list);
}

static bool descends(pid_t pid, pid_t ancestor)
{
	enum { GENERATIONS_MAX = 64 };
	struct process_status status;
	for (int i = 0; pid > 1 && i < GENERATIONS_MAX && process_status(pid, pid, &status); i++, pid = status.ppid)
		if (status.ppid == ancestor)
			return true;
	return false;
}

/* Its descendants are measured with it. */
static void synthesize_running(struct synthesis *s, pid_t command)
{
	struct process_ids pids = { 0 };
	synthesize_process(s, command, false, NULL);
	process_list(&pids, NULL);
	for (size_t i = 0; i < pids.list.count; i++)
		if (descends(pids.list.items[i], command))
			synthesize_process(s, pids.list.items[i], true, NULL);
	vec_fini(&pids.list);
}

void synthesize_processes(struct synthesis *s, const struct target *target)
{
	if (target->system_wide) {
		synthesize_all(s);
		return;
	}
	if (target->command) {
		(s->command_runs ? synthesize_running : synthesize_command)(s, target->threads.items[0].tid);
		return;
	}
	/* the threads of one process are consecutive */
	pid_t done = 0;
	for (size_t i = 0; i < target->threads.count; i++) {
		struct process_status status;
		pid_t tid = target->threads.items[i].tid;
		if (tid <= 0 || !process_status(tid, tid, &status) || status.tgid == done)
			continue;
		done = status.tgid;
		synthesize_process(s, done, false, target);
	}
}
