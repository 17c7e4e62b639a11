#include "os/code_maps.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/str.h"
#include "unit.h"

static int add_line(void *context, const struct process_map *map)
{
	if (map->prot & PROT_EXEC)
		str_printf(context, "%llx-%llx %x %x %llx %x:%x %llu %s\n", (unsigned long long)map->start, (unsigned long long)map->end, map->prot,
			map->flags, (unsigned long long)map->pgoff, map->maj, map->min, (unsigned long long)map->ino, map->path);
	return 0;
}

static int stop(void *context, const struct process_map *map)
{
	*(uint64_t *)context = map->start;
	return -7;
}

TEST("the code of a process is that of its text: anonymous, shared, of a removed file and of one with line ends in its name")
{
	char name[64], odd[80];
	snprintf(name, sizeof name, "/tmp/perfuse-code-maps-%d", (int)getpid());
	snprintf(odd, sizeof odd, "%s\na\\b\n\n", name);
	void *maps[4] = { mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) };
	int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600), other = open(odd, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	EXPECT(fd >= 0 && other >= 0 && ftruncate(fd, 16384) == 0 && ftruncate(other, 16384) == 0);
	maps[1] = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED, fd, 8192);
	maps[2] = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, other, 0);
	maps[3] = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, other, 4096);
	unlink(name);
	struct str text = { 0 }, code = { 0 };
	struct code_maps common = { 0 };
	bool timed_out = false;
	EXPECT_INT(process_maps(getpid(), 0, &timed_out, add_line, &text, NULL), 0);
	for (int i = 0; i < 2; i++) {
		str_clear(&code);
		EXPECT_INT(process_code_maps(&common, getpid(), 0, &timed_out, add_line, &code, NULL), 0);
		EXPECT_STR(str_text(&code), str_text(&text));
	}
	EXPECT(strstr(str_text(&code), "(deleted)") && strstr(str_text(&code), "\\012a\\b\\012\\012"));
	EXPECT(!timed_out);
	unlink(odd);
	for (int i = 0; i < 4; i++)
		munmap(maps[i], 4096);
	close(fd);
	close(other);
	str_fini(&text);
	str_fini(&code);
}

TEST("a visitor that stops the walk gets no further mapping, and its value is returned; a process that does not exist is an error")
{
	struct code_maps common = { 0 };
	bool timed_out = false;
	uint64_t start = 0;
	EXPECT_INT(process_code_maps(&common, getpid(), 0, &timed_out, stop, &start, NULL), -7);
	EXPECT(start != 0);
	EXPECT(process_code_maps(&common, 0x3fffffff, 0, &timed_out, stop, &start, NULL) < 0);
}
