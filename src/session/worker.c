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
	_Static_assert(sizeof *worker->addresses == CACHE_LINE, "an entry fills a cache line");
	free(worker->addresses_memory);
	worker->addresses_memory = memory_table(count + 1, sizeof *worker->addresses);
	worker->addresses = line_up(worker->addresses_memory);
	worker->address_mask = count - 1;
	worker->address_misses = 0;
}

static void threads_open(struct worker *worker, size_t count)
{
	_Static_assert(sizeof *worker->threads == CACHE_LINE, "an entry fills a cache line");
	free(worker->threads_memory);
	worker->threads_memory = memory_table(count + 1, sizeof *worker->threads);
	worker->threads = line_up(worker->threads_memory);
	worker->thread_mask = count - 1;
	worker->thread_misses = 0;
}

struct worker *worker_new(const struct session *session, unsigned index)
{
	struct worker *worker = memory_zero(1, sizeof *worker);
	addresses_open(worker, ADDRESS_CACHE_MIN);
	worker->session = session;
	worker->index = index;
	worker->epoch = worker->block = 1;
	threads_open(worker, THREAD_CACHE_MIN);
	worker->tally.first_time = UINT64_MAX;
	return worker;
}

void worker_free(struct worker *worker)
{
	if (!worker)
		return;
	points_fini(&worker->points);
	callchains_fini(&worker->callchains);
	arena_fini(&worker->displaced);
	arena_fini(&worker->merged);
	free(worker->addresses_memory);
	free(worker->threads_memory);
	space_cache_fini(&worker->spaces);
	free(worker->chain);
	free(worker->addresses_unwound);
	user_stack_fini(&worker->user_stack);
	free(worker);
}

void worker_drop_points(struct worker *worker)
{
	points_fini(&worker->points);
	addresses_open(worker, worker->address_mask + 1);
}

void worker_renew(struct worker *worker)
{
	worker_drop_points(worker);
	arena_fini(&worker->merged);
	space_cache_clear(&worker->spaces);
	threads_open(worker, worker->thread_mask + 1);
	memset(worker->user_stack.known, 0, sizeof worker->user_stack.known);
}

size_t worker_growth(const struct worker *worker)
{
	return points_bytes(&worker->points) + worker->spaces.arena.bytes;
}

unsigned worker_index(const struct worker *worker)
{
	return worker->index;
}

/* If threads displace each other, the cache grows to hold those of the model. */
static size_t threads_wanted(const struct worker *worker, const struct model *model)
{
	size_t wanted = (worker->thread_mask + 1) * THREAD_CACHE_STEP;
	while (wanted < model->threads.count)
		wanted *= 2;
	return wanted < THREAD_CACHE_MAX ? wanted : THREAD_CACHE_MAX;
}

static struct cached_thread *thread_learn(struct worker *worker, const struct model *model, const struct resolved *r, uint64_t epoch)
{
	struct cached_thread *cached = &worker->threads[(uint32_t)r->tid & worker->thread_mask];
	if (cached->epoch == epoch && ++worker->thread_misses > worker->thread_mask && worker->thread_mask + 1 < THREAD_CACHE_MAX) {
		threads_open(worker, threads_wanted(worker, model));
		cached = &worker->threads[(uint32_t)r->tid & worker->thread_mask];
	}
	*cached = (struct cached_thread){ .epoch = epoch, .pid = r->pid, .tid = r->tid };
	cached->thread = model_thread(model, r->tid, r->clock);
	cached->comm = model_comm(model, cached->thread, r->clock);
	cached->user_root = model_root(model, r->pid, cached->thread, r->clock);
	cached->user_space = cached->user_root ? space_cache_get(&worker->spaces, cached->user_root) : NULL;
	return cached;
}

void worker_prefetch_thread(const struct worker *worker, int32_t tid)
{
	__builtin_prefetch(&worker->threads[(uint32_t)tid & worker->thread_mask]);
}

/* The thread that the sample has is the one that runs the virtual machine. */
static void resolve_guest(const struct model *model, struct resolved *r)
{
	r->guest = true;
	r->thread = THREAD_NONE;
	r->comm = COMM_NONE;
	r->user_root = model->guests == GUESTS_CODE ? model_root(model, r->pid, THREAD_NONE, r->clock) : NULL;
	r->user_space = NULL;
	r->kernel_root = model_guest_root(model, r->pid, r->clock);
}

void worker_resolve(struct worker *worker, const struct model *model, struct resolved *r, uint64_t epoch)
{
	if (model->guests && r->record->type == RECORD_SAMPLE && mode_is_guest(record_cpumode(r->record))) {
		resolve_guest(model, r);
		return;
	}
	const struct cached_thread *cached = &worker->threads[(uint32_t)r->tid & worker->thread_mask];
	if (cached->epoch != epoch || cached->tid != r->tid || cached->pid != r->pid)
		cached = thread_learn(worker, model, r, epoch);
	r->thread = cached->thread;
	r->comm = cached->comm;
	r->user_root = cached->user_root;
	r->user_space = cached->user_space;
	if (r->user_space)
		__builtin_prefetch(r->user_space);
}

/* Arenas align to 16 bytes: the mode (3 bits), and a bit that is always set, fit in the low bits of a pointer. */
static uintptr_t tagged(const void *pointer, unsigned cpumode)
{
	return (uintptr_t)pointer | 8 | cpumode;
}

static struct cached_address *cached_at(const struct worker *worker, uintptr_t key, uint64_t address)
{
	return &worker->addresses[(size_t)hash_u64(address ^ key << 12) & worker->address_mask];
}

static const struct map_node *root_of(const struct resolved *r, unsigned cpumode)
{
	if (cpumode == RECORD_MISC_KERNEL || (r->guest && cpumode == RECORD_MISC_GUEST_KERNEL))
		return r->kernel_root;
	return cpumode == RECORD_MISC_USER || (r->guest && cpumode == RECORD_MISC_GUEST_USER) ? r->user_root : NULL;
}

/* In a guest, the modes of call chains and branches are the guest's. */
static inline unsigned mode_in(const struct resolved *r, unsigned cpumode)
{
	if (__builtin_expect(!r->guest, 1))
		return cpumode;
	return cpumode == RECORD_MISC_KERNEL ? RECORD_MISC_GUEST_KERNEL : cpumode == RECORD_MISC_USER ? RECORD_MISC_GUEST_USER : cpumode;
}

static const struct map *map_in(const struct session *session, const struct map_node *root, unsigned cpumode, uint64_t address)
{
	const struct map *map = map_find(root, address);
	if (!map && cpumode == RECORD_MISC_KERNEL && session->kernel_beyond)
		map = session->kernel_beyond(session->kernel_beyond_context, session, address);
	return map;
}

bool session_place(const struct session *session, const struct map_node *root, unsigned cpumode, uint64_t address, uint32_t *module,
	uint64_t *offset)
{
	const struct map *map = map_in(session, root, cpumode, address);
	if (!map)
		return false;
	*module = map->module;
	*offset = map_offset(map, address);
	return map->module != MODULE_ID_NONE;
}

static const struct map *map_of(struct worker *worker, const struct resolved *r, uint64_t address, unsigned cpumode)
{
	if (cpumode == RECORD_MISC_USER && r->user_space)
		return space_cache_find(&worker->spaces, r->user_space, address);
	return map_in(worker->session, root_of(r, cpumode), cpumode, address);
}

static void location_fill(const struct resolved *r, struct location *location, uint64_t address, unsigned cpumode)
{
	struct cached_map cached;
	bool is_cached = false;
	const struct map *map = NULL;
	if (cpumode == RECORD_MISC_USER && r->user_space && r->user_space->count)
		is_cached = cached_space_find(r->user_space, address, &cached);
	else
		map = map_of(r->worker, r, address, cpumode);
	location->address = address;
	location->map = is_cached ? cached.map : map;
	location->module = is_cached ? cached.module : map ? map->module : MODULE_ID_NONE;
	location->offset = is_cached ? address + cached.shift : map ? map_offset(map, address) : address;
	location->cpumode = (uint8_t)cpumode;
	location->point = points_intern(&r->worker->points, point_hash(&r->worker->points, location->module,
		location->offset, cpumode), location->module,
		location->offset, cpumode);
	location->id = location->point->id;
}

/* An entry whose location was returned in the current block is not replaced. */
static const struct location *locate_slowly(const struct resolved *r, uint64_t address, unsigned cpumode, struct cached_address *cached)
{
	struct worker *worker = r->worker;
	struct location *location = &cached->location;
	worker->address_misses++;
	worker->callchains.misses++;
	if (cached->key && cached->block == worker->block) {
		location = arena_alloc(&worker->displaced, sizeof *location);
	} else {
		cached->key = tagged(root_of(r, cpumode), cpumode);
		cached->block = worker->block;
	}
	location_fill(r, location, address, cpumode);
	return location;
}

static inline const struct location *locate(const struct resolved *r, uint64_t address, unsigned cpumode)
{
	struct worker *worker = r->worker;
	cpumode = mode_in(r, cpumode);
	uintptr_t key = tagged(root_of(r, cpumode), cpumode);
	struct cached_address *cached = cached_at(worker, key, address);
	if (__builtin_expect(cached->key != key || cached->location.address != address, 0))
		return locate_slowly(r, address, cpumode, cached);
	cached->block = worker->block;
	return &cached->location;
}

void worker_begin_slice(struct worker *worker)
{
	arena_fini(&worker->merged);
	callchains_begin_slice(&worker->callchains);
	if (!space_cache_is_full(&worker->spaces))
		return;
	space_cache_clear(&worker->spaces);
	threads_open(worker, worker->thread_mask + 1);
}

void worker_begin_block(struct worker *worker)
{
	worker->block++;
	if (worker->displaced.bytes)
		arena_clear(&worker->displaced);
	if (worker->address_misses > worker->address_mask && worker->address_mask + 1 < ADDRESS_CACHE_MAX)
		addresses_open(worker, (worker->address_mask + 1) * ADDRESS_CACHE_STEP);
}

const struct location *resolved_locate(const struct resolved *r, unsigned cpumode, uint64_t address)
{
	return locate(r, address, cpumode);
}

void worker_prefetch(const struct resolved *r, unsigned cpumode, uint64_t address)
{
	__builtin_prefetch(cached_at(r->worker, tagged(root_of(r, cpumode), cpumode), address));
}

const struct location *resolved_locate_any(const struct resolved *r, uint64_t address)
{
	const struct location *user = locate(r, address, RECORD_MISC_USER);
	if (user->map || !map_find(r->kernel_root, address))
		return user;
	return locate(r, address, RECORD_MISC_KERNEL);
}

const struct location *resolved_ip(const struct resolved *r)
{
	return r->ip ? r->ip : resolved_locate(r, record_cpumode(r->record), r->sample->ip);
}

const char *resolved_comm(const struct resolved *r, char *buffer, size_t size)
{
	if (r->comm != COMM_NONE)
		return strtab_text(&r->session->model.strings, r->comm);
	bool named = r->guest && (r->session->model.guests == GUESTS_CODE || !r->tid);
	snprintf(buffer, size, named ? "[guest/%d]" : ":%d", named && r->tid ? r->pid : r->tid);
	return buffer;
}
