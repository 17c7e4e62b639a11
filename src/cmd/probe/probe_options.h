/* The options of `probe`, and its parts. Internal to cmd/probe. */
#pragma once
#include "cmd/command.h"
#include "probe/convert.h"
#include "probe/pattern.h"

/* One definition with the file that was named before it. */
struct probe_request {
	const char *text;
	const char *target;           /* -x, -m; NULL: the kernel */
	bool user;
	bool option;                  /* of an option; false: the words after the options */
};

struct probe_options {
	VEC(struct probe_request) requests;
	const char *target, *lines, *vmlinux, *source, *symfs, *target_ns;
	struct probe_filter *filter;
	const char *filter_text;      /* as given last */
	char command;                 /* a D d l L V F; 0: none */
	bool user, target_used;
	bool quiet, force, externs, range, no_inlines, dry_run, demangle, demangle_kernel, cache, bootconfig;
	int verbose, max_probes;
};

/* Whether a definition without a program means the running kernel (path: NULL, or a module's name), and its file is absent. */
bool probe_is_running_kernel(const struct probe_options *options, const char *path, bool user);
/* Opens the file of a request: the program of -x, the module of -m, or vmlinux. */
int probe_open_target(struct cli *cli, const struct probe_options *options, const char *path, bool user, struct probe_target *target,
	struct error *err);
int probe_find_vmlinux(struct str *path, struct error *err); /* the running kernel's file, where distributions put it */
int probe_namespace(const struct probe_options *options); /* of --target-ns; 0: none */
/* Says what is not quiet. */
void probe_say(const struct cli *cli, const struct probe_options *options, const char *text);

int probe_add(struct cli *cli, const struct probe_options *options);      /* -a, -D */
int probe_show_variables(struct cli *cli, const struct probe_options *options);
int probe_show_lines(struct cli *cli, const struct probe_options *options);
int probe_show_functions(struct cli *cli, const struct probe_options *options);
int probe_list(struct cli *cli, const struct probe_options *options);
int probe_delete(struct cli *cli, const struct probe_options *options);
/* Complains, then prints perf's last line; returns the exit code. */
int probe_fail(const struct cli *cli, const struct error *err, const char *last);
