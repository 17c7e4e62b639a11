#include "data/evsel_name.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/str.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

static const char *const hardware_words[] = {
	"cycles", "instructions", "cache-references", "cache-misses", "branches", "branch-misses", "bus-cycles",
	"stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles",
};

static const char *const software_words[] = {
	"cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations", "minor-faults", "major-faults",
	"alignment-faults", "emulation-faults", "dummy",
};

enum { OP_LOAD = 1, OP_STORE = 2, OP_PREFETCH = 4 };

static const struct {
	const char *word;
	unsigned ops; /* bits of the supported operations */
} cache_words[] = {
	{ "L1-dcache", OP_LOAD | OP_STORE | OP_PREFETCH }, { "L1-icache", OP_LOAD | OP_PREFETCH },
	{ "LLC", OP_LOAD | OP_STORE | OP_PREFETCH }, { "dTLB", OP_LOAD | OP_STORE | OP_PREFETCH }, { "iTLB", OP_LOAD },
	{ "branch", OP_LOAD }, { "node", OP_LOAD | OP_STORE | OP_PREFETCH },
};

static const struct {
	const char *all, *missing;
} cache_ops[] = { { "loads", "load-misses" }, { "stores", "store-misses" }, { "prefetches", "prefetch-misses" } };

struct name {
	char *text;
	size_t len, size;
};

__attribute__((format(printf, 2, 3))) static void name_add(struct name *name, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int n = vsnprintf(name->text + name->len, name->size - name->len, format, args);
	va_end(args);
	if (n > 0)
		name->len = (size_t)n < name->size - name->len ? name->len + (size_t)n : name->size - 1;
}

/* Appends ":ukhpppHG": the modes, the precision, host or guest; only those that differ from the default. */
static void name_add_modifiers(struct name *name, const struct attr *attr)
{
	char text[16], *p = text;
	bool special = false;
	bool kernel = attr_flag(attr, ATTR_EXCLUDE_KERNEL), user = attr_flag(attr, ATTR_EXCLUDE_USER);
	bool hypervisor = attr_flag(attr, ATTR_EXCLUDE_HV);
	if (kernel || user || hypervisor) {
		if (!kernel)
			*p++ = 'k';
		if (!user)
			*p++ = 'u';
		if (!hypervisor)
			*p++ = 'h';
		special = true;
	}
	for (unsigned i = 0; i < attr_precise_ip(attr); i++) {
		*p++ = 'p';
		special = true;
	}
	bool host = attr_flag(attr, ATTR_EXCLUDE_HOST), guest = attr_flag(attr, ATTR_EXCLUDE_GUEST);
	if (host || guest == special) {
		if (!host)
			*p++ = 'H';
		if (!guest)
			*p++ = 'G';
	}
	*p = '\0';
	if (p > text)
		name_add(name, ":%s", text);
}

static void name_add_cache(struct name *name, uint64_t config)
{
	unsigned cache = config & 0xff, op = config >> 8 & 0xff, result = config >> 16 & 0xff;
	if (cache >= COUNT(cache_words))
		name_add(name, "unknown-ext-hardware-cache-type");
	else if (op >= COUNT(cache_ops))
		name_add(name, "unknown-ext-hardware-cache-op");
	else if (result > 1)
		name_add(name, "unknown-ext-hardware-cache-result");
	else if (!(cache_words[cache].ops >> op & 1))
		name_add(name, "invalid-cache");
	else
		name_add(name, "%s-%s", cache_words[cache].word, result ? cache_ops[op].missing : cache_ops[op].all);
}

static void name_add_hardware(struct name *name, uint64_t config)
{
	uint32_t event = (uint32_t)config;
	const char *word = event < COUNT(hardware_words) ? hardware_words[event] : "unknown-hardware";
	/* The upper half selects one of several core PMUs. */
	name_add(name, config >> 32 ? "cpu/%s/" : "%s", word);
}

const char *attr_name(const struct attr *attr, char *buffer, size_t size)
{
	struct name name = { .text = buffer, .size = size };
	switch (attr->type) {
	case ATTR_HARDWARE:
		name_add_hardware(&name, attr->config);
		break;
	case ATTR_SOFTWARE:
		name_add(&name, "%s", attr->config < COUNT(software_words) ? software_words[attr->config] : "unknown-software");
		break;
	case ATTR_TRACEPOINT:
		name_add(&name, "unknown tracepoint");
		return buffer;
	case ATTR_HW_CACHE:
		name_add_cache(&name, attr->config);
		break;
	case ATTR_RAW:
		name_add(&name, "raw 0x%" PRIx64, attr->config);
		break;
	case ATTR_BREAKPOINT:
		name_add(&name, "mem:0x%" PRIx64 ":%s%s%s", attr->config1, attr->bp_type & 1 ? "r" : "", attr->bp_type & 2 ? "w" : "",
			attr->bp_type & 4 ? "x" : "");
		break;
	default:
		name_add(&name, "unknown attr type: %d", (int)attr->type);
		return buffer;
	}
	name_add_modifiers(&name, attr);
	return buffer;
}

const char *evsel_name(const struct evsel *evsel, char *buffer, size_t size)
{
	return evsel->name ? evsel->name : attr_name(&evsel->attr, buffer, size);
}

void evlist_name_tracepoints(struct evlist *evlist, size_t first,
	bool (*lookup)(const void *context, uint64_t id, const char **system, const char **name), const void *context)
{
	for (size_t i = first; i < evlist->events.count; i++) {
		struct evsel *evsel = &evlist->events.items[i];
		const char *system, *event;
		if (evsel->name || evsel->attr.type != ATTR_TRACEPOINT || !lookup(context, evsel->attr.config, &system, &event))
			continue;
		CLEANUP_STR struct str text = { 0 };
		str_printf(&text, "%s:%s", system, event);
		evsel->name = text_one_line(&evlist->arena, text.text, text.len);
	}
}
