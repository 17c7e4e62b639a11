#include "render/lock/lock_text.h"

#include <stdlib.h>

#include "unit.h"

struct printed {
	struct lock_stats stats;
	struct lock_order order;
	struct lock_choice choice;
	struct lock_view view;
	struct writer out;
};

static const uint64_t no_loss[LOCK_LOSS_CAUSES] = { 0 };
static const uint64_t some_losses[LOCK_LOSS_CAUSES] = { 1, 0, 2, 0 };

static void printed_open(struct printed *p, enum lock_group group, const char *fields)
{
	static const struct lock_frame frames[] = { { 0xffff1000, "do_it", 0x10 }, { 0xffff2000, NULL, 0 } };
	*p = (struct printed){ 0 };
	struct lock_stat *stat = lock_stats_add(&p->stats, 0x12, "a_name_of_20_letters", 1);
	stat->contended = stat->acquired = 3;
	lock_stat_wait(stat, 999);
	lock_stat_wait(stat, 1500000);
	stat->average_ns = 500333;
	stat->frames = frames;
	stat->frame_count = 2;
	stat = lock_stats_add(&p->stats, 0x13, "short", 4);
	stat->contended = 1;
	lock_choice_parse(&p->choice, fields, "wait_total", false, NULL);
	lock_stats_order(&p->stats, p->choice.key, false, &p->order);
	p->view = (struct lock_view){ .order = &p->order, .choice = &p->choice, .group = group, .entries = 10, .lost = no_loss };
	writer_open(&p->out, -1, 0);
}

static const char *printed_text(struct printed *p)
{
	writer_putc(&p->out, '\0');
	return p->out.buffer;
}

static void printed_close(struct printed *p)
{
	writer_fini(&p->out);
	vec_fini(&p->order.list);
	lock_stats_fini(&p->stats);
}

TEST("contention by address has columns of perf's widths and units; a lock without a complete wait is left out")
{
	struct printed p;
	printed_open(&p, LOCK_GROUP_ADDRESS, "contended,wait_total,wait_min");
	lock_contention_print(&p.view, &p.out);
	EXPECT_STR(printed_text(&p), " contended   total wait     min wait            address   symbol\n\n"
		"         3      1.50 ms       999 ns   0000000000000012   a_name_of_20_letters (spinlock)\n");
	printed_close(&p);
}

TEST("losses of the measurement are added to the total of the rate")
{
	struct printed p;
	printed_open(&p, LOCK_GROUP_TASK, "contended");
	p.view.lost = some_losses;
	p.view.filtered = 2;
	p.view.quiet = false;
	lock_contention_print(&p.view, &p.out);
	EXPECT(strstr(printed_text(&p), "\n=== output for debug ===\n\nbad: 3, total: 9\nbad rate: 33.33 %\nhistogram of failure reasons\n"
		"       task: 1\n      stack: 0\n       time: 2\n       data: 0\n") != NULL);
	EXPECT(strstr(printed_text(&p), "         3      1.50 ms           18   a_name_of_20_letters\n") != NULL);
	printed_close(&p);
}

TEST("separated values have plain numbers and, with -v, the call chain")
{
	struct printed p;
	printed_open(&p, LOCK_GROUP_CALLER, "contended,avg_wait");
	p.view.separator = ",";
	p.view.verbose = 1;
	lock_contention_print(&p.view, &p.out);
	EXPECT_STR(printed_text(&p), "# output: contended, avg wait, total wait, type, caller, stacktrace\n"
		"3, 500333, 1500999, spinlock, a_name_of_20_letters, 0xffff1000 do_it+0x10: 0xffff2000 \n"
		"# debug: total=4, bad=0, bad_task=0, bad_stack=0, bad_time=0, bad_data=0\n");
	printed_close(&p);
}

TEST("a report cuts names of 20 characters or more, and ends after the requested rows")
{
	struct printed p;
	const uint32_t broken[LOCK_BROKEN_COUNT] = { 0, 0, 1, 0 };
	printed_open(&p, LOCK_GROUP_ADDRESS, "acquired");
	p.stats.list.items[0]->broken = true;
	p.view.broken = broken;
	p.view.entries = 1;
	lock_report_print(&p.view, &p.out);
	EXPECT_STR(printed_text(&p), "                Name   acquired   total wait \n\n a_name_of_20_let...          3      1.50 ms \n"
		"\n=== output for debug ===\n\nbad: 1, total: 1\nbad rate: 100.00 %\nhistogram of events caused bad sequence\n"
		"    acquire: 0\n   acquired: 0\n  contended: 1\n    release: 0\n");
	printed_close(&p);
}

TEST("what owners do follows the rows in rows of callers, in both layouts")
{
	struct printed p;
	printed_open(&p, LOCK_GROUP_TASK, "contended");
	p.view.owners = true;
	p.view.verbose = 1;
	p.view.owner_stacks = &p.order;
	lock_contention_print(&p.view, &p.out);
	EXPECT(strstr(printed_text(&p), "           18   a_name_of_20_letters\n\n=== owner stack trace ===\n\n"
		"         3      1.50 ms     spinlock   a_name_of_20_letters\n\t\t\t0xffff1000  do_it+0x10\n\t\t\t0xffff2000  ") != NULL);
	p.out.len = 0;
	p.view.separator = ",";
	lock_contention_print(&p.view, &p.out);
	EXPECT(strstr(printed_text(&p), "\n# owner stack trace:\n3, 1500999, spinlock, a_name_of_20_letters, "
		"0xffff1000 do_it+0x10: 0xffff2000 \n# debug") != NULL);
	printed_close(&p);
}

TEST("a time has the largest unit of which it is at least one")
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{ 1, "1 ns" }, { 999, "999 ns" }, { 1000, "1.00 us" }, { 999990, "999.99 us" }, { 1000000, "1.00 ms" }, { 999000000, "999.00 ms" },
		{ 1000000000, "1.00 s " }, { 59900000000, "59.90 s " }, { 60000000000, "1.00 m " }, { 3594000000000, "59.90 m " },
		{ 3600000000000, "1.00 h " }, { 360000000000000, "100.00 h " },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct printed p = { 0 };
		char line[100];
		struct lock_stat *stat = lock_stats_add(&p.stats, 1, "lock", 1);
		stat->contended = stat->acquired = 1;
		lock_stat_wait(stat, cases[i].ns);
		lock_choice_parse(&p.choice, "wait_total", "wait_total", false, NULL);
		lock_stats_order(&p.stats, p.choice.key, false, &p.order);
		p.view = (struct lock_view){ .order = &p.order, .choice = &p.choice, .group = LOCK_GROUP_ADDRESS, .entries = 10, .lost = no_loss };
		writer_open(&p.out, -1, 0);
		lock_contention_print(&p.view, &p.out);
		snprintf(line, sizeof line, "\n%12s   0000000000000001 ", cases[i].text);
		EXPECT(strstr(printed_text(&p), line));
		printed_close(&p);
	}
}
