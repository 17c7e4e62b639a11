#include "record/acquire/target.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add_thread(struct target *target, pid_t pid, pid_t tid)
{
	struct target_thread *thread = vec_add(&target->threads);
	thread->tid = tid;
	if (tid > 0)
		task_name(pid, tid, thread->comm);
}

static int no_process(struct error *err)
{
	error_set(err, ERROR_USAGE, "Couldn't create thread/CPU maps: No such process");
	if (err)
		err->sys = ESRCH;
	return -1;
}

static int add_process(struct target *target, pid_t pid, struct error *err)
{
	struct process_ids tids = { 0 };
	if (process_threads(pid, &tids, err) < 0) {
		vec_fini(&tids.list);
		return no_process(err);
	}
	for (size_t i = 0; i < tids.list.count; i++)
		add_thread(target, pid, tids.list.items[i]);
	vec_fini(&tids.list);
	return 0;
}

static int add_thread_id(struct target *target, pid_t tid, struct error *err)
{
	struct process_status status;
	if (!process_status(tid, tid, &status))
		return error_set(err, ERROR_USAGE, "there is no thread %d", (int)tid);
	add_thread(target, tid, tid);
	return 0;
}

/* "12,34" */
static int add_list(struct target *target, const char *text, int (*add)(struct target *, pid_t, struct error *), struct error *err)
{
	for (const char *at = text; *at;) {
		char *end;
		errno = 0;
		long id = strtol(at, &end, 10);
		if (end == at || errno || id <= 0 || id > INT_MAX || (*end != ',' && *end != '\0'))
			return add == add_process ? no_process(err) : error_set(err, ERROR_OPTION, "'%s' is not a list of thread ids", text);
		if (add(target, (pid_t)id, err) < 0)
			return -1;
		at = *end == ',' ? end + 1 : end;
	}
	return 0;
}

static int add_user(struct target *target, const char *user, struct error *err)
{
	char *end;
	unsigned long uid = strtoul(user, &end, 10);
	if (end == user || *end) {
		struct passwd *entry = getpwnam(user);
		if (!entry)
			return error_set(err, ERROR_USAGE, "Invalid User: %s", user);
		uid = entry->pw_uid;
	}
	struct process_ids pids = { 0 };
	if (process_list(&pids, err) < 0)
		return -1;
	for (size_t i = 0; i < pids.list.count; i++) {
		struct process_status status;
		if (process_status(pids.list.items[i], pids.list.items[i], &status) && status.uid == uid)
			add_process(target, pids.list.items[i], NULL);
	}
	vec_fini(&pids.list);
	target->of_this_user = uid == getuid();
	if (!target->threads.count)
		return error_set(err, ERROR_USAGE, "user %s runs no process", user);
	return 0;
}

/* Every thread of the machine; those that end meanwhile are left out. */
static int add_all_threads(struct target *target, const struct target_options *options, struct error *err)
{
	vec_reserve(&target->threads, options->listed_count);
	for (size_t i = 0; i < options->listed_count; i++)
		vec_push(&target->threads, options->listed[i]);
	if (options->listed_count)
		return 0;
	struct process_ids pids = { 0 };
	if (process_list(&pids, err) < 0)
		return -1;
	for (size_t i = 0; i < pids.list.count; i++)
		add_process(target, pids.list.items[i], NULL);
	vec_fini(&pids.list);
	return 0;
}

static int fill_threads(struct target *target, const struct target_options *options, struct error *err)
{
	if (target->system_wide || target->command) {
		add_thread(target, -1, -1);
		return 0;
	}
	if (options->all_threads)
		return add_all_threads(target, options, err);
	if (options->pids && add_list(target, options->pids, add_process, err) < 0)
		return -1;
	if (options->tids && !options->pids && add_list(target, options->tids, add_thread_id, err) < 0)
		return -1;
	if (options->uid && !options->pids && !options->tids && add_user(target, options->uid, err) < 0)
		return -1;
	if (target->threads.count)
		return 0;
	/* an empty list */
	return options->pids ? no_process(err) : error_set(err, options->tids ? ERROR_OPTION : ERROR_USAGE, "no process or thread to measure");
}

/* Of options that exclude each other, the first of -t, -p, -u, -C, -a is used, as in perf. */
static const char *select_target(struct target *target, struct target_options *options)
{
	const char *warning = NULL;
	if (options->all_threads)
		*options = (struct target_options){
			.all_threads = true, .per_thread = true, .command = options->command,
			.listed = options->listed, .listed_count = options->listed_count,
		};
	if (options->tids && options->pids) {
		warning = "PID/TID switch overriding TID";
		options->tids = NULL;
	}
	bool threads = options->pids || options->tids;
	if (options->uid && threads) {
		warning = "PID/TID switch overriding UID";
		options->uid = NULL;
	}
	if (threads && options->all_cpus) {
		warning = "PID/TID switch overriding SYSTEM";
		options->all_cpus = false;
	}
	if (threads && options->cpus) {
		warning = "PID/TID switch overriding CPU";
		options->cpus = NULL;
	}
	if (options->uid && options->cpus) {
		warning = "UID switch overriding CPU";
		options->cpus = NULL;
	}
	if (options->uid && options->all_cpus) {
		warning = "UID switch overriding SYSTEM";
		options->all_cpus = false;
	}
	if (options->per_thread && (options->all_cpus || options->cpus)) {
		warning = "SYSTEM/CPU switch overriding PER-THREAD";
		options->per_thread = false;
	}
	target->attached = threads || options->uid || options->all_threads;
	target->from_tids = options->tids && !options->pids;
	target->system_wide = !target->attached && (options->all_cpus || options->cpus || !options->command);
	target->command = !target->attached && !target->system_wide;
	target->per_thread = options->per_thread && !target->system_wide;
	return warning;
}

static int check_cpus(const struct target *target, const char *asked, struct error *err)
{
	if (!target->cpus.list.count)
		return error_set(err, ERROR_USAGE, "the list of CPUs is empty");
	for (size_t i = 0; asked && i < target->cpus.list.count; i++) {
		if (cpus_has(&target->online, target->cpus.list.items[i]))
			continue;
		CLEANUP_STR struct str online = { 0 };
		cpus_text(&target->online, &online);
		error_set(err, ERROR_USAGE, "CPU %d of '%s' is not online: there are %s", target->cpus.list.items[i], asked, str_text(&online));
		/* as in perf, whose exit code differs between an offline CPU and one that the machine cannot have */
		if (err && (unsigned)target->cpus.list.items[i] >= cpus_possible_count())
			err->sys = ENODEV;
		return -1;
	}
	return 0;
}

int target_open(struct target *target, const struct target_options *asked, const char **warning, struct error *err)
{
	struct target_options options = *asked;
	*target = (struct target){ 0 };
	*warning = select_target(target, &options);
	target->cpus_given = options.cpus != NULL;
	if (cpus_online(&target->online, err) < 0)
		return -1;
	if (target->per_thread)
		cpus_add(&target->cpus, -1);
	else if (options.cpus ? cpus_parse(&target->cpus, options.cpus, err) < 0 : cpus_online(&target->cpus, err) < 0)
		return -1;
	if (check_cpus(target, options.cpus, err) < 0)
		return -1;
	return fill_threads(target, &options, err);
}

void target_close(struct target *target)
{
	vec_fini(&target->threads);
	cpus_fini(&target->cpus);
	cpus_fini(&target->online);
}

void target_set_command(struct target *target, pid_t pid)
{
	if (target->command)
		target->threads.items[0].tid = pid;
	else if (target->of_this_user)
		add_thread(target, pid, pid);
}

bool target_lives(const struct target *target)
{
	for (size_t i = 0; i < target->threads.count; i++)
		if (task_runs(target->threads.items[i].tid))
			return true;
	return false;
}
