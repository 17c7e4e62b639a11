#include "cmd/probe_cache.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "os/checked.h"

enum { FILE_MODE = 0644, STATIC_MAX = 1 << 14 };

static bool program_find(struct cached_program *p, int cache, const struct cache_entry *entry, struct error *err)
{
	char folder[PATH_MAX];
	*p = (struct cached_program){ .cache = cache, .entry = entry };
	if (!cache_find(cache, entry->id, entry->id_len, folder, err))
		return false;
	snprintf(p->path, sizeof p->path, "%s/probes", folder);
	return true;
}

/* An absent file has no probes. */
static void program_read(struct cached_program *p)
{
	enum { PROBES_MAX = 1 << 20 };
	char buffer[1 << 12];
	CLEANUP_STR struct str text = { 0 };
	CLEANUP_FD int fd = checked_open_file(p->cache, p->path, NULL);
	for (ssize_t n; fd >= 0 && text.len < PROBES_MAX && (n = read(fd, buffer, sizeof buffer)) > 0;)
		str_add(&text, buffer, (size_t)n);
	cached_probes_read(&p->probes, str_text(&text));
}

int probe_cache_write(const struct cached_program *p, struct error *err)
{
	CLEANUP_STR struct str text = { 0 };
	struct fresh_file file = { 0 };
	cached_probes_text(&p->probes, &text);
	if (!text.len)
		return checked_remove(p->cache, p->path, err);
	if (fresh_open(&file, p->cache, p->path, FILE_MODE, err) < 0)
		return -1;
	int result = file_write(file.fd, text.text, text.len) ? fresh_keep(&file, err) : error_system(err, "cannot write %s", p->path);
	fresh_drop(&file);
	return result;
}

int probe_cache_each(struct cli *cli, enum cache_use use, cached_program_fn *act, void *context, struct error *err)
{
	struct cache_list list = { 0 };
	CLEANUP_FD int cache = cli->buildid_dir ? cache_open(cli->buildid_dir, use, err) : -1;
	int result = cache < 0 ? 0 : cache_list_having(cache, "probes", &list, err);
	for (size_t i = 0; i < list.entries.count && result == 0; i++) {
		struct cached_program program;
		if (!program_find(&program, cache, &list.entries.items[i], err))
			continue;
		program_read(&program);
		result = act(context, &program, err);
		cached_probes_fini(&program.probes);
	}
	cache_list_fini(&list);
	return result;
}

static int open_program(struct cached_program *p, int cache, struct cache_entry *entry, const struct cached_file *file, struct error *err)
{
	if (!file->id_len)
		return error_set(err, ERROR_USAGE, "%s has no build-id, so that its probes cannot be cached", file->path);
	*entry = (struct cache_entry){ .path = file->path, .id_len = file->id_len };
	memcpy(entry->id, file->id, sizeof entry->id);
	if (cache_add(cache, file, err) < 0 || !program_find(p, cache, entry, err))
		return -1;
	program_read(p);
	return 0;
}

static void store_events(struct cached_probes *probes, const char *definition, const struct probe_events *events)
{
	CLEANUP_STR struct str line = { 0 }, name = { 0 };
	struct cached_probe *probe = definition ? cached_probes_set(probes, definition, false) : NULL;
	for (size_t i = 0; i < events->list.count; i++) {
		const struct probe_event *event = &events->list.items[i];
		const char *last = name.len ? name.text : NULL;
		if (!definition) { /* static probe points: the places of a name follow one another, or are separate */
			CLEANUP_STR struct str next = { 0 };
			str_printf(&next, "%s:%s=%s", event->group, event->event, event->event);
			if (!last || strcmp(last, next.text) != 0)
				probe = cached_probes_set(probes, next.text, true);
			str_clear(&name);
			str_puts(&name, next.text);
		}
		str_clear(&line);
		probe_event_text(event, &line);
		cached_probes_add_line(probes, probe, line.text);
	}
}

static int store_for(struct cli *cli, const struct cached_file *file, const char *definition, const struct probe_events *events,
	struct error *err)
{
	struct cached_program program = { 0 };
	struct cache_entry entry;
	if (!cli->buildid_dir)
		return error_set(err, ERROR_USAGE, "there is no build-id cache without a home");
	CLEANUP_FD int cache = cache_open(cli->buildid_dir, CACHE_MAKE, err);
	int result = cache < 0 ? -1 : open_program(&program, cache, &entry, file, err);
	if (result == 0) {
		store_events(&program.probes, definition, events);
		result = probe_cache_write(&program, err);
	}
	cached_probes_fini(&program.probes);
	return result;
}

int probe_cache_store(struct cli *cli, const struct probe_target *target, const char *definition, const struct probe_events *events,
	struct error *err)
{
	struct cached_file file = { .path = target->path, .root = -1 };
	file.id_len = elf_build_id(&target->image.elf, file.id);
	return store_for(cli, &file, definition, events, err);
}

int probe_cache_store_kernel(struct cli *cli, const char *definition, const struct probe_events *events, struct error *err)
{
	struct cached_file file = { .kind = CACHED_KALLSYMS, .path = PROBE_CACHE_KERNEL, .root = -1 };
	file.id_len = image_kernel_build_id("/sys/kernel/notes", file.id);
	return store_for(cli, &file, definition, events, err);
}

int probe_cache_static_points(struct cli *cli, const char *path, int root, struct error *err)
{
	static const char all[] = "%*:*";
	struct probe_target target = { 0 };
	struct probe_events events = { 0 };
	struct probe_spec spec = { 0 };
	CLEANUP_STR struct str remarks = { 0 };
	const struct probe_search search = { .remarks = &remarks, .max = STATIC_MAX };
	const struct probe_target_options options = { .buildid_dir = "" };
	if (root >= 0 || probe_target_open(&target, path, &options, err) < 0)
		return 0;
	int result = 0;
	if (elf_section(&target.image.elf, ".note.stapsdt") && probe_spec_parse(&spec, all, err) == 0 &&
	    probe_convert(&target, &spec, &search, &events, err) == 0)
		result = probe_cache_store(cli, &target, NULL, &events, err);
	probe_events_fini(&events);
	probe_spec_fini(&spec);
	probe_target_close(&target);
	return result;
}
