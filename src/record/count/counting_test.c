#include "record/count/counting.h"

#include <sys/wait.h>

#include "record/count/cpu_place.h"
#include <string.h>

#include "os/test_child.h"

static bool opened(struct counting *c, struct events *events, const char *text, const char *const *command)
{
	struct error err = { 0 };
	EXPECT(events_parse(events, text, NULL) == 0);
	const struct counting_options options = { .events = events, .command = command, .target.command = true };
	if (counting_open(c, &options, &err) == 0)
		return true;
	unit_skip(err.text);
	return false;
}

TEST("counts of a command are read and an unknown event is a state")
{
	if (kernel_is_emulated()) {
		unit_skip("the emulator does not pass counters on; native builds run it");
		return;
	}
	static const char *const command[] = { "sh", "-c", "exit 3", NULL };
	struct events events = { 0 };
	struct counting c;
	struct counts counts = { 0 };
	if (opened(&c, &events, "task-clock:u,r1ffff,page-faults:u", command)) {
		EXPECT(counting_start(&c, NULL) == 0);
		counting_wait(&c, -1, -1);
		counting_end(&c, false);
		counting_read(&c, &counts);
		EXPECT_INT(counts.list.count, 3);
		EXPECT(counts.list.items[0].value > 0 && counts.list.items[0].running > 0);
		EXPECT(counts.list.items[2].value > 10);
		EXPECT(c.workload.reaped && WEXITSTATUS(c.workload.status) == 3);
		EXPECT(c.end_ns > c.start_ns);
	}
	counting_close(&c);
	vec_fini(&counts.list);
	events_fini(&events);
}

TEST("the wait ends at its time")
{
	if (kernel_is_emulated()) {
		unit_skip("the emulator does not pass counters on; native builds run it");
		return;
	}
	static const char *const command[] = { "sleep", "5", NULL };
	struct events events = { 0 };
	struct counting c;
	if (opened(&c, &events, "page-faults:u", command)) {
		EXPECT(counting_start(&c, NULL) == 0);
		uint64_t before = counting_now_ns();
		counting_wait(&c, 50, -1);
		uint64_t waited = counting_now_ns() - before;
		EXPECT(!c.ended && waited >= 50000000 && waited < 4000000000);
	}
	counting_close(&c);
	events_fini(&events);
}

TEST("a cpu is in a package")
{
	struct cpu_place place;
	cpu_place_read(&place, 0, CPU_PLACE_CORE, 0);
	EXPECT(place.socket >= 0 && place.core >= 0);
}
