/* The folder of a kernel's modules, /lib/modules/RELEASE: finds a module's file by name in modules.dep(5). Knows no symbol. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* name: "[snd_hda_intel]", as in recordings without paths. root: as in rooted_open. Stores the file's path as seen from root in `path` of
 * `size` bytes; false: modules.dep does not list it, or it does not fit. */
bool kernel_folder_module(int root, const char *release, const char *name, char *path, size_t size);
