#include "rewrite/needs.h"

#include "unit.h"

/* What is dropped of records 0 to count - 1: a digit per record. */
static void expect_drops(const struct compact_plan *plan, const char *want)
{
	char got[80] = "";
	uint64_t drops = 0;
	for (uint64_t i = 0; want[i]; i++) {
		got[i] = compact_plan_drops(plan, i) ? '1' : '0';
		drops += got[i] == '1';
	}
	EXPECT_STR(got, want);
	EXPECT_INT(plan->drops, drops);
}

/* A model in which 30 is alone, and thread 10 (of process 10) made process 20, and that made its thread 21; who made its
 * thread 22 is not known. */
static void fork_threads(struct model *model, struct needs *needs)
{
	/* pid, ppid, tid, ptid */
	static const uint32_t forks[][4] = { { 30, 1, 30, 1 }, { 10, 1, 10, 1 }, { 20, 10, 20, 10 }, { 20, 20, 21, 20 },
		{ 20, 20, 22, 20 } };
	for (size_t i = 0; i < sizeof forks / sizeof *forks; i++) {
		uint8_t body[24];
		memcpy(body, forks[i], 16);
		memset(body + 16, 0, 8);
		struct record record = { .type = RECORD_FORK, .body = body, .body_len = sizeof body };
		model_apply(model, &record, &(struct sample){ .time = i + 1 }, i + 1);
		needs_add_threads(needs, model, i == 2 || i == 3 ? (int32_t)forks[i][3] : -1, i + 1);
	}
}

static uint32_t thread_of(const struct model *model, int32_t tid)
{
	return model_thread(model, tid, UINT64_MAX - 1);
}

struct place {
	struct model model;
	struct compact_plan plan;
	struct needs needs;
};

static void place_begin(struct place *p)
{
	*p = (struct place){ 0 };
	model_init(&p->model);
	needs_init(&p->needs, &p->plan);
	fork_threads(&p->model, &p->needs);
}

static void place_end(struct place *p)
{
	needs_fini(&p->needs);
	compact_plan_fini(&p->plan);
	model_fini(&p->model);
}

static void drop_for(struct place *p, uint64_t record, int32_t tid)
{
	needs_drop(&p->needs, record);
	needs_made_thread(&p->needs, record, thread_of(&p->model, tid));
}

TEST("a needed thread restores its records, those of its leader and of its makers, and no others")
{
	struct place p;
	place_begin(&p);
	drop_for(&p, 0, 10);
	drop_for(&p, 1, 20);
	drop_for(&p, 2, 21);
	drop_for(&p, 3, 30);
	drop_for(&p, 4, 21);
	drop_for(&p, 63, 30);
	drop_for(&p, 64, 20);
	expect_drops(&p.plan, "11111000000000000000000000000000000000000000000000000000000000011");
	needs_thread(&p.needs, thread_of(&p.model, 20));
	expect_drops(&p.plan, "00111000000000000000000000000000000000000000000000000000000000010");
	needs_thread(&p.needs, thread_of(&p.model, 21));
	expect_drops(&p.plan, "00010000000000000000000000000000000000000000000000000000000000010");
	drop_for(&p, 5, 21); /* it is needed already */
	drop_for(&p, 6, 30);
	expect_drops(&p.plan, "00010010000000000000000000000000000000000000000000000000000000010");
	needs_thread(&p.needs, thread_of(&p.model, 30));
	expect_drops(&p.plan, "00000000000000000000000000000000000000000000000000000000000000000");
	place_end(&p);
}

TEST("the room of a list that was restored is used again")
{
	struct place p;
	place_begin(&p);
	drop_for(&p, 0, 10);
	drop_for(&p, 1, 10);
	needs_thread(&p.needs, thread_of(&p.model, 10));
	drop_for(&p, 2, 30);
	drop_for(&p, 3, 20);
	EXPECT_INT(p.needs.links.count, 2);
	drop_for(&p, 4, 30);
	EXPECT_INT(p.needs.links.count, 3);
	needs_thread(&p.needs, thread_of(&p.model, 30));
	expect_drops(&p.plan, "00010");
	place_end(&p);
}

TEST("a sample in a mapping restores its record and that of its module, at the borders of words of bits")
{
	struct place p;
	place_begin(&p);
	static const uint32_t serials[] = { 1, 5, 63, 64, 130 };
	for (uint32_t i = 0; i < 5; i++) {
		needs_drop(&p.needs, i);
		needs_made_mapping(&p.needs, i, serials[i]);
	}
	needs_drop(&p.needs, 5);
	needs_made_module(&p.needs, 5, 3);
	needs_drop(&p.needs, 6);
	needs_made_module(&p.needs, 6, 4);
	needs_mapping(&p.needs, &(struct map){ .serial = 4, .module = 9 }); /* no record of it was dropped */
	needs_mapping(&p.needs, &(struct map){ .serial = 131, .module = 9 });
	expect_drops(&p.plan, "1111111");
	needs_mapping(&p.needs, &(struct map){ .serial = 63, .module = 3 });
	expect_drops(&p.plan, "1101101");
	needs_mapping(&p.needs, &(struct map){ .serial = 64, .module = 3 });
	expect_drops(&p.plan, "1100101");
	needs_drop(&p.needs, 2);
	needs_mapping(&p.needs, &(struct map){ .serial = 63, .module = 3 }); /* known: nothing is looked for */
	expect_drops(&p.plan, "1110101");
	needs_mapping(&p.needs, &(struct map){ .serial = 130, .module = 9 });
	expect_drops(&p.plan, "1110001");
	needs_drop(&p.needs, 7);
	needs_made_module(&p.needs, 7, 3); /* a sample needed the module before */
	needs_drop(&p.needs, 8);
	needs_made_module(&p.needs, 8, 5);
	expect_drops(&p.plan, "111000101");
	place_end(&p);
}

TEST("after a renewal the records of what has ended stay dropped, and those of the living are restored by their new numbers")
{
	struct place p;
	place_begin(&p);
	uint32_t renewed[16], old[4];
	static const int32_t tids[] = { 10, 20, 21, 30 };
	for (uint64_t i = 0; i < 4; i++) {
		drop_for(&p, i, tids[i]);
		old[i] = thread_of(&p.model, tids[i]);
	}
	size_t threads = p.model.threads.count;
	EXPECT(threads <= 16);
	/* the numbers that a renewal would give if the threads 10 and 30 had ended */
	uint32_t count = 0;
	for (uint32_t i = 0; i < threads; i++)
		renewed[i] = i == old[0] || i == old[3] ? THREAD_NONE : count++;
	needs_renew(&p.needs, &p.model, renewed, 10);
	EXPECT_INT(p.needs.tasks.count, count + 1); /* 10 is still the maker of 20 */
	needs_thread(&p.needs, renewed[thread_of(&p.model, 22)]);
	expect_drops(&p.plan, "0011");
	needs_thread(&p.needs, renewed[old[2]]);
	expect_drops(&p.plan, "0001");
	place_end(&p);
}

TEST("after a renewal the mappings that no space has are forgotten")
{
	struct place p;
	place_begin(&p);
	uint8_t body[40] = { 0 };
	uint32_t renewed[16], serials[2];
	for (uint64_t i = 0; i < 2; i++) {
		memcpy(body, (uint32_t[]){ 20, 20 }, 8);
		memcpy(body + 8, (uint64_t[]){ 0x1000, 0x1000, 0 }, 24);
		memcpy(body + 32, i ? "/b" : "/a", 3);
		struct record record = { .type = RECORD_MMAP, .misc = RECORD_MISC_USER, .body = body, .body_len = sizeof body };
		model_apply(&p.model, &record, &(struct sample){ .time = 10 + i }, 10 + i);
		serials[i] = map_find(model_root(&p.model, 20, thread_of(&p.model, 20), 10 + i), 0x1000)->serial;
		needs_drop(&p.needs, i);
		needs_made_mapping(&p.needs, i, serials[i]);
	}
	EXPECT(serials[0] < serials[1]);
	for (uint32_t i = 0; i < p.model.threads.count; i++)
		renewed[i] = i;
	needs_renew(&p.needs, &p.model, renewed, 12);
	EXPECT_INT(p.needs.mappings.count, 1);
	EXPECT_INT(p.needs.mappings.items[0].record, 1);
	EXPECT(!p.needs.mappings.items[0].lives);
	needs_mapping(&p.needs, &(struct map){ .serial = serials[1] });
	expect_drops(&p.plan, "10");
	needs_renew(&p.needs, &p.model, renewed, 13);
	EXPECT_INT(p.needs.mappings.count, 0);
	place_end(&p);
}
