#include "analysis/ipc/ipc_window.h"

#include "analysis/ipc/ipc_around.h"
#include "analysis/ipc/ipc_lengths.h"
#include "analysis/ipc/ipc_steady.h"
#include "analysis/ipc/ipc_tables.h"
#include "unit.h"

/* Ranges of 100, 50, 0, 200 cycles and 200, 25, 3, 400 instructions; a pause of 1000 ns behind the second. */
static void fill(struct ipc_tracks *tracks)
{
	strtab_add(&tracks->names, "", 0);
	size_t index = ipc_tracks_find(tracks, -1, 7);
	struct ipc_track *track = &tracks->list.items[index];
	ipc_track_add(track, 100, 200, 1000, 1100, false);
	ipc_track_add(track, 50, 25, 1100, 1150, false);
	ipc_track_add(track, 0, 3, 2150, 2150, false);
	ipc_track_add(track, 200, 400, 2150, 2350, false);
}

static struct ipc_window window_of(const struct ipc_tracks *tracks, uint64_t from, uint64_t to, unsigned width)
{
	struct ipc_window window;
	ipc_window_at(&tracks->list.items[0], from, to, width, &window);
	return window;
}

TEST("a window has interior, leading and trailing ranges")
{
	struct ipc_tracks tracks = { 0 };
	fill(&tracks);
	struct ipc_window window = window_of(&tracks, 90, 160, 0);
	EXPECT_INT(window.leading, 200);
	EXPECT_INT(window.interior, 28);
	EXPECT_INT(window.trailing, 400);
	EXPECT_INT(window.least, 28);
	EXPECT_INT(window.most, 628);
	EXPECT_INT(window.longest, 200);
	EXPECT(window.linear == 20 + 25 + 3 + 20);
	ipc_tracks_fini(&tracks);
}

TEST("at most the width of the machine retires in each cycle of a cut range")
{
	struct ipc_tracks tracks = { 0 };
	fill(&tracks);
	struct ipc_window window = window_of(&tracks, 90, 160, 4);
	/* leading: 11 cycles of 101 are inside, edge included; trailing: 11 of 201 */
	EXPECT_INT(window.most, 44 + 28 + 44);
	EXPECT_INT(window.least, 28);
	window = window_of(&tracks, 1, 100, 4);
	/* outside: the cycles 0, 1 and 100 */
	EXPECT_INT(window.least, 200 - 12);
	EXPECT_INT(window.most, 200 + 4);
	window = window_of(&tracks, 0, 350, 4);
	EXPECT_INT(window.least, 628);
	EXPECT_INT(window.most, 628);
	ipc_tracks_fini(&tracks);
}

TEST("a range that may end later than recorded widens the bounds")
{
	struct ipc_tracks tracks = { 0 };
	fill(&tracks);
	tracks.list.items[0].slack = 3;
	struct ipc_window window = window_of(&tracks, 102, 160, 4);
	/* before: 2 of the cycles 100 to 103 are in it; the second range has cycles 100 to 153, of which 103 to 153 are surely in it */
	EXPECT_INT(window.most, 8 + 28 + 44);
	EXPECT_INT(window.least, 25 - 12 + 3);
	window = window_of(&tracks, 104, 160, 4);
	EXPECT_INT(window.most, 28 + 44);
	window = window_of(&tracks, 0, 153, 4);
	EXPECT_INT(window.least, 200 + 25 - 4);
	window = window_of(&tracks, 0, 154, 4);
	EXPECT_INT(window.least, 200 + 25 + 3);
	window = window_of(&tracks, 0, 350, 4);
	EXPECT_INT(window.least, 628 - 16);
	EXPECT_INT(window.most, 628);
	ipc_tracks_fini(&tracks);
}

TEST("instructions behind the last range can retire in its last cycle, until a later range has them")
{
	struct ipc_tracks tracks = { 0 };
	fill(&tracks);
	struct ipc_track *track = &tracks.list.items[0];
	track->tail = true;
	EXPECT_INT(window_of(&tracks, 0, 350, 4).most, 628 + 4);
	EXPECT_INT(window_of(&tracks, 0, 350, 0).most, 628);
	EXPECT_INT(window_of(&tracks, 0, 349, 4).most, 628);
	ipc_track_add(track, 10, 5, 2350, 2360, false);
	EXPECT_INT(window_of(&tracks, 0, 360, 4).most, 633);
	ipc_tracks_fini(&tracks);
}

TEST("a window is uncertain if the linear number can differ from the true one by more than 2 %")
{
	struct ipc_window window = { .to_cycle = 2000, .longest = 20, .least = 1000, .linear = 1020, .most = 1040 };
	EXPECT(!ipc_window_uncertain(&window));
	window.linear = 1020.5;
	EXPECT(ipc_window_uncertain(&window));
	window = (struct ipc_window){ .to_cycle = 2000, .longest = 20, .least = 980, .linear = 980, .most = 1000 };
	EXPECT(!ipc_window_uncertain(&window));
	window.most = 1001;
	EXPECT(ipc_window_uncertain(&window));
}

TEST("a window inside of one range has its linear share")
{
	struct ipc_tracks tracks = { 0 };
	fill(&tracks);
	struct ipc_window window = window_of(&tracks, 200, 210, 4);
	EXPECT_INT(window.leading, 400);
	EXPECT_INT(window.trailing, 0);
	EXPECT_INT(window.least, 0);
	EXPECT_INT(window.most, 44);
	EXPECT_INT(window.instructions, 20);
	ipc_tracks_fini(&tracks);
}

TEST("buckets add up to the total, whatever their length")
{
	for (uint64_t length = 1; length < 400; length += 7) {
		struct ipc_tracks tracks = { 0 };
		fill(&tracks);
		struct ipc_windows windows = { 0 };
		const struct ipc_grid grid = { .window = { length, false }, .step = { length, false }, .width = 4 };
		ipc_windows_make(&windows, &tracks.list.items[0], &grid);
		uint64_t sum = 0, end = 0;
		for (size_t i = 0; i < windows.list.count; i++) {
			EXPECT_INT(windows.list.items[i].from_cycle, end);
			end = windows.list.items[i].to_cycle;
			sum += windows.list.items[i].instructions;
		}
		EXPECT_INT(sum, 628);
		EXPECT_INT(end, 350);
		vec_fini(&windows.list);
		ipc_tracks_fini(&tracks);
	}
}

TEST("windows of time have the cycles of that time, and skip pauses")
{
	struct ipc_tracks tracks = { 0 };
	fill(&tracks);
	struct ipc_windows windows = { 0 };
	const struct ipc_grid grid = { .window = { 100, true }, .step = { 100, true }, .width = 4 };
	ipc_windows_make(&windows, &tracks.list.items[0], &grid);
	EXPECT_INT(windows.list.count, 5);
	EXPECT_INT(windows.list.items[1].from_cycle, 100);
	EXPECT_INT(windows.list.items[1].to_cycle, 150);
	EXPECT_INT(windows.list.items[2].from_ns, 2100);
	EXPECT_INT(windows.list.items[2].to_cycle, 200);
	EXPECT_INT(windows.list.items[4].to_cycle, 350);
	vec_fini(&windows.list);
	ipc_tracks_fini(&tracks);
}

TEST("windows of time without cycles are skipped, also where each begins within the one before")
{
	enum { WINDOW = 1000, CYCLES = 10 };
	const uint64_t ns = 1000000000000000;
	struct ipc_tracks tracks = { 0 };
	struct ipc_windows windows = { 0 };
	strtab_add(&tracks.names, "", 0);
	size_t index = ipc_tracks_find(&tracks, -1, 7);
	ipc_track_add(&tracks.list.items[index], CYCLES, 20, 0, ns, false);
	const struct ipc_grid grid = { .window = { .count = WINDOW, .ns = true }, .step = { .count = 1, .ns = true } };
	ipc_windows_make(&windows, &tracks.list.items[index], &grid);
	EXPECT_INT(windows.list.count, WINDOW * CYCLES);
	EXPECT_INT(windows.list.items[0].from_ns, ns / CYCLES - WINDOW);
	EXPECT_INT(windows.list.items[0].to_ns, ns / CYCLES);
	EXPECT_INT(windows.list.items[WINDOW].to_ns, 2 * (ns / CYCLES));
	vec_fini(&windows.list);
	ipc_tracks_fini(&tracks);
}

TEST("a cycle at which tracing pauses has two times")
{
	struct ipc_tracks tracks = { 0 };
	fill(&tracks);
	const struct ipc_track *track = &tracks.list.items[0];
	EXPECT_INT(ipc_track_ns(track, 150, false), 1150);
	EXPECT_INT(ipc_track_ns(track, 150, true), 2150);
	EXPECT_INT(ipc_track_cycle(track, 1500), 150);
	EXPECT_INT(ipc_track_cycle(track, 2250), 250);
	EXPECT_INT(ipc_track_ns(track, 250, false), 2250);
	ipc_tracks_fini(&tracks);
}

TEST("a window that touches lost trace is marked")
{
	struct ipc_tracks tracks = { 0 };
	fill(&tracks);
	ipc_track_add(&tracks.list.items[0], 10, 20, 2350, 2360, true);
	ipc_track_add(&tracks.list.items[0], 10, 20, 2360, 2370, false);
	EXPECT(!window_of(&tracks, 300, 350, 4).gap);
	EXPECT(window_of(&tracks, 300, 351, 4).gap);
	EXPECT(window_of(&tracks, 300, 365, 4).gap);
	EXPECT(!window_of(&tracks, 360, 370, 4).gap);
	ipc_tracks_fini(&tracks);
}

TEST("lengths of ranges are counted plain and by their cycles")
{
	struct ipc_tracks tracks = { 0 };
	struct ipc_lengths lengths;
	fill(&tracks);
	ipc_lengths_make(&lengths, &tracks, 4);
	EXPECT_INT(lengths.ranges, 4);
	EXPECT_INT(lengths.cycles, 350);
	EXPECT_INT(lengths.rows[0].ranges, 1);
	EXPECT_INT(lengths.rows[lengths.count - 1].cycles, 200);
	EXPECT_INT(lengths.rows[lengths.count - 1].weight, 200);
	EXPECT_INT(lengths.smallest, 350); /* no shorter window is precise */
	ipc_tracks_fini(&tracks);
	EXPECT_INT(ipc_round_up(0), 1);
	EXPECT_INT(ipc_round_up(3), 5);
	EXPECT_INT(ipc_round_up(51), 100);
}

static void add_call(struct ipc_tracks *tracks, uint64_t ns, const char *name)
{
	struct ipc_track *track = &tracks->list.items[0];
	uint64_t cycle = ipc_track_cycle(track, ns);
	vec_push(&track->events, ((struct ipc_event){ .kind = IPC_EVENT_SYSCALL, .name = strtab_add(&tracks->names, name, strlen(name)),
		.from_ns = ns, .to_ns = ns + 10, .from_cycle = cycle, .to_cycle = cycle + 10 }));
}

TEST("windows around an event are averaged over its occurrences")
{
	struct ipc_tracks tracks = { 0 };
	struct ipc_around around = { 0 };
	struct ipc_anchor anchor;
	fill(&tracks);
	add_call(&tracks, 1100, "read");
	add_call(&tracks, 2200, "read");
	add_call(&tracks, 2300, "write");
	EXPECT(ipc_anchor_parse(&anchor, "syscall:re*"));
	const struct ipc_grid grid = { .window = { 20, false }, .step = { 20, false }, .width = 4 };
	ipc_around_make(&around, &tracks, &anchor, 40, &grid);
	EXPECT_INT(around.occurrences, 2);
	EXPECT_INT(around.rows.count, 4);
	EXPECT_INT(around.rows.items[0].from, -40);
	EXPECT_INT(around.rows.items[0].count, 2);
	EXPECT(around.rows.items[0].mean > 1.999 && around.rows.items[0].mean < 2.001); /* 2 and 2 */
	EXPECT(around.rows.items[2].mean > 1.249 && around.rows.items[2].mean < 1.251); /* 0.5 and 2 */
	EXPECT(around.rows.items[2].low < 1.25 && around.rows.items[2].high > 1.25);
	vec_fini(&around.rows);
	ipc_tracks_fini(&tracks);
}

TEST("an anchor of one kind does not match other kinds; windows with lost trace are counted, and not averaged")
{
	struct ipc_tracks tracks = { 0 };
	struct ipc_around around = { 0 }, none = { 0 };
	struct ipc_anchor anchor;
	fill(&tracks);
	struct ipc_track *track = &tracks.list.items[0];
	ipc_track_add(track, 100, 300, 2350, 2450, true); /* lost trace: cycles 350 to 450 */
	ipc_track_add(track, 100, 300, 2450, 2550, false);
	add_call(&tracks, 2350, "read");
	const struct ipc_grid grid = { .window = { 50, false }, .step = { 50, false }, .width = 4 };
	EXPECT(ipc_anchor_parse(&anchor, "user"));
	ipc_around_make(&none, &tracks, &anchor, 50, &grid);
	EXPECT_INT(none.occurrences, 0);
	EXPECT(ipc_anchor_parse(&anchor, "syscall"));
	ipc_around_make(&around, &tracks, &anchor, 50, &grid);
	EXPECT_INT(around.occurrences, 1);
	EXPECT_INT(around.rows.count, 2);
	EXPECT_INT(around.gaps, 1);
	EXPECT_INT(around.rows.items[0].count, 1);
	EXPECT(around.rows.items[0].mean > 1.999 && around.rows.items[0].mean < 2.001);
	EXPECT_INT(around.rows.items[1].count, 0);
	EXPECT(around.rows.items[1].mean == 0 && around.rows.items[1].low == 0 && around.rows.items[1].most == 0);
	vec_fini(&around.rows);
	vec_fini(&none.rows);
	ipc_tracks_fini(&tracks);
}

TEST("an anchor is a kind, a name, or both, at the start or the end")
{
	struct ipc_anchor anchor;
	EXPECT(ipc_anchor_parse(&anchor, "read:exit") && anchor.kind == -1 && anchor.exit && !strcmp(anchor.name, "read"));
	EXPECT(ipc_anchor_parse(&anchor, "switch") && anchor.kind == IPC_EVENT_SWITCH && !anchor.exit && !*anchor.name);
	EXPECT(ipc_anchor_parse(&anchor, "mark:a::b") && anchor.kind == IPC_EVENT_MARK && !strcmp(anchor.name, "a::b"));
	EXPECT(!ipc_anchor_parse(&anchor, "sycall:read"));
	EXPECT(!ipc_anchor_parse(&anchor, ":read"));
	EXPECT(!ipc_anchor_parse(&anchor, ""));
}

TEST("a steady range has three iterations and no lost trace")
{
	struct ipc_tracks tracks = { 0 };
	struct ipc_steady steady;
	strtab_add(&tracks.names, "", 0);
	size_t index = ipc_tracks_find(&tracks, -1, 7);
	struct ipc_track *track = &tracks.list.items[index];
	for (uint64_t i = 0; i < 100; i++)
		ipc_track_add(track, 10, 20, 1000 + i * 10, 1010 + i * 10, false);
	for (uint64_t ns = 1000; ns < 2000; ns += 50)
		add_call(&tracks, ns, "read");
	vec_push(&tracks.list.items[0].events, ((struct ipc_event){ .kind = IPC_EVENT_OVERFLOW, .from_ns = 1520, .to_ns = 1520 }));
	ipc_tracks_finish(&tracks);
	ipc_steady_find(&steady, &tracks, &tracks.list.items[0], NULL);
	EXPECT(steady.found);
	EXPECT_INT(steady.iterations, 3);
	EXPECT_INT(steady.to_ns - steady.from_ns, 150);
	EXPECT(steady.from_ns >= 1100 && steady.to_ns <= 1900 && (steady.to_ns < 1520 || steady.from_ns > 1520));
	EXPECT_INT(steady.occurrences, 20);
	EXPECT_INT(steady.losses, 1);
	EXPECT(steady.rate == 2);
	struct ipc_result result = { .tracks = &tracks };
	vec_push(&result.steady, steady);
	struct table table = ipc_steady_table(&result);
	struct str scratch = { 0 };
	static const struct {
		const char *column;
		uint64_t count;
	} counts[] = { { "iterations", 3 }, { "occurrences", 20 }, { "losses", 1 } };
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		size_t column = 0;
		while (column < table.column_count && strcmp(table.columns[column].name, counts[i].column) != 0)
			column++;
		EXPECT(column < table.column_count);
		EXPECT_INT(table.cell(table.context, 1, column, &scratch).count, counts[i].count);
	}
	str_fini(&scratch);
	vec_fini(&result.steady);
	ipc_tracks_fini(&tracks);
}
