#include "cmd/browse_table.h"

#include "base/memory.h"
#include "cmd/browse_rows.h"
#include "cmd/browse_screen.h"

enum { DETAILS = 2000000 }; /* rows of the tables that belong to rows */

static void add_facts(const struct table_fact *facts, size_t count, struct writer *out)
{
	for (size_t i = 0; i < count; i++) {
		writer_printf(out, "%s: ", facts[i].name);
		cell_json(&facts[i].value, out);
		writer_putc(out, '\n');
	}
}

static void show_facts(void *context, struct str *out)
{
	const struct results *results = browse_screen_shown(context);
	struct writer text;
	if (!results) {
		str_puts(out, "These facts are known when the recording is read to its end.\n");
		return;
	}
	writer_open(&text, -1, 0);
	add_facts(results->facts, results->fact_count, &text);
	for (size_t i = 0; i < results->table_count; i++) {
		writer_printf(&text, "%s%s\n", text.len ? "\n" : "", results->tables[i].name ? results->tables[i].name : "");
		add_facts(results->tables[i].facts, results->tables[i].fact_count, &text);
	}
	str_add(out, text.buffer, text.len);
	writer_fini(&text);
}

static struct feed_shot *shot_of(const struct results *results, bool preview)
{
	struct feed_shot *shot = memory_zero(1, sizeof *shot);
	shot->tables = memory_zero(results->table_count + 1, sizeof *shot->tables);
	for (size_t i = 0; i < results->table_count; i++) {
		struct table_first first;
		const struct table part = table_first(&first, &results->tables[i], PREVIEW_ROWS);
		shot->tables[shot->table_count++] = preview ? snapshot_new(&part, 0) : snapshot_new(&results->tables[i], DETAILS);
	}
	return shot;
}

static void add_messages(void *context, struct str *out)
{
	const struct browse_screen *screen = context;
	browse_messages_text(&screen->messages, out);
}

static struct snapshot *show_code(void *context, const struct snapshot *shot, uint32_t row, struct error *err)
{
	const struct browse_screen *screen = context;
	if (browse_screen_shown(screen))
		return screen->code->make(screen->code->context, shot, row, err);
	error_set(err, ERROR_USAGE, "code is shown when the recordings are read to their end");
	return NULL;
}

static void read_again(void *context, uint64_t request, uint64_t start_ns, uint64_t end_ns, const char *flame_event)
{
	browse_screen_ask(context, request, start_ns, end_ns, flame_event);
}

void browse_table_source(struct browse_screen *screen, const struct browse_code *code)
{
	screen->code = code;
	screen->source = (struct browse_source){ .context = screen, .header = show_facts, .messages = add_messages,
		.read = screen->again ? read_again : NULL, .annotate = code ? show_code : NULL, .least_percent = code ? code->least_percent : 0 };
}

int browse_table(struct browse_screen *screen, const struct results *results, struct error *err)
{
	struct browse_screen own = { 0 };
	struct browse_screen *on = screen ? screen : &own;
	if (browse_screen_outdated(on))
		return 0;
	int result = on->opened ? 0 : browse_screen_open(on, err);
	if (result == 0 && !on->previews)
		browse_screen_lend(on, results);
	if (result == 0)
		browse_screen_publish(on, shot_of(results, on->previews));
	if (result == 0 && !on->previews)
		result = browse_screen_wait(on, err);
	browse_screen_close(&own, 0);
	return result;
}

static void print(const struct results *results, struct writer *out)
{
	struct error err = { 0 };
	writer_flush(out, NULL);
	if (browse_table(out->screen, results, &err) < 0)
		format_find("csv", NULL)->print(results, out);
}

const struct format format_tui = { "tui", "the terminal browser", print, &browse_rows };
