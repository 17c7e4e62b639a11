/* A workload of two system calls whose arguments a tracer shows by name; the kernel refuses both. */
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "workload/programs.h"

#ifndef SYS_landlock_add_rule
#define SYS_landlock_add_rule 445 /* since Linux 5.13, the same number on all architectures but Alpha */
#endif

/* include/uapi/linux/landlock.h, which older systems lack. */
enum { PATH_BENEATH = 1, NET_PORT = 2, READ_FILE = 1 << 2, CONNECT_TCP = 1 << 1 };
/* The numbers that perf's test expects. No such ruleset is open, and no such flags exist. */
enum { RULESET = 11, FOLDER = 14, PORT = 19, FLAGS = 45 };

int landlock(int argc, const char **argv)
{
	struct __attribute__((packed)) {
		uint64_t access;
		int32_t folder;
	} path = { READ_FILE, FOLDER };
	struct {
		uint64_t access, port;
	} net = { CONNECT_TCP, PORT };
	(void)argc, (void)argv;
	syscall(SYS_landlock_add_rule, RULESET, PATH_BENEATH, &path, FLAGS);
	syscall(SYS_landlock_add_rule, RULESET, NET_PORT, &net, FLAGS);
	return 0;
}
