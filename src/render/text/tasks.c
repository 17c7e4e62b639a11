#include "render/text/stats.h"

#include <inttypes.h>

#include "render/dump/record_text.h"

enum { INDENT = 2 + 8 + 1 + 8 + 1 + 8 + 2, PROT_READ_BIT = 1, PROT_WRITE_BIT = 2, PROT_EXEC_BIT = 4 };
/* Deeper tasks are not indented further: a chain of n forks would need n * n bytes. */
enum { LEVEL_MAX = 256 };

struct map_rows {
	struct writer *out;
	size_t indent;
};

static void map_print(void *context, const struct task_map *map)
{
	const struct map_rows *rows = context;
	writer_pad(rows->out, ' ', rows->indent);
	/* perf calls every mapping shared that has any flag. */
	writer_printf(rows->out, "  %" PRIx64 "-%" PRIx64 " %c%c%c%c %08" PRIx64 " %" PRIu64 " ", map->start, map->end,
		map->prot & PROT_READ_BIT ? 'r' : '-', map->prot & PROT_WRITE_BIT ? 'w' : '-', map->prot & PROT_EXEC_BIT ? 'x' : '-',
		map->flags ? 's' : 'p', map->pgoff, map->ino);
	writer_name(rows->out, map->name, strlen(map->name));
	writer_putc(rows->out, '\n');
}

void tasks_print(const struct tasks *tasks, const struct model *model, struct writer *out)
{
	writer_printf(out, "# %8s %8s %8s  %s\n", "pid", "tid", "ppid", "comm");
	for (size_t i = 0; i < tasks->order.count; i++) {
		const struct task *task = &tasks->tasks.items[tasks->order.items[i]];
		writer_printf(out, "  %8d %8d %8d |", task->pid, task->tid, task->ppid);
		size_t level = task->level < LEVEL_MAX ? task->level : LEVEL_MAX;
		writer_pad(out, ' ', level);
		if (task->comm)
			writer_name(out, task->comm, strlen(task->comm));
		else
			writer_printf(out, ":%d", task->tid);
		writer_putc(out, '\n');
		struct map_rows rows = { .out = out, .indent = INDENT + level };
		tasks_each_map(tasks, task, model, map_print, &rows);
	}
}
