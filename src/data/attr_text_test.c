#include "data/attr_text.h"

#include "base/str.h"
#include "unit.h"

static void add_field(void *context, const char *name, const char *text)
{
	str_printf(context, "%s=%s;", name, text);
}

static const char *text_of(struct str *out, const struct attr *attr, const struct attr_names *names)
{
	str_clear(out);
	attr_each_field(attr, names, add_field, out);
	return str_text(out);
}

TEST("type and config are always listed, other fields if they are not 0")
{
	CLEANUP_STR struct str out = { 0 };
	struct attr attr = { .type = ATTR_HARDWARE, .size = 136 };
	EXPECT_STR(text_of(&out, &attr, NULL), "type=0 (PERF_TYPE_HARDWARE);size=136;config=0 (PERF_COUNT_HW_CPU_CYCLES);");
	attr = (struct attr){ .type = ATTR_BREAKPOINT, .config1 = 0x1000, .config2 = 4, .bp_type = 3, .clockid = -5 };
	EXPECT_STR(text_of(&out, &attr, NULL), "type=5 (PERF_TYPE_BREAKPOINT);config=0;bp_type=3;{ bp_addr, config1 }=0x1000;"
		"{ bp_len, config2 }=0x4;clockid=-5;");
}

TEST("bits are listed in perf's order, and precise_ip is one number")
{
	CLEANUP_STR struct str out = { 0 };
	struct attr attr = { .type = 77, .config = 5, .sample_type = SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_WEIGHT | SAMPLE_DATA_SRC,
		.read_format = READ_LOST | READ_ID, .branch_sample_type = BRANCH_ANY | BRANCH_USER,
		.flags = 1ull << ATTR_DISABLED | 3ull << ATTR_PRECISE_IP | 1ull << ATTR_SIGTRAP };
	EXPECT_STR(text_of(&out, &attr, NULL), "type=77;config=0x5;sample_type=IP|IDENTIFIER|DATA_SRC|WEIGHT;read_format=ID|LOST;"
		"disabled=1;precise_ip=3;sigtrap=1;branch_sample_type=USER|ANY;");
}

TEST("every bit of sample_type is listed but TRANSACTION, for which perf has no name")
{
	static const struct {
		uint64_t bit;
		const char *text;
	} rows[] = {
#define ROW(NAME, ...) { SAMPLE_##NAME, "type=77;config=0;sample_type=" #NAME ";" },
		SAMPLE_FIELDS(ROW, ROW, ROW, ROW)
#undef ROW
	};
	CLEANUP_STR struct str out = { 0 };
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct attr attr = { .type = 77, .sample_type = rows[i].bit };
		EXPECT_STR(text_of(&out, &attr, NULL), rows[i].bit == SAMPLE_TRANSACTION ? "type=77;config=0;sample_type=;" : rows[i].text);
	}
	struct attr all = { .type = 77, .sample_type = (1u << 25) - 1 };
	EXPECT_STR(text_of(&out, &all, NULL), "type=77;config=0;sample_type=IP|TID|TIME|ADDR|READ|CALLCHAIN|ID|CPU|PERIOD|STREAM_ID|RAW|"
		"BRANCH_STACK|REGS_USER|STACK_USER|IDENTIFIER|REGS_INTR|DATA_SRC|WEIGHT|PHYS_ADDR|AUX|CGROUP|DATA_PAGE_SIZE|"
		"CODE_PAGE_SIZE|WEIGHT_STRUCT;");
}

TEST("a cache event has the names of its three parts, unless one of them is unknown")
{
	CLEANUP_STR struct str out = { 0 };
	struct attr attr = { .type = ATTR_HW_CACHE, .config = 0x10103 };
	EXPECT_STR(text_of(&out, &attr, NULL), "type=3 (PERF_TYPE_HW_CACHE);config=0x10103 (PERF_COUNT_HW_CACHE_RESULT_MISS | "
		"PERF_COUNT_HW_CACHE_OP_WRITE | PERF_COUNT_HW_CACHE_DTLB);");
	attr.config = 0x20003;
	EXPECT_STR(text_of(&out, &attr, NULL), "type=3 (PERF_TYPE_HW_CACHE);config=0x20003;");
}

static const char *pmu_of_test(void *context, uint32_t type)
{
	return type == 9 ? context : NULL;
}

static const char *event_of_test(void *context, uint32_t type, uint64_t config)
{
	return type == 9 && config == 1 ? "tsc" : NULL;
}

TEST("names of the running machine precede the generic ones")
{
	CLEANUP_STR struct str out = { 0 };
	char pmu[] = "msr";
	struct attr_names names = { .context = pmu, .pmu = pmu_of_test, .event = event_of_test };
	struct attr attr = { .type = 9, .config = 1 };
	EXPECT_STR(text_of(&out, &attr, &names), "type=9 (msr);config=0x1 (tsc);");
	attr.type = ATTR_SOFTWARE;
	EXPECT_STR(text_of(&out, &attr, &names), "type=1 (PERF_TYPE_SOFTWARE);config=0x1 (PERF_COUNT_SW_TASK_CLOCK);");
}

static const struct attr_field *field_called(const char *name)
{
	for (size_t i = 0; i < attr_field_count; i++)
		if (strcmp(attr_fields[i].name, name) == 0)
			return &attr_fields[i];
	return NULL;
}

TEST("a field of a union has the name of the member that the event uses")
{
	struct attr attr = { .type = ATTR_BREAKPOINT, .config1 = 0x1000, .sample_period = 99, .clockid = -1, .sample_max_stack = 127 };
	EXPECT(attr_field_is_other(field_called("config1"), &attr));
	EXPECT(!attr_field_is_other(field_called("sample_period"), &attr));
	attr.type = ATTR_RAW;
	attr.flags = 1ull << ATTR_FREQ | 2ull << ATTR_PRECISE_IP;
	EXPECT(!attr_field_is_other(field_called("config1"), &attr));
	EXPECT(attr_field_is_other(field_called("sample_period"), &attr));
	EXPECT(!attr_field_is_other(field_called("type"), &attr));
	EXPECT(attr_field_value(field_called("config1"), &attr) == 0x1000);
	EXPECT(attr_field_value(field_called("sample_max_stack"), &attr) == 127);
	EXPECT(attr_field_value(field_called("precise_ip"), &attr) == 2);
	EXPECT((int32_t)attr_field_value(field_called("clockid"), &attr) == -1);
}
