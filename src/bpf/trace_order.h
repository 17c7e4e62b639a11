/* Records that wait until all that happened before them have arrived, and leave in order of time. Those of one time leave in the order of
 * their arrival. Knows no content of a record. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct waiting_record {
	uint64_t time;
	size_t at;
	uint32_t size;
};

struct trace_order {
	VEC(uint8_t) bytes;          /* each record at a multiple of 8 */
	VEC(struct waiting_record) list; /* by time */
	size_t waiting_bytes;        /* of the records in the list */
};

typedef void trace_record_visitor(void *context, const void *record, size_t size);

void trace_order_fini(struct trace_order *order);
/* Copies a record. It is fast if most records arrive in order. */
void trace_order_add(struct trace_order *order, uint64_t time, const void *record, uint32_t size);
/* Passes the records of times up to `until`. */
void trace_order_pass(struct trace_order *order, uint64_t until, trace_record_visitor *record, void *context);
