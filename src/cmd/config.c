#include "base/config.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "cmd/environment.h"
#include "os/written_file.h"

struct config_options {
	bool list, user, system;
};

static const struct option config_table[] = {
	OPT_BOOL('l', "list", struct config_options, list, "print every setting"),
	OPT_BOOL(0, "user", struct config_options, user, "read and write the user's file"),
	OPT_BOOL(0, "system", struct config_options, system, "read and write the system's file"),
	OPT_END(),
};

static const char *const config_usage[] = { "perf config [<file-option>] [options] [section.name[=value] ...]", NULL };

extern const struct command command_config;

/* The settings, and the file that changes are written to. */
struct settings {
	struct cli *cli;
	struct config config;
	enum config_from from;
	const char *path;
	bool changed;
	struct error unread; /* why that file could not be read whole */
};

static void print_entry(const struct settings *settings, const char *key)
{
	const char *value = config_get(&settings->config, key);
	if (value)
		writer_printf(settings->cli->out, "%s=%s\n", key, value);
}

static void print_all(const struct settings *settings)
{
	for (size_t i = 0; i < settings->config.entries.count; i++)
		print_entry(settings, settings->config.entries.items[i].key);
}

static int fail(const struct settings *settings, const struct error *err)
{
	cli_complain(settings->cli, err);
	return EXIT_FAILED;
}

/* "section.name" prints it, "section.name=value" sets it. */
static int take_word(struct settings *settings, const char *word)
{
	struct error err = { 0 };
	CLEANUP_FREE char *key = memory_string(word);
	char *equals = strchr(key, '=');
	if (equals)
		*equals = '\0';
	if (config_check_key(key, &err) < 0)
		return fail(settings, &err);
	config_key_lower(key);
	if (!equals) {
		print_entry(settings, key);
		return 0;
	}
	if (!equals[1]) {
		error_set(&err, ERROR_USAGE, "The config variable does not contain a value: %s", word);
		return fail(settings, &err);
	}
	config_set(&settings->config, settings->from, key, equals + 1);
	settings->changed = true;
	return 0;
}

/* Into a new file, which then replaces the old one. */
static int write_settings(const struct settings *settings, struct error *err)
{
	struct written_file file;
	if (settings->unread.kind != ERROR_NONE) {
		*err = settings->unread;
		return error_hint(err, "The file is unchanged: the lines that cannot be read would be lost.");
	}
	if (written_open(&file, settings->path, err) < 0)
		return -1;
	config_write(&settings->config, settings->from, &file.out);
	int result = written_keep(&file, settings->path, err);
	written_drop(&file);
	return result;
}

static int take_words(struct settings *settings, const char **words)
{
	struct error err = { 0 };
	int code = 0;
	for (; *words && code == 0; words++)
		code = take_word(settings, *words);
	if (code || !settings->changed)
		return code;
	if (!settings->path) {
		error_set(&err, ERROR_USAGE, "no file for settings: HOME and PERF_CONFIG are not set");
		return fail(settings, &err);
	}
	return write_settings(settings, &err) < 0 ? fail(settings, &err) : 0;
}

/* The file that changes are written to: the new file would lack what cannot be read of the old one. */
static void read_changed(struct settings *settings)
{
	const char *refused;
	config_read(&settings->config, settings->from, settings->path, &refused, &settings->unread);
	if (refused)
		error_set(&settings->unread, ERROR_PERMISSION, "%s %s", settings->path, refused);
	else if (access(settings->path, R_OK) != 0 && errno == EACCES)
		error_system(&settings->unread, "%s", settings->path);
}

/* With --user or --system that file alone; otherwise what every command sees, and changes are written to the user's file. */
static void read_settings(struct settings *settings, const struct config_options *options, const struct config_files *files)
{
	struct error err = { 0 };
	settings->from = options->system ? CONFIG_SYSTEM : CONFIG_USER;
	settings->path = options->system ? PERFUSE_SYSTEM_CONFIG : files->user;
	if (!options->system && !options->user && files->system)
		config_read(&settings->config, CONFIG_SYSTEM, files->system, NULL, &err);
	if (settings->path)
		read_changed(settings);
}

static int config_run(struct cli *cli, void *filled, int argc, const char **argv)
{
	const struct config_options *options = filled;
	struct error err = { 0 };
	if (options->user && options->system)
		error_set(&err, ERROR_USAGE, "Error: only one config file at a time");
	else if (options->list && argc)
		error_set(&err, ERROR_USAGE, "Error: takes no arguments");
	if (err.kind) {
		int code = cli_usage(cli, &command_config, &err);
		return options->user && options->system ? EXIT_FAILED : code;
	}
	struct config_files files;
	struct settings settings = { .cli = cli };
	environment_config_files(&files);
	read_settings(&settings, options, &files);
	int code = 0;
	if (argc)
		code = take_words(&settings, argv);
	else
		print_all(&settings);
	config_files_fini(&files);
	config_fini(&settings.config);
	return code;
}

const struct command command_config = {
	.name = "config",
	.summary = "print and change settings",
	.usage = config_usage,
	.options = config_table,
	.options_size = sizeof(struct config_options),
	.run = config_run,
};
