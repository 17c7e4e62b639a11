#include "cmd/report/browse_code.h"

#include <stdlib.h>

#include "analysis/annotate/annotation.h"
#include "base/memory.h"
#include "cmd/code_page.h"

struct code_view {
	struct report *report;
	struct hit_sink *sink;       /* NULL after code_view_finish */
	struct hits hits;
	struct annotator *annotator; /* NULL until the first function is shown */
};

struct code_view *code_view_new(struct report *report)
{
	struct code_view *view = memory_zero(1, sizeof *view);
	const struct hit_options options = { .filter = report->filter };
	view->report = report;
	view->sink = hit_sink_new(&options, session_workers(&report->input.session));
	return view;
}

void code_view_add(struct code_view *view, const struct resolved *r)
{
	hit_sink_add(view->sink, r);
}

void code_view_finish(struct code_view *view)
{
	hit_sink_finish(view->sink, &view->report->input.session, view->report->input.symbols, &view->hits);
	hit_sink_free(view->sink);
	view->sink = NULL;
}

void code_view_free(struct code_view *view)
{
	if (!view)
		return;
	annotator_free(view->annotator);
	hit_sink_free(view->sink);
	hits_fini(&view->hits);
	free(view);
}

static struct annotator *open_annotator(const struct report *report)
{
	const struct input *input = &report->input;
	return annotator_new(&(struct annotator_options){ .symbols = input->symbols, .modules = &input->session.model.modules,
		.header = &input->session.source->header, .kcore = input->kernel_files.kcore, .source = report->options->source, .places = true,
		.inlined = true });
}

struct snapshot *code_view_show(struct code_view *view, const struct snapshot *shot, uint32_t row, struct error *err)
{
	const struct report *report = view->report;
	const struct cell_place *place = code_page_place(shot, row, err);
	uint32_t module, symbol;
	if (!place)
		return NULL;
	if (!view->annotator)
		view->annotator = open_annotator(report);
	if (!code_page_find(view->annotator, &report->input.session.model.modules, report->input.symbols, &report->profile, &view->hits, place,
			&module, &symbol)) {
		error_set(err, ERROR_USAGE, "the function %s is not known by its address", place->symbol);
		return NULL;
	}
	return code_page_make(view->annotator, &view->hits, module, symbol, session_evlist(&report->input.session), shot->event, err);
}
