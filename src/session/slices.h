/* The slices of a batch, which workers run in parallel: samples are decoded, resolved and passed to the sink. Internal to session/. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct session;

/* Whether all samples are passed in order, by one worker. */
bool session_is_serial(const struct session *session);
/* Cuts the running batch into slices of about the same work. Depends only on the batch, so that any number of workers yields the same
 * slices. */
void slices_cut(struct session *session);
/* A job of the pool: context is the session. */
void slice_run(void *context, size_t slice, unsigned worker);
