#include "vendor/vendor_file.h"

#include <ctype.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/regular.h"
#include "base/str.h"
#include "os/file.h"
#include "vendor/vendor_entry.h"

uint64_t vendor_name_hash(const char *name)
{
	char lower[256];
	uint64_t hash = 0;
	size_t length;
	do {
		for (length = 0; *name && length < sizeof lower; length++)
			lower[length] = (char)tolower((unsigned char)*name++);
		hash = hash_bytes_from(hash, lower, length);
	} while (*name);
	return hash;
}

void vendor_remark(struct vendor *v, const char *format, ...)
{
	CLEANUP_STR struct str text = { 0 };
	va_list args;
	v->refused++;
	if (v->remarks.count >= VENDOR_REMARKS_MAX)
		return;
	va_start(args, format);
	str_vprintf_line(&text, format, args);
	va_end(args);
	vec_push(&v->remarks, arena_string(&v->arena, str_text(&text), text.len));
}

/* false: no room for more. */
static bool add_entry(struct vendor *v, const json_t *object, const char *path, const struct vendor_origin *origin)
{
	if (v->events.count + v->standard_events.count >= VENDOR_EVENTS_MAX ||
	    v->metrics.count + v->standard_metrics.count >= VENDOR_METRICS_MAX) {
		vendor_remark(v, "%s: more than %d events or %d metrics; the rest is left out", path, VENDOR_EVENTS_MAX, VENDOR_METRICS_MAX);
		return false;
	}
	if (v->standard && (v->standard_events.count >= VENDOR_STANDARD_MAX || v->standard_metrics.count >= VENDOR_STANDARD_MAX)) {
		vendor_remark(v, "%s: more than %d standard events or metrics; the rest is left out", path, VENDOR_STANDARD_MAX);
		return false;
	}
	if (!json_is_object(object)) {
		vendor_remark(v, "%s: an entry is not an object", path);
		return true;
	}
	bool metric = json_object_get(object, "MetricName") || json_object_get(object, "MetricExpr");
	const char *standard = json_string_value(json_object_get(object, "ArchStdEvent"));
	bool standard_metric = standard && vendor_has_standard_metric(v, standard);
	if (metric || standard_metric)
		vendor_add_metric(v, object, path);
	if (json_object_get(object, "EventName") || (standard && !metric && !standard_metric))
		vendor_add_event(v, object, path, origin);
	return true;
}

/* "metricgroups.json": names of groups and their descriptions. */
static void add_groups(struct vendor *v, json_t *root)
{
	const char *name;
	json_t *value;
	json_object_foreach(root, name, value) {
		const char *text = json_string_value(value);
		if (!text || v->groups.count >= VENDOR_METRICS_MAX)
			continue;
		struct vendor_group *group = vec_add(&v->groups);
		group->name = vendor_line(v, name);
		group->description = vendor_line(v, text);
	}
}

static void add_root(struct vendor *v, json_t *root, const char *path, const struct vendor_origin *origin)
{
	static const char *const lists[] = { "Events", "Metrics" };
	json_t *list = root, *entry;
	size_t i;
	const char *name = strrchr(path, '/');
	if (json_is_object(root) && name && strcmp(name, "/metricgroups.json") == 0) {
		add_groups(v, root);
		return;
	}
	for (size_t k = 0; json_is_object(root) && k < 2; k++)
		list = json_is_array(json_object_get(root, lists[k])) ? json_object_get(root, lists[k]) : list;
	if (!json_is_array(list)) {
		vendor_remark(v, "%s: neither a list of events nor an object with \"Events\" or \"Metrics\"", path);
		return;
	}
	json_array_foreach(list, i, entry)
		if (!add_entry(v, entry, path, origin))
			return;
}

/* Reads the whole file; -1: a remark has the reason. */
static int read_bytes(struct vendor *v, const char *path, struct str *out)
{
	CLEANUP_FD int fd = regular_open(path, O_RDONLY | O_CLOEXEC);
	char buffer[1 << 14];
	ssize_t n = 0;
	while (fd >= 0 && out->len <= VENDOR_FILE_MAX && (n = read(fd, buffer, sizeof buffer)) > 0)
		str_add(out, buffer, (size_t)n);
	if (fd < 0 || n < 0) {
		vendor_remark(v, "%s: the file cannot be read", path);
		return -1;
	}
	v->bytes += out->len;
	if (out->len <= VENDOR_FILE_MAX && v->bytes <= VENDOR_TOTAL_MAX)
		return 0;
	vendor_remark(v, "%s: more than %d MiB, or with the other files more than %d MiB", path, VENDOR_FILE_MAX >> 20,
		VENDOR_TOTAL_MAX >> 20);
	return -1;
}

void vendor_file_read(struct vendor *v, const char *path, const struct vendor_origin *origin)
{
	CLEANUP_STR struct str text = { 0 };
	json_error_t err;
	if (++v->files > VENDOR_FILES_MAX) {
		vendor_remark(v, "%s: more than %d files", path, VENDOR_FILES_MAX);
		return;
	}
	if (read_bytes(v, path, &text) < 0)
		return;
	json_t *root = json_loadb(str_text(&text), text.len, 0, &err);
	if (!root) {
		vendor_remark(v, "%s: line %d, column %d: %s", path, err.line, err.column, err.text);
		return;
	}
	add_root(v, root, path, origin);
	json_decref(root);
}
