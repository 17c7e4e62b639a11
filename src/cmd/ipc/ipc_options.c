#include "cmd/ipc/ipc_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/format_option.h"

enum { WIDTH = 8 }; /* four slots, each with a fused pair; eight slots of which few fuse */
static const double LENGTH_MAX = 1e15;

/* "2us", "500 ns", "10000": without a unit, cycles. */
static int parse_length(struct ipc_length *length, const struct option *option, const char *arg, struct error *err)
{
	static const struct {
		const char *unit;
		double scale;
		bool ns;
	} units[] = { { "", 1, false }, { "c", 1, false }, { "cycles", 1, false }, { "ns", 1, true }, { "us", 1e3, true }, { "ms", 1e6, true },
		{ "s", 1e9, true } };
	char *end;
	double number = strtod(arg, &end);
	while (*end == ' ')
		end++;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		double value = number * units[i].scale;
		if (end == arg || strcmp(end, units[i].unit) != 0 || !(value >= 1 && value <= LENGTH_MAX))
			continue;
		*length = (struct ipc_length){ .count = (uint64_t)llround(value), .ns = units[i].ns };
		return 0;
	}
	return error_set(err, ERROR_USAGE, "--%s takes cycles or a time such as 10000 or 2us, not '%s'", option->long_name, arg);
}

#define SETTER(NAME)                                                                                                         \
	static int set_##NAME(void *target, const struct option *option, const char *arg, bool unset, struct error *err)      \
	{                                                                                                                    \
		struct ipc_command *options = target;                                                                        \
		options->NAME = (struct ipc_length){ 0 };                                                                    \
		return unset ? 0 : parse_length(&options->NAME, option, arg, err);                                           \
	}
SETTER(window)
SETTER(step)
SETTER(span)

static int set_by(void *target, __attribute__((unused)) const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct ipc_command *options = target;
	options->by_thread = !unset && strcmp(arg, "thread") == 0;
	return unset || options->by_thread || strcmp(arg, "cpu") == 0 ? 0 :
		error_set(err, ERROR_USAGE, "--by takes cpu or thread, not '%s'", arg);
}

#define O struct ipc_command
const struct option ipc_table[] = {
	OPT_CALLBACK('w', "window", O, window, "cycles|time", "length of each window (the smallest that makes sense, at least a fiftieth of all)",
		set_window),
	OPT_CALLBACK(0, "step", O, step, "cycles|time", "from one window to the next (the window: buckets)", set_step),
	OPT_UINT(0, "width", O, width, "the most instructions that the processor retires in a cycle (8; 0: bounds from whole ranges)"),
	OPT_U64(0, "limit", O, limit, "mark ranges that are longer than so many cycles (the window)"),
	OPT_CALLBACK(0, "by", O, by_thread, "cpu|thread", "one series for each of these (cpu, where the trace is of CPUs)", set_by),
	OPT_STRING(0, "mark", O, marks, "function,...", "show calls of these functions as events; globs such as tcp_*"),
	OPT_STRING(0, "counters", O, counters, "cycles,instructions", "without a trace: the events that count cycles and instructions"),
	OPT_BOOL(0, "tracks", O, tracks, "show the total of each CPU or thread"),
	OPT_BOOL(0, "events", O, events, "list the events: system calls, switches, packets, lost trace"),
	OPT_BOOL(0, "ranges", O, ranges, "list the timed ranges: cycles and instructions between two events with cycle counts"),
	OPT_BOOL(0, "lengths", O, lengths, "show how long timed ranges are, plain and by time, and the smallest window that makes sense"),
	OPT_STRING(0, "around", O, around, "event[:name][:exit]", "average the windows before and after each such event"),
	OPT_CALLBACK(0, "span", O, span, "cycles|time", "with --around: how far before and after (20 windows)", set_span),
	OPT_BOOL(0, "steady", O, steady, "propose a range of one to three iterations without lost trace"),
	OPT_BOOL(0, "sparkline", O, sparkline, "draw each series as a line of text"),
	OPT_STRING(0, "svg", O, svg, "file", "draw ranges, IPC and events over time into this file (- is stdout)"),
	OPT_STRING(0, "title", O, title, "text", "headline of the picture"),
	FILTER_OPTIONS(O, filter),
	OPT_FORMAT(O, format),
	INPUT_OPTIONS(O, input, "read", "dir", ""),
	INPUT_NAME_OPTIONS(O, input),
	OPT_END(),
};
#undef O

void ipc_defaults(void *target, __attribute__((unused)) const struct cli *cli)
{
	struct ipc_command *options = target;
	input_defaults(&options->input);
	options->width = WIDTH;
}

int ipc_check(struct ipc_command *options, struct error *err)
{
	int views = options->tracks + options->events + options->ranges + options->lengths + options->steady + options->sparkline +
		(options->around && !options->steady);
	if (views > 1)
		return error_set(err, ERROR_USAGE, "--tracks, --events, --ranges, --lengths, --around, --steady and --sparkline exclude each other");
	if (options->step.count && options->window.count && options->step.ns != options->window.ns)
		return error_set(err, ERROR_USAGE, "--window and --step must both be cycles, or both be times");
	if (options->step.count && !options->window.count)
		return error_set(err, ERROR_USAGE, "--step needs --window");
	if (options->span.count && options->window.count && options->span.ns != options->window.ns)
		return error_set(err, ERROR_USAGE, "--window and --span must both be cycles, or both be times");
	options->anchored = options->around != NULL;
	if (options->around && !ipc_anchor_parse(&options->anchor, options->around))
		return error_set(err, ERROR_USAGE, "--around takes an event such as switch, syscall:read:exit, mark:tcp_* or cbr, not '%s'",
			options->around);
	return 0;
}

enum ipc_view ipc_view_of(const struct ipc_command *options)
{
	const struct {
		bool given;
		enum ipc_view view;
	} views[] = { { options->tracks, IPC_VIEW_TRACKS }, { options->events, IPC_VIEW_EVENTS }, { options->ranges, IPC_VIEW_RANGES },
		{ options->lengths, IPC_VIEW_LENGTHS }, { options->steady, IPC_VIEW_STEADY }, { options->sparkline, IPC_VIEW_SPARKLINE },
		{ options->around, IPC_VIEW_AROUND } };
	for (size_t i = 0; i < sizeof views / sizeof *views; i++)
		if (views[i].given)
			return views[i].view;
	return IPC_VIEW_WINDOWS;
}
