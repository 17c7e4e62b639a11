/* Decodes a record of the ring of `trace`, as its reader does: the input is the record. Each byte that a checked record refers to is
 * read, so that a sanitizer detects invalid references; items follow each other within the payload. */
#include <stdlib.h>

#include "bpf/trace_programs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t touch_bytes(const void *from, size_t size)
{
	const uint8_t *bytes = from;
	uint64_t sum = 0;
	for (size_t i = 0; i < size; i++)
		sum += bytes[i];
	return sum;
}

static uint64_t touch_items(const struct trace_call *call, const uint8_t *end)
{
	const struct trace_item *item;
	const uint8_t *bytes, *least = (const uint8_t *)(call->arguments + call->arguments_sent);
	uint64_t sum = 0;
	for (size_t at = 0, before = 0; trace_item_next(call, &at, &item, &bytes); before = at) {
		if (at <= before || at > call->payload || at % 8 || (const uint8_t *)item < least || bytes + item->size > end)
			abort();
		sum += item->argument + touch_bytes(bytes, item->size);
		least = bytes + item->size;
	}
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	volatile uint64_t sum = 0; /* so that the reads are not left out */
	const struct trace_call *call = (const void *)data;
	if (!trace_record_valid(data, size))
		return 0;
	if (call->kind == TRACE_TASK)
		sum += touch_bytes(data, sizeof(struct trace_task_record));
	else
		sum += touch_bytes(data, offsetof(struct trace_call, arguments)) + touch_bytes(call->arguments, 8u * call->arguments_sent) +
			touch_items(call, data + size);
	(void)sum;
	return 0;
}
