/* bpf(2), for the files of this layer that call it. */
#pragma once
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A descriptor or another number of the command; -1: errno. */
static inline int bpf(int command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof *attr);
}
