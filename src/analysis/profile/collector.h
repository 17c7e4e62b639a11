/* What one worker collects of a profile: tallies, sample keys, stacks, and caches over the worker's locations. Internal to the profile. */
#pragma once
#include "analysis/entry/names.h"
#include "analysis/entry/view.h"
#include "analysis/profile/joined.h"

/* The note of one of the worker's points. */
struct site {
	uint32_t symbol;             /* as symbols_lookup */
	uint32_t self, frame;        /* places + 1 of the last sample there and the last frame there; 0: not made yet */
	uint32_t tally;               /* + 1: where the last sample there was added; 0: nowhere yet */
	uint8_t known, filtered;     /* filtered: by --dsos and, at filter_address, by --symbols */
	bool idle;                   /* a function of the kernel's idle loop */
	uint64_t frame_address;      /* of `frame`, if its place depends on the address */
	uint64_t filter_address;
};

/* The expansion of one address, innermost first; empty: the address is one frame. */
struct expansion {
	uint32_t first, count;       /* into collector.expansion_places */
};

/* The recorded call chain of an earlier sample, and its stack. */
struct chain_memo {
	uint64_t hash;
	const struct map_node *user_root, *kernel_root;
	uint64_t *words;
	uint32_t word_count, capacity;
	uint32_t node;
	uint32_t joined;             /* its joined part, of collector.joined; STACK_ROOT: it has none */
};

enum {
	CHAIN_MEMOS = 1 << 15,
	CHAIN_MEMO_WORDS = 1 << 21,  /* of all memos: chains of hardware traces have thousands */
};

/* The frames of an earlier sample that --parent and --ignore-callees matched; point NULL: none. */
struct chain_match {
	struct location parent, root;
};

/* Of an event of a profile that is shown while it is collected (refresh.h): the rows that were dropped for their small weight. */
struct dropped {
	uint64_t period, passed;           /* passed: of those that passed the filters */
	uint64_t whole;                    /* of all rows, while they decay */
};

struct collector {
	struct profile *profile;
	VEC(struct access) log;            /* of the current batch; since the first wild address, of all */
	bool wild;                         /* addresses too far apart to be ordered by their difference */
	struct stacks stacks;
	struct tuples sample_keys;
	struct tallies tallies;
	uint64_t frames;                   /* of the stacks of all tallies */
	struct chain_memo *memos;          /* NULL: no chain was recorded yet */
	size_t memo_words;                 /* for which all memos have memory */
	struct chain_match *matches;       /* by memo; NULL: neither option is used */
	VEC(struct expansion) expansions;
	struct idmap expansion_of;               /* 2 * point id + enum frame_at → index of expansions */
	VEC(uint32_t) expansion_places;
	uint64_t *row;                     /* scratch: a row of sample_keys */
	uint32_t last_sample_key;          /* UINT32_MAX: no sample yet */
	uint32_t last_node;                /* the stack of the last sample that had a chain */
	VEC(uint32_t) stack;               /* scratch: the places of a sample's chain, outermost first */
	VEC(const struct location *) history; /* of the current sample: see branch_history.h */
	VEC(uint64_t) marks;
	struct arena payloads;
	struct writer text;                /* scratch */
	struct branch_counts branches;
	struct joined_parts joined;
	VEC(struct dropped) dropped;       /* by event */
};

struct collector *collector_new(struct profile *profile);
void collector_free(struct collector *collector);
/* Frees the caches. Payloads remain: facts point into them. */
void collector_drop_caches(struct collector *collector);
void collector_sample(struct collector *collector, const struct resolved *r);
/* The same for `count` samples that differ in nothing that the profile shows; r->sample->period is their sum. */
void collector_samples(struct collector *collector, const struct resolved *r, uint32_t count);

bool address_is_wild(uint64_t address);
/* The place of a frame: by its address as recorded. */
uint32_t collector_frame(struct collector *collector, const struct location *location);
struct site *collector_site(struct collector *collector, const struct location *location);
/* The node of the stack of the sample's chain, and the frames that --parent and --ignore-callees matched; NULL: none. */
struct chain_found {
	uint32_t node;
	const struct location *parent, *root;
};
struct chain_found collector_chain(struct collector *collector, const struct resolved *r);

/* Adds to the tally of this key (sample_key, node, place, cpumode, filtered); the other fields are those of the first. */
struct tally *tallies_add(struct tallies *tallies, const struct tally *key, const struct tally_sums *sums);
/* The same without other sums. *near: index + 1 of the tally that probably has this key (0: unknown); set to the one that has it. */
void tallies_add_near(struct tallies *tallies, const struct tally *key, uint32_t *near);
/* The numbers here of what a tally of another worker refers to; no two the same. */
struct tally_numbers {
	const uint32_t *sample_keys, *places, *nodes;
};
/* Adds the tallies of another worker, on all threads of the pool. The earlier first sample of two counts. ids receives by tally of `from`:
 * its index here. */
void tallies_merge(struct tallies *tallies, const struct tallies *from, const struct tally_numbers *numbers, uint32_t *ids,
	struct pool *pool);
void tallies_fini(struct tallies *tallies);
/* Bytes that the memory of so many tallies takes. */
size_t tallies_bytes(size_t count, bool sums);
