/* Makes a source of a running measurement: a session reads it like a recording through a pipe. Records are copied from the rings once, and
 * remain until the session releases them. Knows no sample and no output. */
#pragma once
#include "data/source.h"
#include "record/acquire/acquisition.h"

/* acquisition: borrowed, open until the source is closed. Its measurement runs while records are read (source_next, which
 * waits), and its end is the end of the records. */
void source_open_live(struct source **source, struct acquisition *acquisition);
/* The same for a caller that waits itself: source_next returns 0 when the records of the last source_wait have been read, which waits as
 * acquisition_wait and returns what it returns. */
void source_open_stepwise(struct source **source, struct acquisition *acquisition);
int source_wait(struct source *source, int timeout_ms, uint32_t *ready, struct error *err);
