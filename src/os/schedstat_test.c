#include "os/schedstat.h"

#include "unit.h"

/* Lines as kernels print them: 5.10 and 6.1 (15), 6.12 (16), 6.15 and later (17). */
#define CPU "cpu0 1 0 2 3 4 5 6000000000 7000000000 8\n"
#define REST " 25 26 27 28 29 30 31 32 33 34 35 36"
#define DOMAIN_15 "domain0" REST_OF_15
#define REST_OF_15 " 00000000,00000003 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24" REST "\n"
#define DOMAIN_17 "domain0 MC 3 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33" \
	" 34 35 36 37 38 39 40 41 42 43 44 45\n"

static int parse(struct schedstat *stat, const char *text, struct error *err)
{
	*stat = (struct schedstat){ 0 };
	return schedstat_parse(stat, text, err);
}

static void expect_refused(const char *text, const char *part)
{
	struct error err = { 0 };
	struct schedstat stat;
	EXPECT(parse(&stat, text, &err) < 0);
	EXPECT(strstr(err.text, part));
	schedstat_fini(&stat);
}

TEST("CPUs and domains of each version have all their counters")
{
	static const struct {
		const char *text, *name, *mask;
		unsigned version, last;
	} cases[] = {
		{ "version 15\ntimestamp 99\n" CPU DOMAIN_15, NULL, "00000000,00000003", 15, 36 },
		{ "version 16\ntimestamp 99\n" CPU DOMAIN_15, NULL, "00000000,00000003", 16, 36 },
		{ "version 17\ntimestamp 99\n" CPU DOMAIN_17, "MC", "3", 17, 45 },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct schedstat stat;
		EXPECT_INT(parse(&stat, cases[i].text, NULL), 0);
		EXPECT_INT(stat.lines.count, 2);
		const struct schedstat_line *cpu = &stat.lines.items[0], *domain = &stat.lines.items[1];
		EXPECT_INT(cpu->row.timestamp, 99);
		EXPECT_INT(cpu->row.domain, SCHEDSTAT_NO_DOMAIN);
		EXPECT(cpu->row.values[7] == 7000000000ULL);
		EXPECT_INT(cpu->row.values[8], 8);
		EXPECT_INT(domain->row.version, cases[i].version);
		EXPECT_INT(domain->row.domain, 0);
		EXPECT_INT(domain->row.values[cases[i].last - 1], cases[i].last);
		EXPECT_STR(domain->mask, cases[i].mask);
		EXPECT(cases[i].name ? domain->name && strcmp(domain->name, cases[i].name) == 0 : !domain->name);
		schedstat_fini(&stat);
	}
}

TEST("other versions, and lines with too few or too many counters, are refused")
{
	expect_refused("version 14\ntimestamp 99\n" CPU, "version other than 15 to 17");
	expect_refused("version 18\ntimestamp 99\n" CPU, "version other than 15 to 17");
	expect_refused("timestamp 99\n" CPU, "begins with cpu0");
	expect_refused("version 17\ntimestamp 99\n" CPU DOMAIN_15, "begins with domain0");
	expect_refused("version 15\ntimestamp 99\n" CPU DOMAIN_17, "begins with domain0");
	expect_refused("version 15\ntimestamp 99\ncpu0 1 0 2 3 4 5 6 7\n", "begins with cpu0");
	expect_refused("version 15\ntimestamp 99\ncpu0 1 0 2 3 4 5 6 7 8 9\n", "begins with cpu0");
	expect_refused("version 15\ntimestamp 99\ncpu0 1 0 2 3 4 -5 6 7 8\n", "begins with cpu0");
	expect_refused("version 15\ntimestamp 99\n" DOMAIN_15, "begins with domain0");
	expect_refused("version 15\ntimestamp 99\n", "no CPU");
	expect_refused("version 15\ntimestamp 99\n" CPU "version 16\n", "begins with version");
	expect_refused("", "no CPU");
}

TEST("a mask becomes a list of CPUs")
{
	static const struct {
		const char *mask, *list;
	} cases[] = {
		{ "3", "0-1" }, { "00000001,00000000,00000001", "0,64" }, { "ff", "0-7" }, { "80000000", "31" }, { "", "" }, { "x", "" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		CLEANUP_STR struct str out = { 0 };
		schedstat_cpus(cases[i].mask, &out);
		EXPECT_STR(str_text(&out), cases[i].list);
	}
}

TEST("a kernel without the file is refused with a hint")
{
	struct schedstat stat = { 0 };
	struct error err = { 0 };
	EXPECT(schedstat_read(&stat, "/nonexistent/schedstat", &err) < 0);
	EXPECT(strstr(err.hint, "CONFIG_SCHEDSTATS"));
	schedstat_fini(&stat);
}

TEST("numbers of CPUs and domains are refused from their limits on")
{
	static const struct {
		const char *text;
		bool accepted;
	} cases[] = {
		{ "cpu65535 1 0 2 3 4 5 6 7 8\n", true }, { "cpu65536 1 0 2 3 4 5 6 7 8\n", false }, { "cpu 1 0 2 3 4 5 6 7 8\n", false },
		{ "cpu1x 1 0 2 3 4 5 6 7 8\n", false }, { "cpu18446744073709551616 1 0 2 3 4 5 6 7 8\n", false },
		{ CPU "domain63" REST_OF_15, true }, { CPU "domain64" REST_OF_15, false },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[1000];
		struct schedstat stat;
		snprintf(text, sizeof text, "version 15\ntimestamp 99\n%s", cases[i].text);
		EXPECT_INT(parse(&stat, text, NULL) == 0, cases[i].accepted);
		schedstat_fini(&stat);
	}
}
