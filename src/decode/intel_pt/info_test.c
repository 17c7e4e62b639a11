#include "decode/intel_pt/info.h"

#include <string.h>

#include "abi/record.h"
#include "unit.h"

TEST("without a conversion of time a duration has no ticks")
{
	struct pt_info info = { .time = { .mult = 0, .shift = 131103 } };
	EXPECT_INT(pt_info_duration(&info, 1000), 0);
	EXPECT_INT(pt_info_ticks(&info, 1000), 0);
	info.time = (struct time_conv){ .mult = 2, .shift = 4, .zero = 1, .known = true };
	EXPECT_INT(pt_info_duration(&info, 1001), 8008);
	EXPECT_INT(pt_info_ticks(&info, 4), 24);
}

/* A record with `count` numbers after its type: 101, 102, … */
static struct record info_record(uint64_t *words, size_t count)
{
	const uint32_t type = TRACE_INTEL_PT;
	words[0] = 0;
	memcpy(words, &type, sizeof type);
	for (size_t i = 1; i <= count; i++)
		words[i] = 100 + i;
	return (struct record){ .type = RECORD_AUXTRACE_INFO, .body = (const uint8_t *)words, .body_len = (uint32_t)(8 + 8 * count) };
}

TEST("each number of the record has its field")
{
	uint64_t words[32];
	struct record record = info_record(words, 17);
	struct pt_info info;
	words[2] = 10; /* a shift */
	words[17] = 0; /* no filter */
	EXPECT(pt_info_read(&info, &record));
	EXPECT_INT(info.pmu_type, 101);
	EXPECT_INT(info.time.shift, 10);
	EXPECT_INT(info.time.mult, 103);
	EXPECT_INT(info.time.zero, 104);
	EXPECT(info.time.known);
	EXPECT_INT(info.tsc_bit, 106);
	EXPECT_INT(info.noretcomp_bit, 107);
	EXPECT_INT(info.have_switches, 108);
	EXPECT(info.snapshot && info.per_cpu);
	EXPECT_INT(info.mtc_bit, 111);
	EXPECT_INT(info.mtc_freq_bits, 112);
	EXPECT_INT(info.ctc_numerator, 113);
	EXPECT_INT(info.ctc_denominator, 114);
	EXPECT_INT(info.cyc_bit, 115);
	EXPECT_INT(info.non_turbo_ratio, 116);
	EXPECT(!info.event_trace);
}

TEST("snapshots, CPUs and interrupts are marked each by its own number, and the last follows a filter of any length")
{
	uint64_t words[32];
	for (uint64_t filter = 0; filter <= 24; filter++) {
		for (unsigned set = 0; set < 8; set++) {
			size_t extra = filter ? filter / 8 + 1 : 0; /* with the NUL */
			struct record record = info_record(words, 17 + extra + 1);
			struct pt_info info;
			words[9] = set & 1;
			words[10] = set >> 1 & 1;
			words[17] = filter;
			words[17 + extra + 1] = set >> 2 & 1;
			EXPECT(pt_info_read(&info, &record));
			EXPECT_INT(info.snapshot, set & 1);
			EXPECT_INT(info.per_cpu, set >> 1 & 1);
			EXPECT_INT(info.event_trace, set >> 2 & 1);
		}
	}
}

TEST("clocks convert only with a multiplier, a shift below 64 and the word of the kernel")
{
	static const struct {
		uint64_t shift, mult, cap;
		bool known;
	} cases[] = { { 63, 1, 1, true }, { 64, 1, 1, false }, { 0, 1, 1, true }, { 0, 0, 1, false }, { 0, 1, 0, false } };
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint64_t words[32];
		struct record record = info_record(words, 10);
		struct pt_info info;
		words[2] = cases[i].shift;
		words[3] = cases[i].mult;
		words[5] = cases[i].cap;
		EXPECT(pt_info_read(&info, &record));
		EXPECT_INT(info.time.known, cases[i].known);
		EXPECT_INT(info.mtc_bit, 0);
	}
}

TEST("a record with fewer than ten numbers, or of another trace, is refused")
{
	uint64_t words[32];
	struct pt_info info;
	for (size_t count = 0; count <= 17; count++) {
		struct record record = info_record(words, count);
		EXPECT_INT(pt_info_read(&info, &record), count >= 10);
	}
	struct record record = info_record(words, 17);
	const uint32_t type = TRACE_INTEL_PT + 1;
	memcpy(words, &type, sizeof type);
	EXPECT(!pt_info_read(&info, &record));
}

TEST("the period of MTC packets is taken from the bits of the config that have it")
{
	struct pt_clock_config clock;
	struct pt_info info = { .mtc_freq_bits = 0x3c000, .ctc_numerator = 84, .ctc_denominator = 2, .non_turbo_ratio = 27 };
	for (uint64_t shift = 0; shift < 16; shift++) {
		pt_info_clock(&info, shift << 14 | 0x3fff | 1 << 18, &clock);
		EXPECT_INT(clock.mtc_shift, shift);
	}
	EXPECT_INT(clock.ctc_numerator, 84);
	EXPECT_INT(clock.ctc_denominator, 2);
	EXPECT_INT(clock.non_turbo_ratio, 27);
	info.mtc_freq_bits = 0;
	pt_info_clock(&info, UINT64_MAX, &clock);
	EXPECT_INT(clock.mtc_shift, 0);
}
