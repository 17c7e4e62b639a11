/* The code of functions while `top` runs: the measuring thread counts samples by address and makes the lines, the screen's thread asks. */
#pragma once
#include "cmd/top/top.h"
#include "render/tui/snapshot.h"

struct annotator;
struct top_code;

/* For the modules of the current generation. */
struct annotator *top_annotator_new(const struct top *top);

int top_code_new(struct top_code **code, struct top *top, struct error *err);
void top_code_free(struct top_code *code); /* after both threads; NULL is allowed */

/* The screen's thread: the lines of the row's function. It waits for the measuring thread, whose next step is due at once. NULL: *err. */
struct snapshot *top_code_show(struct top_code *code, const struct snapshot *shot, uint32_t row, struct error *err);

/* The measuring thread. */
void top_code_add(struct top_code *code, const struct resolved *r);
void top_code_serve(struct top_code *code);
struct snapshot *top_code_again(struct top_code *code); /* the function of the last answer, with its counts of now; NULL: none */
void top_code_decay(struct top_code *code);
void top_code_zero(struct top_code *code);
void top_code_renew(struct top_code *code);
void top_code_end(struct top_code *code); /* it makes no further step */
