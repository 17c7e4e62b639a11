/* Command lines of tests: their words, and the environment in which they run. */
#pragma once
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cmd/process.h"

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

/* In a child: nothing of the environment of the tests but the options of sanitizers. */
static inline void words_environment(const char *home)
{
	static const char *const names[] = { "ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS" };
	enum { NAMES = sizeof names / sizeof *names };
	const char *values[NAMES];
	for (size_t i = 0; i < NAMES; i++)
		values[i] = secure_getenv(names[i]);
	clearenv();
	for (size_t i = 0; i < NAMES; i++)
		if (values[i])
			setenv(names[i], values[i], 1);
	setenv("HOME", home, 1);
	setenv(AS_PROGRAM, "1", 1);
	setenv("LC_ALL", "C", 1);
	setenv("TZ", "UTC", 1);
}

#if defined __SANITIZE_ADDRESS__
int __lsan_do_recoverable_leak_check(void);
#endif

/* Runs the words as perfuse and ends this process, which is a child of the tests. AddressSanitizer would forget each global variable at
 * exit(), which takes longer than most commands; leaks are still looked for. */
__attribute__((noreturn)) static inline void words_run(int count, char **words)
{
	int code = process_run(count, words);
#if defined __SANITIZE_ADDRESS__
	enum { LEAKS = 66 };
	fflush(NULL);
	_exit(__lsan_do_recoverable_leak_check() ? LEAKS : code);
#else
	exit(code);
#endif
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
