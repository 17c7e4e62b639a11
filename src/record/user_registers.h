/* Converts the registers of user code in a sample to those of unwinding. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/sample.h"
#include "unwind/unwind.h"

/* machine: as `uname -m` prints it. UNWIND_ARCHES: no unwinding for it. */
enum unwind_arch user_registers_arch(const char *machine);
/* Of the sampled code: 32-bit code may run on a 64-bit machine. UNWIND_ARCHES: the sample has no registers, or no unwinding for it. */
enum unwind_arch user_registers_arch_of(const struct sample *sample, enum unwind_arch machine);
/* Fills arch, registers and stack_address from a sample with the registers of `mask`; false: not possible. */
bool user_registers_of(const struct sample *sample, uint64_t mask, enum unwind_arch machine, struct unwind_input *input);
