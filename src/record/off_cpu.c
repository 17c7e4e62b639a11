#include "record/off_cpu.h"

#include <string.h>
#include <time.h>

#include "abi/off_cpu.h"
#include "os/process.h"
#include "record/acquire/record_out.h"

static void find_tasks(const struct measurement *m, uint32_t **tasks, size_t *count)
{
	VEC(uint32_t) list = { 0 };
	for (size_t i = 0; m->target.attached && i < m->target.threads.count; i++) {
		struct process_status status;
		pid_t tid = m->target.threads.items[i].tid;
		bool process = !m->target.from_tids && process_status(tid, tid, &status);
		vec_push(&list, (uint32_t)(process ? status.tgid : tid));
	}
	if (m->target.command && m->workload.pid)
		vec_push(&list, (uint32_t)m->workload.pid);
	*tasks = list.items;
	*count = list.count;
}

int off_cpu_open(struct off_cpu *off, const struct off_cpu_options *wanted, const struct measurement *m, struct error *err)
{
	CLEANUP_FREE uint32_t *tasks = NULL;
	struct offcpu_options options = { .wakers = wanted->wakers, .futexes = wanted->futexes };
	*off = (struct off_cpu){ .open = true, .no_kernel = m->sampling.all_user || m->sampling.user_callchains };
	find_tasks(m, &tasks, &options.task_count);
	options.tasks = tasks;
	options.processes = !m->target.from_tids;
	options.follow = m->target.command;
	options.cpus = m->target.cpus.list.items;
	off->alone = wanted->alone;
	if (wanted->alone) /* 0: every wait */
		options.alone_ns = wanted->least_ms ? wanted->least_ms * 1000000ull : 1;
	options.cpu_count = m->target.cpus_given ? m->target.cpus.list.count : 0;
	return offcpu_open(&off->programs, &options, err);
}

int off_cpu_start(struct off_cpu *off, struct error *err)
{
	return off->open ? offcpu_start(&off->programs, err) : 0;
}

struct writing {
	struct off_cpu *off;
	const struct evsel *evsel;
	struct writer *out;
	int64_t clock_shift;     /* from CLOCK_MONOTONIC to the clock of the recording */
};

static void write_chain(const struct writing *w, const uint64_t *frames, size_t count, uint64_t user_ip)
{
	bool copied = w->evsel->attr.sample_type & SAMPLE_STACK_USER;
	out_u64(w->out, (count ? count + 1 : 0) + (user_ip && !copied ? 2 : 0));
	if (count) {
		out_u64(w->out, CONTEXT_KERNEL);
		for (size_t i = 0; i < count; i++)
			out_u64(w->out, frames[i]);
	}
	if (user_ip && !copied) {
		out_u64(w->out, CONTEXT_USER);
		out_u64(w->out, user_ip);
	}
}

/* The registers that the event records; returns their number. */
static size_t add_registers(const struct writing *w, const struct offcpu_stack *stack)
{
	enum { REGISTERS = 64 };
	uint64_t mask = w->evsel->attr.sample_regs_user;
	for (unsigned i = 0; i < REGISTERS; i++)
		if (mask >> i & 1)
			out_u64(w->out, offcpu_register(stack, i));
	return (size_t)__builtin_popcountll(mask);
}

/* The stack of the waker's user code, which is unwound by the reader. */
static void write_waker(const struct writing *w, const struct offcpu_stack *stack)
{
	out_u64(w->out, (uint64_t)__builtin_popcountll(w->evsel->attr.sample_regs_user));
	add_registers(w, stack);
	out_u64(w->out, stack->size);
	writer_add(w->out, stack->bytes, stack->size);
}

static void write_raw(const struct writing *w, const struct offcpu_key *key, const struct offcpu_sum *sum)
{
	uint64_t frames[OFFCPU_FRAMES];
	bool copied = w->evsel->attr.sample_type & SAMPLE_STACK_USER && sum->waker_comm[0];
	const struct offcpu_stack *stack = copied ? offcpu_user_stack(&w->off->programs, key->waker_user_stack) : NULL;
	struct off_cpu_raw raw = { .magic = OFF_CPU_MAGIC, .count = sum->count, .max_ns = sum->max, .state = key->state, .waker = key->waker };
	size_t count = sum->waker_comm[0] ? offcpu_kernel_stack(&w->off->programs, key->waker_kernel_stack, frames) : 0;
	memcpy(raw.waker_comm, sum->waker_comm, sizeof raw.waker_comm);
	raw.waker_frames = (uint32_t)count;
	raw.holder = key->holder;
	raw.futex = key->futex;
	size_t at = w->out->len;
	out_u32(w->out, 0);
	writer_add(w->out, &raw, sizeof raw);
	writer_add(w->out, frames, count * sizeof *frames);
	if (stack && stack->size)
		write_waker(w, stack);
	writer_pad(w->out, '\0', 8 - (w->out->len - at) % 8);
	uint32_t size = (uint32_t)(w->out->len - at - sizeof size);
	memcpy(w->out->buffer + at, &size, sizeof size);
}

static void write_registers(const struct writing *w, const struct offcpu_stack *stack)
{
	enum { ABI_NONE, ABI_64 = 2 };
	out_u64(w->out, stack ? ABI_64 : ABI_NONE);
	if (stack)
		add_registers(w, stack);
}

static void write_stack(const struct writing *w, const struct offcpu_stack *stack)
{
	uint32_t size = stack ? stack->size : 0;
	out_u64(w->out, size);
	if (!size)
		return;
	writer_add(w->out, stack->bytes, size);
	out_u64(w->out, size);
}

static void write_head(const struct writing *w, const struct sample *sample)
{
	uint64_t type = w->evsel->attr.sample_type;
	const struct {
		uint64_t bit, value;
	} words[] = {
		{ SAMPLE_IDENTIFIER, sample->id }, { SAMPLE_IP, sample->ip }, { SAMPLE_TID, sample->pid | (uint64_t)sample->tid << 32 },
		{ SAMPLE_TIME, sample->time }, { SAMPLE_ID, sample->id }, { SAMPLE_STREAM_ID, sample->id }, { SAMPLE_CPU, 0 },
		{ SAMPLE_PERIOD, sample->period },
	};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (type & words[i].bit)
			out_u64(w->out, words[i].value);
}

/* A thread that started before the recording's events, or ended before they were read, has its name from here. */
static void write_comm(const struct writing *w, const struct sample *sample, const char *comm)
{
	bool added;
	idmap_add(&w->off->named, sample->tid, 0, &added);
	if (!added)
		return;
	size_t at = record_open(w->out, RECORD_COMM, 0);
	out_u32(w->out, sample->pid);
	out_u32(w->out, sample->tid);
	out_string(w->out, comm);
	record_close_with(w->out, at, &w->evsel->attr, sample);
}

static void write_sample(const struct writing *w, const struct offcpu_key *key, const struct offcpu_sum *sum, uint64_t time)
{
	uint64_t frames[OFFCPU_FRAMES], type = w->evsel->attr.sample_type;
	const struct offcpu_stack *stack = offcpu_user_stack(&w->off->programs, key->user_stack);
	size_t count = w->off->no_kernel ? 0 : offcpu_kernel_stack(&w->off->programs, key->kernel_stack, frames);
	uint64_t user_ip = stack ? offcpu_ip(stack) : 0;
	const struct sample sample = { .id = w->evsel->id_count ? w->evsel->ids[0] : 0, .ip = user_ip ? user_ip : count ? frames[0] : 0,
		.pid = key->pid, .tid = key->tid, .time = time, .period = sum->total };
	write_comm(w, &sample, sum->comm);
	size_t at = record_open(w->out, RECORD_SAMPLE, user_ip ? RECORD_MISC_USER : RECORD_MISC_KERNEL);
	write_head(w, &sample);
	if (type & SAMPLE_CALLCHAIN)
		write_chain(w, frames, count, user_ip);
	if (type & SAMPLE_RAW)
		write_raw(w, key, sum);
	if (type & SAMPLE_REGS_USER)
		write_registers(w, stack);
	if (type & SAMPLE_STACK_USER)
		write_stack(w, stack);
	if (w->out->len - at > RECORD_SIZE_MAX)
		w->out->len = at;
	else
		record_close(w->out, at, 0);
	w->off->samples++;
}

static void write_sum(void *context, const struct offcpu_key *key, const struct offcpu_sum *sum)
{
	const struct writing *w = context;
	write_sample(w, key, sum, w->off->alone ? OFF_CPU_SUM_TIME : sum->ended + (uint64_t)w->clock_shift);
}

static const struct evsel *event_of(const struct measurement *m, const struct evlist *evlist)
{
	for (size_t i = 0; i < m->events->list.count && i < evlist->events.count; i++)
		if (configure_is_off_cpu(&m->events->list.items[i]))
			return &evlist->events.items[i];
	return NULL;
}

static int64_t clock_shift(const struct measurement *m)
{
	struct timespec monotonic, other;
	if (!m->sampling.use_clockid || clock_gettime(CLOCK_MONOTONIC, &monotonic) < 0 || clock_gettime(m->sampling.clockid, &other) < 0)
		return 0;
	return (other.tv_sec - monotonic.tv_sec) * 1000000000ll + other.tv_nsec - monotonic.tv_nsec;
}

static void warn(const struct off_cpu *off, struct str *warnings)
{
	static const char *const texts[OFFCPU_LOSSES] = {
		[OFFCPU_LOST_TASK] = "waits were not counted, as memory was short",
		[OFFCPU_LOST_SUM] = "waits were not counted, as the BPF map of sums is full",
		[OFFCPU_LOST_COPY] = "stacks could not be copied in time: their waits have no callers in user code",
		[OFFCPU_LOST_WAIT] = "long waits were not recorded, as they ended faster than they could be written",
		[OFFCPU_LOST_KERNEL_STACK] = "waits have no call chain of the kernel, as the BPF map of call chains is full",
	};
	for (int i = 0; i < OFFCPU_LOSSES; i++) {
		uint64_t lost = offcpu_lost(&off->programs, (enum offcpu_loss)i);
		if (lost)
			str_printf(warnings, "--off-cpu: %llu %s\n", (unsigned long long)lost, texts[i]);
	}
}

static struct writing begin_writing(struct off_cpu *off, const struct measurement *m, const struct evlist *evlist, struct writer *out)
{
	return (struct writing){ .off = off, .evsel = event_of(m, evlist), .out = out, .clock_shift = clock_shift(m) };
}

static void write_waits(const struct writing *w)
{
	struct offcpu *programs = &w->off->programs;
	for (size_t i = 0; w->evsel && i < programs->waits.count; i++) {
		const struct offcpu_wait *wait = &programs->waits.items[i];
		write_sample(w, &wait->key, &wait->sum, wait->sum.ended + (uint64_t)w->clock_shift);
	}
	vec_clear(&programs->waits);
}

void off_cpu_take(struct off_cpu *off, const struct measurement *m, const struct evlist *evlist, struct writer *out)
{
	if (!off->open || off->stopped)
		return;
	offcpu_take(&off->programs);
	if (!off->programs.waits.count)
		return;
	const struct writing w = begin_writing(off, m, evlist, out);
	write_waits(&w);
}

void off_cpu_write(struct off_cpu *off, const struct measurement *m, const struct evlist *evlist, struct writer *out, struct str *warnings)
{
	if (!off->open || off->stopped)
		return;
	off->stopped = true;
	offcpu_stop(&off->programs);
	struct writing w = begin_writing(off, m, evlist, out);
	write_waits(&w);
	if (off->alone) { /* at the time of the sums, threads that have ended have no name */
		idmap_fini(&off->named);
		off->named = (struct idmap){ 0 };
	}
	if (w.evsel)
		offcpu_each(&off->programs, write_sum, &w);
	warn(off, warnings);
}

void off_cpu_close(struct off_cpu *off)
{
	if (off->open)
		offcpu_close(&off->programs);
	idmap_fini(&off->named);
	*off = (struct off_cpu){ 0 };
}
