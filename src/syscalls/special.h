/* Arguments whose text depends on other arguments, or has a form of its own. */
#pragma once
#include "syscalls/argument.h"
#include "syscalls/words.h"

/* Prints an argument of a kind that has a function of its own. */
void special_print(struct writer *out, const struct call_values *values, unsigned index);
/* Bit n: argument n has no meaning with these values, and is not shown. */
uint8_t special_masked(const struct call_values *values);
/* The result of a call that depends on its arguments; false: it does not. */
bool special_result(struct writer *out, const struct call_values *values, int64_t result);
/* Without the magic number that programs once had to add. */
uint64_t mount_flags_of(uint64_t value);

/* What argument.c prints for both. */
void word_print(struct writer *out, enum words_id id, uint64_t value, bool prefixes);
void flags_print(struct writer *out, enum words_id id, uint64_t value, bool prefixes);
void descriptor_print(struct writer *out, const struct call_values *values, int fd);
void process_print(struct writer *out, const struct call_values *values, int pid);
