#include "cmd/trace/samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/evsel_name.h"

enum { SOFTWARE_FAULTS = 2, SOFTWARE_MINOR_FAULTS = 5, SOFTWARE_MAJOR_FAULTS = 6, CHAIN_COLUMN = 38, MAX_STACK = 127 };

static void find_role(struct trace_samples *samples, struct sample_event *event)
{
	const struct attr *attr = &event->evsel->attr;
	const char *system, *name;
	if (attr->type == ATTR_SOFTWARE) {
		if (attr->config == SOFTWARE_MAJOR_FAULTS)
			event->role = ROLE_MAJOR_FAULT;
		else if (attr->config == SOFTWARE_MINOR_FAULTS || attr->config == SOFTWARE_FAULTS)
			event->role = ROLE_MINOR_FAULT;
	}
	if (attr->type != ATTR_TRACEPOINT || !tracepoints_name(samples->tracepoints, attr->config, &system, &name))
		return;
	bool enter = strcmp(name, "sys_enter") == 0, leave = strcmp(name, "sys_exit") == 0;
	if (strcmp(system, "raw_syscalls") == 0 && (enter || leave)) {
		event->role = enter ? ROLE_ENTER : samples->programs ? ROLE_CHAIN : ROLE_EXIT;
		event->number = tracepoints_field(samples->tracepoints, attr->config, "id");
		event->value = tracepoints_field(samples->tracepoints, attr->config, enter ? "args" : "ret");
	} else if (samples->run->options->sched && strcmp(name, "sched_stat_runtime") == 0) {
		event->role = ROLE_RUN_TIME;
		event->value = tracepoints_field(samples->tracepoints, attr->config, "runtime");
	} else if (strcmp(system, "syscalls") == 0 && strncmp(name, "sys_enter_", 10) == 0) {
		call_describe(&event->call_space, name + 10);
		event->call = event->call_space.described ? &event->call_space : NULL;
	}
}

int trace_samples_open(struct trace_samples *samples, struct trace_run *run, struct session *session, struct error *err)
{
	const struct evlist *evlist = session_evlist(session);
	const struct trace_command *o = run->options;
	samples->run = run;
	samples->session = session;
	samples->max_stack = o->max_stack ? o->max_stack : MAX_STACK;
	event_switch_init(&run->switches, o->switch_on, o->switch_off, o->show_switch_events);
	writer_open(&samples->fields, -1, 1024);
	for (size_t i = 0; i < evlist->events.count; i++) {
		char buffer[EVSEL_NAME_MAX];
		const struct evsel *evsel = &evlist->events.items[i];
		vec_push(&samples->events, ((struct sample_event){ .evsel = evsel, .name = memory_string(evsel_name(evsel, buffer, sizeof buffer)) }));
	}
	for (size_t i = 0; i < samples->events.count; i++)
		find_role(samples, &samples->events.items[i]);
	return event_switch_find(&run->switches, evlist, err);
}

void trace_samples_close(struct trace_samples *samples)
{
	for (size_t i = 0; i < samples->events.count; i++)
		free((char *)(uintptr_t)samples->events.items[i].name);
	vec_fini(&samples->events);
	writer_fini(&samples->fields);
}

static struct trace_task *task_of(struct trace_samples *samples, const struct resolved *r)
{
	char unnamed[16];
	struct trace_task *task = trace_tasks_get(&samples->run->tasks, r->tid, r->pid);
	const char *comm = resolved_comm(r, unnamed, sizeof unnamed);
	if (comm != unnamed && strncmp(comm, task->comm, sizeof task->comm - 1) != 0)
		trace_task_name(task, comm, strlen(comm));
	return task;
}

static const struct module *module_of(const struct trace_samples *samples, const struct location *location)
{
	return location->module == MODULE_ID_NONE ? NULL : modules_get(&samples->session->model.modules, location->module);
}

static uint32_t symbol_of(const struct trace_samples *samples, const struct location *location)
{
	const struct module *module = module_of(samples, location);
	return module && samples->symbols ? symbols_lookup(samples->symbols, module, location->offset) : 0;
}

/* The call chain of a sample below its line, a frame a line. */
static void write_chain(const struct trace_samples *samples, const struct chain *chain, struct writer *out)
{
	for (size_t i = 0; i < chain->count; i++) {
		const struct location *location = chain->frames[i];
		const struct module *module = module_of(samples, location);
		uint32_t symbol = symbol_of(samples, location);
		writer_pad(out, ' ', CHAIN_COLUMN + 1);
		if (symbol)
			writer_puts(out, symbols_name(samples->symbols, module, symbol));
		else
			writer_printf(out, "[%#llx]", (unsigned long long)location->address);
		writer_add(out, " (", 2);
		const char *name = module ? module->long_name : "[unknown]";
		writer_name(out, name, strlen(name));
		writer_add(out, ")\n", 2);
	}
}

static void print_chain(const struct trace_samples *samples, const struct chain *chain)
{
	write_chain(samples, chain, &samples->run->out);
}

/* The frames that are shown; false: the sample has fewer than --min-stack. */
static bool take_chain(const struct trace_samples *samples, const struct resolved *r, struct chain *chain)
{
	*chain = (struct chain){ 0 };
	if (r->sample->callchain || r->sample->stack_user_size)
		*chain = resolved_chain(r, CHAIN_INNERMOST_FIRST, samples->max_stack);
	return chain->count >= samples->run->options->min_stack || !r->sample->callchain;
}

static bool call_shown(const struct trace_run *run, int64_t number)
{
	return number >= 0 && number < SYSCALL_NUMBERS && run->selection.shown[0][number];
}

static void take_enter(struct trace_samples *samples, const struct sample_event *event, const struct resolved *r)
{
	struct trace_run *run = samples->run;
	const struct sample *sample = r->sample;
	uint64_t number, values[CALL_ARGUMENTS] = { 0 };
	if (!event->number || !event->value || !tracepoint_field_number(event->number, sample->raw, sample->raw_size, &number) ||
	    !call_shown(run, (int64_t)number))
		return;
	const struct call *call = trace_call_of(run, (int64_t)number, false);
	for (size_t i = 0; i < CALL_ARGUMENTS; i++)
		tracepoint_field_element(event->value, sample->raw, sample->raw_size, i, &values[i]);
	struct trace_task *task = task_of(samples, r);
	pending_call_set(&task->entry, call, sample->time, values, CALL_ARGUMENTS);
	trace_take_entry(run, task);
}

static void take_exit(struct trace_samples *samples, const struct sample_event *event, const struct resolved *r)
{
	struct trace_run *run = samples->run;
	const struct sample *sample = r->sample;
	uint64_t number, result;
	struct chain chain;
	if (!event->number || !event->value || !tracepoint_field_number(event->number, sample->raw, sample->raw_size, &number) ||
	    !tracepoint_field_number(event->value, sample->raw, sample->raw_size, &result) || !call_shown(run, (int64_t)number))
		return;
	const struct call *call = trace_call_of(run, (int64_t)number, false);
	struct trace_task *task = task_of(samples, r);
	if (!task->entry.open || task->entry.call != call) {
		pending_call_set(&task->entry, call, 0, NULL, 0);
		task->entry.pending = false;
	}
	if (!take_chain(samples, r, &chain))
		return;
	uint64_t before = run->text.printed;
	trace_take_return(run, task, (uint32_t)number, sample->time, (int64_t)result, false);
	if (run->text.printed > before)
		print_chain(samples, &chain);
}

/* The call chain of a return that the BPF programs send after this sample: the kernel calls what is attached to a tracepoint in order. */
static void take_call_chain(struct trace_samples *samples, const struct sample_event *event, const struct resolved *r)
{
	struct call_chain *to = &task_of(samples, r)->chain;
	struct chain chain;
	uint64_t number;
	if (!event->number || !tracepoint_field_number(event->number, r->sample->raw, r->sample->raw_size, &number))
		return;
	to->number = (uint32_t)number;
	to->time = r->sample->time;
	to->waits = true;
	to->short_one = !take_chain(samples, r, &chain);
	samples->fields.len = 0;
	write_chain(samples, &chain, &samples->fields);
	str_clear(&to->lines);
	str_add(&to->lines, samples->fields.buffer, samples->fields.len);
}

static void print_place(const struct trace_samples *samples, const struct location *location, bool with_module)
{
	struct writer *out = &samples->run->out;
	const struct module *module = module_of(samples, location);
	uint32_t symbol = symbol_of(samples, location);
	if (with_module && module) {
		writer_name(out, module->long_name, strlen(module->long_name));
		writer_putc(out, '@');
	}
	if (symbol && !with_module) {
		writer_puts(out, symbols_name(samples->symbols, module, symbol));
		writer_printf(out, "+0x%llx", (unsigned long long)(location->offset - symbols_get(samples->symbols, module, symbol)->start));
	} else {
		writer_printf(out, "0x%llx", (unsigned long long)(module ? location->offset : location->address));
	}
}

static void take_fault(struct trace_samples *samples, const struct sample_event *event, const struct resolved *r)
{
	struct trace_run *run = samples->run;
	struct trace_task *task = task_of(samples, r);
	bool major = event->role == ROLE_MAJOR_FAULT;
	struct chain chain;
	task->events++;
	if (!take_chain(samples, r, &chain))
		return;
	task->major_faults += major;
	task->minor_faults += !major;
	if (run->text.options.silent)
		return;
	const struct location *to = resolved_locate_any(r, r->sample->addr);
	trace_text_head(&run->text, task, r->sample->time, true, 0);
	writer_puts(&run->out, major ? "majfault [" : "minfault [");
	print_place(samples, resolved_ip(r), false);
	writer_puts(&run->out, "] => ");
	print_place(samples, to, true);
	writer_printf(&run->out, " (%c%c)\n", to->module == MODULE_ID_NONE ? '?' : 'd', to->module == MODULE_ID_NONE ? 'k' : '.');
	run->text.printed++;
	print_chain(samples, &chain);
}

/* The name of an enumeration's value, of which the running kernel has the names; NULL: unknown, or the field has another type. */
static const char *enumerator_of(struct trace_samples *samples, const char *type, uint64_t value)
{
	static const char word[] = "enum ";
	if (samples->run->options->input || strncmp(type, word, sizeof word - 1) != 0)
		return NULL;
	struct kernel_structs *types = trace_types(samples->run);
	return types ? kernel_structs_enumerator(types, type + sizeof word - 1, (int64_t)value) : NULL;
}

static void print_field(struct trace_samples *samples, const struct resolved *r, const struct tracepoint_field *field, bool *first)
{
	const struct trace_text_options *o = &samples->run->options->text;
	const struct sample *sample = r->sample;
	const char *name = tracepoint_field_name(field), *type = tracepoint_field_type(field), *text;
	struct writer *out = &samples->fields;
	size_t length;
	uint64_t value = 0;
	bool string = tracepoint_field_string(field, sample->raw, sample->raw_size, &text, &length);
	if (!string)
		tracepoint_field_number(field, sample->raw, sample->raw_size, &value);
	const char *enumerator = string ? NULL : enumerator_of(samples, type, value);
	if (!string && !value && !enumerator && !o->zeros)
		return;
	writer_puts(out, *first ? "" : ", ");
	*first = false;
	if (!o->unnamed) {
		writer_puts(out, name);
		writer_add(out, ": ", 2);
	}
	if (string)
		return string_print(out, (const uint8_t *)text, strnlen(text, length));
	if (enumerator)
		return writer_puts(out, enumerator);
	uint8_t kind = argument_kind_of(name, strlen(name), type, strlen(type));
	const char *comm = kind == ARGUMENT_PID ? trace_comm(&samples->run->tasks, (int)value) : NULL;
	if (kind == ARGUMENT_POINTER || kind == ARGUMENT_FILENAME)
		return hex_print(out, value);
	signed_print(out, kind == ARGUMENT_PID || kind == ARGUMENT_FD ? (int32_t)value : (int64_t)value);
	if (comm)
		writer_printf(out, " (%s)", comm);
}

/* The arguments of syscalls:sys_enter_NAME: words of the machine's size behind the number. */
static bool print_arguments(struct trace_samples *samples, const struct sample_event *event, const struct resolved *r)
{
	struct call_values values = { .call = event->call, .prefixes = samples->run->options->text.prefixes,
		.zeros = samples->run->options->text.zeros, .unnamed = samples->run->options->text.unnamed };
	for (unsigned i = 0; event->call && i < event->call->count; i++) {
		const struct tracepoint_field *field = tracepoints_field_at(samples->tracepoints, event->evsel->attr.config, i + 1);
		if (!field || !tracepoint_field_number(field, r->sample->raw, r->sample->raw_size, &values.values[i]))
			return false;
	}
	if (event->call)
		arguments_print(&samples->fields, &values);
	return event->call;
}

static void print_event(struct trace_samples *samples, const struct sample_event *event, const struct resolved *r)
{
	uint64_t id = event->evsel->attr.config;
	const struct tracepoint_field *field;
	bool first = true;
	samples->fields.len = 0;
	if (event->evsel->attr.type != ATTR_TRACEPOINT || print_arguments(samples, event, r))
		return;
	if (samples->run->options->libtraceevent) {
		tracepoints_print(samples->tracepoints, id, r->sample->raw, r->sample->raw_size, (int)r->sample->cpu, &samples->fields);
		return;
	}
	for (unsigned i = 0; (field = tracepoints_field_at(samples->tracepoints, id, i)); i++)
		print_field(samples, r, field, &first);
}

static void take_other(struct trace_samples *samples, struct sample_event *event, const struct resolved *r)
{
	struct trace_run *run = samples->run;
	struct trace_task *task = task_of(samples, r);
	struct chain chain;
	if (!take_chain(samples, r, &chain) || (event->max_printed && event->printed >= event->max_printed))
		return;
	event->printed++;
	if (run->text.options.silent)
		return;
	trace_text_event(&run->text, task, r->sample->time);
	print_event(samples, event, r);
	writer_name(&run->out, event->name, strlen(event->name));
	writer_putc(&run->out, '(');
	writer_name(&run->out, samples->fields.buffer, samples->fields.len);
	writer_add(&run->out, ")\n", 2);
	run->text.printed++;
	print_chain(samples, &chain);
}

static void take_run_time(struct trace_samples *samples, const struct sample_event *event, const struct resolved *r)
{
	struct trace_task *task = task_of(samples, r);
	uint64_t ns = 0;
	task->events++;
	if (event->value && tracepoint_field_number(event->value, r->sample->raw, r->sample->raw_size, &ns))
		task->runtime_ns += ns;
}

static void print_sample(const struct trace_samples *samples, const struct sample_event *event, const struct resolved *r)
{
	char unnamed[16];
	trace_print_sample(samples->run, event->name, r->sample->time, resolved_comm(r, unnamed, sizeof unnamed), r->pid, r->tid,
		(int)r->sample->cpu);
}

/* Whether a list such as "12,34" has the number; NULL: no list. */
static bool in_list(const char *list, int32_t number)
{
	for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',')
		if (strtol(at, NULL, 10) == number)
			return true;
	return !list;
}

static bool is_hidden(const struct trace_run *run, const struct resolved *r)
{
	const struct trace_command *o = run->options;
	if (o->input && (!in_list(o->target.pids, r->pid) || !in_list(o->target.tids, r->tid)))
		return true;
	for (size_t i = 0; i < run->options->hidden.count; i++)
		if (run->options->hidden.items[i] == r->tid || run->options->hidden.items[i] == r->pid)
			return true;
	return false;
}

static void take_sample(void *context, const struct resolved *r, size_t slice)
{
	struct trace_samples *samples = context;
	struct trace_run *run = samples->run;
	if (r->event >= samples->events.count || run->finished || is_hidden(run, r))
		return;
	struct sample_event *event = &samples->events.items[r->event];
	if (samples->programs)
		trace_programs_read(samples->programs, r->sample->time, trace_take_record, run);
	if (event->role == ROLE_SIDEBAND || !event_switch_passes(&run->switches, r->event))
		return;
	trace_text_begin(&run->text, r->sample->time);
	run->events++;
	if (run->options->print_sample && (event->role == ROLE_ENTER || event->role == ROLE_EXIT))
		print_sample(samples, event, r);
	switch (event->role) {
	case ROLE_ENTER: take_enter(samples, event, r); break;
	case ROLE_EXIT: take_exit(samples, event, r); break;
	case ROLE_CHAIN: take_call_chain(samples, event, r); break;
	case ROLE_MAJOR_FAULT:
	case ROLE_MINOR_FAULT: take_fault(samples, event, r); break;
	case ROLE_RUN_TIME: take_run_time(samples, event, r); break;
	default: take_other(samples, event, r);
	}
	if (run->options->max_events_given && run->options->max_events && run->text.printed >= run->options->max_events)
		run->finished = true;
}

struct sink trace_samples_sink(struct trace_samples *samples)
{
	return (struct sink){ .context = samples, .record = take_sample, .serial = true };
}
