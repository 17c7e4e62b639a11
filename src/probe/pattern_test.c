#include "probe/pattern.h"

#include "unit.h"

static bool passes(const char *text, const char *name)
{
	struct probe_filter *filter = NULL;
	struct error err;
	bool result = probe_filter_parse(&filter, text, &err) == 0 && probe_filter_passes(filter, name);
	probe_filter_free(filter);
	return result;
}

TEST("globs match complete names")
{
	static const struct {
		const char *pattern, *name;
		bool matches;
	} cases[] = { { "abc", "abc", true }, { "abc", "abcd", false }, { "abcd", "abc", false }, { "a*", "a", true }, { "a*", "ba", false },
		{ "*@plt", "f@plt", true }, { "*@plt", "plt", false }, { "*@plt", "f@plt2", false }, { "a*a", "a", false }, { "a*b", "axxb", true },
		{ "a*b*", "axbx", true }, { "a?c", "abc", true }, { "a?", "a", false }, { "[ab]*", "bz", true }, { "\\*", "*", true },
		{ "\\*", "x", false }, { "*\\*", "x*", true }, { "*", "", true } };
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		EXPECT(probe_glob(cases[i].pattern, cases[i].name) == cases[i].matches);
}

TEST("filters combine globs with not, and, or and parentheses")
{
	EXPECT(passes("!_* & !*@plt", "main") && !passes("!_* & !*@plt", "_main") && !passes("!_* & !*@plt", "f@plt"));
	EXPECT(passes("a|b&c", "a") && !passes("a|b&c", "b") && !passes("(a|b)&c", "a"));
	EXPECT(passes("!(a|b)", "c") && !passes("!(a|b)", "b"));
	EXPECT(passes("f?o*", "fxoxx") && !passes("f?o*", "fo"));
}

TEST("a wrong filter is refused")
{
	static const char *const wrong[] = { "", "a b", "a&", "|a", "(a", "a)", "!", "((((" };
	for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct probe_filter *filter;
		struct error err;
		EXPECT(probe_filter_parse(&filter, wrong[i], &err) < 0 && err.text[0]);
	}
}

TEST("further filters add names")
{
	struct probe_filter *filter = NULL;
	struct error err;
	EXPECT(probe_filter_or(&filter, "a", &err) == 0 && probe_filter_or(&filter, "b", &err) == 0);
	EXPECT(probe_filter_passes(filter, "a") && probe_filter_passes(filter, "b") && !probe_filter_passes(filter, "c"));
	probe_filter_free(filter);
}

TEST("spaces do not count in lazy patterns")
{
	EXPECT(probe_lazy("r+=*", "\t\tr += square;") && probe_lazy("r += *", "r+=1;") && !probe_lazy("r+=*", "x = r + 1;"));
}
