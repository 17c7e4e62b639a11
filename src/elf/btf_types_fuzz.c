/* Reads any bytes as the types of a kernel: each type's name, size and members, and a table that refers to it as its base. */
#include "elf/btf_types.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FIELDS_MAX = 64 };

static uint64_t read_all(const struct btf_types *types)
{
	uint64_t sum = 0, bytes;
	struct btf_type type;
	struct btf_field field;
	for (uint32_t id = 0; id <= types->first + types->count; id++) {
		CLEANUP_STR struct str name = { 0 };
		btf_types_name(types, id, &name);
		sum += name.len + (btf_types_size(types, id, &bytes) ? bytes : 0);
		if (!btf_types_real(types, id, &type))
			continue;
		sum += btf_type_is_signed(&type) + btf_types_member(types, &type, "a", &field);
		for (uint32_t i = 0; i < FIELDS_MAX && btf_type_field(&type, i, &field); i++)
			sum += field.offset_bits + field.bits + strlen(field.name);
	}
	return sum + btf_types_function(types, "work", &type);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static volatile uint64_t sink;
	struct btf_types types, module;
	struct error err;
	struct span bytes = { .data = data, .len = size };
	if (btf_types_open(&types, bytes, NULL, &err) == 0) {
		sink += read_all(&types);
		if (btf_types_open(&module, bytes, &types, &err) == 0)
			sink += read_all(&module);
		btf_types_close(&module);
	}
	btf_types_close(&types);
	return 0;
}
