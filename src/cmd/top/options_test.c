#include "cmd/test_cli.h"
#include "cmd/top/options.h"

static int parse(struct top_options *options, int argc, const char **argv)
{
	struct test_cli t;
	struct error err;
	test_cli_open(&t);
	*options = (struct top_options){ 0 };
	top_defaults(options, &t.cli);
	int status = options_parse(top_table, options, argc, argv, 0, &err);
	test_cli_close(&t);
	return status;
}

TEST("--call-graph takes how chains are recorded and how they are shown, in any order")
{
	struct top_options options;
	const char *words[] = { "--call-graph", "dwarf,4096,caller,flat,2,7" };
	EXPECT_INT(parse(&options, 2, words), 0);
	EXPECT_INT(options.sampling.call_graph, CALL_GRAPH_DWARF);
	EXPECT_INT(options.sampling.stack_size, 4096);
	EXPECT_INT(options.chain.chain.mode, CHAIN_FLAT);
	EXPECT_INT(options.chain.chain.order, CHAIN_CALLER);
	EXPECT(options.chain.chain.min_percent == 2 && options.chain.chain.print_limit == 7);
	const char *later[] = { "--call-graph", "graph,3,unwind" };
	EXPECT_INT(parse(&options, 2, later), 0);
	EXPECT_INT(options.sampling.call_graph, CALL_GRAPH_UNWIND);
	EXPECT(options.chain.chain.min_percent == 3);
	const char *wrong[] = { "--call-graph", "dwarf,nonsense" };
	EXPECT(parse(&options, 2, wrong) < 0);
}

TEST("-g samples by frame pointers unless another way is given")
{
	struct top_options options;
	const char *plain[] = { "-g" }, *both[] = { "--call-graph", "lbr", "-g" };
	EXPECT_INT(parse(&options, 1, plain), 0);
	EXPECT_INT(options.sampling.call_graph, CALL_GRAPH_FP);
	EXPECT_INT(parse(&options, 3, both), 0);
	EXPECT_INT(options.sampling.call_graph, CALL_GRAPH_LBR);
}
