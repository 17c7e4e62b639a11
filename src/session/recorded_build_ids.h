/* Rows of a recording's build-id table → model. Rows of a pipe arrive one by one with its records. */
#pragma once
#include "data/header.h"
#include "model/model.h"

/* Adds the rows from *taken on and sets *taken to their number. */
void recorded_build_ids_take(struct model *model, const struct header *header, size_t *taken);
