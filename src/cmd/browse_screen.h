/* The screen of a command that reads a recording: the terminal browser in a separate thread. It opens before the reading, shows its
 * progress and the results so far, then all, until the user leaves. The command reads in its own thread and publishes; until
 * browse_screen_wait returns, the browser's thread may use its results (browse_screen_lend). Knows no analysis. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>

#include "cmd/browse_messages.h"
#include "render/tui/browser.h"

/* What the user wants to see. */
struct browse_request {
	uint64_t number;                /* 0: the whole recording, before any request */
	uint64_t start_ns, end_ns;
	bool flame;                     /* the flame graph, too … */
	char event[256];                /* … of this event; "": of the first with samples */
};

struct browse_screen {
	struct browse_source source;    /* set before browse_screen_open, which adds feed, save and, without a context, those of tables */
	/* Set before browse_screen_open; input_open sets both for a file. again: the command reads once more for what the user wants next
	 * (browse_screen_next); parts: then input_read passes the samples of that part (browse_part.h). */
	bool again, parts;
	/* browse_part.h can make flame graphs. input_run sets it by the first sink; before it, by the command: where current.flame is set, its
	 * sink is not plain. */
	bool flames;
	struct snapshot *flame;         /* of the last run; the next complete results take it; NULL: none */
	struct heat *heats;             /* of each worker of the recording; NULL: none */
	unsigned heat_count;
	struct browse_request current;  /* of the command */
	struct browse_request wanted;   /* the newest; under the lock */
	bool ended;                     /* the browser's thread; under the lock */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	_Atomic uint64_t newest;        /* wanted.number */
	struct feed feed;
	/* Publishes the results so far, as the command does at the end. Called in the command's thread between two parts of the reading. */
	void (*preview)(void *context);
	void *preview_context;
	const struct browse_code *code; /* of browse_table_source */
	bool previews;                  /* it runs: what is published is not complete */
	uint64_t previewed_ns, cost_ns; /* when the last preview was made, and how long that took */
	struct browse_messages messages;
	sigset_t signals;               /* that were blocked before */
	pthread_t thread;
	bool prepared, opened, runs;
	bool complete;                  /* the last results were published before the user left */
	_Atomic(const void *) shown;    /* NULL: the command reads */
	_Atomic bool left;              /* the user has left, or the terminal is gone */
	long left_at;                   /* bytes of messages at that time */
	int result;                     /* of the browser, when its thread has ended */
	struct error error;
};

/* Blocks the signals of the terminal in this thread and those that it starts, until browse_screen_close. Once, before a session opens.
 * browse_screen_open does it, too. */
void browse_screen_prepare(struct browse_screen *screen);
int browse_screen_open(struct browse_screen *screen, struct error *err);
/* See `preview`. NULL screen: nothing. */
void browse_screen_previews(struct browse_screen *screen, void (*preview)(void *context), void *context);
/* Whether the user has left: the reading may end. NULL is allowed. */
bool browse_screen_left(const struct browse_screen *screen);
/* Makes a preview if the last one is long enough ago: they take a small part of the time. */
void browse_screen_pause(struct browse_screen *screen);
/* Takes ownership. What a preview publishes is not complete, and not shown if it has no row. */
void browse_screen_publish(struct browse_screen *screen, struct feed_shot *shot);
/* For source.read, if the command reads again. */
void browse_screen_ask(struct browse_screen *screen, uint64_t number, uint64_t start_ns, uint64_t end_ns, const char *flame_event);
/* Whether what the command reads is shown no more: the reading may end. NULL is allowed. */
bool browse_screen_outdated(const struct browse_screen *screen);
/* After a run of the command: whether it is to run again, with screen->current. */
bool browse_screen_next(struct browse_screen *screen);
/* Before the complete results are published: what the browser's functions may use until browse_screen_wait returns. */
void browse_screen_lend(struct browse_screen *screen, const void *shown);
/* NULL: the command reads. */
const void *browse_screen_shown(const struct browse_screen *screen);
/* Waits until the user leaves, or wants another part. < 0: the terminal cannot be used. */
int browse_screen_wait(struct browse_screen *screen, struct error *err);
/* Ends the browser, whatever it shows, and prints the messages. Returns the exit code: 0 if the user left before the reading came to its
 * end, otherwise code. */
int browse_screen_close(struct browse_screen *screen, int code);
