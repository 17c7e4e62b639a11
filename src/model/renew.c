/* Generations of a model that runs without end: the living are carried over, the memory of the rest is given back. */
#include <stdlib.h>

#include "model/model.h"
#include "model/space.h"
#include "model/thread.h"

/* Both models while the living move from the old one. */
struct move {
	const struct model *old;
	struct model *model;
	uint64_t clock;
	uint32_t *spaces;            /* by old id: the new one, UINT32_MAX: not carried over */
};

static const struct map_node *copy_tree(struct arena *arena, const struct map_node *node)
{
	if (!node)
		return NULL;
	struct map_node *copy = arena_copy(arena, node, sizeof *node);
	copy->map = arena_copy(arena, node->map, sizeof *node->map);
	copy->left = copy_tree(arena, node->left);
	copy->right = copy_tree(arena, node->right);
	return copy;
}

static uint32_t move_space(struct move *move, uint32_t old)
{
	if (move->spaces[old] != UINT32_MAX)
		return move->spaces[old];
	struct model *model = move->model;
	uint32_t space = move->spaces[old] = space_new(model);
	const struct map_node *root = space_root(move->old->spaces.items[old], move->clock);
	if (root)
		space_set_root(model, space, move->clock, copy_tree(&model->arena, root));
	return space;
}

static uint32_t move_string(struct move *move, uint32_t old)
{
	const char *text = strtab_text(&move->old->strings, old);
	return strtab_add(&move->model->strings, text, strlen(text));
}

static void move_namespaces(struct move *move, const struct thread *old, struct thread *thread)
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

static void move_thread(struct move *move, const struct thread *old)
{
	struct model *model = move->model;
	struct thread *thread = arena_alloc(&model->arena, sizeof *thread);
	*thread = (struct thread){
		.pid = old->pid, .tid = old->tid, .ppid = old->ppid, .born = old->born, .died = UINT64_MAX,
		.space = move_space(move, old->space),
	};
	if (old->comms.count) {
		struct thread_comm comm = old->comms.items[old->comms.count - 1];
		comm.comm = move_string(move, comm.comm);
		vec_push(&thread->comms, comm);
	}
	move_namespaces(move, old, thread);
	thread_restate(model, thread);
}

void model_renew(struct model *model, uint64_t clock)
{
	struct model old = *model;
	struct move move = { .old = &old, .model = model, .clock = clock };
	*model = (struct model){
		.modules = old.modules, .build_id_names = old.build_id_names, .build_ids = old.build_ids, .random = old.random,
		.keep_exited = old.keep_exited, .changes = old.changes + 1, .bad_records = old.bad_records,
		.edits = old.edits, .mappings = old.mappings, .jit_budget = old.jit_budget,
	};
	move.spaces = memory_resize(NULL, old.spaces.count, sizeof *move.spaces);
	for (size_t i = 0; i < old.spaces.count; i++)
		move.spaces[i] = UINT32_MAX;
	model->kernel_space = move_space(&move, old.kernel_space);
	for (size_t i = 0; i < old.threads.count; i++)
		if (old.threads.items[i]->died == UINT64_MAX)
			move_thread(&move, old.threads.items[i]);
	for (size_t i = 0; i < old.cgroups.capacity; i++)
		if (old.cgroups.slots[i].value != IDMAP_NONE)
			idmap_set(&model->cgroups, old.cgroups.slots[i].key, move_string(&move, old.cgroups.slots[i].value));
	for (size_t i = 0; i < model->modules.list.count; i++) {
		struct module *module = model->modules.list.items[i];
		if (module->relocation_symbol) /* lies in the old memory */
			module->relocation_symbol = arena_string(&model->arena, module->relocation_symbol, strlen(module->relocation_symbol));
	}
	free(move.spaces);
	model_fini_history(&old);
}
