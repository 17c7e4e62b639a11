#include "rewrite/needs.h"

#include <stdlib.h>

#include "base/search.h"

void needs_init(struct needs *needs, struct compact_plan *plan)
{
	*needs = (struct needs){ .plan = plan, .free_link = LINK_NONE };
}

void needs_fini(struct needs *needs)
{
	vec_fini(&needs->tasks);
	vec_fini(&needs->task_of);
	vec_fini(&needs->links);
	vec_fini(&needs->mappings);
	vec_fini(&needs->serials);
	vec_fini(&needs->module_records);
	vec_fini(&needs->modules);
	vec_fini(&needs->due);
}

void needs_drop(struct needs *needs, uint64_t record)
{
	struct compact_plan *plan = needs->plan;
	while (plan->dropped.count <= record / 64)
		vec_push(&plan->dropped, 0);
	plan->dropped.items[record / 64] |= (uint64_t)1 << record % 64;
	plan->drops++;
}

static void restore(struct needs *needs, uint64_t record)
{
	struct compact_plan *plan = needs->plan;
	if (!compact_plan_drops(plan, record))
		return;
	plan->dropped.items[record / 64] &= ~((uint64_t)1 << record % 64);
	plan->drops--;
}

void needs_add_threads(struct needs *needs, const struct model *model, int32_t ptid, uint64_t clock)
{
	size_t first = needs->task_of.count;
	for (size_t i = first; i < model->threads.count; i++) {
		vec_push(&needs->task_of, (uint32_t)needs->tasks.count);
		vec_push(&needs->tasks, ((struct task){ TASK_NONE, TASK_NONE, LINK_NONE, false }));
	}
	for (size_t i = first; i < model->threads.count; i++) {
		uint32_t leader = model_thread(model, model->threads.items[i]->pid, clock);
		uint32_t parent = ptid == -1 ? THREAD_NONE : model_thread(model, ptid, clock);
		struct task *task = &needs->tasks.items[needs->task_of.items[i]];
		if (leader != THREAD_NONE && leader != i)
			task->leader = needs->task_of.items[leader];
		if (parent != THREAD_NONE && parent != i)
			task->parent = needs->task_of.items[parent];
	}
}

void needs_made_thread(struct needs *needs, uint64_t record, uint32_t thread)
{
	struct task *task = &needs->tasks.items[needs->task_of.items[thread]];
	uint32_t link = needs->free_link;
	if (task->needed) {
		restore(needs, record);
		return;
	}
	if (link == LINK_NONE) {
		link = (uint32_t)needs->links.count;
		vec_add(&needs->links);
	} else {
		needs->free_link = needs->links.items[link].next;
	}
	needs->links.items[link] = (struct record_link){ record, task->links };
	task->links = link;
}

void needs_made_mapping(struct needs *needs, uint64_t record, uint32_t serial)
{
	vec_push(&needs->mappings, ((struct pending_mapping){ .record = record, .serial = serial }));
}

static void reach_module(struct needs *needs, uint32_t module)
{
	while (needs->modules.count <= module) {
		vec_push(&needs->modules, false);
		vec_push(&needs->module_records, UINT64_MAX);
	}
}

void needs_made_module(struct needs *needs, uint64_t record, uint32_t module)
{
	reach_module(needs, module);
	if (needs->modules.items[module])
		restore(needs, record);
	else
		needs->module_records.items[module] = record;
}

/* Restores the records of a list, or forgets them, and empties it. */
static void end_list(struct needs *needs, struct task *task, bool needed)
{
	for (uint32_t link = task->links, next; link != LINK_NONE; link = next) {
		struct record_link *item = &needs->links.items[link];
		next = item->next;
		if (needed)
			restore(needs, item->record);
		item->next = needs->free_link;
		needs->free_link = link;
	}
	task->links = LINK_NONE;
}

void needs_thread(struct needs *needs, uint32_t thread)
{
	vec_push(&needs->due, needs->task_of.items[thread]);
	while (needs->due.count) {
		struct task *task = &needs->tasks.items[needs->due.items[--needs->due.count]];
		if (task->needed)
			continue;
		task->needed = true;
		end_list(needs, task, true);
		if (task->leader != TASK_NONE)
			vec_push(&needs->due, task->leader);
		if (task->parent != TASK_NONE)
			vec_push(&needs->due, task->parent);
	}
}

/* NULL: a sample needed it before, or it cannot be dropped. */
static struct pending_mapping *find_mapping(struct needs *needs, uint32_t serial)
{
	size_t at = SEARCH_COUNT(needs->mappings.count, i, needs->mappings.items[i].serial < serial);
	return at < needs->mappings.count && needs->mappings.items[at].serial == serial ? &needs->mappings.items[at] : NULL;
}

void needs_mapping(struct needs *needs, const struct map *map)
{
	while (needs->serials.count <= map->serial / 64)
		vec_push(&needs->serials, 0);
	uint64_t bit = (uint64_t)1 << map->serial % 64;
	if (needs->serials.items[map->serial / 64] & bit)
		return;
	needs->serials.items[map->serial / 64] |= bit;
	struct pending_mapping *mapping = find_mapping(needs, map->serial);
	if (mapping)
		restore(needs, mapping->record);
	reach_module(needs, map->module);
	if (!needs->modules.items[map->module] && needs->module_records.items[map->module] != UINT64_MAX)
		restore(needs, needs->module_records.items[map->module]);
	needs->modules.items[map->module] = true;
	needs->module_records.items[map->module] = UINT64_MAX;
}

static void mark_living(void *context, const struct map *map)
{
	struct pending_mapping *mapping = find_mapping(context, map->serial);
	if (mapping)
		mapping->lives = true;
}

static void renew_mappings(struct needs *needs, const struct model *model, uint64_t clock)
{
	size_t count = 0;
	for (uint32_t i = 0; i < model->spaces.count; i++)
		map_each(model_space_root(model, i, clock), mark_living, needs);
	for (size_t i = 0; i < needs->mappings.count; i++) {
		struct pending_mapping mapping = needs->mappings.items[i];
		bool stays = mapping.lives && compact_plan_drops(needs->plan, mapping.record);
		mapping.lives = false;
		if (stays)
			needs->mappings.items[count++] = mapping;
	}
	needs->mappings.count = count;
}

/* Marks what a task depends on; tasks that are needed depend on nothing any more, as all of that is needed, too. */
static void reach_tasks(struct needs *needs, bool *reached, uint32_t first)
{
	vec_push(&needs->due, first);
	while (needs->due.count) {
		uint32_t at = needs->due.items[--needs->due.count];
		if (reached[at])
			continue;
		struct task *task = &needs->tasks.items[at];
		reached[at] = true;
		if (task->needed || (task->leader != TASK_NONE && needs->tasks.items[task->leader].needed))
			task->leader = TASK_NONE;
		if (task->needed || (task->parent != TASK_NONE && needs->tasks.items[task->parent].needed))
			task->parent = TASK_NONE;
		if (task->leader != TASK_NONE)
			vec_push(&needs->due, task->leader);
		if (task->parent != TASK_NONE)
			vec_push(&needs->due, task->parent);
	}
}

static uint32_t task_renewed(const uint32_t *renumbered, uint32_t task)
{
	return task == TASK_NONE ? TASK_NONE : renumbered[task];
}

static void renew_tasks(struct needs *needs, const struct model *model, const uint32_t *threads)
{
	size_t old_threads = needs->task_of.count, count = 0;
	bool *reached = memory_zero(needs->tasks.count, sizeof *reached);
	uint32_t *renumbered = memory_zero(needs->tasks.count, sizeof *renumbered);
	for (size_t i = 0; i < old_threads; i++)
		if (threads[i] != THREAD_NONE)
			reach_tasks(needs, reached, needs->task_of.items[i]);
	for (size_t i = 0; i < needs->tasks.count; i++) {
		renumbered[i] = (uint32_t)count;
		if (reached[i])
			needs->tasks.items[count++] = needs->tasks.items[i];
		else
			end_list(needs, &needs->tasks.items[i], false);
	}
	needs->tasks.count = count;
	for (size_t i = 0; i < count; i++) {
		struct task *task = &needs->tasks.items[i];
		task->leader = task_renewed(renumbered, task->leader);
		task->parent = task_renewed(renumbered, task->parent);
	}
	uint32_t *task_of = memory_zero(model->threads.count + 1, sizeof *task_of);
	for (size_t i = 0; i < old_threads; i++)
		if (threads[i] != THREAD_NONE)
			task_of[threads[i]] = renumbered[needs->task_of.items[i]];
	vec_fini(&needs->task_of);
	needs->task_of.items = task_of;
	needs->task_of.count = model->threads.count;
	needs->task_of.capacity = model->threads.count + 1;
	free(reached);
	free(renumbered);
}

void needs_renew(struct needs *needs, const struct model *model, const uint32_t *threads, uint64_t clock)
{
	renew_tasks(needs, model, threads);
	renew_mappings(needs, model, clock);
}
