#include "script/fields.h"

#include <string.h>

#include "data/evsel_name.h"

#define TYPE_SYNTH 0x80000000u
#define B(name) FIELD_BIT(FIELD_##name)

#define WHO_AND_WHEN (B(COMM) | B(TID) | B(CPU) | B(TIME) | B(EVENT))
#define PLACE (B(IP) | B(SYM) | B(SYMOFF) | B(DSO))
#define USUAL (WHO_AND_WHEN | PLACE | B(PERIOD))

enum { SOFTWARE_DUMMY = 9 };

static const struct {
	const char *name;   /* before a ':' in -F; NULL: cannot be named */
	const char *spoken;
	uint64_t shown, invalid;
} classes[CLASS_COUNT] = {
	[CLASS_HARDWARE] = { "hw", "hardware", USUAL, B(TRACE) | B(BPF_OUTPUT) },
	[CLASS_SOFTWARE] = { "sw", "software", USUAL | B(BPF_OUTPUT), B(TRACE) },
	[CLASS_TRACEPOINT] = { "trace", "tracepoint", WHO_AND_WHEN | B(TRACE), 0 },
	[CLASS_HW_CACHE] = { NULL, "hardware cache", USUAL, B(TRACE) | B(BPF_OUTPUT) },
	[CLASS_RAW] = { "raw", "raw", USUAL | B(ADDR) | B(DATA_SRC) | B(WEIGHT) | B(PHYS_ADDR) | B(DATA_PAGE_SIZE) |
		B(CODE_PAGE_SIZE) | B(INS_LAT) | B(RETIRE_LAT), B(TRACE) | B(BPF_OUTPUT) },
	[CLASS_BREAKPOINT] = { "break", "breakpoint", USUAL, B(TRACE) | B(BPF_OUTPUT) },
	[CLASS_SYNTH] = { "synth", "synthesized", WHO_AND_WHEN | PLACE | B(SYNTH), B(TRACE) | B(BPF_OUTPUT) },
	[CLASS_OTHER] = { NULL, "other", USUAL, B(TRACE) | B(BPF_OUTPUT) },
};

static const char *const names[FIELD_COUNT] = {
	[FIELD_COMM] = "comm", [FIELD_TID] = "tid", [FIELD_PID] = "pid", [FIELD_TIME] = "time", [FIELD_CPU] = "cpu",
	[FIELD_EVENT] = "event", [FIELD_TRACE] = "trace", [FIELD_IP] = "ip", [FIELD_SYM] = "sym", [FIELD_DSO] = "dso",
	[FIELD_DSOFF] = "dsoff", [FIELD_ADDR] = "addr", [FIELD_SYMOFF] = "symoff", [FIELD_SRCLINE] = "srcline",
	[FIELD_PERIOD] = "period", [FIELD_IREGS] = "iregs", [FIELD_UREGS] = "uregs", [FIELD_BRSTACK] = "brstack",
	[FIELD_BRSTACKSYM] = "brstacksym", [FIELD_DATA_SRC] = "data_src", [FIELD_WEIGHT] = "weight",
	[FIELD_BPF_OUTPUT] = "bpf-output", [FIELD_CALLINDENT] = "callindent", [FIELD_INSN] = "insn", [FIELD_DISASM] = "disasm",
	[FIELD_INSNLEN] = "insnlen", [FIELD_BRSTACKINSN] = "brstackinsn", [FIELD_BRSTACKOFF] = "brstackoff",
	[FIELD_SYNTH] = "synth", [FIELD_METRIC] = "metric", [FIELD_MISC] = "misc",
	[FIELD_SRCCODE] = "srccode", [FIELD_IPC] = "ipc", [FIELD_TOD] = "tod", [FIELD_INS_LAT] = "ins_lat",
	[FIELD_BRSTACKINSNLEN] = "brstackinsnlen",
	[FIELD_MACHINE_PID] = "machine_pid", [FIELD_VCPU] = "vcpu", [FIELD_CGROUP] = "cgroup", [FIELD_RETIRE_LAT] = "retire_lat",
	[FIELD_BRSTACKDISASM] = "brstackdisasm", [FIELD_BRCNTR] = "brcntr",
#define NAME_OF(NAME, word, ...) [FIELD_##NAME] = word,
	SAMPLE_NUMBERS(NAME_OF)
#undef NAME_OF
};
_Static_assert(FIELD_COUNT <= 64, "a set of fields fits a word");

/* Fields that need what is not built yet: a disassembler, a decoder. */
static const uint64_t unsupported = B(BRSTACKINSN) | B(BRSTACKINSNLEN) | B(BRSTACKDISASM) | B(DISASM) |
	B(METRIC);

enum event_class event_class(const struct attr *attr)
{
	return attr->type == TYPE_SYNTH ? CLASS_SYNTH : attr->type < CLASS_SYNTH ? (enum event_class)attr->type : CLASS_OTHER;
}

bool fields_show_names(const struct fields *fields)
{
	uint64_t shown = 0;
	for (int c = 0; c < CLASS_COUNT; c++)
		shown |= fields->classes[c].shown;
	return shown & (B(SYM) | B(SYMOFF) | B(SRCLINE) | B(SRCCODE) | B(BRSTACKSYM));
}

bool attr_is_branch_trace(const struct attr *attr)
{
	/* as perf asks: any hardware event with this bit in its number */
	return attr->type == ATTR_HARDWARE && attr->config & 4 && attr->sample_period == 1;
}

bool attr_is_dummy(const struct attr *attr)
{
	return attr->type == ATTR_SOFTWARE && attr->config == SOFTWARE_DUMMY;
}

void fields_words(struct str *to)
{
	const char *separator = "";
	for (int i = 0; i < FIELD_COUNT; i++) {
		if (unsupported >> i & 1)
			continue;
		str_printf(to, "%s%s", separator, names[i]);
		separator = ", ";
	}
	str_puts(to, ", flags");
}

void fields_init(struct fields *fields)
{
	*fields = (struct fields){ .chains = true };
	for (int i = 0; i < CLASS_COUNT; i++)
		fields->classes[i].shown = classes[i].shown;
}

static int field_find(const char *text, size_t len)
{
	for (int i = 0; i < FIELD_COUNT; i++)
		if (strlen(names[i]) == len && !memcmp(names[i], text, len))
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

/* One word of the list for one class (class >= 0) or for all. */
static int word_apply(struct fields *fields, int class, int field, bool remove, struct str *notes, struct error *err)
{
	uint64_t bit = FIELD_BIT(field);

	if (unsupported & bit && !remove)
		return error_set(err, ERROR_UNSUPPORTED, "the field '%s' is not supported yet", names[field]);
	for (int i = 0; i < CLASS_COUNT; i++) {
		if (class >= 0 && class != i)
			continue;
		if (!(classes[i].invalid & bit))
			field_apply(&fields->classes[i], bit, remove, class < 0);
		else if (class >= 0)
			return error_set(err, ERROR_USAGE, "%s events have no field '%s'", classes[i].spoken, names[field]);
		else
			str_printf(notes, "%s events have no field '%s': left out there\n", classes[i].spoken, names[field]);
	}
	return 0;
}

/* A list without signs replaces what was shown before. */
static void start_over(struct fields *fields, int class, struct str *notes)
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
		str_printf(notes, "what -F said before about %s events no longer counts\n", class < 0 ? "all" : classes[class].spoken);
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
		start_over(fields, class, notes);
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
		if (field < 0 && word_len == 5 && !memcmp(word, "flags", 5))
			fields->flags = sign != '-';
		else if (field < 0)
			return error_set(err, ERROR_USAGE, "-F knows no field '%.*s'", (int)word_len, word);
		else if (word_apply(fields, class, field, sign == '-', notes, err) < 0)
			return -1;
	}
	return 0;
}

/* What a field needs of an event's sample_type. lenient: may be asked for all the same where a decoder makes the samples. */
static const struct need {
	enum field field;
	uint64_t sample_type;
	const char *missing;    /* as the sentence calls it that programs look for */
	bool lenient;
} needs[] = {
	{ FIELD_IP, SAMPLE_IP, "IP" },
	{ FIELD_ADDR, SAMPLE_ADDR, "ADDR", true },
	{ FIELD_DATA_SRC, SAMPLE_DATA_SRC, "DATA_SRC", true },
	{ FIELD_WEIGHT, SAMPLE_WEIGHT | SAMPLE_WEIGHT_STRUCT, "WEIGHT", true },
	{ FIELD_PID, SAMPLE_TID, "TID" },
	{ FIELD_TID, SAMPLE_TID, "TID" },
	{ FIELD_TIME, SAMPLE_TIME, "TIME" },
	{ FIELD_CPU, SAMPLE_CPU, "CPU", true },
	{ FIELD_IREGS, SAMPLE_REGS_INTR, "IREGS", true },
	{ FIELD_UREGS, SAMPLE_REGS_USER, "UREGS" },
#define NEED(NAME, word, form, member, lenient) { FIELD_##NAME, SAMPLE_##NAME, #NAME, lenient },
	SAMPLE_NUMBERS(NEED)
#undef NEED
	{ FIELD_INS_LAT, SAMPLE_WEIGHT_STRUCT, "WEIGHT_STRUCT" },
	{ FIELD_CGROUP, SAMPLE_CGROUP, "CGROUP" },
	{ FIELD_RETIRE_LAT, SAMPLE_WEIGHT_STRUCT, "WEIGHT_STRUCT" },
};

static int check_need(struct class_fields *class, const struct evsel *evsel, const struct need *need, bool decoded, struct error *err)
{
	char buffer[EVSEL_NAME_MAX];

	if (!(class->shown & FIELD_BIT(need->field)) || evsel->attr.sample_type & need->sample_type)
		return 0;
	if (!(class->asked & FIELD_BIT(need->field))) {
		class->shown &= ~FIELD_BIT(need->field);
		return 0;
	}
	if (need->lenient && decoded)
		return 0;
	/* perf2bolt looks for this sentence, to tell a recording without addresses from a failure (docs/interfaces.md) */
	error_set(err, ERROR_USAGE, "Samples for '%s' event do not have %s attribute set. Cannot print '%s' field.",
		evsel_name(evsel, buffer, sizeof buffer), need->missing, names[need->field]);
	return need->field == FIELD_CGROUP ? error_hint(err, "record with --all-cgroups") : -1;
}

static int check_places(const struct class_fields *class, const struct evsel *evsel, const struct evlist *evlist, struct error *err)
{
	uint64_t shown = class->shown, branches = 0;

	if (shown & (B(SYM) | B(DSO)) && !(evsel->attr.sample_type & (SAMPLE_IP | SAMPLE_ADDR)))
		return error_set(err, ERROR_USAGE, "the samples have no address: cannot print symbols or objects");
	if (shown & B(SYMOFF) && !(shown & B(SYM)))
		return error_set(err, ERROR_USAGE, "the field 'symoff' needs 'sym'");
	if (shown & (B(SRCLINE) | B(SRCCODE)) && !(shown & B(IP)))
		return error_set(err, ERROR_USAGE, "the fields 'srcline' and 'srccode' need 'ip'");
	for (size_t i = 0; i < evlist->events.count; i++)
		branches |= evlist->events.items[i].attr.branch_sample_type;
	if (shown & B(BRCNTR) && !(branches & BRANCH_COUNTERS)) {
		error_set(err, ERROR_USAGE, "the recording has no branch counters");
		return error_hint(err, "record with -j any,counter");
	}
	return 0;
}

static int check_event(struct fields *fields, const struct header *header, const struct evsel *evsel, struct error *err)
{
	struct class_fields *class = &fields->classes[event_class(&evsel->attr)];
	const struct evlist *evlist = &header->evlist;
	bool tracepoints = false;

	if (attr_is_dummy(&evsel->attr) || header_has(header, FEATURE_STAT))
		return 0;
	for (size_t i = 0; i < evlist->events.count; i++)
		tracepoints |= evlist->events.items[i].attr.type == ATTR_TRACEPOINT;
	if (class->shown & B(TRACE) && !tracepoints) {
		error_set(err, ERROR_USAGE, "the recording has no tracepoints");
		return error_hint(err, "record with -R");
	}
	for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
		if (needs[i].field == FIELD_PID && check_places(class, evsel, evlist, err) < 0)
			return -1;
		if (check_need(class, evsel, &needs[i], header_has(header, FEATURE_AUXTRACE), err) < 0)
			return -1;
	}
	return 0;
}

static void set_place(struct class_fields *class)
{
	class->place = class->shown & (PLACE | B(DSOFF) | B(SRCLINE));
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
		return error_set(err, ERROR_USAGE, "the recording has no %s events, for which -F names fields", classes[c].spoken);
	if (!first)
		return 0;
	if (class->shown && check_event(fields, header, first, err) < 0)
		return -1;
	if (class->shown & B(DSOFF))
		class->shown |= B(DSO);
	set_place(class);
	return 0;
}

int fields_settle(struct fields *fields, const struct header *header, bool hide_chains, struct error *err)
{
	const struct evlist *evlist = &header->evlist;
	struct class_fields *trace = &fields->classes[CLASS_TRACEPOINT];
	bool chains = false, trace_chains = false, tod = false;

	for (int c = 0; c < CLASS_COUNT; c++) {
		if (settle_class(fields, header, (enum event_class)c, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < evlist->events.count; i++) {
		const struct attr *attr = &evlist->events.items[i].attr;
		tod |= !attr_is_dummy(attr) && fields->classes[event_class(attr)].shown & B(TOD);
		chains |= attr->sample_type & SAMPLE_CALLCHAIN;
		trace_chains |= attr->type == ATTR_TRACEPOINT && attr->sample_type & SAMPLE_CALLCHAIN;
	}
	fields->chains = !hide_chains && (chains || !evlist->events.count);
	if (fields->chains && trace_chains && !trace->given) {
		trace->shown |= PLACE;
		set_place(trace);
	} else if (tod && !header_has(header, FEATURE_CLOCK_DATA)) {
		error_set(err, ERROR_USAGE, "the recording does not tell the time of day: cannot print the field 'tod'");
		return error_hint(err, "record with -k CLOCKID");
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
	/* perf leaves the places of PMUs by number as they are here: unset */
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
