#include "rewrite/rewrite.h"

#include "base/budget.h"
#include "rewrite/test_rewrite.h"

static struct tape *mixed_recording(void)
{
	struct tape *t = recording_new();
	put_mmap(t, 7, 0, 0x1000, 0x1000, "/bin/x");
	put_sample(t, 7, 30, 0x1010);
	put_comm(t, 7, 10, "early\0\0", 0);
	put_round(t);
	put_sample(t, 7, 20, 0x1020);
	put_sample(t, 7, 30, 0x1030);
	put_sample(t, 7, 10, 0x1040);
	return t;
}

#define IN_ORDER_OF_SOURCE "mmap 0 7:1000+1000 /bin/x\nsample 30 1010\ncomm 10\nround\nsample 20 1020\nsample 30 1030\nsample 10 1040\n"

TEST("without a change, records are written in the order of the source")
{
	struct trial trial;
	trial_run(&trial, mixed_recording(), (struct rewrite_options){ 0 });
	EXPECT_STR(str_text(&trial.records), IN_ORDER_OF_SOURCE);
	EXPECT_INT(trial.counters.samples, 4);
	trial_close(&trial);
}

TEST("a change that samples decide writes records by time, equal ones in the order of the source, others as they are read")
{
	static const struct rewrite_options by_samples[] = { { .ids = IDS_HIT }, { .sched_stat = true }, { .ids = IDS_MMAP2_HIT },
		{ .jit = true } };
	for (size_t i = 0; i < sizeof by_samples / sizeof *by_samples; i++) {
		struct trial trial;
		trial_run(&trial, mixed_recording(), by_samples[i]);
		const char *records = str_text(&trial.records), *comm = strstr(records, "comm");
		if (i == 2)
			EXPECT_STR(comm, "comm 10\nmmap2 10 7:1000+1000@0 id 0:00 /bin/x\nsample 10 1040\nsample 20 1020\nsample 30 1010\n"
				"sample 30 1030\n");
		else
			EXPECT_STR(comm, "comm 10\nsample 10 1040\nsample 20 1020\nsample 30 1010\nsample 30 1030\n");
		if (i < 2)
			EXPECT(comm && strncmp(records, "mmap 0 7:1000+1000 /bin/x\nround\n", (size_t)(comm - records)) == 0);
		trial_close(&trial);
	}
}

TEST("a change of mappings alone leaves the order of the source")
{
	struct trial trial;
	trial_run(&trial, mixed_recording(), (struct rewrite_options){ .ids = IDS_ALL });
	EXPECT_STR(str_text(&trial.records), IN_ORDER_OF_SOURCE);
	trial_close(&trial);
}

TEST("a compressed record is dropped, as the records inside it follow")
{
	struct tape *t = recording_new();
	struct trial trial;
	put_head(t, RECORD_COMPRESSED, 0, 8);
	put_u64(t, 0);
	put_sample(t, 7, 30, 0x1010);
	put_head(t, RECORD_COMPRESSED2, 0, 8);
	put_u64(t, 0);
	trial_run(&trial, t, (struct rewrite_options){ 0 });
	EXPECT_STR(str_text(&trial.records), "sample 30 1010\n");
	trial_close(&trial);
}

TEST("samples that are damaged or of no known event are counted, and are written as they are")
{
	struct tape *t = recording_new();
	struct trial trial;
	put_sample(t, 7, 30, 0x1010);
	put_head(t, RECORD_SAMPLE, RECORD_MISC_USER, 8);
	put_u64(t, 1);
	trial_run(&trial, t, (struct rewrite_options){ .sched_stat = true });
	EXPECT_STR(str_text(&trial.records), "sample 0 0\nsample 30 1010\n");
	EXPECT_INT(trial.counters.samples, 1);
	EXPECT_INT(trial.counters.bad_samples, 1);
	EXPECT_INT(trial.losses.bad_samples, 1);
	EXPECT_INT(trial.losses.samples, 1);
	trial_close(&trial);
}

TEST("a recording of the opposite byte order is refused, and no file is left")
{
	struct tape *t = recording_new();
	struct trial trial;
	t->source.header.swapped = true;
	trial_run(&trial, t, (struct rewrite_options){ 0 });
	EXPECT(trial.result < 0);
	EXPECT_INT(trial.error.kind, ERROR_UNSUPPORTED);
	EXPECT(access(trial.output, F_OK) != 0);
	trial_close(&trial);
}

/* The first bytes of a file, as text. */
static void read_text(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "rb");
	size_t n = file ? fread(text, 1, size - 1, file) : 0;
	text[n] = '\0';
	if (file)
		fclose(file);
}

TEST("a rewriting that is not finished removes its file, and the older one has its name again")
{
	static const char *const command[] = { "perfuse", NULL };
	struct folder folder;
	struct rewrite *rewrite;
	struct error err = { 0 };
	char text[16];
	folder_open(&folder);
	folder_write(&folder, "out", "older", 5);
	for (int finish = 0; finish < 2; finish++) {
		struct tape *t = mixed_recording();
		const struct rewrite_options options = { .output = folder_path(&folder, "out"), .command = command };
		EXPECT_INT(rewrite_open(&rewrite, &t->source, &options, &err), 0);
		EXPECT_INT(rewrite_run(rewrite, &err), 0);
		if (finish)
			EXPECT_INT(rewrite_finish(rewrite, NULL, &err), 0);
		rewrite_close(rewrite);
		source_close(&t->source);
		read_text(folder_path(&folder, "out"), text, 9);
		EXPECT_STR(text, !finish ? "older" : HOST_IS_BIG_ENDIAN ? "2ELIFREP" : "PERFILE2");
	}
	read_text(folder_path(&folder, "out.old"), text, sizeof text);
	EXPECT_STR(text, "older");
	folder_close(&folder);
}

TEST("an output that cannot be opened is an error")
{
	static const char *const command[] = { "perfuse", NULL };
	struct tape *t = mixed_recording();
	struct rewrite *rewrite;
	struct error err = { 0 };
	const struct rewrite_options options = { .output = "/nonexistent/folder/out", .command = command };
	EXPECT(rewrite_open(&rewrite, &t->source, &options, &err) < 0);
	EXPECT(err.text[0] != '\0');
	rewrite_close(rewrite);
	rewrite_close(NULL);
	source_close(&t->source);
}

TEST("records that wait beyond the budget are written early, which the budget counts, and all of them are written")
{
	enum { RECORDS = 5000, STEP = 16 << 20 };
	struct budget none = { 0 }, enough = { .limit = 2 * STEP };
	for (int fits = 0; fits < 2; fits++) {
		struct tape *t = recording_new();
		struct trial trial;
		struct budget *budget = fits ? &enough : &none;
		for (uint64_t i = 0; i < RECORDS; i++)
			put_sample(t, 7, RECORDS + 1 - i, 0x1010);
		trial_run(&trial, t, (struct rewrite_options){ .ids = IDS_HIT, .budget = budget });
		EXPECT_INT(trial.counters.samples, RECORDS);
		EXPECT_INT(atomic_load(&budget->hurried), fits ? 0 : 1);
		EXPECT_INT(atomic_load(&budget->used), 0);
		EXPECT(strstr(str_text(&trial.records), fits ? "sample 2 " : "sample 906 ") == str_text(&trial.records));
		trial_close(&trial);
	}
}
