/* Files of what the terminal browser shows. */
#pragma once
#include "render/tui/browser.h"

/* For struct browse_source: writes the next free perf.hist.N. context is ignored. */
int browse_save(void *context, const struct browse_export *what, struct str *path, struct error *err);
