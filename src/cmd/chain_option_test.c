#include "cmd/chain_option.h"

#include "unit.h"

TEST("words of -g are accepted in any order, then a threshold, then a limit")
{
	struct error err;
	struct chain_option option = { .chain = { .mode = CHAIN_GRAPH }, .given = true };
	EXPECT_INT(chain_option_parse(&option, "callee,frac,0.25,5,addr,count", &err), 0);
	EXPECT(option.chain.mode == CHAIN_FRACTAL && option.chain.order == CHAIN_CALLEE && option.order_given);
	EXPECT(option.chain.min_percent == 0.25 && option.chain.print_limit == 5);
	EXPECT(option.chain.key == CHAIN_ADDRESS && option.chain.value == CHAIN_COUNT && !option.branch);
	EXPECT(chain_option_parse(&option, "graph,nonsense", &err) < 0);
	EXPECT_INT(chain_option_parse(&option, "none", &err), 0);
	EXPECT(option.none && !option.given && option.chain.mode == CHAIN_NONE);
	EXPECT(chain_option_word(&option, "branch", 6) && option.branch);
}
