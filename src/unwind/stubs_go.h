/* What Go's runtime does that the call frame information its linker writes does not say: functions that go on on another stack, the
 * bottom of a goroutine's. Recognised by their bytes. Internal to stubs.c. */
#pragma once
#include "unwind/stubs.h"

bool go_is(const struct elf *elf);
/* After collection_order, which is to be called again. */
void go_collect(struct collection *c, const struct elf *elf);
