/* Files that are cut short while they are mapped: the kernel answers a read behind the new end with SIGBUS. Here such a read
 * finds zeros instead, as any damaged file may hold, and the user is told which file it was. See docs/decisions/. */
#pragma once

/* From here on, for all threads. */
void cut_files_guard(void);
