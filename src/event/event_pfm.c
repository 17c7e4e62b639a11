#include "event/event_pfm.h"

#include <stddef.h>
#include <string.h>

#include "base/library.h"
#include "event/pfm_library.h"

enum { PFM_ATTR_BYTES = 256, PFM_OS_PERF_EVENT = 1, PFM_KERNEL = 1 << 0, PFM_USER = 1 << 3 };

struct pfm_encoding {
	void *attr;
	char **name;
	size_t size;
	int index, cpu, flags, padding;
};

static const struct library pfm_library = {
	.soname = "libpfm.so.4", .package = "libpfm4", .purpose = "events by the names of libpfm4",
	.symbols = (const char *const[]){
		"pfm_initialize", "pfm_strerror", "pfm_get_os_event_encoding", "pfm_get_pmu_info", "pfm_get_event_next",
		"pfm_get_event_info", "pfm_get_event_attr_info", NULL,
	},
};

int pfm_open(struct pfm_functions *pfm, struct error *err)
{
	if (library_load(&pfm_library, pfm, err) < 0)
		return -1;
	int status = pfm->initialize();
	if (status != PFM_SUCCESS)
		return error_set(err, ERROR_UNSUPPORTED, "libpfm4 knows no PMU of this machine: %s", pfm->strerror(status));
	return 0;
}

int pfm_encode(const struct pfm_functions *pfm, const char *name, struct attr *attr)
{
	unsigned char bytes[PFM_ATTR_BYTES] = { 0 };
	const uint64_t flags = (uint64_t)1 << ATTR_EXCLUDE_GUEST;
	struct pfm_encoding encoding = { .attr = bytes, .size = sizeof encoding, .cpu = -1 };
	memcpy(bytes + 40, &flags, sizeof flags);
	int status = pfm->encode(name, PFM_KERNEL | PFM_USER, PFM_OS_PERF_EVENT, &encoding);
	*attr = (struct attr){ 0 };
	memcpy(&attr->type, bytes, sizeof attr->type);
	memcpy(&attr->config, bytes + 8, sizeof attr->config);
	memcpy(&attr->flags, bytes + 40, sizeof attr->flags);
	memcpy(&attr->config1, bytes + 56, sizeof attr->config1);
	memcpy(&attr->config2, bytes + 64, sizeof attr->config2);
	return status;
}

static void add_event(struct events *events, const char *name, const struct attr *attr)
{
	struct event *event = vec_add(&events->list);
	event->attr = *attr;
	struct pmu *pmu = pmus_by_type(&events->pmus, event->attr.type);
	event->pmu = pmu ? pmu->name : NULL;
	event->cpus = pmu && pmu->cpus.list.count ? &pmu->cpus : NULL;
	event->name = name;
	event->terms.set = EVENT_TERM_NAME;
	event->scale = 1;
	event->leader = (uint32_t)(events->list.count - 1);
}

static int encode(struct events *events, const struct pfm_functions *pfm, const char *name, struct error *err)
{
	struct attr attr;
	int status = pfm_encode(pfm, name, &attr);
	if (status != PFM_SUCCESS)
		return error_set(err, ERROR_USAGE, "failed to parse event %s : %s", name, pfm->strerror(status));
	add_event(events, name, &attr);
	return 0;
}

bool events_add_pfm(struct events *events, const char *name)
{
	struct pfm_functions pfm;
	if (pfm_open(&pfm, NULL) < 0 || encode(events, &pfm, name, NULL) < 0)
		return false;
	struct event *event = &events->list.items[events->list.count - 1];
	event->terms.set = 0; /* the parser names it by its text */
	/* perf refuses its other spellings of the kernel's generic events */
	if (event->attr.type == ATTR_RAW || event->attr.type > ATTR_BREAKPOINT)
		return true;
	events->list.count--;
	return false;
}

/* Parses the list; *open: a brace is open; the group begins at `leader`. */
static int parse_list(struct events *events, const struct pfm_functions *pfm, const char *text, struct error *err)
{
	bool open = false;
	size_t leader = 0;
	for (;;) {
		size_t length = strcspn(text, ",{}");
		if (length && encode(events, pfm, arena_string(&events->arena, text, length), err) < 0)
			return -1;
		if (length && open) {
			struct event *first = &events->list.items[leader];
			events->list.items[events->list.count - 1].leader = (uint32_t)leader;
			first->members++;
		}
		text += length;
		if (*text == '\0')
			return open ? error_set(err, ERROR_USAGE, "the closing brace of an event group is missing") : 0;
		if (*text == '{' && open)
			return error_set(err, ERROR_USAGE, "nested event groups not supported");
		if (*text == '}' && !open)
			return error_set(err, ERROR_USAGE, "cannot close a non-existing event group");
		leader = *text == '{' ? events->list.count : leader;
		open = *text == '{' || (*text == ',' && open);
		text++;
	}
}

int events_parse_pfm(struct events *events, const char *text, struct error *err)
{
	struct pfm_functions pfm;
	size_t before = events->list.count;
	if (pfm_open(&pfm, err) < 0)
		return -1;
	if (parse_list(events, &pfm, text, err) < 0) {
		events->list.count = before;
		return -1;
	}
	for (size_t i = before; i < events->list.count; i++)
		if (events->list.items[i].members == 1)
			events->list.items[i].members = 0;
	return 0;
}
