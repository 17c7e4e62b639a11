/* For tests: a recording in memory whose samples have copies of stacks, of a file with call frame information. */
#pragma once
#include <stdio.h>
#include <unistd.h>

#include "tape.h"
#include "unit.h"
#include "unwind/cfi_maker.h"

enum { RBP = 6, CODE_AT = 0x555500000, STACK_AT = 0x7ffc0000, STACK_SIZE = 256, TID = 7 };

/* Writes a file with three functions (see unwind_test.c): leaf at 0x10, framed at 0x40, start at 0x80. */
static inline bool write_file(char path[static 64], uint64_t *text_offset)
{
	struct cfi_maker m = { .arch = UNWIND_X86_64 };
	struct elf elf;
	size_t len;
	cfi_cie_made(&m, "zR");
	cfi_fde_made(&m, 0x10, 0x10, CFI(0));
	cfi_fde_made(&m, 0x40, 0x20, CFI(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, RBP));
	cfi_fde_made(&m, 0x80, 0x10, CFI(0x07, 16));
	uint8_t *file = cfi_file(&m, "", 0, &len);
	strcpy(path, "/tmp/perfuse-user-stack-XXXXXX");
	int fd = mkstemp(path);
	bool good = fd >= 0 && write(fd, file, len) == (ssize_t)len && elf_open(&elf, (struct span){ file, len }, NULL) >= 0;
	if (good) {
		*text_offset = elf_section(&elf, ".text")->offset;
		elf_close(&elf);
	}
	if (fd >= 0)
		close(fd);
	free(file);
	return good;
}

static inline struct tape *stack_recording_new(void)
{
	struct tape *tape = tape_new();
	struct attr attr = { .type = ATTR_SOFTWARE, .sample_period = 1, .flags = 1ull << ATTR_SAMPLE_ID_ALL, .sample_regs_user = 0xff0fff,
		.sample_stack_user = STACK_SIZE, .sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CALLCHAIN | SAMPLE_REGS_USER |
		SAMPLE_STACK_USER };
	evlist_add(&tape->source.header.evlist, &attr, NULL, 0, "cpu-clock");
	return tape;
}

static inline void put_stack_mapping(struct tape *r, uint64_t time, uint64_t start, uint64_t size, const char *path)
{
	char name[64] = { 0 };
	snprintf(name, sizeof name, "%s", path);
	put_head(r, RECORD_MMAP, RECORD_MISC_USER, 8 + 24 + sizeof name + 16);
	put_ids(r, TID);
	put_u64(r, start);
	put_u64(r, size);
	put_u64(r, 0);
	put(r, name, sizeof name);
	put_ids(r, TID);
	put_u64(r, time);
}

/* With one kernel frame before the user frames. */
static inline void put_stack_sample(struct tape *r, uint64_t time, uint64_t ip, uint64_t rbp, const uint64_t stack[static STACK_SIZE / 8])
{
	static const uint64_t chain[] = { (uint64_t)CONTEXT_KERNEL, 0xffffffff81000010 };
	put_head(r, RECORD_SAMPLE, RECORD_MISC_KERNEL, 32 + sizeof chain + 8 + 20 * 8 + 8 + STACK_SIZE + 8);
	put_u64(r, ip);
	put_ids(r, TID);
	put_u64(r, time);
	put_u64(r, 2);
	put(r, chain, sizeof chain);
	put_u64(r, 2); /* 64-bit registers */
	for (unsigned i = 0; i < 20; i++)
		put_u64(r, i == 6 ? rbp : i == 7 ? STACK_AT : i == 8 ? ip : 0);
	put_u64(r, STACK_SIZE);
	put(r, stack, STACK_SIZE);
	put_u64(r, STACK_SIZE);
}

struct stack_recording {
	char path[64];
	uint64_t code;
	struct tape *tape;
};

static inline bool stack_recording_make(struct stack_recording *made)
{
	uint64_t offset;
#if !defined __x86_64__
	unit_skip("this architecture records other registers");
	return false;
#endif
	if (!write_file(made->path, &offset)) {
		unit_skip("cannot create a file in /tmp");
		return false;
	}
	made->tape = stack_recording_new();
	made->code = CODE_AT + offset;
	put_stack_mapping(made->tape, 1, CODE_AT, 0x4000, made->path);
	put_stack_mapping(made->tape, 2, STACK_AT - 0x1000, 0x10000, "[stack]");
	return true;
}

/* leaf, called by framed, called by start. */
static inline void put_whole_stack(struct stack_recording *made, uint64_t time)
{
	uint64_t stack[STACK_SIZE / 8] = { made->code + 0x50, [4] = 0, [5] = made->code + 0x88 };
	put_stack_sample(made->tape, time, made->code + 0x18, STACK_AT + 32, stack);
}
