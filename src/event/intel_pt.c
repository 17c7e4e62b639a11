#include "event/intel_pt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PERIOD_WANTED = 3, PERIODS_MAX = 63 };

uint64_t intel_pt_bits(const struct pmu *pmu, const char *term)
{
	const struct pmu_format *format = pmu_format(pmu, term, strlen(term));
	return format && format->word == 0 ? format->bits : 0;
}

uint64_t intel_pt_bit(const struct pmu *pmu, const char *term)
{
	uint64_t bits = intel_pt_bits(pmu, term);
	return bits & -bits;
}

/* The value of a file below caps; `absent` if the kernel has none. */
static uint64_t cap(const struct pmu *pmu, const char *name, int base, uint64_t absent)
{
	const char *value = pmu_cap(pmu, name);
	char *end;
	if (!value)
		return absent;
	uint64_t number = strtoull(value, &end, base);
	return end == value ? absent : number;
}

/* The largest supported period that is no longer than the requested one, otherwise the shortest. */
static unsigned nearest_period(uint64_t periods)
{
	unsigned best = (unsigned)__builtin_ctzll(periods);
	for (unsigned i = best; i <= PERIOD_WANTED; i++)
		if (periods >> i & 1)
			best = i;
	return best;
}

static void set_term(const struct pmu *pmu, const char *term, uint64_t value, struct attr *attr)
{
	const struct pmu_format *format = pmu_format(pmu, term, strlen(term));
	if (format)
		pmu_format_apply(format, value, attr);
}

uint64_t intel_pt_default_config(const struct pmu *pmu)
{
	struct attr attr = { 0 };
	if (strcmp(pmu->name, "intel_pt") != 0)
		return 0;
	uint64_t mtc_periods = cap(pmu, "mtc", 10, 1) ? cap(pmu, "mtc_periods", 16, 0) : 0;
	uint64_t psb_periods = cap(pmu, "psb_cyc", 10, 1) && mtc_periods ? cap(pmu, "psb_periods", 16, 0) : 0;
	set_term(pmu, "tsc", 1, &attr);
	if (mtc_periods) {
		set_term(pmu, "mtc", 1, &attr);
		set_term(pmu, "mtc_period", nearest_period(mtc_periods), &attr);
	}
	if (psb_periods)
		set_term(pmu, "psb_period", nearest_period(psb_periods), &attr);
	if (intel_pt_bits(pmu, "pt") && intel_pt_bits(pmu, "branch")) {
		set_term(pmu, "pt", 1, &attr);
		set_term(pmu, "branch", 1, &attr);
	}
	return attr.config;
}

/* "0,3,6-9" */
static void list_values(uint64_t valid, char *text, size_t size)
{
	size_t length = 0;
	for (unsigned i = 0; i <= PERIODS_MAX && length < size; i++) {
		unsigned first = i;
		if (!(valid >> i & 1))
			continue;
		while (i < PERIODS_MAX && valid >> (i + 1) & 1)
			i++;
		length += (size_t)snprintf(text + length, size - length, "%s%u", length ? "," : "", first);
		if (i > first && length < size)
			length += (size_t)snprintf(text + length, size - length, "%s%u", i == first + 1 ? "," : "-", i);
	}
}

static int check_period(const struct pmu *pmu, const char *term, const char *values, const char *needs, uint64_t config,
	struct error *err)
{
	char list[256];
	uint64_t bits = intel_pt_bits(pmu, term), valid = cap(pmu, needs, 10, 1) ? cap(pmu, values, 16, 0) : 0;
	uint64_t value = bits ? (config & bits) >> __builtin_ctzll(bits) : 0;
	valid |= 1; /* off, or the processor's only period */
	if (value <= PERIODS_MAX && valid >> value & 1)
		return 0;
	list_values(valid, list, sizeof list);
	error_set(err, ERROR_USAGE, "Invalid %s for intel_pt. Valid values are: %s", term, list);
	error_hint(err, "this processor's values are those of the bits of %s in caps/%s of the PMU%s", pmu_cap(pmu, values) ?
		pmu_cap(pmu, values) : "0", values, cap(pmu, needs, 10, 1) ? "" : "; it lacks the feature");
	if (err)
		err->sys = EINVAL;
	return -1;
}

int intel_pt_check(const struct pmu *pmu, uint64_t *config, struct str *warnings, struct error *err)
{
	if (intel_pt_bits(pmu, "pt") && !(*config & intel_pt_bit(pmu, "pt"))) {
		if (warnings)
			str_puts(warnings, "pt=0 doesn't make sense, forcing pt=1\n");
		*config |= intel_pt_bit(pmu, "pt");
	}
	if (check_period(pmu, "cyc_thresh", "cycle_thresholds", "psb_cyc", *config, err) < 0)
		return -1;
	if (check_period(pmu, "mtc_period", "mtc_periods", "mtc", *config, err) < 0)
		return -1;
	return check_period(pmu, "psb_period", "psb_periods", "psb_cyc", *config, err);
}

const char *intel_pt_lacks(const struct pmu *pmu, uint64_t config, const char **term)
{
	static const char *const needs[][2] = {
		{ "cyc", "psb_cyc" }, { "cyc_thresh", "psb_cyc" }, { "psb_period", "psb_cyc" }, { "mtc", "mtc" }, { "mtc_period", "mtc" },
		{ "ptw", "ptwrite" }, { "fup_on_ptw", "ptwrite" }, { "pwr_evt", "power_event_trace" }, { "event", "event_trace" },
		{ "notnt", "tnt_disable" },
	};
	for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
		*term = needs[i][0];
		if (config & intel_pt_bits(pmu, *term) && !cap(pmu, needs[i][1], 10, 0))
			return needs[i][1];
	}
	return NULL;
}

size_t intel_pt_psb_period(const struct pmu *pmu, uint64_t config)
{
	enum { PERIOD_EARLY = 256, PERIOD_SHIFT = 11 };
	uint64_t bits = intel_pt_bits(pmu, "psb_period");
	/* early processors, which cannot chain output regions, write PSB packets far more often */
	if (!cap(pmu, "topa_multiple_entries", 10, 0))
		return PERIOD_EARLY;
	return (size_t)1 << ((bits ? (config & bits) >> __builtin_ctzll(bits) : 0) + PERIOD_SHIFT);
}
