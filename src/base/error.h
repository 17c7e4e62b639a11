/* One failure, told once: what went wrong in a sentence, and what would help.
 *
 * Functions that can fail take `struct error *err` last and return >= 0 on success, < 0 on failure.
 * The sentence is written where the failure is understood; callers pass it up untouched. Knows no profiler noun. */
#pragma once
#include <stddef.h>

enum error_kind {
	ERROR_NONE,
	ERROR_FORMAT,      /* bytes that are not what their format says */
	ERROR_SYSTEM,      /* a system call failed; `sys` holds errno */
	ERROR_USAGE,       /* the user asked for something that makes no sense */
	ERROR_PERMISSION,  /* the kernel or the file system refused */
	ERROR_UNSUPPORTED, /* this build, kernel or file cannot do it */
	ERROR_LIMIT,       /* a named limit was passed */
	ERROR_OPTION,      /* options_parse refused; `hint` names the option at fault, empty where it is unknown */
};

struct error {
	enum error_kind kind;
	int sys;          /* errno, 0 where there was none */
	char text[512];   /* one sentence, no newline at its end */
	char hint[512];   /* what would help; empty where nothing is known */
};

/* Fills *err (which may be NULL) and returns -1, so that failing is one line. */
int error_set(struct error *err, enum error_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* As error_set, kind ERROR_SYSTEM (ERROR_PERMISSION for EACCES and EPERM), with ": strerror(errno)" appended. */
int error_system(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds a hint to a failure already set; returns -1. */
int error_hint(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#ifdef __clang_analyzer__ /* it sees one file at a time, and has to know that these are < 0 */
#define error_set(...) (error_set(__VA_ARGS__), -1)
#define error_system(...) (error_system(__VA_ARGS__), -1)
#define error_hint(...) (error_hint(__VA_ARGS__), -1)
#endif

void error_clear(struct error *err);
