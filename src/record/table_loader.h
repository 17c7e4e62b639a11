/* Reads the call frame information of modules beside the recording: a thread of its own, one module after the other.
 * Who needs a table asks for it and goes on with something else. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "unwind/tables.h"

struct table_loader;

/* tables: borrowed. */
struct table_loader *table_loader_new(struct unwind_tables *tables);
void table_loader_free(struct table_loader *loader); /* NULL is fine; what was asked for and not begun stays undone */
/* Asks for a module's table; asking again before it is made does nothing. The module is copied. */
void table_loader_want(struct table_loader *loader, const struct module *module);
/* It was asked for, and is not made yet. */
bool table_loader_owes(struct table_loader *loader, uint32_t module);
/* How many were made so far. */
uint64_t table_loader_made(const struct table_loader *loader);
/* Waits until all that was asked for is made. */
void table_loader_wait(struct table_loader *loader);
