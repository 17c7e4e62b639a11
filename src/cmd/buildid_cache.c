#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cmd/build_id_rows.h"
#include "cmd/loss_summary.h"
#include "cmd/environment.h"
#include "cmd/probe_cache.h"
#include "cmd/servers.h"
#include "image/cache.h"
#include "image/file.h"
#include "image/kcore.h"
#include "image/search.h"
#include "os/checked.h"
#include "os/file.h"

extern const struct command command_buildid_cache;

struct buildid_cache_options {
	const char *add, *remove, *purge, *update, *missing, *kcore, *debuginfod;
	bool list, purge_all, force;
	int verbose, target;
};

#define O struct buildid_cache_options
static const struct option buildid_cache_table[] = {
	OPT_STRING('a', "add", O, add, "file list", "add these files"),
	OPT_STRING('k', "kcore", O, kcore, "file", "add a copy of this kcore, with the kallsyms and modules beside it"),
	OPT_STRING('r', "remove", O, remove, "file list", "remove these files"),
	OPT_STRING('p', "purge", O, purge, "file list", "remove these files and older builds of them"),
	OPTION_ROW(BOOL, 'P', "purge-all", O, purge_all, "remove all files", ),
	OPTION_ROW(BOOL, 'l', "list", O, list, "list the files whose path still has that build", .flags = OPTION_EXCLUSIVE),
	OPT_STRING('M', "missing", O, missing, "file", "list the files of this recording that the cache lacks"),
	OPT_BOOL('f', "force", O, force, "do not check the owner of the recording; add a kcore even if the cache has it"),
	OPT_STRING('u', "update", O, update, "file list", "replace these files"),
	OPTION_ROW(STRING, 0, "debuginfod", O, debuginfod, "get debug files from these servers (of $DEBUGINFOD_URLS)",
		.arg = "debuginfod urls", .flags = OPTION_OPTARG, .fallback = "system"),
	OPT_INCR('v', "verbose", O, verbose, "print each action"),
	OPT_INT(0, "target-ns", O, target, "use the files that this process sees"),
	OPT_END(),
};
#undef O

static const char *const buildid_cache_usage[] = { "perf buildid-cache [<options>]", NULL };

/* One run of the command. */
struct cache_run {
	struct cli *cli;
	const struct buildid_cache_options *options;
	int cache;       /* -1: absent */
	int root;        /* of --target-ns; -1 */
	struct debuginfod *debuginfod;
};

static void report_action(const struct cache_run *k, const char *what, const uint8_t *id, uint8_t len, const char *name, bool good)
{
	char hex[2 * ELF_BUILD_ID_MAX + 1];
	build_id_hex(id, len, hex);
	if (k->options->verbose)
		cli_warn(k->cli, "%s %s%s%s: %s", what, hex, len ? " " : "", name, good ? "Ok" : "FAIL");
}

static uint8_t file_build_id(const struct cache_run *k, const char *name, uint8_t id[static ELF_BUILD_ID_MAX], struct error *err)
{
	struct image image;
	if (image_open(&image, k->root, name, NULL, err) < 0)
		return 0;
	uint8_t len = elf_build_id(&image.elf, id);
	image_close(&image);
	if (!len)
		error_set(err, ERROR_FORMAT, "%s has no build-id", name);
	return len;
}

static int add_file(const struct cache_run *k, const char *name, struct error *err)
{
	struct cached_file file = { .path = name, .root = k->root, .debuginfod = k->debuginfod };
	file.id_len = file_build_id(k, name, file.id, err);
	if (!file.id_len)
		return -1;
	int result = cache_add(k->cache, &file, err);
	if (result >= 0 && probe_cache_static_points(k->cli, name, k->root, err) < 0)
		result = -1;
	report_action(k, "Adding", file.id, file.id_len, name, result >= 0);
	return result;
}

static int remove_file(const struct cache_run *k, const char *name, struct error *err)
{
	uint8_t id[ELF_BUILD_ID_MAX], len = file_build_id(k, name, id, err);
	if (!len)
		return -1;
	int result = cache_remove(k->cache, id, len, err);
	report_action(k, "Removing", id, len, name, result >= 0);
	return result;
}

static int update_file(const struct cache_run *k, const char *name, struct error *err)
{
	struct cached_file file = { .path = name, .root = k->root, .debuginfod = k->debuginfod };
	file.id_len = file_build_id(k, name, file.id, err);
	if (!file.id_len)
		return -1;
	int result = 0;
	if (cache_has(k->cache, file.id, file.id_len))
		result = cache_remove(k->cache, file.id, file.id_len, err);
	if (result >= 0)
		result = cache_add(k->cache, &file, err);
	report_action(k, "Updating", file.id, file.id_len, name, result >= 0);
	return result;
}

static int purge_file(const struct cache_run *k, const char *name, struct error *err)
{
	struct cache_list list;
	char real[PATH_MAX];
	const char *path = *name == '/' || *name == '[' ? name : NULL;
	if (k->root < 0 && realpath(name, real))
		path = real;
	int result = path ? cache_list_builds(k->cache, path, &list, err)
			  : error_set(err, ERROR_SYSTEM, "%s: no such file", name);
	bool listed = result >= 0;
	for (size_t i = 0; listed && i < list.entries.count; i++) {
		const struct cache_entry *entry = &list.entries.items[i];
		int removed = cache_remove(k->cache, entry->id, entry->id_len, err);
		report_action(k, "Removing", entry->id, entry->id_len, name, removed >= 0);
		result = removed < 0 ? removed : result;
	}
	if (listed)
		cache_list_fini(&list);
	report_action(k, "Purging", NULL, 0, name, result >= 0);
	return result;
}

static void purge_all(const struct cache_run *k)
{
	struct cache_list list;
	struct error err = { 0 };
	bool good = cache_list(k->cache, &list, &err) >= 0;
	for (size_t i = 0; good && i < list.entries.count; i++) {
		const struct cache_entry *entry = &list.entries.items[i];
		char hex[2 * ELF_BUILD_ID_MAX + 1];
		build_id_hex(entry->id, entry->id_len, hex);
		bool removed = cache_remove(k->cache, entry->id, entry->id_len, &err) >= 0;
		if (k->options->verbose)
			cli_warn(k->cli, "Removing %s (%s): %s", entry->path, hex, removed ? "Ok" : "FAIL");
		good = removed;
	}
	cache_list_fini(&list);
	if (!good)
		cli_warn(k->cli, "Couldn't remove some caches. Error: %s.", err.text);
	else if (k->options->verbose)
		cli_warn(k->cli, "Purged all: Ok");
}

/* Only entries whose file, or the running kernel, still has the same build-id are listed; as in perf, a vdso never is. */
static bool entry_is_current(const struct cache_entry *entry)
{
	uint8_t id[ELF_BUILD_ID_MAX], len = 0;
	if (strcmp(entry->path, "[kernel.kallsyms]") == 0)
		len = image_kernel_build_id("/sys/kernel/notes", id);
	else if (*entry->path == '/')
		len = image_build_id_of_path(entry->path, id);
	return len == entry->id_len && memcmp(id, entry->id, len) == 0;
}

static int list_all(const struct cache_run *k)
{
	struct cache_list list;
	struct error err = { 0 };
	if (cache_list(k->cache, &list, &err) < 0) {
		cli_complain(k->cli, &err);
		return 0;
	}
	for (size_t i = 0; i < list.entries.count; i++) {
		const struct cache_entry *entry = &list.entries.items[i];
		if (!entry_is_current(entry))
			continue;
		build_id_print(k->cli->out, entry->id, entry->id_len);
		writer_printf(k->cli->out, " %s\n", entry->path);
	}
	cache_list_fini(&list);
	return 0;
}

/* Returns whether the cache has a copy; warns if the copy has another build-id. */
static bool row_is_cached(const struct cache_run *k, const struct build_id_row *row)
{
	const char *leaf = strcmp(row->name, "[vdso]") == 0 ? "vdso" : strcmp(row->name, "[kernel.kallsyms]") == 0 ? "kallsyms" : "elf";
	char folder[PATH_MAX], path[PATH_MAX + 16];
	uint8_t id[ELF_BUILD_ID_MAX], len = 0;
	struct image image;
	if (!cache_find(k->cache, row->id, row->len, folder, NULL))
		return false;
	snprintf(path, sizeof path, "%s/%s", folder, leaf);
	CLEANUP_FD int fd = checked_open_file(k->cache, path, NULL);
	if (fd < 0)
		return false;
	/* a list of symbols has no build-id */
	if (strcmp(leaf, "kallsyms") == 0)
		return true;
	if (image_open_descriptor(&image, fd, path, NULL, NULL) == 0) {
		len = elf_build_id(&image.elf, id);
		image_close(&image);
	}
	if (!build_id_equal(row->id, row->len, id, len))
		cli_warn(k->cli, "%s/%s has another build-id than its name states: remove it from the cache", k->cli->buildid_dir, path);
	return true;
}

static void list_missing(const struct cache_run *k, const struct build_id_rows *recording)
{
	for (size_t i = 0; i < recording->list.count; i++)
		if (!row_is_cached(k, &recording->list.items[i]))
			build_id_row_print(&recording->list.items[i], k->cli->out);
}

static int name_compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Adds the names of "a,b,file:///list" to names. */
static void split_names(const char *text, struct names *names)
{
	static const char scheme[] = "file://";
	CLEANUP_FREE char *copy = memory_string(text);
	char *rest = copy, *word;
	while ((word = strsep(&rest, ","))) {
		bool list = strncmp(word, scheme, sizeof scheme - 1) == 0;
		char *lines = NULL, *line, *at;
		size_t len;
		if (!list && *word)
			vec_push(&names->list, arena_string(&names->arena, word, strlen(word)));
		if (!list || rooted_read(-1, word + sizeof scheme - 1, (size_t)16 << 20, &lines, &len, NULL) < 0)
			continue;
		at = lines = memory_resize(lines, len + 1, 1);
		lines[len] = '\0';
		while ((line = strsep(&at, "\n")))
			if (*line && *line != '#')
				vec_push(&names->list, arena_string(&names->arena, line, strlen(line)));
		free(lines);
	}
}

typedef int file_action(const struct cache_run *k, const char *name, struct error *err);

/* Applies the action to each file once, in order of names. A failure does not end the others. */
static void each_file(const struct cache_run *k, const char *text, const char *what, file_action *act)
{
	CLEANUP_NAMES struct names names = { 0 };
	if (!text)
		return;
	split_names(text, &names);
	if (names.list.count)
		qsort(names.list.items, names.list.count, sizeof *names.list.items, name_compare);
	for (size_t i = 0; i < names.list.count; i++) {
		struct error err = { 0 };
		const char *name = names.list.items[i];
		if ((i && strcmp(name, names.list.items[i - 1]) == 0) || act(k, name, &err) >= 0)
			continue;
		cli_warn(k->cli, "Couldn't %s %s: %s", what, name, err.text);
	}
}

static void add_kcore(const struct cache_run *k)
{
	char folder[PATH_MAX];
	struct error err = { 0 };
	int result = kcore_cache_add(k->cache, k->options->kcore, k->options->force, folder, sizeof folder, &err);
	if (result < 0)
		cli_warn(k->cli, "Couldn't add %s: %s", k->options->kcore, err.text);
	else if (k->options->verbose)
		cli_warn(k->cli, result ? "kcore added to build-id cache directory %s/%s" : "same kcore found in %s/%s",
			k->cli->buildid_dir, folder);
}

/* -1, this process's own root, if the process has ended. */
static int target_root(int pid)
{
	char path[64];
	if (pid <= 0)
		return -1;
	snprintf(path, sizeof path, "/proc/%d/root", pid);
	return root_open(path);
}

/* Actions have perf's order. */
static void change_cache(struct cache_run *k, const struct build_id_rows *recording)
{
	const struct buildid_cache_options *o = k->options;
	each_file(k, o->add, "add", add_file);
	each_file(k, o->remove, "remove", remove_file);
	each_file(k, o->purge, "purge", purge_file);
	if (o->purge_all)
		purge_all(k);
	list_missing(k, recording);
	each_file(k, o->update, "update", update_file);
	if (o->kcore)
		add_kcore(k);
}

static int change(struct cache_run *k)
{
	const struct buildid_cache_options *o = k->options;
	struct build_id_rows recording = { 0 };
	struct error err = { 0 };
	if (o->missing && build_id_rows_read(&recording, o->missing, o->force, false, k->cli->budget, &err) < 0) {
		cli_complain(k->cli, &err);
		return EXIT_DAMAGED;
	}
	k->root = target_root(o->target);
	change_cache(k, &recording);
	if (k->root >= 0)
		close(k->root);
	int code = o->missing ? loss_summary_print(k->cli, o->missing, &recording.losses, false) : 0;
	build_id_rows_fini(&recording);
	return code;
}

static int buildid_cache_run(struct cli *cli, void *arg, int argc, __attribute__((unused)) const char **argv)
{
	const struct buildid_cache_options *o = arg;
	struct cache_run k = { .cli = cli, .options = o };
	bool changes = o->add || o->remove || o->purge || o->update || o->missing || o->kcore || o->purge_all;
	if (argc || (!o->list && !changes))
		return cli_usage(cli, &command_buildid_cache, NULL);
	if (o->list && changes) {
		struct error err = { 0 };
		error_set(&err, ERROR_USAGE, "  Error: -l is exclusive.\n");
		return cli_usage(cli, &command_buildid_cache, &err);
	}
	k.debuginfod = servers_asked(cli, o->debuginfod);
	struct error err = { 0 };
	bool makes = o->add || o->update || o->kcore;
	k.cache = cache_open(cli->buildid_dir, makes ? CACHE_MAKE : o->list ? CACHE_READ : CACHE_CHANGE, &err);
	if (k.cache < 0 && (makes || err.sys != ENOENT)) {
		cli_complain(cli, &err);
		return EXIT_DAMAGED;
	}
	int status = o->list ? list_all(&k) : change(&k);
	if (k.cache >= 0)
		close(k.cache);
	return status;
}

const struct command command_buildid_cache = {
	.name = "buildid-cache",
	.summary = "manage the cache of recorded files, by build-id",
	.usage = buildid_cache_usage,
	.options = buildid_cache_table,
	.options_size = sizeof(struct buildid_cache_options),
	.run = buildid_cache_run,
};
