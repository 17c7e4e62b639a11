#include "analysis/task/tasks.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/search.h"

#define TASK_NONE IDMAP_NONE

static uint32_t task_find(struct tasks *tasks, int32_t pid, int32_t tid)
{
	uint32_t index = idmap_get(&tasks->by_tid, (uint32_t)tid);
	if (index == TASK_NONE || tasks->tasks.items[index].removed)
		return TASK_NONE;
	struct task *task = &tasks->tasks.items[index];
	if (task->pid == -1 && pid != -1)
		task->pid = pid;
	return index;
}

static uint32_t task_find_or_add(struct tasks *tasks, int32_t pid, int32_t tid)
{
	uint32_t index = task_find(tasks, pid, tid);
	if (index != TASK_NONE)
		return index;
	index = (uint32_t)tasks->tasks.count;
	*vec_add(&tasks->tasks) = (struct task){ .pid = pid, .tid = tid, .ppid = -1 };
	idmap_set(&tasks->by_tid, (uint32_t)tid, index);
	/* a thread implies its process */
	if (pid != -1 && pid != tid)
		task_find_or_add(tasks, pid, pid);
	return index;
}

static const char *comm_intern(struct tasks *tasks, const char *text, size_t len)
{
	return strtab_text(&tasks->comms, strtab_add(&tasks->comms, text, len));
}

void tasks_init(struct tasks *tasks, bool mmaps)
{
	*tasks = (struct tasks){ .mmaps = mmaps };
	uint32_t idle = task_find_or_add(tasks, 0, 0);
	tasks->tasks.items[idle].comm = comm_intern(tasks, "swapper", 7);
}

void tasks_fini(struct tasks *tasks)
{
	vec_fini(&tasks->tasks);
	vec_fini(&tasks->order);
	idmap_fini(&tasks->by_tid);
	strtab_fini(&tasks->comms);
}

static void tasks_apply_comm(struct tasks *tasks, struct cursor *c)
{
	int32_t pid = (int32_t)take_u32(c), tid = (int32_t)take_u32(c);
	size_t len;
	const char *comm = take_string(c, cursor_left(c), &len);
	if (c->short_read)
		return;
	uint32_t index = task_find_or_add(tasks, pid, tid);
	tasks->tasks.items[index].comm = comm_intern(tasks, comm, len);
}

static void tasks_apply_fork(struct tasks *tasks, struct cursor *c)
{
	int32_t pid = (int32_t)take_u32(c), ppid = (int32_t)take_u32(c);
	int32_t tid = (int32_t)take_u32(c), ptid = (int32_t)take_u32(c);
	if (c->short_read)
		return;
	uint32_t old = task_find(tasks, pid, tid);
	uint32_t parent = task_find_or_add(tasks, ppid, ptid);
	if (tasks->tasks.items[parent].pid != ppid) {
		/* the tid was reused, and the record of that is lost */
		tasks->tasks.items[parent].removed = true;
		parent = task_find_or_add(tasks, ppid, ptid);
	}
	if (old != TASK_NONE)
		tasks->tasks.items[old].removed = true;
	uint32_t child = task_find_or_add(tasks, pid, tid);
	const char *comm = tasks->tasks.items[parent].comm;
	if (comm)
		tasks->tasks.items[child].comm = comm;
	tasks->tasks.items[child].ppid = ptid;
}

static void tasks_apply_mmap(struct tasks *tasks, const struct record *record, struct cursor *c)
{
	unsigned mode = record_cpumode(record);
	int32_t pid = (int32_t)take_u32(c), tid = (int32_t)take_u32(c);
	if (!c->short_read && mode != RECORD_MISC_KERNEL && mode != RECORD_MISC_GUEST_KERNEL)
		task_find_or_add(tasks, pid, tid);
}

void tasks_apply(struct tasks *tasks, const struct record *record)
{
	struct cursor c = cursor_of(record->body, record->body_len, false);
	switch (record->type) {
	case RECORD_COMM:
		tasks_apply_comm(tasks, &c);
		break;
	case RECORD_FORK:
		tasks_apply_fork(tasks, &c);
		break;
	case RECORD_MMAP:
	case RECORD_MMAP2:
		if (tasks->mmaps)
			tasks_apply_mmap(tasks, record, &c);
		break;
	default:
		break;
	}
}

struct child {
	int32_t ppid, tid;
	uint32_t index;
};

static int child_compare(const void *a, const void *b)
{
	const struct child *left = a, *right = b;
	if (left->ppid != right->ppid)
		return left->ppid < right->ppid ? -1 : 1;
	return left->tid < right->tid ? -1 : left->tid > right->tid;
}

struct arranging {
	struct tasks *tasks;
	VEC(struct child) children;
	VEC(uint32_t) waiting; /* a stack of tasks to add */
};

/* Pushes the children of ppid, the lowest tid last. */
static void arrange_push_children(struct arranging *a, int32_t ppid, uint32_t level)
{
	size_t end = SEARCH_COUNT(a->children.count, i, a->children.items[i].ppid <= ppid);
	for (; end > 0 && a->children.items[end - 1].ppid == ppid; end--) {
		uint32_t index = a->children.items[end - 1].index;
		if (a->tasks->tasks.items[index].shown)
			continue;
		a->tasks->tasks.items[index].level = level;
		vec_push(&a->waiting, index);
	}
}

static void arrange_waiting(struct arranging *a)
{
	while (a->waiting.count) {
		uint32_t index = a->waiting.items[--a->waiting.count];
		struct task *task = &a->tasks->tasks.items[index];
		if (task->shown)
			continue;
		task->shown = true;
		vec_push(&a->tasks->order, index);
		if (task->tid > 0)
			arrange_push_children(a, task->tid, task->level + 1);
	}
}

void tasks_arrange(struct tasks *tasks)
{
	struct arranging a = { .tasks = tasks };
	for (uint32_t i = 0; i < tasks->tasks.count; i++) {
		const struct task *task = &tasks->tasks.items[i];
		if (!task->removed)
			vec_push(&a.children, ((struct child){ task->ppid, task->tid, i }));
	}
	if (a.children.count)
		qsort(a.children.items, a.children.count, sizeof *a.children.items, child_compare);
	/* the idle task precedes tasks without a known parent, which precede the children of the idle task */
	vec_push(&a.waiting, idmap_get(&tasks->by_tid, 0));
	arrange_waiting(&a);
	arrange_push_children(&a, -1, 1);
	arrange_waiting(&a);
	arrange_push_children(&a, 0, 1);
	arrange_waiting(&a);
	/* tasks in a cycle of parents, or with a removed parent */
	for (size_t i = 0; i < a.children.count; i++) {
		vec_push(&a.waiting, a.children.items[i].index);
		arrange_waiting(&a);
	}
	vec_fini(&a.children);
	vec_fini(&a.waiting);
}

struct visit {
	const struct model *model;
	void (*visit)(void *context, const struct task_map *map);
	void *context;
};

static void visit_task_map(void *context, const struct map *map)
{
	const struct visit *visit = context;
	const struct module *module = visit->model->modules.list.items[map->module];
	struct task_map row = { .start = map->start, .end = map->end, .pgoff = map->pgoff, .ino = module->ino, .prot = map->prot,
		.flags = map->flags, .name = module->name };
	visit->visit(visit->context, &row);
}

void tasks_each_map(const struct tasks *tasks, const struct task *task, const struct model *model,
	void (*visit)(void *context, const struct task_map *map), void *context)
{
	uint32_t index = idmap_get(&model->by_tid, (uint32_t)task->tid);
	if (!tasks->mmaps || index == IDMAP_NONE)
		return;
	const struct thread_lives *lives = &model->lives.items[index];
	uint32_t thread = lives->threads.items[lives->threads.count - 1];
	struct visit v = { .model = model, .visit = visit, .context = context };
	map_each(model_space_root(model, model->threads.items[thread]->space, UINT64_MAX), visit_task_map, &v);
}
