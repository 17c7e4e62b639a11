#include "cmd/diff/browse.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Rows that are smaller in all recordings are hidden at first: they print as 0.00%. */
#define NOISE_PERCENT 0.005

static struct snapshot *show_code(void *context, const struct snapshot *shot, uint32_t row, struct error *err)
{
	const struct diff_browse *compared = context;
	return diff_code_show(compared->code, shot, row, err);
}

/* The tables with the names of the recordings as facts, which the first line of a page shows. */
static struct table *name_files(const struct results *results, const char *const *paths, uint32_t count)
{
	struct table *tables = memory_zero(results->table_count + 1, sizeof *tables);
	for (size_t i = 0; i < results->table_count; i++) {
		const struct table *from = &results->tables[i];
		struct table_fact *facts = memory_zero(from->fact_count + count, sizeof *facts);
		memcpy(facts, from->facts, from->fact_count * sizeof *facts);
		for (uint32_t file = 0; file < count; file++)
			facts[from->fact_count + file] = (struct table_fact){ file ? "with" : "compares", cell_text(paths[file]) };
		tables[i] = *from;
		tables[i].facts = facts;
		tables[i].fact_count += count;
	}
	return tables;
}

int diff_browse_open(struct diff_browse *browse, struct error *err)
{
	browse->row_code = (struct browse_code){ show_code, browse, NOISE_PERCENT };
	browse->screen->again = browse->screen->parts = false; /* each recording has its own times */
	browse_table_source(browse->screen, &browse->row_code);
	return browse_screen_open(browse->screen, err);
}

int diff_browse_show(struct diff_browse *browse, const struct results *results, struct error *err)
{
	struct results named = *results;
	struct table *tables = name_files(results, browse->paths, browse->count);
	named.tables = tables;
	int result = browse_table(browse->screen, &named, err);
	for (size_t i = 0; i < results->table_count; i++)
		free((void *)(uintptr_t)tables[i].facts);
	free(tables);
	return result;
}
