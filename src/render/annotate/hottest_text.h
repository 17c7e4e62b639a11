/* The hottest instruction of each function, one line for each. */
#pragma once
#include "render/annotate/annotate_text.h"

/* The heading, and the line of one annotation; nothing for a function without samples of the view's events. */
void hottest_head_print(struct writer *out);
void hottest_text_print(const struct annotate_style *style, const struct annotate_view *view, struct writer *out);
