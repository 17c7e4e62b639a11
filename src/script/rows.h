/* The fields of `script`, a row for each: its name, the events that have it, what it needs of a recording, its values as typed cells, and
 * its text as perf prints it. A new field is a new row; nothing else lists fields. */
#pragma once
#include "analysis/table/cell.h"
#include "data/header.h"

/* The fields that show one number of the sample: ROW(NAME of the field and of the SAMPLE_ bit that it needs, name in -F, classes that show
 * it by default, print_…, kind and unit of its cell, member of struct sample, `decoded` of field_need). */
#define SAMPLE_NUMBERS(ROW) \
	ROW(PHYS_ADDR, "phys_addr", OF_RAW, hexadecimal, ADDRESS, NULL, phys_addr, true) \
	ROW(DATA_PAGE_SIZE, "data_page_size", OF_RAW, page_size, BYTES, "bytes", data_page_size, false) \
	ROW(CODE_PAGE_SIZE, "code_page_size", OF_RAW, page_size, BYTES, "bytes", code_page_size, false)

/* In the order of a line of text, which is the order of a table's columns. FIELD_FLAGS is a field of all events or of none. */
enum field {
	FIELD_MACHINE_PID, FIELD_VCPU,
	FIELD_COMM, FIELD_PID, FIELD_TID, FIELD_CPU, FIELD_MISC, FIELD_TOD, FIELD_TIME, FIELD_PERIOD, FIELD_EVENT, FIELD_FLAGS,
	FIELD_TRACE, FIELD_SYNTH, FIELD_ADDR, FIELD_DATA_SRC, FIELD_WEIGHT, FIELD_INS_LAT, FIELD_RETIRE_LAT, FIELD_CGROUP, FIELD_IP,
	FIELD_SYM, FIELD_SYMOFF, FIELD_DSO, FIELD_DSOFF, FIELD_SRCLINE, FIELD_IREGS, FIELD_UREGS, FIELD_BRSTACK, FIELD_BRSTACKSYM,
	FIELD_BRSTACKOFF, FIELD_BRCNTR, FIELD_BPF_OUTPUT, FIELD_INSN, FIELD_INSNLEN, FIELD_DISASM, FIELD_BRSTACKINSN,
	FIELD_BRSTACKINSNLEN, FIELD_BRSTACKDISASM,
#define NUMBER(NAME, ...) FIELD_##NAME,
	SAMPLE_NUMBERS(NUMBER)
#undef NUMBER
	FIELD_SRCCODE, FIELD_CALLINDENT, FIELD_METRIC, FIELD_IPC, FIELD_CYC, FIELD_TSC,
	FIELD_COUNT
};

#define FIELD_BIT(field) (UINT64_C(1) << (field))

/* The fields that frames of a call chain have, too. */
#define FIELDS_OF_PLACE (FIELD_BIT(FIELD_IP) | FIELD_BIT(FIELD_SYM) | FIELD_BIT(FIELD_SYMOFF) | FIELD_BIT(FIELD_DSO) | \
	FIELD_BIT(FIELD_DSOFF) | FIELD_BIT(FIELD_SRCLINE))

/* Classes of events by the fields that they can have: the kernel's types, events that decoders make, all others (PMUs by number). */
enum event_class {
	CLASS_HARDWARE, CLASS_SOFTWARE, CLASS_TRACEPOINT, CLASS_HW_CACHE, CLASS_RAW, CLASS_BREAKPOINT, CLASS_SYNTH, CLASS_OTHER,
	CLASS_COUNT
};

enum event_class event_class(const struct attr *attr);

struct fields;
struct listing_line;
struct field_row;

typedef void field_print(const struct listing_line *line, const struct field_row *row);

/* The lines that have the field. */
enum field_lines {
	LINES_OF_SAMPLES,
	LINES_OF_RECORDS,       /* of samples, and of other records, which begin with these fields */
	LINES_OF_OTHER_SAMPLES, /* of samples that are not branches themselves (attr_is_branch_trace) */
	LINES_AFTER_SAMPLES,    /* of samples that are not branches: after the end of the line */
};

/* What a recording must have so that the field can be shown. Without it a default field is left out, and one that was asked for is an
 * error. */
struct field_need {
	uint64_t sample_type;   /* one of these bits of the event; 0: no bit */
	uint64_t shown;         /* a bit of enum field: shown for the class, too; 0: no field */
	bool (*recorded)(const struct header *header); /* NULL: nothing else */
	const char *missing;    /* the word for the bits in perf's sentence about their absence; NULL: `sentence` is the whole */
	const char *sentence;
	const char *hint;       /* NULL: none */
	bool strict;            /* an error for a default field, too */
	bool decoded;           /* no error if the recording has a hardware trace: a decoder makes the samples */
};

/* A column of a table. */
struct field_column {
	const char *name;       /* NULL: no such column */
	enum cell_kind kind;
	const char *unit;
	bool (*exists)(const struct fields *fields); /* whether a table with the field has the column; NULL: always */
	/* Texts, lists and maps of the cell are valid until the line ends. NULL: all cells are absent. */
	struct cell (*value)(const struct listing_line *line);
};

enum { FIELD_COLUMNS = 2 };

struct field_row {
	const char *name;       /* in -F */
	uint8_t shown, absent;  /* a bit per class of events: shows it by default; cannot have it */
	bool everywhere;        /* -F applies it to all classes, whatever class it names */
	bool unsupported;       /* -F refuses it: it is not supported yet */
	bool names;             /* needs symbol tables or debug information */
	uint64_t includes;      /* fields that are shown with it */
	struct field_need need;
	bool (*has)(const struct attr *attr); /* whether samples of an event have it; NULL: all events that pass `need` */
	enum field_lines lines;
	field_print *print;     /* NULL: another field's text includes it, or it has no text */
	bool joined;            /* print is that of the row before, which prints both */
	struct field_column columns[FIELD_COLUMNS];
};

extern const struct field_row field_rows[FIELD_COUNT];
