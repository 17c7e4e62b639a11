/* Locates the user frames of the recorded call chains of a block of samples before the sink asks for them. Where most addresses are new
 * (many processes, each at its own addresses), the worker's cache of addresses seldom has one, and a location costs several cache misses
 * one after the other; here those of all samples of the block overlap, and the locations are in one small array. Internal to session/. */
#pragma once
#include <stddef.h>

struct location;
struct resolved;
struct worker;

struct callchains {
	struct location *locations;   /* of the current block */
	size_t asked;                 /* frames of call chains that the sink asked for, in the current slice */
	size_t misses;                /* locations that were in no cache */
	size_t located;               /* frames that were located ahead */
	unsigned ahead;               /* for how many slices frames are still located ahead */
};

void callchains_fini(struct callchains *callchains);
/* Decides whether call chains are located ahead in the next slice. */
void callchains_begin_slice(struct callchains *callchains);
/* Locates the call chains of the samples; their locations are valid until the next call. */
void callchains_locate(struct worker *worker, struct resolved *resolved, size_t count);
