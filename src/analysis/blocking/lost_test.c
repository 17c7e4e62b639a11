#include "analysis/blocking/lost.h"

#include "unit.h"

/* A thread that alternates: 10 us of user code, whose first microsecond has an IPC of 1 and the rest of 2, at 1 cycle a ns, and a system
 * call of 5 us, 3 us of which it does not run. */
static void fill(struct ipc_tracks *tracks, unsigned turns)
{
	size_t index = ipc_tracks_find(tracks, -1, 7);
	struct ipc_track *track = &tracks->list.items[index];
	uint32_t name = strtab_add(&tracks->names, "read", 4);
	uint64_t ns = 1000;
	for (unsigned i = 0; i < turns; i++) {
		uint64_t cycle = track->cycles;
		for (unsigned us = 0; us < 10; us++)
			ipc_track_add(track, 1000, us ? 2000 : 1000, ns + 1000 * us, ns + 1000 * (us + 1), false);
		vec_push(&track->events, ((struct ipc_event){ .kind = IPC_EVENT_USER, .from_ns = ns, .to_ns = ns + 10000, .from_cycle = cycle,
			.to_cycle = track->cycles }));
		ns += 10000;
		vec_push(&track->events, ((struct ipc_event){ .kind = IPC_EVENT_UNTRACED, .from_ns = ns, .to_ns = ns + 5000,
			.from_cycle = track->cycles, .to_cycle = track->cycles }));
		vec_push(&track->events, ((struct ipc_event){ .kind = IPC_EVENT_SYSCALL, .name = name, .from_ns = ns, .to_ns = ns + 5000 }));
		vec_push(&track->events, ((struct ipc_event){ .kind = IPC_EVENT_OFF_CPU, .from_ns = ns + 1000, .to_ns = ns + 4000 }));
		ns += 5000;
	}
	ipc_tracks_finish(tracks);
}

TEST("a planted dip after switches is measured, and the time off the CPU is no CPU time")
{
	enum { TURNS = 101 };
	struct ipc_tracks tracks = { 0 };
	struct lost lost;
	struct traced_times times;
	fill(&tracks, TURNS);
	lost_read_trace(&lost, &times, &tracks, 1000, 0);
	EXPECT_INT(times.user, TURNS * 10000);
	EXPECT_INT(times.waiting, TURNS * 2000);
	EXPECT_INT(times.calls, 0);
	EXPECT_INT(times.other, 0);
	EXPECT_INT(lost.parts[LOST_SWITCHES].occurrences, TURNS - 1);
	EXPECT_INT(lost.parts[LOST_CALLS].occurrences, 0);
	struct lost_share share = lost_after(&lost, LOST_SWITCHES);
	/* a thousand cycles of each turn do half of the work; the first turn, which follows no switch, is elsewhere */
	double elsewhere = (TURNS * 18000.0 + 1000) / (TURNS * 9000.0 + 1000), want = (TURNS - 1) * (1000 - 1000 / elsewhere) / (TURNS * 10000.0);
	EXPECT(share.known && share.share > want - 1e-9 && share.share < want + 1e-9);
	EXPECT(share.lower <= share.share && share.share <= share.upper);
	EXPECT(lost_after(&lost, LOST_CALLS).share < 1e-9);
	lost_read_trace(&lost, &times, &tracks, 20000, 0);
	EXPECT(lost.parts[LOST_ELSEWHERE].cycles < 10001); /* windows longer than the turns leave the first turn alone */
	ipc_tracks_fini(&tracks);
}

TEST("counts after switches and elsewhere give the lost share, and few samples a wide range")
{
	struct lost lost;
	struct lost_samples samples = { .cycles = { 1000, 9000 }, .instructions = { 1000, 18000 } };
	lost_read_samples(&lost, &samples);
	struct lost_share share = lost_after(&lost, LOST_SWITCHES);
	EXPECT(share.known && share.share > 0.0499 && share.share < 0.0501 && share.lower == share.share && share.upper == share.share);
	samples.instruction_squares[0] = 100 * 100 * 10;
	lost_read_samples(&lost, &samples);
	share = lost_after(&lost, LOST_SWITCHES);
	EXPECT(share.lower < 0.03 && share.upper > 0.07);
	lost_read_samples(&lost, &(struct lost_samples){ 0 });
	EXPECT(!lost_after(&lost, LOST_SWITCHES).known);
}
