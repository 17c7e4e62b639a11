/* Source of the form: the files themselves, and tools/perf/pmu-events/README of the kernel. */
#include "vendor/vendor_entry.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"

enum { TEXT_MAX = 1 << 16 };

const char *vendor_member(const json_t *object, const char *key, char number[static 32])
{
	const json_t *member = json_object_get(object, key);
	const char *text = json_string_value(member);
	if (json_is_integer(member)) {
		snprintf(number, 32, "%" JSON_INTEGER_FORMAT, json_integer_value(member));
		text = number;
	}
	return text && *text && strlen(text) < TEXT_MAX ? text : NULL;
}

/* The perfmon files write what is absent as "0", "0x00", "null" or "na". */
static bool is_nothing(const char *text)
{
	char *end;
	return !text || strcasecmp(text, "null") == 0 || strcasecmp(text, "na") == 0 || strcasecmp(text, "None") == 0 ||
		(strtoull(text, &end, 0) == 0 && end > text && *end == '\0');
}

static const char *given(const json_t *object, const char *key, char number[static 32])
{
	const char *text = vendor_member(object, key, number);
	return is_nothing(text) ? NULL : text;
}

/* A number, or the first one of a list. false: no number. */
static bool parse_number(const char *text, uint64_t *value)
{
	char *end;
	bool hex = strncasecmp(text, "0x", 2) == 0;
	errno = 0;
	*value = strtoull(text, &end, hex ? 16 : 10);
	return isxdigit((unsigned char)*text) && !errno && end > text && (*end == '\0' || *end == ',' || *end == ' ');
}

static void append_number(struct str *out, uint64_t value, bool decimal)
{
	str_printf(out, value < 10 || decimal ? "%" PRIu64 : "0x%" PRIx64, value);
}

/* The term of each member, in the order in which a list shows them. */
static const struct {
	const char *key, *term;
} fields[] = {
	{ "AnyThread", "any" }, { "PortMask", "ch_mask" }, { "CounterMask", "cmask" }, { "EdgeDetect", "edge" }, { "FCMask", "fc_mask" },
	{ "Invert", "inv" }, { "SampleAfterValue", "period" }, { "UMask", "umask" }, { "NodeType", "type" }, { "RdWrMask", "rdwrmask" },
	{ "EnAllCores", "enallcores" }, { "EnAllSlices", "enallslices" }, { "SliceId", "sliceid" }, { "ThreadMask", "threadmask" },
};

static bool wrong_number(struct vendor *v, const char *path, const char *name, const char *key)
{
	vendor_remark(v, "%s: %s of the event %s is not a number", path, key, name);
	return false;
}

static bool append_code(struct vendor *v, const json_t *object, const char *path, const char *name, struct str *out)
{
	static const char *const keys[][2] = { { "ConfigCode", "config" }, { "EventidCode", "eventid" }, { "EventCode", "event" } };
	char number[32];
	uint64_t value, more = 0;
	for (size_t i = 0; i < 3; i++) {
		const char *text = vendor_member(object, keys[i][0], number);
		if (!text && i < 2)
			continue;
		value = 0;
		if (text && !parse_number(text, &value))
			return wrong_number(v, path, name, keys[i][0]);
		text = i == 2 ? given(object, "ExtSel", number) : NULL;
		if (text && !parse_number(text, &more))
			return wrong_number(v, path, name, "ExtSel");
		str_printf(out, "%s=", keys[i][1]);
		append_number(out, value | more << 8, false);
		return true;
	}
	return true;
}

static bool append_fields(struct vendor *v, const json_t *object, const char *path, const char *name, struct str *out)
{
	char number[32];
	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
		uint64_t value, extended = 0;
		const char *text = given(object, fields[i].key, number);
		bool umask = strcmp(fields[i].term, "umask") == 0;
		const char *more = umask ? given(object, "UMaskExt", number) : NULL;
		if (!text && !more)
			continue;
		if ((text && !parse_number(text, &value)) || (more && !parse_number(more, &extended)))
			return wrong_number(v, path, name, fields[i].key);
		str_printf(out, ",%s=", fields[i].term);
		append_number(out, (text ? value : 0) | extended << 8, text && strncasecmp(text, "0x", 2) != 0);
	}
	return true;
}

/* Registers that an event's value is for. */
static bool append_msr(struct vendor *v, const json_t *object, const char *path, const char *name, struct str *out)
{
	static const struct {
		uint64_t msr;
		const char *term;
	} rows[] = { { 0x3f6, "ldlat" }, { 0x1a6, "offcore_rsp" }, { 0x1a7, "offcore_rsp" }, { 0x3f7, "frontend" } };
	char number[32], number2[32];
	const char *index = given(object, "MSRIndex", number), *value = vendor_member(object, "MSRValue", number2);
	uint64_t msr, set;
	if (!index)
		return true;
	if (!parse_number(index, &msr) || !value || !parse_number(value, &set))
		return wrong_number(v, path, name, "MSRIndex or MSRValue");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].msr == msr) {
			str_printf(out, ",%s=%s", rows[i].term, value);
			break;
		}
	return true;
}

/* The fixed counters of Intel's processors: their names mean these codes, whatever the files say. */
static const char *fixed_terms(const char *name)
{
	static const char *const rows[][2] = {
		{ "inst_retired.any", "event=0xc0,period=2000003" }, { "inst_retired.any_p", "event=0xc0,period=2000003" },
		{ "cpu_clk_unhalted.ref", "event=0x0,umask=0x03,period=2000003" }, { "cpu_clk_unhalted.thread", "event=0x3c,period=2000003" },
		{ "cpu_clk_unhalted.core", "event=0x3c,period=2000003" },
		{ "cpu_clk_unhalted.thread_any", "event=0x3c,any=1,period=2000003" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (strcmp(rows[i][0], name) == 0)
			return rows[i][1];
	return NULL;
}

/* Without characters that break a line or that a terminal interprets. */
static const char *make_line(char *text)
{
	for (char *at = text; *at; at++)
		*at = (unsigned char)*at < ' ' ? ' ' : *at;
	text_make_printable(text);
	return text;
}

const char *vendor_line(struct vendor *v, const char *text)
{
	return text ? make_line(arena_string(&v->arena, text, strlen(text))) : NULL;
}

static const char *keep_lower(struct vendor *v, const char *before, const char *text)
{
	size_t length = strlen(before);
	char *copy = arena_bytes(&v->arena, length + strlen(text) + 1);
	memcpy(copy, before, length);
	do
		copy[length++] = (char)tolower((unsigned char)*text);
	while (*text++);
	return make_line(copy);
}

/* The PMU of a unit's name. */
static const char *pmu_of_unit(struct vendor *v, const char *unit, const char *fallback)
{
	static const char *const rows[][2] = {
		{ "CBO", "uncore_cbox" }, { "QPI LL", "uncore_qpi" }, { "SBO", "uncore_sbox" }, { "iMPH-U", "uncore_arb" },
		{ "CPU-M-CF", "cpum_cf" }, { "CPU-M-SF", "cpum_sf" }, { "PAI-CRYPTO", "pai_crypto" }, { "PAI-EXT", "pai_ext" },
		{ "UPI LL", "uncore_upi" }, { "L3PMC", "amd_l3" }, { "DFPMC", "amd_df" }, { "UMCPMC", "amd_umc" },
	};
	static const char *const same[] = {
		"hisi_sicl,cpa", "hisi_sccl,ddrc", "hisi_sccl,hha", "hisi_sccl,l3c", "imx8_ddr", "imx9_ddr", "cpu_core", "cpu_atom", "ali_drw",
		"arm_cmn",
	};
	if (!unit || strcasecmp(unit, "core") == 0 || strcasecmp(unit, "cpu") == 0)
		return fallback ? fallback : "default_core";
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (strcmp(rows[i][0], unit) == 0)
			return rows[i][1];
	for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
		if (strcmp(same[i], unit) == 0)
			return same[i];
	return keep_lower(v, "uncore_", unit);
}

static void cut_end(struct str *text, const char *end)
{
	size_t length = strlen(end);
	if (text->len >= length && strcmp(text->text + text->len - length, end) == 0)
		text->text[text->len -= length] = '\0';
}

/* A description without its last full stop, with what other members add to it. */
static const char *describe(struct vendor *v, const json_t *object, const char *key, const char *more)
{
	char number[32];
	const char *text = vendor_member(object, key, number);
	CLEANUP_STR struct str out = { 0 };
	if (!text)
		return NULL;
	str_puts(&out, text);
	cut_end(&out, ".  ");
	cut_end(&out, ". ");
	cut_end(&out, ".");
	str_puts(&out, more);
	return make_line(arena_string(&v->arena, out.text, out.len));
}

static void append_notes(const json_t *object, struct str *out)
{
	char number[32];
	const char *errata = given(object, "Errata", number), *brief = json_string_value(json_object_get(object, "BriefDescription"));
	if (given(object, "Data_LA", (char[32]){ 0 }))
		str_printf(out, "  Supports address when precise%s", errata ? "." : "");
	if (errata)
		str_printf(out, "  Spec update: %s", errata);
	const char *precise = given(object, "PEBS", number);
	if (precise && brief && !strstr(brief, "(Precise Event)"))
		str_puts(out, strcmp(precise, "2") == 0 ? " (Must be precise)" : " (Precise event)");
}

/* Members that the event lacks come from the standard event of the architecture that it names. */
static bool take_standard(struct vendor *v, const json_t *object, const char *path, struct vendor_event *event)
{
	char number[32];
	const char *name = vendor_member(object, "ArchStdEvent", number);
	for (size_t i = 0; name && i < v->standard_events.count; i++) {
		const struct vendor_event *from = &v->standard_events.items[i];
		if (strcasecmp(from->name, name) != 0)
			continue;
		event->name = event->name ? event->name : from->name;
		event->terms = from->terms;
		event->description = event->description ? event->description : from->description;
		event->long_description = event->long_description ? event->long_description : from->long_description;
		event->scale_unit = event->scale_unit ? event->scale_unit : from->scale_unit;
		return true;
	}
	if (name)
		vendor_remark(v, "%s: there is no standard event %s of the architecture", path, name);
	return !name;
}

static void index_event(struct vendor *v, const struct vendor_event *event)
{
	uint32_t index = (uint32_t)v->events.count;
	uint64_t hash = vendor_name_hash(event->name);
	uint32_t first = idmap_get(&v->by_name, hash);
	vec_push(&v->events, *event);
	v->events.items[index].next = VENDOR_NO_EVENT;
	if (first == IDMAP_NONE) {
		idmap_set(&v->by_name, hash, index);
		return;
	}
	while (v->events.items[first].next != VENDOR_NO_EVENT)
		first = v->events.items[first].next;
	v->events.items[first].next = index;
}

static bool is_known(struct vendor *v, const struct vendor_event *event)
{
	size_t same = 0;
	for (const struct vendor_event *at = NULL; (at = vendor_find(v, event->name, at));)
		if (strcmp(at->unit, event->unit) == 0 || ++same >= VENDOR_SAME_NAME_MAX)
			return true;
	return false;
}

bool vendor_add_event(struct vendor *v, const json_t *object, const char *path, const struct vendor_origin *origin)
{
	char number[32];
	CLEANUP_STR struct str terms = { 0 }, notes = { 0 };
	const char *name = vendor_member(object, "EventName", number), *filter;
	struct vendor_event event = { .topic = origin->topic };
	event.name = name ? keep_lower(v, "", name) : NULL;
	name = name ? event.name : "";
	append_notes(object, &notes);
	event.unit = pmu_of_unit(v, vendor_member(object, "Unit", number), origin->unit);
	event.description = describe(v, object, "BriefDescription", str_text(&notes));
	event.long_description = describe(v, object, "PublicDescription", str_text(&notes));
	event.scale_unit = vendor_line(v, vendor_member(object, "ScaleUnit", number));
	event.per_package = given(object, "PerPkg", number) != NULL;
	event.deprecated = given(object, "Deprecated", number) != NULL;
	if (!append_code(v, object, path, name, &terms) || !append_fields(v, object, path, name, &terms))
		return false;
	filter = given(object, "Filter", number);
	if (filter)
		str_printf(&terms, ",%s", filter);
	if (!append_msr(v, object, path, name, &terms) || !take_standard(v, object, path, &event))
		return false;
	const char *fixed = event.name ? fixed_terms(event.name) : NULL;
	if (fixed || !event.terms)
		event.terms = fixed ? fixed : arena_string(&v->arena, terms.text, terms.len);
	if (event.name && v->standard)
		vec_push(&v->standard_events, event);
	else if (event.name && !is_known(v, &event))
		index_event(v, &event);
	return true;
}

static const char *standard_text(const char *own, const char *standard)
{
	return own ? own : standard;
}

static const struct metric *standard_metric(const struct vendor *v, const char *name)
{
	for (size_t i = 0; i < v->standard_metrics.count; i++)
		if (strcasecmp(v->standard_metrics.items[i].name, name) == 0)
			return &v->standard_metrics.items[i];
	return NULL;
}

bool vendor_has_standard_metric(const struct vendor *v, const char *name)
{
	return standard_metric(v, name) != NULL;
}

static void take_standard_metric(struct vendor *v, const json_t *object, struct metric *metric)
{
	char number[32];
	const char *name = vendor_member(object, "ArchStdEvent", number);
	const struct metric *from = name ? standard_metric(v, name) : NULL;
	if (from) {
		metric->name = standard_text(metric->name, from->name);
		metric->expression = standard_text(metric->expression, from->expression);
		metric->groups = standard_text(metric->groups, from->groups);
		metric->threshold = standard_text(metric->threshold, from->threshold);
		metric->scale_unit = standard_text(metric->scale_unit, from->scale_unit);
		metric->description = standard_text(metric->description, from->description);
		metric->long_description = standard_text(metric->long_description, from->long_description);
	}
}

static enum metric_constraint constraint_of(const char *text)
{
	if (!text)
		return METRIC_GROUPED;
	if (strcmp(text, "NO_GROUP_EVENTS") == 0)
		return METRIC_NOT_GROUPED;
	if (strcmp(text, "NO_GROUP_EVENTS_NMI") == 0 || strcmp(text, "NO_NMI_WATCHDOG") == 0)
		return METRIC_NOT_GROUPED_WITH_WATCHDOG;
	return strcmp(text, "NO_GROUP_EVENTS_SMT") == 0 ? METRIC_NOT_GROUPED_WITH_SMT : METRIC_GROUPED;
}

bool vendor_add_metric(struct vendor *v, const json_t *object, const char *path)
{
	char number[32];
	const char *unit = vendor_member(object, "Unit", number);
	struct metric metric = {
		.name = vendor_line(v, vendor_member(object, "MetricName", number)),
		.expression = vendor_line(v, vendor_member(object, "MetricExpr", number)),
		.groups = vendor_line(v, vendor_member(object, "MetricGroup", number)),
		.no_groups = vendor_line(v, vendor_member(object, "MetricgroupNoGroup", number)),
		.threshold = vendor_line(v, vendor_member(object, "MetricThreshold", number)),
		.scale_unit = vendor_line(v, vendor_member(object, "ScaleUnit", number)),
		.description = describe(v, object, "BriefDescription", ""),
		.long_description = describe(v, object, "PublicDescription", ""),
		.pmu = unit ? pmu_of_unit(v, unit, NULL) : NULL,
		.constraint = constraint_of(vendor_member(object, "MetricConstraint", number)),
	};
	take_standard_metric(v, object, &metric);
	/* perfmon's own metrics have formulas of another language; the kernel's are made of them */
	if (!metric.name || (!metric.expression && json_object_get(object, "Formula")))
		return true;
	if (!metric.expression) {
		vendor_remark(v, "%s: the metric %s has no MetricExpr of 1 to %d bytes", path, metric.name, TEXT_MAX - 1);
		return false;
	}
	bool added = true;
	if (v->standard) {
		vec_push(&v->standard_metrics, metric);
		return true;
	}
	idmap_add(&v->metric_by_name, vendor_name_hash(metric.name), (uint32_t)v->metrics.count, &added);
	if (added)
		vec_push(&v->metrics, metric);
	return true;
}
