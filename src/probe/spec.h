/* Probe definitions as users write them: "[GROUP:][EVENT=]FUNCTION[@FILE][+OFFSET|%return|:LINE|;PATTERN] [NAME=]ARGUMENT…", and the ranges
 * of -L. The grammar is perf's (perf-probe(1)); a name in quotes, or with \ before a character, may contain any character. Knows no
 * file. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

#define PROBE_ARGUMENTS_MAX 128u

/* A step from a variable to what is recorded: a member or an element. */
struct probe_field {
	const char *name;             /* NULL: an element */
	long index;
	bool pointer;                 /* written as -> or [] */
};

struct probe_argument {
	const char *text;             /* as written, without its type and its own name */
	const char *name, *type;      /* NULL: absent */
	const char *variable;
	VEC(struct probe_field) fields;
	bool user;                    /* @user: memory of the process, in a probe of the kernel */
};

struct probe_spec {
	struct arena arena;
	const char *group, *event;    /* NULL: to be derived */
	const char *function, *file, *pattern;
	const char *target;           /* a file after %SDT@ */
	uint64_t offset, address;
	uint32_t line;
	bool returns, sdt, absolute;  /* absolute: at `address` */
	bool line_given;
	VEC(struct probe_argument) arguments;
};

/* Accepts a zeroed spec. */
void probe_spec_fini(struct probe_spec *spec);
/* Fails with ERROR_USAGE. The caller calls probe_spec_fini in any case. */
int probe_spec_parse(struct probe_spec *spec, const char *text, struct error *err);
/* Appends the place, as perf shows it: "main+8@file.c". */
void probe_spec_place(const struct probe_spec *spec, struct str *to);
/* Appends an argument: "name=variable.field:type". */
void probe_argument_text(const struct probe_argument *argument, struct str *to);

/* The name denotes a variable of the program, not a register, a number, a symbol or memory. */
bool probe_is_variable(const char *name);
/* The name is a C identifier: the kernel accepts it as an event, a group, a module. */
bool probe_is_name(const char *text);
/* The function name contains wildcards. */
bool probe_is_glob(const char *text);
/* The name is of C++, Rust or D, with its scopes: "unit::shape::area". */
bool probe_is_qualified(const char *text);
/* The definition needs debug information. */
bool probe_needs_debug(const struct probe_spec *spec);
bool probe_wants_variables(const struct probe_spec *spec);

/* The lines that -L shows: "FUNCTION[@FILE][:FIRST[+COUNT|-LAST]]" or "FILE[:FIRST…]". */
struct probe_range {
	char *function, *file;        /* malloc'ed; NULL */
	int32_t first, last;          /* last INT32_MAX: the end */
};
void probe_range_fini(struct probe_range *range);
int probe_range_parse(struct probe_range *range, const char *text, struct error *err);
