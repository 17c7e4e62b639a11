#include "analysis/tasks.h"

#include "unit.h"

static void comm(struct tasks *tasks, int32_t pid, int32_t tid, const char *name)
{
	struct {
		int32_t pid, tid;
		char name[16];
	} body = { pid, tid, "" };
	snprintf(body.name, sizeof body.name, "%s", name);
	struct record record = { .type = RECORD_COMM, .body = (uint8_t *)&body, .body_len = sizeof body };
	tasks_apply(tasks, &record);
}

static void fork_of(struct tasks *tasks, int32_t pid, int32_t tid, int32_t ppid, int32_t ptid)
{
	int32_t body[] = { pid, ppid, tid, ptid };
	struct record record = { .type = RECORD_FORK, .body = (uint8_t *)body, .body_len = sizeof body };
	tasks_apply(tasks, &record);
}

/* "tid.level comm, …" in order; valid until the next call. */
static const char *order_of(struct tasks *tasks)
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

TEST("children follow their parent by tid, and have its name until they get one")
{
	struct tasks tasks;
	tasks_init(&tasks, false);
	comm(&tasks, 10, 10, "shell");
	fork_of(&tasks, 30, 30, 10, 10);
	fork_of(&tasks, 20, 20, 10, 10);
	fork_of(&tasks, 20, 21, 20, 20);
	comm(&tasks, 20, 20, "cc");
	comm(&tasks, 5, 5, "other");
	EXPECT_STR(order_of(&tasks), "0.0 swapper, 5.1 other, 10.1 shell, 20.2 cc, 21.3 shell, 30.2 shell");
	tasks_fini(&tasks);
}

TEST("a thread makes its process known, and a tid that is used again begins anew")
{
	struct tasks tasks;
	tasks_init(&tasks, false);
	comm(&tasks, 7, 8, "worker");
	EXPECT_STR(order_of(&tasks), "0.0 swapper, 7.1 ?, 8.1 worker");
	tasks_fini(&tasks);
	tasks_init(&tasks, false);
	comm(&tasks, 7, 7, "a");
	fork_of(&tasks, 8, 8, 7, 7);
	comm(&tasks, 9, 9, "b");
	fork_of(&tasks, 8, 8, 9, 9);
	EXPECT_STR(order_of(&tasks), "0.0 swapper, 7.1 a, 9.1 b, 8.2 b");
	tasks_fini(&tasks);
}

TEST("tids that came to be each other's parents are shown once, and do not hang")
{
	struct tasks tasks;
	tasks_init(&tasks, false);
	fork_of(&tasks, 5, 5, 6, 6);
	fork_of(&tasks, 6, 6, 5, 5);
	EXPECT_STR(order_of(&tasks), "0.0 swapper, 6.0 ?, 5.1 ?");
	tasks_fini(&tasks);
}
