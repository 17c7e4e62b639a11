/* A file that the program keeps for itself between runs, in a folder "perfuse" of its user's cache. What somebody else owns or
 * can write counts as not there; nobody else can read what is written. Knows no content. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* The folder, below base ("$HOME/.cache"): both belong to the effective user. make: with the last part of base, where they are
 * missing. A descriptor; < 0: there is none that is safe. */
int private_folder(const char *base, bool make, struct error *err);
/* Opens a file of it for reading. ERROR_PERMISSION: it is there, and not safe. */
int private_file_open(int folder, const char *name, size_t *size, struct error *err);
/* Puts one there that has these bytes, whole or not at all. While another run does so, this one leaves it to that. */
int private_file_write(int folder, const char *name, const void *bytes, size_t len, struct error *err);
