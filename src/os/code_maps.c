#include "os/code_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/file.h"

/* struct procmap_query of <linux/fs.h> of Linux 6.11, which older headers lack. */
struct query {
	uint64_t size, flags, address;
	uint64_t start, end, vma_flags, page_size, offset, inode;
	uint32_t maj, min, name_size, build_id_size;
	uint64_t name, build_id;
};
#define QUERY_NEXT _IOWR('f', 17, struct query)
enum { VMA_READABLE = 1, VMA_WRITABLE = 2, VMA_EXECUTABLE = 4, VMA_SHARED = 8, COVERING_OR_NEXT = 16 };
enum { NAME_SIZE = 2 * PATH_MAX };

struct walk {
	int (*visit)(void *context, const struct process_map *map);
	void *context;
	uint64_t from;     /* mappings below were visited */
};

static int visit_code(void *context, const struct process_map *map)
{
	const struct walk *walk = context;
	return map->prot & PROT_EXEC && map->start >= walk->from ? walk->visit(walk->context, map) : 0;
}

/* As the kernel prints names in /proc/PID/maps: a newline is "\\012". The text has room for one that consists of newlines. */
static void escape_newlines(char *name, size_t size)
{
	for (char *at = name; (at = strchr(at, '\n')) && strlen(name) + 4 <= size; at += 4) {
		memmove(at + 4, at + 1, strlen(at));
		memcpy(at, "\\012", 4);
	}
}

static struct process_map map_of(const struct query *q, char *name, size_t size)
{
	if (!q->name_size)
		name[0] = '\0';
	escape_newlines(name, size);
	return (struct process_map){
		.start = q->start, .end = q->end, .pgoff = q->offset, .ino = q->inode, .maj = q->maj, .min = q->min, .path = name,
		.prot = (q->vma_flags & VMA_READABLE ? PROT_READ : 0) | (q->vma_flags & VMA_WRITABLE ? PROT_WRITE : 0) | PROT_EXEC,
		.flags = q->vma_flags & VMA_SHARED ? MAP_SHARED : MAP_PRIVATE,
	};
}

/* Returns 1 if all were visited or the time is over, 0 if the text has to give those from walk->from on, < 0 as visit. */
static int query_all(int fd, unsigned timeout_ms, bool *timed_out, struct walk *walk)
{
	char name[NAME_SIZE];
	uint64_t deadline = timeout_ms ? now_ns() + timeout_ms * 1000000ull : UINT64_MAX;
	for (;;) {
		struct query q = { .size = sizeof q, .flags = COVERING_OR_NEXT | VMA_EXECUTABLE, .address = walk->from,
			.name_size = PATH_MAX, .name = (uintptr_t)name };
		if (ioctl(fd, QUERY_NEXT, &q) != 0)
			return errno == ENOENT;
		const struct process_map map = map_of(&q, name, sizeof name);
		int status = walk->visit(walk->context, &map);
		if (status < 0)
			return status;
		walk->from = q.end;
		if (timeout_ms && now_ns() > deadline) {
			*timed_out = true;
			return 1;
		}
	}
}

#ifdef __x86_64__
static int find_vsyscall(void *context, const struct process_map *map)
{
	struct process_map *found = context;
	if (strcmp(map->path, "[vsyscall]") != 0)
		return 0;
	*found = *map;
	found->path = "[vsyscall]";
	return -1;
}

/* The text of each process of 64 bits ends with the page of vsyscall, which is no mapping of the process. */
static int visit_vsyscall(struct code_maps *common, const struct walk *walk)
{
	bool is_64bit = walk->from > UINT32_MAX, timed_out; /* code above 4 GiB */
	if (!common->looked)
		process_maps(getpid(), 0, &timed_out, find_vsyscall, &common->vsyscall, NULL);
	common->looked = true;
	return is_64bit && common->vsyscall.prot & PROT_EXEC ? walk->visit(walk->context, &common->vsyscall) : 0;
}
#else
static int visit_vsyscall(__attribute__((unused)) struct code_maps *common, __attribute__((unused)) const struct walk *walk)
{
	return 0;
}
#endif

int process_code_maps(struct code_maps *common, pid_t pid, unsigned timeout_ms, bool *timed_out,
	int (*visit)(void *context, const struct process_map *map), void *context, struct error *err)
{
	char path[64];
	struct walk walk = { .visit = visit, .context = context };
	snprintf(path, sizeof path, "/proc/%d/maps", pid);
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_system(err, "cannot open %s", path);
	/* a program of 32 bits does not see that others have the page of vsyscall */
	int status = sizeof(void *) == 8 ? query_all(fd, timeout_ms, timed_out, &walk) : 0;
	if (status == 0)
		return process_maps(pid, timeout_ms, timed_out, visit_code, &walk, err);
	return status < 0 ? status : *timed_out ? 0 : visit_vsyscall(common, &walk);
}
