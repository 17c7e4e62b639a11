/* Functions of Go's runtime that the call frame information of its linker does not fully describe: those that switch to another stack, and
 * the bottom of a goroutine's stack. Recognized by their bytes. Internal to stubs.c. */
#pragma once
#include "unwind/stubs.h"

bool go_is(const struct elf *elf);
/* Call it after collection_order, and collection_order again afterwards. */
void go_collect(struct collection *c, const struct elf *elf);
