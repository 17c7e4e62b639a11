/* Side-band told again, or later than it came to be: names and mappings of processes whose samples are written long after the records
 * that told of them, which are not in the file; where files have their data, which no record told. As records of the samples' times.
 * Knows no ring. */
#pragma once
#include <stdint.h>

#include "abi/attr.h"
#include "abi/sample.h"
#include "base/hash.h"
#include "base/writer.h"
#include "model/model.h"

struct restated {
	const struct modules *modules; /* the model's, also where that is an old generation */
	struct attr attr;              /* whose sample_id stands behind each record */
	struct idmap told;             /* mappings and names, by what tells them apart */
};

/* Forgets what was told. */
void restated_fini(struct restated *restated);
/* What the model knows of the thread and its process, as_of the sample's time or the next that it knows of, and was not told yet. */
void restate(struct restated *restated, const struct model *model, int32_t pid, int32_t tid, uint64_t time, uint64_t as_of,
	struct writer *out);
/* Where the files whose code is mapped have their data, as far as they were not told yet: perf with libunwind reads call frame information
 * there. root: what was mapped when the sample was taken. */
void restate_data(struct restated *restated, const struct map_node *root, const struct sample *sample, const char *buildid_dir,
	struct writer *out);
