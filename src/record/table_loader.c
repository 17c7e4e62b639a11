#include "record/table_loader.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/vec.h"

struct table_loader {
	struct unwind_tables *tables;
	pthread_t thread;
	bool started;
	struct idmap asked;             /* modules that were ever asked for; the owner's */
	uint64_t wanted;                /* how many */
	atomic_ullong made;
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	VEC(struct module) queue;       /* copies: what is known of a module may grow meanwhile */
	size_t next;
	bool stop;
};

static void *run(void *context)
{
	struct table_loader *loader = context;
	pthread_mutex_lock(&loader->lock);
	for (;;) {
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
		pthread_mutex_lock(&loader->lock);
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
	vec_fini(&loader->queue);
	idmap_fini(&loader->asked);
	free(loader);
}

void table_loader_want(struct table_loader *loader, const struct module *module)
{
	bool added;
	idmap_add(&loader->asked, module->id, 0, &added);
	if (!added)
		return;
	loader->wanted++;
	if (!loader->started)
		loader->started = pthread_create(&loader->thread, NULL, run, loader) == 0;
	if (!loader->started) { /* then we do it ourselves */
		unwind_tables_load(loader->tables, module);
		atomic_fetch_add(&loader->made, 1);
		return;
	}
	pthread_mutex_lock(&loader->lock);
	vec_push(&loader->queue, *module);
	pthread_cond_signal(&loader->work);
	pthread_mutex_unlock(&loader->lock);
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
