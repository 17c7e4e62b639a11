#include "rewrite/test_rewrite.h"

#include "rewrite/known_ids.h"

TEST("a build-id record precedes the first sample that hits a file, and no other")
{
	struct tape *t = recording_new();
	struct trial trial;
	add_build_id(t, "/bin/x", 0xaa, 20);
	add_build_id(t, "/bin/y", 0xbb, 16);
	add_build_id(t, "/bin/z", 0xcc, 20);
	put_mmap(t, 7, 1, 0x1000, 0x1000, "/bin/x");
	put_mmap(t, 7, 2, 0x2000, 0x1000, "/bin/y");
	put_mmap(t, 7, 3, 0x3000, 0x1000, "/bin/z");
	put_sample(t, 7, 10, 0xfff);
	put_sample(t, 7, 11, 0x2000);
	put_sample(t, 7, 12, 0x2fff);
	put_sample(t, 7, 13, 0x1fff);
	put_sample(t, 7, 14, 0x4000);
	trial_run(&trial, t, (struct rewrite_options){ .ids = IDS_HIT });
	EXPECT_STR(str_text(&trial.records), "mmap 1 7:1000+1000 /bin/x\nmmap 2 7:2000+1000 /bin/y\nmmap 3 7:3000+1000 /bin/z\n"
		"sample 10 fff\nbuild-id 11 16:bb /bin/y\nsample 11 2000\nsample 12 2fff\nbuild-id 13 20:aa /bin/x\nsample 13 1fff\n"
		"sample 14 4000\n");
	EXPECT_STR(str_text(&trial.table), "20:aa /bin/x\n16:bb /bin/y\n");
	trial_close(&trial);
}

TEST("call chains hit files, each address in the mode that the marker before it states")
{
	struct tape *t = recording_new();
	struct trial trial;
	const uint64_t kernel[] = { CONTEXT_KERNEL, 0x1010 }, user[] = { CONTEXT_KERNEL, CONTEXT_USER, 0x1010 };
	add_build_id(t, "/bin/x", 0xaa, 20);
	put_mmap(t, 7, 1, 0x1000, 0x1000, "/bin/x");
	put_chain_sample(t, 7, 10, 0x9000, kernel, 2);
	put_chain_sample(t, 7, 11, 0x9000, user, 3);
	trial_run(&trial, t, (struct rewrite_options){ .ids = IDS_HIT });
	EXPECT_STR(str_text(&trial.records), "mmap 1 7:1000+1000 /bin/x\nsample 10 9000\nbuild-id 11 20:aa /bin/x\nsample 11 9000\n");
	trial_close(&trial);
}

TEST("with --buildid-all a record precedes the first mapping of each file, and samples hit nothing")
{
	struct tape *t = recording_new();
	struct trial trial;
	add_build_id(t, "/bin/x", 0xaa, 20);
	put_mmap(t, 7, 1, 0x1000, 0x1000, "/bin/x");
	put_mmap(t, 8, 2, 0x1000, 0x1000, "/bin/x");
	put_mmap(t, 7, 3, 0x2000, 0x1000, "/nonexistent/y");
	put_mmap2(t, 7, 4, 0x3000, 0x1000, 0xbb, "/bin/z");
	put_sample(t, 7, 5, 0x2000);
	trial_run(&trial, t, (struct rewrite_options){ .ids = IDS_ALL });
	EXPECT_STR(str_text(&trial.records), "build-id 1 20:aa /bin/x\nmmap 1 7:1000+1000 /bin/x\nmmap 2 8:1000+1000 /bin/x\n"
		"mmap 3 7:2000+1000 /nonexistent/y\nmmap2 4 7:3000+1000@0 id 20:bb /bin/z\nsample 5 2000\n");
	EXPECT_STR(str_text(&trial.table), "20:aa /bin/x\n20:bb /bin/z\n");
	trial_close(&trial);
}

TEST("with --mmap2-buildid-all mappings have the build-ids of their files, where these are known")
{
	struct tape *t = recording_new();
	struct trial trial;
	add_build_id(t, "/bin/x", 0xaa, 20);
	put_mmap(t, 7, 1, 0x1000, 0x800, "/bin/x");
	put_mmap(t, 7, 2, 0x2000, 0x1000, "/nonexistent/y");
	put_mmap2(t, 7, 3, 0x3000, 0x800, 0, "/bin/x");
	trial_run(&trial, t, (struct rewrite_options){ .ids = IDS_MMAP2_ALL });
	EXPECT_STR(str_text(&trial.records), "mmap2 1 7:1000+800@0 id 20:aa /bin/x\nmmap 2 7:2000+1000 /nonexistent/y\n"
		"mmap2 3 7:3000+800@0 id 20:aa /bin/x\n");
	trial_close(&trial);
}

TEST("a mapping whose name has no end stays as it is")
{
	struct tape *t = recording_new();
	struct trial trial;
	add_build_id(t, "/bin/x", 0xaa, 20);
	put_mmap(t, 7, 1, 0x1000, 0x800, "/bin/x");
	put_head(t, RECORD_MMAP, RECORD_MISC_USER, 40);
	put_ids(t, 7);
	put_u64(t, 0x1000);
	put_u64(t, 0x800);
	put_u64(t, 0);
	put(t, "no end!!", 8);
	trial_run(&trial, t, (struct rewrite_options){ .ids = IDS_MMAP2_ALL });
	EXPECT(strstr(str_text(&trial.records), "mmap2 1 7:1000+800@0 id 20:aa /bin/x\nmmap ") == str_text(&trial.records));
	EXPECT(strstr(str_text(&trial.records), " 7:1000+800 no end!!\n") != NULL);
	trial_close(&trial);
}

TEST("with -B a mapping is written when a sample hits it, and once for each process that does not inherit it")
{
	struct tape *t = recording_new();
	struct trial trial;
	add_build_id(t, "/bin/x", 0xaa, 20);
	put_mmap(t, 7, 1, 0x1000, 0x1000, "/bin/x");
	put_mmap(t, 7, 2, 0x2000, 0x1000, "/bin/y");
	put_mmap(t, 7, 3, 0x3000, 0x1000, "/bin/z");
	put_sample(t, 7, 10, 0x1010);
	put_fork(t, 8, 7, 11);
	put_sample(t, 7, 12, 0x2010);
	put_sample(t, 8, 13, 0x1020);
	put_sample(t, 8, 14, 0x2020);
	put_sample(t, 7, 15, 0x2020);
	put_sample(t, 7, 16, 0x4000);
	trial_run(&trial, t, (struct rewrite_options){ .ids = IDS_MMAP2_HIT });
	EXPECT_STR(str_text(&trial.records), "mmap2 10 7:1000+1000@0 id 20:aa /bin/x\nsample 10 1010\nfork 11\n"
		"mmap2 12 7:2000+1000@0 id 0:00 /bin/y\nsample 12 2010\nsample 13 1020\nmmap2 14 8:2000+1000@0 id 0:00 /bin/y\n"
		"sample 14 2020\nsample 15 2020\nsample 16 4000\n");
	trial_close(&trial);
}

TEST("known build-ids get into the table of a file, in place of records")
{
	struct tape *t = recording_new();
	struct trial trial;
	add_build_id(t, "/bin/y", 0xbb, 20);
	put_mmap(t, 7, 1, 0x1000, 0x1000, "/bin/x");
	put_mmap(t, 7, 2, 0x2000, 0x1000, "/bin/y");
	put_sample(t, 7, 3, 0x2000);
	put_sample(t, 7, 4, 0x1000);
	trial_run(&trial, t, (struct rewrite_options){ .ids = IDS_HIT, .known_build_ids = "eeff /bin/x" });
	EXPECT_STR(str_text(&trial.records), "mmap 1 7:1000+1000 /bin/x\nmmap 2 7:2000+1000 /bin/y\nbuild-id 3 20:bb /bin/y\nsample 3 2000\n"
		"sample 4 1000\n");
	EXPECT_STR(str_text(&trial.table), "2:ee /bin/x\n20:bb /bin/y\n");
	trial_close(&trial);
}

TEST("the table of build-ids lists what samples hit, and the vdso of the older table")
{
	struct tape *t = recording_new();
	struct trial trial;
	t->source.header.features[0] |= 1ull << FEATURE_BUILD_ID;
	add_build_id(t, "[vdso]", 0xdd, 20);
	add_build_id(t, "/bin/x", 0xaa, 20);
	add_build_id(t, "/bin/y", 0xbb, 20);
	put_mmap(t, 7, 1, 0x1000, 0x1000, "/bin/x");
	put_mmap(t, 7, 2, 0x2000, 0x1000, "/bin/y");
	put_sample(t, 7, 3, 0x2000);
	trial_run(&trial, t, (struct rewrite_options){ .sched_stat = true });
	EXPECT_STR(str_text(&trial.table), "20:bb /bin/y\n20:dd [vdso]\n");
	trial_close(&trial);
}

TEST("with hardware traces the table of build-ids is the older one, as it is unknown what they hit")
{
	struct tape *t = recording_new();
	struct trial trial;
	t->source.header.features[0] |= 1ull << FEATURE_BUILD_ID;
	add_build_id(t, "/bin/y", 0xbb, 16);
	add_build_id(t, "/bin/none", 0, 0);
	add_build_id(t, "/bin/x", 0xaa, 20);
	put_mmap(t, 7, 1, 0x1000, 0x1000, "/bin/x");
	put_head(t, RECORD_AUXTRACE, 0, 40);
	put(t, (uint64_t[5]){ 0 }, 40);
	put_sample(t, 7, 3, 0x1000);
	trial_run(&trial, t, (struct rewrite_options){ .ids = IDS_HIT });
	EXPECT_STR(str_text(&trial.table), "16:bb /bin/y\n20:aa /bin/x\n");
	trial_close(&trial);
}

TEST("hardware traces whose bytes the source does not have end the rewriting")
{
	struct tape *t = recording_new();
	struct trial trial;
	put_head(t, RECORD_AUXTRACE, 0, 40);
	put(t, (uint64_t[5]){ 8 }, 40);
	trial_run(&trial, t, (struct rewrite_options){ 0 });
	EXPECT(trial.result < 0);
	EXPECT_INT(trial.error.kind, ERROR_FORMAT);
	trial_close(&trial);
}
