#include "cmd/browse_screen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "cmd/browse_save.h"
#include "cmd/browse_table.h"
#include "render/tui/terminal.h"

enum { PREVIEW_SHARE = 8 }; /* previews take at most one of so many parts of the time */
#define PREVIEW_LEAST_NS UINT64_C(50000000) /* less than from one pause of a reading to its next: only several readings meet it */

static void *run(void *context)
{
	struct browse_screen *screen = context;
	struct browser browser;
	browse_signals_take();
	browser_open(&browser, &screen->source);
	screen->result = terminal_run(&browser, &screen->error);
	screen->left_at = browse_messages_length(&screen->messages);
	if (browser.quit && !atomic_load(&screen->feed.ended))
		atomic_store(&screen->left, true);
	browser_close(&browser);
	pthread_mutex_lock(&screen->lock);
	screen->ended = true;
	pthread_cond_signal(&screen->changed);
	pthread_mutex_unlock(&screen->lock);
	return NULL;
}

void browse_screen_prepare(struct browse_screen *screen)
{
	if (!screen->prepared)
		browse_signals_block(&screen->signals);
	screen->prepared = true;
}

int browse_screen_open(struct browse_screen *screen, struct error *err)
{
	struct browse_source *source = &screen->source;
	browse_screen_prepare(screen);
	if (feed_open(&screen->feed, err) < 0)
		return -1;
	if (!source->context)
		browse_table_source(screen, NULL);
	source->feed = &screen->feed;
	source->without_flame = screen->parts && !screen->flames;
	source->save = browse_save;
	browse_messages_begin(&screen->messages);
	pthread_mutex_init(&screen->lock, NULL);
	pthread_cond_init(&screen->changed, NULL);
	screen->current.end_ns = screen->wanted.end_ns = UINT64_MAX;
	screen->opened = true;
	errno = pthread_create(&screen->thread, NULL, run, screen);
	screen->runs = errno == 0;
	return screen->runs ? 0 : error_system(err, "cannot start a thread");
}

void browse_screen_previews(struct browse_screen *screen, void (*preview)(void *context), void *context)
{
	if (!screen)
		return;
	screen->preview = preview;
	screen->preview_context = context;
}

bool browse_screen_left(const struct browse_screen *screen)
{
	return screen && atomic_load(&screen->left);
}

void browse_screen_pause(struct browse_screen *screen)
{
	uint64_t now = now_ns(), least = screen->cost_ns * PREVIEW_SHARE;
	if (!screen->preview || !screen->runs || now - screen->previewed_ns < (least > PREVIEW_LEAST_NS ? least : PREVIEW_LEAST_NS) ||
	    browse_screen_left(screen))
		return;
	screen->previews = true;
	screen->preview(screen->preview_context);
	screen->previews = false;
	screen->previewed_ns = now_ns();
	screen->cost_ns = screen->previewed_ns - now;
}

static bool has_rows(const struct feed_shot *shot)
{
	for (size_t i = 0; i < shot->table_count; i++)
		if (shot->tables[i]->rows.items[SNAPSHOT_TOP].child_count)
			return true;
	return false;
}

void browse_screen_publish(struct browse_screen *screen, struct feed_shot *shot)
{
	if (screen->previews && !has_rows(shot)) {
		feed_shot_free(shot);
		return;
	}
	shot->complete = !screen->previews;
	if (screen->again)
		shot->request = screen->current.number;
	if (shot->complete && screen->flame) {
		shot->flame = screen->flame;
		screen->flame = NULL;
	}
	for (unsigned i = 0; i < screen->heat_count; i++)
		heat_merge(&shot->heat, &screen->heats[i]);
	screen->complete |= shot->complete && !browse_screen_left(screen);
	feed_publish(&screen->feed, shot);
}

static void end_thread(struct browse_screen *screen)
{
	if (screen->runs)
		pthread_join(screen->thread, NULL);
	screen->runs = false;
}

void browse_screen_ask(struct browse_screen *screen, uint64_t number, uint64_t start_ns, uint64_t end_ns, const char *flame_event)
{
	pthread_mutex_lock(&screen->lock);
	screen->wanted = (struct browse_request){ number, start_ns, end_ns, .flame = flame_event };
	if (flame_event)
		snprintf(screen->wanted.event, sizeof screen->wanted.event, "%s", flame_event);
	atomic_store(&screen->newest, number);
	atomic_store(&screen->shown, NULL);
	pthread_cond_signal(&screen->changed);
	pthread_mutex_unlock(&screen->lock);
}

bool browse_screen_outdated(const struct browse_screen *screen)
{
	return screen && (atomic_load(&screen->left) || (screen->again && atomic_load(&screen->newest) != screen->current.number));
}

bool browse_screen_next(struct browse_screen *screen)
{
	if (!screen->again || !screen->runs)
		return false;
	pthread_mutex_lock(&screen->lock);
	bool next = !screen->ended && screen->wanted.number != screen->current.number;
	screen->current = screen->wanted;
	pthread_mutex_unlock(&screen->lock);
	if (!next)
		return false;
	browse_messages_clear(&screen->messages);
	atomic_store(&screen->feed.done, 0);
	atomic_store(&screen->feed.total, 0);
	screen->previewed_ns = screen->cost_ns = 0;
	return true;
}

static bool asked(const struct browse_screen *screen)
{
	return screen->again && screen->wanted.number != screen->current.number;
}

void browse_screen_lend(struct browse_screen *screen, const void *shown)
{
	pthread_mutex_lock(&screen->lock);
	if (!asked(screen))
		atomic_store(&screen->shown, shown);
	pthread_mutex_unlock(&screen->lock);
}

/* Returns whether the user has left: not, if another part is wanted. */
static bool wait_user(struct browse_screen *screen)
{
	pthread_mutex_lock(&screen->lock);
	while (!asked(screen) && !screen->ended)
		pthread_cond_wait(&screen->changed, &screen->lock);
	bool left = screen->ended;
	pthread_mutex_unlock(&screen->lock);
	return left;
}

int browse_screen_wait(struct browse_screen *screen, struct error *err)
{
	if (screen->runs && !wait_user(screen))
		return 0;
	end_thread(screen);
	atomic_store(&screen->shown, NULL);
	if (screen->result < 0)
		*err = screen->error;
	return screen->result;
}

const void *browse_screen_shown(const struct browse_screen *screen)
{
	return atomic_load(&screen->shown);
}

int browse_screen_close(struct browse_screen *screen, int code)
{
	bool early = browse_screen_left(screen) && !screen->complete;
	if (screen->runs)
		feed_end(&screen->feed);
	end_thread(screen);
	free(screen->heats);
	snapshot_free(screen->flame);
	if (screen->opened) {
		pthread_mutex_destroy(&screen->lock);
		pthread_cond_destroy(&screen->changed);
		browse_messages_end(&screen->messages, early ? screen->left_at : -1);
		feed_close(&screen->feed);
	}
	if (screen->prepared)
		browse_signals_restore(&screen->signals);
	*screen = (struct browse_screen){ 0 };
	return early ? 0 : code;
}
