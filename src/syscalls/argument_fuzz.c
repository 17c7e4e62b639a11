/* Prints calls whose memory a traced program chose: the first two bytes are a number of a call, the next its results, then each argument is
 * a value, a size and as many bytes. Nothing that is printed may control a terminal. */
#include "syscalls/argument.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t take_number(const uint8_t **data, size_t *size, size_t bytes)
{
	uint64_t number = 0;
	if (bytes > *size)
		bytes = *size;
	memcpy(&number, *data, bytes);
	*data += bytes;
	*size -= bytes;
	return number;
}

/* A copy that ends where the argument's bytes end, so that a sanitizer sees each byte that is read beyond them. */
static void take_bytes(struct argument_bytes *to, const uint8_t **data, size_t *size)
{
	size_t bytes = take_number(data, size, 1);
	if (!bytes)
		return;
	bytes = bytes - 1 < *size ? bytes - 1 : *size;
	uint8_t *copy = memory_alloc(bytes ? bytes : 1);
	memcpy(copy, *data, bytes);
	*to = (struct argument_bytes){ .bytes = copy, .size = bytes };
	*data += bytes;
	*size -= bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum syscalls tables[] = { SYSCALLS_X86_64, SYSCALLS_I386 };
	struct calls calls;
	struct writer out;
	uint64_t number = take_number(&data, &size, 2);
	uint8_t options = (uint8_t)(number >> 9);
	calls_init(&calls, tables[options & 1]);
	const struct call *call = calls_get(&calls, (int64_t)(number % SYSCALL_NUMBERS));
	if (call) {
		struct call_values values = { .call = call, .prefixes = options & 2, .zeros = options & 4, .unnamed = options & 8 };
		int64_t result = (int64_t)take_number(&data, &size, 8);
		writer_open(&out, -1, 1 << 16);
		for (unsigned i = 0; i < CALL_ARGUMENTS; i++) {
			values.values[i] = take_number(&data, &size, 8);
			take_bytes(&values.bytes[i], &data, &size);
		}
		arguments_print(&out, &values);
		result_print(&out, &values, result);
		for (size_t i = 0; i < out.len; i++)
			if ((uint8_t)out.buffer[i] < ' ' || out.buffer[i] == 0x7f)
				abort();
		for (unsigned i = 0; i < CALL_ARGUMENTS; i++)
			free((void *)(uintptr_t)values.bytes[i].bytes);
		writer_fini(&out);
	}
	calls_fini(&calls);
	return 0;
}
