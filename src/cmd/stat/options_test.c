#include "cmd/stat/options.h"

#include <stdio.h>

#include "cmd/test_words.h"
#include "unit.h"

static int parse(struct stat_options *o, const char *text, struct error *err)
{
	static char line[256];
	char *words[WORDS_MAX];
	snprintf(line, sizeof line, "%s", text);
	int count = words_split(line, words);
	*o = (struct stat_options){ 0 };
	*err = (struct error){ 0 };
	stat_defaults_set(o);
	return options_parse(stat_table, o, count - 1, (const char **)words + 1, 0, err);
}

static void expect_refused(const char *text, const char *why)
{
	struct stat_options o;
	struct error err;
	EXPECT(parse(&o, text, &err) < 0);
	EXPECT_STR(err.text, why);
	vec_fini(&o.words);
}

TEST("stat: --per-cache takes a level from L1 to L4, without one the last")
{
	static const struct { const char *text; bool wanted; int level; } rows[] = { { "", false, 0 }, { "--per-cache", true, 0 },
		{ "--per-cache=L1", true, 1 }, { "--per-cache=l4", true, 4 }, { "--per-cache=L2 --no-per-cache", false, 0 },
		{ "--per-cache=L2 --per-cache", true, 0 } };
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct stat_options o;
		struct error err;
		EXPECT_INT(parse(&o, rows[i].text, &err), 0);
		EXPECT(o.per_cache == rows[i].wanted && o.cache_level == rows[i].level);
	}
	static const char *const wrong[] = { "L0", "L", "L11", "2", "m2", "L:" };
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		char text[32];
		snprintf(text, sizeof text, "--per-cache=%s", wrong[i]);
		expect_refused(text, "Cache level must be of form L[1-4], or l[1-4]");
	}
	expect_refused("--per-cache=L5", "perf only supports max cache level of 4.");
	expect_refused("--per-cache=L9", "perf only supports max cache level of 4.");
}

TEST("stat: events, filters, cgroups and metrics are one list in their order")
{
	static const struct stat_word want[] = { { STAT_WORD_EVENT, "a" }, { STAT_WORD_FILTER, "x" }, { STAT_WORD_CGROUP, "c" },
		{ STAT_WORD_METRICS, "m" }, { STAT_WORD_PFM, "p" }, { STAT_WORD_EVENT, "b" } };
	struct stat_options o;
	struct error err;
	EXPECT_INT(parse(&o, "-e a --filter x -G c -M m --pfm-events p -e b --for-each-cgroup d", &err), 0);
	EXPECT_INT(o.words.count, 6);
	for (size_t i = 0; i < 6 && o.words.count == 6; i++) {
		EXPECT_INT(o.words.items[i].kind, want[i].kind);
		EXPECT_STR(o.words.items[i].text, want[i].text);
	}
	EXPECT(!o.cgroup_late);
	EXPECT_STR(o.each_cgroup, "d");
	vec_fini(&o.words);
	EXPECT_INT(parse(&o, "--for-each-cgroup d -G c", &err), 0);
	EXPECT(o.cgroup_late);
	vec_fini(&o.words);
}

TEST("stat: --cputype comes before the events that it applies to")
{
	struct stat_options o;
	struct error err;
	EXPECT_INT(parse(&o, "-M m --cputype core -e a", &err), 0);
	EXPECT(!o.cpu_type_late);
	EXPECT_STR(o.cpu_type, "core");
	vec_fini(&o.words);
	EXPECT_INT(parse(&o, "-M m -e a -M n --cputype core", &err), 0);
	EXPECT(o.cpu_type_late);
	vec_fini(&o.words);
}

TEST("stat: the command runs once, values are scaled and thousands separated unless that is turned off")
{
	struct stat_options o;
	struct error err;
	EXPECT_INT(parse(&o, "", &err), 0);
	EXPECT(o.scale && o.big_num && o.repeat == 1 && !o.repeat_given && !o.big_num_given && !o.robust && !o.iostat);
	EXPECT_INT(parse(&o, "--no-scale --no-big-num -r 0 --stats robust --iostat=0000:17 -ddd -vv --log-fd 0", &err), 0);
	EXPECT(!o.scale && !o.big_num && o.repeat == 0 && o.repeat_given && o.big_num_given && o.robust && o.iostat && o.log_given);
	EXPECT(o.detail == 3 && o.verbose == 2);
	EXPECT_STR(o.iostat_ports, "0000:17");
	EXPECT_INT(parse(&o, "--stats robust --stats mean --iostat --all-user", &err), 0);
	EXPECT(!o.robust && o.iostat && !o.iostat_ports && o.all_user && !o.all_kernel);
	expect_refused("--stats median", "--stats is 'mean' or 'robust', not 'median'");
	EXPECT(parse(&o, "--all-user --all-kernel", &err) < 0);
}
