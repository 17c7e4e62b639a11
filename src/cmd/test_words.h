/* Command lines of tests: their words, and the environment in which they run. */
#pragma once
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

#define AS_PROGRAM "UNIT_RUNS_AS_PERFUSE" /* if it is set, the program of the tests runs as perfuse */

enum { WORDS_MAX = 64 };

/* Words are separated by blanks; one between ' and ' may have some. The line is changed; returns how many, with the name of the program. */
static inline int words_split(char *line, char **words)
{
	static char program[] = "perf";
	int count = 0;
	words[count++] = program;
	while (*(line += strspn(line, " ")) && count < WORDS_MAX - 1) {
		bool quoted = *line == '\'';
		words[count++] = line + quoted;
		line += quoted;
		line += strcspn(line, quoted ? "'" : " ");
		if (*line)
			*line++ = '\0';
	}
	words[count] = NULL;
	return count;
}

/* In a child: nothing of the environment of the tests. */
static inline void words_environment(const char *home)
{
	clearenv();
	setenv("HOME", home, 1);
	setenv(AS_PROGRAM, "1", 1);
	setenv("LC_ALL", "C", 1);
	setenv("TZ", "UTC", 1);
}

/* The whole file. */
static inline void words_read(int fd, struct str *text)
{
	char bytes[65536];
	off_t at = 0;
	ssize_t n;
	while ((n = pread(fd, bytes, sizeof bytes, at)) > 0) {
		str_add(text, bytes, (size_t)n);
		at += n;
	}
}
