#include "tracepoint/event.h"
#include "unit.h"

#define HEAD "name: x\nID: 1\nformat:\n" \
	"\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n\tfield:char b[4];\toffset:12;\tsize:4;\tsigned:0;\n\n"

static bool print_format_is_sane(const char *print)
{
	char text[4096];
	int len = snprintf(text, sizeof text, HEAD "print fmt: %s\n", print);
	return format_is_sane(text, (size_t)len);
}

TEST("formats as the kernel writes them pass")
{
	static const char *const good[] = {
		"\"plain\"", "\"%d\" \" %s\", REC->a, REC->b", "\"%d\", (REC)->a", "\"%s\", REC->a ? \"yes\" : \"no\"",
		"\"%s\", __print_flags(REC->a, \"|\", { 1, \"ONE\" }, { (1 << 1), \"T\" \"WO\" })", "\"%d\", ((u8 *)REC->b)[1]",
		"\"%llu\", (unsigned long long)REC->a << 9 >> 2", "\"%d %d\", REC->a / 1000, REC->a % (1000UL)", "\"%c\", REC->a ? 'x' : ' '",
		"\"%d\", sizeof(struct thing)", "\"%s\", __get_str(b)", "\"%d\", REC->a / sizeof(u64)", "\"%d\", -1UL & ~REC->a",
		"\"%s\", __print_symbolic(REC->a, { -1, 0 })",
	};
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		if (!print_format_is_sane(good[i]))
			unit_fail(__FILE__, __LINE__, "refused: %s", good[i]);
	EXPECT(format_is_sane(HEAD, strlen(HEAD)));
}

TEST("formats that crash libtraceevent are rejected")
{
	static const char *const bad[] = {
		"\"%d\", REC->nowhere", "\"%s\", __print_flags(REC->c, \"|\", { 1, \"A\" })", "\"%d\", REC->a %", "\"%d\", REC->a / 0",
		"\"%d\", 5 % (1 - 1)", "\"%d\", REC->a / 2 - 2", "\"%d", "\"%d\", (REC->a", "\"%d\", REC->a)", "%d, REC->a", "\"%d\", { 1 }",
		"\"%d\", ({ int x = REC->a; x; })", "\"%d\", REC->a; REC->a", "\"%d\", 5 / 0x8000000000000000", "\"%d\", sizeof(", "\"%d\", ,",
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (print_format_is_sane(bad[i]))
			unit_fail(__FILE__, __LINE__, "let through: %s", bad[i]);
}

TEST("formats that nest too deeply or are too long are rejected")
{
	char text[8192] = "\"%d\", ";
	for (size_t i = 0; i < 2000; i++)
		strcat(text, "(");
	EXPECT(!print_format_is_sane(text));
	EXPECT(!format_is_sane("", 0));
	EXPECT(!format_is_sane("name: x\nID: 1\nformat:\n\001", 23));
}

TEST("invalid field lines are rejected")
{
	static const char *const bad[] = {
		"name: x\nID: 1\nformat:\n\tfield:int a\toffset:8;\tsize:4;\n", "name: x\nID: 1\nformat:\n\tfield:a;\toffset:8;\tsize:4;\n",
		"name: x\nID: 1\nformat:\n\tfield:int a;\toffset:-8;\tsize:4;\n", "name: x\nID: one\nformat:\n",
		"name: x\nID: 1\nformat:\n\tfield:int a[;\toffset:8;\tsize:4;\n", "ID: 1\nname: x\nformat:\n",
		"name: x\nID: 1\nformat:\n\tfield:int a;\toffset:8;\tsize:99999999999;\n",
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (format_is_sane(bad[i], strlen(bad[i])))
			unit_fail(__FILE__, __LINE__, "let through: %s", bad[i]);
}
