#include <stdio.h>

#include "render/sched/sched_text.h"
#include "render/sched/times.h"

#define BLUE "\033[34m"
#define RED_BACKGROUND "\033[41m"
#define PLAIN "\033[m"

static void add_coloured(struct writer *out, const char *colour, const char *text)
{
	if (!colour) {
		writer_puts(out, text);
		return;
	}
	CLEANUP_STR struct str styled = { 0 };
	str_printf(&styled, "%s%s" PLAIN, colour, text);
	writer_add_styled(out, styled.text, styled.len);
}

static void add_plain(struct sched_map *map, const struct map_row *row, const struct map_cpu *cpu, bool own, struct writer *out)
{
	enum { COLUMN = 4 };
	char *to = writer_room(out, COLUMN);
	memcpy(to, own ? "*   " : "    ", COLUMN);
	if (row->leaves && own)
		to[1] = '-';
	else if (cpu->in != STATES_NO_TASK)
		memcpy(to + 1, sched_map_task(map, cpu->in)->name, 2);
	writer_advance(out, COLUMN);
}

static void print_column(struct sched_map *map, const struct map_row *row, int32_t number, bool colours, struct writer *out)
{
	const struct map_cpu *cpu = sched_map_cpu(map, number);
	bool own = number == row->cpu, highlighted = map->options.coloured_cpus.words &&
		cpu_filter_has(&map->options.coloured_cpus, (uint32_t)number);
	if (!colours) {
		add_plain(map, row, cpu, own, out);
		return;
	}
	add_coloured(out, own && highlighted ? RED_BACKGROUND : NULL, own ? "*" : " ");
	if (cpu->in == STATES_NO_TASK) {
		writer_puts(out, "   ");
		return;
	}
	if (row->leaves && own) {
		writer_puts(out, "-  ");
		return;
	}
	const struct map_task *task = sched_map_task(map, cpu->in);
	char text[8];
	snprintf(text, sizeof text, "%2s ", task->name);
	add_coloured(out, task->coloured ? BLUE : NULL, text);
}

void map_row_print(struct sched_map *map, const struct map_row *row, bool colours, struct writer *out)
{
	writer_puts(out, "  ");
	for (size_t i = 0; i < sched_map_columns(map); i++)
		print_column(map, row, sched_map_column_cpu(map, i), colours, out);
	writer_puts(out, "  ");
	times_add_seconds(out, row->time, 12);
	writer_puts(out, " secs ");
	if (row->introduced) {
		const struct map_task *task = sched_map_task(map, row->task);
		CLEANUP_STR struct str text = { 0 };
		str_printf(&text, "%s => %s:%d", task->name, sched_task_comm(&map->reader, row->task),
			map->reader.states.tasks.items[row->task].tid);
		if (out->terminal)
			text_make_printable(text.text);
		text_join_lines(text.text, text.len);
		add_coloured(out, colours && task->coloured ? BLUE : NULL, text.text);
	}
	if (row->new_cpu)
		writer_printf(out, " (CPU %d)", row->cpu);
	writer_putc(out, '\n');
}
