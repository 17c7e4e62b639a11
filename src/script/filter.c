/* Which samples are printed. Filters are applied in perf's order, as some of them depend on the samples that passed before. */
#include <stdio.h>

#include "script/internal.h"

static bool thread_dropped(const struct listing_line *line)
{
	const struct listing_options *o = &line->listing->options;
	const struct resolved *r = line->r;
	char buffer[COMM_TEXT];

	if (o->filter.comms && !name_list_has(o->filter.comms, resolved_comm(r, buffer, sizeof buffer)))
		return true;
	if (o->filter.pids) {
		const struct model *model = &line->listing->session->model;
		int32_t pid = r->thread == THREAD_NONE ? r->pid : model->threads.items[r->thread]->pid;
		if (!number_list_has(o->filter.pids, pid))
			return true;
	}
	return o->filter.tids && !number_list_has(o->filter.tids, r->tid);
}

static bool dso_dropped(const struct listing_line *line, const struct location *location)
{
	const struct name_list *dsos = line->listing->options.filter.dsos;

	if (location->module == MODULE_ID_NONE)
		return true;
	const struct module *module = modules_get(&line->listing->session->model.modules, location->module);
	return !name_list_has(dsos, module->short_name) && !name_list_has(dsos, module->long_name);
}

/* --symbols selects by the symbol's name or its address in hexadecimal, or by the sample's address (or a range that includes it). */
static bool symbol_dropped(const struct listing_line *line, const struct location *location)
{
	const struct listing_options *o = &line->listing->options;
	const struct module *module = location->module == MODULE_ID_NONE ? NULL :
		modules_get(&line->listing->session->model.modules, location->module);
	uint32_t id = module ? symbols_lookup(line->listing->symbols, module, location->offset) : 0;
	char address[32];

	if (id) {
		const struct symbol *symbol = symbols_get(line->listing->symbols, module, id);
		snprintf(address, sizeof address, "0x%llx",
			(unsigned long long)(location->address - (location->offset - symbol->start)));
		if (name_list_has(o->filter.symbols, symbols_name(line->listing->symbols, module, id)) || name_list_has(o->filter.symbols, address))
			return false;
	}
	if (!module)
		return true;
	return !number_list_covers(o->filter.symbols, location->address, o->address_range > 0 ? (uint64_t)o->address_range : 1);
}

bool listing_drops_cpu(const struct listing *listing, uint32_t cpu)
{
	const struct listing_options *o = &listing->options;

	return cpu != UINT32_MAX && !cpu_filter_has(&o->filter.cpus, cpu);
}

/* Filters by thread, object and symbol. */
static bool place_dropped(const struct listing_line *line)
{
	const struct listing_options *o = &line->listing->options;
	const struct resolved *r = line->r;

	if ((o->filter.comms || o->filter.pids || o->filter.tids) && thread_dropped(line))
		return true;
	if (o->filter.dsos && dso_dropped(line, resolved_ip(r)))
		return true;
	return o->filter.symbols && symbol_dropped(line, resolved_ip(r));
}

static bool user_drops(const struct listing_line *line, bool early)
{
	const struct listing_options *o = &line->listing->options;
	struct error *err = &line->listing->error;

	return o->user_filter && o->user_filter(o->user_context, line->r, early, early && place_dropped(line), line->out, err) != 0;
}

bool listing_is_unfiltered(const struct listing *listing)
{
	const struct listing_options *o = &listing->options;
	const struct sample_filter *filter = &o->filter;
	bool by_place = filter->comms || filter->pids || filter->tids || filter->dsos || filter->symbols;

	return !by_place && !filter->time.count && !filter->cpus.words && !o->user_filter && !o->count_misordered && !o->dump &&
		!o->graph_functions && !event_switch_given(&o->switches);
}

bool listing_drops(const struct listing_line *line)
{
	struct listing *listing = line->listing;
	const struct listing_options *o = &listing->options;
	const struct resolved *r = line->r;
	unsigned mode = record_cpumode(r->record);

	if (listing->unfiltered)
		return !o->guests && mode_is_guest(mode);
	if (user_drops(line, true))
		return true;
	if (time_filter_drops(&o->filter.time, r->sample->time))
		return true;
	if (o->count_misordered) {
		listing->counters.misordered += r->sample->time < listing->last_time;
		listing->last_time = r->sample->time;
		return true;
	}
	if (listing_drops_cpu(listing, r->sample->cpu))
		return true;
	if (o->dump)
		dump_part_place(o->dump, r);
	if (!o->guests && mode_is_guest(mode))
		return true;
	if (place_dropped(line))
		return true;
	if (o->graph_functions && listing_graph_drops(line))
		return true;
	return !event_switch_passes(&listing->switches, r->event) || user_drops(line, false);
}
