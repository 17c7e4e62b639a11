#include "session/worker.h"

#include <stdio.h>
#include <stdlib.h>

static void *line_up(void *memory)
{
	return (void *)(((uintptr_t)memory + CACHE_LINE - 1) & ~(uintptr_t)(CACHE_LINE - 1));
}

/* Starts empty: entries of the smaller cache are soon found again. */
static void addresses_open(struct worker *worker, size_t count)
{
	free(worker->addresses_memory);
	worker->addresses_memory = memory_zero(count + 2, sizeof *worker->addresses);
	worker->addresses = line_up(worker->addresses_memory);
	worker->address_mask = count - 1;
}

struct worker *worker_new(const struct session *session, unsigned index)
{
	struct worker *worker = memory_zero(1, sizeof *worker);
	addresses_open(worker, ADDRESS_CACHE_MIN);
	worker->session = session;
	worker->index = index;
	worker->epoch = 1;
	worker->tally.first_time = UINT64_MAX;
	return worker;
}

void worker_free(struct worker *worker)
{
	if (!worker)
		return;
	arena_fini(&worker->arena);
	arena_fini(&worker->merged);
	free(worker->slots);
	free(worker->addresses_memory);
	free(worker->chain);
	free(worker->addresses_unwound);
	user_stack_fini(&worker->user_stack);
	free(worker);
}

void worker_renew(struct worker *worker)
{
	arena_fini(&worker->arena);
	arena_fini(&worker->merged);
	free(worker->slots);
	worker->slots = NULL;
	worker->slot_count = 0;
	worker->location_count = 0;
	worker->fresh = NULL;
	worker->fresh_count = 0;
	addresses_open(worker, ADDRESS_CACHE_MIN);
	worker->epoch++;
	memset(worker->user_stack.known, 0, sizeof worker->user_stack.known);
}

size_t worker_growth(const struct worker *worker)
{
	return worker->arena.bytes + worker->slot_count * sizeof *worker->slots;
}

unsigned worker_index(const struct worker *worker)
{
	return worker->index;
}

void worker_resolve(struct worker *worker, const struct model *model, struct resolved *r)
{
	struct cached_thread *cached = &worker->threads[(uint32_t)r->tid % THREAD_CACHE];
	if (cached->epoch != worker->epoch || cached->tid != r->tid || cached->pid != r->pid) {
		cached->epoch = worker->epoch;
		cached->pid = r->pid;
		cached->tid = r->tid;
		cached->thread = model_thread(model, r->tid, r->clock);
		cached->comm = model_comm(model, cached->thread, r->clock);
		cached->user_root = model_root(model, r->pid, cached->thread, r->clock);
	}
	r->thread = cached->thread;
	r->comm = cached->comm;
	r->user_root = cached->user_root;
	r->kernel_root = worker->kernel_root;
}

/* Arenas align to 16 bytes: the mode fits in the low bits of a pointer. */
static uintptr_t tagged(const void *pointer, unsigned cpumode)
{
	return (uintptr_t)pointer | cpumode;
}

static size_t slot_of(const struct worker *worker, uintptr_t key, uint64_t address)
{
	size_t mask = worker->slot_count - 1, at = (size_t)hash_u64(address + key * 0x9e3779b97f4a7c15u) & mask;
	while (worker->slots[at].location && (worker->slots[at].address != address || worker->slots[at].key != key))
		at = (at + 1) & mask;
	return at;
}

static void locations_grow(struct worker *worker)
{
	size_t old_count = worker->slot_count;
	struct location_slot *old = worker->slots;
	worker->slot_count = old_count ? old_count * 2 : 1024;
	worker->slots = memory_table(worker->slot_count, sizeof *worker->slots);
	for (size_t i = 0; i < old_count; i++)
		if (old[i].location)
			worker->slots[slot_of(worker, old[i].key, old[i].address)] = old[i];
	free(old);
}

static struct location *location_new(struct worker *worker)
{
	_Static_assert(sizeof(struct location) <= CACHE_LINE, "a location fits a cache line");
	if (!worker->fresh_count) {
		worker->fresh = line_up(arena_alloc(&worker->arena, LOCATION_SLAB * sizeof *worker->fresh + CACHE_LINE));
		worker->fresh_count = LOCATION_SLAB;
	}
	worker->fresh_count--;
	return worker->fresh++;
}

static const struct location *location_intern(struct worker *worker, const struct map *map, uint64_t address, unsigned cpumode)
{
	if (worker->location_count * 2 >= worker->slot_count)
		locations_grow(worker);
	uintptr_t key = tagged(map, cpumode);
	struct location_slot *slot = &worker->slots[slot_of(worker, key, address)];
	if (slot->location)
		return slot->location;
	struct location *location = location_new(worker);
	location->id = worker->location_count++;
	location->map = map;
	location->address = address;
	location->cpumode = (uint8_t)cpumode;
	location->module = map ? map->module : MODULE_ID_NONE;
	location->offset = map ? map_offset(map, address) : address;
	*slot = (struct location_slot){ .address = address, .key = key, .location = location };
	return location;
}

static struct cached_address *cached_at(const struct worker *worker, uintptr_t key, uint64_t address)
{
	return &worker->addresses[(size_t)hash_u64(address ^ key << 12) & worker->address_mask];
}

static const struct map *map_of(const struct worker *worker, const struct map_node *root, uint64_t address, unsigned cpumode)
{
	const struct session *session = worker->session;
	const struct map *map = map_find(root, address);
	if (!map && cpumode == RECORD_MISC_KERNEL && session->kernel_beyond)
		map = session->kernel_beyond(session->kernel_beyond_context, session, address);
	return map;
}

static const struct location *locate(struct worker *worker, const struct map_node *root, uint64_t address, unsigned cpumode)
{
	uintptr_t key = tagged(root, cpumode);
	struct cached_address *cached = cached_at(worker, key, address);
	if (cached->key != key || cached->address != address || !cached->location) {
		if (worker->location_count > worker->address_mask / 2 && worker->address_mask + 1 < ADDRESS_CACHE_MAX) {
			addresses_open(worker, (worker->address_mask + 1) * ADDRESS_CACHE_STEP);
			cached = cached_at(worker, key, address);
		}
		cached->key = key;
		cached->address = address;
		cached->location = location_intern(worker, map_of(worker, root, address, cpumode), address, cpumode);
	}
	return cached->location;
}

static const struct map_node *root_of(const struct resolved *r, unsigned cpumode)
{
	return cpumode == RECORD_MISC_KERNEL ? r->kernel_root : cpumode == RECORD_MISC_USER ? r->user_root : NULL;
}

const struct location *resolved_locate(const struct resolved *r, unsigned cpumode, uint64_t address)
{
	return locate(r->worker, root_of(r, cpumode), address, cpumode);
}

void worker_prefetch(const struct resolved *r, unsigned cpumode, uint64_t address)
{
	__builtin_prefetch(cached_at(r->worker, tagged(root_of(r, cpumode), cpumode), address));
}

const struct location *resolved_locate_any(const struct resolved *r, uint64_t address)
{
	const struct location *user = locate(r->worker, r->user_root, address, RECORD_MISC_USER);
	if (user->map || !map_find(r->kernel_root, address))
		return user;
	return locate(r->worker, r->kernel_root, address, RECORD_MISC_KERNEL);
}

const struct location *resolved_ip(const struct resolved *r)
{
	return r->ip ? r->ip : resolved_locate(r, record_cpumode(r->record), r->sample->ip);
}

const char *resolved_comm(const struct resolved *r, char *buffer, size_t size)
{
	if (r->comm != COMM_NONE)
		return strtab_text(&r->session->model.strings, r->comm);
	snprintf(buffer, size, ":%d", r->tid);
	return buffer;
}
