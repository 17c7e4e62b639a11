#include "render/trace/trace_text.h"

#include <string.h>

#include "render/trace/summary_text.h"
#include "unit.h"

struct page {
	struct trace_tasks tasks;
	struct trace_text text;
	struct writer out;
	struct call read, leave;
};

static void page_open(struct page *page, struct trace_text_options options)
{
	memset(page, 0, sizeof *page);
	options.time = options.duration = options.tasks = options.comm = options.calls = true;
	options.alignment = 40;
	writer_open(&page->out, -1, 256);
	trace_text_init(&page->text, &options, &page->tasks, &page->out);
	trace_text_begin(&page->text, 1000000000);
	call_describe(&page->read, "read");
	call_describe(&page->leave, "exit_group");
}

static void page_is(struct page *page, const char *text)
{
	writer_putc(&page->out, '\0');
	EXPECT_STR(page->out.buffer, text);
	trace_text_fini(&page->text);
	trace_tasks_fini(&page->tasks);
	writer_fini(&page->out);
}

static struct trace_task *enters(struct page *page, int tid, const struct call *call, uint64_t entered)
{
	struct trace_task *task = trace_tasks_get(&page->tasks, tid, 0);
	const uint64_t values[] = { 0, 0x10, 8 };
	trace_task_name(task, "cat", 4);
	pending_call_set(&task->entry, call, entered, values, 3);
	return task;
}

TEST("a line has time, duration, task, call and result in perf's columns")
{
	struct page page;
	page_open(&page, (struct trace_text_options){ 0 });
	struct trace_task *task = enters(&page, 7, &page.read, 1012345678);
	trace_text_enter(&page.text, task);
	EXPECT(trace_text_leave(&page.text, task, 1013580178, 8));
	task = enters(&page, 7, &page.leave, 1020000000);
	trace_text_enter(&page.text, task);
	EXPECT_INT(page.text.printed, 1);
	page_is(&page,
		"    12.346 ( 1.235 ms): cat/7 read(buf: 0x10, count: 8)               = 8\n"
		"    20.000 (         ): cat/7 exit_group()                            = ?\n");
}

TEST("a call that another thread's interrupts is printed twice")
{
	struct page page;
	page_open(&page, (struct trace_text_options){ 0 });
	struct trace_task *waits = enters(&page, 7, &page.read, 1001000000);
	trace_text_enter(&page.text, waits);
	trace_text_call(&page.text, enters(&page, 8, &page.read, 1002000000), 1003000000, 0);
	trace_text_leave(&page.text, waits, 1004000000, -11);
	EXPECT_INT(page.text.printed, 3);
	page_is(&page,
		"     1.000 (         ): cat/7 read(buf: 0x10, count: 8)            ...\n"
		"     2.000 ( 1.000 ms): cat/8 read(buf: 0x10, count: 8)               = 0\n"
		"     1.000 ( 3.000 ms): cat/7  ... [continued]: read())               = -1 EAGAIN (Resource temporarily unavailable)\n");
}

TEST("short calls, successes and everything can be left out")
{
	struct page page;
	page_open(&page, (struct trace_text_options){ .least_ns = 1000, .failures_only = true });
	EXPECT(!trace_text_call(&page.text, enters(&page, 7, &page.read, 1000), 1999, -5));
	EXPECT(!trace_text_call(&page.text, enters(&page, 7, &page.read, 1000), 2000, 5));
	EXPECT(trace_text_call(&page.text, enters(&page, 7, &page.read, 1000000000), 1000001000, -5));
	page_is(&page, "     0.000 ( 0.001 ms): cat/7 read(buf: 0x10, count: 8)               = -1 EIO (Input/output error)\n");
}

static const char *name_of(void *context, uint32_t number)
{
	return "read";
}

TEST("a summary has perf's columns")
{
	struct call_sums sums = { 0 };
	struct trace_tasks tasks = { 0 };
	struct trace_summary summary = { .name = name_of };
	struct writer out;
	struct trace_task *task = trace_tasks_get(&tasks, 9, 0);
	trace_task_name(task, "dd", 3);
	task->events = 4;
	call_sums_add(&sums, 9, 0, 1000000, 1);
	call_sums_add(&sums, 9, 0, 3000000, -2);
	trace_summary_init(&summary, &tasks, &sums, 0);
	writer_open(&out, -1, 256);
	summary_text_print(&summary, &(struct summary_text_options){ .errors = true }, &out);
	writer_putc(&out, '\0');
	EXPECT_STR(out.buffer,
		"\n Summary of events:\n\n dd (9), 4 events, 100.0%\n\n"
		"   syscall            calls  errors  total       min       avg       max       stddev\n"
		"                                     (msec)    (msec)    (msec)    (msec)        (%)\n"
		"   --------------- --------  ------ -------- --------- --------- ---------     ------\n"
		"   read                   2      1     4.000     1.000     2.000     3.000     50.00%\n"
		"\t\t\t\tENOENT: 1\n\n\n");
	writer_fini(&out);
	trace_summary_fini(&summary);
	call_sums_fini(&sums);
	trace_tasks_fini(&tasks);
}

static const char *path_of(void *context, uint64_t id)
{
	return id == 3 ? "/system.slice" : NULL;
}

TEST("a summary in total or by cgroup names what is added up, and has at most the wanted number of calls")
{
	static const struct {
		enum summary_mode mode;
		uint64_t cgroup;
		const char *line;
	} rows[] = { { SUMMARY_IN_TOTAL, 3, " total, 4 events, 2 minfaults\n" },
		{ SUMMARY_BY_CGROUP, 3, " cgroup /system.slice, 4 events, 2 minfaults\n" },
		{ SUMMARY_BY_CGROUP, 4, " cgroup id:4, 4 events, 2 minfaults\n" } };
	struct call_sums sums = { 0 };
	struct trace_tasks tasks = { 0 };
	struct trace_task *task = trace_tasks_get(&tasks, 9, 0);
	task->events = 4;
	task->minor_faults = 2;
	call_sums_add(&sums, 9, 0, 1000000, 1);
	call_sums_add(&sums, 9, 1, 2000000, 1);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct trace_summary summary = { .mode = rows[i].mode, .name = name_of, .cgroup_name = path_of };
		struct writer out;
		task->cgroup = rows[i].cgroup;
		trace_summary_init(&summary, &tasks, &sums, 0);
		writer_open(&out, -1, 256);
		summary_text_print(&summary, &(struct summary_text_options){ .max_calls = 1 }, &out);
		writer_putc(&out, '\0');
		EXPECT(strstr(out.buffer, rows[i].line) != NULL);
		EXPECT(strstr(out.buffer, " 2.000 ") != NULL && strstr(out.buffer, " 1.000 ") == NULL);
		writer_fini(&out);
		trace_summary_fini(&summary);
	}
	call_sums_fini(&sums);
	trace_tasks_fini(&tasks);
}
