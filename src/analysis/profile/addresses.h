/* Profiles that show no more of a sample than its event and its place: samples are counted by address, and the counts are added to the
 * profile at the end, each as one. Internal to the profile. */
#pragma once
#include <stdbool.h>

#include "session/sink.h"

struct addresses;
struct profile;

void addresses_free(struct addresses *addresses); /* accepts NULL */
/* The sink that counts by address; false: this profile shows more than that, or is read before the session's end. */
bool addresses_sink(struct profile *profile, struct sink *sink);
/* Adds what was counted to the profile, which has it then. To be called before the session is closed. */
void addresses_add(struct profile *profile);
