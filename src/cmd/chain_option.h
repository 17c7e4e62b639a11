/* How call chains are shown: "graph,0.5,caller,function,percent", words in any order, then a threshold, then a limit. */
#pragma once
#include "analysis/entry/options.h"
#include "base/error.h"

struct chain_option {
	struct chain_options chain;
	bool given;                  /* chains are wanted */
	bool none;
	bool order_given, branch;
};

/* Applies one word; false: it is not a word about chains. Abbreviations are accepted. */
bool chain_option_word(struct chain_option *option, const char *text, size_t len);
/* Applies the words of arg to what the option holds. */
int chain_option_parse(struct chain_option *option, const char *arg, struct error *err);
