/* One file's call frame information → a table of rules. Reads .eh_frame (found by its section or by PT_GNU_EH_FRAME), .debug_frame
 * of the file or of its debug file for code the former does not cover, .sframe where there is neither; knows the few stubs that
 * linkers and C libraries leave without any. Finds no file. */
#pragma once
#include "elf/elf.h"
#include "model/jit.h"
#include "unwind/rules.h"

/* runtime: the file that runs; debug: its debug file, or NULL. < 0: of a machine that is not known. */
int rules_compile(const struct elf *runtime, const struct elf *debug, struct rule_table *table, struct error *err);
/* Of the functions that a just-in-time compiler tells how to unwind; the others have no rules. < 0: of a machine that is not known. */
int rules_compile_jit(const struct jit *jit, struct rule_table *table, struct error *err);
