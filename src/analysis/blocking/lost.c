#include "analysis/blocking/lost.h"

#include <math.h>

#include "analysis/ipc/ipc_window.h"
#include "base/search.h"

static void add_window(struct lost_part *part, const struct ipc_track *track, uint64_t from, uint64_t to, unsigned width)
{
	struct ipc_window window;
	if (from >= to)
		return;
	ipc_window_at(track, from, to, width, &window);
	if (window.gap)
		return;
	part->cycles += (double)(to - from);
	part->instructions += window.linear;
	part->least += (double)window.least;
	part->most += (double)window.most;
}

/* Spans of user code, each of which begins where the kernel returns, except the first. */
static void read_spans(struct lost *lost, const struct ipc_track *track, uint64_t window_ns, unsigned width)
{
	bool first = true, switched = false;
	for (size_t i = 0; i < track->events.count; i++) {
		const struct ipc_event *event = &track->events.items[i];
		switched |= event->kind == IPC_EVENT_SWITCH || event->kind == IPC_EVENT_OFF_CPU;
		if (event->kind != IPC_EVENT_USER)
			continue;
		uint64_t end = event->to_cycle, limit = ipc_track_cycle(track, event->from_ns + window_ns);
		limit = limit < event->from_cycle ? event->from_cycle : limit < end ? limit : end;
		if (!first) {
			struct lost_part *after = &lost->parts[switched ? LOST_SWITCHES : LOST_CALLS];
			after->occurrences++;
			add_window(after, track, event->from_cycle, limit, width);
		}
		add_window(&lost->parts[LOST_ELSEWHERE], track, first ? event->from_cycle : limit, end, width);
		first = switched = false;
	}
}

static uint64_t overlap(uint64_t from, uint64_t to, const struct ipc_event *event)
{
	from = from > event->from_ns ? from : event->from_ns;
	to = to < event->to_ns ? to : event->to_ns;
	return from < to ? to - from : 0;
}

struct off_times {
	VEC(struct ipc_event) list; /* by time, without overlaps */
};

/* The part of a span in which the thread ran; *switched: not all of it. */
static uint64_t on_cpu(const struct off_times *off, const struct ipc_event *span, bool *switched)
{
	uint64_t time = span->to_ns - span->from_ns;
	*switched = false;
	for (size_t i = SEARCH_COUNT(off->list.count, at, off->list.items[at].to_ns <= span->from_ns);
			i < off->list.count && off->list.items[i].from_ns < span->to_ns; i++) {
		uint64_t away = overlap(span->from_ns, span->to_ns, &off->list.items[i]);
		time -= away < time ? away : time;
		*switched = true;
	}
	return time;
}

/* System calls with one name. */
struct call_times {
	uint64_t waiting, others;
};

struct calls {
	struct idmap known;        /* name → index */
	VEC(struct call_times) list;
};

static void add_call(struct calls *calls, uint32_t name, uint64_t time, bool switched)
{
	bool added;
	uint32_t index = idmap_add(&calls->known, name, (uint32_t)calls->list.count, &added);
	if (added)
		vec_push(&calls->list, ((struct call_times){ 0 }));
	*(switched ? &calls->list.items[index].waiting : &calls->list.items[index].others) += time;
}

/* Returns the time in the kernel. */
static uint64_t read_times(struct traced_times *times, struct calls *calls, const struct ipc_track *track)
{
	struct off_times off = { 0 };
	uint64_t kernel = 0;
	bool switched;
	for (size_t i = 0; i < track->events.count; i++)
		if (track->events.items[i].kind == IPC_EVENT_OFF_CPU)
			vec_push(&off.list, track->events.items[i]);
	for (size_t i = 0; i < track->events.count; i++) {
		const struct ipc_event *event = &track->events.items[i];
		if (event->kind == IPC_EVENT_USER) {
			times->user += event->to_ns - event->from_ns;
		} else if (event->kind == IPC_EVENT_KERNEL || event->kind == IPC_EVENT_UNTRACED) {
			kernel += on_cpu(&off, event, &switched);
		} else if (event->kind == IPC_EVENT_SYSCALL) {
			uint64_t time = on_cpu(&off, event, &switched);
			add_call(calls, event->name, time, switched);
		}
	}
	vec_fini(&off.list);
	return kernel;
}

/* A call waits if that is more than a hundredth of it: others were preempted. */
static void sum_calls(struct traced_times *times, const struct calls *calls, uint64_t kernel)
{
	enum { LEAST = 100 };
	for (size_t i = 0; i < calls->list.count; i++) {
		const struct call_times *call = &calls->list.items[i];
		if (call->waiting * LEAST <= call->waiting + call->others)
			continue;
		times->waiting += call->waiting;
		times->calls += call->others;
	}
	times->waiting = times->waiting < kernel ? times->waiting : kernel;
	times->calls = times->calls < kernel - times->waiting ? times->calls : kernel - times->waiting;
	times->other = kernel - times->waiting - times->calls;
}

void lost_read_trace(struct lost *lost, struct traced_times *times, const struct ipc_tracks *tracks, uint64_t window_ns, unsigned width)
{
	*lost = (struct lost){ 0 };
	*times = (struct traced_times){ 0 };
	struct calls calls = { 0 };
	uint64_t kernel = 0;
	for (size_t i = 0; i < tracks->list.count; i++) {
		read_spans(lost, &tracks->list.items[i], window_ns, width);
		kernel += read_times(times, &calls, &tracks->list.items[i]);
	}
	sum_calls(times, &calls, kernel);
	vec_fini(&calls.list);
	idmap_fini(&calls.known);
}

/* The uncertainty of the cycles is that of so many instructions. */
static void set_part(struct lost_part *part, const struct lost_samples *samples, unsigned i)
{
	static const double CONFIDENCE = 1.96; /* 95 % */
	double rate = samples->cycles[i] > 0 ? samples->instructions[i] / samples->cycles[i] : 0;
	double half = CONFIDENCE * sqrt(samples->instruction_squares[i] + rate * rate * samples->cycle_squares[i]);
	*part = (struct lost_part){ .cycles = samples->cycles[i], .instructions = samples->instructions[i],
		.least = samples->instructions[i] > half ? samples->instructions[i] - half : 0, .most = samples->instructions[i] + half };
}

void lost_read_samples(struct lost *lost, const struct lost_samples *samples)
{
	*lost = (struct lost){ 0 };
	set_part(&lost->parts[LOST_SWITCHES], samples, 0);
	set_part(&lost->parts[LOST_ELSEWHERE], samples, 1);
}

static double within(double share)
{
	return share < 0 ? 0 : share > 1 ? 1 : share;
}

/* The cycles of a part beyond those that its instructions would take elsewhere. */
static double share_of(const struct lost_part *part, double instructions, double elsewhere, double cycles_elsewhere, double all)
{
	return elsewhere > 0 ? within((part->cycles - instructions * cycles_elsewhere / elsewhere) / all) : 0;
}

struct lost_share lost_after(const struct lost *lost, enum lost_place place)
{
	const struct lost_part *part = &lost->parts[place], *elsewhere = &lost->parts[LOST_ELSEWHERE];
	double all = 0;
	for (unsigned i = 0; i < LOST_PLACES; i++)
		all += lost->parts[i].cycles;
	if (elsewhere->cycles <= 0 || elsewhere->instructions <= 0)
		return (struct lost_share){ 0 };
	return (struct lost_share){ .known = true,
		.lower = share_of(part, part->most, elsewhere->least, elsewhere->cycles, all),
		.share = share_of(part, part->instructions, elsewhere->instructions, elsewhere->cycles, all),
		.upper = share_of(part, part->least, elsewhere->most, elsewhere->cycles, all) };
}
