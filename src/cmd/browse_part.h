/* The part of a recording that a screen shows: a range of time that the user has marked. The command runs once more, with the samples of
 * the range alone, whatever it does with them; the strip has those of the whole recording. The flame graph of the part is made beside. */
#pragma once
#include "session/sink.h"

struct browse_screen;
struct flame_sink;
struct symbols;

struct browse_part {
	struct browse_screen *screen; /* NULL: the command's sink runs alone */
	struct sink sink;             /* the command's */
	struct sink passed;           /* the samples of the part */
	struct flame_sink *flame;     /* NULL: not asked for */
	struct sink flame_sink;
};

/* The sink that a session runs instead of `sink`. screen NULL, or one that shows no parts: `sink` itself. symbols: of the session; NULL:
 * none. part and sink live until browse_part_end. */
const struct sink *browse_part_begin(struct browse_part *part, struct browse_screen *screen, const struct sink *sink,
	struct session *session, struct symbols *symbols);
/* After the run: the screen has the flame graph, if it is still wanted. */
void browse_part_end(struct browse_part *part, struct session *session);
