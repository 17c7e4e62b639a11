/* The checksum that a debug link stores of its file: CRC-32 of all bytes, as in zlib. Holes are not read: the effect of zeros follows from
 * their number. Format: GDB's manual, "Separate Debug Files". */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* *left: how many bytes may still be read, of this and other files; the bytes read are subtracted. Returns false if that is not enough, or
 * the file cannot be read. */
bool file_checksum(int fd, uint64_t *left, uint32_t *checksum);
