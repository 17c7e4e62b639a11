#include "abi/record.h"

static const struct {
	const char *name, *layout;
	uint8_t least_body;
} types[RECORD_TYPE_MAX] = {
#define TYPE(NAME, number, name, layout, least_body) [number] = { name, layout, least_body },
	RECORD_TYPES_OF_KERNEL(TYPE)
	RECORD_TYPES_OF_PERF(TYPE)
#undef TYPE
};

const char *record_type_name(uint32_t type)
{
	return type < RECORD_TYPE_MAX ? types[type].name : NULL;
}

const char *record_type_layout(uint32_t type)
{
	return type < RECORD_TYPE_MAX ? types[type].layout : NULL;
}

uint32_t record_least_body(uint32_t type)
{
	return type < RECORD_TYPE_MAX ? types[type].least_body : 0;
}
