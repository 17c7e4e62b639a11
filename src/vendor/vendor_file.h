/* Reads one JSON file of events and metrics. Internal to vendor/. */
#pragma once
#include "base/error.h"
#include "vendor/vendor.h"

/* Where a file is from. */
struct vendor_origin {
	const char *topic;               /* NULL: of no topic */
	const char *unit;                /* of events that have none; NULL: "default_core" */
};

/* Adds what the file describes; a damaged file adds a remark. Entries that are neither event nor metric are ignored. */
void vendor_file_read(struct vendor *vendor, const char *path, const struct vendor_origin *origin);
void vendor_remark(struct vendor *vendor, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The number of all hashes of names. */
uint64_t vendor_name_hash(const char *name);
