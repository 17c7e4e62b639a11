/* -F of script: which fields are printed for which type of event. Parsing, and settling against what a recording holds.
 * Knows neither samples nor how a field looks. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "data/header.h"

/* Fields that show a number of the sample, last in the line: ROW(name of the SAMPLE_ bit that it needs, word of -F, how it is printed
 * (print_… in field.c), member of struct sample, lenient as in fields.c). */
#define SAMPLE_NUMBERS(ROW)                                                           \
	ROW(PHYS_ADDR, "phys_addr", hex, phys_addr, true)                             \
	ROW(DATA_PAGE_SIZE, "data_page_size", page_size, data_page_size, false)       \
	ROW(CODE_PAGE_SIZE, "code_page_size", page_size, code_page_size, false)

enum field {
	FIELD_COMM, FIELD_TID, FIELD_PID, FIELD_TIME, FIELD_CPU, FIELD_EVENT, FIELD_TRACE, FIELD_IP, FIELD_SYM, FIELD_DSO,
	FIELD_DSOFF, FIELD_ADDR, FIELD_SYMOFF, FIELD_SRCLINE, FIELD_PERIOD, FIELD_IREGS, FIELD_UREGS, FIELD_BRSTACK,
	FIELD_BRSTACKSYM, FIELD_DATA_SRC, FIELD_WEIGHT, FIELD_BPF_OUTPUT, FIELD_CALLINDENT, FIELD_INSN, FIELD_DISASM,
	FIELD_INSNLEN, FIELD_BRSTACKINSN, FIELD_BRSTACKOFF, FIELD_SYNTH, FIELD_METRIC, FIELD_MISC, FIELD_SRCCODE,
	FIELD_IPC, FIELD_TOD, FIELD_INS_LAT, FIELD_BRSTACKINSNLEN, FIELD_MACHINE_PID,
	FIELD_VCPU, FIELD_CGROUP, FIELD_RETIRE_LAT, FIELD_BRSTACKDISASM, FIELD_BRCNTR,
#define FIELD(NAME, ...) FIELD_##NAME,
	SAMPLE_NUMBERS(FIELD)
#undef FIELD
	FIELD_COUNT
};

#define FIELD_BIT(field) (UINT64_C(1) << (field))

/* Events by what they can show: the kernel's types, then those that decoders make, then all others (PMUs by number). */
enum event_class {
	CLASS_HARDWARE, CLASS_SOFTWARE, CLASS_TRACEPOINT, CLASS_HW_CACHE, CLASS_RAW, CLASS_BREAKPOINT, CLASS_SYNTH, CLASS_OTHER,
	CLASS_COUNT
};

enum event_class event_class(const struct attr *attr);

struct class_fields {
	uint64_t shown;          /* bits of enum field */
	uint64_t place;          /* those of ip, sym, symoff, dso, dsoff, srcline that frames show */
	uint64_t asked, refused; /* by name for all classes, with or without '+'; with '-' */
	bool given;              /* anything was said about this class */
	bool wildcard;           /* … but not about this one alone */
};

struct fields {
	struct class_fields classes[CLASS_COUNT];
	bool flags;              /* "flags": of branches */
	bool chains;             /* callchains are shown where there are any */
};

/* Appends the words of -F, separated by ", ". */
void fields_words(struct str *to);

/* What is shown where nobody says anything. */
void fields_init(struct fields *fields);
/* One -F argument. notes: what is odd but no reason to stop, a line each. */
int fields_parse(struct fields *fields, const char *text, struct str *notes, struct error *err);

/* Drops defaults that the events do not have; refuses what was asked for and they do not have either. hide_chains: -G. A pipe has
 * no events yet: see fields_settle_event. */
int fields_settle(struct fields *fields, const struct header *header, bool hide_chains, struct error *err);
/* An event that arrived in a pipe, the last of the list. */
int fields_settle_event(struct fields *fields, const struct header *header, uint32_t event, struct error *err);

/* Whether anything that is shown has a name from a symbol table or a source line. */
bool fields_show_names(const struct fields *fields);

/* Whether a HARDWARE event counts every branch: its samples are branches from ip to addr. */
bool attr_is_branch_trace(const struct attr *attr);
/* A software event that only carries side-band. */
bool attr_is_dummy(const struct attr *attr);
