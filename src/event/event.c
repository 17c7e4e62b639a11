#include "event/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event/event_names.h"
#include "os/cgroup.h"

void events_fini(struct events *events)
{
	for (size_t i = 0; i < events->list.count; i++)
		if (events->list.items[i].cgroup)
			close(events->list.items[i].cgroup_fd);
	vec_fini(&events->list);
	pmus_fini(&events->pmus);
	arena_fini(&events->arena);
}

int event_error_at(struct event_error *err, size_t at, const char *what)
{
	err->at = at;
	snprintf(err->what, sizeof err->what, "%s", what);
	err->help[0] = '\0';
	return -1;
}

int event_set_cgroup(struct events *events, size_t index, const char *name, struct error *err)
{
	struct event *event = &events->list.items[index];
	int fd = cgroup_open(name, err);
	if (fd < 0)
		return -1;
	if (event->cgroup)
		close(event->cgroup_fd);
	event->cgroup = arena_string(&events->arena, name, strlen(name));
	event->cgroup_fd = fd;
	return 0;
}

uint32_t events_add_follower(struct events *events)
{
	if (events_parse(events, "dummy:u", NULL) < 0)
		return 0;
	uint32_t index = (uint32_t)(events->list.count - 1);
	events->list.items[index].follower = events->list.items[index].tracks = events->list.items[index].bare = true;
	return index;
}

void events_name_cores(struct events *events)
{
	struct pmus *pmus = &events->pmus;
	size_t cores = pmus_core_count(pmus);
	for (size_t i = 0; cores > 1 && i < events->list.count; i++) {
		struct event *event = &events->list.items[i];
		struct str name = { 0 };
		size_t core = 0;
		while (core < cores && (!event->pmu || strcmp(pmus->list.items[core]->name, event->pmu) != 0))
			core++;
		if (core == cores || strchr(event->name, '/'))
			continue;
		size_t length = strcspn(event->name, ":");
		str_printf(&name, "%s/%.*s/%s", event->pmu, (int)length, event->name, event->name + length + (event->name[length] == ':'));
		event->name = arena_string(&events->arena, name.text, name.len);
		str_fini(&name);
	}
}

void event_error_print(const struct event_error *err, struct writer *out)
{
	enum { INDENT_MAX = 13, WIDTH_MAX = 76 };
	static const char label[] = "event syntax error: ";
	size_t length = strlen(err->text), cut = err->at > INDENT_MAX ? err->at - INDENT_MAX : 0;
	char *shown = memory_string(err->text + (cut < length ? cut : length));
	text_make_printable(shown);
	if (cut && strlen(shown) >= 2)
		shown[0] = shown[1] = '.';
	if (strlen(shown) > WIDTH_MAX)
		memcpy(shown + WIDTH_MAX - 2, "..", 3);
	writer_printf(out, "%s'%s'\n%*s\\___ %s\n", label, shown, (int)(sizeof label + err->at - cut), "", err->what);
	if (err->help[0])
		writer_printf(out, "\n%s\n", err->help);
	free(shown);
}

void event_modifiers_of(const struct attr *attr, struct str *out)
{
	bool sides = attr_flag(attr, ATTR_EXCLUDE_KERNEL) || attr_flag(attr, ATTR_EXCLUDE_USER) || attr_flag(attr, ATTR_EXCLUDE_HV);
	unsigned precise = attr_precise_ip(attr);
	bool guest_expected = sides || precise;
	size_t before = out->len;
	str_putc(out, ':');
	if (sides && !attr_flag(attr, ATTR_EXCLUDE_KERNEL))
		str_putc(out, 'k');
	if (sides && !attr_flag(attr, ATTR_EXCLUDE_USER))
		str_putc(out, 'u');
	if (sides && !attr_flag(attr, ATTR_EXCLUDE_HV))
		str_putc(out, 'h');
	for (unsigned i = 0; i < precise; i++)
		str_putc(out, 'p');
	if (attr_flag(attr, ATTR_EXCLUDE_HOST) || attr_flag(attr, ATTR_EXCLUDE_GUEST) == guest_expected) {
		if (!attr_flag(attr, ATTR_EXCLUDE_HOST))
			str_putc(out, 'H');
		if (!attr_flag(attr, ATTR_EXCLUDE_GUEST))
			str_putc(out, 'G');
	}
	if (out->len == before + 1) {
		out->len = before;
		out->text[before] = '\0';
	}
}

void event_name_of(const struct attr *attr, struct str *out)
{
	const struct event_symbol *symbol = event_symbol_of(attr->type, attr->config & 0xffffffff);
	char cache[64];
	if (symbol) /* like perf, shows cpu-cycles as "cycles" */
		str_puts(out, symbol->type == ATTR_HARDWARE && symbol->alias && symbol->config == 0 ? symbol->alias : symbol->name);
	else if (attr->type == ATTR_HW_CACHE && event_cache_name(attr->config & 0xffffffff, cache, sizeof cache))
		str_puts(out, cache);
	else if (attr->type == ATTR_RAW)
		str_printf(out, "raw 0x%llx", (unsigned long long)attr->config);
	else
		str_printf(out, "unknown attr type: %u", attr->type);
	event_modifiers_of(attr, out);
}
