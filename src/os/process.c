#include "os/process.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/file.h"
#include "os/process_text.h"

static int compare_pids(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;
	return (x > y) - (x < y);
}

static int list_numbers(const char *path, struct process_ids *pids, struct error *err)
{
	DIR *dir = opendir(path);
	if (!dir)
		return error_system(err, "cannot open %s", path);
	for (struct dirent *entry; (entry = readdir(dir));) {
		char *end;
		long pid = strtol(entry->d_name, &end, 10);
		if (*end == '\0' && end != entry->d_name && pid > 0 && pid <= INT_MAX)
			vec_push(&pids->list, (pid_t)pid);
	}
	closedir(dir);
	if (pids->list.count)
		qsort(pids->list.items, pids->list.count, sizeof pids->list.items[0], compare_pids);
	return 0;
}

int process_list(struct process_ids *pids, struct error *err)
{
	return list_numbers("/proc", pids, err);
}

int process_threads(pid_t pid, struct process_ids *tids, struct error *err)
{
	enum { LINKS_OF_ONE = 3 }; /* of a folder with one folder: a list would create files for the thread in the kernel */
	char path[64];
	struct stat st;
	snprintf(path, sizeof path, "/proc/%d/task", pid);
	if (stat(path, &st) == 0 && st.st_nlink == LINKS_OF_ONE) {
		vec_push(&tids->list, pid);
		return 0;
	}
	return list_numbers(path, tids, err);
}

static ssize_t read_whole(const char *path, char *buffer, size_t size)
{
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ssize_t n;
	do
		n = read(fd, buffer, size - 1);
	while (n < 0 && errno == EINTR);
	if (n >= 0)
		buffer[n] = '\0';
	return n;
}

bool process_status(pid_t pid, pid_t tid, struct process_status *status)
{
	char path[64], text[4096];
	if (pid == tid) /* has the same text, and the kernel creates no further folders for it */
		snprintf(path, sizeof path, "/proc/%d/status", pid);
	else
		snprintf(path, sizeof path, "/proc/%d/task/%d/status", pid, tid);
	*status = (struct process_status){ 0 };
	if (read_whole(path, text, sizeof text) <= 0)
		return false;
	process_status_parse(text, status);
	return status->tgid > 0;
}

bool process_brief(pid_t pid, struct process_status *status)
{
	char path[64], text[4096];
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	*status = (struct process_status){ 0 };
	if (read_whole(path, text, sizeof text) <= 0)
		return false;
	process_stat_parse(text, status);
	return status->tgid > 0;
}

bool process_start(pid_t pid, int64_t *start_s)
{
	enum { FIELDS_BEFORE = 19 }; /* between the name, which may have spaces, and the time since boot: proc_pid_stat(5) */
	char path[64], text[4096];
	unsigned long long ticks;
	struct timespec booted, now;
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	if (read_whole(path, text, sizeof text) <= 0)
		return false;
	const char *at = strrchr(text, ')');
	at = at ? at + 1 : NULL;
	for (unsigned i = 0; i < FIELDS_BEFORE && at; i++)
		at = strchr(at + 1, ' ');
	if (!at || sscanf(at, " %llu", &ticks) != 1 || clock_gettime(CLOCK_BOOTTIME, &booted) != 0 || clock_gettime(CLOCK_REALTIME, &now) != 0)
		return false;
	*start_s = (int64_t)now.tv_sec - (int64_t)booted.tv_sec + (int64_t)(ticks / (unsigned long long)sysconf(_SC_CLK_TCK));
	return true;
}

/* Visits the complete lines of the buffer; returns the number of bytes they take. */
static int visit_lines(char *text, size_t *used, int (*visit)(void *, const struct process_map *), void *context)
{
	*used = 0;
	for (char *newline; (newline = strchr(text + *used, '\n'));) {
		struct process_map map;
		*newline = '\0';
		int status = process_map_parse(text + *used, &map) ? visit(context, &map) : 0;
		*used = (size_t)(newline + 1 - text);
		if (status < 0)
			return status;
	}
	return 0;
}

int process_maps(pid_t pid, unsigned timeout_ms, bool *timed_out,
	int (*visit)(void *context, const struct process_map *map), void *context, struct error *err)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/maps", pid);
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_system(err, "cannot open %s", path);
	enum { SIZE = 64 * 1024 }; /* a line is at most a page */
	CLEANUP_FREE char *text = memory_alloc(SIZE);
	size_t len = 0;
	int64_t deadline = timeout_ms ? now_ms() + timeout_ms : INT64_MAX;
	for (;;) {
		ssize_t n = read(fd, text + len, SIZE - 1 - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_system(err, "cannot read %s", path);
		if (n == 0)
			return 0;
		len += (size_t)n;
		text[len] = '\0';
		size_t used;
		int status = visit_lines(text, &used, visit, context);
		if (status < 0)
			return status;
		len -= used;
		memmove(text, text + used, len);
		if (len == SIZE - 1)
			return error_set(err, ERROR_FORMAT, "a line of %s is too long", path);
		if (now_ms() > deadline) {
			*timed_out = true;
			return 0;
		}
	}
}

void process_namespaces(pid_t pid, pid_t tid, struct process_namespace namespaces[PROCESS_NAMESPACES])
{
	static const char *const names[PROCESS_NAMESPACES] = { "net", "uts", "ipc", "pid", "user", "mnt", "cgroup" };
	for (int i = 0; i < PROCESS_NAMESPACES; i++) {
		char path[96];
		struct stat st;
		snprintf(path, sizeof path, "/proc/%d/task/%d/ns/%s", pid, tid, names[i]);
		namespaces[i] = (struct process_namespace){ 0 };
		if (stat(path, &st) == 0)
			namespaces[i] = (struct process_namespace){ st.st_dev, st.st_ino };
	}
}

void task_name(pid_t pid, pid_t tid, char name[static PROCESS_COMM_SIZE])
{
	char path[64];
	if (pid == tid) /* as in process_status */
		snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
	else
		snprintf(path, sizeof path, "/proc/%d/task/%d/comm", (int)pid, (int)tid);
	if (!file_line(path, name, PROCESS_COMM_SIZE))
		name[0] = '\0';
}

bool task_lives(pid_t pid, pid_t tid)
{
	return syscall(SYS_tgkill, pid, tid, 0) == 0 || errno != ESRCH;
}

bool task_runs(pid_t tid)
{
	char path[64], line[512];
	snprintf(path, sizeof path, "/proc/%d/stat", (int)tid);
	if (!file_line(path, line, sizeof line))
		return false;
	const char *name_end = strrchr(line, ')');
	return !name_end || strlen(name_end) < 3 || !strchr("ZXx", name_end[2]);
}

bool process_is_32bit(pid_t pid)
{
	char path[64];
	unsigned char ident[EI_NIDENT] = { 0 };
	snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	bool read = pread(fd, ident, sizeof ident, 0) == sizeof ident;
	close(fd);
	return read && memcmp(ident, ELFMAG, SELFMAG) == 0 && ident[EI_CLASS] == ELFCLASS32;
}

void process_self_path(char *path, size_t size, const char *fallback)
{
	ssize_t n = readlink("/proc/self/exe", path, size - 1);
	if (n > 0) {
		path[n] = '\0';
		return;
	}
	snprintf(path, size, "%s", fallback);
}

void process_words_read(struct process_words *words, const char *program)
{
	enum { COMMAND_MAX = 4 << 20 };
	process_self_path(words->path, sizeof words->path, program);
	vec_push(&words->list, words->path);
	size_t start = file_read("/proc/self/cmdline", &words->text, COMMAND_MAX, NULL) < 0 ? 0 : strlen(str_text(&words->text)) + 1;
	for (size_t at = start; at < words->text.len; at += strlen(words->text.text + at) + 1)
		vec_push(&words->list, words->text.text + at);
	vec_push(&words->list, NULL);
}

void process_words_fini(struct process_words *words)
{
	vec_fini(&words->list);
	str_fini(&words->text);
}

bool process_ends_with(pid_t parent, int signal)
{
	return prctl(PR_SET_PDEATHSIG, signal) == 0 && getppid() == parent;
}
