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

TEST("a line's place and what it fetches are read part by part")
{
	struct arena arena = { 0 };
	struct probe_event event;
	EXPECT(probe_event_read(&event, "r9:g/e /bin/c:0x1234(0x40)  a=%di:s32 $stack0  b==", &arena));
	EXPECT(event.returns && event.user && !event.symbol);
	EXPECT_STR(event.group, "g");
	EXPECT_STR(event.event, "e");
	EXPECT_STR(event.path, "/bin/c");
	EXPECT_INT(event.address, 0x1234);
	EXPECT_INT(event.semaphore, 0x40);
	EXPECT_INT(event.fetches.count, 3);
	EXPECT_STR(event.fetches.items[0].name, "a");
	EXPECT_STR(event.fetches.items[0].value, "%di:s32");
	EXPECT_STR(event.fetches.items[1].name, "$stack0");
	EXPECT_STR(event.fetches.items[1].value, "$stack0");
	EXPECT_STR(event.fetches.items[2].value, "=");
	probe_event_fini(&event);
	EXPECT(probe_event_read(&event, "p:g/e mod:sym+0x10", &arena));
	EXPECT(!event.returns && !event.user && !event.address && !event.semaphore && !event.fetches.count);
	EXPECT_STR(event.path, "mod");
	EXPECT_STR(event.symbol, "sym");
	EXPECT_INT(event.offset, 16);
	probe_event_fini(&event);
	EXPECT(probe_event_read(&event, "p:g/e 0xffffffff81000000\np:g/f x", &arena));
	EXPECT(!event.path && !event.symbol && event.address == 0xffffffff81000000);
	EXPECT_STR(event.event, "e");
	probe_event_fini(&event);
	arena_fini(&arena);
}

TEST("a group's name is at most as long as the kernel allows")
{
	char name[PROBE_NAME_MAX], path[80];
	for (size_t length = PROBE_NAME_MAX - 10; length < PROBE_NAME_MAX; length++) {
		memset(path, 'x', length);
		path[length] = '\0';
		probe_group_name(path, name);
		EXPECT_INT(strlen(name), 6 + (length < PROBE_NAME_MAX - 8 ? length : PROBE_NAME_MAX - 8));
		probe_event_name(path, false, name);
		EXPECT_INT(strlen(name), PROBE_NAME_MAX - 10);
	}
	probe_event_name("a::::b..", false, name);
	EXPECT_STR(name, "a_b");
	probe_event_name("(x", false, name);
	EXPECT_STR(name, "x");
	probe_event_name("", true, name);
	EXPECT_STR(name, "___return");
	probe_group_name("plain_1.so", name);
	EXPECT_STR(name, "probe_plain_1");
}

TEST("other lines are no events of probes")
{
	static const char *const lines[] = { "", "p", "p:f", "p:g/e", "t:g/e x", "p:/e f", "p:g/ f", "e:g/e sched.sched_switch", "p:f x", "r x",
		"pg/e x", "q:g/e x", "p:g/e ", "p:g/e m:", "p:g/e +4" };
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
