/* For tests: the body of TRACING_DATA (tracepoint/blob.h) with formats of one system's tracepoints. */
#pragma once
#include "base/str.h"
#include "data/header.h"

#define COMMON_FIELDS "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static inline void put_number(struct str *out, uint64_t value, size_t size)
{
	const uint32_t half = (uint32_t)value;
	str_add(out, size == sizeof half ? (const char *)&half : (const char *)&value, size);
}

static inline void put_formats(struct str *out, const char *system, const char *const *formats, size_t count)
{
	str_add(out, "\x17\x08\x44tracing0.5\0", 14);
	str_putc(out, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	str_putc(out, 8); /* bytes of a long */
	put_number(out, 4096, 4);
	str_add(out, "header_page", 12);
	put_number(out, 0, 8);
	str_add(out, "header_event", 13);
	put_number(out, 0, 8);
	put_number(out, 0, 4);
	put_number(out, 1, 4);
	str_add(out, system, strlen(system) + 1);
	put_number(out, count, 4);
	for (size_t i = 0; i < count; i++) {
		put_number(out, strlen(formats[i]), 8);
		str_puts(out, formats[i]);
	}
	put_number(out, 0, 4);
	put_number(out, 0, 4);
}
