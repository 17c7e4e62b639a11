#include "unwind/expression.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Evaluates any bytes as an expression, over known and unknown registers; a recognized form must yield the same value. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	uint64_t registers[33], cfa = 0x7ffc00000100, value = 0, again = 0;
	uint8_t stack[512];
	for (unsigned i = 0; i < 33; i++)
		registers[i] = 0x7ffc00000000 + 8 * i;
	for (unsigned i = 0; i < sizeof stack; i++)
		stack[i] = (uint8_t)(i * data[1]);
	struct stack_memory memory = { .address = 0x7ffc00000000, .bytes = { stack, sizeof stack }, .word = data[0] & 1 ? 4 : 8 };
	struct expression_input input = { .registers = registers, .known = 0x1ffffffff & ~(uint64_t)data[1], .pc_register = 16,
		.pc = 0x400000 + data[1], .cfa = data[0] & 2 ? &cfa : NULL, .memory = &memory };
	struct span code = { data + 2, size - 2 };
	bool good = expression_run(code, &input, &value);
	struct expression_shape shape = expression_recognise(code, memory.word, 16);
	if (good != expression_run(code, &input, &again) || value != again)
		abort();
	if (!good || shape.form == EXPRESSION_OTHER || shape.reg >= 33)
		return 0;
	uint64_t sum = registers[shape.reg] + (uint64_t)(int64_t)shape.offset;
	if (shape.form == EXPRESSION_LOAD && !stack_read(&memory, sum, memory.word, &sum))
		abort();
	if (shape.form == EXPRESSION_PLT && (input.pc & 15) >= shape.threshold)
		sum += memory.word;
	if (memory.word == 4)
		sum = (uint32_t)sum;
	if (sum != value)
		abort();
	return 0;
}
