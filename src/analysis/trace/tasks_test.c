#include "analysis/trace/tasks.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"

static bool file(void *context, int pid, int fd, char *name, size_t size)
{
	int *asked = context;
	++*asked;
	snprintf(name, size, "/pid%d/%d", pid, fd);
	return fd < 5;
}

static void called(struct trace_tasks *tasks, struct trace_task *task, const char *name, const char *path, uint64_t first, int64_t result)
{
	struct call call;
	const uint64_t values[] = { first };
	call_describe(&call, name);
	pending_call_set(&task->entry, &call, 1, values, 1);
	if (path)
		pending_call_add(&task->entry, 1, (const uint8_t *)path, strlen(path));
	trace_tasks_returned(tasks, task, result);
	task->entry.call = NULL;
}

TEST("a descriptor has the file of the call that opened it, and its copies too")
{
	int asked = 0;
	struct trace_tasks tasks = { .sources = { .context = &asked, .file = file }, .follows_files = true };
	struct trace_task *task = trace_tasks_get(&tasks, 10, 10);
	called(&tasks, task, "openat", "/etc/passwd", 0, 3);
	EXPECT_STR(trace_file_name(&tasks, 10, 3), "/etc/passwd");
	called(&tasks, task, "dup2", NULL, 3, 9);
	EXPECT_STR(trace_file_name(&tasks, 10, 9), "/etc/passwd");
	EXPECT_INT(asked, 0);
	called(&tasks, task, "openat", "relative", 0, 4);
	EXPECT_STR(trace_file_name(&tasks, 10, 4), "/pid10/4");
	EXPECT_STR(trace_file_name(&tasks, 10, 4), "/pid10/4");
	EXPECT_INT(asked, 1);
	called(&tasks, task, "openat", "/none", 0, -2);
	trace_file_set(&tasks, 10, 3, NULL, 0);
	EXPECT_STR(trace_file_name(&tasks, 10, 3), "/pid10/3");
	trace_file_closed(&tasks, 10, 3);
	EXPECT(!trace_file_name(&tasks, 10, 3));
	called(&tasks, task, "pipe2", NULL, 0, 0);
	EXPECT_STR(trace_file_name(&tasks, 10, 3), "/pid10/3");
	called(&tasks, task, "socket", NULL, 0, 3);
	EXPECT_STR(trace_file_name(&tasks, 10, 3), "/pid10/3");
	EXPECT(!trace_file_name(&tasks, 10, 7));
	EXPECT(!trace_file_name(&tasks, 10, -1));
	trace_tasks_fini(&tasks);
}

TEST("closed descriptors with high numbers need no memory")
{
	struct trace_tasks tasks = { .follows_files = true };
	trace_file_closed(&tasks, 10, 65535);
	EXPECT(tasks.processes.items[0].files.count == 0);
	trace_file_closed(&tasks, 10, 5);
	EXPECT_INT(tasks.processes.items[0].files.count, 6);
	trace_tasks_fini(&tasks);
}

TEST("a child begins with the files of its parent, a thread shares them, an exec forgets those above 2")
{
	struct trace_tasks tasks = { 0 };
	struct trace_task *parent = trace_tasks_get(&tasks, 10, 10), *child = trace_tasks_get(&tasks, 11, 11);
	struct trace_task *thread = trace_tasks_get(&tasks, 12, 10);
	trace_file_set(&tasks, 10, 1, "out", 3);
	trace_file_set(&tasks, 10, 3, "three", 5);
	trace_tasks_fork(&tasks, parent->tid, child);
	trace_tasks_fork(&tasks, parent->tid, thread);
	trace_file_set(&tasks, 10, 3, NULL, 0);
	EXPECT_STR(trace_file_name(&tasks, 11, 3), "three");
	EXPECT(!trace_file_name(&tasks, thread->tgid, 3));
	trace_tasks_exec(&tasks, child);
	EXPECT(!trace_file_name(&tasks, 11, 3));
	EXPECT_STR(trace_file_name(&tasks, 11, 1), "out");
	trace_tasks_fini(&tasks);
}

TEST("entries of tasks that ended long ago are used again, those of the last ones are not")
{
	enum { MORE = 5 };
	struct trace_tasks tasks = { 0 }, sums = { .keep_ended = true };
	struct trace_task *lives = trace_tasks_get(&tasks, 1, 1);
	trace_file_set(&tasks, 2, 3, "three", 5);
	for (int tid = 2; tid < 2 + TASKS_ENDED_MAX; tid++)
		trace_tasks_end(&tasks, trace_tasks_get(&tasks, tid, tid));
	EXPECT(!trace_file_name(&tasks, 2, 3));
	struct trace_task *first = trace_tasks_find(&tasks, 2), *again = trace_tasks_find(&tasks, 3);
	EXPECT(first && first->ended && again);
	again->ended = false; /* its id belongs to a new task */
	for (int tid = 1000; tid < 1000 + MORE; tid++)
		trace_tasks_end(&tasks, trace_tasks_get(&tasks, tid, tid));
	EXPECT(!trace_tasks_find(&tasks, 2));
	EXPECT(trace_tasks_find(&tasks, 3) == again && trace_tasks_find(&tasks, 1) == lives);
	for (int tid = 10000; tid < 20000; tid++)
		trace_tasks_end(&tasks, trace_tasks_get(&tasks, tid, tid));
	EXPECT(tasks.list.count <= TASKS_ENDED_MAX + 3);
	EXPECT_INT(trace_tasks_find(&tasks, 19999)->tid, 19999);
	EXPECT(!trace_tasks_find(&tasks, 10000));
	for (int tid = 1; tid < 1000; tid++)
		trace_tasks_end(&sums, trace_tasks_get(&sums, tid, tid));
	EXPECT(trace_tasks_find(&sums, 1) && trace_tasks_find(&sums, 999));
	trace_tasks_fini(&tasks);
	trace_tasks_fini(&sums);
}

TEST("the bytes of a pending call belong to their arguments, and a name fits its field")
{
	struct trace_tasks tasks = { 0 };
	struct trace_task *task = trace_tasks_get(&tasks, 1, 0);
	struct call_values values = { 0 };
	const uint64_t numbers[] = { 1, 2, 3 };
	pending_call_set(&task->entry, NULL, 5, numbers, 2);
	pending_call_add(&task->entry, 0, (const uint8_t *)"ab", 2);
	pending_call_add(&task->entry, 3, (const uint8_t *)"cde", 3);
	pending_call_add(&task->entry, 6, (const uint8_t *)"f", 1);
	pending_call_values(&task->entry, &values);
	EXPECT_INT(values.values[1], 2);
	EXPECT_INT(values.values[2], 0);
	EXPECT_INT(values.bytes[3].size, 3);
	EXPECT(memcmp(values.bytes[3].bytes, "cde", 3) == 0);
	EXPECT(!values.bytes[1].bytes);
	trace_task_name(task, "0123456789abcdefgh", 18);
	EXPECT_STR(task->comm, "0123456789abcde");
	EXPECT(trace_tasks_get(&tasks, 1, 4) == task);
	EXPECT_INT(task->tgid, 4);
	trace_tasks_fini(&tasks);
}
