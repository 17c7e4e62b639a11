#include "rewrite/test_rewrite.h"
#include "session/test_stack.h"

/* What the new recording has: its only event, and the chains of its samples. */
struct converted {
	struct attr attr;
	uint64_t chains[2][8], counts[2], samples;
	bool copies;
};

static void read_converted(const char *path, struct converted *found)
{
	struct source *source;
	struct record record;
	struct sample sample;
	struct error err = { 0 };
	*found = (struct converted){ 0 };
	if (source_open(&source, path, &(struct source_options){ .force = true }, &err) < 0)
		return unit_fail(__FILE__, __LINE__, "%s", err.text);
	const struct evsel *evsel = &source->header.evlist.events.items[0];
	found->attr = evsel->attr;
	while (source_next(source, &record, &err) > 0) {
		if (record.type != RECORD_SAMPLE || found->samples == 2)
			continue;
		EXPECT(sample_decode(&sample, &evsel->layout, &record, &err) == 0);
		found->copies |= sample.stack_user_size || sample.regs_user;
		found->counts[found->samples] = sample.callchain_count;
		for (uint64_t i = 0; i < sample.callchain_count && i < 8; i++)
			found->chains[found->samples][i] = sample_chain_at(&sample, i);
		found->samples++;
	}
	EXPECT_STR(err.text, "");
	source_close(source);
}

TEST("copies of stacks become call chains, as of the mappings at their time, and the event says so")
{
	struct stack_recording made;
	struct trial trial;
	struct converted found;
	const struct image_options images = { 0 };
	if (!stack_recording_make(&made))
		return;
	put_whole_stack(&made, 4);
	put_whole_stack(&made, 3); /* out of order, as of another CPU */
	trial_run(&trial, made.tape, (struct rewrite_options){ .convert_stacks = true, .images = &images });
	EXPECT_INT(trial.result, 0);
	read_converted(trial.output, &found);
	EXPECT_INT(found.attr.sample_type, SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CALLCHAIN);
	EXPECT_INT(found.attr.sample_regs_user, 0);
	EXPECT_INT(found.attr.sample_stack_user, 0);
	EXPECT(!attr_flag(&found.attr, ATTR_EXCLUDE_CALLCHAIN_USER) && !found.copies);
	EXPECT_INT(found.samples, 2);
	const uint64_t expected[] = { (uint64_t)CONTEXT_KERNEL, 0xffffffff81000010, (uint64_t)CONTEXT_USER, made.code + 0x18, made.code + 0x4f,
		made.code + 0x87 };
	for (int i = 0; i < 2; i++) {
		EXPECT_INT(found.counts[i], 6);
		EXPECT(memcmp(found.chains[i], expected, sizeof expected) == 0);
	}
	unlink(made.path);
	trial_close(&trial);
}

TEST("a recording without copies of stacks cannot be converted")
{
	struct trial trial;
	struct tape *tape = recording_new();
	put_sample(tape, 7, 1, 0x1000);
	trial_run(&trial, tape, (struct rewrite_options){ .convert_stacks = true });
	EXPECT_INT(trial.result, -1);
	EXPECT(strstr(trial.error.text, "has no copies of stacks") != NULL);
	trial_close(&trial);
}
