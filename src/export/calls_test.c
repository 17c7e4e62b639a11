#include "export/calls.h"

#include "session/trace.h"
#include "unit.h"

enum { MAIN = 1, WORK, LEAF, KERNEL, THREADS = 3 };
#define START(symbol) ((uint64_t)(symbol) << 12)
#define KERNEL_START (START(KERNEL) | 1ull << 63)

/* What was finished: "symbol:flags:branches" each, in order. */
struct seen {
	struct call_paths paths;
	struct calls *calls;
	char text[512];
	uint64_t next_id, sample;
	struct finished_call last;
};

static void note(void *context, const struct finished_call *call)
{
	struct seen *seen = context;
	size_t len = strlen(seen->text);
	snprintf(seen->text + len, sizeof seen->text - len, " %u:%u:%llu", seen->paths.list.items[call->path].symbol, call->flags,
		(unsigned long long)call->branches);
	seen->last = *call;
	if (call->parent_id && !*call->parent_id)
		*call->parent_id = ++seen->next_id;
}

static void seen_open(struct seen *seen)
{
	*seen = (struct seen){ 0 };
	call_paths_init(&seen->paths);
	seen->calls = calls_new(&seen->paths, note, seen);
}

static void seen_close(struct seen *seen)
{
	calls_free(seen->calls);
	call_paths_fini(&seen->paths);
}

static struct branch_end end_of(uint64_t address)
{
	uint32_t symbol = (uint32_t)(address >> 12 & 0xff);
	return (struct branch_end){ .address = address, .symbol = symbol, .at_start = address && !(address & 0xfff) };
}

static void branch_of(struct seen *seen, uint32_t thread, uint64_t comm, uint32_t flags, uint64_t from, uint64_t to)
{
	seen->sample++;
	const struct export_branch branch = { .thread = thread, .leads_process = true, .comm = comm, .flags = TRACE_BRANCH | flags, .size = 5,
		.time = 100 * seen->sample, .sample = seen->sample, .instructions = 10, .cycles = 20, .from = end_of(from), .to = end_of(to) };
	calls_branch(seen->calls, &branch);
}

static void branch(struct seen *seen, uint32_t flags, uint64_t from, uint64_t to)
{
	branch_of(seen, 0, 1, flags, from, to);
}

TEST("a return finishes the call that it follows, with what happened in between")
{
	struct seen seen;
	seen_open(&seen);
	branch(&seen, TRACE_CALL, START(MAIN) + 16, START(WORK));
	branch(&seen, TRACE_CALL, START(WORK) + 8, START(LEAF));
	branch(&seen, TRACE_RETURN, START(LEAF) + 4, START(WORK) + 13);
	EXPECT_STR(seen.text, " 3:0:1");
	EXPECT_INT(seen.last.call_sample, 2);
	EXPECT_INT(seen.last.return_sample, 3);
	EXPECT_INT(seen.last.return_time - seen.last.call_time, 100);
	EXPECT_INT(seen.last.instructions, 10);
	EXPECT_INT(seen.last.cycles, 20);
	branch(&seen, TRACE_RETURN, START(WORK) + 40, START(MAIN) + 21);
	EXPECT_STR(seen.text, " 3:0:1 2:0:3");
	calls_end(seen.calls, 0);
	EXPECT_STR(seen.text, " 3:0:1 2:0:3 1:3:4"); /* main: neither call nor return was seen */
	EXPECT_INT(seen.last.parent_id == NULL, 1);
	seen_close(&seen);
}

TEST("an inner call without a return ends when an outer one returns")
{
	struct seen seen;
	seen_open(&seen);
	branch(&seen, TRACE_CALL, START(MAIN) + 16, START(WORK));
	branch(&seen, TRACE_CALL, START(WORK) + 8, START(LEAF));
	branch(&seen, TRACE_RETURN, START(LEAF) + 4, START(MAIN) + 21);
	EXPECT_STR(seen.text, " 3:2:1 2:0:2");
	seen_close(&seen);
}

TEST("a jump to the start of a function is a call, which ends with the function that jumped")
{
	struct seen seen;
	seen_open(&seen);
	branch(&seen, TRACE_CALL, START(MAIN) + 16, START(WORK));
	branch(&seen, 0, START(WORK) + 8, START(LEAF));
	branch(&seen, 0, START(LEAF) + 8, START(WORK) + 32); /* not to a start */
	branch(&seen, TRACE_RETURN, START(LEAF) + 4, START(MAIN) + 21);
	EXPECT_STR(seen.text, " 3:6:2 2:0:3");
	seen_close(&seen);
}

TEST("a return to user code ends the calls of the kernel")
{
	struct seen seen;
	seen_open(&seen);
	branch(&seen, TRACE_CALL | TRACE_SYSCALL, START(MAIN) + 16, KERNEL_START);
	branch(&seen, TRACE_RETURN | TRACE_SYSCALL, KERNEL_START + 64, 0);
	EXPECT_STR(seen.text, " 4:2:1");
	seen_close(&seen);
}

TEST("what is not traced is a call without a symbol, up to the next beginning")
{
	struct seen seen;
	seen_open(&seen);
	branch(&seen, TRACE_CALL, START(MAIN) + 16, START(WORK));
	branch(&seen, TRACE_END, START(WORK) + 8, 0);
	branch(&seen, TRACE_BEGIN, 0, START(WORK) + 13);
	EXPECT_STR(seen.text, " 0:0:1");
	seen_close(&seen);
}

TEST("a process that executes another program loses its calls; threads have stacks of their own")
{
	struct seen seen;
	seen_open(&seen);
	for (uint32_t thread = 0; thread < THREADS; thread++)
		branch_of(&seen, thread, 1, TRACE_CALL, START(MAIN) + 16, START(WORK));
	EXPECT_STR(seen.text, "");
	branch_of(&seen, 1, 2, TRACE_CALL, START(LEAF) + 16, START(WORK));
	EXPECT_STR(seen.text, " 2:2:0 1:3:1");
	calls_end(seen.calls, THREADS); /* an unknown thread */
	seen_close(&seen);
}

TEST("a thunk for indirect branches is not shown: its target takes its place")
{
	enum { THUNK = 9 };
	struct seen seen;
	seen_open(&seen);
	calls_note_thunk(seen.calls, THUNK);
	branch(&seen, TRACE_CALL, START(MAIN) + 16, START(THUNK));
	branch(&seen, TRACE_CALL, START(THUNK), START(THUNK) + 12); /* into its own middle */
	branch(&seen, TRACE_RETURN, START(THUNK) + 16, START(LEAF));
	EXPECT_STR(seen.text, "");
	branch(&seen, TRACE_RETURN, START(LEAF) + 4, START(MAIN) + 21);
	EXPECT_STR(seen.text, " 3:0:3");
	seen_close(&seen);
}
