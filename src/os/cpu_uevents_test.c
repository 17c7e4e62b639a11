#include "os/cpu_uevents.h"

#include "unit.h"

static bool parse(const char *text, size_t len, struct cpu_uevent *event)
{
	return cpu_uevent_parse(text, len, event);
}

TEST("a message about a CPU gives its number and whether it is online")
{
	static const char off[] = "offline@/devices/system/cpu/cpu12\0ACTION=offline\0SUBSYSTEM=cpu";
	static const char on[] = "online@/devices/system/cpu/cpu0";
	struct cpu_uevent event;
	EXPECT(parse(off, sizeof off, &event) && event.cpu == 12 && !event.online);
	EXPECT(parse(on, sizeof on, &event) && event.cpu == 0 && event.online);
}

TEST("messages about other devices, and damaged ones, are no messages about a CPU")
{
	static const char *const others[] = {
		"", "offline@/devices/system/cpu/cpu", "offline@/devices/system/cpu/cpufreq", "offline@/devices/system/cpu/cpu1/cache",
		"offline@/devices/system/cpu/cpu99999999999999", "offline@/devices/system/memory/memory1", "add@/devices/system/cpu/cpu1",
	};
	struct cpu_uevent event;
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		EXPECT(!parse(others[i], strlen(others[i]) + 1, &event));
	EXPECT(!parse("offline@/devices/system/cpu/cpu1", 32, &event)); /* no end */
}
