#include "event/event_lexer.h"

#include <string.h>

#include "unit.h"

/* The kinds of the tokens of a text, a letter for each. */
static const char *kinds_of(const char *text, char *kinds, size_t size)
{
	static const char letters[] = ".!eNSCRVMTDm;|A/,:{}=";
	struct event_lexer lexer = { .text = text };
	size_t count = 0;
	struct event_token token;
	do {
		token = event_lexer_next(&lexer);
		if (count + 1 < size)
			kinds[count++] = letters[token.kind];
	} while (token.kind != TOKEN_END);
	kinds[count] = '\0';
	return kinds;
}

TEST("a word becomes the token of its place")
{
	static const char *const rows[][2] = {
		{ "cycles", "eS." }, { "r1a8", "eR." }, { "r123456789abcdef01", "eN." }, { "u", "eM." }, { "cpu-clock:ukp", "eS:M." },
		{ "cpu-clock:ukhpukhpukhpukhpu", "eS:N." }, { "12:0x1f", "eV:V." }, { "0x12345678901234567", "eN." },
		{ "99999999999999999999:1", "e!:V." }, { "L1-dcache-loads", "eC." }, { "l1-dcache-loads", "eN." },
		{ "cpu/cycles,period=3,umask=r1,r0x1,@a=b/u", "eN/S,T=V,N=R,R,D/M." }, { "cpu-clock u#k", "eSMM." }, { "a,c", "eN,eN." },
		{ "{cpu-clock,a}:u", "{eS,eN}:M." }, { "{cpu-clock", "eS." }, { "g{a}", "N{eN}." }, { "'a:b'{c}", "N{eN}." }, { "'a b'", "eNM." },
		{ "mem:0x10/8:rw:u", "emV|V;A:M." }, { "mem:0x10/name=a/", "emV/T=N/." }, { "mem:16:rwxr", "emV;AA." }, { "", "." },
	};
	char kinds[64];
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (strcmp(kinds_of(rows[i][0], kinds, sizeof kinds), rows[i][1]) != 0)
			unit_fail(__FILE__, __LINE__, "\"%s\" is %s, expected %s", rows[i][0], kinds, rows[i][1]);
}

TEST("the name of an event is its text up to the next one")
{
	static const char *const rows[][2] = {
		{ "cpu-clock:u,faults", "cpu-clock:u" }, { "cpu/a,b/u,faults", "cpu/a,b/u" }, { "mem:0x10/8:w", "mem:0x10" },
		{ "mem:0x10/8:w,msr/tsc/", "mem:0x10/8:w,msr/tsc" }, { " a b", " a b" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct event_lexer lexer = { .text = rows[i][0] };
		struct event_token token = event_lexer_next(&lexer);
		EXPECT_INT(token.kind, TOKEN_EVENT);
		EXPECT_INT(token.length, strlen(rows[i][1]));
		EXPECT(strncmp(token.text, rows[i][1], token.length) == 0);
	}
}

TEST("a raw code has 1 to 16 digits")
{
	EXPECT(event_raw_code("r0", 2) && event_raw_code("r0123456789abcdef", 17));
	EXPECT(!event_raw_code("r", 1) && !event_raw_code("r0123456789abcdef0", 18) && !event_raw_code("rg", 2) && !event_raw_code("1a", 2));
}
