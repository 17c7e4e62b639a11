/* Jitdumps for tests, in either byte order. */
#pragma once
#include <stdlib.h>

#include "data/jitdump.h"

struct dump_maker {
	uint8_t data[8192];
	size_t len;
	bool swap;
};

static inline void dump_u32(struct dump_maker *m, uint32_t v)
{
	v = m->swap ? __builtin_bswap32(v) : v;
	memcpy(m->data + m->len, &v, sizeof v);
	m->len += sizeof v;
}

static inline void dump_u64(struct dump_maker *m, uint64_t v)
{
	v = m->swap ? __builtin_bswap64(v) : v;
	memcpy(m->data + m->len, &v, sizeof v);
	m->len += sizeof v;
}

static inline void dump_text(struct dump_maker *m, const char *text)
{
	memcpy(m->data + m->len, text, strlen(text) + 1);
	m->len += strlen(text) + 1;
}

static inline void dump_begin(struct dump_maker *m, uint32_t pid, uint64_t flags)
{
	dump_u32(m, 0x4a695444);
	dump_u32(m, 1);
	dump_u32(m, 40);
	dump_u32(m, 62);
	dump_u32(m, 0);
	dump_u32(m, pid);
	dump_u64(m, 1);
	dump_u64(m, flags);
}

static inline void dump_prefix(struct dump_maker *m, uint32_t type, size_t size, uint64_t time)
{
	dump_u32(m, type);
	dump_u32(m, (uint32_t)size);
	dump_u64(m, time);
}

/* Code of `size` bytes, each with the value of its function's index. */
static inline void dump_load(struct dump_maker *m, uint64_t time, uint64_t address, uint64_t size, uint64_t index, const char *name)
{
	dump_prefix(m, JITDUMP_LOAD, 56 + strlen(name) + 1 + size, time);
	dump_u32(m, 7);
	dump_u32(m, 7);
	dump_u64(m, address);
	dump_u64(m, address);
	dump_u64(m, size);
	dump_u64(m, index);
	dump_text(m, name);
	memset(m->data + m->len, (int)index, size);
	m->len += size;
}

static inline void dump_move(struct dump_maker *m, uint64_t time, uint64_t from, uint64_t to, uint64_t size, uint64_t index)
{
	dump_prefix(m, JITDUMP_MOVE, 64, time);
	dump_u32(m, 7);
	dump_u32(m, 7);
	dump_u64(m, to);
	dump_u64(m, from);
	dump_u64(m, to);
	dump_u64(m, size);
	dump_u64(m, index);
}

/* Two lines at address + bias and + bias + 4, the second in the first one's file. */
static inline void dump_lines(struct dump_maker *m, uint64_t time, uint64_t address, uint64_t bias, uint32_t line, const char *file)
{
	dump_prefix(m, JITDUMP_DEBUG_INFO, 32 + 16 + strlen(file) + 1 + 16 + 2, time);
	dump_u64(m, address);
	dump_u64(m, 2);
	dump_u64(m, address + bias);
	dump_u32(m, line);
	dump_u32(m, 0);
	dump_text(m, file);
	dump_u64(m, address + bias + 4);
	dump_u32(m, line + 1);
	dump_u32(m, 0);
	dump_text(m, "\xff");
}
