/* Each system call of x86-64 with several values of its arguments,
	compared with test/syscalls/printed: with the bytes that they point to, with
 * flags, with wrong values, with the options of the layout. See stored.h. */
#include "stored.h"
#include "syscalls/argument.h"

#define STORED "test/syscalls/printed"

static const char *file_name(void *context, int fd)
{
	return fd == 3 ? "/etc/passwd" : NULL;
}

static const char *comm(void *context, int pid)
{
	return pid == 1 ? "init" : NULL;
}

enum { WAYS = 5, BYTES = 160 };

/* The arguments of a call: small numbers, some flags, all bits, none of them. */
static const uint64_t given[WAYS][CALL_ARGUMENTS] = {
	{ 3, 1, 2, 4, 8, 16 }, { 1, 0x2481, 0x10805, 0x80002, 5, 0x4003 }, { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
		UINT64_MAX },
	{ 0xffffff9c, 0x7ffc0000, 0x40, 0x1b6, 0x100000000, 7 }, { 0, 0, 0, 0, 0, 0 },
};
static const int64_t results[WAYS] = { 3, 1, -22, 0x7f0000001000, 0 };

/* What arguments point to, in the second and in the fourth way: numbers, or text. */
static void point(struct call_values *values, unsigned way, const uint8_t *numbers)
{
	static const uint8_t text[BYTES] = "a\\b\"\n\303\251path/of/a/file\0second\0third";
	for (unsigned i = 0; i < CALL_ARGUMENTS && (way & 1); i++)
		values->bytes[i] = (struct argument_bytes){ way == 1 ? numbers : text, way == 1 ? BYTES : 20 + i };
}

static void print_call(struct str *to, const struct call *call, unsigned way, const uint8_t *numbers)
{
	struct call_values values = { .call = call, .file_name = file_name, .comm = comm, .prefixes = way & 1, .zeros = way == 4,
		.unnamed = way == 3 };
	struct writer out;
	memcpy(values.values, given[way], sizeof values.values);
	point(&values, way, numbers);
	writer_open(&out, -1, 4096);
	writer_printf(&out, "%s(", call->name);
	arguments_print(&out, &values);
	writer_puts(&out, ") = ");
	result_print(&out, &values, results[way]);
	writer_putc(&out, '\n');
	str_add(to, out.buffer, out.len);
	writer_fini(&out);
}

static void print_copies(struct str *to, const struct call *call)
{
	for (unsigned i = 0; i < call->count; i++) {
		uint8_t size = 0;
		enum argument_copy copy = argument_copy_of(&call->arguments[i], &size);
		if (copy != ARGUMENT_COPY_NONE)
			str_printf(to, " %u:%u/%u", i, copy, size);
	}
	str_printf(to, " flags %x\n", call->flags);
}

static void print_all(struct str *to)
{
	struct calls calls;
	uint8_t numbers[BYTES];
	for (unsigned i = 0; i < BYTES; i++)
		numbers[i] = i % 8 < 2 ? (uint8_t)(i % 7 + 1) : 0;
	calls_init(&calls, SYSCALLS_X86_64);
	for (int number = 0; number < SYSCALL_NUMBERS; number++) {
		const struct call *call = calls_get(&calls, number);
		if (!call)
			continue;
		for (unsigned way = 0; way < WAYS; way++)
			print_call(to, call, way, numbers);
		print_copies(to, call);
	}
	calls_fini(&calls);
	for (enum syscalls table = SYSCALLS_I386; table <= SYSCALLS_GENERIC; table++)
		for (int number = 0; number < SYSCALL_NUMBERS; number++) {
			char name[SYSCALL_NAME_SIZE];
			if (syscall_name(table, number, name))
				str_printf(to, "%d:%d %s\n", (int)table, number, name);
		}
}

TEST("each system call is printed as stored, with its arguments and its result")
{
#ifndef __x86_64__
	unit_skip("numbers and flags are those of x86-64, where it runs");
	return;
#endif
	CLEANUP_STR struct str got = { 0 };
	print_all(&got);
	stored_compare(STORED, &got);
}
