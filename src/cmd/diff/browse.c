#include "cmd/diff/browse.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "cmd/browse.h"
#include "cmd/code_page.h"
#include "cmd/diff/listing.h"

/* Rows that are smaller in all recordings are hidden at first: they print as 0.00%. */
#define NOISE_PERCENT 0.005

struct words {
	VEC(const char *) list;
};

static void add(struct words *words, const char *option, const char *value)
{
	if (!value)
		return;
	vec_push(&words->list, option);
	vec_push(&words->list, value);
}

/* `annotate` of one recording, with the options of the comparison that choose its samples and names. */
static int annotate(const struct diff_browse *compared, const char *path, const struct cell_place *place, struct str *out,
	struct error *err)
{
	const struct diff_cli_options *options = compared->options;
	struct words words = { 0 };
	add(&words, "perfuse", "--no-pager");
	add(&words, "annotate", "--stdio2");
	add(&words, "-i", path);
	add(&words, "-s", place->symbol);
	add(&words, "-d", place->module);
	add(&words, "-C", options->filter.cpus);
	add(&words, "-k", options->input.symbols.vmlinux);
	add(&words, "--symfs", options->input.symbols.symfs);
	add(&words, "--kallsyms", options->input.symbols.kallsyms);
	vec_push(&words.list, options->input.force ? "-f" : NULL);
	vec_push(&words.list, NULL);
	int result = browse_run(words.list.items, "perfuse annotate", out, err);
	vec_fini(&words.list);
	return result;
}

static int list_code(void *context, const struct snapshot *shot, uint32_t row, struct str *out, struct error *err)
{
	const struct diff_browse *compared = context;
	const struct cell_place *place = code_page_place(shot, row, err);
	if (!place)
		return -1;
	struct str *texts = memory_zero(compared->count, sizeof *texts);
	const char **each = memory_zero(compared->count, sizeof *each);
	int result = 0;
	for (uint32_t i = 0; i < compared->count && result == 0; i++) {
		result = annotate(compared, compared->paths[i], place, &texts[i], err);
		each[i] = str_text(&texts[i]);
	}
	if (result == 0 && !diff_listing_join(each, compared->paths, compared->count, out))
		for (uint32_t i = 0; i < compared->count; i++)
			str_printf(out, "%s%s:\n\n%s", i ? "\n" : "", compared->paths[i], texts[i].len ? each[i] : "no sample is in this function\n");
	for (uint32_t i = 0; i < compared->count; i++)
		str_fini(&texts[i]);
	free(texts);
	free(each);
	return result;
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
	browse->listing = (struct browse_listing){ list_code, browse, NOISE_PERCENT };
	browse_table_source(browse->screen, &browse->listing);
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
