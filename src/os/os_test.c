#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "os/bpf.h"
#include "os/cpus.h"
#include "os/file.h"
#include "os/kernel.h"
#include "os/kernel_state.h"
#include "os/machine.h"
#include "os/memory.h"
#include "os/permission.h"
#include "os/tracefs.h"
#include "os/process.h"
#include "os/test_child.h"
#include "os/topology.h"
#include "unit.h"

static void round_trip(const char *text, const char *want)
{
	struct cpus cpus = { 0 };
	CLEANUP_STR struct str out = { 0 };
	EXPECT(cpus_parse(&cpus, text, NULL) == 0);
	cpus_text(&cpus, &out);
	EXPECT_STR(str_text(&out), want);
	cpus_fini(&cpus);
}

TEST("a list of CPUs is sorted, joined and read back")
{
	round_trip("0-3,7", "0-3,7");
	round_trip("7,3,2,1,0\n", "0-3,7");
	round_trip("", "");
	round_trip("5,5,5-6", "5-6");
}

TEST("an invalid list of CPUs is rejected")
{
	static const char *const bad[] = { "a", "1-", "-1", "3-1", "1,,2", "65536", "99999999", "1 2" };
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct cpus cpus = { 0 };
		EXPECT(cpus_parse(&cpus, bad[i], NULL) < 0);
		cpus_fini(&cpus);
	}
}

TEST("a list that repeats all CPUs again and again is rejected")
{
	struct cpus cpus = { 0 };
	char text[5 * 8 + 1] = "";
	for (int i = 0; i < 4; i++)
		strcat(text, "0-65535,");
	EXPECT_INT(cpus_parse(&cpus, text, NULL), 0);
	EXPECT_INT(cpus.list.count, CPUS_MAX);
	EXPECT(cpus_parse(&cpus, strcat(text, "7"), NULL) < 0);
	cpus_fini(&cpus);
}

TEST("a CPU list finds its members and detects gaps")
{
	struct cpus cpus = { 0 };
	EXPECT(cpus_parse(&cpus, "2-4", NULL) == 0);
	EXPECT(cpus_contiguous(&cpus));
	cpus_add(&cpus, 9);
	EXPECT(!cpus_contiguous(&cpus));
	EXPECT(cpus_has(&cpus, 9) && cpus_has(&cpus, 3) && !cpus_has(&cpus, 5));
	cpus_fini(&cpus);
}

static int count_maps(void *context, const struct process_map *map)
{
	int *found = context;
	uint64_t here = (uint64_t)(uintptr_t)count_maps;
	if (map->start <= here && here < map->end)
		(*found)++;
	return 0;
}

/* The number of threads of this process: an emulator has additional ones. */
static size_t threads_here(void)
{
	size_t count = 0;
	DIR *folder = opendir("/proc/self/task");
	for (struct dirent *entry; folder && (entry = readdir(folder));)
		count += entry->d_name[0] != '.';
	closedir(folder);
	return count;
}

/* Starts a process with this name, which waits for a signal. */
static pid_t start_named(const char *name)
{
	int ends[2];
	char byte;
	if (pipe(ends) < 0)
		return -1;
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_NAME, name);
		for (ssize_t done = write(ends[1], "", 1); done == 1;)
			pause();
		_exit(1);
	}
	EXPECT_INT(read(ends[0], &byte, 1), 1);
	close(ends[0]);
	close(ends[1]);
	return pid;
}

TEST("the brief facts of a process are those of its status, also if its name contains what separates fields")
{
	static const char *const names[] = { "a) S 7 (x", "b\nc\\d", "0123456789abcde", "0123456789abc\n" };
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
		struct process_status status, brief;
		pid_t pid = start_named(names[i]); /* emulators make up the facts of the process itself */
		EXPECT(process_status(pid, pid, &status) && process_brief(pid, &brief));
		EXPECT_STR(brief.comm, status.comm);
		EXPECT_INT(brief.tgid, status.tgid);
		EXPECT_INT(brief.ppid, status.ppid);
		EXPECT_INT(brief.ppid, getpid());
		EXPECT_INT(brief.threads, status.threads);
		EXPECT(!brief.kernel && !status.kernel);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

TEST("process 1 is described as any other; process 0 does not exist")
{
	struct process_status status;
	EXPECT(process_brief(1, &status));
	EXPECT_INT(status.tgid, 1);
	EXPECT(process_status(1, 1, &status));
	EXPECT(!process_brief(0, &status) && !process_status(0, 0, &status));
}

TEST("this process, its threads and its mappings are found in /proc")
{
	struct process_status status;
	struct process_ids tids = { 0 };
	int found = 0;
	bool timed_out = false;
	EXPECT(process_status(getpid(), getpid(), &status));
	EXPECT_INT(status.tgid, getpid());
	EXPECT_INT(status.ppid, getppid());
	EXPECT(!status.kernel);
	EXPECT(process_threads(getpid(), &tids, NULL) == 0 && tids.list.count == threads_here() && tids.list.items[0] == getpid());
	EXPECT(process_maps(getpid(), 1000, &timed_out, count_maps, &found, NULL) == 0);
	EXPECT_INT(found, 1);
	EXPECT(!timed_out);
	vec_fini(&tids.list);
}

static void *wait_for_end(void *fd)
{
	char byte;
	return read(*(int *)fd, &byte, 1) < 0 ? fd : NULL;
}

TEST("a process of one thread has that one, of two threads both")
{
	struct process_ids alone = { 0 }, both = { 0 };
	int ends[2];
	pthread_t thread;
	EXPECT_INT(pipe(ends), 0);
	EXPECT_INT(process_threads(getpid(), &alone, NULL), 0);
	EXPECT_INT(pthread_create(&thread, NULL, wait_for_end, &ends[0]), 0);
	EXPECT_INT(process_threads(getpid(), &both, NULL), 0);
	EXPECT_INT(both.list.count, alone.list.count + 1);
	EXPECT_INT(alone.list.items[0], getpid());
	bool found = false; /* numbers of threads may have wrapped, so that a new one comes first */
	for (size_t i = 0; i < both.list.count; i++)
		found |= both.list.items[i] == getpid();
	EXPECT(found);
	EXPECT(process_threads(999999999, &alone, NULL) < 0);
	close(ends[1]);
	pthread_join(thread, NULL);
	close(ends[0]);
	vec_fini(&alone.list);
	vec_fini(&both.list);
}

/* Replaces the end in the stored file. */
static void store_end(const char *base, const char *state)
{
	char path[128];
	snprintf(path, sizeof path, "%s/perfuse/kernel-text", base);
	FILE *file = fopen(path, "w");
	EXPECT(file && fprintf(file, "%s _stext 10 2a\n", state) > 0);
	if (file)
		fclose(file);
}

TEST("the addresses of the kernel's text are stored, and read again as long as the kernel runs")
{
	struct kernel_text first = { 0 }, second = { 0 }, third = { 0 };
	char base[] = "/tmp/kernel-text-test-XXXXXX", state[32], command[64];
	EXPECT(mkdtemp(base) != NULL);
	EXPECT_INT(kernel_text_cached(base, &first, NULL), 0);
	if (!first.symbol[0]) {
		unit_skip("this user does not see the kernel's addresses");
	} else {
		EXPECT_INT(kernel_text_cached(base, &second, NULL), 0);
		EXPECT_STR(second.symbol, first.symbol);
		EXPECT(second.start == first.start && second.end == first.end && first.end > first.start);
		snprintf(state, sizeof state, "%llx", (unsigned long long)kernel_boot_state(""));
		store_end(base, state);
		EXPECT_INT(kernel_text_cached(base, &third, NULL), 0);
		EXPECT(third.start == 0x10 && third.end == 0x2a && strcmp(third.symbol, "_stext") == 0);
		store_end(base, "1234");
		EXPECT_INT(kernel_text_cached(base, &third, NULL), 0);
		EXPECT(third.start == first.start && third.end == first.end);
	}
	snprintf(command, sizeof command, "rm -rf '%s'", base);
	EXPECT_INT(system(command), 0);
}

TEST("a module of the kernel ends where the next one begins, in whatever order they are listed")
{
	struct kernel_module rows[] = {
		{ .start = 0x5000, .size = 0x9000 }, { .start = 0x1000, .size = 0x4000 }, { .start = 0x2000, .size = 0x800 },
	};
	struct kernel_modules modules = { .list = { .items = rows, .count = 3 } };
	kernel_modules_cut(&modules);
	EXPECT_INT(rows[0].size, 0x9000);
	EXPECT_INT(rows[1].size, 0x1000);
	EXPECT_INT(rows[2].size, 0x800);
}

TEST("the words of the command line begin with the path of the program and end with NULL")
{
	struct process_words words = { 0 };
	char target[4096];
	ssize_t length = readlink("/proc/self/exe", target, sizeof target - 1);
	process_words_read(&words, "elsewhere");
	if (length > 0) {
		target[length] = '\0';
		EXPECT_STR(words.list.items[0], target);
	}
	FILE *file = fopen("/proc/self/cmdline", "re");
	size_t count = 0;
	for (int c; file && (c = getc(file)) != EOF;)
		count += c == '\0';
	EXPECT_INT(words.list.count, count + 1);
	EXPECT(words.list.items[count] == NULL);
	process_words_fini(&words);
	if (file)
		fclose(file);
}

TEST("this program has the width of its pointers, and a process that does not exist none")
{
	EXPECT(!process_is_32bit(0x3fffffff));
	if (kernel_is_emulated())
		unit_skip("this process's program is the emulator; native builds run it");
	else
		EXPECT_INT(process_is_32bit(getpid()), sizeof(void *) == 4);
}

TEST("a process that does not exist is reported as such")
{
	struct process_status status = { .tgid = 7, .ppid = 8 };
	EXPECT(!process_status(0x3fffffff, 0x3fffffff, &status));
	EXPECT_INT(status.tgid, 0);
	EXPECT_INT(status.ppid, 0);
	status.tgid = status.ppid = 9;
	EXPECT(!process_brief(0x3fffffff, &status));
	EXPECT_INT(status.tgid, 0);
	EXPECT_INT(status.ppid, 0);
	EXPECT(process_maps(0x3fffffff, 0, NULL, count_maps, NULL, NULL) < 0);
}

TEST("clocks are found by long and short names")
{
	int32_t id = -1;
	EXPECT(clock_by_name("CLOCK_MONOTONIC_RAW", &id) && id == 4);
	EXPECT(clock_by_name("mono", &id) && id == 1);
	EXPECT(clock_by_name("monotonic", &id) && id == 1);
	EXPECT(!clock_by_name("sundial", &id));
	EXPECT(clock_resolution_ns(1) > 0);
}

TEST("the topology of this machine has a CPU and can be freed")
{
	struct topology topology;
	topology_read(&topology);
	EXPECT(topology.cpus.count >= 1);
	topology_fini(&topology);
}

TEST("a file larger than the limit is rejected")
{
	struct error err;
	CLEANUP_STR struct str text = { 0 };
	EXPECT(file_read("/proc/self/status", &text, 10, &err) < 0);
	EXPECT_INT(err.kind, ERROR_LIMIT);
}

TEST("the error of a denied counter names the sysctl, its value and a remedy")
{
	struct error err;
	EXPECT(permission_refused(&err, "cycles", "the kernel", -2) < 0);
	EXPECT(strstr(err.text, "kernel.perf_event_paranoid is") != NULL);
	EXPECT(strstr(err.hint, "sysctl") != NULL);
	/* of the two, the sysctl is only named if it is the reason */
	struct permission permission;
	permission_read(&permission);
	EXPECT(permission_refused(&err, "cycles", "the kernel", permission.paranoid - 1) < 0);
	EXPECT(strstr(err.hint, "sysctl") != NULL);
	EXPECT(permission_refused(&err, "cycles", "the kernel", permission.paranoid) < 0);
	EXPECT(strstr(err.hint, "sysctl") == NULL && strstr(err.hint, "another user") != NULL);
}

TEST("a line is read the same after a call that a signal interrupted")
{
	char line[64];
	errno = EINTR;
	EXPECT(file_line("/proc/self/comm", line, sizeof line));
	EXPECT(!file_line("/proc/self/no-such-file", line, sizeof line));
}

TEST("the memory limit is at most the machine's memory, and follows a lower resource limit")
{
	struct rlimit before, less;
	uint64_t all = memory_allowed();
	EXPECT(all > 0 && all / 1024 <= machine_memory_kb());
	EXPECT_INT(getrlimit(RLIMIT_DATA, &before), 0);
#ifdef __SANITIZE_ADDRESS__
	unit_skip("the sanitizer's own memory exceeds the limit; builds without it run it");
	return;
#endif
	less = before;
	less.rlim_cur = all / 2;
	EXPECT_INT(setrlimit(RLIMIT_DATA, &less), 0);
	EXPECT_INT(getrlimit(RLIMIT_DATA, &less), 0);
	if (less.rlim_cur == before.rlim_cur)
		unit_skip("emulated kernels ignore this limit; native builds run it");
	else
		EXPECT_INT(memory_allowed(), all / 2);
	EXPECT_INT(setrlimit(RLIMIT_DATA, &before), 0);
}

TEST("of a limited address space, what is mapped is not available")
{
	struct rlimit before, less;
	uint64_t all = memory_allowed();
#ifdef __SANITIZE_ADDRESS__
	unit_skip("the sanitizer's own memory exceeds the limit; builds without it run it");
	return;
#endif
	EXPECT_INT(getrlimit(RLIMIT_AS, &before), 0);
	less = before;
	less.rlim_cur = all / 2;
	EXPECT_INT(setrlimit(RLIMIT_AS, &less), 0);
	EXPECT_INT(getrlimit(RLIMIT_AS, &less), 0);
	if (less.rlim_cur == before.rlim_cur) {
		unit_skip("emulated kernels ignore this limit; native builds run it");
		return;
	}
	enum { SIZE = 64 << 20, OTHER = 1 << 20 };
	uint64_t left = memory_allowed();
	EXPECT(memory_addresses_limited());
	EXPECT(left < all / 2 && left > SIZE);
	void *mapped = mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT(mapped != MAP_FAILED);
	uint64_t now = memory_allowed();
	EXPECT(now + SIZE <= left + OTHER && now + SIZE + OTHER >= left);
	munmap(mapped, SIZE);
	EXPECT_INT(setrlimit(RLIMIT_AS, &before), 0);
	EXPECT_INT(memory_addresses_limited(), before.rlim_cur != RLIM_INFINITY);
}

/* 0: it loads; 1: no permission, or no such system call; 2: another error. */
static int load_program(void *unused)
{
	struct error err = { 0 };
	(void)unused;
	return bpf_program_load(&err) == 0 ? 0 : err.kind == ERROR_PERMISSION || err.sys == ENOSYS ? 1 : 2;
}

TEST("the smallest BPF program is valid, and loads with permission alone")
{
	EXPECT(load_program(NULL) != 2);
	if (geteuid() == 0)
		EXPECT_INT(in_child(load_program, NULL, OTHER_USER, 0), 1);
}

TEST("a zombie exists, but has ended")
{
	siginfo_t info;
	char name[PROCESS_COMM_SIZE] = "", comm[64] = "";
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	EXPECT(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0);
	EXPECT(task_lives(pid, pid) && !task_runs(pid));
	EXPECT(waitpid(pid, NULL, 0) == pid);
	EXPECT(!task_runs(pid));
	EXPECT(task_runs(getpid()));
	task_name(getpid(), getpid(), name);
	EXPECT(file_line("/proc/self/comm", comm, sizeof comm));
	EXPECT_STR(name, comm);
	task_name(getpid(), pid, name);
	EXPECT_STR(name, "");
}

/* In a process that outlives its parent: writes whether it learns that. */
static void outlive(pid_t parent, int result)
{
	while (getppid() == parent)
		usleep(1000);
	char byte = process_ends_with(parent, SIGKILL) ? 'n' : 'y';
	(void)!write(result, &byte, 1);
	_exit(0);
}

TEST("a process learns that its parent has ended before it could follow")
{
	int result[2], status;
	char byte = 0;
	EXPECT(pipe2(result, O_CLOEXEC) == 0);
	pid_t test = getpid(), child = fork();
	if (child == 0) {
		pid_t self = getpid();
		bool follows = process_ends_with(test, SIGKILL);
		if (follows && fork() == 0)
			outlive(self, result[1]);
		_exit(!follows);
	}
	close(result[1]);
	EXPECT(child > 0 && waitpid(child, &status, 0) == child);
	EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	EXPECT_INT(read(result[0], &byte, 1), 1);
	EXPECT_INT(byte, 'y');
	close(result[0]);
}

TEST("a name that is too long for tracefs is refused with a sentence")
{
	char name[8192];
	struct error err = { 0 };
	CLEANUP_STR struct str out = { 0 };
	memset(name, 'x', sizeof name);
	name[sizeof name - 1] = '\0';
	EXPECT(tracefs_read(name, &out, &err) < 0);
	EXPECT(strstr(err.text, tracefs_path() ? "too long for tracefs" : "not mounted"));
	EXPECT_INT(out.len, 0);
}
