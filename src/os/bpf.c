#include "os/bpf.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/str.h"
#include "os/file.h"

enum { PROGRAMS_MAX = 65536, FUNCTIONS_MAX = 4096, KALLSYMS_MAX = 64 << 20 };

static long bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof *attr);
}

static int next_program(uint32_t id, uint32_t *next)
{
	union bpf_attr attr;
	memset(&attr, 0, sizeof attr);
	attr.start_id = id;
	if (bpf(BPF_PROG_GET_NEXT_ID, &attr) != 0)
		return -1;
	*next = attr.next_id;
	return 0;
}

static int open_program(uint32_t id)
{
	union bpf_attr attr;
	memset(&attr, 0, sizeof attr);
	attr.prog_id = id;
	return (int)bpf(BPF_PROG_GET_FD_BY_ID, &attr);
}

static int program_info(int fd, struct bpf_prog_info *info)
{
	union bpf_attr attr;
	memset(&attr, 0, sizeof attr);
	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = sizeof *info;
	attr.info.info = (uint64_t)(uintptr_t)info;
	return (int)bpf(BPF_OBJ_GET_INFO_BY_FD, &attr);
}

static void read_program(struct bpf_programs *programs, uint32_t id)
{
	CLEANUP_FD int fd = open_program(id);
	struct bpf_prog_info info;
	memset(&info, 0, sizeof info);
	if (fd < 0 || program_info(fd, &info) != 0 || !info.nr_jited_ksyms || info.nr_jited_ksyms > FUNCTIONS_MAX ||
	    info.nr_jited_func_lens != info.nr_jited_ksyms)
		return;
	uint32_t count = info.nr_jited_ksyms;
	uint8_t tag[8];
	memcpy(tag, info.tag, sizeof tag);
	CLEANUP_FREE uint64_t *addresses = memory_zero(count, sizeof *addresses);
	CLEANUP_FREE uint32_t *lengths = memory_zero(count, sizeof *lengths);
	memset(&info, 0, sizeof info);
	info.nr_jited_ksyms = info.nr_jited_func_lens = count;
	info.jited_ksyms = (uint64_t)(uintptr_t)addresses;
	info.jited_func_lens = (uint64_t)(uintptr_t)lengths;
	if (program_info(fd, &info) != 0 || !addresses[0])
		return;
	struct bpf_program *program = vec_add(&programs->list);
	*program = (struct bpf_program){ .id = id, .first = (uint32_t)programs->symbols.count, .count = count };
	memcpy(program->tag, tag, sizeof tag);
	char name[40] = "bpf_prog_";
	for (int i = 0; i < 8; i++)
		snprintf(name + 9 + 2 * i, sizeof name - 9 - 2 * (size_t)i, "%02x", tag[i]);
	for (uint32_t i = 0; i < count; i++) {
		struct bpf_symbol *symbol = vec_add(&programs->symbols);
		*symbol = (struct bpf_symbol){ addresses[i], lengths[i], arena_string(&programs->arena, name, strlen(name)) };
	}
}

/* Full names stand in /proc/kallsyms, behind the modules: "ffffffffc0022124 t bpf_prog_59f4a931744dcdc6_name\t[bpf]". */
static void find_names(struct bpf_programs *programs)
{
	struct idmap by_address = { 0 };
	CLEANUP_STR struct str text = { 0 };
	if (file_read("/proc/kallsyms", &text, KALLSYMS_MAX, NULL) < 0)
		return;
	for (uint32_t i = 0; i < programs->symbols.count; i++)
		idmap_set(&by_address, programs->symbols.items[i].address, i);
	static const char mark[] = " bpf_prog_";
	for (char *at = text.text; at && (at = strstr(at, mark)); at++) {
		if (at - text.text < 18)
			continue;
		uint32_t index = idmap_get(&by_address, strtoull(at - 18, NULL, 16));
		if (index != IDMAP_NONE)
			programs->symbols.items[index].name = arena_string(&programs->arena, at + 1, strcspn(at + 1, "\t\n"));
	}
	idmap_fini(&by_address);
}

void bpf_programs_read(struct bpf_programs *programs)
{
	uint32_t id = 0;
	*programs = (struct bpf_programs){ 0 };
	for (int i = 0; i < PROGRAMS_MAX && next_program(id, &id) == 0; i++)
		read_program(programs, id);
	if (programs->list.count)
		find_names(programs);
}

void bpf_programs_fini(struct bpf_programs *programs)
{
	vec_fini(&programs->list);
	vec_fini(&programs->symbols);
	arena_fini(&programs->arena);
}
