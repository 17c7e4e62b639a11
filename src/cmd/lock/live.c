#include "cmd/lock/lock.h"

#include <errno.h>
#include <stdio.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/lock_contention.h"
#include "os/cgroup.h"
#include "os/tracefs.h"
#include "record/acquire/target.h"
#include "record/acquire/workload.h"

/* What a live measurement needs until its result is printed. */
struct live {
	struct cli *cli;
	struct lock_options *options;
	struct lock_contention contention;
	struct live_names names;
	struct lock_stats stats, owner_stats;
	struct target target;
	VEC(uint32_t) tasks;
	struct strtab cgroups;        /* paths of cgroups */
	struct idmap cgroup_paths;    /* cgroup id → id in cgroups */
	uint64_t filtered;
};

/* Adds the addresses of -L names. Returns whether no requested lock exists. */
static bool find_symbols(struct live *live)
{
	struct lock_options *o = live->options;
	uint64_t start, end;
	for (size_t i = 0; i < o->symbols.list.count; i++) {
		if (live->names.kernel && symbols_named(live->names.symbols, live->names.kernel, o->symbols.list.items[i], &start, &end))
			vec_push(&o->addresses.list, start);
		else
			cli_warn(live->cli, "ignore unknown symbol: %s", o->symbols.list.items[i]);
	}
	return o->symbols.list.count && !o->addresses.list.count;
}

static enum lock_mode mode_of(enum lock_group group)
{
	static const enum lock_mode modes[] = { [LOCK_GROUP_ADDRESS] = LOCK_BY_ADDRESS, [LOCK_GROUP_TASK] = LOCK_BY_TASK,
		[LOCK_GROUP_CALLER] = LOCK_BY_CALLER, [LOCK_GROUP_CGROUP] = LOCK_BY_CGROUP };
	return modes[group];
}

static int open_target(struct live *live, bool command, struct error *err)
{
	const struct lock_options *o = live->options;
	const char *warning = NULL;
	const struct target_options target = { .pids = o->pids, .tids = o->tids, .cpus = o->cpus, .command = command,
		.all_cpus = o->all_cpus || (!o->pids && !o->tids && !o->cpus && !command) };
	if (target_open(&live->target, &target, &warning, err) < 0)
		return -1;
	if (warning)
		cli_warn(live->cli, "%s", warning);
	for (size_t i = 0; live->target.attached && i < live->target.threads.count; i++) {
		struct process_status status;
		pid_t tid = live->target.threads.items[i].tid;
		bool process = !live->target.from_tids && process_status(tid, tid, &status);
		vec_push(&live->tasks, (uint32_t)(process ? status.tgid : tid));
	}
	return 0;
}

static int note_cgroup(void *context, uint64_t id, const char *path)
{
	struct live *live = context;
	idmap_set(&live->cgroup_paths, id, strtab_add_line(&live->cgroups, path, strlen(path)));
	return 0;
}

static int open_programs(struct live *live, bool command, struct error *err)
{
	struct lock_options *o = live->options;
	static const uint32_t placeholder = 0; /* replaced by the command's process */
	char mount[4096];
	bool unified = false, no_match = find_symbols(live), follow = command && live->target.command;
	if ((o->by_cgroup || o->cgroups.list.count) && !cgroup_mount(mount, sizeof mount, &unified))
		return error_set(err, ERROR_UNSUPPORTED, "no cgroup file system is mounted");
	if (o->by_cgroup && cgroup_each(note_cgroup, live, err) < 0)
		return -1;
	const struct lock_contention_options options = {
		.mode = mode_of(lock_group_of(o)), .owners = o->owners,
		.owner_stacks = o->owners && o->input.verbose > 0, .max_stack = o->max_stack ? (unsigned)o->max_stack : 1,
		.stacks = lock_group_of(o) == LOCK_GROUP_CALLER || o->callers.list.count, .entries = (uint32_t)o->map_entries,
		.stack_skip = o->stack_skip > 0 ? (unsigned)o->stack_skip : 0, .unified = unified, .no_match = no_match,
		.cpus = live->target.cpus.list.items, .cpu_count = o->cpus ? live->target.cpus.list.count : 0,
		.tasks = follow ? &placeholder : live->tasks.items, .task_count = follow ? 1 : live->tasks.count,
		.processes = !live->target.from_tids, .follow = follow,
		.types = o->types.list.items, .type_count = o->types.list.count,
		.addresses = o->addresses.list.items, .address_count = o->addresses.list.count,
		.cgroups = o->cgroups.list.items, .cgroup_count = o->cgroups.list.count,
	};
	int status = lock_contention_open(&live->contention, &options, err);
	if (status == 0 && live->contention.no_owner_stacks)
		cli_warn(live->cli, "call chains of owners need Linux 6.2");
	return status;
}

/* Until a signal asks for the end, the command ends, or the last of the named processes. */
static void wait_for_end(const struct target *target, struct signals *signals, struct workload *workload)
{
	enum { LOOK_MS = 500 };
	struct pollfd fd = { .fd = signals->fd, .events = POLLIN };
	bool named = target->attached && !workload->pid;
	while (!signals->ended_by && !(workload->pid && workload_ended(workload)) && !(named && !target_lives(target))) {
		if (poll(&fd, 1, named ? LOOK_MS : -1) < 0 && errno != EINTR)
			return;
		signals_read(signals);
	}
}

static int measure(struct live *live, struct signals *signals, struct workload *workload, const char *const *command, struct error *err)
{
	bool follow = live->target.command && command;
	if (command && workload_start(workload, command, false, signals, err) < 0)
		return -1;
	if (follow && lock_contention_add_task(&live->contention, (uint32_t)workload->pid, err) < 0)
		return -1;
	if (lock_contention_start(&live->contention, err) < 0 || (command && workload_run(workload, err) < 0))
		return -1;
	wait_for_end(&live->target, signals, workload);
	lock_contention_stop(&live->contention);
	return 0;
}

static bool passes_callers(const struct live *live, const uint64_t *stack)
{
	const struct lock_words *words = &live->options->callers;
	for (unsigned i = 0; i < live->contention.options.max_stack && stack[i]; i++) {
		struct lock_frame frame = live_names_frame(&live->names, stack[i]);
		for (size_t k = 0; frame.symbol && k < words->list.count; k++)
			if (strstr(frame.symbol, words->list.items[k]))
				return true;
	}
	return !words->list.count;
}

static void name_caller(const struct live *live, const uint64_t *stack, char *text, size_t size)
{
	unsigned at = 0, last = live->contention.options.max_stack - 1;
	while (at < last && lock_text_holds(&live->names.text, stack[at]))
		at++;
	struct lock_frame frame = live_names_frame(&live->names, stack[at]);
	if (frame.symbol)
		lock_frame_text(&frame, text, size);
	else
		snprintf(text, size, "%#llx", (unsigned long long)stack[at]);
}

static void name_lock(const struct live *live, const struct lock_key *key, uint32_t flags, char *text, size_t size)
{
	struct lock_frame frame = live_names_frame(&live->names, key->address);
	const char *name = flags & LOCK_IS_MMAP ? "mmap_lock" : flags & LOCK_IS_SIGHAND ? "siglock" : frame.symbol ? frame.symbol :
		lock_contention_is_runqueue(&live->contention, key->address) ? "rq_lock" : "";
	snprintf(text, size, "%s", name);
}

static void name_sum(const struct live *live, const struct lock_key *key, const struct lock_sum *sum, const uint64_t *stack, char *text,
	size_t size)
{
	struct lock_task task;
	uint32_t path;
	switch (live->contention.options.mode) {
	case LOCK_BY_CALLER:
		if (key->stack < 0)
			snprintf(text, size, "Unknown");
		else
			name_caller(live, stack, text, size);
		break;
	case LOCK_BY_ADDRESS:
		name_lock(live, key, sum->flags, text, size);
		break;
	case LOCK_BY_TASK:
		if (key->task == UINT32_MAX)
			snprintf(text, size, "Unknown");
		else if (!key->task)
			snprintf(text, size, "swapper");
		else if (lock_contention_comm(&live->contention, key->task, &task))
			snprintf(text, size, "%s", task.comm);
		else
			snprintf(text, size, ":%u", key->task);
		break;
	default:
		path = idmap_get(&live->cgroup_paths, key->address);
		if (path == IDMAP_NONE)
			snprintf(text, size, "cgroup:%llu", (unsigned long long)key->address);
		else
			snprintf(text, size, "%s", strtab_text(&live->cgroups, path));
	}
}

static uint64_t key_of(const struct live *live, const struct lock_key *key)
{
	switch (live->contention.options.mode) {
	case LOCK_BY_CALLER:
		return (uint64_t)(int64_t)key->stack;
	case LOCK_BY_TASK:
		return key->task;
	default:
		return key->address;
	}
}

static void add_frames(struct live *live, struct lock_stats *stats, struct lock_stat *stat, const uint64_t *stack)
{
	unsigned depth = 0;
	while (depth < live->contention.options.max_stack && stack[depth])
		depth++;
	struct lock_frame *frames = arena_alloc(&stats->arena, (depth + 1) * sizeof *frames);
	for (unsigned i = 0; i < depth; i++)
		frames[i] = live_names_frame(&live->names, stack[i]);
	stat->frames = frames;
	stat->frame_count = depth;
}

static void take_sum(void *context, const struct lock_key *key, const struct lock_sum *sum, const uint64_t *stack)
{
	struct live *live = context;
	char name[4096];
	if (!passes_callers(live, stack)) {
		live->filtered += sum->count;
		return;
	}
	struct lock_stat *stat = lock_stats_find(&live->stats, key_of(live, key));
	if (!stat) {
		name_sum(live, key, sum, stack, name, sizeof name);
		stat = lock_stats_add(&live->stats, key_of(live, key), name, sum->flags);
		add_frames(live, &live->stats, stat, stack);
	}
	lock_stat_waits(stat, sum->count, sum->total, sum->min, sum->max);
}

static void take_owner(void *context, uint64_t id, const struct lock_sum *sum, const uint64_t *stack)
{
	struct live *live = context;
	char name[256];
	name_caller(live, stack, name, sizeof name);
	struct lock_stat *stat = lock_stats_add(&live->owner_stats, id, name, sum->flags);
	add_frames(live, &live->owner_stats, stat, stack);
	lock_stat_waits(stat, sum->count, sum->total, sum->min, sum->max);
}

static void show(struct live *live, const struct lock_choice *choice, struct writer *out)
{
	uint64_t lost[LOCK_LOSS_CAUSES];
	struct lock_view view = { .choice = choice, .lost = lost };
	struct lock_order owners = { 0 };
	for (int i = 0; i < LOCK_LOSS_CAUSES; i++)
		lost[i] = lock_contention_lost(&live->contention, (enum lock_loss)i);
	if (lock_group_of(live->options) == LOCK_GROUP_CALLER || live->contention.options.owner_stacks)
		lock_text_find(&live->names.text, live->names.symbols, live->names.kernel);
	lock_contention_each(&live->contention, take_sum, live);
	lock_contention_each_owner(&live->contention, take_owner, live);
	lock_stats_order(&live->owner_stats, choice->key, false, &owners);
	if (live->contention.options.owner_stacks)
		view.owner_stacks = &owners;
	view.filtered = live->filtered;
	lock_contention_show(live->cli, live->options, &view, &live->stats, out);
	vec_fini(&owners.list);
}

static void close_live(struct live *live)
{
	lock_contention_close(&live->contention);
	live_names_close(&live->names);
	lock_stats_fini(&live->stats);
	lock_stats_fini(&live->owner_stats);
	target_close(&live->target);
	vec_fini(&live->tasks);
	strtab_fini(&live->cgroups);
	idmap_fini(&live->cgroup_paths);
}

int lock_live_run(struct cli *cli, struct lock_options *options, const struct lock_choice *choice, struct writer *out, int argc,
	const char **argv)
{
	struct live live = { .cli = cli, .options = options };
	struct signals signals = { .fd = -1 };
	struct workload workload = { 0 };
	struct error err = { 0 };
	const char *const *command = argc ? argv : NULL;
	live_names_open(&live.names, cli, options);
	writer_flush(cli->out, NULL);
	int status = open_target(&live, command, &err);
	if (status == 0)
		status = open_programs(&live, command, &err);
	uint64_t id;
	bool refused = status < 0 && err.kind == ERROR_UNSUPPORTED && tracefs_id("lock", "contention_begin", &id, NULL) >= 0;
	if (status == 0)
		status = signals_open(&signals, false, &err);
	if (status == 0)
		status = measure(&live, &signals, &workload, command, &err);
	if (status == 0)
		show(&live, choice, out);
	else
		cli_complain(cli, &err);
	if (refused)
		cli_warn(cli, "without BPF programs: `perf lock record`, then `perf lock contention`");
	writer_flush(out, NULL);
	if (workload.pid) {
		workload_stop(&workload);
		workload_wait(&workload, &signals);
	}
	signals_close(&signals);
	close_live(&live);
	return status < 0 ? EXIT_FAILED : 0;
}
