/* perf_event_open(2) and the ioctls of its descriptor. Only this module and ring.c include <linux/perf_event.h>. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/attr.h"

enum counter_open_flag {
	COUNTER_PID_CGROUP = 1, /* pid is a descriptor of a cgroup's folder */
};

/* pid -1: any process; cpu -1: any CPU; group -1: a leader. The attr is passed with attr->size, or the smallest size that contains its
 * fields. Returns a close-on-exec descriptor, or -errno. */
int counter_open(const struct attr *attr, pid_t pid, int cpu, int group, unsigned flags);
void counter_close(int fd);

/* All of these return 0 or -errno. */
int counter_enable(int fd);
int counter_disable(int fd);
int counter_enable_group(int fd);
int counter_disable_group(int fd);
int counter_refresh(int fd, unsigned overflows);
int counter_reset(int fd);
int counter_id(int fd, uint64_t *id);
int counter_set_filter(int fd, const char *filter);
int counter_set_bpf(int fd, int program);
int counter_set_output(int fd, int ring_fd); /* its records go to the ring of ring_fd */
int counter_pause_output(int fd, bool pause); /* for reading an overwritten ring */
/* read(2) without short reads: the number of bytes, or -errno. */
ssize_t counter_read(int fd, void *values, size_t size);

/* The kernel's limit of the frequency: kernel.perf_event_max_sample_rate; 0 if it cannot be read. */
uint64_t counter_max_rate(void);
