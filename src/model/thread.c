#include "model/thread.h"

#include "base/search.h"
#include "model/space.h"

struct thread *model_thread_of(const struct model *model, uint32_t id)
{
	return model->threads.items[id];
}

static const struct thread_lives *lives_of(const struct model *model, int32_t tid)
{
	uint32_t index = idmap_get(&model->by_tid, (uint32_t)tid);
	return index == IDMAP_NONE ? NULL : &model->lives.items[index];
}

uint32_t thread_alive(const struct model *model, int32_t tid)
{
	const struct thread_lives *lives = lives_of(model, tid);
	if (!lives)
		return THREAD_NONE;
	uint32_t last = lives->threads.items[lives->threads.count - 1];
	return model_thread_of(model, last)->died == UINT64_MAX ? last : THREAD_NONE;
}

static uint32_t thread_list(struct model *model, struct thread *thread)
{
	uint32_t id = (uint32_t)model->threads.count;
	vec_push(&model->threads, thread);
	bool added;
	uint32_t index = idmap_add(&model->by_tid, (uint32_t)thread->tid, (uint32_t)model->lives.count, &added);
	if (added)
		(void)vec_add(&model->lives);
	vec_push(&model->lives.items[index].threads, id);
	return id;
}

void thread_restate(struct model *model, struct thread *thread)
{
	thread_list(model, thread);
}

static uint32_t thread_add(struct model *model, int32_t pid, int32_t tid, uint64_t clock)
{
	struct thread *thread = arena_alloc(&model->arena, sizeof *thread);
	*thread = (struct thread){ .pid = pid, .tid = tid, .ppid = -1, .born = clock, .died = UINT64_MAX };
	return thread_list(model, thread);
}

uint32_t thread_now(struct model *model, int32_t pid, int32_t tid, uint64_t clock)
{
	uint32_t id = thread_alive(model, tid);
	if (id != THREAD_NONE) {
		struct thread *thread = model_thread_of(model, id);
		if (thread->pid == -1 && pid != -1)
			thread->pid = pid;
		return id;
	}
	id = thread_add(model, pid, tid, clock);
	uint32_t space;
	if (pid == tid || pid == -1) {
		space = space_new(model);
	} else {
		uint32_t leader = thread_alive(model, pid);
		if (leader == THREAD_NONE) {
			leader = thread_add(model, pid, pid, clock);
			model_thread_of(model, leader)->space = space_new(model);
		}
		space = model_thread_of(model, leader)->space;
	}
	model_thread_of(model, id)->space = space;
	return id;
}

void thread_end(struct model *model, uint32_t id, uint64_t clock)
{
	model_thread_of(model, id)->died = clock;
	model->ended++;
}

void thread_set_comm(struct model *model, uint32_t id, uint32_t comm, bool exec, uint64_t time, uint64_t clock)
{
	struct thread *thread = model_thread_of(model, id);
	vec_push(&thread->comms, ((struct thread_comm){ .clock = clock, .time = time, .comm = comm, .exec = exec }));
}

uint32_t model_thread(const struct model *model, int32_t tid, uint64_t clock)
{
	const struct thread_lives *lives = lives_of(model, tid);
	if (!lives)
		return THREAD_NONE;
	size_t end = SEARCH_COUNT(lives->threads.count, i, model_thread_of(model, lives->threads.items[i])->born <= clock);
	if (!end)
		return THREAD_NONE;
	uint32_t id = lives->threads.items[end - 1];
	return model_thread_of(model, id)->died > clock ? id : THREAD_NONE;
}

uint32_t model_comm(const struct model *model, uint32_t id, uint64_t clock)
{
	if (id == THREAD_NONE)
		return COMM_NONE;
	const struct thread *thread = model_thread_of(model, id);
	size_t count = thread->comms.count;
	if (count && thread->comms.items[count - 1].clock <= clock)
		return thread->comms.items[count - 1].comm;
	size_t end = SEARCH_COUNT(count, i, thread->comms.items[i].clock <= clock);
	return end ? thread->comms.items[end - 1].comm : COMM_NONE;
}

const struct map_node *model_root(const struct model *model, int32_t pid, uint32_t id, uint64_t clock)
{
	if (id == THREAD_NONE)
		id = model_thread(model, pid, clock);
	if (id == THREAD_NONE)
		return NULL;
	return space_root(model, model_thread_of(model, id)->space, clock);
}
