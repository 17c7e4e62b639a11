#include "session/session.h"

#include <stdatomic.h>

#include "base/budget.h"
#include "base/str.h"
#include "tape.h"
#include "unit.h"

/* Starts a recording with one cpu-clock-like event: ip|tid|time|callchain, sample_id_all. */
static struct tape *recording_new(void)
{
	struct tape *tape = tape_new();
	struct attr attr = { .type = ATTR_SOFTWARE, .sample_period = 1, .flags = 1ull << ATTR_SAMPLE_ID_ALL,
			     .sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CALLCHAIN };
	evlist_add(&tape->source.header.evlist, &attr, NULL, 0, "cpu-clock");
	return tape;
}

static void put_sample(struct tape *r, uint32_t tid, uint64_t time, uint64_t ip, const uint64_t *chain, uint64_t count)
{
	uint32_t ids[2] = { tid, tid };
	put_head(r, RECORD_SAMPLE, RECORD_MISC_USER, 32 + count * 8);
	put(r, &ip, 8);
	put(r, ids, 8);
	put(r, &time, 8);
	put(r, &count, 8);
	put(r, chain, count * 8);
}

static void put_mmap(struct tape *r, uint32_t tid, uint64_t time, uint64_t start, uint64_t len, const char name[static 8])
{
	uint32_t ids[2] = { tid, tid };
	uint64_t pgoff = 0;
	put_head(r, RECORD_MMAP, RECORD_MISC_USER, 56);
	put(r, ids, 8);
	put(r, &start, 8);
	put(r, &len, 8);
	put(r, &pgoff, 8);
	put(r, name, 8);
	put(r, ids, 8);
	put(r, &time, 8);
}

static void put_round(struct tape *r)
{
	put_head(r, RECORD_FINISHED_ROUND, 0, 0);
}

/* A sink that counts the resolved values of samples, and stores the order of the first few. */
struct tally {
	atomic_ullong samples, named, mapped, frames;
	uint64_t times[64];
	size_t count;
};

static void tally_record(void *context, const struct resolved *r, size_t slice)
{
	struct tally *tally = context;
	struct chain chain = resolved_chain(r, CHAIN_INNERMOST_FIRST, 127);
	char name[16];
	atomic_fetch_add(&tally->samples, 1);
	atomic_fetch_add(&tally->frames, chain.damaged ? 0 : chain.count);
	atomic_fetch_add(&tally->mapped, resolved_ip(r)->map != NULL);
	atomic_fetch_add(&tally->named, strcmp(resolved_comm(r, name, sizeof name), "new") == 0);
	if (tally->count < 64)
		tally->times[tally->count++] = r->sample->time;
}

static void run(struct tape *r, struct tally *tally, bool serial, unsigned threads)
{
	struct session session;
	struct sink sink = { .context = tally, .record = tally_record, .serial = serial };
	struct session_options options = { .threads = threads };
	*tally = (struct tally){ 0 };
	tally->count = serial ? 0 : 64;
	EXPECT(session_open(&session, &r->source, &options, NULL) == 0);
	EXPECT(session_run(&session, &sink, NULL) == 0);
	EXPECT_INT(session.counters.samples, tally->samples);
	session_close(&session);
}

TEST("samples of several rings are delivered by time")
{
	struct tape *r = recording_new();
	struct tally tally;
	const uint64_t times[] = { 10, 30, 20, 40, 15, 60, 50 };
	for (size_t i = 0; i < 7; i++) {
		put_sample(r, 1, times[i], 0x1000, NULL, 0);
		if (i % 3 == 2)
			put_round(r);
	}
	run(r, &tally, true, 1);
	EXPECT_INT(tally.count, 7);
	for (size_t i = 1; i < 7; i++)
		EXPECT(tally.times[i - 1] < tally.times[i]);
}

/* Writes samples before and after a new name and a new mapping, far more than one batch. */
static struct tape *long_recording(uint64_t samples)
{
	struct tape *r = recording_new();
	uint64_t chain[] = { CONTEXT_USER, 0x1010, 0x1020, 0x9999 };
	put_comm(r, 5, 1, "old\0\0\0\0", 0);
	for (uint64_t i = 0; i < samples; i++) {
		if (i == samples / 2) {
			put_comm(r, 5, 10 + i, "new\0\0\0\0", 0);
			put_mmap(r, 5, 10 + i, 0x1000, 0x1000, "/bin/x\0");
		}
		put_sample(r, 5, 10 + i, 0x1010, chain, 4);
		if (i % 1000 == 999)
			put_round(r);
	}
	return r;
}

TEST("each sample has the names and mappings of its own time, with one worker and with four")
{
	for (unsigned threads = 1; threads <= 4; threads += 3) {
		struct tally tally;
		run(long_recording(100000), &tally, false, threads);
		EXPECT_INT(tally.samples, 100000);
		EXPECT_INT(tally.named, 50000);
		EXPECT_INT(tally.mapped, 50000);
		EXPECT_INT(tally.frames, 300000);
	}
}

/* The slice ends of one batch, by slice. */
struct ends {
	const struct worker *workers[64]; /* NULL: the slice has not begun, or has ended */
	atomic_uint ended[64];
	atomic_uint slices, bad;
	unsigned started, batches;
};

static void ends_record(void *context, const struct resolved *r, size_t slice)
{
	struct ends *ends = context;
	ends->bad += slice >= 64 || ends->ended[slice] || (ends->workers[slice] && ends->workers[slice] != r->worker);
	ends->workers[slice] = r->worker;
}

static void ends_slice(void *context, const struct worker *worker, size_t slice)
{
	struct ends *ends = context;
	ends->bad += slice >= 64 || ends->workers[slice] != worker || ends->ended[slice]++;
	ends->slices++;
}

static void ends_batch(void *context, __attribute__((unused)) struct session *session, size_t slices)
{
	struct ends *ends = context;
	ends->bad += ends->started != ++ends->batches;
	for (size_t i = 0; i < slices; i++) {
		ends->bad += !ends->ended[i];
		ends->ended[i] = 0;
		ends->workers[i] = NULL;
	}
}

static void ends_meanwhile(void *context)
{
	struct ends *ends = context;
	ends->started++;
}

TEST("each slice ends once, after its last record, on its own worker, and each batch after the owner's work meanwhile")
{
	for (unsigned threads = 1; threads <= 4; threads += 3) {
		struct session session;
		struct ends ends = { 0 };
		struct sink sink = { .context = &ends, .record = ends_record, .slice_end = ends_slice, .meanwhile = ends_meanwhile,
			.batch_end = ends_batch };
		EXPECT(session_open(&session, &long_recording(100000)->source, &(struct session_options){ .threads = threads }, NULL) == 0);
		EXPECT(session_run(&session, &sink, NULL) == 0);
		EXPECT_INT(ends.bad, 0);
		EXPECT(ends.slices > 8 && ends.batches > 1);
		session_close(&session);
	}
}

TEST("a chain with an unknown marker is dropped as a whole")
{
	struct tape *r = recording_new();
	struct tally tally;
	uint64_t damaged[] = { CONTEXT_USER, 0x1010, (uint64_t)-77, 0x1020 };
	put_sample(r, 1, 5, 0x1010, damaged, 4);
	run(r, &tally, true, 1);
	EXPECT_INT(tally.frames, 0);
	EXPECT_INT(tally.samples, 1);
}

static void joined_record(void *context, const struct resolved *r, size_t slice)
{
	uint64_t *joined = context;
	(void)slice;
	*joined = *joined << 4 | resolved_chain_joined(r);
	struct chain chain = resolved_chain(r, CHAIN_INNERMOST_FIRST, 127);
	EXPECT(!chain.damaged && chain.count == 2);
}

TEST("a chain is joined from the entry after the second marker of user code, and has no additional frame")
{
	static const uint64_t chains[][5] = {
		{ CONTEXT_USER, 0x1010, CONTEXT_USER, 0x1020 },
		{ CONTEXT_USER, 0x1010, 0x1020 },
		{ CONTEXT_KERNEL, (uint64_t)-0x7000000000, CONTEXT_USER, 0x1010 },
		{ CONTEXT_KERNEL, CONTEXT_USER, 0x1010, CONTEXT_USER, 0x1020 },
		{ CONTEXT_USER, CONTEXT_USER, 0x1010, 0x1020 },
	};
	static const uint64_t counts[] = { 4, 3, 4, 5, 4 };
	struct tape *r = recording_new();
	uint64_t joined = 1;
	for (uint64_t i = 0; i < 5; i++)
		put_sample(r, 1, 5 + i, 0x1010, chains[i], counts[i]);
	struct session session;
	struct sink sink = { .context = &joined, .record = joined_record, .serial = true };
	struct session_options options = { .threads = 1 };
	session_open(&session, &r->source, &options, NULL);
	EXPECT(session_run(&session, &sink, NULL) == 0);
	EXPECT_INT(joined, 0x130040);
	session_close(&session);
}

TEST("a sample with inconsistent sizes is counted and skipped")
{
	struct tape *r = recording_new();
	struct tally tally;
	put_sample(r, 1, 5, 0x1010, NULL, 0);
	uint64_t lie = 1ull << 60;
	memcpy(r->bytes.items + r->bytes.count - 8, &lie, 8);
	put_sample(r, 1, 6, 0x1010, NULL, 0);
	struct session session;
	struct sink sink = { .context = &tally, .record = tally_record, .serial = true };
	struct session_options options = { .threads = 1 };
	tally = (struct tally){ 0 };
	session_open(&session, &r->source, &options, NULL);
	EXPECT(session_run(&session, &sink, NULL) == 0);
	EXPECT_INT(session.counters.bad_samples, 1);
	EXPECT_INT(tally.samples, 1);
	session_close(&session);
}

static void note_unreleased(void *context, struct session *session, const struct record *record)
{
	uint64_t *most = context;
	const struct tape *tape = (const struct tape *)session->source;
	uint64_t unreleased = session->source->mark - tape->released;
	*most = unreleased > *most ? unreleased : *most;
}

struct pauses {
	unsigned count;
	bool running;
};

static void pauses_begin(void *context, struct session *session, size_t slices)
{
	((struct pauses *)context)->running = true;
}

static void pauses_record(void *context, const struct resolved *r, size_t slice)
{
}

static void pauses_end(void *context, struct session *session, size_t slices)
{
	((struct pauses *)context)->running = false;
}

static void note_pause(void *context)
{
	struct pauses *pauses = context;
	EXPECT(!pauses->running);
	pauses->count++;
}

TEST("the reading pauses while no slice runs, of every kind of sink")
{
	for (unsigned kind = 0; kind < 3; kind++) {
		struct pauses pauses = { 0 };
		const struct session_options options = { .threads = kind ? 1 : 4, .pause = note_pause, .progress_context = &pauses };
		const struct sink sink = { .context = &pauses, .record = pauses_record, .batch_begin = kind < 2 ? pauses_begin : NULL,
			.batch_end = pauses_end, .plain = kind == 2 };
		struct session session;
		EXPECT(session_open(&session, &long_recording(100000)->source, &options, NULL) == 0);
		EXPECT(session_run(&session, &sink, NULL) == 0);
		EXPECT(pauses.count > 0);
		session_close(&session);
	}
}

TEST("the bytes of samples that a sink skips are released while the recording is read")
{
	enum { SAMPLES = 100000, UNRELEASED_MAX = 3 << 20 };
	uint64_t most = 0;
	struct sink sink = { .checks_only = true, .raw = note_unreleased, .context = &most };
	struct session_options options = { .threads = 1 };
	struct session session;
	struct tape *r = recording_new();
	for (uint64_t i = 0; i < SAMPLES; i++)
		put_sample(r, 1, 10 + i, 0x1010, (const uint64_t[]){ CONTEXT_USER, 0x1010, 0x1020, 0x1030 }, 4);
	EXPECT(r->bytes.count > 2 * UNRELEASED_MAX);
	session_open(&session, &r->source, &options, NULL);
	EXPECT(session_run(&session, &sink, NULL) == 0);
	EXPECT_INT(session.counters.samples, SAMPLES);
	EXPECT(most < UNRELEASED_MAX);
	session_close(&session);
}

struct types_seen {
	uint64_t samples, comms, rounds, others;
};

static void note_type(void *context, const struct resolved *r, size_t slice)
{
	struct types_seen *seen = context;
	uint32_t type = r->record->type;
	*(type == RECORD_SAMPLE ? &seen->samples : type == RECORD_COMM ? &seen->comms : type == RECORD_FINISHED_ROUND ? &seen->rounds :
		&seen->others) += 1;
}

static bool wants_comms(void *context, uint32_t type)
{
	EXPECT(type != RECORD_SAMPLE);
	return type == RECORD_COMM;
}

TEST("a sink gets its samples and the records of the types that it wants")
{
	for (int choosy = 0; choosy < 2; choosy++) {
		struct types_seen seen = { 0 };
		const struct sink sink = { .context = &seen, .record = note_type, .want_records = true, .wants_type = choosy ? wants_comms : NULL };
		const struct session_options options = { .threads = 1 };
		struct session session;
		EXPECT(session_open(&session, &long_recording(5000)->source, &options, NULL) == 0);
		EXPECT(session_run(&session, &sink, NULL) == 0);
		EXPECT_INT(seen.samples, 5000);
		EXPECT_INT(seen.comms, session.counters.by_type[RECORD_COMM]);
		EXPECT_INT(seen.rounds, choosy ? 0 : session.counters.by_type[RECORD_FINISHED_ROUND]);
		EXPECT(choosy ? seen.others == 0 : seen.rounds > 0);
		session_close(&session);
	}
}

struct plain_seen {
	uint64_t samples, comms, old_names, batches, last_clock;
	bool refuses;
};

static void note_plain(void *context, const struct resolved *r, size_t slice)
{
	struct plain_seen *seen = context;
	const struct model *model = &r->session->model;
	(void)slice;
	EXPECT(r->clock > seen->last_clock);
	seen->last_clock = r->clock;
	seen->comms += r->record->type == RECORD_COMM;
	if (r->record->type != RECORD_SAMPLE)
		return;
	seen->samples += r->thread == THREAD_NONE && r->comm == COMM_NONE && !r->ip && r->tid == 5 && r->sample->time;
	uint32_t comm = model_comm(model, model_thread(model, r->tid, r->clock), r->clock);
	seen->old_names += comm != COMM_NONE && strcmp(strtab_text(&model->strings, comm), "old") == 0;
}

static void note_plain_batch(void *context, struct session *session, size_t slices)
{
	struct plain_seen *seen = context;
	(void)session;
	EXPECT_INT(slices, 1);
	seen->batches++;
}

static bool plain_wants_event(void *context, uint32_t event)
{
	const struct plain_seen *seen = context;
	EXPECT_INT(event, 0);
	EXPECT(seen->batches > 0);
	return !seen->refuses;
}

TEST("a plain sink gets decoded samples of the events that it wants, in order, and a model as of each")
{
	for (int refuses = 0; refuses < 2; refuses++) {
		struct plain_seen seen = { .refuses = refuses };
		struct sink sink = { .plain = true, .want_records = true, .batch_begin = note_plain_batch, .record = note_plain,
			.wants_event = plain_wants_event, .context = &seen };
		struct session_options options = { .threads = 1 };
		struct session session;
		struct tape *r = long_recording(5000);
		session_open(&session, &r->source, &options, NULL);
		EXPECT(session_run(&session, &sink, NULL) == 0);
		EXPECT_INT(seen.samples, refuses ? 0 : 5000);
		EXPECT_INT(seen.old_names, refuses ? 0 : 2500);
		EXPECT_INT(seen.comms, 2);
		EXPECT_INT(seen.batches, 5); /* at the start, and after each round but the last */
		EXPECT_INT(session.counters.samples, 5000);
		EXPECT_INT(session.counters.by_type[RECORD_SAMPLE], 5000);
		session_close(&session);
	}
}

/* Writes the body of a deferred chain: cookie, count, addresses. */
static void put_deferred(struct tape *r, uint32_t tid, uint64_t time, uint64_t cookie, const uint64_t *chain, uint64_t count)
{
	uint32_t ids[2] = { tid, tid };
	put_head(r, RECORD_CALLCHAIN_DEFERRED, RECORD_MISC_USER, 32 + count * 8);
	put(r, &cookie, 8);
	put(r, &count, 8);
	put(r, chain, count * 8);
	put(r, ids, 8);
	put(r, &time, 8);
}

static struct tape *deferring_recording(void)
{
	struct tape *tape = tape_new();
	struct attr attr = { .type = ATTR_SOFTWARE, .sample_period = 1, .flags = 1ull << ATTR_SAMPLE_ID_ALL | 1ull << ATTR_DEFER_CALLCHAIN |
				     1ull << ATTR_DEFER_OUTPUT,
			     .sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CALLCHAIN };
	evlist_add(&tape->source.header.evlist, &attr, NULL, 0, "cpu-clock");
	return tape;
}

static const uint64_t waiting_chain[] = { CONTEXT_KERNEL, (uint64_t)-0x7000000000, CONTEXT_USER_DEFERRED, 77 };
static const uint64_t late_chain[] = { CONTEXT_USER, 0x1010, 0x1020, 0x1030 };

TEST("a deferred chain belongs only to the samples of its thread that wait for it")
{
	struct tape *r = deferring_recording();
	struct tally tally;
	put_sample(r, 1, 5, 0x1010, waiting_chain, 4);
	put_sample(r, 2, 6, 0x1010, waiting_chain, 4); /* another thread, whose chain never arrives */
	put_sample(r, 1, 7, 0x1010, waiting_chain, 4);
	put_deferred(r, 1, 8, 78, late_chain, 4);      /* another cookie */
	put_deferred(r, 1, 9, 77, late_chain, 4);
	put_round(r);
	run(r, &tally, true, 1);
	EXPECT_INT(tally.samples, 3);
	EXPECT_INT(tally.frames, 4 + 1 + 4);
}

TEST("samples that wait for a chain retain their position, and so do the records after them")
{
	enum { BETWEEN = 40000 }; /* more than one batch */
	for (unsigned threads = 1; threads <= 4; threads += 3) {
		struct tape *r = deferring_recording();
		struct tally tally;
		put_sample(r, 1, 5, 0x1010, waiting_chain, 4);
		for (uint64_t i = 0; i < BETWEEN; i++) {
			put_sample(r, 2, 10 + i, 0x1010, late_chain, 4);
			if (i % 1000 == 0)
				put_round(r);
		}
		put_deferred(r, 1, 10 + BETWEEN, 77, late_chain + 1, 3); /* without its marker */
		put_round(r);
		run(r, &tally, threads == 1, threads);
		EXPECT_INT(tally.frames, 4 + 3 * BETWEEN);
		EXPECT(threads != 1 || tally.times[0] == 5);
	}
}

TEST("a sample does not wait forever")
{
	enum { BETWEEN = 200000 };
	struct tape *r = deferring_recording();
	struct tally tally;
	put_sample(r, 1, 5, 0x1010, waiting_chain, 4);
	for (uint64_t i = 0; i < BETWEEN; i++) {
		put_sample(r, 2, 10 + i, 0x1010, late_chain, 4);
		if (i % 1000 == 0)
			put_round(r);
	}
	put_deferred(r, 1, 10 + BETWEEN, 77, late_chain, 4);
	put_round(r);
	run(r, &tally, true, 1);
	EXPECT_INT(tally.frames, 1 + 3 * BETWEEN);
	EXPECT(tally.times[0] == 5);
}

TEST("a deferred chain whose count exceeds its record is ignored")
{
	struct tape *r = deferring_recording();
	struct tally tally;
	put_sample(r, 1, 5, 0x1010, waiting_chain, 4);
	put_deferred(r, 1, 8, 77, late_chain, 4);
	uint64_t lie = 1ull << 61;
	memcpy(r->bytes.items + r->bytes.count - 56, &lie, 8);
	run(r, &tally, true, 1);
	EXPECT_INT(tally.frames, 1);
}

TEST("what a running source has is taken in parts, and a round is delivered at once")
{
	struct tape *r = recording_new();
	struct tally tally = { 0 };
	struct session session;
	const struct sink sink = { .context = &tally, .record = tally_record, .serial = true };
	const struct session_options options = { .threads = 1, .ordered_rounds = true, .keep_exited = true };
	EXPECT(session_open(&session, &r->source, &options, NULL) == 0);
	session_begin(&session, &sink);
	put_comm(r, 5, 1, "new\0\0\0\0", 0);
	put_sample(r, 5, 20, 0x1000, NULL, 0);
	put_sample(r, 5, 10, 0x1000, NULL, 0);
	put_round(r);
	put_sample(r, 5, 30, 0x1000, NULL, 0);
	EXPECT_INT(session_take(&session), 0);
	EXPECT_INT(tally.samples, 2);
	EXPECT(tally.times[0] == 10 && tally.times[1] == 20);
	put_round(r);
	EXPECT_INT(session_take(&session), 0);
	EXPECT_INT(tally.samples, 3);
	put_sample(r, 5, 40, 0x1000, NULL, 0);
	EXPECT(session_take(&session) == 0 && session_end(&session, NULL) == 0);
	EXPECT_INT(tally.samples, 4);
	EXPECT_INT(session.counters.samples, 4);
	EXPECT_INT(tally.named, 4);
	session_close(&session);
}

TEST("samples after a renewal have the names and mappings of the new generation")
{
	struct tape *r = recording_new();
	struct tally tally = { 0 };
	struct session session;
	struct model_renewal renewal = { 0 };
	const struct sink sink = { .context = &tally, .record = tally_record, .serial = true };
	const struct session_options options = { .threads = 1, .ordered_rounds = true, .keep_exited = true };
	EXPECT(session_open(&session, &r->source, &options, NULL) == 0);
	session_begin(&session, &sink);
	put_comm(r, 5, 1, "new\0\0\0\0", 0);
	put_mmap(r, 5, 2, 0x1000, 0x1000, "/bin/x\0");
	for (uint64_t i = 0; i < 2000; i++) /* each address is a location */
		put_sample(r, 5, 10 + i, 0x1000 + i, NULL, 0);
	put_round(r);
	EXPECT_INT(session_take(&session), 0);
	size_t grown = session_growth(&session);
	session_renew(&session, &renewal);
	EXPECT(session_growth(&session) + 2000 * 64 <= grown);
	put_sample(r, 5, 5000, 0x1010, NULL, 0);
	put_round(r);
	EXPECT(session_take(&session) == 0 && session_end(&session, NULL) == 0);
	EXPECT_INT(tally.samples, 2001);
	EXPECT_INT(tally.named, 2001);
	EXPECT_INT(tally.mapped, 2001);
	session_close(&session);
}

/* For each sample, asks for more locations than the cache has entries, and compares all of them afterwards. */
struct points {
	uint32_t ids[2]; /* of the module's first byte, by the sample's tid */
	uint64_t bad;
};

static void points_record(void *context, const struct resolved *r, size_t slice)
{
	enum { ASKED = 5000 };
	static const struct location *found[ASKED];
	struct points *points = context;
	uint64_t start = (uint64_t)r->tid << 20;
	for (uint64_t i = 0; i < ASKED; i++)
		found[i] = resolved_locate(r, RECORD_MISC_USER, start + i);
	for (uint64_t i = 0; i < ASKED; i++)
		points->bad += found[i]->address != start + i || found[i]->offset != i || !found[i]->map || found[i]->point->offset != i;
	points->bad += resolved_ip(r)->address != r->sample->ip;
	points->ids[r->tid - 1] = found[0]->id;
}

TEST("locations remain valid while a sample is processed, and processes share the points of a module")
{
	struct tape *r = recording_new();
	struct points points = { .ids = { 7, 8 } };
	struct session session;
	const struct sink sink = { .context = &points, .record = points_record };
	const struct session_options options = { .threads = 1 };
	for (uint32_t tid = 1; tid <= 2; tid++)
		put_mmap(r, tid, tid, (uint64_t)tid << 20, 0x10000, "/bin/x\0");
	for (uint64_t i = 0; i < 40; i++)
		put_sample(r, 1 + i % 2, 10 + i, ((1 + i % 2) << 20) + i, NULL, 0);
	EXPECT(session_open(&session, &r->source, &options, NULL) == 0);
	EXPECT(session_run(&session, &sink, NULL) == 0);
	EXPECT_INT(session.counters.samples, 40);
	EXPECT_INT(points.bad, 0);
	EXPECT_INT(points.ids[0], points.ids[1]);
	session_close(&session);
}

/* A stream over processes that start, have samples and end. */
struct flow {
	size_t most, forgotten;
	uint64_t bad;
};

static void flow_record(void *context, const struct resolved *r, size_t slice)
{
	struct flow *flow = context;
	char name[16], expected[16];
	size_t growth = session_growth(r->session);
	snprintf(expected, sizeof expected, "p%06d", r->tid);
	flow->most = growth > flow->most ? growth : flow->most;
	flow->bad += strcmp(resolved_comm(r, name, sizeof name), expected) != 0 || !resolved_ip(r)->map ||
		resolved_locate(r, RECORD_MISC_USER, r->sample->ip)->offset != r->sample->ip - ((uint64_t)r->tid << 20);
}

static void flow_forget(void *context, unsigned worker)
{
	struct flow *flow = context;
	flow->forgotten++;
}

static void put_exit(struct tape *r, uint32_t tid, uint64_t time)
{
	uint32_t ids[4] = { tid, 1, tid, 1 };
	put_head(r, RECORD_EXIT, RECORD_MISC_USER, 40);
	put(r, ids, 16);
	put(r, &time, 8);
	put(r, ids, 8);
	put(r, &time, 8);
}

static struct flow flow_run(uint32_t processes, bool forgets)
{
	struct tape *r = recording_new();
	struct flow flow = { 0 };
	struct session session;
	const struct sink sink = { .context = &flow, .record = flow_record, .forget = forgets ? flow_forget : NULL };
	const struct session_options options = { .threads = 1 };
	uint64_t time = 1;
	for (uint32_t tid = 10; tid < 10 + processes; tid++) {
		char name[9];
		snprintf(name, sizeof name, "p%06u", tid);
		put_comm(r, tid, time++, name, 0);
		for (uint64_t i = 0; i < 20; i++)
			put_mmap(r, tid, time++, ((uint64_t)tid << 20) + (i << 12), 0x1000, "/bin/x\0");
		put_sample(r, tid, time++, (uint64_t)tid << 20, NULL, 0);
		put_exit(r, tid, time++);
		if (tid % 100 == 0)
			put_round(r);
	}
	EXPECT(session_open(&session, &r->source, &options, NULL) == 0);
	EXPECT(session_run(&session, &sink, NULL) == 0);
	EXPECT_INT(session.counters.samples, processes);
	session_close(&session);
	return flow;
}

TEST("a stream's memory does not grow with ended processes, and its samples have their names and mappings")
{
	struct flow all = flow_run(40000, false), stream = flow_run(40000, true);
	EXPECT_INT(all.bad, 0);
	EXPECT_INT(stream.bad, 0);
	EXPECT(stream.forgotten > 1);
	EXPECT(stream.most < all.most / 2);
}

/* A sink whose account depends on the samples that it has got. */
struct account {
	struct tally tally;
	uint64_t enough;               /* from so many samples on it asks for more than there is */
};

static void account_record(void *context, const struct resolved *r, size_t slice)
{
	struct account *account = context;
	atomic_fetch_add(&account->tally.samples, 1);
}

static size_t account_ahead(void *context)
{
	const struct account *account = context;
	return account->tally.samples >= account->enough ? (size_t)1 << 40 : 0;
}

TEST("behind the position at which a sink's account exceeds the limit, samples are left out and counted")
{
	enum { SAMPLES = 20000, SAMPLE_BYTES = 40, LIMIT = 48 << 20, BATCH = LIMIT / 384 / SAMPLE_BYTES };
	struct tape *r = recording_new();
	struct session session;
	struct budget budget = { .limit = LIMIT };
	struct account account = { .enough = 8000 };
	const struct sink sink = { .context = &account, .record = account_record, .ahead = account_ahead };
	const struct session_options options = { .threads = 2, .budget = &budget };
	for (uint64_t i = 0; i < SAMPLES; i++) {
		put_sample(r, 5, 10 + i, 0x1000, NULL, 0);
		if (i % 1000 == 0)
			put_round(r);
	}
	EXPECT(session_open(&session, &r->source, &options, NULL) == 0);
	EXPECT_INT(session_limit(&session), SIZE_MAX);
	EXPECT_INT(session_run(&session, &sink, NULL), 0);
	EXPECT_INT(session_limit(&session), LIMIT);
	EXPECT(account.tally.samples >= 8000 && account.tally.samples < 8000 + 2 * (BATCH + 1));
	EXPECT_INT(account.tally.samples + session.counters.left_out_samples, SAMPLES);
	EXPECT_INT(session.counters.samples, account.tally.samples);
	session_close(&session);
}

/* The name of each sample's thread, and those that the virtual machines' threads with this id have. */
static void machine_record(void *context, const struct resolved *r, size_t slice)
{
	const struct model *model = &r->session->model;
	char buffer[COMM_TEXT];
	(void)slice;
	str_puts(context, resolved_comm(r, buffer, sizeof buffer));
	for (uint64_t id = 5; id < 7; id++) {
		const struct injected_id *known = injected_get(&model->injected, id);
		uint32_t thread = known ? model_thread(model, injected_tid(known, r->tid), r->clock) : THREAD_NONE;
		uint32_t comm = thread == THREAD_NONE ? COMM_NONE : model_comm(model, thread, r->clock);
		str_printf(context, " %d.%u %s", known ? known->machine : 0, known ? known->vcpu : 0,
			comm == COMM_NONE ? "-" : strtab_text(&model->strings, comm));
	}
	str_puts(context, "; ");
}

static void put_of_id(struct tape *r, uint32_t type, uint64_t id, uint64_t time, const char name[static 8])
{
	bool comm = type == RECORD_COMM;
	put_head(r, type, id == 4 ? RECORD_MISC_USER : RECORD_MISC_GUEST_USER, comm ? 40 : 32);
	if (comm) {
		put_ids(r, 7);
		put(r, name, 8);
	} else {
		put_u64(r, 0x1000);
	}
	put_ids(r, 7);
	put_u64(r, time);
	put_u64(r, id);
}

TEST("an index of ids says of which virtual machine a name is, so that threads of the host and of two machines with one id have their own")
{
	struct tape *r = tape_new();
	struct attr attr = { .type = ATTR_SOFTWARE, .sample_period = 1, .flags = 1ull << ATTR_SAMPLE_ID_ALL,
			     .sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_ID };
	const uint64_t index[] = { 2, /* ids */ 5, 0, 0, 0, 6, 0, 0, 0, /* machines */ 1234, 2, 1235, 3 };
	struct session session;
	struct session_options options = { .threads = 1 };
	CLEANUP_STR struct str got = { 0 };
	struct sink sink = { .context = &got, .record = machine_record, .serial = true };
	evlist_add(&r->source.header.evlist, &attr, (uint64_t[]){ 4, 5, 6 }, 3, "cpu-clock");
	put_head(r, RECORD_ID_INDEX, 0, sizeof index);
	put(r, index, sizeof index);
	put_of_id(r, RECORD_COMM, 4, 1, "host\0\0\0");
	put_of_id(r, RECORD_COMM, 5, 2, "one\0\0\0\0");
	put_of_id(r, RECORD_SAMPLE, 4, 3, "\0\0\0\0\0\0\0");
	put_of_id(r, RECORD_COMM, 6, 4, "two\0\0\0\0");
	put_of_id(r, RECORD_SAMPLE, 4, 5, "\0\0\0\0\0\0\0");
	put_round(r);
	EXPECT_INT(session_open(&session, &r->source, &options, NULL), 0);
	EXPECT_INT(session_run(&session, &sink, NULL), 0);
	EXPECT_STR(str_text(&got), "host 1234.2 one 1235.3 -; host 1234.2 one 1235.3 two; ");
	session_close(&session);
}
