/* Shared by the files of `script`: its options, code of programs, and the files of --per-event-dump. */
#pragma once
#include "script/fields.h"
#include "script/listing.h"
#include "base/options.h"
#include "base/str.h"
#include "cmd/command.h"
#include "cmd/script/dlfilter.h"
#include "cmd/filter.h"
#include "cmd/format_option.h"
#include "cmd/input.h"
#include "os/written_file.h"

struct script_options {
	struct input_options input;
	struct filter_options filter;
	const char *stop_at, *switch_on, *switch_off;
	const char *addr2line, *script, *guestmodules;
	struct dlfilter_options dlfilter;
	struct fields fields;
	const struct format *format;
	struct str notes;          /* warnings about -F */
	struct itrace itrace;
	bool dump, dump_unordered, latency, debug, header, header_only, full_info, hide_call_graph, all_cpus, list;
	bool reltime, deltatime, nanoseconds, show_kernel_path, per_event_dump, full_source_path;
	bool show_task, show_mmap, show_switch, show_namespace, show_cgroup, show_lost, show_round, show_bpf, show_text_poke;
	bool show_on_off, stitch, inlines, inlines_given, xed, max_stack_given, list_dlfilters, guest_code;
	const char *graph_functions;
	int max_blocks, address_range;
	unsigned max_stack, call_object_width;
};

extern const struct option script_table[];
extern const char *const script_usage[], *const script_subcommands[];
void script_defaults(void *options, const struct cli *cli);
/* -l */
int script_list(struct cli *cli);
/* The instruction set of this machine, which is assumed for recordings without one. */
enum isa script_host_isa(void);

/* One file per event. */
struct event_file {
	struct written_file written;
	char *path;
};

struct event_files {
	const char *prefix;
	VEC(struct event_file *) list;
};

/* As listing_options.event_writer; context: struct event_files. */
struct writer *event_files_open(void *context, uint32_t event, const char *name, struct error *err);
/* Renames the files to their final names and prints their sizes. Stops at the first that cannot be written: *err names it. */
int event_files_keep(struct event_files *files, const struct listing_counters *counters, struct writer *out, struct error *err);
/* Removes the files that were not renamed. */
void event_files_close(struct event_files *files);
