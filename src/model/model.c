#include "model/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>

#include "base/bytes.h"
#include "model/space.h"
#include "model/thread.h"

#define JIT_BUDGET ((uint64_t)64 << 20)

/* What a MMAP or MMAP2 record says. */
struct mapping {
	int32_t pid, tid;
	uint64_t start, len, pgoff;
	uint32_t prot, flags;
	struct module_identity identity;
	const uint8_t *build_id;
	uint8_t build_id_len;
	const char *name;
};

void model_init(struct model *model)
{
	*model = (struct model){ 0 };
	modules_init(&model->modules);
	model->random = (uintptr_t)model;
	model->kernel_space = space_new(model);
	uint32_t idle = thread_now(model, 0, 0, 0);
	thread_set_comm(model, idle, strtab_add(&model->strings, "swapper", 7), false, 0, 0);
}

void model_fini_history(struct model *model)
{
	for (size_t i = 0; i < model->threads.count; i++) {
		vec_fini(&model->threads.items[i]->comms);
		vec_fini(&model->threads.items[i]->namespaces);
	}
	for (size_t i = 0; i < model->spaces.count; i++) {
		vec_fini(&model->spaces.items[i]->versions);
		free(model->spaces.items[i]);
	}
	for (size_t i = 0; i < model->lives.count; i++)
		vec_fini(&model->lives.items[i].threads);
	vec_fini(&model->threads);
	vec_fini(&model->spaces);
	vec_fini(&model->lives);
	vec_fini(&model->namespaces);
	idmap_fini(&model->by_tid);
	idmap_fini(&model->cgroups);
	strtab_fini(&model->strings);
	arena_fini(&model->arena);
}

void model_fini(struct model *model)
{
	model_fini_history(model);
	vec_fini(&model->build_ids);
	strtab_fini(&model->build_id_names);
	modules_fini(&model->modules);
}

const struct map_node *model_space_root(const struct model *model, uint32_t space, uint64_t clock)
{
	return space_root(model->spaces.items[space], clock);
}

const struct map_node *model_kernel_root(const struct model *model, uint64_t clock)
{
	return model_space_root(model, model->kernel_space, clock);
}

static void module_set_build_id(struct module *module, const uint8_t *id, uint8_t len)
{
	module->build_id_len = len;
	memcpy(module->build_id, id, len);
}

static bool is_kernel_mode(unsigned cpumode)
{
	return cpumode == RECORD_MISC_KERNEL || cpumode == RECORD_MISC_GUEST_KERNEL;
}

static const struct known_build_id *build_id_of(const struct model *model, const char *filename)
{
	uint32_t id = strtab_find(&model->build_id_names, filename, strlen(filename));
	return id == UINT32_MAX ? NULL : &model->build_ids.items[id];
}

static const struct known_build_id *build_id_of_kmodule(const struct model *model, const char *name)
{
	char other[256];
	for (size_t i = 0; i < model->build_ids.count; i++)
		if (is_kernel_mode(model->build_ids.items[i].misc & RECORD_MISC_CPUMODE_MASK) &&
		    kmodule_name(model->build_ids.items[i].filename, other, sizeof other) && strcmp(other, name) == 0)
			return &model->build_ids.items[i];
	return NULL;
}

/* The kernel's own row: of kernel mode and no module. */
static const struct known_build_id *build_id_of_kernel(const struct model *model)
{
	char name[256];
	for (size_t i = 0; i < model->build_ids.count; i++)
		if ((model->build_ids.items[i].misc & RECORD_MISC_CPUMODE_MASK) == RECORD_MISC_KERNEL &&
		    !kmodule_name(model->build_ids.items[i].filename, name, sizeof name))
			return &model->build_ids.items[i];
	return NULL;
}

void model_set_build_id(struct model *model, const char *filename, uint16_t misc, int32_t pid, const uint8_t *id, uint8_t len)
{
	if (!len || len > sizeof ((struct module *)0)->build_id)
		return;
	uint32_t row = strtab_add(&model->build_id_names, filename, strlen(filename));
	if (row == model->build_ids.count)
		(void)vec_add(&model->build_ids);
	struct known_build_id *known = &model->build_ids.items[row];
	known->filename = strtab_text(&model->build_id_names, row);
	known->misc = misc;
	known->len = len;
	memcpy(known->id, id, len);
	/* In a pipe the row may follow the mapping. */
	for (size_t i = 0; i < model->modules.list.count; i++) {
		struct module *module = model->modules.list.items[i];
		if (module && !module->build_id_len && (strcmp(module->long_name, filename) == 0 || strcmp(module->name, filename) == 0))
			module_set_build_id(module, id, len);
	}
}

static int mapping_read(struct mapping *m, const struct record *record)
{
	struct cursor c = cursor_of(record->body, record->body_len, false);
	*m = (struct mapping){ 0 };
	m->pid = (int32_t)take_u32(&c);
	m->tid = (int32_t)take_u32(&c);
	m->start = take_u64(&c);
	m->len = take_u64(&c);
	m->pgoff = take_u64(&c);
	if (record->type == RECORD_MMAP) {
		m->prot = record->misc & RECORD_MISC_MMAP_DATA ? 0 : PROT_EXEC;
	} else if (record->misc & RECORD_MISC_MMAP_BUILD_ID) {
		m->build_id_len = take_u8(&c);
		take(&c, 3);
		m->build_id = take(&c, 20);
		if (m->build_id_len > 20)
			m->build_id_len = 20;
	} else {
		m->identity.maj = take_u32(&c);
		m->identity.min = take_u32(&c);
		m->identity.ino = take_u64(&c);
		m->identity.ino_generation = take_u64(&c);
	}
	if (record->type == RECORD_MMAP2) {
		m->prot = take_u32(&c);
		m->flags = take_u32(&c);
	}
	m->name = (const char *)c.data + c.at;
	bool ended = !c.short_read && memchr(m->name, '\0', cursor_left(&c));
	return ended ? 0 : -1;
}

static bool starts(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool mapping_is_anonymous(const struct mapping *m)
{
	return m->flags & MAP_HUGETLB || strcmp(m->name, "//anon") == 0 || starts(m->name, "/dev/zero") ||
	       starts(m->name, "/anon_hugepage");
}

/* What may hold JIT-compiled code: such a mapping is made before, and changed while, code is put there. */
static bool mapping_is_code_memory(const struct mapping *m)
{
	return mapping_is_anonymous(m) || starts(m->name, "[anon:") || starts(m->name, "/memfd:");
}

static bool mapping_is_no_file(const struct mapping *m)
{
	return starts(m->name, "[stack") || starts(m->name, "/SYSV") || strcmp(m->name, "[heap]") == 0;
}

static void apply_user_mapping(struct model *model, const struct mapping *m, uint64_t clock)
{
	uint32_t thread = thread_now(model, m->pid, m->tid, clock);
	struct map map = { .start = m->start, .end = m->start + m->len, .pgoff = m->pgoff, .prot = m->prot, .flags = m->flags };
	const char *name = m->name;
	enum module_kind kind = MODULE_FILE;
	char perf_map[40];
	if (mapping_is_anonymous(m) || mapping_is_no_file(m)) {
		map.identity = true;
		kind = MODULE_NONE;
		if (m->prot & PROT_EXEC) {
			kind = MODULE_ANON;
			snprintf(perf_map, sizeof perf_map, "/tmp/perf-%d.map", m->pid);
			name = perf_map;
		}
	} else if (strcmp(name, "[vdso]") == 0) {
		kind = MODULE_VDSO;
		map.pgoff = 0;
	}
	bool identified = kind != MODULE_VDSO && !m->build_id;
	struct module *module = modules_file(&model->modules, name, kind, identified ? &m->identity : NULL);
	module->generation = model->generation;
	if (kind == MODULE_FILE && module->kind == MODULE_FILE)
		module->pid = m->pid;
	if (m->build_id_len) {
		module_set_build_id(module, m->build_id, m->build_id_len);
	} else if (!module->build_id_len) {
		const struct known_build_id *known = build_id_of(model, name);
		if (known)
			module_set_build_id(module, known->id, known->len);
	}
	map.module = module->id;
	uint32_t space = model_thread_of(model, thread)->space;
	if (model->jit_budget && mapping_is_code_memory(m))
		space_insert_below_jit(model, space, clock, &map);
	else
		space_insert(model, space, clock, &map);
}

void model_clear_space(struct model *model, int32_t pid, uint64_t clock)
{
	uint32_t thread = thread_alive(model, pid);
	if (thread == THREAD_NONE || !space_root(model->spaces.items[model_thread_of(model, thread)->space], clock))
		return;
	model->changes++;
	space_set_root(model, model_thread_of(model, thread)->space, clock, NULL);
}

void model_place_jit(struct model *model, int32_t pid, const struct jit_place *places, size_t count, uint64_t clock)
{
	uint32_t thread = thread_alive(model, pid);
	if (thread == THREAD_NONE)
		return;
	model->changes++;
	model->edit = ++model->edits;
	if (!model->jit_budget)
		model->jit_budget = JIT_BUDGET;
	for (size_t i = 0; i < count; i++) {
		struct map map = { .start = places[i].start, .end = places[i].start + places[i].size, .pgoff = places[i].offset,
				   .module = places[i].module, .prot = PROT_READ | PROT_EXEC, .flags = MAP_PRIVATE };
		space_insert(model, model_thread_of(model, thread)->space, clock, &map);
	}
	model->edit = 0;
}

void model_place_kernel(struct model *model, const struct module *kernel, const struct kernel_part *parts, size_t count, uint64_t clock)
{
	for (size_t i = 0; i < count; i++) {
		bool itself = strcmp(parts[i].section, ".text") == 0;
		const struct module *module = itself ? kernel : modules_kernel_section(&model->modules, kernel, parts[i].section);
		struct map map = { .start = parts[i].start, .end = parts[i].end, .pgoff = parts[i].offset, .module = module->id,
				   .identity = true, .prot = PROT_READ | PROT_EXEC, .flags = MAP_PRIVATE };
		space_insert(model, model->kernel_space, clock, &map);
	}
}

static void apply_kernel_itself(struct model *model, const struct mapping *m, const char *symbol, uint64_t clock)
{
	const struct known_build_id *known = build_id_of_kernel(model);
	struct module *kernel = modules_kernel(&model->modules, known ? known->filename : "[kernel.kallsyms]");
	if (m->build_id_len)
		module_set_build_id(kernel, m->build_id, m->build_id_len);
	else if (known)
		module_set_build_id(kernel, known->id, known->len);
	struct map map = { .start = m->start, .end = m->start + m->len, .module = kernel->id, .identity = true,
			   .prot = m->prot, .flags = m->flags };
	if (!m->start && !m->len)
		map.end = UINT64_MAX; /* a zero-sized record: the kernel's extent was not told */
	kernel->start = map.start;
	if (m->pgoff) {
		kernel->relocation = m->pgoff;
		kernel->relocation_symbol = arena_string(&model->arena, symbol, strlen(symbol));
	}
	space_insert(model, model->kernel_space, clock, &map);
}

static void apply_kernel_mapping(struct model *model, const struct mapping *m, uint64_t clock)
{
	static const char kernel_name[] = "[kernel.kallsyms]";
	size_t prefix = sizeof kernel_name - 2; /* without its bracket: also "[kernel.kallsyms_…" of old recorders */
	bool kernel = strncmp(m->name, kernel_name, prefix) == 0;
	if (m->name[0] == '/' || (!kernel && m->name[0] == '[')) {
		char short_name[256];
		if (!kmodule_name(m->name, short_name, sizeof short_name))
			snprintf(short_name, sizeof short_name, "%s", m->name);
		/* A row of the build-id table made the module first, in perf's eyes: it goes by that row's name. */
		const struct known_build_id *known = build_id_of_kmodule(model, short_name);
		struct module *module = modules_kmodule(&model->modules, short_name, known ? known->filename : m->name);
		if (known)
			module->name = module->long_name;
		if (m->build_id_len)
			module_set_build_id(module, m->build_id, m->build_id_len);
		else if (known)
			module_set_build_id(module, known->id, known->len);
		module->start = m->start;
		struct map map = { .start = m->start, .end = m->start + m->len, .module = module->id, .prot = m->prot, .flags = m->flags };
		if (m->len)
			space_insert(model, model->kernel_space, clock, &map);
	} else if (kernel) {
		const char *bracket = strchr(m->name, ']');
		apply_kernel_itself(model, m, bracket ? bracket + 1 : "", clock);
	}
}

static void apply_mmap(struct model *model, const struct record *record, uint64_t clock)
{
	struct mapping m;
	if (mapping_read(&m, record) < 0 || m.start + m.len < m.start) {
		model->bad_records++;
		return;
	}
	if (is_kernel_mode(record_cpumode(record)))
		apply_kernel_mapping(model, &m, clock);
	else if (m.len)
		apply_user_mapping(model, &m, clock);
}

static void apply_comm(struct model *model, const struct record *record, const struct sample *trailer, uint64_t clock)
{
	struct cursor c = cursor_of(record->body, record->body_len, false);
	int32_t pid = (int32_t)take_u32(&c);
	int32_t tid = (int32_t)take_u32(&c);
	const char *text = (const char *)c.data + c.at;
	if (c.short_read || !memchr(text, '\0', cursor_left(&c))) {
		model->bad_records++;
		return;
	}
	uint32_t comm = strtab_add(&model->strings, text, strlen(text));
	uint32_t thread = thread_now(model, pid, tid, clock);
	thread_set_comm(model, thread, comm, record->misc & RECORD_MISC_COMM_EXEC, trailer->time, clock);
}

static void apply_fork(struct model *model, const struct record *record, const struct sample *trailer, uint64_t clock)
{
	struct cursor c = cursor_of(record->body, record->body_len, false);
	int32_t pid = (int32_t)take_u32(&c), ppid = (int32_t)take_u32(&c);
	int32_t tid = (int32_t)take_u32(&c), ptid = (int32_t)take_u32(&c);
	if (c.short_read) {
		model->bad_records++;
		return;
	}
	uint32_t parent = thread_now(model, ppid, ptid, clock);
	if (model_thread_of(model, parent)->pid != ppid) {
		thread_end(model, parent, clock); /* a life whose end was lost */
		parent = thread_now(model, ppid, ptid, clock);
	}
	uint32_t old = thread_alive(model, tid);
	if (old != THREAD_NONE)
		thread_end(model, old, clock);
	uint32_t child = thread_now(model, pid, tid, clock);
	struct thread *thread = model_thread_of(model, child), *from = model_thread_of(model, parent);
	if (from->comms.count)
		thread_set_comm(model, child, from->comms.items[from->comms.count - 1].comm, false, trailer->time, clock);
	thread->ppid = from->tid;
	if (model->outlives_leader && thread->pid == from->pid)
		thread->space = from->space;
	/* Synthesised forks (of running processes) say FORK_EXEC: their mappings follow. */
	if (thread->pid != from->pid && thread->space != from->space && !(record->misc & RECORD_MISC_FORK_EXEC))
		space_set_root(model, thread->space, clock, space_root(model->spaces.items[from->space], clock));
}

static void apply_exit(struct model *model, const struct record *record, uint64_t clock)
{
	struct cursor c = cursor_of(record->body, record->body_len, false);
	take(&c, 8);
	int32_t tid = (int32_t)take_u32(&c);
	if (c.short_read) {
		model->bad_records++;
		return;
	}
	uint32_t thread = thread_alive(model, tid);
	if (thread != THREAD_NONE && !model->keep_exited)
		thread_end(model, thread, clock);
}

static void apply_namespaces(struct model *model, const struct record *record, uint64_t clock)
{
	struct cursor c = cursor_of(record->body, record->body_len, false);
	int32_t pid = (int32_t)take_u32(&c), tid = (int32_t)take_u32(&c);
	uint64_t count = take_u64(&c);
	if (c.short_read || count > cursor_left(&c) / 16) {
		model->bad_records++;
		return;
	}
	uint32_t first = (uint32_t)model->namespaces.count;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t dev = take_u64(&c), inode = take_u64(&c);
		vec_push(&model->namespaces, ((struct namespace_link){ .dev = dev, .inode = inode }));
	}
	struct thread *thread = model_thread_of(model, thread_now(model, pid, tid, clock));
	vec_push(&thread->namespaces, ((struct thread_namespaces){ .clock = clock, .first = first, .count = (uint32_t)count }));
}

static void apply_cgroup(struct model *model, const struct record *record)
{
	struct cursor c = cursor_of(record->body, record->body_len, false);
	uint64_t id = take_u64(&c);
	const char *path = (const char *)c.data + c.at;
	if (c.short_read || !memchr(path, '\0', cursor_left(&c))) {
		model->bad_records++;
		return;
	}
	idmap_set(&model->cgroups, id, strtab_add(&model->strings, path, strlen(path)));
}

static void apply_ksymbol(struct model *model, const struct record *record, uint64_t clock)
{
	enum { UNREGISTER = 1 };
	struct cursor c = cursor_of(record->body, record->body_len, false);
	uint64_t address = take_u64(&c);
	uint32_t len = take_u32(&c);
	take_u16(&c);
	uint16_t flags = take_u16(&c);
	const char *name = (const char *)c.data + c.at;
	if (c.short_read || !memchr(name, '\0', cursor_left(&c)) || address + len < address) {
		model->bad_records++;
		return;
	}
	const struct map *old = map_find(model_kernel_root(model, clock), address);
	if (flags & UNREGISTER) {
		if (old && modules_get(&model->modules, old->module)->kind == MODULE_KSYMBOL)
			space_remove(model, model->kernel_space, clock, address);
		return;
	}
	if (old || !len)
		return;
	struct module *module = modules_ksymbol(&model->modules, name);
	module->start = address;
	module->size = len;
	struct map map = { .start = address, .end = address + len, .module = module->id, .prot = PROT_EXEC };
	space_insert(model, model->kernel_space, clock, &map);
}

void model_apply(struct model *model, const struct record *record, const struct sample *trailer, uint64_t clock)
{
	model->changes++;
	switch (record->type) {
	case RECORD_MMAP:
	case RECORD_MMAP2:
		apply_mmap(model, record, clock);
		break;
	case RECORD_COMM:
		apply_comm(model, record, trailer, clock);
		break;
	case RECORD_FORK:
		apply_fork(model, record, trailer, clock);
		break;
	case RECORD_EXIT:
		apply_exit(model, record, clock);
		break;
	case RECORD_NAMESPACES:
		apply_namespaces(model, record, clock);
		break;
	case RECORD_CGROUP:
		apply_cgroup(model, record);
		break;
	case RECORD_KSYMBOL:
		apply_ksymbol(model, record, clock);
		break;
	default:
		model->changes--;
	}
}
