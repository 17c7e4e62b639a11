#include "cmd/diff/code.h"

#include <stdlib.h>

#include "base/memory.h"
#include "cmd/browse_messages.h"
#include "cmd/code_page.h"

struct reading {
	struct input input;
	struct hit_sink *sink;
	struct hits hits;
	struct annotator *annotator;
	bool opened;
};

struct diff_code {
	struct cli cli;            /* without the screen, which is open */
	const struct diff_recording *recordings;
	struct reading *readings;
	uint32_t count;
	bool read;
};

struct diff_code *diff_code_new(struct cli *cli, const struct diff_recording *recordings, uint32_t count)
{
	struct diff_code *code = memory_zero(1, sizeof *code);
	code->cli = *cli;
	code->cli.screen = NULL;
	code->recordings = recordings;
	code->count = count < CODE_SIDES_MAX ? count : CODE_SIDES_MAX;
	code->readings = memory_zero(code->count, sizeof *code->readings);
	return code;
}

void diff_code_free(struct diff_code *code)
{
	if (!code)
		return;
	for (uint32_t i = 0; i < code->count; i++) {
		struct reading *reading = &code->readings[i];
		annotator_free(reading->annotator);
		hits_fini(&reading->hits);
		hit_sink_free(reading->sink);
		if (reading->opened)
			input_close(&reading->input);
	}
	free(code->readings);
	free(code);
}

static void add_hit(void *context, const struct resolved *r, size_t slice)
{
	hit_sink_add(context, r);
}

static int read_recording(struct diff_code *code, uint32_t index, struct error *err)
{
	struct reading *reading = &code->readings[index];
	struct input *input = &reading->input;
	const struct diff_recording *recording = &code->recordings[index];
	if (input_open(input, &code->cli, recording->input, &(struct input_use){ .keep_exited = true, .no_progress = true }, err) < 0) {
		input_close(input);
		return -1;
	}
	reading->opened = true;
	input_name_events(input);
	input_symbols(input);
	reading->sink = hit_sink_new(&(struct hit_options){ .filter = *recording->filter }, session_workers(&input->session));
	const struct sink sink = { .context = reading->sink, .record = add_hit, .serial = hit_sink_needs_order(&input->session) };
	input_read(input, &sink);
	hit_sink_finish(reading->sink, &input->session, input->symbols, &reading->hits);
	reading->annotator = annotator_new(&(struct annotator_options){ .symbols = input->symbols, .modules = &input->session.model.modules,
		.header = &input->session.source->header, .kcore = input->kernel_files.kcore, .source = true, .places = true, .inlined = true });
	return 0;
}

/* In the browser's thread: the signals of the terminal are not for the threads of sessions. */
static int read_all(struct diff_code *code, struct error *err)
{
	sigset_t signals;
	int result = 0;
	browse_signals_block(&signals);
	for (uint32_t i = 0; i < code->count && !code->read && result == 0; i++)
		if (!code->readings[i].annotator)
			result = read_recording(code, i, err);
	code->read |= result == 0;
	browse_signals_restore(&signals);
	return result;
}

/* A recording without the function has no lines. */
static void make_side(struct reading *reading, const struct cell_place *place, struct annotation *annotation, struct error *err)
{
	uint32_t module, symbol;
	struct session *session = &reading->input.session;
	*annotation = (struct annotation){ 0 };
	if (!code_page_find(reading->annotator, &session->model.modules, reading->input.symbols, NULL, &reading->hits, place, &module, &symbol))
		return;
	annotation_make(annotation, reading->annotator, &reading->hits, module, symbol);
	if (annotation->missing.kind != ERROR_NONE)
		*err = annotation->missing;
}

static struct snapshot *join(struct diff_code *code, const struct cell_place *place, const char *event, struct error *err)
{
	struct annotation annotations[CODE_SIDES_MAX];
	struct code_side sides[CODE_SIDES_MAX];
	struct snapshot *lines = NULL;
	size_t known = 0;
	for (uint32_t i = 0; i < code->count; i++) {
		struct reading *reading = &code->readings[i];
		make_side(reading, place, &annotations[i], err);
		sides[i] = (struct code_side){ &annotations[i], &reading->hits, code_page_event(session_evlist(&reading->input.session), event),
			reading->input.path };
		known += annotations[i].lines.count > 0;
	}
	if (known)
		lines = code_page_join(sides, code->count, event);
	else if (err->kind == ERROR_NONE)
		error_set(err, ERROR_USAGE, "the function %s is not known by its address", place->symbol);
	for (uint32_t i = 0; i < code->count; i++)
		annotation_fini(&annotations[i]);
	return lines;
}

struct snapshot *diff_code_show(struct diff_code *code, const struct snapshot *shot, uint32_t row, struct error *err)
{
	const struct cell_place *place = code_page_place(shot, row, err);
	return !place || read_all(code, err) < 0 ? NULL : join(code, place, shot->event, err);
}
