#include "cmd/top/listed_code.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/annotate/live_hits.h"
#include "base/memory.h"
#include "cmd/code_page.h"
#include "cmd/top/browse_code.h"
#include "data/evsel_name.h"
#include "render/annotate/annotate_text.h"

struct listed_code {
	struct top *top;
	char *symbol;
	struct live_hits *hits;
	struct annotator *annotator; /* NULL: not opened in this generation */
};

struct listed_code *listed_code_new(struct top *top, const char *symbol)
{
	struct listed_code *listed = memory_zero(1, sizeof *listed);
	listed->top = top;
	listed->symbol = memory_string(symbol);
	listed->hits = live_hits_new(&(struct hit_options){ .filter = top->filter });
	return listed;
}

void listed_code_free(struct listed_code *listed)
{
	if (!listed)
		return;
	annotator_free(listed->annotator);
	live_hits_free(listed->hits);
	free(listed->symbol);
	free(listed);
}

void listed_code_add(struct listed_code *listed, const struct resolved *r)
{
	live_hits_add(listed->hits, r);
}

/* Where a text's line begins; NULL: it has fewer. */
static const char *line_start(const char *text, size_t line)
{
	for (; line && text; line--)
		text = (text = strchr(text, '\n')) ? text + 1 : NULL;
	return text && *text ? text : NULL;
}

/* The lines around the one with the largest percentage. */
static void print_hottest(const char *text, size_t lines, struct writer *out)
{
	size_t hottest = 0, count = 0;
	double most = 0;
	for (const char *at = text; at && *at; at = (at = strchr(at, '\n')) ? at + 1 : NULL, count++)
		if (strtod(at, NULL) > most) {
			most = strtod(at, NULL);
			hottest = count;
		}
	size_t first = hottest > lines / 2 ? hottest - lines / 2 : 0;
	first = first + lines > count ? count > lines ? count - lines : 0 : first;
	const char *start = line_start(text, first), *end = start ? line_start(start, lines) : NULL;
	if (start)
		writer_add(out, start, end ? (size_t)(end - start) : strlen(start));
	if (count > lines)
		writer_printf(out, "%zu lines are not shown (key e: number of lines)\n", count - lines);
}

static void print_code(struct listed_code *listed, uint32_t module, uint32_t symbol, size_t lines, struct writer *out)
{
	const struct top *top = listed->top;
	const struct session *session = &top->live.session;
	const struct evlist *evlist = session_evlist(session);
	const struct annotate_style style = { .symbols = top->symbols };
	const uint32_t event = top->event < evlist->events.count ? top->event : 0;
	char name[EVSEL_NAME_MAX];
	struct annotate_view view = { .events = &event, .event_count = 1 };
	struct annotation annotation;
	struct hits hits;
	struct writer text;
	live_hits_of(listed->hits, session, top->symbols, module, symbol, &hits);
	annotation_make(&annotation, listed->annotator, &hits, module, symbol);
	view.annotation = &annotation;
	view.event_name = evsel_name(&evlist->events.items[event], name, sizeof name);
	view.whole = hits.events;
	if (annotation.missing.kind != ERROR_NONE) {
		writer_name(out, annotation.name, strlen(annotation.name));
		writer_printf(out, ": %s\n", annotation.missing.text);
	} else {
		writer_open(&text, -1, 0);
		annotate_text_print(&style, &view, &text);
		writer_putc(&text, '\0');
		print_hottest(text.buffer, lines, out);
		writer_fini(&text);
	}
	annotation_fini(&annotation);
	hits_fini(&hits);
}

void listed_code_print(struct listed_code *listed, size_t lines, struct writer *out)
{
	const struct top *top = listed->top;
	const struct modules *modules = &top->live.session.model.modules;
	const struct cell_place place = { .symbol = listed->symbol };
	const struct hits none = { 0 };
	uint32_t module, symbol;
	if (!listed->annotator)
		listed->annotator = top_annotator_new(top);
	if (code_page_find(listed->annotator, modules, top->symbols, &top->profile, &none, &place, &module, &symbol))
		print_code(listed, module, symbol, lines, out);
	else
		writer_printf(out, "no sample is in a function %s yet\n", listed->symbol);
}

void listed_code_decay(struct listed_code *listed, bool zero)
{
	if (zero)
		live_hits_clear(listed->hits);
	else
		live_hits_decay(listed->hits);
}

void listed_code_renew(struct listed_code *listed)
{
	live_hits_settle(listed->hits);
	annotator_free(listed->annotator);
	listed->annotator = NULL;
}
