#include "cmd/report/options.h"

#include <stdlib.h>

#include "cmd/test_cli.h"

/* Defaults, then one word of the command line. */
static int parse(struct report_options *options, const char *word)
{
	struct config config = { 0 };
	struct cli cli = { .config = &config };
	struct error err = { 0 };
	const char *words[] = { word, NULL };
	*options = (struct report_options){ 0 };
	report_defaults(options, &cli);
	return options_parse(report_table, options, word ? 1 : 0, words, 0, &err);
}

TEST("without options, chains are graphs of callees above half a percent")
{
	struct report_options options;
	EXPECT_INT(parse(&options, NULL), 0);
	EXPECT(options.chain.mode == CHAIN_GRAPH && options.chain.order == CHAIN_CALLEE && options.chain.min_percent == 0.5);
	EXPECT(options.children && options.group && options.skip_empty && options.inline_names && !options.chain_given);
	EXPECT_INT(options.max_stack, 127);
	EXPECT_INT(options.branch_mode, -1);
	EXPECT_INT(options.socket_filter, -1);
	EXPECT_INT(options.time_quantum_ns, 100000000);
}

TEST("-g takes words in any order and abbreviated, then a threshold, then a limit")
{
	struct report_options options;
	EXPECT_INT(parse(&options, "-gcaller,function,flat,2.5,7,period"), 0);
	EXPECT(options.chain.mode == CHAIN_FLAT && options.chain.order == CHAIN_CALLER && options.chain.key == CHAIN_FUNCTION);
	EXPECT(options.chain.min_percent == 2.5 && options.chain.print_limit == 7 && options.chain.value == CHAIN_PERIOD);
	EXPECT(options.chain_given && !options.chain_none && options.chain_order_given && !options.chain_branch);
	EXPECT_INT(parse(&options, "-gfr,a,,s,b,cou"), 0);
	EXPECT(options.chain.mode == CHAIN_FRACTAL && options.chain.key == CHAIN_SRCLINE && options.chain.value == CHAIN_COUNT);
	EXPECT(options.chain_branch && !options.chain_order_given);
	EXPECT_INT(parse(&options, "-gc"), 0); /* the first word that it abbreviates */
	EXPECT(options.chain.order == CHAIN_CALLER && options.chain_order_given);
	EXPECT_INT(parse(&options, "-gf"), 0);
	EXPECT(options.chain.mode == CHAIN_FLAT);
}

TEST("-g none turns chains off, and what is neither a word nor a number is refused")
{
	struct report_options options;
	EXPECT_INT(parse(&options, "-gcaller,none,flat"), 0);
	EXPECT(options.chain.mode == CHAIN_NONE && options.chain_none && !options.chain_given);
	EXPECT_INT(parse(&options, "--no-call-graph"), 0);
	EXPECT(options.chain.mode == CHAIN_NONE && options.chain_none);
	EXPECT_INT(parse(&options, "-gcallers"), OPTIONS_BAD);
	EXPECT_INT(parse(&options, "-gx"), OPTIONS_BAD);
}

TEST("a time quantum has a unit, seconds to nanoseconds, and is not 0")
{
	static const struct { const char *word; uint64_t ns; } good[] = {
		{ "--time-quantum=3", 3 }, { "--time-quantum=3ns", 3 }, { "--time-quantum=3us", 3000 }, { "--time-quantum=3 ms", 3000000 },
		{ "--time-quantum=3s", 3000000000 },
	};
	static const char *const bad[] = { "--time-quantum=0", "--time-quantum=0s", "--time-quantum=ms", "--time-quantum=3m",
		"--time-quantum=3msx" };
	struct report_options options;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		EXPECT_INT(parse(&options, good[i].word), 0);
		EXPECT_INT(options.time_quantum_ns, good[i].ns);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		EXPECT_INT(parse(&options, bad[i]), OPTIONS_BAD);
}

TEST("words of other options are taken whole, and nothing else")
{
	struct report_options options;
	EXPECT_INT(parse(&options, "--percentage=relative"), 0);
	EXPECT(options.relative);
	EXPECT_INT(parse(&options, "--percentage=absolute"), 0);
	EXPECT(!options.relative);
	EXPECT_INT(parse(&options, "--percentage=rel"), OPTIONS_BAD);
	EXPECT_INT(parse(&options, "--percent-type=local-hits"), 0);
	EXPECT_INT(parse(&options, "--percent-type=local"), OPTIONS_BAD);
	EXPECT_INT(parse(&options, "--stdio-color=never"), 0);
	EXPECT(options.colour == COLOUR_NEVER);
	EXPECT_INT(parse(&options, "--stdio-color=auto"), 0);
	EXPECT(options.colour == COLOUR_AUTO);
	EXPECT_INT(parse(&options, "--stdio-color"), 0);
	EXPECT(options.colour == COLOUR_ALWAYS);
	EXPECT_INT(parse(&options, "--stdio-color=sometimes"), OPTIONS_BAD);
	EXPECT_INT(parse(&options, "--ignore-callees=(a"), OPTIONS_BAD);
	EXPECT_INT(parse(&options, "--ignore-callees=^a"), 0);
	EXPECT_STR(options.ignore_callees, "^a");
	EXPECT_INT(parse(&options, "--percent-limit=3"), 0);
	EXPECT(options.percent_limit == 3 && options.chain.min_percent == 3);
	EXPECT_INT(parse(&options, "-b"), 0);
	EXPECT_INT(options.branch_mode, 1);
	EXPECT_INT(parse(&options, "--no-branch-stack"), 0);
	EXPECT_INT(options.branch_mode, 0);
}

TEST("the configuration changes the defaults")
{
	struct config config = { 0 };
	struct cli cli = { .config = &config };
	struct report_options options = { 0 };
	config_set(&config, CONFIG_USER, "report.children", "false");
	config_set(&config, CONFIG_USER, "report.percent-limit", "4");
	config_set(&config, CONFIG_USER, "call-graph.print-type", "folded");
	config_set(&config, CONFIG_USER, "call-graph.order", "caller");
	config_set(&config, CONFIG_USER, "call-graph.sort-key", "address");
	config_set(&config, CONFIG_USER, "call-graph.print-limit", "12");
	report_defaults(&options, &cli);
	EXPECT(!options.children && options.group && options.percent_limit == 4 && options.chain.min_percent == 4);
	EXPECT(options.chain.mode == CHAIN_FOLDED && options.chain.order == CHAIN_CALLER && options.chain.key == CHAIN_ADDRESS);
	EXPECT_INT(options.chain.print_limit, 12);
	config_set(&config, CONFIG_USER, "call-graph.threshold", "1.5");
	report_defaults(&options, &cli);
	EXPECT(options.percent_limit == 4 && options.chain.min_percent == 1.5);
	config_fini(&config);
}
