/* Signals that the kernel sends about files: SIGBUS where a mapped file has become shorter than its mapping, SIGXFSZ where a file would
 * grow beyond the limit of the process. Prints nothing. See docs/decisions/004. */
#pragma once
#include <signal.h>
#include <stdbool.h>

enum { TRUNCATED_PATH_SIZE = 4352 }; /* PATH_MAX and the other fields of a line of /proc/PID/maps */

/* For all threads, from here on: a failed write instead of the end of the program where a file reaches the limit (ulimit -f). A handler,
 * unlike an ignored signal, is not inherited by the programs that record starts. */
void file_limit_catch(void);
/* For all threads, from here on: on_bus_error runs at each SIGBUS, and has to call truncated_replace. */
void truncated_catch(void (*on_bus_error)(int number, siginfo_t *info, void *context));
/* In a handler of SIGBUS. Where the page belongs to a private mapping of a file that is too short now, it and the following pages of that
 * mapping become zeros, and true is returned with the file's path, its control characters as '?'. Otherwise the default action is set,
 * so that the same access ends the program, except where another thread has replaced the page already. */
bool truncated_replace(const siginfo_t *info, char path[static TRUNCATED_PATH_SIZE]);
