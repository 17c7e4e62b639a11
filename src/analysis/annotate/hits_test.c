#include "analysis/annotate/hits.h"

#include "analysis/annotate/test_hits.h"

/* "f:2#0=1/10 …": symbol, offset from its start, event, samples and period, then the totals of event 0 and 1 in brackets. */
static const char *hits_text(struct tape *tape, const struct hit_options *options, struct hits *hits)
{
	static char text[512];
	struct hits preview;
	struct session session;
	struct session_options session_options = { .threads = 2 };
	EXPECT(session_open(&session, &tape->source, &session_options, NULL) == 0);
	struct symbols *symbols = symbols_new(&session.model.modules, &(struct symbols_options){ .no_kernel_lookup = true });
	struct hit_sink *hit_sink = hit_sink_new(options, session_workers(&session));
	struct sink sink = hit_sink_of(hit_sink, &session);
	EXPECT(session_run(&session, &sink, NULL) == 0);
	hit_sink_preview(hit_sink, &session, symbols, &preview);
	hit_sink_finish(hit_sink, &session, symbols, hits);
	EXPECT(preview.hits.count == hits->hits.count && preview.symbols.count == hits->symbols.count);
	for (size_t i = 0; i < hits->hits.count; i++)
		EXPECT_INT(preview.hits.items[i].count.period, hits->hits.items[i].count.period);
	hits_fini(&preview);
	text[0] = '\0';
	for (size_t i = 0; i < hits->symbols.count; i++) {
		const struct hit_symbol *symbol = &hits->symbols.items[i];
		const struct module *module = modules_get(&session.model.modules, symbol->module);
		for (size_t k = 0; k < symbol->hit_count; k++) {
			const struct hit *hit = &hits->hits.items[symbol->first + k];
			snprintf(text + strlen(text), sizeof text - strlen(text), "%s:%d#%u=%d/%d ",
				symbols_name(symbols, module, symbol->symbol),
				(int)(hit->offset - symbols_get(symbols, module, symbol->symbol)->start), hit->event,
				(int)hit->count.samples, (int)hit->count.period);
		}
		const struct hit_count *totals = hits_totals(hits, symbol);
		snprintf(text + strlen(text), sizeof text - strlen(text), "[%d/%d %d/%d] ", (int)totals[0].samples, (int)totals[0].period,
			(int)totals[1].samples, (int)totals[1].period);
		EXPECT(hits_find(hits, symbol->module, symbol->symbol) == symbol);
	}
	hit_sink_free(hit_sink);
	symbols_free(symbols);
	session_close(&session);
	return text;
}

TEST("samples are counted by symbol, offset and event, and samples of no symbol are counted, too")
{
	struct folder folder;
	struct hits hits;
	folder_open(&folder);
	struct tape *tape = hits_tape_new(program_write(&folder, PROGRAM_F_SIZE));
	put_hit(tape, 1, PROGRAM_OFFSET + 0x18, 0, 7);
	put_hit(tape, 0, PROGRAM_OFFSET + 2, 0, 10);
	put_hit(tape, 1, PROGRAM_OFFSET + 2, 0, 5);
	put_hit(tape, 0, PROGRAM_OFFSET + 2, 1, 20);
	put_hit(tape, 0, PROGRAM_OFFSET + PROGRAM_F_SIZE - 1, 1, 1);
	put_hit(tape, 0, PROGRAM_OFFSET + PROGRAM_F_SIZE, 1, 100);
	put_hit(tape, 0, 0x90000000, 1, 1000);
	EXPECT_STR(hits_text(tape, &(struct hit_options){ 0 }, &hits), "f:2#0=2/30 f:2#1=1/5 f:18#0=1/1 [3/31 1/5] g:0#1=1/7 [0/0 1/7] ");
	EXPECT_INT(hits.unresolved, 1);
	EXPECT_INT(hits.events[0].samples, 5);
	EXPECT_INT(hits.events[0].period, 1131);
	EXPECT_INT(hits.events[1].period, 12);
	EXPECT(!hits_find(&hits, 0, 99));
	hits_fini(&hits);
	folder_close(&folder);
}

TEST("a filter of CPUs and of modules drops samples")
{
	struct folder folder;
	struct hits hits;
	struct hit_options options = { 0 };
	folder_open(&folder);
	const char *path = program_write(&folder, PROGRAM_F_SIZE);
	for (unsigned round = 0; round < 2; round++) {
		struct tape *tape = hits_tape_new(path);
		put_hit(tape, 0, PROGRAM_OFFSET, 0, 10);
		put_hit(tape, 0, PROGRAM_OFFSET, 1, 20);
		put_hit(tape, 0, 0x90000000, 0, 40);
		if (round == 0) {
			cpu_filter_init(&options.filter.cpus, 2);
			cpu_filter_add(&options.filter.cpus, 1);
			EXPECT_STR(hits_text(tape, &options, &hits), "f:0#0=1/20 [1/20 0/0] ");
		} else {
			EXPECT_INT(name_list_open(&options.filter.dsos, "program", NULL), 0);
			EXPECT_STR(hits_text(tape, &options, &hits), "f:0#0=2/30 [2/30 0/0] ");
			EXPECT_INT(hits.events[0].period, 30);
		}
		hits_fini(&hits);
		sample_filter_fini(&options.filter);
		options = (struct hit_options){ 0 };
	}
	folder_close(&folder);
}
