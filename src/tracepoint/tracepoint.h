/* Tracepoint formats that a recording stores (or the live kernel's tracefs tells), and samples as text and fields.
 * On libtraceevent. Source of the container: perf.data's TRACING_DATA feature (the "\x17\x08\x44tracing" format of trace-cmd).
 * Knows no event list and no file. An open object is read-only: any number of threads may use it. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/writer.h"

struct tracepoints;

/* From the body of TRACING_DATA, which tells its own byte order. A damaged blob: what was whole is used, < 0 only where nothing
 * is. Not from two threads at a time: the library parses with globals. */
int tracepoints_open(struct tracepoints **out, struct span blob, struct error *err);
/* From /sys/kernel/tracing. It has no event until tracepoints_load asks for it. */
int tracepoints_open_live(struct tracepoints **out, struct error *err);
/* Makes an event known, live; false where there is none. Not while other threads use the object. */
bool tracepoints_load(struct tracepoints *tracepoints, uint64_t id);
void tracepoints_close(struct tracepoints *tracepoints); /* NULL is fine */

/* All of what follows takes NULL for an object without events. */

/* The events it has, in no order of note. */
size_t tracepoints_count(const struct tracepoints *tracepoints);
uint64_t tracepoints_id_at(const struct tracepoints *tracepoints, size_t index);
/* "sched:sched_switch" of an event id (attr.config); false where unknown. */
bool tracepoints_name(const struct tracepoints *tracepoints, uint64_t id, const char **system, const char **name);

/* Who can name kernel addresses in texts (%pS): the symbol that holds address and where it starts; false: none. */
struct tracepoint_names {
	bool (*resolve)(void *context, uint64_t address, const char **name, uint64_t *start);
	void *context;
};

/* The event's text as `perf script` prints it after "event: ": fields as the format's print says. The event is the one that the
 * data itself names. names may be NULL: addresses stay numbers. */
void tracepoints_print_named(const struct tracepoints *tracepoints, const void *raw, uint32_t size,
	const struct tracepoint_names *names, struct writer *out);
void tracepoints_print(struct tracepoints *tracepoints, uint64_t id, const void *raw, uint32_t size, int cpu, struct writer *out);

/* One field of an event: a number (signed where the format says), or a string. */
struct tracepoint_field;
const struct tracepoint_field *tracepoints_field(const struct tracepoints *tracepoints, uint64_t id, const char *name);
bool tracepoint_field_number(const struct tracepoint_field *field, const void *raw, uint32_t size, uint64_t *value);
bool tracepoint_field_string(const struct tracepoint_field *field, const void *raw, uint32_t size, const char **text, size_t *len);
/* Fields in order (without the common ones), for --sort trace_fields and -F +fields; NULL ends. */
const struct tracepoint_field *tracepoints_field_at(const struct tracepoints *tracepoints, uint64_t id, unsigned index);
const char *tracepoint_field_name(const struct tracepoint_field *field);
bool tracepoint_field_is_string(const struct tracepoint_field *field);
/* Its data lies elsewhere in the record, at a length of its own. */
bool tracepoint_field_is_dynamic(const struct tracepoint_field *field);
/* Bytes of the field itself, as the format says. */
uint32_t tracepoint_field_size(const struct tracepoint_field *field);
/* The field's data as stored, borrowed from raw; false: it does not lie within the record. */
bool tracepoint_field_bytes(const struct tracepoint_field *field, const void *raw, uint32_t size, const uint8_t **bytes, size_t *len);
/* A value as perf's sort column prints it. */
void tracepoint_field_print(const struct tracepoint_field *field, const void *raw, uint32_t size, struct writer *out);
