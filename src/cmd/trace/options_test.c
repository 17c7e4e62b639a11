#include "cmd/trace/options.h"

#include <stdio.h>

#include "cmd/test_cli.h"
#include "cmd/test_words.h"

static int parse(struct trace_command *o, const char *text, struct error *err)
{
	static char line[256];
	char *words[WORDS_MAX];
	struct test_cli t;
	test_cli_open(&t);
	snprintf(line, sizeof line, "%s", text);
	int count = words_split(line, words);
	*o = (struct trace_command){ 0 };
	*err = (struct error){ 0 };
	trace_defaults(o, &t.cli);
	int status = options_parse(trace_table, o, count - 1, (const char **)words + 1, 0, err);
	test_cli_close(&t);
	return status;
}

static void expect_refused(const char *text, const char *why)
{
	struct trace_command o;
	struct error err;
	EXPECT(parse(&o, text, &err) < 0);
	EXPECT_STR(err.text, why);
	trace_options_fini(&o);
}

/* "calls; events" of -e. */
static const char *selects(const char *text)
{
	static char shown[256];
	struct trace_command o;
	struct error err;
	EXPECT_INT(parse(&o, text, &err), 0);
	int length = snprintf(shown, sizeof shown, "%s", o.all_but_selected ? "!" : "");
	for (size_t i = 0; i < o.selected.count; i++)
		length += snprintf(shown + length, sizeof shown - (size_t)length, "%s ", o.selected.items[i]);
	for (size_t i = 0; i < o.words.count; i++)
		length += snprintf(shown + length, sizeof shown - (size_t)length, "; %s", o.words.items[i].text);
	trace_options_fini(&o);
	return shown;
}

TEST("trace: words of -e are calls or events; commas in braces belong to an event")
{
	if (trace_native_table() == SYSCALLS_NONE) {
		unit_skip("the system calls of this machine are not known");
		return;
	}
	EXPECT_STR(selects("-e openat,close"), "openat close ");
	EXPECT_STR(selects("-e !openat,close"), "!openat close ");
	EXPECT_STR(selects("-e openat,sched:a,close,sched:b"), "openat close ; sched:a,sched:b");
	EXPECT_STR(selects("-e {sched:a,close},openat,"), "openat ; {sched:a,close}");
	EXPECT_STR(selects("-e ,sched:a -e sched:b,close"), "close ; sched:a; sched:b");
	EXPECT_STR(selects("-e close --no-event"), "close ");
}

TEST("trace: -F adds page faults, --duration takes milliseconds, and -G after an event belongs to it")
{
	struct trace_command o;
	struct error err;
	EXPECT_INT(parse(&o, "-F maj -F min --duration 0.5 -G before", &err), 0);
	EXPECT(o.faults == (TRACE_FAULTS_MAJOR | TRACE_FAULTS_MINOR) && o.least_ns == 500000 && o.words.count == 0);
	EXPECT_STR(o.cgroup, "before");
	trace_options_fini(&o);
	EXPECT_INT(parse(&o, "-F min --duration -1 -e sched:x -G after --filter f", &err), 0);
	EXPECT(o.faults == TRACE_FAULTS_MINOR && o.least_ns == 0 && o.words.count == 3 && !o.cgroup);
	EXPECT(o.words.items[1].kind == WORD_CGROUP && o.words.items[2].kind == WORD_FILTER);
	trace_options_fini(&o);
	EXPECT_INT(parse(&o, "-F all --duration 1e12 --max-events 0", &err), 0);
	EXPECT(o.faults == 3 && o.least_ns == 0 && o.max_events_given && o.max_events == 0);
	trace_options_fini(&o);
	EXPECT_INT(parse(&o, "", &err), 0);
	EXPECT(o.faults == 0 && o.least_ns == 0 && !o.max_events_given && o.comm);
	trace_options_fini(&o);
	expect_refused("-F x", "-F takes all, maj or min, not 'x'");
}

TEST("trace: --filter-pids takes ids, which are not shown")
{
	static const char *const wrong[] = { "0", "-1", "x", "1,x", "1x", "2147483648", "1,,2" };
	struct trace_command o;
	struct error err;
	EXPECT_INT(parse(&o, "--filter-pids 1,2147483647", &err), 0);
	EXPECT(o.hidden.count == 2 && o.hidden.items[0] == 1 && o.hidden.items[1] == INT32_MAX);
	trace_options_fini(&o);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		char text[64];
		snprintf(text, sizeof text, "--filter-pids %s", wrong[i]);
		EXPECT(parse(&o, text, &err) < 0);
		EXPECT(strncmp(err.text, "--filter-pids takes ids of processes, separated by commas, not '", 64) == 0);
		trace_options_fini(&o);
	}
}

TEST("trace: the sums are of threads, of cgroups or of all")
{
	struct trace_command o;
	struct error err;
	EXPECT_INT(parse(&o, "-s", &err), 0);
	EXPECT_INT(o.summary_mode, SUMMARY_BY_THREAD);
	trace_options_fini(&o);
	EXPECT_INT(parse(&o, "-s --summary-mode=total --no-bpf-summary --max-summary 3", &err), 0);
	EXPECT_INT(o.summary_mode, SUMMARY_IN_TOTAL);
	EXPECT_INT(o.max_summary, 3);
	trace_options_fini(&o);
	EXPECT_INT(parse(&o, "-S --summary-mode=cgroup --bpf-summary", &err), 0);
	EXPECT_INT(o.summary_mode, SUMMARY_BY_CGROUP);
	trace_options_fini(&o);
	expect_refused("--summary-mode=all", "--summary-mode takes thread, total or cgroup, not 'all'");
}
