/* One run of `top`: its state, and how it is prepared. */
#pragma once
#include <regex.h>

#include "analysis/column/columns.h"
#include "analysis/profile/refresh.h"
#include "cmd/top/keys.h"
#include "cmd/top/options.h"
#include "live/live_session.h"
#include "symbol/symbol.h"

extern const struct command command_top;

enum { TOP_KEYS_BIT, TOP_STOP_BIT, TOP_CODE_BIT }; /* of descriptors that the measurement watches */

struct top_browser;
struct listed_code;

/* What the heading of a table counts, since the last table. */
struct top_counts {
	uint64_t samples, kernel_samples, exact_samples;
	uint64_t since_ns;
};

struct top {
	struct cli *cli;
	struct top_options *options;
	struct events events;
	struct live_session live;
	struct symbols *symbols;
	struct tracepoints *tracepoints;   /* NULL: no event is one */
	struct columns columns;
	enum sort_mode mode;
	bool children;
	struct sample_filter filter;
	regex_t ignore_callees;
	bool ignore_compiled;
	struct profile_options profile_options;
	struct profile profile;
	struct sink profile_sink;
	struct keys keys;
	struct top_counts counts;
	uint64_t lost;                     /* samples, until the last table */
	uint32_t event;                    /* whose table is shown */
	bool watches_keys, quit, kernel_named, browses;
	size_t rows_bytes;                 /* profile_growth when the generation began */
	struct str target;                 /* "all, 2 CPUs" */
	struct top_browser *browser;       /* NULL: tables are printed */
	struct listed_code *listed;        /* of --stdio: the function that is shown instead of a table; NULL: none */
};

/* Measures and shows tables until the end that the user, the target or a signal sets. */
int top_measure(struct top *top, struct error *err);

/* The terminal browser (browse.c). 1: it is to be used; 0: tables are printed; < 0: it was asked for, and cannot be used. */
int top_browses(const struct top *top, struct error *err);
int top_browse(struct top *top, struct error *err);
/* For the thread that measures. complete: no further table follows. */
void top_browser_sample(struct top_browser *browser, const struct resolved *r);
/* Answers what the screen asks for between two steps. */
void top_browser_serve(struct top_browser *browser);
/* Before a new generation of the model. */
void top_browser_renew(struct top_browser *browser);
void top_browser_publish(struct top_browser *browser, bool complete);

/* Before the events are opened; 0 or the exit code after the complaint. */
int top_setup_events(struct top *top);
/* After that: symbols, columns, filters, the profile. */
int top_setup_profile(struct top *top, struct error *err);

/* The screen (screen.c). */
struct top_screen {
	unsigned rows, columns;
	bool colour, clears;               /* clears: escape sequences can be used */
};

struct top_screen top_screen_now(const struct cli *cli);
/* The maximum number of rows of a table. */
size_t top_screen_entries(const struct top_screen *screen, const struct top_options *options);
/* Prints the profile as profile_show left it. */
void top_screen_print(struct top *top, double seconds);
/* Prints the keys and the values that they change. */
void top_screen_menu(const struct top *top, struct str *text);
