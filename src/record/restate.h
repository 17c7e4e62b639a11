/* Side-band told again: names and mappings of processes whose samples are written long after the records that told of them, which are
 * not in the file. As records of the samples' times. Knows no ring. */
#pragma once
#include <stdint.h>

#include "abi/attr.h"
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
