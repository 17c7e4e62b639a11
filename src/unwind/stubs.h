/* Code that linkers and C libraries leave without call frame information, or with one that says too little: PLT entries, signal
 * trampolines. Recognised by its bytes. Internal to compile.c. */
#pragma once
#include "unwind/collect.h"
#include "unwind/machine.h"
#include "unwind/rules.h"

enum stub {
	STUB_SIGNAL,             /* rt_sigreturn: the registers lie in the frame that the kernel made */
	STUB_PLT_FIRST,          /* the entry that all lazy ones jump to: one word more is on the stack */
	STUB_PLT_LAZY,           /* jmp, push, jmp */
	STUB_PLT_LAZY_MARKED,    /* endbr, push, jmp */
	STUB_PLT_PLAIN,          /* pushes nothing */
	STUB_SWITCHED,           /* on another stack than what called it */
	STUB_BOTTOM,             /* nothing called it */
	STUB_LEAF,               /* has pushed nothing */
	STUB_CLONED,             /* behind the system call that makes a thread: this one's, which goes back, or a fresh one's, which began here */
	STUB_CLONED_LAST = STUB_CLONED + 3, /* … on i386 with so many registers still to be popped */
};

#define STUB_SECTION 0xffu   /* piece.section of what is added here; piece.program says which */

/* After collection_order, which is to be called again: looks where no piece is (in small files everywhere). */
void stubs_collect(struct collection *c, const struct elf *elf, enum unwind_arch arch);
uint32_t stub_rule(struct rule_builder *b, enum unwind_arch arch, enum stub stub);
