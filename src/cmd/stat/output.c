#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/stat/stat.h"
#include "event/metric_machine.h"
#include "os/place.h"

enum { OUTPUT_BUFFER = 1 << 14 };

static int open_file(struct stat_run *run, const char *path)
{
	struct error err = { 0 };
	run->fd = place_write(path, O_WRONLY | (run->o->append ? O_APPEND : 0), 0666, &err);
	if (run->fd < 0) {
		cli_warn(run->cli, "failed to create output file: %s", err.sys ? strerror(err.sys) : err.text);
		return EXIT_FAILED;
	}
	run->fd_ours = true;
	return 0;
}

static void find_thousands(struct stat_run *run)
{
	locale_t locale = run->o->big_num ? newlocale(LC_NUMERIC_MASK, "", (locale_t)0) : (locale_t)0;
	if (locale == (locale_t)0)
		return;
	strncpy(run->thousands, nl_langinfo_l(THOUSEP, locale), sizeof run->thousands - 1);
	freelocale(locale);
}

int stat_output_open(struct stat_run *run, const char *path)
{
	const struct stat_options *o = run->o;
	run->fd = STDERR_FILENO;
	if (o->log_given && o->log_fd > 0)
		run->fd = o->log_fd;
	if (fcntl(run->fd, F_GETFD) < 0) {
		cli_warn(run->cli, "Failed opening logfd: %s", strerror(errno));
		return EXIT_INVALID;
	}
	int status = path ? open_file(run, path) : 0;
	if (status)
		return status;
	if (o->interval_clear && !isatty(run->fd)) {
		cli_warn(run->cli, "--interval-clear does not work with output");
		return EXIT_FAILED;
	}
	find_thousands(run);
	writer_open(&run->out, run->fd, OUTPUT_BUFFER);
	run->out.terminal = run->fd == STDERR_FILENO && run->cli->tty_err;
	if (path && run->style.format != STAT_JSON) {
		char text[64];
		time_t now = time(NULL);
		if (ctime_r(&now, text))
			writer_printf(&run->out, "# started on %s\n", text);
	}
	return 0;
}

void stat_output_close(struct stat_run *run)
{
	writer_fini(&run->out);
	if (run->fd_ours)
		close(run->fd);
}

void stat_output_title(struct stat_run *run, int runs)
{
	const struct target_options *target = &run->o->target;
	struct writer *out = &run->out;
	writer_puts(out, "\n Performance counter stats for ");
	if (run->o->bpf_programs)
		writer_printf(out, "'BPF program(s) %s", run->o->bpf_programs);
	else if (run->system_wide && (!target->cpus || target->all_cpus))
		writer_puts(out, "'system wide");
	else if (run->system_wide)
		writer_printf(out, "'CPU(s) %s", target->cpus);
	else if (target->pids || target->tids)
		writer_printf(out, "%s id '%s", target->pids ? "process" : "thread", target->pids ? target->pids : target->tids);
	else
		for (size_t i = 0; i == 0 || (run->command && run->command[i]); i++) {
			const char *word = run->command ? run->command[i] : "pipe";
			writer_puts(out, i ? " " : "'");
			writer_name(out, word, strlen(word));
		}
	writer_putc(out, '\'');
	if (runs > 1)
		writer_printf(out, " (%d runs)", runs);
	writer_puts(out, ":\n\n");
}

/* After counts of a PMU that never ran, although the PMU has the event. */
static void advise(struct stat_run *run, const struct stat_table *table)
{
	bool waits = false;
	for (size_t i = 0; i < table->rows.count && !run->style.hide_zero; i++) {
		const struct stat_row *row = &table->rows.items[i];
		uint32_t type = table->events->list.items[row->event].attr.type;
		waits |= row->state == STAT_NOT_COUNTED && type != ATTR_SOFTWARE && type != ATTR_TRACEPOINT;
	}
	if (waits && metric_watchdog_is_on())
		writer_puts(&run->out, "The kernel's NMI watchdog uses a counter of the PMU, which these events may need:\n"
			"\techo 0 > /proc/sys/kernel/nmi_watchdog\n");
}

/* At a terminal only: programs parse the rows, which are perf's. The line about hidden rows has the reason for those. */
static void explain_absent(struct stat_run *run)
{
	bool absent = false;
	for (size_t i = 0; i < run->events.list.count && run->out.terminal; i++) {
		uint32_t type = run->events.list.items[i].attr.type;
		bool of_pmu = type == ATTR_HARDWARE || type == ATTR_HW_CACHE || type == ATTR_RAW;
		absent |= of_pmu && run->unsupported && run->hidden && run->unsupported[i] && !run->hidden[i];
	}
	if (absent)
		writer_puts(&run->out, "<not supported>: " COUNTER_ABSENT_HINT "\n");
}

void stat_output_counts(struct stat_run *run, const struct stat_table *table, const char *prefix, bool title)
{
	if (run->style.format == STAT_TEXT && title)
		stat_output_title(run, (int)run->elapsed_ns.runs);
	if (run->style.metric_only && title)
		stat_print_metric_names(table, &run->style, false, &run->out);
	stat_print(table, &run->style, 0, prefix, &run->out);
	if (run->style.format != STAT_TEXT)
		return;
	if (!run->o->null_run)
		writer_putc(&run->out, '\n');
	if (run->o->table)
		stat_print_runs(&run->elapsed_ns, run->elapsed_list.items, run->elapsed_list.count, &run->out);
	if (run->style.robust)
		stat_print_times_robust(run->elapsed_list.items, run->elapsed_list.count, &run->out);
	else
		stat_print_times(&run->elapsed_ns, run->plain_command, run->user_ns, run->system_ns, &run->out);
	if (!title)
		return;
	advise(run, table);
	explain_absent(run);
}
