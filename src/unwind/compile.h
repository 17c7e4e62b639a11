/* Compiles one file's call frame information to a table of rules. Reads .eh_frame (found by its section or by PT_GNU_EH_FRAME),
 * .debug_frame of the file or of its debug file for code that the former does not cover, .sframe if both are absent; recognizes the few
 * stubs that linkers and C libraries leave without call frame information. Finds no file. */
#pragma once
#include "elf/elf.h"
#include "model/jit.h"
#include "unwind/rules.h"

struct budget;

/* runtime: the file that runs; debug: its debug file, or NULL. < 0: unsupported architecture. */
int rules_compile(const struct elf *runtime, const struct elf *debug, struct budget *budget, struct rule_table *table, struct error *err);
/* Compiles the functions for which a just-in-time compiler wrote unwinding information; others have no rules. < 0: unsupported
 * architecture. */
int rules_compile_jit(const struct jit *jit, struct rule_table *table, struct error *err);
