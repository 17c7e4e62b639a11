#include "unwind/expression.h"

#include "unit.h"

#define CODE(...) (struct span){ (const uint8_t[]){ __VA_ARGS__ }, sizeof (const uint8_t[]){ __VA_ARGS__ } }

static bool run(struct span code, const uint64_t *cfa, uint64_t *value)
{
	static const uint8_t stack[32] = { 0xef, 0xbe, 0xad, 0xde, 1, 2, 3, 4, 9 };
	static const uint64_t registers[33] = { [6] = 0x1000, [7] = 0x1008 };
	struct stack_memory memory = { .address = 0x1000, .bytes = { stack, sizeof stack }, .word = 8 };
	struct expression_input input = { .registers = registers, .known = 1 << 6 | 1 << 7, .pc_register = 16, .pc = 0x401234,
		.bias = 0x100, .cfa = cfa, .memory = &memory };
	return expression_run(code, &input, value);
}

static uint64_t value_of(struct span code)
{
	uint64_t value = 0;
	EXPECT(run(code, NULL, &value));
	return value;
}

TEST("expressions compute: constants, registers, memory, arithmetic, branches")
{
	EXPECT_INT(value_of(CODE(0x08, 200)), 200);
	EXPECT_INT(value_of(CODE(0x09, 200)), -56);
	EXPECT_INT(value_of(CODE(0x11, 0x80, 0x7f)), -128);
	EXPECT_INT(value_of(CODE(0x77, 0x78)), 0x1000);               /* rsp - 8 */
	EXPECT_INT(value_of(CODE(0x80, 0)), 0x401234);                /* the pc */
	EXPECT_INT(value_of(CODE(0x03, 0x10, 0, 0, 0, 0, 0, 0, 0)), 0x110);
	EXPECT_INT(value_of(CODE(0x76, 0, 0x94, 4)), 0xdeadbeef);
	EXPECT_INT(value_of(CODE(0x77, 0, 0x06)), 9);
	EXPECT_INT(value_of(CODE(0x37, 0x33, 0x1c, 0x32, 0x1e)), 8);  /* (7 - 3) * 2 */
	EXPECT_INT(value_of(CODE(0x31, 0x32, 0x33, 0x17, 0x1c)), -1); /* rot: 3 1 2, 1 - 2 */
	EXPECT_INT(value_of(CODE(0x31, 0x28, 1, 0, 0x00, 0x35)), 5);  /* a branch over an invalid operation */
	EXPECT_INT(value_of(CODE(0x3f, 0x23, 0x80, 0x01)), 143);
}

TEST("the canonical frame address is pushed first if it is known")
{
	uint64_t cfa = 0x7000, value;
	EXPECT(run(CODE(0x23, 8), &cfa, &value) && value == 0x7008);
	EXPECT(run(CODE(0x9c), &cfa, &value) && value == 0x7000);
	EXPECT(!run(CODE(0x9c), NULL, &value));
}

TEST("invalid expressions fail: unknown registers and operations, empty stacks, wild reads, division by zero, loops")
{
	uint64_t value;
	EXPECT(!run(CODE(0x75, 0), NULL, &value));
	EXPECT(!run(CODE(0xf0), NULL, &value));
	EXPECT(!run(CODE(0x22), NULL, &value));
	EXPECT(!run(CODE(0x31, 0x06), NULL, &value));
	EXPECT(!run(CODE(0x76, 0, 0x94, 0), NULL, &value)); /* a read of no byte, and of more than a word */
	EXPECT(!run(CODE(0x76, 0, 0x94, 9), NULL, &value));
	EXPECT(!run(CODE(0x31, 0x30, 0x1b), NULL, &value));
	EXPECT(!run(CODE(0x31, 0x2f, 0xfd, 0xff), NULL, &value));
	EXPECT(!run(CODE(0x2f, 0x10, 0x00), NULL, &value));
	EXPECT(run(CODE(0x31, 0x2f, 0x00, 0x00), NULL, &value) && value == 1);
	EXPECT(!run(CODE(0x31, 0x2f, 0x01, 0x00), NULL, &value)); /* one byte behind the end, and one before the start */
	EXPECT(!run(CODE(0x31, 0x2f, 0xfb, 0xff), NULL, &value));
	EXPECT(!run(CODE(0x08), NULL, &value));
	EXPECT(!run((struct span){ 0 }, NULL, &value));
	EXPECT(!run(CODE(0x31, 0x12, 0x2f, 0xfc, 0xff), NULL, &value)); /* fills the stack */
}

TEST("common forms are recognized, and others are not")
{
	struct expression_shape plt = expression_recognise(CODE(0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22), 8, 16);
	EXPECT(plt.form == EXPRESSION_PLT && plt.reg == 7 && plt.offset == 8 && plt.threshold == 11);
	struct expression_shape plt32 = expression_recognise(CODE(0x74, 4, 0x78, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x32, 0x24, 0x22), 4, 8);
	EXPECT(plt32.form == EXPRESSION_PLT && plt32.reg == 4 && plt32.offset == 4);
	struct expression_shape load = expression_recognise(CODE(0x77, 0xa0, 0x01, 0x06), 8, 16);
	EXPECT(load.form == EXPRESSION_LOAD && load.offset == 160);
	EXPECT_INT(expression_recognise(CODE(0x92, 9, 0x10), 8, 16).form, EXPRESSION_SUM);
	EXPECT_INT(expression_recognise(CODE(0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x32, 0x24, 0x22), 8, 16).form, EXPRESSION_OTHER);
	EXPECT_INT(expression_recognise(CODE(0x80, 0), 8, 16).form, EXPRESSION_OTHER);
	EXPECT_INT(expression_recognise(CODE(0x77), 8, 16).form, EXPRESSION_OTHER);
}
