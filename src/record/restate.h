/* Makes side-band records with the time of a sample: names and mappings of processes whose samples are written long after their side-band,
 * which is not in the file; and mappings of the data of files, for which the kernel made no record. Knows no ring. */
#pragma once
#include <stdint.h>

#include "abi/attr.h"
#include "abi/sample.h"
#include "base/hash.h"
#include "base/writer.h"
#include "model/model.h"

struct restated {
	const struct modules *modules; /* the model's, also where that is an old generation */
	struct attr attr;              /* whose sample_id is the trailer of each record */
	struct idmap written;          /* hashes of the written mappings and names */
};

/* Forgets what was written. */
void restated_fini(struct restated *restated);
/* Writes what the model has about the thread and its process and was not written yet. as_of: the sample's time, or the next one that the
 * model knows. */
void restate(struct restated *restated, const struct model *model, int32_t pid, int32_t tid, uint64_t time, uint64_t as_of,
	struct writer *out);
/* Writes mappings of the data of files whose code is mapped, unless they were written: perf with libunwind reads call frame information
 * there. root: the mappings at the time of the sample. */
void restate_data(struct restated *restated, const struct map_node *root, const struct sample *sample, const char *buildid_dir,
	struct writer *out);
