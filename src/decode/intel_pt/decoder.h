/* Flow of a trace: packets and code → branches with times, instruction and cycle counts, and the other events of a trace. Source: Intel SDM
 * vol. 3, "Intel Processor Trace". Pure: a callback supplies the code, spans supply the packets; no I/O, no globals. Each thread of a
 * decoding has separate decoders. Knows no process, no sample. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "decode/intel_pt/clock.h"
#include "decode/intel_pt/code.h"
#include "decode/intel_pt/packet.h"

/* A piece of the trace of one CPU or thread. */
struct pt_piece {
	struct span bytes;
	uint64_t near;           /* a time (TSC) near its first TSC packet; 0: unknown */
	bool follows;            /* it continues the piece before; otherwise bytes may be missing between them */
	size_t repeated;         /* bytes in front of it that the piece before has, too, of overlapping snapshots */
};

/* Code mapped at [start, end): its bytes are at start - base in `code`. */
struct pt_range {
	uint64_t start, end, base;
	struct pt_code *code;    /* NULL: the range is known to have no code */
};

struct pt_config {
	struct pt_clock_config clock;
	bool interrupts;         /* MODE packets hold the interrupt flag */
	bool return_compression; /* the trace may hold a TNT bit instead of the target of a return */
	/* Finds the code at an address in the traced address space of now; false: nothing is mapped there. */
	bool (*locate)(void *context, uint64_t ip, struct pt_range *range);
	/* With calls_only: receives near calls (of `size` bytes) and returns within the traced code instead of their events. NULL: events. */
	void (*call)(void *context, bool is_return, uint64_t from, uint64_t to, unsigned size);
	void *context;
	unsigned quick;          /* code is not followed: 1: addresses in packets are instructions; 2: only those in PSB+ */
	bool paging;             /* PT_EVENT_PAGING is delivered */
	uint64_t loop_max;       /* direct branches and blocks of straight code without a packet, beyond which a trace is wrong; 0: 100,000 */
};

enum pt_event_kind {
	PT_EVENT_BRANCH,         /* from → to; from 0: the trace begins at `to`; to 0: it ends at `from`, or the target is not traced */
	PT_EVENT_INSTRUCTION,    /* decoder->stop_at instructions are complete; `from` is the last one */
	PT_EVENT_PSB,            /* payload: its position in the trace */
	PT_EVENT_CBR,            /* payload: another ratio, outside of PSB+ */
	PT_EVENT_PTWRITE,        /* payload: value */
	PT_EVENT_TSX,            /* payload: bit 0 in a transaction, bit 1 aborted */
	PT_EVENT_MWAIT,          /* payload: hints, extra: extensions */
	PT_EVENT_PWRE, PT_EVENT_PWRX, /* payload: as in the packet */
	PT_EVENT_EXSTOP,
	PT_EVENT_INTERRUPT,      /* CFE: payload: type; extra: vector */
	PT_EVENT_TRIGGER,        /* payload, extra: as in the packet */
	PT_EVENT_IFLAG,          /* payload: bit 0: interrupts are on now */
	PT_EVENT_BLOCK,          /* BBP … BEP: a PEBS record: decoder->blocks, until the next packet is read */
	/* A move to CR3 whose cycles are known, at `from`. payload: cycles since decoder->cycles; extra: instructions, with it, that are executed
	 * after those counted so far; to: its time (TSC). The event changes nothing of what the decoder knows. */
	PT_EVENT_PAGING,
	PT_EVENT_ERROR,          /* `error` is its number */
};

enum pt_error { /* numbers as perf prints them */
	PT_ERROR_NONE = 0, PT_ERROR_BAD_PACKET = 3, PT_ERROR_NO_CODE = 5, PT_ERROR_MISMATCH = 6, PT_ERROR_OVERFLOW = 7, PT_ERROR_LOST = 8,
	PT_ERROR_LOOP = 10,
};

struct pt_event {
	uint8_t kind;            /* enum pt_event_kind */
	uint8_t branch;          /* BRANCH, INSTRUCTION: enum instruction_kind of the instruction at `from` */
	uint8_t size;            /* BRANCH: its size; 0: unknown */
	uint8_t error;           /* enum pt_error */
	bool async : 1;          /* BRANCH: an interrupt or exception, not the instruction at `from`, which did not execute */
	bool begins : 1, ends : 1; /* BRANCH: tracing was switched on or off */
	bool leaves_guest : 1;   /* BRANCH, async: an exit of a virtual machine */
	bool guest : 1;          /* the code at `from`, or `to` of a branch without it, is that of a virtual machine */
	bool crosses : 1;        /* BRANCH: from the host to a virtual machine, or back */
	bool aborts : 1;         /* BRANCH: a transaction was aborted */
	bool in_transaction : 1;
	bool has_ip : 1;         /* others: `from` is the instruction it belongs to */
	bool interrupts_off : 1; /* before it; only with config.interrupts */
	bool interrupts_toggled : 1; /* by it; only with config.interrupts */
	bool lacks_call : 1;     /* ERROR, MISMATCH: a compressed return, whose call was in code that was not followed */
	bool apart : 1;          /* its packet has an address of its own, at which no branch leads away that the code does not show */
	bool timed : 1;          /* a CYC packet belongs to it: clock.cycles is exact here */
	uint32_t extra;          /* of ERROR, PSB, and a BRANCH that begins: branches whose code was not followed since the last of these */
	uint64_t from, to;
	uint64_t payload;
};

/* Data of an interrupt event. */
enum { PT_INTERRUPT_DATA_MAX = 3 };
struct pt_interrupt_data {
	uint8_t type;
	uint64_t payload;
};

/* The blocks of a PEBS record, by their type in BBP packets. */
enum pt_blocks { PT_BLOCKS_REGISTERS = 1, PT_BLOCKS_BASIC = 4, PT_BLOCKS_MEMORY = 5, PT_BLOCKS_BRANCHES = 8, PT_BLOCKS_VECTORS = 16,
	PT_BLOCKS = 17, PT_BLOCK_ITEMS = 32 };

struct pt_block_items {
	uint32_t present;        /* bit n: item n was recorded */
	uint64_t values[PT_BLOCK_ITEMS];
};

/* What execution continues to. PSB: the address in the PSB+ that follows; IP: of a FUP. */
enum pt_goal { PT_GOAL_PACKET, PT_GOAL_BITS, PT_GOAL_TARGET, PT_GOAL_END, PT_GOAL_IP, PT_GOAL_PSB };

struct pt_place {
	size_t piece, at;
	uint64_t position;       /* in all pieces together */
};

#define PT_RETURNS 4096u
#define PT_RANGES 4u

struct pt_decoder {
	struct pt_config config;
	struct pt_clock clock;
	const struct pt_piece *pieces; /* borrowed; more may be added at the end while it is decoded */
	size_t piece_count;
	uint64_t stop_at;        /* number of instructions after which PT_EVENT_INSTRUCTION is delivered; UINT64_MAX: never */
	uint64_t stop_every;     /* > 0: it is moved on by so many then */

	bool errors_only;        /* branches within the trace need not be delivered … */
	bool calls_only;         /* or: jumps need not be delivered … */
	uint64_t pause;          /* … before this time (TSC) */
	uint64_t tick_period;    /* > 0: PT_EVENT_INSTRUCTION is delivered about every so many ticks: set before the first event */

	uint64_t instructions;   /* executed in total */
	uint64_t time;           /* TSC estimate at the last event that a packet made; branches before it have the earlier one; 0: unknown */
	uint64_t cycles;         /* sum of cycles in traced code at that event */
	uint64_t exact_cycles;   /* that sum at the last event that a packet of time belongs to */
	unsigned mode;           /* 16, 32 or 64 */
	bool tracing;            /* the processor is in a traced region */
	bool next_non_root;      /* of the code behind the next branch */
	bool interrupts_on, non_root; /* non_root: the code is a guest's; interrupts_on: where events are traced */
	bool interrupts_change;  /* the next FUP or branch changes interrupts_on */
	bool interrupts_toggled; /* by the event that is made now */
	bool interrupt_data_used; /* the data was delivered: the next one begins anew */
	struct pt_block_items blocks[PT_BLOCKS]; /* by type */
	unsigned block_type;
	struct pt_interrupt_data interrupt_data[PT_INTERRUPT_DATA_MAX]; /* of the last PT_EVENT_INTERRUPT */
	unsigned interrupt_data_count;

	struct pt_place place;   /* of the next packet */
	uint64_t position;       /* of `packet` in the whole trace */
	struct pt_packet packet;
	enum pt_block in_block;
	struct pt_address address; /* unknown after an error: only whole addresses are trusted then, as in perf */
	bool synced, found;      /* found: the next packet is the PSB that was searched for */
	bool in_psb;             /* between PSB and PSBEND */
	bool overflowed;         /* the next FUP is where execution continues */
	/* position in the code */
	bool ip_known;           /* tracing, and the next instruction is known */
	uint64_t ip;
	uint64_t ended_at;       /* where tracing was switched off; 0: unknown */
	bool ended_before;       /* ended_at is that of a decoder in front of this one (segment.h) … */
	bool ended_missed;       /* … and was needed */
	struct pt_range range;
	bool forgotten;          /* range is out of date for the next block */
	struct pt_range ranges[PT_RANGES]; /* that were left, by the order in which they were */
	unsigned range_next;
	uint32_t block_index, block_generation;
	uint32_t done, done_bytes; /* of the block: instructions executed, their bytes */
	enum pt_goal goal;
	uint64_t bits, bit_count;
	uint64_t target;         /* of PT_GOAL_TARGET and _END; the address of _IP and _PSB */
	bool has_target;
	bool async;              /* a TIP that follows is a branch away from `ip` that no instruction made */
	uint64_t lost;           /* branches in packets of code that is not followed, which the next event counts */
	bool calls_lost;         /* calls behind the last PSB were not followed: that the processor compresses a return shows no address */
	bool at_fup;             /* ip is that of a FUP: the next target may be an interrupt's */
	uint64_t traced_cycles;
	uint64_t base_cycles, base_time; /* without CYC packets, cycles are counted by time since tracing was switched on */
	bool cycles_counted;     /* a packet of time precedes the packet that is being followed */
	uint32_t ratio_seen;     /* of the last CBR packet that was delivered, or in PSB+ */
	uint64_t loops;
	/* tick_period: an instruction counts as one tick after the last timed packet */
	uint64_t instructions_at_time, last_slot;
	bool in_slots;
	bool slots_guessed;      /* in_slots is a guess of a segment's, on which what follows may depend */
	bool slot_changes;       /* at the next INSTRUCTION event: otherwise, in_slots would be set there, and no event delivered */
	unsigned pending_mode;
	bool mode_changed;       /* the links between blocks are of another mode */
	struct pt_event waiting[8]; /* events that the next FUP completes with an address */
	unsigned waiting_count, waiting_next;
	bool delivering;         /* the waiting events are complete */
	bool transaction, aborts;
	uint64_t returns[PT_RETURNS];
	uint32_t return_top, return_count;
};

void pt_decoder_init(struct pt_decoder *decoder, const struct pt_config *config, const struct pt_piece *pieces, size_t count);
/* Before the first event: decoding begins at the last PSB that is older than a time (TSC), or at the first one. */
void pt_decoder_seek(struct pt_decoder *decoder, uint64_t time);
/* The next event. 1: *event; 0: all pieces are decoded (more may be added, and the call repeated). */
int pt_decoder_next(struct pt_decoder *decoder, struct pt_event *event);
/* The address space changed: what locate returned is no longer valid. */
void pt_decoder_forget(struct pt_decoder *decoder);
/* Reads a packet for its time alone, without the code that it belongs to. False: the trace ends. */
bool pt_decoder_skip(struct pt_decoder *decoder);
