#include "os/counter.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/file.h"

int counter_open(const struct attr *attr, pid_t pid, int cpu, int group, unsigned flags)
{
	uint8_t bytes[ATTR_SIZE_VER9];
	memset(bytes, 0, sizeof bytes);
	attr_encode(attr, bytes);
	unsigned long kernel_flags = PERF_FLAG_FD_CLOEXEC;
	if (flags & COUNTER_PID_CGROUP)
		kernel_flags |= PERF_FLAG_PID_CGROUP;
	long fd = syscall(SYS_perf_event_open, bytes, pid, cpu, group, kernel_flags);
	return fd < 0 ? -errno : (int)fd;
}

void counter_close(int fd)
{
	if (fd >= 0)
		close(fd);
}

static int counter_ioctl(int fd, unsigned long request, unsigned long argument)
{
	while (ioctl(fd, request, argument) != 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

int counter_enable(int fd)
{
	return counter_ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}

int counter_disable(int fd)
{
	return counter_ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
}

int counter_enable_group(int fd)
{
	return counter_ioctl(fd, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
}

int counter_disable_group(int fd)
{
	return counter_ioctl(fd, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
}

int counter_refresh(int fd, unsigned overflows)
{
	return counter_ioctl(fd, PERF_EVENT_IOC_REFRESH, overflows);
}

int counter_reset(int fd)
{
	return counter_ioctl(fd, PERF_EVENT_IOC_RESET, 0);
}

int counter_id(int fd, uint64_t *id)
{
	return counter_ioctl(fd, PERF_EVENT_IOC_ID, (unsigned long)id);
}

int counter_set_filter(int fd, const char *filter)
{
	return counter_ioctl(fd, PERF_EVENT_IOC_SET_FILTER, (unsigned long)filter);
}

int counter_set_bpf(int fd, int program)
{
	return counter_ioctl(fd, PERF_EVENT_IOC_SET_BPF, (unsigned long)program);
}

int counter_set_output(int fd, int ring_fd)
{
	return counter_ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)ring_fd);
}

int counter_pause_output(int fd, bool pause)
{
	return counter_ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, pause);
}

ssize_t counter_read(int fd, void *values, size_t size)
{
	for (;;) {
		ssize_t n = read(fd, values, size);
		if (n >= 0)
			return n;
		if (errno != EINTR)
			return -errno;
	}
}

uint64_t counter_max_rate(void)
{
	int64_t rate;
	return file_number("/proc/sys/kernel/perf_event_max_sample_rate", &rate) && rate > 0 ? (uint64_t)rate : 0;
}
