/* Events by the names of libpfm4 (--pfm-events): "INST_RETIRED:ANY_P:u,{a,b}". The library is loaded on first use. */
#pragma once
#include "event/event.h"

/* Appends the events of `text`; on failure `events` is unchanged. Braces make event groups. */
int events_parse_pfm(struct events *events, const char *text, struct error *err);
