/* The tables of `top` in the terminal browser: a thread measures and publishes them, the main thread is the screen's. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "analysis/profile/results.h"
#include "cmd/browse_messages.h"
#include "cmd/browse_save.h"
#include "cmd/environment.h"
#include "cmd/top/browse_code.h"
#include "cmd/top/browse_flame.h"
#include "cmd/top/top.h"
#include "render/tui/terminal.h"

enum { DETAILS = 50000 }; /* rows of callers of one table */

struct top_browser {
	struct top *top;
	struct feed feed;
	int stop;                   /* eventfd: the user leaves */
	_Atomic bool zero;          /* the user asks to begin again */
	struct error error;         /* of the measurement */
	int result;
	struct browse_messages messages;
	struct heat heat;           /* of all samples; the measuring thread's */
	struct top_code *code;
	struct top_flame *flame;
};

int top_browses(const struct top *top, struct error *err)
{
	const struct top_options *o = top->options;
	const char *value = config_get(top->cli->config, "tui.top");
	bool off = value && config_text_is_true(value) == 0;
	if (o->stdio || o->format)
		return 0;
	if (o->tui)
		return terminal_usable(err) ? 1 : -1;
	return top->cli->tty_out && isatty(STDIN_FILENO) && !off && !environment_is_foreign() && terminal_usable(&(struct error){ 0 });
}

void top_browser_sample(struct top_browser *browser, const struct resolved *r)
{
	uint64_t time_ns = r->sample->time;
	if (time_ns && time_ns != UINT64_MAX)
		heat_add(&browser->heat, time_ns);
	top_code_add(browser->code, r);
	top_flame_add(browser->flame, r);
}

void top_browser_publish(struct top_browser *browser, bool complete)
{
	struct top *top = browser->top;
	struct feed_shot *shot = memory_zero(1, sizeof *shot);
	struct profile_results results;
	profile_results_init(&results, &top->profile, live_session_lost(&top->live));
	shot->tables = memory_zero(results.results.table_count + 1, sizeof *shot->tables);
	for (size_t i = 0; i < results.results.table_count; i++)
		shot->tables[shot->table_count++] = snapshot_new(&results.results.tables[i], DETAILS);
	profile_results_fini(&results);
	shot->heat = browser->heat;
	if (atomic_load(&browser->feed.shows_code))
		shot->code = top_code_again(browser->code);
	top_code_decay(browser->code);
	shot->flame = top_flame_show(browser->flame);
	shot->complete = complete;
	if (complete)
		shot->failure = memory_string("the measurement has ended: this is its last table");
	feed_publish(&browser->feed, shot);
}

void top_browser_serve(struct top_browser *browser)
{
	if (atomic_exchange(&browser->zero, false)) {
		profile_zero(&browser->top->profile);
		top_code_zero(browser->code);
		top_flame_zero(browser->flame);
	}
	top_code_serve(browser->code);
	top_flame_serve(browser->flame);
}

void top_browser_renew(struct top_browser *browser)
{
	top_code_renew(browser->code);
	top_flame_settle(browser->flame);
}

static void *measure(void *context)
{
	struct top_browser *browser = context;
	browser->result = top_measure(browser->top, &browser->error);
	top_code_end(browser->code);
	/* a target that has ended leaves its last table to be looked at; a signal, or a failure, ends the screen too */
	if (browser->result < 0 || live_session_signal(&browser->top->live))
		feed_end(&browser->feed);
	return NULL;
}

static void zero(void *context)
{
	struct top_browser *browser = context;
	atomic_store(&browser->zero, true);
}

static void add_messages(void *context, struct str *out)
{
	const struct top_browser *browser = context;
	browse_messages_text(&browser->messages, out);
}

static struct snapshot *show_code(void *context, const struct snapshot *shot, uint32_t row, struct error *err)
{
	struct top_browser *browser = context;
	return top_code_show(browser->code, shot, row, err);
}

static void show_flame(void *context, const char *event)
{
	struct top_browser *browser = context;
	top_flame_ask(browser->flame, event);
}

static int show(struct top_browser *browser, struct error *err)
{
	struct browser screen;
	const struct browse_source source = {
		.context = browser, .tip = "the tables change while the system runs: f stops and continues that", .feed = &browser->feed, .zero = zero,
		.messages = add_messages, .save = browse_save, .annotate = show_code, .flame = show_flame,
	};
	browser_open(&screen, &source);
	int result = terminal_run(&screen, err);
	browser_close(&screen);
	return result;
}

static int open_browser(struct top_browser *browser, struct error *err)
{
	if (feed_open(&browser->feed, err) < 0)
		return -1;
	browser->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (browser->stop < 0)
		return error_system(err, "eventfd");
	if (live_session_watch(&browser->top->live, browser->stop, TOP_STOP_BIT, err) < 0)
		return -1;
	return top_code_new(&browser->code, browser->top, err);
}

int top_browse(struct top *top, struct error *err)
{
	struct top_browser browser = { .top = top, .feed.wake = -1, .stop = -1, .flame = top_flame_new(top) };
	pthread_t thread;
	sigset_t signals;
	bool started = false;
	int result = open_browser(&browser, err);
	top->browser = &browser;
	browse_messages_begin(&browser.messages);
	browse_signals_block(&signals);
	if (result == 0) {
		errno = pthread_create(&thread, NULL, measure, &browser);
		started = errno == 0;
		result = started ? 0 : error_system(err, "cannot start a thread");
	}
	browse_signals_restore(&signals);
	if (started) {
		result = show(&browser, err);
		if (eventfd_write(browser.stop, 1) == 0)
			pthread_join(thread, NULL);
		if (browser.result < 0 && result == 0) {
			*err = browser.error;
			result = -1;
		}
	}
	top_code_free(browser.code);
	top_flame_free(browser.flame);
	browse_messages_end(&browser.messages, -1);
	feed_close(&browser.feed);
	if (browser.stop >= 0)
		close(browser.stop);
	top->browser = NULL;
	return result;
}
