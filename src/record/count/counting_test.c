#include "record/count/counting.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
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
		counting_wait(&c, -1);
		counting_end(&c, false);
		counting_read(&c, &counts);
		EXPECT_INT(counts.list.count, 2); /* none of the unknown event */
		EXPECT(c.measurement.counters.states.items[1] == COUNTER_UNSUPPORTED);
		EXPECT(counts.list.items[0].value > 0 && counts.list.items[0].running > 0);
		EXPECT(counts.list.items[1].value > 10);
		EXPECT(c.measurement.workload.reaped && WEXITSTATUS(c.measurement.workload.status) == 3);
		EXPECT(c.end_ns > c.start_ns);
	}
	counting_close(&c);
	vec_fini(&counts.list);
	events_fini(&events);
}

TEST("members of groups have the values of their own, on each cpu")
{
	if (kernel_is_emulated()) {
		unit_skip("the emulator does not pass counters on; native builds run it");
		return;
	}
	static const char *const command[] = { "sh", "-c", "exit 0", NULL };
	struct events events = { 0 };
	struct counting c;
	struct counts counts = { 0 };
	/* r1ffff does not exist: its group does not count, the other one does */
	if (opened(&c, &events, "{page-faults:u,task-clock:u},{minor-faults:u,r1ffff},major-faults:u", command)) {
		const struct counters *counters = &c.measurement.counters;
		EXPECT(counting_start(&c, NULL) == 0);
		counting_wait(&c, -1);
		counting_end(&c, false);
		counting_read(&c, &counts);
		EXPECT_INT(counts.list.count, 4);
		EXPECT(counters->list.items[1].reader == 0 && counters->list.items[3].reader == 3);
		EXPECT(counts.list.items[0].value > 10 && counts.list.items[0].value < 100000);
		EXPECT(counts.list.items[1].value > 100000 && counts.list.items[1].running > 0);
		EXPECT(counters->states.items[2] == COUNTER_LAME && counters->states.items[3] == COUNTER_UNSUPPORTED);
		EXPECT(counts.list.items[2].value == 0 && counts.list.items[2].running == 0);
		EXPECT(counters->states.items[4] == COUNTER_OPENED && counts.list.items[3].running > 0);
	}
	counting_close(&c);
	vec_fini(&counts.list);
	events_fini(&events);
}

/* What the counts are if a read of the group's counter gives these words; NULL: if it fails. */
static void expect_of_words(struct counting *c, const uint64_t *words, size_t count, const uint64_t want[4])
{
	struct counts counts = { 0 };
	int ends[2] = { -1, -1 };
	if (words) {
		EXPECT(pipe(ends) == 0 && write(ends[1], words, count * sizeof *words) == (ssize_t)(count * sizeof *words));
		close(ends[1]);
	} else {
		ends[0] = open("/", O_RDONLY | O_CLOEXEC);
	}
	EXPECT(dup2(ends[0], c->measurement.counters.list.items[0].fd) >= 0);
	close(ends[0]);
	counting_read(c, &counts);
	EXPECT_INT(counts.list.count, 2);
	for (size_t i = 0; i < 2; i++) {
		EXPECT_INT(counts.list.items[i].value, want[2 * i]);
		EXPECT_INT(counts.list.items[i].running, want[2 * i + 1]);
	}
	vec_fini(&counts.list);
}

TEST("a group whose read fails, or gives too few words or no counter, has no values")
{
	if (kernel_is_emulated()) {
		unit_skip("the emulator does not pass counters on; native builds run it");
		return;
	}
	static const char *const command[] = { "sh", "-c", "exit 0", NULL };
	struct events events = { 0 };
	struct counting c;
	if (opened(&c, &events, "{page-faults:u,task-clock:u}", command)) {
		bool ids = c.measurement.events->list.items[0].attr.read_format & READ_ID;
		const uint64_t plain[] = { 2, 50, 40, 7, 8 }, with_ids[] = { 2, 50, 40, 7, 1, 8, 2 }, empty[] = { 0, 50, 40, 7, 8, 9, 10 };
		const uint64_t *words = ids ? with_ids : plain;
		size_t count = ids ? sizeof with_ids / sizeof *with_ids : sizeof plain / sizeof *plain;
		expect_of_words(&c, words, count, (const uint64_t[]){ 7, 40, 8, 40 });
		expect_of_words(&c, NULL, 0, (const uint64_t[]){ 0, 0, 0, 0 });
		expect_of_words(&c, words, count - 1, (const uint64_t[]){ 0, 0, 0, 0 });
		expect_of_words(&c, words, 0, (const uint64_t[]){ 0, 0, 0, 0 });
		expect_of_words(&c, empty, sizeof empty / sizeof *empty, (const uint64_t[]){ 0, 0, 0, 0 });
	}
	counting_close(&c);
	events_fini(&events);
}

TEST("software events of whole cpus are read together")
{
	if (kernel_is_emulated()) {
		unit_skip("the emulator does not pass counters on; native builds run it");
		return;
	}
	struct events events = { 0 };
	struct counting c;
	struct counts counts = { 0 };
	struct error err = { 0 };
	EXPECT(events_parse(&events, "page-faults,cpu-clock,context-switches", NULL) == 0);
	const struct counting_options options = { .events = &events, .target.all_cpus = true };
	if (counting_open(&c, &options, &err) == 0) {
		const struct counters *counters = &c.measurement.counters;
		size_t cpus = counters->first.items[1];
		EXPECT(counting_start(&c, NULL) == 0);
		counting_wait(&c, 20);
		counting_end(&c, false);
		counting_read(&c, &counts);
		EXPECT_INT(counts.list.count, 3 * cpus);
		EXPECT(counters->list.items[2 * cpus].reader == 0 && counters->list.items[3 * cpus - 1].reader == cpus - 1);
		uint64_t switches = 0;
		for (size_t i = 0; i < cpus; i++) { /* the clock of a CPU is the time of its counter */
			EXPECT(counts.list.items[cpus + i].value > 15000000 && counts.list.items[i].value < 15000000);
			switches += counts.list.items[2 * cpus + i].value;
		}
		EXPECT(switches > 0 && switches < 15000000);
	} else {
		unit_skip(err.text);
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
		uint64_t before = now_ns();
		counting_wait(&c, 50);
		uint64_t waited = now_ns() - before;
		EXPECT(!counting_ended(&c) && waited >= 50000000 && waited < 4000000000);
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

TEST("all threads are counted without counters where the kernel can do that, and an event with a modifier has counters")
{
	if (kernel_is_emulated()) {
		unit_skip("the emulator does not pass counters on; native builds run it");
		return;
	}
	struct events events = { 0 };
	struct counting c;
	struct counts counts = { 0 };
	struct error err = { 0 };
	EXPECT(events_parse(&events, "page-faults,page-faults:uk", NULL) == 0);
	const struct counting_options options = { .events = &events, .target = { .all_threads = true, .per_thread = true } };
	if (counting_open(&c, &options, &err) < 0) {
		unit_skip(err.text);
	} else {
		bool by_task = events.list.items[0].task_counted;
		EXPECT_INT(by_task, c.has_task_counts);
		EXPECT(!events.list.items[1].task_counted);
		EXPECT(counting_start(&c, NULL) == 0);
		char *memory = memory_alloc(4 << 20);
		for (size_t i = 0; i < 4 << 20; i += 4096)
			((volatile char *)memory)[i] = 1;
		counting_switch(&c, false);
		counting_read(&c, &counts);
		EXPECT_INT(counts.list.count, 2 * c.measurement.target.threads.count);
		bool found = false;
		for (size_t i = 0; i < counts.list.count / 2; i++) {
			if (c.measurement.counters.list.items[i].tid != getpid())
				continue;
			EXPECT_INT(c.measurement.counters.list.items[i].fd >= 0, !by_task);
			EXPECT(counts.list.items[i].value > 0 && counts.list.items[i].running > 0);
			found = true;
		}
		EXPECT(found);
		free(memory);
	}
	counting_close(&c);
	vec_fini(&counts.list);
	events_fini(&events);
}
