/* What the parts of the exporter share: the rows that workers store, and the ids that the owner has given. */
#pragma once
#include "analysis/count/sample_reads.h"
#include "base/hash.h"
#include "export/calls.h"
#include "export/exporter.h"
#include "export/synthesized.h"

enum { MACHINE = 1 };

/* Where an address lies; module MODULE_ID_NONE: in no mapping. */
struct place {
	uint32_t module, symbol;     /* symbol: id of symbols_lookup, 0: none */
	uint64_t offset, address;
	uint8_t inlines;             /* of a frame that is shown with the functions inlined there: enum frame_at + 1 */
};

enum row_kind { ROW_SAMPLE, ROW_SWITCH, ROW_EXIT };

/* What a worker stores of a record. */
struct row {
	enum row_kind kind;
	uint32_t thread, event;
	int32_t pid, tid, other_pid, other_tid; /* other: of a switch, if it names both threads */
	uint64_t clock;
	struct place ip, addr;
	bool has_addr;
	uint16_t misc;
	uint32_t cpu, flags, chain_count;
	size_t chain;                /* index in slice.chains */
	size_t reads, reads_len;     /* counter values of a sample that has them: bytes of slice.reads */
	uint64_t ip_address, addr_address, time, period, weight, transaction, data_src, instructions, cycles;
	uint8_t size, raw[SYNTHESIZED_BYTES]; /* of a synthesized event */
};

struct slice {
	VEC(struct row) rows;
	VEC(struct place) chains;
	VEC(uint8_t) reads;
};

struct known_thread {
	uint64_t row;                /* id in the database; 0: not there yet */
	int32_t pid, tid;
	uint32_t model;              /* id in the model; THREAD_NONE: unknown to it */
	uint32_t comm_index;         /* of the comm whose row was looked up last … */
	uint64_t comm_row;           /* … and its row; 0: none */
};

/* The calls that are inlined at a place, outermost first: numbers in symbol_keys. */
struct inlined {
	uint32_t first, count;
	bool complete;               /* the debug information names the function around them, too, by another name than its symbol's */
};

/* A frame of a call chain after the path `from`, with the path of calls up to it. */
struct step {
	struct place place;
	uint32_t from, path;         /* path PATH_ROOT: no step yet */
	size_t low_symbols;          /* of the exporter, when it was added */
};

struct exporter {
	struct database *database;
	struct session *session;
	struct symbols *symbols;
	struct calls *calls;         /* NULL: not wanted */
	struct call_paths paths;
	struct slices {
		struct slice *items;
		size_t count, capacity;
	} slices, read;              /* read: of the last batch, until its rows are written while the workers read the next */
	VEC(struct known_thread) threads;
	VEC(uint32_t) numbers;       /* by id in the model: index in threads + 1; 0: none yet */
	struct triples thread_keys, comm_keys, symbol_keys; /* row of a comm or symbol: number + 1 */
	VEC(uint32_t) dsos, events;  /* by module, by event: ids in the database, 0: not there yet */
	VEC(uint64_t) starts;        /* of symbols */
	size_t low_symbols;          /* made at numbers that can be offsets in a file */
	struct sample_reads reads;
	struct idmap symbol_rows;    /* module and id of a known symbol → its number in symbol_keys */
	struct triples inlined_keys; /* module, offset and `inlines` of a frame */
	VEC(struct inlined) inlined; /* by number in inlined_keys */
	struct step *steps;          /* STEPS of them: the last one of each hash */
	struct triples stack_keys;   /* thread and CPU of a stack of calls */
	VEC(struct stack_thread { uint64_t row; int32_t tid; uint32_t number; }) stacks;
	struct idmap last_stacks;    /* thread id → the last one of its stacks */
	uint64_t thread_rows, dso_rows, event_rows, sample_rows, path_rows, call_rows, comm_thread_rows, switch_rows;
	bool has_machine, knows_exec; /* knows_exec: COMM records show whether a program was executed */
};

/* Whether the address of such a sample is that of code or data with a symbol: of branches, and of page faults. */
bool has_addr_place(const struct attr *attr);
/* sink.batch_begin and sink.record. */
void worker_rows_begin(void *context, struct session *session, size_t slices);
void worker_rows_add(void *context, const struct resolved *r, size_t slice);

/* The number of a thread. Between two lives, an id has a thread that the model does not know, perhaps without its process. The next life
 * continues it, unless it begins with a FORK record. */
uint32_t thread_number(struct exporter *exporter, uint32_t id, int32_t pid, int32_t tid, uint64_t clock);
/* Writes the rows of the thread, its process and their comms. Returns the row of the comm of the program that it runs; 0: unknown. */
uint64_t task_rows(struct exporter *exporter, uint32_t number, uint64_t clock);
