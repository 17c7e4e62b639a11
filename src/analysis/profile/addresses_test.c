#include "analysis/profile/profile_test.h"

#include "unit.h"

static const struct profile_options at_end = { .iteration = ITERATE_SAMPLES, .at_end = true };

static const struct entry *entry_of(const struct run *run, uint64_t ip)
{
	const struct hist *hist = &run->profile.folded.hists[0];
	for (size_t i = 0; i < hist->count; i++)
		if (entry_place(&run->profile, hist->entries[i])->ip == ip)
			return hist->entries[i];
	return NULL;
}

TEST("samples that are counted by address yield an entry for each address, of its first sample's thread")
{
	enum { ROUNDS = 40 };
	struct tape *r = recording_new();
	struct run run;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		SAMPLE(r, 3 + i, 10 * i + 1, 0x3000, 0x1000);
		SAMPLE(r, 5 + i, 10 * i + 2, 0x2000);
		SAMPLE(r, 7 + i, 10 * i + 3, 0x3000);
	}
	EXPECT(run_open(&run, r, "dso,sym", at_end));
	EXPECT(run.profile.addresses != NULL);
	const struct hist *hist = &run.profile.folded.hists[0];
	EXPECT_INT(hist->count, 2);
	EXPECT_INT(hist->samples, 3 * ROUNDS);
	EXPECT_INT(hist->total_period, 3 * ROUNDS * 10);
	EXPECT_INT(entry_of(&run, 0x3000)->self.period, 2 * ROUNDS * 10);
	EXPECT_INT(entry_of(&run, 0x3000)->self.count, 2 * ROUNDS);
	EXPECT_INT(entry_of(&run, 0x3000)->tid, 3);
	EXPECT_INT(entry_of(&run, 0x2000)->self.count, ROUNDS);
	EXPECT_INT(entry_of(&run, 0x2000)->tid, 5);
	EXPECT(entry_of(&run, 0x3000)->first < entry_of(&run, 0x2000)->first);
	run_close(&run);
}

TEST("from the first address on that perf cannot order, samples are added one by one, and none is lost or counted twice")
{
	struct tape *r = recording_new();
	struct run run;
	for (uint32_t i = 0; i < 50; i++)
		SAMPLE(r, 1, i + 1, 0x1000 + i % 2, 0x10);
	SAMPLE(r, 1, 60, 0x7fffffffffffff00);
	SAMPLE(r, 1, 70, 0x9000000000000000);
	for (uint32_t i = 0; i < 50; i++)
		SAMPLE(r, 1, 100 + i, 0x1000 + i % 2);
	EXPECT(run_open(&run, r, "dso,sym", at_end));
	EXPECT(run.profile.wild);
	EXPECT_INT(run.profile.collected.log_count, 52);
	EXPECT_INT(run.profile.folded.hists[0].samples, 102);
	EXPECT_INT(run.profile.folded.hists[0].total_period, 1020);
	run_close(&run);
}

TEST("a profile that shows more than places, or is read before the end, takes samples one by one")
{
	struct tape *r = recording_new();
	struct run run;
	EXPECT(run_open(&run, r, "comm,sym", at_end));
	EXPECT(!run.profile.addresses);
	run_close(&run);
	r = recording_new();
	EXPECT(run_open(&run, r, "dso,sym", (struct profile_options){ .iteration = ITERATE_SAMPLES }));
	EXPECT(!run.profile.addresses);
	run_close(&run);
}
