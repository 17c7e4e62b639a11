#include "bpf/offcpu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/memory.h"
#include "bpf/offcpu.bpf.h"

enum { STORED_MAX = 256 << 20, FOLLOWED_MAX = 65536, WORD = 8 };

/* Where struct pt_regs has the registers of samples, in words (arch/ISA/include/asm/ptrace.h, uapi/asm/perf_regs.h); -1: nowhere. */
#if defined(__x86_64__)
static const int8_t places[] = { 10, 5, 11, 12, 13, 14, 4, 19, 16, 18, 17, 20, -1, -1, -1, -1, 9, 8, 7, 6, 3, 2, 1, 0 };
enum { REGISTER_WORDS = 21, SP = 19, IP = 16, FRAME = 4, CALL = 15, ARGUMENT = 14, OPERATION = 13, VALUE = 12, FUTEX = 202 };
#elif defined(__aarch64__)
static const int8_t places[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
	29, 30, 31, 32 };
enum { REGISTER_WORDS = 34, SP = 31, IP = 32, FRAME = 29, CALL = 35, ARGUMENT = 0, OPERATION = 1, VALUE = 2, FUTEX = 98 };
#else
static const int8_t places[] = { -1 };
enum { REGISTER_WORDS = 0, SP = 0, IP = 0, FRAME = 0, CALL = 0, ARGUMENT = 0, OPERATION = 0, VALUE = 0, FUTEX = 0 };
#endif

uint64_t offcpu_register(const struct offcpu_stack *stack, unsigned number)
{
	uint64_t value = 0;
	if (number < sizeof places && places[number] >= 0)
		memcpy(&value, stack->registers + (size_t)places[number] * WORD, sizeof value);
	return value;
}

uint64_t offcpu_ip(const struct offcpu_stack *stack)
{
	uint64_t value;
	memcpy(&value, stack->registers + (size_t)IP * WORD, sizeof value);
	return value;
}

static int set(struct offcpu *o, const char *name, const void *value, size_t size, struct error *err)
{
	void *variable = loader_variable(&o->loader, name, size);
	if (!variable)
		return error_set(err, ERROR_UNSUPPORTED, "off-cpu: the BPF programs have no variable '%s'", name);
	memcpy(variable, value, size);
	return 0;
}

static int set_variables(struct offcpu *o, const struct offcpu_options *options, struct error *err)
{
	const struct {
		const char *name;
		bool value;
	} flags[] = { { "by_cpu", options->cpu_count }, { "by_task", options->task_count }, { "by_process", options->processes },
		{ "futexes", options->futexes } };
	const struct {
		const char *name;
		uint32_t value;
	} numbers[] = { { "register_bytes", REGISTER_WORDS * WORD }, { "sp_at", SP * WORD }, { "ip_at", IP * WORD }, { "bp_at", FRAME * WORD },
		{ "call_at", CALL * WORD }, { "argument_at", ARGUMENT * WORD }, { "operation_at", OPERATION * WORD }, { "value_at", VALUE * WORD },
		{ "futex_call", FUTEX } };
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		if (set(o, flags[i].name, &flags[i].value, sizeof flags[i].value, err) < 0)
			return -1;
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (set(o, numbers[i].name, &numbers[i].value, sizeof numbers[i].value, err) < 0)
			return -1;
	return set(o, "alone_ns", &options->alone_ns, sizeof options->alone_ns, err);
}

static int add_to_filter(const struct offcpu *o, const char *map, uint32_t key, struct error *err)
{
	const uint8_t one = 1;
	if (bpf_map_update_elem(loader_map(&o->loader, map), &key, &one, BPF_ANY) < 0)
		return error_system(err, "off-cpu: the filter '%s' cannot be filled", map);
	return 0;
}

static int fill_filters(const struct offcpu *o, const struct offcpu_options *options, struct error *err)
{
	for (size_t i = 0; i < options->cpu_count; i++)
		if (add_to_filter(o, "cpus", (uint32_t)options->cpus[i], err) < 0)
			return -1;
	for (size_t i = 0; i < options->task_count; i++)
		if (add_to_filter(o, "tasks", options->tasks[i], err) < 0)
			return -1;
	return 0;
}

/* Copies beyond the limit are counted, and their waits have no user stack. */
static void take_copy(struct offcpu *o, const struct offcpu_copy *copy)
{
	bool added;
	if (copy->size > sizeof copy->stack)
		return;
	if (o->stored + copy->size > STORED_MAX) {
		o->dropped++;
		return;
	}
	idmap_add(&o->by_id, copy->id, (uint32_t)o->stacks.count, &added);
	if (!added)
		return;
	struct offcpu_stack *stack = vec_add(&o->stacks);
	memcpy(stack->registers, copy->registers, sizeof stack->registers);
	stack->bytes = memory_alloc(copy->size + 1);
	memcpy(stack->bytes, copy->stack, copy->size);
	stack->size = copy->size;
	o->stored += copy->size + sizeof *stack;
}

static void end_names(struct offcpu_sum *sum)
{
	sum->comm[sizeof sum->comm - 1] = sum->waker_comm[sizeof sum->waker_comm - 1] = '\0';
}

/* A piece of the ring: the kinds differ in size. */
static int take_piece(void *context, void *data, size_t size)
{
	struct offcpu *o = context;
	if (size >= sizeof(struct offcpu_copy)) {
		take_copy(o, data);
	} else if (size >= sizeof(struct offcpu_wait)) {
		struct offcpu_wait *wait = vec_add(&o->waits);
		memcpy(wait, data, sizeof *wait);
		end_names(&wait->sum);
	}
	return 0;
}

int offcpu_open(struct offcpu *o, const struct offcpu_options *options, struct error *err)
{
	*o = (struct offcpu){ 0 };
	if (!REGISTER_WORDS)
		return error_set(err, ERROR_UNSUPPORTED, "off-cpu: the registers of this architecture are not supported");
	if (loader_open(&o->loader, "off-cpu", offcpu_object, sizeof offcpu_object, err) < 0 || set_variables(o, options, err) < 0)
		return -1;
	size_t tasks = options->follow ? FOLLOWED_MAX : options->task_count;
	if (loader_resize(&o->loader, "tasks", tasks ? (uint32_t)tasks : 1, err) < 0 ||
	    loader_resize(&o->loader, "cpus", options->cpu_count ? (uint32_t)options->cpu_count : 1, err) < 0)
		return -1;
	if (!options->follow)
		loader_disable(&o->loader, "follow_child");
	if (!options->wakers)
		loader_disable(&o->loader, "on_waking");
	if (loader_load(&o->loader, err) < 0 || fill_filters(o, options, err) < 0)
		return -1;
	o->ring = ring_buffer__new(loader_map(&o->loader, "copies"), take_piece, o, NULL);
	return o->ring ? 0 : error_system(err, "off-cpu: the ring of stack copies cannot be mapped");
}

int offcpu_add_task(struct offcpu *o, uint32_t task, struct error *err)
{
	return add_to_filter(o, "tasks", task, err);
}

int offcpu_start(struct offcpu *o, struct error *err)
{
	static const char *const programs[] = { "follow_child", "on_waking", "on_switch" };
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
		if (loader_program(&o->loader, programs[i]) >= 0 && loader_attach_one(&o->loader, programs[i], err) < 0)
			return -1;
	return 0;
}

int offcpu_fd(const struct offcpu *o)
{
	return ring_buffer__epoll_fd(o->ring);
}

void offcpu_take(struct offcpu *o)
{
	ring_buffer__consume(o->ring);
}

void offcpu_stop(struct offcpu *o)
{
	char nothing[64];
	loader_detach(&o->loader);
	int link = bpf_link_create(loader_program(&o->loader, "end_waits"), 0, BPF_TRACE_ITER, NULL);
	int iterator = link >= 0 ? bpf_iter_create(link) : -1;
	while (iterator >= 0 && read(iterator, nothing, sizeof nothing) > 0)
		;
	if (iterator >= 0)
		close(iterator);
	if (link >= 0)
		close(link);
	offcpu_take(o);
}

void offcpu_each(const struct offcpu *o, void (*visit)(void *context, const struct offcpu_key *key, const struct offcpu_sum *sum),
	void *context)
{
	int sums = loader_map(&o->loader, "sums");
	struct offcpu_key key, *previous = NULL;
	struct offcpu_sum sum;
	while (bpf_map_get_next_key(sums, previous, &key) == 0) {
		previous = &key;
		if (bpf_map_lookup_elem(sums, &key, &sum) == 0) {
			end_names(&sum);
			visit(context, &key, &sum);
		}
	}
}

size_t offcpu_kernel_stack(const struct offcpu *o, int32_t id, uint64_t frames[static OFFCPU_FRAMES])
{
	size_t count = 0;
	if (id < 0 || bpf_map_lookup_elem(loader_map(&o->loader, "kernel_stacks"), &id, frames) < 0)
		return 0;
	while (count < OFFCPU_FRAMES && frames[count])
		count++;
	return count;
}

const struct offcpu_stack *offcpu_user_stack(const struct offcpu *o, uint64_t id)
{
	uint32_t index = id ? idmap_get(&o->by_id, id) : IDMAP_NONE;
	return index == IDMAP_NONE ? NULL : &o->stacks.items[index];
}

uint64_t offcpu_lost(const struct offcpu *o, enum offcpu_loss loss)
{
	return loader_sum(&o->loader, "losses", loss) + (loss == OFFCPU_LOST_COPY ? o->dropped : 0);
}

void offcpu_close(struct offcpu *o)
{
	ring_buffer__free(o->ring);
	for (size_t i = 0; i < o->stacks.count; i++)
		free(o->stacks.items[i].bytes);
	vec_fini(&o->stacks);
	vec_fini(&o->waits);
	idmap_fini(&o->by_id);
	loader_close(&o->loader);
}
