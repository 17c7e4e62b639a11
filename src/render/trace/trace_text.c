#include "render/trace/trace_text.h"

#include <string.h>

enum { TIME_WIDTH = 10, DURATION_WIDTH = 6, COMM_SHOWN = 14, SLOW_NS = 1000000, NOTABLE_NS = 10000 };

#define RED "\033[31m"
#define YELLOW "\033[33m"
#define PLAIN "\033[m"

void trace_text_init(struct trace_text *text, const struct trace_text_options *options, struct trace_tasks *tasks, struct writer *out)
{
	*text = (struct trace_text){ .options = *options, .out = out, .tasks = tasks };
	writer_open(&text->line, -1, 4096);
}

void trace_text_fini(struct trace_text *text)
{
	writer_fini(&text->line);
}

void trace_text_begin(struct trace_text *text, uint64_t time_ns)
{
	if (!text->based)
		text->base_ns = text->options.full_time ? 0 : time_ns;
	text->based = true;
}

/* Milliseconds with three decimals, as printf's %*.3f. */
static void print_ms(struct writer *out, uint64_t ns, unsigned width)
{
	uint64_t us = (ns + 500) / 1000, part = us % 1000;
	char digits[4] = { '.', (char)('0' + part / 100), (char)('0' + part / 10 % 10), (char)('0' + part % 10) };
	writer_decimal(out, us / 1000, width - sizeof digits);
	writer_add(out, digits, sizeof digits);
}

static void print_coloured(struct trace_text *text, const char *colour, const char *what, size_t length)
{
	if (text->options.colours && *colour) {
		writer_add_styled(text->out, colour, strlen(colour));
		writer_add(text->out, what, length);
		writer_add_styled(text->out, PLAIN, strlen(PLAIN));
	} else {
		writer_add(text->out, what, length);
	}
}

static void print_duration(struct trace_text *text, bool timed, uint64_t ns)
{
	writer_putc(text->out, '(');
	if (!timed) {
		writer_add(text->out, "         ", 9);
	} else if (!text->options.colours) {
		print_ms(text->out, ns, DURATION_WIDTH);
		writer_add(text->out, " ms", 3);
	} else {
		struct writer *line = &text->line;
		size_t at = line->len;
		print_ms(line, ns, DURATION_WIDTH);
		writer_add(line, " ms", 3);
		print_coloured(text, ns >= SLOW_NS ? RED : ns >= NOTABLE_NS ? YELLOW : "", line->buffer + at, line->len - at);
		line->len = at;
	}
	writer_add(text->out, "): ", 3);
}

static void print_task(struct trace_text *text, const struct trace_task *task)
{
	if (!text->options.tasks)
		return;
	if (text->options.comm) {
		if (*task->comm) {
			writer_add(text->out, task->comm, strnlen(task->comm, COMM_SHOWN));
		} else {
			writer_putc(text->out, ':');
			writer_decimal(text->out, (uint64_t)task->tid, 0);
		}
		writer_putc(text->out, '/');
	}
	writer_decimal(text->out, (uint64_t)task->tid, 0);
	writer_putc(text->out, ' ');
}

void trace_text_head(struct trace_text *text, const struct trace_task *task, uint64_t time_ns, bool timed, uint64_t duration_ns)
{
	if (text->options.time && time_ns) {
		print_ms(text->out, time_ns > text->base_ns ? time_ns - text->base_ns : 0, TIME_WIDTH);
		writer_putc(text->out, ' ');
	} else if (text->options.time) {
		writer_puts(text->out, "         ? ");
	}
	if (text->options.duration)
		print_duration(text, timed, duration_ns);
	print_task(text, task);
}

struct asked {
	struct trace_text *text;
	const struct trace_task *task;
};

static const char *file_name(void *context, int fd)
{
	const struct asked *asked = context;
	return trace_file_name(asked->text->tasks, asked->task->tgid, fd);
}

static void file_closed(void *context, int fd)
{
	const struct asked *asked = context;
	trace_file_closed(asked->text->tasks, asked->task->tgid, fd);
}

static const char *comm(void *context, int pid)
{
	const struct asked *asked = context;
	return trace_comm(asked->text->tasks, pid);
}

static struct call_values values_of(struct trace_text *text, const struct trace_task *task, struct asked *asked)
{
	const struct trace_text_options *options = &text->options;
	*asked = (struct asked){ text, task };
	struct call_values values = { .context = asked, .comm = comm, .prefixes = options->prefixes, .zeros = options->zeros,
		.unnamed = options->unnamed };
	if (!options->no_files) {
		values.file_name = file_name;
		values.file_closed = file_closed;
	}
	pending_call_values(&task->entry, &values);
	return values;
}

/* "name(arguments)" into text->line. */
static void make_call(struct trace_text *text, const struct call_values *values)
{
	text->line.len = 0;
	writer_puts(&text->line, values->call->name);
	writer_putc(&text->line, '(');
	arguments_print(&text->line, values);
	writer_putc(&text->line, ')');
}

/* The call that the last task to enter one has not returned from. */
static void print_interrupted(struct trace_text *text)
{
	struct trace_task *task = text->current;
	struct asked asked;
	if (text->options.failures_only || !task || !task->entry.pending)
		return;
	trace_text_head(text, task, task->entry.entered, false, 0);
	struct call_values values = values_of(text, task, &asked);
	make_call(text, &values);
	writer_add(text->out, text->line.buffer, text->line.len);
	size_t length = text->line.len, column = (size_t)(text->options.alignment > 4 ? text->options.alignment - 4 : 0);
	if (length < column)
		writer_pad(text->out, ' ', column - length);
	writer_puts(text->out, " ...\n");
	task->entry.pending = false;
	text->printed++;
}

static void print_equals(struct trace_text *text, size_t length)
{
	size_t column = (size_t)(text->options.alignment > 0 ? text->options.alignment : 0);
	writer_pad(text->out, ' ', column > length ? column - length : 1);
	writer_add(text->out, "= ", 2);
}

static bool shows_entries(const struct trace_text *text)
{
	return !(text->options.least_ns || text->options.silent);
}

void trace_text_enter(struct trace_text *text, struct trace_task *task)
{
	struct asked asked;
	if (shows_entries(text) && text->current != task)
		print_interrupted(text);
	text->current = task;
	if (!(task->entry.call->flags & CALL_ENDS))
		return;
	task->entry.pending = false;
	if (!shows_entries(text) || text->options.failures_only)
		return;
	trace_text_head(text, task, task->entry.entered, false, 0);
	struct call_values values = values_of(text, task, &asked);
	make_call(text, &values);
	writer_add(text->out, text->line.buffer, text->line.len);
	print_equals(text, text->line.len);
	writer_puts(text->out, "?\n");
}

bool trace_text_leave(struct trace_text *text, struct trace_task *task, uint64_t left, int64_t result)
{
	struct pending_call *entry = &task->entry;
	uint64_t duration = entry->entered ? left - entry->entered : 0;
	bool pending = entry->pending, hidden = text->options.silent || (result >= 0 && text->options.failures_only);
	struct asked asked;
	entry->pending = entry->open = false;
	if (hidden || (text->options.least_ns && (!entry->entered || duration < text->options.least_ns))) {
		if (entry->call && entry->call->arguments[0].kind == ARGUMENT_FD_CLOSED && !text->options.no_files)
			trace_file_closed(text->tasks, task->tgid, (int)entry->values[0]);
		return false;
	}
	trace_text_head(text, task, entry->entered, entry->entered != 0, duration);
	struct call_values values = values_of(text, task, &asked);
	if (pending) {
		make_call(text, &values);
		writer_add(text->out, text->line.buffer, text->line.len);
	} else {
		text->line.len = 0;
		writer_puts(text->out, " ... [");
		print_coloured(text, YELLOW, "continued", 9);
		writer_puts(text->out, "]: ");
		writer_puts(text->out, values.call->name);
		writer_add(text->out, "())", 3);
		text->line.len = strlen(" ... [continued]: ())") + strlen(values.call->name);
	}
	print_equals(text, text->line.len);
	result_print(text->out, &values, result);
	writer_putc(text->out, '\n');
	text->printed++;
	return true;
}

bool trace_text_call(struct trace_text *text, struct trace_task *task, uint64_t left, int64_t result)
{
	if (shows_entries(text) && text->current != task)
		print_interrupted(text);
	text->current = task;
	return trace_text_leave(text, task, left, result);
}

void trace_text_event(struct trace_text *text, struct trace_task *task, uint64_t time_ns)
{
	bool duration = text->options.duration;
	print_interrupted(text);
	text->options.duration = duration && text->options.calls;
	trace_text_head(text, task, time_ns, false, 0);
	text->options.duration = duration;
}

void trace_text_lost(struct trace_text *text, uint64_t count)
{
	text->line.len = 0;
	writer_printf(&text->line, "LOST %llu events!\n", (unsigned long long)count);
	print_coloured(text, RED, text->line.buffer, text->line.len);
}
