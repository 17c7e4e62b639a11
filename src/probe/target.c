#include "probe/target.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dwarf/dwarf.h"
#include "elf/module_layout.h"
#include "elf/symbol_version.h"
#include "image/recorded_process.h"
#include "unwind/compile.h"

#define SCANNED_MAX ((uint64_t)8 << 20)

/* The kernel's names of registers in probe definitions (Documentation/trace/kprobetrace.rst) by DWARF number (psABIs). */
static const char *const x86_64_registers[] = { "%ax", "%dx", "%cx", "%bx", "%si", "%di", "%bp", "%sp", "%r8", "%r9", "%r10", "%r11",
	"%r12", "%r13", "%r14", "%r15" };
static const char *const x86_registers[] = { "%ax", "%cx", "%dx", "%bx", "$stack", "%bp", "%si", "%di" };
static const char *const arm64_registers[] = { "%x0", "%x1", "%x2", "%x3", "%x4", "%x5", "%x6", "%x7", "%x8", "%x9", "%x10", "%x11",
	"%x12", "%x13", "%x14", "%x15", "%x16", "%x17", "%x18", "%x19", "%x20", "%x21", "%x22", "%x23", "%x24", "%x25", "%x26", "%x27",
	"%x28", "%x29", "%lr", "%sp" };
static const char *const arm_registers[] = { "%r0", "%r1", "%r2", "%r3", "%r4", "%r5", "%r6", "%r7", "%r8", "%r9", "%r10", "%fp", "%ip",
	"%sp", "%lr", "%pc" };
static const char *const s390_registers[] = { "%r0", "%r1", "%r2", "%r3", "%r4", "%r5", "%r6", "%r7", "%r8", "%r9", "%r10", "%r11", "%r12",
	"%r13", "%r14", "%r15" };

static const struct {
	uint16_t machine;
	uint8_t count;
	const char *const *names;
} register_sets[] = {
	{ EM_X86_64, 16, x86_64_registers }, { EM_386, 8, x86_registers }, { EM_AARCH64, 32, arm64_registers }, { EM_ARM, 16, arm_registers },
	{ EM_S390, 16, s390_registers },
};

const char *probe_register(uint16_t machine, unsigned number)
{
	for (size_t i = 0; i < sizeof register_sets / sizeof *register_sets; i++)
		if (register_sets[i].machine == machine)
			return number < register_sets[i].count ? register_sets[i].names[number] : NULL;
	return NULL;
}

/* The path below the root of a process of another mount namespace; the path itself otherwise. */
static int target_open_file(struct probe_target *t, const char *path, const struct probe_target_options *options, struct error *err)
{
	int root = options->namespace_pid ? process_root(options->namespace_pid) : -1;
	t->path = root < 0 ? realpath(path, NULL) : memory_string(path);
	if (!t->path) {
		error_system(err, "Failed to find path of %s", path);
		return -1;
	}
	int result = image_open(&t->image, root, t->path, options->budget, err);
	if (root >= 0)
		close(root);
	return result;
}

/* The kernel's name of a module: in `struct module` (include/linux/module.h) behind a state and a list head; of a file without that section
 * its own name, in which the kernel replaces '-'. */
static char *object_name(const struct elf *elf, const char *file)
{
	struct span bytes = elf_section_bytes(elf, elf_section(elf, ".gnu.linkonce.this_module"));
	size_t at = elf->is64 ? 24 : 12, len = bytes.len > at ? strnlen((const char *)bytes.data + at, bytes.len - at) : 0;
	if (len && len < bytes.len - at)
		return memory_string((const char *)bytes.data + at);
	char *name = memory_string(file), *end = strstr(name, ".ko");
	if (end && end > name)
		*end = '\0';
	for (char *c = name; *c; c++)
		*c = *c == '-' ? '_' : *c;
	return name;
}

int probe_target_open(struct probe_target *t, const char *path, const struct probe_target_options *options, struct error *err)
{
	*t = (struct probe_target){ .kernel = options->kernel, .demangler = { .off = options->no_demangle },
		.image_options = { .buildid_dir = options->buildid_dir, .symfs = options->symfs, .budget = options->budget,
			.debuginfod = options->debuginfod, .processes_until = RECORDED_NOW } };
	modules_init(&t->modules);
	if (target_open_file(t, path, options, err) < 0)
		return -1;
	const char *name = strrchr(t->path, '/');
	t->module = (struct module){ .kind = MODULE_FILE, .name = t->path, .long_name = t->path, .short_name = name ? name + 1 : t->path,
		.pid = options->namespace_pid ? options->namespace_pid : -1 };
	if (t->image.elf.type == ET_REL) {
		t->object = true;
		t->module.kind = MODULE_KMODULE;
		module_layout(&t->image.elf);
		t->object_name = object_name(&t->image.elf, t->module.short_name);
	}
	const struct elf_section *text = elf_section(&t->image.elf, ".text");
	if (text && !t->object)
		t->text_shift = text->address - text->offset;
	struct symbols_options symbols = { .buildid_dir = options->buildid_dir, .symfs = options->symfs, .budget = options->budget,
		.aliases = true, .unsearched = options->listed, .debuginfod = options->debuginfod, .no_demangle = options->no_demangle,
		.processes_until = RECORDED_NOW };
	sources_init(&t->sources, &t->modules, &symbols);
	return 0;
}

void probe_target_close(struct probe_target *t)
{
	if (!t->path && !t->image.path)
		return;
	vec_fini(&t->statements);
	dwarf_close(t->dwarf);
	image_debug_close(&t->debug);
	rule_table_fini(&t->rules);
	if (t->symtab)
		symtab_free(&t->sources, t->symtab);
	sources_fini(&t->sources);
	modules_fini(&t->modules);
	image_close(&t->image);
	free(t->object_name);
	free(t->path);
	*t = (struct probe_target){ 0 };
}

bool probe_target_debug(struct probe_target *t)
{
	if (t->debug_tried)
		return t->dwarf != NULL;
	t->debug_tried = true;
	struct error ignored;
	if (image_debug_open(&t->debug, &t->module, &t->image_options, NULL, &ignored) < 0) {
		t->debug = (struct image_debug){ 0 };
		return false;
	}
	struct dwarf_parts parts = { .debug = t->debug.debug, .alternate = image_debug_alternate(&t->debug),
		.package = image_debug_package(&t->debug), .split = image_debug_split, .context = &t->debug, .budget = t->image_options.budget };
	if (dwarf_open(&t->dwarf, &parts, &ignored) < 0)
		t->dwarf = NULL;
	return t->dwarf != NULL;
}

void probe_target_scanned(struct probe_target *t, uint64_t bytes)
{
	t->scanned += bytes;
	if (t->scanned < SCANNED_MAX)
		return;
	t->scanned = 0;
	image_debug_release(&t->debug);
}

const struct symbol_table *probe_target_symbols(struct probe_target *t)
{
	static const struct symbol_table none;
	if (!t->symbols_tried) {
		t->symbols_tried = true;
		t->symtab = symtab_load(&t->sources, &t->module);
	}
	return t->symtab ? &t->symtab->table : &none;
}

char *probe_target_name(const struct probe_target *t, const char *name)
{
	char *shown = t->demangler.off ? NULL : name_demangle(&t->demangler, name);
	return shown ? shown : memory_string(name);
}

const struct symbol *probe_target_symbol_at(struct probe_target *t, uint64_t address)
{
	const struct symbol_table *table = probe_target_symbols(t);
	uint32_t id = table_find(table, address - t->text_shift);
	return id ? &table->symbols[id - 1] : NULL;
}

bool probe_target_version(const struct probe_target *t, const char *name, uint64_t *address)
{
	return !t->kernel && elf_symbol_version(&t->image.elf, name, address);
}

bool probe_target_cfa(struct probe_target *t, uint64_t address, unsigned *reg, int64_t *offset)
{
	if (!t->rules_tried) {
		t->rules_tried = true;
		struct error ignored;
		const struct elf *debug = t->debug.separate.path ? &t->debug.separate.elf : NULL;
		if (rules_compile(&t->image.elf, debug, t->image_options.budget, &t->rules, &ignored) < 0)
			t->rules = (struct rule_table){ 0 };
	}
	const struct rule *rule = t->rules.count ? rule_table_find(&t->rules, address) : NULL;
	if (!rule || rule->cfa_kind != CFA_REGISTER)
		return false;
	*reg = rule->cfa_register;
	*offset = rule->cfa_value;
	return true;
}

const struct dwarf_statements *probe_target_statements(struct probe_target *t, const struct dwarf_die *die)
{
	if (t->statements_of != die->unit) {
		vec_fini(&t->statements);
		t->statements_of = die->unit;
		dwarf_statements_read(die, &t->statements);
	}
	return &t->statements;
}
