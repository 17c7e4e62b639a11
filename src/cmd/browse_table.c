#include "cmd/browse_table.h"

#include "base/memory.h"
#include "cmd/browse_rows.h"
#include "cmd/browse_save.h"
#include "render/tui/terminal.h"

enum { DETAILS = 2000000 }; /* rows of the tables that belong to rows */

static void add_facts(const struct table_fact *facts, size_t count, struct writer *out)
{
	for (size_t i = 0; i < count; i++) {
		writer_printf(out, "%s: ", facts[i].name);
		cell_json(&facts[i].value, out);
		writer_putc(out, '\n');
	}
}

struct browsed {
	const struct results *results;
	const struct browse_listing *listing;
};

static void show_facts(void *context, struct str *out)
{
	const struct browsed *browsed = context;
	const struct results *results = browsed->results;
	struct writer text;
	writer_open(&text, -1, 0);
	add_facts(results->facts, results->fact_count, &text);
	for (size_t i = 0; i < results->table_count; i++) {
		writer_printf(&text, "%s%s\n", text.len ? "\n" : "", results->tables[i].name ? results->tables[i].name : "");
		add_facts(results->tables[i].facts, results->tables[i].fact_count, &text);
	}
	str_add(out, text.buffer, text.len);
	writer_fini(&text);
}

static struct feed_shot *shot_of(const struct results *results)
{
	struct feed_shot *shot = memory_zero(1, sizeof *shot);
	shot->tables = memory_zero(results->table_count + 1, sizeof *shot->tables);
	for (size_t i = 0; i < results->table_count; i++)
		shot->tables[shot->table_count++] = snapshot_new(&results->tables[i], DETAILS);
	shot->complete = true;
	return shot;
}

static int list_code(void *context, const struct snapshot *shot, uint32_t row, struct str *out, struct error *err)
{
	const struct browsed *browsed = context;
	return browsed->listing->make(browsed->listing->context, shot, row, out, err);
}

int browse_table(const struct results *results, const struct browse_listing *listing, struct error *err)
{
	struct feed feed;
	struct browser browser;
	struct browsed browsed = { results, listing };
	const struct browse_source source = { .context = &browsed, .feed = &feed, .save = browse_save, .header = show_facts,
		.listing = listing ? list_code : NULL, .least_percent = listing ? listing->least_percent : 0 };
	if (feed_open(&feed, err) < 0)
		return -1;
	feed_publish(&feed, shot_of(results));
	browser_open(&browser, &source);
	browser_poll(&browser);
	int result = terminal_run(&browser, err);
	browser_close(&browser);
	feed_close(&feed);
	return result;
}

static void print(const struct results *results, struct writer *out)
{
	struct error err = { 0 };
	writer_flush(out, NULL);
	if (browse_table(results, NULL, &err) < 0)
		format_find("csv", NULL)->print(results, out);
}

const struct format format_tui = { "tui", "the terminal browser", print, &browse_rows };
