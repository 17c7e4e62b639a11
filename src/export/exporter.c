#include "export/exporter.h"

#include "data/evsel_name.h"
#include "export/branch_types.h"
#include "export/exporter_state.h"
#include "image/search.h"
#include "session/trace.h"
#include "symbol/lines.h"

enum { STEPS = 1 << 14 };
#define OFFSET_MAX (UINT64_C(1) << 40) /* of a file; programs that are not PIE have their code below, too */
#define FLAGS_OF_TYPE (TRACE_BRANCH | TRACE_CALL | TRACE_RETURN | TRACE_CONDITIONAL | TRACE_SYSCALL | TRACE_ASYNC | TRACE_INTERRUPT | \
	TRACE_ABORT | TRACE_BEGIN | TRACE_END | TRACE_VM_ENTRY | TRACE_VM_EXIT)

static void finish_call(void *context, const struct finished_call *call);

static void add_unknown_rows(struct exporter *exporter)
{
	/* the row 0 of a table is what is not known; values that are not set are 0 */
	static const struct {
		enum export_table table;
		unsigned texts;          /* columns that are "unknown", as bits */
		unsigned minus, empty;   /* columns that are -1, or "" */
	} rows[] = {
		{ TABLE_EVENTS, 1 << 1, 0, 0 }, { TABLE_MACHINES, 1 << 2, 0, 0 }, { TABLE_THREADS, 0, 1 << 3 | 1 << 4, 0 },
		{ TABLE_COMMS, 1 << 1, 0, 0 }, { TABLE_DSOS, 1 << 2 | 1 << 3, 0, 1 << 4 }, { TABLE_SYMBOLS, 1 << 5, 0, 0 },
		{ TABLE_SAMPLES, 0, 0, 0 }, { TABLE_CALL_PATHS, 0, 0, 0 }, { TABLE_CALLS, 0, 0, 0 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct value values[EXPORT_COLUMNS_MAX] = { 0 };
		for (size_t column = 0; column < EXPORT_COLUMNS_MAX; column++) {
			if (rows[i].texts >> column & 1)
				values[column] = value_text("unknown");
			else if (rows[i].empty >> column & 1)
				values[column] = value_text("");
			else if (rows[i].minus >> column & 1)
				values[column].integer = -1;
		}
		database_add(exporter->database, rows[i].table, values);
	}
}

struct exporter *exporter_new(struct database *database, struct session *session, struct symbols *symbols)
{
	struct exporter *exporter = memory_zero(1, sizeof *exporter);
	exporter->database = database;
	exporter->session = session;
	exporter->symbols = symbols;
	call_paths_init(&exporter->paths);
	exporter->steps = memory_zero(STEPS, sizeof *exporter->steps);
	if (database->schema.calls)
		exporter->calls = calls_new(&exporter->paths, finish_call, exporter);
	add_unknown_rows(exporter);
	branch_types_add(database);
	return exporter;
}

static void slices_fini(struct slices *slices)
{
	for (size_t i = 0; i < slices->count; i++) {
		vec_fini(&slices->items[i].rows);
		vec_fini(&slices->items[i].chains);
		vec_fini(&slices->items[i].reads);
	}
	vec_fini(slices);
}

void exporter_free(struct exporter *exporter)
{
	if (!exporter)
		return;
	slices_fini(&exporter->slices);
	slices_fini(&exporter->read);
	vec_fini(&exporter->threads);
	vec_fini(&exporter->numbers);
	vec_fini(&exporter->dsos);
	vec_fini(&exporter->events);
	vec_fini(&exporter->starts);
	vec_fini(&exporter->stacks);
	triples_fini(&exporter->thread_keys);
	triples_fini(&exporter->comm_keys);
	triples_fini(&exporter->symbol_keys);
	idmap_fini(&exporter->symbol_rows);
	triples_fini(&exporter->inlined_keys);
	sample_reads_fini(&exporter->reads);
	vec_fini(&exporter->inlined);
	free(exporter->steps);
	triples_fini(&exporter->stack_keys);
	idmap_fini(&exporter->last_stacks);
	call_paths_fini(&exporter->paths);
	calls_free(exporter->calls);
	free(exporter);
}

/* Each function returns the id of a row, which it writes at the first use --- */

static uint64_t event_row(struct exporter *exporter, uint32_t event)
{
	char buffer[EVSEL_NAME_MAX];
	while (exporter->events.count <= event)
		vec_push(&exporter->events, 0);
	uint32_t *row = &exporter->events.items[event];
	if (!*row) {
		*row = (uint32_t)++exporter->event_rows;
		const char *name = evsel_name(&session_evlist(exporter->session)->events.items[event], buffer, sizeof buffer);
		const struct value values[] = { value_of(*row), value_text(name) };
		database_add(exporter->database, TABLE_EVENTS, values);
	}
	return *row;
}

static void add_machine(struct exporter *exporter)
{
	const struct value values[] = { value_of(MACHINE), value_of(UINT64_MAX), value_text("") };
	if (!exporter->has_machine)
		database_add(exporter->database, TABLE_MACHINES, values);
	exporter->has_machine = true;
}

static const char *dso_long_name(const struct exporter *exporter, const struct module *module)
{
	enum { ORIGIN_VMLINUX = 'v' };
	if (module->kind != MODULE_KERNEL)
		return module->long_name;
	struct symtab_info info = symbols_info(exporter->symbols, module);
	return info.origin == ORIGIN_VMLINUX ? info.path + info.root_len : module->long_name;
}

/* As recorded; otherwise that of the file which the symbols come from. */
static uint8_t build_id_of(const struct exporter *exporter, const struct module *module, uint8_t id[static ELF_BUILD_ID_MAX])
{
	memcpy(id, module->build_id, module->build_id_len);
	if (module->build_id_len || module->kind != MODULE_FILE)
		return module->build_id_len;
	struct symtab_info info = symbols_info(exporter->symbols, module);
	return info.state == SYMTAB_LOADED ? image_build_id_of_path(info.path, id) : 0;
}

static uint64_t dso_row(struct exporter *exporter, uint32_t id)
{
	while (exporter->dsos.count <= id)
		vec_push(&exporter->dsos, 0);
	uint32_t *row = &exporter->dsos.items[id];
	if (*row)
		return *row;
	*row = (uint32_t)++exporter->dso_rows;
	const struct module *module = modules_get(&exporter->session->model.modules, id);
	uint8_t bytes[ELF_BUILD_ID_MAX], len = build_id_of(exporter, module, bytes);
	char build_id[2 * ELF_BUILD_ID_MAX + 1];
	build_id_hex(bytes, len, build_id);
	const struct value values[] = { value_of(*row), value_of(MACHINE), value_text(module->short_name),
		value_text(dso_long_name(exporter, module)), value_text(build_id) };
	database_add(exporter->database, TABLE_DSOS, values);
	return *row;
}

struct place_rows {
	uint64_t dso, offset;
	uint32_t symbol;
	bool at_start, made;         /* made: the symbol, now, where none covers the address */
};

static void add_symbol(struct exporter *exporter, uint32_t row, uint64_t dso, const struct symbol *symbol, const char *name)
{
	const struct value values[] = { value_of(row), value_of(dso), value_of(symbol->start), value_of(symbol->end),
		value_of(symbol->binding), value_text(name) };
	database_add(exporter->database, TABLE_SYMBOLS, values);
	if (exporter->calls && strncmp(name, "__x86_indirect_thunk_", 21) == 0)
		calls_note_thunk(exporter->calls, row);
}

/* unknown: the address of the symbol that is made where no symbol covers an address. */
static struct place_rows place_rows_of(struct exporter *exporter, const struct place *place, uint64_t unknown)
{
	struct place_rows rows = { 0 };
	bool added = false;
	if (place->module == MODULE_ID_NONE)
		return rows;
	rows.dso = dso_row(exporter, place->module);
	uint64_t known = (uint64_t)place->module << 32 | place->symbol;
	uint32_t number = place->symbol ? idmap_get(&exporter->symbol_rows, known) : IDMAP_NONE;
	if (number == IDMAP_NONE) {
		const struct triple key = { place->module, place->symbol, place->symbol ? 0 : unknown };
		number = triples_add(&exporter->symbol_keys, key, &added);
		if (place->symbol)
			idmap_set(&exporter->symbol_rows, known, number);
	}
	rows.symbol = number + 1;
	rows.made = added && !place->symbol;
	exporter->low_symbols += rows.made && unknown < OFFSET_MAX;
	if (added) {
		const struct module *module = modules_get(&exporter->session->model.modules, place->module);
		const struct symbol none = { .start = unknown, .end = unknown };
		const struct symbol *symbol = place->symbol ? symbols_get(exporter->symbols, module, place->symbol) : &none;
		add_symbol(exporter, rows.symbol, rows.dso, symbol,
			place->symbol ? symbols_name(exporter->symbols, module, place->symbol) : "unknown");
		vec_push(&exporter->starts, symbol->start);
	}
	uint64_t at = place->symbol ? place->offset : unknown;
	rows.offset = at - exporter->starts.items[rows.symbol - 1];
	rows.at_start = rows.offset == 0;
	return rows;
}

/* As in perf, where an instruction without a symbol accesses itself, as in a fault on code, two symbols are made there; later samples have
 * the first. */
static struct place_rows addr_rows_of(struct exporter *exporter, const struct row *row, const struct place_rows *from)
{
	bool added;
	struct place_rows rows = place_rows_of(exporter, &row->addr, row->addr.offset);
	if (!from->made || rows.symbol != from->symbol)
		return rows;
	const struct triple key = { (uint64_t)2 << 32 | row->addr.module, 0, row->addr.offset };
	const struct symbol symbol = { .start = row->addr.offset, .end = row->addr.offset };
	rows.symbol = triples_add(&exporter->symbol_keys, key, &added) + 1;
	add_symbol(exporter, rows.symbol, rows.dso, &symbol, "unknown");
	vec_push(&exporter->starts, symbol.start);
	return rows;
}

static uint64_t path_row(struct exporter *exporter, uint32_t number)
{
	VEC(uint32_t) missing = { 0 };
	uint32_t at = number;
	/* parents first; the root is a row, too */
	for (; !exporter->paths.list.items[at].row; at = exporter->paths.list.items[at].parent) {
		vec_push(&missing, at);
		if (at == PATH_ROOT)
			break;
	}
	while (missing.count) {
		uint32_t next = missing.items[--missing.count];
		struct call_path *path = &exporter->paths.list.items[next];
		path->row = ++exporter->path_rows;
		uint64_t parent = next == PATH_ROOT ? 0 : exporter->paths.list.items[path->parent].row;
		const struct value values[] = { value_of(path->row), value_of(parent), value_of(path->symbol), value_of(path->ip) };
		database_add(exporter->database, TABLE_CALL_PATHS, values);
	}
	vec_fini(&missing);
	return exporter->paths.list.items[number].row;
}

static void finish_call(void *context, const struct finished_call *call)
{
	struct exporter *exporter = context;
	uint64_t path = path_row(exporter, call->path), id = call->id ? call->id : ++exporter->call_rows, parent_id = 0;
	uint64_t parent_path = exporter->paths.list.items[exporter->paths.list.items[call->path].parent].row;
	if (call->parent_id) {
		if (!*call->parent_id)
			*call->parent_id = ++exporter->call_rows;
		parent_id = *call->parent_id;
	}
	uint64_t thread = exporter->stacks.items[call->thread].row;
	const struct value values[] = { value_of(id), value_of(thread), value_of(call->comm), value_of(path), value_of(call->call_time),
		value_of(call->return_time), value_of(call->branches), value_of(call->call_sample), value_of(call->return_sample),
		value_of(parent_path), value_of(call->flags), value_of(parent_id), value_of(call->instructions), value_of(call->cycles) };
	database_add(exporter->database, TABLE_CALLS, values);
}

/* The number of the stack of a thread's calls; idle tasks have one for each CPU. */
static uint32_t stack_number(struct exporter *exporter, uint32_t number, uint32_t cpu)
{
	const struct known_thread *thread = &exporter->threads.items[number];
	bool added, idle = thread->pid == 0 && thread->tid == 0;
	uint32_t stack = triples_add(&exporter->stack_keys, (struct triple){ number, idle ? cpu : 0, 0 }, &added);
	if (added) {
		vec_push(&exporter->stacks, ((struct stack_thread){ thread->row, thread->tid, stack }));
		idmap_set(&exporter->last_stacks, (uint32_t)thread->tid, stack);
	}
	return stack;
}

static void write_branch(struct exporter *exporter, const struct row *row, uint32_t number, uint64_t program, const struct place_rows *from,
	const struct place_rows *to)
{
	const struct known_thread *thread = &exporter->threads.items[number];
	const struct export_branch branch = {
		.thread = stack_number(exporter, number, row->cpu), .leads_process = thread->pid == thread->tid, .comm = program,
		.flags = row->flags, .size = row->size, .time = row->time, .sample = exporter->sample_rows, .instructions = row->instructions,
		.cycles = row->cycles, .from = { row->ip_address, from->symbol, from->at_start },
		.to = { row->addr_address, to->symbol, to->at_start },
	};
	calls_branch(exporter->calls, &branch);
}

/* As in perf, an inlined function has a symbol for each address at which it is inlined, with the range of the function around it. */
static struct inlined add_inlined(struct exporter *exporter, const struct place *place)
{
	struct line_frame frames[LINE_FRAMES_MAX];
	const uint64_t inlined_key = (uint64_t)1 << 32 | place->module;
	struct inlined inlined = { 0 };
	const struct module *module = modules_get(&exporter->session->model.modules, place->module);
	uint64_t back = place->inlines == 1 + FRAME_RETURN && place->offset;
	size_t count = lines_inlines(exporter->symbols, module, place->offset - back, place->symbol, frames);
	const struct symbol *around = symbols_get(exporter->symbols, module, place->symbol);
	inlined.complete = count && frames[count - 1].symbol != place->symbol;
	if (!inlined.complete) /* its row precedes */
		place_rows_of(exporter, place, place->address);
	for (size_t i = count; i-- > 0;) {
		bool added;
		if (frames[i].symbol == place->symbol)
			continue;
		uint32_t number = triples_add(&exporter->symbol_keys, (struct triple){ inlined_key, place->offset, i }, &added);
		if (!added)
			continue;
		inlined.first = inlined.count++ ? inlined.first : number;
		add_symbol(exporter, number + 1, dso_row(exporter, place->module), around, symbols_name(exporter->symbols, module, frames[i].symbol));
		vec_push(&exporter->starts, around->start);
	}
	return inlined;
}

static struct inlined inlined_at(struct exporter *exporter, const struct place *place)
{
	bool added;
	if (!place->symbol || !place->inlines || place->module == MODULE_ID_NONE)
		return (struct inlined){ 0 };
	uint32_t number = triples_add(&exporter->inlined_keys, (struct triple){ place->module, place->offset, place->inlines }, &added);
	if (added)
		vec_push(&exporter->inlined, add_inlined(exporter, place));
	return exporter->inlined.items[number];
}

/* The path up to a frame. */
static uint32_t add_step(struct exporter *exporter, uint32_t path, const struct place *place)
{
	/* as in perf, the symbol that is made for a frame is at its address, unless a sample has made one at its offset */
	bool made = !place->symbol && triples_has(&exporter->symbol_keys, (struct triple){ place->module, 0, place->offset });
	const struct inlined inlined = inlined_at(exporter, place);
	if (!inlined.complete) {
		struct place_rows rows = place_rows_of(exporter, place, made ? place->offset : place->address);
		path = call_paths_add(&exporter->paths, path, rows.symbol, place->address);
	}
	for (uint32_t n = 0; n < inlined.count; n++)
		path = call_paths_add(&exporter->paths, path, inlined.first + n + 1, place->address);
	return path;
}

/* Whether a frame has the path of an earlier one. Of a place without a symbol the address counts, and whether symbols were made
 * at offsets meanwhile (add_step). */
static bool is_same_step(const struct exporter *exporter, uint32_t from, const struct place *place, const struct step *step)
{
	return step->path != PATH_ROOT && step->from == from && place->module == step->place.module && place->offset == step->place.offset &&
		place->symbol == step->place.symbol && place->inlines == step->place.inlines &&
		(place->symbol || (place->address == step->place.address && step->low_symbols == exporter->low_symbols));
}

/* add_step, mostly of a frame that was added to the same path before. */
static uint32_t next_path(struct exporter *exporter, uint32_t path, const struct place *place)
{
	uint64_t at = place->symbol ? place->offset : place->address;
	struct step *step = &exporter->steps[hash_pair(at, (uint64_t)place->module << 32 | path) % STEPS];
	if (!is_same_step(exporter, path, place, step))
		*step = (struct step){ *place, path, add_step(exporter, path, place), exporter->low_symbols };
	return step->path;
}

static uint64_t chain_row(struct exporter *exporter, const struct slice *slice, const struct row *row)
{
	uint32_t path = PATH_ROOT;
	for (size_t i = 0; i < row->chain_count; i++)
		path = next_path(exporter, path, &slice->chains.items[row->chain + i]);
	return path == PATH_ROOT ? 0 : path_row(exporter, path);
}

/* A sample of one event: row->event, or another one whose value it has. */
static void write_sample_of(struct exporter *exporter, const struct slice *slice, const struct row *row, uint32_t of, uint64_t period)
{
	struct place_rows to = { 0 };
	const struct attr *attr = &session_evlist(exporter->session)->events.items[of].attr;
	uint64_t event = event_row(exporter, of);
	add_machine(exporter);
	uint32_t number = thread_number(exporter, row->thread, row->pid, row->tid, row->clock);
	uint64_t program = task_rows(exporter, number, row->clock), id = ++exporter->sample_rows;
	struct place_rows from = place_rows_of(exporter, &row->ip, row->ip.offset);
	uint64_t path = row->chain_count ? chain_row(exporter, slice, row) : 0;
	if (row->has_addr && has_addr_place(attr)) {
		to = addr_rows_of(exporter, row, &from);
		if (exporter->calls)
			write_branch(exporter, row, number, program, &from, &to);
	}
	const struct value values[EXPORT_COLUMNS_MAX] = {
		value_of(id), value_of(event), value_of(MACHINE), value_of(exporter->threads.items[number].row), value_of(program),
		value_of(from.dso), value_of(from.symbol), value_of(from.offset), value_of(row->ip_address), value_of(row->time),
		value_of((uint64_t)(int32_t)row->cpu), value_of(to.dso), value_of(to.symbol), value_of(to.offset), value_of(row->addr_address),
		value_of(period), value_of(row->weight), value_of(row->transaction), value_of(row->data_src),
		value_of(row->flags & FLAGS_OF_TYPE), value_of((row->flags & TRACE_IN_TX) != 0), value_of(path), value_of(row->instructions),
		value_of(row->cycles), value_of(row->flags),
	};
	database_add(exporter->database, TABLE_SAMPLES, values);
	if (event_is_synthesized(attr))
		synthesized_add(exporter->database, id, attr->config, row->raw, sizeof row->raw);
}

struct sample_context {
	struct exporter *exporter;
	const struct slice *slice;
	const struct row *row;
};

static void write_part(void *context, const struct sample_part *part)
{
	const struct sample_context *sample = context;
	const struct evlist *evlist = session_evlist(sample->exporter->session);
	if (evlist->events.items[part->event].attr.type != ATTR_TRACEPOINT)
		write_sample_of(sample->exporter, sample->slice, sample->row, part->event, part->period);
}

static void write_sample(struct exporter *exporter, const struct slice *slice, const struct row *row)
{
	struct sample_context context = { exporter, slice, row };
	if (!row->reads_len) {
		write_sample_of(exporter, slice, row, row->event, row->period);
		return;
	}
	const struct sample sample = { .read = slice->reads.items + row->reads, .read_len = row->reads_len };
	sample_reads_each(&exporter->reads, session_evlist(exporter->session), row->event, &sample, write_part, &context);
}

/* One side of a switch; row 0: the recording does not know the thread. */
struct side {
	uint64_t row, program;
	bool idle;
};

static struct side side_of(struct exporter *exporter, int32_t pid, int32_t tid, uint64_t clock)
{
	uint32_t thread = model_thread(&exporter->session->model, tid, clock);
	if (thread == THREAD_NONE || model_comm(&exporter->session->model, thread, clock) == COMM_NONE)
		return (struct side){ 0 };
	uint32_t number = thread_number(exporter, thread, pid, tid, clock);
	struct side side = { .idle = pid == 0 && tid == 0, .program = task_rows(exporter, number, clock) };
	side.row = exporter->threads.items[number].row;
	return side;
}

static void write_switch(struct exporter *exporter, const struct row *row)
{
	bool leaves = row->misc & RECORD_MISC_SWITCH_OUT;
	uint64_t flags = leaves | (uint64_t)(leaves && row->misc & RECORD_MISC_SWITCH_OUT_PREEMPT) << 1;
	add_machine(exporter);
	struct side own = side_of(exporter, row->pid, row->tid, row->clock), other = { 0 };
	if (row->other_tid != -1)
		other = side_of(exporter, row->other_pid, row->other_tid, row->clock);
	if ((!own.row || own.idle) && (!other.row || other.idle))
		return;
	const struct side *from = leaves ? &own : &other, *to = leaves ? &other : &own;
	const struct value values[] = { value_of(++exporter->switch_rows), value_of(MACHINE), value_of(row->time),
		value_of((uint64_t)(int32_t)row->cpu), value_of(from->row), value_of(from->program), value_of(to->row), value_of(to->program),
		value_of(flags) };
	database_add(exporter->database, TABLE_SWITCHES, values);
}

static void write_exit(struct exporter *exporter, const struct row *row)
{
	uint32_t stack = idmap_get(&exporter->last_stacks, (uint32_t)row->tid);
	if (stack != IDMAP_NONE)
		calls_end(exporter->calls, stack);
}

static void write_row(struct exporter *exporter, const struct slice *slice, const struct row *row)
{
	switch (row->kind) {
	case ROW_SAMPLE:
		write_sample(exporter, slice, row);
		return;
	case ROW_SWITCH:
		write_switch(exporter, row);
		return;
	case ROW_EXIT:
		write_exit(exporter, row);
		return;
	}
}

static void write_read(void *context)
{
	struct exporter *exporter = context;
	for (size_t i = 0; i < exporter->read.count; i++) {
		struct slice *slice = &exporter->read.items[i];
		for (size_t n = 0; n < slice->rows.count; n++)
			write_row(exporter, slice, &slice->rows.items[n]);
		vec_clear(&slice->rows);
		vec_clear(&slice->chains);
		vec_clear(&slice->reads);
	}
}

static void on_batch_end(void *context, struct session *session, size_t slices)
{
	struct exporter *exporter = context;
	const struct evlist *evlist = session_evlist(session);
	(void)slices; /* those that the batch does not have are empty */
	for (size_t i = 0; i < evlist->events.count; i++)
		exporter->knows_exec |= attr_flag(&evlist->events.items[i].attr, ATTR_COMM_EXEC);
	struct slices written = exporter->read;
	exporter->read = exporter->slices;
	exporter->slices = written;
}

struct sink exporter_sink(struct exporter *exporter)
{
	return (struct sink){ .context = exporter, .batch_begin = worker_rows_begin, .record = worker_rows_add, .meanwhile = write_read,
		.batch_end = on_batch_end, .want_records = true };
}

/* As perf's table of threads lists them. */
static int by_thread(const void *a, const void *b)
{
	enum { TABLES = 256 };
	const struct stack_thread *x = a, *y = b;
	uint32_t one = (uint32_t)x->tid % TABLES, two = (uint32_t)y->tid % TABLES;
	if (one != two)
		return one < two ? -1 : 1;
	return x->tid != y->tid ? (x->tid < y->tid ? -1 : 1) : x->number < y->number ? -1 : 1;
}

void exporter_end(struct exporter *exporter)
{
	write_read(exporter);
	if (!exporter->calls || !exporter->stacks.count)
		return;
	size_t count = exporter->stacks.count;
	struct stack_thread *order = memory_alloc(count * sizeof *order);
	memcpy(order, exporter->stacks.items, count * sizeof *order);
	qsort(order, count, sizeof *order, by_thread);
	for (size_t i = 0; i < count; i++)
		calls_end(exporter->calls, order[i].number);
	free(order);
}
