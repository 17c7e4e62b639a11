/* Parses modules.dep(5): finds the file of a kernel module by name. Reads no file. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* name: without brackets; '-' and '_' are equal. Stores the path, borrowed from the text; false: no line has the module. */
bool modules_dep_find(const char *text, const char *name, size_t name_len, const char **path, size_t *len);
