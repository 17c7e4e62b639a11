#include "model/module.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "model/jit.h"

void modules_init(struct modules *modules)
{
	*modules = (struct modules){ .seed = (uintptr_t)modules, .changes = 1 };
}

/* Frees the indices by which modules are found. */
static void module_indices_fini(struct modules *modules)
{
	vec_fini(&modules->by_name);
	vec_fini(&modules->any_by_name);
	vec_fini(&modules->links);
	idmap_fini(&modules->by_identity);
	idmap_fini(&modules->by_build);
	strtab_fini(&modules->names);
}

void modules_fini(struct modules *modules)
{
	for (size_t i = 0; i < modules->list.count; i++)
		if (modules->list.items[i])
			jit_free(modules->list.items[i]->jit);
	vec_fini(&modules->list);
	vec_fini(&modules->free);
	module_indices_fini(modules);
	free(modules->memos);
	arena_fini(&modules->arena);
}

static const char *copy_module_text(struct modules *modules, const char *text)
{
	return arena_string(&modules->arena, text, strlen(text));
}

static const char *path_last_component(const char *path)
{
	const char *slash = strrchr(path, '/');
	return !*path ? "." : slash && slash[1] ? slash + 1 : path;
}

bool kmodule_name(const char *path, char *out, size_t size)
{
	const char *base = path_last_component(path);
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

static bool identity_is_unknown(const struct module_identity *identity)
{
	return !identity || (!identity->maj && !identity->min && !identity->ino && !identity->ino_generation);
}

static struct module_identity module_identity_of(const struct module *module)
{
	return (struct module_identity){ .maj = module->maj, .min = module->min, .ino = module->ino,
		.ino_generation = module->ino_generation };
}

/* The key of by_identity: the name and the file; `any`: for any inode generation. */
struct identity_key {
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint32_t name, any;
};

static struct identity_key identity_key_of(uint32_t name_id, const struct module_identity *file, uint64_t generation, bool any)
{
	return (struct identity_key){ .maj = file->maj, .min = file->min, .ino = file->ino, .ino_generation = any ? 0 : generation,
		.name = name_id, .any = any };
}

static bool module_has_key(const struct modules *modules, uint32_t id, const struct identity_key *key)
{
	struct module_identity file = module_identity_of(modules_get(modules, id));
	return modules->links.items[id].name == key->name && file.maj == key->maj && file.min == key->min &&
	       file.ino == key->ino && (key->any || file.ino_generation == key->ino_generation);
}

/* Returns the key in by_identity, and the module stored there, or MODULE_ID_NONE. */
static uint64_t identity_slot(const struct modules *modules, const struct identity_key *key, uint32_t *id)
{
	uint64_t place = hash_bytes_from(modules->seed, key, sizeof *key);
	while ((*id = idmap_get(&modules->by_identity, place)) != IDMAP_NONE && !module_has_key(modules, *id, key))
		place++; /* a hash collision */
	return place;
}

/* Returns the module that was listed later. */
static uint32_t later_listed(const struct modules *modules, uint32_t a, uint32_t b)
{
	if (a == MODULE_ID_NONE || b == MODULE_ID_NONE)
		return a == MODULE_ID_NONE ? b : a;
	return modules->links.items[a].listed > modules->links.items[b].listed ? a : b;
}

static void module_list_by_key(struct modules *modules, uint32_t id, const struct identity_key *key)
{
	uint32_t other;
	uint64_t place = identity_slot(modules, key, &other);
	idmap_set(&modules->by_identity, place, later_listed(modules, id, other));
}

static void module_list_by_identity(struct modules *modules, uint32_t id)
{
	struct module_link *link = &modules->links.items[id];
	struct module_identity file = module_identity_of(modules_get(modules, id));
	modules_forget(modules);
	if (identity_is_unknown(&file)) {
		link->next_any = modules->any_by_name.items[link->name];
		modules->any_by_name.items[link->name] = id;
		return;
	}
	struct identity_key exact = identity_key_of(link->name, &file, file.ino_generation, false);
	struct identity_key any = identity_key_of(link->name, &file, 0, true);
	module_list_by_key(modules, id, &exact);
	module_list_by_key(modules, id, &any);
}

static void module_prepend_to_name(struct modules *modules, uint32_t id, uint32_t name_id)
{
	while (modules->links.count <= id)
		vec_push(&modules->links, ((struct module_link){ .next = MODULE_ID_NONE, .next_any = MODULE_ID_NONE }));
	modules->links.items[id] = (struct module_link){ .name = name_id, .next = modules->by_name.items[name_id],
		.next_any = MODULE_ID_NONE, .listed = ++modules->lists };
	modules->by_name.items[name_id] = id;
	module_list_by_identity(modules, id);
}

/* Gives a module without a known file, the one that was listed last under its name, the identity of a file. */
static void module_set_identity(struct modules *modules, struct module *module, const struct module_identity *file)
{
	struct module_link *link = &modules->links.items[module->id];
	modules->any_by_name.items[link->name] = link->next_any;
	link->next_any = MODULE_ID_NONE;
	module->maj = file->maj;
	module->min = file->min;
	module->ino = file->ino;
	module->ino_generation = file->ino_generation;
	module_list_by_identity(modules, module->id);
}

static uint32_t module_id_new(struct modules *modules)
{
	if (modules->free.count)
		return modules->free.items[--modules->free.count];
	vec_push(&modules->list, NULL);
	return (uint32_t)modules->list.count - 1;
}

static struct module *module_new(struct modules *modules, enum module_kind kind, uint32_t name_id)
{
	struct module *module = arena_alloc(&modules->arena, sizeof *module);
	module->id = module_id_new(modules);
	module->kind = kind;
	module->pid = -1;
	module->name = module->long_name = strtab_text(&modules->names, name_id);
	module->short_name = path_last_component(module->name);
	modules->list.items[module->id] = module;
	module_prepend_to_name(modules, module->id, name_id);
	return module;
}

static uint32_t module_name_id(struct modules *modules, const char *name)
{
	uint32_t id = strtab_add(&modules->names, name, strlen(name));
	while (modules->by_name.count <= id) {
		vec_push(&modules->by_name, MODULE_ID_NONE);
		vec_push(&modules->any_by_name, MODULE_ID_NONE);
	}
	return id;
}

/* Returns the module that was listed last among those that may be the file. Synthesized records have no inode generation: zero matches
 * any. */
static uint32_t module_find_file(const struct modules *modules, uint32_t name_id, const struct module_identity *file)
{
	if (identity_is_unknown(file))
		return modules->by_name.items[name_id];
	uint32_t found, other;
	struct identity_key key = identity_key_of(name_id, file, file->ino_generation, !file->ino_generation);
	identity_slot(modules, &key, &found);
	if (file->ino_generation) {
		key = identity_key_of(name_id, file, 0, false);
		identity_slot(modules, &key, &other);
		found = later_listed(modules, found, other);
	}
	return later_listed(modules, found, modules->any_by_name.items[name_id]);
}

/* Returns the key of a name and a build-id in by_build, and the module stored there, or IDMAP_NONE. */
static uint64_t build_id_slot(const struct modules *modules, uint32_t name_id, const uint8_t *build_id, uint8_t len, uint32_t *id)
{
	uint64_t place = hash_pair(hash_bytes_from(modules->seed, build_id, len), name_id);
	for (;; place++) {
		*id = idmap_get(&modules->by_build, place);
		if (*id == IDMAP_NONE)
			return place;
		const struct module *module = modules_get(modules, *id);
		if (modules->links.items[*id].name == name_id && module->build_id_len == len && memcmp(module->build_id, build_id, len) == 0)
			return place;
	}
}

static void module_list_by_build_id(struct modules *modules, uint32_t id, uint32_t name_id, const struct module_identity *identity)
{
	uint32_t other;
	uint64_t place = build_id_slot(modules, name_id, identity->build_id, identity->build_id_len, &other);
	idmap_set(&modules->by_build, place, id);
}

/* Returns the module with the build-id; otherwise the module that was listed last under the name, if its build-id is unknown. */
static uint32_t module_find_build(const struct modules *modules, uint32_t name_id, const struct module_identity *identity)
{
	uint32_t id, last = modules->by_name.items[name_id];
	build_id_slot(modules, name_id, identity->build_id, identity->build_id_len, &id);
	if (id != IDMAP_NONE)
		return id;
	return last != MODULE_ID_NONE && !modules_get(modules, last)->build_id_len ? last : MODULE_ID_NONE;
}

struct module *modules_find(const struct modules *modules, const char *name, const struct module_identity *identity)
{
	uint32_t name_id = strtab_find(&modules->names, name, strlen(name));
	uint32_t id = name_id == UINT32_MAX ? MODULE_ID_NONE : module_find_file(modules, name_id, identity);
	return id == MODULE_ID_NONE ? NULL : modules_get(modules, id);
}

struct module *modules_first(const struct modules *modules, const char *name)
{
	uint32_t name_id = strtab_find(&modules->names, name, strlen(name));
	uint32_t id = name_id == UINT32_MAX ? MODULE_ID_NONE : modules->by_name.items[name_id];
	return id == MODULE_ID_NONE ? NULL : modules_get(modules, id);
}

struct module *modules_next(const struct modules *modules, const struct module *module)
{
	uint32_t id = modules->links.items[module->id].next;
	return id == MODULE_ID_NONE ? NULL : modules_get(modules, id);
}

/* Synthesized records have no inode generation: zero matches any. */
bool module_is_file(const struct module *module, const struct module_identity *identity)
{
	if (identity && identity->build_id_len && module->build_id_len)
		return identity->build_id_len == module->build_id_len && memcmp(identity->build_id, module->build_id, module->build_id_len) == 0;
	struct module_identity own = module_identity_of(module);
	if (identity_is_unknown(identity) || identity_is_unknown(&own))
		return true;
	if (module->maj != identity->maj || module->min != identity->min || module->ino != identity->ino)
		return false;
	return !module->ino_generation || !identity->ino_generation || module->ino_generation == identity->ino_generation;
}

struct module *modules_file(struct modules *modules, const char *name, enum module_kind kind, const struct module_identity *identity)
{
	uint32_t name_id = module_name_id(modules, name);
	bool by_build = identity && identity->build_id_len;
	uint32_t id = by_build ? module_find_build(modules, name_id, identity) : module_find_file(modules, name_id, identity);
	struct module *module = id == MODULE_ID_NONE ? NULL : modules_get(modules, id);
	if (!module) {
		module = module_new(modules, kind, name_id);
		int tid = 0;
		if (sscanf(name, "/tmp/perf-%d.map", &tid) == 1) {
			char text[32];
			snprintf(text, sizeof text, "[JIT] tid %d", tid);
			module->short_name = copy_module_text(modules, text);
			module->pid = tid;
		}
	}
	struct module_identity own = module_identity_of(module);
	if (!identity_is_unknown(identity) && identity_is_unknown(&own))
		module_set_identity(modules, module, identity);
	if (by_build)
		module_list_by_build_id(modules, module->id, name_id, identity);
	return module;
}

enum { MEMOS = 256 };

void modules_forget(struct modules *modules)
{
	modules->changes++;
}

static size_t memo_at(const struct module_identity *identity)
{
	return (size_t)hash_u64(identity->ino) % MEMOS;
}

struct module *modules_recall(const struct modules *modules, const char *name, const struct module_identity *identity)
{
	if (!modules->memos)
		return NULL;
	const struct module_memo *memo = &modules->memos[memo_at(identity)];
	bool same = memo->changes == modules->changes && memo->ino == identity->ino && memo->maj == identity->maj && memo->min == identity->min &&
		memo->ino_generation == identity->ino_generation;
	return same && strcmp(memo->name, name) == 0 ? memo->module : NULL;
}

void modules_remember(struct modules *modules, struct module *module, const char *name, const struct module_identity *identity)
{
	uint32_t name_id = strtab_find(&modules->names, name, strlen(name));
	if (identity->build_id_len || identity_is_unknown(identity) || name_id == UINT32_MAX)
		return;
	if (!modules->memos)
		modules->memos = memory_zero(MEMOS, sizeof *modules->memos);
	modules->memos[memo_at(identity)] = (struct module_memo){ .changes = modules->changes, .maj = identity->maj, .min = identity->min,
		.ino = identity->ino, .ino_generation = identity->ino_generation, .name = strtab_text(&modules->names, name_id), .module = module };
}

bool modules_share_name(const struct modules *modules, uint32_t id)
{
	const char *name = modules_get(modules, id)->name;
	uint32_t name_id = strtab_find(&modules->names, name, strlen(name));
	uint32_t first = name_id < modules->by_name.count ? modules->by_name.items[name_id] : MODULE_ID_NONE;
	return first != MODULE_ID_NONE && modules->links.items[first].next != MODULE_ID_NONE;
}

struct module *modules_kernel(struct modules *modules, const char *name)
{
	uint32_t name_id = module_name_id(modules, name);
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
	struct module *module = module_new(modules, MODULE_KERNEL, module_name_id(modules, name));
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
	uint32_t name_id = module_name_id(modules, short_name);
	uint32_t id = modules->by_name.items[name_id];
	if (id != MODULE_ID_NONE)
		return modules_get(modules, id);
	struct module *module = module_new(modules, MODULE_KMODULE, name_id);
	module->short_name = module->name;
	module->long_name = copy_module_text(modules, path);
	return module;
}

/* It is listed under a name that no record has, as a guest's kernel modules have the names of the host's. */
struct module *modules_guest(struct modules *modules, enum module_kind kind, int32_t pid, const char *name, const char *long_name)
{
	CLEANUP_STR struct str listed = { 0 };
	str_printf(&listed, "guest %d %s", pid, name);
	uint32_t name_id = module_name_id(modules, str_text(&listed));
	uint32_t id = modules->by_name.items[name_id];
	if (id != MODULE_ID_NONE)
		return modules_get(modules, id);
	struct module *module = module_new(modules, kind, name_id);
	module->name = module->short_name = copy_module_text(modules, name);
	module->long_name = copy_module_text(modules, long_name);
	module->guest = true;
	module->pid = pid;
	return module;
}

struct module *modules_ksymbol(struct modules *modules, const char *name)
{
	uint32_t name_id = module_name_id(modules, name);
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
	struct module *part = module_new(modules, MODULE_JIT, module_name_id(modules, first->name));
	part->pid = first->pid;
	part->jit = memory_zero(1, sizeof *part->jit);
	return part;
}

/* Copies a text of a module to the new arena, unless it is part of the name, which is already copied. */
static const char *module_move_text(struct modules *modules, const char *text, const char *old_name, const char *name)
{
	uintptr_t at = (uintptr_t)text - (uintptr_t)old_name;
	return at <= strlen(old_name) ? name + at : copy_module_text(modules, text);
}

static void module_move(struct modules *modules, const struct module *old, uint32_t name_id)
{
	struct module *module = arena_copy(&modules->arena, old, sizeof *old);
	/* the name of a kernel module may differ from the name in the list */
	const char *listed = strtab_text(&modules->names, name_id);
	module->name = strcmp(old->name, listed) == 0 ? listed : copy_module_text(modules, old->name);
	module->long_name = module_move_text(modules, old->long_name, old->name, module->name);
	module->short_name = module_move_text(modules, old->short_name, old->name, module->name);
	modules->list.items[module->id] = module;
	module_prepend_to_name(modules, module->id, name_id);
	if (module->build_id_len)
		module_list_by_build_id(modules, module->id, name_id,
			&(struct module_identity){ .build_id = module->build_id, .build_id_len = module->build_id_len });
}

static void module_drop(struct modules *modules, struct module *module)
{
	uint32_t id = module->id;
	jit_free(module->jit);
	modules->list.items[id] = NULL;
	vec_push(&modules->free, id);
}

void modules_drop(struct modules *modules, bool (*is_unused)(void *context, const struct module *module), void *context)
{
	struct modules old = *modules;
	VEC(uint32_t) chain = { 0 };
	modules_forget(modules); /* modules and names move */
	modules->arena = (struct arena){ 0 };
	modules->names = (struct strtab){ 0 };
	modules->by_identity = modules->by_build = (struct idmap){ 0 };
	memset(&modules->by_name, 0, sizeof modules->by_name);
	memset(&modules->any_by_name, 0, sizeof modules->any_by_name);
	memset(&modules->links, 0, sizeof modules->links);
	for (uint32_t name = 0; name < old.by_name.count; name++) {
		vec_clear(&chain);
		for (uint32_t id = old.by_name.items[name]; id != MODULE_ID_NONE; id = old.links.items[id].next)
			vec_push(&chain, id);
		while (chain.count) { /* in reverse, since the list of a name grows at its head */
			struct module *module = modules_get(modules, chain.items[--chain.count]);
			if (is_unused(context, module))
				module_drop(modules, module);
			else
				module_move(modules, module, module_name_id(modules, strtab_text(&old.names, name)));
		}
	}
	vec_fini(&chain);
	module_indices_fini(&old);
	arena_fini(&old.arena);
}

void module_set_build_id(struct module *module, const uint8_t *id, uint8_t len)
{
	module->build_id_len = len;
	memcpy(module->build_id, id, len);
}
