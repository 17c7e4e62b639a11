#include "event/event.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event/event_modifiers.h"
#include "event/event_names.h"
#include "event/event_terms.h"
#include "os/cgroup.h"
#include "os/tracefs.h"

static const char unrecognized[] = "Unrecognized input";

enum { PMU_FAMILY_MAX = 256, EVENTS_MAX = 16384 };

/* The text, the current offset in it, and the events parsed so far. */
struct parser {
	struct events *events;
	const char *text;
	size_t at;
	struct event_error *err;
	bool in_breakpoint; /* each letter after "mem:" is a token */
};

void events_fini(struct events *events)
{
	for (size_t i = 0; i < events->list.count; i++)
		if (events->list.items[i].cgroup)
			close(events->list.items[i].cgroup_fd);
	vec_fini(&events->list);
	pmus_fini(&events->pmus);
	arena_fini(&events->arena);
}

static int parse_error(struct parser *p, size_t at, const char *what)
{
	p->err->at = at;
	snprintf(p->err->what, sizeof p->err->what, "%s", what);
	return -1;
}

static const char *copy_word(struct parser *p, const char *text, size_t length)
{
	return arena_string(&p->events->arena, text, length);
}

static struct event *event_add(struct parser *p)
{
	struct event *event = vec_add(&p->events->list);
	event->scale = 1;
	event->leader = (uint32_t)(p->events->list.count - 1);
	event->attr.flags = (uint64_t)1 << ATTR_EXCLUDE_GUEST;
	return event;
}

/* Parses the modifiers at p->at and applies them to the events from `first` on, which one word of the text added; then names these events
 * by the text from `start` to here. */
static int parse_modifiers(struct parser *p, size_t first, size_t start, bool name_them)
{
	struct event_modifiers modifiers = { 0 };
	size_t at = p->at;
	if (p->text[at] == ':')
		at++;
	size_t letters = at;
	const char *what;
	if (event_modifiers_parse(p->text, &at, &modifiers, &what) < 0)
		return parse_error(p, at, what);
	if (modifiers.weak)
		return parse_error(p, letters, "Weak modifier is for use with groups");
	p->at = at;
	const char *name = name_them ? copy_word(p, p->text + start, at - start) : NULL;
	for (size_t i = first; i < p->events->list.count; i++) {
		struct event *event = &p->events->list.items[i];
		if (at > letters)
			event_modifiers_apply(&modifiers, event, false, true);
		if (name_them && !(event->terms.set & EVENT_TERM_NAME))
			event->name = name;
	}
	return 0;
}

static bool parse_raw_code(const char *word, size_t length, uint64_t *config)
{
	uint64_t value = 0;
	if (length < 2 || length > 17 || word[0] != 'r')
		return false;
	for (size_t i = 1; i < length; i++) {
		unsigned char c = (unsigned char)word[i];
		if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f') && !(c >= 'A' && c <= 'F'))
			return false;
		value = value << 4 | (uint64_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
	}
	*config = value;
	return true;
}

/* Adds a generic hardware event: one event, or one per core PMU if the machine has several kinds of cores. */
static void add_core_events(struct parser *p, uint32_t type, uint64_t config)
{
	struct pmus *pmus = &p->events->pmus;
	pmus_read(pmus);
	size_t cores = 0;
	for (size_t i = 0; i < pmus->list.count; i++)
		cores += pmus->list.items[i]->core;
	for (size_t i = 0; i < pmus->list.count; i++) {
		struct pmu *pmu = pmus->list.items[i];
		if (!pmu->core)
			continue;
		struct event *event = event_add(p);
		event->pmu = pmu->name;
		event->any_pmu = true;
		event->attr.type = type == ATTR_RAW ? pmu->type : type;
		event->attr.config = config;
		if (cores > 1) {
			pmu_load(pmus, pmu);
			event->cpus = &pmu->cpus;
			if (type != ATTR_RAW)
				event->attr.config |= (uint64_t)pmu->type << 32;
		}
	}
}

static void event_set_pmu(struct event *event, const struct pmu *pmu)
{
	event->pmu = pmu->name;
	event->attr.type = pmu->type;
	event->cpus = pmu->cpus.list.count ? &pmu->cpus : NULL;
}

/* Adds an event whose name only a PMU knows, such as "tsc" or "slots". Returns 1: added; 0: unknown; < 0: *err. */
static int add_event_of_any_pmu(struct parser *p, const char *word, size_t length, size_t start)
{
	struct pmus *pmus = &p->events->pmus;
	pmus_read(pmus);
	for (size_t i = 0; i < pmus->list.count; i++) {
		struct pmu *pmu = pmus->list.items[i];
		pmu_load(pmus, pmu);
		if (!pmu_event(pmu, word, length))
			continue;
		struct event_term term = { .name = word, .name_length = length, .at = start };
		struct event_term_list list = { 0 };
		struct event *event = event_add(p);
		event_set_pmu(event, pmu);
		vec_push(&list.terms, term);
		int status = event_terms_apply(p->events, event, pmu, &list, false, p->err);
		vec_fini(&list.terms);
		return status < 0 ? status : 1;
	}
	return 0;
}

/* Adds an event by its name alone. Returns 1: added; 0: unknown; < 0: *err. */
static int add_event_by_name(struct parser *p, const char *word, size_t length, size_t start)
{
	const struct event_symbol *symbol = event_symbol_find(word, length);
	uint64_t config;
	if (symbol && symbol->type == ATTR_HARDWARE) {
		add_core_events(p, ATTR_HARDWARE, symbol->config);
		return 1;
	}
	if (symbol) {
		struct event *event = event_add(p);
		event->pmu = symbol->type == EVENT_TYPE_TOOL ? "tool" : "software";
		event->attr.type = symbol->type;
		event->attr.config = symbol->config;
		event->unit = symbol->unit;
		event->scale = symbol->scale ? symbol->scale : 1;
		return 1;
	}
	int cache = event_cache_find(word, length, &config);
	if (cache < 0)
		return parse_error(p, start, "this cache has no such operation");
	if (cache > 0) {
		add_core_events(p, ATTR_HW_CACHE, config);
		return 1;
	}
	if (parse_raw_code(word, length, &config)) {
		add_core_events(p, ATTR_RAW, config);
		return 1;
	}
	return add_event_of_any_pmu(p, word, length, start);
}

static void add_tracepoint(struct parser *p, const char *system, const char *name, uint64_t id)
{
	struct event *event = event_add(p);
	struct str full = { 0 };
	str_printf(&full, "%s:%s", system, name);
	event->pmu = "tracepoint";
	event->attr.type = ATTR_TRACEPOINT;
	event->attr.config = id;
	event->system = copy_word(p, system, strlen(system));
	event->tracepoint = copy_word(p, name, strlen(name));
	event->name = copy_word(p, full.text, full.len);
	str_fini(&full);
}

/* Adds the tracepoints of one system whose names match the pattern. */
static int add_tracepoints_of_system(struct parser *p, const char *system, const char *pattern, struct error *why)
{
	CLEANUP_NAMES struct names names = { 0 };
	if (tracefs_events(system, &names, why) < 0)
		return -1;
	for (size_t i = 0; i < names.list.count; i++) {
		uint64_t id;
		if (fnmatch(pattern, names.list.items[i], 0) != 0 || p->events->list.count >= EVENTS_MAX)
			continue;
		if (tracefs_id(system, names.list.items[i], &id, NULL) == 0)
			add_tracepoint(p, system, names.list.items[i], id);
	}
	return 0;
}

static bool is_pattern(const char *text)
{
	return strpbrk(text, "*?[") != NULL;
}

static int tracepoint_error(struct parser *p, size_t start, const char *system, const char *name, const struct error *why)
{
	const char *root = tracefs_path();
	parse_error(p, start, why->kind == ERROR_PERMISSION ? "can't access trace events" : "unknown tracepoint");
	if (why->kind == ERROR_PERMISSION || !root)
		snprintf(p->err->help, sizeof p->err->help, "Error:\t%.400s\nHint:\t%.400s\n", why->text, why->hint);
	else
		snprintf(p->err->help, sizeof p->err->help, "Error:\tFile %s/events/%s/%s not found.\n"
			"Hint:\tThe kernel may lack the option for this tracepoint; the folder contains the tracepoints that exist.\n",
			root, system, name);
	return -1;
}

static int add_tracepoints(struct parser *p, size_t start, const char *system, const char *pattern)
{
	struct error why = { 0 };
	size_t first = p->events->list.count;
	uint64_t id;
	if (is_pattern(system)) {
		CLEANUP_NAMES struct names systems = { 0 };
		if (tracefs_systems(&systems, &why) < 0)
			return tracepoint_error(p, start, system, pattern, &why);
		for (size_t i = 0; i < systems.list.count; i++)
			if (fnmatch(system, systems.list.items[i], 0) == 0)
				add_tracepoints_of_system(p, systems.list.items[i], pattern, NULL);
	} else if (is_pattern(pattern)) {
		add_tracepoints_of_system(p, system, pattern, &why);
	} else if (tracefs_id(system, pattern, &id, &why) == 0) {
		add_tracepoint(p, system, pattern, id);
	}
	return p->events->list.count > first ? 0 : tracepoint_error(p, start, system, pattern, &why);
}

/* Parses "/terms/" at p->at and applies them to the events from `first` on. */
static int parse_term_list(struct parser *p, size_t first, struct pmu *pmu, bool tracepoint)
{
	struct event_term_list list = { 0 };
	size_t at = p->at + 1;
	int status = event_terms_parse(p->text, &at, &list, p->err);
	p->at = at;
	for (size_t i = first; status == 0 && i < p->events->list.count; i++)
		status = event_terms_apply(p->events, &p->events->list.items[i], pmu, &list, tracepoint, p->err);
	vec_fini(&list.terms);
	return status;
}

/* Parses "sys:name[/terms/][:modifiers]", with p->at at the colon. */
static int parse_tracepoint(struct parser *p, size_t start)
{
	size_t first = p->events->list.count, name_at = p->at + 1;
	size_t length = strcspn(p->text + name_at, ":/,{}\n");
	const char *system = copy_word(p, p->text + start, p->at - start), *name = copy_word(p, p->text + name_at, length);
	if (length == 0)
		return parse_error(p, start, "Bad event name");
	if (add_tracepoints(p, start, system, name) < 0)
		return -1;
	p->at = name_at + length;
	if (p->text[p->at] == '/' && parse_term_list(p, first, NULL, true) < 0)
		return -1;
	return parse_modifiers(p, first, start, false);
}

/* Bits of HW_BREAKPOINT_*: read 1, write 2, execute 4. Returns false for another letter or a repeated one. */
static bool access_letter(char c, uint32_t *type)
{
	const char *letters = "rwx", *found = c ? strchr(letters, c) : NULL;
	if (!found || *type >> (found - letters) & 1)
		return false;
	*type |= 1u << (found - letters);
	return true;
}

/* Parses "mem:addr[/len][:access][/terms/]", with p->at at the colon. */
static int parse_breakpoint(struct parser *p, size_t start)
{
	size_t first = p->events->list.count, address_at = p->at + 1;
	size_t length = strcspn(p->text + address_at, ":/,{}\n");
	uint64_t address, bytes = 0;
	uint32_t type = 0;
	p->in_breakpoint = true;
	if (!event_number(p->text + address_at, length, &address))
		return parse_error(p, address_at, unrecognized);
	p->at = address_at + length;
	struct event *event = event_add(p);
	event->pmu = "breakpoint";
	event->attr.type = ATTR_BREAKPOINT;
	event->attr.config1 = address;
	event->terms.period = 1;
	bool terms = p->text[p->at] == '/' && (p->text[p->at + 1] < '0' || p->text[p->at + 1] > '9');
	if (p->text[p->at] == '/' && !terms) {
		event->name = copy_word(p, p->text + start, p->at - start);
		size_t digits = strcspn(p->text + p->at + 1, ":,{}\n/");
		if (!event_number(p->text + p->at + 1, digits, &bytes) || p->text[p->at + 1 + digits] == '/')
			return parse_error(p, p->at + 1 + digits, unrecognized);
		p->at += 1 + digits;
	}
	if (p->text[p->at] == ':' && strchr("rwx", p->text[p->at + 1]) && p->text[p->at + 1]) {
		size_t at = p->at + 1;
		for (; p->text[at] && !strchr(":,/{}\n", p->text[at]); at++)
			if (!access_letter(p->text[at], &type))
				return parse_error(p, at, unrecognized);
		p->at = at;
	}
	event->attr.bp_type = type ? type : 3;
	event->attr.config2 = bytes ? bytes : event->attr.bp_type == 4 ? sizeof(long) : 4;
	terms |= p->text[p->at] == '/';
	if (terms && parse_term_list(p, first, NULL, false) < 0)
		return -1;
	return parse_modifiers(p, first, start, !p->events->list.items[first].name);
}

/* Parses "pmu/terms/modifiers", with p->at at the slash. */
static int parse_pmu(struct parser *p, size_t start)
{
	struct pmu *family[PMU_FAMILY_MAX];
	size_t length = p->at - start, first = p->events->list.count;
	size_t count = pmus_find(&p->events->pmus, p->text + start, length, family, PMU_FAMILY_MAX);
	if (count == 0) {
		parse_error(p, start, "Bad event or PMU");
		snprintf(p->err->help, sizeof p->err->help, "Unable to find PMU or event on a PMU of '%.*s'",
			(int)(length < 200 ? length : 200), p->text + start);
		return -1;
	}
	size_t slash = p->at;
	for (size_t i = 0; i < count && i < PMU_FAMILY_MAX; i++) {
		size_t mine = p->events->list.count;
		event_set_pmu(event_add(p), family[i]);
		p->at = slash;
		if (parse_term_list(p, mine, family[i], false) < 0)
			return -1;
	}
	return parse_modifiers(p, first, start, true);
}

static int parse_event(struct parser *p)
{
	size_t start = p->at, first = p->events->list.count;
	size_t length = strcspn(p->text + start, ":/,{} \t\n");
	const char *word = p->text + start;
	p->in_breakpoint = false;
	if (length == 0)
		return parse_error(p, start, unrecognized);
	p->at = start + length;
	char next = p->text[p->at];
	if (next == ':' && length == 3 && memcmp(word, "mem", 3) == 0)
		return parse_breakpoint(p, start);
	int status = add_event_by_name(p, word, length, start);
	if (status < 0)
		return status;
	if (status > 0) {
		if (next == '/' && parse_term_list(p, first, NULL, false) < 0)
			return -1;
		return parse_modifiers(p, first, start, true);
	}
	if (next == '/')
		return parse_pmu(p, start);
	/* a colon introduces a tracepoint, unless one modifier letter follows */
	if (next == ':' && !(strcspn(word + length + 1, ":/,{}") == 1 && strchr("ukhHGISPDeWbRp", word[length + 1])))
		return parse_tracepoint(p, start);
	parse_error(p, start, "Bad event name");
	snprintf(p->err->help, sizeof p->err->help, "Unable to find event on a PMU of '%.*s'", (int)(length < 200 ? length : 200), word);
	return -1;
}

/* Parses "[name]{a,b}[:modifiers]", with p->at at the brace. */
static int parse_group(struct parser *p, size_t start)
{
	size_t first = p->events->list.count, name_length = p->at - start;
	if (memchr(p->text + start, '=', name_length))
		return parse_error(p, start, "Bad event name");
	for (;;) {
		p->at++;
		if (parse_event(p) < 0)
			return -1;
		if (p->text[p->at] != ',')
			break;
	}
	if (p->text[p->at] == '}')
		p->at++;
	else if (p->text[p->at] != '\0') /* an unclosed brace at the end of the text is accepted, as in perf */
		return parse_error(p, p->at, unrecognized);
	struct event_modifiers modifiers = { 0 };
	const char *what;
	if (p->text[p->at] == ':') {
		p->at++;
		if (event_modifiers_parse(p->text, &p->at, &modifiers, &what) < 0)
			return parse_error(p, p->at, what);
		for (size_t i = first; i < p->events->list.count; i++)
			event_modifiers_apply(&modifiers, &p->events->list.items[i], true, i == first);
	}
	for (size_t i = first; i < p->events->list.count; i++)
		p->events->list.items[i].leader = (uint32_t)first;
	struct event *leader = &p->events->list.items[first];
	leader->members = (uint32_t)(p->events->list.count - first);
	if (leader->members == 1)
		leader->members = 0;
	if (name_length && leader->members)
		leader->group_name = copy_word(p, p->text + start, name_length);
	return 0;
}

static int parse_list(struct parser *p)
{
	for (;;) {
		size_t start = p->at, word = strcspn(p->text + start, ":/,{} \t\n");
		p->at += p->text[start + word] == '{' ? word : 0;
		if ((p->text[p->at] == '{' ? parse_group(p, start) : parse_event(p)) < 0)
			return -1;
		if (p->text[p->at] == '\0')
			return 0;
		if (p->text[p->at] != ',')
			return parse_error(p, p->at, unrecognized);
		p->at++;
		if (p->events->list.count >= EVENTS_MAX)
			return parse_error(p, p->at, "too many events");
	}
}

/* Returns the offset that perf reports for unrecognized input: that of the token before the unexpected token; at the end of the text,
 * that of the last but one. */
static size_t token_before(const char *text, size_t at)
{
	size_t last = 0, before = 0, token = 0;
	at += strspn(text + at, " {");
	for (size_t i = 0; text[i] && i <= at; i += token) {
		token = strcspn(text + i, ":/,{}= ");
		token += !token;
		if (i + token > at)
			return last;
		before = last;
		last = i;
	}
	return before;
}

int events_parse(struct events *events, const char *text, struct event_error *err)
{
	struct event_error unwanted;
	struct parser parser = { .events = events, .text = text, .err = err ? err : &unwanted };
	size_t before = events->list.count;
	*parser.err = (struct event_error){ .text = text };
	int status = parse_list(&parser);
	if (status < 0) {
		events->list.count = before;
		if (strcmp(parser.err->what, unrecognized) == 0 && !parser.in_breakpoint)
			parser.err->at = token_before(text, parser.err->at);
	}
	return status;
}

int event_set_cgroup(struct events *events, size_t index, const char *name, struct error *err)
{
	struct event *event = &events->list.items[index];
	int fd = cgroup_open(name, err);
	if (fd < 0)
		return -1;
	if (event->cgroup)
		close(event->cgroup_fd);
	event->cgroup = arena_string(&events->arena, name, strlen(name));
	event->cgroup_fd = fd;
	return 0;
}

uint32_t events_add_follower(struct events *events)
{
	if (events_parse(events, "dummy:u", NULL) < 0)
		return 0;
	uint32_t index = (uint32_t)(events->list.count - 1);
	events->list.items[index].follower = true;
	return index;
}

void event_error_print(const struct event_error *err, struct writer *out)
{
	enum { INDENT_MAX = 13, WIDTH_MAX = 76 };
	static const char label[] = "event syntax error: ";
	size_t length = strlen(err->text), cut = err->at > INDENT_MAX ? err->at - INDENT_MAX : 0;
	char *shown = memory_string(err->text + (cut < length ? cut : length));
	text_make_printable(shown);
	if (cut && strlen(shown) >= 2)
		shown[0] = shown[1] = '.';
	if (strlen(shown) > WIDTH_MAX)
		memcpy(shown + WIDTH_MAX - 2, "..", 3);
	writer_printf(out, "%s'%s'\n%*s\\___ %s\n", label, shown, (int)(sizeof label + err->at - cut), "", err->what);
	if (err->help[0])
		writer_printf(out, "\n%s\n", err->help);
	free(shown);
}

void event_modifiers_of(const struct attr *attr, struct str *out)
{
	bool sides = attr_flag(attr, ATTR_EXCLUDE_KERNEL) || attr_flag(attr, ATTR_EXCLUDE_USER) || attr_flag(attr, ATTR_EXCLUDE_HV);
	unsigned precise = attr_precise_ip(attr);
	bool guest_expected = sides || precise;
	size_t before = out->len;
	str_putc(out, ':');
	if (sides && !attr_flag(attr, ATTR_EXCLUDE_KERNEL))
		str_putc(out, 'k');
	if (sides && !attr_flag(attr, ATTR_EXCLUDE_USER))
		str_putc(out, 'u');
	if (sides && !attr_flag(attr, ATTR_EXCLUDE_HV))
		str_putc(out, 'h');
	for (unsigned i = 0; i < precise; i++)
		str_putc(out, 'p');
	if (attr_flag(attr, ATTR_EXCLUDE_HOST) || attr_flag(attr, ATTR_EXCLUDE_GUEST) == guest_expected) {
		if (!attr_flag(attr, ATTR_EXCLUDE_HOST))
			str_putc(out, 'H');
		if (!attr_flag(attr, ATTR_EXCLUDE_GUEST))
			str_putc(out, 'G');
	}
	if (out->len == before + 1) {
		out->len = before;
		out->text[before] = '\0';
	}
}

void event_name_of(const struct attr *attr, struct str *out)
{
	const struct event_symbol *symbol = event_symbol_of(attr->type, attr->config & 0xffffffff);
	char cache[64];
	if (symbol) /* like perf, shows cpu-cycles as "cycles" */
		str_puts(out, symbol->type == ATTR_HARDWARE && symbol->alias && symbol->config == 0 ? symbol->alias : symbol->name);
	else if (attr->type == ATTR_HW_CACHE && event_cache_name(attr->config & 0xffffffff, cache, sizeof cache))
		str_puts(out, cache);
	else if (attr->type == ATTR_RAW)
		str_printf(out, "raw 0x%llx", (unsigned long long)attr->config);
	else
		str_printf(out, "unknown attr type: %u", attr->type);
	event_modifiers_of(attr, out);
}
