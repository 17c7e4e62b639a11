#include "decode/intel_pt/clock.h"

#include "base/whole.h"
#include "decode/intel_pt/packet.h"

enum { TSC_BITS = 56, MTC_MASK = 0xff, TMA_CTC_BITS = 16 };

void pt_clock_init(struct pt_clock *clock, const struct pt_clock_config *config)
{
	*clock = (struct pt_clock){ .config = *config };
}

static uint64_t ctc_to_tsc(const struct pt_clock_config *config, uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)ticks * config->ctc_numerator / config->ctc_denominator);
}

static bool has_ctc(const struct pt_clock_config *config)
{
	return config->ctc_numerator && config->ctc_denominator;
}

uint64_t pt_clock_extend(uint64_t low, uint64_t near)
{
	const uint64_t wrap = 1ull << TSC_BITS;
	uint64_t value = low | (near & ~(wrap - 1));
	if (value < near && near - value > wrap / 2)
		return value + wrap;
	return value > near && value - near > wrap / 2 && value >= wrap ? value - wrap : value;
}

static void apply_tsc(struct pt_clock *clock, uint64_t low)
{
	clock->ctc.known = false;
	if (clock->near) {
		clock->tsc = clock->time = clock->cycle_time = pt_clock_extend(low, clock->near);
		clock->cycle_count = 0;
		clock->near = 0;
		return;
	}
	clock->tsc = pt_clock_extend(low, clock->time);
	if (clock->tsc > clock->time) /* one within PSB+ may be older than the time by cycles */
		clock->time = clock->tsc;
}

static void ctc_begin(struct pt_ctc *ctc, const struct pt_clock_config *config, uint64_t tsc, const struct pt_packet *tma)
{
	if (!has_ctc(config))
		return;
	uint32_t value = (uint32_t)tma->payload, past = value & ((1u << config->mtc_shift) - 1);
	ctc->known = ctc->align = true;
	ctc->last_mtc = value >> config->mtc_shift & MTC_MASK;
	ctc->time = tsc - tma->extra - ctc_to_tsc(config, past);
	ctc->ticks = 0;
}

/* A TMA packet has 16 bits of the CTC: of the 8 bits of an MTC packet that start at mtc_shift, the ones above are missing. */
static void ctc_align(struct pt_ctc *ctc, uint32_t mtc, uint32_t shift)
{
	ctc->align = false;
	if (shift <= TMA_CTC_BITS - 8)
		return;
	uint32_t missing = 1u << (TMA_CTC_BITS - shift);
	ctc->last_mtc |= mtc & ~(missing - 1);
	if (ctc->last_mtc >= mtc)
		ctc->last_mtc = (ctc->last_mtc - missing) & MTC_MASK;
}

/* The time of an MTC packet. */
static uint64_t ctc_advance(struct pt_ctc *ctc, const struct pt_clock_config *config, uint32_t mtc)
{
	if (ctc->align)
		ctc_align(ctc, mtc, config->mtc_shift);
	uint32_t delta = mtc > ctc->last_mtc ? mtc - ctc->last_mtc : mtc + MTC_MASK + 1 - ctc->last_mtc;
	ctc->ticks += (uint64_t)delta << config->mtc_shift;
	ctc->last_mtc = mtc;
	return ctc->time + ctc_to_tsc(config, ctc->ticks);
}

static double rate_of(const struct pt_clock_config *config, uint32_t bus_ratio)
{
	return bus_ratio ? (double)config->non_turbo_ratio / bus_ratio : 0;
}

void pt_clock_cycles(struct pt_clock *clock, uint64_t cycles)
{
	clock->last_type = PT_PACKET_CYC;
	clock->have_cycles = true;
	clock->cycles += cycles;
	clock->cycle_count += cycles;
	double rate = clock->rate ? clock->rate : rate_of(&clock->config, clock->bus_ratio);
	if (!clock->cycle_time || !rate)
		return;
	uint64_t time = whole_below((double)clock->cycle_time + (double)clock->cycle_count * rate); /* perf rounds the sum */
	if (time > clock->time)
		clock->time = time;
}

/* Cycles are counted from a timed packet only where a CYC packet precedes it. */
static void count_cycles_from(struct pt_clock *clock, uint64_t time)
{
	clock->cycle_time = time;
	clock->cycle_count = 0;
	clock->rate = 0;
}

/* Another frequency: cycles are counted anew. A measured rate holds up to its MTC packet nevertheless, as in perf. */
static void apply_ratio(struct pt_clock *clock, uint32_t ratio)
{
	if (clock->bus_ratio == ratio)
		return;
	clock->bus_ratio = ratio;
	clock->cycle_time = clock->time;
	clock->cycle_count = 0;
}

bool pt_clock_packet(struct pt_clock *clock, const struct pt_packet *packet)
{
	bool after_cycles = clock->last_type == PT_PACKET_CYC, measure = false;
	uint64_t time;
	clock->last_type = packet->type;
	switch (packet->type) {
	case PT_PACKET_TSC:
		apply_tsc(clock, packet->payload);
		if (after_cycles)
			count_cycles_from(clock, clock->time);
		break;
	case PT_PACKET_TMA:
		ctc_begin(&clock->ctc, &clock->config, clock->tsc, packet);
		break;
	case PT_PACKET_MTC:
		if (!clock->ctc.known)
			break;
		time = ctc_advance(&clock->ctc, &clock->config, (uint32_t)packet->payload);
		if (time > clock->time)
			clock->time = time;
		measure = after_cycles;
		if (after_cycles)
			count_cycles_from(clock, clock->time);
		break;
	case PT_PACKET_CYC:
		pt_clock_cycles(clock, packet->payload);
		break;
	case PT_PACKET_CBR:
		apply_ratio(clock, (uint32_t)packet->payload);
		break;
	}
	return measure;
}

void pt_measure_begin(struct pt_measure *measure, const struct pt_clock *clock)
{
	*measure = (struct pt_measure){ .ctc = clock->ctc, .from = clock->time, .time = clock->time, .last_type = clock->last_type };
}

static void measure_end(const struct pt_measure *measure, struct pt_clock *clock)
{
	enum { TOO_FAST_PERCENT = 125 };
	uint32_t ratio = measure->bus_ratio ? measure->bus_ratio : clock->bus_ratio;
	double rate = measure->cycles ? (double)(measure->time - measure->from) / (double)measure->cycles : 0;
	double expected = rate_of(&clock->config, ratio);
	if (!expected || rate * 100 <= expected * TOO_FAST_PERCENT)
		clock->rate = rate;
}

bool pt_measure_packet(struct pt_measure *measure, struct pt_clock *clock, const struct pt_packet *packet)
{
	uint8_t last = measure->last_type;
	uint64_t time;
	measure->last_type = packet->type;
	switch (packet->type) {
	case PT_PACKET_CYC:
		measure->cycles += packet->payload;
		return true;
	case PT_PACKET_MTC:
		if (!measure->ctc.known)
			return true;
		time = ctc_advance(&measure->ctc, &clock->config, (uint32_t)packet->payload);
		if (time < measure->time)
			return false;
		measure->time = time;
		if (last != PT_PACKET_CYC)
			return true;
		measure_end(measure, clock);
		return false;
	case PT_PACKET_CBR:
		if (measure->bus_ratio && measure->bus_ratio != packet->payload)
			return false;
		measure->bus_ratio = (uint32_t)packet->payload;
		return true;
	case PT_PACKET_TSC: case PT_PACKET_TMA: case PT_PACKET_OVF: case PT_PACKET_TRACE_STOP:
	case PT_PACKET_EXSTOP: case PT_PACKET_MWAIT: case PT_PACKET_PWRE: case PT_PACKET_PWRX: /* cycles stop */
	case PT_PACKET_BAD: case PT_PACKET_TIP_PGD:
		return false;
	default:
		return true;
	}
}
