#include "analysis/task/tasks.h"

#include "unit.h"

static void apply_task_comm(struct tasks *tasks, int32_t pid, int32_t tid, const char *name)
{
	struct {
		int32_t pid, tid;
		char name[16];
	} body = { pid, tid, "" };
	snprintf(body.name, sizeof body.name, "%s", name);
	struct record record = { .type = RECORD_COMM, .body = (uint8_t *)&body, .body_len = sizeof body };
	tasks_apply(tasks, &record);
}

static void apply_task_fork(struct tasks *tasks, int32_t pid, int32_t tid, int32_t ppid, int32_t ptid)
{
	int32_t body[] = { pid, ppid, tid, ptid };
	struct record record = { .type = RECORD_FORK, .body = (uint8_t *)body, .body_len = sizeof body };
	tasks_apply(tasks, &record);
}

/* Returns "tid.level comm, …" in order, valid until the next call. */
static const char *tasks_order_text(struct tasks *tasks)
{
	static char text[512];
	size_t len = 0;
	tasks_arrange(tasks);
	for (size_t i = 0; i < tasks->order.count; i++) {
		const struct task *task = &tasks->tasks.items[tasks->order.items[i]];
		len += (size_t)snprintf(text + len, sizeof text - len, "%s%d.%u %s", i ? ", " : "", task->tid, task->level,
			task->comm ? task->comm : "?");
	}
	return text;
}

TEST("children follow their parent in order of tid and inherit its comm")
{
	struct tasks tasks;
	tasks_init(&tasks, false);
	apply_task_comm(&tasks, 10, 10, "shell");
	apply_task_fork(&tasks, 30, 30, 10, 10);
	apply_task_fork(&tasks, 20, 20, 10, 10);
	apply_task_fork(&tasks, 20, 21, 20, 20);
	apply_task_comm(&tasks, 20, 20, "cc");
	apply_task_comm(&tasks, 5, 5, "other");
	EXPECT_STR(tasks_order_text(&tasks), "0.0 swapper, 5.1 other, 10.1 shell, 20.2 cc, 21.3 shell, 30.2 shell");
	tasks_fini(&tasks);
}

TEST("a thread creates its process, and a reused tid is a new task")
{
	struct tasks tasks;
	tasks_init(&tasks, false);
	apply_task_comm(&tasks, 7, 8, "worker");
	EXPECT_STR(tasks_order_text(&tasks), "0.0 swapper, 7.1 ?, 8.1 worker");
	tasks_fini(&tasks);
	tasks_init(&tasks, false);
	apply_task_comm(&tasks, 7, 7, "a");
	apply_task_fork(&tasks, 8, 8, 7, 7);
	apply_task_comm(&tasks, 9, 9, "b");
	apply_task_fork(&tasks, 8, 8, 9, 9);
	EXPECT_STR(tasks_order_text(&tasks), "0.0 swapper, 7.1 a, 9.1 b, 8.2 b");
	tasks_fini(&tasks);
	tasks_init(&tasks, false);
	apply_task_comm(&tasks, 8, 8, "old");
	apply_task_fork(&tasks, 8, 8, 20, 20); /* nothing has named its parent */
	EXPECT_STR(tasks_order_text(&tasks), "0.0 swapper, 20.1 ?, 8.2 ?");
	tasks_fini(&tasks);
}

TEST("tasks that are each other's parents are listed once")
{
	struct tasks tasks;
	tasks_init(&tasks, false);
	apply_task_fork(&tasks, 5, 5, 6, 6);
	apply_task_fork(&tasks, 6, 6, 5, 5);
	EXPECT_STR(tasks_order_text(&tasks), "0.0 swapper, 6.0 ?, 5.1 ?");
	tasks_fini(&tasks);
}

TEST("a thread of an unknown process adds no task for the process")
{
	struct tasks tasks;
	tasks_init(&tasks, false);
	apply_task_comm(&tasks, -1, 8, "lost");
	EXPECT_STR(tasks_order_text(&tasks), "0.0 swapper, 8.1 lost");
	EXPECT_INT(tasks.tasks.count, 2);
	tasks_fini(&tasks);
}

TEST("a task whose process is unknown gets it from the first record that has it, and keeps it")
{
	struct tasks tasks;
	tasks_init(&tasks, false);
	apply_task_comm(&tasks, -1, 8, "worker");
	apply_task_comm(&tasks, 7, 8, "worker");
	apply_task_comm(&tasks, 6, 8, "worker");
	const struct task *task = &tasks.tasks.items[tasks.tasks.count - 1];
	EXPECT_INT(task->tid, 8);
	EXPECT_INT(task->pid, 7);
	tasks_fini(&tasks);
}
