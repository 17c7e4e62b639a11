#include <stdio.h>

#include "export/exporter_state.h"

/* The lives of a thread id that have begun. */
static uint32_t lives_begun(const struct model *model, int32_t tid, uint64_t clock)
{
	uint32_t index = idmap_get(&model->by_tid, (uint32_t)tid), count = 0;
	const struct thread_lives *lives = index == IDMAP_NONE ? NULL : &model->lives.items[index];
	while (lives && count < lives->threads.count && model->threads.items[lives->threads.items[count]]->born <= clock)
		count++;
	return count;
}

uint32_t thread_number(struct exporter *exporter, uint32_t id, int32_t pid, int32_t tid, uint64_t clock)
{
	const struct model *model = &exporter->session->model;
	const struct thread *thread = id == THREAD_NONE ? NULL : model->threads.items[id];
	if (id < exporter->numbers.count && exporter->numbers.items[id])
		return exporter->numbers.items[id] - 1;
	if (thread) {
		pid = thread->pid;
		tid = thread->tid;
	}
	uint64_t life = lives_begun(model, tid, thread ? thread->born : clock) - (thread != NULL);
	bool added, forked = thread && thread->ppid != -1;
	uint32_t number = triples_add(&exporter->thread_keys, (struct triple){ (uint32_t)tid, life, forked }, &added);
	if (added)
		vec_push(&exporter->threads, ((struct known_thread){ .pid = pid, .tid = tid, .model = id }));
	if (exporter->threads.items[number].pid == -1) /* as in perf, its first process is that of a thread, also of those of the id -1 */
		exporter->threads.items[number].pid = pid;
	if (thread) {
		exporter->threads.items[number].model = id;
		while (exporter->numbers.count <= id)
			vec_push(&exporter->numbers, 0);
		exporter->numbers.items[id] = number + 1;
	}
	return number;
}

/* A comm of a thread: the index in its list. Before the first COMM record a thread has one that is named after its id. */
struct comm_at {
	uint32_t thread, index;
	const struct thread_comm *comm; /* NULL: none */
};

static struct comm_at current_comm(const struct exporter *exporter, uint32_t number, uint64_t clock)
{
	const struct known_thread *known = &exporter->threads.items[number];
	struct comm_at at = { .thread = number };
	if (known->model == THREAD_NONE)
		return at;
	const struct thread *thread = exporter->session->model.threads.items[known->model];
	size_t count = thread->comms.count;
	while (count && thread->comms.items[count - 1].clock > clock)
		count--;
	if (count) {
		at.index = (uint32_t)count - 1;
		at.comm = &thread->comms.items[count - 1];
	}
	return at;
}

/* The comm since the last exec. Without one, the first, except that a process with synthesized records has its parent's as the first. */
static struct comm_at program_comm(const struct exporter *exporter, uint32_t number, uint64_t clock)
{
	struct comm_at at = current_comm(exporter, number, clock);
	if (!at.comm || !exporter->knows_exec)
		return at;
	const struct known_thread *known = &exporter->threads.items[number];
	const struct thread_comm *comms = exporter->session->model.threads.items[known->model]->comms.items;
	uint32_t last = at.index, chosen = last;
	while (chosen && !comms[chosen].exec)
		chosen--;
	if (!comms[chosen].exec && last && !comms[0].time && known->pid == known->tid)
		chosen = 1;
	return (struct comm_at){ number, chosen, &comms[chosen] };
}

static uint64_t comm_row(struct exporter *exporter, const struct comm_at *at, bool *added)
{
	char buffer[16];
	struct known_thread *thread = &exporter->threads.items[at->thread];
	*added = false;
	if (thread->comm_row && thread->comm_index == at->index)
		return thread->comm_row;
	uint64_t row = triples_add(&exporter->comm_keys, (struct triple){ at->thread, at->index, 0 }, added) + 1;
	thread->comm_index = at->index;
	thread->comm_row = row;
	if (*added) {
		snprintf(buffer, sizeof buffer, ":%d", thread->tid);
		const char *name = at->comm ? strtab_text(&exporter->session->model.strings, at->comm->comm) : buffer;
		const struct value values[] = { value_of(row), value_text(name), value_of(thread->row), value_of(at->comm ? at->comm->time : 0),
			value_of(at->comm && at->comm->exec) };
		database_add(exporter->database, TABLE_COMMS, values);
	}
	return row;
}

static void add_comm_thread(struct exporter *exporter, uint64_t comm, uint64_t thread)
{
	const struct value values[] = { value_of(++exporter->comm_thread_rows), value_of(comm), value_of(thread) };
	database_add(exporter->database, TABLE_COMM_THREADS, values);
}

static void add_thread(struct exporter *exporter, uint32_t number, uint32_t leader, bool has_leader)
{
	struct known_thread *thread = &exporter->threads.items[number];
	if (thread->row)
		return;
	thread->row = ++exporter->thread_rows;
	const struct value values[] = { value_of(thread->row), value_of(MACHINE),
		value_of(has_leader ? exporter->threads.items[leader].row : 0), value_of((uint64_t)thread->pid), value_of((uint64_t)thread->tid) };
	database_add(exporter->database, TABLE_THREADS, values);
}

uint64_t task_rows(struct exporter *exporter, uint32_t number, uint64_t clock)
{
	const struct known_thread thread = exporter->threads.items[number];
	const struct model *model = &exporter->session->model;
	uint32_t leader = number;
	uint64_t program = 0;
	bool added, has_leader = true;
	if (thread.pid != thread.tid) {
		uint32_t id = thread.pid == -1 ? THREAD_NONE : model_thread(model, thread.pid, clock);
		/* the model makes the process of a thread that it makes; a process that has ended is unknown */
		has_leader = id != THREAD_NONE || (thread.model == THREAD_NONE && thread.pid != -1);
		if (has_leader)
			leader = thread_number(exporter, id, thread.pid, thread.pid, clock);
	}
	if (has_leader) {
		add_thread(exporter, leader, leader, true);
		struct comm_at at = program_comm(exporter, leader, clock);
		program = comm_row(exporter, &at, &added);
		if (added)
			add_comm_thread(exporter, program, exporter->threads.items[leader].row);
	}
	if (!exporter->threads.items[number].row) {
		add_thread(exporter, number, leader, has_leader);
		if (has_leader)
			add_comm_thread(exporter, program, exporter->threads.items[number].row);
	}
	struct comm_at current = current_comm(exporter, number, clock);
	comm_row(exporter, &current, &added);
	return program;
}
