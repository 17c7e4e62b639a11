#include "analysis/column/columns.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "analysis/column/cells.h"

#define MEASURE(word, title, what, wide) \
	{ .name = word, .header = title, .class = COLUMN_MEASURE, .measure = MEASURE_##what, .measure_width = wide }

/* Keyed by a u64 of struct sample. */
#define SAMPLE_MEMBER(of_sample) .sample_key = member_key, .member = offsetof(struct sample, of_sample)


/* In the order in which an abbreviation is looked up. */
const struct column_type column_types[] = {
	{ "pid", "    Pid:Command", COLUMN_COMMON, ID_THREAD, .words = 1, .sample_key = pid_key, .compare = compare_down_i32,
	  .value = task_value, .kind = CELL_TASK, .layout = LAYOUT_TASK },
	{ "comm", "Command", COLUMN_COMMON, ID_COMM, .words = 1, .collapses = true, .sample_key = comm_key, .compare = comm_compare,
	  .value = comm_value, .kind = CELL_TEXT, .layout = LAYOUT_LEFT_CUT },
	{ "dso", "Shared Object", COLUMN_COMMON, ID_DSO, .words = 1, .place_key = dso_key, .compare = dso_compare, .value = dso_value,
	  .kind = CELL_TEXT, .layout = LAYOUT_LEFT_CUT, .absent = "[unknown]" },
	{ "symbol", "Symbol", COLUMN_COMMON, ID_SYMBOL, .words = 3, .place_key = symbol_key, .compare = symbol_compare,
	  .sort = symbol_sort, .compare_rank = symbol_compare_rank, .sort_rank = symbol_sort_rank, .value = symbol_value,
	  .kind = CELL_PLACE, .layout = LAYOUT_SYMBOL, .by_symbol = true, .by_address = true },
	{ "parent", "Parent symbol", COLUMN_COMMON, ID_PARENT, .words = 1, .sample_key = parent_key, .compare = parent_compare,
	  .value = parent_value, .kind = CELL_TEXT, .layout = LAYOUT_LEFT_CUT, .absent = "[other]" },
	{ "cpu", "CPU", COLUMN_COMMON, ID_CPU, .words = 1, .sample_key = cpu_key, .compare = compare_down_i32, .value = number_value,
	  .kind = CELL_NUMBER, .layout = LAYOUT_ZEROS },
	{ "socket", "Socket", COLUMN_COMMON, ID_SOCKET, .words = 1, .not_in_callers = true, .sample_key = socket_key,
	  .compare = compare_down_i32, .value = number_value, .kind = CELL_NUMBER, .layout = LAYOUT_ZEROS_SHORT },
	{ "srcline", "Source:Line", COLUMN_COMMON, ID_SRCLINE, .words = 2, .collapses = true, .place_key = source_key,
	  .text = srcline_text, .compare = source_compare, .sort = source_sort, .value = srcline_value, .kind = CELL_TEXT,
	  .layout = LAYOUT_CUT, .whole_address = true, .alone = true },
	{ "srcfile", "Source File", COLUMN_COMMON, ID_SRCFILE, .words = 2, .collapses = true, .place_key = source_key,
	  .text = srcfile_text, .compare = source_compare, .sort = source_sort, .value = srcline_value, .kind = CELL_TEXT,
	  .layout = LAYOUT_CUT, .whole_address = true, .alone = true },
	{ "local_weight", "Local Weight", COLUMN_COMMON, ID_LOCAL_WEIGHT, .words = 1, .not_in_callers = true, .sample_key = weight_key,
	  .compare = compare_up, .value = count_value, .kind = CELL_COUNT },
	{ "weight", "Weight", COLUMN_COMMON, ID_WEIGHT, .words = 1, .not_in_callers = true, .sample_key = weight_key,
	  .compare = compare_up, .value = weight_value, .kind = CELL_COUNT },
	{ "transaction", "Transaction                ", COLUMN_COMMON, ID_TRANSACTION, .words = 1, .not_in_callers = true,
	  SAMPLE_MEMBER(transaction), .compare = compare_up, .value = transaction_value, .kind = CELL_TEXT },
	{ "trace", "Trace output", COLUMN_COMMON, ID_TRACE, .words = 1, .sample_key = trace_key, .compare = trace_compare,
	  .value = trace_value, .kind = CELL_TEXT, .layout = LAYOUT_CUT, .absent = "N/A", .alone = true },
	{ "symbol_size", "Symbol size", COLUMN_COMMON, ID_SYMBOL_SIZE, .words = 1, .place_key = symbol_size_key,
	  .compare = symbol_size_compare, .value = symbol_size_value, .kind = CELL_NUMBER, .unit = "bytes", .layout = LAYOUT_RIGHT,
	  .absent = "unknown" },
	{ "dso_size", "DSO size", COLUMN_COMMON, ID_DSO_SIZE, .words = 1, .place_key = dso_size_key, .compare = symbol_size_compare,
	  .value = dso_size_value, .kind = CELL_NUMBER, .unit = "bytes", .layout = LAYOUT_RIGHT, .absent = "unknown", .by_map = true },
	{ "cgroup", "Cgroup", COLUMN_COMMON, ID_CGROUP, .words = 1, .not_in_callers = true, .sample_key = cgroup_key,
	  .compare = compare_down, .value = cgroup_value, .kind = CELL_TEXT, .layout = LAYOUT_PLAIN, .absent = "N/A" },
	{ "cgroup_id", "cgroup id (dev/inode)", COLUMN_COMMON, ID_CGROUP_ID, .words = 2, .not_in_callers = true,
	  .sample_key = cgroup_id_key, .compare = cgroup_id_compare, .value = cgroup_id_value, .kind = CELL_FILE_ID,
	  .layout = LAYOUT_PLAIN },
	{ "ipc_null", "IPC   [IPC Coverage]", COLUMN_COMMON, ID_IPC, .words = 3, .place_key = symbol_key, .compare = symbol_compare,
	  .value = no_value, .kind = CELL_TEXT, .absent = "-      -", .by_symbol = true, .by_address = true },
	{ "time", "Time", COLUMN_COMMON, ID_TIME, .words = 1, .not_in_callers = true, .sample_key = time_key, .compare = compare_down,
	  .value = time_value, .kind = CELL_TIME, .unit = "ns", .layout = LAYOUT_CUT },
	{ "code_page_size", "Code Page Size", COLUMN_COMMON, ID_CODE_PAGE_SIZE, .words = 1, .not_in_callers = true,
	  SAMPLE_MEMBER(code_page_size), .compare = compare_down, .value = page_size_value, .kind = CELL_BYTES, .unit = "bytes",
	  .absent = "N/A" },
	{ "local_ins_lat", "Local INSTR Latency", COLUMN_COMMON, ID_LOCAL_INS_LAT, .words = 1, .not_in_callers = true,
	  .sample_key = ins_lat_key, .compare = compare_up, .value = local_latency_value, .kind = CELL_COUNT },
	{ "ins_lat", "INSTR Latency", COLUMN_COMMON, ID_INS_LAT, .words = 1, .not_in_callers = true, .sample_key = ins_lat_key,
	  .compare = compare_up, .value = latency_value, .kind = CELL_COUNT },
	{ "local_p_stage_cyc", "Local Retire Latency", COLUMN_COMMON, ID_LOCAL_P_STAGE_CYC,
	  .fields_header = "Local Pipeline Stage Cycle", .words = 1, .not_in_callers = true, .sample_key = p_stage_cyc_key,
	  .compare = compare_up, .value = local_latency_value, .kind = CELL_COUNT },
	{ "p_stage_cyc", "Retire Latency", COLUMN_COMMON, ID_P_STAGE_CYC, .fields_header = "Pipeline Stage Cycle", .words = 1,
	  .not_in_callers = true, .sample_key = p_stage_cyc_key, .compare = compare_up, .value = latency_value, .kind = CELL_COUNT },
	{ "addr", "Address", COLUMN_COMMON, ID_ADDR, .words = 1, .place_key = addr_key, .compare = compare_down, .value = addr_value,
	  .kind = CELL_ADDRESS, .by_address = true, .whole_address = true, .by_map = true },
	{ "local_retire_lat", "Local Pipeline Stage Cycle", COLUMN_COMMON, ID_LOCAL_P_STAGE_CYC, .words = 1, .not_in_callers = true,
	  .sample_key = p_stage_cyc_key, .compare = compare_up, .value = local_latency_value, .kind = CELL_COUNT },
	{ "retire_lat", "Pipeline Stage Cycle", COLUMN_COMMON, ID_P_STAGE_CYC, .words = 1, .not_in_callers = true,
	  .sample_key = p_stage_cyc_key, .compare = compare_up, .value = latency_value, .kind = CELL_COUNT },
	{ "simd", "Simd   ", COLUMN_COMMON, ID_SIMD, .words = 1, .sample_key = simd_key, .compare = compare_up, .value = no_value,
	  .kind = CELL_TEXT, .layout = LAYOUT_PLAIN },
	{ "type", "Data Type", COLUMN_COMMON, ID_TYPE, .words = 2, .collapses = true, .place_key = source_key, .text = type_text,
	  .compare = type_compare, .sort = type_sort, .value = srcline_value, .kind = CELL_TEXT, .layout = LAYOUT_LEFT,
	  .whole_address = true, .narrow = true, .alone = true },
	{ "typeoff", "Data Type Offset", COLUMN_COMMON, ID_TYPE_OFFSET, .words = 2, .collapses = true, .place_key = source_key,
	  .text = typeoff_text, .compare = type_compare, .sort = type_sort, .value = srcline_value, .kind = CELL_TEXT,
	  .layout = LAYOUT_PLAIN, .whole_address = true, .narrow = true, .alone = true },
	{ "symoff", "Symbol Offset", COLUMN_COMMON, ID_SYMBOL_OFFSET, .words = 4, .place_key = symoff_key, .compare = symoff_compare,
	  .sort = symoff_sort, .value = symoff_value, .kind = CELL_PLACE, .layout = LAYOUT_SYMBOL_OFFSET, .by_address = true,
	  .whole_address = true },
	{ "typecln", "Data Type Cacheline", COLUMN_COMMON, ID_TYPE_LINE, .words = 2, .collapses = true, .place_key = source_key,
	  .text = typecln_text, .compare = type_compare, .sort = type_sort, .value = srcline_value, .kind = CELL_TEXT,
	  .layout = LAYOUT_PLAIN, .whole_address = true, .narrow = true, .alone = true },

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

	{ "dso_from", "Source Shared Object", COLUMN_BRANCH, ID_DSO_FROM, .words = 1, .sample_key = dso_from_key,
	  .compare = dso_from_compare, .value = dso_from_value, .kind = CELL_TEXT, .layout = LAYOUT_LEFT_CUT, .absent = "[unknown]" },
	{ "dso_to", "Target Shared Object", COLUMN_BRANCH, ID_DSO_TO, .words = 1, .sample_key = dso_to_key, .compare = dso_to_compare,
	  .value = dso_to_value, .kind = CELL_TEXT, .layout = LAYOUT_LEFT_CUT, .absent = "[unknown]" },
	{ "symbol_from", "Source Symbol", COLUMN_BRANCH, ID_SYMBOL_FROM, .words = 2, .sample_key = symbol_from_key,
	  .compare = symbol_from_compare, .value = symbol_from_value, .kind = CELL_PLACE, .layout = LAYOUT_SYMBOL },
	{ "symbol_to", "Target Symbol", COLUMN_BRANCH, ID_SYMBOL_TO, .words = 2, .sample_key = symbol_to_key,
	  .compare = symbol_to_compare, .value = symbol_to_value, .kind = CELL_PLACE, .layout = LAYOUT_SYMBOL },
	{ "mispredict", "Branch Mispredicted", COLUMN_BRANCH, ID_MISPREDICT, .words = 1, .sample_key = mispredict_key,
	  .compare = compare_differ, .value = mispredict_value, .kind = CELL_FLAG, .layout = LAYOUT_LEFT_CUT, .yes = "Y", .no = "N",
	  .absent = "N/A", .unordered = true },
	{ "in_tx", "Branch in transaction", COLUMN_BRANCH, ID_IN_TX, .words = 1, .sample_key = in_tx_key, .compare = compare_differ,
	  .value = flag_value, .kind = CELL_FLAG, .yes = "T", .no = ".", .unordered = true },
	{ "abort", "Transaction abort", COLUMN_BRANCH, ID_ABORT, .words = 1, .sample_key = abort_key, .compare = compare_differ,
	  .value = flag_value, .kind = CELL_FLAG, .yes = "A", .no = ".", .unordered = true },
	{ "cycles", "Basic Block Cycles", COLUMN_BRANCH, ID_CYCLES, .words = 1, .sample_key = cycles_key, .compare = compare_up,
	  .value = cycles_value, .kind = CELL_NUMBER, .unit = "cycles", .absent = "-" },
	{ "srcline_from", "From Source:Line", COLUMN_BRANCH, ID_SRCLINE_FROM, .words = 2, .collapses = true,
	  .sample_key = srcline_from_key, .text = srcline_from_text, .compare = source_compare, .sort = source_sort,
	  .value = srcline_value, .kind = CELL_TEXT, .layout = LAYOUT_LEFT_CUT, .alone = true },
	{ "srcline_to", "To Source:Line", COLUMN_BRANCH, ID_SRCLINE_TO, .words = 2, .collapses = true, .sample_key = srcline_to_key,
	  .text = srcline_to_text, .compare = source_compare, .sort = source_sort, .value = srcline_value, .kind = CELL_TEXT,
	  .layout = LAYOUT_LEFT_CUT, .alone = true },
	{ "ipc_lbr", "IPC   [IPC Coverage]", COLUMN_BRANCH, ID_IPC, .words = 3, .place_key = symbol_key, .compare = symbol_compare,
	  .value = ipc_value, .kind = CELL_TEXT, .absent = "-", .by_symbol = true, .by_address = true, .alone = true },
	{ "addr_from", "Source Address", COLUMN_BRANCH, ID_ADDR_FROM, .words = 2, .sample_key = addr_from_key,
	  .compare = addr_from_compare, .value = addr_from_value, .kind = CELL_PLACE, .layout = LAYOUT_SYMBOL_END },
	{ "addr_to", "Target Address", COLUMN_BRANCH, ID_ADDR_TO, .words = 2, .sample_key = addr_to_key, .compare = addr_to_compare,
	  .value = addr_to_value, .kind = CELL_PLACE, .layout = LAYOUT_SYMBOL_END },

	{ "symbol_daddr", "Data Symbol", COLUMN_MEMORY, ID_DADDR, .words = 1, .sample_key = symbol_daddr_key, .compare = compare_down,
	  .value = symbol_daddr_value, .kind = CELL_PLACE, .layout = LAYOUT_SYMBOL },
	{ "symbol_iaddr", "Code Symbol", COLUMN_MEMORY, ID_IADDR, .words = 1, .sample_key = symbol_iaddr_key, .compare = compare_down,
	  .value = symbol_iaddr_value, .kind = CELL_PLACE, .layout = LAYOUT_SYMBOL },
	{ "dso_daddr", "Data Object", COLUMN_MEMORY, ID_DADDR_DSO, .words = 1, .sample_key = dso_daddr_key,
	  .compare = dso_daddr_compare, .value = dso_daddr_value, .kind = CELL_TEXT, .layout = LAYOUT_LEFT_CUT, .absent = "[unknown]" },
	{ "locked", "Locked", COLUMN_MEMORY, ID_LOCKED, .words = 1, .sample_key = locked_key, .compare = compare_down,
	  .value = locked_value, .kind = CELL_TEXT, .layout = LAYOUT_CUT },
	{ "tlb", "TLB access", COLUMN_MEMORY, ID_TLB, .words = 1, .sample_key = tlb_key, .compare = compare_down, .value = tlb_value,
	  .kind = CELL_TEXT },
	{ "mem", "Memory access", COLUMN_MEMORY, ID_LEVEL, .words = 1, .sample_key = level_key, .compare = compare_down,
	  .value = level_value, .kind = CELL_TEXT },
	{ "snoop", "Snoop", COLUMN_MEMORY, ID_SNOOP, .words = 1, .sample_key = snoop_key, .compare = compare_down,
	  .value = snoop_value, .kind = CELL_TEXT },
	{ "dcacheline", "Data Cacheline", COLUMN_MEMORY, ID_DCACHELINE, .words = 5, .sample_key = dcacheline_key,
	  .compare = dcacheline_compare, .value = dcacheline_value, .kind = CELL_PLACE, .layout = LAYOUT_SYMBOL },
	{ "phys_daddr", "Data Physical Address", COLUMN_MEMORY, ID_PHYS_DADDR, .words = 1, SAMPLE_MEMBER(phys_addr),
	  .compare = compare_down, .value = phys_daddr_value, .kind = CELL_PLACE, .layout = LAYOUT_PHYSICAL },
	{ "data_page_size", "Data Page Size", COLUMN_MEMORY, ID_DATA_PAGE_SIZE, .words = 1, SAMPLE_MEMBER(data_page_size),
	  .compare = compare_down, .value = page_size_value, .kind = CELL_BYTES, .unit = "bytes", .absent = "N/A" },
	{ "blocked", "Blocked", COLUMN_MEMORY, ID_BLOCKED, .words = 1, .sample_key = blocked_key, .compare = compare_down,
	  .value = blocked_value, .kind = CELL_TEXT, .layout = LAYOUT_CUT },
};
_Static_assert(__COUNTER__ <= ID_MAX - ID_COUNT, "there are ids for all columns");
const unsigned column_type_count = sizeof column_types / sizeof *column_types;

const struct column_type column_type_field = {
	"", "", COLUMN_FIELD, ID_NONE, .words = 2, .sample_key = field_key, .compare = field_compare, .value = field_value,
	.kind = CELL_TEXT, .layout = LAYOUT_RIGHT_CUT, .alone = true,
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
	return a->type->id == b->type->id;
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

/* Applies the effects of a sort key on the whole report. */
static void note_sort(struct columns *columns, const struct column_type *type)
{
	enum column_id id = type->id;
	columns->needs_collapse |= type->collapses;
	columns->has_parent |= id == ID_PARENT;
	columns->has_symbol |= id == ID_SYMBOL || id == ID_SYMBOL_FROM || id == ID_SYMBOL_TO || id == ID_DADDR;
	columns->has_dso |= id == ID_DSO;
	columns->has_thread |= id == ID_THREAD;
	columns->has_comm |= id == ID_COMM;
	columns->has_socket |= id == ID_SOCKET;
	columns->has_type |= id == ID_TYPE || id == ID_TYPE_OFFSET || id == ID_TYPE_LINE;
}

void columns_words(struct str *to)
{
	for (unsigned i = 0; i < column_type_count; i++) {
		bool again = false;
		for (unsigned k = 0; k < i; k++)
			again |= !strcmp(column_types[k].name, column_types[i].name);
		if (!again)
			str_printf(to, "%s%s", to->len ? " " : "", column_types[i].name);
	}
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

static int refuse_key(struct column_request *request, struct error *err, const char *how, const char *option, const char *word)
{
	request->invalid = option;
	return error_set(err, ERROR_USAGE, "%s %s key: `%s'", how, option, word);
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
			return refuse_key(request, err, "Invalid", "--sort", word);
		note_sort(columns, type);
		if (!sort_has_type(columns, type))
			columns_add_sort(columns, type, level);
		return 0;
	}
	if (request->dynamic && request->dynamic(request->context, columns, word, level) == 0)
		return 0;
	return refuse_key(request, err, "Unknown", "--sort", word);
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
		return refuse_key(request, err, "Invalid", "--sort", "+");
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
static bool claim_row(bool *taken, const struct column_type *type)
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
		if (claim_row(taken, &column_types[i]))
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
			return refuse_key(request, err, "Invalid", "--fields", word);
		if (claim_row(taken, type))
			vec_push(&columns->fields, field_column(columns, type, type->fields_header ? type->fields_header : type->header));
		return 0;
	}
	return refuse_key(request, err, "Unknown", "--fields", word);
}

static int add_field_words(struct columns *columns, struct column_request *request, bool *taken, struct error *err)
{
	const char *fields = request->fields;
	bool adds = *fields == '+';
	if (!fields[adds])
		return refuse_key(request, err, "Invalid", "--fields", "+");
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

/* Determines how finely places must be distinguished. */
static void finish_columns(struct columns *columns)
{
	for (size_t i = 0; i < columns->all.count; i++) {
		const struct column_type *type = columns->all.items[i].type;
		columns->by_address |= type->whole_address;
		columns->by_map |= type->by_map;
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

bool columns_are_shared(const struct columns *columns)
{
	for (size_t i = 0; i < columns->all.count; i++)
		if (columns->all.items[i].type->alone)
			return false;
	return true;
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
