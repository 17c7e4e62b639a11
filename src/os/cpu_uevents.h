/* The kernel's messages about CPUs that go offline or come online (NETLINK_KOBJECT_UEVENT). Messages of other senders are ignored. A
 * container with a user namespace of its own receives none; messages may also be lost: the caller compares lists of CPUs at the end. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpu_uevent {
	int32_t cpu;
	bool online;
};

/* A descriptor to wait on, or -1 where there are no such messages. */
int cpu_uevents_open(void);
/* The next message about a CPU; false: none is pending. */
bool cpu_uevents_next(int fd, struct cpu_uevent *event);
/* One message: "offline@/devices/system/cpu/cpu1" and fields, each ended by a NUL. False: it is about something else. */
bool cpu_uevent_parse(const char *text, size_t len, struct cpu_uevent *event);
