/* From tallies to entries, one sample key after the other (a sample key: all samples with equal columns that do not depend
 * on the place), each with the part of the stacks' trie that its tallies reach. Internal to the profile. */
#pragma once
#include "analysis/entry/entry.h"

/* A node of a stack within one sample key. */
struct trie_node {
	uint64_t period;             /* of the tallies at it and below */
	uint32_t count;
	uint32_t tally;               /* the earliest of them: index into fold.tallies */
	uint32_t parent, first_child, next_sibling; /* local indices; 0: none (the root is 0) */
	uint32_t place, chain;       /* chain: number by which frames are matched */
	uint32_t entry;              /* local index + 1; 0: not asked for */
	uint32_t next_of_entry;      /* the next node that starts a chain of the same entry; 0: none */
	uint32_t first_tally;         /* index + 1 into fold.tallies of those that end here; 0: none */
	uint16_t depth, deepest;
};

struct fold_tally {
	const struct tally *tally;
	uint32_t leaf;               /* local node */
	uint32_t next_at_leaf;       /* index + 1 */
	uint32_t entry;              /* local index + 1 of its own entry */
	uint32_t next_of_entry;      /* index + 1 */
};

struct fold_entry {
	struct entry *entry;
	uint32_t class;
	uint32_t first_node;         /* chains start there; 0: none */
	uint32_t first_tally;         /* index + 1 of its own tallies */
	uint32_t on_path;
	uint32_t first_from;         /* the node whose tally was the earliest; 0: its own */
	uint32_t earliest;           /* tally */
};

/* What an entry's own tallies add to a node; all_*: including those that its chains do not show. */
struct own_sums {
	uint64_t period, first;      /* first: clock of the earliest */
	uint64_t all_period;
	uint32_t count, all_count;
};

/* A continuation of a chain: a node, and the part of it that counts. */
struct chain_step {
	uint32_t chain, node;
	uint64_t period;
	uint64_t first;              /* clock of its earliest sample */
	uint32_t count;
	bool own;                    /* counts only the entry's own samples */
};

/* Steps at one frame, while they are brought together. */
struct chain_frame {
	uint32_t chain, steps;
};

struct fold {
	const struct profile *profile;
	struct arena *arena;         /* of entries and chains */
	struct fold *helpers;        /* by worker of the session's pool: make chains of single entries; NULL: there is no helper */
	uint32_t row_words;
	uint32_t *class_of_place, *chain_of_place;
	struct tuples classes;
	unsigned class_words;
	uint32_t *tally_order;        /* tallies by sample key */
	/* Of the current sample key: */
	VEC(struct trie_node) nodes;
	VEC(struct fold_tally) tallies;
	VEC(struct fold_entry) entries;
	uint32_t *local_of_node;     /* by stack node: local index, 0: none */
	uint32_t *entry_of_class;    /* by class: local index + 1, 0: none */
	VEC(uint32_t) reached;       /* stack nodes */
	bool counts_repeats;          /* recursion is not noticed */
	bool whole_chains;           /* entries will be collapsed: thresholds are applied later */
	bool earliest_shows;         /* a chain's frame shows the place of its earliest sample */
	bool first_matters;          /* that, or its branch marks do */
	bool own_apart;              /* the own samples of the current entry have separate chains: nodes count without them */
	VEC(struct own_sums) own;    /* by local node, 0 outside of a chain's making */
	VEC(struct chain_step) steps, gathered;
	VEC(struct chain_frame) frames;
	uint32_t *frame_of_chain;    /* zero outside of a gathering */
	VEC(struct chain_node) tree;
	VEC(uint32_t) tree_places, tree_order;
	VEC(struct branch_marks) tree_marks; /* of tree_places, where they are shown */
};

/* The stages after the merge: fills profile->folded from profile->collected. */
void profile_fold(struct profile *profile);
/* folded->hists are there, one per event, and empty: fills them. */
void fold_tallies(const struct profile *profile, struct folded *folded);

/* fold_jobs.c: makes the entries of all sample keys, in their order; totals of shown entries are added if `sums`. */
void fold_sample_keys(struct fold *fold, struct folded *folded, const uint32_t *starts, bool sums, bool chains);
/* Makes the chains of the entries whose chains are shown. */
void fold_chains(struct fold *fold, const struct hist *hist);
/* Makes the entries of one sample key, and their chains if they are wanted. */
void fold_sample_key(struct fold *fold, uint32_t sample_key, const uint32_t *tallies, uint32_t count, const struct hist *hist, bool chains);
struct hist *fold_hist_of_key(const struct profile *profile, struct folded *folded, uint32_t sample_key);
/* Room for `own` of all nodes, zeroed. */
void fold_reserve_own(struct fold *fold);
void fold_fini_scratch(struct fold *fold);

/* Builds the part of the trie that the tallies of the sample key reach: fold->nodes, leaves of fold->tallies. */
void fold_trie(struct fold *fold);
/* The chains of one entry, of at least min_hit (GRAPH) or the relative threshold. NULL: none. */
struct chain_tree *fold_chain(struct fold *fold, const struct fold_entry *entry, uint64_t min_hit);

/* Whether an entry's chains are shown, of those that weigh at least fold_least_hit. */
uint64_t fold_least_hit(const struct profile *profile, const struct hist *hist);
bool fold_shows_chain(const struct profile *profile, const struct hist *hist, const struct entry *entry);
/* The data of a tree, borrowed. */
struct chain_parts {
	const struct chain_node *nodes;
	const uint32_t *places, *order;
	const struct branch_marks *marks;    /* of places; NULL: none */
	size_t count, place_count, order_count;
};
/* NULL: profile->chain_room has no room for it. */
struct chain_tree *fold_keep_tree(const struct profile *profile, struct arena *arena, const struct chain_parts *parts, uint64_t min_hit);

/* Chains of given tallies, independent of sample keys. Several of them share one fold. */
struct fold *fold_new(const struct profile *profile);
void fold_free(struct fold *fold);
struct chain_tree *fold_chain_of_tallies(struct fold *fold, const struct hist *hist, const struct tally *tallies, uint32_t count);

/* Which of two frames with equal sums precedes: > 0: a. */
int64_t chains_compare(const struct profile *profile, uint32_t place_a, uint32_t place_b);
/* CHAIN_SRCLINE: whether they count as one frame. */
bool chains_same_line(const struct profile *profile, uint32_t place_a, uint32_t place_b);
