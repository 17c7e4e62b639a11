/* The code of a row's function, for the browser: samples are counted by address while the report is made. */
#pragma once
#include "cmd/report/setup.h"

struct code_view;

/* Before and while the recording is read. */
struct code_view *code_view_new(struct report *report);
void code_view_add(struct code_view *view, const struct resolved *r);
/* After the session ran. */
void code_view_finish(struct code_view *view);
void code_view_free(struct code_view *view); /* NULL is allowed */

/* The lines of the function of a row as a table: share, address, place in the source, code or source line, line of a jump's target.
 * NULL and *err: the function is not known, or nothing of its code. With lines, *err may say that their code is missing. */
struct snapshot *code_view_show(struct code_view *view, const struct snapshot *shot, uint32_t row, struct error *err);
