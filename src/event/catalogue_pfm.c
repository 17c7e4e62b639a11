#include <inttypes.h>
#include <string.h>

#include "base/str.h"
#include "event/event_pfm.h"
#include "event/pfm_library.h"
#include "os/counter.h"

enum { PMU_NUMBERS = 4096, EVENT_COUNT_MAX = 1 << 20 };

/* One event of the library with its PMU. */
struct adding {
	struct catalogue *catalogue;
	const struct pfm_functions *pfm;
	const struct pfm_pmu_info *pmu;
	const char *topic;
};

static const char *source_of(const struct pfm_attribute_info *info)
{
	return info->source == 1 ? "PMU" : info->source == 2 ? "perf_event" : "???";
}

static bool is_countable(const struct pfm_functions *pfm, const char *name)
{
	struct attr attr;
	if (pfm_encode(pfm, name, &attr) != PFM_SUCCESS)
		return false;
	for (int i = 0; i < 2; i++) {
		int fd = counter_open(&attr, 0, -1, -1, 0);
		if (fd >= 0) {
			counter_close(fd);
			return true;
		}
		attr.flags |= (uint64_t)1 << ATTR_EXCLUDE_KERNEL;
	}
	return false;
}

static const char *keep(struct adding *a, const char *text)
{
	return text ? arena_string(&a->catalogue->arena, text, strlen(text)) : NULL;
}

static void add(struct adding *a, const char *name, const char *same_as, const char *description, const char *encoding)
{
	struct catalogue_event *event = vec_add(&a->catalogue->list);
	event->kind = CATALOGUE_PMU;
	event->name = keep(a, name);
	event->alias = keep(a, same_as);
	event->pmu = keep(a, a->pmu->name);
	event->topic = a->topic;
	event->type_text = "PFM event";
	event->description = keep(a, description);
	event->encoding = keep(a, encoding);
}

static bool attribute(const struct adding *a, const struct pfm_event_info *event, int index, struct pfm_attribute_info *info)
{
	*info = (struct pfm_attribute_info){ .size = sizeof *info };
	return a->pfm->attribute_info(event->index, index, PFM_OS_PERF_EVENT_EXT, info) == PFM_SUCCESS;
}

static void add_alone(struct adding *a, const struct pfm_event_info *event)
{
	CLEANUP_STR struct str text = { 0 }, name = { 0 };
	struct pfm_attribute_info info;
	str_printf(&text, "Code: 0x%" PRIx64 "\n", event->code);
	for (int i = 0; i < event->attribute_count; i++) {
		if (!attribute(a, event, i, &info) || info.type == PFM_ATTRIBUTE_UMASK)
			continue;
		bool number = info.type == PFM_ATTRIBUTE_INTEGER, modifier = number || info.type == PFM_ATTRIBUTE_BOOL;
		str_printf(&text, " %s: %s: [%s] : %s%s\n", modifier ? "Modif" : "Attr", source_of(&info), info.name, info.description,
			number ? " (integer)" : modifier ? " (boolean)" : "");
	}
	str_printf(&name, "%s::%s", a->pmu->name, event->name);
	if (is_countable(a->pfm, name.text))
		add(a, name.text, event->same_as, event->description, text.text);
}

static void add_masks(struct adding *a, const struct pfm_event_info *event)
{
	struct pfm_attribute_info info;
	for (int i = 0; i < event->attribute_count; i++) {
		CLEANUP_STR struct str text = { 0 }, name = { 0 };
		if (!attribute(a, event, i, &info) || info.type != PFM_ATTRIBUTE_UMASK)
			continue;
		str_printf(&text, "Umask: 0x%02" PRIx64 " : %s: %s%s", info.code, source_of(&info), info.flags & 1 ? "[default] " : "",
			info.flags & 2 ? "[precise] " : "");
		str_printf(&name, "%s::%s:%s", a->pmu->name, event->name, info.name);
		if (is_countable(a->pfm, name.text))
			add(a, name.text, NULL, info.description, text.text);
	}
}

static void add_pmu(struct adding *a)
{
	CLEANUP_STR struct str topic = { 0 };
	str_printf(&topic, "pfm %s", a->pmu->name);
	a->topic = arena_string(&a->catalogue->arena, topic.text, topic.len);
	for (int i = a->pmu->first_event, n = 0; i != -1 && n < EVENT_COUNT_MAX; i = a->pfm->event_next(i), n++) {
		struct pfm_event_info event = { .size = sizeof event };
		if (a->pfm->event_info(i, PFM_OS_PERF_EVENT_EXT, &event) != PFM_SUCCESS)
			continue;
		add_alone(a, &event);
		add_masks(a, &event);
	}
}

int catalogue_add_pfm(struct catalogue *catalogue, struct error *err)
{
	struct pfm_functions pfm;
	if (pfm_open(&pfm, err) < 0)
		return -1;
	for (int i = 0; i < PMU_NUMBERS; i++) {
		struct pfm_pmu_info pmu = { .size = sizeof pmu };
		struct adding a = { .catalogue = catalogue, .pfm = &pfm, .pmu = &pmu };
		/* the events of "perf" are the kernel's generic ones */
		if (pfm.pmu_info(i, &pmu) == PFM_SUCCESS && pmu.flags & 1 && strcmp(pmu.name, "perf") != 0)
			add_pmu(&a);
	}
	return 0;
}
