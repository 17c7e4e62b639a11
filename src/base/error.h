/* One failure: a sentence that describes it, and a hint.
 *
 * Functions that can fail take `struct error *err` last and return >= 0 on success, < 0 on failure. The function that detects the failure
 * writes the sentence; callers pass it on unchanged. Knows no profiler noun. */
#pragma once
#include <stddef.h>

enum error_kind {
	ERROR_NONE,
	ERROR_FORMAT,      /* bytes do not match their format */
	ERROR_SYSTEM,      /* a system call failed; `sys` holds errno */
	ERROR_USAGE,       /* the request is invalid */
	ERROR_PERMISSION,  /* the kernel or the file system denied access */
	ERROR_UNSUPPORTED, /* this build, kernel or file does not support it */
	ERROR_LIMIT,       /* a named limit was exceeded */
	ERROR_OPTION,      /* options_parse rejected an option; `hint` names it, empty if it is unknown */
};

struct error {
	enum error_kind kind;
	int sys;          /* errno; 0 if no system call failed */
	char text[512];   /* one sentence, without a newline */
	char hint[512];   /* what the user can do; empty if unknown */
};

/* Fills *err (which may be NULL) and returns -1, so that a caller can return its result. Line ends inside arguments become '?', as names
 * come from outside; a text of several lines is passed by a format of "%s" alone. */
int error_set(struct error *err, enum error_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* As error_set, kind ERROR_SYSTEM (ERROR_PERMISSION for EACCES and EPERM), with ": strerror(errno)" appended. */
int error_system(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds a hint to an error that is already set; returns -1. */
int error_hint(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#ifdef __clang_analyzer__ /* it analyses one file at a time and must know that these return < 0 */
#define error_set(...) (error_set(__VA_ARGS__), -1)
#define error_system(...) (error_system(__VA_ARGS__), -1)
#define error_hint(...) (error_hint(__VA_ARGS__), -1)
#endif

void error_clear(struct error *err);
