/* Commands to a running measurement through a descriptor (--control): "enable", "disable", "enable EVENT", "ping" …, a line each, which are
 * acknowledged if the sender wants that. Knows no event and no recording. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* A line of which a part may still be missing. */
struct control_line {
	char text[256];
	size_t len;
};

struct control {
	int fd, acknowledge; /* -1: none */
	bool ours;           /* opened here */
};

/* "fd:3[,4]" or "fifo:PATH[,PATH]". A FIFO is opened, and closed by control_close; a path to another type of file is refused, and to
 * root a link of another user (os/place.h). Numbers may be of descriptors that are not open. Fails with ERROR_OPTION. */
int control_open(struct control *control, const char *text, struct error *err);
void control_close(struct control *control);
/* Reads what has arrived and calls each for every complete line that is not empty. < 0: no more will come. */
int control_read(int fd, struct control_line *line, void (*each)(void *context, const char *line), void *context);
/* Whether the line is this word; *rest is the text behind it. */
bool control_is(const char *line, const char *word, const char **rest);
/* Answers "ack" if the descriptor takes it at once. fd -1: nothing. */
void control_acknowledge(int fd);
