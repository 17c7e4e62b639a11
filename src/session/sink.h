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
	/* Called on the owner after all slices of the batch; slices are consumed in order of index. */
	void (*batch_end)(void *context, struct session *session, size_t slices);
	bool want_records;  /* pass side-band and tool records, too, in delivery order (script --show-*, -D, report --tasks/--stats) */
	bool serial;        /* one slice per batch */
	/* Called on the owner for every record as it is read, in file order, before delivery, for -D and counting. NULL: none. */
	void (*raw)(void *context, struct session *session, const struct record *record);
	bool unordered;     /* deliver in file order */
	bool skip_samples;  /* use only side-band: samples are checked, but not resolved or passed */
};
