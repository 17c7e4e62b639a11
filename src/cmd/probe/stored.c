#include "cmd/probe/stored.h"

#include <string.h>

#include "cmd/probe_cache.h"
#include "image/image.h"
#include "image/search.h"

struct selection {
	struct cli *cli;
	const struct probe_options *options;
	size_t count;
};

static bool is_selected(const struct selection *s, const struct cached_probe *probe)
{
	CLEANUP_STR struct str name = { 0 };
	cached_probe_name(probe, &name);
	return probe_filter_passes(s->options->filter, str_text(&name));
}

static int list_program(void *context, struct cached_program *p, struct error *err)
{
	struct selection *s = context;
	char hex[2 * ELF_BUILD_ID_MAX + 1];
	bool headed = false;
	(void)err;
	for (size_t i = 0; i < p->probes.list.count; i++) {
		const struct cached_probe *probe = &p->probes.list.items[i];
		if (!is_selected(s, probe))
			continue;
		build_id_hex(p->entry->id, p->entry->id_len, hex);
		if (!headed) {
			writer_name(s->cli->out, p->entry->path, strlen(p->entry->path));
			writer_printf(s->cli->out, " (%s):\n", hex);
		}
		headed = true;
		writer_name(s->cli->out, probe->definition, strlen(probe->definition));
		writer_puts(s->cli->out, "\n");
	}
	return 0;
}

int probe_cached_list(struct cli *cli, const struct probe_options *options)
{
	struct selection s = { .cli = cli, .options = options };
	struct error err = { 0 };
	return probe_cache_each(cli, CACHE_READ, list_program, &s, &err) < 0 ? probe_fail(cli, &err, "Failed to show event list.") : 0;
}

static int clean_program(void *context, struct cached_program *p, struct error *err)
{
	struct selection *s = context;
	size_t before = s->count;
	for (size_t i = 0; i < p->probes.list.count;) {
		CLEANUP_STR struct str line = { 0 };
		if (!is_selected(s, &p->probes.list.items[i])) {
			i++;
			continue;
		}
		str_printf(&line, "Removed cached event: %s", p->probes.list.items[i].definition);
		probe_say(s->cli, s->options, line.text);
		cached_probes_remove(&p->probes, i);
		s->count++;
	}
	return s->count > before && !s->options->dry_run ? probe_cache_write(p, err) : 0;
}

int probe_cached_delete(struct cli *cli, const struct probe_options *options)
{
	struct selection s = { .cli = cli, .options = options };
	struct error err = { 0 };
	int result = probe_cache_each(cli, CACHE_CHANGE, clean_program, &s, &err);
	if (result == 0 && !s.count)
		result = error_set(&err, ERROR_USAGE, "\"%s\" does not hit any event.", options->filter_text ? options->filter_text : "*");
	return result < 0 ? probe_fail(cli, &err, "Failed to delete events.") : 0;
}

struct query {
	const struct probe_spec *spec;
	const char *path;             /* NULL: of any program */
	struct probe_events *events;
};

/* The program, or the kernel, may have been replaced since. */
static bool is_current(const struct cache_entry *entry)
{
	struct image image;
	uint8_t id[ELF_BUILD_ID_MAX];
	uint8_t len;
	if (!strcmp(entry->path, PROBE_CACHE_KERNEL)) {
		len = image_kernel_build_id("/sys/kernel/notes", id);
	} else {
		if (image_open(&image, -1, entry->path, NULL, NULL) < 0)
			return false;
		len = elf_build_id(&image.elf, id);
		image_close(&image);
	}
	return len == entry->id_len && !memcmp(id, entry->id, len);
}

static bool is_wanted(const struct query *q, const struct cached_program *p, const struct probe_event *event)
{
	const struct probe_spec *spec = q->spec;
	bool place = event->user ? !strcmp(event->path, p->entry->path) : !event->path && !strcmp(p->entry->path, PROBE_CACHE_KERNEL);
	return place && (!spec->group || probe_glob(spec->group, event->group)) && probe_glob(spec->event, event->event);
}

static int find_in_program(void *context, struct cached_program *p, struct error *err)
{
	struct query *q = context;
	bool checked = false;
	(void)err;
	if (q->path && strcmp(q->path, p->entry->path) != 0)
		return 0;
	for (size_t i = 0; i < p->probes.list.count; i++) {
		const struct cached_probe *probe = &p->probes.list.items[i];
		for (size_t k = 0; k < probe->lines.count; k++) {
			struct probe_event event;
			bool found = probe_event_read(&event, probe->lines.items[k], &q->events->arena) && is_wanted(q, p, &event);
			if (found && !checked && !is_current(p->entry)) {
				probe_event_fini(&event);
				return 0;
			}
			if (!found) {
				probe_event_fini(&event);
				continue;
			}
			checked = true;
			event.realname = event.event;
			for (size_t n = 0; n < event.fetches.count; n++)
				if (event.fetches.items[n].name == event.fetches.items[n].value)
					event.fetches.items[n].name = NULL;
			vec_push(&q->events->list, event);
		}
	}
	return 0;
}

int probe_cached_find(struct cli *cli, const struct probe_spec *spec, const char *path, struct probe_events *events, struct error *err)
{
	struct query q = { .spec = spec, .path = path, .events = events };
	if (probe_cache_each(cli, CACHE_READ, find_in_program, &q, err) < 0)
		return -1;
	if (events->list.count)
		return 0;
	error_set(err, ERROR_USAGE, "the build-id cache has no probe %s%s%s", spec->group ? spec->group : "", spec->group ? ":" : "",
		spec->event);
	return error_hint(err, "'perf buildid-cache --add PROGRAM' caches the static probe points of a program; -x names a program directly");
}
