/* The build-id of an ELF file by its first page alone, which is in memory if the file runs: no section is read, so no further part of the
 * file is. Source: elf(5). */
#pragma once
#include <stdint.h>

#include "elf/elf.h"

/* The length of the build-id; 0: the first page does not have it, as in a file of the other byte order or without program headers. */
uint8_t head_build_id(int fd, uint8_t id[static ELF_BUILD_ID_MAX]);
