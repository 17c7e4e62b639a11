/* Reading for the analyses of `sched`. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/browse_rows.h"
#include "cmd/browse_screen.h"
#include "cmd/browse_table.h"
#include "cmd/loss_summary.h"
#include "cmd/sched/sched.h"
#include "render/format/format.h"
#include "render/dump/dump.h"

bool sched_is_live(const struct sched_options *options, int argc)
{
	struct stat st;
	if (argc || options->live)
		return true;
	if (options->input.path || (fstat(STDIN_FILENO, &st) == 0 && S_ISFIFO(st.st_mode)))
		return false;
	return stat("perf.data", &st) < 0;
}

/* -D: each record is printed before the analysis takes it. */
struct dumping {
	struct dump dump;
	struct sink sink;
};

static void dump_one(void *context, const struct resolved *r, size_t slice)
{
	struct dumping *dumping = context;
	dump_record(&dumping->dump, r);
	if (r->record->type == RECORD_SAMPLE)
		dump_sample_place(&dumping->dump, r);
	dumping->sink.record(dumping->sink.context, r, slice);
}

static void dump_batch(void *context, struct session *session, size_t slices)
{
	struct dumping *dumping = context;
	dumping->sink.batch_begin(dumping->sink.context, session, slices);
}

static void read_input(struct sched_view *view, struct input *input)
{
	view->reader->places = view->wants_symbols || view->options->dump;
	struct dumping dumping = { .sink = sched_reader_sink(view->reader) };
	browse_screen_previews(view->cli->screen, view->preview, view->context);
	if (!view->options->dump) {
		input_run(input, &dumping.sink);
		return;
	}
	struct sink sink = dumping.sink;
	sink.context = &dumping;
	sink.record = dump_one;
	sink.batch_begin = dump_batch;
	dump_init(&dumping.dump, &input->session, DUMP_REPORT, view->cli->out);
	input_run(input, &sink);
	dump_fini(&dumping.dump);
}

static void count_faults(struct sched_view *view, const struct session *session)
{
	view->faults.events = session->counters.records;
	view->faults.lost = session->counters.lost_events;
	view->faults.lost_chunks = session->counters.lost_records;
}

int sched_read_file(struct sched_view *view, void (*finish)(void *context))
{
	struct input input = { 0 };
	struct error err = { 0 };
	int code = EXIT_FAILED;
	const struct input_use use = { .keep_exited = true, .threads = 1, .no_jit = !view->wants_symbols,
		.remarks = view->wants_symbols ? REMARKS_GUESSED : REMARKS_NONE };
	if (input_check(&view->options->input, &err) < 0)
		return cli_complain(view->cli, &err);
	if (input_open(&input, view->cli, &view->options->input, &use, &err) < 0 ||
	    (view->opened && view->opened(view->context, &input, &code, &err) < 0)) {
		if (err.text[0])
			cli_complain(view->cli, &err);
		input_close(&input);
		return code;
	}
	if (view->wants_symbols)
		input_symbols(&input);
	view->symbols = input.symbols;
	view->session = &input.session;
	input.session.source->roomy = true;
	cli_pager(view->cli, &sched_timehist);
	read_input(view, &input);
	count_faults(view, &input.session);
	finish(view->context);
	int refused = loss_summary_refused(view->cli, input.path, view->reader->refused);
	code = input_end(&input, false, view->wants_symbols);
	code = code ? code : refused;
	input_close(&input);
	return code;
}

struct live_view {
	struct sched_live live;
	struct sched_view *view;
	void (*finish)(void *context);
};

static void live_started(void *context)
{
	struct live_view *live = context;
	live->view->session = live->live.session;
	live->view->symbols = live->live.symbols;
	if (live->view->started)
		live->view->started(live->view->context);
}

static void live_finished(void *context)
{
	struct live_view *live = context;
	count_faults(live->view, live->live.session);
	live->finish(live->view->context);
}

static int read_live(struct sched_view *view, const char *const *command, void (*finish)(void *context))
{
	struct symbols_options symbols = view->options->input.symbols;
	symbols.no_demangle = !view->options->input.demangle;
	symbols.verbose = view->options->input.verbose;
	struct live_view live = { .view = view, .finish = finish };
	live.live = (struct sched_live){ .cli = view->cli, .reader = view->reader, .symbol_options = &symbols, .chains = view->wants_symbols,
		.context = &live, .started = live_started, .finished = live_finished };
	return sched_live_run(&live.live, command);
}

int sched_read(struct sched_view *view, int argc, const char **argv, void (*finish)(void *context))
{
	if (sched_is_live(view->options, argc))
		return read_live(view, argc ? argv : NULL, finish);
	return sched_read_file(view, finish);
}

void sched_rows_init(struct sched_rows *rows, const struct format *format, struct writer *out, const char *schema, const char *name,
	const struct table_column *columns, size_t count)
{
	*rows = (struct sched_rows){ .format = format, .out = out, .table = { .name = name, .columns = columns, .column_count = count } };
	rows->results = (struct results){ .schema = schema, .version = RESULTS_VERSION, .tables = &rows->table, .table_count = 1 };
}

static void begin_rows(struct sched_rows *rows)
{
	if (rows->begun)
		return;
	if (rows->format == &format_tui) {
		writer_open(&rows->stored, -1, 0);
		rows->shown = rows->out;
		rows->out = &rows->stored;
	}
	rows->format->rows->begin(&rows->results, rows->out);
	rows->begun = true;
}

void sched_rows_add(struct sched_rows *rows, const struct cell *cells)
{
	struct writer line;
	begin_rows(rows);
	rows->cut |= rows->format == &format_tui && rows->stored.len > BROWSE_ROWS_BYTES;
	if (rows->cut)
		return;
	writer_open(&line, -1, 0);
	rows->format->rows->row(rows->table.columns, cells, rows->table.column_count, &line);
	size_t skip = rows->continued ? 0 : rows->format->rows->separator;
	writer_add(rows->out, line.buffer + skip, line.len - skip);
	rows->continued = true;
	writer_fini(&line);
}

void sched_rows_preview(struct sched_rows *rows)
{
	if (rows->begun)
		browse_rows_print(&rows->stored, true, rows->shown);
}

void sched_rows_end(struct sched_rows *rows)
{
	begin_rows(rows);
	rows->format->rows->end(rows->out);
	if (rows->format != &format_tui)
		return;
	browse_rows_print(&rows->stored, rows->cut, rows->shown);
	writer_fini(&rows->stored);
}
