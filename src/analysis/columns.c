#include "analysis/columns.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "analysis/column_cells.h"

#define MEASURE(word, title, what, wide) \
	{ .name = word, .header = title, .class = COLUMN_MEASURE, .measure = MEASURE_##what, .measure_width = wide }

#define LATER(word, when) { .name = word, .class = when, .unsupported = true }

/* In the order in which an abbreviation is looked up. */
const struct column_type column_types[] = {
	{ "pid", "    Pid:Command", COLUMN_COMMON, WIDTH_THREAD, .words = 1, .sample_key = pid_key, .compare = compare_down_i32,
	  .print = pid_print },
	{ "comm", "Command", COLUMN_COMMON, WIDTH_COMM, .words = 1, .collapses = true, .sample_key = comm_key, .compare = comm_compare,
	  .print = comm_print },
	{ "dso", "Shared Object", COLUMN_COMMON, WIDTH_DSO, .words = 1, .place_key = dso_key, .compare = dso_compare, .print = dso_print },
	{ "symbol", "Symbol", COLUMN_COMMON, WIDTH_SYMBOL, .words = 3, .place_key = symbol_key, .compare = symbol_compare,
	  .sort = symbol_sort, .print = symbol_print },
	{ "parent", "Parent symbol", COLUMN_COMMON, WIDTH_PARENT, .words = 1, .sample_key = parent_key, .compare = parent_compare,
	  .print = parent_print },
	{ "cpu", "CPU", COLUMN_COMMON, WIDTH_CPU, .words = 1, .sample_key = cpu_key, .compare = compare_down_i32, .print = cpu_print },
	{ "socket", "Socket", COLUMN_COMMON, WIDTH_SOCKET, .words = 1, .not_in_callers = true, .sample_key = socket_key,
	  .compare = compare_down_i32, .print = socket_print },
	{ "srcline", "Source:Line", COLUMN_COMMON, WIDTH_SRCLINE, .words = 2, .collapses = true, .place_key = source_key,
	  .text = srcline_text, .compare = source_compare, .sort = source_sort, .print = srcline_print },
	{ "srcfile", "Source File", COLUMN_COMMON, WIDTH_SRCFILE, .words = 2, .collapses = true, .place_key = source_key,
	  .text = srcfile_text, .compare = source_compare, .sort = source_sort, .print = srcline_print },
	{ "local_weight", "Local Weight", COLUMN_COMMON, WIDTH_LOCAL_WEIGHT, .words = 1, .not_in_callers = true,
	  .sample_key = weight_key, .compare = compare_up, .print = local_weight_print },
	{ "weight", "Weight", COLUMN_COMMON, WIDTH_WEIGHT, .words = 1, .not_in_callers = true, .sample_key = weight_key,
	  .compare = compare_up, .print = weight_print },
	{ "transaction", "Transaction                ", COLUMN_COMMON, WIDTH_TRANSACTION, .words = 1, .not_in_callers = true,
	  .sample_key = transaction_key, .compare = compare_up, .print = transaction_print },
	{ "trace", "Trace output", COLUMN_COMMON, WIDTH_TRACE, .words = 1, .sample_key = trace_key, .compare = trace_compare,
	  .print = trace_print },
	{ "symbol_size", "Symbol size", COLUMN_COMMON, WIDTH_SYMBOL_SIZE, .words = 1, .place_key = symbol_size_key,
	  .compare = symbol_size_compare, .print = symbol_size_print },
	{ "dso_size", "DSO size", COLUMN_COMMON, WIDTH_DSO_SIZE, .words = 1, .place_key = dso_size_key,
	  .compare = symbol_size_compare, .print = dso_size_print },
	{ "cgroup", "Cgroup", COLUMN_COMMON, WIDTH_CGROUP, .words = 1, .not_in_callers = true, .sample_key = cgroup_key,
	  .compare = compare_down, .print = cgroup_print },
	{ "cgroup_id", "cgroup id (dev/inode)", COLUMN_COMMON, WIDTH_CGROUP_ID, .words = 2, .not_in_callers = true,
	  .sample_key = cgroup_id_key, .compare = cgroup_id_compare, .print = cgroup_id_print },
	{ "ipc_null", "IPC   [IPC Coverage]", COLUMN_COMMON, WIDTH_IPC, .words = 3, .place_key = symbol_key,
	  .compare = symbol_compare, .print = ipc_none_print },
	{ "time", "Time", COLUMN_COMMON, WIDTH_TIME, .words = 1, .not_in_callers = true, .sample_key = time_key,
	  .compare = compare_down, .print = time_print },
	{ "code_page_size", "Code Page Size", COLUMN_COMMON, WIDTH_CODE_PAGE_SIZE, .words = 1, .not_in_callers = true,
	  .sample_key = code_page_size_key, .compare = compare_down, .print = page_size_print },
	{ "local_ins_lat", "Local INSTR Latency", COLUMN_COMMON, WIDTH_LOCAL_INS_LAT, .words = 1, .not_in_callers = true,
	  .sample_key = ins_lat_key, .compare = compare_up, .print = local_latency_print },
	{ "ins_lat", "INSTR Latency", COLUMN_COMMON, WIDTH_INS_LAT, .words = 1, .not_in_callers = true, .sample_key = ins_lat_key,
	  .compare = compare_up, .print = latency_print },
	{ "local_p_stage_cyc", "Local Retire Latency", COLUMN_COMMON, WIDTH_LOCAL_P_STAGE_CYC,
	  .fields_header = "Local Pipeline Stage Cycle", .words = 1, .not_in_callers = true,
	  .sample_key = p_stage_cyc_key, .compare = compare_up, .print = local_latency_print },
	{ "p_stage_cyc", "Retire Latency", COLUMN_COMMON, WIDTH_P_STAGE_CYC, .fields_header = "Pipeline Stage Cycle", .words = 1,
	  .not_in_callers = true, .sample_key = p_stage_cyc_key, .compare = compare_up, .print = latency_print },
	{ "addr", "Address", COLUMN_COMMON, WIDTH_ADDR, .words = 1, .place_key = addr_key, .compare = compare_down, .print = addr_print },
	{ "local_retire_lat", "Local Pipeline Stage Cycle", COLUMN_COMMON, WIDTH_LOCAL_P_STAGE_CYC, .words = 1, .not_in_callers = true,
	  .sample_key = p_stage_cyc_key, .compare = compare_up, .print = local_latency_print },
	{ "retire_lat", "Pipeline Stage Cycle", COLUMN_COMMON, WIDTH_P_STAGE_CYC, .words = 1, .not_in_callers = true,
	  .sample_key = p_stage_cyc_key, .compare = compare_up, .print = latency_print },
	{ "simd", "Simd   ", COLUMN_COMMON, WIDTH_SIMD, .words = 1, .sample_key = simd_key, .compare = compare_up, .print = simd_print },
	LATER("type", COLUMN_COMMON),
	LATER("typeoff", COLUMN_COMMON),
	{ "symoff", "Symbol Offset", COLUMN_COMMON, WIDTH_SYMBOL_OFFSET, .words = 4, .place_key = symoff_key,
	  .compare = symoff_compare, .sort = symoff_sort, .print = symoff_print },
	LATER("typecln", COLUMN_COMMON),

	MEASURE("overhead", "Overhead", OVERHEAD, 8),
	MEASURE("overhead_sys", "sys", OVERHEAD_SYS, 8),
	MEASURE("overhead_us", "usr", OVERHEAD_US, 8),
	MEASURE("overhead_guest_sys", "guest sys", OVERHEAD_GUEST_SYS, 9),
	MEASURE("overhead_guest_us", "guest usr", OVERHEAD_GUEST_US, 9),
	MEASURE("overhead_children", "Children", CHILDREN, 8),
	MEASURE("sample", "Samples", SAMPLES, 12),
	MEASURE("period", "Period", PERIOD, 12),
	MEASURE("weight1", "Weight1", WEIGHT1, 8),
	MEASURE("weight2", "Weight2", WEIGHT2, 8),
	MEASURE("weight3", "Weight3", WEIGHT3, 8),
	MEASURE("ins_lat", "Weight2", WEIGHT2, 8),
	MEASURE("retire_lat", "Weight3", WEIGHT3, 8),
	MEASURE("p_stage_cyc", "Weight3", WEIGHT3, 8),

	{ "dso_from", "Source Shared Object", COLUMN_BRANCH, WIDTH_DSO_FROM, .words = 1, .sample_key = dso_from_key,
	  .compare = dso_from_compare, .print = dso_from_print },
	{ "dso_to", "Target Shared Object", COLUMN_BRANCH, WIDTH_DSO_TO, .words = 1, .sample_key = dso_to_key,
	  .compare = dso_to_compare, .print = dso_to_print },
	{ "symbol_from", "Source Symbol", COLUMN_BRANCH, WIDTH_SYMBOL_FROM, .words = 2, .sample_key = symbol_from_key,
	  .compare = symbol_from_compare, .print = symbol_from_print },
	{ "symbol_to", "Target Symbol", COLUMN_BRANCH, WIDTH_SYMBOL_TO, .words = 2, .sample_key = symbol_to_key,
	  .compare = symbol_to_compare, .print = symbol_to_print },
	{ "mispredict", "Branch Mispredicted", COLUMN_BRANCH, WIDTH_MISPREDICT, .words = 1, .sample_key = mispredict_key,
	  .compare = compare_differ, .print = mispredict_print },
	{ "in_tx", "Branch in transaction", COLUMN_BRANCH, WIDTH_IN_TX, .words = 1, .sample_key = in_tx_key,
	  .compare = compare_differ, .print = in_tx_print },
	{ "abort", "Transaction abort", COLUMN_BRANCH, WIDTH_ABORT, .words = 1, .sample_key = abort_key, .compare = compare_differ,
	  .print = abort_print },
	{ "cycles", "Basic Block Cycles", COLUMN_BRANCH, WIDTH_CYCLES, .words = 1, .sample_key = cycles_key, .compare = compare_up,
	  .print = cycles_print },
	{ "srcline_from", "From Source:Line", COLUMN_BRANCH, WIDTH_SRCLINE_FROM, .words = 2, .collapses = true,
	  .sample_key = srcline_from_key, .text = srcline_from_text, .compare = source_compare, .sort = source_sort,
	  .print = srcline_end_print },
	{ "srcline_to", "To Source:Line", COLUMN_BRANCH, WIDTH_SRCLINE_TO, .words = 2, .collapses = true,
	  .sample_key = srcline_to_key, .text = srcline_to_text, .compare = source_compare, .sort = source_sort,
	  .print = srcline_end_print },
	{ "ipc_lbr", "IPC   [IPC Coverage]", COLUMN_BRANCH, WIDTH_IPC, .words = 3, .place_key = symbol_key,
	  .compare = symbol_compare, .print = ipc_print },
	{ "addr_from", "Source Address", COLUMN_BRANCH, WIDTH_ADDR_FROM, .words = 2, .sample_key = addr_from_key,
	  .compare = addr_from_compare, .print = addr_from_print },
	{ "addr_to", "Target Address", COLUMN_BRANCH, WIDTH_ADDR_TO, .words = 2, .sample_key = addr_to_key,
	  .compare = addr_to_compare, .print = addr_to_print },

	{ "symbol_daddr", "Data Symbol", COLUMN_MEMORY, WIDTH_DADDR, .words = 1, .sample_key = symbol_daddr_key,
	  .compare = compare_down, .print = symbol_daddr_print },
	{ "symbol_iaddr", "Code Symbol", COLUMN_MEMORY, WIDTH_IADDR, .words = 1, .sample_key = symbol_iaddr_key,
	  .compare = compare_down, .print = symbol_iaddr_print },
	{ "dso_daddr", "Data Object", COLUMN_MEMORY, WIDTH_DADDR_DSO, .words = 1, .sample_key = dso_daddr_key,
	  .compare = dso_daddr_compare, .print = dso_daddr_print },
	{ "locked", "Locked", COLUMN_MEMORY, WIDTH_LOCKED, .words = 1, .sample_key = locked_key, .compare = compare_down,
	  .print = locked_print },
	{ "tlb", "TLB access", COLUMN_MEMORY, WIDTH_TLB, .words = 1, .sample_key = tlb_key, .compare = compare_down, .print = tlb_print },
	{ "mem", "Memory access", COLUMN_MEMORY, WIDTH_LEVEL, .words = 1, .sample_key = level_key, .compare = compare_down,
	  .print = level_print },
	{ "snoop", "Snoop", COLUMN_MEMORY, WIDTH_SNOOP, .words = 1, .sample_key = snoop_key, .compare = compare_down,
	  .print = snoop_print },
	{ "dcacheline", "Data Cacheline", COLUMN_MEMORY, WIDTH_DCACHELINE, .words = 5, .sample_key = dcacheline_key,
	  .compare = dcacheline_compare, .print = dcacheline_print },
	{ "phys_daddr", "Data Physical Address", COLUMN_MEMORY, WIDTH_PHYS_DADDR, .words = 1, .sample_key = phys_daddr_key,
	  .compare = compare_down, .print = phys_daddr_print },
	{ "data_page_size", "Data Page Size", COLUMN_MEMORY, WIDTH_DATA_PAGE_SIZE, .words = 1, .sample_key = data_page_size_key,
	  .compare = compare_down, .print = page_size_print },
	{ "blocked", "Blocked", COLUMN_MEMORY, WIDTH_BLOCKED, .words = 1, .sample_key = blocked_key, .compare = compare_down,
	  .print = blocked_print },
};
const unsigned column_type_count = sizeof column_types / sizeof *column_types;

const struct column_type column_type_field = {
	"", "", COLUMN_FIELD, WIDTH_NONE, .words = 2, .sample_key = field_key, .compare = field_compare, .print = field_print,
};

static const char *const default_sorts[] = {
	[SORT_NORMAL] = "comm,dso,symbol",
	[SORT_BRANCH] = "comm,dso_from,symbol_from,symbol_to,cycles",
	[SORT_MEMORY] = "local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,blocked,local_ins_lat,local_p_stage_cyc",
	[SORT_TRACEPOINT] = "trace",
};


static bool column_same(const struct column *a, const struct column *b)
{
	if (a->type->class != b->type->class)
		return false;
	if (a->type->class == COLUMN_MEASURE)
		return a->type->measure == b->type->measure;
	if (a->type->class == COLUMN_FIELD)
		return a->field == b->field;
	return a->type->print == b->type->print && a->type->width == b->type->width;
}

static uint32_t add_column(struct columns *columns, const struct column_type *type, int level)
{
	struct column *column = vec_add(&columns->all);
	column->type = type;
	column->header = type->header;
	column->level = level;
	return (uint32_t)columns->all.count - 1;
}

uint32_t columns_add_sort(struct columns *columns, const struct column_type *type, int level)
{
	uint32_t index = add_column(columns, type, level);
	vec_push(&columns->sorts, index);
	return index;
}

/* What a sort key means for the whole report. */
static void note_sort(struct columns *columns, const struct column_type *type)
{
	enum column_width width = type->width;
	columns->needs_collapse |= type->collapses;
	columns->has_parent |= width == WIDTH_PARENT;
	columns->has_symbol |= width == WIDTH_SYMBOL || width == WIDTH_SYMBOL_FROM || width == WIDTH_SYMBOL_TO || width == WIDTH_DADDR;
	columns->has_dso |= width == WIDTH_DSO;
	columns->has_thread |= width == WIDTH_THREAD;
	columns->has_comm |= width == WIDTH_COMM;
	columns->has_socket |= width == WIDTH_SOCKET;
}

/* One of the passes over the table: `class` alone, by abbreviation. */
static const struct column_type *find_type(const char *word, enum column_class class)
{
	size_t len = strlen(word);
	for (unsigned i = 0; i < column_type_count; i++)
		if (column_types[i].class == class && strncasecmp(word, column_types[i].name, len) == 0)
			return &column_types[i];
	return NULL;
}

static bool class_fits(enum column_class class, enum sort_mode mode)
{
	return class == COLUMN_BRANCH ? mode == SORT_BRANCH : class != COLUMN_MEMORY || mode == SORT_MEMORY;
}

static int refuse(struct column_request *request, struct error *err, const char *how, const char *option, const char *word)
{
	request->invalid = option;
	return error_set(err, ERROR_USAGE, "%s %s key: `%s'", how, option, word);
}

static int refuse_later(struct column_request *request, struct error *err, const char *option, const char *word)
{
	request->invalid = option;
	return error_set(err, ERROR_UNSUPPORTED, "%s key `%s' is not supported yet", option, word);
}

static bool sort_has_type(const struct columns *columns, const struct column_type *type)
{
	for (size_t i = 0; i < columns->sorts.count; i++)
		if (columns->all.items[columns->sorts.items[i]].type == type)
			return true;
	return false;
}

static int add_sort_word(struct columns *columns, struct column_request *request, const char *word, int level, struct error *err)
{
	static const enum column_class order[] = { COLUMN_COMMON, COLUMN_MEASURE, COLUMN_BRANCH, COLUMN_MEMORY };
	for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
		const struct column_type *type = find_type(word, order[i]);
		if (!type)
			continue;
		if (!class_fits(type->class, request->mode))
			return refuse(request, err, "Invalid", "--sort", word);
		if (type->unsupported)
			return refuse_later(request, err, "--sort", word);
		note_sort(columns, type);
		if (!sort_has_type(columns, type))
			columns_add_sort(columns, type, level);
		return 0;
	}
	if (request->dynamic && request->dynamic(request->context, columns, word, level) == 0)
		return 0;
	return refuse(request, err, "Unknown", "--sort", word);
}

/* "a,b c{d,e}": words in braces share a level of a hierarchy. */
static int add_sort_words(struct columns *columns, struct column_request *request, char *text, struct error *err)
{
	int level = 0, next_level = 1;
	bool in_braces = false;
	for (char *word = text, *end; word; word = end) {
		end = strpbrk(word, "{}, ");
		if (end) {
			next_level = in_braces ? level : level + 1;
			if (*end == '{')
				in_braces = true;
			else if (*end == '}')
				in_braces = false;
			*end++ = '\0';
		}
		if (*word && add_sort_word(columns, request, word, level, err) < 0)
			return -1;
		level = next_level;
	}
	return 0;
}

static bool is_strict(const char *order)
{
	return order && *order != '+';
}

static int setup_sorts(struct columns *columns, struct column_request *request, struct error *err)
{
	const char *sort = request->sort;
	bool adds = sort && *sort == '+';
	if (adds && !sort[1])
		return refuse(request, err, "Invalid", "--sort", "+");
	if (!sort && is_strict(request->fields))
		return 0;
	CLEANUP_STR struct str text = { 0 };
	if (!is_strict(sort)) {
		if (request->tracepoints)
			columns->mode = request->mode = SORT_TRACEPOINT;
		const char *order = default_sorts[columns->mode];
		if (columns->mode == SORT_NORMAL && request->default_sort)
			order = request->default_sort;
		else if (columns->mode == SORT_TRACEPOINT && request->raw_trace)
			order = "trace_fields";
		str_puts(&text, order);
	}
	if (sort)
		str_printf(&text, "%s%s", adds ? "," : "", sort + adds);
	if (!is_strict(request->fields)) {
		CLEANUP_STR struct str whole = { 0 };
		bool overhead = strstr(str_text(&text), "overhead");
		if (request->children && !strstr(str_text(&text), "overhead_children"))
			str_puts(&whole, "overhead_children,");
		if (!overhead)
			str_puts(&whole, "overhead,");
		str_puts(&whole, str_text(&text));
		str_clear(&text);
		str_puts(&text, str_text(&whole));
	}
	if (!text.text)
		return 0;
	return add_sort_words(columns, request, text.text, err);
}

static void add_field(struct columns *columns, uint32_t index)
{
	for (size_t i = 0; i < columns->fields.count; i++)
		if (column_same(&columns->all.items[columns->fields.items[i]], &columns->all.items[index]))
			return;
	vec_push(&columns->fields, index);
}

/* A field that is also a sort key is one column. */
static uint32_t field_column(struct columns *columns, const struct column_type *type, const char *header)
{
	struct column probe = { .type = type };
	for (size_t i = 0; i < columns->all.count; i++)
		if (column_same(&columns->all.items[i], &probe))
			return (uint32_t)i;
	uint32_t index = add_column(columns, type, 0);
	columns->all.items[index].header = header;
	return index;
}

/* --fields names each row of the table at most once, though two rows may be one column. */
static bool take_row(bool *taken, const struct column_type *type)
{
	bool known = taken[type - column_types];
	taken[type - column_types] = true;
	return !known;
}

static void add_measure(struct columns *columns, bool *taken, enum measure measure, const char *header)
{
	for (unsigned i = 0; i < column_type_count; i++) {
		if (column_types[i].class != COLUMN_MEASURE || column_types[i].measure != measure)
			continue;
		uint32_t index = field_column(columns, &column_types[i], column_types[i].header);
		if (header)
			columns->all.items[index].header = header;
		if (take_row(taken, &column_types[i]))
			vec_push(&columns->fields, index);
		return;
	}
}

static void add_default_fields(struct columns *columns, const struct column_request *request, bool *taken)
{
	if (request->children)
		add_measure(columns, taken, MEASURE_CHILDREN, NULL);
	add_measure(columns, taken, MEASURE_OVERHEAD, request->children ? "Self" : NULL);
	if (request->show_cpu_utilization) {
		add_measure(columns, taken, MEASURE_OVERHEAD_SYS, NULL);
		add_measure(columns, taken, MEASURE_OVERHEAD_US, NULL);
	}
	if (request->show_samples)
		add_measure(columns, taken, MEASURE_SAMPLES, NULL);
	if (request->show_period)
		add_measure(columns, taken, MEASURE_PERIOD, NULL);
}

static int add_field_word(struct columns *columns, struct column_request *request, const char *word, bool *taken, struct error *err)
{
	static const enum column_class order[] = { COLUMN_MEASURE, COLUMN_COMMON, COLUMN_BRANCH, COLUMN_MEMORY };
	for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
		const struct column_type *type = find_type(word, order[i]);
		if (!type)
			continue;
		if (!class_fits(type->class, request->mode))
			return refuse(request, err, "Invalid", "--fields", word);
		if (type->unsupported)
			return refuse_later(request, err, "--fields", word);
		if (take_row(taken, type))
			vec_push(&columns->fields, field_column(columns, type, type->fields_header ? type->fields_header : type->header));
		return 0;
	}
	return refuse(request, err, "Unknown", "--fields", word);
}

static int add_field_words(struct columns *columns, struct column_request *request, bool *taken, struct error *err)
{
	const char *fields = request->fields;
	bool adds = *fields == '+';
	if (!fields[adds])
		return refuse(request, err, "Invalid", "--fields", "+");
	CLEANUP_STR struct str text = { 0 };
	str_puts(&text, fields + adds);
	char *rest = text.text;
	for (char *word; (word = strtok_r(rest, ", ", &rest));)
		if (add_field_word(columns, request, word, taken, err) < 0)
			return -1;
	return 0;
}

static bool sort_has_column(const struct columns *columns, const struct column *column)
{
	for (size_t i = 0; i < columns->sorts.count; i++)
		if (column_same(&columns->all.items[columns->sorts.items[i]], column))
			return true;
	return false;
}

/* Where the keys stand in a row, and how finely places must be told apart. */
static void finish_columns(struct columns *columns)
{
	for (size_t i = 0; i < columns->all.count; i++) {
		const struct column_type *type = columns->all.items[i].type;
		bool whole_address = type->place_key == addr_key || type->place_key == symoff_key || type->place_key == source_key;
		columns->by_address |= whole_address;
		columns->by_map |= type->place_key == addr_key || type->place_key == dso_size_key;
	}
}

int columns_setup(struct columns *columns, struct column_request *request, struct error *err)
{
	*columns = (struct columns){ .mode = request->mode };
	if (setup_sorts(columns, request, err) < 0)
		return -1;
	if (request->with_parent && add_sort_word(columns, request, "parent", -1, err) < 0)
		return -1;
	bool taken[sizeof column_types / sizeof *column_types] = { false };
	if (!is_strict(request->fields))
		add_default_fields(columns, request, taken);
	if (request->fields && add_field_words(columns, request, taken, err) < 0)
		return -1;
	for (size_t i = 0; i < columns->sorts.count; i++)
		add_field(columns, columns->sorts.items[i]);
	for (size_t i = 0; i < columns->fields.count; i++)
		if (!sort_has_column(columns, &columns->all.items[columns->fields.items[i]]))
			vec_push(&columns->sorts, columns->fields.items[i]);
	finish_columns(columns);
	return 0;
}

void columns_fini(struct columns *columns)
{
	vec_fini(&columns->all);
	vec_fini(&columns->sorts);
	vec_fini(&columns->fields);
}

void columns_cancel_children(struct columns *columns, const char *fields)
{
	if (is_strict(fields))
		return;
	size_t kept = 0;
	for (size_t i = 0; i < columns->fields.count; i++) {
		struct column *column = &columns->all.items[columns->fields.items[i]];
		bool measure = column->type->class == COLUMN_MEASURE;
		if (measure && column->type->measure == MEASURE_CHILDREN)
			continue;
		if (measure && column->type->measure == MEASURE_OVERHEAD)
			column->header = "Overhead";
		columns->fields.items[kept++] = columns->fields.items[i];
	}
	columns->fields.count = kept;
}
