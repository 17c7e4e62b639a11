/* Fuzzes TRACING_DATA bodies and records. Input: a length, a record of that length, a body; the record is printed as each event of the
 * body. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tracepoint/tracepoint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool resolve_odd_address(void *context, uint64_t address, const char **name, uint64_t *start)
{
	(void)context;
	*name = "f";
	*start = address & ~0xfull;
	return address & 1;
}

static void print_fields(const struct tracepoints *t, uint64_t id, const uint8_t *raw, uint32_t len, struct writer *out)
{
	const struct tracepoint_field *field;
	const char *text;
	uint64_t number;
	size_t text_len;

	for (unsigned i = 0; (field = tracepoints_field_at(t, id, i)); i++) {
		tracepoint_field_print(field, raw, len, out);
		tracepoint_field_number(field, raw, len, &number);
		if (tracepoint_field_string(field, raw, len, &text, &text_len))
			writer_add(out, text, text_len);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tracepoint_names names = { .resolve = resolve_odd_address };
	struct tracepoints *t;
	uint16_t len;

	if (size < sizeof len)
		return 0;
	memcpy(&len, data, sizeof len);
	data += sizeof len;
	size -= sizeof len;
	if (len > size || tracepoints_open(&t, (struct span){ data + len, size - len }, NULL) < 0)
		return 0;
	uint8_t *raw = memory_alloc(len ? len : 1);
	memcpy(raw, data, len);
	for (size_t i = 0; i < tracepoints_count(t); i++) {
		struct writer out;
		uint64_t id = tracepoints_id_at(t, i);
		writer_open(&out, -1, 64);
		for (int swap = 0; swap < 2 && len >= 2; swap++) {
			uint16_t type = swap ? __builtin_bswap16((uint16_t)id) : (uint16_t)id;
			memcpy(raw, &type, sizeof type);
			tracepoints_print_named(t, raw, len, swap ? &names : NULL, &out);
		}
		print_fields(t, id, raw, len, &out);
		writer_fini(&out);
	}
	free(raw);
	tracepoints_close(t);
	return 0;
}
