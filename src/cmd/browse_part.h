/* The part of a recording that a screen shows: a range of time that the user has marked. The command runs once more, with the samples of
 * the range alone, whatever it does with them; the strip has those of the whole recording. */
#pragma once
#include "session/sink.h"

struct browse_screen;

struct browse_part {
	struct browse_screen *screen;
	struct sink sink;             /* the command's */
	struct sink passed;           /* the samples of the part */
};

/* The sink that a session runs instead of `sink`. screen NULL, or one that shows no parts: `sink` itself. workers: of the session. part and
 * sink live as long as the run. */
const struct sink *browse_part_of(struct browse_part *part, struct browse_screen *screen, const struct sink *sink, unsigned workers);
