#include "probe/spec.h"

#include <string.h>

#include "unit.h"

static const char *place_of(const char *text)
{
	static char shown[256];
	struct probe_spec spec;
	struct error err;
	CLEANUP_STR struct str place = { 0 };
	if (probe_spec_parse(&spec, text, &err) == 0)
		probe_spec_place(&spec, &place);
	else
		str_puts(&place, err.text);
	snprintf(shown, sizeof shown, "%s", str_text(&place));
	probe_spec_fini(&spec);
	return shown;
}

TEST("a definition's place has a function, a file, an offset, a line, a return or a pattern")
{
	EXPECT_STR(place_of("main"), "main");
	EXPECT_STR(place_of("main+0x10"), "main+16");
	EXPECT_STR(place_of("main@a.c:3"), "main:3@a.c");
	EXPECT_STR(place_of("main%return"), "main%return");
	EXPECT_STR(place_of("src/a.c:12"), "@src/a.c:12");
	EXPECT_STR(place_of("grp:ev=main"), "main");
	EXPECT_STR(place_of("\"ns::f(int, char)\" x"), "ns::f(int, char)");
	EXPECT_STR(place_of("ns\\:\\:f"), "ns::f");
	EXPECT_STR(place_of("main:"), "main");
}

TEST("contradictions and errors of a definition are refused with perf's sentences")
{
	EXPECT_STR(place_of("main:3+4"), "Offset can't be used with line number.");
	EXPECT_STR(place_of("main:3;a=*"), "Lazy pattern can't be used with line number.");
	EXPECT_STR(place_of("main+3;a=*"), "Lazy pattern can't be used with offset.");
	EXPECT_STR(place_of("@a.c"), "File always requires line number or lazy pattern.");
	EXPECT_STR(place_of("+3"), "Offset requires an entry function.");
	EXPECT_STR(place_of("main+3%return"), "Offset/Line/Lazy pattern can't be used with return probe.");
	EXPECT_STR(place_of("main%return;a=*"), "Offset/Line/Lazy pattern can't be used with return probe.");
	EXPECT_STR(place_of("main:3%return"), "Offset/Line/Lazy pattern can't be used with return probe.");
	EXPECT_STR(place_of("main%entry"), "%entry is not supported.");
	EXPECT_STR(place_of("a b=main"), "a");
	EXPECT_STR(place_of("9a=main"), "9a is bad for event name -it must follow C symbol-naming rule.");
	EXPECT_STR(place_of("main+x"), "There is non-digit character in offset: 'x'");
	EXPECT_STR(place_of("main%return a"), "You can't specify local variable for kretprobe.");
	EXPECT_STR(place_of("main a[x]"), "Array index must be a number.");
	EXPECT_STR(place_of(" "), "the probe definition is empty");
}

TEST("an argument consists of a name, a variable with fields, and a type")
{
	struct probe_spec spec;
	struct error err;
	EXPECT(probe_spec_parse(&spec, "f n=a->b.c[-3]:s32 %di", &err) == 0);
	EXPECT_INT(spec.arguments.count, 2);
	const struct probe_argument *a = &spec.arguments.items[0];
	EXPECT_STR(a->name, "n");
	EXPECT_STR(a->variable, "a");
	EXPECT_STR(a->type, "s32");
	EXPECT_INT(a->fields.count, 3);
	EXPECT_STR(a->fields.items[0].name, "b");
	EXPECT(a->fields.items[0].pointer && !a->fields.items[1].pointer);
	EXPECT(!a->fields.items[2].name && a->fields.items[2].index == -3);
	EXPECT_STR(spec.arguments.items[1].variable, "%di");
	probe_spec_fini(&spec);
}

TEST("an event at a line of a function is named after both")
{
	struct probe_spec spec;
	struct error err;
	EXPECT(probe_spec_parse(&spec, "f:7", &err) == 0);
	EXPECT_STR(spec.event, "f_L7");
	probe_spec_fini(&spec);
}

TEST("a range of lines has a first and a last line, or a number of lines")
{
	struct probe_range range;
	struct error err;
	EXPECT(probe_range_parse(&range, "f:3+2", &err) == 0);
	EXPECT(range.first == 3 && range.last == 4);
	EXPECT_STR(range.function, "f");
	probe_range_fini(&range);
	EXPECT(probe_range_parse(&range, "a.c:3-9", &err) == 0);
	EXPECT(range.first == 3 && range.last == 9);
	EXPECT_STR(range.file, "a.c");
	probe_range_fini(&range);
	EXPECT(probe_range_parse(&range, "f:9-3", &err) < 0);
	probe_range_fini(&range);
}
