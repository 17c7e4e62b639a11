/* Filters of the user for the samples that `script` prints: shared objects with the interface of perf-dlfilter(1). A filter runs with the
 * rights of this process: an object that another user could have changed is refused. What a filter writes with stdio becomes part of the
 * output, where it was written. Called by one thread. */
#pragma once
#include "arch/isa.h"
#include "base/error.h"
#include "base/vec.h"
#include "base/writer.h"

struct cli;
struct input;
struct resolved;
struct dlfilter;

struct dlfilter_options {
	const char *path;        /* with a slash: a path; otherwise a name in this folder, in dlfilters of the exec path, or of a library */
	VEC(char *) arguments;
	enum isa isa;            /* of the recording */
	bool force;              /* whoever owns the object */
};

/* Loads the object and starts the filter. input: opened, borrowed; its symbols are needed at the first sample. */
int dlfilter_open(struct dlfilter **filter, const struct dlfilter_options *options, struct input *input, struct writer *out,
	struct error *err);
/* As listing_options.user_filter; context: struct dlfilter. */
int dlfilter_sample(void *context, const struct resolved *r, bool early, bool dropped, struct writer *out, struct error *err);
/* Stops the filter. */
int dlfilter_end(struct dlfilter *filter, struct writer *out, struct error *err);
void dlfilter_close(struct dlfilter *filter); /* NULL is allowed */

/* Prints the filters in this folder and in that of the exec path, with what they say of themselves. */
int dlfilter_list(struct cli *cli, bool verbose, bool force, struct error *err);
