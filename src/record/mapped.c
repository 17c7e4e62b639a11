#include "record/mapped.h"

#include "data/jitdump.h"
#include "image/jit_dump.h"
#include "os/process.h"

enum {
	COMPILERS_MAX = 4096,
	TABLES_BYTES_MAX = 64 << 20, /* of call frame information; the least recently used is freed first */
	TABLES_BYTES_IDLE = 8 << 20, /* of call frame information of files that no process maps */
	ROOM = 1 << 22,              /* for the model, if samples arrive in time … */
	ROOM_HISTORY = 1 << 25,      /* … and if they remain in rings until a snapshot */
};

/* As its process sees it, and only if this user or root owns it. */
static int open_dump(void *context, int32_t pid, const char *path, struct reader *reader)
{
	uint64_t size;
	int fd = jit_dump_open(pid, path, NULL, false, &size, NULL);
	(void)context;
	if (fd < 0)
		return -1;
	*reader = reader_of_fd(fd, size);
	return 0;
}

void mapped_open(struct mapped *mapped, const struct evlist *evlist, const char *buildid_dir, struct budget *budget, bool history)
{
	*mapped = (struct mapped){ .room = history ? ROOM_HISTORY : ROOM, .names = history };
	model_init(&mapped->model);
	mapped->model.outlives_leader = true;
	mapped->tables = unwind_tables_new(&mapped->model.modules, &(struct image_options){ .buildid_dir = buildid_dir, .living = true,
		.budget = budget });
	mapped->loader = table_loader_new(mapped->tables);
	machine_names(&mapped->machine);
	mapped->jit = (struct jit_feeds){ .model = &mapped->model, .evlist = evlist, .machine = mapped->machine.arch, .budget = budget,
		.grows = true, .no_lines = true, .open = open_dump, .next_ns = UINT64_MAX };
}

void mapped_close(struct mapped *mapped)
{
	table_loader_free(mapped->loader);
	unwind_tables_free(mapped->tables);
	model_fini_history(&mapped->before);
	model_fini(&mapped->model);
	vec_fini(&mapped->compilers);
	jit_feeds_fini(&mapped->jit);
}

static size_t compiler_at(const struct mapped *mapped, int32_t pid)
{
	size_t i = 0;
	while (i < mapped->compilers.count && mapped->compilers.items[i] != pid)
		i++;
	return i;
}

bool mapped_has_jit(const struct mapped *mapped, int32_t pid)
{
	return mapped->compilers.count && compiler_at(mapped, pid) < mapped->compilers.count;
}

static void add_compiler(struct mapped *mapped, int32_t pid)
{
	if (!mapped_has_jit(mapped, pid) && mapped->compilers.count < COMPILERS_MAX)
		vec_push(&mapped->compilers, pid);
}

static void remove_compiler(struct mapped *mapped, int32_t pid)
{
	size_t at = compiler_at(mapped, pid);
	if (at >= mapped->compilers.count)
		return;
	mapped->compilers.items[at] = mapped->compilers.items[--mapped->compilers.count];
	jit_feeds_end(&mapped->jit, pid);
}

/* Just-in-time compilers map their dump; a forked child runs their code too. */
static void follow_compilers(struct mapped *mapped, const struct record *record, bool maps_dump)
{
	if (record->body_len < 16)
		return;
	int32_t pid = (int32_t)load_u32(record->body), second = (int32_t)load_u32(record->body + 4);
	if (maps_dump)
		add_compiler(mapped, pid);
	else if (record->type == RECORD_FORK && mapped_has_jit(mapped, second))
		add_compiler(mapped, pid);
	else if (record->type == RECORD_EXIT && pid == (int32_t)load_u32(record->body + 8))
		remove_compiler(mapped, pid);
	else if (record->type == RECORD_COMM && record->misc & RECORD_MISC_COMM_EXEC)
		remove_compiler(mapped, pid);
}

/* Only what leads to frames of user code: the model of a recorder that runs for days must remain small. */
void mapped_apply(struct mapped *mapped, const struct record *record, uint64_t time)
{
	static const struct sample none = { .time = UINT64_MAX };
	bool maps = record->type == RECORD_MMAP || record->type == RECORD_MMAP2;
	bool maps_dump = maps && record_cpumode(record) == RECORD_MISC_USER && jitdump_is_mapped(record);
	follow_compilers(mapped, record, maps_dump);
	if (record->type == RECORD_TIME_CONV)
		time_conv_read(&mapped->jit.clock, record);
	mapped_advance(mapped, time);
	if (time > mapped->clock)
		mapped->clock = time;
	if (record->type == RECORD_FORK || record->type == RECORD_EXIT || (maps && record_cpumode(record) == RECORD_MISC_USER))
		model_apply(&mapped->model, record, &none, mapped->clock);
	else if (record->type == RECORD_COMM && record->misc & RECORD_MISC_COMM_EXEC && record->body_len >= 4)
		model_clear_space(&mapped->model, (int32_t)load_u32(record->body), mapped->clock);
	if (record->type == RECORD_COMM && mapped->names)
		model_apply(&mapped->model, record, &none, mapped->clock);
	if (maps_dump)
		jit_feeds_take_mapping(&mapped->jit, record, mapped->clock);
}

void mapped_refresh(struct mapped *mapped)
{
	if (mapped->jit.growing)
		jit_feeds_refresh(&mapped->jit);
}

void mapped_advance(struct mapped *mapped, uint64_t time)
{
	if (time < mapped->jit.next_ns)
		return;
	if (time > mapped->clock)
		mapped->clock = time;
	jit_feeds_advance(&mapped->jit, time, mapped->clock);
}

bool mapped_knows(const struct mapped *mapped, const struct map_node *maps, uint64_t address)
{
	const struct map *map = map_find(maps, address);
	return map && modules_get(&mapped->model.modules, map->module)->kind != MODULE_ANON;
}

static const struct map_node *maps_of(const struct model *model, int32_t pid, int32_t tid, uint64_t time)
{
	return model_root(model, pid, model_thread(model, tid, time), time);
}

const struct map_node *mapped_now(const struct mapped *mapped, int32_t pid, int32_t tid, uint32_t *generation)
{
	*generation = mapped->model.generation;
	return maps_of(&mapped->model, pid, tid, mapped->clock);
}

const struct model *mapped_model_at(const struct mapped *mapped, uint64_t *time)
{
	if (*time >= mapped->renewed || !mapped->model.generation)
		return &mapped->model;
	if (*time < mapped->renewed_before)
		*time = mapped->renewed_before;
	return &mapped->before;
}

const struct map_node *mapped_at(const struct mapped *mapped, int32_t pid, int32_t tid, uint64_t time, uint32_t *generation)
{
	const struct model *model = mapped_model_at(mapped, &time);
	*generation = model->generation;
	return maps_of(model, pid, tid, time);
}

void mapped_want(struct mapped *mapped, uint32_t module, int32_t pid)
{
	if (module >= mapped->model.modules.list.count)
		return;
	struct module wanted = *modules_get(&mapped->model.modules, module);
	if (wanted.kind == MODULE_FILE)
		wanted.pid = pid; /* the process that mapped it first may have ended */
	table_loader_want(mapped->loader, &wanted);
}

static bool thread_ended(void *context, const struct thread *thread)
{
	(void)context;
	return thread->tid > 0 && !task_lives(thread->pid, thread->tid);
}

static bool is_idle(void *context, uint32_t module)
{
	const struct model *model = context;
	return modules_get(&model->modules, module)->generation != model->generation;
}

/* Neither this generation nor the previous one maps it, and nothing else refers to it. Dumps refer to their modules. */
static bool is_done(void *context, const struct module *module)
{
	const struct mapped *mapped = context;
	return module->kind != MODULE_JIT && module->generation + 1 < mapped->model.generation &&
		!unwind_tables_tried(mapped->tables, module->id) && !table_loader_owes(mapped->loader, module->id);
}

/* Only living threads are part of the new generation: memory does not grow with the duration of a recording. */
void mapped_renew(struct mapped *mapped, uint32_t oldest)
{
	struct model *model = &mapped->model;
	if (unwind_tables_memory(mapped->tables) > TABLES_BYTES_MAX)
		unwind_tables_trim(mapped->tables, TABLES_BYTES_MAX, NULL, NULL);
	if (oldest != model->generation)
		return; /* at most two generations exist */
	/* tables may belong to processes that have ended */
	if (model->arena.bytes < 2 * mapped->generation_bytes + mapped->room &&
	    unwind_tables_memory(mapped->tables) < mapped->tables_bytes + TABLES_BYTES_IDLE)
		return;
	model_fini_history(&mapped->before);
	model_renew(model, mapped->clock, thread_ended, NULL, &mapped->before);
	mapped->renewed_before = mapped->renewed;
	mapped->renewed = mapped->clock;
	mapped->generation_bytes = model->arena.bytes;
	unwind_tables_trim(mapped->tables, TABLES_BYTES_IDLE, is_idle, model);
	mapped->tables_bytes = unwind_tables_memory(mapped->tables);
	modules_drop(&model->modules, is_done, mapped);
	memory_give_back();
}
