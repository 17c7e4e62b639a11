/* A report whose keys are levels of a tree. */
#pragma once
#include "render/text/report_text.h"

void hierarchy_text_print(const struct report_text *report, const struct hist *hist, struct writer *out);
