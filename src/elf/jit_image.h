/* A function that a just-in-time compiler made, as a shared object of its own: .text, one symbol, a build-id, and where they are
 * known unwinding tables and source lines. Of this machine's kind. Source: elf(5), DWARF 2 section 6.2. Knows no dump. */
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
	uint64_t address;        /* where the code lay: of weight for the build-id alone */
	const char *name;
	struct span code;
	struct span eh_frame, eh_frame_hdr; /* empty: none */
	const struct jit_image_line *lines; /* by offset, as a line table counts */
	size_t line_count;       /* 0: none */
};

/* Appends the image to out, which writes into memory and is empty; build_id: what it was given. */
void jit_image_write(const struct jit_image *image, struct writer *out, uint8_t build_id[static 20]);
