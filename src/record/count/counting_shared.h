/* The events of a measurement that BPF programs count (the modifier b): which they are, and how their counts become those of counters.
 * Internal to record/count. */
#pragma once
#include "record/count/counting.h"

void counting_share_all(struct events *events);
/* Shared counters are read one by one: of a group with one of them, every event counts alone, and a warning says so. */
void counting_split_groups(struct events *events, struct str *warnings);
/* Fails if the kernel does not run the programs. An event that it cannot count gets the state of one that is not supported. */
int counting_open_shared(struct counting *counting, const struct counting_options *options, struct error *err);
int counting_start_shared(struct counting *counting, struct error *err);
/* event: UINT32_MAX: all. */
void counting_switch_shared(struct counting *counting, uint32_t event, bool on);
bool counting_is_shared(const struct counting *counting, uint32_t event);
/* The count of a counter, as of the last shared_counts_read. */
struct count counting_shared_count(const struct counting *counting, size_t counter);
void counting_close_shared(struct counting *counting);
