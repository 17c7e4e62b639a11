/* This program, started once more as another process. */
#pragma once
#include <sys/types.h>

#include "base/error.h"

/* words: NULL-terminated, the first is the program's name. input, output: its standard input and output; -1: /dev/null. */
int own_program_start(const char *const *words, int input, int output, pid_t *pid, struct error *err);
