#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/format_option.h"
#include "cmd/freq_pin.h"
#include "cmd/freq_rows.h"
#include "os/cpu_clock.h"
#include "os/file.h"
#include "record/acquire/workload.h"

extern const struct command command_freq;

struct freq_options {
	const char *pin;
	const struct format *format;
	bool no_boost;
};

static const struct option freq_table[] = {
	OPTION_ROW(STRING, 0, "pin", struct freq_options, pin,
		"run a command with this clock on all CPUs: MHz, or the lowest (min), the highest (max) or the one without boost (base)",
		.arg = "MHz|min|max|base"),
	OPT_BOOL(0, "no-boost", struct freq_options, no_boost, "run a command without boost"),
	OPT_FORMAT(struct freq_options, format),
	OPT_END(),
};

static const char *const freq_usage[] = { "perf freq [--format <format>]",
	"perf freq {--pin {<MHz>|min|max|base}|--no-boost} [--] <command> [<options>]", NULL };

/* Why the machine has no driver. */
static void explain_absence(struct error *err)
{
	enum { BYTES_MAX = 1 << 20 };
	CLEANUP_STR struct str cpuinfo = { 0 }, cmdline = { 0 }, why = { 0 }, hint = { 0 };
	char vendor[64] = "";
	file_read("/proc/cpuinfo", &cpuinfo, BYTES_MAX, NULL);
	file_read("/proc/cmdline", &cmdline, BYTES_MAX, NULL);
	file_line("/sys/class/dmi/id/sys_vendor", vendor, sizeof vendor);
	cpufreq_absence(str_text(&cpuinfo), str_text(&cmdline), vendor, &why, &hint);
	error_set(err, ERROR_UNSUPPORTED, "%s", str_text(&why));
	error_hint(err, "%s", str_text(&hint));
}

/* Each start restores the settings that an earlier run has left. */
static int open_pin(struct cli *cli, struct freq_pin *pin, struct error *err)
{
	int found = freq_pin_open(pin, err);
	if (found == FREQ_RESTORED)
		cli_warn(cli, "The clock that an earlier 'perf freq --pin' had left pinned is restored");
	return found;
}

/* The clock of the last tenth of a second, where the machine has the counters. */
static void show_average(struct cli *cli)
{
	enum { MEASURE_US = 100000 };
	struct cpu_clock clock;
	struct cpu_clock_change change;
	if (access(CPU_CLOCK_PMU, F_OK) != 0 || !cpu_clock_open(&clock, CPUFREQ_ROOT, CPU_CLOCK_PMU))
		return;
	usleep(MEASURE_US);
	cpu_clock_compare(&clock, &change);
	if (change.average_khz)
		writer_printf(cli->out, "# The busy CPUs ran at %lld MHz on average, by APERF and MPERF\n",
			(long long)(change.average_khz + 500) / 1000);
	cpu_clock_close(&clock);
}

static int show(struct cli *cli, const struct freq_options *options)
{
	struct cpufreq cpufreq = { 0 };
	struct freq_pin pin;
	struct error err = { 0 };
	cpufreq_read(&cpufreq, CPUFREQ_ROOT);
	if (!cpufreq.policies.count) {
		explain_absence(&err);
		cpufreq_fini(&cpufreq);
		cli_complain(cli, &err);
		return EXIT_FAILED;
	}
	int found = geteuid() == 0 ? open_pin(cli, &pin, &err) : FREQ_NOTHING;
	if (found == FREQ_RESTORED) {
		cpufreq_fini(&cpufreq);
		cpufreq_read(&cpufreq, CPUFREQ_ROOT);
	}
	if (found >= 0 && found != FREQ_BUSY && geteuid() == 0)
		freq_pin_close(&pin);
	if (format_is_table(options->format))
		freq_rows_table(&cpufreq, options->format, cli->out);
	else {
		freq_rows_print(&cpufreq, cli->out);
		show_average(cli);
	}
	cpufreq_fini(&cpufreq);
	if (found == FREQ_BUSY)
		cli_warn(cli, "'perf freq --pin' runs: the clock is pinned until its command ends");
	if (found < 0)
		cli_complain(cli, &err);
	return found < 0 ? EXIT_FAILED : 0;
}

/* The frequency that --pin requests; 0: it is refused. */
static int64_t wanted_khz(const struct freq_options *options, const struct cpufreq_policy *policy, struct error *err)
{
	char *end;
	bool base = !strcmp(options->pin, "base") || (!strcmp(options->pin, "max") && options->no_boost && policy->base_khz);
	double mhz = strtod(options->pin, &end);
	int64_t khz = base ? policy->base_khz : !strcmp(options->pin, "max") ? policy->high_khz : policy->low_khz;
	if (!base && strcmp(options->pin, "max") != 0 && strcmp(options->pin, "min") != 0) {
		if (*end || end == options->pin || !(mhz > 0 && mhz < 1e6)) {
			error_set(err, ERROR_USAGE, "--pin takes a frequency in MHz, min, max or base, and not '%s'", options->pin);
			return 0;
		}
		khz = (int64_t)(mhz * 1000 + 0.5);
	}
	if (!khz)
		error_set(err, ERROR_UNSUPPORTED, "the driver %s does not report the %s frequency", policy->driver, options->pin);
	else if (policy->low_khz && policy->high_khz && (khz < policy->low_khz || khz > policy->high_khz))
		error_set(err, ERROR_USAGE, "the CPUs %s run at %lld to %lld MHz, and not at %s", policy->cpus,
			(long long)policy->low_khz / 1000, (long long)policy->high_khz / 1000, options->pin);
	return err->kind == ERROR_NONE ? khz : 0;
}

static void add_limit(struct cpufreq_settings *settings, const struct cpufreq_policy *policy, const char *name, int64_t khz)
{
	char path[64], value[24];
	snprintf(path, sizeof path, "cpufreq/policy%u/%s", policy->number, name);
	snprintf(value, sizeof value, "%lld", (long long)khz);
	cpufreq_settings_add(settings, path, value);
}

/* The boost of policies may be one file. */
static bool has_setting(const struct cpufreq_settings *settings, const char *path)
{
	for (size_t i = 0; i < settings->list.count; i++) {
		if (!strcmp(settings->list.items[i].path, path))
			return true;
	}
	return false;
}

static int choose(const struct freq_options *options, const struct cpufreq *cpufreq, struct cpufreq_settings *settings, struct error *err)
{
	for (size_t i = 0; options->no_boost && i < cpufreq->policies.count; i++) {
		const struct cpufreq_policy *policy = &cpufreq->policies.items[i];
		if (!policy->boost_file)
			return error_set(err, ERROR_UNSUPPORTED, "the driver %s cannot switch boost", policy->driver);
		if (!has_setting(settings, policy->boost_file))
			cpufreq_settings_add(settings, policy->boost_file, policy->boost_inverted ? "1" : "0");
	}
	for (size_t i = 0; options->pin && i < cpufreq->policies.count; i++) {
		const struct cpufreq_policy *policy = &cpufreq->policies.items[i];
		int64_t khz = wanted_khz(options, policy, err);
		if (!khz)
			return -1;
		add_limit(settings, policy, "scaling_min_freq", khz);
		add_limit(settings, policy, "scaling_max_freq", khz);
	}
	return 0;
}

/* The command's exit code; EXIT_FAILED: it was not started. */
static int run_command(struct cli *cli, const char *const *argv)
{
	struct workload workload = { 0 };
	struct signals signals = { .fd = -1 };
	struct error err = { 0 };
	writer_flush(cli->out, NULL);
	int code = -1;
	if (signals_open(&signals, false, &err) == 0 && workload_start(&workload, argv, false, &signals, &err) == 0 &&
	    workload_run(&workload, &err) == 0) {
		workload_wait(&workload, &signals);
		code = workload.reaped && WIFEXITED(workload.status) ? WEXITSTATUS(workload.status) :
			128 + (workload.reaped ? WTERMSIG(workload.status) : signals.ended_by);
	}
	signals_close(&signals);
	if (code < 0) {
		cli_complain(cli, &err);
		code = EXIT_NOT_STARTED;
	}
	return code;
}

static void explain_refusal(const struct cpufreq *cpufreq, struct error *err)
{
	const char *driver = cpufreq->policies.items[0].driver, *remedy = cpufreq_remedy(driver);
	struct error why = *err;
	error_set(err, ERROR_UNSUPPORTED, "the driver %s refuses the clock: %s", driver, why.text);
	if (why.kind == ERROR_PERMISSION)
		error_hint(err, "Setting the clock needs root, and a /sys that can be written.");
	else if (remedy)
		error_hint(err, "Boot with the kernel parameter %s.", remedy);
}

static int run_pinned(struct cli *cli, const struct freq_options *options, const char *const *argv, struct error *err)
{
	struct cpufreq cpufreq = { 0 };
	struct cpufreq_settings settings = { 0 };
	struct freq_pin pin;
	size_t refused;
	int code = -1;
	if (geteuid() != 0)
		return error_set(err, ERROR_PERMISSION, "Setting the clock needs root");
	int found = open_pin(cli, &pin, err);
	if (found < 0)
		return -1;
	if (found == FREQ_BUSY)
		return error_set(err, ERROR_USAGE, "another 'perf freq --pin' has pinned the clock; it is restored when that ends");
	cpufreq_read(&cpufreq, CPUFREQ_ROOT);
	if (!cpufreq.policies.count)
		explain_absence(err);
	else if (choose(options, &cpufreq, &settings, err) == 0) {
		if (freq_pin_set(&pin, &settings, &refused, err) < 0)
			explain_refusal(&cpufreq, err);
		else
			code = run_command(cli, argv);
	}
	if (freq_pin_restore(&pin, err) < 0)
		code = -1;
	freq_pin_close(&pin);
	cpufreq_settings_fini(&settings);
	cpufreq_fini(&cpufreq);
	return code;
}

static int freq_run(struct cli *cli, void *filled, int argc, const char **argv)
{
	const struct freq_options *options = filled;
	struct error err = { 0 };
	bool sets = options->pin || options->no_boost;
	if (sets != (argc > 0)) {
		error_set(&err, ERROR_USAGE, sets ? "a command is missing" : "a command needs --pin or --no-boost");
		return cli_usage(cli, &command_freq, &err);
	}
	int code = sets ? run_pinned(cli, options, argv, &err) : show(cli, options);
	if (err.kind != ERROR_NONE)
		cli_complain(cli, &err);
	return code < 0 ? EXIT_FAILED : code;
}

const struct command command_freq = {
	.name = "freq",
	.summary = "show the clock of the CPUs, and pin it for a command",
	.usage = freq_usage,
	.options = freq_table,
	.options_size = sizeof(struct freq_options),
	.options_mode = OPTIONS_STOP_AT_NON_OPTION,
	.run = freq_run,
};
