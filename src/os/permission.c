#include "os/permission.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/file.h"
#include "os/process.h"

enum { CAPABILITY_SYS_PTRACE = 19, CAPABILITY_SYS_ADMIN = 21, CAPABILITY_PERFMON = 38, CAPABILITY_SYSLOG = 34 };

static uint64_t effective_capabilities(void)
{
	CLEANUP_STR struct str status = { 0 };
	if (file_read("/proc/self/status", &status, 64 << 10, NULL) < 0)
		return geteuid() == 0 ? ~(uint64_t)0 : 0;
	const char *at = strstr(status.text, "\nCapEff:");
	return at ? strtoull(at + strlen("\nCapEff:"), NULL, 16) : 0;
}

void permission_read(struct permission *permission)
{
	uint64_t set = effective_capabilities();
	int64_t paranoid = 2;
	file_number("/proc/sys/kernel/perf_event_paranoid", &paranoid);
	*permission = (struct permission){
		.paranoid = (int)paranoid,
		.perfmon = (set >> CAPABILITY_PERFMON & 1) || (set >> CAPABILITY_SYS_ADMIN & 1),
		.ptrace = set >> CAPABILITY_SYS_PTRACE & 1,
		.root = geteuid() == 0,
	};
}

bool permission_hides_kernel(void)
{
	int64_t restrict_level = 0;
	struct permission permission;
	permission_read(&permission);
	if (file_number("/proc/sys/kernel/kptr_restrict", &restrict_level) && restrict_level >= 2)
		return true;
	if (effective_capabilities() >> CAPABILITY_SYSLOG & 1)
		return false;
	return restrict_level == 1 || permission.paranoid > 1;
}

void permission_show_kernel(char *command, size_t size)
{
	int64_t restricted = 0, paranoid = 0;
	file_number("/proc/sys/kernel/kptr_restrict", &restricted);
	file_number("/proc/sys/kernel/perf_event_paranoid", &paranoid);
	snprintf(command, size, "sysctl%s%s", restricted > 0 || paranoid <= 1 ? " kernel.kptr_restrict=0" : "",
		paranoid > 1 ? " kernel.perf_event_paranoid=1" : "");
}

int permission_refused(struct error *err, const char *event, const char *what, int level)
{
	struct permission permission;
	permission_read(&permission);
	error_set(err, ERROR_PERMISSION, "no permission to measure %s with %s: kernel.perf_event_paranoid is %d%s",
		what, event, permission.paranoid, permission.perfmon ? "" : " and CAP_PERFMON is missing");
	char self[256];
	process_self_path(self, sizeof self, "perfuse");
	if (permission.paranoid > level)
		return error_hint(err, "sudo sysctl kernel.perf_event_paranoid=%d, or run as root, or give the program the capability: "
			"sudo setcap cap_perfmon,cap_sys_ptrace,cap_syslog=ep %s", level, self);
	return error_hint(err, "the process belongs to another user, or a security module or container forbids it: run as root, "
		"or with CAP_PERFMON and CAP_SYS_PTRACE");
}
