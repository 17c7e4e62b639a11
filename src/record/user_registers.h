/* The registers of user code in a sample, as unwinding wants them. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/sample.h"
#include "unwind/unwind.h"

/* What `uname -m` says; UNWIND_ARCHES: no rules are known for it. */
enum unwind_arch user_registers_arch(const char *machine);
/* Of the code that was sampled on a machine: 32-bit code may run on a 64-bit one. UNWIND_ARCHES: none. */
enum unwind_arch user_registers_arch_of(const struct sample *sample, enum unwind_arch machine);
/* Fills arch, registers and stack_address from a sample whose registers are those of `mask`; false: it has none. */
bool user_registers_of(const struct sample *sample, uint64_t mask, enum unwind_arch machine, struct unwind_input *input);
