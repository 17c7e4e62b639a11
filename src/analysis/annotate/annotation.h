/* The code of one symbol as lines with counts: instructions, and source lines between them. It is a value: texts, layouts, colours and
 * percentages belong to the formats. Code, source files and disassemblers are opened once per annotator. */
#pragma once
#include "analysis/annotate/event_columns.h"
#include "analysis/annotate/hits.h"
#include "analysis/table/table.h"
#include "base/arena.h"
#include "code/disassemble.h"

enum annotated_kind {
	ANNOTATED_CODE,   /* an instruction */
	ANNOTATED_SOURCE, /* a line of a source file, before the instructions that were compiled from it */
	ANNOTATED_INLINE, /* the start of code that was inlined: text is the name of the inlined function, or of the symbol itself */
};

/* Statistics of an instruction from recorded branches. */
struct annotated_flow {
	bool covered;              /* some recorded block has it … */
	double coverage;           /* … of the blocks at the most covered instruction of the symbol, in [0, 1] */
	double entered;            /* a target of branches: percent of the next branch's runs that began here; 0: none */
	double left, predicted;    /* a branch: percent of its runs that were taken, and of these predicted; 0: none */
	double ipc;                /* a branch: instructions per cycle of the block that it ends; 0: unknown */
	uint64_t runs;             /* a branch: how often its cycles are known */
	uint64_t cycles;           /* a branch: average since the branch before; 0: unknown … */
	uint32_t least, most;      /* … of one run */
};

struct annotated_line {
	enum annotated_kind kind;
	uint64_t offset;           /* CODE: from the start of the symbol */
	uint64_t address;          /* CODE: as linked, as `objdump -d` shows it */
	const char *text;          /* SOURCE: the line; INLINE: the function; CODE: NULL */
	const char *mnemonic;      /* CODE; NULL: the code is missing */
	const char *operands;      /* CODE: "": the instruction has no operands */
	const uint8_t *bytes;      /* CODE */
	unsigned length;           /* CODE: of the bytes */
	enum code_kind code;       /* CODE */
	bool conditional;          /* CODE: a jump that may fall through */
	bool direct;               /* CODE: a jump or a call whose target is known … */
	bool inside;               /* … and is an instruction of this symbol: line target_line */
	uint32_t target_line;
	uint64_t target;           /* … its address as linked */
	const char *target_name;   /* … "main", "main+0x10"; NULL: no symbol */
	const char *reference_name; /* CODE: the symbol of an operand relative to the instruction pointer; NULL: absent … */
	uint64_t reference;        /* … its address as linked; 0: absent */
	bool fused;                /* CODE: the processor executes it together with the next instruction (x86: cmp or test, and a jump) */
	uint32_t jump_sources;     /* CODE: number of jumps of this symbol to here */
	const char *file;          /* source file of CODE and SOURCE, NULL: unknown */
	uint32_t line_number;      /* 0: unknown */
	uint32_t number;           /* CODE: of the instruction in the symbol, from 0 */
	struct annotated_flow flow; /* CODE */
	const struct hit *hits;    /* CODE: the samples from here to the next instruction, by offset and event: annotated_count */
	uint32_t hit_count;
};

static inline struct hit_count annotated_count(const struct annotated_line *line, uint32_t event)
{
	struct hit_count sum = { 0 };
	for (uint32_t i = 0; i < line->hit_count; i++) {
		if (line->hits[i].event == event) {
			sum.samples += line->hits[i].count.samples;
			sum.period += line->hits[i].count.period;
		}
	}
	return sum;
}

struct annotation {
	const struct module *module;
	uint32_t symbol;
	const char *name;          /* of the symbol, demangled */
	uint64_t start;            /* address of the symbol as linked */
	uint64_t size;
	const struct hit_count *totals; /* one for each event; NULL: the symbol has no samples */
	size_t event_count;
	VEC(struct annotated_line) lines;
	VEC(uint32_t) code;        /* the lines of instructions, in order of address */
	struct {
		bool recorded;         /* the recording has branches … */
		bool known;            /* … of which some are in the symbol */
		uint64_t cycles, instructions, covered; /* sums over the blocks with cycles; covered: their number */
	} flow;
	uint32_t hottest;          /* the line with the largest period of the first event with samples; UINT32_MAX: none */
	const char *section;       /* of the file; NULL: unknown */
	const char *path;          /* the file of the code; NULL: `missing` has the reason */
	/* No code: the only lines are those of addresses with samples, and have no texts. The same applies to the end of a symbol that is
	 * larger than its file or than ANNOTATION_BYTES_MAX, which is `cut`. */
	struct error missing;
	bool cut;
	struct arena arena;        /* owns the texts */
};

/* Limit on the code of one symbol that is disassembled. */
#define ANNOTATION_BYTES_MAX ((uint64_t)1 << 20)

struct annotator_options {
	struct symbols *symbols;
	const struct modules *modules;
	const struct header *header; /* of the recording, which may have the code of BPF programs; NULL: not used */
	const char *kcore;         /* a copy of the recorded kernel's memory; NULL or "": absent */
	enum code_syntax syntax;
	bool objdump;              /* spell as objdump does, with the targets of jumps and calls: "1250 <hot+0x60>" */
	bool source;               /* source lines between instructions */
	bool places;               /* file and line number of each instruction */
	bool inlined;              /* ANNOTATED_INLINE lines */
	const char *prefix;        /* put before the paths of source files; NULL: not set */
	unsigned prefix_strip;     /* with prefix: the number of leading folders to drop */
};

struct annotator;

struct annotator *annotator_new(const struct annotator_options *options); /* the options are copied, what they point to is borrowed */
void annotator_free(struct annotator *annotator); /* NULL is allowed */

/* Whether the module has a file with code; < 0: *err names the reason and the places that were searched. */
int annotator_check(struct annotator *annotator, uint32_t module, struct error *err);

/* The symbol of a module at an address as linked; 0: none. */
uint32_t annotator_symbol_at(struct annotator *annotator, uint32_t module, uint64_t address);

/* Makes the annotation of a symbol of a module, also of one without samples. Never fails: if the code is absent, annotation.missing has the
 * reason. hits may be NULL. *annotation is overwritten; the annotator must outlive it. */
void annotation_make(struct annotation *annotation, struct annotator *annotator, const struct hits *hits, uint32_t module,
	uint32_t symbol);
void annotation_fini(struct annotation *annotation); /* accepts a zeroed one */

/* The annotation as a table "code": address, then samples, period and share of each event with samples in the symbol, instruction, target,
 * source. */
struct annotation_table {
	struct table table;
	struct event_columns columns; /* of the events with samples in the symbol */
	struct table_fact facts[8];
	struct str hottest_line;      /* text of a fact */
	const struct annotation *annotation;
};

/* Borrows the annotation and the names of the events; the object must not move. */
void annotation_table_init(struct annotation_table *table, const struct annotation *annotation, const char *const *event_names);
void annotation_table_fini(struct annotation_table *table);
