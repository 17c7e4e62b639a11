#include "session/losses.h"

#include "tape.h"
#include "unit.h"

static struct tape *recording_new(void)
{
	struct tape *tape = tape_new();
	struct attr attr = { .type = ATTR_SOFTWARE, .sample_period = 1, .flags = 1ull << ATTR_SAMPLE_ID_ALL,
			     .sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME };
	evlist_add(&tape->source.header.evlist, &attr, NULL, 0, "cpu-clock");
	return tape;
}

static void put_words(struct tape *tape, uint32_t type, uint16_t misc, const uint64_t *words, size_t count)
{
	put_head(tape, type, misc, count * 8);
	put(tape, words, count * 8);
}

static void read_losses(struct losses *losses, struct tape *tape, bool unordered)
{
	struct session session;
	struct sink sink = { .skip_samples = true, .unordered = unordered };
	struct session_options options = { .threads = 2 };
	EXPECT(session_open(&session, &tape->source, &options, NULL) == 0);
	EXPECT(session_run(&session, &sink, NULL) == 0);
	losses_of_session(losses, &session);
	session_close(&session);
}

TEST("samples that are too short for their event are counted also by sinks that skip samples")
{
	const uint64_t words[] = { 0x401000, 0x6400000064, 5 };
	for (int unordered = 0; unordered < 2; unordered++) {
		struct tape *tape = recording_new();
		struct losses losses;
		for (int i = 0; i < 47; i++)
			put_words(tape, RECORD_SAMPLE, RECORD_MISC_USER, words, i < 7 ? 3 : 1);
		read_losses(&losses, tape, unordered);
		EXPECT_INT(losses.samples, 7);
		EXPECT_INT(losses.bad_samples, 40);
		EXPECT(losses_are_damage(&losses));
	}
}

TEST("events that the kernel lost are not damage, and samples that a filter dropped are not lost")
{
	const uint64_t lost[] = { 0, 5 }, few[] = { 3 }, aux[] = { 0, 0, 1 };
	struct tape *tape = recording_new();
	struct losses losses;
	put_words(tape, RECORD_LOST, 0, lost, 2);
	put_words(tape, RECORD_LOST_SAMPLES, 0, few, 1);
	put_words(tape, RECORD_LOST_SAMPLES, RECORD_MISC_LOST_SAMPLES_BPF, few, 1);
	put_words(tape, RECORD_AUX, 0, aux, 3);
	read_losses(&losses, tape, true);
	EXPECT_INT(losses.lost_events, 5);
	EXPECT_INT(losses.lost_samples, 3);
	EXPECT_INT(losses.lost_traces, 1);
	EXPECT(!losses_are_damage(&losses));
}

TEST("samples of events that memory leaves out are not damage, samples of no event are")
{
	const uint64_t words[] = { 7, 0x401000, 0x6400000064, 5 };
	for (uint64_t left_out = 0; left_out < 2; left_out++) {
		struct tape *tape = recording_new();
		struct losses losses;
		struct attr attr = { .type = ATTR_SOFTWARE, .sample_period = 1, .flags = 1ull << ATTR_SAMPLE_ID_ALL,
				     .sample_type = SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME };
		evlist_fini(&tape->source.header.evlist);
		evlist_add(&tape->source.header.evlist, &attr, (uint64_t[]){ 1 }, 1, NULL);
		evlist_add(&tape->source.header.evlist, &attr, (uint64_t[]){ 2 }, 1, NULL);
		tape->source.header.left_out_events = left_out;
		put_words(tape, RECORD_SAMPLE, RECORD_MISC_USER, words, 4);
		read_losses(&losses, tape, true);
		EXPECT_INT(losses.left_out_event_samples, left_out);
		EXPECT_INT(losses.unknown_ids, 1 - left_out);
		EXPECT_INT(losses_are_damage(&losses), !left_out);
	}
}

TEST("side-band without the fields of its type is damage for every reader")
{
	const uint64_t word = 0;
	struct tape *tape = recording_new();
	struct losses losses;
	put_words(tape, RECORD_COMM, 0, (uint64_t[]){ 0x200000001, 'a', 0 }, 3);
	put_words(tape, RECORD_FORK, 0, &word, 1);   /* counted by the model */
	put_words(tape, RECORD_LOST, 0, &word, 1);   /* counted by the session */
	read_losses(&losses, tape, true);
	EXPECT_INT(losses.bad_records, 2);
	EXPECT(losses_are_damage(&losses));
	/* the place of the first one: behind the first record of 8 + 3 * 8 bytes */
	EXPECT_INT(losses.bad_type, RECORD_FORK);
	EXPECT_INT(losses.bad_offset, 32);
}

TEST("each kind of damage alone is damage, and an intact recording has none")
{
	const struct losses damaged[] = {
		{ .stop.kind = ERROR_FORMAT }, { .unfinished = true }, { .bad_samples = 1 }, { .unknown_ids = 1 }, { .bad_records = 1 },
		{ .bad_attrs = 1 }, { .bad_build_ids = 1 }, { .features = 1 },
	};
	const struct losses whole = { .samples = 9, .unknown_types = 1, .lost_samples = 2 };
	for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++)
		EXPECT(losses_are_damage(&damaged[i]));
	EXPECT(!losses_are_damage(&whole));
}
