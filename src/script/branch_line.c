/* Lines of branches and instructions of a hardware trace, whose text was made before: loops execute the same code again and again, and only
 * the times and the cycles of its lines differ. */
#include <stddef.h>
#include <stdlib.h>

#include "script/internal.h"
#include "session/trace.h"

enum { LINES = 1 << 12, TEXT_MAX = 312, CHUNK = 32 };

/* All that the text depends on besides the time and the cycles. */
struct line_key {
	uint64_t ip, addr, period;
	uint64_t code[2];        /* the instruction's size and bytes */
	uintptr_t user_root, kernel_root;
	uint32_t event, flags, comm, pid, tid, cpu, thread_tid;
	uint32_t depth, call_width; /* with the field callindent: how wide its column is before the line; otherwise 0 */
	uint16_t mode, has_code;
};

/* The text before the time, and the one between the time and the cycles. */
struct branch_line {
	struct line_key key;
	uint16_t before, behind; /* bytes; behind 0: no line yet */
	uint16_t room;           /* bytes of text, without the CHUNK behind it */
	uint32_t call_width;     /* listing.call_width behind it */
	char *text;              /* in worker.line_texts */
};

static bool is_before_time(field_print *print)
{
	return print == print_comm || print == print_ids || print == print_cpu;
}

static bool is_behind_time(field_print *print)
{
	return print == print_period || print == print_event || print == print_flags || print == print_branch_trace || print == print_ip ||
		print == print_instruction;
}

void branch_line_plan(struct listing_plan *plan)
{
	unsigned at = 0;

	plan->time_step = 0;
	if (plan->comm_plain || plan->step_count != plan->line_count)
		return;
	while (at < plan->line_count && is_before_time(plan->steps[at].print))
		at++;
	if (!at || at == plan->line_count || plan->steps[at].print != print_time)
		return;
	unsigned time = at++;
	while (at < plan->line_count && is_behind_time(plan->steps[at].print))
		at++;
	bool ends_with_cycles = at + 1 == plan->line_count && plan->steps[at].print == print_ipc;
	if (at > time + 1 && (at == plan->line_count || ends_with_cycles)) {
		plan->time_step = time;
		plan->cycles_step = at;
	}
}

/* Whether the text depends on the width of a column, and changes it. */
static inline bool indents(const struct listing_line *line)
{
	return shows(line, FIELD_CALLINDENT);
}

static inline struct line_key key_of(const struct listing_line *line, const struct trace_note *note)
{
	const struct resolved *r = line->r;
	const struct sample *sample = r->sample;
	struct line_key key = { .ip = sample->ip, .addr = sample->addr, .period = sample->period, .user_root = (uintptr_t)r->user_root,
		.kernel_root = (uintptr_t)r->kernel_root, .event = r->event, .flags = note->flags, .comm = r->comm, .pid = sample->pid,
		.tid = sample->tid, .cpu = sample->cpu, .thread_tid = (uint32_t)r->tid, .mode = (uint16_t)record_cpumode(r->record),
		.has_code = note->has_instruction };

	_Static_assert(offsetof(struct trace_note, instruction) == offsetof(struct trace_note, instruction_size) + 1, "one behind the other");
	memcpy(key.code, &note->instruction_size, sizeof key.code);
	if (indents(line)) {
		key.depth = note->depth;
		key.call_width = line->listing->call_width;
	}
	return key;
}

/* Member by member: to read what was just written in larger units takes long. */
static inline bool is_same(const struct line_key *a, const struct line_key *b)
{
	uint64_t places = (a->ip ^ b->ip) | (a->addr ^ b->addr) | (a->period ^ b->period) | (a->code[0] ^ b->code[0]) |
		(a->code[1] ^ b->code[1]) | (a->user_root ^ b->user_root) | (a->kernel_root ^ b->kernel_root);
	uint32_t ids = (a->event ^ b->event) | (a->flags ^ b->flags) | (a->comm ^ b->comm) | (a->pid ^ b->pid) | (a->tid ^ b->tid) |
		(a->cpu ^ b->cpu) | (a->thread_tid ^ b->thread_tid) | (a->depth ^ b->depth) |
		(a->call_width ^ b->call_width) | (uint32_t)(a->mode ^ b->mode) | (uint32_t)(a->has_code ^ b->has_code);

	return !(places | ids);
}

static void print_steps(const struct listing_line *line, unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++)
		line->plan->steps[i].print(line, line->plan->steps[i].row);
}

/* Copies text in whole chunks: up to CHUNK bytes more are read and written. Returns the end of the copy. */
static inline char *put_text(char *to, const char *text, size_t len)
{
	for (size_t at = 0; at < len; at += CHUNK)
		memcpy(to + at, text + at, CHUNK);
	return to + len;
}

/* Makes the text of the time, which is often that of the line before. False: it is too long. */
static bool make_time(const struct listing_line *line)
{
	struct listing_worker *worker = line->worker;
	const struct listing_step *step = &line->plan->steps[line->plan->time_step];
	uint64_t unit = line->listing->options.nanoseconds ? line->r->sample->time : line->r->sample->time / 1000;

	if (worker->time.len && worker->time.unit == unit)
		return true;
	size_t start = line->out->len;
	step->print(line, step->row);
	size_t len = line->out->len - start;
	line->out->len = start;
	worker->time.len = 0;
	if (!len || len + CHUNK > sizeof worker->time.text)
		return false;
	memcpy(worker->time.text, line->out->buffer + start, len);
	worker->time.unit = unit;
	worker->time.len = (uint32_t)len;
	return true;
}

/* Prints a stored line up to its cycles. */
static void print_known(const struct listing_line *line, const struct branch_line *known)
{
	struct listing_worker *worker = line->worker;
	bool timed = make_time(line);
	char *start = writer_room(line->out, TEXT_MAX + sizeof worker->time.text + 3 * CHUNK), *p = start;

	p = put_text(p, known->text, known->before);
	if (timed) {
		p = put_text(p, worker->time.text, worker->time.len);
	} else {
		writer_advance(line->out, (size_t)(p - start));
		print_steps(line, line->plan->time_step, line->plan->time_step + 1);
		p = start = writer_room(line->out, TEXT_MAX + CHUNK);
	}
	p = put_text(p, known->text + known->before, known->behind);
	writer_advance(line->out, (size_t)(p - start));
}

/* A place of a line has the room of the longest one that was in it: in whole chunks, so that it grows a few times at most. */
static char *line_room(struct listing_worker *worker, struct branch_line *known, size_t len)
{
	if (len <= known->room)
		return known->text;
	known->room = (uint16_t)((len + CHUNK - 1) / CHUNK * CHUNK);
	return known->text = arena_alloc(&worker->line_texts, known->room + CHUNK);
}

/* Prints the line, and stores its text if it is short enough. */
static void print_new(const struct listing_line *line, struct branch_line *known)
{
	const struct listing_plan *plan = line->plan;
	struct writer *out = line->out;
	size_t start = out->len;

	print_steps(line, 0, plan->time_step);
	size_t before = out->len - start;
	print_steps(line, plan->time_step, plan->time_step + 1);
	size_t second = out->len;
	print_steps(line, plan->time_step + 1, plan->cycles_step);
	size_t behind = out->len - second;
	known->behind = 0;
	if (before + behind > TEXT_MAX)
		return;
	char *text = line_room(line->worker, known, before + behind);
	memcpy(text, out->buffer + start, before);
	memcpy(text + before, out->buffer + second, behind);
	known->before = (uint16_t)before;
	known->behind = (uint16_t)behind;
	known->call_width = line->listing->call_width;
}

bool branch_line_print(const struct listing_line *line)
{
	const struct listing_plan *plan = line->plan;
	struct listing_worker *worker = line->worker;
	const struct trace_note *note = trace_note_of(line->r);

	if (!plan->time_step || !note || line->out != worker->out || line->r->sample->present & SAMPLE_CALLCHAIN ||
		line->listing->varies)
		return false;
	if (!worker->branch_lines)
		worker->branch_lines = memory_zero(LINES, sizeof *worker->branch_lines);
	struct line_key key = key_of(line, note);
	struct branch_line *known = &worker->branch_lines[hash_u64(key.ip ^ key.addr << 20 ^ key.flags) & (LINES - 1)];
	if (!known->behind || !is_same(&known->key, &key)) {
		known->key = key;
		print_new(line, known);
	} else {
		print_known(line, known);
		if (indents(line))
			line->listing->call_width = known->call_width;
	}
	print_steps(line, plan->cycles_step, plan->line_count);
	writer_putc(line->out, '\n');
	return true;
}

void branch_line_forget(struct listing_worker *worker)
{
	free(worker->branch_lines);
	worker->branch_lines = NULL;
	arena_fini(&worker->line_texts);
}
