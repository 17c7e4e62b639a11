#include <string.h>

#include "base/memory.h"
#include "cmd/trace/options.h"
#include "unit.h"

static const enum syscalls tables[] = { SYSCALLS_X86_64, SYSCALLS_NONE };

/* The names that a list of words selects, with spaces. */
static unsigned selected(const char *const *words, bool all_but, const char *name)
{
	struct trace_command options = { .all_but_selected = all_but };
	struct call_selection selection;
	unsigned count = 0;
	for (; *words; words++)
		vec_push(&options.selected, memory_string(*words));
	call_selection_make(&selection, &options, tables);
	for (int i = 0; i < SYSCALL_NUMBERS; i++)
		count += selection.shown[0][i];
	int number = syscall_number(SYSCALLS_X86_64, name);
	trace_options_fini(&options);
	return number >= 0 && selection.shown[0][number] ? count : 0;
}

#define WORDS(...) (const char *const[]){ __VA_ARGS__, NULL }

TEST("words select calls by name, pattern, alias and group")
{
	EXPECT_INT(selected(WORDS("openat"), false, "openat"), 1);
	EXPECT_INT(selected(WORDS("read"), false, "read"), 1); /* its number is 0 */
	EXPECT_INT(selected(WORDS("openat", "close"), false, "close"), 2);
	EXPECT_INT(selected(WORDS("epoll_c*"), false, "epoll_ctl"), 4);
	EXPECT_INT(selected(WORDS("umount"), false, "umount2"), 1);
	EXPECT_INT(selected(WORDS("file"), false, "openat"), 20);
	EXPECT_INT(selected(WORDS("sync"), false, "sync"), 1);
	EXPECT_INT(selected(WORDS("file"), false, "close"), 0);
}

TEST("all others are selected by a list that begins with !, and all by no list")
{
	unsigned all = selected((const char *const[]){ NULL }, false, "read");
	EXPECT(all > 350);
	EXPECT_INT(selected(WORDS("read", "write"), true, "close"), all - 2);
	EXPECT_INT(selected(WORDS("read", "write"), true, "read"), 0);
}

TEST("a word is a call, or an event")
{
	EXPECT(call_word("openat", SYSCALLS_X86_64));
	EXPECT(call_word("*at", SYSCALLS_X86_64));
	EXPECT(call_word("string", SYSCALLS_X86_64));
	EXPECT(!call_word("sched:sched_switch", SYSCALLS_X86_64));
	EXPECT(!call_word("openatt", SYSCALLS_X86_64));
}
