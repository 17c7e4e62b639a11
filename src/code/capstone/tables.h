/* Capstone's tables, as tools/link-late links them: each pointer is relative to its own position until the first use. */
#pragma once

/* Call it before any function of capstone. Thread-safe. */
void capstone_tables_complete(void);
