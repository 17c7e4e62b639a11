#include "model/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>

#include "base/budget.h"
#include "base/bytes.h"
#include "model/space.h"
#include "model/thread.h"

#define JIT_BUDGET ((uint64_t)64 << 20)

/* The contents of a MMAP or MMAP2 record. */
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
	vec_fini(&model->made.maps);
	vec_fini(&model->lives);
	vec_fini(&model->namespaces);
	idmap_fini(&model->by_tid);
	idmap_fini(&model->cgroups);
	vec_fini(&model->guest_machines);
	idmap_fini(&model->guest_by_pid);
	strtab_fini(&model->strings);
	arena_fini(&model->arena);
	budget_give(model->budget, model->budgeted);
}

void model_fini(struct model *model)
{
	model_fini_history(model);
	known_build_ids_fini(&model->build_ids);
	vec_fini(&model->kernel_maps);
	injected_fini(&model->injected);
	modules_fini(&model->modules);
}

const struct map_node *model_space_root(const struct model *model, uint32_t space, uint64_t clock)
{
	return space_root(model, space, clock);
}

const struct map_node *model_kernel_root(const struct model *model, uint64_t clock)
{
	return model_space_root(model, model->kernel_space, clock);
}

static bool cpumode_is_kernel(unsigned cpumode)
{
	return cpumode == RECORD_MISC_KERNEL || cpumode == RECORD_MISC_GUEST_KERNEL;
}

const struct map_node *model_guest_root(const struct model *model, int32_t pid, uint64_t clock)
{
	uint32_t index = idmap_get(&model->guest_by_pid, model->guests == GUESTS_ONE ? 0 : (uint32_t)pid);
	if (index == IDMAP_NONE && model->guests == GUESTS_EACH)
		index = idmap_get(&model->guest_by_pid, 0);
	return index == IDMAP_NONE ? NULL : model_space_root(model, model->guest_machines.items[index].kernel_space, clock);
}

/* Sets the module's build-id from the build-id table unless it has one. */
static void module_set_known_build_id(const struct model *model, struct module *module)
{
	uint8_t len;
	const uint8_t *id = module->build_id_len ? NULL : known_build_ids_module(&model->build_ids, module, &len);
	if (id)
		module_set_build_id(module, id, len);
}

/* Sets the build-ids of modules that are listed under `name` and have the name or the path `filename`. */
static void modules_set_known_build_ids(struct model *model, const char *name, const char *filename)
{
	for (struct module *module = modules_first(&model->modules, name); module; module = modules_next(&model->modules, module)) {
		const struct known_build_id *known = known_build_ids_file(&model->build_ids, filename);
		if (strcmp(module->name, filename) == 0)
			module_set_known_build_id(model, module);
		else if (!module->build_id_len && known->len && strcmp(module->long_name, filename) == 0)
			module_set_build_id(module, known->id, known->len);
	}
}

void model_set_build_id(struct model *model, const char *filename, uint16_t misc, const struct module_identity *identity, const uint8_t *id,
	uint8_t len)
{
	if (!len || len > sizeof ((struct module *)0)->build_id)
		return;
	/* in a stream the build-id may follow the mapping */
	bool fresh = known_build_ids_set(&model->build_ids, filename, misc, identity, id, len);
	modules_forget(&model->modules);
	if (identity) {
		struct module *module = modules_find(&model->modules, filename, identity);
		if (module)
			module_set_known_build_id(model, module);
	}
	if (!fresh || identity)
		return;
	char short_name[256];
	modules_set_known_build_ids(model, filename, filename);
	if (kmodule_name(filename, short_name, sizeof short_name) && strcmp(short_name, filename) != 0)
		modules_set_known_build_ids(model, short_name, filename);
}

static void mapping_decode(struct mapping *m, const struct record *record)
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
		m->identity.build_id = m->build_id;
		m->identity.build_id_len = m->build_id ? m->build_id_len : 0;
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
}

/* Whether the record has all that mapping_decode reads, and its mapping ends behind its start. */
static bool mapping_is_whole(const struct record *record)
{
	enum { START = 8, NAME_MMAP = 32, NAME_MMAP2 = 64 };
	size_t name = record->type == RECORD_MMAP ? NAME_MMAP : NAME_MMAP2;
	if (record->body_len <= name)
		return false;
	uint64_t start = load_u64(record->body + START), len = load_u64(record->body + START + sizeof start);
	return start + len >= start && memchr(record->body + name, '\0', record->body_len - name);
}

static bool name_begins_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool mapping_is_anonymous(const struct mapping *m)
{
	return m->flags & MAP_HUGETLB || strcmp(m->name, "//anon") == 0 || name_begins_with(m->name, "/dev/zero") ||
	       name_begins_with(m->name, "/anon_hugepage");
}

/* Whether JIT-compiled code may be in the mapping: such memory is mapped before code is written, and its protection changes later. */
static bool mapping_is_code_memory(const struct mapping *m)
{
	return mapping_is_anonymous(m) || name_begins_with(m->name, "[anon:") || name_begins_with(m->name, "/memfd:");
}

static bool mapping_is_no_file(const struct mapping *m)
{
	return name_begins_with(m->name, "[stack") || name_begins_with(m->name, "/SYSV") || strcmp(m->name, "[heap]") == 0;
}

/* Finds the module of a mapping of user code, or of data. Its kind decides how the mapping counts offsets. */
static struct module *user_module(struct model *model, const struct mapping *m, struct map *map)
{
	const char *name = m->name;
	enum module_kind kind = MODULE_FILE;
	char perf_map[40];
	if (mapping_is_anonymous(m) || mapping_is_no_file(m)) {
		map->identity = true;
		kind = MODULE_NONE;
		if (m->prot & PROT_EXEC) {
			kind = MODULE_ANON;
			snprintf(perf_map, sizeof perf_map, "/tmp/perf-%d.map", m->pid);
			name = perf_map;
		}
	} else if (strcmp(name, "[vdso]") == 0) {
		kind = MODULE_VDSO;
		map->pgoff = 0;
	}
	struct module *module = modules_file(&model->modules, name, kind, kind != MODULE_VDSO ? &m->identity : NULL);
	if (m->build_id_len)
		module_set_build_id(module, m->build_id, m->build_id_len);
	else
		module_set_known_build_id(model, module);
	if (kind == MODULE_FILE && module->kind == MODULE_FILE) {
		module->pid = m->pid;
		if (!(m->flags & MAP_HUGETLB))
			modules_remember(&model->modules, module, name, &m->identity);
	}
	return module;
}

static void apply_user_mapping(struct model *model, const struct mapping *m, uint64_t clock)
{
	uint32_t thread = thread_now(model, m->pid, m->tid, clock);
	struct map map = { .start = m->start, .end = m->start + m->len, .pgoff = m->pgoff, .prot = m->prot, .flags = m->flags };
	bool recalls = !m->build_id_len && !(m->flags & MAP_HUGETLB);
	struct module *module = recalls ? modules_recall(&model->modules, m->name, &m->identity) : NULL;
	if (!module)
		module = user_module(model, m, &map);
	else if (module->kind == MODULE_FILE)
		module->pid = m->pid;
	module->generation = model->generation;
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
	if (thread == THREAD_NONE || !space_root(model, model_thread_of(model, thread)->space, clock))
		return;
	model->changes++;
	space_set_root(model, model_thread_of(model, thread)->space, clock, NULL);
}

/* Each change of mappings adds to their history. Some add much: overlapping mappings copy paths of the tree, and overlapping mappings of
 * the kernel are computed again. Returns false if the budget has no room for another change, which is then counted. */
static bool has_room(struct model *model)
{
	enum { STEP = 1 << 20, SHARE = 4 }; /* the rest of the budget is for samples */
	while (model->budget && model->arena.bytes > model->budgeted) {
		bool fits = !model->budgeted || model->budgeted + STEP <= budget_limit(model->budget) / SHARE;
		if (!fits || budget_left(model->budget) < STEP || !budget_take(model->budget, STEP)) {
			model->left_out++;
			return false;
		}
		model->budgeted += STEP;
	}
	return true;
}

void model_combine(struct model *model, bool on)
{
	if (!on && model->edit)
		space_settle(model);
	if (!on)
		model->edit = 0;
	else if (!model->edit)
		model->edit = ++model->edits;
}

void model_place_jit(struct model *model, int32_t pid, const struct jit_place *places, size_t count, uint64_t clock)
{
	uint32_t thread = thread_alive(model, pid);
	if (thread == THREAD_NONE)
		return;
	model->changes++;
	bool combined = model->edit;
	model_combine(model, true);
	if (!model->jit_budget)
		model->jit_budget = JIT_BUDGET;
	for (size_t i = 0; i < count && has_room(model); i++) {
		struct map map = { .start = places[i].start, .end = places[i].start + places[i].size, .pgoff = places[i].offset,
				   .module = places[i].module, .prot = PROT_READ | PROT_EXEC, .flags = MAP_PRIVATE };
		space_insert(model, model_thread_of(model, thread)->space, clock, &map);
	}
	model_combine(model, combined);
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
	const struct known_build_id *known = known_build_ids_kernel(&model->build_ids);
	struct module *kernel = modules_kernel(&model->modules, known ? known->filename : "[kernel.kallsyms]");
	if (m->build_id_len)
		module_set_build_id(kernel, m->build_id, m->build_id_len);
	else if (known)
		module_set_build_id(kernel, known->id, known->len);
	struct map map = { .start = m->start, .end = m->start + m->len, .module = kernel->id, .identity = true,
			   .prot = m->prot, .flags = m->flags };
	if (!m->start && !m->len)
		map.end = UINT64_MAX; /* a record of size 0: the recorder did not know the kernel's extent */
	kernel->start = map.start;
	if (m->pgoff) {
		kernel->relocation = m->pgoff;
		kernel->relocation_symbol = arena_string(&model->arena, symbol, strlen(symbol));
	}
	space_insert_kernel(model, clock, &map);
}

static void apply_kernel_mapping(struct model *model, const struct mapping *m, uint64_t clock)
{
	static const char kernel_name[] = "[kernel.kallsyms]";
	size_t prefix = sizeof kernel_name - 2; /* without the bracket: old recorders write "[kernel.kallsyms_…" */
	bool kernel = strncmp(m->name, kernel_name, prefix) == 0;
	if (m->name[0] == '/' || (!kernel && m->name[0] == '[')) {
		char short_name[256];
		if (!kmodule_name(m->name, short_name, sizeof short_name))
			snprintf(short_name, sizeof short_name, "%s", m->name);
		/* perf creates the module from the build-id table, so its name is that of the table's row */
		const struct known_build_id *known = known_build_ids_kmodule(&model->build_ids, short_name);
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
			space_insert_kernel(model, clock, &map);
	} else if (kernel) {
		const char *bracket = strchr(m->name, ']');
		apply_kernel_itself(model, m, bracket ? bracket + 1 : "", clock);
	}
}

static struct guest_machine *guest_of(struct model *model, int32_t pid)
{
	bool added;
	pid = model->guests == GUESTS_ONE ? 0 : pid;
	uint32_t index = idmap_add(&model->guest_by_pid, (uint32_t)pid, (uint32_t)model->guest_machines.count, &added);
	if (added)
		vec_push(&model->guest_machines, ((struct guest_machine){ .pid = pid, .kernel_space = space_new(model) }));
	return &model->guest_machines.items[index];
}

/* Records that were made in the guest have its kernel under the name of a host's. */
static bool name_is_kernel(const char *name)
{
	return name_begins_with(name, "[guest.kernel.kallsyms") || name_begins_with(name, "[kernel.kallsyms");
}

static struct module *guest_kernel_module(struct model *model, int32_t pid, const struct mapping *m)
{
	char name[40] = "[guest.kernel.kallsyms]";
	if (pid)
		snprintf(name, sizeof name, "[guest.kernel.kallsyms.%d]", pid);
	struct module *module = modules_guest(&model->modules, MODULE_KERNEL, pid, name, name);
	const char *bracket = strchr(m->name, ']');
	if (m->pgoff && bracket) {
		module->relocation = m->pgoff;
		module->relocation_symbol = arena_string(&model->arena, bracket + 1, strlen(bracket + 1));
	}
	return module;
}

static struct module *guest_kmodule(struct model *model, int32_t pid, const struct mapping *m)
{
	char short_name[256];
	if (!kmodule_name(m->name, short_name, sizeof short_name))
		snprintf(short_name, sizeof short_name, "%s", m->name);
	return modules_guest(&model->modules, MODULE_KMODULE, pid, short_name, m->name);
}

/* Mappings of its processes are not applied: samples do not say which process ran. */
static void apply_guest_mapping(struct model *model, const struct mapping *m, bool kernel, uint64_t clock)
{
	bool itself = name_is_kernel(m->name);
	if (!kernel || (!itself && m->name[0] != '/' && m->name[0] != '['))
		return;
	const struct guest_machine *machine = guest_of(model, m->pid);
	struct module *module = itself ? guest_kernel_module(model, machine->pid, m) : guest_kmodule(model, machine->pid, m);
	if (m->build_id_len)
		module_set_build_id(module, m->build_id, m->build_id_len);
	module->start = m->start;
	struct map map = { .start = m->start, .end = m->start + m->len, .module = module->id, .identity = itself,
			   .prot = m->prot, .flags = m->flags };
	if (itself && !m->start && !m->len)
		map.end = UINT64_MAX; /* the recorder did not know the extent */
	if (map.end > map.start)
		space_insert(model, machine->kernel_space, clock, &map);
}

/* A process or thread of the record that is applied. */
static int32_t take_tid(const struct model *model, struct cursor *c)
{
	int32_t tid = (int32_t)take_u32(c);
	return model->machine ? injected_tid(model->machine, tid) : tid;
}

static void apply_mmap(struct model *model, const struct record *record, uint64_t clock)
{
	struct mapping m;
	if (!mapping_is_whole(record)) {
		model->bad_records++;
		return;
	}
	if (model->checks_only || !has_room(model))
		return;
	mapping_decode(&m, record);
	unsigned mode = record_cpumode(record);
	if (model->machine)
		m.pid = model->machine->machine;
	if (model->machine || (model->guests && mode_is_guest(mode)))
		apply_guest_mapping(model, &m, mode == RECORD_MISC_GUEST_KERNEL, clock);
	else if (cpumode_is_kernel(mode))
		apply_kernel_mapping(model, &m, clock);
	else if (m.len)
		apply_user_mapping(model, &m, clock);
}

static void apply_comm(struct model *model, const struct record *record, const struct sample *trailer, uint64_t clock)
{
	struct cursor c = cursor_of(record->body, record->body_len, false);
	int32_t pid = take_tid(model, &c);
	int32_t tid = take_tid(model, &c);
	const char *text = (const char *)c.data + c.at;
	if (c.short_read || !memchr(text, '\0', cursor_left(&c))) {
		model->bad_records++;
		return;
	}
	if (model->checks_only)
		return;
	uint32_t comm = strtab_add_line(&model->strings, text, strlen(text));
	uint32_t thread = thread_now(model, pid, tid, clock);
	thread_set_comm(model, thread, comm, record->misc & RECORD_MISC_COMM_EXEC, trailer->time, clock);
	if (model->clears_at_exec && record->misc & RECORD_MISC_COMM_EXEC)
		model_clear_space(model, pid, clock);
}

static void apply_fork(struct model *model, const struct record *record, const struct sample *trailer, uint64_t clock)
{
	struct cursor c = cursor_of(record->body, record->body_len, false);
	int32_t pid = take_tid(model, &c), ppid = take_tid(model, &c);
	int32_t tid = take_tid(model, &c), ptid = take_tid(model, &c);
	if (c.short_read) {
		model->bad_records++;
		return;
	}
	if (model->checks_only)
		return;
	uint32_t parent = thread_now(model, ppid, ptid, clock);
	if (model_thread_of(model, parent)->pid != ppid) {
		thread_end(model, parent, clock); /* the EXIT record of the previous thread is lost */
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
	/* synthesized FORK records have FORK_EXEC set: the mappings of the process follow */
	if (thread->pid != from->pid && thread->space != from->space && !(record->misc & RECORD_MISC_FORK_EXEC)) {
		bool combined = model->edit;
		model_combine(model, false); /* from here on both share the nodes */
		space_set_root(model, thread->space, clock, space_root(model, from->space, clock));
		model_combine(model, combined);
	}
}

static void apply_exit(struct model *model, const struct record *record, uint64_t clock)
{
	struct cursor c = cursor_of(record->body, record->body_len, false);
	take(&c, 8);
	int32_t tid = take_tid(model, &c);
	if (c.short_read) {
		model->bad_records++;
		return;
	}
	if (model->checks_only)
		return;
	uint32_t thread = thread_alive(model, tid);
	if (thread == THREAD_NONE)
		return;
	model_thread_of(model, thread)->exited = clock;
	if (!model->keep_exited)
		thread_end(model, thread, clock);
}

static void apply_namespaces(struct model *model, const struct record *record, uint64_t clock)
{
	struct cursor c = cursor_of(record->body, record->body_len, false);
	int32_t pid = take_tid(model, &c), tid = take_tid(model, &c);
	uint64_t count = take_u64(&c);
	if (c.short_read || count > cursor_left(&c) / 16) {
		model->bad_records++;
		return;
	}
	if (model->checks_only)
		return;
	uint32_t first = (uint32_t)model->namespaces.count;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t dev = take_u64(&c), inode = take_u64(&c);
		vec_push(&model->namespaces, ((struct namespace_link){ .dev = dev, .inode = inode }));
	}
	struct thread *thread = model_thread_of(model, thread_now(model, pid, tid, clock));
	vec_push(&thread->namespaces, ((struct thread_namespaces){ .clock = clock, .first = first, .count = (uint32_t)count }));
}

const char *model_cgroup_path(const struct model *model, uint64_t cgroup)
{
	uint32_t path = idmap_get(&model->cgroups, cgroup);
	return path == IDMAP_NONE ? NULL : strtab_text(&model->strings, path);
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
	if (model->checks_only)
		return;
	idmap_set(&model->cgroups, id, strtab_add_line(&model->strings, path, strlen(path)));
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
	if (model->checks_only)
		return;
	const struct map *old = map_find(model_kernel_root(model, clock), address);
	const struct module *known = old ? modules_get(&model->modules, old->module) : NULL;
	bool is_symbol = known && known->kind == MODULE_KSYMBOL;
	if (flags & UNREGISTER) {
		if (is_symbol)
			space_remove(model, model->kernel_space, clock, address);
		return;
	}
	if ((known && !is_symbol) || !len || (is_symbol && strcmp(known->name, name) == 0))
		return;
	if (is_symbol) /* its code was removed while nothing recorded that: perf goes on to show the old name */
		space_remove(model, model->kernel_space, clock, address);
	struct module *module = modules_ksymbol(&model->modules, name);
	module->start = address;
	module->size = len;
	struct map map = { .start = address, .end = address + len, .module = module->id, .prot = PROT_EXEC };
	space_insert(model, model->kernel_space, clock, &map);
}

void model_read_ids(struct model *model, const struct record *record)
{
	size_t before = model->injected.ids.count, machines = model->injected.machine_count;
	injected_read(&model->injected, record);
	for (size_t i = before; i < model->injected.ids.count; i++) {
		const struct injected_id *id = &model->injected.ids.items[i];
		if (id->number < machines)
			continue;
		machines = id->number + 1;
		uint32_t idle = thread_now(model, injected_tid(id, 0), injected_tid(id, 0), 0);
		thread_set_comm(model, idle, strtab_add(&model->strings, "swapper", 7), false, 0, 0);
	}
}

void model_apply(struct model *model, const struct record *record, const struct sample *trailer, uint64_t clock)
{
	model->changes++;
	model->machine = mode_is_guest(record_cpumode(record)) ? injected_get(&model->injected, trailer->id) : NULL;
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
		if (!model->machine)
			apply_ksymbol(model, record, clock);
		break;
	default:
		model->changes--;
	}
}
