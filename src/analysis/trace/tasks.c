#include "analysis/trace/tasks.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void trace_tasks_fini(struct trace_tasks *tasks)
{
	for (size_t i = 0; i < tasks->list.count; i++) {
		vec_fini(&tasks->list.items[i]->entry.bytes);
		str_fini(&tasks->list.items[i]->chain.lines);
		free(tasks->list.items[i]);
	}
	for (size_t i = 0; i < tasks->processes.count; i++) {
		for (size_t k = 0; k < tasks->processes.items[i].files.count; k++)
			free(tasks->processes.items[i].files.items[k]);
		vec_fini(&tasks->processes.items[i].files);
	}
	vec_fini(&tasks->list);
	vec_fini(&tasks->unused);
	vec_fini(&tasks->processes);
	idmap_fini(&tasks->by_tid);
	idmap_fini(&tasks->by_pid);
}

struct trace_task *trace_tasks_find(const struct trace_tasks *tasks, int32_t tid)
{
	uint32_t index = idmap_get(&tasks->by_tid, (uint32_t)tid);
	struct trace_task *task = index == IDMAP_NONE ? NULL : tasks->list.items[index];
	return task && task->tid == tid ? task : NULL;
}

static struct trace_task *new_task(struct trace_tasks *tasks, int32_t tid)
{
	struct trace_task *task = tasks->unused.count ? tasks->unused.items[--tasks->unused.count] : NULL;
	if (task) {
		*task = (struct trace_task){ .index = task->index, .life = task->life + 1 };
	} else {
		task = memory_zero(1, sizeof *task);
		task->index = (uint32_t)tasks->list.count;
		vec_push(&tasks->list, task);
	}
	task->tid = task->tgid = tid;
	idmap_set(&tasks->by_tid, (uint32_t)tid, task->index);
	return task;
}

struct trace_task *trace_tasks_get(struct trace_tasks *tasks, int32_t tid, int32_t tgid)
{
	struct trace_task *task = trace_tasks_find(tasks, tid);
	if (!task)
		task = new_task(tasks, tid);
	if (tgid > 0)
		task->tgid = tgid;
	return task;
}

void trace_task_name(struct trace_task *task, const char *comm, size_t size)
{
	size_t length = strnlen(comm, size);
	if (length >= sizeof task->comm)
		length = sizeof task->comm - 1;
	memcpy(task->comm, comm, length);
	task->comm[length] = '\0';
	text_make_printable(task->comm);
}

static struct trace_process *process_of(struct trace_tasks *tasks, int32_t pid)
{
	bool added;
	uint32_t index = idmap_add(&tasks->by_pid, (uint32_t)pid, (uint32_t)tasks->processes.count, &added);
	if (added)
		vec_add(&tasks->processes)->pid = pid;
	return &tasks->processes.items[index];
}

static void forget_files(struct trace_process *process)
{
	for (size_t i = 0; i < process->files.count; i++)
		free(process->files.items[i]);
	process->files.count = 0;
}

void trace_tasks_end(struct trace_tasks *tasks, struct trace_task *task)
{
	uint32_t process = task->tid == task->tgid ? idmap_get(&tasks->by_pid, (uint32_t)task->tid) : IDMAP_NONE;
	task->ended = true;
	task->entry.open = false;
	if (process != IDMAP_NONE) {
		forget_files(&tasks->processes.items[process]);
		vec_fini(&tasks->processes.items[process].files);
	}
	if (tasks->keep_ended)
		return;
	size_t at = tasks->ended_count++ % TASKS_ENDED_MAX;
	struct trace_task *before = tasks->ended[at].task;
	if (before && before->ended && before->life == tasks->ended[at].life) {
		vec_fini(&before->entry.bytes);
		str_fini(&before->chain.lines);
		before->entry.pending = false;
		before->life++;
		before->tid = -1;
		vec_push(&tasks->unused, before);
	}
	tasks->ended[at].task = task;
	tasks->ended[at].life = task->life;
}

void trace_file_set(struct trace_tasks *tasks, int32_t pid, int fd, const char *name, size_t length)
{
	struct trace_process *process = process_of(tasks, pid);
	if (fd < 0 || fd >= TASK_FILES_MAX)
		return;
	while (name && process->files.count <= (size_t)fd)
		vec_push(&process->files, NULL);
	if ((size_t)fd >= process->files.count)
		return;
	free(process->files.items[fd]);
	process->files.items[fd] = name ? strndup(name, length) : NULL;
}

const char *trace_file_name(struct trace_tasks *tasks, int32_t pid, int fd)
{
	struct trace_process *process = process_of(tasks, pid);
	char name[4096];
	if (fd < 0 || fd >= TASK_FILES_MAX)
		return NULL;
	if ((size_t)fd < process->files.count && process->files.items[fd])
		return *process->files.items[fd] ? process->files.items[fd] : NULL;
	if (!tasks->sources.file || !tasks->sources.file(tasks->sources.context, pid, fd, name, sizeof name))
		return NULL;
	trace_file_set(tasks, pid, fd, name, strlen(name));
	return process_of(tasks, pid)->files.items[fd];
}

void trace_file_closed(struct trace_tasks *tasks, int32_t pid, int fd)
{
	enum { MARKED = 1024 }; /* programs close every number up to their limit: high ones are not worth the memory */
	if (fd >= MARKED && (size_t)fd >= process_of(tasks, pid)->files.count)
		return;
	trace_file_set(tasks, pid, fd, tasks->follows_files ? "" : NULL, 0);
}

void trace_tasks_fork(struct trace_tasks *tasks, int32_t parent, struct trace_task *child)
{
	if (parent == child->tgid) /* a thread: the same files */
		return;
	process_of(tasks, parent);
	struct trace_process *to = process_of(tasks, child->tgid), *from = process_of(tasks, parent);
	forget_files(to);
	for (size_t i = 0; i < from->files.count; i++)
		vec_push(&to->files, from->files.items[i] ? memory_string(from->files.items[i]) : NULL);
}

void trace_tasks_exec(struct trace_tasks *tasks, struct trace_task *task)
{
	struct trace_process *process = process_of(tasks, task->tgid);
	for (size_t i = 3; i < process->files.count; i++) { /* standard streams stay open, as a rule */
		free(process->files.items[i]);
		process->files.items[i] = NULL;
	}
}

const char *trace_comm(struct trace_tasks *tasks, int pid)
{
	struct trace_task *task = trace_tasks_find(tasks, pid);
	char comm[TASK_COMM_SIZE];
	if (pid <= 0)
		return NULL;
	if (task && *task->comm)
		return task->comm;
	if (!tasks->sources.comm || !tasks->sources.comm(tasks->sources.context, pid, comm, sizeof comm))
		return NULL;
	task = trace_tasks_get(tasks, pid, 0);
	trace_task_name(task, comm, sizeof comm);
	return task->comm;
}

void pending_call_set(struct pending_call *entry, const struct call *call, uint64_t entered, const uint64_t *values, unsigned count)
{
	entry->pending = entry->open = true;
	entry->call = call;
	entry->entered = entered;
	for (unsigned i = 0; i < CALL_ARGUMENTS; i++) {
		entry->values[i] = i < count ? values[i] : 0;
		entry->parts[i].copied = false;
	}
	entry->bytes.count = 0;
}

void pending_call_add(struct pending_call *entry, unsigned argument, const uint8_t *bytes, size_t size)
{
	if (argument >= CALL_ARGUMENTS)
		return;
	entry->parts[argument].at = (uint32_t)entry->bytes.count;
	entry->parts[argument].size = (uint32_t)size;
	entry->parts[argument].copied = true;
	vec_reserve(&entry->bytes, entry->bytes.count + size + 1);
	memcpy(entry->bytes.items + entry->bytes.count, bytes, size);
	entry->bytes.count += size;
}

void pending_call_values(const struct pending_call *entry, struct call_values *values)
{
	values->call = entry->call;
	for (unsigned i = 0; i < CALL_ARGUMENTS; i++) {
		values->values[i] = entry->values[i];
		values->bytes[i].bytes = entry->parts[i].copied ? entry->bytes.items + entry->parts[i].at : NULL;
		values->bytes[i].size = entry->parts[i].size;
	}
}

/* The path that an open call named, if a reader without the task's current folder understands it. */
static bool opened_path(const struct pending_call *entry, const char **path, size_t *length)
{
	for (unsigned i = 0; i < entry->call->count; i++) {
		if (entry->call->arguments[i].kind != ARGUMENT_FILENAME || !entry->parts[i].copied || !entry->parts[i].size)
			continue;
		*path = (const char *)entry->bytes.items + entry->parts[i].at;
		*length = entry->parts[i].size;
		return **path == '/';
	}
	return false;
}

/* Closed descriptors may be open again. */
static void doubt_closed(struct trace_process *process)
{
	for (size_t i = 0; i < process->files.count; i++) {
		if (process->files.items[i] && !*process->files.items[i]) {
			free(process->files.items[i]);
			process->files.items[i] = NULL;
		}
	}
}

static bool is_copy(const struct pending_call *entry)
{
	bool by_command = entry->call->arguments[1].kind == ARGUMENT_FCNTL;
	return !by_command || entry->values[1] == F_DUPFD || entry->values[1] == F_DUPFD_CLOEXEC;
}

/* A copy of a descriptor has its file. */
static void copied_file(struct trace_tasks *tasks, const struct trace_task *task, int to)
{
	const char *name = trace_file_name(tasks, task->tgid, (int)task->entry.values[0]);
	char *copy = name ? memory_string(name) : NULL;
	trace_file_set(tasks, task->tgid, to, copy, copy ? strlen(copy) : 0);
	free(copy);
}

void trace_tasks_returned(struct trace_tasks *tasks, const struct trace_task *task, int64_t result)
{
	const struct call *call = task->entry.call;
	const char *path = NULL;
	size_t length = 0;
	if (!call || result < 0 || result >= TASK_FILES_MAX)
		return;
	if (call->flags & CALL_OPENS) {
		bool known = opened_path(&task->entry, &path, &length);
		trace_file_set(tasks, task->tgid, (int)result, known ? path : NULL, length);
		tasks->opened_files += known;
	} else if (call->flags & CALL_COPIES_FILE && is_copy(&task->entry)) {
		copied_file(tasks, task, (int)result);
	} else if (call->flags & CALL_MAKES_FILE) {
		trace_file_set(tasks, task->tgid, (int)result, NULL, 0); /* unknown until /proc is read */
	} else if (call->flags & CALL_MAKES_FILES) {
		doubt_closed(process_of(tasks, task->tgid));
	}
}
