#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "dump.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { MAGIC = 0x4a695444, VERSION = 1, CODE_LOAD = 0, CODE_DEBUG_INFO = 2, CODE_CLOSE = 3, MACHINE_AT = 18 };

struct file_header {
	uint32_t magic, version, size, machine, pad, pid;
	uint64_t timestamp, flags;
};

struct prefix {
	uint32_t id, size;
	uint64_t timestamp;
};

struct code_load {
	struct prefix prefix;
	uint32_t pid, tid;
	uint64_t vma, address, size, index;
};

struct debug_info {
	struct prefix prefix;
	uint64_t address, count;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The clock of `record -k mono`. */
static uint64_t now_ns(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* e_machine of the program that runs. */
static uint32_t own_machine(void)
{
	uint16_t machine = 0;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		if (pread(fd, &machine, sizeof machine, MACHINE_AT) != sizeof machine)
			machine = 0;
		close(fd);
	}
	return machine;
}

static void write_all(struct dump *dump, struct iovec *parts, int count)
{
	while (count && !dump->error) {
		ssize_t done = writev(dump->fd, parts, count);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			dump->error = errno;
		for (; count && done >= (ssize_t)parts->iov_len; count--)
			done -= (ssize_t)parts++->iov_len;
		if (count && done > 0) {
			parts->iov_base = (char *)parts->iov_base + done;
			parts->iov_len -= (size_t)done;
		}
	}
}

/* ROOT/.debug/jit/java-XXXXXX, which only this user can enter. */
static bool make_folder(struct dump *dump, char *folder, size_t size)
{
	static const char *const parts[] = { "", "/.debug", "/.debug/jit" };
	const char *root = getenv("JITDUMPDIR");
	root = root && *root ? root : getenv("HOME");
	root = root && *root ? root : ".";
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		snprintf(dump->path, sizeof dump->path, "%s%s", root, parts[i]);
		if (mkdir(dump->path, 0700) != 0 && errno != EEXIST)
			return false;
	}
	int length = snprintf(folder, size, "%s/java-XXXXXX", dump->path);
	if (length < 0 || (size_t)length >= size) {
		errno = ENAMETOOLONG;
		return false;
	}
	return mkdtemp(folder) != NULL;
}

static bool open_file(struct dump *dump, const char *folder)
{
	char own[PATH_MAX];
	if (!folder && !make_folder(dump, own, sizeof own))
		return false;
	int length = snprintf(dump->path, sizeof dump->path, "%s/jit-%d.dump", folder ? folder : own, (int)dump->pid);
	if (length < 0 || (size_t)length >= sizeof dump->path) {
		errno = ENAMETOOLONG;
		return false;
	}
	if (folder)
		unlink(dump->path); /* of an earlier process with this number */
	dump->fd = open(dump->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return dump->fd >= 0;
}

bool dump_open(struct dump *dump, const char *folder)
{
	dump->pid = getpid();
	if (!open_file(dump, folder)) {
		dump->error = errno;
		return false;
	}
	struct file_header header = { .magic = MAGIC, .version = VERSION, .size = sizeof header, .machine = own_machine(),
		.pid = (uint32_t)dump->pid, .timestamp = now_ns() };
	write_all(dump, &(struct iovec){ &header, sizeof header }, 1);
	/* executable: recorders see such mappings alone */
	dump->marker_size = (size_t)sysconf(_SC_PAGESIZE);
	dump->marker = mmap(NULL, dump->marker_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, dump->fd, 0);
	if (dump->marker == MAP_FAILED && !dump->error)
		dump->error = errno;
	if (dump->error) {
		unlink(dump->path);
		close(dump->fd);
		return false;
	}
	dump->open = true;
	return true;
}

void dump_close(struct dump *dump)
{
	pthread_mutex_lock(&lock);
	if (dump->open && dump->pid == getpid()) {
		struct prefix record = { .id = CODE_CLOSE, .size = sizeof record, .timestamp = now_ns() };
		write_all(dump, &(struct iovec){ &record, sizeof record }, 1);
		close(dump->fd);
		munmap(dump->marker, dump->marker_size);
		dump->open = false;
	}
	pthread_mutex_unlock(&lock);
}

static bool reserve(struct dump_lines *lines, size_t more)
{
	size_t room = lines->room ? lines->room : 1024;
	while (room - lines->size < more)
		room *= 2;
	if (room == lines->room)
		return true;
	uint8_t *bytes = realloc(lines->bytes, room);
	if (!bytes)
		return false;
	lines->bytes = bytes;
	lines->room = room;
	return true;
}

void dump_line(struct dump_lines *lines, uint64_t address, uint32_t line, const char *file)
{
	struct {
		uint64_t address;
		uint32_t line, discriminator;
	} entry = { address, line, 0 };
	size_t length = strlen(file) + 1;
	if (lines->failed || (lines->count && address <= lines->last_address))
		return;
	if (lines->count && line == lines->last_line && strcmp((char *)lines->bytes + lines->last_name, file) == 0)
		return;
	if (!reserve(lines, sizeof entry + length)) {
		lines->failed = true;
		return;
	}
	memcpy(lines->bytes + lines->size, &entry, sizeof entry);
	lines->last_name = lines->size + sizeof entry;
	memcpy(lines->bytes + lines->last_name, file, length);
	lines->size += sizeof entry + length;
	lines->last_address = address;
	lines->last_line = line;
	lines->count++;
}

void dump_lines_free(struct dump_lines *lines)
{
	free(lines->bytes);
	*lines = (struct dump_lines){ 0 };
}

void dump_code(struct dump *dump, const char *name, const void *address, uint64_t size, const struct dump_lines *lines)
{
	size_t name_length = strlen(name) + 1;
	uint64_t place = (uint64_t)(uintptr_t)address;
	bool with_lines = lines && lines->count && !lines->failed;
	struct debug_info debug = { .prefix = { .id = CODE_DEBUG_INFO }, .address = place, .count = with_lines ? lines->count : 0 };
	struct code_load load = { .prefix = { .id = CODE_LOAD }, .vma = place, .address = place, .size = size };
	uint64_t load_size = sizeof load + name_length + size, debug_size = sizeof debug + (with_lines ? lines->size : 0);
	if (load_size > UINT32_MAX || debug_size > UINT32_MAX)
		return;
	load.prefix.size = (uint32_t)load_size;
	debug.prefix.size = (uint32_t)debug_size;
	load.pid = (uint32_t)dump->pid;
	load.tid = (uint32_t)syscall(SYS_gettid);
	struct iovec parts[] = {
		{ &debug, sizeof debug }, { with_lines ? lines->bytes : NULL, with_lines ? lines->size : 0 },
		{ &load, sizeof load }, { (char *)name, name_length }, { (void *)address, size },
	};
	pthread_mutex_lock(&lock);
	if (dump->open && !dump->error && dump->pid == getpid()) {
		load.index = dump->codes++;
		load.prefix.timestamp = debug.prefix.timestamp = now_ns();
		if (with_lines)
			write_all(dump, parts, 5);
		else
			write_all(dump, parts + 2, 3);
	}
	pthread_mutex_unlock(&lock);
}
