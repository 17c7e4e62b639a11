#include "decode/intel_pt/info.h"

#include "abi/record.h"
#include "base/bytes.h"

/* u64s after the type. */
enum {
	WORD_PMU_TYPE, WORD_TIME_SHIFT, WORD_TIME_MULT, WORD_TIME_ZERO, WORD_CAP_TIME_ZERO, WORD_TSC_BIT, WORD_NORETCOMP_BIT, WORD_SWITCHES,
	WORD_SNAPSHOT, WORD_PER_CPU, WORDS_LEAST, WORD_MTC_BIT = WORDS_LEAST, WORD_MTC_FREQ_BITS, WORD_CTC_N, WORD_CTC_D, WORD_CYC_BIT,
	WORD_NON_TURBO_RATIO, WORD_FILTER_BYTES, WORDS,
};

bool pt_info_read(struct pt_info *info, const struct record *record)
{
	struct cursor c = cursor_of(record->body, record->body_len, false);
	*info = (struct pt_info){ 0 };
	if (take_u32(&c) != TRACE_INTEL_PT)
		return false;
	take_u32(&c);
	uint64_t words[WORDS] = { 0 };
	size_t count = 0;
	while (count < WORDS && cursor_left(&c) >= sizeof *words)
		words[count++] = take_u64(&c);
	if (count < WORDS_LEAST)
		return false;
	info->pmu_type = (uint32_t)words[WORD_PMU_TYPE];
	info->time = (struct time_conv){ .shift = words[WORD_TIME_SHIFT], .mult = words[WORD_TIME_MULT], .zero = words[WORD_TIME_ZERO],
		.known = words[WORD_CAP_TIME_ZERO] && words[WORD_TIME_MULT] && words[WORD_TIME_SHIFT] < 64 };
	info->tsc_bit = words[WORD_TSC_BIT];
	info->noretcomp_bit = words[WORD_NORETCOMP_BIT];
	info->have_switches = (unsigned)words[WORD_SWITCHES];
	info->snapshot = words[WORD_SNAPSHOT];
	info->per_cpu = words[WORD_PER_CPU];
	info->mtc_bit = words[WORD_MTC_BIT];
	info->mtc_freq_bits = words[WORD_MTC_FREQ_BITS];
	info->ctc_numerator = (uint32_t)words[WORD_CTC_N];
	info->ctc_denominator = (uint32_t)words[WORD_CTC_D];
	info->cyc_bit = words[WORD_CYC_BIT];
	info->non_turbo_ratio = (uint32_t)words[WORD_NON_TURBO_RATIO];
	if (words[WORD_FILTER_BYTES] && words[WORD_FILTER_BYTES] <= cursor_left(&c))
		take(&c, (words[WORD_FILTER_BYTES] + sizeof *words) / sizeof *words * sizeof *words); /* the length is without its NUL */
	if (count == WORDS && cursor_left(&c) >= sizeof *words)
		info->event_trace = take_u64(&c);
	return true;
}

void pt_info_clock(const struct pt_info *info, uint64_t config, struct pt_clock_config *clock)
{
	*clock = (struct pt_clock_config){ .ctc_numerator = info->ctc_numerator, .ctc_denominator = info->ctc_denominator,
		.non_turbo_ratio = info->non_turbo_ratio };
	if (info->mtc_freq_bits)
		clock->mtc_shift = (config & info->mtc_freq_bits) >> __builtin_ctzll(info->mtc_freq_bits) & 15;
}

uint64_t pt_info_duration(const struct pt_info *info, uint64_t ns)
{
	return time_conv_duration(&info->time, ns);
}

uint64_t pt_info_ticks(const struct pt_info *info, uint64_t ns)
{
	return time_conv_ticks(&info->time, ns);
}
