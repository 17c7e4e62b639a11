#include "render/stat/stat_text.h"

#include <string.h>

#include "unit.h"

struct printed {
	struct events events;
	struct stat_table table;
	struct writer out;
};

static const char *print(struct printed *p, const struct stat_style *style, uint64_t interval_ns)
{
	const bool unsupported[3] = { false, false, true };
	const struct stat_place places[] = { { 0, 0 }, { 1, 0 }, { 2, 0 } };
	const struct stat_count counts[] = { { 2500000, 2500000, 2500000 }, { 1234567, 4000, 1010 }, { 0 } };
	*p = (struct printed){ 0 };
	EXPECT(events_parse(&p->events, "task-clock,page-faults,minor-faults", NULL) == 0);
	stat_table_fill(&p->table, &p->events, unsupported, 1, places, counts, 3, true);
	stat_table_metrics(&p->table, 5e6);
	writer_open(&p->out, -1, 0);
	stat_print(&p->table, style, interval_ns, "summary,", &p->out);
	writer_putc(&p->out, '\0');
	return p->out.buffer;
}

static void printed_fini(struct printed *p)
{
	writer_fini(&p->out);
	stat_table_fini(&p->table);
	events_fini(&p->events);
}

TEST("text has the columns of perf")
{
	struct printed p;
	const struct stat_style style = { .format = STAT_TEXT, .thousands = "," };
	EXPECT_STR(print(&p, &style, 0),
		"              2.50 msec task-clock                       #    0.500 CPUs utilized             \n"
		"         4,889,374      page-faults                      #    1.956 G/sec                       (25.25%)\n"
		"   <not supported>      minor-faults                                                          \n");
	printed_fini(&p);
}

TEST("shares that deserve attention have colours, whose escapes are a part of the column")
{
	struct printed p;
	const bool hidden[3] = { true };
	const struct stat_style style = { .format = STAT_TEXT, .thousands = ",", .colors = true, .hidden = hidden };
	print(&p, &style, 0);
	p.out.len = 0;
	p.table.rows.items[1].metric =
		(struct stat_metric){ .known = true, .value = 25, .decimals = 2, .percent = true, .level = STAT_LEVEL_HIGH, .unit = "of all branches" };
	p.table.rows.items[2].state = STAT_COUNTED;
	p.table.rows.items[2].metric =
		(struct stat_metric){ .known = true, .value = 1.5, .decimals = 2, .narrow = true, .unit = "insn per cycle" };
	stat_print(&p.table, &style, 0, "", &p.out);
	writer_putc(&p.out, '\0');
	EXPECT_STR(p.out.buffer,
		"         4,889,374      page-faults                      # \033[31m  25.00%\033[m of all branches     (25.25%)\n"
		"                 0      minor-faults                     #    1.50  insn per cycle            \n");
	printed_fini(&p);
}

static const char *print_robust(struct printed *p, const struct stat_style *style)
{
	print(p, style, 0);
	p->out.len = 0;
	p->table.rows.items[0].robust = (struct stat_robust){ 250000, 2250000, 3000000 };
	stat_print(&p->table, style, 0, "", &p->out);
	writer_putc(&p->out, '\0');
	return p->out.buffer;
}

TEST("medians have their spread and interval in the unit of the event")
{
	struct printed p;
	const bool hidden[3] = { false, true, true };
	struct stat_style style = { .format = STAT_TEXT, .thousands = ",", .repeated = true, .robust = true, .hidden = hidden };
	EXPECT_STR(print_robust(&p, &style),
		"              2.50 msec task-clock                       #    0.500 CPUs utilized             "
		"  ( MAD 10.00%, 95%: 2.25 .. 3.00 )\n");
	printed_fini(&p);
	style.format = STAT_CSV;
	style.separator = ",";
	EXPECT_STR(print_robust(&p, &style), "2.50,msec,task-clock,10.00%,2500000,100.00,0.500,CPUs utilized,2.25,3.00\n");
	printed_fini(&p);
	style.format = STAT_JSON;
	EXPECT_STR(print_robust(&p, &style),
		"{\"counter-value\" : \"2.500000\", \"unit\" : \"msec\", \"event\" : \"task-clock\", \"mad\" : \"0.250000\", "
		"\"interval-low\" : \"2.250000\", \"interval-high\" : \"3.000000\", \"event-runtime\" : 2500000, \"pcnt-running\" : 100.00, "
		"\"metric-value\" : \"0.500000\", \"metric-unit\" : \"CPUs utilized\"}\n");
	printed_fini(&p);
}

TEST("an event with the term percore has a row for each core among rows by CPU")
{
	struct events events = { 0 };
	struct stat_table table = { .strict = true };
	struct writer out;
	const bool unsupported[1] = { false };
	const uint32_t cores[3] = { 0, 1, 0 };
	const char *const labels[3] = { "CPU0", "CPU1", "CPU2" }, *const core_labels[3] = { "S0-D0-C0", "S0-D0-C1", "S0-D0-C0" };
	const struct stat_place places[] = { { 0, 0 }, { 0, 1 }, { 0, 2 } };
	const struct stat_count counts[] = { { 1, 9, 9, false }, { 20, 9, 9, false }, { 300, 9, 9, false } };
	struct stat_style style = {
		.format = STAT_CSV, .separator = ",", .thousands = "", .grain = STAT_CPU, .labels = labels, .cores = cores, .core_labels = core_labels,
	};
	EXPECT(events_parse(&events, "page-faults", NULL) == 0);
	events.list.items[0].terms.set |= EVENT_TERM_PERCORE;
	events.list.items[0].terms.percore = true;
	stat_table_fill(&table, &events, unsupported, 3, places, counts, 3, true);
	stat_table_percore(&table, cores);
	writer_open(&out, -1, 0);
	stat_print(&table, &style, 0, "", &out);
	style.cores = NULL;
	stat_print(&table, &style, 0, "", &out);
	writer_putc(&out, '\0');
	EXPECT_STR(out.buffer, "S0-D0-C0,301,,page-faults,18,100.00,,\nS0-D0-C1,20,,page-faults,9,100.00,,\n"
		"CPU0,301,,page-faults,18,100.00,,\nCPU1,20,,page-faults,9,100.00,,\nCPU2,301,,page-faults,18,100.00,,\n");
	writer_fini(&out);
	stat_table_fini(&table);
	events_fini(&events);
}

TEST("values are separated")
{
	struct printed p;
	const struct stat_style style = { .format = STAT_CSV, .separator = ",", .thousands = "" };
	EXPECT_STR(print(&p, &style, 0),
		"summary,2.50,msec,task-clock,2500000,100.00,0.500,CPUs utilized\n"
		"summary,4889374,,page-faults,1010,25.00,1.956,G/sec\n"
		"summary,<not supported>,,minor-faults,0,100.00,,\n");
	printed_fini(&p);
}

TEST("json is an object a line")
{
	struct printed p;
	const struct stat_style style = { .format = STAT_JSON, .thousands = "", .hidden = (const bool[]){ false, true, true } };
	EXPECT_STR(print(&p, &style, 1000000002),
		"{\"interval\" : 1.000000002, \"counter-value\" : \"2.500000\", \"unit\" : \"msec\", \"event\" : \"task-clock\", "
		"\"event-runtime\" : 2500000, \"pcnt-running\" : 100.00, \"metric-value\" : \"0.500000\", \"metric-unit\" : \"CPUs utilized\"}\n");
	printed_fini(&p);
}

TEST("times have as many decimals as their error allows")
{
	struct writer out;
	struct stat_spread spread = { 0 };
	stat_spread_add(&spread, 1e6);
	stat_spread_add(&spread, 2e6);
	writer_open(&out, -1, 0);
	stat_print_times(&spread, true, 0, 0, &out);
	writer_putc(&out, '\0');
	EXPECT_STR(out.buffer, "          0.001500 +- 0.000500 seconds time elapsed  ( +- 33.33% )\n\n");
	writer_fini(&out);
}

TEST("medians of times have as many decimals as their deviation allows")
{
	static const double runs_ns[] = { 5.00e9, 5.02e9, 5.04e9, 5.06e9, 9.00e9 }; /* median 5.04, deviations 0.04, 0.02, 0, 0.02, 3.96 */
	struct writer out;
	writer_open(&out, -1, 0);
	stat_print_times_robust(runs_ns, sizeof runs_ns / sizeof *runs_ns, &out);
	writer_putc(&out, '\0');
	EXPECT_STR(out.buffer, "            5.0400 seconds time elapsed, median  ( MAD  0.40%, 95%: 5.0000 .. 9.0000 )\n\n");
	writer_fini(&out);
}
