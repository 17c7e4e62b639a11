/* The limit on memory that one run allocates for untrusted input: decompressed sections, debug information, symbol tables, unwind rules,
 * queued records. The allocating code asks the budget first; data that does not fit is left out and counted. Thread-safe. Knows no file. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget {
	_Atomic size_t limit;      /* bytes; budget_limit returns it */
	size_t (*measure)(void);   /* returns the limit when it is first needed, if `limit` is 0; not 0. It may be called more than once */
	_Atomic size_t used;
	_Atomic uint64_t refused;  /* requests that did not fit */
	_Atomic uint64_t hurried;  /* early deliveries of queued records */
	_Atomic uint64_t checked;  /* bytes of files that were read completely to check them */
};

/* The limit in bytes: programs that do not ask for it do not spend time to find it. */
size_t budget_limit(struct budget *budget);
/* Returns false if the bytes do not fit: nothing is taken, and the refusal is counted. Always true if budget is NULL. */
bool budget_take(struct budget *budget, size_t bytes);
/* Counts a refusal that has another reason than bytes. */
void budget_refuse(struct budget *budget);
/* Counts an early delivery of queued records. */
void budget_hurry(struct budget *budget);
void budget_give(struct budget *budget, size_t bytes);
/* The remaining bytes; SIZE_MAX if budget is NULL. */
size_t budget_left(struct budget *budget);
