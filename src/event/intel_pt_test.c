#include "event/intel_pt.h"

#include "event/event.h"
#include "unit.h"

/* Formats as the kernel has them; capabilities are a test's. */
static struct pmu make(const char *const (*caps)[2], size_t count)
{
	static const struct pmu_format formats[] = {
		{ "pt", 0, 1 << 0 }, { "cyc", 0, 1 << 1 }, { "mtc", 0, 1 << 9 }, { "tsc", 0, 1 << 10 }, { "branch", 0, 1 << 13 },
		{ "mtc_period", 0, 15 << 14 }, { "cyc_thresh", 0, 15 << 19 }, { "psb_period", 0, 15 << 24 },
	};
	struct pmu pmu = { .name = "intel_pt", .type = 8 };
	for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
		vec_push(&pmu.formats, formats[i]);
	for (size_t i = 0; i < count; i++)
		vec_push(&pmu.caps, ((struct pmu_cap){ caps[i][0], caps[i][1] }));
	return pmu;
}

static void unmake(struct pmu *pmu)
{
	vec_fini(&pmu->formats);
	vec_fini(&pmu->caps);
}

static uint64_t default_of(const char *const (*caps)[2], size_t count)
{
	struct pmu pmu = make(caps, count);
	uint64_t config = intel_pt_default_config(&pmu);
	unmake(&pmu);
	return config;
}

#define DEFAULT_OF(caps) default_of(caps, sizeof(caps) / sizeof(caps)[0])

enum { PT = 1 << 0, MTC = 1 << 9, TSC = 1 << 10, BRANCH = 1 << 13, PLAIN = PT | TSC | BRANCH };

TEST("the default periods are the longest up to 3, otherwise the shortest")
{
	static const char *const below[][2] = { { "mtc", "1" }, { "mtc_periods", "247" }, { "psb_cyc", "1" }, { "psb_periods", "3f" } };
	EXPECT_INT(DEFAULT_OF(below), PLAIN | MTC | 2 << 14 | 3 << 24);
	static const char *const above[][2] = { { "mtc", "1" }, { "mtc_periods", "250" }, { "psb_cyc", "1" }, { "psb_periods", "20" } };
	EXPECT_INT(DEFAULT_OF(above), PLAIN | MTC | 4 << 14 | 5 << 24);
	static const char *const exact[][2] = { { "mtc_periods", "249" }, { "psb_periods", "19" } };
	EXPECT_INT(DEFAULT_OF(exact), PLAIN | MTC | 3 << 14 | 3 << 24);
}

TEST("a processor without MTC packets gets no period, one without choice of PSB periods none of those")
{
	static const char *const none[][2] = { { "mtc", "0" }, { "mtc_periods", "249" }, { "psb_cyc", "1" }, { "psb_periods", "3f" } };
	EXPECT_INT(DEFAULT_OF(none), PLAIN);
	static const char *const fixed[][2] = { { "mtc", "1" }, { "mtc_periods", "8" }, { "psb_cyc", "0" }, { "psb_periods", "3f" } };
	EXPECT_INT(DEFAULT_OF(fixed), PLAIN | MTC | 3 << 14);
	EXPECT_INT(default_of(NULL, 0), PLAIN);
}

TEST("the bits pt and branch are set together")
{
	for (size_t without = 0; without < 2; without++) {
		struct pmu pmu = make(NULL, 0);
		pmu.formats.items[without ? 4 : 0].bits = 0;
		EXPECT_INT(intel_pt_default_config(&pmu), TSC);
		unmake(&pmu);
	}
}

static int check(const char *const (*caps)[2], size_t count, uint64_t *config, struct error *err)
{
	struct pmu pmu = make(caps, count);
	int status = intel_pt_check(&pmu, config, NULL, err);
	unmake(&pmu);
	return status;
}

TEST("periods that the processor lacks are refused with those that it has")
{
	static const char *const caps[][2] = { { "mtc", "1" }, { "mtc_periods", "249" }, { "psb_cyc", "1" }, { "psb_periods", "3f" },
		{ "cycle_thresholds", "3" } };
	struct error err;
	uint64_t config = PLAIN | 9u << 14;
	EXPECT_INT(check(caps, 5, &config, &err), 0);
	config = PLAIN | 4u << 14;
	EXPECT(check(caps, 5, &config, &err) < 0);
	EXPECT_STR(err.text, "Invalid mtc_period for intel_pt. Valid values are: 0,3,6,9");
	config = PLAIN | 6u << 24;
	EXPECT(check(caps, 5, &config, &err) < 0);
	EXPECT_STR(err.text, "Invalid psb_period for intel_pt. Valid values are: 0-5");
	config = PLAIN | 2u << 19;
	EXPECT(check(caps, 5, &config, &err) < 0);
	EXPECT_STR(err.text, "Invalid cyc_thresh for intel_pt. Valid values are: 0,1");
}

TEST("without its capability only the value 0 is valid, and pt is always on")
{
	static const char *const caps[][2] = { { "mtc", "0" }, { "mtc_periods", "249" } };
	struct error err;
	uint64_t config = TSC | 3u << 14;
	EXPECT(check(caps, 2, &config, &err) < 0);
	config = TSC;
	EXPECT_INT(check(caps, 2, &config, &err), 0);
	EXPECT_INT(config, TSC | PT);
}

TEST("PSB packets are 2 KiB apart or a power of two more, and close on early processors")
{
	static const char *const caps[][2] = { { "topa_multiple_entries", "1" } };
	struct pmu late = make(caps, 1), early = make(NULL, 0);
	EXPECT_INT(intel_pt_psb_period(&late, 0), 2048);
	EXPECT_INT(intel_pt_psb_period(&late, 3u << 24), 16384);
	EXPECT_INT(intel_pt_psb_period(&early, 3u << 24), 256);
	unmake(&late);
	unmake(&early);
}

TEST("what a processor lacks for a term is named")
{
	static const char *const caps[][2] = { { "psb_cyc", "1" }, { "mtc", "0" } };
	struct pmu pmu = make(caps, 2);
	const char *term;
	EXPECT(!intel_pt_lacks(&pmu, PLAIN | 1 << 1 | 3u << 24, &term));
	EXPECT_STR(intel_pt_lacks(&pmu, PLAIN | 3u << 14, &term), "mtc");
	EXPECT_STR(term, "mtc_period");
	unmake(&pmu);
}

static struct event named(const char *name, uint32_t leader, uint32_t members)
{
	return (struct event){ .name = name, .leader = leader, .members = members };
}

TEST("single events join a group, and a group moves to the front as a whole")
{
	struct events events = { 0 };
	vec_push(&events.list, named("a", 0, 0));
	vec_push(&events.list, named("pt", 1, 0));
	vec_push(&events.list, named("b", 2, 0));
	vec_push(&events.list, named("c", 3, 2));
	vec_push(&events.list, named("d", 3, 0));
	events_join(&events, 1, 4); /* c leads d */
	EXPECT_INT(events.list.items[2].leader, 2);
	events_join(&events, 1, 2);
	EXPECT_INT(events.list.items[2].leader, 1);
	EXPECT_INT(events.list.items[1].members, 2);
	events_to_front(&events, 2);
	EXPECT_STR(events.list.items[0].name, "pt");
	EXPECT_STR(events.list.items[1].name, "b");
	EXPECT_INT(events.list.items[1].leader, 0);
	EXPECT_STR(events.list.items[2].name, "a");
	EXPECT_INT(events.list.items[2].leader, 2);
	EXPECT_INT(events.list.items[4].leader, 3);
	vec_fini(&events.list);
}
