/* The time strip: the number of samples over the time of the recording; a range that is marked on it filters every page. */
#include <string.h>

#include "render/tui/browser_state.h"

struct browse_range browser_range(const struct browser *browser)
{
	if (!browser->ranges.count)
		return (struct browse_range){ 0, UINT64_MAX };
	return browser->ranges.items[browser->ranges.count - 1];
}

/* The buckets in use; false: no sample has a time. */
static bool used_buckets(const struct heat *heat, size_t *first, size_t *count)
{
	size_t last = HEAT_BUCKETS;
	*first = 0;
	if (!heat->width_ns)
		return false;
	while (last && !heat->counts[last - 1])
		last--;
	while (*first < last && !heat->counts[*first])
		++*first;
	*count = last - *first;
	return *count > 0;
}

bool strip_is_empty(const struct browser *browser)
{
	size_t first, count;
	return !used_buckets(&browser->heat, &first, &count);
}

/* The start of a column of the strip; of the column after the last: the end. */
static uint64_t time_of(const struct browser *browser, size_t column)
{
	size_t first, count;
	const struct heat *heat = &browser->heat;
	if (!used_buckets(heat, &first, &count) || !browser->columns)
		return 0;
	return heat->start_ns + first * heat->width_ns + (uint64_t)((unsigned __int128)column * count * heat->width_ns / browser->columns);
}

static void ask_again(struct browser *browser)
{
	browser->request++;
	browser->waiting = true;
	struct browse_range range = browser_range(browser);
	browser->source.read(browser->source.context, browser->request, range.start_ns, range.end_ns, browser->flame_event);
}

void browser_read(struct browser *browser)
{
	if (browser->source.read)
		ask_again(browser);
}

static void take_range(struct browser *browser, size_t a, size_t b)
{
	size_t from = a < b ? a : b, to = a < b ? b : a;
	struct browse_range range = { time_of(browser, from), time_of(browser, to + 1) - 1 };
	browser->strip.mark = SIZE_MAX;
	if (!browser->source.read) {
		browser_note(browser, "this result cannot be filtered by time");
		return;
	}
	vec_push(&browser->ranges, range);
	vec_push(&browser->undo, UNDO_RANGE);
	ask_again(browser);
}

static void mark(struct browser *browser)
{
	struct browse_strip *strip = &browser->strip;
	if (strip->mark == SIZE_MAX)
		strip->mark = strip->cursor;
	else
		take_range(browser, strip->mark, strip->cursor);
}

static void move(struct browser *browser, long step)
{
	struct browse_strip *strip = &browser->strip;
	long column = (long)strip->cursor + step, columns = (long)browser->columns;
	strip->cursor = (size_t)(column < 0 ? 0 : column >= columns ? columns - 1 : column);
}

static void leave(struct browse_strip *strip)
{
	if (strip->mark != SIZE_MAX)
		strip->mark = SIZE_MAX;
	else
		strip->active = strip->shown = false;
}

void strip_key(struct browser *browser, const struct browse_event *event)
{
	long tenth = (long)browser->columns / 10;
	if (event->key >= '0' && event->key <= '9') {
		browser->strip.cursor = browser->columns * (event->key - '0') / 10;
		return;
	}
	switch (event->key) {
	case BROWSE_KEY_LEFT:
		move(browser, -1);
		break;
	case BROWSE_KEY_RIGHT:
		move(browser, 1);
		break;
	case BROWSE_KEY_PAGE_UP:
		move(browser, -tenth);
		break;
	case BROWSE_KEY_PAGE_DOWN:
		move(browser, tenth);
		break;
	case BROWSE_KEY_HOME:
		move(browser, -(long)browser->columns);
		break;
	case BROWSE_KEY_END:
		move(browser, (long)browser->columns);
		break;
	case BROWSE_KEY_ENTER:
	case ' ':
		mark(browser);
		break;
	case 'u':
		browser_act(browser, ACTION_UNDO, NULL, NULL);
		break;
	case 'h':
	case '?':
		browser_act(browser, ACTION_HELP, NULL, NULL);
		break;
	case BROWSE_KEY_UP:
	case BROWSE_KEY_DOWN:
	case BROWSE_KEY_TAB:
		browser->strip.active = false;
		break;
	case BROWSE_KEY_ESCAPE:
	case 'T':
	case 'q':
		leave(&browser->strip);
		break;
	case BROWSE_KEY_INTERRUPT:
		browser->quit = true;
		break;
	default:
		break;
	}
}

void strip_mouse(struct browser *browser, const struct browse_event *event)
{
	browser->strip.active = true;
	browser->strip.cursor = event->column;
	if (event->key == BROWSE_KEY_CLICK)
		browser->strip.mark = event->column;
	else if (event->key == BROWSE_KEY_RELEASE && browser->strip.mark != SIZE_MAX && browser->strip.mark != event->column)
		take_range(browser, browser->strip.mark, event->column);
}

/* Samples of one column of the strip, in 1/1024 of a sample for each bucket. */
static uint64_t column_count(const struct heat *heat, size_t first, size_t count, size_t column, size_t columns)
{
	size_t from = first + column * count / columns, to = first + (column + 1) * count / columns;
	uint64_t sum = 0;
	for (size_t i = from; i < to; i++)
		sum += heat->counts[i];
	return to > from ? sum * 1024 / (to - from) : heat->counts[from] * 1024;
}

static void paint_cells(const struct browser *browser, struct screen *screen, size_t line, size_t first, size_t count)
{
	static const char *const blocks[] = { " ", "\xe2\x96\x81", "\xe2\x96\x82", "\xe2\x96\x83", "\xe2\x96\x84", "\xe2\x96\x85", "\xe2\x96\x86",
		"\xe2\x96\x87", "\xe2\x96\x88" };
	static const char *const letters[] = { " ", ".", ".", ":", "-", "=", "+", "*", "#" };
	const struct browse_strip *strip = &browser->strip;
	struct browse_range range = browser_range(browser);
	uint64_t most = 1;
	for (size_t i = 0; i < screen->columns; i++) {
		uint64_t value = column_count(&browser->heat, first, count, i, screen->columns);
		most = value > most ? value : most;
	}
	size_t low = strip->mark < strip->cursor ? strip->mark : strip->cursor, high = strip->mark < strip->cursor ? strip->cursor : strip->mark;
	for (size_t i = 0; i < screen->columns; i++) {
		uint64_t value = column_count(&browser->heat, first, count, i, screen->columns);
		size_t level = value ? 1 + (size_t)((unsigned __int128)value * 7 / most) : 0;
		bool outside = time_of(browser, i + 1) <= range.start_ns || time_of(browser, i) > range.end_ns;
		uint8_t style = outside ? STYLE_DIM : (uint8_t)(STYLE_HEAT1 + (level ? (level - 1) / 2 : 0));
		bool marked = strip->active && (i == strip->cursor || (strip->mark != SIZE_MAX && i >= low && i <= high));
		screen_put(screen, line, i, i + 1, style | (marked ? STYLE_REVERSE : 0), (screen->ascii ? letters : blocks)[level]);
	}
}

static double seconds(const struct browser *browser, uint64_t time_ns)
{
	uint64_t start = time_of(browser, 0);
	return time_ns > start ? (double)(time_ns - start) / 1e9 : 0;
}

void strip_paint(struct browser *browser, struct screen *screen, size_t line)
{
	size_t first, count;
	const struct browse_strip *strip = &browser->strip;
	if (strip->cursor >= screen->columns)
		browser->strip.cursor = screen->columns - 1;
	if (!used_buckets(&browser->heat, &first, &count)) {
		screen_put(screen, line, 0, screen->columns, STYLE_DIM, browser->shot ? "no sample has a time" : "");
		return;
	}
	paint_cells(browser, screen, line, first, count);
	struct browse_range range = browser_range(browser);
	double end = seconds(browser, time_of(browser, screen->columns));
	if (!strip->active && browser->ranges.count)
		screen_printf(screen, line + 1, 0, screen->columns, STYLE_DIM, "shown: %.6f s to %.6f s of %.6f s (u: undo)",
			seconds(browser, range.start_ns), seconds(browser, range.end_ns), end);
	else if (!strip->active)
		screen_printf(screen, line + 1, 0, screen->columns, STYLE_DIM, "%.6f s of samples (T: mark a range)", end);
	else if (strip->mark == SIZE_MAX)
		screen_printf(screen, line + 1, 0, screen->columns, STYLE_TITLE,
			"at %.6f of %.6f s  ENTER: mark the start  arrows, PGUP/PGDN, 0-9: move  u: undo  ESC: leave",
			seconds(browser, time_of(browser, strip->cursor)), end);
	else
		screen_printf(screen, line + 1, 0, screen->columns, STYLE_TITLE,
			"%.6f s to %.6f s of %.6f s   ENTER: show this range  ESC: cancel",
			seconds(browser, time_of(browser, strip->mark < strip->cursor ? strip->mark : strip->cursor)),
			seconds(browser, time_of(browser, (strip->mark > strip->cursor ? strip->mark : strip->cursor) + 1)), end);
}
