/* How long an x86 instruction is. Source: Intel's manual, volume 2, "Instruction Format" and appendix A. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the instruction at the start; 0 where it does not end within len or cannot be one. */
unsigned x86_instruction_length(const uint8_t *bytes, size_t len, bool is_64bit);
