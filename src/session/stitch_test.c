#include "session/stitch.h"

#include "data/source.h"
#include "data/test_recording.h"
#include "unit.h"

/* A sample of a thread whose calls are at `addresses`, innermost first, in registers of which `index` has the innermost. */
struct stacked {
	uint64_t count, index, addresses[6];
};

static size_t join(struct stitch *stitch, uint64_t thread, uint64_t clock, const struct stacked *stacked, const uint64_t **joined)
{
	struct branch_entry entries[6] = { 0 };
	struct sample sample = { .branches = (const uint8_t *)entries, .branch_count = stacked->count, .branch_hw_index = stacked->index };
	for (uint64_t i = 0; i < stacked->count; i++)
		entries[i] = (struct branch_entry){ .from = stacked->addresses[i], .to = stacked->addresses[i] + 0x1000, .flags = 1 };
	*joined = NULL;
	return stitch_join(stitch, NULL, thread, clock, &sample, joined);
}

static void expect_joined(struct stitch *stitch, uint64_t thread, uint64_t clock, struct stacked stacked, size_t count,
	const uint64_t *wanted)
{
	const uint64_t *joined;
	EXPECT_INT(join(stitch, thread, clock, &stacked, &joined), count);
	for (size_t i = 0; i < count; i++)
		EXPECT_INT(joined[i], wanted[i]);
}

/* A machine with four registers, which calls 1, 2, 3, 4, 5, … from the outermost one on. */
static struct stitch four_registers(void)
{
	return (struct stitch){ .wanted = true, .asked = true, .registers = 4 };
}

TEST("calls that left the registers are appended from the samples before, over the end of the registers")
{
	struct stitch stitch = four_registers();
	expect_joined(&stitch, 7, 1, (struct stacked){ 4, 3, { 4, 3, 2, 1 } }, 0, NULL);
	expect_joined(&stitch, 7, 2, (struct stacked){ 4, 0, { 5, 4, 3, 2 } }, 1, (const uint64_t[]){ 1 });
	expect_joined(&stitch, 7, 3, (struct stacked){ 4, 1, { 6, 5, 4, 3 } }, 2, (const uint64_t[]){ 2, 1 });
	expect_joined(&stitch, 7, 4, (struct stacked){ 4, 3, { 8, 7, 6, 5 } }, 4, (const uint64_t[]){ 4, 3, 2, 1 });
	expect_joined(&stitch, 7, 5, (struct stacked){ 4, 3, { 8, 7, 6, 5 } }, 4, (const uint64_t[]){ 4, 3, 2, 1 });
	stitch_fini(&stitch);
}

TEST("the same sample has the same callers when it is asked for again")
{
	struct stitch stitch = four_registers();
	expect_joined(&stitch, 7, 1, (struct stacked){ 4, 3, { 4, 3, 2, 1 } }, 0, NULL);
	for (int i = 0; i < 3; i++)
		expect_joined(&stitch, 7, 2, (struct stacked){ 4, 0, { 5, 4, 3, 2 } }, 1, (const uint64_t[]){ 1 });
	expect_joined(&stitch, 7, 3, (struct stacked){ 4, 1, { 6, 5, 4, 3 } }, 2, (const uint64_t[]){ 2, 1 });
	stitch_fini(&stitch);
}

TEST("nothing is appended from another thread, at another call, after a sample without branches, or without registers")
{
	struct stitch stitch = four_registers();
	expect_joined(&stitch, 7, 1, (struct stacked){ 4, 3, { 4, 3, 2, 1 } }, 0, NULL);
	expect_joined(&stitch, 8, 2, (struct stacked){ 4, 0, { 5, 4, 3, 2 } }, 0, NULL);
	expect_joined(&stitch, 7, 3, (struct stacked){ 4, 0, { 5, 4, 3, 9 } }, 0, NULL);
	expect_joined(&stitch, 7, 4, (struct stacked){ 0, 0, { 0 } }, 0, NULL);
	expect_joined(&stitch, 7, 5, (struct stacked){ 4, 1, { 6, 5, 4, 3 } }, 0, NULL);
	expect_joined(&stitch, 8, 6, (struct stacked){ 4, 1, { 6, 5, 4, 3 } }, 1, (const uint64_t[]){ 2 });
	stitch.registers = 0;
	expect_joined(&stitch, 7, 7, (struct stacked){ 4, 2, { 7, 6, 5, 4 } }, 0, NULL);
	stitch_fini(&stitch);
}

TEST("the number of registers is that of the header's capabilities, in any place among them")
{
	for (unsigned place = 0; place < 3; place++) {
		char folder[] = "/tmp/stitch-XXXXXX", path[64];
		static const char *const names[] = { "data", NULL };
		struct recording *r = recording_new(false);
		struct source *source = NULL;
		begin_file(r, 1);
		size_t table = begin_features(r, 1ull << FEATURE_CPU_PMU_CAPS), at = r->len;
		put(r, 3, 4);
		for (unsigned i = 0; i < 3; i++) {
			put_string(r, i == place ? "branches" : "max_precise");
			put_string(r, i == place ? "16" : "3");
		}
		end_feature(r, &table, at);
		EXPECT(mkdtemp(folder) != NULL);
		write_file(folder, "data", r->bytes, r->len);
		snprintf(path, sizeof path, "%s/data", folder);
		EXPECT(source_open(&source, path, &(struct source_options){ 0 }, NULL) == 0);
		struct stitch stitch = { .wanted = true };
		struct sample sample = { .branch_hw_index = 0 };
		const uint64_t *joined;
		EXPECT_INT(stitch_join(&stitch, &source->header, 7, 1, &sample, &joined), 0);
		EXPECT(stitch.asked);
		EXPECT_INT(stitch.registers, 16);
		stitch_fini(&stitch);
		source_close(source);
		remove_folder(folder, names);
		free(r);
	}
}
