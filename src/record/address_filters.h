/* Resolves the symbols of address filters as perf does, to the form that the kernel takes: "filter 0x1139/0x1c@/bin/program", with
 * offsets of files and addresses of the kernel. Internal to record/. */
#pragma once
#include "base/error.h"
#include "event/event.h"

/* Replaces the filters of all events that trace. Fails with err->sys EINVAL. */
int address_filters_resolve(struct events *events, struct error *err);
/* The offset of a function in the file of a program. */
int address_filters_function(const char *file, const char *symbol, uint64_t *offset, struct error *err);
