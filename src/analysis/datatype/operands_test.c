#include "analysis/datatype/operands.h"

#include "unit.h"

static struct operands parsed(const char *mnemonic, const char *text)
{
	struct operands operands;
	operands_parse(mnemonic, text, &operands);
	return operands;
}

static void expect_memory(const struct operand *operand, int first, int second, int64_t offset)
{
	EXPECT(operand->memory);
	EXPECT_INT(operand->first, first);
	EXPECT_INT(operand->second, second);
	EXPECT_INT(operand->several, second != REGISTER_NONE);
	EXPECT_INT(operand->offset, offset);
}

TEST("operands of moves are registers, constants and memory")
{
	struct operands o = parsed("movq", "0x18(%rdi), %rax");
	EXPECT_INT(o.kind, STEP_MOVE);
	expect_memory(&o.source, 5, REGISTER_NONE, 0x18);
	EXPECT_INT(o.target.first, 0);
	EXPECT(!o.target.memory);
	o = parsed("movl", "%r15d, -8(%rsp, %rcx, 4)");
	EXPECT_INT(o.source.first, 15);
	expect_memory(&o.target, 7, 2, -8);
	o = parsed("movl", "$0xffffffff, (,%rdx,8)");
	EXPECT(o.source.immediate);
	EXPECT_INT(o.source.offset, 0xffffffff);
	expect_memory(&o.target, 1, REGISTER_NONE, 0);
	o = parsed("movzbl", "0x2d99(%rip), %eax");
	expect_memory(&o.source, REGISTER_PC, REGISTER_NONE, 0x2d99);
	o = parsed("movq", "%gs:0x28, %rax");
	EXPECT(o.source.per_cpu && o.source.immediate && !o.source.memory);
	EXPECT_INT(o.source.offset, 0x28);
	o = parsed("movq", "%gs:0x10(%rbx), %rax");
	EXPECT(o.source.per_cpu);
	expect_memory(&o.source, 3, REGISTER_NONE, 0x10);
}

TEST("kinds of instructions")
{
	EXPECT_INT(parsed("addsd", "0x40(%rdi), %xmm0").kind, STEP_ADD);
	EXPECT(parsed("pushq", "%rbx").stack);
	EXPECT_INT(parsed("callq", "0x1210").kind, STEP_CALL);
	EXPECT_INT(parsed("retq", "").kind, STEP_RETURN);
	EXPECT(parsed("jne", "0x1220").conditional);
	EXPECT(!parsed("jmp", "0x1220").conditional);
	EXPECT_INT(parsed("jmpq", "*%rax").kind, STEP_JUMP);
	struct operands o = parsed("lock cmpxchgl", "%edx, (%rcx)");
	expect_memory(&o.target, 2, REGISTER_NONE, 0);
	EXPECT(!o.unknown);
	EXPECT(parsed("lock cmpxchg16b", "(%rcx)").unknown);
	o = parsed("incl", "4(%rax)");
	expect_memory(&o.target, 0, REGISTER_NONE, 4);
	EXPECT(!parsed("pxor", "(%rax), %xmm0").source.memory); /* as perf: not understood */
	EXPECT(!parsed("rep movsb", "(%rsi), (%rdi)").source.memory);
}

TEST("strange operands are no registers")
{
	EXPECT_INT(parsed("movq", "%r16, %rax").source.first, REGISTER_UNKNOWN);
	EXPECT_INT(parsed("movq", "%r8x, %rax").source.first, REGISTER_UNKNOWN);
	EXPECT_INT(parsed("movq", "%xmm0, %rax").source.first, REGISTER_UNKNOWN);
	EXPECT_INT(parsed("movq", "(%rax").source.first, REGISTER_NONE);
	EXPECT_INT(parsed("movq", "").target.first, REGISTER_NONE);
	EXPECT_INT(parsed("", "").kind, STEP_OTHER);
}

TEST("which instructions the processor joins depends on its model")
{
	EXPECT(operands_fuse("AuthenticAMD,25,1,1", "addq", "jne"));
	EXPECT(!operands_fuse("AuthenticAMD,23,1,1", "addq", "jne"));
	EXPECT(operands_fuse("AuthenticAMD,23,1,1", "cmpq", "jne"));
	EXPECT(!operands_fuse("AuthenticAMD,25,1,1", "cmpq", "jmp"));
	EXPECT(!operands_fuse("AuthenticAMD,25,1,1", "cmpxchgq", "jne"));
	EXPECT(operands_fuse("GenuineIntel,6,106,6", "subl", "jne"));
	EXPECT(!operands_fuse("GenuineIntel,6,30,5", "subl", "jne"));
	EXPECT(operands_fuse("GenuineIntel,6,30,5", "testl", "jne"));
	EXPECT(!operands_fuse("GenuineIntel,6,29,1", "testl", "jne"));
	EXPECT(!operands_fuse(NULL, "testl", "jne"));
}
