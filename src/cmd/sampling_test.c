#include "cmd/sampling.h"

#include <stdio.h>

#include "os/machine.h"
#include "unit.h"

TEST("a size has a unit or is plain, and must fit 64 bits")
{
	uint64_t value;
	bool plain;
	EXPECT(size_parse("64K", &value, &plain) && value == 65536 && !plain);
	EXPECT(size_parse("3b", &value, &plain) && value == 3 && !plain);
	EXPECT(size_parse("17", &value, &plain) && value == 17 && plain);
	EXPECT(!size_parse("17KB", &value, &plain) && !size_parse("-1", &value, &plain) && !size_parse("", &value, &plain));
	EXPECT(size_parse("17179869183G", &value, &plain) && !size_parse("17179869184G", &value, &plain));
}

TEST("pages are rounded up to a power of two, bytes to pages first")
{
	struct error err;
	size_t pages = 0;
	bool rounded = false;
	char bytes[32];
	EXPECT(pages_parse("5", &pages, &rounded, &err) == 0 && pages == 8 && rounded);
	EXPECT(pages_parse("8,4", &pages, &rounded, &err) == 0 && pages == 8 && !rounded);
	snprintf(bytes, sizeof bytes, "%lluB", (unsigned long long)machine_page_size() + 1);
	EXPECT(pages_parse(bytes, &pages, &rounded, &err) == 0 && pages == 2 && rounded);
	EXPECT(pages_parse("0", &pages, &rounded, &err) < 0 && pages_parse(NULL, &pages, &rounded, &err) < 0);
	EXPECT(pages_parse("3x", &pages, &rounded, &err) < 0);
}
