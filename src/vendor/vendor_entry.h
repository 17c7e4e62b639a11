/* One object of a JSON file → an event or a metric. Internal to vendor/. */
#pragma once
#include <jansson.h>

#include "vendor/vendor_file.h"

/* false: the event is damaged, and a remark names the reason. */
bool vendor_add_event(struct vendor *vendor, const json_t *object, const char *path, const struct vendor_origin *origin);
bool vendor_add_metric(struct vendor *vendor, const json_t *object, const char *path);
/* The text of a member, or of a number as text (in `number`); NULL: absent or empty. */
const char *vendor_member(const json_t *object, const char *key, char number[static 32]);
bool vendor_has_standard_metric(const struct vendor *vendor, const char *name);
/* A copy without characters that break a line or that a terminal interprets; NULL for NULL. */
const char *vendor_line(struct vendor *vendor, const char *text);
