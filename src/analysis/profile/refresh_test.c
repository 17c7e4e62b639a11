#include "analysis/profile/refresh.h"

#include "analysis/profile/profile_test.h"
#include "unit.h"

static const struct profile_view everything = { 0 };

static void put_name(struct tape *r, uint32_t tid, const char name[static 8])
{
	put_head(r, RECORD_COMM, 0, 16);
	put_ids(r, tid);
	put(r, name, 8);
}

static void put_end(struct tape *r, uint32_t tid)
{
	put_head(r, RECORD_EXIT, 0, 24);
	put_ids(r, tid);
	put_ids(r, tid);
	put_u64(r, 0);
}

static void running_open(struct run *run, struct tape *recording, const char *sort, struct sink *sink)
{
	const struct session_options session = { .threads = 1, .ordered_rounds = true, .keep_exited = true };
	struct column_request request = { .sort = sort };
	*run = (struct run){ 0 };
	EXPECT(session_open(&run->session, &recording->source, &session, NULL) == 0 && columns_setup(&run->columns, &request, NULL) == 0);
	run->symbols = symbols_new(&run->session.model.modules, &(struct symbols_options){ .no_kernel_lookup = true });
	const struct profile_options options = { .iteration = ITERATE_SAMPLES, .columns = &run->columns, .use_chains = true, .max_stack = 127,
		.socket_filter = -1,
		.chain = { .mode = CHAIN_GRAPH, .order = CHAIN_CALLER } };
	profile_open(&run->profile, &options, &run->session, run->symbols);
	*sink = profile_sink(&run->profile);
	session_begin(&run->session, sink);
}

static void deliver(struct run *run, struct tape *r)
{
	put_head(r, RECORD_FINISHED_ROUND, 0, 0);
	EXPECT_INT(session_take(&run->session), 0);
}

static void renew(struct run *run)
{
	struct model *model = &run->session.model;
	struct model old;
	bool *held = memory_zero(model->threads.count, sizeof *held);
	uint32_t *threads = memory_zero(model->threads.count, sizeof *threads);
	struct model_renewal renewal = { .held = held, .threads = threads, .previous = &old };
	profile_hold(&run->profile, held);
	session_renew(&run->session, &renewal);
	profile_renew(&run->profile, &old, threads);
	model_fini_history(&old);
	free(held);
	free(threads);
}

static const struct hist *shown(const struct run *run)
{
	return &run->profile.folded.hists[0];
}

static const char *comm_of(const struct run *run, const struct entry *entry, char *buffer, size_t size)
{
	for (size_t i = 0; i < run->columns.all.count; i++)
		if (run->columns.all.items[i].type->id == ID_COMM)
			return profile_comm(&run->profile, *entry_key(entry, &run->columns.all.items[i]), buffer, size);
	return "no such column";
}

TEST("a profile is shown while it is collected, and each refresh leaves seven eighths")
{
	struct tape *r = recording_new();
	struct run run;
	struct sink sink;
	running_open(&run, r, "sym", &sink);
	for (uint64_t i = 0; i < 8; i++)
		SAMPLE(r, 1, 10 + i, 0x3000, 0x1000);
	deliver(&run, r);
	profile_show(&run.profile, &everything);
	EXPECT_INT(shown(&run)->count, 1);
	EXPECT_INT(shown(&run)->entries[0]->self.period, 80);
	profile_decay(&run.profile);
	SAMPLE(r, 1, 100, 0x4000, 0x1000);
	deliver(&run, r);
	profile_show(&run.profile, &everything);
	EXPECT_INT(shown(&run)->count, 2);
	EXPECT_INT(shown(&run)->entries[0]->self.period, 70);
	EXPECT_INT(shown(&run)->entries[0]->self.count, 7);
	EXPECT_INT(shown(&run)->entries[1]->self.period, 10);
	EXPECT_INT(shown(&run)->total_period, 80);
	run_close(&run);
}

TEST("a row that has lost its weight is no longer shown, and counts again with its next sample")
{
	struct tape *r = recording_new();
	struct run run;
	struct sink sink;
	running_open(&run, r, "sym", &sink);
	SAMPLE(r, 1, 10, 0x3000, 0x1000);
	deliver(&run, r);
	for (int i = 0; i < 40; i++)
		profile_decay(&run.profile);
	profile_show(&run.profile, &everything);
	EXPECT_INT(shown(&run)->count, 0);
	SAMPLE(r, 1, 20, 0x3000, 0x1000);
	deliver(&run, r);
	profile_show(&run.profile, &everything);
	EXPECT_INT(shown(&run)->entries[0]->self.period, 10);
	profile_zero(&run.profile);
	profile_show(&run.profile, &everything);
	EXPECT_INT(shown(&run)->count, 0);
	run_close(&run);
}

TEST("a row below a small part of the whole is dropped, and its weight remains in the whole")
{
	struct tape *r = recording_new();
	struct run run;
	struct sink sink;
	running_open(&run, r, "sym", &sink);
	for (uint64_t i = 0; i < 40000; i++)
		SAMPLE(r, 1, 10 + i, 0x3000, 0x1000);
	SAMPLE(r, 1, 90000, 0x4000, 0x1000);
	deliver(&run, r);
	profile_show(&run.profile, &everything);
	EXPECT_INT(shown(&run)->count, 2);
	profile_decay(&run.profile);
	profile_show(&run.profile, &everything);
	EXPECT_INT(shown(&run)->count, 1);
	EXPECT_INT(shown(&run)->total_period, 350000 + 8);
	renew(&run);
	profile_show(&run.profile, &everything);
	EXPECT_INT(shown(&run)->total_period, 350000 + 8);
	run_close(&run);
}

TEST("hidden modes are left out of the whole, too")
{
	struct tape *r = recording_new();
	struct run run;
	struct sink sink;
	running_open(&run, r, "sym", &sink);
	SAMPLE(r, 1, 10, 0x3000, 0x1000);
	deliver(&run, r);
	profile_show(&run.profile, &(struct profile_view){ .no_user = true });
	EXPECT_INT(shown(&run)->count, 0);
	EXPECT_INT(shown(&run)->total_period, 0);
	profile_show(&run.profile, &(struct profile_view){ .no_kernel = true });
	EXPECT_INT(shown(&run)->count, 1);
	run_close(&run);
}

TEST("rows keep sums, names and chains over generations in which their threads end")
{
	struct tape *r = recording_new();
	struct run run;
	struct sink sink;
	char buffer[32];
	running_open(&run, r, "comm,pid,sym", &sink);
	put_name(r, 7, "seven\0\0");
	SAMPLE(r, 7, 10, 0x3000, 0x2000, 0x1000);
	put_end(r, 7);
	deliver(&run, r);
	for (int i = 0; i < 3; i++) {
		renew(&run);
		put_name(r, 8 + (uint32_t)i, "other\0\0");
		SAMPLE(r, 8, 100 + (uint64_t)i, 0x5000, 0x1000);
		deliver(&run, r);
	}
	profile_show(&run.profile, &everything);
	EXPECT_INT(shown(&run)->count, 2);
	const struct entry *entry = shown(&run)->entries[1];
	EXPECT_INT(entry->self.period, 10);
	EXPECT_STR(comm_of(&run, entry, buffer, sizeof buffer), "seven");
	EXPECT_STR(profile_thread_comm(&run.profile, entry->thread, entry->tid, buffer, sizeof buffer), "seven");
	EXPECT(entry->chain && entry->chain->nodes[0].child_count == 1);
	EXPECT_INT(entry->chain->nodes[entry->chain->order[entry->chain->nodes[0].first_child]].place_count, 3);
	EXPECT_INT(shown(&run)->entries[0]->self.period, 30);
	run_close(&run);
}

TEST("what has lost its weight is freed by a renewal")
{
	struct tape *r = recording_new();
	struct run run;
	struct sink sink;
	running_open(&run, r, "sym", &sink);
	for (uint64_t i = 0; i < 20000; i++)
		SAMPLE(r, 1, 10 + i, 0x100000 + i, 0x1000 + i);
	deliver(&run, r);
	size_t grown = profile_growth(&run.profile);
	profile_zero(&run.profile);
	SAMPLE(r, 1, 90000, 0x3000, 0x1000);
	deliver(&run, r);
	renew(&run);
	EXPECT(profile_growth(&run.profile) < grown / 20);
	profile_show(&run.profile, &everything);
	EXPECT_INT(shown(&run)->count, 1);
	run_close(&run);
}
