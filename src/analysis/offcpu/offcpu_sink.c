#include "analysis/offcpu/offcpu_sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/flame/flame_name.h"

enum { FRAMES_MAX = 256, ABI_64 = 2 /* PERF_SAMPLE_REGS_ABI_64 */ };

/* One sample with the names of its frames, innermost first. */
struct named {
	const struct resolved *r;
	const char *names[FRAMES_MAX];
	const struct module *modules[FRAMES_MAX];
	size_t count, kernel;        /* kernel: how many of the first are the kernel's */
	struct off_cpu_raw raw;
	bool detailed;
	const uint8_t *waker_registers; /* those of the event, borrowed; NULL: the waker's user code was not copied */
	struct span waker_stack;
};

void offcpu_init(struct offcpu_rows *rows, const struct offcpu_options *options)
{
	*rows = (struct offcpu_rows){ .options = *options };
	flame_builder_init(&rows->flame);
}

void offcpu_fini(struct offcpu_rows *rows)
{
	vec_fini(&rows->list);
	strtab_fini(&rows->keys);
	strtab_fini(&rows->texts);
	flame_builder_fini(&rows->flame);
}

static const char *text_of(struct offcpu_rows *rows, const char *text)
{
	return strtab_text(&rows->texts, strtab_add_line(&rows->texts, text, strlen(text)));
}

static const char *name_at(const struct offcpu_rows *rows, const struct module *module, uint64_t offset)
{
	uint32_t id = module ? symbols_lookup(rows->options.symbols, module, offset) : 0;
	return id ? symbols_name(rows->options.symbols, module, id) : NULL;
}

static const struct module *module_of(const struct resolved *r, const struct location *location)
{
	return location->map ? modules_get(&r->session->model.modules, location->module) : NULL;
}

static bool is_kernel(const struct location *location)
{
	return location->cpumode == RECORD_MISC_KERNEL;
}

/* A caller's address is that behind the call, which may be the next function. The scheduler's innermost function is in some samples and not
 * in others, by the number of programs that listen. */
static void name_frames(const struct offcpu_rows *rows, struct named *n)
{
	size_t limit = rows->options.max_stack < FRAMES_MAX ? rows->options.max_stack : FRAMES_MAX;
	struct chain chain = resolved_chain(n->r, CHAIN_INNERMOST_FIRST, limit);
	for (size_t i = 0; i < chain.count && n->count < FRAMES_MAX; i++) {
		const struct location *location = chain.frames[i];
		n->modules[n->count] = module_of(n->r, location);
		n->names[n->count] = name_at(rows, n->modules[n->count], location->offset - (i > 0 && location->offset));
		if (!n->count && n->names[0] && strcmp(n->names[0], "__schedule") == 0)
			continue;
		n->count++;
		n->kernel += is_kernel(location);
	}
}

/* The waker's user stack, behind its frames. */
static void read_waker_stack(struct named *n, struct cursor *c)
{
	uint64_t registers = take_u64(c);
	if (c->short_read || registers != (uint64_t)__builtin_popcountll(n->r->evsel->attr.sample_regs_user))
		return;
	const uint8_t *values = take(c, registers * sizeof(uint64_t));
	uint64_t size = take_u64(c);
	const uint8_t *stack = size <= cursor_left(c) ? take(c, size) : NULL;
	if (!values || !stack || !size)
		return;
	n->waker_registers = values;
	n->waker_stack = (struct span){ stack, size };
}

static void read_details(struct named *n)
{
	const struct sample *sample = n->r->sample;
	if (!sample->raw || sample->raw_size < sizeof n->raw)
		return;
	memcpy(&n->raw, sample->raw, sizeof n->raw);
	n->detailed = n->raw.magic == OFF_CPU_MAGIC;
	n->raw.waker_comm[sizeof n->raw.waker_comm - 1] = '\0';
	if (!n->detailed)
		n->raw = (struct off_cpu_raw){ 0 };
	size_t room = (sample->raw_size - sizeof n->raw) / sizeof(uint64_t);
	if (n->raw.waker_frames > room)
		n->raw.waker_frames = (uint32_t)room;
	struct cursor c = cursor_of(sample->raw, sample->raw_size, false);
	take(&c, sizeof n->raw + n->raw.waker_frames * sizeof(uint64_t));
	if (n->detailed)
		read_waker_stack(n, &c);
}

static void frame_text(const struct named *n, size_t i, struct str *text)
{
	size_t before = text->len;
	flame_fold_name(text, n->modules[i], n->names[i]);
	for (char *c = text->text + before; c && *c; c++)
		*c = *c == ';' ? ':' : *c;
}

/* Outermost first. */
static void stack_text(const struct named *n, struct str *text)
{
	for (size_t i = n->count; i-- > 0;) {
		if (text->len)
			str_putc(text, ';');
		frame_text(n, i, text);
	}
}

/* The innermost functions outside the kernel and the libraries, otherwise the innermost one of user code. */
static const char *where_of(struct offcpu_rows *rows, const struct named *n)
{
	enum { SHOWN = 3 };
	CLEANUP_STR struct str text = { 0 };
	int shown = 0;
	for (size_t i = n->kernel; i < n->count && shown < SHOWN; i++) {
		const char *file = n->modules[i] ? n->modules[i]->short_name : "";
		if (!n->names[i] || strstr(file, ".so") || strcmp(n->names[i], "_start") == 0)
			continue;
		str_puts(&text, shown++ ? " < " : "");
		frame_text(n, i, &text);
	}
	if (!shown && n->count)
		frame_text(n, n->kernel < n->count ? n->kernel : 0, &text);
	return text_of(rows, text.len ? text.text : "[unknown]");
}

/* The waker as the thread of a sample of its own: its call chain in the kernel, and its user code in its address space. */
static void name_waker(const struct offcpu_rows *rows, const struct named *n, struct named *waker)
{
	const struct model *model = &n->r->session->model;
	struct resolved r = *n->r;
	struct sample sample = *n->r->sample;
	uint64_t frames[1 + OFF_CPU_FRAMES] = { CONTEXT_KERNEL };
	size_t count = n->raw.waker_frames < OFF_CPU_FRAMES ? n->raw.waker_frames : OFF_CPU_FRAMES;
	if (count)
		memcpy(frames + 1, sample.raw + sizeof n->raw, count * sizeof *frames);
	sample.present |= SAMPLE_CALLCHAIN;
	sample.callchain = (const uint8_t *)frames;
	sample.callchain_count = count ? count + 1 : 0;
	sample.regs_user = n->waker_registers;
	sample.regs_user_abi = ABI_64;
	sample.stack_user = n->waker_stack.data;
	sample.stack_user_size = n->waker_stack.len;
	r.sample = &sample;
	r.ip = NULL;
	r.tid = (int32_t)n->raw.waker;
	r.thread = model_thread(model, r.tid, r.clock);
	r.pid = r.thread == THREAD_NONE ? -1 : model->threads.items[r.thread]->pid;
	r.user_root = model_root(model, r.pid, r.thread, r.clock);
	r.user_space = NULL;
	waker->r = &r;
	name_frames(rows, waker);
	waker->r = NULL;
}

/* The thread that ended the wait, unless an interrupt in it did. */
static const char *waker_of(struct offcpu_rows *rows, const struct named *n, const struct named *waker)
{
	for (size_t i = 0; i < waker->kernel; i++) {
		const char *name = waker->names[i];
		if (name && (strstr(name, "interrupt") || strstr(name, "sysvec") || strstr(name, "softirq")))
			return text_of(rows, "[interrupt]");
	}
	return text_of(rows, n->raw.waker_comm);
}

/* Uninitialized variables of a file lie in anonymous memory behind the mapping of its data. */
struct data_search {
	uint64_t address;
	const struct map *map;       /* the last mapping of a file that ends at or before the address; or that contains it */
	const struct modules *modules;
};

static void search_data(void *context, const struct map *map)
{
	struct data_search *search = context;
	if (map->start <= search->address && modules_get(search->modules, map->module)->kind == MODULE_FILE)
		search->map = map;
}

/* The variable that covers the address: its module's symbols are data, too. */
static const char *symbol_of(struct offcpu_rows *rows, const struct named *n)
{
	enum { BSS_MAX = 64 << 20 };
	CLEANUP_STR struct str text = { 0 };
	struct data_search search = { .address = n->raw.futex, .modules = &n->r->session->model.modules };
	if (n->raw.futex)
		map_each(n->r->user_root, search_data, &search);
	bool near = search.map && n->raw.futex - search.map->start < BSS_MAX + (search.map->end - search.map->start);
	const struct module *module = near ? modules_get(search.modules, search.map->module) : NULL;
	uint64_t at = near ? map_offset(search.map, n->raw.futex) : 0;
	uint32_t id = module ? symbols_lookup(rows->options.symbols, module, at) : 0;
	if (id) {
		uint64_t offset = at - symbols_get(rows->options.symbols, module, id)->start;
		str_puts(&text, symbols_name(rows->options.symbols, module, id));
		if (offset)
			str_printf(&text, "+%#llx", (unsigned long long)offset);
	}
	return text_of(rows, str_text(&text));
}

static const char *comm_of(struct offcpu_rows *rows, const struct resolved *r, int32_t tid)
{
	const struct model *model = &r->session->model;
	uint32_t thread = tid ? model_thread(model, tid, r->clock) : THREAD_NONE;
	uint32_t comm = thread == THREAD_NONE ? COMM_NONE : model_comm(model, thread, r->clock);
	return text_of(rows, comm == COMM_NONE ? "" : strtab_text(&model->strings, comm));
}

static void key_text(const struct offcpu_rows *rows, const struct named *n, const char *comm, const char *waker, const char *stack,
	enum wait_reason reason, struct str *key)
{
	switch (rows->options.group) {
	case OFFCPU_BY_THREAD:
		str_printf(key, "%d", n->r->tid);
		return;
	case OFFCPU_BY_REASON:
		str_printf(key, "%d", (int)reason);
		return;
	case OFFCPU_BY_FUTEX:
		str_printf(key, "%d %llx", n->r->pid, (unsigned long long)n->raw.futex);
		return;
	default:
		str_printf(key, "%s;%s;%s", comm, waker, stack);
	}
}

static void add_row(struct offcpu_rows *rows, const struct named *n, const char *comm, const char *waker, const char *stack)
{
	CLEANUP_STR struct str key = { 0 };
	enum wait_reason reason = wait_reason_of_functions(n->names, n->kernel);
	uint64_t ns = n->r->sample->period;
	key_text(rows, n, comm, waker, stack, reason, &key);
	uint32_t id = strtab_add(&rows->keys, key.text, key.len);
	if (id == rows->list.count)
		vec_push(&rows->list, ((struct offcpu_row){ .reason = reason, .tid = n->r->tid, .pid = n->r->pid, .futex = n->raw.futex,
			.comm = text_of(rows, comm), .waker = waker, .stack = text_of(rows, stack),
			.where = where_of(rows, n), .symbol = symbol_of(rows, n), .holder_comm = "" }));
	struct offcpu_row *row = &rows->list.items[id];
	/* a row shows the chain, the reason and the holder of its largest part */
	if (ns > row->max_ns && row->count && rows->options.group != OFFCPU_BY_STACK) {
		row->stack = text_of(rows, stack);
		row->where = where_of(rows, n);
		row->reason = reason;
	}
	if (n->raw.holder) {
		row->holder = (int32_t)n->raw.holder;
		row->holder_comm = comm_of(rows, n->r, row->holder);
	}
	row->total_ns += ns;
	row->count += n->detailed ? n->raw.count : 1;
	row->state |= n->raw.state;
	uint64_t max = n->detailed ? n->raw.max_ns : ns;
	row->max_ns = max > row->max_ns ? max : row->max_ns;
	rows->total_ns += ns;
	rows->count += n->detailed ? n->raw.count : 1;
	rows->samples++;
}

static uint32_t push(struct offcpu_rows *rows, uint32_t node, const struct module *module, const char *name)
{
	CLEANUP_STR struct str text = { 0 };
	flame_full_name(&text, module, name);
	enum flame_kind kind = name ? flame_kind_of(module) : FLAME_UNKNOWN;
	return flame_builder_push(&rows->flame, node,
		flame_builder_frame(&rows->flame, text.len ? text.text : "[unknown]", module ? module->short_name : "", kind));
}

/* The waker's frames lie on the blocked ones, innermost at the bottom, as it is the innermost function that wakes. */
static uint32_t push_waker(struct offcpu_rows *rows, uint32_t node, const struct named *waker, const char *name)
{
	node = flame_builder_push(&rows->flame, node, flame_builder_frame(&rows->flame, "-- woken by --", "", FLAME_TASK));
	for (size_t i = 0; i < waker->count; i++)
		node = push(rows, node, waker->modules[i], waker->names[i]);
	return flame_builder_push(&rows->flame, node, flame_builder_frame(&rows->flame, name, "", FLAME_TASK));
}

/* waker: NULL: it is not known, or not wanted. */
static void add_flame(struct offcpu_rows *rows, const struct named *n, const char *comm, const struct named *waker, const char *name,
	bool off)
{
	uint32_t node = flame_builder_push(&rows->flame, STACK_ROOT, flame_builder_frame(&rows->flame, comm, "", FLAME_TASK));
	if (rows->options.on_cpu)
		node = flame_builder_push(&rows->flame, node, flame_builder_frame(&rows->flame, off ? "[off CPU]" : "[on CPU]", "", FLAME_TASK));
	for (size_t i = n->count; i-- > 0;)
		node = push(rows, node, n->modules[i], n->names[i]);
	if (waker && n->raw.waker_comm[0])
		node = push_waker(rows, node, waker, name);
	flame_builder_add(&rows->flame, node, n->r->sample->period, n->detailed ? n->raw.count : 1);
}

static void take_sample(void *context, const struct resolved *r, __attribute__((unused)) size_t slice)
{
	struct offcpu_rows *rows = context;
	struct named n = { .r = r }, waker = { 0 };
	char buffer[16];
	CLEANUP_STR struct str stack = { 0 };
	bool off = r->evsel && r->evsel->name && strcmp(r->evsel->name, OFF_CPU_EVENT) == 0;
	if (!off && !rows->options.on_cpu)
		return;
	const char *comm = resolved_comm(r, buffer, sizeof buffer);
	name_frames(rows, &n);
	if (!off) {
		add_flame(rows, &n, comm, NULL, "", false);
		return;
	}
	read_details(&n);
	if (n.raw.waker_comm[0])
		name_waker(rows, &n, &waker);
	const char *name = waker_of(rows, &n, &waker);
	add_flame(rows, &n, comm, rows->options.wakers ? &waker : NULL, name, true);
	stack_text(&n, &stack);
	add_row(rows, &n, comm, name, str_text(&stack));
}

struct sink offcpu_sink(struct offcpu_rows *rows)
{
	return (struct sink){ .context = rows, .record = take_sample, .serial = true };
}

static int compare(const void *a, const void *b)
{
	const struct offcpu_row *left = a, *right = b;
	if (left->total_ns != right->total_ns)
		return left->total_ns > right->total_ns ? -1 : 1;
	return strcmp(left->stack, right->stack);
}

enum { COLUMN_TOTAL, COLUMN_SHARE, COLUMN_COUNT, COLUMN_MAX, COLUMN_REASON, COLUMN_STATE, COLUMN_COMM, COLUMN_TID, COLUMN_WAKER,
	COLUMN_FUTEX, COLUMN_SYMBOL, COLUMN_HOLDER, COLUMN_HOLDER_COMM, COLUMN_WHERE, COLUMN_STACK, COLUMNS };

static const struct table_column columns[COLUMNS] = {
	{ "time", "Time", "ns", CELL_TIME }, { "share", "Share", NULL, CELL_SHARE }, { "waits", "Waits", NULL, CELL_COUNT },
	{ "max", "Max", "ns", CELL_TIME }, { "reason", "Reason", NULL, CELL_TEXT }, { "state", "State", NULL, CELL_TEXT },
	{ "comm", "Command", NULL, CELL_TEXT }, { "tid", "TID", NULL, CELL_NUMBER }, { "waker", "Waker", NULL, CELL_TEXT },
	{ "futex", "Futex", NULL, CELL_ADDRESS }, { "symbol", "Symbol", NULL, CELL_TEXT }, { "holder", "Holder", NULL, CELL_NUMBER },
	{ "holder_comm", "Holder's command", NULL, CELL_TEXT }, { "where", "Where", NULL, CELL_TEXT }, { "stack", "Stack", NULL, CELL_TEXT },
};

static size_t row_count(void *context, uint64_t parent)
{
	const struct offcpu_rows *rows = context;
	return parent == TABLE_TOP ? rows->list.count : 0;
}

static struct cell present(const char *text)
{
	return cell_text(*text ? text : NULL);
}

static struct cell cell_at(void *context, uint64_t number, size_t column, __attribute__((unused)) struct str *scratch)
{
	static const char *const states[] = { "", "S", "D", "S D" };
	const struct offcpu_rows *rows = context;
	const struct offcpu_row *row = &rows->list.items[number - 1];
	switch (column) {
	case COLUMN_TOTAL:
		return cell_time(row->total_ns);
	case COLUMN_SHARE:
		return (struct cell){ .kind = CELL_SHARE, .share = { row->total_ns, rows->total_ns } };
	case COLUMN_COUNT:
		return cell_count(row->count);
	case COLUMN_MAX:
		return cell_time(row->max_ns);
	case COLUMN_REASON:
		return cell_text(wait_reason_title(row->reason));
	case COLUMN_STATE:
		return present(states[row->state & 3]);
	case COLUMN_COMM:
		return rows->options.group == OFFCPU_BY_REASON ? cell_absent() : present(row->comm);
	case COLUMN_TID:
		return rows->options.group == OFFCPU_BY_THREAD ? cell_number(row->tid) : cell_absent();
	case COLUMN_WAKER:
		return present(row->waker);
	case COLUMN_FUTEX:
		return row->futex ? cell_address(row->futex) : cell_absent();
	case COLUMN_SYMBOL:
		return present(row->symbol);
	case COLUMN_HOLDER:
		return row->holder ? cell_number(row->holder) : cell_absent();
	case COLUMN_HOLDER_COMM:
		return present(row->holder_comm);
	case COLUMN_WHERE:
		return present(row->where);
	default:
		return present(row->stack);
	}
}

void offcpu_finish(struct offcpu_rows *rows)
{
	if (rows->list.count)
		qsort(rows->list.items, rows->list.count, sizeof *rows->list.items, compare);
	rows->table = (struct table){ .name = "waits", .columns = columns, .column_count = COLUMNS, .context = rows, .row_count = row_count,
		.row = table_row_in_order, .cell = cell_at };
}
