/* Events by the names of libpfm4 (--pfm-events): "INST_RETIRED:ANY_P:u,{a,b}". The library is loaded on first use. */
#pragma once
#include "event/catalogue.h"
#include "event/event.h"

/* Appends the events of `text`; on failure `events` is unchanged. Braces make event groups. */
int events_parse_pfm(struct events *events, const char *text, struct error *err);
/* Appends one event of the processor, if the library is installed and has the name; otherwise returns false. */
bool events_add_pfm(struct events *events, const char *name);
/* Appends the library's events that this machine counts to the list of the catalogue, in perf's layout. */
int catalogue_add_pfm(struct catalogue *catalogue, struct error *err);
