#include "os/cpu_uevents.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "os/cpus.h"

/* Messages that begin with "online" or "offline" alone: a host of containers sends many others, which should not wake anybody. */
static int filter(int fd)
{
	enum { ONLI = 0x6f6e6c69, OFFL = 0x6f66666c, ALL = 0xffff };
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ONLI, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OFFL, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, ALL),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	const struct sock_fprog program = { .len = sizeof steps / sizeof steps[0], .filter = steps };
	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

int cpu_uevents_open(void)
{
	const struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);
	if (fd < 0)
		return -1;
	if (filter(fd) == 0 && bind(fd, (const struct sockaddr *)&address, sizeof address) == 0)
		return fd;
	close(fd);
	return -1;
}

bool cpu_uevent_parse(const char *text, size_t len, struct cpu_uevent *event)
{
	static const char *const actions[] = { "offline@/devices/system/cpu/cpu", "online@/devices/system/cpu/cpu" };
	const char *end = memchr(text, '\0', len);
	if (!end)
		return false;
	for (int i = 0; i < 2; i++) {
		size_t prefix = strlen(actions[i]);
		if ((size_t)(end - text) <= prefix || memcmp(text, actions[i], prefix) != 0)
			continue;
		int32_t cpu = 0;
		for (const char *at = text + prefix; at < end; at++) {
			if (*at < '0' || *at > '9')
				return false;
			cpu = cpu * 10 + (*at - '0');
			if (cpu >= CPUS_MAX)
				return false;
		}
		*event = (struct cpu_uevent){ .cpu = cpu, .online = i == 1 };
		return true;
	}
	return false;
}

bool cpu_uevents_next(int fd, struct cpu_uevent *event)
{
	char text[2048 + 1]; /* the kernel's own limit of a message (UEVENT_BUFFER_SIZE), and its header line's NUL */
	for (;;) {
		struct sockaddr_nl sender = { 0 };
		socklen_t size = sizeof sender;
		ssize_t n = recvfrom(fd, text, sizeof text, MSG_DONTWAIT, (struct sockaddr *)&sender, &size);
		if (n < 0 && (errno == EINTR || errno == ENOBUFS))
			continue;
		if (n < 0)
			return false;
		if (sender.nl_pid == 0 && cpu_uevent_parse(text, (size_t)n, event))
			return true;
	}
}
