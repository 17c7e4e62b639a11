#include "session/deferred.h"

#include "unit.h"

/* Events, and the records of a batch in their bytes. */
struct batch {
	struct evlist evlist;
	struct deferred deferred;
	struct arena arena;
};

static void batch_begin(struct batch *b)
{
	const struct attr attr = { .sample_type = SAMPLE_TID | SAMPLE_CALLCHAIN,
		.flags = 1ull << ATTR_SAMPLE_ID_ALL | 1ull << ATTR_DEFER_CALLCHAIN };
	*b = (struct batch){ 0 };
	evlist_add(&b->evlist, &attr, NULL, 0, "event");
	deferred_add_events(&b->deferred, &b->evlist, 0);
	EXPECT(b->deferred.wanted);
}

static void batch_end(struct batch *b)
{
	deferred_fini(&b->deferred);
	evlist_fini(&b->evlist);
	arena_fini(&b->arena);
}

static uint64_t task(uint32_t tid)
{
	uint64_t word;
	memcpy(&word, (uint32_t[]){ 5, tid }, sizeof word);
	return word;
}

/* A sample whose chain is `kernel` frames, the marker and the cookie. */
static struct record waiting(uint64_t words[8], uint32_t tid, uint64_t kernel, uint64_t cookie)
{
	size_t count = 0;
	words[count++] = task(tid);
	words[count++] = kernel + 2;
	for (uint64_t i = 0; i < kernel; i++)
		words[count++] = 0xffffffff81000000 + i;
	words[count++] = CONTEXT_USER_DEFERRED;
	words[count++] = cookie;
	return (struct record){ .type = RECORD_SAMPLE, .body = (const uint8_t *)words, .body_len = (uint32_t)(count * 8) };
}

static void note_waiting(struct batch *b, uint32_t tid, uint64_t cookie, size_t place)
{
	uint64_t words[8];
	const struct record record = waiting(words, tid, 1, cookie);
	deferred_note(&b->deferred, &b->evlist, &record, place);
}

/* words: room for the record, which must stay until the chain is merged. */
static void note_chain(struct batch *b, uint64_t words[8], uint32_t tid, uint64_t cookie, const uint64_t *chain, uint64_t count,
	size_t place)
{
	words[0] = cookie;
	words[1] = count;
	memcpy(words + 2, chain, count * 8);
	words[2 + count] = task(tid);
	const struct record record = { .type = RECORD_CALLCHAIN_DEFERRED, .body = (const uint8_t *)words,
		.body_len = (uint32_t)((3 + count) * 8) };
	deferred_note(&b->deferred, &b->evlist, &record, place);
}

/* The chain of a sample that waited, in hexadecimal. */
static void expect_chain(struct batch *b, uint32_t tid, uint64_t kernel, uint64_t cookie, const char *want)
{
	uint64_t words[8];
	char got[256] = "";
	struct sample sample;
	const struct record record = waiting(words, tid, kernel, cookie);
	EXPECT_INT(sample_decode(&sample, &b->evlist.events.items[0].layout, &record, NULL), 0);
	deferred_merge(&b->deferred, &sample, &b->arena);
	for (uint64_t i = 0; i < sample.callchain_count; i++)
		snprintf(got + strlen(got), sizeof got - strlen(got), "%llx ", (unsigned long long)sample_chain_at(&sample, i));
	EXPECT_STR(got, want);
}

TEST("the newest chain of a cookie takes its place, with a marker if it has none, of the thread alone")
{
	static const uint64_t old[] = { CONTEXT_USER, 0x1 }, plain[] = { 0x10, 0x20 };
	struct batch b;
	uint64_t first[8], second[8], third[8];
	batch_begin(&b);
	note_chain(&b, first, 1, 7, old, 2, 0);
	expect_chain(&b, 1, 1, 7, "ffffffff81000000 fffffffffffffe00 1 ");
	note_chain(&b, second, 1, 7, plain, 2, 1);
	expect_chain(&b, 1, 1, 7, "ffffffff81000000 fffffffffffffe00 10 20 ");
	expect_chain(&b, 1, 0, 7, "fffffffffffffe00 10 20 ");
	expect_chain(&b, 2, 1, 7, "ffffffff81000000 ");
	expect_chain(&b, 1, 1, 8, "ffffffff81000000 ");
	note_chain(&b, third, 1, 7, plain, 0, 2);
	expect_chain(&b, 1, 1, 7, "ffffffff81000000 ");
	batch_end(&b);
}

TEST("delivery stops at the first sample that waits, until its chain comes or so many records follow it")
{
	static const uint64_t chain[] = { 0x10 };
	struct batch b;
	uint64_t words[8];
	batch_begin(&b);
	EXPECT_INT(deferred_due(&b.deferred, 3, 10), 3);
	note_waiting(&b, 1, 7, 3);
	note_waiting(&b, 1, 8, 5);
	EXPECT_INT(deferred_due(&b.deferred, 6, 10), 3);
	EXPECT_INT(deferred_due(&b.deferred, 13, 10), 3);
	note_chain(&b, words, 1, 7, chain, 1, 13);
	EXPECT_INT(deferred_due(&b.deferred, 14, 10), 5);
	EXPECT_INT(deferred_due(&b.deferred, 15, 10), 5);
	EXPECT_INT(deferred_due(&b.deferred, 16, 10), 16);
	batch_end(&b);
}

TEST("after records were delivered, others have the places that follow, and chains that are gone are not found")
{
	static const uint64_t chain[] = { 0x10 }, other[] = { 0x20 };
	struct batch b;
	uint64_t first[8], second[8];
	batch_begin(&b);
	note_waiting(&b, 1, 7, 0);
	note_chain(&b, first, 1, 7, chain, 1, 1);
	note_waiting(&b, 1, 8, 2);
	note_chain(&b, second, 1, 9, other, 1, 3);
	EXPECT_INT(deferred_due(&b.deferred, 4, 10), 2);
	deferred_shift(&b.deferred, 2);
	expect_chain(&b, 1, 1, 7, "ffffffff81000000 ");
	expect_chain(&b, 1, 1, 9, "ffffffff81000000 fffffffffffffe00 20 ");
	EXPECT_INT(deferred_due(&b.deferred, 2, 10), 0);
	note_waiting(&b, 1, 7, 2); /* it waits for another chain of the same cookie */
	deferred_shift(&b.deferred, 2);
	EXPECT_INT(deferred_due(&b.deferred, 1, 10), 0);
	expect_chain(&b, 1, 1, 9, "ffffffff81000000 ");
	batch_end(&b);
}
