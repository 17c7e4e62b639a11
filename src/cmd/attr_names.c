#include "cmd/attr_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/str.h"
#include "event/pmu.h"
#include "tracepoint/tracepoint.h"

struct attr_names_live {
	struct pmus pmus;
	bool tracepoints_tried;
	struct tracepoints *tracepoints; /* NULL: tracefs cannot be read */
	struct str event;                /* the last returned name */
};

static struct pmu *pmu_of(struct attr_names_live *live, uint32_t type)
{
	if (!live->pmus.read)
		pmus_read(&live->pmus);
	return pmus_by_type(&live->pmus, type);
}

static const char *pmu_name(void *context, uint32_t type)
{
	const struct pmu *pmu = pmu_of(context, type);
	return pmu ? pmu->name : NULL;
}

/* "event=0x3c,umask=1" → config; false if a value is not a number, or the PMU has no format for a term. */
static bool terms_config(const struct pmu *pmu, const char *terms, uint64_t *config)
{
	struct attr attr = { 0 };
	while (*terms) {
		size_t length = strcspn(terms, ",\n"), name_length = strcspn(terms, "=,\n");
		const struct pmu_format *format = pmu_format(pmu, terms, name_length);
		uint64_t value = 1;
		char *end = NULL;
		if (!format)
			return false;
		if (name_length < length) {
			value = strtoull(terms + name_length + 1, &end, 0);
			if (end != terms + length)
				return false;
		}
		if (!pmu_format_apply(format, value, &attr))
			return false;
		terms += length + (terms[length] != '\0');
	}
	*config = attr.config;
	return true;
}

static const char *pmu_event_name(struct attr_names_live *live, uint32_t type, uint64_t config)
{
	struct pmu *pmu = pmu_of(live, type);
	if (!pmu)
		return NULL;
	pmu_load(&live->pmus, pmu);
	for (size_t i = 0; i < pmu->events.count; i++) {
		uint64_t its;
		if (terms_config(pmu, pmu->events.items[i].terms, &its) && its == config)
			return pmu->events.items[i].name;
	}
	return NULL;
}

static const char *tracepoint_name(struct attr_names_live *live, uint64_t id)
{
	const char *system, *name;
	if (!live->tracepoints_tried)
		tracepoints_open_live(&live->tracepoints, NULL);
	live->tracepoints_tried = true;
	if (!live->tracepoints || !tracepoints_load(live->tracepoints, id) ||
	    !tracepoints_name(live->tracepoints, id, &system, &name))
		return NULL;
	str_clear(&live->event);
	str_printf(&live->event, "%s:%s", system, name);
	return live->event.text;
}

static const char *event_name(void *context, uint32_t type, uint64_t config)
{
	const char *name = pmu_event_name(context, type, config);
	return name || type != ATTR_TRACEPOINT ? name : tracepoint_name(context, config);
}

void attr_names_open(struct attr_names *names)
{
	struct attr_names_live *live = memory_zero(1, sizeof *live);
	*names = (struct attr_names){ .context = live, .pmu = pmu_name, .event = event_name };
}

void attr_names_close(struct attr_names *names)
{
	struct attr_names_live *live = names->context;
	if (!live)
		return;
	pmus_fini(&live->pmus);
	tracepoints_close(live->tracepoints);
	str_fini(&live->event);
	free(live);
	*names = (struct attr_names){ 0 };
}
