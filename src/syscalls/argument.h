/* The arguments and results of system calls as perf 6.12 prints them. Texts of traced programs are escaped. Knows no thread and no line. */
#pragma once
#include "base/writer.h"
#include "syscalls/call.h"
#include "syscalls/text.h"

/* What an argument points to; NULL: not copied. Of a list of strings: each with its end; a last byte that is no end: there are more. */
struct argument_bytes {
	const uint8_t *bytes;
	size_t size;                 /* of a string without its end */
};

/* The values of a call, and who resolves descriptors and processes. Texts that the functions return are borrowed until the next call;
 * NULL: unknown. */
struct call_values {
	const struct call *call;
	uint64_t values[CALL_ARGUMENTS];
	struct argument_bytes bytes[CALL_ARGUMENTS];
	void *context;
	const char *(*file_name)(void *context, int fd);
	void (*file_closed)(void *context, int fd);
	const char *(*comm)(void *context, int pid);
	bool prefixes, zeros, unnamed; /* trace.show_prefix, trace.show_zeros, no trace.show_arg_names */
};

void arguments_print(struct writer *out, const struct call_values *values);
/* One argument, without its name. */
void argument_print(struct writer *out, const struct call_values *values, unsigned index);
/* What follows "= ". */
void result_print(struct writer *out, const struct call_values *values, int64_t result);

/* "ENOENT"; NULL: unknown. */
const char *error_name(int error, size_t *length);

/* What the kernel copies of an argument for this module: bytes, or the most bytes where the next argument says how many. */
enum argument_copy { ARGUMENT_COPY_NONE, ARGUMENT_COPY_STRING, ARGUMENT_COPY_FIXED, ARGUMENT_COPY_COUNTED,
	ARGUMENT_COPY_STRINGS,   /* a list, as in struct argument_bytes */
	ARGUMENT_COPY_ELEMENTS   /* as many as the next argument says, of typed_size bytes each */
};
enum argument_copy argument_copy_of(const struct call_argument *argument, uint8_t *size);
