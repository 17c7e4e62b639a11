#include "turns/turns.h"

#include <string.h>

#include "unit.h"

static struct turns_plan plan_of(enum turn_way way, enum turn_model model)
{
	return (struct turns_plan){ .way = way, .model = model, .pairs = 3, .rounds = 200, .bytes = 8, .sleep_ns = 1000, .stride = 64 };
}

TEST("each way in each model that can wait in it takes all its turns, and times each round")
{
	for (int way = 0; way < TURN_WAYS; way++) {
		for (int model = 0; model < TURN_MODELS; model++) {
			struct turns_plan plan = plan_of((enum turn_way)way, (enum turn_model)model);
			struct turns_result result;
			struct error err = { 0 };
			if (turns_check(&plan, NULL) < 0)
				continue;
			if (turns_run(&plan, NULL, &result, &err) < 0) {
				if (model != TURN_URING && err.kind != ERROR_UNSUPPORTED) /* kernels may refuse io_uring */
					unit_fail(__FILE__, __LINE__, "%s", err.text);
				continue;
			}
			EXPECT_INT(result.turns, 200 * 3 * (turn_way_has_pairs(plan.way) ? 2 : 1));
			EXPECT_INT(result.latency.count, 200 * 3);
			EXPECT(result.wall_ns > 0);
		}
	}
}

TEST("coroutines exchange without a switch, threads that share a CPU with two for each round")
{
	struct turns_plan plan = plan_of(TURN_PIPE, TURN_THREADS);
	struct turns_result result;
	struct error err = { 0 };
	EXPECT_INT(turns_run(&plan, NULL, &result, &err), 0);
	EXPECT(result.voluntary >= 200);
	plan.model = TURN_COROUTINES;
	if (turns_run(&plan, NULL, &result, &err) == 0)
		EXPECT_INT(result.voluntary, 0);
	else
		EXPECT_INT(err.kind, ERROR_UNSUPPORTED);
}

TEST("coroutines that yield take turns without a switch")
{
	struct turns_plan plan = plan_of(TURN_YIELD, TURN_COROUTINES);
	struct turns_result result;
	struct error err = { 0 };
	plan.pairs = 1;
	for (int count = 0; count < 2; count++, plan.pairs = 5) {
		if (turns_run(&plan, NULL, &result, &err) == 0) {
			EXPECT_INT(result.voluntary, 0);
			EXPECT_INT(result.turns, 200 * plan.pairs);
			EXPECT_INT(result.latency.count, 200 * plan.pairs);
		} else {
			EXPECT_INT(err.kind, ERROR_UNSUPPORTED);
		}
	}
}

TEST("messages of every size arrive whole")
{
	for (int model = 0; model < TURN_COROUTINES; model++) {
		static const uint32_t sizes[] = { 1, 7, 4095, TURNS_BYTES_MAX };
		for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
			struct turns_plan plan = plan_of(TURN_SOCKET, (enum turn_model)model);
			struct turns_result result;
			struct error err = { 0 };
			plan.bytes = sizes[i];
			if (turns_run(&plan, NULL, &result, &err) < 0 && model != TURN_URING)
				unit_fail(__FILE__, __LINE__, "%s", err.text);
		}
	}
}

TEST("work takes its time at each turn, and touched memory belongs to the plan")
{
	struct turns_plan plan = plan_of(TURN_YIELD, TURN_THREADS);
	struct turns_result result;
	struct error err = { 0 };
	plan.pairs = 1;
	plan.work_ns = 50000;
	plan.set_bytes = 10000;
	EXPECT_INT(turns_run(&plan, NULL, &result, &err), 0);
	EXPECT(result.user_ns + result.system_ns >= 200 * 45000);
}

TEST("a plan that cannot run is refused by what is wrong with it")
{
	struct error err = { 0 };
	struct turns_plan plan = plan_of(TURN_FUTEX, TURN_EPOLL);
	EXPECT(turns_check(&plan, &err) < 0 && strstr(err.text, "futex"));
	plan = plan_of(TURN_SLEEP, TURN_COROUTINES);
	EXPECT(turns_check(&plan, &err) < 0 && strstr(err.text, "sleep"));
	plan = plan_of(TURN_EVENTFD, TURN_THREADS);
	plan.bytes = 9;
	EXPECT(turns_check(&plan, &err) < 0 && strstr(err.text, "8 bytes"));
	plan = plan_of(TURN_PIPE, TURN_THREADS);
	plan.pairs = TURNS_PAIRS_MAX + 1;
	EXPECT(turns_check(&plan, &err) < 0);
	plan.pairs = TURNS_PAIRS_MAX;
	EXPECT_INT(turns_check(&plan, &err), 0);
	plan.bytes = TURNS_BYTES_MAX + 1;
	EXPECT(turns_check(&plan, &err) < 0);
	plan.bytes = 0;
	EXPECT(turns_check(&plan, &err) < 0);
}

TEST("names of ways and models are found again")
{
	for (int i = 0; i < TURN_WAYS; i++)
		EXPECT_INT(turn_way_named(turn_way_name((enum turn_way)i)), i);
	for (int i = 0; i < TURN_MODELS; i++)
		EXPECT_INT(turn_model_named(turn_model_name((enum turn_model)i)), i);
	EXPECT_INT(turn_way_named("pipes"), -1);
}
