#include "os/bpf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <sys/mount.h>
#include <sys/mman.h>

#include "base/str.h"
#include "os/bpf_call.h"
#include "os/counter.h"
#include "os/file.h"
#include "os/test_planted.h"

/* Type information: a function named "made_function" that returns an int. */
struct made_types {
	struct btf_header header;
	uint32_t integer[4], prototype[3], function[3];
	char names[24];
};

static const struct made_types made_types = {
	.header = { .magic = BTF_MAGIC, .version = BTF_VERSION, .hdr_len = sizeof(struct btf_header), .type_len = 40,
		.str_off = 40, .str_len = 24 },
	.integer = { 1, BTF_KIND_INT << 24, 4, BTF_INT_SIGNED << 24 | 32 },
	.prototype = { 0, BTF_KIND_FUNC_PROTO << 24, 1 },
	.function = { 5, BTF_KIND_FUNC << 24, 2 },
	.names = "\0int\0made_function\0\0\0\0",
};

static const struct bpf_insn returns_seven[] = {
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 7 },
	{ .code = BPF_JMP | BPF_EXIT },
};

static int skip_bpf(void)
{
	unit_skip(errno == EPERM || errno == EACCES ? "this user may not load BPF programs; root may" :
						      "the kernel or its emulator has no BPF with types; native builds run it");
	return -1;
}

/* A program with a name and type information, or without; < 0: this machine has none, and the test is skipped. */
static int load(const char *name, bool typed, uint32_t *types)
{
	union bpf_attr attr;
	struct bpf_func_info function = { .type_id = 3 };
	CLEANUP_FD int btf = -1;
	memset(&attr, 0, sizeof attr);
	if (bpf(BPF_PROG_GET_NEXT_ID, &attr) != 0 && errno != ENOENT)
		return skip_bpf();
	memset(&attr, 0, sizeof attr);
	attr.btf = (uintptr_t)&made_types;
	attr.btf_size = sizeof made_types;
	if (typed && (btf = bpf(BPF_BTF_LOAD, &attr)) < 0)
		return skip_bpf();
	memset(&attr, 0, sizeof attr);
	attr.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	attr.insns = (uintptr_t)returns_seven;
	attr.insn_cnt = sizeof returns_seven / sizeof *returns_seven;
	attr.license = (uintptr_t)"Dual MIT/GPL";
	snprintf(attr.prog_name, sizeof attr.prog_name, "%s", name);
	if (typed) {
		attr.prog_btf_fd = (uint32_t)btf;
		attr.func_info = (uintptr_t)&function;
		attr.func_info_rec_size = sizeof function;
		attr.func_info_cnt = 1;
	}
	int fd = bpf(BPF_PROG_LOAD, &attr);
	if (fd < 0)
		return skip_bpf();
	struct bpf_btf_info info = { 0 };
	memset(&attr, 0, sizeof attr);
	attr.info.bpf_fd = (uint32_t)btf;
	attr.info.info_len = sizeof info;
	attr.info.info = (uintptr_t)&info;
	EXPECT(!typed || bpf(BPF_OBJ_GET_INFO_BY_FD, &attr) == 0);
	*types = info.id;
	return fd;
}

/* What the kernel says of the program itself, with its first array of code, symbols, lengths and tags. */
struct said {
	struct bpf_prog_info info;
	uint8_t code[4096], tag[BPF_TAG_SIZE];
	uint64_t symbol;
	uint32_t length;
	struct bpf_func_info function;
};

static void ask(int fd, bool typed, struct said *said)
{
	union bpf_attr attr;
	memset(said, 0, sizeof *said);
	said->info = (struct bpf_prog_info){
		.jited_prog_insns = (uintptr_t)said->code, .jited_prog_len = sizeof said->code, .jited_ksyms = (uintptr_t)&said->symbol,
		.nr_jited_ksyms = 1, .jited_func_lens = (uintptr_t)&said->length, .nr_jited_func_lens = 1, .prog_tags = (uintptr_t)said->tag,
		.nr_prog_tags = 1, .func_info = (uintptr_t)&said->function, .nr_func_info = typed, .func_info_rec_size = sizeof said->function,
	};
	memset(&attr, 0, sizeof attr);
	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = sizeof said->info;
	attr.info.info = (uintptr_t)&said->info;
	EXPECT_INT(bpf(BPF_OBJ_GET_INFO_BY_FD, &attr), 0);
}

static size_t count_of(const struct bpf_programs *programs, uint32_t id, const struct bpf_program **last)
{
	size_t count = 0;
	for (size_t i = 0; i < programs->list.count; i++) {
		if (programs->list.items[i].id != id)
			continue;
		*last = &programs->list.items[i];
		count++;
	}
	return count;
}

/* Compares one array of a program with what the kernel says; the pointer in its info is an offset. */
static void expect_array(const struct bpf_program *program, enum bpf_array array, uint64_t offset, const void *want, size_t size)
{
	EXPECT(program->arrays >> array & 1);
	EXPECT(offset <= program->data.len && size <= program->data.len - offset);
	EXPECT(offset > program->data.len || size > program->data.len - offset || memcmp(program->data.data + offset, want, size) == 0);
}

static void expect_program(const struct bpf_programs *programs, int fd, uint32_t types)
{
	struct said said;
	struct bpf_prog_info info;
	const struct bpf_program *program = NULL;
	ask(fd, types, &said);
	EXPECT_INT(count_of(programs, said.info.id, &program), 1);
	if (!program)
		return;
	EXPECT(memcmp(program->tag, said.info.tag, sizeof program->tag) == 0);
	EXPECT_INT(program->types, types);
	EXPECT(program->info.len <= sizeof info);
	memset(&info, 0, sizeof info);
	memcpy(&info, program->info.data, program->info.len < sizeof info ? program->info.len : sizeof info);
	EXPECT_STR(info.name, said.info.name);
	EXPECT_INT(info.jited_prog_len, said.info.jited_prog_len);
	EXPECT_INT(info.nr_jited_ksyms, said.info.nr_jited_ksyms);
	EXPECT_INT(info.nr_func_info, types != 0);
	expect_array(program, BPF_ARRAY_CODE, info.jited_prog_insns, said.code, said.info.jited_prog_len);
	expect_array(program, BPF_ARRAY_SYMBOLS, info.jited_ksyms, &said.symbol, 8 * said.info.nr_jited_ksyms);
	expect_array(program, BPF_ARRAY_LENGTHS, info.jited_func_lens, &said.length, 4 * said.info.nr_jited_func_lens);
	expect_array(program, BPF_ARRAY_TAGS, info.prog_tags, said.tag, BPF_TAG_SIZE * said.info.nr_prog_tags);
	if (types)
		expect_array(program, BPF_ARRAY_FUNCTIONS, info.func_info, &said.function, sizeof said.function);
}

static size_t count_types(const struct bpf_programs *programs, uint32_t id)
{
	size_t count = 0;
	for (size_t i = 0; i < programs->types.count; i++) {
		const struct bpf_types *types = &programs->types.items[i];
		if (types->id != id)
			continue;
		count++;
		EXPECT_INT(types->blob.len, sizeof made_types);
		EXPECT(types->blob.len == sizeof made_types && memcmp(types->blob.data, &made_types, sizeof made_types) == 0);
	}
	return count;
}

TEST("loaded BPF programs have the code, symbols, lengths, tags and type information that the kernel has of them, each once")
{
	struct bpf_programs programs = { 0 };
	const struct bpf_program *program = NULL;
	struct said said;
	uint32_t none, types;
	CLEANUP_FD int plain = load("made_plain", false, &none);
	if (plain < 0)
		return;
	CLEANUP_FD int typed = load("made_typed", true, &types);
	if (typed < 0)
		return;
	bpf_programs_read(&programs);
	expect_program(&programs, plain, 0);
	expect_program(&programs, typed, types);
	EXPECT_INT(count_types(&programs, types), 1);
	CLEANUP_FD int late = load("made_late", true, &types);
	bpf_programs_read(&programs);
	ask(plain, false, &said);
	EXPECT_INT(count_of(&programs, said.info.id, &program), 1);
	expect_program(&programs, late, types);
	EXPECT_INT(count_types(&programs, types), 1);
	bpf_programs_fini(&programs);
	EXPECT(!programs.list.count && !programs.types.count && !programs.attaches);
}

static void answer_images(struct str *out)
{
	struct bpf_programs programs = { 0 };
	bpf_images_read(&programs);
	str_printf(out, "%zu", programs.images.count);
	programs.attaches = true;
	for (int i = 0; i < 2; i++)
		bpf_images_read(&programs);
	for (size_t i = 0; i < programs.images.count; i++)
		str_printf(out, " %s %llx", programs.images.items[i].name, (unsigned long long)programs.images.items[i].address);
	bpf_programs_fini(&programs);
}

TEST("the pages that call BPF programs are those of the kernel's list, once, and only where programs are attached to functions")
{
	static const struct planted cut = { "/proc/kallsyms", "fffffffc0022000 t bpf_trampoline_1\t[bpf]\n" }, file = { "/proc/kallsyms",
		"ffffffffc0021000 t bpf_trampoline_0\t[bpf]\nffffffff81000000 T bpf_trampoline_link\n"
		"ffffffffc0022000 t bpf_trampoline_6442536576\t[bpf]\n"
		"ffffffffc0023000 t bpf_dispatcher_xdp\t[bpf]\nffffffffc0024000 t bpf_trampoline_x\t[bpf_other]\n"
		"ffffffffc0025000 t bpf_trampoline_2\t[bpf]\n" };
	expect_answer(&file, 1, false, answer_images,
		      "0 bpf_trampoline_0 ffffffffc0021000 bpf_trampoline_6442536576 ffffffffc0022000 bpf_trampoline_2 ffffffffc0025000 "
		      "bpf_dispatcher_xdp ffffffffc0023000");
	expect_answer(&cut, 1, false, answer_images, "0");
}

TEST("maps of every kind return what was written, a new key of a hash is written once, and a key beyond an array is refused")
{
	static const enum bpf_map_kind kinds[] = { BPF_MAP_KIND_ARRAY, BPF_MAP_KIND_HASH, BPF_MAP_KIND_MAPPED };
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		struct error err = { 0 };
		uint64_t value = 17, other = 18, got = 0;
		CLEANUP_FD int map = bpf_map_make(kinds[i], sizeof value, 2, &err);
		if (map < 0) {
			errno = err.sys;
			skip_bpf();
			return;
		}
		bool hash = kinds[i] == BPF_MAP_KIND_HASH;
		EXPECT(bpf_map_read(map, 1, &got) == !hash);
		EXPECT_INT(bpf_map_write(map, 1, &value, false), 0);
		EXPECT(bpf_map_read(map, 1, &got) && got == 17);
		EXPECT_INT(bpf_map_write(map, 1, &other, true), -EEXIST);
		EXPECT_INT(bpf_map_write(map, 1, &other, false), 0);
		EXPECT(bpf_map_read(map, 1, &got) && got == 18);
		EXPECT_INT(bpf_map_write(map, 0, &value, hash), 0);
		EXPECT_INT(bpf_map_write(map, 2, &value, false), -E2BIG);
		bpf_map_remove(map, 1);
		EXPECT(bpf_map_read(map, 1, &got) == !hash);
		EXPECT(bpf_map_read(map, 0, &got) && got == 17);
		uint64_t *mapped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
		EXPECT((mapped != MAP_FAILED) == (kinds[i] == BPF_MAP_KIND_MAPPED));
		if (mapped == MAP_FAILED)
			continue;
		EXPECT_INT(mapped[0], 17);
		munmap(mapped, 4096);
	}
}

static void answer_pinned(struct str *out)
{
	uint32_t value = 41, got = 0;
	bool before = bpf_has_file_system("/sys/fs/bpf");
	if (mount("bpf", "/sys/fs/bpf", "bpf", 0, NULL) < 0)
		_exit(CANNOT_MOUNT);
	CLEANUP_FD int map = bpf_map_make(BPF_MAP_KIND_ARRAY, sizeof value, 1, NULL);
	if (map < 0)
		_exit(CANNOT_MOUNT);
	str_printf(out, "%d%d%d", before, bpf_has_file_system("/sys/fs/bpf"), bpf_has_file_system("/nonexistent"));
	str_printf(out, " %d", bpf_pin(map, "/sys/fs/bpf/made"));
	bpf_map_write(map, 0, &value, false);
	CLEANUP_FD int again = bpf_pinned("/sys/fs/bpf/made");
	bool found = bpf_map_read(again, 0, &got);
	str_printf(out, " %d %u, %d%d", found, got, bpf_pin(map, "/sys/fs/bpf/made"), bpf_pinned("/sys/fs/bpf/other"));
}

TEST("a map that is pinned in a BPF file system is opened by its path, and no path is used twice")
{
	static const struct planted folder = { "/sys/fs/bpf", NULL };
	if (!file_exists("/sys/fs/bpf"))
		unit_skip("needs a kernel with a folder for the BPF file system");
	else
		expect_answer(&folder, 1, false, answer_pinned, "010 0 1 41, -1-1");
}

TEST("a program for samples is linked to a counter with its cookie, and a refused one says what it needs")
{
	const struct attr attr = { .type = ATTR_SOFTWARE, .config = 0 /* cpu-clock */, .sample_period = 1000000, .sample_type = SAMPLE_IP };
	struct error err = { 0 };
	CLEANUP_FD int program = bpf_sample_program_load(returns_seven, 2, &err);
	if (program < 0) {
		EXPECT(strstr(err.text, "cannot load the BPF program of a filter: ") == err.text);
		EXPECT_STR(err.hint, "it needs CAP_BPF and CAP_PERFMON, or root");
		errno = err.sys;
		skip_bpf();
		return;
	}
	EXPECT(bpf_sample_program_load(returns_seven, 1, &err) < 0); /* it does not end */
	EXPECT(strstr(err.text, "cannot load the BPF program of a filter"));
	EXPECT(bpf_probe_program_load(returns_seven, 1, &err) < 0);
	EXPECT(strstr(err.text, "cannot load the BPF program of a probe"));
	CLEANUP_FD int counter = counter_open(&attr, 0, -1, -1, 0);
	if (counter < 0) {
		unit_skip("this user may not count");
		return;
	}
	int link = bpf_link_counter(program, counter, 5);
	if (link == -EINVAL || link == -ENOSYS) {
		unit_skip("needs a kernel from 5.15 on");
		return;
	}
	EXPECT(link >= 0);
	struct bpf_link_info info;
	union bpf_attr ask_link;
	memset(&info, 0, sizeof info);
	memset(&ask_link, 0, sizeof ask_link);
	ask_link.info.bpf_fd = (uint32_t)link;
	ask_link.info.info_len = sizeof info;
	ask_link.info.info = (uintptr_t)&info;
	EXPECT_INT(bpf(BPF_OBJ_GET_INFO_BY_FD, &ask_link), 0);
	struct said said;
	memset(&said, 0, sizeof said);
	ask_link.info.bpf_fd = (uint32_t)program;
	ask_link.info.info_len = sizeof said.info;
	ask_link.info.info = (uintptr_t)&said.info;
	EXPECT_INT(bpf(BPF_OBJ_GET_INFO_BY_FD, &ask_link), 0);
	EXPECT_INT(info.prog_id, said.info.id);
	EXPECT_INT(bpf_link_counter(program, -1, 5), -EBADF);
	close(link);
}
