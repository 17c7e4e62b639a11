/* The code of one function, printed instead of a table by `top --stdio` (--sym-annotate, key s). */
#pragma once
#include "cmd/top/top.h"

struct listed_code;

/* Counts the samples of this function from now on. */
struct listed_code *listed_code_new(struct top *top, const char *symbol);
void listed_code_free(struct listed_code *listed); /* NULL is allowed */
void listed_code_add(struct listed_code *listed, const struct resolved *r);
/* Prints at most `lines` lines around the hottest one, or the reason for the lack of code; then decays the counts (zero: to 0). */
void listed_code_print(struct listed_code *listed, size_t lines, struct writer *out);
void listed_code_decay(struct listed_code *listed, bool zero);
/* Before a new generation of the model. */
void listed_code_renew(struct listed_code *listed);
