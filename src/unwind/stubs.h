/* Code of linkers and C libraries without call frame information, or with insufficient information: PLT entries, signal trampolines.
 * Recognized by its bytes. Internal to compile.c. */
#pragma once
#include "unwind/collect.h"
#include "unwind/machine.h"
#include "unwind/rules.h"

enum stub {
	STUB_SIGNAL,             /* rt_sigreturn: the registers are in the frame that the kernel wrote */
	STUB_PLT_FIRST,          /* the entry to which lazy ones jump: one more word is on the stack */
	STUB_PLT_LAZY,           /* jmp, push, jmp */
	STUB_PLT_LAZY_MARKED,    /* endbr, push, jmp */
	STUB_PLT_PLAIN,          /* pushes nothing */
	STUB_SWITCHED,           /* on another stack than its caller */
	STUB_BOTTOM,             /* has no caller */
	STUB_LEAF,               /* has pushed nothing */
	STUB_CLONED,             /* after the system call that creates a thread, in the creator or in the new thread */
	STUB_CLONED_LAST = STUB_CLONED + 3, /* … on i386 with up to three registers to pop */
};

#define STUB_SECTION 0xffu   /* piece.section of pieces added here; piece.program is the kind */

/* Call it after collection_order, and collection_order again afterwards. Searches uncovered code (in small files all code). */
void stubs_collect(struct collection *c, const struct elf *elf, enum unwind_arch arch);
uint32_t stub_rule(struct rule_builder *b, enum unwind_arch arch, enum stub stub);
