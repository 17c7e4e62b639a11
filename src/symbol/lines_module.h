/* The interface of lines.c for symbol.c and load.c. Internal to the layer. */
#pragma once
#include <stdint.h>

struct image_trail;
struct module_lines;
struct symbol;
struct symbols;
struct symbol_sources;
struct symtab;
struct module;

void module_lines_free(struct module_lines *lines); /* accepts NULL */
const struct image_trail *lines_trail(const struct symtab *tab); /* NULL if absent, or if tab is NULL */
/* The symbol of an id with SYMBOL_INLINED. */
const struct symbol *module_lines_symbol(struct symtab *tab, uint32_t id);

/* symbol.c: a module's table, loaded on first use; NULL if there are too many modules. */
struct symtab *symbols_table(struct symbols *symbols, const struct module *module);
const struct symbol_sources *symbols_sources(const struct symbols *symbols);
