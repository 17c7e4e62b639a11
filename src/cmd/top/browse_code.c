#include "cmd/top/browse_code.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "analysis/annotate/live_hits.h"
#include "base/memory.h"
#include "cmd/code_page.h"

/* The function that the screen asks for. */
struct question {
	struct cell_place place;   /* owns its texts */
	char *event;               /* NULL: no question */
};

struct top_code {
	struct top *top;
	struct live_hits *hits;
	struct annotator *annotator; /* NULL: not opened in this generation */
	int wake;                  /* eventfd: a question waits */
	pthread_mutex_t lock;
	pthread_cond_t answered;
	struct question question;  /* under the lock until it is answered; later the measuring thread's */
	bool waits, ended;         /* under the lock */
	struct snapshot *answer;   /* under the lock */
	struct error error;        /* under the lock */
};

int top_code_new(struct top_code **out, struct top *top, struct error *err)
{
	struct top_code *code = *out = memory_zero(1, sizeof *code);
	code->top = top;
	code->hits = live_hits_new(&(struct hit_options){ .filter = top->filter });
	pthread_mutex_init(&code->lock, NULL);
	pthread_cond_init(&code->answered, NULL);
	code->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (code->wake < 0)
		return error_system(err, "eventfd");
	return live_session_watch(&top->live, code->wake, TOP_CODE_BIT, err);
}

static void question_fini(struct question *question)
{
	free((char *)question->place.module);
	free((char *)question->place.symbol);
	free(question->event);
	*question = (struct question){ 0 };
}

void top_code_free(struct top_code *code)
{
	if (!code)
		return;
	question_fini(&code->question);
	snapshot_free(code->answer);
	annotator_free(code->annotator);
	live_hits_free(code->hits);
	if (code->wake >= 0)
		close(code->wake);
	pthread_cond_destroy(&code->answered);
	pthread_mutex_destroy(&code->lock);
	free(code);
}

struct annotator *top_annotator_new(const struct top *top)
{
	const struct top_options *o = top->options;
	return annotator_new(&(struct annotator_options){ .symbols = top->symbols, .modules = &top->live.session.model.modules,
		.kcore = access("/proc/kcore", R_OK) == 0 ? "/proc/kcore" : NULL, .source = o->source, .places = true, .inlined = true,
		.syntax = o->disassembler_style && strcmp(o->disassembler_style, "intel") == 0 ? CODE_INTEL : CODE_ATT, .prefix = o->prefix,
		.prefix_strip = o->prefix && o->prefix_strip ? (unsigned)strtoul(o->prefix_strip, NULL, 0) : 0 });
}

static struct snapshot *make(struct top_code *code, struct error *err)
{
	struct top *top = code->top;
	const struct session *session = &top->live.session;
	const struct cell_place *place = &code->question.place;
	const struct hits none = { 0 };
	struct hits hits;
	uint32_t module, symbol;
	if (!code->annotator)
		code->annotator = top_annotator_new(top);
	if (!code_page_find(code->annotator, &session->model.modules, top->symbols, &top->profile, &none, place, &module, &symbol)) {
		error_set(err, ERROR_USAGE, "the function %s is not known by its address", place->symbol);
		return NULL;
	}
	live_hits_of(code->hits, session, top->symbols, module, symbol, &hits);
	struct snapshot *lines = code_page_make(code->annotator, &hits, module, symbol, session_evlist(session), code->question.event, err);
	hits_fini(&hits);
	return lines;
}

struct snapshot *top_code_show(struct top_code *code, const struct snapshot *shot, uint32_t row, struct error *err)
{
	const struct cell_place *place = code_page_place(shot, row, err);
	if (!place)
		return NULL;
	pthread_mutex_lock(&code->lock);
	question_fini(&code->question);
	code->question.place = *place;
	code->question.place.line = NULL;
	code->question.place.module = place->module ? memory_string(place->module) : NULL;
	code->question.place.symbol = memory_string(place->symbol);
	code->question.event = memory_string(shot->event);
	code->waits = !code->ended;
	if (code->ended) /* the other thread does not use the session any more */
		code->answer = make(code, &code->error);
	else
		eventfd_write(code->wake, 1);
	while (code->waits)
		pthread_cond_wait(&code->answered, &code->lock);
	struct snapshot *lines = code->answer;
	*err = code->error;
	code->answer = NULL;
	code->error = (struct error){ 0 };
	pthread_mutex_unlock(&code->lock);
	return lines;
}

void top_code_add(struct top_code *code, const struct resolved *r)
{
	live_hits_add(code->hits, r);
}

void top_code_serve(struct top_code *code)
{
	eventfd_t count;
	if (eventfd_read(code->wake, &count) < 0)
		return;
	pthread_mutex_lock(&code->lock);
	if (code->waits)
		code->answer = make(code, &code->error);
	code->waits = false;
	pthread_cond_signal(&code->answered);
	pthread_mutex_unlock(&code->lock);
}

struct snapshot *top_code_again(struct top_code *code)
{
	struct error ignored = { 0 };
	struct snapshot *lines = NULL;
	pthread_mutex_lock(&code->lock);
	if (code->question.event && !code->waits)
		lines = make(code, &ignored);
	pthread_mutex_unlock(&code->lock);
	return lines;
}

void top_code_decay(struct top_code *code)
{
	if (code->top->options->zero)
		live_hits_clear(code->hits);
	else
		live_hits_decay(code->hits);
}

void top_code_zero(struct top_code *code)
{
	live_hits_clear(code->hits);
}

void top_code_renew(struct top_code *code)
{
	live_hits_settle(code->hits);
	annotator_free(code->annotator);
	code->annotator = NULL;
}

void top_code_end(struct top_code *code)
{
	pthread_mutex_lock(&code->lock);
	code->ended = true;
	if (code->waits)
		code->answer = make(code, &code->error);
	code->waits = false;
	pthread_cond_signal(&code->answered);
	pthread_mutex_unlock(&code->lock);
}
