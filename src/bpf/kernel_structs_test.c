#include "bpf/kernel_structs.h"

#include <string.h>

#include "unit.h"

static bool opened(struct kernel_structs *types)
{
	struct error err = { 0 };
	if (kernel_structs_open(types, &err) == 0)
		return true;
	unit_skip(err.text);
	return false;
}

static void prints(struct kernel_structs *types, const char *name, const void *bytes, size_t size, const char *text)
{
	struct writer out;
	uint32_t whole, id = kernel_structs_find(types, name, strlen(name), &whole);
	EXPECT(id && size <= whole);
	writer_open(&out, -1, 512);
	kernel_structs_print(types, id, bytes, size, false, &out);
	writer_putc(&out, '\0');
	EXPECT_STR(out.buffer, text);
	writer_fini(&out);
}

TEST("a structure of the kernel is found by its name, and has its members as text")
{
	struct kernel_structs types;
	uint32_t size = 1;
	if (!opened(&types))
		return;
	EXPECT(kernel_structs_find(&types, "rlimit64 *", 8, &size) != 0);
	EXPECT_INT(size, 16);
	EXPECT_INT(kernel_structs_find(&types, "no_such_structure", 17, &size), 0);
	EXPECT_INT(kernel_structs_find(&types, "rlimit64", 0, &size), 0);
	const uint64_t limits[] = { 1024, 0 };
	prints(&types, "rlimit64", limits, sizeof limits, "(struct rlimit64){.rlim_cur = (__u64)1024,}");
	const int64_t times[] = { -1, 5 };
	prints(&types, "__kernel_timespec", times, sizeof times,
		"(struct __kernel_timespec){.tv_sec = (__kernel_time64_t)-1,.tv_nsec = (long long int)5,}");
	kernel_structs_close(&types);
}

TEST("a value of an enumeration has its name, and an enumeration is no structure")
{
	struct kernel_structs types;
	uint32_t size;
	if (!opened(&types))
		return;
	EXPECT_STR(kernel_structs_enumerator(&types, "hrtimer_restart", 1), "HRTIMER_RESTART");
	EXPECT_STR(kernel_structs_enumerator(&types, "hrtimer_restart", 0), "HRTIMER_NORESTART");
	EXPECT(!kernel_structs_enumerator(&types, "hrtimer_restart", 77));
	EXPECT(!kernel_structs_enumerator(&types, "rlimit64", 0) && !kernel_structs_enumerator(&types, "no_such_enumeration", 0));
	EXPECT_INT(kernel_structs_find(&types, "hrtimer_restart", 15, &size), 0);
	kernel_structs_close(&types);
}

TEST("the member of a union is found by its name, or by one of its members")
{
	struct kernel_structs types;
	uint32_t size;
	if (!opened(&types))
		return;
	uint32_t id = kernel_structs_find(&types, "bpf_attr", 8, &size), create = kernel_structs_member(&types, id, "map_type");
	EXPECT(id && create && create != id);
	EXPECT(kernel_structs_member(&types, id, "prog_type") != create);
	EXPECT(kernel_structs_member(&types, id, "link_create") != 0);
	EXPECT_INT(kernel_structs_member(&types, id, "no_such_member"), 0);
	const uint32_t numbers[] = { 1, 4, 0, 16 };
	struct writer out;
	writer_open(&out, -1, 512);
	kernel_structs_print(&types, create, (const uint8_t *)numbers, sizeof numbers, false, &out);
	kernel_structs_print(&types, create, (const uint8_t *)numbers, sizeof numbers, true, &out);
	writer_putc(&out, '\0');
	EXPECT_STR(out.buffer, "(struct){.map_type = (__u32)1,.key_size = (__u32)4,.max_entries = (__u32)16,}{1,4,16,}");
	writer_fini(&out);
	kernel_structs_close(&types);
}

TEST("members beyond the bytes are left out, and control characters are numbers")
{
	struct kernel_structs types;
	if (!opened(&types))
		return;
	const uint64_t limits[] = { 7, 8 };
	prints(&types, "rlimit64", limits, 8, "(struct rlimit64){.rlim_cur = (__u64)7,}");
	struct writer out;
	uint32_t size, id = kernel_structs_find(&types, "new_utsname", 11, &size);
	EXPECT(id != 0);
	writer_open(&out, -1, 512);
	kernel_structs_print(&types, id, (const uint8_t *)"\033[31m\n\177\377", 8, false, &out);
	EXPECT(out.len > 20);
	for (size_t i = 0; i < out.len; i++)
		EXPECT(out.buffer[i] >= ' ' && out.buffer[i] <= '~');
	writer_fini(&out);
	kernel_structs_close(&types);
}
