#include "probe/event.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

static void expect_again(const char *line, const char *want)
{
	struct arena arena = { 0 };
	struct probe_event event;
	CLEANUP_STR struct str text = { 0 };
	EXPECT(probe_event_read(&event, line, &arena));
	probe_event_text(&event, &text);
	EXPECT_STR(str_text(&text), want);
	probe_event_fini(&event);
	arena_fini(&arena);
}

TEST("lines of the kernel's lists are read and written again")
{
	expect_again("p:probe_c/f /bin/c:0x0000000000001234 a=%di:s32 b=+8(%si)\n", "p:probe_c/f /bin/c:0x1234 a=%di:s32 b=+8(%si)");
	expect_again("r:g/e /a:b/c:0x10(0x20)", "r:g/e /a:b/c:0x10(0x20)");
	expect_again("p:probe/f ext4:ext4_sync_fs+12", "p:probe/f ext4:ext4_sync_fs+12");
	expect_again("p:probe/f vfs_read+0 arg1=%di", "p:probe/f vfs_read+0 arg1=%di");
}

TEST("other lines are no events of probes")
{
	static const char *const lines[] = { "", "p", "p:f", "p:g/e", "t:g/e x", "p:/e f", "p:g/ f", "e:g/e sched.sched_switch" };
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		struct arena arena = { 0 };
		struct probe_event event;
		EXPECT(!probe_event_read(&event, lines[i], &arena));
		probe_event_fini(&event);
		arena_fini(&arena);
	}
}

TEST("names of events and groups are those that the kernel accepts")
{
	static const struct {
		const char *function, *name;
		bool returns;
	} names[] = { { "f", "f" }, { "f", "f__return", true }, { "f.isra.0", "f" }, { "f@@V1", "f" }, { "ns::f", "ns_f" },
		{ "operator+", "operator_" }, { "biggest<int>", "biggest" }, { ".hidden", "hidden" }, { "9p", "_9p" }, { "f(int)", "f" } };
	char name[PROBE_NAME_MAX];
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		probe_event_name(names[i].function, names[i].returns, name);
		EXPECT_STR(name, names[i].name);
	}
	char longest[200];
	memset(longest, 'a', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	probe_event_name(longest, true, name);
	EXPECT(strlen(name) < PROBE_NAME_MAX && !strcmp(name + strlen(name) - 8, "__return"));
	probe_group_name("/lib/libc-2.36.so", name);
	EXPECT_STR(name, "probe_libc");
	probe_group_name(longest, name);
	EXPECT_INT(strlen(name), PROBE_NAME_MAX - 2);
}
