#include "analysis/sched/events.h"

#include <stdio.h>
#include <stdlib.h>

#include "data/evsel_name.h"
#include "data/header.h"

enum sched_field {
	FIELD_PREVIOUS_COMM, FIELD_PREVIOUS, FIELD_PREVIOUS_PRIORITY, FIELD_PREVIOUS_STATE, FIELD_NEXT_COMM, FIELD_NEXT, FIELD_NEXT_PRIORITY,
	FIELD_COMM, FIELD_PID, FIELD_AMOUNT, FIELD_FROM, FIELD_TO, FIELD_FLAGS, SCHED_FIELDS
};

enum { STATE_BITS = 32, INTERRUPT_FLAGS = 0x18 /* common_flags: hard and soft interrupts */ };

struct sched_layout {
	enum sched_kind kind;
	const struct tracepoint_field *fields[SCHED_FIELDS];
	struct {
		uint32_t offset, size;     /* of a number; size 0: only tracepoint_field_number can read it */
	} places[SCHED_FIELDS];
	uint32_t end;                  /* of these numbers */
	char letters[STATE_BITS];      /* of the bits of a state */
};

struct sched_name {
	uint64_t clock;                /* what follows is valid since then; 0: not yet */
	uint32_t thread;
	int32_t pid;
	const char *comm;              /* of the thread; NULL: no record has named it */
	const char *text;              /* what is shown */
};

static const struct {
	const char *name;
	enum sched_kind kind;
	const char *amount;
} tracepoint_kinds[] = {
	{ "sched:sched_switch", SCHED_SWITCH, NULL },
	{ "sched:sched_stat_runtime", SCHED_RUNTIME, "runtime" },
	{ "sched:sched_waking", SCHED_WAKING, NULL },
	{ "sched:sched_wakeup", SCHED_WAKEUP, NULL },
	{ "sched:sched_wakeup_new", SCHED_WAKEUP_NEW, NULL },
	{ "sched:sched_migrate_task", SCHED_MIGRATE, NULL },
	{ "sched:sched_stat_iowait", SCHED_IOWAIT, "delay" },
};

void sched_reader_init(struct sched_reader *reader, const struct sched_analysis *analysis, bool live)
{
	*reader = (struct sched_reader){ .analysis = *analysis, .live = live };
	if (!reader->analysis.kinds)
		reader->analysis.kinds = UINT32_MAX;
	states_init(&reader->states, &(struct states_sink){ analysis->context, analysis->turn_begins, analysis->turn_ends });
}

void sched_reader_fini(struct sched_reader *reader)
{
	states_fini(&reader->states);
	tracepoints_close(reader->tracepoints);
	vec_fini(&reader->layouts);
	vec_fini(&reader->names);
	strtab_fini(&reader->texts);
}

/* A modifier or, of some recorders, a comma follows the name. */
static bool name_is(const char *name, const char *wanted)
{
	size_t len = strlen(wanted);
	return strncmp(name, wanted, len) == 0 && (!name[len] || strchr(":,", name[len]));
}

static int kind_row(const char *name)
{
	for (size_t i = 0; i < sizeof tracepoint_kinds / sizeof *tracepoint_kinds; i++)
		if (name_is(name, tracepoint_kinds[i].name))
			return (int)i;
	return -1;
}

static void read_letters(struct sched_layout *layout)
{
	const struct tracepoint_field *field = layout->fields[FIELD_PREVIOUS_STATE];
	for (unsigned bit = 0; bit < STATE_BITS; bit++) {
		const char *name = field ? tracepoint_field_flag(field, 1ull << bit) : NULL;
		layout->letters[bit] = name && name[0] && !name[1] ? name[0] : '\0';
	}
}

static struct sched_layout layout_of(struct sched_reader *reader, const struct evsel *evsel)
{
	static const char *const fields[SCHED_FIELDS] = {
		[FIELD_PREVIOUS_COMM] = "prev_comm", [FIELD_PREVIOUS] = "prev_pid", [FIELD_PREVIOUS_PRIORITY] = "prev_prio",
		[FIELD_PREVIOUS_STATE] = "prev_state", [FIELD_NEXT_COMM] = "next_comm", [FIELD_NEXT] = "next_pid",
		[FIELD_NEXT_PRIORITY] = "next_prio", [FIELD_COMM] = "comm", [FIELD_PID] = "pid", [FIELD_FROM] = "orig_cpu",
		[FIELD_TO] = "dest_cpu", [FIELD_FLAGS] = "common_flags",
	};
	char buffer[EVSEL_NAME_MAX];
	struct sched_layout layout = { .kind = SCHED_ELSE };
	int row = evsel->attr.type == ATTR_TRACEPOINT ? kind_row(evsel_name(evsel, buffer, sizeof buffer)) : -1;
	if (row < 0 || (reader->live && !tracepoints_load(reader->tracepoints, evsel->attr.config)))
		return layout;
	layout.kind = tracepoint_kinds[row].kind;
	for (unsigned i = 0; i < SCHED_FIELDS; i++) {
		const char *name = i == FIELD_AMOUNT ? tracepoint_kinds[row].amount : fields[i];
		layout.fields[i] = name ? tracepoints_field(reader->tracepoints, evsel->attr.config, name) : NULL;
		if (layout.fields[i] && !tracepoint_field_place(layout.fields[i], &layout.places[i].offset, &layout.places[i].size))
			layout.places[i].size = 0;
		uint64_t end = (uint64_t)layout.places[i].offset + layout.places[i].size;
		if (end > UINT32_MAX)
			layout.places[i].size = 0;
		else if (layout.places[i].size && end > layout.end)
			layout.end = (uint32_t)end;
	}
	read_letters(&layout);
	return layout;
}

static bool lookup_tracepoint(const void *context, uint64_t id, const char **system, const char **name)
{
	return tracepoints_name(context, id, system, name);
}

static void refresh(struct sched_reader *reader, struct session *session)
{
	struct header *header = &session->source->header;
	struct span formats = header->feature_data[FEATURE_TRACING_DATA];
	size_t count = header->evlist.events.count;
	reader->session = session;
	if (!reader->tracepoints_tried && (reader->live || formats.data)) {
		reader->tracepoints_tried = true;
		if (reader->live)
			tracepoints_open_live(&reader->tracepoints, NULL);
		else
			tracepoints_open(&reader->tracepoints, formats, NULL);
		vec_clear(&reader->layouts);
	}
	if (!reader->tracepoints && reader->layouts.count)
		return;
	if (reader->tracepoints && !reader->live)
		evlist_name_tracepoints(&header->evlist, reader->layouts.count, lookup_tracepoint, reader->tracepoints);
	for (size_t i = reader->layouts.count; i < count; i++) {
		vec_push(&reader->layouts, layout_of(reader, &header->evlist.events.items[i]));
		reader->has_waking |= reader->layouts.items[i].kind == SCHED_WAKING;
	}
}

bool sched_reader_has(const struct session *session, struct sched_reader *reader, enum sched_kind kind)
{
	refresh(reader, (struct session *)session);
	for (size_t i = 0; i < reader->layouts.count; i++)
		if (reader->layouts.items[i].kind == kind)
			return true;
	return false;
}

static __attribute__((noinline)) uint64_t number_elsewhere(const struct sched_layout *layout, const struct sample *sample,
	enum sched_field field)
{
	uint64_t value;
	const struct tracepoint_field *f = layout->fields[field];
	return f && tracepoint_field_number(f, sample->raw, sample->raw_size, &value) ? value : 0;
}

static inline uint64_t number_of(const struct sched_layout *layout, const struct sample *sample, enum sched_field field)
{
	uint32_t offset = layout->places[field].offset, size = layout->places[field].size;
	if (__builtin_expect(!size || layout->end > sample->raw_size, 0))
		return layout->fields[field] ? number_elsewhere(layout, sample, field) : 0;
	const uint8_t *at = sample->raw + offset;
	return size == sizeof(uint32_t) ? load_u32(at) : size == sizeof(uint64_t) ? load_u64(at) : *at;
}

static inline int16_t priority_of(const struct sched_layout *layout, const struct sample *sample, enum sched_field field)
{
	int64_t value = layout->fields[field] ? (int64_t)number_of(layout, sample, field) : -1;
	return value < 0 || value > INT16_MAX ? -1 : (int16_t)value;
}

/* The lowest bit that is set; a value beyond the named ones is a preempted task. */
static inline char letter_of(const struct sched_layout *layout, const struct sample *sample)
{
	uint64_t state = number_of(layout, sample, FIELD_PREVIOUS_STATE);
	int bit = state ? __builtin_ctzll(state) : STATE_BITS;
	if (!layout->fields[FIELD_PREVIOUS_STATE] || !layout->letters[0])
		return '?';
	return bit < STATE_BITS && layout->letters[bit] ? layout->letters[bit] : 'R';
}

static struct sched_name *name_of(struct sched_reader *reader, uint32_t index);

static bool take_switch(struct sched_reader *reader, const struct sched_layout *layout, struct sched_event *event)
{
	const struct sample *sample = event->r->sample;
	event->change = (struct task_switch){
		.time = event->time, .cpu = event->cpu, .previous = (int32_t)number_of(layout, sample, FIELD_PREVIOUS),
		.next = (int32_t)number_of(layout, sample, FIELD_NEXT), .letter = letter_of(layout, sample),
		.previous_priority = priority_of(layout, sample, FIELD_PREVIOUS_PRIORITY),
		.next_priority = priority_of(layout, sample, FIELD_NEXT_PRIORITY),
	};
	event->subject = event->change.previous;
	if (event->tid >= 0 && event->tid != event->subject && !reader->foreign_tids) {
		reader->foreign_tids = true;
		vec_clear(&reader->names);
	}
	if (!states_switch(&reader->states, &event->change))
		return false;
	event->task = reader->states.previous;
	event->next = reader->states.cpus.items[event->cpu].task;
	if (reader->foreign_tids) { /* only this event has their names */
		if (event->task != STATES_NO_TASK)
			name_of(reader, event->task);
		if (event->next != STATES_NO_TASK)
			name_of(reader, event->next);
	}
	return true;
}

static bool take_sample(struct sched_reader *reader, const struct sched_layout *layout, struct sched_event *event)
{
	const struct sample *sample = event->r->sample;
	struct states *states = &reader->states;
	if (event->kind == SCHED_SWITCH)
		return take_switch(reader, layout, event);
	event->subject = event->kind == SCHED_ELSE ? event->tid : (int32_t)number_of(layout, sample, FIELD_PID);
	event->amount = number_of(layout, sample, FIELD_AMOUNT);
	if (event->tid >= 0 && event->cpu >= 0 && !reader->foreign_tids) {
		bool itself = event->kind == SCHED_RUNTIME && event->subject == event->tid;
		states_see(states, event->time, event->cpu, event->tid, itself ? event->amount : 0);
	}
	if (event->kind == SCHED_ELSE)
		return true;
	if (event->kind == SCHED_MIGRATE) {
		event->from_cpu = (int32_t)number_of(layout, sample, FIELD_FROM);
		event->to_cpu = (int32_t)number_of(layout, sample, FIELD_TO);
	} else if (event->kind == SCHED_IOWAIT) {
		states_hint_once(states, event->subject, WAIT_IO);
	} else if (event->kind != SCHED_RUNTIME && !(event->kind == SCHED_WAKEUP && reader->has_waking)) {
		bool interrupt = number_of(layout, sample, FIELD_FLAGS) & INTERRUPT_FLAGS;
		if (!states_wake(states, event->time, event->subject, event->tid, interrupt))
			return false;
	}
	event->task = event->subject > 0 ? states_task(states, event->subject, CPU_NONE) : STATES_NO_TASK;
	return true;
}

static struct sched_name *name_of(struct sched_reader *reader, uint32_t index);

/* The earlier life of the thread id keeps the name that it had. */
static void fork_task(struct sched_reader *reader, const struct sched_event *event)
{
	uint32_t earlier = event->subject > 0 ? states_find(&reader->states, event->subject, CPU_NONE) : STATES_NO_TASK;
	if (earlier == STATES_NO_TASK)
		return;
	reader->before = event->r->clock > 0;
	name_of(reader, earlier);
	reader->before = 0;
	states_fork(&reader->states, event->subject);
}

static void forget_name(struct sched_reader *reader, int32_t tid)
{
	uint32_t task = tid > 0 ? states_find(&reader->states, tid, CPU_NONE) : STATES_NO_TASK;
	if (task < reader->names.count)
		reader->names.items[task].clock = 0;
}

static void take_record(struct sched_reader *reader, struct sched_event *event)
{
	const struct record *record = event->r->record;
	struct cursor c = cursor_of(record->body, record->body_len, false);
	if (record->type == RECORD_FORK) {
		take_u32(&c);
		event->kind = SCHED_FORK;
		event->pid = (int32_t)take_u32(&c);
		event->subject = (int32_t)take_u32(&c);
		event->tid = (int32_t)take_u32(&c);
		fork_task(reader, event);
	} else if (record->type == RECORD_COMM) {
		event->kind = SCHED_COMM;
		take_u32(&c);
		event->subject = (int32_t)take_u32(&c);
	} else if (record->type == RECORD_LOST) {
		event->kind = SCHED_LOST;
		take_u64(&c);
		event->amount = take_u64(&c);
		reader->lost += event->amount;
		states_lose(&reader->states, event->cpu);
	} else if (record->type == RECORD_LOST_SAMPLES) {
		event->kind = SCHED_LOST;
		event->amount = take_u64(&c);
		states_lose(&reader->states, event->cpu);
	} else {
		return;
	}
	forget_name(reader, event->subject);
	reader->kinds[event->kind]++;
	if (reader->analysis.event)
		reader->analysis.event(reader->analysis.context, event);
}

/* Whether the analysis needs samples of an event: those that are left out cost nearly nothing. */
static bool wants_event(void *context, uint32_t event)
{
	struct sched_reader *reader = context;
	if (event >= reader->layouts.count)
		return false;
	enum sched_kind kind = reader->layouts.items[event].kind;
	return reader->analysis.kinds >> kind & 1;
}

static void on_record(void *context, const struct resolved *r, size_t slice)
{
	struct sched_reader *reader = context;
	const struct sample *sample = r->sample;
	bool is_sample = r->record->type == RECORD_SAMPLE;
	if (is_sample && reader->places && !wants_event(reader, r->event))
		return; /* a plain sink is passed wanted ones alone */
	struct sched_event event;
	event.kind = SCHED_ELSE;
	event.time = sample->time == UINT64_MAX ? 0 : sample->time;
	event.cpu = sample->cpu < STATES_CPUS_MAX ? (int32_t)sample->cpu : CPU_NONE;
	event.pid = r->pid;
	event.tid = r->tid;
	event.subject = 0;
	event.amount = 0;
	event.from_cpu = event.to_cpu = 0;
	event.change = (struct task_switch){ 0 };
	event.task = event.next = STATES_NO_TASK;
	event.r = r;
	reader->event = &event;
	if (!is_sample) {
		take_record(reader, &event);
	} else {
		const struct sched_layout *layout = &reader->layouts.items[r->event];
		event.kind = layout->kind;
		reader->kinds[event.kind]++;
		if (!take_sample(reader, layout, &event))
			reader->refused++;
		else if (reader->analysis.event)
			reader->analysis.event(reader->analysis.context, &event);
	}
	reader->event = NULL;
}

static void on_batch(void *context, struct session *session, size_t slices)
{
	refresh(context, session);
}

struct sink sched_reader_sink(struct sched_reader *reader)
{
	return (struct sink){ .context = reader, .batch_begin = on_batch, .record = on_record, .want_records = true, .serial = true,
		.plain = !reader->places, .wants_event = reader->places ? NULL : wants_event };
}

const char *sched_event_comm(struct sched_reader *reader, const struct sched_event *event, enum sched_comm which)
{
	static const enum sched_field fields[] = {
		[SCHED_PREVIOUS_COMM] = FIELD_PREVIOUS_COMM, [SCHED_NEXT_COMM] = FIELD_NEXT_COMM, [SCHED_SUBJECT_COMM] = FIELD_COMM,
	};
	const char *text = "";
	size_t len = 0;
	if (event->kind >= SCHED_KINDS_OF_SAMPLES || event->r->event >= reader->layouts.count)
		return text;
	const struct tracepoint_field *field = reader->layouts.items[event->r->event].fields[fields[which]];
	if (!field || !tracepoint_field_string(field, event->r->sample->raw, event->r->sample->raw_size, &text, &len))
		return "";
	return strtab_text(&reader->texts, strtab_add_line(&reader->texts, text, len));
}

/* The name in the current event, if it is about this task. */
static const char *name_in_event(struct sched_reader *reader, uint32_t task)
{
	const struct sched_event *event = reader->event;
	if (!event || event->kind >= SCHED_KINDS_OF_SAMPLES)
		return "";
	int32_t tid = reader->states.tasks.items[task].tid;
	if (event->kind != SCHED_SWITCH)
		return tid == event->subject ? sched_event_comm(reader, event, SCHED_SUBJECT_COMM) : "";
	return tid == event->change.previous ? sched_event_comm(reader, event, SCHED_PREVIOUS_COMM) :
		tid == event->change.next ? sched_event_comm(reader, event, SCHED_NEXT_COMM) : "";
}

static struct sched_name *name_of(struct sched_reader *reader, uint32_t index)
{
	while (reader->names.count <= index)
		vec_push(&reader->names, ((struct sched_name){ .thread = THREAD_NONE, .pid = -1 }));
	struct sched_name *name = &reader->names.items[index];
	if (name->clock)
		return name;
	const struct task *task = &reader->states.tasks.items[index];
	const struct model *model = &reader->session->model;
	uint64_t clock = reader->event ? reader->event->r->clock - reader->before : UINT64_MAX - 1;
	char number[16];
	name->thread = reader->foreign_tids ? THREAD_NONE : model_thread(model, task->tid, clock);
	uint32_t comm = model_comm(model, name->thread, clock);
	name->pid = name->thread == THREAD_NONE ? -1 : model->threads.items[name->thread]->pid;
	name->comm = task_is_idle(task) ? "swapper" : comm == COMM_NONE ? NULL : strtab_text(&model->strings, comm);
	const char *shown = name->comm ? name->comm : name_in_event(reader, index);
	if (!name->comm && !*shown && name->text && name->text[0] != ':')
		shown = name->text;
	if (!*shown) {
		snprintf(number, sizeof number, ":%d", task->tid);
		shown = number;
	}
	/* strings of the model do not outlive a generation */
	name->text = strtab_text(&reader->texts, strtab_add(&reader->texts, shown, strlen(shown)));
	if (name->comm)
		name->comm = name->text;
	name->clock = name->comm || name->text[0] != ':';
	return name;
}

const char *sched_task_name(struct sched_reader *reader, uint32_t task)
{
	return name_of(reader, task)->text;
}

const char *sched_task_comm(struct sched_reader *reader, uint32_t task)
{
	const struct sched_name *name = name_of(reader, task);
	char number[16];
	if (name->comm)
		return name->comm;
	snprintf(number, sizeof number, ":%d", reader->states.tasks.items[task].tid);
	return strtab_text(&reader->texts, strtab_add(&reader->texts, number, strlen(number)));
}

int32_t sched_task_pid(struct sched_reader *reader, uint32_t task)
{
	return name_of(reader, task)->pid;
}

int32_t sched_task_parent(struct sched_reader *reader, uint32_t task)
{
	uint32_t thread = name_of(reader, task)->thread;
	return thread == THREAD_NONE ? -1 : reader->session->model.threads.items[thread]->ppid;
}
