#include "render/annotate/operands.h"

#include "unit.h"

static const struct annotation annotation = { .start = 0x1000, .size = 0x100 };

static void expect_operands(const struct annotated_line *line, const char *want)
{
	struct str text CLEANUP_STR = { 0 };
	operands_add(&text, &annotation, line, 6);
	EXPECT_STR(str_text(&text), want);
}

TEST("known mnemonics have no blank after the comma, others are unchanged")
{
	expect_operands(&(struct annotated_line){ .mnemonic = "movq", .operands = "%rax, 8(%rsp)" }, "movq   %rax,8(%rsp)");
	expect_operands(&(struct annotated_line){ .mnemonic = "addq", .operands = "(%rsi, %rdx, 8), %rax" }, "addq   (%rsi, %rdx, 8),%rax");
	expect_operands(&(struct annotated_line){ .mnemonic = "shrq", .operands = "$0x21, %rdx" }, "shrq   $0x21, %rdx");
	expect_operands(&(struct annotated_line){ .mnemonic = "nopw", .operands = "(%rax, %rax)" }, "nop   ");
	expect_operands(&(struct annotated_line){ .mnemonic = "retq", .operands = "" }, "retq   ");
}

TEST("symbols replace operands relative to the instruction pointer")
{
	struct annotated_line line = { .mnemonic = "leaq", .operands = "0x2e60(%rip), %rsi", .reference = 0x4060, .reference_name = "acc+0x8" };
	expect_operands(&line, "leaq   acc+0x8,%rsi");
	line.mnemonic = "incl";
	line.operands = "0x10(%rip)";
	expect_operands(&line, "incl   acc+0x8");
	line.mnemonic = "callq";
	line.operands = "*0x10(%rip)";
	expect_operands(&line, "callq  *0x10(%rip)\t# 4060 <acc+0x8>");
	line.mnemonic = "lock cmpxchgl";
	line.operands = "%edx, 0x10(%rip)";
	expect_operands(&line, "lock   cmpxchgl %edx,acc+0x8");
	expect_operands(&(struct annotated_line){ .mnemonic = "rep stosq", .operands = "%rax, (%rdi)" }, "rep    stosq %rax, (%rdi)");
	expect_operands(&(struct annotated_line){ .mnemonic = "bnd jx", .operands = "0x10" }, "bnd    jx  0x10");
}

TEST("jumps within the symbol show the offset, others and calls the symbol")
{
	struct annotated_line line = { .mnemonic = "je", .operands = "0x1060", .code = CODE_JUMP, .direct = true, .target = 0x1060,
		.target_name = "f+0x60" };
	expect_operands(&line, "je     60");
	line.target = 0x1100;
	line.target_name = "operator+";
	expect_operands(&line, "je     operator+");
	line.target_name = "g+0x8";
	expect_operands(&line, "je     g");
	line.code = CODE_CALL;
	line.mnemonic = "callq";
	line.target_name = NULL;
	expect_operands(&line, "callq  *1100");
}
