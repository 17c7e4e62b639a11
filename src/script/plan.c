/* How each event's samples are printed. Computed again when a stream has brought more events. */
#include <stdlib.h>

#include "analysis/place/source_line.h"
#include "script/internal.h"
#include "data/evsel_name.h"
#include "data/feature.h"

enum { SOFTWARE_PAGE_FAULTS = 2, SOFTWARE_PAGE_FAULTS_MIN = 5, SOFTWARE_PAGE_FAULTS_MAJ = 6 };

static bool lookup_tracepoint(const void *context, uint64_t id, const char **system, const char **name)
{
	return tracepoints_name(context, id, system, name);
}

static void refresh_tracepoints(struct listing *listing)
{
	struct header *header = &listing->session->source->header;
	struct span data = header->feature_data[FEATURE_TRACING_DATA];

	if (!listing->tracepoints_tried && data.data) {
		listing->tracepoints_tried = true;
		tracepoints_open(&listing->tracepoints, data, NULL);
	}
	if (listing->tracepoints)
		evlist_name_tracepoints(&header->evlist, 0, lookup_tracepoint, listing->tracepoints);
}

static uint8_t place_kind(struct listing *listing, uint64_t place)
{
	for (unsigned i = 0; i < listing->place_count; i++)
		if (listing->places[i] == place)
			return (uint8_t)i;
	if (listing->place_count == LISTING_PLACES_MAX)
		return 0; /* not reached: a class of events has two */
	listing->places[listing->place_count] = place;
	return (uint8_t)listing->place_count++;
}

static void plan_name(struct listing *listing, struct listing_plan *plan, const char *name, size_t width)
{
	size_t len = strlen(name), pad = width > len ? width - len : 0;
	char *text = arena_bytes(&listing->arena, pad + len + 2);

	memset(text, ' ', pad);
	memcpy(text + pad, name, len);
	memcpy(text + pad + len, ": ", 2);
	plan->name = arena_string(&listing->arena, name, len);
	plan->label = text;
	plan->label_len = (uint32_t)(pad + len + 2);
}

static void add_step(struct listing_plan *plan, field_print *print, const struct field_row *row)
{
	bool printed = row && row->joined && plan->step_count && plan->steps[plan->step_count - 1].print == print;

	if (!printed)
		plan->steps[plan->step_count++] = (struct listing_step){ print, row };
}

/* Instructions per cycle and the source line follow a branch; then come instructions. */
static void add_branch_steps(struct listing_plan *plan)
{
	if (plan->has & FIELD_BIT(FIELD_IPC))
		add_step(plan, print_ipc, &field_rows[FIELD_IPC]);
	if (plan->source_line_last)
		add_step(plan, print_branch_source, NULL);
}

/* A branch trace prints its branch after the fields of all samples that precede a sample's own. */
static void plan_steps(struct listing_plan *plan)
{
	plan->start_count = plan->step_count = 0;
	for (int i = 0; i < FIELD_COUNT; i++) {
		const struct field_row *row = &field_rows[i];
		if (i == FIELD_TRACE && plan->branch_trace)
			add_step(plan, print_branch_trace, NULL);
		if (i == FIELD_INSN && plan->branch_trace)
			add_branch_steps(plan);
		if (row->print && plan->has >> i & 1 && row->lines != LINES_AFTER_SAMPLES && !(plan->branch_trace && i == FIELD_IPC) &&
			!(plan->branch_trace && row->lines == LINES_OF_OTHER_SAMPLES))
			add_step(plan, row->print, row);
		if (row->lines == LINES_OF_RECORDS)
			plan->start_count = plan->step_count;
	}
	plan->line_count = plan->step_count;
	for (int i = 0; i < FIELD_COUNT; i++)
		if (field_rows[i].print && plan->has >> i & 1 && field_rows[i].lines == LINES_AFTER_SAMPLES && !plan->branch_trace)
			add_step(plan, field_rows[i].print, &field_rows[i]);
}

/* Of the symbol and the object of addr. A frame with the same fields has its text. */
static void plan_addr(struct listing *listing, struct listing_plan *plan)
{
	const uint64_t symbol = FIELD_BIT(FIELD_SYM), object = FIELD_BIT(FIELD_DSO);
	uint64_t symbol_place = plan->shown & symbol ? plan->shown & (symbol | FIELD_BIT(FIELD_SYMOFF)) : 0;
	uint64_t object_place = plan->shown & object ? plan->shown & (object | FIELD_BIT(FIELD_DSOFF)) : 0;

	plan->addr_place = symbol_place | object_place;
	plan->addr_kind = plan->place_kind;
	if ((plan->place & ~FIELD_BIT(FIELD_IP)) != plan->addr_place)
		plan->addr_kind = place_kind(listing, plan->addr_place);
}

static void plan_event(struct listing *listing, struct listing_plan *plan, const struct evsel *evsel)
{
	const struct attr *attr = &evsel->attr;
	const struct fields *fields = listing->options.fields;
	const struct class_fields *class = &fields->classes[event_class(attr)];
	bool software = attr->type == ATTR_SOFTWARE;

	plan->shown = class->shown ? class->shown | fields->everywhere : 0;
	plan->has = plan->shown;
	for (int i = 0; i < FIELD_COUNT; i++)
		if (field_rows[i].has && !field_rows[i].has(attr))
			plan->has &= ~FIELD_BIT(i);
	/* of some events in streams, perf's text shows no place */
	plan->place = listing->options.format ? class->shown & FIELDS_OF_PLACE : class->place;
	plan->branch_trace = attr_is_branch_trace(attr);
	plan->source_line_last = plan->branch_trace && !listing->options.format && plan->place & FIELD_BIT(FIELD_SRCLINE);
	if (plan->source_line_last)
		plan->place &= ~FIELD_BIT(FIELD_SRCLINE);
	plan->place_kind = place_kind(listing, plan->place);
	plan_addr(listing, plan);
	plan->comm_plain = fields->chains && class->shown & FIELD_BIT(FIELD_IP) && attr->sample_type & SAMPLE_CALLCHAIN;
	plan->addr_has_symbol = plan->branch_trace || (software && (attr->config == SOFTWARE_PAGE_FAULTS ||
		attr->config == SOFTWARE_PAGE_FAULTS_MIN || attr->config == SOFTWARE_PAGE_FAULTS_MAJ));
	plan->inlines = attr_inlines(listing->options.inlines, attr);
	plan->implied_addr = attr->sample_type & SAMPLE_ADDR && !class->given;
	plan_steps(plan);
	if (evsel->decoded)
		branch_line_plan(plan);
}

static void settle_new(struct listing *listing, size_t known)
{
	const struct header *header = &listing->session->source->header;

	if (!header->pipe || listing->error.kind != ERROR_NONE)
		return;
	for (size_t i = known; i < header->evlist.events.count; i++)
		if (fields_settle_event(listing->options.fields, header, (uint32_t)i, &listing->error) < 0)
			return;
}

static void open_event_writers(struct listing *listing, size_t known)
{
	const struct evlist *evlist = session_evlist(listing->session);
	char buffer[EVSEL_NAME_MAX];

	if (!listing->options.event_writer)
		return;
	listing->event_writers = memory_resize(listing->event_writers, evlist->events.count, sizeof *listing->event_writers);
	bool pipe = listing->session->source->header.pipe; /* perf opens these before it has read the names of a stream's events */
	for (size_t i = known; i < evlist->events.count; i++) {
		const struct evsel *evsel = &evlist->events.items[i];
		const char *name = pipe ? attr_name(&evsel->attr, buffer, sizeof buffer) : evsel_name(evsel, buffer, sizeof buffer);
		listing->event_writers[i] = listing->options.event_writer(listing->options.event_context, (uint32_t)i, name, &listing->error);
	}
}

void listing_refresh(struct listing *listing)
{
	const struct evlist *evlist = session_evlist(listing->session);
	const struct header *header = &listing->session->source->header;
	size_t count = evlist->events.count, width = 0;
	char buffer[EVSEL_NAME_MAX];
	struct feature_clock clock;

	if (listing->plan_count == count && count && listing->renamed == evlist->renamed)
		return;
	listing->renamed = evlist->renamed;
	refresh_tracepoints(listing);
	settle_new(listing, listing->plan_count);
	for (size_t i = 0; i < count; i++) {
		size_t len = strlen(evsel_name(&evlist->events.items[i], buffer, sizeof buffer));
		width = len > width ? len : width;
	}
	listing->plans = memory_resize(listing->plans, count, sizeof *listing->plans);
	listing->counters.samples = memory_resize(listing->counters.samples, count, sizeof *listing->counters.samples);
	listing->place_count = 0;
	for (size_t i = 0; i < count; i++) {
		listing->has_reads |= evlist->events.items[i].attr.sample_type & SAMPLE_READ;
		listing->plans[i] = (struct listing_plan){ 0 };
		plan_event(listing, &listing->plans[i], &evlist->events.items[i]);
		plan_name(listing, &listing->plans[i], evsel_name(&evlist->events.items[i], buffer, sizeof buffer), width);
		if (i >= listing->plan_count)
			listing->counters.samples[i] = 0;
	}
	for (unsigned i = 0; i < listing->worker_count; i++)
		branch_line_forget(listing->workers[i]); /* labels have another width */
	open_event_writers(listing, listing->plan_count);
	listing->counters.event_count = listing->plan_count = count;
	listing->wall.known = feature_clock(header, &clock) == 0;
	if (listing->wall.known) {
		listing->wall.wall_ns = clock.wall_ns;
		listing->wall.clock_ns = clock.clock_ns;
	}
	branch_counters_fini(&listing->branch_counters);
	branch_counters_init(&listing->branch_counters, header);
	if (header->pipe && header_string(header, FEATURE_ARCH))
		listing->options.isa = isa_of_machine(header_string(header, FEATURE_ARCH));
}
