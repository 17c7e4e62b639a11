#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "analysis/place/kernel_extent.h"
#include "base/clock.h"
#include "cmd/environment.h"
#include "cmd/kernel_files.h"
#include "base/memory.h"
#include "cmd/top/listed_code.h"
#include "cmd/top/top.h"
#include "data/evsel_name.h"
#include "os/permission.h"
#include "tracepoint/tracepoint.h"

enum { FIRST_TABLE_MS = 200, FIRST_SAMPLES_MS = 100, LOOK_MS = 100 };

static void add_record(void *context, const struct resolved *r, size_t slice)
{
	struct top *top = context;
	unsigned mode = record_cpumode(r->record);
	bool kernel = mode == RECORD_MISC_KERNEL || mode == RECORD_MISC_GUEST_KERNEL;
	if (r->record->type == RECORD_SAMPLE) {
		top->counts.samples++;
		top->counts.kernel_samples += kernel;
		top->counts.exact_samples += (r->record->misc & RECORD_MISC_EXACT_IP) != 0;
		if (kernel ? top->options->hide_kernel : top->options->hide_user)
			return;
		if (top->browser)
			top_browser_sample(top->browser, r);
		if (top->listed)
			listed_code_add(top->listed, r);
	}
	top->profile_sink.record(top->profile_sink.context, r, slice);
}

static void end_batch(void *context, struct session *session, size_t slices)
{
	struct top *top = context;
	top->profile_sink.batch_end(top->profile_sink.context, session, slices);
}

/* perf's top names the kernel so, unlike its report. */
static void name_kernel(struct top *top)
{
	const struct modules *modules = &top->live.session.model.modules;
	for (size_t i = 0; i < modules->list.count && !top->kernel_named; i++) {
		struct module *module = modules->list.items[i];
		if (!module || module->kind != MODULE_KERNEL)
			continue;
		module->short_name = "[kernel]";
		top->kernel_named = true;
	}
}

/* The rows of the last tables move to a new generation of the model, so that neither grows with the processes that have ended. */
static void renew(struct top *top)
{
	struct model *model = &top->live.session.model;
	struct model old;
	bool *held = memory_zero(model->threads.count + 1, sizeof *held);
	uint32_t *threads = memory_zero(model->threads.count + 1, sizeof *threads);
	struct model_renewal renewal = { .held = held, .threads = threads, .previous = &old };
	profile_hold(&top->profile, held);
	if (top->browser)
		top_browser_renew(top->browser);
	if (top->listed)
		listed_code_renew(top->listed);
	live_session_renew(&top->live, &renewal);
	profile_renew(&top->profile, &old, threads);
	profile_drop_symbols(&top->profile);
	model_fini_history(&old);
	free(held);
	free(threads);
	memory_give_back();
}

/* last: no further table follows. */
static void refresh(struct top *top, bool last)
{
	enum { ROOM = 1 << 20 };
	uint64_t now = now_ns();
	const struct profile_view view = { .no_kernel = top->options->hide_kernel, .no_user = top->options->hide_user };
	if (live_session_is_grown(&top->live) || profile_growth(&top->profile) > top->rows_bytes * 2 + ROOM) {
		renew(top);
		top->rows_bytes = profile_growth(&top->profile);
	}
	profile_show(&top->profile, &view);
	if (top->browser) {
		top_browser_publish(top->browser, last);
	} else {
		top_screen_print(top, (double)(now - top->counts.since_ns) / 1e9);
		if (writer_flush(top->cli->out, NULL) < 0)
			top->quit = true; /* the reader of a pipe, or the terminal, is gone */
	}
	if (top->listed)
		listed_code_decay(top->listed, top->options->zero);
	if (top->options->zero)
		profile_zero(&top->profile);
	else
		profile_decay(&top->profile);
	top->counts = (struct top_counts){ .since_ns = now };
}

static void show_event_choice(const struct top *top, struct str *text)
{
	const struct evlist *evlist = session_evlist(&top->live.session);
	char name[EVSEL_NAME_MAX];
	for (size_t i = 0; i < evlist->events.count; i++)
		str_printf(text, "\n\t%zu %s", i, evsel_name(&evlist->events.items[i], name, sizeof name));
}

static int typed_number(const struct top *top, int otherwise)
{
	char *end;
	errno = 0;
	long value = strtol(top->keys.line, &end, 10);
	return end == top->keys.line || *end || errno || value < 0 || value > 1000000 ? otherwise : (int)value;
}

static void act(struct top *top, enum key_action action, struct str *echo)
{
	struct top_options *o = top->options;
	switch (action) {
	case KEY_QUIT:
		top->quit = true;
		break;
	case KEY_MENU:
		top_screen_menu(top, echo);
		break;
	case KEY_HIDE_KERNEL:
		o->hide_kernel = !o->hide_kernel;
		break;
	case KEY_HIDE_USER:
		o->hide_user = !o->hide_user;
		break;
	case KEY_ZERO:
		o->zero = !o->zero;
		break;
	case KEY_DELAY:
		o->delay_s = typed_number(top, o->delay_s);
		o->delay_s += !o->delay_s;
		break;
	case KEY_ENTRIES:
		o->entries = typed_number(top, o->entries);
		break;
	case KEY_EVENT:
		top->event = (uint32_t)typed_number(top, (int)top->event);
		if (top->event >= session_evlist(&top->live.session)->events.count)
			top->event = 0;
		break;
	case KEY_COUNT:
		o->count_filter = typed_number(top, o->count_filter);
		o->count_filter_given = true;
		break;
	case KEY_PERCENT:
		o->percent_limit = typed_number(top, (int)o->percent_limit);
		break;
	case KEY_SYMBOL:
	case KEY_STOP:
		listed_code_free(top->listed);
		top->listed = action == KEY_SYMBOL && *top->keys.line ? listed_code_new(top, top->keys.line) : NULL;
		break;
	case KEY_NONE:
		break;
	}
}

/* Returns whether a key asks for a new table now. */
static bool take_keys(struct top *top)
{
	char bytes[64];
	CLEANUP_STR struct str echo = { 0 };
	bool again = false;
	ssize_t n = tcgetpgrp(top->keys.fd) == getpgrp() || !top->keys.terminal ? read(top->keys.fd, bytes, sizeof bytes) : 0;
	if (n <= 0) {
		live_session_unwatch(&top->live, top->keys.fd);
		top->watches_keys = false;
	}
	for (ssize_t i = 0; i < n && !top->quit; i++) {
		enum key_action before = top->keys.asking, action = keys_take(&top->keys, bytes[i], &echo);
		if (!before && top->keys.asking == KEY_EVENT)
			show_event_choice(top, &echo);
		act(top, action, &echo);
		again |= action != KEY_NONE && action != KEY_MENU;
	}
	writer_add_styled(top->cli->out, str_text(&echo), echo.len);
	if (echo.len && writer_flush(top->cli->out, NULL) < 0)
		top->quit = true;
	return again;
}

int top_measure(struct top *top, struct error *err)
{
	const struct sink sink = { .context = top, .record = add_record, .batch_end = end_batch, .serial = true };
	uint64_t started = now_ns(), next = 0;
	int status;
	top->counts.since_ns = started;
	live_session_begin(&top->live, &sink);
	do {
		uint32_t ready;
		uint64_t now = now_ns(), wait_ms = next > now ? (next - now) / 1000000 + 1 : 0;
		if (top->watches_keys)
			keys_prepare(&top->keys);
		status = live_session_step(&top->live, (int)(wait_ms < LOOK_MS ? wait_ms : LOOK_MS), &ready, err);
		if (status < 0)
			return -1;
		now = now_ns();
		if (!next) { /* the first step found what already runs */
			name_kernel(top);
			next = started + FIRST_TABLE_MS * 1000000u;
			next = next > now + FIRST_SAMPLES_MS * 1000000u ? next : now + FIRST_SAMPLES_MS * 1000000u;
			top->counts.since_ns = now;
			continue;
		}
		top->quit |= ready & 1u << TOP_STOP_BIT;
		if (top->browser)
			top_browser_serve(top->browser);
		bool again = ready & 1u << TOP_KEYS_BIT && take_keys(top);
		bool last = !status && !live_session_signal(&top->live); /* the target has ended */
		if (top->quit || !(again || last || (status && now >= next)) || (keys_are_busy(&top->keys) && status))
			continue;
		refresh(top, last);
		next = now + (uint64_t)top->options->delay_s * 1000000000u;
	} while (status > 0 && !top->quit);
	return live_session_end(&top->live, err);
}

static void describe_target(struct top *top)
{
	const struct top_options *o = top->options;
	const struct target *target = &acquisition_measurement(top->live.acquisition)->target;
	if (o->target.pids)
		str_printf(&top->target, "target_pid: %s", o->target.pids);
	else if (o->target.tids)
		str_printf(&top->target, "target_tid: %s", o->target.tids);
	else if (o->target.uid)
		str_printf(&top->target, "uid: %s", o->target.uid);
	else
		str_puts(&top->target, "all");
	if (o->target.cpus)
		str_printf(&top->target, ", CPU%s: %s", target->cpus.list.count > 1 ? "s" : "", o->target.cpus);
	else if (target->system_wide)
		str_printf(&top->target, ", %zu CPU%s", target->cpus.list.count, target->cpus.list.count > 1 ? "s" : "");
}

static int complain(const struct top *top, struct error *err)
{
	int sys = err->sys;
	if (err->kind == ERROR_OPTION)
		return cli_usage(top->cli, &command_top, err);
	struct error why = *err;
	if (sys != ENOENT)
		error_set(err, why.kind, "Error:\n%s", why.text);
	memcpy(err->hint, why.hint, sizeof err->hint);
	cli_complain(top->cli, err);
	switch (sys) {
	case ENOENT:
		return EXIT_NO_EVENT;
	case ESRCH:
		return EXIT_NO_PROCESS;
	case ENODEV:
		return EXIT_NO_DEVICE;
	case EINVAL:
		return EXIT_INVALID;
	default:
		return EXIT_FAILED;
	}
}

static void warn_hidden_kernel(const struct top *top)
{
	if (top->options->hide_kernel || !permission_hides_kernel())
		return;
	char command[96];
	permission_show_kernel(command, sizeof command);
	cli_warn(top->cli, "WARNING: kernel addresses are hidden from this user: code of the kernel has no names. As root, '%s' shows them.",
		command);
}

/* Copies of stacks fill a ring of the usual size before the next look at it. Larger ones need a right. */
static size_t ring_pages(const struct top *top, bool copies)
{
	enum { PAGES_FOR_COPIES = 512 };
	struct permission permission;
	permission_read(&permission);
	return top->options->pages ? top->options->pages : copies && permission.perfmon ? PAGES_FOR_COPIES : 0;
}

static int open_live(struct top *top, struct str *warnings, struct error *err)
{
	struct top_options *o = top->options;
	bool copies = o->sampling.call_graph == CALL_GRAPH_DWARF || o->sampling.call_graph == CALL_GRAPH_UNWIND;
	struct image_options images = { .symfs = o->symbols.symfs, .buildid_dir = environment_cache(top->cli, false), .living = true,
		.same_machine = true, .processes_until = INT64_MAX, .budget = top->cli->budget };
	const struct live_session_options options = {
		.acquisition = {
			.measurement = { .sampling = o->sampling, .target = o->target, .events = &top->events, .warnings = warnings },
			.pages = ring_pages(top, copies), .map_timeout_ms = o->map_timeout_ms, .user_cache = top->cli->user_cache_dir,
		},
		.session = {
			.budget = top->cli->budget, .images = copies ? &images : NULL, .join_stacks = o->sampling.call_graph == CALL_GRAPH_UNWIND,
			.stitch_call_stacks = o->stitch_lbr, .kernel_beyond = kernel_extent_beyond, .kernel_parts = kernel_extent_parts,
			.kernel_beyond_context = &top->symbols,
		},
	};
	return live_session_open(&top->live, &options, err);
}

static int set_realtime(const struct top *top, struct error *err)
{
	struct sched_param parameter = { .sched_priority = top->options->realtime };
	if (!top->options->realtime || sched_setscheduler(0, SCHED_FIFO, &parameter) == 0)
		return 0;
	return error_system(err, "cannot run with realtime priority %d", top->options->realtime);
}

static int print_tables(struct top *top, struct error *err)
{
	if (top->options->annotate)
		top->listed = listed_code_new(top, top->options->annotate);
	keys_open(&top->keys, STDIN_FILENO);
	top->watches_keys = live_session_watch(&top->live, STDIN_FILENO, TOP_KEYS_BIT, NULL) == 0;
	int status = top_measure(top, err);
	keys_close(&top->keys);
	if (status == 0 && top->quit && top->cli->out->failed == 0)
		cli_warn(top->cli, "exiting.");
	return status;
}

static int run(struct top *top)
{
	struct error err = { 0 };
	CLEANUP_STR struct str warnings = { 0 };
	if (kernel_files_check(top->options->symbols.vmlinux, top->options->symbols.kallsyms, &err) < 0)
		return cli_complain(top->cli, &err), EXIT_INVALID;
	int browses = top_browses(top, &err);
	if (browses < 0)
		return cli_complain(top->cli, &err), EXIT_INVALID;
	top->browses = browses;
	int status = top_setup_events(top);
	if (status)
		return status;
	if (set_realtime(top, &err) < 0 || open_live(top, &warnings, &err) < 0 || top_setup_profile(top, &err) < 0)
		return complain(top, &err);
	if (warnings.len)
		cli_warn(top->cli, "%.*s", (int)warnings.len - (warnings.text[warnings.len - 1] == '\n'), warnings.text);
	warn_hidden_kernel(top);
	describe_target(top);
	status = browses ? top_browse(top, &err) : print_tables(top, &err);
	return status < 0 ? complain(top, &err) : 0;
}

static int top_run(struct cli *cli, void *options, int argc, const char **argv)
{
	struct top_options *o = options;
	struct top *top = memory_zero(1, sizeof *top);
	(void)argv;
	if (argc) {
		free(top);
		return cli_usage(cli, &command_top, NULL);
	}
	memory_return_blocks();
	top->cli = cli;
	top->options = o;
	o->delay_s = o->delay_s < 1 ? 1 : o->delay_s;
	if (o->format == &format_tui) {
		o->format = NULL;
		o->tui = true;
	}
	int code = run(top);
	listed_code_free(top->listed);
	if (top->profile.session)
		profile_close(&top->profile);
	columns_fini(&top->columns);
	sample_filter_fini(&top->filter);
	symbols_free(top->symbols);
	tracepoints_close(top->tracepoints);
	live_session_close(&top->live);
	events_fini(&top->events);
	if (top->ignore_compiled)
		regfree(&top->ignore_callees);
	str_fini(&top->target);
	free(top);
	return code;
}

static void top_release(void *options)
{
	struct top_options *o = options;
	vec_fini(&o->words);
}

const struct command command_top = {
	.name = "top",
	.summary = "show where the system spends its time now",
	.usage = top_usage,
	.options = top_table,
	.options_size = sizeof(struct top_options),
	.defaults = top_defaults,
	.run = top_run,
	.release = top_release,
};
