/* The destination of a session's records and resolved samples. */
#pragma once
#include "session/resolved.h"

/* A sink is either parallel (per-worker state, the sink merges the results in order) or serial. */
struct sink {
	void *context;
	/* Called on the owner before the slices of a batch run. A batch has `slices` slices of consecutive samples in delivery order. NULL:
	 * none. */
	void (*batch_begin)(void *context, struct session *session, size_t slices);
	/* Called on a worker for every record of a slice, in order within the slice. Samples are resolved and decoded. Other records are passed
	 * only if want_records is set; r->sample is then the trailer. r->event UINT32_MAX: no known event. */
	void (*record)(void *context, const struct resolved *r, size_t slice);
	/* Called at the end of a slice, on its worker. NULL: none. */
	void (*slice_end)(void *context, const struct worker *worker, size_t slice);
	/* Called on the owner while the slices of a batch run: a sink may do then what earlier batches left. NULL: nothing. */
	void (*meanwhile)(void *context);
	/* Called on the owner after all slices of the batch; slices are consumed in order of index. */
	void (*batch_end)(void *context, struct session *session, size_t slices);
	/* For streams: drops what the sink has cached of a worker's points, and of ids of threads and strings. Called on the worker between two
	 * slices, or on the owner between two batches. It lets the session drop points, and what the model stores of ended processes. NULL: both
	 * live until the session's end. */
	void (*forget)(void *context, unsigned worker);
	/* The account of the sink's memory: bytes that its end takes beyond those in use now, if no record follows. Called on the owner between
	 * two batches; with the bytes in use it determines where a limit of memory is reached. NULL: an estimate by what is in use. */
	size_t (*ahead)(void *context);
	bool want_records;  /* pass side-band and tool records, too, in delivery order (script --show-*, -D, report --tasks/--stats) */
	/* With want_records: whether the sink uses records of this type, which is not that of samples; the others are not passed. Called on any
	 * worker. NULL: all. */
	bool (*wants_type)(void *context, uint32_t type);
	bool late_places;   /* locations of samples that a decoder makes are found where the sink asks for them (resolved_ip), not ahead */
	bool serial;        /* one slice per batch */
	/* Called on the owner for every record as it is read, in file order, before delivery, for -D and counting. NULL: none. */
	void (*raw)(void *context, struct session *session, const struct record *record);
	bool unordered;     /* deliver in file order */
	bool checks_only;   /* use only `raw`: all records are checked in file order, and change nothing */
	/* Records are passed at once, on the owner, without slices: batch_begin is called when the header may have grown, batch_end is not.
	 * Samples are decoded by sample_decode_brief, and nothing is looked up: thread, comm, address spaces, locations. Samples of a trace are
	 * not added, chains are not completed by later records; `raw` is not called. */
	bool plain;
	bool spaces;        /* with `plain`: thread, comm and address spaces are looked up, for session_place */
	/* With `plain`: whether the sink uses samples of this event; those of others are checked, but not ordered, resolved or passed. Called
	 * for the first sample of an event after each batch_begin. NULL: all. */
	bool (*wants_event)(void *context, uint32_t event);
	bool skip_samples;  /* use only side-band: samples are checked, but not resolved or passed */
};
