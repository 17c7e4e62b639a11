/* For tests: a recording in memory as a `struct source`, its bytes put together record by record. */
#pragma once
#include <stdlib.h>
#include <string.h>

#include "abi/attr.h"
#include "abi/record.h"
#include "base/memory.h"
#include "base/vec.h"
#include "data/source.h"

struct tape {
	struct source source;
	VEC(uint8_t) bytes;
	size_t at;
	uint64_t released; /* the greatest mark */
};

static inline int tape_next(struct source *source, struct record *record, struct error *err)
{
	struct tape *tape = (struct tape *)source;
	if (tape->at >= tape->bytes.count)
		return 0;
	const uint8_t *head = tape->bytes.items + tape->at;
	uint16_t misc, size;
	memcpy(&misc, head + 4, 2);
	memcpy(&size, head + 6, 2);
	*record = (struct record){ .type = load_u32(head), .misc = misc, .body = head + 8, .body_len = size - 8u, .offset = tape->at };
	tape->at += size;
	source->mark = tape->at;
	return 1;
}

static inline void tape_release(struct source *source, uint64_t mark)
{
	struct tape *tape = (struct tape *)source;
	tape->released = mark > tape->released ? mark : tape->released;
}

static inline void tape_close(struct source *source)
{
	struct tape *tape = (struct tape *)source;
	evlist_fini(&source->header.evlist);
	vec_fini(&tape->bytes);
	free(tape);
}

/* Without events: evlist_add on source.header.evlist. The session closes it. */
static inline struct tape *tape_new(void)
{
	static const struct source_ops ops = { tape_next, tape_release, tape_close };
	struct tape *tape = memory_zero(1, sizeof *tape);
	tape->source.ops = &ops;
	return tape;
}

static inline void put(struct tape *tape, const void *data, size_t size)
{
	vec_reserve(&tape->bytes, tape->bytes.count + size);
	if (size)
		memcpy(tape->bytes.items + tape->bytes.count, data, size);
	tape->bytes.count += size;
}

static inline void put_u64(struct tape *tape, uint64_t value)
{
	put(tape, &value, 8);
}

/* pid and tid, the same. */
static inline void put_ids(struct tape *tape, uint32_t tid)
{
	put(tape, (uint32_t[]){ tid, tid }, 8);
}

static inline void put_head(struct tape *tape, uint32_t type, uint16_t misc, size_t body)
{
	uint16_t size = (uint16_t)(body + 8);
	put(tape, &type, 4);
	put(tape, &misc, 2);
	put(tape, &size, 2);
}

/* With a trailer of tid and time; more of it is the caller's, `more` bytes. */
static inline void put_comm(struct tape *tape, uint32_t tid, uint64_t time, const char name[static 8], size_t more)
{
	put_head(tape, RECORD_COMM, 0, 32 + more);
	put_ids(tape, tid);
	put(tape, name, 8);
	put_ids(tape, tid);
	put_u64(tape, time);
}
