#include "analysis/profile/profile_test.h"

#include "unit.h"

static const struct profile_options callers = {
	.iteration = ITERATE_CALLERS, .chain = { .mode = CHAIN_GRAPH, .order = CHAIN_CALLER },
};

/* The samples that have a joined frame at this address; 0: it is in no joined part. */
static uint64_t samples_at(const struct run *run, uint64_t address)
{
	const struct joined_functions *joined = &run->profile.joined;
	for (size_t i = 0; i < joined->count; i++)
		if (joined->items[i].address == address)
			return joined->items[i].samples;
	return 0;
}

TEST("the joined frames of a chain are those after its second marker of user code")
{
	struct tape *r = recording_new();
	struct run run;
	SAMPLE(r, 1, 10, 0x5000, 0x4000, CONTEXT_USER, 0x3000, 0x2000, 0x1000);
	SAMPLE(r, 1, 20, 0x5000, 0x4000, 0x3000, 0x2000, 0x1000);
	EXPECT(run_open(&run, r, "sym", callers));
	EXPECT_INT(run.profile.joined.samples, 1);
	EXPECT_INT(run.profile.joined.count, 3);
	EXPECT_INT(samples_at(&run, 0x4000), 0);
	EXPECT_INT(samples_at(&run, 0x3000), 1);
	EXPECT_INT(samples_at(&run, 0x1000), 1);
	run_close(&run);
}

TEST("a function counts once for each sample that has it in its joined part, on any worker")
{
	struct tape *r = recording_new();
	struct run run;
	for (uint64_t i = 0; i < 3000; i++) {
		SAMPLE(r, (uint32_t)(i % 7), 3 * i + 1, 0x5000, CONTEXT_USER, 0x3000, 0x2000, 0x2000, 0x1000);
		SAMPLE(r, (uint32_t)(i % 7), 3 * i + 2, 0x5000 + i, CONTEXT_USER, 0x2000, 0x1000);
		SAMPLE(r, (uint32_t)(i % 7), 3 * i + 3, 0x5000, 0x2000, 0x1000);
	}
	EXPECT(run_open(&run, r, "sym", callers));
	EXPECT_INT(run.profile.joined.samples, 6000);
	EXPECT_INT(run.profile.joined.count, 3);
	EXPECT_INT(samples_at(&run, 0x2000), 6000);
	EXPECT_INT(samples_at(&run, 0x3000), 3000);
	EXPECT_INT(run.profile.joined.items[0].address, 0x1000); /* of equal counts the lower address is first */
	EXPECT_INT(run.profile.joined.items[1].address, 0x2000);
	EXPECT_INT(run.profile.joined.items[2].address, 0x3000);
	run_close(&run);
}

TEST("a limit of frames hides joined ones and does not change which they are")
{
	struct tape *r = recording_new();
	struct run run;
	uint64_t frames[300] = { 0x5000, CONTEXT_USER };
	for (uint64_t i = 2; i < 300; i++)
		frames[i] = 0x10000 + i;
	put_sample(r, 1, 10, frames, 300);
	EXPECT(run_open(&run, r, "sym", callers));
	EXPECT_INT(run.profile.joined.count, 298);
	EXPECT_INT(samples_at(&run, 0x10000 + 299), 1);
	run_close(&run);
}

TEST("a recording without joined chains has no joined functions")
{
	struct tape *r = recording_new();
	struct run run;
	SAMPLE(r, 1, 10, 0x5000, 0x1000);
	SAMPLE(r, 1, 11, 0x5000, 0x1000, CONTEXT_USER);
	EXPECT(run_open(&run, r, "sym", callers));
	EXPECT_INT(run.profile.joined.samples, 0);
	EXPECT_INT(run.profile.joined.count, 0);
	run_close(&run);
}
