/* Frames of Go functions by what Go's runtime keeps of them, for programs whose debug information was stripped (`go build -ldflags=-w`,
 * distributions). As exact as the call frame information that Go's linker writes: both are made of the same numbers. Finds no file. */
#pragma once
#include "elf/go_functions.h"
#include "unwind/collect.h"
#include "unwind/machine.h"
#include "unwind/rules.h"

#define GO_SECTION 0xfdu     /* piece.section of what is collected; piece.program is the function's index */

/* Adds a piece for each function; false: there are none. */
bool go_frames_collect(struct collection *c, const struct elf *elf, enum unwind_arch arch, struct go_functions *functions);
/* The rows of a function for its piece. false: damaged; rows before that stay. */
bool go_frames_rows(const struct go_functions *functions, const struct piece *piece, enum unwind_arch arch, struct rule_builder *b);
