#include "cmd/chain_option.h"

#include <stdlib.h>
#include <string.h>

static bool is_abbreviation(const char *word, size_t len, const char *whole)
{
	return strncmp(word, whole, len) == 0 && len <= strlen(whole);
}

struct chain_word {
	const char *word;
	enum { WORD_MODE, WORD_ORDER, WORD_KEY, WORD_VALUE, WORD_BRANCH } what;
	int value;
};

/* In the order in which an abbreviation is tried. */
static const struct chain_word chain_words[] = {
	{ "graph", WORD_MODE, CHAIN_GRAPH }, { "flat", WORD_MODE, CHAIN_FLAT }, { "fractal", WORD_MODE, CHAIN_FRACTAL },
	{ "folded", WORD_MODE, CHAIN_FOLDED }, { "caller", WORD_ORDER, CHAIN_CALLER }, { "callee", WORD_ORDER, CHAIN_CALLEE },
	{ "function", WORD_KEY, CHAIN_FUNCTION }, { "address", WORD_KEY, CHAIN_ADDRESS }, { "srcline", WORD_KEY, CHAIN_SRCLINE },
	{ "branch", WORD_BRANCH, 0 }, { "percent", WORD_VALUE, CHAIN_PERCENT }, { "period", WORD_VALUE, CHAIN_PERIOD },
	{ "count", WORD_VALUE, CHAIN_COUNT },
};

bool chain_option_word(struct chain_option *option, const char *text, size_t len)
{
	for (size_t i = 0; i < sizeof chain_words / sizeof *chain_words; i++) {
		const struct chain_word *word = &chain_words[i];
		if (!is_abbreviation(text, len, word->word))
			continue;
		if (word->what == WORD_MODE)
			option->chain.mode = (enum chain_mode)word->value;
		else if (word->what == WORD_KEY)
			option->chain.key = (enum chain_key)word->value;
		else if (word->what == WORD_VALUE)
			option->chain.value = (enum chain_value)word->value;
		else if (word->what == WORD_ORDER)
			option->chain.order = (enum chain_order)word->value;
		option->order_given |= word->what == WORD_ORDER;
		option->branch |= word->what == WORD_BRANCH;
		return true;
	}
	return false;
}

static int refuse_chain(struct error *err, const char *arg)
{
	return error_set(err, ERROR_OPTION, "-g does not take '%s'", arg);
}

int chain_option_parse(struct chain_option *option, const char *arg, struct error *err)
{
	bool threshold_given = false;
	for (const char *word = arg, *end; *word; word = end) {
		size_t len = strcspn(word, ",");
		char *rest;
		end = word[len] ? word + len + 1 : word + len;
		if (!len)
			continue;
		if (is_abbreviation(word, len, "none")) {
			option->given = false;
			option->none = true;
			option->chain.mode = CHAIN_NONE;
			return 0;
		}
		if (chain_option_word(option, word, len))
			continue;
		if (!threshold_given)
			option->chain.min_percent = strtod(word, &rest);
		else
			option->chain.print_limit = (uint32_t)strtoul(word, &rest, 0);
		if (rest == word)
			return refuse_chain(err, arg);
		threshold_given = true;
	}
	return option->chain.mode == CHAIN_NONE ? refuse_chain(err, arg) : 0;
}
