/* Opens a regular file by an untrusted path. Other types are not opened: opening a device or a FIFO has side effects. */
#pragma once

/* As open(2), but -1 with errno ENOTSUP for anything but a regular file. */
int regular_open(const char *path, int flags);
/* The same for the file of an O_PATH descriptor. */
int regular_reopen(int place, int flags);
