#include "base/options.h"

#include <limits.h>

#include "base/str.h"
#include "unit.h"

struct sample_options {
	bool first, all, quiet, no_inherit, buildid_all, verbose_set, sorted_well;
	int verbose, depth;
	unsigned pages;
	uint64_t count;
	const char *output, *graph, *sort, *level, *color;
};

static int set_graph(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct sample_options *o = target;
	if (arg && !strcmp(arg, "bad"))
		return error_set(err, ERROR_USAGE, "no such mode: %s", arg);
	o->graph = unset ? "unset" : arg ? arg : "default";
	return 0;
}

#define S struct sample_options
static const struct option table[] = {
	OPT_GROUP("What"),
	OPT_BOOL('a', "all-cpus", S, all, "everything"),
	OPT_BOOL('q', "quiet", S, quiet, "say less"),
	{ .kind = OPTION_INCR, .short_name = 'v', .long_name = "verbose", .offset = offsetof(S, verbose), .help = "say more",
	  .was_set = OPTION_GIVEN(S, verbose_set) },
	OPT_STRING('o', "output", S, output, "file", "where to"),
	OPT_STRING('s', "sort", S, sort, "key[,key]", "order"),
	OPT_GROUP("How"),
	OPT_INT(0, "max-stack", S, depth, "depth"),
	OPT_UINT('m', "mmap-pages", S, pages, "pages"),
	OPT_U64('c', "count", S, count, "period"),
	OPT_CALLBACK_FLAGS('g', "call-graph", S, graph, "mode", "chains", set_graph, OPTION_OPTARG),
	OPT_BOOL('i', "no-inherit", S, no_inherit, "not the children"),
	OPT_BOOL(0, "buildid-all", S, buildid_all, "all of them"),
	{ .kind = OPTION_STRING, .short_name = 'z', .long_name = "level", .arg = "n", .offset = offsetof(S, level),
	  .help = "compress", .flags = OPTION_OPTARG, .fallback = "1" },
	{ .kind = OPTION_STRING, .long_name = "color", .arg = "when", .offset = offsetof(S, color), .help = "colour",
	  .flags = OPTION_LASTARG, .fallback = "always" },
	{ .kind = OPTION_BOOL, .long_name = "all-user", .offset = offsetof(S, first), .help = "user", .flags = OPTION_NONEG },
	OPTION_ROW(BOOL, 0, "sorted-well", S, sorted_well, "ours", .flags = OPTION_OWN | OPTION_HIDDEN),
	{ .kind = OPTION_BOOL, .long_name = "secret", .offset = offsetof(S, first), .help = "hidden", .flags = OPTION_HIDDEN },
	OPT_LATER('L', "later", "one day"),
	OPT_LATER_ARG(0, "later-arg", "x", "one day"),
	OPT_END(),
};
#undef S

/* Splits the line at blanks and parses it; joins the remaining words into `rest`. */
static int parse(const char *line, unsigned mode, struct sample_options *o, struct error *err, struct str *rest)
{
	char words[256];
	const char *argv[32];
	int argc = 0;
	snprintf(words, sizeof words, "%s", line);
	for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	*o = (struct sample_options){ 0 };
	*err = (struct error){ 0 };
	int left = options_parse(table, o, argc, argv, mode, err);
	str_clear(rest);
	for (int i = 0; argv[i] && (left >= 0 ? i < left : left == OPTIONS_HELP); i++)
		str_printf(rest, "%s%s", i ? " " : "", argv[i]);
	/* strings point into `words`, which is freed: copy those that the tests compare */
	static char output[64];
	if (o->output)
		o->output = memcpy(output, o->output, strlen(o->output) + 1);
	static char graph[64];
	if (o->graph)
		o->graph = memcpy(graph, o->graph, strlen(o->graph) + 1);
	static char level[64];
	if (o->level)
		o->level = memcpy(level, o->level, strlen(o->level) + 1);
	static char color[64];
	if (o->color)
		o->color = memcpy(color, o->color, strlen(o->color) + 1);
	return left;
}

#define PARSE(line, mode)                                                                          \
	struct sample_options o;                                                                   \
	struct error err;                                                                          \
	CLEANUP_STR struct str rest = { 0 };                                                       \
	int left __attribute__((unused)) = parse(line, mode, &o, &err, &rest)

static void expect_refused(const char *line, const char *why, const char *shown)
{
	PARSE(line, 0);
	EXPECT_INT(left, OPTIONS_BAD);
	EXPECT_INT(err.kind, ERROR_OPTION);
	EXPECT_STR(err.text, why);
	EXPECT_STR(err.hint, shown);
}

TEST("switches cluster, and the last of a cluster may take the rest as its argument")
{
	PARSE("-aqvvofile word", 0);
	EXPECT_INT(left, 1);
	EXPECT(o.all && o.quiet);
	EXPECT_INT(o.verbose, 2);
	EXPECT_STR(o.output, "file");
	EXPECT_STR(str_text(&rest), "word");
}

TEST("an argument is in the same word or in the next")
{
	static const char *const lines[] = { "-o x", "-ox", "--output x", "--output=x", "--out=x", "-a -o x" };
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		PARSE(lines[i], 0);
		EXPECT_INT(left, 0);
		EXPECT_STR(o.output, "x");
	}
}

TEST("an optional argument is never the next word")
{
	{
		PARSE("-g caller --level 3", 0);
		EXPECT_STR(o.graph, "default");
		EXPECT_STR(o.level, "1");
		EXPECT_STR(str_text(&rest), "caller 3");
	}
	{
		PARSE("-gcaller -z3", 0);
		EXPECT_INT(left, 0);
		EXPECT_STR(o.graph, "caller");
		EXPECT_STR(o.level, "3");
	}
	{
		PARSE("--call-graph=fp --level=9", 0);
		EXPECT_INT(left, 0);
		EXPECT_STR(o.graph, "fp");
		EXPECT_STR(o.level, "9");
	}
}

TEST("with OPTION_LASTARG the next word is the argument unless it starts with a dash")
{
	static const char *const lines[][2] = { { "--color", "always" }, { "--color -a", "always" }, { "--color -- x", "always" },
		{ "--color x", "x" }, { "--color=x", "x" } };
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		PARSE(lines[i][0], 0);
		EXPECT(left >= 0);
		EXPECT_STR(o.color, lines[i][1]);
	}
}

TEST("--no- negates an option, and an option named no-x is negated by --x")
{
	{
		PARSE("-a -v --no-all-cpus --no-verbose --inherit --no-call-graph", 0);
		EXPECT_INT(left, 0);
		EXPECT(!o.all && !o.no_inherit && o.verbose_set);
		EXPECT_INT(o.verbose, 0);
		EXPECT_STR(o.graph, "unset");
	}
	{
		PARSE("--no-no-inherit", 0);
		EXPECT_INT(left, 0);
		EXPECT(!o.no_inherit);
	}
	{
		PARSE("--no-inherit --no-quiet", 0);
		EXPECT(o.no_inherit && !o.quiet);
	}
}

TEST("an option of perfuse alone makes no abbreviation of perf ambiguous")
{
	PARSE("--so=pid --sorted-well", 0);
	EXPECT_INT(left, 0);
	EXPECT_STR(o.sort, "pid");
	EXPECT(o.sorted_well);
	expect_refused("--sorted-", "  Error: unknown option `sorted-'", "");
}

TEST("a unique prefix selects an option, also after no-; a full name precedes longer ones")
{
	PARSE("--verb --no-quie --all-c", 0);
	EXPECT_INT(left, 0);
	EXPECT_INT(o.verbose, 1);
	EXPECT(o.all);
	expect_refused("--all-", " Error: Ambiguous option: all- (could be --all-cpus or --all-user)\n", "all-*");
	expect_refused("--later-", " Error: option `later-arg' requires a value", "--later-arg");
}

TEST("a negative form that does not exist is unknown")
{
	expect_refused("--no-all-user", "  Error: unknown option `no-all-user'", "");
}

TEST("numbers are decimal integers within the range of their type")
{
	PARSE("--max-stack -5 -m 99999999999 -c 18446744073709551615", 0);
	EXPECT_INT(left, 0);
	EXPECT_INT(o.depth, -5);
	EXPECT(o.pages == UINT_MAX);
	EXPECT(o.count == UINT64_MAX);
	expect_refused("-c 1x", " Error: switch `c' expects a numerical value", "c");
	expect_refused("--max-stack 0x10", " Error: option `max-stack' expects a numerical value", "--max-stack");
	expect_refused("--count=-5", " Error: option `count' expects an unsigned numerical value", "--count");
}

TEST("a missing or superfluous argument is reported with the option's full name")
{
	expect_refused("-o", " Error: switch `o' requires a value", "o");
	expect_refused("--outp", " Error: option `output' requires a value", "--output");
	expect_refused("--quiet=1", " Error: option `quiet' takes no value", "--quiet");
	expect_refused("--no-output=x", " Error: option `no-output' takes no value", "--output");
	expect_refused("--nosuch=1", "  Error: unknown option `nosuch=1'", "");
	expect_refused("-aX", "  Error: unknown switch `X'", "");
	expect_refused("-a=1", "  Error: unknown switch `='", "");
	expect_refused("-gbad", "no such mode: bad", "g");
}

TEST("an option of perf that is not supported yet is recognized and reported")
{
	expect_refused("--later", " Error: option `later' is not supported yet", "--later");
	expect_refused("-L", " Error: switch `L' is not supported yet", "L");
	expect_refused("--later-arg x", " Error: option `later-arg' is not supported yet", "--later-arg");
}

TEST("two dashes end the options; a single dash is an ordinary word")
{
	PARSE("-a - x -- -q --foo", 0);
	EXPECT_INT(left, 4);
	EXPECT_STR(str_text(&rest), "- x -q --foo");
	EXPECT(o.all && !o.quiet);
}

TEST("a command's options are not parsed if options end at the first word")
{
	{
		PARSE("-a cmd -q --output=x", OPTIONS_STOP_AT_NON_OPTION);
		EXPECT_INT(left, 3);
		EXPECT(o.all && !o.quiet && !o.output);
	}
	{
		PARSE("-a -- cmd -q", OPTIONS_STOP_AT_NON_OPTION);
		EXPECT_STR(str_text(&rest), "cmd -q");
	}
}

TEST("unknown options are retained if the caller asks for that")
{
	PARSE("-X -a --nosuch --output=y", OPTIONS_KEEP_UNKNOWN);
	EXPECT_INT(left, 2);
	EXPECT(o.all);
	EXPECT_STR(str_text(&rest), "-X --nosuch");
}

TEST("-h and --list-opts have their own results, and -h takes words")
{
	{
		PARSE("-a -h sort x", 0);
		EXPECT_INT(left, OPTIONS_HELP);
		EXPECT_STR(str_text(&rest), "sort x");
	}
	{
		PARSE("--list-opts", 0);
		EXPECT_INT(left, OPTIONS_LIST);
		EXPECT_INT(parse("--list-cmds", 0, &o, &err, &rest), OPTIONS_LIST_COMMANDS);
		EXPECT_INT(parse("--sort -h", 0, &o, &err, &rest), 0);
	}
}

static const struct option modes[] = {
	{ .kind = OPTION_BOOL, .short_name = 'a', .long_name = "add", .flags = OPTION_EXCLUSIVE, .help = "add" },
	{ .kind = OPTION_BOOL, .short_name = 'd', .long_name = "del", .flags = OPTION_EXCLUSIVE, .help = "delete" },
	OPT_END(),
};

TEST("of exclusive options only one may be given, any number of times")
{
	bool flag;
	struct error err = { 0 };
	const char *once[] = { "-a", "-a", NULL }, *both[] = { "-a", "-d", NULL }, *spelled[] = { "--add", "--del", NULL };
	EXPECT_INT(options_parse(modes, &flag, 2, once, 0, &err), 0);
	EXPECT_INT(options_parse(modes, &flag, 2, both, 0, &err), OPTIONS_BAD);
	EXPECT_STR(err.text, " Error: switch `d' cannot be used with switch `a'");
	EXPECT_INT(options_parse(modes, &flag, 2, spelled, 0, &err), OPTIONS_BAD);
	EXPECT_STR(err.text, " Error: option `del' cannot be used with option `add'");
}

static void expect_help(const char *const *only, const char *want)
{
	static const char *const usage[] = { "perf it [<options>]", "perf it -- <command>", NULL };
	struct writer out;
	writer_open(&out, -1, 0);
	options_help(table, usage, only, &out);
	writer_putc(&out, '\0');
	EXPECT_STR(out.buffer, want);
	writer_fini(&out);
}

TEST("help is sorted by switch within its groups, and long names move their text to the next line")
{
	expect_help(NULL,
		" Usage: perf it [<options>]\n"
		"    or: perf it -- <command>\n"
		"\n"
		"\n"
		"What\n"
		"    -a, --all-cpus        everything\n"
		"    -o, --output <file>   where to\n"
		"    -q, --quiet           say less\n"
		"    -s, --sort <key[,key]>\n"
		"                          order\n"
		"    -v, --verbose         say more\n"
		"\n"
		"How\n"
		"    -c, --count <n>       period\n"
		"    -g, --call-graph[=<mode>]\n"
		"                          chains\n"
		"    -i, --no-inherit      not the children\n"
		"    -L, --later           one day\n"
		"    -m, --mmap-pages <n>  pages\n"
		"    -z, --level[=<n>]     compress\n"
		"        --all-user        user\n"
		"        --buildid-all     all of them\n"
		"        --color <when>    colour\n"
		"        --later-arg <x>   one day\n"
		"        --max-stack <n>   depth\n");
}

TEST("help with a word shows the options that match or mention it")
{
	static const char *const by_switch[] = { "o", NULL }, *const by_text[] = { "depth", NULL };
	static const char *const by_name[] = { "--all-cpus", NULL };
	static const char lead[] = " Usage: perf it [<options>]\n    or: perf it -- <command>\n\n";
	char want[256];
	snprintf(want, sizeof want, "%s    -o, --output <file>   where to\n", lead);
	expect_help(by_switch, want);
	snprintf(want, sizeof want, "%s        --max-stack <n>   depth\n", lead);
	expect_help(by_text, want);
	snprintf(want, sizeof want, "%s    -a, --all-cpus        everything\n", lead);
	expect_help(by_name, want);
}

TEST("the list for completion includes the hidden options")
{
	struct writer out;
	writer_open(&out, -1, 0);
	options_list(table, &out);
	writer_putc(&out, '\0');
	EXPECT(strstr(out.buffer, "--secret ") != NULL);
	EXPECT(!strncmp(out.buffer, "--all-cpus --quiet ", 19));
	writer_fini(&out);
}

TEST("the described list for completion has the options that -h shows, with their help")
{
	static const struct option described[] = {
		OPT_GROUP("heading"),
		OPTION_LATER('l', "later", NULL, "not yet", 0),
		OPTION_ROW(BOOL, 'h', "hidden", struct sample_options, all, "hidden", .flags = OPTION_HIDDEN),
		OPT_BOOL('a', "all", struct sample_options, all, "all of them"),
		OPT_BOOL('b', NULL, struct sample_options, all, "short"),
		OPT_END(),
	};
	struct writer out;
	writer_open(&out, -1, 0);
	options_describe(described, &out);
	writer_putc(&out, '\0');
	EXPECT_STR(out.buffer, "--all\tall of them\n-b\tshort\n");
	writer_fini(&out);
}
