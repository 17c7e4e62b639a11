#include "script/fields.h"

#include <string.h>

#include "data/evsel_name.h"
#include "script/rows.h"

#define B(name) FIELD_BIT(FIELD_##name)

static const struct {
	const char *name;        /* before a ':' in -F; NULL: cannot be named */
	const char *description;
} classes[CLASS_COUNT] = {
	[CLASS_HARDWARE] = { "hw", "hardware" }, [CLASS_SOFTWARE] = { "sw", "software" },
	[CLASS_TRACEPOINT] = { "trace", "tracepoint" }, [CLASS_HW_CACHE] = { NULL, "hardware cache" }, [CLASS_RAW] = { "raw", "raw" },
	[CLASS_BREAKPOINT] = { "break", "breakpoint" }, [CLASS_SYNTH] = { "synth", "synthesized" }, [CLASS_OTHER] = { NULL, "other" },
};

uint64_t fields_shown(const struct fields *fields)
{
	uint64_t shown = fields->everywhere;

	for (int c = 0; c < CLASS_COUNT; c++)
		shown |= fields->classes[c].shown;
	return shown;
}

void fields_words(struct str *to)
{
	for (int i = 0; i < FIELD_COUNT; i++)
		if (!field_rows[i].unsupported)
			str_printf(to, "%s%s", i ? ", " : "", field_rows[i].name);
}

bool fields_show_names(const struct fields *fields)
{
	uint64_t shown = fields_shown(fields);

	for (int i = 0; i < FIELD_COUNT; i++)
		if (shown >> i & 1 && field_rows[i].names)
			return true;
	return false;
}

void fields_init(struct fields *fields)
{
	*fields = (struct fields){ .chains = true };
	for (int i = 0; i < FIELD_COUNT; i++)
		for (int c = 0; c < CLASS_COUNT; c++)
			if (field_rows[i].shown >> c & 1)
				fields->classes[c].shown |= FIELD_BIT(i);
}

static int field_find(const char *text, size_t len)
{
	for (int i = 0; i < FIELD_COUNT; i++)
		if (strlen(field_rows[i].name) == len && !memcmp(field_rows[i].name, text, len))
			return i;
	return -1;
}

static int class_find(const char *text, size_t len)
{
	for (int i = 0; i < CLASS_COUNT; i++)
		if (classes[i].name && strlen(classes[i].name) == len && !memcmp(classes[i].name, text, len))
			return i;
	return -1;
}

static void field_apply(struct class_fields *to, uint64_t bit, bool remove, bool everywhere)
{
	to->shown = remove ? to->shown & ~bit : to->shown | bit;
	to->given = to->wildcard = true;
	if (!everywhere)
		return;
	to->asked = remove ? to->asked & ~bit : to->asked | bit;
	to->refused = remove ? to->refused | bit : to->refused & ~bit;
}

/* Applies one word of the list to one class (class >= 0) or to all. */
static int word_apply(struct fields *fields, int class, int field, bool remove, struct str *notes, struct error *err)
{
	const struct field_row *row = &field_rows[field];
	uint64_t bit = FIELD_BIT(field);

	if (row->everywhere) {
		fields->everywhere = remove ? fields->everywhere & ~bit : fields->everywhere | bit;
		return 0;
	}
	if (row->unsupported && !remove)
		return error_set(err, ERROR_UNSUPPORTED, "the field '%s' is not supported yet", row->name);
	for (int i = 0; i < CLASS_COUNT; i++) {
		if (class >= 0 && class != i)
			continue;
		if (!(row->absent >> i & 1))
			field_apply(&fields->classes[i], bit, remove, class < 0);
		else if (class >= 0)
			return error_set(err, ERROR_USAGE, "%s events have no field '%s'", classes[i].description, row->name);
		else
			str_printf(notes, "%s events have no field '%s': it is left out there\n", classes[i].description, row->name);
	}
	return 0;
}

/* A list without signs replaces the fields that were shown before. */
static void fields_clear(struct fields *fields, int class, struct str *notes)
{
	bool before = false;

	for (int i = 0; i < CLASS_COUNT; i++) {
		if (class >= 0 && class != i)
			continue;
		before |= fields->classes[i].given;
		fields->classes[i].shown = 0;
		fields->classes[i].given = true;
		fields->classes[i].wildcard = class < 0;
	}
	if (before)
		str_printf(notes, "this -F replaces the fields of %s events that an earlier one gave\n",
			class < 0 ? "all" : classes[class].description);
}

int fields_parse(struct fields *fields, const char *text, struct str *notes, struct error *err)
{
	const char *colon = strchr(text, ':');
	int class = colon ? class_find(text, (size_t)(colon - text)) : -1;
	bool any = false, replaces = false;

	if (colon && class < 0)
		return error_set(err, ERROR_USAGE, "-F knows no event type '%.*s'", (int)(colon - text), text);
	if (!*text)
		return error_set(err, ERROR_USAGE, "-F cannot take all fields from all types of events");
	text = colon ? colon + 1 : text;
	if (!strpbrk(text, "+-"))
		fields_clear(fields, class, notes);
	while (*(text += strspn(text, ","))) {
		size_t len = strcspn(text, ",");
		char sign = *text == '+' || *text == '-' ? *text : '\0';
		const char *word = text + (sign != '\0');
		size_t word_len = len - (sign != '\0');
		if (any && replaces != !sign)
			return error_set(err, ERROR_USAGE, "-F takes either +field and -field, or a whole new list");
		any = true;
		replaces = !sign;
		text += len;
		int field = field_find(word, word_len);
		if (field < 0)
			return error_set(err, ERROR_USAGE, "-F knows no field '%.*s'", (int)word_len, word);
		if (word_apply(fields, class, field, sign == '-', notes, err) < 0)
			return -1;
	}
	return 0;
}

/* If several fields cannot be shown, the error is about the first of these, as perf's is. */
static const uint8_t checked_fields[] = {
	FIELD_IP, FIELD_ADDR, FIELD_DATA_SRC, FIELD_WEIGHT, FIELD_SYM, FIELD_DSO, FIELD_SYMOFF, FIELD_SRCLINE, FIELD_SRCCODE, FIELD_BRSTACKINSN,
	FIELD_BRSTACKINSNLEN, FIELD_BRSTACKDISASM, FIELD_BRCNTR, FIELD_PID, FIELD_TID, FIELD_TIME, FIELD_CPU, FIELD_IREGS, FIELD_UREGS,
#define NUMBER(NAME, ...) FIELD_##NAME,
	SAMPLE_NUMBERS(NUMBER)
#undef NUMBER
	FIELD_INS_LAT, FIELD_CGROUP, FIELD_RETIRE_LAT,
};

static int need_fail(enum field field, const struct evsel *evsel, struct error *err)
{
	const struct field_need *need = &field_rows[field].need;
	char buffer[EVSEL_NAME_MAX];

	/* perf2bolt looks for this sentence, to tell a recording without addresses from a failure (docs/interfaces.md) */
	if (need->missing)
		error_set(err, ERROR_USAGE, "Samples for '%s' event do not have %s attribute set. Cannot print '%s' field.",
			evsel_name(evsel, buffer, sizeof buffer), need->missing, field_rows[field].name);
	else
		error_set(err, ERROR_USAGE, "%s", need->sentence);
	return need->hint ? error_hint(err, "%s", need->hint) : -1;
}

static bool need_is_met(const struct field_need *need, const struct class_fields *class, const struct evsel *evsel,
	const struct header *header)
{
	return (!need->sample_type || evsel->attr.sample_type & need->sample_type) && (!need->shown || class->shown & need->shown) &&
		(!need->recorded || need->recorded(header));
}

static int check_field(struct class_fields *class, enum field field, const struct evsel *evsel, const struct header *header,
	struct error *err)
{
	const struct field_need *need = &field_rows[field].need;
	uint64_t bit = FIELD_BIT(field);

	if (!(class->shown & bit) || need_is_met(need, class, evsel, header))
		return 0;
	if (!need->strict && !(class->asked & bit)) {
		class->shown &= ~bit;
		return 0;
	}
	return need->decoded && header_has(header, FEATURE_AUXTRACE) ? 0 : need_fail(field, evsel, err);
}

static int check_event(struct fields *fields, const struct header *header, const struct evsel *evsel, struct error *err)
{
	struct class_fields *class = &fields->classes[event_class(&evsel->attr)];

	if (attr_is_dummy(&evsel->attr) || header_has(header, FEATURE_STAT))
		return 0;
	for (size_t i = 0; i < sizeof checked_fields; i++)
		if (check_field(class, checked_fields[i], evsel, header, err) < 0)
			return -1;
	return 0;
}

static void set_place(struct class_fields *class)
{
	class->place = class->shown & FIELDS_OF_PLACE;
}

static int settle_class(struct fields *fields, const struct header *header, enum event_class c, struct error *err)
{
	const struct evlist *evlist = &header->evlist;
	struct class_fields *class = &fields->classes[c];
	const struct evsel *first = NULL;

	for (size_t i = 0; i < evlist->events.count && !first; i++)
		if (event_class(&evlist->events.items[i].attr) == c && !attr_is_dummy(&evlist->events.items[i].attr))
			first = &evlist->events.items[i];
	if (!first && class->given && !class->wildcard && c != CLASS_SYNTH)
		return error_set(err, ERROR_USAGE, "the recording has no %s events, for which -F names fields", classes[c].description);
	if (!first)
		return 0;
	if (class->shown && check_event(fields, header, first, err) < 0)
		return -1;
	for (int i = 0; i < FIELD_COUNT; i++)
		if (class->shown >> i & 1)
			class->shown |= field_rows[i].includes;
	set_place(class);
	return 0;
}

int fields_settle(struct fields *fields, const struct header *header, bool hide_chains, struct error *err)
{
	const struct evlist *evlist = &header->evlist;
	struct class_fields *trace = &fields->classes[CLASS_TRACEPOINT];
	const struct evsel *tod = NULL;
	bool chains = false, trace_chains = false;

	for (int c = 0; c < CLASS_COUNT; c++) {
		if (settle_class(fields, header, (enum event_class)c, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < evlist->events.count; i++) {
		const struct attr *attr = &evlist->events.items[i].attr;
		if (!attr_is_dummy(attr) && fields->classes[event_class(attr)].shown & B(TOD))
			tod = &evlist->events.items[i];
		chains |= attr->sample_type & SAMPLE_CALLCHAIN;
		trace_chains |= attr->type == ATTR_TRACEPOINT && attr->sample_type & SAMPLE_CALLCHAIN;
	}
	fields->chains = !hide_chains && (chains || !evlist->events.count);
	if (fields->chains && trace_chains && !trace->given) {
		trace->shown |= B(IP) | B(SYM) | B(SYMOFF) | B(DSO);
		set_place(trace);
	} else if (tod && !field_rows[FIELD_TOD].need.recorded(header)) {
		return need_fail(FIELD_TOD, tod, err);
	}
	return 0;
}

int fields_settle_event(struct fields *fields, const struct header *header, uint32_t event, struct error *err)
{
	const struct evlist *evlist = &header->evlist;
	const struct attr *attr = &evlist->events.items[event].attr;
	struct class_fields *class = &fields->classes[event_class(attr)];
	uint64_t types = 0;

	for (uint32_t i = 0; i <= event; i++) {
		const struct attr *other = &evlist->events.items[i].attr;
		types |= other->sample_type;
		if (i < event && other->type == attr->type)
			return 0;
	}
	/* perf does not set the fields of places of such events here */
	if (event_class(attr) == CLASS_OTHER)
		return 0;
	if (attr->sample_type && check_event(fields, header, &evlist->events.items[event], err) < 0)
		return -1;
	bool unwinds = types & SAMPLE_REGS_USER && types & SAMPLE_STACK_USER;
	if (fields->chains && (types & (SAMPLE_CALLCHAIN | SAMPLE_BRANCH_STACK) || unwinds))
		class->shown |= (B(IP) | B(SYM)) & ~class->refused;
	set_place(class);
	return 0;
}
