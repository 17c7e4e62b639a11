/* The browser: pages over tables, trees, flame graphs and texts; menus and questions above them; what each key does. Paints on a screen of
 * cells and takes keys: knows neither the terminal (terminal.h) nor the origin of results (struct browse_source). */
#pragma once
#include "render/tui/feed.h"
#include "render/tui/flame.h"
#include "render/tui/keys.h"
#include "render/tui/screen.h"
#include "render/tui/view.h"

enum browse_format { BROWSE_TEXT, BROWSE_JSON, BROWSE_CSV, BROWSE_SVG, BROWSE_FOLDED, BROWSE_FORMATS };

/* What the user sees, to be written to a file. */
struct browse_export {
	enum browse_format format;
	const char *text;             /* TEXT */
	const struct table *table;    /* JSON, CSV: the rows that are shown */
	const struct snapshot *flame; /* SVG, FOLDED: from this row on */
	uint32_t flame_root;
};

/* Supplied by a command. Each function may be NULL: then its key shows a message. All are called by the screen's thread. */
struct browse_source {
	void *context;
	double least_percent;         /* tables begin with this filter of shares, if it hides a row; 0: without */
	const char *tip;              /* for the bottom line; NULL: absent */
	uint32_t first_key;           /* pressed when the first complete results are one table, unless the user has pressed another; 0: none */
	struct feed *feed;
	/* Lines of the row's function as a separate table, named "code"; NULL: *err has the reason. With lines, *err is a remark.
	 * The columns "samples" and "target_line" are hidden at first; the latter has the line that ENTER moves to. */
	struct snapshot *(*annotate)(void *context, const struct snapshot *shot, uint32_t row, struct error *err);
	bool without_flame;           /* `read` makes no flame graphs */
	/* Read again; results are published with this number. flame: the flame graph of this event, too. */
	void (*read)(void *context, uint64_t request, uint64_t start_ns, uint64_t end_ns, const char *flame_event);
	/* Of a running measurement: from now on results have the flame graph of this event. */
	void (*flame)(void *context, const char *event);
	void (*header)(void *context, struct str *out);
	/* Messages that were printed since the browser began. */
	void (*messages)(void *context, struct str *out);
	/* *path: the file that was written. */
	int (*save)(void *context, const struct browse_export *what, struct str *path, struct error *err);
	/* Names of other recordings, one per line; opens one of them. */
	void (*files)(void *context, struct str *out);
	int (*open)(void *context, const char *path, struct error *err);
	/* Sets the counts of a running measurement to zero. */
	void (*zero)(void *context);
	/* Samples of one row's task, or all, as text. */
	int (*script)(void *context, const char *comm, struct str *out, struct error *err);
};

enum browse_page_kind { PAGE_EVENTS, PAGE_TABLE, PAGE_LINES, PAGE_FLAME };

struct browse_page {
	enum browse_page_kind kind;
	struct view view;
	struct flame_view flame;
	char *title;                  /* LINES: of the page; TABLE: its snapshot's label */
	struct snapshot *own;         /* LINES and EVENTS: what it shows */
	bool help, code, callers;     /* LINES: the help; lines of code; code: the row has callers */
	struct snapshot *function;    /* code: one row with its place; FLAME: the function to be selected, NULL: none */
	bool code_global, code_samples; /* percentages of all functions; of numbers of samples */
	unsigned code_value;          /* code: 0 percentages, 1 periods, 2 numbers of samples */
};

struct browse_item {
	char *label;
	int action;                   /* enum browse_action */
	char *argument, *column;
};

struct browse_menu {
	bool open;
	const char *title;
	VEC(struct browse_item) items;
	size_t selected, top;
	size_t line, column, width, height; /* as it was painted */
};

struct browse_prompt {
	const char *label;            /* NULL: no question */
	int action;
	struct str text;
};

/* The interval that is marked on the time strip, in columns of the strip. */
struct browse_strip {
	bool shown, active;
	size_t cursor, mark;          /* mark SIZE_MAX: none */
};

struct browse_range {
	uint64_t start_ns, end_ns;    /* 0, UINT64_MAX: everything */
};

enum browse_undo { UNDO_FILTER, UNDO_RANGE };

struct browser {
	struct browse_source source;
	struct feed_shot *shot;       /* NULL: no result yet */
	struct heat heat;             /* of the complete recording */
	VEC(struct browse_page *) pages; /* the last is shown */
	struct browse_menu menu;
	struct browse_prompt prompt;
	struct browse_strip strip;
	VEC(struct browse_range) ranges; /* filters by time, the newest last */
	VEC(enum browse_undo) undo;
	uint64_t request;             /* number of the newest request */
	char *flame_event;            /* NULL: no flame graph was requested */
	char note[200];               /* instead of the bottom line, until the next key */
	struct str last_error;        /* the whole of the last note on an error */
	bool hot_note;                /* the note names the hottest line: newer counts change it */
	struct {
		int action;           /* begins after the next painting; ACTION_NONE: none */
		char *argument;
	} work;
	bool touched;                 /* a key was pressed */
	bool error_note, no_heads, frozen, modules, quit;
	bool waiting;                 /* the newest request has no complete answer */
	size_t lines, columns;        /* of the screen */
};

void browser_open(struct browser *browser, const struct browse_source *source);
void browser_close(struct browser *browser);
/* Takes the newest results from the feed; true: something changed. */
bool browser_poll(struct browser *browser);
/* May leave work that takes time to browser_work; the bottom line says so. */
void browser_key(struct browser *browser, const struct browse_event *event);
/* Does that work; false: there is none. */
bool browser_work(struct browser *browser);
void browser_paint(struct browser *browser, struct screen *screen);
