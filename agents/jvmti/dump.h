/* A jitdump that is written: code and its lines, by any thread. Knows nothing of Java.
 * Source of the format: tools/perf/Documentation/jitdump-specification.txt of Linux. */
#pragma once
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct dump {
	bool open;
	int fd;
	int error;              /* errno of what went wrong first: nothing is written after it */
	pid_t pid;              /* children of the process write nothing */
	uint64_t codes;         /* written */
	void *marker;           /* the mapping that tells recorders of the file */
	size_t marker_size;
	char path[PATH_MAX];
};

/* The entries of one piece of code, as they go to the file. */
struct dump_lines {
	uint8_t *bytes;
	size_t size, room;
	uint64_t count, last_address;
	uint32_t last_line;
	size_t last_name;       /* where in bytes; valid if count */
	bool failed;            /* out of memory: the code is written without lines */
};

/* folder: NULL for a new one of its own. False: error and path say what failed. */
bool dump_open(struct dump *dump, const char *folder);
void dump_close(struct dump *dump);
/* From `address` on, code is of this line. Addresses that go back are left out, and places of the same line. */
void dump_line(struct dump_lines *lines, uint64_t address, uint32_t line, const char *file);
void dump_lines_free(struct dump_lines *lines);
/* Code that can be executed from now on. lines: NULL for none. */
void dump_code(struct dump *dump, const char *name, const void *address, uint64_t size, const struct dump_lines *lines);
