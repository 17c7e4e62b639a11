#include "record/table_loader.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/vec.h"

struct table_loader {
	struct unwind_tables *tables;
	pthread_t thread;
	bool started;
	uint64_t wanted;                /* the number of requests */
	atomic_ullong made;
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	VEC(struct module) queue;       /* copies with their texts: the originals may change or be freed */
	VEC(bool) owed;                 /* by module: requested and not made yet */
	size_t next;
	bool stop;
};

/* All texts are in one piece of memory, at `name`. The functions of a JIT dump remain those of the module: they do not change. */
static struct module module_copy(const struct module *module)
{
	struct module copy = *module;
	const char **const texts[] = { &copy.name, &copy.long_name, &copy.short_name };
	size_t room = 0, at = 0;
	for (unsigned i = 0; i < 3; i++)
		room += strlen(*texts[i]) + 1;
	char *memory = memory_alloc(room);
	for (unsigned i = 0; i < 3; i++) {
		size_t len = strlen(*texts[i]) + 1;
		memcpy(memory + at, *texts[i], len);
		*texts[i] = memory + at;
		at += len;
	}
	copy.relocation_symbol = NULL;
	return copy;
}

static void *load_tables(void *context)
{
	struct table_loader *loader = context;
	bool idle = false;
	pthread_mutex_lock(&loader->lock);
	for (;;) {
		if (idle) { /* compiling needs several times the memory of the result */
			pthread_mutex_unlock(&loader->lock);
			memory_give_back();
			pthread_mutex_lock(&loader->lock);
			idle = false;
		}
		while (!loader->stop && loader->next == loader->queue.count)
			pthread_cond_wait(&loader->work, &loader->lock);
		if (loader->stop)
			break;
		struct module module = loader->queue.items[loader->next++];
		if (loader->next == loader->queue.count) {
			vec_clear(&loader->queue);
			loader->next = 0;
		}
		pthread_mutex_unlock(&loader->lock);
		unwind_tables_load(loader->tables, &module);
		free((char *)(uintptr_t)module.name);
		pthread_mutex_lock(&loader->lock);
		idle = loader->next == loader->queue.count;
		loader->owed.items[module.id] = false;
		atomic_fetch_add(&loader->made, 1);
		pthread_cond_signal(&loader->done);
	}
	pthread_mutex_unlock(&loader->lock);
	return NULL;
}

struct table_loader *table_loader_new(struct unwind_tables *tables)
{
	struct table_loader *loader = memory_zero(1, sizeof *loader);
	loader->tables = tables;
	pthread_mutex_init(&loader->lock, NULL);
	pthread_cond_init(&loader->work, NULL);
	pthread_cond_init(&loader->done, NULL);
	return loader;
}

void table_loader_free(struct table_loader *loader)
{
	if (!loader)
		return;
	if (loader->started) {
		pthread_mutex_lock(&loader->lock);
		loader->stop = true;
		pthread_cond_signal(&loader->work);
		pthread_mutex_unlock(&loader->lock);
		pthread_join(loader->thread, NULL);
	}
	pthread_mutex_destroy(&loader->lock);
	pthread_cond_destroy(&loader->work);
	pthread_cond_destroy(&loader->done);
	for (size_t i = loader->next; i < loader->queue.count; i++)
		free((char *)(uintptr_t)loader->queue.items[i].name);
	vec_fini(&loader->queue);
	vec_fini(&loader->owed);
	free(loader);
}

void table_loader_want(struct table_loader *loader, const struct module *module)
{
	if (!loader->started)
		loader->started = pthread_create(&loader->thread, NULL, load_tables, loader) == 0;
	if (!loader->started) { /* without a thread, the caller reads it */
		unwind_tables_load(loader->tables, module);
		loader->wanted++;
		atomic_fetch_add(&loader->made, 1);
		return;
	}
	pthread_mutex_lock(&loader->lock);
	while (loader->owed.count <= module->id)
		vec_push(&loader->owed, false);
	if (!loader->owed.items[module->id]) {
		loader->owed.items[module->id] = true;
		loader->wanted++;
		vec_push(&loader->queue, module_copy(module));
		pthread_cond_signal(&loader->work);
	}
	pthread_mutex_unlock(&loader->lock);
}

bool table_loader_owes(struct table_loader *loader, uint32_t module)
{
	pthread_mutex_lock(&loader->lock);
	bool owes = module < loader->owed.count && loader->owed.items[module];
	pthread_mutex_unlock(&loader->lock);
	return owes;
}

uint64_t table_loader_made(const struct table_loader *loader)
{
	return atomic_load(&loader->made);
}

void table_loader_wait(struct table_loader *loader)
{
	if (!loader->started)
		return;
	pthread_mutex_lock(&loader->lock);
	while (atomic_load(&loader->made) < loader->wanted)
		pthread_cond_wait(&loader->done, &loader->lock);
	pthread_mutex_unlock(&loader->lock);
}
