#include "cmd/trace/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "cmd/trace/samples.h"
#include "os/cgroup.h"
#include "os/process.h"

enum { OUTPUT_BYTES = 1 << 18, FILE_MODE = 0666, STACK_BYTES = 8192 };

static bool system_file(void *context, int pid, int fd, char *name, size_t size)
{
	char path[64];
	struct trace_run *run = context;
	run->asked_files++;
	snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
	ssize_t length = readlink(path, name, size - 1);
	if (length < 0)
		return false;
	name[length] = '\0';
	return true;
}

static bool system_comm(void *context, int tid, char *name, size_t size)
{
	char comm[PROCESS_COMM_SIZE];
	task_name(tid, tid, comm);
	snprintf(name, size, "%s", comm);
	return *comm;
}

/* The output file; one that has content is renamed. */
static int open_output(struct trace_run *run, struct error *err)
{
	const char *path = run->options->output;
	struct place place;
	struct stat found;
	if (!path)
		return 0;
	if (place_find(&place, path, err) < 0)
		return -1;
	if (fstatat(place.folder, place.name, &found, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(found.st_mode) && found.st_size && !place.foreign) {
		char old[sizeof place.name + 8];
		snprintf(old, sizeof old, "%s.old", place.name);
		renameat(place.folder, place.name, place.folder, old);
		place_close(&place);
		if (place_find(&place, path, err) < 0)
			return -1;
	}
	run->file = place_open(&place, path, O_WRONLY, FILE_MODE, err);
	place_close(&place);
	return run->file < 0 ? -1 : 0;
}

static const char *call_name(void *context, uint32_t number)
{
	struct trace_run *run = context;
	const struct call *call = trace_call_of(run, number % SYSCALL_NUMBERS, number >= SYSCALL_NUMBERS);
	return call ? call->name : "?";
}

static int note_cgroup(void *context, uint64_t id, const char *path)
{
	struct trace_run *run = context;
	idmap_set(&run->cgroup_paths, id, strtab_add_line(&run->cgroups, path, strlen(path)));
	return 0;
}

/* Before the run and after it: cgroups come and go. */
static void note_cgroups(struct trace_run *run)
{
	if (run->options->summary_mode == SUMMARY_BY_CGROUP)
		cgroup_each(note_cgroup, run, NULL);
}

static const char *cgroup_name(void *context, uint64_t id)
{
	const struct trace_run *run = context;
	uint32_t path = idmap_get(&run->cgroup_paths, id);
	return path == IDMAP_NONE ? NULL : strtab_text(&run->cgroups, path);
}

void trace_print_summary(struct trace_run *run)
{
	const struct trace_command *o = run->options;
	struct trace_summary summary = { .mode = o->summary_mode, .name = call_name, .cgroup_name = cgroup_name, .context = run,
		.scheduled = o->sched };
	struct trace_results results;
	note_cgroups(run);
	trace_summary_init(&summary, &run->tasks, &run->sums, run->events);
	if (format_is_table(o->format)) {
		trace_results_init(&results, &summary);
		o->format->print(&results.results, &run->out);
	} else {
		summary_text_print(&summary, &(struct summary_text_options){ o->error_summary, o->max_summary }, &run->out);
	}
	trace_summary_fini(&summary);
}

/* A trace of all would trace what shows its own lines, without end. */
static void hide_terminal(struct trace_command *o)
{
	struct process_status status;
	for (pid_t pid = getppid(); pid > 1 && process_status(pid, pid, &status); pid = status.ppid)
		if (strcmp(status.comm, "sshd") == 0 || strncmp(status.comm, "gnome-terminal", 14) == 0 || strcmp(status.comm, "tmux: server") == 0)
			vec_push(&o->hidden, pid);
}

struct kernel_structs *trace_types(struct trace_run *run)
{
	struct error err = { 0 };
	if (!run->types_asked && kernel_structs_open(&run->types, &err) < 0 && run->options->force_btf)
		cli_warn(run->cli, "--force-btf: %s", err.text);
	run->types_asked = true;
	return run->types.types ? &run->types : NULL;
}

static uint32_t size_of_type(void *context, const char *name, size_t length)
{
	struct kernel_structs *types = trace_types(context);
	uint32_t size = 0;
	return types && kernel_structs_find(types, name, length, &size) ? size : 0;
}

static bool print_type(void *context, const struct typed_bytes *typed, struct writer *out)
{
	struct kernel_structs *types = trace_types(context);
	uint32_t whole, id = types ? kernel_structs_find(types, typed->name, typed->length, &whole) : 0;
	uint32_t used = id && typed->member ? kernel_structs_member(types, id, typed->member) : 0;
	if (used && !typed->unnamed)
		writer_printf(out, "(union %.*s)", (int)typed->length, typed->name);
	if (used)
		writer_putc(out, '{');
	if (id)
		kernel_structs_print(types, used ?: id, typed->bytes, typed->size, typed->unnamed, out);
	if (used)
		writer_puts(out, ",}");
	return id;
}

/* The kernel's types describe the structures of 64-bit calls. */
static void set_types(struct trace_run *run)
{
	run->call_types = (struct call_types){ run, run->options->force_btf, size_of_type, print_type };
	run->calls[0].types = &run->call_types;
}

static void open_run(struct trace_run *run)
{
	struct trace_command *o = run->options;
	if ((o->min_stack || o->max_stack) && !o->sampling.call_graph) { /* as in perf */
		o->sampling.call_graph = CALL_GRAPH_DWARF;
		o->sampling.stack_size = STACK_BYTES;
	}
	if (!run->command && !o->input)
		hide_terminal(o);
	const enum syscalls native = trace_native_table(), tables[2] = { native, syscalls_compat(native) };
	calls_init(&run->calls[0], tables[0]);
	calls_init(&run->calls[1], tables[1]);
	set_types(run);
	note_cgroups(run);
	call_selection_make(&run->selection, o, tables);
	o->text.comm = o->comm;
	o->text.failures_only = o->failures;
	o->text.silent = o->summary_only;
	o->text.full_time = o->full_time;
	o->text.least_ns = o->least_ns;
	o->text.colours = run->cli->tty_out;
	o->text.calls = run->traces_calls;
	int closing = syscall_number(native, "close");
	o->text.no_files = closing < 0 || !run->selection.shown[0][closing];
	run->tasks.follows_files = run->selection.all;
	run->tasks.keep_ended = o->summary;
	run->tasks.sources = (struct task_sources){ .context = run, .file = system_file, .comm = system_comm };
	writer_open(&run->out, run->file >= 0 ? run->file : STDERR_FILENO, OUTPUT_BYTES);
	run->out.terminal = run->file < 0 && run->cli->tty_err;
	run->out.screen = run->cli->out->screen;
	trace_text_init(&run->text, &o->text, &run->tasks, &run->out);
}

static void close_run(struct trace_run *run)
{
	trace_text_fini(&run->text);
	writer_fini(&run->out);
	trace_tasks_fini(&run->tasks);
	call_sums_fini(&run->sums);
	strtab_fini(&run->cgroups);
	idmap_fini(&run->cgroup_paths);
	calls_fini(&run->calls[0]);
	calls_fini(&run->calls[1]);
	kernel_structs_close(&run->types);
	if (run->file >= 0)
		close(run->file);
}

/* What the programs do not do: other events, and call chains. */
static bool needs_tracepoints(const struct trace_command *o)
{
	return o->words.count || o->faults || o->sampling.call_graph || o->sched || o->switch_on || o->switch_off ||
		(o->print_sample && o->summary_only);
}

static int run_live(struct trace_run *run, struct error *err)
{
	bool plain = !needs_tracepoints(run->options);
	if (plain && trace_run_programs(run, err) == 0)
		return 0;
	if (plain && (!run->refused || (run->options->summary && run->options->summary_mode == SUMMARY_BY_CGROUP)))
		return -1;
	run->refusal = *err;
	memset(err, 0, sizeof *err);
	int status = trace_run_tracepoints(run, err);
	if (status < 0 && plain && !run->opened)
		*err = run->refusal; /* it names the right that is missing */
	return status;
}

/* Only the programs send the cgroups of threads. */
static int check_mode(const struct trace_run *run, struct error *err)
{
	const struct trace_command *o = run->options;
	if (!o->summary || o->summary_mode != SUMMARY_BY_CGROUP)
		return 0;
	if (o->input)
		return error_set(err, ERROR_USAGE, "--summary-mode=cgroup needs BPF programs: a recording does not have the cgroups of threads");
	if (needs_tracepoints(o))
		return error_set(err, ERROR_USAGE, "--summary-mode=cgroup sums system calls alone, without other events and call chains");
	return 0;
}

static int run_trace(struct trace_run *run)
{
	struct error err = { 0 };
	if (check_mode(run, &err) < 0)
		return cli_complain(run->cli, &err), EXIT_FAILED;
	if (open_output(run, &err) < 0)
		return cli_complain(run->cli, &err), EXIT_FAILED;
	open_run(run);
	int status = run->options->input ? trace_show_recording(run, &err) : run_live(run, &err);
	if (status == 0 && run->options->summary)
		trace_print_summary(run);
	if (status == 0 && run->options->tool_stats)
		writer_printf(&run->out, "Stats:\n vfs_getname : %llu\n proc_getname: %llu\n", (unsigned long long)run->tasks.opened_files,
			(unsigned long long)run->asked_files);
	int flushed = writer_flush(&run->out, status < 0 ? NULL : &err);
	if (status < 0 && run->complained)
		return run->exit_code;
	if (status < 0 || flushed < 0) {
		cli_complain(run->cli, &err);
		return err.sys == ENOENT && (run->options->switch_on || run->options->switch_off) ? EXIT_NO_EVENT : EXIT_FAILED;
	}
	return run->exit_code;
}

static int trace_run(struct cli *cli, void *options, int argc, const char **argv)
{
	struct trace_command *o = options;
	struct trace_run *run = memory_zero(1, sizeof *run);
	run->cli = cli;
	run->options = o;
	run->file = -1;
	run->command = argc ? argv : NULL;
	if ((o->error_summary && !o->summary) || format_is_table(o->format))
		o->summary_only = true;
	o->summary |= o->summary_only;
	run->traces_calls = o->syscalls || o->selected.count || o->all_but_selected || !(o->faults || o->words.count);
	bool records = argc && strcmp(argv[0], "record") == 0;
	int code = records ? trace_record(run, argc - 1, argv + 1) : run_trace(run);
	if (!records)
		close_run(run);
	free(run);
	return code;
}

static void trace_release(void *options)
{
	trace_options_fini(options);
}

static const char *const trace_subcommands[] = { "record", NULL };

const struct command command_trace = {
	.name = "trace",
	.summary = "show the system calls of programs while they run",
	.usage = trace_usage,
	.options = trace_table,
	.options_size = sizeof(struct trace_command),
	.options_mode = OPTIONS_STOP_AT_NON_OPTION,
	.defaults = trace_defaults,
	.run = trace_run,
	.release = trace_release,
	.subcommands = trace_subcommands,
};
