/* Capstone's tables, as tools/link-late links them: their pointers are relative to their own places until the first use. */
#pragma once

/* To be called before any function of capstone. Thread-safe. */
void capstone_tables_complete(void);
