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

#define FAILS 0xdeadull

TEST("each operation on two values has the value of the standard, at the ends of its range, too")
{
	static const int64_t pairs[][2] = { { 12, 5 }, { 5, 12 }, { 7, 7 }, { -9, 4 }, { 9, -4 }, { -1, 0 }, { 3, 0 }, { INT64_MIN, -1 },
		{ 1, 63 }, { -2, 62 }, { -2, 63 }, { -2, 64 }, { -2, 65 }, { 5, 64 }, { -1, 1 } };
	static const struct {
		uint8_t op;
		uint64_t want[sizeof pairs / sizeof *pairs];
	} rows[] = {
		{ 0x1a, { 4, 4, 7, 4, 8, 0, 0, 0x8000000000000000, 1, 62, 62, 64, 64, 0, 1 } }, /* and */
		{ 0x1b, { 2, 0, 1, 0xfffffffffffffffe, 0xfffffffffffffffe, FAILS, FAILS, 0x8000000000000000, 0, 0, 0, 0, 0, 0,
			0xffffffffffffffff } }, /* div */
		{ 0x1c, { 7, 0xfffffffffffffff9, 0, 0xfffffffffffffff3, 13, 0xffffffffffffffff, 3, 0x8000000000000001,
			0xffffffffffffffc2, 0xffffffffffffffc0, 0xffffffffffffffbf, 0xffffffffffffffbe, 0xffffffffffffffbd,
			0xffffffffffffffc5, 0xfffffffffffffffe } }, /* minus */
		{ 0x1d, { 2, 5, 0, 3, 9, FAILS, FAILS, 0x8000000000000000, 1, 14, 14, 62, 14, 5, 0 } }, /* mod */
		{ 0x1e, { 60, 60, 49, 0xffffffffffffffdc, 0xffffffffffffffdc, 0, 0, 0x8000000000000000, 63, 0xffffffffffffff84,
			0xffffffffffffff82, 0xffffffffffffff80, 0xffffffffffffff7e, 320, 0xffffffffffffffff } }, /* mul */
		{ 0x21, { 13, 13, 7, 0xfffffffffffffff7, 0xfffffffffffffffd, 0xffffffffffffffff, 3, 0xffffffffffffffff, 63,
			0xfffffffffffffffe, 0xffffffffffffffff, 0xfffffffffffffffe, 0xffffffffffffffff, 69, 0xffffffffffffffff } }, /* or */
		{ 0x22, { 17, 17, 14, 0xfffffffffffffffb, 5, 0xffffffffffffffff, 3, 0x7fffffffffffffff, 64, 60, 61, 62, 63, 69, 0 } }, /* plus */
		{ 0x24, { 384, 0x5000, 896, 0xffffffffffffff70, 0, 0xffffffffffffffff, 3, 0, 0x8000000000000000, 0x8000000000000000,
			0, 0, 0, 0, 0xfffffffffffffffe } }, /* shl */
		{ 0x25, { 0, 0, 0, 0xfffffffffffffff, 0, 0xffffffffffffffff, 3, 0, 0, 3, 1, 0, 0, 0, 0x7fffffffffffffff } }, /* shr */
		{ 0x26, { 0, 0, 0, 0xffffffffffffffff, 0, 0xffffffffffffffff, 3, 0xffffffffffffffff, 0, 0xffffffffffffffff,
			0xffffffffffffffff, 0xffffffffffffffff, 0xffffffffffffffff, 0, 0xffffffffffffffff } }, /* shra */
		{ 0x27, { 9, 9, 0, 0xfffffffffffffff3, 0xfffffffffffffff5, 0xffffffffffffffff, 3, 0x7fffffffffffffff, 62,
			0xffffffffffffffc0, 0xffffffffffffffc1, 0xffffffffffffffbe, 0xffffffffffffffbf, 69, 0xfffffffffffffffe } }, /* xor */
		{ 0x29, { 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } }, /* eq */
		{ 0x2a, { 1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0 } }, /* ge */
		{ 0x2b, { 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0 } }, /* gt */
		{ 0x2c, { 0, 1, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1 } }, /* le */
		{ 0x2d, { 0, 1, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1 } }, /* lt */
		{ 0x2e, { 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 } }, /* ne */
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
			uint8_t code[19] = { 0x0e, [9] = 0x0e, [18] = rows[i].op };
			uint64_t value = FAILS;
			for (int at = 0; at < 8; at++) {
				code[1 + at] = (uint8_t)((uint64_t)pairs[k][0] >> 8 * at);
				code[10 + at] = (uint8_t)((uint64_t)pairs[k][1] >> 8 * at);
			}
			bool done = run((struct span){ code, sizeof code }, NULL, &value);
			if (done != (rows[i].want[k] != FAILS) || value != rows[i].want[k])
				unit_fail(__FILE__, __LINE__, "operation %02x of %lld and %lld is %d, %llx", rows[i].op, (long long)pairs[k][0],
					(long long)pairs[k][1], done, (unsigned long long)value);
		}
}

TEST("constants, registers, reads, the order of the stack and branches have their values, or none")
{
	static const struct {
		uint8_t len, code[20];
		bool fails;
		int64_t want;
	} rows[] = {
		{ 2, { 0x08, 255 }, .want = 255 }, { 2, { 0x09, 255 }, .want = -1 }, { 3, { 0x0a, 1, 0xff }, .want = 0xff01 },
		{ 3, { 0x0b, 1, 0xff }, .want = -255 }, { 5, { 0x0c, 1, 0, 0, 0x80 }, .want = 0x80000001 },
		{ 5, { 0x0d, 1, 0, 0, 0x80 }, .want = -2147483647 }, { 9, { 0x0f, 1, 0, 0, 0, 0, 0, 0, 0x80 }, .want = INT64_MIN + 1 },
		{ 3, { 0x10, 0x80, 0x01 }, .want = 128 }, { 3, { 0x11, 0x80, 0x7f }, .want = -128 }, { 1, { 0x30 }, .want = 0 },
		{ 1, { 0x4f }, .want = 31 }, { 3, { 0x92, 7, 4 }, .want = 0x100c }, { 3, { 0x92, 16, 0x7f }, .want = 0x401233 },
		{ 3, { 0x92, 5, 0 }, .fails = true }, { 4, { 0x92, 0xc0, 0, 0 }, .fails = true }, { 2, { 0x8f, 0 }, .fails = true },
		{ 4, { 0x76, 0, 0x94, 1 }, .want = 0xef }, { 4, { 0x76, 1, 0x94, 2 }, .want = 0xadbe },
		{ 4, { 0x76, 0, 0x94, 8 }, .want = 0x04030201deadbeef },
		{ 3, { 0x76, 24, 0x06 }, .want = 0 }, { 3, { 0x76, 25, 0x06 }, .fails = true }, { 4, { 0x76, 31, 0x94, 1 }, .want = 0 },
		{ 4, { 0x76, 32, 0x94, 1 }, .fails = true }, { 3, { 0x76, 0x7f, 0x06 }, .fails = true }, { 3, { 0x35, 0x12, 0x1e }, .want = 25 },
		{ 4, { 0x35, 0x32, 0x14, 0x1c }, .want = -3 }, { 3, { 0x35, 0x32, 0x14 }, .want = 5 }, { 2, { 0x35, 0x14 }, .fails = true },
		{ 5, { 0x35, 0x32, 0x31, 0x15, 2 }, .want = 5 }, { 5, { 0x35, 0x32, 0x31, 0x15, 0 }, .want = 1 },
		{ 5, { 0x35, 0x32, 0x31, 0x15, 3 }, .fails = true }, { 3, { 0x35, 0x32, 0x13 }, .want = 5 }, { 1, { 0x13 }, .fails = true },
		{ 4, { 0x35, 0x32, 0x16, 0x1c }, .want = -3 }, { 2, { 0x35, 0x16 }, .fails = true }, { 4, { 0x35, 0x32, 0x31, 0x17 }, .want = 2 },
		{ 5, { 0x35, 0x32, 0x31, 0x17, 0x13 }, .want = 5 }, { 3, { 0x35, 0x32, 0x17 }, .fails = true }, { 2, { 0x35, 0x1f }, .want = -5 },
		{ 2, { 0x35, 0x20 }, .want = -6 }, { 3, { 0x09, 0xfb, 0x19 }, .want = 5 }, { 2, { 0x35, 0x19 }, .want = 5 },
		{ 2, { 0x30, 0x19 }, .want = 0 },
		{ 3, { 0x35, 0x23, 3 }, .want = 8 }, { 2, { 0x35, 0x96 }, .want = 5 }, { 5, { 0x35, 0x2f, 1, 0, 0x31 }, .want = 5 },
		{ 5, { 0x35, 0x2f, 2, 0, 0x31 }, .fails = true }, { 6, { 0x35, 0x30, 0x28, 1, 0, 0x32 }, .want = 2 },
		{ 6, { 0x35, 0x31, 0x28, 1, 0, 0x32 }, .want = 5 }, { 3, { 0x2f, 0xfc, 0xff }, .fails = true }, { 0, { 0 }, .fails = true },
		{ 1, { 0x08 }, .fails = true }, { 2, { 0x35, 0x50 }, .fails = true }, { 2, { 0x35, 0x12 }, .want = 5 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint64_t value = 0;
		bool done = run((struct span){ rows[i].code, rows[i].len }, NULL, &value);
		if (done == rows[i].fails || (done && value != (uint64_t)rows[i].want))
			unit_fail(__FILE__, __LINE__, "row %zu, operation %02x: %d, %lld", i, rows[i].code[0], done, (long long)value);
	}
}

TEST("a stack has 64 values, an evaluation 512 operations, and 32 bits are 32 bits")
{
	uint8_t code[600];
	uint64_t value = 0;
	memset(code, 0x31, sizeof code);
	EXPECT(run((struct span){ code, 64 }, NULL, &value) && value == 1);
	EXPECT(!run((struct span){ code, 65 }, NULL, &value));
	memset(code + 1, 0x96, sizeof code - 1);
	EXPECT(run((struct span){ code, 512 }, NULL, &value));
	EXPECT(!run((struct span){ code, 513 }, NULL, &value));
	static const uint8_t bytes[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct stack_memory memory = { .address = 0x100, .bytes = { bytes, sizeof bytes }, .word = 4 };
	const struct expression_input input = { .pc_register = 16, .bias = 0x10, .memory = &memory };
	EXPECT(expression_run(CODE(0x0a, 2, 1, 0x06), &input, &value) && value == 0x06050403);
	EXPECT(expression_run(CODE(0x03, 1, 2, 3, 4), &input, &value) && value == 0x04030211);
	EXPECT(expression_run(CODE(0x09, 0xff), &input, &value) && value == 0xffffffff);
}

TEST("forms have limits: registers below 255, offsets of 32 bits, thresholds up to 16")
{
	static const struct {
		uint8_t len, code[14], word, form, reg, threshold;
		int32_t offset;
	} rows[] = {
		{ 2, { 0x77, 8 }, 8, EXPRESSION_SUM, 7, .offset = 8 }, { 3, { 0x92, 0x20, 0x78 }, 8, EXPRESSION_SUM, 32, .offset = -8 },
		{ 4, { 0x92, 0xfe, 0x01, 0 }, 8, EXPRESSION_SUM, 254 }, { 4, { 0x92, 0xff, 0x01, 0 }, 8, EXPRESSION_OTHER },
		{ 2, { 0x80, 0 }, 8, EXPRESSION_OTHER }, { 3, { 0x76, 0x70, 0x06 }, 8, EXPRESSION_LOAD, 6, .offset = -16 },
		{ 4, { 0x76, 0x70, 0x06, 0x96 }, 8, EXPRESSION_OTHER, 6, .offset = -16 }, { 1, { 0x76 }, 8, EXPRESSION_OTHER },
		{ 6, { 0x77, 0xff, 0xff, 0xff, 0xff, 0x07 }, 8, EXPRESSION_SUM, 7, .offset = INT32_MAX },
		{ 6, { 0x77, 0x80, 0x80, 0x80, 0x80, 0x08 }, 8, EXPRESSION_OTHER },
		{ 6, { 0x77, 0x80, 0x80, 0x80, 0x80, 0x78 }, 8, EXPRESSION_SUM, 7, .offset = INT32_MIN },
		{ 11, { 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22 }, 8, EXPRESSION_PLT, 7, 11, 8 },
		{ 11, { 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x40, 0x2a, 0x33, 0x24, 0x22 }, 8, EXPRESSION_PLT, 7, 16, 8 },
		{ 11, { 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x41, 0x2a, 0x33, 0x24, 0x22 }, 8, EXPRESSION_OTHER, 7, 17, 8 },
		{ 11, { 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x32, 0x24, 0x22 }, 4, EXPRESSION_PLT, 7, 11, 8 },
		{ 11, { 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22 }, 4, EXPRESSION_OTHER, 7, 11, 8 },
		{ 11, { 0x77, 8, 0x80, 1, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22 }, 8, EXPRESSION_OTHER, 7, 0, 8 },
		{ 11, { 0x77, 8, 0x81, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22 }, 8, EXPRESSION_OTHER, 7, 0, 8 },
		{ 11, { 0x77, 8, 0x80, 0, 0x3e, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22 }, 8, EXPRESSION_OTHER, 7, 0, 8 },
		{ 12, { 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22, 0x96 }, 8, EXPRESSION_OTHER, 7, 11, 8 },
		{ 10, { 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24 }, 8, EXPRESSION_OTHER, 7, 11, 8 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct expression_shape shape = expression_recognise((struct span){ rows[i].code, rows[i].len }, rows[i].word, 16);
		if (shape.form != rows[i].form || shape.reg != rows[i].reg || shape.offset != rows[i].offset || shape.threshold != rows[i].threshold)
			unit_fail(__FILE__, __LINE__, "row %zu: %d %u %d %u", i, (int)shape.form, shape.reg, shape.offset, shape.threshold);
	}
}
