#include "cmd/iostat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/memory.h"
#include "event/event.h"
#include "os/root_ports.h"
#include "record/count/counting.h"
#include "record/count/cpu_place.h"

extern const struct command command_iostat;

struct iostat_options {
	const char *separator, *ports;
	unsigned interval_ms;
	bool all_cpus;
};

static const struct option iostat_table[] = {
	OPT_BOOL('a', "all-cpus", struct iostat_options, all_cpus, "count all CPUs; this is always so"),
	OPT_UINT('I', "interval-print", struct iostat_options, interval_ms, "print after each interval of so many ms"),
	OPT_STRING('x', "field-separator", struct iostat_options, separator, "separator", "print fields with this separator"),
	OPTION_ROW(STRING, 0, "iostat", struct iostat_options, ports, "these ports, as for stat", .arg = "default",
		.flags = OPTION_OPTARG | OPTION_HIDDEN, .fallback = ""),
	OPT_END(),
};

static const char *const iostat_usage[] = { "perf iostat list", "perf iostat [<ports>] [<options>] -- <command> [<options>]", NULL };

/* The four counters of a port. */
enum { METRICS = 4 };
static const struct { const char *title; unsigned event, umask; } metrics[METRICS] = {
	{ "Inbound Read(MB)", 0x83, 0x04 }, { "Inbound Write(MB)", 0x83, 0x01 }, { "Outbound Read(MB)", 0xc0, 0x04 },
	{ "Outbound Write(MB)", 0xc0, 0x01 },
};
/* A counter counts units of four bytes. */
enum { UNITS_PER_MB = (1 << 20) / 4 };

struct iostat {
	const struct iostat_request *request;
	struct root_ports ports, chosen;  /* chosen: in the order in which they were asked for */
	struct events events;             /* METRICS of each PMU that is counted */
	VEC(uint32_t) pmus;               /* in the order of the events */
	struct counting counting;
	struct counts counts, before;
	struct writer out;
};

static int choose_ports(struct cli *cli, struct iostat *iostat)
{
	const char *at = iostat->request->ports;
	for (size_t i = 0; !at && i < iostat->ports.list.count; i++)
		vec_push(&iostat->chosen.list, iostat->ports.list.items[i]);
	for (size_t length; at; at = at[length] ? at + length + 1 : NULL) {
		uint32_t domain, bus;
		length = strcspn(at, ",");
		if (!root_port_parse(at, length, &domain, &bus)) {
			cli_warn(cli, "Unrecognized root port format: %.*s\nPlease use the following format:\n\t [domain]:[bus]\n"
				"\t for example: 0000:3d", (int)length, at);
			break;
		}
		struct root_port *port = root_ports_find(&iostat->ports, domain, bus);
		if (!port)
			cli_warn(cli, "Root port %04x:%02x were not found", domain, bus); /* perf's words */
		else if (!root_ports_find(&iostat->chosen, domain, bus))
			vec_push(&iostat->chosen.list, *port);
	}
	return iostat->chosen.list.count ? 0 : -1;
}

static int add_events(struct iostat *iostat, struct event_error *err)
{
	for (size_t i = 0; i < iostat->chosen.list.count; i++) {
		const struct root_port *port = &iostat->chosen.list.items[i];
		bool known = false;
		for (size_t k = 0; k < iostat->pmus.count; k++)
			known |= iostat->pmus.items[k] == port->pmu;
		if (known)
			continue;
		CLEANUP_STR struct str text = { 0 };
		for (size_t k = 0; k < METRICS; k++)
			str_printf(&text, "%suncore_iio_%u/event=0x%x,umask=0x%02x,ch_mask=0xF,fc_mask=0x07/%s", k ? "," : "{", port->pmu,
				metrics[k].event, metrics[k].umask, k + 1 == METRICS ? "}" : "");
		vec_push(&iostat->pmus, port->pmu);
		if (events_parse(&iostat->events, str_text(&text), err) < 0)
			return -1;
	}
	return 0;
}

/* The counts of a port since the last call. */
static void sum_port(const struct iostat *iostat, const struct root_port *port, uint64_t sums[METRICS])
{
	memset(sums, 0, METRICS * sizeof *sums);
	for (size_t i = 0; i < iostat->counts.list.count; i++) {
		const struct counter *counter = &iostat->counting.measurement.counters.list.items[i];
		struct cpu_place place = { 0 };
		if (iostat->pmus.items[counter->event / METRICS] != port->pmu)
			continue;
		cpu_place_read(&place, counter->cpu, CPU_PLACE_SOCKET, 0);
		uint64_t before = i < iostat->before.list.count ? iostat->before.list.items[i].value : 0;
		if ((uint32_t)place.socket == port->die)
			sums[counter->event % METRICS] += iostat->counts.list.items[i].value - before;
	}
}

static void print_heading(struct iostat *iostat)
{
	const struct iostat_request *request = iostat->request;
	const char *separator = request->separator;
	if (separator)
		writer_printf(&iostat->out, "%s%sport%s", request->interval_ms ? "time" : "", request->interval_ms ? separator : "", separator);
	else
		writer_printf(&iostat->out, "%s    port         ", request->interval_ms ? " #          time" : "");
	for (size_t i = 0; i < METRICS; i++)
		writer_printf(&iostat->out, separator ? "%s%s" : "%20s%s", metrics[i].title, separator ? separator : " ");
	writer_putc(&iostat->out, '\n');
}

static void print_ports(struct iostat *iostat)
{
	const char *separator = iostat->request->separator;
	uint64_t passed = now_ns() - iostat->counting.start_ns;
	vec_clear(&iostat->counts.list);
	counting_read(&iostat->counting, &iostat->counts);
	for (size_t i = 0; i < iostat->chosen.list.count; i++) {
		const struct root_port *port = &iostat->chosen.list.items[i];
		uint64_t sums[METRICS];
		sum_port(iostat, port, sums);
		if (iostat->request->interval_ms)
			writer_printf(&iostat->out, "%6llu.%09llu%s", (unsigned long long)(passed / 1000000000),
				(unsigned long long)(passed % 1000000000), separator ? separator : " ");
		writer_printf(&iostat->out, "%04x:%02x%s", port->domain, port->bus, separator ? separator : " ");
		for (size_t k = 0; k < METRICS; k++)
			writer_printf(&iostat->out, separator ? "%llu%s" : "%20llu%s", (unsigned long long)(sums[k] / UNITS_PER_MB),
				separator ? separator : " ");
		writer_putc(&iostat->out, '\n');
	}
	struct counts swapped = iostat->before;
	iostat->before = iostat->counts;
	iostat->counts = swapped;
	writer_flush(&iostat->out, NULL);
}

static void print_times(struct iostat *iostat)
{
	const struct counting *c = &iostat->counting;
	writer_printf(&iostat->out, "\n%18.9f seconds time elapsed\n\n", (double)(c->end_ns - c->start_ns) / 1e9);
	if (iostat->request->argv)
		writer_printf(&iostat->out, "%18.9f seconds user\n%18.9f seconds sys\n\n", (double)c->user_ns / 1e9, (double)c->system_ns / 1e9);
	writer_putc(&iostat->out, '\n');
}

/* Whether the machine counts all events; prints the one that it does not. */
static bool are_counted(struct cli *cli, const struct iostat *iostat)
{
	for (size_t i = 0; i < iostat->events.list.count; i++) {
		if (iostat->counting.measurement.counters.states.items[i] == COUNTER_OPENED)
			continue;
		cli_warn(cli, "Error:\nThe %s event is not supported.", iostat->events.list.items[i].name);
		return false;
	}
	return true;
}

static void wait_and_print(struct iostat *iostat)
{
	const struct iostat_request *request = iostat->request;
	uint64_t due = iostat->counting.start_ns;
	bool text = !request->separator && !request->interval_ms;
	if (request->interval_ms)
		print_heading(iostat);
	while (request->interval_ms && !counting_ended(&iostat->counting)) {
		due += request->interval_ms * 1000000ull;
		for (uint64_t now; !counting_ended(&iostat->counting) && (now = now_ns()) < due;)
			counting_wait(&iostat->counting, (int)((due - now + 999999) / 1000000));
		print_ports(iostat);
	}
	while (!counting_ended(&iostat->counting))
		counting_wait(&iostat->counting, -1);
	counting_end(&iostat->counting, iostat->counting.measurement.signals.ended_by != 0);
	if (request->interval_ms)
		return;
	if (text)
		writer_puts(&iostat->out, "\n Performance counter stats for 'system wide':\n\n");
	print_heading(iostat);
	print_ports(iostat);
	if (text)
		print_times(iostat);
}

static int count_ports(struct cli *cli, struct iostat *iostat, struct error *err)
{
	struct event_error wrong = { 0 };
	if (add_events(iostat, &wrong) < 0)
		return error_set(err, ERROR_UNSUPPORTED, "the events of root ports cannot be counted: %s", wrong.what);
	const struct counting_options options = { .target = { .all_cpus = true, .command = iostat->request->argv != NULL },
		.events = &iostat->events, .command = iostat->request->argv };
	int code = -1;
	if (counting_open(&iostat->counting, &options, err) == 0) {
		if (!are_counted(cli, iostat)) {
			code = EXIT_FAILED;
		} else if (counting_start(&iostat->counting, err) < 0) {
			cli_warn(cli, "Workload failed: %s", err->sys ? strerror(err->sys) : err->text);
			code = EXIT_FAILED;
		} else {
			wait_and_print(iostat);
			int status = iostat->counting.measurement.workload.reaped ? iostat->counting.measurement.workload.status : 0;
			code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		}
	}
	counting_close(&iostat->counting);
	return code;
}

static void list_ports(struct iostat *iostat)
{
	for (size_t i = 0; i < iostat->ports.list.count; i++) {
		const struct root_port *port = &iostat->ports.list.items[i];
		writer_printf(&iostat->out, "S%u-uncore_iio_%u<%04x:%02x>\n", port->die, port->pmu, port->domain, port->bus);
	}
}

/* Of the options, the usage has only that of `stat`. */
static int wrong_request(struct cli *cli, const struct command *usage, const char *text)
{
	struct error err = { .kind = ERROR_OPTION, .hint = "iostat" };
	snprintf(err.text, sizeof err.text, "%s", text);
	return cli_usage(cli, usage, &err);
}

bool iostat_is_supported(void)
{
	struct root_ports ports = { 0 };
	root_ports_read(&ports, ROOT_PORTS_FOLDER);
	bool any = ports.list.count;
	root_ports_fini(&ports);
	return any;
}

int iostat_run_request(struct cli *cli, const struct command *usage, const struct iostat_request *request)
{
	struct iostat iostat = { .request = request };
	struct error err = { 0 };
	int code = 0;
	root_ports_read(&iostat.ports, ROOT_PORTS_FOLDER);
	writer_open(&iostat.out, 2, 4096); /* as stat, on standard error */
	iostat.out.terminal = cli->tty_err;
	if (!iostat.ports.list.count) {
		code = wrong_request(cli, usage, "Unsupported uncore pmu configuration");
	} else if (request->ports && !strcmp(request->ports, "list")) {
		list_ports(&iostat);
	} else if (choose_ports(cli, &iostat) < 0) {
		code = wrong_request(cli, usage, "Requested root ports were not found");
	} else {
		code = count_ports(cli, &iostat, &err);
		if (code < 0) {
			cli_complain(cli, &err);
			code = EXIT_FAILED;
		}
	}
	writer_flush(&iostat.out, NULL);
	writer_fini(&iostat.out);
	vec_fini(&iostat.counts.list);
	vec_fini(&iostat.before.list);
	vec_fini(&iostat.pmus);
	events_fini(&iostat.events);
	root_ports_fini(&iostat.chosen);
	root_ports_fini(&iostat.ports);
	return code;
}

/* As in perf, the ports are the first word, before the options. */
static int iostat_run(struct cli *cli, void *filled, int argc, const char **argv)
{
	struct iostat_options *options = filled;
	struct iostat_request request = { 0 };
	struct error err = { 0 };
	uint32_t domain, bus;
	if (argc && (!strcmp(argv[0], "list") || root_port_parse(argv[0], strcspn(argv[0], ","), &domain, &bus))) {
		request.ports = argv[0];
		argc = options_parse(iostat_table, options, argc - 1, ++argv, OPTIONS_STOP_AT_NON_OPTION, &err);
		if (argc < 0)
			return cli_usage(cli, &command_iostat, &err);
	}
	if (options->ports && *options->ports)
		request.ports = options->ports;
	request.separator = options->separator;
	request.interval_ms = options->interval_ms;
	request.argv = argc > 0 ? argv : NULL;
	return iostat_run_request(cli, &command_iostat, &request);
}

static const char *const iostat_words[] = { "list", NULL };

const struct command command_iostat = {
	.name = "iostat",
	.summary = "count the traffic of PCIe root ports",
	.usage = iostat_usage,
	.options = iostat_table,
	.options_size = sizeof(struct iostat_options),
	.options_mode = OPTIONS_STOP_AT_NON_OPTION,
	.run = iostat_run,
	.subcommands = iostat_words,
};
