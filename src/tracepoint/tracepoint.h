/* Formats of tracepoints, stored in a recording or read from the live kernel's tracefs, and their samples as text and fields. Uses
 * libtraceevent. Source of the container: perf.data's TRACING_DATA feature (the "\x17\x08\x44tracing" format of trace-cmd). Does not
 * access event lists or recordings. After opening, an object is immutable and may be used by any number of threads. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/writer.h"

struct tracepoints;

/* Parses the body of TRACING_DATA, which states its own byte order, and copies what it needs. The valid start of a damaged body is used;
 * fails with ERROR_FORMAT only if its header is invalid. One thread at a time: libtraceevent parses with global variables. */
int tracepoints_open(struct tracepoints **out, struct span blob, struct error *err);
/* Opens the formats of the running kernel (/sys/kernel/tracing). Events are absent until tracepoints_load reads their formats. */
int tracepoints_open_live(struct tracepoints **out, struct error *err);
/* Reads the format of an event from tracefs if necessary; returns false if the event is absent. No other thread may use the object
 * meanwhile. */
bool tracepoints_load(struct tracepoints *tracepoints, uint64_t id);
void tracepoints_close(struct tracepoints *tracepoints); /* NULL is allowed */

/* In the functions below, tracepoints may be NULL: an object without events. */

/* Returns the number of events; their order is arbitrary. */
size_t tracepoints_count(const struct tracepoints *tracepoints);
uint64_t tracepoints_id_at(const struct tracepoints *tracepoints, size_t index);
/* Returns the system and the name ("sched", "sched_switch") of an event id (attr.config), borrowed; false if the id is unknown. */
bool tracepoints_name(const struct tracepoints *tracepoints, uint64_t id, const char **system, const char **name);

/* Symbolizes kernel addresses (%pS). resolve returns false for an unknown address, otherwise the symbol's name and start address. */
struct tracepoint_names {
	bool (*resolve)(void *context, uint64_t address, const char **name, uint64_t *start);
	void *context;
};

/* Prints the text of a record as `perf script` prints it after "event: ". The event is given by common_type in the data; id and cpu are
 * not used. names may be NULL: addresses are printed as numbers. */
void tracepoints_print_named(const struct tracepoints *tracepoints, const void *raw, uint32_t size,
	const struct tracepoint_names *names, struct writer *out);
void tracepoints_print(struct tracepoints *tracepoints, uint64_t id, const void *raw, uint32_t size, int cpu, struct writer *out);

/* A field of an event. Its value is a number (signed if the format states so) or a string. Functions return false if the value is not
 * within the record or is of another kind; strings are borrowed from raw. */
struct tracepoint_field;
const struct tracepoint_field *tracepoints_field(const struct tracepoints *tracepoints, uint64_t id, const char *name);
bool tracepoint_field_number(const struct tracepoint_field *field, const void *raw, uint32_t size, uint64_t *value);
/* Where a record has a number of 4 or 8 bytes, or of 1 without a sign, in this machine's byte order, for readers of many records; false: it
 * has another form. */
bool tracepoint_field_place(const struct tracepoint_field *field, uint32_t *offset, uint32_t *size);
/* An array of numbers of more than one byte each: their count, 0 if the field is another; and each of them. */
size_t tracepoint_field_elements(const struct tracepoint_field *field);
bool tracepoint_field_element(const struct tracepoint_field *field, const void *raw, uint32_t size, size_t index, uint64_t *value);
bool tracepoint_field_string(const struct tracepoint_field *field, const void *raw, uint32_t size, const char **text, size_t *len);
/* Returns the index-th field without the common ones (--sort trace_fields, -F +fields), or NULL. */
const struct tracepoint_field *tracepoints_field_at(const struct tracepoints *tracepoints, uint64_t id, unsigned index);
const char *tracepoint_field_name(const struct tracepoint_field *field);
/* As the format declares it: "const char *", "pid_t". */
const char *tracepoint_field_type(const struct tracepoint_field *field);
bool tracepoint_field_is_string(const struct tracepoint_field *field);
/* Of its number, as the format states it. */
bool tracepoint_field_is_signed(const struct tracepoint_field *field);
/* Returns the name of a flag ("S" for bit 0 of prev_state) by which the event's text shows the field, or NULL. */
const char *tracepoint_field_flag(const struct tracepoint_field *field, uint64_t flag);
/* Whether the field holds the offset and length of data elsewhere in the record (__data_loc, __rel_loc). */
bool tracepoint_field_is_dynamic(const struct tracepoint_field *field);
/* Size of the field itself in bytes, as the format states it. */
uint32_t tracepoint_field_size(const struct tracepoint_field *field);
/* Returns the data of the field as stored, borrowed from raw; false if it is not within the record. */
bool tracepoint_field_bytes(const struct tracepoint_field *field, const void *raw, uint32_t size, const uint8_t **bytes, size_t *len);
/* Prints a value as perf's sort columns and JSON have it: by the event's print format, if that has the field, otherwise by its type:
 * numbers, characters, lists of numbers. */
void tracepoint_field_print(const struct tracepoint_field *field, const void *raw, uint32_t size, struct writer *out);
