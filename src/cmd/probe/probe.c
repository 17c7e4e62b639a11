#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cmd/environment.h"
#include "cmd/probe/stored.h"
#include "cmd/servers.h"
#include "os/file.h"

#define LIST_FILTER "*"
#define VARIABLE_FILTER "!__k???tab_* & !__crc_*"
#define FUNCTION_FILTER "!_* & !*@plt"

extern const struct command command_probe;

static int set_definition(void *filled, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct probe_options *o = filled;
	(void)err;
	if (unset || !arg)
		return 0;
	o->command = option->short_name;
	o->target_used = true;
	vec_push(&o->requests, ((struct probe_request){ .text = arg, .target = o->target, .user = o->user, .option = true }));
	return 0;
}

static int set_filter(void *filled, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct probe_options *o = filled;
	if (unset)
		return 0;
	if (option->short_name)
		o->command = option->short_name;
	o->filter_text = arg ? arg : o->filter_text;
	return arg ? probe_filter_or(&o->filter, arg, err) : 0;
}

/* A name without a folder that is no file of the current folder: a program in $PATH, or a library in the system's folders. */
static const char *find_by_name(const char *name, struct str *path)
{
	static const char *const libraries = "/lib64:/usr/lib64:/usr/local/lib:/lib:/usr/lib";
	struct utsname machine;
	CLEANUP_STR struct str folders = { 0 };
	const char *programs = secure_getenv("PATH");
	if (strchr(name, '/') || file_exists(name))
		return name;
	uname(&machine);
	str_printf(&folders, "%s:/lib/%s-linux-gnu:/usr/lib/%s-linux-gnu:%s", programs ? programs : "", machine.machine, machine.machine,
		libraries);
	for (char *next = folders.text, *folder; (folder = strsep(&next, ":"));) {
		str_clear(path);
		str_printf(path, "%s/%s", folder, name);
		if (*folder == '/' && file_exists(str_text(path)))
			return str_text(path);
	}
	return name;
}

static int set_target(void *filled, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct probe_options *o = filled;
	if (unset || !arg)
		return 0;
	o->user = option->short_name == 'x';
	CLEANUP_STR struct str found = { 0 };
	if (o->user && !o->target_ns && access(find_by_name(arg, &found), F_OK) < 0)
		return error_system(err, "Failed to get the absolute path of %s", arg);
	o->target = arg;
	o->target_used = false;
	return 0;
}

static int set_lines(void *filled, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct probe_options *o = filled;
	(void)err;
	if (unset || !arg)
		return 0;
	o->command = option->short_name;
	o->lines = arg;
	return 0;
}

#define DEFINITION "[EVENT=]FUNC[@SRC][+OFF|%return|:RL|;PT]|SRC:AL|SRC;PT [[NAME=]ARG ...]"
#define PLACE "FUNC[@SRC][+OFF|%return|:RL|;PT]|SRC:AL|SRC;PT"
#define S struct probe_options

static const struct option probe_table[] = {
	OPT_INCR('v', "verbose", S, verbose, "print more messages"),
	OPT_BOOL('q', "quiet", S, quiet, "print no messages"),
	OPT_CALLBACK_FLAGS('l', "list", S, filter, "[GROUP:]EVENT", "list the probes of this machine", set_filter,
		OPTION_EXCLUSIVE | OPTION_LASTARG),
	OPT_CALLBACK_FLAGS('d', "del", S, filter, "[GROUP:]EVENT", "remove probes", set_filter, OPTION_EXCLUSIVE),
	OPT_CALLBACK_FLAGS('a', "add", S, requests, DEFINITION, "add a probe", set_definition, OPTION_EXCLUSIVE),
	OPT_CALLBACK_FLAGS('D', "definition", S, requests, DEFINITION, "print what the kernel would get, and add nothing", set_definition,
		OPTION_EXCLUSIVE),
	OPT_BOOL('f', "force", S, force, "add a probe although one of its name exists: the new one gets a number"),
	OPT_CALLBACK_FLAGS('L', "line", S, lines, "FUNC[:RLN[+NUM|-RLN2]]|SRC:ALN[+NUM|-ALN2]",
		"show source lines, with the number of those that can have a probe", set_lines, OPTION_EXCLUSIVE),
	OPT_CALLBACK_FLAGS('V', "vars", S, requests, PLACE, "show the variables that a probe can record there", set_definition,
		OPTION_EXCLUSIVE),
	OPT_BOOL(0, "externs", S, externs, "with --vars: global variables, too"),
	OPT_BOOL(0, "range", S, range, "with --vars: the code in which each variable has a value"),
	OPT_STRING('k', "vmlinux", S, vmlinux, "file", "the kernel's file with debug information"),
	OPT_STRING('s', "source", S, source, "directory", "the folder of the sources"),
	OPT_BOOL(0, "no-inlines", S, no_inlines, "no probes in inlined calls"),
	OPT_BOOL('n', "dry-run", S, dry_run, "do everything except adding the probes"),
	OPT_INT(0, "max-probes", S, max_probes, "the largest number of places of one definition"),
	OPT_CALLBACK_FLAGS('F', "funcs", S, filter, "[FILTER]", "show functions that can have a probe", set_filter,
		OPTION_EXCLUSIVE | OPTION_LASTARG),
	OPT_CALLBACK(0, "filter", S, filter, "[!]FILTER",
		"show only names that match, with --vars and --funcs: globs with !, &, | and parentheses", set_filter),
	OPT_CALLBACK('x', "exec", S, target, "executable|path", "the program or library for the definitions that follow", set_target),
	OPT_CALLBACK('m', "module", S, target, "modname|path", "the kernel module for the definitions that follow", set_target),
	OPT_BOOL(0, "demangle", S, demangle, "show demangled names (default)"),
	OPT_BOOL(0, "demangle-kernel", S, demangle_kernel, "demangle names of the kernel, too"),
	OPT_BOOL(0, "cache", S, cache, "store added probes in the build-id cache; with --list, --del: the stored probes"),
	OPT_STRING(0, "symfs", S, symfs, "directory", "look for files below this folder"),
	OPT_STRING(0, "target-ns", S, target_ns, "pid", "paths are those that this process sees"),
	OPT_BOOL(0, "bootconfig", S, bootconfig, "with --definition: in the format of the kernel's boot configuration"),
	OPT_END(),
};

static const char *const probe_usage[] = {
	"perf probe [<options>] 'PROBEDEF' ['PROBEDEF' ...]",
	"perf probe [<options>] --add 'PROBEDEF' [--add 'PROBEDEF' ...]",
	"perf probe [<options>] --del '[GROUP:]EVENT' ...",
	"perf probe --list [GROUP:]EVENT ...",
	"perf probe [<options>] --line 'LINEDESC'",
	"perf probe [<options>] --vars 'PROBEPOINT'",
	"perf probe [<options>] --funcs",
	NULL,
};

int probe_namespace(const struct probe_options *options)
{
	return options->target_ns ? atoi(options->target_ns) : 0;
}

void probe_say(const struct cli *cli, const struct probe_options *options, const char *text)
{
	if (!options->quiet && *text)
		cli_warn(cli, "%s", text);
}

int probe_fail(const struct cli *cli, const struct error *err, const char *last)
{
	cli_complain(cli, err);
	cli_warn(cli, "  Error: %s", last);
	if (err->sys == ENODATA)
		return EXIT_NO_DEBUG;
	if (err->sys == ENODEV)
		return EXIT_NO_DEVICE;
	return err->kind == ERROR_USAGE || err->kind == ERROR_FORMAT ? EXIT_NO_EVENT : EXIT_INVALID;
}

int probe_find_vmlinux(struct str *path, struct error *err)
{
	static const char *const places[] = { "/usr/lib/debug/boot/vmlinux-%s", "/usr/lib/debug/lib/modules/%s/vmlinux", "/boot/vmlinux-%s",
		"/lib/modules/%s/build/vmlinux" };
	struct utsname name;
	uname(&name);
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		str_clear(path);
		for (const char *at = places[i]; *at; at++)
			if (at[0] == '%' && at[1] == 's') {
				str_puts(path, name.release);
				at++;
			} else {
				str_putc(path, *at);
			}
		if (file_exists(str_text(path)))
			return 0;
	}
	error_set(err, ERROR_USAGE, "the running kernel's file with debug information (vmlinux) is absent");
	return error_hint(err, "install the package of the kernel's debug symbols, or name the file with -k");
}

int probe_open_target(struct cli *cli, const struct probe_options *options, const char *path, bool user, struct probe_target *target,
	struct error *err)
{
	CLEANUP_STR struct str vmlinux = { 0 }, found = { 0 };
	struct probe_target_options how = { .buildid_dir = environment_cache(cli, false), .symfs = options->symfs, .budget = cli->budget,
		.debuginfod = servers_named(cli), .namespace_pid = probe_namespace(options), .no_demangle = !options->demangle, .kernel = !user,
		.listed = options->command == 'F' };
	if (!user && !path) {
		path = options->vmlinux;
		if (!path && probe_find_vmlinux(&vmlinux, err) < 0)
			return -1;
		path = path ? path : str_text(&vmlinux);
	}
	if (!user && !strchr(path, '/') && path != options->vmlinux)
		return error_set(err, ERROR_UNSUPPORTED, "Module %s: please specify its full path name.", path);
	return probe_target_open(target, user && !how.namespace_pid ? find_by_name(path, &found) : path, &how, err);
}

/* The words after the options are one definition; a path before it is the program. */
static int take_words(struct probe_options *o, struct str *definition, int argc, const char **argv)
{
	if (!o->target && *argv[0] == '/') {
		size_t len = strlen(argv[0]);
		o->target = argv[0];
		o->user = len < 3 || strcmp(argv[0] + len - 3, ".ko") != 0;
		argc--;
		argv++;
	}
	for (int i = 0; i < argc; i++)
		str_printf(definition, "%s%s", i ? " " : "", argv[i]);
	if (definition->len) {
		vec_push(&o->requests, ((struct probe_request){ .text = definition->text, .target = o->target, .user = o->user }));
		o->target_used = true;
	}
	o->command = 'a';
	return 0;
}

static int default_filter(struct probe_options *o, struct error *err)
{
	const char *text = o->command == 'V' ? VARIABLE_FILTER : o->command == 'F' ? FUNCTION_FILTER : LIST_FILTER;
	return o->filter ? 0 : probe_filter_parse(&o->filter, text, err);
}

static int dispatch(struct cli *cli, struct probe_options *o, struct error *err)
{
	if (default_filter(o, err) < 0)
		return -1;
	switch (o->command) {
	case 'l':
		if (o->user)
			return error_set(err, ERROR_USAGE, "  Error: Don't use --list with --exec.");
		return o->cache ? probe_cached_list(cli, o) : probe_list(cli, o);
	case 'd':
		return o->cache ? probe_cached_delete(cli, o) : probe_delete(cli, o);
	case 'F':
		return probe_show_functions(cli, o);
	case 'L':
		return probe_show_lines(cli, o);
	case 'V':
		return probe_show_variables(cli, o);
	default:
		if (o->target && !o->target_used)
			return error_set(err, ERROR_USAGE, "  Error: -x/-m must follow the probe definitions.");
		if (o->bootconfig && o->user)
			return error_set(err, ERROR_USAGE, "  Error: --bootconfig doesn't support uprobes.");
		return probe_add(cli, o);
	}
}

static int probe_run(struct cli *cli, void *filled, int argc, const char **argv)
{
	struct probe_options *o = filled;
	struct error err = { 0 };
	CLEANUP_STR struct str words = { 0 };
	int code;
	if (o->quiet && o->verbose) {
		error_set(&err, ERROR_USAGE, "  Error: -v and -q are exclusive.");
		cli_complain(cli, &err);
		return EXIT_INVALID;
	}
	if (argc && o->command && o->command != 'a') {
		error_set(&err, ERROR_USAGE, "another command except --add is set.");
		return cli_usage(cli, &command_probe, &err);
	}
	if (argc)
		take_words(o, &words, argc, argv);
	if (!o->command) {
		code = cli_usage(cli, &command_probe, NULL);
	} else {
		code = dispatch(cli, o, &err);
		if (code < 0) {
			cli_complain(cli, &err);
			code = EXIT_INVALID;
		}
	}
	probe_filter_free(o->filter);
	vec_fini(&o->requests);
	return code;
}

static void probe_defaults(void *filled, const struct cli *cli)
{
	struct probe_options *o = filled;
	(void)cli;
	o->max_probes = PROBE_PLACES_MAX;
	o->demangle = true;
}

const struct command command_probe = {
	.name = "probe",
	.summary = "add probes to functions and lines of programs and of the kernel",
	.usage = probe_usage,
	.options = probe_table,
	.options_size = sizeof(struct probe_options),
	.options_mode = OPTIONS_STOP_AT_NON_OPTION,
	.defaults = probe_defaults,
	.run = probe_run,
};
