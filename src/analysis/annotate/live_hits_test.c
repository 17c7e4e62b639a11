#include "analysis/annotate/live_hits.h"

#include "analysis/annotate/test_hits.h"

struct living {
	struct folder folder;
	struct session session;
	struct symbols *symbols;
	struct live_hits *live;
};

static void add_sample(void *context, const struct resolved *r, size_t slice)
{
	live_hits_add(context, r);
}

/* 8 samples at f + 2, 1 sample at f + 4, 3 of the second event at f + 2, 2 samples at g. */
static struct living *open_living(void)
{
	struct living *l = memory_zero(1, sizeof *l);
	folder_open(&l->folder);
	struct tape *tape = hits_tape_new(program_write(&l->folder, PROGRAM_F_SIZE));
	for (int i = 0; i < 8; i++)
		put_hit(tape, 0, PROGRAM_OFFSET + 2, 0, 10);
	put_hit(tape, 0, PROGRAM_OFFSET + 4, 0, 10);
	for (int i = 0; i < 3; i++)
		put_hit(tape, 1, PROGRAM_OFFSET + 2, 0, 1);
	for (int i = 0; i < 2; i++)
		put_hit(tape, 0, PROGRAM_OFFSET + 0x18, 0, 10);
	EXPECT(session_open(&l->session, &tape->source, &(struct session_options){ .threads = 1 }, NULL) == 0);
	l->symbols = symbols_new(&l->session.model.modules, &(struct symbols_options){ .no_kernel_lookup = true });
	l->live = live_hits_new(&(struct hit_options){ 0 });
	const struct sink sink = { .context = l->live, .record = add_sample, .serial = true };
	EXPECT(session_run(&l->session, &sink, NULL) == 0);
	return l;
}

static void close_living(struct living *l)
{
	live_hits_free(l->live);
	symbols_free(l->symbols);
	session_close(&l->session);
	folder_close(&l->folder);
	free(l);
}

/* "2#0=8/80 …[samples of f / of all of event 0]" of the function f. */
static const char *hits_of_f(struct living *l)
{
	static char text[256];
	struct hits hits;
	uint32_t module = 0;
	while (strcmp(modules_get(&l->session.model.modules, module)->short_name, "program") != 0)
		module++;
	uint32_t f = symbols_lookup(l->symbols, modules_get(&l->session.model.modules, module), PROGRAM_OFFSET);
	live_hits_of(l->live, &l->session, l->symbols, module, f, &hits);
	const struct hit_symbol *symbol = hits_find(&hits, module, f);
	text[0] = '\0';
	for (size_t i = 0; symbol && i < symbol->hit_count; i++) {
		const struct hit *hit = &hits.hits.items[symbol->first + i];
		snprintf(text + strlen(text), sizeof text - strlen(text), "%d#%u=%d/%d ", (int)hit->offset - PROGRAM_OFFSET, hit->event,
			(int)hit->count.samples, (int)hit->count.period);
	}
	snprintf(text + strlen(text), sizeof text - strlen(text), "[%d/%d]", (int)hits_totals(&hits, symbol)[0].samples,
		(int)hits.events[0].samples);
	hits_fini(&hits);
	return text;
}

TEST("the counts of a symbol are those of its addresses, also when they are taken twice")
{
	struct living *l = open_living();
	EXPECT_STR(hits_of_f(l), "2#0=8/80 2#1=3/3 4#0=1/10 [9/11]");
	live_hits_settle(l->live);
	EXPECT_STR(hits_of_f(l), "2#0=8/80 2#1=3/3 4#0=1/10 [9/11]");
	close_living(l);
}

TEST("decay takes an eighth of each count, forgets what is 0, and clearing forgets everything")
{
	struct living *l = open_living();
	live_hits_decay(l->live);
	EXPECT_STR(hits_of_f(l), "2#0=7/70 2#1=2/2 [7/8]");
	live_hits_decay(l->live);
	EXPECT_STR(hits_of_f(l), "2#0=6/61 2#1=1/1 [6/6]");
	live_hits_clear(l->live);
	EXPECT_STR(hits_of_f(l), "[0/0]");
	close_living(l);
}
