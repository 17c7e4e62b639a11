#include "session/user_stack.h"
#include "session/session.h"

#include <stdio.h>
#include <unistd.h>

#include "tape.h"
#include "unit.h"
#include "unwind/cfi_maker.h"

enum { RBP = 6, CODE_AT = 0x555500000, STACK_AT = 0x7ffc0000, STACK_SIZE = 256, TID = 7 };

/* Writes a file with three functions (see unwind_test.c): leaf at 0x10, framed at 0x40, start at 0x80. */
static bool write_file(char path[static 64], uint64_t *text_offset)
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

static struct tape *recording_new(void)
{
	struct tape *tape = tape_new();
	struct attr attr = { .type = ATTR_SOFTWARE, .sample_period = 1, .flags = 1ull << ATTR_SAMPLE_ID_ALL, .sample_regs_user = 0xff0fff,
		.sample_stack_user = STACK_SIZE, .sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CALLCHAIN | SAMPLE_REGS_USER |
		SAMPLE_STACK_USER };
	evlist_add(&tape->source.header.evlist, &attr, NULL, 0, "cpu-clock");
	return tape;
}

static void put_mapping(struct tape *r, uint64_t time, uint64_t start, uint64_t size, const char *path)
{
	char name[64] = { 0 };
	strncpy(name, path, sizeof name - 1);
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
static void put_sample(struct tape *r, uint64_t time, uint64_t ip, uint64_t rbp, const uint64_t stack[static STACK_SIZE / 8])
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

struct seen {
	uint64_t chains[8][8];
	size_t counts[8], samples, plain;
	enum chain_direction direction;
	size_t limit;
};

static void see(void *context, const struct resolved *r, size_t slice)
{
	struct seen *seen = context;
	struct chain chain = resolved_chain(r, seen->direction, seen->limit);
	seen->plain += resolved_chain_is_plain(r);
	for (size_t i = 0; i < chain.count && i < 8; i++)
		seen->chains[seen->samples][i] = chain.frames[i]->address;
	seen->counts[seen->samples++] = chain.count;
}

struct made {
	char path[64];
	uint64_t code;
	struct tape *tape;
};

static bool make(struct made *made)
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
	made->tape = recording_new();
	made->code = CODE_AT + offset;
	put_mapping(made->tape, 1, CODE_AT, 0x4000, made->path);
	put_mapping(made->tape, 2, STACK_AT - 0x1000, 0x10000, "[stack]");
	return true;
}

static struct unwind_tally run(struct made *made, struct seen *seen, bool join)
{
	struct session session;
	struct image_options images = { 0 };
	struct session_options options = { .threads = 1, .images = &images, .join_stacks = join };
	struct sink sink = { .context = seen, .record = see, .serial = true };
	EXPECT(session_open(&session, &made->tape->source, &options, NULL) == 0);
	EXPECT(session_run(&session, &sink, NULL) == 0);
	struct unwind_tally tally = session.counters.unwind;
	session_close(&session);
	unlink(made->path);
	return tally;
}

/* leaf, called by framed, called by start. */
static void put_whole(struct made *made, uint64_t time)
{
	uint64_t stack[STACK_SIZE / 8] = { made->code + 0x50, [4] = 0, [5] = made->code + 0x88 };
	put_sample(made->tape, time, made->code + 0x18, STACK_AT + 32, stack);
}

TEST("a recorded user stack is unwound after the kernel part; callers are looked up within their calls")
{
	struct made made;
	struct seen seen = { .limit = 127 };
	if (!make(&made))
		return;
	put_whole(&made, 3);
	struct unwind_tally tally = run(&made, &seen, false);
	EXPECT_INT(seen.counts[0], 4);
	EXPECT(seen.chains[0][0] == 0xffffffff81000010 && seen.chains[0][1] == made.code + 0x18);
	EXPECT(seen.chains[0][2] == made.code + 0x4f && seen.chains[0][3] == made.code + 0x87);
	EXPECT(tally.stacks == 1 && tally.ends[UNWIND_COMPLETE] == 1 && seen.plain == 0);
}

/* A sample of the same event that the recorder unwound: no registers, a stack of 0 bytes. */
static void put_chain(struct tape *r, uint64_t time, uint64_t ip, uint64_t caller)
{
	const uint64_t chain[] = { (uint64_t)CONTEXT_KERNEL, 0xffffffff81000010, (uint64_t)CONTEXT_USER, ip, caller };
	put_head(r, RECORD_SAMPLE, RECORD_MISC_KERNEL, 32 + sizeof chain + 8 + 8);
	put_u64(r, ip);
	put_ids(r, TID);
	put_u64(r, time);
	put_u64(r, 5);
	put(r, chain, sizeof chain);
	put_u64(r, 0);
	put_u64(r, 0);
}

TEST("samples without a stack have their recorded chain, also beside unwound samples, and are not counted as unwound")
{
	for (unsigned join = 0; join < 2; join++) {
		struct made made;
		struct seen seen = { .limit = 127 };
		if (!make(&made))
			return;
		put_chain(made.tape, 3, made.code + 0x18, made.code + 0x50);
		put_whole(&made, 4);
		put_chain(made.tape, 5, made.code + 0x48, made.code + 0x88);
		struct unwind_tally tally = run(&made, &seen, join);
		EXPECT(seen.samples == 3 && seen.plain == 2);
		EXPECT(seen.counts[0] == 3 && seen.counts[1] == 4 && seen.counts[2] == 3);
		EXPECT(seen.chains[0][1] == made.code + 0x18 && seen.chains[0][2] == made.code + 0x50);
		EXPECT(seen.chains[1][2] == made.code + 0x4f && seen.chains[2][2] == made.code + 0x88);
		EXPECT(tally.stacks == 1 && tally.ends[UNWIND_COMPLETE] == 1 && !tally.ends[UNWIND_CUT] && !tally.guessed_stacks);
	}
}

TEST("outermost first, the user part precedes")
{
	struct made made;
	struct seen seen = { .limit = 127, .direction = CHAIN_OUTERMOST_FIRST };
	if (!make(&made))
		return;
	put_whole(&made, 3);
	run(&made, &seen, false);
	EXPECT_INT(seen.counts[0], 4);
	EXPECT(seen.chains[0][0] == made.code + 0x87 && seen.chains[0][2] == made.code + 0x18);
	EXPECT(seen.chains[0][3] == 0xffffffff81000010);
}

TEST("the limit of frames applies to the kernel part, and once more to the user part")
{
	struct made made;
	struct seen seen = { .limit = 2 };
	if (!make(&made))
		return;
	put_whole(&made, 3);
	run(&made, &seen, false);
	EXPECT_INT(seen.counts[0], 3); /* the one kernel frame, two of the three user frames */
}

TEST("a truncated stack ends in a frame without location, as in perf, and can be joined with an earlier one")
{
	for (unsigned join = 0; join < 2; join++) {
		struct made made;
		struct seen seen = { .limit = 127 };
		if (!make(&made))
			return;
		/* the same call of framed, once with its frame within the copied stack, once beyond it */
		uint64_t near[STACK_SIZE / 8] = { made.code + 0x50, [28] = 0, [29] = made.code + 0x88 };
		uint64_t far[STACK_SIZE / 8] = { made.code + 0x50 };
		put_sample(made.tape, 3, made.code + 0x18, STACK_AT + 28 * 8, near);
		put_sample(made.tape, 4, made.code + 0x18, STACK_AT + 0x1000, far);
		struct unwind_tally tally = run(&made, &seen, join);
		EXPECT_INT(tally.ends[UNWIND_CUT], 1);
		EXPECT_INT(tally.joined, 0); /* its frame has another address: another call */
		EXPECT_INT(seen.counts[1], 4);
		EXPECT(seen.chains[1][3] == UINT64_MAX);
	}
}

TEST("a process whose files are all missing is not unwound, as in perf")
{
	struct made made;
	struct seen seen = { .limit = 127 };
	if (!make(&made))
		return;
	put_whole(&made, 3);
	unlink(made.path);
	struct unwind_tally tally = run(&made, &seen, false);
	EXPECT_INT(seen.counts[0], 1);
	EXPECT_INT(tally.stacks, 0);
}
