/* The commands of --control. Source: perf-record(1), --control. Internal to record/. */
#pragma once
#include "record/recorder_internal.h"

/* Reads what has arrived and executes the complete lines. */
void commands_read(struct recorder *r);
