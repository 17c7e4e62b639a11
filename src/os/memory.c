#include "os/memory.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "os/file.h"

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The smallest limit of a group and its parents. group starts with a slash; it is modified temporarily. */
static uint64_t limit_of_group(const char *mount, char *group, const char *file, uint64_t most)
{
	for (;;) {
		char path[2 * PATH_MAX];
		int64_t limit;
		snprintf(path, sizeof path, "%s%s/%s", mount, group, file);
		if (file_number(path, &limit) && limit > 0) /* "max" is not a number */
			most = smaller(most, (uint64_t)limit);
		char *slash = strrchr(group, '/');
		if (!slash)
			return most;
		*slash = '\0';
	}
}

/* Format: cgroups(7), /proc/PID/cgroup. */
static uint64_t limit_of_groups(uint64_t most)
{
	enum { GROUPS_MAX = 1 << 20 };
	CLEANUP_STR struct str text = { 0 };
	if (file_read("/proc/self/cgroup", &text, GROUPS_MAX, NULL) < 0)
		return most;
	for (char *line = text.text, *next; line && *line; line = next) {
		char controllers[256] = "", group[PATH_MAX];
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (sscanf(line, "0::%4095s", group) == 1)
			most = limit_of_group("/sys/fs/cgroup", group, "memory.max", most);
		else if (sscanf(line, "%*u:%255[^:]:%4095s", controllers, group) == 2 && strstr(controllers, "memory"))
			most = limit_of_group("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes", most);
	}
	return most;
}

/* What is mapped already counts for RLIMIT_AS: of a command that reads a recording, the recording. Format: proc_pid_statm(5). */
static uint64_t address_space_left(uint64_t limit)
{
	int64_t pages;
	uint64_t used = file_number("/proc/self/statm", &pages) && pages > 0 ? (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
	return used < limit ? limit - used : 0;
}

bool memory_addresses_limited(void)
{
	struct rlimit limit;
	return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

uint64_t memory_allowed(void)
{
	static const int limits[] = { RLIMIT_AS, RLIMIT_DATA };
	struct sysinfo info;
	uint64_t most = sysinfo(&info) == 0 ? (uint64_t)info.totalram * info.mem_unit : (uint64_t)1 << 30;
	for (unsigned i = 0; i < sizeof limits / sizeof *limits; i++) {
		struct rlimit limit;
		if (getrlimit(limits[i], &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
			most = smaller(most, limits[i] == RLIMIT_AS ? address_space_left(limit.rlim_cur) : limit.rlim_cur);
	}
	return limit_of_groups(most);
}
