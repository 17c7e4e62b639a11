/* The recording that `inject` makes: records as they come, then the header of the one that was read, as far as it is still true. */
#pragma once
#include "base/vec.h"
#include "data/source.h"
#include "data/writer.h"
#include "record/write/features.h"
#include "record/write/output.h"

struct aux_entry {
	uint64_t offset, size;
};

struct inject_write {
	struct output output;
	struct data_writer writer;
	const struct source *source;
	const char *const *command;   /* argv, NULL-terminated: the new recording's command line */
	bool begun;                   /* the writer is open */
	bool finished;                /* it is whole, and stays */
	struct writer made;           /* records being put together */
	VEC(struct aux_entry) aux;
	struct error error;           /* the first failure */
};

int inject_write_open(struct inject_write *write, const char *path, const struct source *source, const char *const *command,
	struct error *err);
/* A record, as read. payload: what follows it in the file. */
void inject_write_record(struct inject_write *write, const struct record *record, struct span payload);
/* What was put together in `made`, which is emptied. */
void inject_write_made(struct inject_write *write);
/* The trailer that records of this event have, of a sample. */
void inject_add_trailer(struct writer *out, const struct evsel *evsel, const struct sample *sample);
/* build_ids: the body of that feature; data NULL: the recording gets none. */
int inject_write_finish(struct inject_write *write, struct span build_ids, struct error *err);
/* Takes the file back where it was not finished. */
void inject_write_close(struct inject_write *write);
