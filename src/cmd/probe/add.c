#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/probe/stored.h"
#include "cmd/probe_cache.h"
#include "os/file.h"
#include "os/tracefs.h"
#include "probe/kernel_types.h"

/* A definition with the events made of it. */
struct addition {
	struct probe_spec spec;
	struct probe_events events;
	const struct probe_request *request;
};

struct additions {
	VEC(struct addition) list;
	struct probe_target target;   /* of the last definition */
	const char *open;             /* its path as written */
	bool is_open, user;
};

static void additions_fini(struct additions *all)
{
	for (size_t i = 0; i < all->list.count; i++) {
		probe_spec_fini(&all->list.items[i].spec);
		probe_events_fini(&all->list.items[i].events);
	}
	vec_fini(&all->list);
	probe_target_close(&all->target);
}

/* Definitions of one file share its target. */
static int open_for(struct cli *cli, const struct probe_options *options, struct additions *all, const char *path, bool user,
	struct error *err)
{
	if (all->is_open && all->user == user && (all->open == path || (path && all->open && !strcmp(all->open, path))))
		return 0;
	if (all->is_open)
		probe_target_close(&all->target);
	all->is_open = true;
	all->open = path;
	all->user = user;
	return probe_open_target(cli, options, path, user, &all->target, err);
}

/* The running kernel, whose file is absent: it resolves names itself. */
static int convert_kernel(const struct addition *a, struct probe_events *events, const char *module, struct error *err)
{
	CLEANUP_STR struct str symbols = { 0 };
	struct kernel_types types = { 0 };
	struct error ignored;
	enum { SYMBOLS_MAX = 256 << 20 };
	if (file_read("/proc/kallsyms", &symbols, SYMBOLS_MAX, err) < 0)
		return -1;
	bool typed = a->spec.arguments.count && kernel_types_open(&types, module, &ignored) == 0;
	int result = probe_convert_by_name(&a->spec, module, str_text(&symbols), typed ? kernel_types_table(&types) : NULL, events, err);
	kernel_types_close(&types);
	return result;
}

bool probe_is_running_kernel(const struct probe_options *options, const char *path, bool user)
{
	struct error ignored;
	CLEANUP_STR struct str found = { 0 };
	if (user || options->vmlinux)
		return false;
	return path ? !strchr(path, '/') : probe_find_vmlinux(&found, &ignored) < 0;
}

static int convert_all(struct cli *cli, const struct probe_options *options, struct additions *all, struct error *err)
{
	for (size_t i = 0; i < all->list.count; i++) {
		struct addition *a = &all->list.items[i];
		CLEANUP_STR struct str remarks = { 0 };
		struct error ignored;
		struct probe_search search = { .source_prefix = options->source, .remarks = &remarks, .no_inlines = options->no_inlines,
			.max = options->max_probes > 0 ? (uint32_t)options->max_probes : PROBE_PLACES_MAX };
		const char *path = a->spec.target ? a->spec.target : a->request->target;
		bool user = a->spec.target || a->request->user;
		if (a->spec.sdt && !path) {
			if (probe_cached_find(cli, &a->spec, NULL, &a->events, err) < 0)
				return -1;
			continue;
		}
		if (probe_is_running_kernel(options, path, user)) {
			if (convert_kernel(a, &a->events, path, err) < 0)
				return -1;
			continue;
		}
		if (open_for(cli, options, all, path, user, err) < 0)
			return -1;
		int result = probe_convert(&all->target, &a->spec, &search, &a->events, err);
		if (result < 0 && a->spec.sdt && probe_cached_find(cli, &a->spec, all->target.path, &a->events, &ignored) == 0)
			result = 0;
		if (remarks.len && remarks.text[remarks.len - 1] == '\n')
			remarks.text[--remarks.len] = '\0';
		probe_say(cli, options, str_text(&remarks));
		/* the path belongs to the target */
		for (size_t k = 0; k < a->events.list.count; k++) {
			struct probe_event *event = &a->events.list.items[k];
			if (event->path)
				event->path = arena_string(&a->events.arena, event->path, strlen(event->path));
		}
		if (result < 0)
			return -1;
	}
	return 0;
}

static int parse_all(const struct probe_options *options, struct additions *all, struct error *err)
{
	for (size_t i = 0; i < options->requests.count; i++) {
		struct addition *a = vec_add(&all->list);
		a->request = &options->requests.items[i];
		if (probe_spec_parse(&a->spec, a->request->text, err) < 0)
			return -1;
	}
	return 0;
}

static int print_definitions(struct cli *cli, const struct probe_options *options, struct additions *all, struct error *err)
{
	struct probe_names none = { 0 };
	const char *last = NULL;
	for (size_t i = 0; i < all->list.count; i++) {
		struct addition *a = &all->list.items[i];
		for (size_t k = 0; k < a->events.list.count; k++) {
			CLEANUP_STR struct str line = { 0 };
			struct probe_event *event = &a->events.list.items[k];
			if (probe_event_set_name(&a->events, event, &a->spec, &none, true, err) < 0)
				return -1;
			probe_event_text(event, &line);
			if (!options->bootconfig) {
				writer_printf(cli->out, "%s\n", line.text);
				continue;
			}
			if (last && !strcmp(last, event->event))
				writer_puts(cli->out, ", ");
			else
				writer_printf(cli->out, "%sftrace.event.kprobes.%s.probe = ", last ? "\n" : "", event->event);
			last = event->event;
			writer_printf(cli->out, "'%s'", strchr(line.text, ' ') + 1);
		}
	}
	writer_puts(cli->out, options->bootconfig ? "\n" : "");
	return 0;
}

static int read_names(struct probe_names *names, const char *file, struct error *err)
{
	CLEANUP_STR struct str text = { 0 }, name = { 0 };
	struct arena arena = { 0 };
	if (tracefs_read(file, &text, err) < 0)
		return -1;
	for (char *at = text.text; at && *at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
		struct probe_event event;
		if (probe_event_read(&event, at, &arena)) {
			str_clear(&name);
			str_printf(&name, "%s:%s", event.group, event.event);
			strtab_add(&names->names, name.text, name.len);
		}
		probe_event_fini(&event);
	}
	arena_fini(&arena);
	return 0;
}

/* Adds the kernel's own reason to a refusal: the last line of its log of errors. */
static int explain(struct error *err)
{
	CLEANUP_STR struct str log = { 0 };
	const char *last = NULL;
	if (err->sys == EEXIST)
		return error_hint(err, "all places of an event need arguments of the same names and types: give them one, as in name:x32");
	if (err->sys != EINVAL || tracefs_read("error_log", &log, NULL) < 0 || !log.len)
		return -1;
	for (const char *at = log.text; (at = strstr(at, ": error: ")); at++)
		last = at + strlen(": error: ");
	return last ? error_hint(err, "The kernel says: %.*s", (int)strcspn(last, "\n"), last) : -1;
}

/* Adds one event; in the mount namespace of --target-ns, as the kernel looks the path up. */
static int write_event(const struct probe_options *options, int fd, const char *line, struct error *err)
{
	int pid = probe_namespace(options);
	if (options->dry_run)
		return 0;
	if (!pid)
		return tracefs_append(fd, line, err);
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/ns/mnt", pid);
	CLEANUP_FD int own = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC), other = open(path, O_RDONLY | O_CLOEXEC);
	if (own < 0 || other < 0 || setns(other, CLONE_NEWNS) < 0)
		return error_system(err, "cannot enter the mount namespace of process %d", pid);
	int result = tracefs_append(fd, line, err);
	if (setns(own, CLONE_NEWNS) < 0)
		return error_system(err, "cannot leave the mount namespace of process %d", pid);
	return result;
}

static int add_events(struct cli *cli, const struct probe_options *options, struct addition *a, const struct probe_names *names, int fd,
	struct error *err)
{
	(void)cli;
	bool again = options->force;
	for (size_t k = 0; k < a->events.list.count; k++) {
		CLEANUP_STR struct str line = { 0 };
		struct probe_event *event = &a->events.list.items[k];
		if (probe_event_set_name(&a->events, event, &a->spec, names, again, err) < 0)
			return -1;
		again = true;
		probe_event_text(event, &line);
		if (options->verbose > 0)
			cli_warn(cli, "Writing event: %s", line.text);
		if (write_event(options, fd, line.text, err) < 0)
			return explain(err);
	}
	return 0;
}

static int add_all(struct cli *cli, const struct probe_options *options, struct additions *all, struct error *err)
{
	int result = 0;
	for (size_t i = 0; i < all->list.count && result == 0; i++) {
		struct addition *a = &all->list.items[i];
		const char *file = a->events.list.items[0].user ? "uprobe_events" : "kprobe_events";
		struct probe_names names = { 0 };
		CLEANUP_FD int fd = -1;
		result = read_names(&names, file, err);
		if (result == 0 && !options->dry_run) {
			fd = tracefs_open_append(file, err);
			result = fd < 0 ? -1 : 0;
		}
		if (result == 0)
			result = add_events(cli, options, a, &names, fd, err);
		probe_names_fini(&names);
	}
	return result;
}

/* The file of -k may be that of another kernel than the running one. */
static int store_kernel(struct cli *cli, const struct probe_options *options, struct additions *all, const struct addition *a,
	struct error *err)
{
	uint8_t own[ELF_BUILD_ID_MAX], id[ELF_BUILD_ID_MAX];
	if (!probe_is_running_kernel(options, NULL, false)) {
		if (open_for(cli, options, all, NULL, false, err) < 0)
			return -1;
		uint8_t len = elf_build_id(&all->target.image.elf, id);
		if (len != image_kernel_build_id("/sys/kernel/notes", own) || memcmp(own, id, len) != 0)
			return error_set(err, ERROR_USAGE, "%s is not the running kernel's", all->target.path);
	}
	return probe_cache_store_kernel(cli, a->request->text, &a->events, err);
}

/* What was added to programs and to the kernel itself; definitions of several lines cannot be stored. */
static int store_all(struct cli *cli, const struct probe_options *options, struct additions *all, struct error *err)
{
	int result = 0;
	for (size_t i = 0; i < all->list.count && result == 0; i++) {
		const struct addition *a = &all->list.items[i];
		const char *path = a->spec.target ? a->spec.target : a->request->target;
		bool user = a->events.list.items[0].user;
		if ((!user && path) || a->spec.sdt || strchr(a->request->text, '\n'))
			continue;
		if (!user) {
			result = store_kernel(cli, options, all, a, err);
			continue;
		}
		result = open_for(cli, options, all, path, true, err);
		if (result == 0)
			result = probe_cache_store(cli, &all->target, a->request->text, &a->events, err);
	}
	return result;
}

static void tell_event(const struct cli *cli, const struct probe_options *options, const struct addition *a,
	const struct probe_event *event)
{
	CLEANUP_STR struct str line = { 0 }, name = { 0 };
	str_printf(&name, "%s:%s", event->group, event->event);
	str_printf(&line, "  %-20s (on ", name.text);
	probe_spec_place(&a->spec, &line);
	if (event->path)
		str_printf(&line, " in %s", event->path);
	for (size_t i = 0; i < a->spec.arguments.count; i++) {
		str_puts(&line, i ? " " : " with ");
		probe_argument_text(&a->spec.arguments.items[i], &line);
	}
	str_putc(&line, ')');
	probe_say(cli, options, line.text);
}

static void tell(const struct cli *cli, const struct probe_options *options, const struct additions *all)
{
	CLEANUP_STR struct str line = { 0 };
	const struct probe_event *last = NULL;
	size_t count = 0;
	for (size_t i = 0; i < all->list.count; i++)
		count += all->list.items[i].events.list.count;
	probe_say(cli, options, count > 1 ? "Added new events:" : "Added new event:");
	for (size_t i = 0; i < all->list.count; i++)
		for (size_t k = 0; k < all->list.items[i].events.list.count; k++) {
			last = &all->list.items[i].events.list.items[k];
			tell_event(cli, options, &all->list.items[i], last);
		}
	str_printf(&line, "\nYou can now use it in all perf tools, such as:\n\n\tperf record -e %s:%s -aR sleep 1\n", last->group, last->event);
	probe_say(cli, options, line.text);
}

int probe_add(struct cli *cli, const struct probe_options *options)
{
	struct additions all = { 0 };
	struct error err = { 0 };
	int code = 0, result = parse_all(options, &all, &err);
	if (result < 0) {
		cli_warn(cli, "Semantic error :%s", err.text);
		cli_warn(cli, "  Error: Command Parse Error.");
		bool option = all.list.items[all.list.count - 1].request->option;
		additions_fini(&all);
		return option ? EXIT_USAGE : err.kind == ERROR_UNSUPPORTED ? EXIT_NOT_SUPPORTED : EXIT_INVALID;
	}
	result = convert_all(cli, options, &all, &err);
	if (result == 0)
		result = options->command == 'D' ? print_definitions(cli, options, &all, &err) : add_all(cli, options, &all, &err);
	if (result == 0 && options->cache && options->command != 'D' && store_all(cli, options, &all, &err) < 0) {
		cli_complain(cli, &err);
		cli_warn(cli, "The probes are not cached.");
	}
	if (result < 0)
		code = probe_fail(cli, &err, "Failed to add events.");
	else if (options->command != 'D')
		tell(cli, options, &all);
	additions_fini(&all);
	return code;
}
