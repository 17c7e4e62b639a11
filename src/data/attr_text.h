/* Formats an event attribute field by field, in the order of `evlist -v` and the header's "# event" lines (struct perf_event_attr,
 * perf_event_open(2)). struct attr_names provides the names that only the running machine knows (PMUs and their events). */
#pragma once
#include "abi/attr.h"
#include "base/str.h"

/* Names of the machine that reads the recording. A callback returns NULL for unknown names; the text is borrowed until the next call. The
 * struct or each callback may be NULL: no names. */
struct attr_names {
	void *context;
	const char *(*pmu)(void *context, uint32_t type);                     /* "software" */
	const char *(*event)(void *context, uint32_t type, uint64_t config); /* an event of that PMU, a tracepoint "system:name" */
};

struct attr_bit_name {
	uint64_t bit;
	const char *name;
};

enum attr_field_form {
	ATTR_FIELD_COUNT,
	ATTR_FIELD_HEX,
	ATTR_FIELD_SIGNED,
	ATTR_FIELD_FLAG,
	ATTR_FIELD_PRECISE, /* precise_ip: two bits */
	ATTR_FIELD_BITS,    /* a set of named bits */
	ATTR_FIELD_TYPE,    /* a number that has a name */
	ATTR_FIELD_CONFIG,  /* as well */
};

/* A field of the attribute. */
struct attr_field {
	const char *label; /* as perf prints it: "{ sample_period, sample_freq }" */
	const char *name;
	const char *other; /* the other name of a union's member, where `flag` is set, or in a breakpoint; NULL: not in a union */
	enum attr_field_form form;
	enum attr_flag flag;
	bool of_breakpoint;
	uint16_t offset, size; /* in struct attr */
	const struct attr_bit_name *bits;
};

/* In the order of perf's output. */
extern const struct attr_field attr_fields[];
extern const size_t attr_field_count;

uint64_t attr_field_value(const struct attr_field *field, const struct attr *attr);
/* Whether the value is the union's other member. */
bool attr_field_is_other(const struct attr_field *field, const struct attr *attr);
/* Appends the name of a type or config, or the names of bits, where there are names. */
void attr_field_name(const struct attr_field *field, const struct attr *attr, const struct attr_names *names, struct str *text);

/* Called for type, config and every other field that is not zero. text is borrowed for the call. */
typedef void attr_field_visit(void *context, const char *name, const char *text);

void attr_each_field(const struct attr *attr, const struct attr_names *names, attr_field_visit *visit, void *context);
