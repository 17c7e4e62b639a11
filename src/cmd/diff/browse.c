#include "cmd/diff/browse.h"

#include "base/vec.h"
#include "cmd/browse.h"
#include "cmd/browse_table.h"
#include "cmd/code_page.h"

struct compared {
	const struct diff_cli_options *options;
	const char *const *paths;
	uint32_t count;
};

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
static int annotate(const struct compared *compared, const char *path, const struct cell_place *place, struct str *out, struct error *err)
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
	const struct compared *compared = context;
	const struct cell_place *place = code_page_place(shot, row, err);
	if (!place)
		return -1;
	for (uint32_t i = 0; i < compared->count; i++) {
		str_printf(out, "%s%s:\n\n", i ? "\n" : "", compared->paths[i]);
		size_t before = out->len;
		if (annotate(compared, compared->paths[i], place, out, err) < 0)
			return -1;
		if (out->len == before)
			str_puts(out, "no sample is in this function\n");
	}
	return 0;
}

int diff_browse(const struct results *results, const struct diff_cli_options *options, const char *const *paths, uint32_t count,
	struct error *err)
{
	struct compared compared = { options, paths, count };
	return browse_table(results, &(struct browse_listing){ list_code, &compared }, err);
}
