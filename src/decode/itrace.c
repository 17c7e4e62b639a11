#include "decode/itrace.h"

#include <string.h>

enum { PERIOD_NS_DEFAULT = 100000, FRAMES_MAX = 8192 /* a record holds no more */ };

void itrace_default(struct itrace *itrace, bool branches)
{
	*itrace = (struct itrace){ .by_default = true, .transactions = true, .ptwrites = true, .power_events = true, .other_events = true,
		.interrupt_events = true, .errors = true, .first_level_cache = true, .last_level_cache = true, .tlb = true, .memory = true,
		.remote_access = true, .last_branch_size = ITRACE_LAST_BRANCH_DEFAULT };
	if (branches) {
		itrace->branches = itrace->calls = true;
		itrace->unit = ITRACE_INSTRUCTIONS;
		itrace->period = 1;
	} else {
		itrace->instructions = itrace->cycles = itrace->call_chain = itrace->add_call_chain = true;
		itrace->unit = ITRACE_NANOSECONDS;
		itrace->period = PERIOD_NS_DEFAULT;
	}
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A decimal number; false: it is too large. */
static bool take_number(const char **text, uint64_t *number)
{
	for (*number = 0; is_digit(**text); ++*text)
		if (__builtin_mul_overflow(*number, 10, number) || __builtin_add_overflow(*number, (uint64_t)(**text - '0'), number))
			return false;
	return true;
}

static bool take_word(const char **text, const char *word)
{
	size_t len = strlen(word);
	if (strncmp(*text, word, len) != 0)
		return false;
	*text += len;
	return true;
}

/* After i and y: a number, then i, t, ms, us or ns; at the end of the text, nothing is ns. */
static bool take_period(struct itrace *itrace, const char **text)
{
	while (**text == ' ' || **text == ',')
		++*text;
	if (!is_digit(**text))
		return true;
	uint64_t factor = 1;
	if (!take_number(text, &itrace->period))
		return false;
	if (take_word(text, "i")) {
		itrace->unit = ITRACE_INSTRUCTIONS;
	} else if (take_word(text, "t")) {
		itrace->unit = ITRACE_TICKS;
	} else {
		factor = take_word(text, "ms") ? 1000000 : take_word(text, "us") ? 1000 : take_word(text, "ns") || !**text ? 1 : 0;
		itrace->unit = ITRACE_NANOSECONDS;
	}
	return factor && !__builtin_mul_overflow(itrace->period, factor, &itrace->period);
}

/* After g, G, l, L: a size. */
static bool take_size(const char **text, unsigned most, unsigned *size)
{
	uint64_t number;
	while (**text == ' ' || **text == ',')
		++*text;
	if (!is_digit(**text))
		return true;
	if (!take_number(text, &number) || !number || number > most)
		return false;
	*size = (unsigned)number;
	return true;
}

/* After e and d: letters, each behind a sign. */
static bool take_flags(const char **text, uint32_t *added, uint32_t *removed)
{
	for (; (**text == '+' || **text == '-') && (*text)[1] >= 'a' && (*text)[1] <= 'z'; *text += 2)
		*(**text == '+' ? added : removed) |= 1u << ((*text)[1] - 'a');
	return **text != '+' && **text != '-';
}

static bool *flag_of(struct itrace *itrace, char letter)
{
	switch (letter) {
	case 'x': return &itrace->transactions;
	case 'w': return &itrace->ptwrites;
	case 'p': return &itrace->power_events;
	case 'I': return &itrace->interrupt_events;
	case 'o': return &itrace->other_events;
	case 'f': return &itrace->first_level_cache;
	case 'm': return &itrace->last_level_cache;
	case 't': return &itrace->tlb;
	case 'a': return &itrace->remote_access;
	case 'M': return &itrace->memory;
	case 'A': return &itrace->approximate_ipc;
	case 'Z': return &itrace->timeless;
	case 'T': return &itrace->virtual_time;
	case 'b': return &itrace->branches;
	default: return NULL;
	}
}

static bool take_letter(struct itrace *itrace, const char **text)
{
	char letter = *(*text)++;
	bool *flag = flag_of(itrace, letter);
	uint32_t ignored = 0;
	if (flag) {
		*flag = true;
		return true;
	}
	switch (letter) {
	case ' ': case ',':
		return true;
	case 'i':
		itrace->instructions = true;
		return take_period(itrace, text);
	case 'y':
		itrace->cycles = true;
		return take_period(itrace, text);
	case 'c':
		itrace->branches = itrace->calls = true;
		return true;
	case 'r':
		itrace->branches = itrace->returns = true;
		return true;
	case 'e':
		itrace->errors = true;
		return take_flags(text, &itrace->errors_shown, &itrace->errors_hidden);
	case 'd':
		itrace->dump_log = true;
		return take_flags(text, &ignored, &ignored);
	case 'g': case 'G':
		*(letter == 'g' ? &itrace->call_chain : &itrace->add_call_chain) = true;
		return take_size(text, ITRACE_CALL_CHAIN_MAX, &itrace->call_chain_size);
	case 'l': case 'L':
		*(letter == 'l' ? &itrace->last_branch : &itrace->add_last_branch) = true;
		return take_size(text, ITRACE_LAST_BRANCH_MAX, &itrace->last_branch_size);
	case 's':
		return take_number(text, &itrace->skip);
	case 'q':
		itrace->quick++;
		return true;
	default:
		return false;
	}
}

int itrace_parse(struct itrace *itrace, const char *text, bool branches, struct error *err)
{
	if (!text) {
		itrace_default(itrace, branches);
		return 0;
	}
	*itrace = (struct itrace){ .last_branch_size = ITRACE_LAST_BRANCH_DEFAULT };
	for (const char *at = text; *at;) {
		const char *letter = at;
		if (!take_letter(itrace, &at)) {
			error_set(err, ERROR_USAGE, "--itrace: '%s' is not understood at '%s'", text, letter);
			return error_hint(err, "i[PERIOD] instructions, b branches, c calls, r returns, x transactions, w ptwrite, p power, e errors, "
				"g[SIZE] call chains, l[SIZE] last branches");
		}
	}
	if ((itrace->instructions || itrace->cycles) && itrace->unit == ITRACE_DEFAULT) {
		itrace->unit = ITRACE_NANOSECONDS;
		itrace->period = PERIOD_NS_DEFAULT;
	}
	return 0;
}

unsigned itrace_max_stack(const struct itrace *itrace, unsigned limit, bool given)
{
	unsigned size = itrace->call_chain_size ? itrace->call_chain_size : given ? 0 : FRAMES_MAX;
	return itrace->call_chain && size > limit ? size : limit;
}
