#include "model/module.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "model/jit.h"

void modules_init(struct modules *modules)
{
	*modules = (struct modules){ 0 };
}

void modules_fini(struct modules *modules)
{
	for (size_t i = 0; i < modules->list.count; i++)
		if (modules->list.items[i])
			jit_free(modules->list.items[i]->jit);
	vec_fini(&modules->list);
	vec_fini(&modules->free);
	vec_fini(&modules->by_name);
	vec_fini(&modules->next_of_name);
	strtab_fini(&modules->names);
	arena_fini(&modules->arena);
}

static const char *keep(struct modules *modules, const char *text)
{
	return arena_string(&modules->arena, text, strlen(text));
}

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');
	return !*path ? "." : slash && slash[1] ? slash + 1 : path;
}

bool kmodule_name(const char *path, char *out, size_t size)
{
	const char *base = last_component(path);
	size_t len = strlen(base);
	if (base[0] == '[') {
		static const char *const others[] = { "[kernel.", "[guest.kernel.", "[vdso", "[vsyscall]" };
		for (size_t i = 0; i < sizeof others / sizeof *others; i++)
			if (strncmp(base, others[i], strlen(others[i])) == 0)
				return false;
		snprintf(out, size, "%s", base);
		return base[len - 1] == ']';
	}
	const char *dot = strstr(base, ".ko");
	if (!dot || dot == base || (dot[3] && dot[3] != '.'))
		return false;
	snprintf(out, size, "[%.*s]", (int)(dot - base), base);
	for (char *c = out; *c; c++)
		if (*c == '-')
			*c = '_';
	return true;
}

static void list_by_name(struct modules *modules, uint32_t id, uint32_t name_id)
{
	while (modules->next_of_name.count <= id)
		vec_push(&modules->next_of_name, MODULE_ID_NONE);
	modules->next_of_name.items[id] = modules->by_name.items[name_id];
	modules->by_name.items[name_id] = id;
}

static uint32_t free_id(struct modules *modules)
{
	if (modules->free.count)
		return modules->free.items[--modules->free.count];
	vec_push(&modules->list, NULL);
	return (uint32_t)modules->list.count - 1;
}

static struct module *module_new(struct modules *modules, enum module_kind kind, uint32_t name_id)
{
	struct module *module = arena_alloc(&modules->arena, sizeof *module);
	module->id = free_id(modules);
	module->kind = kind;
	module->pid = -1;
	module->name = module->long_name = strtab_text(&modules->names, name_id);
	module->short_name = last_component(module->name);
	modules->list.items[module->id] = module;
	list_by_name(modules, module->id, name_id);
	return module;
}

static uint32_t name_of(struct modules *modules, const char *name)
{
	uint32_t id = strtab_add(&modules->names, name, strlen(name));
	while (modules->by_name.count <= id)
		vec_push(&modules->by_name, MODULE_ID_NONE);
	return id;
}

static bool identity_none(uint32_t maj, uint32_t min, uint64_t ino, uint64_t generation)
{
	return !maj && !min && !ino && !generation;
}

/* Synthesised records carry no inode generation: zero matches any. */
static bool identity_fits(const struct module *module, const struct module_identity *identity)
{
	if (!identity || identity_none(identity->maj, identity->min, identity->ino, identity->ino_generation) ||
	    identity_none(module->maj, module->min, module->ino, module->ino_generation))
		return true;
	if (module->maj != identity->maj || module->min != identity->min || module->ino != identity->ino)
		return false;
	return !module->ino_generation || !identity->ino_generation || module->ino_generation == identity->ino_generation;
}

struct module *modules_file(struct modules *modules, const char *name, enum module_kind kind, const struct module_identity *identity)
{
	uint32_t name_id = name_of(modules, name);
	struct module *module = NULL;
	for (uint32_t id = modules->by_name.items[name_id]; id != MODULE_ID_NONE; id = modules->next_of_name.items[id])
		if (identity_fits(modules_get(modules, id), identity)) {
			module = modules_get(modules, id);
			break;
		}
	if (!module) {
		module = module_new(modules, kind, name_id);
		int tid = 0;
		if (sscanf(name, "/tmp/perf-%d.map", &tid) == 1) {
			char text[32];
			snprintf(text, sizeof text, "[JIT] tid %d", tid);
			module->short_name = keep(modules, text);
			module->pid = tid;
		}
	}
	if (identity && identity_none(module->maj, module->min, module->ino, module->ino_generation)) {
		module->maj = identity->maj;
		module->min = identity->min;
		module->ino = identity->ino;
		module->ino_generation = identity->ino_generation;
	}
	return module;
}

struct module *modules_kernel(struct modules *modules, const char *name)
{
	uint32_t name_id = name_of(modules, name);
	uint32_t id = modules->by_name.items[name_id];
	if (id != MODULE_ID_NONE)
		return modules_get(modules, id);
	struct module *module = module_new(modules, MODULE_KERNEL, name_id);
	if (strstr(module->name, "vmlinux"))
		module->short_name = "[kernel.vmlinux]";
	return module;
}

struct module *modules_kernel_section(struct modules *modules, const struct module *kernel, const char *section)
{
	char name[512];
	snprintf(name, sizeof name, "%s%s", kernel->short_name, section);
	struct module *module = module_new(modules, MODULE_KERNEL, name_of(modules, name));
	const char *itself = module->name;
	uint32_t id = module->id;
	*module = *kernel;
	module->id = id;
	module->name = module->short_name = itself;
	module->section = itself + strlen(kernel->short_name);
	module->whole = kernel;
	return module;
}

struct module *modules_kmodule(struct modules *modules, const char *short_name, const char *path)
{
	uint32_t name_id = name_of(modules, short_name);
	uint32_t id = modules->by_name.items[name_id];
	if (id != MODULE_ID_NONE)
		return modules_get(modules, id);
	struct module *module = module_new(modules, MODULE_KMODULE, name_id);
	module->short_name = module->name;
	module->long_name = keep(modules, path);
	return module;
}

struct module *modules_ksymbol(struct modules *modules, const char *name)
{
	uint32_t name_id = name_of(modules, name);
	return module_new(modules, MODULE_KSYMBOL, name_id);
}

struct jit *modules_make_jit(struct modules *modules, uint32_t id)
{
	struct module *module = modules_get(modules, id);
	if (module->kind != MODULE_FILE)
		return NULL;
	module->kind = MODULE_JIT;
	return module->jit = memory_zero(1, sizeof *module->jit);
}

struct module *modules_jit_part(struct modules *modules, uint32_t id)
{
	const struct module *first = modules_get(modules, id);
	struct module *part = module_new(modules, MODULE_JIT, name_of(modules, first->name));
	part->pid = first->pid;
	part->jit = memory_zero(1, sizeof *part->jit);
	return part;
}

/* A text of a module that moves: part of its name, which has moved, or one of its own. */
static const char *move_text(struct modules *modules, const char *text, const char *old_name, const char *name)
{
	uintptr_t at = (uintptr_t)text - (uintptr_t)old_name;
	return at <= strlen(old_name) ? name + at : keep(modules, text);
}

static void module_move(struct modules *modules, const struct module *old, uint32_t name_id)
{
	struct module *module = arena_copy(&modules->arena, old, sizeof *old);
	/* kernel modules may be called otherwise than they are listed */
	const char *listed = strtab_text(&modules->names, name_id);
	module->name = strcmp(old->name, listed) == 0 ? listed : keep(modules, old->name);
	module->long_name = move_text(modules, old->long_name, old->name, module->name);
	module->short_name = move_text(modules, old->short_name, old->name, module->name);
	modules->list.items[module->id] = module;
	list_by_name(modules, module->id, name_id);
}

static void module_drop(struct modules *modules, struct module *module)
{
	uint32_t id = module->id;
	jit_free(module->jit);
	modules->list.items[id] = NULL;
	vec_push(&modules->free, id);
}

void modules_drop(struct modules *modules, bool (*goes)(void *context, const struct module *module), void *context)
{
	struct modules old = *modules;
	VEC(uint32_t) chain = { 0 };
	modules->arena = (struct arena){ 0 };
	modules->names = (struct strtab){ 0 };
	memset(&modules->by_name, 0, sizeof modules->by_name);
	memset(&modules->next_of_name, 0, sizeof modules->next_of_name);
	for (uint32_t name = 0; name < old.by_name.count; name++) {
		vec_clear(&chain);
		for (uint32_t id = old.by_name.items[name]; id != MODULE_ID_NONE; id = old.next_of_name.items[id])
			vec_push(&chain, id);
		while (chain.count) { /* backwards: the list is made from its end */
			struct module *module = modules_get(modules, chain.items[--chain.count]);
			if (goes(context, module))
				module_drop(modules, module);
			else
				module_move(modules, module, name_of(modules, strtab_text(&old.names, name)));
		}
	}
	vec_fini(&chain);
	vec_fini(&old.by_name);
	vec_fini(&old.next_of_name);
	strtab_fini(&old.names);
	arena_fini(&old.arena);
}
