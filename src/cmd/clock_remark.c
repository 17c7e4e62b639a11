#include "cmd/clock_remark.h"

#include "base/str.h"

void clock_remark_begin(struct clock_remark *remark)
{
	/* without its counters, which would cost a short measurement more than it takes itself */
	remark->begun = cpu_clock_open(&remark->clock, CPUFREQ_ROOT, NULL);
}

static void add_clock(struct str *to, const struct cpu_clock_change *change)
{
	str_printf(to, "the clock of the CPUs changed during the run (%lld to %lld MHz", (long long)(change->low_khz + 500) / 1000,
		(long long)(change->high_khz + 500) / 1000);
	if (change->transitions)
		str_printf(to, ", %llu transitions", (unsigned long long)change->transitions);
	str_printf(to, "; driver %s, governor %s)", change->driver, change->governor);
}

void clock_remark_end(struct cli *cli, struct clock_remark *remark, bool say)
{
	struct cpu_clock_change change;
	CLEANUP_STR struct str text = { 0 };
	if (!remark->begun)
		return;
	cpu_clock_compare(&remark->clock, &change);
	if (change.policies)
		add_clock(&text, &change);
	if (change.limits)
		str_printf(&text, "%sanother program changed the limits of the clock", text.len ? "; " : "");
	if (change.throttles)
		str_printf(&text, "%sheat throttled the CPUs %llu times", text.len ? "; " : "", (unsigned long long)change.throttles);
	if (say && text.len)
		cli_warn(cli, "Remark: %s. 'perf freq --pin base -- COMMAND' pins the clock.", text.text);
	cpu_clock_close(&remark->clock);
	remark->begun = false;
}
