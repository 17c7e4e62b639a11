/* Time of a trace: TSC, TMA, MTC, CYC and CBR packets → estimated TSC values. Source: Intel SDM vol. 3, "Intel Processor Trace", section on
 * decoding of timing packets. Estimates are the ones of perf 6.12, so that times agree. Pure. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct pt_packet;

/* The processor's properties, from the recording. */
struct pt_clock_config {
	uint32_t mtc_shift;       /* log2 of the CTC ticks between two MTC packets */
	uint32_t ctc_numerator, ctc_denominator; /* TSC ticks per CTC tick; 0: unknown */
	uint32_t non_turbo_ratio; /* TSC frequency / bus clock; 0: unknown */
};

/* Counts CTC ticks from a TMA packet on. */
struct pt_ctc {
	bool known;
	bool align;               /* the upper bits of last_mtc are unknown until the first MTC */
	uint32_t last_mtc;
	uint64_t time, ticks;     /* TSC at tick 0; ticks since */
};

struct pt_clock {
	struct pt_clock_config config;
	uint64_t time;            /* best estimate, in TSC ticks; 0: unknown */
	uint64_t tsc;             /* last TSC packet, extended to 64 bits */
	uint64_t near;            /* a time near the next TSC packet, for its upper bits; 0: `time` is */
	uint64_t cycles;          /* sum of all CYC packets */
	struct pt_ctc ctc;
	bool have_cycles;
	uint64_t cycle_time, cycle_count; /* the time that cycles are counted from, 0: none; cycles since */
	uint32_t bus_ratio;       /* core frequency / bus clock, by CBR; 0: unknown */
	double rate;              /* TSC ticks per cycle up to the next MTC, measured ahead; 0: by bus_ratio */
	uint8_t last_type;        /* of the packet before */
};

void pt_clock_init(struct pt_clock *clock, const struct pt_clock_config *config);
/* Applies a packet of any type. True: cycles are counted from this packet on, and pt_clock_measure should look ahead. */
bool pt_clock_packet(struct pt_clock *clock, const struct pt_packet *packet);
/* The value with these low 56 bits that lies nearest to `near`. */
uint64_t pt_clock_extend(uint64_t low, uint64_t near);
/* Applies a CYC packet. */
void pt_clock_cycles(struct pt_clock *clock, uint64_t cycles);
/* Measures the rate of cycles by the packets that follow, without applying them: pass them one by one until false. */
struct pt_measure {
	struct pt_ctc ctc;
	uint64_t from, time, cycles;
	uint32_t bus_ratio;
	uint8_t last_type;
};

void pt_measure_begin(struct pt_measure *measure, const struct pt_clock *clock);
bool pt_measure_packet(struct pt_measure *measure, struct pt_clock *clock, const struct pt_packet *packet);
