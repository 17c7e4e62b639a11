#include "analysis/profile/collector.h"

#include <stdio.h>
#include <stdlib.h>

#include "abi/sample.h"
#include "abi/data_source.h"
#include "analysis/filter/name_filter.h"
#include "analysis/filter/time_filter.h"
#include "base/hash.h"
#include "base/memory.h"

struct collector *collector_new(struct profile *profile)
{
	struct collector *c = memory_zero(1, sizeof *c);
	c->profile = profile;
	c->last_sample_key = UINT32_MAX;
	c->text.fd = -1;
	stacks_init(&c->stacks);
	tuples_init(&c->sample_keys, profile->sample_key_words, profile->sample_key_words + profile->sample_fact_words);
	c->row = memory_zero(profile->sample_key_words + FACT_WORDS_ALL, sizeof *c->row);
	return c;
}

void collector_drop_caches(struct collector *c)
{
	for (size_t i = 0; c->memos && i < CHAIN_MEMOS; i++)
		free(c->memos[i].words);
	free(c->memos);
	free(c->matches);
	vec_fini(&c->stack);
	vec_fini(&c->history);
	vec_fini(&c->marks);
	vec_fini(&c->expansions);
	vec_fini(&c->expansion_places);
	idmap_fini(&c->expansion_of);
	c->memos = NULL;
	c->memo_words = 0;
	c->matches = NULL;
}

void collector_free(struct collector *c)
{
	collector_drop_caches(c);
	stacks_fini(&c->stacks);
	joined_parts_fini(&c->joined);
	tuples_fini(&c->sample_keys);
	tallies_fini(&c->tallies);
	vec_fini(&c->log);
	vec_fini(&c->dropped);
	free(c->row);
	arena_fini(&c->payloads);
	writer_fini(&c->text);
	free(c);
}

static uint8_t dso_filter(const struct profile *profile, const struct location *location)
{
	const struct name_list *dsos = profile->options.filter.dsos;
	if (!dsos)
		return 0;
	const struct module *module = profile_module(profile, location->module);
	return module && (name_list_has(dsos, module->short_name) ||
	       name_list_has(dsos, profile_module_path(profile, module))) ? 0 : FILTER_DSO;
}

static uint64_t unmapped(const struct map *map, uint64_t offset)
{
	return !map || map->identity ? offset : offset - map->pgoff + map->start;
}

static uint8_t symbol_filter(const struct profile *profile, const struct location *location, uint32_t symbol)
{
	const struct name_list *symbols = profile->options.filter.symbols;
	if (!symbols)
		return 0;
	if (symbol) {
		char address[32];
		uint64_t start = profile_symbol(profile, location->module, symbol)->start;
		snprintf(address, sizeof address, "0x%llx", (unsigned long long)unmapped(location->map, start));
		if (name_list_has(symbols, profile_symbol_name(profile, location->module, symbol)) || name_list_has(symbols, address))
			return 0;
	}
	return location->map && number_list_has(symbols, (int64_t)location->address) ? 0 : FILTER_SYMBOL;
}

/* The functions in which perf's top takes a CPU for idle. */
static bool is_idle_function(const char *name)
{
	static const char *const names[] = {
		"acpi_idle_do_entry", "acpi_processor_ffh_cstate_enter", "arch_cpu_idle", "cpu_idle", "cpu_startup_entry", "default_idle",
		"enter_idle", "exit_idle", "idle_cpu", "intel_idle", "intel_idle_ibrs", "mwait_idle", "mwait_idle_with_hints",
		"mwait_idle_with_hints.constprop.0", "native_safe_halt", "poll_idle", "ppc64_runlatch_off", "pseries_dedicated_idle_sleep",
		"psw_idle", "psw_idle_exit",
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static void site_learn(struct collector *c, const struct location *location, struct site *site)
{
	const struct profile *profile = c->profile;
	site->known = 1;
	if (location->module != MODULE_ID_NONE)
		site->symbol = symbols_lookup(profile->symbols, profile_module(profile, location->module), location->offset);
	site->filtered = dso_filter(profile, location) | symbol_filter(profile, location, site->symbol);
	site->filter_address = location->address;
	site->idle = profile->options.skip_idle && site->symbol && location->cpumode == RECORD_MISC_KERNEL &&
		is_idle_function(profile_symbol_name(profile, location->module, site->symbol));
}

struct site *collector_site(struct collector *c, const struct location *location)
{
	_Static_assert(sizeof(struct site) <= sizeof location->point->note, "what is known of a point fits its note");
	struct site *site = location_note(location);
	if (!site->known)
		site_learn(c, location, site);
	return site;
}

/* The place of the sample itself: unlike a frame, by the offset in its module. */
static uint32_t self_place(struct collector *c, const struct location *location)
{
	struct site *site = collector_site(c, location);
	const struct profile *profile = c->profile;
	if (site->self && !profile->by_map)
		return site->self - 1;
	struct place place = {
		.symbol = site->symbol, .module = location->module, .ip = location->offset, .map = location->map,
		.key_ip = site->symbol && !profile->by_address ? 0 : location->offset,
		.key_map = profile->by_map ? (uintptr_t)location->map : 0,
		.level = !location->map ? 0 : location->cpumode == RECORD_MISC_KERNEL ? 'k' : '.',
	};
	uint32_t id = stacks_place(&c->stacks, &place);
	c->wild |= !place.symbol && address_is_wild(place.ip);
	site->self = id + 1;
	return id;
}

static uint8_t self_level(const struct location *location, unsigned cpumode)
{
	return cpumode == RECORD_MISC_KERNEL ? 'k' : cpumode == RECORD_MISC_USER ? '.' : 'H';
}

static uint8_t thread_filter(const struct profile *profile, const struct resolved *r)
{
	const struct profile_options *options = &profile->options;
	char buffer[32];
	if (options->filter.comms && !name_list_has(options->filter.comms, resolved_comm(r, buffer, sizeof buffer)))
		return FILTER_THREAD;
	if (options->filter.pids && !number_list_has(options->filter.pids, r->pid))
		return FILTER_THREAD;
	return options->filter.tids && !number_list_has(options->filter.tids, r->tid) ? FILTER_THREAD : 0;
}

static uint8_t sample_filter(const struct profile *profile, const struct resolved *r, struct site *site, const struct location *ip,
	unsigned cpumode)
{
	if (profile->options.filter.symbols && site->filter_address != ip->address) {
		site->filtered = (site->filtered & FILTER_DSO) | symbol_filter(profile, ip, site->symbol);
		site->filter_address = ip->address;
	}
	bool guest = cpumode == RECORD_MISC_GUEST_KERNEL || cpumode == RECORD_MISC_GUEST_USER;
	return site->filtered | thread_filter(profile, r) | (guest ? FILTER_GUEST : 0);
}

/* The facts follow the key in the row; only those that the report needs are stored. */
static void fill_facts(struct collector *c, const struct sample_view *view)
{
	struct sample_facts *facts = (struct sample_facts *)(c->row + c->profile->sample_key_words);
	const struct sample *sample = view->r->sample;
	facts->clock = view->r->clock;
	facts->parent_symbol = view->parent_symbol;
	facts->parent_module = view->parent_module;
	facts->raw = sample->raw;
	facts->raw_size = sample->raw_size;
	facts->cpu = (int32_t)sample->cpu;
	facts->data_source = sample->present & SAMPLE_DATA_SRC ? sample->data_src : DATA_SOURCE_NONE;
	facts->branch_flags = view->branch_flags;
	facts->cpumode = view->cpumode;
	for (unsigned i = 0; view->ends && i < 2; i++) {
		const struct view_end *end = &view->ends[i];
		facts->ends[i] = (struct end_fact){ .symbol = end->symbol, .module = end->location->module, .address = end->location->address,
			.offset = end->offset, .map = end->location->map, .level = end->level };
	}
}

static uint32_t sample_key_of(struct collector *c, const struct sample_view *view)
{
	const struct profile *profile = c->profile;
	const struct columns *columns = profile->options.columns;
	c->row[SAMPLE_KEY_EVENT] = view->r->event;
	for (size_t i = 0; i < columns->all.count; i++) {
		const struct column *column = &columns->all.items[i];
		if (column->type->sample_key)
			column->type->sample_key(view, column, c->row + column->at);
	}
	if (c->last_sample_key != UINT32_MAX &&
	    memcmp(tuples_row(&c->sample_keys, c->last_sample_key), c->row, profile->sample_key_words * sizeof *c->row) == 0)
		return c->last_sample_key;
	fill_facts(c, view);
	uint32_t known = c->sample_keys.count;
	c->last_sample_key = tuples_add(&c->sample_keys, c->row);
	if (c->sample_keys.count > known && profile->sample_fact_words >= FACT_WORDS_RAW) {
		struct sample_facts *facts = (struct sample_facts *)(tuples_row(&c->sample_keys, c->last_sample_key) + profile->sample_key_words);
		if (facts->raw_size)
			facts->raw = arena_copy(&c->payloads, facts->raw, facts->raw_size);
	}
	return c->last_sample_key;
}

static void add_tally(struct collector *c, const struct sample_view *view, struct tally *tally, uint64_t weight)
{
	const struct sample *sample = view->r->sample;
	tally->sample_key = sample_key_of(c, view);
	tally->first = view->r->clock;
	tally->thread = view->r->thread;
	tally->tid = view->r->tid;
	tally->cpu = sample->cpu;
	struct tally_sums sums = { { weight, sample->ins_lat, sample->p_stage_cyc } };
	uint32_t index, known = c->tallies.count;
	if (c->profile->needs_sums) {
		index = (uint32_t)(tallies_add(&c->tallies, tally, &sums) - c->tallies.items);
	} else {
		uint32_t *near = &collector_site(c, view->ip)->tally;
		tallies_add_near(&c->tallies, tally, near);
		index = *near - 1;
	}
	if (c->tallies.count > known)
		c->frames += stacks_depth(&c->stacks, tally->node);
	if (c->profile->logs)
		vec_push(&c->log, ((struct access){ .clock = tally->first, .period = tally->period, .tally = index }));
}

/* The difference of two addresses that are this far from zero may overflow a signed number. */
bool address_is_wild(uint64_t address)
{
	return (int64_t)address > INT64_MAX / 2 || (int64_t)address < INT64_MIN / 2;
}

/* An address of unknown mode: kernel first, then user. */
static struct view_end view_end(struct collector *c, const struct location *location)
{
	struct view_end end = { .location = location, .symbol = collector_site(c, location)->symbol, .offset = location->offset };
	end.level = !location->map ? 'H' : location->cpumode == RECORD_MISC_KERNEL ? 'k' : '.';
	return end;
}

static bool crosses(uint64_t from, uint64_t to, uint64_t size)
{
	return (from & ~(size - 1)) != (to & ~(size - 1));
}

static void count_branch(struct branch_counts *counts, const struct branch_entry *branch)
{
	enum { UNKNOWN = 0, CONDITIONAL = 1, EXTENDED = 15 };
	unsigned type = branch->flags >> 20 & 15;
	if (type == UNKNOWN || !branch->from)
		return;
	if (type == EXTENDED)
		counts->new_types[branch->flags >> 26 & 15]++;
	else
		counts->types[type]++;
	if (type == CONDITIONAL && branch->to > branch->from)
		counts->forward++;
	else if (type == CONDITIONAL)
		counts->backward++;
	if (crosses(branch->from, branch->to, 2 << 20))
		counts->cross_2m++;
	else if (crosses(branch->from, branch->to, 4 << 10))
		counts->cross_4k++;
}

/* Adds a row for every branch of the stack; each counts as one. */
static void add_branches(struct collector *c, struct sample_view *view, const struct tally *base)
{
	const struct sample *sample = view->r->sample;
	for (uint64_t i = 0; i < sample->branch_count; i++) {
		struct branch_entry branch = sample_branch(sample, i);
		struct view_end ends[2] = {
			view_end(c, resolved_locate_any(view->r, branch.from)), view_end(c, resolved_locate_any(view->r, branch.to)),
		};
		if (c->profile->options.hide_unresolved && !(ends[0].symbol && ends[1].symbol))
			continue;
		uint64_t cycles = branch_cycles(branch.flags);
		view->ends = ends;
		view->branch_flags = branch.flags;
		view->weight = cycles ? cycles : 1;
		struct tally tally = *base;
		tally.place = collector_frame(c, ends[1].location);
		tally.period = 1;
		add_tally(c, view, &tally, view->weight);
		count_branch(&c->branches, &branch);
	}
}

static void add_access(struct collector *c, struct sample_view *view, struct tally *tally)
{
	const struct sample *sample = view->r->sample;
	unsigned mode = record_cpumode(view->r->record);
	const struct location *data = resolved_locate(view->r, mode, sample->addr);
	struct view_end ends[2] = { view_end(c, resolved_locate_any(view->r, sample->ip)), view_end(c, data) };
	ends[1].level = self_level(data, mode);
	view->ends = ends;
	tally->period = sample->weight ? sample->weight : 1;
	add_tally(c, view, tally, sample->weight);
}

/* Applies the frames that --parent and --ignore-callees matched. */
static void apply_found(struct collector *c, const struct chain_found *found, struct sample_view *view, struct tally *tally)
{
	if (found->parent) {
		view->parent_module = found->parent->module;
		view->parent_symbol = collector_site(c, found->parent)->symbol;
	}
	if (found->root) {
		const struct location *root = found->root;
		tally->place = self_place(c, root);
		tally->level = self_level(root, root->cpumode);
		tally->cpumode = root->cpumode;
		tally->filtered = 0; /* as in perf: the new root drops the reasons why the sample was filtered */
	}
}

void collector_sample(struct collector *c, const struct resolved *r)
{
	collector_samples(c, r, 1);
}

void collector_samples(struct collector *c, const struct resolved *r, uint32_t count)
{
	const struct profile *profile = c->profile;
	const struct profile_options *options = &profile->options;
	const struct sample *sample = r->sample;
	if (sample->time != UINT64_MAX && time_filter_drops(&options->filter.time, sample->time))
		return;
	unsigned cpumode = record_cpumode(r->record);
	const struct location *ip = resolved_ip(r);
	struct site *site = collector_site(c, ip);
	if (site->idle || (options->hide_unresolved && !site->symbol) || !cpu_filter_has(&options->filter.cpus, sample->cpu))
		return;
	if (options->iteration == ITERATE_BRANCHES && !(sample->present & SAMPLE_BRANCH_STACK))
		return;
	struct sample_view view = { .profile = profile, .text = &c->text, .r = r, .ip = ip, .cpumode = cpumode, .weight = sample->weight,
		.time = sample->time == UINT64_MAX ? 0 : sample->time, .parent_module = MODULE_ID_NONE };
	struct tally tally = { .cpumode = (uint8_t)cpumode, .level = self_level(ip, cpumode), .period = sample->period, .count = count,
		.filtered = sample_filter(profile, r, site, ip, cpumode), .place = self_place(c, ip) };
	bool keeps_chain = options->iteration == ITERATE_CALLERS || (options->use_chains && options->iteration != ITERATE_BRANCHES);
	bool wants_chain = keeps_chain || options->use_chains || options->columns->has_parent;
	if (wants_chain && (sample->present & SAMPLE_CALLCHAIN || options->branch_marks)) {
		struct chain_found found = collector_chain(c, r);
		tally.node = keeps_chain ? found.node : STACK_ROOT;
		c->last_node = tally.node;
		apply_found(c, &found, &view, &tally);
	} else if (options->iteration == ITERATE_CALLERS && !attr_is_dummy(&r->evsel->attr)) {
		tally.node = c->last_node; /* perf walks the chain of the sample before */
		tally.stale = tally.node != STACK_ROOT;
	}
	if (options->exclude_other && !view.parent_symbol)
		tally.filtered |= FILTER_PARENT;
	if (options->iteration == ITERATE_BRANCHES)
		add_branches(c, &view, &tally);
	else if (options->iteration == ITERATE_MEMORY)
		add_access(c, &view, &tally);
	else
		add_tally(c, &view, &tally, sample->weight);
}
