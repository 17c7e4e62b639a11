/* What one worker gathers of a profile: tallies, groups, stacks, and caches over the worker's locations. Internal to the profile. */
#pragma once
#include "analysis/entry/names.h"
#include "analysis/entry/view.h"
#include "analysis/profile/joined.h"

/* What is known of one of the worker's locations: its note. */
struct site {
	uint32_t symbol;             /* as symbols_lookup */
	uint32_t self, frame;        /* places + 1, 0: not asked yet: of a sample there, of a frame there */
	uint32_t tally;               /* + 1: where the last sample there was added; 0: none yet */
	uint8_t known, filtered;     /* filtered: by --dsos and --symbols */
};

/* The frames that one address stands for, innermost first; none: it stands for itself. */
struct frame_run {
	uint32_t first, count;       /* into collector.run_places */
};

/* The raw chain of an earlier sample, and what became of it. */
struct chain_memo {
	uint64_t hash;
	const struct map_node *user_root, *kernel_root;
	uint64_t *words;
	uint32_t word_count, capacity;
	uint32_t node;
	uint32_t parent_site;        /* location id + 1 of the frame that --parent matched; 0: none */
	uint32_t root_site;          /* location id + 1 of the frame that --ignore-callees matched */
	uint32_t joined;             /* its joined part, of collector.joined; STACK_ROOT: it has none */
};

enum { CHAIN_MEMOS = 1 << 15 };

struct collector {
	struct profile *profile;
	VEC(struct access) log;            /* of the batch at hand; of all since wild addresses were seen */
	bool wild;                         /* addresses too far apart to be ordered by their difference */
	struct stacks stacks;
	struct tuples groups;
	struct tallies tallies;
	const struct location **locations; /* by id */
	uint32_t location_count;
	struct chain_memo *memos;
	VEC(struct frame_run) runs;
	struct idmap run_of;               /* 2 * location id + enum frame_at → place in runs */
	VEC(uint32_t) run_places;
	uint64_t *row;                     /* of a group */
	uint32_t last_group;               /* UINT32_MAX: none */
	uint32_t last_node;                /* the stack of the last sample that had a chain */
	VEC(const struct location *) history; /* of the sample at hand: see branch_history.h */
	VEC(uint64_t) marks;
	struct arena payloads;
	struct writer text;                /* scratch */
	struct branch_counts branches;
	struct joined_parts joined;
};

struct collector *collector_new(struct profile *profile);
void collector_free(struct collector *collector);
/* Frees what only reading needs. Payloads stay: facts point into them. */
void collector_drop_caches(struct collector *collector);
void collector_sample(struct collector *collector, const struct resolved *r);

bool address_is_wild(uint64_t address);
/* Where a frame lies: by its address as recorded. */
uint32_t collector_frame(struct collector *collector, const struct location *location);
struct site *collector_site(struct collector *collector, const struct location *location);
/* Where the sample's chain leads: the stack's node. Fills what --parent and --ignore-callees found: location ids + 1, or 0. */
struct chain_found {
	uint32_t node, parent_site, root_site;
};
struct chain_found collector_chain(struct collector *collector, const struct resolved *r);

/* Adds to the tally of this key (group, node, place, cpumode, filtered); the first one's other fields stay. */
struct tally *tallies_add(struct tallies *tallies, const struct tally *key, const struct tally_sums *sums);
/* The same without other sums. *near: index + 1 of the tally that probably has this key (0: no idea); set to the one that had it. */
void tallies_add_near(struct tallies *tallies, const struct tally *key, uint32_t *near);
void tallies_fini(struct tallies *tallies);
