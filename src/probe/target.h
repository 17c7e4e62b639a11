/* A file in which probes are placed: its image, its symbols, its debug information with all parts, its call frame information. Opens each
 * on demand. Knows no probe. */
#pragma once
#include "dwarf/die.h"
#include "dwarf/statement.h"
#include "image/debug.h"
#include "symbol/load.h"
#include "unwind/rules.h"

struct probe_target {
	char *path;                   /* absolute; as a process of the target's mount namespace sees it */
	bool kernel;                  /* vmlinux or a kernel module: addresses are relative to symbols */
	bool object;                  /* a kernel module's file: addresses are those of module_layout */
	char *object_name;            /* the kernel's name of that module; NULL: no module's file */
	struct image_options image_options;
	struct module module;
	struct image image;           /* the file itself */
	uint64_t text_shift;          /* from addresses to file offsets of code; 0 of a module's file */
	struct image_debug debug;
	struct dwarf *dwarf;          /* NULL: not opened, or absent */
	bool debug_tried, rules_tried, symbols_tried;
	struct rule_table rules;
	struct modules modules;
	struct symbol_sources sources;
	struct symtab *symtab;
	struct demangler demangler;
	struct dwarf_unit *statements_of; /* the unit of … */
	struct dwarf_statements statements;
	uint64_t scanned;             /* bytes of units since pages were dropped */
};

struct probe_target_options {
	const char *buildid_dir, *symfs;
	struct budget *budget;
	struct debuginfod *debuginfod;
	int32_t namespace_pid;        /* the process in whose root the path is; 0: this one */
	bool no_demangle, kernel;
	bool listed;                  /* symbols are listed, not looked up by their address */
};

/* Opens the file. The target must not move until it is closed. */
int probe_target_open(struct probe_target *target, const char *path, const struct probe_target_options *options, struct error *err);
void probe_target_close(struct probe_target *target); /* accepts a zeroed one */

/* Opens the debug information at the first call; false: the file has none. */
bool probe_target_debug(struct probe_target *target);
/* Returns the file's symbols by offset in the file, with aliases; of vmlinux by address. Empty: it has none. */
const struct symbol_table *probe_target_symbols(struct probe_target *target);
/* Returns the name to show for a symbol: demangled, malloc'ed. */
char *probe_target_name(const struct probe_target *target, const char *name);
/* Returns the symbol whose code contains an address as linked; NULL. */
const struct symbol *probe_target_symbol_at(struct probe_target *target, uint64_t address);
/* The address, as linked, of a function with its version, "memcpy@GLIBC_2.2.5", or of its default version; false: the file defines none. */
bool probe_target_version(const struct probe_target *target, const char *name, uint64_t *address);
/* The canonical frame address at an address: `offset` from the DWARF register `reg`; false: unknown, or not of that form. */
bool probe_target_cfa(struct probe_target *target, uint64_t address, unsigned *reg, int64_t *offset);
/* Returns the statements of the unit that contains die; valid until the next call for another unit. */
const struct dwarf_statements *probe_target_statements(struct probe_target *target, const struct dwarf_die *die);
/* To be called after reading `bytes` of debug information: drops pages from memory from time to time. */
void probe_target_scanned(struct probe_target *target, uint64_t bytes);
/* The name of a register in a probe's arguments ("%ax"), by its DWARF number; NULL: unknown. */
const char *probe_register(uint16_t machine, unsigned number);
