/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* System calls of chosen tasks: a record for each in a ring, or sums by thread and call.
 *
 * A call without copied arguments is one record, sent at its return; if its task leaves the CPU before, its entry is sent then, so that a
 * reader sees a call that waits. Strings that are not in memory at the entry are read again at the return: then the kernel has faulted
 * them in. */
#include "bpf/cgroup.bpf.h"
#include "bpf/trace_record.h"

const volatile bool everything = false; /* all tasks but the hidden ones */
const volatile bool attached = false;   /* tasks of the map `targets` */
const volatile bool inherit = true;
const volatile bool sums = false, error_sums = false, cgroups_wanted = false;
const volatile bool by_cpu = false, by_cgroup = false;
const volatile bool failures_only = false;
const volatile __u64 least_ns = 0;      /* shorter calls are not sent */
const volatile __u32 command = 0;       /* traced from its exec on */
const volatile bool compat_only = false; /* calls of 64-bit code are traced at tracepoints of their own */

#define READ __attribute__((preserve_access_index))
#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long bp, bx, r10, r9, r8, cx, dx, si, di, orig_ax, ip, cs;
} READ;
struct thread_info {
	__u32 status;
} READ;
struct task_struct___x86 {
	struct thread_info thread_info;
} READ;
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
	__u64 regs[31], orig_x0;
	__s32 syscallno;
} READ;
#elif defined(__TARGET_ARCH_s390)
struct pt_regs {
	unsigned long orig_gpr2, gprs[16];
	unsigned int int_code;
} READ;
#endif

/* The arguments and the number of a call, and whether its task is a 32-bit one. Sources: syscall_get_arguments and syscall_get_nr in
 * arch/.../include/asm/syscall.h. */
#if defined(__TARGET_ARCH_x86)
/* The instruction `syscall` of 64-bit code sets cx to the next instruction; to ask the task costs more. */
static __always_inline bool is_compat(struct pt_regs *regs)
{
	if (regs->cx == regs->ip)
		return false;
	struct task_struct___x86 *task = (void *)bpf_get_current_task_btf();
	return task->thread_info.status & 2; /* TS_COMPAT */
}
/* Whether the task, which has just executed a program, will run 32-bit code. */
static __always_inline bool is_compat_program(struct task_struct *task)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
	return (BPF_CORE_READ(regs, cs) & 0xffff) == 0x23; /* __USER32_CS */
}
static __always_inline void arguments_of(struct pt_regs *regs, bool compat, __u64 *to)
{
	if (compat) {
		to[0] = (__u32)regs->bx, to[1] = (__u32)regs->cx, to[2] = (__u32)regs->dx;
		to[3] = (__u32)regs->si, to[4] = (__u32)regs->di, to[5] = (__u32)regs->bp;
	} else {
		to[0] = regs->di, to[1] = regs->si, to[2] = regs->dx, to[3] = regs->r10, to[4] = regs->r8, to[5] = regs->r9;
	}
}
static __always_inline long number_of(struct pt_regs *regs)
{
	return (int)regs->orig_ax;
}
#elif defined(__TARGET_ARCH_arm64)
static __always_inline bool is_compat(struct pt_regs *regs)
{
	return false;
}
static __always_inline void arguments_of(struct pt_regs *regs, bool compat, __u64 *to)
{
	to[0] = regs->orig_x0;
	for (int i = 1; i < 6; i++)
		to[i] = regs->regs[i];
}
static __always_inline long number_of(struct pt_regs *regs)
{
	return regs->syscallno;
}
#elif defined(__TARGET_ARCH_s390)
static __always_inline bool is_compat(struct pt_regs *regs)
{
	return false;
}
static __always_inline void arguments_of(struct pt_regs *regs, bool compat, __u64 *to)
{
	to[0] = regs->orig_gpr2;
	for (int i = 1; i < 6; i++)
		to[i] = regs->gprs[2 + i];
}
static __always_inline long number_of(struct pt_regs *regs)
{
	return regs->int_code & 0xffff;
}
#else
#define NO_REGISTERS /* the reader uses tracepoints instead */
struct pt_regs;
static __always_inline bool is_compat(struct pt_regs *regs)
{
	return false;
}
static __always_inline void arguments_of(struct pt_regs *regs, bool compat, __u64 *to)
{
}
static __always_inline long number_of(struct pt_regs *regs)
{
	return -1;
}
#endif

#if !defined(__TARGET_ARCH_x86)
static __always_inline bool is_compat_program(struct task_struct *task)
{
	return false;
}
#endif

enum { X32_BIT = 0x40000000 };
enum { SLOT_NEW, SLOT_TRACED, SLOT_IGNORED };
enum { CALL_NONE, CALL_RUNS, CALL_SENT };

struct slot {
	__u8 state, call, retry, unused[5];
	struct trace_call record;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct slot);
} slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, TRACE_NUMBERS * 2);
	__type(key, __u32);
	__type(value, struct trace_rule);
} rules SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct trace_shared);
} shared SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u8);
} targets SEC(".maps"), hidden SEC(".maps"), cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} cgroups SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct trace_sum_key);
	__type(value, struct trace_sum);
} totals SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct trace_error_key);
	__type(value, __u64);
} errors SEC(".maps");

COUNTERS_MAP(counters, TRACE_COUNTERS);

/* Where a record with copies is made. Programs of system calls run with preemption disabled. */
struct scratch {
	struct trace_call record;
	__u8 data[4 * TRACE_STRING_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

static __always_inline void send_or_wake(void *record, __u64 size, bool now)
{
	__u64 flags = BPF_RB_NO_WAKEUP;
	__u32 zero = 0;
	struct trace_shared *reader = bpf_map_lookup_elem(&shared, &zero);
	if (reader && reader->asleep && (now || bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) >= reader->watermark)) {
		reader->asleep = 0;
		flags = BPF_RB_FORCE_WAKEUP;
	}
	if (bpf_ringbuf_output(&events, record, size, flags) < 0)
		COUNT(counters, TRACE_LOST);
}

static __always_inline void send(void *record, __u64 size)
{
	send_or_wake(record, size, false);
}

static __noinline int send_task(struct task_struct *task, int event, int parent)
{
	struct trace_task_record record = { .kind = TRACE_TASK, .event = event, .parent = parent, .time = bpf_ktime_get_ns() };
	record.compat = event == TRACE_TASK_EXECUTED && is_compat_program(task);
	record.tid = BPF_CORE_READ(task, pid);
	record.tgid = BPF_CORE_READ(task, tgid);
	record.cgroup = cgroups_wanted ? cgroup_of_current() : 0; /* a new task is in its parent's */
	bpf_probe_read_kernel_str(record.comm, sizeof record.comm, task->comm);
	/* the reader chooses programs by what is executed */
	send_or_wake(&record, sizeof record, compat_only && event == TRACE_TASK_EXECUTED);
	return 0;
}

/* A task that has no slot yet. */
static __noinline struct slot *meet(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct slot *slot = bpf_task_storage_get(&slots, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!slot) {
		COUNT(counters, TRACE_LOST); /* no memory: the call is not seen */
		return NULL;
	}
	__u32 tid = bpf_get_current_pid_tgid(), tgid = bpf_get_current_pid_tgid() >> 32;
	bool traced = (everything || bpf_map_lookup_elem(&targets, &tid)) && !bpf_map_lookup_elem(&hidden, &tid) &&
		!bpf_map_lookup_elem(&hidden, &tgid);
	slot->state = traced ? SLOT_TRACED : SLOT_IGNORED;
	if (traced)
		send_task(task, TRACE_TASK_SEEN, 0);
	return slot;
}

/* The current task's slot, if it is traced. */
static __always_inline struct slot *slot_of_task(void)
{
	struct slot *slot = bpf_task_storage_get(&slots, bpf_get_current_task_btf(), 0, 0);
	if (!slot && (everything || attached))
		slot = meet();
	return slot && slot->state == SLOT_TRACED ? slot : NULL;
}

/* Whether calls of the current task are traced on this CPU and in its cgroup. */
static __always_inline bool is_here(void)
{
	if (by_cpu) {
		__u32 cpu = bpf_get_smp_processor_id();
		if (!bpf_map_lookup_elem(&cpus, &cpu))
			return false;
	}
	return !by_cgroup || bpf_current_task_under_cgroup(&cgroups, 0) == 1;
}

static __always_inline struct slot *current_slot(void)
{
	struct slot *slot = slot_of_task();
	return slot && is_here() ? slot : NULL;
}

static __always_inline struct trace_rule *rule_at(__u32 number, bool compat)
{
	__u32 index = number + compat * TRACE_NUMBERS;
	struct trace_rule *rule = number < TRACE_NUMBERS ? bpf_map_lookup_elem(&rules, &index) : NULL;
	return rule && rule->flags & TRACE_RULE_SHOWN ? rule : NULL;
}

/* The rule of a shown call, and whether its task is a 32-bit one. Most calls are found not to be shown by one look. The number of a call
 * of the x32 interface becomes that of the 64-bit call, which has the same arguments. */
static __always_inline struct trace_rule *rule_of(struct pt_regs *regs, long *number, bool *compat)
{
	*compat = false;
	if ((unsigned long)*number >= TRACE_NUMBERS) {
		if ((unsigned long)(*number ^ X32_BIT) >= TRACE_NUMBERS)
			return NULL;
		*number ^= X32_BIT;
	}
	__u32 index = *number;
	struct trace_rule *rule = bpf_map_lookup_elem(&rules, &index);
	if (!rule || !(rule->flags & (TRACE_RULE_SHOWN | TRACE_RULE_COMPAT_SHOWN)))
		return NULL;
	if (is_compat(regs)) {
		*compat = true;
		return rule_at(index, true);
	}
	return rule->flags & TRACE_RULE_SHOWN ? rule : NULL;
}

/* The bytes of a list of strings, which are copied to the byte `at` of the data; < 0: some could not be read. */
__noinline int copy_strings(struct scratch *to, __u32 at, __u64 from)
{
	__u32 begin = at;
	if (!to)
		return -1;
	for (int i = 0; i <= TRACE_LIST_MAX; i++) {
		__u64 text = 0;
		__u32 width = to->record.compat ? 4 : 8;
		if (bpf_probe_read_user(&text, width, (void *)(from + i * width)) < 0)
			return -1;
		if (!text)
			return at - begin;
		if (at > sizeof to->data - TRACE_BYTES_MAX)
			break;
		if (i == TRACE_LIST_MAX) {
			to->data[at] = 1;
			return at + 1 - begin;
		}
		long size = bpf_probe_read_user_str(to->data + at, TRACE_BYTES_MAX, (void *)text);
		if (size < 0)
			return -1;
		at += size;
	}
	return -1;
}

enum { COPY_FAILED = 1 << 16, COPIED = COPY_FAILED - 1 };

/* Appends what an argument of to->record points to, at the byte `at` of the data; returns the bytes, with COPY_FAILED if the memory could
 * not be read. A global function: the verifier checks it once, not for each argument of each path that leads here. */
__noinline int copy_argument(struct scratch *to, const struct trace_rule *rule, __u32 at, __u32 argument)
{
	if (!to || !rule || argument >= TRACE_ARGUMENTS || at > sizeof to->data - sizeof(struct trace_item) - TRACE_STRING_MAX)
		return 0;
	__u8 copy = rule->copies[argument];
	const void *from = (const void *)to->record.arguments[argument];
	if (!copy || !from)
		return 0;
	struct trace_item *item = (void *)(to->data + at);
	__u8 *data = to->data + at + sizeof *item;
	long size;
	if (copy == TRACE_COPY_STRING) {
		size = bpf_probe_read_user_str(data, TRACE_STRING_MAX, from);
	} else if (copy == TRACE_COPY_STRINGS) {
		size = copy_strings(to, at + sizeof *item, (__u64)from);
	} else {
		__u64 bytes = rule->sizes[argument];
		if (copy == TRACE_COPY_COUNTED && argument + 1 < TRACE_ARGUMENTS && to->record.arguments[argument + 1] < bytes)
			bytes = to->record.arguments[argument + 1];
		if (copy == TRACE_COPY_ELEMENTS && argument + 1 < TRACE_ARGUMENTS &&
		    to->record.arguments[argument + 1] < TRACE_BYTES_MAX && to->record.arguments[argument + 1] * rule->element < bytes)
			bytes = to->record.arguments[argument + 1] * rule->element;
		bytes &= TRACE_BYTES_MAX - 1;
		size = bpf_probe_read_user(data, bytes, from) < 0 ? -1 : (long)bytes;
	}
	bool failed = size < 0;
	if (failed)
		size = 0;
	item->argument = argument;
	item->failed = failed;
	item->size = size;
	item->unused = 0;
	return (sizeof *item + ((size + 7) & ~7ul)) | (failed ? COPY_FAILED : 0);
}

/* Whether an argument whose memory is copied is not NULL. Without branches, of which the verifier would try each combination. */
static __always_inline bool points(const struct trace_rule *rule, const __u64 *arguments)
{
	__u64 found = 0, copied = rule->copied;
#pragma clang loop unroll(full)
	for (int i = 0; i < TRACE_ARGUMENTS; i++)
		found |= arguments[i] & -(copied >> i & 1);
	return found;
}

__noinline int send_copied(struct slot *slot, const struct trace_rule *rule, int kind)
{
	__u32 zero = 0, bytes = 0;
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &zero);
	if (!scratch || !slot || !rule)
		return 0;
	scratch->record = slot->record;
	scratch->record.kind = kind;
	scratch->record.cpu = bpf_get_smp_processor_id();
	scratch->record.arguments_sent = TRACE_ARGUMENTS;
	__u32 failed = 0;
	for (__u32 i = 0; i < TRACE_ARGUMENTS && rule->copied >> i; i++) {
		int copied = rule->copied >> i & 1 ? copy_argument(scratch, rule, bytes, i) : 0;
		bytes += copied & COPIED;
		failed |= copied & COPY_FAILED;
	}
	slot->retry = failed != 0;
	if (bytes > sizeof scratch->data)
		return 0;
	scratch->record.payload = bytes;
	send(scratch, sizeof scratch->record + bytes);
	return 0;
}

#define FIXED_PART (sizeof(struct trace_call) - 8 * TRACE_ARGUMENTS)

static __always_inline void send_plain(struct slot *slot, __u8 kind, __u32 arguments)
{
	if (arguments > TRACE_ARGUMENTS)
		arguments = TRACE_ARGUMENTS;
	slot->record.kind = kind;
	slot->record.cpu = bpf_get_smp_processor_id();
	slot->record.arguments_sent = arguments;
	slot->record.payload = 0;
	send(&slot->record, FIXED_PART + 8 * arguments);
}

static __always_inline void begin(struct slot *slot, long number, bool compat)
{
	slot->record.number = number;
	slot->record.compat = compat;
	slot->record.entered = bpf_ktime_get_ns();
	slot->call = CALL_RUNS;
	slot->retry = 0;
	slot->record.tid = bpf_get_current_pid_tgid();
}

static __always_inline void send_entry(struct slot *slot, const struct trace_rule *rule)
{
	if (rule->flags & TRACE_RULE_ENDS || points(rule, slot->record.arguments)) {
		slot->record.left = 0;
		send_copied(slot, rule, TRACE_ENTERED);
		slot->call = CALL_SENT;
	}
}

SEC("tp_btf/sys_enter")
int BPF_PROG(enter, struct pt_regs *regs, long number)
{
	bool compat;
	struct trace_rule *rule = rule_of(regs, &number, &compat);
	struct slot *slot = rule && (compat || !compat_only) ? current_slot() : NULL;
	if (!slot)
		return 0;
	begin(slot, number, compat);
	arguments_of(regs, compat, slot->record.arguments);
	send_entry(slot, rule);
	return 0;
}

/* What a program at a tracepoint returns: with 0 the kernel hides the event from all others that observe the tracepoint. */
enum { PASS = 1 };

SEC("tp")
int enter_one(struct { __u64 regs; __u32 number, unused; __u64 arguments[TRACE_ARGUMENTS]; } *call)
{
	__u32 number = call->number;
	struct trace_rule *rule = rule_at(number, false);
	struct slot *slot = rule ? current_slot() : NULL;
	if (!slot)
		return PASS;
	begin(slot, number, false);
	/* as memory: the kernel refuses a program that names an argument that one of its calls does not have */
	bpf_probe_read_kernel(slot->record.arguments, sizeof slot->record.arguments, call->arguments);
#pragma clang loop unroll(full)
	for (int i = 0; i < TRACE_ARGUMENTS; i++)
		if (i >= rule->arguments)
			slot->record.arguments[i] = 0;
	send_entry(slot, rule);
	return PASS;
}
/* The return of a call whose entry was not seen has no arguments. */
static __always_inline void begin_unseen(struct slot *slot, long number, bool compat)
{
	slot->record.number = number;
	slot->record.compat = compat;
	slot->record.entered = 0;
	slot->record.tid = bpf_get_current_pid_tgid();
	slot->retry = 0;
}

static __always_inline void end(struct slot *slot, const struct trace_rule *rule, long result)
{
	__u64 now = bpf_ktime_get_ns();
	__u8 call = slot->call;
	slot->call = CALL_NONE;
	slot->record.left = now;
	slot->record.result = result;
	if (call == CALL_RUNS) {
		if (now - slot->record.entered < least_ns || (failures_only && result >= 0))
			return;
		send_plain(slot, TRACE_WHOLE, rule ? rule->arguments : TRACE_ARGUMENTS);
	} else if (slot->retry && rule) {
		send_copied(slot, rule, TRACE_LEFT);
		slot->retry = 0;
	} else {
		send_plain(slot, TRACE_LEFT, 0);
	}
}

SEC("tp_btf/sys_exit")
int BPF_PROG(leave, struct pt_regs *regs, long result)
{
	/* the number of a call that changed the registers (rt_sigreturn) is -1 here: its slot has it */
	long number = number_of(regs);
	bool compat;
	struct trace_rule *rule = rule_of(regs, &number, &compat);
	if ((!rule && number != -1) || (compat_only && !compat))
		return 0;
	struct slot *slot = current_slot();
	if (!slot || (!rule && slot->call == CALL_NONE))
		return 0;
	if (slot->call == CALL_NONE)
		begin_unseen(slot, number, compat);
	end(slot, rule ?: rule_at(slot->record.number, slot->record.compat), result);
	return 0;
}

SEC("tp")
int leave_one(struct { __u64 regs; __u32 number, unused; long result; } *call)
{
	__u32 number = call->number;
	struct trace_rule *rule = rule_at(number, false);
	struct slot *slot = rule ? current_slot() : NULL;
	if (!slot)
		return PASS;
	if (slot->call == CALL_NONE)
		begin_unseen(slot, number, false);
	end(slot, rule, call->result);
	return PASS;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(switched, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct slot *slot = bpf_task_storage_get(&slots, prev, 0, 0);
	if (!slot || slot->call != CALL_RUNS || failures_only || least_ns)
		return 0;
	slot->record.left = 0;
	send_plain(slot, TRACE_ENTERED, TRACE_ARGUMENTS);
	slot->call = CALL_SENT;
	return 0;
}

/* The programs of sums. What a CPU needs of its task is in `per_cpu`, because a look-up of the task's storage costs more than all the
 * rest; sum_switched saves it. It is the first program of sums to be attached and the last to be detached, so that no task is taken for
 * another. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct trace_cpu);
} per_cpu SEC(".maps");

static __always_inline struct trace_cpu *this_cpu(void)
{
	__u32 zero = 0;
	return bpf_map_lookup_elem(&per_cpu, &zero);
}

/* The state of a task moves back into its storage. */
static __always_inline void leave_cpu(struct trace_cpu *cpu, struct task_struct *task)
{
	struct slot *slot = cpu->task == TRACE_CPU_TRACED ? bpf_task_storage_get(&slots, task, 0, 0) : NULL;
	if (slot) {
		slot->call = cpu->in_call ? CALL_RUNS : CALL_NONE;
		slot->record.number = cpu->number;
		slot->record.entered = cpu->entered;
	}
	cpu->task = TRACE_CPU_UNKNOWN;
	cpu->in_call = 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(sum_switched, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct trace_cpu *cpu = this_cpu();
	if (cpu)
		leave_cpu(cpu, prev);
	return 0;
}

static __noinline int enter_cpu(struct trace_cpu *cpu)
{
	if (!cpu)
		return 0;
	struct slot *slot = slot_of_task();
	cpu->task = slot ? TRACE_CPU_TRACED : TRACE_CPU_IGNORED;
	cpu->in_call = 0;
	if (slot) {
		cpu->tid = bpf_get_current_pid_tgid();
		cpu->in_call = slot->call == CALL_RUNS;
		cpu->number = slot->record.number;
		cpu->entered = slot->record.entered;
	}
	return slot != NULL;
}

/* The state of the current task; NULL: it is not traced, or not here. */
static __always_inline struct trace_cpu *current_cpu(void)
{
	struct trace_cpu *cpu = this_cpu();
	if (!cpu || cpu->task == TRACE_CPU_IGNORED || (cpu->task == TRACE_CPU_UNKNOWN && !enter_cpu(cpu)))
		return NULL;
	return is_here() ? cpu : NULL;
}

static __always_inline void add_error(const struct trace_sum_key *key, long result)
{
	struct trace_error_key error = { .of = *key, .error = -result };
	__u64 one = 1, *count = bpf_map_lookup_elem(&errors, &error);
	if (count)
		++*count;
	else if (bpf_map_update_elem(&errors, &error, &one, BPF_ANY) < 0)
		COUNT(counters, TRACE_SUMS_FULL);
}

/* A key belongs to one thread, so no two CPUs change its sum at the same time. */
static __noinline struct trace_sum *sum_of(struct trace_sum_key *key)
{
	if (!key)
		return NULL;
	struct trace_sum none = { .min = ~0ull };
	bpf_map_update_elem(&totals, key, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&totals, key);
}

/* Moves a part into the totals. */
static __noinline int flush_part(struct trace_sum_part *part)
{
	if (!part)
		return 0;
	struct trace_sum *to = part->sum.calls ? sum_of(&part->key) : NULL;
	if (to) {
		to->calls += part->sum.calls;
		to->errors += part->sum.errors;
		to->total += part->sum.total;
		to->unseen += part->sum.unseen;
		to->large_squares += part->sum.large_squares;
		to->squares += part->sum.squares;
		to->squares_carry += part->sum.squares_carry + (to->squares < part->sum.squares);
		if (part->sum.min < to->min)
			to->min = part->sum.min;
		if (part->sum.max > to->max)
			to->max = part->sum.max;
	} else if (part->sum.calls) {
		COUNT_BY(counters, TRACE_SUMS_FULL, part->sum.calls);
	}
	part->sum = (struct trace_sum){ .min = ~0ull };
	return 0;
}

static __always_inline void add_sum(struct trace_cpu *cpu, __s32 number, __u64 ns, long result, bool unseen)
{
	struct trace_sum_part *part = &cpu->parts[(cpu->tid + number) & (TRACE_PARTS - 1)];
	struct trace_sum *sum = &part->sum;
	if (part->key.tid != cpu->tid || part->key.number != number) {
		flush_part(part);
		part->key.tid = cpu->tid;
		part->key.number = number;
	}
	sum->calls++;
	sum->total += ns;
	if (ns < sum->min)
		sum->min = ns;
	if (ns > sum->max)
		sum->max = ns;
	if (ns >> 32) {
		sum->large_squares += (ns >> 16) * (ns >> 16);
	} else {
		__u64 square = ns * ns;
		sum->squares += square;
		sum->squares_carry += sum->squares < square;
	}
	if (unseen)
		sum->unseen++;
	if (result < 0) {
		sum->errors++;
		if (error_sums)
			add_error(&part->key, result);
	}
}

SEC("tp_btf/sys_enter")
int BPF_PROG(sum_enter, struct pt_regs *regs, long number)
{
	bool compat;
	struct trace_cpu *cpu = current_cpu();
	if (!cpu || !rule_of(regs, &number, &compat))
		return 0;
	cpu->number = compat ? number + TRACE_NUMBERS : number;
	cpu->in_call = 1;
	cpu->entered = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(sum_leave, struct pt_regs *regs, long result)
{
	struct trace_cpu *cpu = current_cpu();
	if (!cpu)
		return 0;
	if (cpu->in_call) {
		cpu->in_call = 0;
		add_sum(cpu, cpu->number, bpf_ktime_get_ns() - cpu->entered, result, false);
		return 0;
	}
	bool compat;
	long number = number_of(regs);
	if (rule_of(regs, &number, &compat))
		add_sum(cpu, compat ? number + TRACE_NUMBERS : number, 0, result, true);
	return 0;
}

/* Of a task that ends: its last call does not return. */
static __noinline int count_unfinished(struct task_struct *task)
{
	struct trace_cpu *cpu = this_cpu();
	if (!cpu || !task)
		return 0;
	leave_cpu(cpu, task);
	struct slot *slot = bpf_task_storage_get(&slots, task, 0, 0);
	if (!slot || slot->call == CALL_NONE)
		return 0;
	struct trace_sum_key key = { .tid = BPF_CORE_READ(task, pid), .number = slot->record.number };
	struct trace_sum *sum = sum_of(&key);
	if (sum)
		sum->unfinished++;
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(forked, struct task_struct *parent, struct task_struct *child)
{
	struct slot *slot = bpf_task_storage_get(&slots, parent, 0, 0);
	if (!slot || slot->state != SLOT_TRACED || !(inherit || everything))
		return 0;
	struct slot *new = bpf_task_storage_get(&slots, child, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!new) {
		COUNT(counters, TRACE_LOST);
		return 0;
	}
	new->state = SLOT_TRACED;
	send_task(child, TRACE_TASK_FORKED, BPF_CORE_READ(parent, tgid));
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(executed, struct task_struct *task, int old_pid)
{
	__u32 tid = bpf_get_current_pid_tgid();
	bool begins = command && tid == command;
	struct slot *slot = bpf_task_storage_get(&slots, task, 0, begins ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
	if (!slot || (slot->state != SLOT_TRACED && !begins))
		return 0;
	slot->state = SLOT_TRACED;
	slot->retry = 0; /* the arguments of the call were in the memory before */
	struct trace_cpu *cpu = sums ? this_cpu() : NULL;
	if (cpu)
		leave_cpu(cpu, task); /* it is traced now, or has the id of its process */
	send_task(task, TRACE_TASK_EXECUTED, 0);
	return 0;
}

SEC("tp_btf/task_rename")
int BPF_PROG(renamed, struct task_struct *task, const char *comm)
{
	struct slot *slot = bpf_task_storage_get(&slots, task, 0, 0);
	if (!slot || slot->state != SLOT_TRACED)
		return 0;
	struct trace_task_record record = { .kind = TRACE_TASK, .event = TRACE_TASK_NAMED, .time = bpf_ktime_get_ns() };
	record.tid = BPF_CORE_READ(task, pid);
	record.tgid = BPF_CORE_READ(task, tgid);
	bpf_probe_read_kernel_str(record.comm, sizeof record.comm, comm);
	send(&record, sizeof record);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(ended, struct task_struct *task)
{
	struct slot *slot = bpf_task_storage_get(&slots, task, 0, 0);
	if (!slot || slot->state != SLOT_TRACED)
		return 0;
	if (sums)
		count_unfinished(task);
	slot->call = CALL_NONE;
	send_task(task, TRACE_TASK_ENDED, 0);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
