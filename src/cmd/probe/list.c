#include <stdlib.h>
#include <string.h>

#include "cmd/probe/probe_options.h"
#include "os/file.h"
#include "os/tracefs.h"
#include "probe/describe.h"

static const char *const files[] = { "kprobe_events", "uprobe_events" };

/* The lines of a file of probes, sorted as perf sorts them. */
static int read_lines(const char *file, struct names *lines, struct error *err)
{
	CLEANUP_STR struct str text = { 0 };
	if (tracefs_read(file, &text, err) < 0)
		return -1;
	for (char *at = text.text, *end; at && *at; at = end) {
		size_t len = strcspn(at, "\n");
		end = at + len + (at[len] == '\n');
		if (len)
			vec_push(&lines->list, arena_string(&lines->arena, at, len));
	}
	names_sort(lines);
	return 0;
}

static bool is_wanted(const struct probe_options *options, const struct probe_event *event)
{
	CLEANUP_STR struct str name = { 0 };
	str_printf(&name, "%s:%s", event->group, event->event);
	return probe_filter_passes(options->filter, event->event) || probe_filter_passes(options->filter, name.text);
}

struct listing {
	struct cli *cli;
	const struct probe_options *options;
	struct probe_target target;
	char *path;                   /* of the target; NULL: none is open */
	bool opened;
};

/* Events of one program follow each other mostly: its files are opened once for them. */
static struct probe_target *target_of(struct listing *l, const struct probe_event *event)
{
	struct error ignored;
	if (!event->user)
		return NULL;
	if (!l->path || strcmp(l->path, event->path) != 0) {
		probe_target_close(&l->target);
		free(l->path);
		l->path = memory_string(event->path);
		l->opened = probe_open_target(l->cli, l->options, event->path, true, &l->target, &ignored) == 0;
	}
	return l->opened ? &l->target : NULL;
}

static void list_event(struct listing *l, const struct probe_event *event)
{
	CLEANUP_STR struct str line = { 0 }, name = { 0 };
	str_printf(&name, "%s:%s", event->group, event->event);
	str_printf(&line, "  %-20s (on ", name.text);
	probe_describe(target_of(l, event), event, &line);
	if (event->path)
		str_printf(&line, " in %s", event->path);
	for (size_t i = 0; i < event->fetches.count; i++)
		str_printf(&line, "%s %s", i ? "" : " with", event->fetches.items[i].name);
	str_puts(&line, ")");
	writer_name(l->cli->out, line.text, line.len);
	writer_puts(l->cli->out, "\n");
}

int probe_list(struct cli *cli, const struct probe_options *options)
{
	struct listing listing = { .cli = cli, .options = options };
	struct error err = { 0 };
	struct arena arena = { 0 };
	unsigned failed = 0;
	cli_pager(cli, &(const struct command){ .name = "probe" });
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		CLEANUP_NAMES struct names lines = { 0 };
		failed += read_lines(files[i], &lines, &err) < 0;
		for (size_t k = 0; k < lines.list.count; k++) {
			struct probe_event event;
			if (probe_event_read(&event, lines.list.items[k], &arena) && is_wanted(options, &event))
				list_event(&listing, &event);
			probe_event_fini(&event);
		}
	}
	arena_fini(&arena);
	probe_target_close(&listing.target);
	free(listing.path);
	return failed == sizeof files / sizeof *files ? probe_fail(cli, &err, "Failed to show event list.") : 0;
}

/* Removes one event with all its places. Only events whose names match were chosen: what others have made stays. */
static int delete_event(const struct cli *cli, const struct probe_options *options, int fd, const struct probe_event *event,
	struct error *err)
{
	CLEANUP_STR struct str line = { 0 };
	str_printf(&line, "Removed event: %s:%s", event->group, event->event);
	probe_say(cli, options, line.text);
	str_clear(&line);
	str_printf(&line, "-:%s/%s", event->group, event->event);
	return options->dry_run ? 0 : tracefs_append(fd, line.text, err);
}

static int delete_from(const struct cli *cli, const struct probe_options *options, const char *file, size_t *count, struct error *err)
{
	CLEANUP_NAMES struct names lines = { 0 };
	struct strtab done = { 0 };
	struct arena arena = { 0 };
	CLEANUP_FD int fd = -1;
	int result = read_lines(file, &lines, err);
	for (size_t k = 0; k < lines.list.count && result == 0; k++) {
		struct probe_event event;
		bool wanted = probe_event_read(&event, lines.list.items[k], &arena) && is_wanted(options, &event);
		CLEANUP_STR struct str name = { 0 };
		if (wanted) {
			str_printf(&name, "%s:%s", event.group, event.event);
			wanted = strtab_find(&done, name.text, name.len) == UINT32_MAX;
			strtab_add(&done, name.text, name.len);
		}
		if (wanted && fd < 0 && !options->dry_run) {
			fd = tracefs_open_append(file, err);
			result = fd < 0 ? -1 : 0;
		}
		if (wanted && result == 0) {
			result = delete_event(cli, options, fd, &event, err);
			++*count;
		}
		probe_event_fini(&event);
	}
	strtab_fini(&done);
	arena_fini(&arena);
	return result;
}

int probe_delete(struct cli *cli, const struct probe_options *options)
{
	struct error err = { 0 };
	size_t count = 0;
	unsigned failed = 0;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		struct error problem = { 0 };
		size_t before = count;
		if (delete_from(cli, options, files[i], &count, &problem) == 0)
			continue;
		failed++;
		err = problem;
		if (count > before) /* it matched, and the kernel refused */
			return probe_fail(cli, &err, "Failed to delete events.");
	}
	if (failed == sizeof files / sizeof *files)
		return probe_fail(cli, &err, "Failed to delete events.");
	if (count)
		return 0;
	error_set(&err, ERROR_USAGE, "\"%s\" does not hit any event.", options->filter_text ? options->filter_text : "*");
	return probe_fail(cli, &err, "Failed to delete events.");
}
