#include "event/metric_plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "event/event_add.h"
#include "event/event_group.h"
#include "event/metric_order.h"
#include "event/own_metrics.h"

bool metric_groups_have(const char *groups, const char *word)
{
	size_t wanted = strlen(word);
	while (groups && *groups) {
		size_t length = strcspn(groups, ";");
		if (length == wanted && strncasecmp(groups, word, length) == 0)
			return true;
		groups += length + (groups[length] == ';');
	}
	return false;
}

const struct metric *metric_find(struct pmus *pmus, const char *name)
{
	const struct metric *found = vendor_metric(&pmus->vendor, name);
	for (const struct metric *own = own_metrics; own->name && !found; own++)
		if (strcasecmp(own->name, name) == 0)
			found = own;
	return found;
}

bool metric_is_hidden(struct pmus *pmus, const struct metric *own)
{
	static const char topdown[] = "TopdownL1";
	bool hidden = vendor_metric(&pmus->vendor, own->name) != NULL;
	for (size_t i = 0; i < pmus->vendor.metrics.count && !hidden && metric_groups_have(own->groups, topdown); i++)
		hidden = metric_groups_have(pmus->vendor.metrics.items[i].groups, topdown);
	return hidden;
}

static int compare_metrics(const void *a, const void *b)
{
	return strcmp((*(const struct metric *const *)a)->name, (*(const struct metric *const *)b)->name);
}

void metric_list_make(struct metric_list *list, struct pmus *pmus)
{
	vendor_read(&pmus->vendor);
	for (size_t i = 0; i < pmus->vendor.metrics.count; i++)
		vec_push(&list->list, &pmus->vendor.metrics.items[i]);
	for (const struct metric *own = own_metrics; own->name; own++)
		if (!metric_is_hidden(pmus, own))
			vec_push(&list->list, own);
	qsort(list->list.items, list->list.count, sizeof list->list.items[0], compare_metrics);
}

void metric_list_fini(struct metric_list *list)
{
	vec_fini(&list->list);
}

void metric_plan_fini(struct metric_plan *plan)
{
	for (size_t i = 0; i < plan->list.count; i++)
		vec_fini(&plan->list.items[i].names);
	vec_fini(&plan->list);
	arena_fini(&plan->arena);
}

double metric_plan_literal(const struct metric_plan *plan, const char *name)
{
	return metric_literal(name, &plan->options.target, plan->slots);
}

static double slots_of(struct pmus *pmus)
{
	struct pmu *core = pmus_by_type(pmus, ATTR_RAW);
	double slots = 0;
	for (size_t i = 0; core && i < core->caps.count; i++)
		if (strcmp(core->caps.items[i].name, "slots") == 0)
			slots = strtod(core->caps.items[i].value, NULL);
	return slots;
}

/* One call of metric_plan_add. */
struct planning {
	struct metric_plan *plan;
	struct events *events;
	struct error *err;
	VEC(struct planned_metric) list;
	const char *open[METRIC_REFERENCES_MAX]; /* the metrics whose references are being resolved */
	size_t depth;
};

static double literal_of(void *context, const char *name)
{
	const struct planning *p = context;
	return metric_plan_literal(p->plan, name);
}

static bool event_exists(void *context, const char *name)
{
	struct planning *p = context;
	size_t before = p->events->list.count;
	bool tried = p->events->tries;
	p->events->tries = true;
	bool exists = events_parse(p->events, name, NULL) == 0;
	p->events->tries = tried;
	p->events->list.count = before;
	return exists;
}

static bool cpu_is(void *context, const char *pattern)
{
	char cpu[128];
	(void)context;
	return vendor_cpu(cpu, sizeof cpu) && vendor_cpu_matches(pattern, cpu);
}

static struct expression_names names_of(struct planning *p)
{
	return (struct expression_names){ .context = p, .literal = literal_of, .exists = event_exists, .is_cpu = cpu_is };
}

static int refuse(struct planning *p, const struct metric *metric, const char *what)
{
	return error_set(p->err, ERROR_FORMAT, "the metric %.100s: %s", metric->name, what);
}

static const struct expression *parse(struct planning *p, const struct metric *metric, const char *text)
{
	struct error err = { 0 };
	const struct expression *e = expression_parse(&p->plan->arena, text, &err);
	if (!e)
		refuse(p, metric, err.text);
	return e;
}

static bool is_listed(const struct planned_metric *m, const char *name)
{
	for (size_t i = 0; i < m->names.count; i++)
		if (strcmp(m->names.items[i].name, name) == 0)
			return true;
	return false;
}

static int add_needs(struct planning *p, struct planned_metric *m, const struct expression *e);

/* A metric that another one names; its own names are those of the planned metric, too. */
static int add_reference(struct planning *p, struct planned_metric *m, const char *name, const struct metric *metric)
{
	for (size_t i = 0; i < p->depth; i++)
		if (strcasecmp(p->open[i], metric->name) == 0)
			return error_set(p->err, ERROR_LIMIT, "failed: recursion detected for %.100s", metric->name);
	if (is_listed(m, name))
		return 0;
	if (p->depth == METRIC_REFERENCES_MAX)
		return refuse(p, metric, "more metrics refer to each other than are supported");
	const struct expression *e = parse(p, metric, metric->expression);
	if (!e)
		return -1;
	p->open[p->depth++] = metric->name;
	int status = add_needs(p, m, e);
	p->depth--;
	vec_push(&m->names, ((struct planned_name){ .name = name, .metric = e }));
	return status;
}

static int add_needs(struct planning *p, struct planned_metric *m, const struct expression *e)
{
	struct expression_names names = names_of(p);
	struct expression_needs needs = { 0 };
	int status = 0;
	expression_add_needs(e, &names, &needs);
	for (size_t i = 0; i < needs.names.count && status == 0; i++) {
		const char *name = needs.names.items[i];
		const struct metric *other = metric_find(&p->events->pmus, name);
		if (m->names.count >= METRIC_NAMES_MAX)
			status = refuse(p, m->metric, "it needs more events than are supported");
		else if (other)
			status = add_reference(p, m, name, other);
		else if (!is_listed(m, name))
			vec_push(&m->names, ((struct planned_name){ .name = name }));
	}
	expression_needs_fini(&needs);
	return status;
}

static void set_label(struct planning *p, struct planned_metric *m)
{
	CLEANUP_STR struct str label = { 0 };
	const char *unit;
	m->scale = 1;
	if (m->metric->scale_unit) {
		m->scale = pmu_scale_parse(m->metric->scale_unit, &unit);
		m->has_unit = true;
		str_printf(&label, "%s  ", unit);
	}
	str_printf(&label, "%s%s%s", m->metric->name, *m->modifiers ? ":" : "", m->modifiers);
	text_make_printable(label.text);
	m->label = arena_string(&p->plan->arena, label.text, label.len);
}

/* The threshold names the metric itself. */
static int plan_metric(struct planning *p, const struct metric *metric, const char *asked, const char *modifiers)
{
	struct planned_metric *m = vec_add(&p->list);
	m->metric = metric;
	m->asked = asked;
	m->modifiers = modifiers;
	set_label(p, m);
	m->value = parse(p, metric, metric->expression);
	if (!m->value)
		return -1;
	p->open[0] = metric->name;
	p->depth = 1;
	if (add_needs(p, m, m->value) < 0)
		return -1;
	vec_push(&m->names, ((struct planned_name){ .name = metric->name, .metric = m->value }));
	p->depth = 0;
	if (!metric->threshold || p->plan->options.no_threshold)
		return 0;
	m->threshold = parse(p, metric, metric->threshold);
	return m->threshold ? add_needs(p, m, m->threshold) : -1;
}

/* Plans the metrics that one word names, the last of the table first, as perf does. */
static int plan_word(struct planning *p, const struct metric_list *all, const char *word)
{
	const char *colon = strchr(word, ':');
	const char *name = arena_string(&p->plan->arena, word, colon ? (size_t)(colon - word) : strlen(word));
	size_t before = p->list.count;
	for (size_t i = all->list.count; i-- > 0;) {
		const struct metric *metric = all->list.items[i];
		bool alone = !metric->groups && strcasecmp(name, "No_group") == 0;
		if (strcasecmp(metric->name, name) != 0 && !metric_groups_have(metric->groups, name) && strcmp(name, "all") != 0 && !alone)
			continue;
		if (p->list.count >= METRIC_LIST_MAX)
			return error_set(p->err, ERROR_LIMIT, "more than %d metrics", METRIC_LIST_MAX);
		if (plan_metric(p, metric, name, colon ? colon + 1 : "") < 0)
			return -1;
	}
	if (p->list.count > before)
		return 0;
	return error_set(p->err, ERROR_USAGE, "Cannot find metric or group `%s'", name);
}

/* The names of all metrics together are limited, as metrics are compared with each other. */
static int check_total(struct planning *p)
{
	size_t total = 0;
	for (size_t i = 0; i < p->list.count; i++)
		total += p->list.items[i].names.count;
	return total <= METRIC_TOTAL_MAX ? 0 : error_set(p->err, ERROR_LIMIT, "the metrics need more than %d events", METRIC_TOTAL_MAX);
}

static bool has_names(const struct planned_metric *m)
{
	for (size_t i = 0; i < m->names.count; i++)
		if (!m->names.items[i].metric)
			return true;
	return false;
}

/* Without those that the tool measures. */
static size_t event_count(const struct planned_metric *m)
{
	size_t count = 0;
	for (size_t i = 0; i < m->names.count; i++)
		count += !m->names.items[i].metric && !metric_tool(m->names.items[i].name);
	return count;
}

/* Those that need most events first, so that the others find their events in the same groups; otherwise their order remains. */
static void sort_by_size(struct planning *p)
{
	for (size_t i = 1; i < p->list.count; i++) {
		struct planned_metric m = p->list.items[i];
		size_t count = event_count(&m), k = i;
		for (; k > 0 && event_count(&p->list.items[k - 1]) < count; k--)
			p->list.items[k] = p->list.items[k - 1];
		p->list.items[k] = m;
	}
}

static bool is_grouped(const struct planning *p, const struct planned_metric *m)
{
	if (p->plan->options.no_group || (m->metric->no_groups && metric_groups_have(m->metric->no_groups, m->asked)))
		return false;
	switch (m->metric->constraint) {
	case METRIC_NOT_GROUPED: return false;
	case METRIC_NOT_GROUPED_WITH_WATCHDOG: return !metric_watchdog_is_on();
	case METRIC_NOT_GROUPED_WITH_SMT: return !metric_smt_is_on();
	default: return true;
	}
}

/* Takes the ids of names from an earlier metric that has all of them. */
static bool share(struct planned_metric *m, const struct planned_metric *from)
{
	if (strcmp(m->modifiers, from->modifiers) != 0)
		return false;
	for (int set = 0; set < 2; set++)
		for (size_t i = 0; i < m->names.count; i++) {
			struct planned_name *name = &m->names.items[i];
			const char *id = NULL;
			for (size_t k = 0; k < from->names.count && !name->metric && !id; k++)
				if (!from->names.items[k].metric && strcmp(from->names.items[k].name, name->name) == 0)
					id = from->names.items[k].id;
			if (!name->metric && !id)
				return false;
			name->id = set ? id : name->id;
		}
	return true;
}

/* The events of one name: they get its id. */
static int add_events(struct planning *p, const struct planned_metric *m, struct planned_name *name)
{
	CLEANUP_STR struct str text = { 0 };
	struct event_error why;
	size_t before = p->events->list.count;
	bool tool = metric_tool(name->name) > 0;
	str_printf(&text, "%s%s%s", name->name, *m->modifiers && !tool ? ":" : "", tool ? "" : m->modifiers);
	if (before >= EVENTS_MAX)
		return error_set(p->err, ERROR_LIMIT, "the metrics need more than %d events", EVENTS_MAX);
	if (events_parse(p->events, text.text, &why) < 0) {
		error_set(p->err, ERROR_USAGE, "the metric %.100s needs the event %.100s: %s", m->metric->name, name->name, why.what);
		const char *more = strchr(why.help, '\n');
		if (more && more[1])
			error_hint(p->err, "%.*s", (int)strcspn(more + 1, "\n"), more + 1);
		return -1;
	}
	const char *shown = arena_string(&p->events->arena, text.text, text.len);
	name->id = arena_string(&p->events->arena, text.text, text.len); /* a separate pointer */
	for (size_t i = before; i < p->events->list.count; i++) {
		struct event *event = &p->events->list.items[i];
		event->terms.metric_id = name->id;
		event->terms.set |= EVENT_TERM_METRIC_ID;
		event->name = shown;
	}
	return 0;
}

static void make_group(struct events *events, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++) {
		events->list.items[i].leader = (uint32_t)first;
		events->list.items[i].members = 0;
	}
	events->list.items[first].members = end - first > 1 ? (uint32_t)(end - first) : 0;
	events->list.items[first].weak = true;
}

/* Adds the events of a metric, those that the tool measures after the group. */
static int add_group(struct planning *p, struct planned_metric *m, bool grouped)
{
	struct events *events = p->events;
	size_t first = events->list.count, end = first;
	for (int tools = 0; tools < 2; tools++) {
		for (size_t i = 0; i < m->names.count; i++) {
			struct planned_name *name = &m->names.items[i];
			if (name->metric || name->id || (metric_tool(name->name) > 0) != (tools == 1))
				continue;
			if (add_events(p, m, name) < 0)
				return -1;
		}
		end = tools ? end : events->list.count;
	}
	if (grouped && end > first + 1)
		make_group(events, first, end);
	events_regroup(events, first);
	return 0;
}

/* Every group has the tool's events that some metric needs: so more metrics share a group. */
static void spread_tools(struct planning *p)
{
	for (int tool = 1; tool < METRIC_TOOLS; tool++) {
		bool needed = false;
		for (size_t i = 0; i < p->list.count; i++)
			needed |= is_listed(&p->list.items[i], metric_tool_name(tool));
		for (size_t i = 0; i < p->list.count && needed; i++)
			if (!is_listed(&p->list.items[i], metric_tool_name(tool)))
				vec_push(&p->list.items[i].names, ((struct planned_name){ .name = metric_tool_name(tool) }));
	}
}

/* All events of the metrics that are not grouped, each once. */
static int add_ungrouped(struct planning *p, const bool *grouped)
{
	struct planned_metric all = { .modifiers = "" };
	int status = 0;
	for (size_t i = 0; i < p->list.count; i++) {
		const struct planned_metric *m = &p->list.items[i];
		if (grouped[i] || *m->modifiers)
			continue;
		all.metric = all.metric ? all.metric : m->metric;
		for (size_t k = 0; k < m->names.count; k++)
			if (!m->names.items[k].metric && !is_listed(&all, m->names.items[k].name))
				vec_push(&all.names, m->names.items[k]);
	}
	metric_order_names(all.names.items, all.names.count);
	if (all.names.count)
		status = add_group(p, &all, false);
	for (size_t i = 0; i < p->list.count && status == 0; i++)
		if (!grouped[i])
			share(&p->list.items[i], &all);
	vec_fini(&all.names);
	return status;
}

static bool has_events(const struct planned_metric *m)
{
	for (size_t i = 0; i < m->names.count; i++)
		if (!m->names.items[i].metric && !m->names.items[i].id)
			return false;
	return true;
}

static int add_all(struct planning *p, const bool *grouped)
{
	const struct metric_options *o = &p->plan->options;
	if (!o->no_merge && add_ungrouped(p, grouped) < 0)
		return -1;
	for (size_t i = 0; i < p->list.count; i++) {
		struct planned_metric *m = &p->list.items[i];
		for (size_t k = 0; k < i && !o->no_merge && !has_events(m); k++)
			share(m, &p->list.items[k]);
		if (!has_events(m) && add_group(p, m, grouped[i]) < 0)
			return -1;
	}
	return 0;
}

/* The first event of the metric shows it. */
static void place(struct planning *p, struct planned_metric *m)
{
	m->shown_at = UINT32_MAX;
	for (uint32_t i = 0; i < p->events->list.count && m->shown_at == UINT32_MAX; i++)
		for (size_t k = 0; k < m->names.count; k++)
			if (m->names.items[k].id && m->names.items[k].id == p->events->list.items[i].terms.metric_id)
				m->shown_at = i;
}

static int finish(struct planning *p)
{
	bool *grouped = memory_zero(p->list.count + 1, sizeof *grouped);
	for (size_t i = 0; i < p->list.count; i++) {
		struct planned_metric *m = &p->list.items[i];
		if (!has_names(m)) /* without an event it would not be shown */
			vec_push(&m->names, ((struct planned_name){ .name = "duration_time" }));
		metric_order_names(m->names.items, m->names.count);
	}
	sort_by_size(p);
	if (!p->plan->options.no_merge)
		spread_tools(p);
	for (size_t i = 0; i < p->list.count; i++)
		grouped[i] = is_grouped(p, &p->list.items[i]);
	int status = add_all(p, grouped);
	free(grouped);
	for (size_t i = p->list.count; i-- > 0 && status == 0;) {
		place(p, &p->list.items[i]);
		vec_push(&p->plan->list, p->list.items[i]);
		p->list.items[i] = (struct planned_metric){ 0 };
	}
	return status;
}

int metric_plan_add(struct metric_plan *plan, struct events *events, const char *text, struct error *err)
{
	struct error unwanted;
	struct planning p = { .plan = plan, .events = events, .err = err ? err : &unwanted };
	struct metric_list all = { 0 };
	size_t before = events->list.count;
	int status = 0;
	plan->slots = slots_of(&events->pmus);
	metric_list_make(&all, &events->pmus);
	/* the last word is planned first, as perf does */
	for (size_t end = strlen(text); status == 0;) {
		size_t start = end;
		while (start > 0 && text[start - 1] != ',')
			start--;
		if (end > start)
			status = plan_word(&p, &all, arena_string(&plan->arena, text + start, end - start));
		if (start == 0)
			break;
		end = start - 1;
	}
	if (status == 0 && !text[strspn(text, ",")])
		status = error_set(p.err, ERROR_USAGE, "Cannot find metric or group `'");
	if (status == 0)
		status = check_total(&p);
	if (status == 0 && p.list.count)
		status = finish(&p);
	if (status < 0)
		events->list.count = before;
	for (size_t i = 0; i < p.list.count; i++)
		vec_fini(&p.list.items[i].names);
	vec_fini(&p.list);
	metric_list_fini(&all);
	return status;
}

int metric_plan_events(struct events *events, const struct metric *metric)
{
	struct metric_plan plan = { 0 };
	struct planning p = { .plan = &plan, .events = events, .err = &(struct error){ 0 } };
	size_t before = events->list.count;
	bool tried = events->tries;
	events->tries = true;
	int status = plan_metric(&p, metric, "", "");
	if (status == 0)
		status = add_group(&p, &p.list.items[0], false);
	events->tries = tried;
	if (status < 0)
		events->list.count = before;
	vec_fini(&p.list.items[0].names);
	vec_fini(&p.list);
	metric_plan_fini(&plan);
	return status;
}
