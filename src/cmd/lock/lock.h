/* What the parts of `perf lock` share: their options, the output, and the live measurement. */
#pragma once
#include "analysis/lock/lock_sink.h"
#include "analysis/lock/lock_type.h"
#include "cmd/command.h"
#include "cmd/format_option.h"
#include "cmd/input.h"
#include "cmd/off_cpu_run.h"
#include "os/written_file.h"
#include "render/lock/lock_text.h"

struct lock_options {
	struct input_options input;
	const char *output, *key, *fields, *separator;
	const struct format *format;
	bool dump, quiet, threads;
	bool info_map;                     /* info -m */
	bool combine;                      /* report -c */
	int entries, max_stack, stack_skip;
	/* contention */
	bool bpf, user, all_cpus, by_address, owners, by_cgroup;
	const char *cpus, *pids, *tids;
	uint64_t map_entries;
	struct lock_flags types;
	struct lock_addresses addresses, cgroups;
	struct lock_words symbols, callers; /* -L: names; -S */
	struct arena texts;                 /* of the lists */
	struct off_cpu_recording recording; /* --user */
};

/* The options that lock and its commands share. */
#define LOCK_ROWS                                                                                                     \
	OPT_STRING('i', "input", struct lock_options, input.path, "file", "the recording to read (perf.data; - is stdin)"),             \
	OPT_STRING(0, "output", struct lock_options, output, "file", "write the result to this file (standard error)"),                 \
	OPT_INCR('v', "verbose", struct lock_options, input.verbose, "print more: call chains, and the reasons of losses"),             \
	OPT_BOOL('D', "dump-raw-trace", struct lock_options, dump, "first show every record of the recording as bytes and as text"),    \
	OPT_BOOL('f', "force", struct lock_options, input.force, "read a recording of another user, too"),                              \
	OPT_STRING(0, "vmlinux", struct lock_options, input.symbols.vmlinux, "file", "the kernel's symbols are in this vmlinux"),        \
	OPT_STRING(0, "kallsyms", struct lock_options, input.symbols.kallsyms, "file", "the kernel's symbols are in this kallsyms"),     \
	OPT_BOOL('q', "quiet", struct lock_options, quiet, "print no headings and no remarks")

extern const struct command command_lock;
extern const struct option lock_contention_table[];
extern const char *const lock_contention_usage[];

void lock_options_defaults(struct lock_options *options);
void lock_options_fini(struct lock_options *options);

int lock_report_run(struct cli *cli, void *options, int argc, const char **argv);
int lock_info_run(struct cli *cli, void *options, int argc, const char **argv);
int lock_contention_run(struct cli *cli, void *options, int argc, const char **argv);

/* The file of --output, or standard error, where perf prints. */
struct lock_output {
	struct written_file file;
	struct writer error, *to;
	const char *path;
};

int lock_output_open(struct lock_output *output, struct cli *cli, const struct lock_options *options, struct error *err);
/* Returns the exit code. */
int lock_output_close(struct lock_output *output, struct cli *cli, int code);

/* Opens a recording, reads it into the sink, which is initialized with its group, and prints messages. < 0: the exit code was set. */
struct lock_reading {
	struct input input;
	struct lock_sink sink;
	const struct lock_choice *choice;
	const struct format *format;
};

int lock_read(struct lock_reading *reading, struct cli *cli, struct lock_options *options, const struct lock_choice *choice,
	const struct lock_sink_options *use, int *code);
/* Returns the exit code of the reading. */
int lock_reading_close(struct lock_reading *reading);
/* By thread: sums get the names of threads. */
void lock_name_threads(struct lock_sink *sink);
void lock_print_table(const struct lock_order *order, enum lock_group group, bool acquired, const struct format *format,
	struct writer *out);
/* Prints the usage of a part; returns the exit code. */
int lock_usage_of(const struct cli *cli, const char *part);
/* Prints a sentence and the help of the option of `contention` that err->hint names. */
void lock_usage_about(const struct cli *cli, const struct error *err);

/* Names of the running kernel's addresses. */
struct live_names {
	struct modules modules;
	struct symbols *symbols;
	const struct module *kernel;
	VEC(struct live_module) list;
	struct lock_text text;
};

struct live_module {
	uint64_t start, end;
	const struct module *module;
};

void live_names_open(struct live_names *names, struct cli *cli, const struct lock_options *options);
void live_names_close(struct live_names *names);
struct lock_frame live_names_frame(const struct live_names *names, uint64_t address);

/* contention -b: measures and prints; returns the exit code. */
int lock_live_run(struct cli *cli, struct lock_options *options, const struct lock_choice *choice, struct writer *out, int argc,
	const char **argv);
/* contention --user: the locks of programs. */
int lock_user_run(struct cli *cli, struct lock_options *options, int argc, const char **argv);
enum lock_group lock_group_of(const struct lock_options *options);
/* Prints the sums of contention; the caller sets the choice of fields, and the losses. */
void lock_contention_show(struct cli *cli, const struct lock_options *options, struct lock_view *view, const struct lock_stats *stats,
	struct writer *out);
