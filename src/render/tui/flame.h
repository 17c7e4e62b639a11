/* A flame graph on a screen: the rows of a tree with a share, the root at the top. A frame can be selected, and shown over the whole
 * width. Pure. */
#pragma once
#include <regex.h>

#include "render/tui/screen.h"
#include "render/tui/snapshot.h"

enum { FLAME_ZOOMS = 64 };

struct flame_view {
	const struct snapshot *shot; /* NULL: not read yet */
	uint32_t root, cursor;
	uint64_t root_was, cursor_was; /* identities in the snapshot before, if shot is NULL */
	size_t top;                  /* levels scrolled */
	uint64_t zooms[FLAME_ZOOMS]; /* identities of the earlier roots, the newest last */
	size_t zoom_count;
	size_t shares, names, modules, kinds; /* columns; SIZE_MAX: absent */
};

void flame_view_adopt(struct flame_view *flame, const struct snapshot *snapshot);
/* Its snapshot ends; the next one inherits the selected frame and the zoom. */
void flame_view_drop(struct flame_view *flame);
/* To the caller, to the heaviest callee, to the frame beside on the left or right. */
void flame_view_up(struct flame_view *flame);
void flame_view_down(struct flame_view *flame);
void flame_view_side(struct flame_view *flame, int step);
/* Moves to the next frame below the root that matches; false: no other frame matches. */
bool flame_view_find(struct flame_view *flame, const regex_t *regex, int step);
/* Moves to the heaviest frame with this name; false: there is none. */
bool flame_view_select(struct flame_view *flame, const char *name);
void flame_view_zoom(struct flame_view *flame);
bool flame_view_zoom_out(struct flame_view *flame); /* undoes the newest zoom; false: all is shown */
/* Selects the frame at a place of the screen that was painted last. */
bool flame_view_click(struct flame_view *flame, size_t line, size_t column, size_t columns);
/* Paints from line `first` to `last`, exclusive. */
void flame_view_paint(struct flame_view *flame, struct screen *screen, size_t first, size_t last, const regex_t *search);
/* "42.13%  main  [program]" of the selected frame. */
void flame_view_describe(const struct flame_view *flame, struct str *out);
