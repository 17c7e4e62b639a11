/* Writes a function of a just-in-time compiler as a shared object of its own: .text, one symbol, a build-id, and unwinding tables and
 * source lines if known. For this machine's architecture. Source: elf(5), DWARF 2 section 6.2. Knows no dump. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/writer.h"

enum { JIT_IMAGE_TEXT = 0x80 }; /* file offset and address of .text */

struct jit_image_line {
	uint64_t offset;         /* in the code */
	uint32_t line;
	const char *file;
};

struct jit_image {
	uint64_t address;        /* original address of the code: affects only the build-id */
	const char *name;
	struct span code;
	struct span eh_frame, eh_frame_hdr; /* empty: absent */
	const struct jit_image_line *lines; /* sorted by offset, as in a line table */
	size_t line_count;       /* 0: absent */
};

/* Appends the image to out, which must be empty and write into memory; build_id: set to the id in the image. */
void jit_image_write(const struct jit_image *image, struct writer *out, uint8_t build_id[static 20]);
