/* What the files of `script` share: its options, and --per-event-dump's files. */
#pragma once
#include <pthread.h>

#include "analysis/fields.h"
#include "analysis/stream.h"
#include "base/options.h"
#include "base/str.h"
#include "cmd/command.h"
#include "image/search.h"
#include "os/cpus.h"
#include "symbol/symbol.h"

struct script_options {
	const char *input, *cpus, *comms, *pids, *tids, *dsos, *wanted, *stop_at, *time, *switch_on, *switch_off;
	const char *addr2line;
	struct fields fields;
	struct str notes;          /* what was odd about -F */
	struct symbols_options symbols;
	bool dump, dump_unordered, latency, debug, header, header_only, full_info, hide_call_graph, all_cpus, list;
	bool reltime, deltatime, nanoseconds, show_kernel_path, force, per_event_dump, full_source_path, demangle, jit, join_stacks;
	bool show_task, show_mmap, show_switch, show_namespace, show_cgroup, show_lost, show_round, show_bpf, show_text_poke;
	bool show_on_off, itrace, stitch, inlines, inlines_given;
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

/* Files of modules, opened as they are asked for. */
struct code_files {
	pthread_mutex_t lock;
	struct image_options options;
	VEC(struct code_file *) list; /* by module id */
	const char *kcore_path;       /* the kernel's code as the recording brought it along; "" or NULL */
	struct image kcore;
	bool kcore_tried;
};

void code_files_init(struct code_files *files, const struct image_options *options);
void code_files_fini(struct code_files *files);
/* As stream_options.read_code; context: struct code_files. */
size_t code_files_read(void *context, const struct module *module, uint64_t offset, uint8_t *out, size_t size, bool *is_64bit);

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
