/* Reads the call frame information of modules during a recording, in a separate thread, one module after the other. Callers request a table
 * and do other work meanwhile. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "unwind/tables.h"

struct table_loader;

/* tables: borrowed. */
struct table_loader *table_loader_new(struct unwind_tables *tables);
void table_loader_free(struct table_loader *loader); /* accepts NULL; drops requests that were not begun */
/* Requests the table of a module; another request before it is made has no effect. The module is copied. */
void table_loader_want(struct table_loader *loader, const struct module *module);
/* Whether it was requested and is not made yet. */
bool table_loader_owes(struct table_loader *loader, uint32_t module);
/* The number of tables made so far. */
uint64_t table_loader_made(const struct table_loader *loader);
/* Waits until all requested tables are made. */
void table_loader_wait(struct table_loader *loader);
