#include "render/hierarchy_text.h"

void hierarchy_text_print(const struct report_text *report, const struct hist *hist, struct writer *out)
{
}
