/* Rules for Go functions from the tables of Go's runtime, for programs whose debug information was stripped (`go build -ldflags=-w`,
 * distributions). As exact as the call frame information of Go's linker: both have the same source. Finds no file. */
#pragma once
#include "elf/go_functions.h"
#include "unwind/collect.h"
#include "unwind/machine.h"
#include "unwind/rules.h"

#define GO_SECTION 0xfdu     /* piece.section of collected pieces; piece.program is the function's index */

/* Adds a piece for each function; false if there are none. */
bool go_frames_collect(struct collection *c, const struct elf *elf, enum unwind_arch arch, struct go_functions *functions);
/* Adds the rows of a function for its piece. Returns false if it is damaged; earlier rows remain. */
bool go_frames_rows(const struct go_functions *functions, const struct piece *piece, enum unwind_arch arch, struct rule_builder *b);
