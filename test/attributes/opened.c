/* Preloaded into a recorder: writes each event that it opens, and the filter that it gets, to the file that $OPENED names.
 *
 *   open FD PID CPU GROUP FLAGS BYTES   of a call that succeeded; BYTES is the attribute in hexadecimal digits
 *   close FD
 *   map FD LENGTH PROTECTION OFFSET     of a ring, or of an AUX area, whose offset is not 0
 *   filter FD TEXT
 *   switch FD on|off
 *
 * With $OPENED_ANY, an event that the kernel refuses is opened as a dummy event in its place, so that the events of PMUs that this machine
 * lacks are seen; one of a type that no kernel has remains refused. The process ends where it maps its first ring, unless $OPENED_AREA
 * has a number of bytes: then AUX areas are memory, into which that many bytes are written when they are mapped.
 *
 * Acts in the first process that loads it alone. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { EVENTS = 1024, ATTR_BYTES = 256 };

static int out = -1;
static pid_t self;
static int any;
static unsigned char is_event[EVENTS];

static unsigned long area_bytes;
static struct perf_event_mmap_page *pages[EVENTS]; /* by descriptor: the start of its ring */

__attribute__((constructor)) static void opened_start(void)
{
	const char *path = getenv("OPENED");
	if (!path)
		return;
	out = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	self = getpid();
	any = getenv("OPENED_ANY") != NULL;
	area_bytes = getenv("OPENED_AREA") ? strtoul(getenv("OPENED_AREA"), NULL, 10) : 0;
	unsetenv("OPENED");
	unsetenv("OPENED_ANY");
	unsetenv("OPENED_AREA");
	unsetenv("LD_PRELOAD");
}

static void say(const char *text, size_t length)
{
	if (out >= 0 && getpid() == self && write(out, text, length) < 0)
		abort();
}

static void log_open(long fd, const long *arguments)
{
	const unsigned char *attr = (const unsigned char *)arguments[0];
	char line[128 + 2 * ATTR_BYTES];
	unsigned size;
	memcpy(&size, attr + 4, sizeof size);
	size = size == 0 ? 64 : size > ATTR_BYTES ? ATTR_BYTES : size;
	int length = snprintf(line, sizeof line, "open %ld %d %d %d %lu ", fd, (int)arguments[1], (int)arguments[2], (int)arguments[3],
		(unsigned long)arguments[4]);
	for (unsigned i = 0; i < size; i++)
		length += snprintf(line + length, sizeof line - (size_t)length, "%02x", attr[i]);
	line[length++] = '\n';
	say(line, (size_t)length);
	if (fd < EVENTS)
		is_event[fd] = 1;
}

static void log_fd(const char *what, int fd, const char *text)
{
	char line[4096];
	if (fd < 0 || fd >= EVENTS || !is_event[fd])
		return;
	int length = snprintf(line, sizeof line, "%s %d%s%s\n", what, fd, *text ? " " : "", text);
	say(line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

/* The attribute of the dummy event that replaces one which the kernel refused. */
static void dummy_attribute(struct perf_event_attr *attr, const void *refused)
{
	memset(attr, 0, sizeof *attr);
	memcpy(attr, refused, PERF_ATTR_SIZE_VER0);
	attr->type = PERF_TYPE_SOFTWARE;
	attr->size = sizeof *attr;
	attr->config = PERF_COUNT_SW_DUMMY;
	attr->bp_type = 0;
	attr->precise_ip = 0;
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	attr->bp_addr = 0;
}

long syscall(long number, ...)
{
	static long (*next)(long, ...);
	long a[6];
	va_list list;
	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "syscall");
	long result = next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	bool open_any = any && number == SYS_perf_event_open && getpid() == self;
	if (open_any && result < 0 && ((const struct perf_event_attr *)a[0])->type != UINT32_MAX) {
		struct perf_event_attr dummy;
		dummy_attribute(&dummy, (const void *)a[0]);
		result = next(number, (long)&dummy, a[1], a[2], -1l, a[4]);
	}
	if (number == SYS_perf_event_open && result >= 0)
		log_open(result, a);
	return result;
}

int close(int fd)
{
	static int (*next)(int);
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "close");
	log_fd("close", fd, "");
	if (fd >= 0 && fd < EVENTS && getpid() == self)
		is_event[fd] = 0;
	return next(fd);
}

int ioctl(int fd, unsigned long request, ...)
{
	static int (*next)(int, unsigned long, ...);
	va_list list;
	va_start(list, request);
	void *argument = va_arg(list, void *);
	va_end(list);
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "ioctl");
	if (request == PERF_EVENT_IOC_SET_FILTER)
		log_fd("filter", fd, argument);
	if (request == PERF_EVENT_IOC_SET_FILTER && area_bytes && getpid() == self)
		return 0; /* a dummy event has no addresses */
	if (request == PERF_EVENT_IOC_ENABLE || request == PERF_EVENT_IOC_DISABLE)
		log_fd("switch", fd, request == PERF_EVENT_IOC_ENABLE ? "on" : "off");
	return next(fd, request, argument);
}

static void *map(const char *name, void *at, size_t length, int protection, int flags, int fd, off_t offset)
{
	void *(*next)(void *, size_t, int, int, int, off_t);
	char text[80];
	*(void **)&next = dlsym(RTLD_NEXT, name);
	snprintf(text, sizeof text, "%zu %d %lld", length, protection, (long long)offset);
	log_fd("map", fd, text);
	bool of_event = any && fd >= 0 && fd < EVENTS && is_event[fd] && getpid() == self;
	if (of_event && !area_bytes)
		_exit(0);
	if (!of_event || !offset) {
		void *base = next(at, length, protection, flags, fd, offset);
		if (of_event)
			pages[fd] = base;
		return base;
	}
	unsigned char *area = next(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool overwritten = !(protection & PROT_WRITE);
	size_t bytes = overwritten || area_bytes < length ? area_bytes : length;
	for (size_t i = 0; i < bytes; i++)
		area[i % length] = (unsigned char)(1 + i % 251);
	/* of an area that is overwritten, the place inside of it is reported */
	__atomic_store_n(&pages[fd]->aux_head, overwritten ? bytes % length : bytes, __ATOMIC_RELEASE);
	return area;
}

void *mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset)
{
	return map("mmap", at, length, protection, flags, fd, offset);
}

void *mmap64(void *at, size_t length, int protection, int flags, int fd, off_t offset)
{
	return map("mmap64", at, length, protection, flags, fd, offset);
}
