/* What the files of `script` share: its options, and --per-event-dump's files. */
#pragma once
#include "analysis/fields.h"
#include "analysis/stream.h"
#include "base/options.h"
#include "base/str.h"
#include "cmd/command.h"
#include "os/cpus.h"
#include "symbol/symbol.h"

struct script_options {
	const char *input, *cpus, *comms, *pids, *tids, *dsos, *wanted, *stop_at, *time, *switch_on, *switch_off;
	const char *addr2line;
	struct fields fields;
	struct str notes;          /* what was odd about -F */
	struct symbols_options symbols;
	bool dump, dump_unordered, latency, debug, header, header_only, full_info, hide_call_graph, all_cpus, list;
	bool reltime, deltatime, nanoseconds, show_kernel_path, force, per_event_dump, full_source_path, demangle;
	bool show_task, show_mmap, show_switch, show_namespace, show_cgroup, show_lost, show_round, show_bpf, show_text_poke;
	bool show_on_off, itrace, stitch, inlines;
	int verbose, max_blocks, address_range;
	unsigned max_stack;
};

extern const struct option script_table[];
extern const char *const script_usage[], *const script_subcommands[];
void script_defaults(void *options, const struct cli *cli);
/* -l: says which scripts there are. */
int script_list(struct cli *cli);
/* The instruction set of this machine, which recordings that tell none are taken for. */
enum isa script_host_isa(void);

/* One file per event. */
struct event_file {
	struct writer out;
	char *path;
	int fd;
};

struct event_files {
	const char *prefix;
	VEC(struct event_file *) list;
};

/* As stream_options.event_writer; context: struct event_files. */
struct writer *event_files_open(void *context, uint32_t event, const char *name, struct error *err);
/* Writes, closes, and tells what was written. */
void event_files_close(struct event_files *files, const struct stream_counters *counters, struct writer *out);
