#include "cmd/lock/lock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/cgroup.h"
#include "os/file.h"

/* Splits a list at commas and blanks. */
static void add_words(struct lock_options *options, struct lock_words *words, const char *text)
{
	char *copy = arena_string(&options->texts, text, strlen(text)), *rest = copy;
	for (char *word = strtok_r(copy, ", ", &rest); word; word = strtok_r(NULL, ", ", &rest))
		vec_push(&words->list, word);
}

static int set_types(void *target, __attribute__((unused)) const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct lock_options *options = target;
	return unset ? 0 : lock_types_parse(&options->types, arg, err);
}

/* A word of hexadecimal digits alone is an address; any other is the name of a variable. */
static int set_locks(void *target, __attribute__((unused)) const struct option *option, const char *arg, bool unset,
	__attribute__((unused)) struct error *err)
{
	struct lock_options *options = target;
	struct lock_words words = { 0 };
	if (!unset)
		add_words(options, &words, arg);
	for (size_t i = 0; i < words.list.count; i++) {
		char *end;
		uint64_t address = strtoull(words.list.items[i], &end, 16);
		if (*end)
			vec_push(&options->symbols.list, words.list.items[i]);
		else
			vec_push(&options->addresses.list, address);
	}
	vec_fini(&words.list);
	return 0;
}

static int set_callers(void *target, __attribute__((unused)) const struct option *option, const char *arg, bool unset,
	__attribute__((unused)) struct error *err)
{
	struct lock_options *options = target;
	if (!unset)
		add_words(options, &options->callers, arg);
	return 0;
}

struct wanted_cgroup {
	const char *name;
	uint64_t id;
	bool found;
};

static int find_cgroup(void *context, uint64_t id, const char *path)
{
	struct wanted_cgroup *wanted = context;
	const char *name = wanted->name + (*wanted->name == '/'), *other = path + (*path == '/');
	if (strcmp(name, other) == 0) {
		wanted->id = id;
		wanted->found = true;
	}
	return 0;
}

static int set_cgroups(void *target, __attribute__((unused)) const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct lock_options *options = target;
	struct lock_words words = { 0 };
	int status = 0;
	if (!unset)
		add_words(options, &words, arg);
	for (size_t i = 0; status == 0 && i < words.list.count; i++) {
		struct wanted_cgroup wanted = { .name = words.list.items[i] };
		status = cgroup_each(find_cgroup, &wanted, err);
		if (status == 0 && !wanted.found)
			status = error_set(err, ERROR_USAGE, "Failed to read cgroup id for %s", wanted.name);
		else if (status == 0)
			vec_push(&options->cgroups.list, wanted.id);
	}
	vec_fini(&words.list);
	return status;
}

static int set_map_entries(void *target, __attribute__((unused)) const struct option *option, const char *arg, bool unset,
	struct error *err)
{
	struct lock_options *options = target;
	char *end = NULL;
	errno = 0;
	uint64_t value = unset ? 0 : strtoull(arg, &end, 0);
	if (unset || *end || errno || value > UINT32_MAX)
		return error_set(err, ERROR_USAGE, "invalid BPF map length: %s", unset ? "" : arg);
	options->map_entries = value;
	return 0;
}

/* The kernel's limit of call chains. */
static long depth_limit(void)
{
	enum { DEFAULT_DEPTH = 127 };
	char text[32];
	return file_line("/proc/sys/kernel/perf_event_max_stack", text, sizeof text) ? strtol(text, NULL, 10) : DEFAULT_DEPTH;
}

static int set_depth(void *target, __attribute__((unused)) const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct lock_options *options = target;
	char *end = NULL;
	errno = 0;
	long value = unset ? 0 : strtol(arg, &end, 0);
	if (unset || *end || errno || value < 0 || value > depth_limit())
		return error_set(err, ERROR_USAGE, "invalid max stack depth: %s", unset ? "" : arg);
	options->max_stack = (int)value;
	return 0;
}

#define O struct lock_options
const struct option lock_contention_table[] = {
	OPT_STRING('k', "key", O, key, "field", "order by this field: contended, wait_total, wait_max, wait_min, avg_wait (wait_total)"),
	OPT_STRING('F', "field", O, fields, "field,...", "show these fields (contended,wait_total,wait_max,avg_wait)"),
	OPT_BOOL('t', "threads", O, threads, "add up by thread"),
	OPT_BOOL('b', "use-bpf", O, bpf, "measure now, by BPF programs, instead of reading a recording"),
	OPT_BOOL('a', "all-cpus", O, all_cpus, "measure the whole machine (unless a command, threads or CPUs are given)"),
	OPT_STRING('C', "cpu", O, cpus, "cpu", "measure these CPUs"),
	OPT_STRING('p', "pid", O, pids, "pid", "measure these processes with all their threads"),
	OPT_STRING(0, "tid", O, tids, "tid", "measure these threads"),
	OPT_CALLBACK('M', "map-nr-entries", O, map_entries, "num", "room for so many sums (16384)", set_map_entries),
	OPT_CALLBACK(0, "max-stack", O, max_stack, "num", "the most frames of a call chain (8)", set_depth),
	OPT_INT(0, "stack-skip", O, stack_skip, "leave out so many innermost frames (4)"),
	OPT_INT('E', "entries", O, entries, "show so many rows"),
	OPT_BOOL('l', "lock-addr", O, by_address, "add up by the address of the lock"),
	OPT_CALLBACK('Y', "type-filter", O, types, "FLAGS", "only these kinds of locks, as in mutex,rwsem:R", set_types),
	OPT_CALLBACK('L', "lock-filter", O, addresses, "ADDRS/NAMES", "only the locks with these addresses or names", set_locks),
	OPT_CALLBACK('S', "callstack-filter", O, callers, "NAMES", "only waits with such a function in the call chain", set_callers),
	OPT_BOOL('o', "lock-owner", O, owners, "add up by the thread that has the lock"),
	OPT_STRING('x', "field-separator", O, separator, "separator", "print numbers separated by this text, without units"),
	OPT_BOOL(0, "lock-cgroup", O, by_cgroup, "add up by cgroup"),
	OPT_CALLBACK('G', "cgroup-filter", O, cgroups, "CGROUPS", "only threads of these cgroups", set_cgroups),
	OPTION_ROW(BOOL, 0, "user", O, user, "measure the locks of programs: waits in futex(2), with their holders", .flags = OPTION_OWN),
	OPT_FORMAT(O, format),
	LOCK_ROWS,
	OPT_END(),
};
#undef O

const char *const lock_contention_usage[] = { "perf lock contention [<options>]", NULL };

/* Two options that exclude each other, or a missing one: a sentence, and the help of the options. */
static const struct conflict {
	const char *text, *first, *second;
} conflicts[] = {
	{ "Cannot use thread and addr mode together", "--threads", "--lock-addr" },
	{ "Lock owners are available only with BPF", "--lock-owner", "--use-bpf" },
	{ "Cannot use owner and addr mode together", "--lock-owner", "--lock-addr" },
	{ "Cgroups are available only with BPF", "--lock-cgroup", "--use-bpf" },
	{ "Cannot use cgroup and addr mode together", "--lock-cgroup", "--lock-addr" },
	{ "Cannot use cgroup and thread mode together", "--lock-cgroup", "--threads" },
	{ "Cannot use the separator that is already used", "x", NULL },
};

static const struct conflict *find_conflict(const struct lock_options *o)
{
	const bool found[] = { o->threads && o->by_address, o->owners && !o->bpf, o->owners && o->by_address, o->by_cgroup && !o->bpf,
		o->by_cgroup && o->by_address, o->by_cgroup && o->threads, o->separator && strpbrk(o->separator, ":+.") };
	for (size_t i = 0; i < sizeof found / sizeof *found; i++)
		if (found[i])
			return &conflicts[i];
	return NULL;
}

static int explain_conflict(struct cli *cli, const struct conflict *conflict)
{
	struct error err = { .kind = ERROR_OPTION };
	snprintf(err.text, sizeof err.text, "%s", conflict->text);
	snprintf(err.hint, sizeof err.hint, "%s", conflict->first);
	lock_usage_about(cli, &err);
	if (conflict->second) {
		err.text[0] = '\0';
		snprintf(err.hint, sizeof err.hint, "%s", conflict->second);
		lock_usage_about(cli, &err);
	}
	return EXIT_FAILED;
}

enum lock_group lock_group_of(const struct lock_options *options)
{
	return options->threads || options->owners ? LOCK_GROUP_TASK : options->by_address ? LOCK_GROUP_ADDRESS :
		options->by_cgroup ? LOCK_GROUP_CGROUP : LOCK_GROUP_CALLER;
}

void lock_contention_show(struct cli *cli, const struct lock_options *options, struct lock_view *view, const struct lock_stats *stats,
	struct writer *out)
{
	struct lock_order order = { 0 };
	lock_stats_order(stats, view->choice->key, false, &order);
	view->order = &order;
	view->group = lock_group_of(options);
	view->separator = options->separator;
	view->owners = options->owners;
	view->quiet = options->quiet;
	view->verbose = options->input.verbose;
	view->entries = options->entries;
	if (format_is_table(options->format))
		lock_print_table(&order, view->group, false, options->format, cli->out);
	else
		lock_contention_print(view, out);
	vec_fini(&order.list);
}

static int run_recorded(struct cli *cli, struct lock_options *options, const struct lock_choice *choice, struct writer *out)
{
	struct lock_reading reading;
	struct lock_view view = { .choice = choice };
	int code = 0;
	const struct lock_sink_options use = { .group = lock_group_of(options), .contention_only = true,
		.max_stack = (unsigned)options->max_stack, .stack_skip = options->stack_skip > 0 ? (unsigned)options->stack_skip : 0,
		.types = options->types.list.items, .type_count = options->types.list.count, .addresses = &options->addresses,
		.symbols_wanted = &options->symbols, .callers = &options->callers };
	if (lock_read(&reading, cli, options, choice, &use, &code) == 0) {
		for (size_t i = 0; i < reading.sink.unknown.list.count; i++)
			cli_warn(cli, "ignore unknown symbol: %s", reading.sink.unknown.list.items[i]);
		lock_name_threads(&reading.sink);
		view.broken = reading.sink.broken;
		lock_contention_show(cli, options, &view, &reading.sink.stats, out);
		writer_flush(out, NULL);
	}
	int end = lock_reading_close(&reading);
	return code ? code : end;
}

int lock_contention_run(struct cli *cli, void *filled, int argc, const char **argv)
{
	struct lock_options *options = filled;
	struct lock_output output;
	struct lock_choice choice;
	struct error err = { 0 };
	const struct conflict *conflict = find_conflict(options);
	if (conflict)
		return explain_conflict(cli, conflict);
	if (options->user)
		return lock_user_run(cli, options, argc, argv);
	const char *fields = options->fields ? options->fields : "contended,wait_total,wait_max,avg_wait";
	if (lock_choice_parse(&choice, fields, options->key ? options->key : "wait_total", true, &err) < 0) {
		cli_complain(cli, &err);
		return EXIT_INVALID;
	}
	if (lock_output_open(&output, cli, options, &err) < 0)
		return cli_complain(cli, &err);
	int code = options->bpf ? lock_live_run(cli, options, &choice, output.to, argc, argv) :
		run_recorded(cli, options, &choice, output.to);
	return lock_output_close(&output, cli, code);
}
