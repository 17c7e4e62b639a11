/* The folder of a kernel's modules, /lib/modules/RELEASE: which file a module's name stands for, by modules.dep(5). Knows no symbol. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* name: "[snd_hda_intel]", as recordings without paths have it. root as in file_open. The file's path, of at most `size` bytes, as
 * seen from root; false: the folder does not list it. */
bool kernel_folder_module(int root, const char *release, const char *name, char *path, size_t size);
