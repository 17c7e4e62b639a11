#include "bpf/trace_programs.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/memory.h"
#include "bpf/trace.bpf.h"

enum {
	RING_BYTES = 16 << 20,
	SUMS_RING_BYTES = 1 << 20,   /* for names of tasks alone */
	PIECE_BYTES = 1 << 18,
	RECORD_MAX = 1 << 16,
	RECORDS_A_RELEASE = 64,
	WATERMARK_PARTS = 8,
	SORTED_BYTES_MAX = 64 << 20,
	SUMS_MAX = 1 << 18,          /* threads times calls */
	FIXED_PART = sizeof(struct trace_call) - 8 * TRACE_ARGUMENTS,
};

static int set_variable(struct loader *loader, const char *name, const void *value, size_t size, struct error *err)
{
	void *variable = loader_variable(loader, name, size);
	if (!variable)
		return error_set(err, ERROR_UNSUPPORTED, "trace: the BPF programs have no variable '%s'", name);
	memcpy(variable, value, size);
	return 0;
}

static int set_flag(struct loader *loader, const char *name, bool value, struct error *err)
{
	return set_variable(loader, name, &value, sizeof value, err);
}

static int set_variables(struct loader *loader, const struct trace_programs_options *options, struct error *err)
{
	uint32_t command = (uint32_t)options->command;
	return set_flag(loader, "everything", options->everything, err) < 0 ||
		set_flag(loader, "attached", options->target_count > 0, err) < 0 || set_flag(loader, "inherit", !options->no_inherit, err) < 0 ||
		set_flag(loader, "sums", options->sums, err) < 0 || set_flag(loader, "error_sums", options->error_sums, err) < 0 ||
		set_flag(loader, "cgroups_wanted", options->cgroup_ids, err) < 0 || set_flag(loader, "unified", options->unified, err) < 0 ||
		set_flag(loader, "by_cpu", options->cpu_count > 0, err) < 0 || set_flag(loader, "by_cgroup", options->cgroup >= 0, err) < 0 ||
		set_flag(loader, "failures_only", options->failures_only, err) < 0 ||
		set_flag(loader, "compat_only", options->call_count > 0, err) < 0 ||
		set_variable(loader, "least_ns", &options->least_ns, sizeof options->least_ns, err) < 0 ||
		set_variable(loader, "command", &command, sizeof command, err) < 0
		? -1 : 0;
}

static uint32_t power_of_two(size_t bytes)
{
	uint32_t power = (uint32_t)sysconf(_SC_PAGESIZE);
	while (power < bytes && power < 1u << 30)
		power <<= 1;
	return power;
}

static size_t ring_bytes(const struct trace_programs_options *options)
{
	return power_of_two(options->sums ? SUMS_RING_BYTES : options->ring_bytes ? options->ring_bytes : RING_BYTES);
}

static int size_maps(struct loader *loader, const struct trace_programs_options *options, struct error *err)
{
	return loader_resize(loader, "events", (uint32_t)ring_bytes(options), err) < 0 ||
		loader_resize(loader, "targets", (uint32_t)options->target_count + 1, err) < 0 ||
		loader_resize(loader, "hidden", (uint32_t)options->hidden_count + 1, err) < 0 ||
		loader_resize(loader, "cpus", (uint32_t)options->cpu_count + 1, err) < 0 ||
		loader_resize(loader, "totals", options->sums ? SUMS_MAX : 1, err) < 0 ||
		loader_resize(loader, "errors", options->error_sums ? SUMS_MAX : 1, err) < 0
		? -1 : 0;
}

static void fill_set(int map, const int *ids, size_t count)
{
	uint8_t one = 1;
	for (size_t i = 0; i < count; i++) {
		uint32_t id = (uint32_t)ids[i];
		bpf_map_update_elem(map, &id, &one, BPF_ANY);
	}
}

static void *map_part(int map, int protection, size_t bytes, size_t at)
{
	void *part = mmap(NULL, bytes, protection, MAP_SHARED, map, (off_t)at);
	return part == MAP_FAILED ? NULL : part;
}

static int fill_maps(const struct loader *loader, const struct trace_programs_options *options, struct error *err)
{
	size_t bytes = 2 * TRACE_NUMBERS * sizeof(struct trace_rule);
	void *rules = map_part(loader_map(loader, "rules"), PROT_READ | PROT_WRITE, bytes, 0);
	if (!rules)
		return error_system(err, "trace: cannot fill the table of system calls");
	memcpy(rules, options->rules, bytes);
	munmap(rules, bytes);
	fill_set(loader_map(loader, "targets"), options->targets, options->target_count);
	fill_set(loader_map(loader, "hidden"), options->hidden, options->hidden_count);
	fill_set(loader_map(loader, "cpus"), options->cpus, options->cpu_count);
	uint32_t zero = 0, cgroup = (uint32_t)options->cgroup;
	if (options->cgroup >= 0 && bpf_map_update_elem(loader_map(loader, "cgroups"), &zero, &cgroup, BPF_ANY) < 0)
		return error_system(err, "trace: the kernel does not take this cgroup");
	return 0;
}

/* The layout of the mapping: a page that the reader writes, a page of the kernel, the data twice (kernel/bpf/ringbuf.c). */
static int open_ring(struct trace_programs *programs, const struct trace_programs_options *options, struct error *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int events = loader_map(&programs->loader, "events");
	programs->ring_bytes = ring_bytes(options);
	programs->consumed = map_part(events, PROT_READ | PROT_WRITE, page, 0);
	programs->produced = map_part(events, PROT_READ, page, page);
	programs->shared = map_part(loader_map(&programs->loader, "shared"), PROT_READ | PROT_WRITE, page, 0);
	if (!programs->consumed || !programs->produced || !programs->shared)
		return error_system(err, "trace: cannot map the ring of the BPF programs");
	programs->pieces = memory_zero(programs->ring_bytes / PIECE_BYTES + 1, sizeof *programs->pieces);
	programs->joined = memory_alloc(RECORD_MAX);
	programs->shared->watermark = (uint32_t)(programs->ring_bytes / WATERMARK_PARTS);
	return 0;
}

static size_t piece_bytes(const struct trace_programs *programs, size_t index)
{
	size_t rest = programs->ring_bytes - index * PIECE_BYTES;
	return rest < PIECE_BYTES ? rest : PIECE_BYTES;
}

/* The byte at this place of the ring, and how many follow in its piece; NULL: no memory. */
static const uint8_t *piece_at(struct trace_programs *programs, size_t at, size_t *follow)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), index = at / PIECE_BYTES, start = index * PIECE_BYTES;
	size_t bytes = piece_bytes(programs, index);
	if (!programs->pieces[index])
		programs->pieces[index] = map_part(loader_map(&programs->loader, "events"), PROT_READ, bytes, 2 * page + start);
	*follow = bytes - (at - start);
	return programs->pieces[index] ? programs->pieces[index] + (at - start) : NULL;
}

/* A record of `size` bytes at this place, in one piece. */
static const uint8_t *whole_record(struct trace_programs *programs, size_t at, size_t size)
{
	size_t follow, copied = 0;
	const uint8_t *bytes = piece_at(programs, at & (programs->ring_bytes - 1), &follow);
	if (follow >= size || !bytes)
		return bytes;
	for (; bytes && copied < size; bytes = piece_at(programs, (at + copied) & (programs->ring_bytes - 1), &follow)) {
		size_t part = follow < size - copied ? follow : size - copied;
		memcpy(programs->joined + copied, bytes, part);
		copied += part;
		if (copied == size)
			return programs->joined;
	}
	return NULL;
}

static void choose_programs(struct loader *loader, const struct trace_programs_options *options)
{
	static const char *const of_lines[] = { "enter", "leave", "switched" }, *const of_sums[] = { "sum_enter", "sum_leave", "sum_switched" },
		*const of_one[] = { "enter_one", "leave_one" };
	for (size_t i = 0; i < sizeof of_lines / sizeof *of_lines; i++)
		loader_disable(loader, options->sums ? of_lines[i] : of_sums[i]);
	for (size_t i = 0; i < sizeof of_one / sizeof *of_one; i++)
		options->call_count ? loader_attach_later(loader, of_one[i]) : loader_disable(loader, of_one[i]);
	for (size_t i = 0; i < 2 && (options->call_count || options->delayed); i++) {
		loader_attach_later(loader, of_lines[i]);
		loader_attach_later(loader, of_sums[i]);
	}
}

int trace_programs_begin(struct trace_programs *programs, struct error *err)
{
	struct loader *loader = &programs->loader;
	return loader_attach_one(loader, programs->sums ? "sum_enter" : "enter", err) < 0 ||
		loader_attach_one(loader, programs->sums ? "sum_leave" : "leave", err) < 0 ? -1 : 0;
}

static void pass_all_calls(struct trace_programs *programs, bool all)
{
	static const char *const names[] = { "enter", "leave" };
	for (size_t i = 0; i < 2; i++) {
		if (all && !programs->all_calls[i])
			programs->all_calls[i] = bpf_program__attach(bpf_object__find_program_by_name(programs->loader.object, names[i]));
		else if (!all && programs->all_calls[i])
			bpf_link__destroy(programs->all_calls[i]), programs->all_calls[i] = NULL;
	}
}

/* The first call of a command must not be missed, so every call passes the programs until it is known what the command is. */
static int attach_calls(struct trace_programs *programs, const struct trace_programs_options *options, struct error *err)
{
	programs->sums = options->sums;
	programs->sorted = options->sorted;
	programs->by_call = options->call_count > 0;
	programs->command_seen = !options->command || options->compat_runs;
	for (size_t i = 0; i < options->call_count; i++) {
		char name[128];
		snprintf(name, sizeof name, "sys_enter_%s", options->calls[i]);
		if (loader_attach_tracepoint(&programs->loader, "enter_one", "syscalls", name, err) < 0)
			return -1;
		snprintf(name, sizeof name, "sys_exit_%s", options->calls[i]);
		if (loader_attach_tracepoint(&programs->loader, "leave_one", "syscalls", name, err) < 0)
			return -1;
	}
	if (programs->by_call && (options->command || options->compat_runs))
		pass_all_calls(programs, true);
	return 0;
}

/* A program is executed: while only 64-bit ones run, no other call passes the programs. */
static void follow_program(struct trace_programs *programs, const struct trace_task_record *task)
{
	programs->compat_late |= task->compat && !programs->all_calls[0];
	if (task->compat)
		pass_all_calls(programs, true);
	else if (!programs->command_seen)
		pass_all_calls(programs, false);
	programs->command_seen = true;
}

int trace_programs_open(struct trace_programs *programs, const struct trace_programs_options *options, struct error *err)
{
	*programs = (struct trace_programs){ 0 };
	struct loader *loader = &programs->loader;
#if !defined(__x86_64__) && !defined(__aarch64__) && !defined(__s390x__)
	return error_set(err, ERROR_UNSUPPORTED, "trace: the BPF programs do not know the registers of this processor");
#endif
	if (loader_open(loader, "trace", trace_object, sizeof trace_object, err) < 0)
		return -1;
	choose_programs(loader, options);
	if (set_variables(loader, options, err) < 0 || size_maps(loader, options, err) < 0 || loader_load(loader, err) < 0 ||
	    fill_maps(loader, options, err) < 0 || open_ring(programs, options, err) < 0 || attach_calls(programs, options, err) < 0 ||
	    loader_attach(loader, err) < 0) {
		trace_programs_close(programs);
		return -1;
	}
	return 0;
}

void trace_programs_close(struct trace_programs *programs)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *const pages[] = { programs->shared, programs->consumed, (void *)(uintptr_t)programs->produced };
	for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
		if (pages[i])
			munmap(pages[i], page);
	for (size_t i = 0; programs->pieces && i * PIECE_BYTES < programs->ring_bytes; i++)
		if (programs->pieces[i])
			munmap(programs->pieces[i], piece_bytes(programs, i));
	free(programs->pieces);
	free(programs->joined);
	trace_order_fini(&programs->order);
	pass_all_calls(programs, false);
	loader_close(&programs->loader);
	*programs = (struct trace_programs){ 0 };
}

static uint64_t time_of(const struct trace_call *call)
{
	if (call->kind == TRACE_TASK)
		return ((const struct trace_task_record *)call)->time;
	return call->kind == TRACE_ENTERED ? call->entered : call->left;
}

size_t trace_programs_read(struct trace_programs *programs, uint64_t until, trace_record_visitor *record, void *context)
{
	size_t count = 0;
	unsigned long at = __atomic_load_n(programs->consumed, __ATOMIC_ACQUIRE);
	unsigned long end = __atomic_load_n(programs->produced, __ATOMIC_ACQUIRE);
	while (at < end) {
		size_t follow;
		const uint8_t *head = piece_at(programs, at & (programs->ring_bytes - 1), &follow);
		uint32_t length = head ? __atomic_load_n((const uint32_t *)head, __ATOMIC_ACQUIRE) : BPF_RINGBUF_BUSY_BIT;
		if (length & BPF_RINGBUF_BUSY_BIT)
			break;
		size_t size = length & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
		at += BPF_RINGBUF_HDR_SZ;
		const uint8_t *bytes = size <= RECORD_MAX ? whole_record(programs, at, size) : NULL;
		bool valid = bytes && !(length & BPF_RINGBUF_DISCARD_BIT) && trace_record_valid(bytes, size);
		if (valid && !programs->sorted && time_of((const void *)bytes) > until) {
			at -= BPF_RINGBUF_HDR_SZ;
			break;
		}
		const struct trace_task_record *task = (const void *)bytes;
		if (valid && programs->by_call && task->kind == TRACE_TASK && task->event == TRACE_TASK_EXECUTED)
			follow_program(programs, task);
		if (valid && programs->sorted)
			trace_order_add(&programs->order, time_of((const void *)bytes), bytes, (uint32_t)size);
		else if (valid)
			record(context, bytes, size);
		count++;
		at += (size + 7) & ~(size_t)7;
		if (count % RECORDS_A_RELEASE == 0)
			__atomic_store_n(programs->consumed, at, __ATOMIC_RELEASE);
	}
	__atomic_store_n(programs->consumed, at, __ATOMIC_RELEASE);
	trace_order_pass(&programs->order, programs->order.waiting_bytes > SORTED_BYTES_MAX ? UINT64_MAX : until, record, context);
	return count;
}

int trace_programs_fd(const struct trace_programs *programs)
{
	return loader_map(&programs->loader, "events");
}

void trace_programs_sleep(struct trace_programs *programs)
{
	__atomic_store_n(&programs->shared->asleep, 1, __ATOMIC_SEQ_CST);
}

void trace_programs_wake(struct trace_programs *programs)
{
	__atomic_store_n(&programs->shared->asleep, 0, __ATOMIC_SEQ_CST);
}

static void visit_parts(const struct trace_programs *programs, trace_sum_visitor *visit, void *context)
{
	int cpus = loader_cpus();
	uint32_t zero = 0;
	CLEANUP_FREE struct trace_cpu *values = memory_zero((size_t)(cpus > 0 ? cpus : 1), sizeof *values);
	if (cpus <= 0 || bpf_map_lookup_elem(loader_map(&programs->loader, "per_cpu"), &zero, values) < 0)
		return;
	for (int cpu = 0; cpu < cpus; cpu++)
		for (int i = 0; i < TRACE_PARTS; i++)
			if (values[cpu].parts[i].sum.calls)
				visit(context, &values[cpu].parts[i].key, &values[cpu].parts[i].sum);
}

void trace_programs_sums(struct trace_programs *programs, trace_sum_visitor *visit, trace_error_visitor *visit_error, void *context)
{
	loader_detach(&programs->loader);
	visit_parts(programs, visit, context);
	int totals = loader_map(&programs->loader, "totals"), errors = loader_map(&programs->loader, "errors");
	struct trace_sum_key key, *before = NULL;
	struct trace_sum sum;
	for (; bpf_map_get_next_key(totals, before, &key) == 0; before = &key)
		if (bpf_map_lookup_elem(totals, &key, &sum) == 0)
			visit(context, &key, &sum);
	struct trace_error_key error, *error_before = NULL;
	uint64_t count;
	for (; bpf_map_get_next_key(errors, error_before, &error) == 0; error_before = &error)
		if (bpf_map_lookup_elem(errors, &error, &count) == 0)
			visit_error(context, &error, count);
}

uint64_t trace_programs_lost(const struct trace_programs *programs)
{
	return loader_sum(&programs->loader, "counters", TRACE_LOST);
}

uint64_t trace_programs_unsummed(const struct trace_programs *programs)
{
	return loader_sum(&programs->loader, "counters", TRACE_SUMS_FULL);
}

bool trace_record_valid(const void *record, size_t size)
{
	const struct trace_call *call = record;
	if (size >= sizeof(struct trace_task_record) && call->kind == TRACE_TASK)
		return true;
	if (size < FIXED_PART || call->kind == TRACE_TASK || call->arguments_sent > TRACE_ARGUMENTS)
		return false;
	size_t rest = size - FIXED_PART, arguments = 8u * call->arguments_sent;
	return rest >= arguments && rest - arguments >= call->payload;
}

bool trace_item_next(const struct trace_call *call, size_t *at, const struct trace_item **item, const uint8_t **bytes)
{
	const uint8_t *payload = (const uint8_t *)call + FIXED_PART + 8u * call->arguments_sent;
	size_t left = *at <= call->payload ? call->payload - *at : 0;
	if (left < sizeof **item)
		return false;
	*item = (const struct trace_item *)(payload + *at);
	*bytes = payload + *at + sizeof **item;
	size_t padded = ((size_t)(*item)->size + 7) & ~(size_t)7;
	if (padded > left - sizeof **item)
		return false;
	*at += sizeof **item + padded;
	return true;
}
