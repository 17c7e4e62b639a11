/* Lengths of x86 instructions. Source: Intel 64 and IA-32 manual, volume 2, "Instruction Format" and appendix A. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the length of the first instruction; 0 if it does not end within len or is longer than 15 bytes. */
unsigned x86_instruction_length(const uint8_t *bytes, size_t len, bool is_64bit);
