/* Names of the kernel's addresses for an analysis of locks, and which functions belong to the locks themselves. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "analysis/lock/lock_stats.h"
#include "symbol/symbol.h"

enum { LOCK_TEXTS = 4 };

/* The addresses of the functions of locks. */
struct lock_text {
	uint64_t start[LOCK_TEXTS], end[LOCK_TEXTS];
};

/* kernel: the module of the kernel; NULL: the text is empty. */
void lock_text_find(struct lock_text *text, struct symbols *symbols, const struct module *kernel);
bool lock_text_holds(const struct lock_text *text, uint64_t address);

/* The frame of an offset of a module; module NULL: an address without a name. */
struct lock_frame lock_frame_of(struct symbols *symbols, const struct module *module, uint64_t offset, uint64_t address);
/* "symbol+0x1f", "symbol", or "" without a symbol. */
void lock_frame_text(const struct lock_frame *frame, char *text, size_t size);
