#include "bpf/task_counts.h"

#include <linux/bpf.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "unit.h"

static size_t index_of(const struct task_counts *counts, pid_t tid)
{
	for (size_t i = 0; i < counts->list.count; i++)
		if (counts->list.items[i].tid == tid)
			return i;
	return SIZE_MAX;
}

static bool opened(struct task_counts *counts, const struct task_counts_options *options)
{
	struct error err = { 0 };
	if (task_counts_open(counts, options, &err) == 0)
		return true;
	unit_skip(err.text);
	return false;
}

/* Touches this many new pages. */
static void touch(size_t pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(memory, pages * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		memory[i * page] = 1;
	munmap(memory, pages * page);
}

static uint64_t switches_of(const struct rusage *usage)
{
	return (uint64_t)usage->ru_nvcsw + (uint64_t)usage->ru_nivcsw;
}

TEST("faults, switches and time of this task are those that it has itself, with its children")
{
	enum { PAGES = 300 };
	struct task_counts counts;
	struct rusage before, after, children;
	const struct task_counts_options options = { .follow = true, .faults = { true, true, true } };
	if (!opened(&counts, &options))
		return;
	size_t self = index_of(&counts, getpid());
	EXPECT(self != SIZE_MAX);
	if (self != SIZE_MAX) {
		getrusage(RUSAGE_THREAD, &before);
		uint64_t began = now_ns();
		task_counts_switch(&counts, true);
		touch(PAGES);
		pid_t child = fork();
		if (child == 0) {
			touch(PAGES);
			for (int i = 0; i < 50; i++)
				usleep(100);
			_exit(0);
		}
		wait4(child, NULL, 0, &children);
		task_counts_switch(&counts, false);
		uint64_t elapsed = now_ns() - began;
		getrusage(RUSAGE_THREAD, &after);
		struct task_sum sum = task_counts_sum(&counts, self);
		/* each sleep is a switch; those around the count are not in it */
		EXPECT(sum.switches >= 50 && sum.switches <= switches_of(&after) - switches_of(&before) + switches_of(&children));
		EXPECT(sum.faults[TASK_FAULT_ANY] >= 2 * PAGES && sum.faults[TASK_FAULT_MINOR] >= 2 * PAGES);
		EXPECT(sum.faults[TASK_FAULT_ANY] >= sum.faults[TASK_FAULT_MINOR] + sum.faults[TASK_FAULT_MAJOR]);
		EXPECT(sum.runtime_ns > 0 && sum.runtime_ns <= 2 * elapsed);
		touch(PAGES);
		task_counts_read(&counts);
		EXPECT_INT(task_counts_sum(&counts, self).faults[TASK_FAULT_ANY], sum.faults[TASK_FAULT_ANY]); /* not while switched off */
		EXPECT_INT(task_counts_sum(&counts, self).runtime_ns, sum.runtime_ns);
	}
	task_counts_close(&counts);
}

TEST("a child that is left out, and one that is not followed, are not counted")
{
	enum { PAGES = 300 };
	for (int follow = 0; follow < 2; follow++) {
		struct task_counts counts;
		const struct task_counts_options options = { .follow = follow, .faults = { [TASK_FAULT_MINOR] = true } };
		int go[2];
		if (!opened(&counts, &options) || pipe(go) < 0)
			return;
		size_t self = index_of(&counts, getpid());
		pid_t child = fork();
		if (child == 0) {
			char byte;
			_exit(read(go[0], &byte, 1) == 1 ? (touch(PAGES), 0) : 1);
		}
		if (follow)
			task_counts_leave_out(&counts, child);
		task_counts_switch(&counts, true);
		EXPECT(write(go[1], "", 1) == 1);
		waitpid(child, NULL, 0);
		task_counts_switch(&counts, false);
		EXPECT(self != SIZE_MAX && task_counts_sum(&counts, self).faults[TASK_FAULT_MINOR] < PAGES);
		close(go[0]);
		close(go[1]);
		task_counts_close(&counts);
	}
}

/* All CPUs' states say that the task of this slot runs. */
static bool set_states(const struct task_counts *counts, uint64_t slot)
{
	struct state {
		uint64_t slot, since, known;
	} *states = calloc(cpus_possible_count(), sizeof *states); /* the kernel reads one for each CPU that there could be */
	uint32_t key = 0;
	for (unsigned i = 0; i < cpus_possible_count(); i++)
		states[i] = (struct state){ slot, now_ns(), 1 };
	union bpf_attr attr = { .map_fd = (uint32_t)counts->cpu_states, .key = (uintptr_t)&key, .value = (uintptr_t)states };
	bool set = syscall(SYS_bpf, BPF_MAP_UPDATE_ELEM, &attr, sizeof attr) == 0;
	free(states);
	return set;
}

TEST("a switch that was not reported is counted with its time, each task has its switches, and page faults are those of the current task")
{
	enum { PAGES = 300 };
	struct task_counts counts;
	const struct task_counts_options options = { .faults = { true } };
	pid_t sleeper = fork();
	if (sleeper == 0) {
		pause();
		_exit(0);
	}
	usleep(20000); /* it sleeps */
	if (!opened(&counts, &options)) {
		kill(sleeper, SIGKILL);
		waitpid(sleeper, NULL, 0);
		return;
	}
	size_t self = index_of(&counts, getpid()), other = index_of(&counts, sleeper);
	EXPECT(self != SIZE_MAX && other != SIZE_MAX);
	if (self != SIZE_MAX && other != SIZE_MAX) {
		uint64_t ns, before_ns;
		task_counts_switch(&counts, true);
		uint64_t before = task_counts_missed(&counts, &before_ns);
		EXPECT(set_states(&counts, counts.list.items[other].slot));
		touch(PAGES);
		usleep(1000);
		task_counts_switch(&counts, false);
		struct task_sum own = task_counts_sum(&counts, self), wrong = task_counts_sum(&counts, other);
		EXPECT(task_counts_missed(&counts, &ns) >= before + 1);
		EXPECT(ns > before_ns);
		EXPECT(own.switches >= 1 && own.runtime_ns > 0 && own.faults[TASK_FAULT_ANY] >= PAGES);
		EXPECT(wrong.switches >= 1 && wrong.runtime_ns == 0 && wrong.faults[TASK_FAULT_ANY] == 0);
	}
	kill(sleeper, SIGKILL);
	waitpid(sleeper, NULL, 0);
	task_counts_close(&counts);
}

