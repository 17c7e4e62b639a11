/* The mappings of the kernel by the sections of its file. Internal to session/. */
#pragma once
#include "session/state.h"

/* Maps the sections when the record of the kernel's mapping has been applied: the kernel is known from then on. *seen: the number of
 * modules that were checked, none of which is a kernel. */
void session_place_kernel(struct session *session, size_t *seen, uint64_t clock);
