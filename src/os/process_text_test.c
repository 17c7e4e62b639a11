#include "os/process_text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "unit.h"

TEST("a status text yields name, ids and owner, whatever the name contains")
{
	struct process_status status;
	process_status_parse("Name:\tTgid:\t5 x\nUmask:\t0022\nTgid:\t41\nPPid:\t7\nUid:\t1000\t0\t0\t0\nVmPeak:\t1 kB\nThreads:\t2\n"
		"voluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t545\n", &status);
	EXPECT_INT(status.switches, 695);
	EXPECT_STR(status.comm, "Tgid:\t5 x");
	EXPECT(status.tgid == 41);
	EXPECT(status.ppid == 7);
	EXPECT(status.uid == 1000);
	EXPECT(!status.kernel);
}

TEST("a task without memory is a kernel thread; a text without ids yields none; a long name is truncated")
{
	struct process_status status;
	process_status_parse("Name:\tkthreadd\nTgid:\t2\nPPid:\t0\nUid:\t0\nThreads:\t1\n", &status);
	EXPECT(status.kernel);
	process_status_parse("", &status);
	EXPECT(status.tgid == -1);
	process_status_parse("Name:\t0123456789abcdefghij", &status);
	EXPECT_STR(status.comm, "0123456789abcde");
}

TEST("a stat text yields name, ids, threads and whether there is memory, whatever the name contains")
{
	struct process_status status;
	process_stat_parse("41 (a) S 1 (\n\\x) S 7 41 41 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 3 0 99 4096 12\n", &status);
	EXPECT_STR(status.comm, "a) S 1 (\\n\\\\x");
	EXPECT(status.tgid == 41);
	EXPECT(status.ppid == 7);
	EXPECT(status.threads == 3);
	EXPECT(!status.kernel);
	process_stat_parse("2 (0123456789abcd\n) S 0 0 0 0 -1 2129984 0 0 0 0 0 1 0 0 20 0 1 0 6 0 0", &status);
	EXPECT_STR(status.comm, "0123456789abcd\\");
	EXPECT(status.kernel);
	EXPECT(status.ppid == 0);
}

TEST("a stat text that ends before the size of the memory is invalid, except if only its last number is cut")
{
	const char *whole = "41 (x) S 7 41 41 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 3 0 99 4096";
	struct process_status status;
	for (size_t len = 0; len <= strlen(whole); len++) {
		char *part = strndup(whole, len);
		process_stat_parse(part, &status);
		EXPECT_INT(status.tgid, len > strlen(whole) - 4 ? 41 : -1);
		free(part);
	}
}

TEST("a line of maps yields range, rights, file and path")
{
	struct process_map map;
	EXPECT(process_map_parse("7f00-7fff r-xs 0000a000 fd:1f 1234   /lib/a b.so (deleted)", &map));
	EXPECT(map.start == 0x7f00);
	EXPECT(map.end == 0x7fff);
	EXPECT(map.prot == (PROT_READ | PROT_EXEC));
	EXPECT(map.flags == MAP_SHARED);
	EXPECT(map.pgoff == 0xa000);
	EXPECT(map.maj == 0xfd);
	EXPECT(map.min == 0x1f);
	EXPECT(map.ino == 1234);
	EXPECT_STR(map.path, "/lib/a b.so (deleted)");
	EXPECT(process_map_parse("1-2 -w-p 0 0:0 0", &map));
	EXPECT_STR(map.path, "");
	EXPECT(map.prot == PROT_WRITE);
	EXPECT(map.flags == MAP_PRIVATE);
}

TEST("truncated lines and empty ranges are rejected")
{
	const char *whole = "7f00-7fff r-xs 0000a000 fd:1f 1234";
	struct process_map map;
	EXPECT(!process_map_parse("2-2 r--p 0 0:0 0", &map));
	EXPECT(!process_map_parse("zz", &map));
	for (size_t len = 0; len < strlen("7f00-7fff r-xs 0000a000 fd:1f "); len++) {
		char *part = strndup(whole, len);
		EXPECT(!process_map_parse(part, &map));
		free(part);
	}
}
