#include "analysis/flame/flame_sink.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/flame/flame_name.h"
#include "analysis/place/source_line.h"
#include "data/evsel_name.h"

/* Slots of each worker's cache of call chains; a power of two. */
enum { KNOWN_CHAINS = 1 << 17 };

/* A frame of a worker, before it has a name. */
struct local_frame {
	uint32_t module, symbol; /* module of a TASK: index in flame_worker.tasks; its symbol is unused */
	enum flame_kind kind;
	struct source_line at;   /* with options.lines: the source line, if it is known */
};

/* The frames that a location expands to, innermost first: its inlined calls, then its function. A task is one frame. */
struct flame_expansion {
	uint32_t first, count;
};

struct time_entry {
	uint64_t time;
	int32_t tid;
	uint32_t node, generation, worker;
};

struct known_chain {
	uint64_t hash;                  /* of the recorded call chain, its address spaces and its task; 0: empty */
	uint32_t node;
};

struct flame_worker {
	struct stacks stacks;           /* of expansions, which merge_worker replaces by their frames */
	struct flame_weights weights;
	VEC(struct local_frame) frames; /* by id; id 0 is not used */
	VEC(uint32_t) by_location;      /* by LOOK_WAYS * location id + enum look: id of the expansion; 0: not made yet */
	VEC(struct flame_expansion) expansions;   /* by id; id 0 is not used */
	VEC(uint32_t) expansion_frames;
	VEC(uint32_t) stack;            /* scratch: the expansions of a sample, outermost first; with options.reverse innermost first */
	struct idmap by_symbol, by_task, by_frames;
	struct known_chain *chains;     /* by hash; NULL: not needed yet */
	VEC(char *) tasks;
	VEC(char) wanted;               /* by event: 'y', 'n', 0: not determined yet */
	uint32_t event, generation;     /* generation: how often the trie was restarted */
	uint64_t samples, filtered, other_events;
};

struct time_slice {
	VEC(struct time_entry) entries;
};

struct flame_sink {
	struct flame_options options;
	struct flame_worker *workers;
	unsigned worker_count;
	VEC(struct time_slice) slices; /* FLAME_BY_TIME only */
	struct idmap last_by_tid;
	VEC(uint64_t) last_times;
};

struct flame_sink *flame_sink_new(const struct flame_options *options, unsigned workers)
{
	struct flame_sink *sink = memory_zero(1, sizeof *sink);
	sink->options = *options;
	sink->worker_count = workers;
	sink->workers = memory_zero(workers, sizeof *sink->workers);
	for (unsigned i = 0; i < workers; i++) {
		struct flame_worker *worker = &sink->workers[i];
		stacks_init(&worker->stacks);
		vec_add(&worker->frames);
		vec_add(&worker->expansions);
		worker->event = UINT32_MAX;
	}
	return sink;
}

static void flame_worker_clear(struct flame_worker *worker)
{
	stacks_fini(&worker->stacks);
	vec_fini(&worker->weights);
	free(worker->chains);
	worker->chains = NULL;
}

void flame_sink_free(struct flame_sink *sink)
{
	if (!sink)
		return;
	for (unsigned i = 0; i < sink->worker_count; i++) {
		struct flame_worker *worker = &sink->workers[i];
		flame_worker_clear(worker);
		vec_fini(&worker->frames);
		vec_fini(&worker->by_location);
		vec_fini(&worker->expansions);
		vec_fini(&worker->expansion_frames);
		vec_fini(&worker->stack);
		idmap_fini(&worker->by_symbol);
		idmap_fini(&worker->by_task);
		idmap_fini(&worker->by_frames);
		for (size_t k = 0; k < worker->tasks.count; k++)
			free(worker->tasks.items[k]);
		vec_fini(&worker->tasks);
		vec_fini(&worker->wanted);
	}
	for (size_t i = 0; i < sink->slices.count; i++)
		vec_fini(&sink->slices.items[i].entries);
	vec_fini(&sink->slices);
	idmap_fini(&sink->last_by_tid);
	vec_fini(&sink->last_times);
	free(sink->workers);
	free(sink);
}

bool flame_event_matches(const char *wanted, const char *name)
{
	size_t len = strlen(wanted);
	if (strncmp(wanted, name, len) != 0)
		return false;
	return !name[len] || (name[len] == ':' && strspn(name + len + 1, "ukhpPGHSDIWeb") == strlen(name + len + 1));
}

static bool event_wanted(const struct flame_sink *sink, struct flame_worker *worker, const struct resolved *r)
{
	if (!sink->options.event)
		return true;
	while (worker->wanted.count <= r->event)
		vec_push(&worker->wanted, 0);
	char *known = &worker->wanted.items[r->event];
	if (!*known) {
		char buffer[EVSEL_NAME_MAX];
		*known = flame_event_matches(sink->options.event, evsel_name(r->evsel, buffer, sizeof buffer)) ? 'y' : 'n';
	}
	return *known == 'y';
}

/* Whether the sample belongs to the graph, which shows the first event with samples: a lower event replaces the one collected so far. */
static bool event_chosen(const struct flame_sink *sink, struct flame_worker *worker, const struct resolved *r)
{
	if (r->event == worker->event)
		return true;
	if (r->event > worker->event || !event_wanted(sink, worker, r)) {
		worker->other_events++;
		return false;
	}
	if (worker->event != UINT32_MAX) {
		flame_worker_clear(worker);
		stacks_init(&worker->stacks);
		worker->other_events += worker->samples + worker->filtered;
		worker->samples = worker->filtered = 0;
	}
	worker->event = r->event;
	worker->generation++;
	return true;
}

static bool flame_filter_has_module(const struct sample_filter *filter, const struct resolved *r)
{
	const struct location *location = resolved_ip(r);
	if (location->module == MODULE_ID_NONE)
		return name_list_has(filter->dsos, "[unknown]");
	const struct module *module = r->session->model.modules.list.items[location->module];
	return name_list_has(filter->dsos, module->long_name) || name_list_has(filter->dsos, module->short_name)
		|| name_list_has(filter->dsos, module->name);
}

static bool flame_filter_passes(const struct sample_filter *filter, const struct resolved *r)
{
	char buffer[16];
	return (!filter->pids || number_list_has(filter->pids, r->pid)) && (!filter->tids || number_list_has(filter->tids, r->tid))
		&& cpu_filter_has(&filter->cpus, r->sample->cpu)
		&& !time_filter_drops(&filter->time, r->sample->time == UINT64_MAX ? 0 : r->sample->time)
		&& (!filter->comms || name_list_has(filter->comms, resolved_comm(r, buffer, sizeof buffer)))
		&& (!filter->dsos || flame_filter_has_module(filter, r));
}

static uint32_t local_frame_add(struct flame_worker *worker, struct local_frame frame)
{
	vec_push(&worker->frames, frame);
	return (uint32_t)worker->frames.count - 1;
}

static uint32_t local_frame_intern(struct flame_worker *worker, struct local_frame frame)
{
	bool added;
	uint32_t fresh = (uint32_t)worker->frames.count;
	uint64_t key = (uint64_t)frame.module << 32 | frame.symbol;
	if (frame.kind == FLAME_INLINE) /* a function may be inlined into a function of the same name, which has the same symbol */
		key = hash_pair(key, FLAME_INLINE);
	if (frame.at.file)
		key = hash_pair(key, hash_pair((uintptr_t)frame.at.file, frame.at.line));
	uint32_t id = idmap_add(&worker->by_symbol, key, fresh, &added);
	return added ? local_frame_add(worker, frame) : id;
}

/* Returns the expansion of the last `count` of expansion_frames; removes these if an equal expansion exists. */
static uint32_t expansion_intern(struct flame_worker *worker, uint32_t count)
{
	uint32_t first = (uint32_t)worker->expansion_frames.count - count;
	const uint32_t *frames = worker->expansion_frames.items + first;
	uint64_t key = hash_bytes(frames, count * sizeof *frames);
	uint32_t id;
	for (; (id = idmap_get(&worker->by_frames, key)) != IDMAP_NONE; key++) {
		struct flame_expansion known = worker->expansions.items[id];
		if (known.count == count && memcmp(worker->expansion_frames.items + known.first, frames, count * sizeof *frames) == 0) {
			worker->expansion_frames.count = first;
			return id;
		}
	}
	id = (uint32_t)worker->expansions.count;
	idmap_set(&worker->by_frames, key, id);
	vec_push(&worker->expansions, ((struct flame_expansion){ first, count }));
	return id;
}

/* How the frame of a location is looked up. */
enum look {
	LOOK_CALLER = 1 << 0,  /* a return address: look up the call before it */
	LOOK_ALIAS = 1 << 1,   /* script shows inlined functions in this call chain: use script's name */
	LOOK_WAYS = 1 << 2,
};

static uint32_t expansion_make(const struct flame_sink *sink, struct flame_worker *worker, const struct resolved *r,
	const struct location *location, unsigned look)
{
	const struct flame_options *options = &sink->options;
	struct local_frame frame = { .module = location->module, .kind = FLAME_UNKNOWN };
	const struct module *module = NULL;
	if (location->module != MODULE_ID_NONE) {
		module = r->session->model.modules.list.items[location->module];
		frame.symbol = symbols_lookup(sink->options.symbols, module, location->offset);
		if (frame.symbol)
			frame.kind = flame_kind_of(module);
	}
	struct line_frame inlined[LINE_FRAMES_MAX];
	uint32_t count = 0, inside = 0;
	uint64_t offset = location->offset - (look & LOOK_CALLER && location->offset);
	if (options->inlines && module && location->map) {
		uint32_t symbol = frame.symbol;
		if (!symbol && (frame.symbol = lines_function(options->symbols, module, offset)))
			frame.kind = flame_kind_of(module);
		if (frame.symbol)
			count = (uint32_t)lines_inlines(options->symbols, module, offset, symbol, inlined);
		if (count && look & LOOK_ALIAS)
			frame.symbol = inlined[count - 1].symbol;
	}
	for (; inside + 1 < count; inside++) {
		struct local_frame inner = { .module = location->module, .symbol = inlined[inside].symbol, .kind = FLAME_INLINE };
		if (options->lines)
			inner.at = inlined[inside].at;
		vec_push(&worker->expansion_frames, local_frame_intern(worker, inner));
	}
	bool known = options->lines && count;
	if (known)
		frame.at = inlined[count - 1].at;
	else if (options->lines && module)
		known = lines_place(options->symbols, module, offset, true, &frame.at);
	if (!known || !frame.at.line) /* a source file without a line does not count */
		frame.at = (struct source_line){ 0 };
	vec_push(&worker->expansion_frames, local_frame_intern(worker, frame));
	return expansion_intern(worker, inside + 1);
}

static uint32_t expansion_of_location(const struct flame_sink *sink, struct flame_worker *worker, const struct resolved *r,
	const struct location *location, unsigned look)
{
	size_t at = (size_t)location->id * LOOK_WAYS + look;
	if (__builtin_expect(at >= worker->by_location.count, 0)) {
		size_t old = worker->by_location.count;
		vec_reserve(&worker->by_location, at + 1);
		worker->by_location.count = worker->by_location.capacity;
		memset(worker->by_location.items + old, 0, (worker->by_location.count - old) * sizeof(uint32_t));
	}
	uint32_t *known = &worker->by_location.items[at];
	if (__builtin_expect(!*known, 0))
		*known = expansion_make(sink, worker, r, location, look);
	return *known;
}

static uint32_t expansion_of_task(const struct flame_sink *sink, struct flame_worker *worker, const struct resolved *r)
{
	uint64_t key = (uint64_t)r->comm << 32;
	if (sink->options.roots == FLAME_ROOT_CPU)
		key = r->sample->cpu;
	else if (sink->options.roots == FLAME_ROOT_PID)
		key = hash_pair(key, (uint32_t)r->pid);
	else if (sink->options.roots == FLAME_ROOT_TID || r->comm == COMM_NONE)
		key = hash_pair(key | (uint32_t)r->pid, (uint32_t)r->tid);
	bool added;
	uint32_t id = idmap_add(&worker->by_task, key, (uint32_t)worker->expansions.count, &added);
	if (!added)
		return id;
	char buffer[16], *text = NULL;
	const char *comm = resolved_comm(r, buffer, sizeof buffer);
	int length;
	if (sink->options.roots == FLAME_ROOT_CPU)
		length = asprintf(&text, "CPU %u", r->sample->cpu);
	else if (sink->options.roots == FLAME_ROOT_PID)
		length = asprintf(&text, "%s-%d", comm, r->pid);
	else if (sink->options.roots == FLAME_ROOT_TID)
		length = asprintf(&text, "%s-%d/%d", comm, r->pid, r->tid);
	else
		length = asprintf(&text, "%s", comm);
	vec_push(&worker->tasks, length < 0 ? memory_string(comm) : text);
	struct local_frame frame = { .module = (uint32_t)worker->tasks.count - 1, .kind = FLAME_TASK };
	vec_push(&worker->expansion_frames, local_frame_add(worker, frame));
	return expansion_intern(worker, 1);
}

static unsigned look_of_frame(const struct location *location, bool calls, bool aliases)
{
	return (calls ? LOOK_CALLER : 0) | (aliases && location->cpumode == RECORD_MISC_USER ? LOOK_ALIAS : 0);
}

/* Returns the node of the sample's stack: outermost frame first, or innermost first with options.reverse. task: its expansion; 0: none. */
static uint32_t stack_of_sample(const struct flame_sink *sink, struct flame_worker *worker, const struct resolved *r, uint32_t task)
{
	struct chain chain = resolved_chain(r, CHAIN_INNERMOST_FIRST, sink->options.max_stack);
	const struct location *own = chain.count == 0 || chain.damaged ? resolved_ip(r) : NULL;
	const struct location *const *frames = own ? &own : chain.frames;
	size_t count = own ? 1 : chain.count < sink->options.max_stack ? chain.count : sink->options.max_stack;
	bool calls = !sample_unwinds(r); /* the addresses of an unwound stack are those of the calls */
	bool aliases = sample_inlines(INLINE_UNWOUND, r);
	bool reverse = sink->options.reverse;
	vec_clear(&worker->stack);
	if (task && !reverse)
		vec_push(&worker->stack, task);
	for (size_t i = 0; i < count; i++) {
		size_t at = reverse ? i : count - 1 - i;
		unsigned look = look_of_frame(frames[at], calls && at, aliases);
		vec_push(&worker->stack, expansion_of_location(sink, worker, r, frames[at], look));
	}
	if (task && reverse)
		vec_push(&worker->stack, task);
	return stacks_push_all(&worker->stacks, STACK_ROOT, worker->stack.items, worker->stack.count);
}

/* Hashes what determines the stack of a recorded call chain: its addresses, the address spaces and the task. */
static uint64_t sample_chain_hash(const struct resolved *r, uint32_t task)
{
	uint64_t hash = hash_pair((uintptr_t)r->user_root, (uintptr_t)r->kernel_root + task);
	const uint8_t *chain = r->sample->callchain;
	for (uint64_t i = 0; i < r->sample->callchain_count; i++, chain += sizeof(uint64_t)) {
		hash = (hash ^ load_u64(chain)) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 29;
	}
	return hash_u64(hash);
}

/* Programs repeat call chains: a chain in the cache costs one look-up. */
static uint32_t cached_stack_of_sample(const struct flame_sink *sink, struct flame_worker *worker, const struct resolved *r)
{
	uint32_t task = sink->options.roots == FLAME_ROOT_NONE ? 0 : expansion_of_task(sink, worker, r);
	if (r->sample->callchain_count == 0 || !resolved_chain_is_plain(r))
		return stack_of_sample(sink, worker, r, task);
	if (!worker->chains)
		worker->chains = memory_zero(KNOWN_CHAINS, sizeof *worker->chains);
	uint64_t hash = sample_chain_hash(r, task) | 1;
	struct known_chain *known = &worker->chains[hash >> 32 & (KNOWN_CHAINS - 1)];
	if (known->hash != hash)
		*known = (struct known_chain){ hash, stack_of_sample(sink, worker, r, task) };
	return known->node;
}

static void flame_sink_sample(void *context, const struct resolved *r, size_t slice)
{
	struct flame_sink *sink = context;
	unsigned index = worker_index(r->worker);
	struct flame_worker *worker = &sink->workers[index];
	if (!event_chosen(sink, worker, r))
		return;
	if (!flame_filter_passes(&sink->options.filter, r)) {
		worker->filtered++;
		return;
	}
	worker->samples++;
	uint32_t node = cached_stack_of_sample(sink, worker, r);
	struct flame_weight *weight = flame_weight_of(&worker->weights, node);
	weight->samples++;
	if (sink->options.weigh == FLAME_BY_PERIOD)
		weight->weight = flame_sum(weight->weight, r->sample->period ? r->sample->period : 1);
	else if (sink->options.weigh == FLAME_BY_SAMPLES)
		weight->weight++;
	else
		vec_push(&sink->slices.items[slice].entries, ((struct time_entry){
			.time = r->sample->time, .tid = r->tid, .node = node, .generation = worker->generation, .worker = index }));
}

static void time_batch_begin(void *context, struct session *session, size_t slices)
{
	struct flame_sink *sink = context;
	while (sink->slices.count < slices)
		vec_add(&sink->slices);
}

/* In order of time: the weight of a sample is the time since the previous sample of its thread. */
static void time_batch_end(void *context, struct session *session, size_t slices)
{
	struct flame_sink *sink = context;
	for (size_t s = 0; s < slices; s++) {
		struct time_slice *slice = &sink->slices.items[s];
		for (size_t i = 0; i < slice->entries.count; i++) {
			const struct time_entry *entry = &slice->entries.items[i];
			struct flame_worker *worker = &sink->workers[entry->worker];
			if (entry->generation != worker->generation || entry->time == UINT64_MAX)
				continue;
			bool added;
			uint32_t at = idmap_add(&sink->last_by_tid, (uint32_t)entry->tid, (uint32_t)sink->last_times.count, &added);
			if (added)
				vec_push(&sink->last_times, entry->time);
			uint64_t last = sink->last_times.items[at];
			struct flame_weight *weight = flame_weight_of(&worker->weights, entry->node);
			weight->weight = flame_sum(weight->weight, entry->time > last ? entry->time - last : 0);
			sink->last_times.items[at] = entry->time;
		}
		vec_clear(&slice->entries);
	}
}

/* The builder's trie, its weights, and what flame_tree_make needs for each node, as if no two workers had the same nodes. */
static size_t flame_ahead(void *context)
{
	const struct flame_sink *sink = context;
	size_t nodes = 0;
	for (unsigned i = 0; i < sink->worker_count; i++)
		nodes += sink->workers[i].stacks.count;
	return stacks_bytes(&sink->workers[0].stacks, nodes, 0) + memory_doubled(nodes, 1) * sizeof(struct flame_weight) +
		nodes * (flame_tree_node_bytes() + sizeof(uint32_t));
}

struct sink flame_sink_of(struct flame_sink *sink)
{
	bool timed = sink->options.weigh == FLAME_BY_TIME;
	return (struct sink){
		.context = sink, .record = flame_sink_sample, .ahead = flame_ahead,
		.batch_begin = timed ? time_batch_begin : NULL, .batch_end = timed ? time_batch_end : NULL,
	};
}

/* Appends " file.c:12", with ':' for ';', which would end a frame of folded text. */
static void append_source_line(struct str *text, const struct local_frame *frame, bool full_path)
{
	if (!frame->at.file)
		return;
	size_t from = text->len;
	str_putc(text, ' ');
	source_line_add_known(&frame->at, full_path, text);
	for (char *c = text->text + from; (c = strchr(c, ';'));)
		*c = ':';
}

/* Returns the builder's frame for a worker's frame. */
static uint32_t builder_frame_of(const struct flame_sink *sink, const struct flame_worker *worker, const struct session *session,
	const struct local_frame *frame, struct str *text, struct flame_builder *builder)
{
	const struct flame_options *options = &sink->options;
	str_clear(text);
	if (frame->kind == FLAME_TASK) {
		const char *task = worker->tasks.items[frame->module];
		str_puts(text, task);
		if (options->folded)
			flame_fold_task(text);
		return flame_builder_frame(builder, str_text(text), "", FLAME_TASK);
	}
	const struct module *module = frame->module == MODULE_ID_NONE ? NULL : session->model.modules.list.items[frame->module];
	const char *symbol = frame->symbol ? symbols_name(options->symbols, module, frame->symbol) : NULL;
	if (options->folded) {
		flame_fold_name(text, module, symbol);
		append_source_line(text, frame, options->full_path);
		if (options->annotate && module)
			str_puts(text, flame_mark(frame->kind == FLAME_INLINE ? FLAME_INLINE : flame_kind_of(module)));
		return flame_builder_frame(builder, str_text(text), "", FLAME_USER);
	}
	flame_full_name(text, module, symbol);
	append_source_line(text, frame, options->full_path);
	return flame_builder_frame(builder, str_text(text), module ? module->long_name : "", frame->kind);
}

/* A worker's stacks by the builder's frames. Without nodes: the worker has no stack. */
struct named_trie {
	struct stacks stacks;
	struct flame_weights weights;
};

static void named_trie_fini(struct named_trie *trie)
{
	stacks_fini(&trie->stacks);
	vec_fini(&trie->weights);
}

/* The merge of the workers: `frames` are the builder's frames by worker and frame, NULL for a worker without samples of the event. */
struct flame_merge {
	struct flame_sink *sink;
	uint32_t **frames;
	uint32_t frame_count;         /* of the builder */
	struct named_trie *tries;
};

/* Returns the node near the end of the stack that is the same function, which is called again; STACK_ROOT: none is. */
static uint32_t recursion_of(const struct stacks *stacks, uint32_t node, uint32_t frame)
{
	enum { CYCLE_MAX = 8 };
	for (unsigned i = 0; i < CYCLE_MAX && node != STACK_ROOT; i++) {
		if (stacks->nodes[node].place == frame)
			return node;
		node = stacks->nodes[node].parent;
	}
	return STACK_ROOT;
}

static void add_weight(struct flame_weights *weights, uint32_t node, const struct flame_weight *more)
{
	struct flame_weight *at = flame_weight_of(weights, node);
	at->weight = flame_sum(at->weight, more->weight);
	at->samples = flame_sum(at->samples, more->samples);
}

/* Returns by expansion: whether it is one frame that no other expansion has. */
static bool *lone_expansions(const struct flame_merge *merge, const struct flame_worker *worker, const uint32_t *frames)
{
	bool *lone = memory_zero(worker->expansions.count, sizeof *lone);
	uint32_t *uses CLEANUP_FREE = memory_zero(merge->frame_count, sizeof *uses);
	for (size_t i = 1; i < worker->expansions.count; i++)
		for (uint32_t k = 0; k < worker->expansions.items[i].count; k++)
			uses[frames[worker->expansion_frames.items[worker->expansions.items[i].first + k]]]++;
	for (size_t i = 1; i < worker->expansions.count; i++) {
		const struct flame_expansion *expansion = &worker->expansions.items[i];
		lone[i] = expansion->count == 1 && uses[frames[worker->expansion_frames.items[expansion->first]]] == 1;
	}
	return lone;
}

/* Makes a worker's trie of named frames, and frees its own. Most nodes become a node each, without a look-up: those of which no frame, from
 * the root on, has the name of another one. */
static void name_stacks(void *context, size_t index, unsigned pool_worker)
{
	const struct flame_merge *merge = context;
	const struct flame_sink *sink = merge->sink;
	struct flame_worker *worker = &sink->workers[index];
	struct named_trie *trie = &merge->tries[index];
	const uint32_t *frames = merge->frames[index];
	if (!frames)
		return;
	uint32_t *nodes CLEANUP_FREE = memory_zero(worker->stacks.count, sizeof *nodes);
	bool *lone CLEANUP_FREE = lone_expansions(merge, worker, frames);
	bool *is_new CLEANUP_FREE = memory_zero(worker->stacks.count, sizeof *is_new);
	is_new[STACK_ROOT] = !sink->options.fold_recursion;
	stacks_init(&trie->stacks);
	for (uint32_t i = 1; i < worker->stacks.count; i++) {
		const struct stack_node *node = &worker->stacks.nodes[i];
		struct flame_expansion expansion = worker->expansions.items[node->place];
		const uint32_t *expansion_frames = worker->expansion_frames.items + expansion.first;
		nodes[i] = nodes[node->parent];
		is_new[i] = is_new[node->parent] && lone[node->place];
		if (is_new[i])
			nodes[i] = stacks_append(&trie->stacks, nodes[i], frames[*expansion_frames]);
		for (uint32_t k = 0; !is_new[i] && k < expansion.count; k++) {
			uint32_t frame = frames[expansion_frames[sink->options.reverse ? k : expansion.count - 1 - k]];
			uint32_t again = sink->options.fold_recursion ? recursion_of(&trie->stacks, nodes[i], frame) : STACK_ROOT;
			nodes[i] = again != STACK_ROOT ? again : stacks_push(&trie->stacks, nodes[i], frame);
		}
	}
	for (uint32_t i = 0; i < worker->weights.count; i++)
		if (worker->weights.items[i].samples)
			add_weight(&trie->weights, nodes[i], &worker->weights.items[i]);
	stacks_unlist(&trie->stacks);
	flame_worker_clear(worker);
}

static void add_trie(struct stacks *stacks, struct flame_weights *weights, const struct named_trie *trie, struct pool *pool)
{
	uint32_t *nodes CLEANUP_FREE = memory_zero(trie->stacks.count, sizeof *nodes);
	stacks_merge(stacks, &trie->stacks, NULL, nodes, pool);
	for (uint32_t i = 0; i < trie->weights.count; i++)
		if (trie->weights.items[i].samples)
			add_weight(weights, nodes[i], &trie->weights.items[i]);
}

/* Merges the workers' tries, one after the other, each on all threads. The frames have their names; their numbers depend on the workers,
 * but the flame tree's order does not. */
static void flame_merge_workers(struct flame_merge *merge, struct session *session, struct flame_builder *builder)
{
	bool empty = builder->stacks.count == 1 && !builder->weights.count;
	pool_run(session->pool, merge->sink->worker_count, name_stacks, merge);
	for (unsigned i = 0; i < merge->sink->worker_count; i++) {
		struct named_trie *trie = &merge->tries[i];
		if (!trie->stacks.count)
			continue;
		if (empty) {
			stacks_fini(&builder->stacks);
			builder->stacks = trie->stacks;
			builder->weights = trie->weights;
			empty = false;
		} else {
			add_trie(&builder->stacks, &builder->weights, trie, session->pool);
			named_trie_fini(trie);
		}
	}
}

static uint32_t *frames_of_worker(const struct flame_sink *sink, const struct flame_worker *worker, const struct session *session,
	struct flame_builder *builder)
{
	uint32_t *frames = memory_zero(worker->frames.count, sizeof *frames);
	struct str text CLEANUP_STR = { 0 };
	for (size_t i = 1; i < worker->frames.count; i++)
		frames[i] = builder_frame_of(sink, worker, session, &worker->frames.items[i], &text, builder);
	return frames;
}

struct flame_counts flame_sink_finish(struct flame_sink *sink, struct session *session, struct flame_builder *builder)
{
	struct flame_counts counts = { .event = UINT32_MAX };
	struct flame_merge merge = { .sink = sink };
	merge.frames = memory_zero(sink->worker_count, sizeof(uint32_t *));
	merge.tries = memory_zero(sink->worker_count, sizeof *merge.tries);
	for (unsigned i = 0; i < sink->worker_count; i++)
		if (sink->workers[i].event < counts.event)
			counts.event = sink->workers[i].event;
	for (unsigned i = 0; i < sink->worker_count; i++) {
		struct flame_worker *worker = &sink->workers[i];
		counts.other_events += worker->other_events;
		if (worker->event == counts.event) {
			counts.samples += worker->samples;
			counts.filtered += worker->filtered;
			merge.frames[i] = frames_of_worker(sink, worker, session, builder);
		} else {
			counts.other_events += worker->samples + worker->filtered;
			flame_worker_clear(worker);
		}
	}
	merge.frame_count = (uint32_t)builder->frames.count;
	flame_merge_workers(&merge, session, builder);
	for (unsigned i = 0; i < sink->worker_count; i++)
		free(merge.frames[i]);
	free(merge.frames);
	free(merge.tries);
	return counts;
}
