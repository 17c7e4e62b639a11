/* Generations of a model that runs without end: copies the living to a new generation and frees the rest. */
#include <stdlib.h>

#include "model/model.h"
#include "model/space.h"
#include "model/thread.h"

/* The state of a renewal. */
struct move {
	const struct model *old;
	struct model *model;
	uint64_t clock;
	uint32_t *spaces;            /* by old id: the new id; UINT32_MAX: not copied yet */
};

static void renew_module(void *context, const struct map *map)
{
	struct model *model = context;
	modules_get(&model->modules, map->module)->generation = model->generation;
}

static const struct map_node *renew_copy_tree(struct model *model, const struct map_node *node)
{
	if (!node)
		return NULL;
	if (!node->map) {
		map_each(node, renew_module, model);
		return space_copy_made(model, node);
	}
	struct map_node *copy = arena_copy(&model->arena, node, sizeof *node);
	copy->map = arena_copy(&model->arena, node->map, sizeof *node->map);
	copy->left = renew_copy_tree(model, node->left);
	copy->right = renew_copy_tree(model, node->right);
	renew_module(model, node->map);
	return copy;
}

static uint32_t renew_space(struct move *move, uint32_t old)
{
	if (move->spaces[old] != UINT32_MAX)
		return move->spaces[old];
	struct model *model = move->model;
	uint32_t space = move->spaces[old] = space_new(model);
	const struct map_node *root = space_root(move->old, old, move->clock);
	if (root)
		space_set_root(model, space, move->clock, renew_copy_tree(model, root));
	return space;
}

static uint32_t renew_string(struct move *move, uint32_t old)
{
	const char *text = strtab_text(&move->old->strings, old);
	return strtab_add(&move->model->strings, text, strlen(text));
}

static void renew_namespaces(struct move *move, const struct thread *old, struct thread *thread)
{
	struct model *model = move->model;
	if (!old->namespaces.count)
		return;
	const struct thread_namespaces *last = &old->namespaces.items[old->namespaces.count - 1];
	struct thread_namespaces row = { .clock = last->clock, .first = (uint32_t)model->namespaces.count, .count = last->count };
	for (uint32_t i = 0; i < last->count; i++)
		vec_push(&model->namespaces, move->old->namespaces.items[last->first + i]);
	vec_push(&thread->namespaces, row);
}

static uint32_t renew_thread(struct move *move, const struct thread *old, bool missed)
{
	struct model *model = move->model;
	struct thread *thread = arena_alloc(&model->arena, sizeof *thread);
	*thread = (struct thread){
		.pid = old->pid, .tid = old->tid, .ppid = old->ppid, .born = old->born, .died = old->died, .exited = old->exited, .missed = missed,
		.space = renew_space(move, old->space),
	};
	if (old->comms.count) {
		struct thread_comm comm = old->comms.items[old->comms.count - 1];
		comm.comm = renew_string(move, comm.comm);
		vec_push(&thread->comms, comm);
	}
	renew_namespaces(move, old, thread);
	thread_restate(model, thread);
	return (uint32_t)model->threads.count - 1;
}

/* A thread without a record of its exit must be found ended twice: the record, and samples before its end, may still arrive. A few samples
 * can follow an exit. */
static bool thread_has_ended(const struct thread *thread, bool missed, uint64_t clock)
{
	enum { SOON = 1024 };
	return thread->died != UINT64_MAX || (missed && thread->missed) || (thread->exited && clock - thread->exited >= SOON);
}

static void renew_threads(struct move *move, const struct model_renewal *renewal)
{
	for (size_t i = 0; i < move->old->threads.count; i++) {
		const struct thread *thread = move->old->threads.items[i];
		bool missed = thread->exited ||
			(thread->died == UINT64_MAX && renewal->has_ended && renewal->has_ended(renewal->context, thread));
		bool restated = !thread_has_ended(thread, missed, renewal->clock) || (renewal->held && renewal->held[i]);
		uint32_t id = restated ? renew_thread(move, thread, missed) : THREAD_NONE;
		if (renewal->threads)
			renewal->threads[i] = id;
	}
}

void model_renew_held(struct model *model, const struct model_renewal *renewal)
{
	struct model old = *model;
	struct move move = { .old = &old, .model = model, .clock = renewal->clock };
	*model = (struct model){
		.modules = old.modules, .build_ids = old.build_ids, .kernel_maps = old.kernel_maps,
		.kernel_contested = old.kernel_contested, .random = old.random,
		.keep_exited = old.keep_exited, .clears_at_exec = old.clears_at_exec,
		.outlives_leader = old.outlives_leader, .changes = old.changes + 1, .bad_records = old.bad_records,
		.edits = old.edits, .mappings = old.mappings, .jit_budget = old.jit_budget, .budget = old.budget, .left_out = old.left_out,
		.generation = old.generation + 1, .guests = old.guests, .injected = old.injected,
	};
	move.spaces = memory_resize(NULL, old.spaces.count, sizeof *move.spaces);
	for (size_t i = 0; i < old.spaces.count; i++)
		move.spaces[i] = UINT32_MAX;
	model->kernel_space = renew_space(&move, old.kernel_space);
	for (size_t i = 0; i < old.guest_machines.count; i++) {
		struct guest_machine machine = old.guest_machines.items[i];
		machine.kernel_space = renew_space(&move, machine.kernel_space);
		idmap_set(&model->guest_by_pid, (uint32_t)machine.pid, (uint32_t)i);
		vec_push(&model->guest_machines, machine);
	}
	renew_threads(&move, renewal);
	for (size_t i = 0; i < old.cgroups.capacity; i++)
		if (old.cgroups.slots[i].value != IDMAP_NONE)
			idmap_set(&model->cgroups, old.cgroups.slots[i].key, renew_string(&move, old.cgroups.slots[i].value));
	for (size_t i = 0; i < model->modules.list.count; i++) {
		struct module *module = model->modules.list.items[i];
		if (module && module->relocation_symbol) /* stored in the previous generation's arena */
			module->relocation_symbol = arena_string(&model->arena, module->relocation_symbol, strlen(module->relocation_symbol));
	}
	free(move.spaces);
	old.modules = (struct modules){ 0 };
	old.build_ids = (struct known_build_ids){ 0 };
	memset(&old.kernel_maps, 0, sizeof old.kernel_maps);
	old.injected = (struct injected){ 0 };
	if (renewal->previous)
		*renewal->previous = old;
	else
		model_fini_history(&old);
}

size_t model_growth(const struct model *model)
{
	enum { THREAD_BYTES = 512 }; /* of a thread, beside the arena: its lists, its address space, its places in indices */
	return model->arena.bytes + model->threads.count * THREAD_BYTES;
}

void model_renew(struct model *model, uint64_t clock, bool (*has_ended)(void *context, const struct thread *thread), void *context,
	struct model *previous)
{
	model_renew_held(model, &(struct model_renewal){ .clock = clock, .has_ended = has_ended, .context = context, .previous = previous });
}
