#include "arch/x86/instruction.h"
#include "unit.h"

static unsigned instruction_length(const char *bytes, size_t len, bool is_64bit)
{
	return x86_instruction_length((const uint8_t *)bytes, len, is_64bit);
}

#define LENGTH(text) instruction_length(text "\x90\x90\x90\x90\x90\x90\x90\x90", sizeof(text) + 7, true)
#define LENGTH_32(text) instruction_length(text "\x90\x90\x90\x90\x90\x90\x90\x90", sizeof(text) + 7, false)

TEST("the length of common 64-bit instructions is found")
{
	EXPECT_INT(LENGTH("\x90"), 1);
	EXPECT_INT(LENGTH("\xf3\xaa"), 2);                                 /* rep stosb */
	EXPECT_INT(LENGTH("\x48\x89\xe7"), 3);                             /* mov %rsp,%rdi */
	EXPECT_INT(LENGTH("\x48\x8b\x04\x25\x28\x00\x00\x00"), 8);         /* mov 0x28,%rax: a SIB without base */
	EXPECT_INT(LENGTH("\x48\x89\x05\xb0\x72\x01\x00"), 7);             /* relative to the instruction pointer */
	EXPECT_INT(LENGTH("\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08"), 10); /* movabs */
	EXPECT_INT(LENGTH("\x66\xc7\x45\xf8\x34\x12"), 6);                 /* movw $0x1234,-8(%rbp) */
	EXPECT_INT(LENGTH("\xf6\x45\x00\x01"), 4);                         /* testb has an immediate */
	EXPECT_INT(LENGTH("\xf6\x55\x00"), 3);                             /* notb has no immediate */
	EXPECT_INT(LENGTH("\xe8\x01\x02\x03\x04"), 5);
	EXPECT_INT(LENGTH("\x0f\x84\x01\x02\x03\x04"), 6);
	EXPECT_INT(LENGTH("\xc8\x10\x00\x01"), 4);                         /* enter */
}

TEST("vector prefixes are part of the length")
{
	EXPECT_INT(LENGTH("\xc5\xf8\x77"), 3);                             /* vzeroupper */
	EXPECT_INT(LENGTH("\xc5\xf9\x70\xc0\x1b"), 5);                     /* vpshufd $0x1b */
	EXPECT_INT(LENGTH("\xc4\xe3\x79\x0f\xc1\x08"), 6);                 /* vpalignr $8 */
	EXPECT_INT(LENGTH("\x62\xf1\xfe\x48\x6f\x06"), 6);                 /* vmovdqu64 (%rsi),%zmm0 */
	EXPECT_INT(LENGTH("\x0f\x38\xf0\x07"), 4);                         /* movbe */
	EXPECT_INT(LENGTH("\x66\x0f\x3a\x0f\xc1\x08"), 6);                 /* palignr $8 */
}

TEST("32-bit code gives some bytes another meaning")
{
	EXPECT_INT(LENGTH_32("\x48"), 1);                                 /* dec %eax */
	EXPECT_INT(LENGTH_32("\xa1\x01\x02\x03\x04"), 5);
	EXPECT_INT(LENGTH_32("\x67\x8b\x46\x08"), 4);                      /* 16-bit addressing */
	EXPECT_INT(LENGTH_32("\xc5\x06"), 2);                             /* lds */
	EXPECT_INT(LENGTH_32("\x66\xe9\x01\x02"), 4);
}

TEST("an instruction that does not end within the bytes has no length")
{
	EXPECT_INT(instruction_length("", 0, true), 0);
	EXPECT_INT(instruction_length("\x48", 1, true), 0);
	EXPECT_INT(instruction_length("\xe8\x01\x02", 3, true), 0);
	EXPECT_INT(instruction_length("\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x90", 16, true), 0);
}

static struct instruction decoded(const char *bytes, size_t len)
{
	struct instruction instruction = { 0 };
	EXPECT(instruction_decode((const uint8_t *)bytes, len, 64, &instruction));
	EXPECT_INT(instruction.size, len);
	return instruction;
}
#define DECODED(text) decoded(text, sizeof(text) - 1)

TEST("direct branches have a displacement from their end")
{
	EXPECT_INT(DECODED("\x74\xfe").kind, INSTRUCTION_CONDITIONAL);
	EXPECT_INT(DECODED("\x74\xfe").displacement, -2);
	EXPECT_INT(DECODED("\x0f\x85\x01\x02\x03\x84").displacement, (int32_t)0x84030201);
	EXPECT_INT(DECODED("\xe3\x05").kind, INSTRUCTION_CONDITIONAL);
	EXPECT(DECODED("\xe3\x05").loops);
	EXPECT_INT(DECODED("\xe8\x10\0\0\0").kind, INSTRUCTION_CALL);
	EXPECT_INT(DECODED("\xeb\x7f").kind, INSTRUCTION_JUMP);
	EXPECT_INT(DECODED("\xeb\x7f").displacement, 127);
	EXPECT_INT(DECODED("\x66\xe9\x01\0\0\0").displacement, 1); /* Intel processors ignore the prefix */
}

TEST("indirect and far branches")
{
	EXPECT_INT(DECODED("\xff\xe0").kind, INSTRUCTION_JUMP_INDIRECT);
	EXPECT_INT(DECODED("\xff\x15\0\0\0\0").kind, INSTRUCTION_CALL_INDIRECT);
	EXPECT_INT(DECODED("\xff\x30").kind, INSTRUCTION_OTHER); /* push */
	EXPECT_INT(DECODED("\xff\x2c\x24").kind, INSTRUCTION_FAR_JUMP);
	EXPECT_INT(DECODED("\xc3").kind, INSTRUCTION_RETURN);
	EXPECT_INT(DECODED("\xc2\x08\0").kind, INSTRUCTION_RETURN);
	EXPECT_INT(DECODED("\xf3\xc3").kind, INSTRUCTION_RETURN);
	EXPECT_INT(DECODED("\x48\xcf").kind, INSTRUCTION_INTERRUPT_RETURN);
	EXPECT_INT(DECODED("\xcc").kind, INSTRUCTION_INTERRUPT);
	EXPECT_INT(DECODED("\x0f\x05").kind, INSTRUCTION_SYSCALL);
	EXPECT_INT(DECODED("\x48\x0f\x07").kind, INSTRUCTION_SYSRET);
	EXPECT_INT(DECODED("\x0f\x01\xc3").kind, INSTRUCTION_VM_ENTRY);
	EXPECT_INT(DECODED("\x0f\x01\xf8").kind, INSTRUCTION_OTHER); /* swapgs */
	EXPECT_INT(DECODED("\xf3\x48\x0f\xae\xe0").kind, INSTRUCTION_PTWRITE);
	EXPECT_INT(DECODED("\xf3\x0f\x1e\xfa").kind, INSTRUCTION_OTHER); /* endbr64 */
}

static bool sets_cr3(const char *bytes, size_t size)
{
	return instruction_sets_cr3((const uint8_t *)bytes, size);
}

TEST("moves to CR3 differ from moves to other registers, and from immediates that look like them")
{
	EXPECT(sets_cr3("\x0f\x22\xd8", 3) && sets_cr3("\x0f\x22\xdf", 3));
	EXPECT(sets_cr3("\x41\x0f\x22\xd8", 4)); /* from r8 */
	EXPECT(!sets_cr3("\x44\x0f\x22\xd8", 4)); /* CR11 */
	EXPECT(!sets_cr3("\x0f\x20\xd8", 3)); /* from CR3 */
	EXPECT(!sets_cr3("\x0f\x22\xd0", 3) && !sets_cr3("\x0f\x22\xe0", 3)); /* CR2, CR4 */
	EXPECT(!sets_cr3("\xb8\x00\x0f\x22\xd8", 5));
	EXPECT(!sets_cr3("\x0f\x22", 2) && !sets_cr3("", 0));
}
