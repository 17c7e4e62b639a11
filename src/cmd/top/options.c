#include "cmd/top/options.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/column/columns.h"
#include "cmd/sampling.h"
#include "cmd/view_option.h"

#define T struct top_options

enum { MAX_STACK = 127, MAP_TIMEOUT_MS = 500 };

const char *const top_usage[] = { "perf top [<options>]", NULL };

static int add_word(struct top_options *o, enum event_word_kind kind, const char *text)
{
	vec_push(&o->words, ((struct event_word){ kind, text }));
	return 0;
}

static int set_event(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	return add_word(target, WORD_EVENT, arg);
}

static int set_pfm_event(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	return add_word(target, WORD_PFM_EVENT, arg);
}

static int set_filter(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	return add_word(target, WORD_FILTER, arg);
}

static int set_cgroup(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	return add_word(target, WORD_CGROUP, arg);
}

static int set_graph(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct top_options *o = target;
	o->chain.given = !unset;
	if (unset)
		o->sampling.call_graph = CALL_GRAPH_NONE;
	else if (o->sampling.call_graph == CALL_GRAPH_NONE)
		o->sampling.call_graph = CALL_GRAPH_FP;
	return 0;
}

static bool is_number(const char *word, size_t len)
{
	return len && strspn(word, "0123456789") >= len;
}

static bool is_record_mode(const char *word, size_t len)
{
	static const char *const modes[] = { "fp", "dwarf", "lbr", "unwind" };
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
		if (strlen(modes[i]) == len && memcmp(word, modes[i], len) == 0)
			return true;
	return false;
}

/* "dwarf,4096,graph,0.5,caller": how chains are recorded and how they are shown, in any order; a whole number behind dwarf or unwind is the
 * size of the copied stack. */
static int set_call_graph(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct top_options *o = target;
	CLEANUP_STR struct str record = { 0 };
	CLEANUP_STR struct str shown = { 0 };
	bool sized = false;
	if (unset || !arg)
		return set_graph(target, option, NULL, unset, err);
	for (const char *word = arg, *end; *word; word = end) {
		size_t len = strcspn(word, ",");
		end = word[len] ? word + len + 1 : word + len;
		bool mode = is_record_mode(word, len), size = sized && is_number(word, len);
		struct str *to = mode || size ? &record : &shown;
		sized = mode && (*word == 'd' || *word == 'u');
		if (to->len)
			str_putc(to, ',');
		str_add(to, word, len);
	}
	set_graph(target, option, NULL, false, err);
	o->call_graph_mode |= record.len > 0;
	if (record.len &&
	    call_graph_parse(record.text, &o->sampling.call_graph, &o->sampling.stack_size, &o->sampling.max_stack, err) < 0)
		return -1;
	return shown.len ? chain_option_parse(&o->chain, shown.text, err) : 0;
}

static int set_pages(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct top_options *o = target;
	return pages_parse(unset ? NULL : arg, &o->pages, &o->pages_rounded, err);
}

static int set_branch_filter(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct top_options *o = target;
	return branch_filter_parse(arg ? arg : "any", &o->sampling.branch, err);
}

static int set_branch_any(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct top_options *o = target;
	o->sampling.branch = unset ? 0 : BRANCH_ANY;
	return 0;
}

static int set_percent_limit(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct top_options *o = target;
	o->percent_limit = arg ? strtod(arg, NULL) : 0;
	return 0;
}

static int set_percentage(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct top_options *o = target;
	if (unset)
		return error_set(err, ERROR_USAGE, "--%s cannot be undone", option->long_name);
	return percentage_option_parse(arg, &o->relative, err);
}

static int set_ignore_callees(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct top_options *o = target;
	o->ignore_callees = unset ? NULL : arg;
	return unset ? 0 : callees_option_check(arg, err);
}

const struct option top_table[] = {
	OPT_CALLBACK('e', "event", T, words, "event", "the events to sample", set_event),
	OPT_CALLBACK_FLAGS(0, "pfm-events", T, words, "event", "events by the names of libpfm4", set_pfm_event, OPTION_OWN | OPTION_NONEG),
	OPT_CALLBACK(0, "filter", T, words, "filter", "a condition on the tracepoints of the preceding -e", set_filter),
	OPTION_ROW(U64, 'c', "count", T, count, "take a sample every n events", .arg = "n", .was_set = OPTION_GIVEN(T, count_given)),
	OPT_STRING('p', "pid", T, target.pids, "pid", "only these running processes"),
	OPT_STRING('t', "tid", T, target.tids, "tid", "only these running threads"),
	OPT_BOOL('a', "all-cpus", T, target.all_cpus, "everything that runs, on all CPUs (default)"),
	OPT_STRING('C', "cpu", T, target.cpus, "cpu", "only these CPUs: 0-3,7"),
	OPT_STRING('k', "vmlinux", T, symbols.vmlinux, "file", "the kernel's symbols are in this vmlinux"),
	OPT_BOOL(0, "ignore-vmlinux", T, symbols.no_vmlinux, "use no vmlinux even where one is found"),
	OPT_STRING(0, "kallsyms", T, symbols.kallsyms, "file", "the kernel's symbols are in this kallsyms"),
	OPT_BOOL('K', "hide_kernel_symbols", T, hide_kernel, "leave code of the kernel out"),
	OPT_CALLBACK('m', "mmap-pages", T, pages, "pages", "size of each ring: pages, or bytes with a unit", set_pages),
	OPT_INT('r', "realtime", T, realtime, "run with this SCHED_FIFO priority"),
	OPT_INT('d', "delay", T, delay_s, "seconds between two tables (2)"),
	OPT_BOOL('D', "dump-symtab", T, dump_symbols, "accepted without effect"),
	OPTION_ROW(INT, 'f', "count-filter", T, count_filter, "only functions with more samples than this", .arg = "n",
		.was_set = OPTION_GIVEN(T, count_filter_given)),
	OPTION_ROW(BOOL, 'i', "no-inherit", T, sampling.no_inherit, "leave out threads and processes that are started meanwhile",
		.was_set = OPTION_GIVEN(T, sampling.inherit_given)),
	OPT_STRING(0, "sym-annotate", T, annotate, "symbol name", "with --stdio: show the code of this function"),
	OPT_STRING('F', "freq", T, freq_text, "freq or 'max'", "samples a second"),
	OPT_INT('E', "entries", T, entries, "the most functions to show (as many as there is room for)"),
	OPT_BOOL('U', "hide_user_symbols", T, hide_user, "leave code of programs out"),
	OPT_BOOL(0, "tui", T, tui, "browse on the terminal (the default there)"),
	OPT_BOOL(0, "stdio", T, stdio, "print"),
	OPT_FORMAT(T, format),
	OPT_INCR('v', "verbose", T, verbose, "print more: addresses, sources of symbols"),
	OPTION_ROW(STRING, 's', "sort", T, sort, "keys that distinguish rows; +key adds to the default; keys:", .arg = "key[,key2...]",
		.words = columns_words),
	OPTION_ROW(STRING, 0, "fields", T, fields, "columns, in this order; +key adds to the default; keys:", .arg = "key[,keys...]",
		.words = columns_words),
	OPT_BOOL('n', "show-nr-samples", T, show_samples, "add a column: how many samples"),
	OPT_CALLBACK_FLAGS('g', NULL, T, chain, NULL, "sample call chains and show them", set_graph, OPTION_NOARG),
	OPT_CALLBACK(0, "call-graph", T, chain,
		"record_mode[,record_size],print_type,threshold[,print_limit],order,sort_key[,branch]",
		"how call chains are found: by frame pointers (fp), from copies of the stack (dwarf[,bytes]; unwind[,bytes]: cut stacks are "
		"completed by earlier ones) or by branch records (lbr); and how they are shown: see report -g", set_call_graph),
	OPT_BOOL(0, "children", T, children, "count a function's callees for it, too (where there are chains)"),
	OPT_INT(0, "max-stack", T, max_stack, "the most frames of a chain (127)"),
	OPT_CALLBACK(0, "ignore-callees", T, ignore_callees, "regex", "callees of these functions count as part of them", set_ignore_callees),
	OPT_BOOL(0, "show-total-period", T, show_period, "add a column: the sum of periods"),
	OPT_STRING(0, "dsos", T, filter.dsos, "dso[,dso...]", "only samples in these modules"),
	OPT_STRING(0, "comms", T, filter.comms, "comm[,comm...]", "only samples of these commands"),
	OPT_STRING(0, "symbols", T, filter.symbols, "symbol[,symbol...]", "only samples in these functions"),
	OPT_BOOL(0, "source", T, source, "source lines in annotations (on)"),
	OPT_BOOL(0, "asm-raw", T, asm_raw, "raw instruction bytes in annotations"),
	OPT_BOOL(0, "demangle-kernel", T, symbols.demangle_kernel, "show the kernel's names as in the source"),
	OPT_STRING(0, "objdump", T, objdump, "path", "the objdump that annotations use"),
	OPT_STRING(0, "addr2line", T, addr2line, "path", "accepted; source lines need no such program here"),
	OPT_STRING('M', "disassembler-style", T, disassembler_style, "disassembler style", "how annotations disassemble (intel)"),
	OPT_STRING(0, "prefix", T, prefix, "prefix", "put before paths of source files (with --prefix-strip)"),
	OPT_STRING(0, "prefix-strip", T, prefix_strip, "N", "components taken off paths of source files (with --prefix)"),
	OPT_STRING('u', "uid", T, target.uid, "user", "only the running processes of a user"),
	OPT_CALLBACK(0, "percent-limit", T, percent_limit, "percent", "leave rows below this share out", set_percent_limit),
	OPT_CALLBACK(0, "percentage", T, relative, "relative|absolute", "shares of the filtered samples, or of all (absolute)", set_percentage),
	OPT_STRING('w', "column-widths", T, column_widths, "width[,width...]", "these widths, one per column; 0 is as needed"),
	OPT_UINT(0, "proc-map-timeout", T, map_timeout_ms, "give up on the mappings of a running process after n ms"),
	OPT_CALLBACK_FLAGS('b', "branch-any", T, sampling, NULL, "a row for every branch that was taken", set_branch_any, OPTION_NOARG),
	OPT_CALLBACK('j', "branch-filter", T, sampling, "branch filter mask", "which branches", set_branch_filter),
	OPT_BOOL(0, "branch-history", T, branch_history, "weave the branches of samples into their call chains"),
	OPT_BOOL(0, "raw-trace", T, raw_trace, "tracepoints as plain fields"),
	OPT_BOOL('H', "hierarchy", T, hierarchy, "rows as a tree, a level for each key"),
	OPT_BOOL(0, "overwrite", T, sampling.overwrite, "let rings overwrite their oldest records (without effect: rings are read often)"),
	OPT_UINT(0, "num-thread-synthesize", T, synthesis_threads, "accepted without effect: running processes are read quickly by one"),
	OPT_CALLBACK('G', "cgroup", T, words, "name", "the events given so far only in this cgroup", set_cgroup),
	OPT_BOOL(0, "namespaces", T, sampling.namespaces, "record the namespaces of processes"),
	OPT_BOOL(0, "all-cgroups", T, sampling.cgroups, "record cgroups and which one each sample is of"),
	OPT_INT(0, "group-sort-idx", T, group_sort_index, "sort by this event of the group, counted from 0"),
	OPT_BOOL('z', "zero", T, zero, "forget the samples of a table when the next begins"),
	OPT_BOOL(0, "force", T, force, "accepted without effect"),
	OPT_BOOL(0, "no-bpf-event", T, sampling.no_bpf_event, "leave out information on BPF programs"),
	OPT_STRING(0, "switch-on", T, switch_on, "event", "count samples only after this event"),
	OPT_STRING(0, "switch-off", T, switch_off, "event", "and no more after this one"),
	OPT_BOOL(0, "show-on-off-events", T, show_switch_events, "count these two events themselves, too"),
	OPT_BOOL(0, "stitch-lbr", T, stitch_lbr, "join the call stacks of branch records (--call-graph lbr) to those of samples before"),
	OPT_END(),
};
#undef T

void top_defaults(void *target, const struct cli *cli)
{
	struct top_options *o = target;
	o->sampling.freq = SAMPLING_FREQ_DEFAULT;
	o->sampling.regs_mask = registers_for_dwarf();
	o->map_timeout_ms = MAP_TIMEOUT_MS;
	o->max_stack = MAX_STACK;
	o->delay_s = 2;
	o->children = config_bool(cli->config, "top.children", true);
	o->default_sort = "dso,symbol";
	o->source = true;
	o->chain.chain = (struct chain_options){ .mode = CHAIN_GRAPH, .order = CHAIN_CALLER, .min_percent = 0.5 };
}
