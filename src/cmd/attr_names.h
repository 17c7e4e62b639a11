/* Names of PMUs and tracepoints of this machine, for the numbers in `evlist -v` and in headers. Looked up in sysfs and
 * tracefs at the first use. */
#pragma once
#include "data/attr_text.h"

/* names->context owns the names. */
void attr_names_open(struct attr_names *names);
void attr_names_close(struct attr_names *names);
