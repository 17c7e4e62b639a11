#include "analysis/filter/event_switch.h"

#include <errno.h>

#include "unit.h"

static bool passes(struct event_switch *s, const char *events, const char *expected)
{
	for (; *events; events++, expected++)
		if (event_switch_passes(s, (uint32_t)(*events - '0')) != (*expected == 'x'))
			return false;
	return true;
}

static struct event_switch made(const char *on, const char *off, bool show)
{
	struct event_switch s;
	event_switch_init(&s, on, off, show);
	s.on = on ? 1 : UINT32_MAX;
	s.off = off ? 2 : UINT32_MAX;
	return s;
}

TEST("without names, and zeroed, every sample passes")
{
	struct event_switch s = made(NULL, NULL, false), zeroed = { 0 };
	EXPECT(!event_switch_given(&s) && !event_switch_given(&zeroed));
	EXPECT(passes(&s, "0120", "xxxx"));
	EXPECT(passes(&zeroed, "0120", "xxxx"));
}

TEST("samples pass from the first event to the second, each time")
{
	struct event_switch s = made("a", "b", false);
	EXPECT(passes(&s, "0210" "0120" "0011", "...x" "xx.." "...x"));
	s = made("a", "b", true);
	EXPECT(passes(&s, "0210" "0120" "0011", "..xx" "xxx." "..xx"));
}

TEST("with one event alone samples pass after it, or until it")
{
	struct event_switch s = made("a", NULL, false);
	EXPECT(passes(&s, "02102", "...xx"));
	s = made(NULL, "b", false);
	EXPECT(passes(&s, "01021020", "xxx....."));
	s = made(NULL, "b", true);
	EXPECT(passes(&s, "01021020", "xxxx...."));
}

TEST("one event for both begins and ends")
{
	struct event_switch s = made("a", "a", true);
	s.off = 1;
	EXPECT(passes(&s, "010010", ".xxxx."));
}

TEST("an event that a recording lacks is named")
{
	struct evlist evlist = { 0 };
	struct error err = { 0 };
	struct event_switch s;
	event_switch_init(&s, NULL, NULL, false);
	EXPECT_INT(event_switch_find(&s, &evlist, &err), 0);
	event_switch_init(&s, NULL, "cycles", false);
	EXPECT(event_switch_find(&s, &evlist, &err) < 0);
	EXPECT_STR(err.text, "ERROR: switch-off event not found (cycles)");
	EXPECT_INT(err.sys, ENOENT);
	event_switch_init(&s, "cycles", "cycles", false);
	EXPECT(event_switch_find(&s, &evlist, &err) < 0);
	EXPECT_STR(err.text, "ERROR: switch-on event not found (cycles)");
}
