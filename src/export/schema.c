#include "export/schema.h"

#include <string.h>

enum column_kind { KEY, BIG, INT, FLAG, NAME };

struct column {
	const char *name;
	enum column_kind kind;
	bool all_only;             /* not with `branches` */
	unsigned length;           /* of a NAME, which SQLite does not enforce: as in perf's tables */
};

struct table_row {
	const char *name;
	struct column columns[EXPORT_COLUMNS_MAX + 1];
};

static const struct table_row tables[EXPORT_TABLES] = {
	[TABLE_EVENTS] = { "selected_events", { { "id", KEY }, { "name", NAME, .length = 80 } } },
	[TABLE_MACHINES] = { "machines", { { "id", KEY }, { "pid", INT }, { "root_dir", NAME, .length = 4096 } } },
	[TABLE_THREADS] = { "threads", { { "id", KEY }, { "machine_id", BIG }, { "process_id", BIG }, { "pid", INT }, { "tid", INT } } },
	[TABLE_COMMS] = { "comms",
		{ { "id", KEY }, { "comm", NAME, .length = 16 }, { "c_thread_id", BIG }, { "c_time", BIG }, { "exec_flag", FLAG } } },
	[TABLE_COMM_THREADS] = { "comm_threads", { { "id", KEY }, { "comm_id", BIG }, { "thread_id", BIG } } },
	[TABLE_DSOS] = { "dsos",
		{ { "id", KEY }, { "machine_id", BIG }, { "short_name", NAME, .length = 256 }, { "long_name", NAME, .length = 4096 },
		  { "build_id", NAME, .length = 64 } } },
	[TABLE_SYMBOLS] = { "symbols",
		{ { "id", KEY }, { "dso_id", BIG }, { "sym_start", BIG }, { "sym_end", BIG }, { "binding", INT },
		  { "name", NAME, .length = 2048 } } },
	[TABLE_BRANCH_TYPES] = { "branch_types", { { "id", KEY }, { "name", NAME, .length = 80 } } },
	[TABLE_SAMPLES] = { "samples",
		{ { "id", KEY }, { "evsel_id", BIG }, { "machine_id", BIG }, { "thread_id", BIG }, { "comm_id", BIG }, { "dso_id", BIG },
		  { "symbol_id", BIG }, { "sym_offset", BIG }, { "ip", BIG }, { "time", BIG }, { "cpu", INT }, { "to_dso_id", BIG },
		  { "to_symbol_id", BIG }, { "to_sym_offset", BIG }, { "to_ip", BIG }, { "period", BIG, true }, { "weight", BIG, true },
		  { "transaction", BIG, true }, { "data_src", BIG, true }, { "branch_type", INT }, { "in_tx", FLAG }, { "call_path_id", BIG },
		  { "insn_count", BIG }, { "cyc_count", BIG }, { "flags", INT } } },
	[TABLE_CALL_PATHS] = { "call_paths", { { "id", KEY }, { "parent_id", BIG }, { "symbol_id", BIG }, { "ip", BIG } } },
	[TABLE_CALLS] = { "calls",
		{ { "id", KEY }, { "thread_id", BIG }, { "comm_id", BIG }, { "call_path_id", BIG }, { "call_time", BIG }, { "return_time", BIG },
		  { "branch_count", BIG }, { "call_id", BIG }, { "return_id", BIG }, { "parent_call_path_id", BIG }, { "flags", INT },
		  { "parent_id", BIG }, { "insn_count", BIG }, { "cyc_count", BIG } } },
	[TABLE_PTWRITE] = { "ptwrite", { { "id", KEY }, { "payload", BIG }, { "exact_ip", FLAG } } },
	[TABLE_CBR] = { "cbr", { { "id", KEY }, { "cbr", INT }, { "mhz", INT }, { "percent", INT } } },
	[TABLE_MWAIT] = { "mwait", { { "id", KEY }, { "hints", INT }, { "extensions", INT } } },
	[TABLE_PWRE] = { "pwre", { { "id", KEY }, { "cstate", INT }, { "subcstate", INT }, { "hw", FLAG } } },
	[TABLE_EXSTOP] = { "exstop", { { "id", KEY }, { "exact_ip", FLAG } } },
	[TABLE_PWRX] = { "pwrx", { { "id", KEY }, { "deepest_cstate", INT }, { "last_cstate", INT }, { "wake_reason", INT } } },
	[TABLE_SWITCHES] = { "context_switches",
		{ { "id", KEY }, { "machine_id", BIG }, { "time", BIG }, { "cpu", INT }, { "thread_out_id", BIG }, { "comm_out_id", BIG },
		  { "thread_in_id", BIG }, { "comm_in_id", BIG }, { "flags", INT } } },
};

/* HEX(x), TEXT(x) and RATIO are replaced by what the dialect has. */
struct view_row {
	const char *name;
	enum export_table table;   /* of which it is the view: it exists where the table does */
	const char *columns, *query;
};

#define WAKE_REASON \
	"CASE w.wake_reason WHEN 1 THEN 'Interrupt' WHEN 2 THEN 'Timer Deadline' WHEN 4 THEN 'Monitored Address' WHEN 8 THEN 'HW'" \
	" ELSE TEXT(w.wake_reason) END"

static const struct view_row views[] = {
	{ "machines_view", TABLE_MACHINES, "id, pid, root_dir, host_or_guest",
		"id, pid, root_dir, CASE WHEN id = 0 THEN 'unknown' WHEN pid = -1 THEN 'host' ELSE 'guest' END FROM machines" },
	{ "dsos_view", TABLE_DSOS, "id, machine_id, host_or_guest, short_name, long_name, build_id",
		"d.id, d.machine_id, m.host_or_guest, d.short_name, d.long_name, d.build_id"
		" FROM dsos d LEFT JOIN machines_view m ON m.id = d.machine_id" },
	{ "symbols_view", TABLE_SYMBOLS, "id, name, dso, dso_id, sym_start, sym_end, binding",
		"s.id, s.name, d.short_name, s.dso_id, s.sym_start, s.sym_end,"
		" CASE s.binding WHEN 0 THEN 'local' WHEN 1 THEN 'global' ELSE 'weak' END FROM symbols s LEFT JOIN dsos d ON d.id = s.dso_id" },
	{ "threads_view", TABLE_THREADS, "id, machine_id, host_or_guest, process_id, pid, tid",
		"t.id, t.machine_id, m.host_or_guest, t.process_id, t.pid, t.tid"
		" FROM threads t LEFT JOIN machines_view m ON m.id = t.machine_id" },
	{ "comm_threads_view", TABLE_COMM_THREADS, "comm_id, command, thread_id, pid, tid",
		"x.comm_id, c.comm, x.thread_id, t.pid, t.tid FROM comm_threads x"
		" LEFT JOIN comms c ON c.id = x.comm_id LEFT JOIN threads t ON t.id = x.thread_id" },
	{ "call_paths_view", TABLE_CALL_PATHS,
		"id, ip, symbol_id, symbol, dso_id, dso_short_name, parent_id, parent_ip, parent_symbol_id, parent_symbol, parent_dso_id,"
		" parent_dso_short_name",
		"c.id, HEX(c.ip), c.symbol_id, s.name, s.dso_id, s.dso, c.parent_id, HEX(p.ip), p.symbol_id, q.name, q.dso_id, q.dso"
		" FROM call_paths c JOIN call_paths p ON p.id = c.parent_id"
		" LEFT JOIN symbols_view s ON s.id = c.symbol_id LEFT JOIN symbols_view q ON q.id = p.symbol_id" },
	{ "calls_view", TABLE_CALLS,
		"id, thread_id, pid, tid, command, call_path_id, ip, symbol_id, symbol, call_time, return_time, elapsed_time, branch_count,"
		" insn_count, cyc_count, IPC, call_id, return_id, flags, parent_call_path_id, parent_id",
		"k.id, k.thread_id, t.pid, t.tid, c.comm, k.call_path_id, HEX(p.ip), p.symbol_id, s.name, k.call_time, k.return_time,"
		" k.return_time - k.call_time, k.branch_count, k.insn_count, k.cyc_count, RATIO, k.call_id, k.return_id,"
		" CASE k.flags WHEN 0 THEN '' WHEN 1 THEN 'no call' WHEN 2 THEN 'no return' WHEN 3 THEN 'no call/return' WHEN 6 THEN 'jump'"
		" ELSE TEXT(k.flags) END, k.parent_call_path_id, k.parent_id"
		" FROM calls k JOIN call_paths p ON p.id = k.call_path_id LEFT JOIN threads t ON t.id = k.thread_id"
		" LEFT JOIN comms c ON c.id = k.comm_id LEFT JOIN symbols s ON s.id = p.symbol_id" },
	{ "samples_view", TABLE_SAMPLES,
		"id, time, cpu, pid, tid, command, event, ip_hex, symbol, sym_offset, dso_short_name, to_ip_hex, to_symbol, to_sym_offset,"
		" to_dso_short_name, branch_type_name, in_tx, insn_count, cyc_count, IPC, flags",
		"x.id, x.time, x.cpu, t.pid, t.tid, c.comm, e.name, HEX(x.ip), s.name, x.sym_offset, d.short_name, HEX(x.to_ip), q.name,"
		" x.to_sym_offset, o.short_name, b.name, x.in_tx, x.insn_count, x.cyc_count, RATIO, x.flags"
		" FROM samples x LEFT JOIN threads t ON t.id = x.thread_id LEFT JOIN comms c ON c.id = x.comm_id"
		" LEFT JOIN selected_events e ON e.id = x.evsel_id LEFT JOIN symbols s ON s.id = x.symbol_id"
		" LEFT JOIN dsos d ON d.id = x.dso_id LEFT JOIN symbols q ON q.id = x.to_symbol_id LEFT JOIN dsos o ON o.id = x.to_dso_id"
		" LEFT JOIN branch_types b ON b.id = x.branch_type" },
	{ "ptwrite_view", TABLE_PTWRITE, "id, time, cpu, payload_hex, exact_ip",
		"w.id, x.time, x.cpu, HEX(w.payload), CASE WHEN w.exact_ip THEN 'True' ELSE 'False' END"
		" FROM ptwrite w JOIN samples x ON x.id = w.id" },
	{ "cbr_view", TABLE_CBR, "id, time, cpu, cbr, mhz, percent",
		"w.id, x.time, x.cpu, w.cbr, w.mhz, w.percent FROM cbr w JOIN samples x ON x.id = w.id" },
	{ "mwait_view", TABLE_MWAIT, "id, time, cpu, hints_hex, extensions_hex",
		"w.id, x.time, x.cpu, HEX(w.hints), HEX(w.extensions) FROM mwait w JOIN samples x ON x.id = w.id" },
	{ "pwre_view", TABLE_PWRE, "id, time, cpu, cstate, subcstate, hw",
		"w.id, x.time, x.cpu, w.cstate, w.subcstate, CASE WHEN w.hw THEN 'True' ELSE 'False' END"
		" FROM pwre w JOIN samples x ON x.id = w.id" },
	{ "exstop_view", TABLE_EXSTOP, "id, time, cpu, exact_ip",
		"w.id, x.time, x.cpu, CASE WHEN w.exact_ip THEN 'True' ELSE 'False' END FROM exstop w JOIN samples x ON x.id = w.id" },
	{ "pwrx_view", TABLE_PWRX, "id, time, cpu, deepest_cstate, last_cstate, wake_reason",
		"w.id, x.time, x.cpu, w.deepest_cstate, w.last_cstate, " WAKE_REASON " FROM pwrx w JOIN samples x ON x.id = w.id" },
	{ "power_events_view", TABLE_PWRX,
		"id, time, cpu, event, cbr, mhz, percent, hints_hex, extensions_hex, cstate, subcstate, hw, exact_ip, deepest_cstate,"
		" last_cstate, wake_reason",
		"x.id, x.time, x.cpu, e.name,"
		" CASE e.name WHEN 'cbr' THEN TEXT(c.cbr) ELSE '' END, CASE e.name WHEN 'cbr' THEN TEXT(c.mhz) ELSE '' END,"
		" CASE e.name WHEN 'cbr' THEN TEXT(c.percent) ELSE '' END, CASE e.name WHEN 'mwait' THEN HEX(m.hints) ELSE '' END,"
		" CASE e.name WHEN 'mwait' THEN HEX(m.extensions) ELSE '' END, CASE e.name WHEN 'pwre' THEN TEXT(p.cstate) ELSE '' END,"
		" CASE e.name WHEN 'pwre' THEN TEXT(p.subcstate) ELSE '' END, CASE e.name WHEN 'pwre' THEN TEXT(p.hw) ELSE '' END,"
		" CASE e.name WHEN 'exstop' THEN TEXT(s.exact_ip) ELSE '' END, CASE e.name WHEN 'pwrx' THEN TEXT(w.deepest_cstate) ELSE '' END,"
		" CASE e.name WHEN 'pwrx' THEN TEXT(w.last_cstate) ELSE '' END, CASE e.name WHEN 'pwrx' THEN " WAKE_REASON " ELSE '' END"
		" FROM samples x JOIN selected_events e ON e.id = x.evsel_id LEFT JOIN cbr c ON c.id = x.id LEFT JOIN mwait m ON m.id = x.id"
		" LEFT JOIN pwre p ON p.id = x.id LEFT JOIN exstop s ON s.id = x.id LEFT JOIN pwrx w ON w.id = x.id"
		" WHERE e.name IN ('cbr', 'mwait', 'exstop', 'pwre', 'pwrx')" },
	{ "context_switches_view", TABLE_SWITCHES,
		"id, machine_id, time, cpu, pid_out, tid_out, comm_out, pid_in, tid_in, comm_in, flags",
		"x.id, x.machine_id, x.time, x.cpu, o.pid, o.tid, p.comm, i.pid, i.tid, j.comm,"
		" CASE x.flags WHEN 0 THEN 'in' WHEN 1 THEN 'out' WHEN 3 THEN 'out preempt' ELSE TEXT(x.flags) END"
		" FROM context_switches x JOIN threads o ON o.id = x.thread_out_id JOIN threads i ON i.id = x.thread_in_id"
		" JOIN comms p ON p.id = x.comm_out_id JOIN comms j ON j.id = x.comm_in_id" },
};

bool schema_has(const struct schema *schema, enum export_table table)
{
	if (table == TABLE_CALLS)
		return schema->calls;
	return table != TABLE_CALL_PATHS || schema->calls || schema->callchains;
}

const char *schema_table_name(enum export_table table)
{
	return tables[table].name;
}

size_t schema_columns(enum export_table table)
{
	size_t count = 0;
	while (tables[table].columns[count].name)
		count++;
	return count;
}

bool schema_has_column(const struct schema *schema, enum export_table table, size_t column)
{
	return !(schema->branches && tables[table].columns[column].all_only);
}

/* SQLite reserves the word. */
static const char *column_name(const struct schema *schema, const char *name)
{
	return schema->dialect == DIALECT_SQLITE && !strcmp(name, "transaction") ? "transaction_" : name;
}

void schema_add_table(const struct schema *schema, enum export_table table, struct str *sql)
{
	static const char *const types[][5] = {
		[DIALECT_SQLITE] = { [KEY] = "integer NOT NULL PRIMARY KEY", [BIG] = "bigint", [INT] = "integer", [FLAG] = "boolean",
			[NAME] = "varchar" },
		[DIALECT_POSTGRESQL] = { [KEY] = "bigint NOT NULL PRIMARY KEY", [BIG] = "bigint", [INT] = "integer", [FLAG] = "boolean",
			[NAME] = "varchar" },
	};
	str_printf(sql, "CREATE TABLE %s (", tables[table].name);
	const char *between = "";
	for (size_t i = 0; i < schema_columns(table); i++) {
		const struct column *column = &tables[table].columns[i];
		if (!schema_has_column(schema, table, i))
			continue;
		str_printf(sql, "%s%s %s", between, column_name(schema, column->name), types[schema->dialect][column->kind]);
		if (column->length && schema->dialect == DIALECT_SQLITE)
			str_printf(sql, "(%u)", column->length);
		between = ", ";
	}
	str_puts(sql, ");\n");
}

struct replacement {
	const char *word, *sqlite, *postgresql;
};

static void add_query(const struct schema *schema, const char *query, struct str *sql)
{
	static const struct replacement words[] = {
		{ "HEX(", "printf('%x', ", "to_hex(" }, { "TEXT(", "(", "text(" },
		{ "RATIO", "CASE cyc_count WHEN 0 THEN 0.0 ELSE round(CAST(insn_count AS float) / cyc_count, 2) END",
			"CASE cyc_count WHEN 0 THEN 0.00 ELSE CAST(CAST(insn_count AS float) / cyc_count AS numeric(20, 2)) END" },
	};
	while (*query) {
		size_t i = 0, count = sizeof words / sizeof *words;
		while (i < count && strncmp(query, words[i].word, strlen(words[i].word)) != 0)
			i++;
		if (i == count) {
			str_putc(sql, *query++);
			continue;
		}
		str_puts(sql, schema->dialect == DIALECT_SQLITE ? words[i].sqlite : words[i].postgresql);
		query += strlen(words[i].word);
	}
}

void schema_add_views(const struct schema *schema, struct str *sql)
{
	for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
		if (!schema_has(schema, views[i].table))
			continue;
		str_printf(sql, "CREATE VIEW %s (%s) AS SELECT ", views[i].name, views[i].columns);
		add_query(schema, views[i].query, sql);
		str_puts(sql, ";\n");
	}
}

static void add_drop(enum export_table table, struct str *sql)
{
	str_printf(sql, "DROP VIEW %s_view;\nDROP TABLE %s;\n", tables[table].name, tables[table].name);
}

void schema_add_end(const struct schema *schema, const bool has_rows[static EXPORT_TABLES], struct str *sql)
{
	if (schema->calls)
		str_printf(sql, "CREATE INDEX pcpid_idx ON calls (parent_call_path_id);\nCREATE INDEX pid_idx ON calls (parent_id);\n"
			"ALTER TABLE comms ADD has_calls boolean;\n"
			"UPDATE comms SET has_calls = %s WHERE id IN (SELECT comm_id FROM calls);\n",
			schema->dialect == DIALECT_SQLITE ? "1" : "TRUE");
	if (!has_rows[TABLE_PTWRITE])
		add_drop(TABLE_PTWRITE, sql);
	if (!has_rows[TABLE_MWAIT] && !has_rows[TABLE_PWRE] && !has_rows[TABLE_EXSTOP] && !has_rows[TABLE_PWRX]) {
		str_puts(sql, "DROP VIEW power_events_view;\n");
		add_drop(TABLE_MWAIT, sql);
		add_drop(TABLE_PWRE, sql);
		add_drop(TABLE_EXSTOP, sql);
		add_drop(TABLE_PWRX, sql);
		if (!has_rows[TABLE_CBR])
			add_drop(TABLE_CBR, sql);
	}
	if (!has_rows[TABLE_SWITCHES])
		add_drop(TABLE_SWITCHES, sql);
}
