/* For tests: a recording of samples in the test program. */
#pragma once
#include "analysis/annotate/test_program.h"
#include "tape.h"

enum { MAPPED = 0x400000 };

/* Two events with the ids 10, 11; the program is mapped from its start; samples have id, ip, tid, CPU and period. */
static inline struct tape *hits_tape_new(const char *path)
{
	struct tape *tape = tape_new();
	size_t size = (strlen(path) + 8) & ~(size_t)7;
	char name[PATH_MAX + 8] = { 0 };
	strcpy(name, path);
	for (uint64_t i = 0; i < 2; i++) {
		struct attr attr = { .type = ATTR_SOFTWARE, .config = i, .sample_period = 1,
			.sample_type = SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TID | SAMPLE_CPU | SAMPLE_PERIOD };
		uint64_t id = 10 + i;
		evlist_add(&tape->source.header.evlist, &attr, &id, 1, i ? "second" : "first");
	}
	put_head(tape, RECORD_MMAP, RECORD_MISC_USER, 32 + size);
	put_ids(tape, 1);
	put_u64(tape, MAPPED);
	put_u64(tape, 0x1000);
	put_u64(tape, 0);
	put(tape, name, size);
	return tape;
}

static inline void put_hit(struct tape *tape, unsigned event, uint64_t offset, uint32_t cpu, uint64_t period)
{
	put_head(tape, RECORD_SAMPLE, RECORD_MISC_USER, 40);
	put_u64(tape, 10 + event);
	put_u64(tape, MAPPED + offset);
	put_ids(tape, 1);
	put(tape, (uint32_t[]){ cpu, 0 }, 8);
	put_u64(tape, period);
}
