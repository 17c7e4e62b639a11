/* The recording that a rewriting makes: records in the order in which they are added, and the header of the source as far as it is still
 * true. It is one file, or a pipe, and not compressed. The command line is the new one, the table of build-ids is the caller's, the index
 * of hardware traces states their new offsets. Does not interpret records, except for those that only one of both forms has. */
#pragma once
#include "base/vec.h"
#include "data/source.h"
#include "data/time_index.h"
#include "data/writer.h"
#include "record/write/output.h"

struct aux_entry {
	uint64_t offset, size;
};

struct new_recording {
	struct output output;
	struct data_writer writer;
	const struct source *source;
	const struct evlist *evlist;  /* of the source, or what replaces it; borrowed */
	const char *const *command;   /* argv, NULL-terminated */
	bool without_traces, with_branches; /* the features that the header loses and gets */
	bool begun;                   /* the writer is open */
	bool finished;                /* the output is complete and stays */
	struct writer made;           /* buffer for records that are put together */
	VEC(struct aux_entry) aux;    /* AUXTRACE records */
	bool indexed;                 /* the file ends in an index by time */
	struct time_index index;
	struct error error;           /* the first failure; records after it are dropped */
};

/* Closed, and safe to close. */
void new_recording_init(struct new_recording *new);
/* Opens the output. source and command are borrowed. */
int new_recording_open(struct new_recording *new, const char *path, const struct source *source, const char *const *command,
	struct error *err);
/* A record, whose head lies in the 8 bytes before its body. payload: the bytes that follow it in the recording. */
void new_recording_add(struct new_recording *new, const struct record *record, struct span payload);
/* The records in `made`, which becomes empty. */
void new_recording_add_made(struct new_recording *new);
/* Writes what follows the records, and reports the first failure of all. build_ids: the body of that feature; data NULL: absent. */
int new_recording_finish(struct new_recording *new, struct span build_ids, struct error *err);
/* Removes a file that is not finished, and gives the older one its name again. */
void new_recording_close(struct new_recording *new);
