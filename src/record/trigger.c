#include "record/trigger.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "record/acquire/records.h"
#include "record/address_filters.h"

enum { RING_PAGES = 16, RETURN_PROBE = 1 };
/* The body of a sample: ip, pid and tid, time. */
enum { SAMPLE_BYTES = 24, TID_AT = 12, TIME_AT = 16 };

static int parse_limit(const char *text, uint64_t *limit_ns)
{
	static const struct { const char *name; double ns; } units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	char *end;
	text += strspn(text, " ");
	if (strncmp(text, "return", 6) != 0)
		return -1;
	text += 6;
	text += strspn(text, " ");
	if (*text++ != '>')
		return -1;
	double value = strtod(text, &end);
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		if (strcmp(end, units[i].name) == 0 && value * units[i].ns >= 1 && value * units[i].ns < 1e18) {
			*limit_ns = (uint64_t)(value * units[i].ns);
			return 0;
		}
	}
	return -1;
}

int trigger_parse(struct trigger_spec *spec, const char *text, struct error *err)
{
	const char *limit = strrchr(text, '%'), *end = limit ? limit : text + strlen(text);
	*spec = (struct trigger_spec){ 0 };
	if (limit && parse_limit(limit + 1, &spec->limit_ns) < 0)
		return error_set(err, ERROR_USAGE, "--trigger: the limit '%s' is not like '%%return > 2ms'", limit);
	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	const char *at = memchr(text, '@', (size_t)(end - text)), *name_end = at ? at : end;
	if (name_end == text || (at && at + 1 == end))
		return error_set(err, ERROR_USAGE, "--trigger takes SYMBOL, SYMBOL@FILE, or either with '%%return > 2ms'");
	spec->symbol = strndup(text, (size_t)(name_end - text));
	spec->file = at ? strndup(at + 1, (size_t)(end - at - 1)) : NULL;
	return 0;
}

void trigger_spec_fini(struct trigger_spec *spec)
{
	free(spec->symbol);
	free(spec->file);
	*spec = (struct trigger_spec){ 0 };
}

/* As execvp finds it. */
static bool find_program(const char *name, char path[static PATH_MAX])
{
	const char *folders = secure_getenv("PATH");
	char tried[PATH_MAX];
	if (strchr(name, '/'))
		return realpath(name, path);
	for (const char *at = folders ? folders : "/bin:/usr/bin"; at; at = *at ? at + 1 : NULL) {
		size_t len = strcspn(at, ":");
		int written = snprintf(tried, sizeof tried, "%.*s/%s", len ? (int)len : 1, len ? at : ".", name);
		if (written > 0 && (size_t)written < sizeof tried && access(tried, X_OK) == 0)
			return realpath(tried, path);
		at += len;
	}
	return false;
}

static int find_file(struct trigger *trigger, const struct trigger_spec *spec, const char *program, int pid, struct error *err)
{
	char link[64];
	const char *name = spec->file ? spec->file : program;
	snprintf(link, sizeof link, "/proc/%d/exe", pid);
	if (name ? find_program(name, trigger->file) : pid && realpath(link, trigger->file))
		return 0;
	if (!name && !pid)
		return error_set(err, ERROR_USAGE, "--trigger: name the program of the function: %s@FILE", spec->symbol);
	return error_set(err, ERROR_USAGE, "--trigger: the program %s of the function %s is not found", name ? name : link, spec->symbol);
}

static int open_probe(struct trigger *trigger, int kind, uint64_t offset, const struct target *target, struct error *err)
{
	struct probe_event *probe = &trigger->probes[kind];
	const struct pmu *pmu = pmus_named(&probe->events.pmus, "uprobe");
	if (!pmu)
		return error_set(err, ERROR_UNSUPPORTED, "--trigger: this kernel has no uprobes");
	struct event event = {
		.attr = { .type = pmu->type, .config = kind == TRIGGER_RETURN ? RETURN_PROBE : 0, .config1 = (uintptr_t)trigger->file,
			.config2 = offset, .sample_period = 1, .sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME, .wakeup_events = 1,
			.flags = 1ull << ATTR_DISABLED | 1ull << ATTR_INHERIT },
		.name = "trigger", .pmu = "uprobe", .members = 1,
	};
	vec_push(&probe->events.list, event);
	if (counters_open(&probe->counters, &probe->events, target, NULL, err) < 0)
		return -1;
	if (counters_map(&probe->counters, &probe->events, &(struct ring_sizes){ .pages = RING_PAGES }, err) < 0)
		return -1;
	counters_switch(&probe->counters, &probe->events, UINT32_MAX, true);
	return 0;
}

int trigger_open(struct trigger *trigger, const struct trigger_spec *spec, const struct target *target, const char *program, int pid,
	struct error *err)
{
	uint64_t offset;
	trigger->limit_ns = spec->limit_ns;
	trigger->open = true;
	if (find_file(trigger, spec, program, pid, err) < 0 || address_filters_function(trigger->file, spec->symbol, &offset, err) < 0)
		return -1;
	for (int kind = spec->limit_ns ? TRIGGER_RETURN : TRIGGER_ENTRY; kind >= TRIGGER_ENTRY; kind--)
		if (open_probe(trigger, kind, offset, target, err) < 0)
			return -1;
	return 0;
}

void trigger_close(struct trigger *trigger)
{
	for (int kind = 0; trigger->open && kind < TRIGGER_PROBES; kind++) {
		counters_close(&trigger->probes[kind].counters);
		events_fini(&trigger->probes[kind].events);
	}
	call_times_fini(&trigger->calls);
	str_fini(&trigger->bytes);
	vec_fini(&trigger->pending);
	trigger->open = false;
}

static void take_record(struct trigger *trigger, int kind, const struct record *record)
{
	if (record->type != RECORD_SAMPLE || record->body_len < SAMPLE_BYTES) { /* LOST, THROTTLE */
		call_times_clear(&trigger->calls);
		vec_clear(&trigger->pending);
		return;
	}
	struct probe_record taken = { load_u64(record->body + TIME_AT), load_u32(record->body + TID_AT), kind };
	vec_push(&trigger->pending, taken);
}

static void take_ring(struct trigger *trigger, int kind, struct ring *ring)
{
	struct span pieces[2];
	struct record record;
	size_t pending = ring_pending(ring, pieces);
	if (!pending)
		return;
	str_clear(&trigger->bytes);
	for (int i = 0; i < 2; i++)
		str_add(&trigger->bytes, (const char *)pieces[i].data, pieces[i].len);
	struct span records = { (const uint8_t *)trigger->bytes.text, trigger->bytes.len };
	while (records_next(&records, &record))
		take_record(trigger, kind, &record);
	ring_consume(ring, pending);
}

static void take_rings(struct trigger *trigger)
{
	for (int kind = 0; kind < TRIGGER_PROBES; kind++)
		for (size_t i = 0; i < trigger->probes[kind].counters.rings.count; i++)
			take_ring(trigger, kind, &trigger->probes[kind].counters.rings.items[i]);
}

static int by_time(const void *left, const void *right)
{
	const struct probe_record *a = left, *b = right;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->kind - b->kind;
}

/* Records of other rings that precede the newest one are there at the second reading at the latest. */
bool trigger_fired(struct trigger *trigger)
{
	uint64_t newest = 0;
	size_t done = 0;
	bool fired = false;
	take_rings(trigger);
	for (size_t i = 0; i < trigger->pending.count; i++)
		newest = trigger->pending.items[i].time > newest ? trigger->pending.items[i].time : newest;
	if (!trigger->pending.count)
		return false;
	take_rings(trigger);
	qsort(trigger->pending.items, trigger->pending.count, sizeof *trigger->pending.items, by_time);
	for (; done < trigger->pending.count && trigger->pending.items[done].time <= newest; done++) {
		const struct probe_record *record = &trigger->pending.items[done];
		if (!trigger->limit_ns) {
			fired = true;
		} else if (record->kind == TRIGGER_ENTRY) {
			call_times_enter(&trigger->calls, record->tid, record->time);
		} else {
			uint64_t took = call_times_return(&trigger->calls, record->tid, record->time);
			if (took > trigger->limit_ns) {
				trigger->took_ns = took;
				fired = true;
			}
		}
	}
	trigger->pending.count -= done;
	memmove(trigger->pending.items, trigger->pending.items + done, trigger->pending.count * sizeof *trigger->pending.items);
	return fired;
}
