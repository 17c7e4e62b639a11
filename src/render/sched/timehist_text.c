#include <stdio.h>
#include <stdlib.h>

#include "render/sched/sched_text.h"
#include "render/sched/times.h"

enum { PRIORITY_COLUMNS = 8, NEXT_MAX_COLUMNS = 29, CPUS_UNKNOWN = 4 };

void timehist_style_init(struct timehist_style *style, struct timehist *timehist, uint32_t cpus_online)
{
	bool known = cpus_online && cpus_online <= STATES_CPUS_MAX;
	*style = (struct timehist_style){ .timehist = timehist, .comm_width = 30, .cpu_count = known ? (int32_t)cpus_online : CPUS_UNKNOWN };
}

/* A column of text, aligned left (width > 0) or right. */
static void add_column(struct writer *out, const char *text, size_t len, int width)
{
	size_t columns = (size_t)abs(width), pad = len < columns ? columns - len : 0;
	if (width < 0)
		writer_pad(out, ' ', pad);
	writer_add(out, text, len);
	if (width > 0)
		writer_pad(out, ' ', pad);
}

static void print_heading_line(const struct timehist_style *style, const char *const words[7], char fill, struct writer *out)
{
	static const int widths[7] = { -15, 0, 0, PRIORITY_COLUMNS, -9, -9, -9 };
	add_column(out, words[0], strlen(words[0]), widths[0]);
	writer_putc(out, ' ');
	add_column(out, words[1], strlen(words[1]), fill == '.' ? -6 : 6);
	writer_putc(out, ' ');
	if (style->cpu_visual) {
		writer_putc(out, ' ');
		for (int32_t i = 0; i <= style->cpu_count; i++)
			writer_putc(out, fill == '.' ? "0123456789abcdef"[i % 16] : fill);
		writer_putc(out, ' ');
	}
	writer_putc(out, ' ');
	if (fill == '-')
		writer_pad(out, '-', (size_t)style->comm_width);
	else
		add_column(out, words[2], strlen(words[2]), style->comm_width);
	for (int i = style->priority ? 3 : 4; i < 7; i++) {
		writer_puts(out, "  ");
		add_column(out, words[i], strlen(words[i]), widths[i]);
	}
	if (style->state)
		writer_puts(out, fill == '.' ? "  state" : fill == '-' ? "  -----" : "       ");
	writer_putc(out, '\n');
}

void timehist_print_heading(const struct timehist_style *style, struct writer *out)
{
	static const char *const titles[7] = { "time", "cpu", "task name", "prio", "wait time", "sch delay", "run time" };
	static const char *const units[7] = { "", "", "[tid/pid]", "", "(msec)", "(msec)", "(msec)" };
	static const char *const lines[7] = { "---------------", "------", "", "--------", "---------", "---------", "---------" };
	print_heading_line(style, titles, '.', out);
	print_heading_line(style, units, ' ', out);
	print_heading_line(style, lines, '-', out);
}

void timehist_style_fini(struct timehist_style *style)
{
	vec_fini(&style->labels);
}

const struct timehist_label *timehist_label(struct timehist_style *style, uint32_t index)
{
	struct sched_reader *reader = &style->timehist->reader;
	const struct task *task = &reader->states.tasks.items[index];
	const char *name = sched_task_name(reader, index);
	while (style->labels.count <= index)
		(void)vec_add(&style->labels);
	struct timehist_label *label = &style->labels.items[index];
	if (label->name != name) {
		int32_t pid = sched_task_pid(reader, index);
		int len;
		if (task_is_idle(task))
			len = snprintf(label->text, NAME_SIZE, "%s", name);
		else if (pid > 0 && pid != task->tid)
			len = snprintf(label->text, NAME_SIZE, "%s[%d/%d]", name, task->tid, pid);
		else
			len = snprintf(label->text, NAME_SIZE, "%s[%d]", name, task->tid);
		label->len = (uint8_t)(len >= NAME_SIZE ? NAME_SIZE - 1 : len);
		label->name = name;
		text_join_lines(label->text, label->len);
	}
	style->comm_width = label->len > style->comm_width ? label->len : style->comm_width;
	return label;
}

static void add_name(struct timehist_style *style, uint32_t index, struct writer *out)
{
	const struct timehist_label *label = timehist_label(style, index);
	add_column(out, label->text, label->len, style->comm_width);
}

static void start_line(struct timehist_style *style, const struct timehist_row *row, char mark, bool wide, struct writer *out)
{
	times_add_seconds(out, row->time, 15);
	writer_puts(out, " [");
	for (int32_t power = 1000; power > row->cpu && power > 1; power /= 10)
		writer_putc(out, '0');
	writer_decimal(out, (uint64_t)row->cpu, 0);
	writer_puts(out, "] ");
	if (!style->cpu_visual)
		return;
	writer_puts(out, wide ? "  " : " ");
	for (int32_t i = 0; i <= style->cpu_count; i++)
		writer_putc(out, i == row->cpu ? mark : ' ');
	writer_puts(out, wide ? "  " : " ");
}

static void add_priority(const struct timehist_row *row, struct writer *out)
{
	char text[16];
	int len = row->priority_before != -1 && row->priority_before != row->priority
		? snprintf(text, sizeof text, "%d->%d", row->priority_before, row->priority) : snprintf(text, sizeof text, "%d", row->priority);
	writer_putc(out, ' ');
	add_column(out, text, (size_t)len, PRIORITY_COLUMNS);
	writer_putc(out, ' ');
}

static void add_time(struct writer *out, uint64_t ns, bool lost)
{
	enum { MILLISECONDS = 6 };
	if (lost)
		times_add_unknown(out, MILLISECONDS);
	else
		times_add_milliseconds(out, ns, MILLISECONDS);
}

static void print_turn(struct timehist_style *style, const struct timehist_row *row, const char *chain, struct writer *out)
{
	struct sched_reader *reader = &style->timehist->reader;
	bool idle = task_is_idle(&reader->states.tasks.items[row->task]);
	start_line(style, row, idle ? 'i' : 's', false, out);
	writer_putc(out, ' ');
	if (idle)
		add_column(out, "<idle>", 6, style->comm_width);
	else
		add_name(style, row->task, out);
	writer_putc(out, ' ');
	if (style->priority)
		add_priority(row, out);
	add_time(out, row->wait_ns, row->wait_lost);
	add_time(out, row->delay_ns, row->wait_lost);
	add_time(out, row->run_ns, row->run_lost);
	if (style->state) {
		writer_pad(out, ' ', 5);
		writer_putc(out, idle ? 'I' : row->letter);
		writer_putc(out, ' ');
	}
	if (style->next) {
		char text[NEXT_MAX_COLUMNS + 1];
		int len = snprintf(text, sizeof text, "next: %s[%d]", sched_event_comm(reader, row->event, SCHED_NEXT_COMM),
			row->event->change.next);
		writer_putc(out, ' ');
		add_column(out, text, len > NEXT_MAX_COLUMNS ? NEXT_MAX_COLUMNS : (size_t)len, style->comm_width);
	} else if (style->wakeups) {
		writer_pad(out, ' ', 2 + (size_t)style->comm_width);
	}
	if (!idle && style->chains)
		writer_puts(out, "  ");
	if (!idle && chain)
		writer_puts(out, chain);
	writer_putc(out, '\n');
}

static void print_pair(struct timehist_style *style, const struct timehist_row *row, struct writer *out)
{
	enum { SPACER = 35 };
	bool migrated = row->kind == TIMEHIST_MIGRATION;
	start_line(style, row, migrated ? 'm' : ' ', migrated, out);
	writer_putc(out, ' ');
	if (row->task == STATES_NO_TASK)
		writer_pad(out, ' ', (size_t)style->comm_width);
	else
		add_name(style, row->task, out);
	writer_pad(out, ' ', SPACER);
	writer_puts(out, migrated ? "migrated: " : "awakened: ");
	const struct timehist_label *label = timehist_label(style, row->other);
	writer_add(out, label->text, label->len);
	if (migrated)
		writer_printf(out, " cpu %d => %d", row->from_cpu, row->to_cpu);
	writer_putc(out, '\n');
}

void timehist_print_row(struct timehist_style *style, const struct timehist_row *row, const char *chain, struct writer *out)
{
	style->cpu_count = row->cpu > style->cpu_count ? row->cpu : style->cpu_count;
	if (row->kind == TIMEHIST_TURN) {
		print_turn(style, row, chain, out);
	} else if (row->kind == TIMEHIST_LOST) {
		times_add_seconds(out, row->time, 15);
		writer_printf(out, " lost %llu events on cpu %d\n", (unsigned long long)row->lost, row->cpu);
	} else {
		print_pair(style, row, out);
	}
}
