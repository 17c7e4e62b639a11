#include "render/text/chain_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "abi/record.h"
#include "analysis/column/source.h"
#include "analysis/entry/names.h"
#include "render/text/percent.h"
#include "render/text/report_text.h"
#include "render/text/row_text.h"

enum { MARKS_IN_TREE_MAX = 63, MARKS_ALONE_MAX = 255 }; /* perf's buffers */

static const char margin[] = "            ";

static void add_margin(const struct chain_text *text, unsigned extra)
{
	str_puts(text->out, margin);
	while (extra--)
		str_putc(text->out, ' ');
}

void chain_frame_add(const struct profile *profile, uint32_t id, bool colour, struct str *out)
{
	enum { FRAME_MAX = 1023 }; /* perf's buffer, too */
	const struct place *place = stacks_place_at(profile->collected.stacks, id);
	size_t start = out->len;
	if (!place->symbol || profile->options.hierarchy) {
		str_printf(out, "%#" PRIx64, place->ip);
		return;
	}
	str_puts(out, profile_symbol_name(profile, place->module, place->symbol));
	const char *line = profile->options.chain.key != CHAIN_FUNCTION && place->map ? profile_place_line_text(profile, id) : "";
	if (*line)
		str_printf(out, " %s", line);
	if (symbol_is_inlined(place->symbol))
		str_puts(out, " (inlined)");
	report_name_clean(out, start, colour);
	if (out->len - start > FRAME_MAX) {
		out->len = start + FRAME_MAX;
		out->text[out->len] = '\0';
	}
}

/* Trees of deep stacks have long lines, each longer than the one above. */
static void end_line(const struct chain_text *text)
{
	enum { SPILL_BYTES = 1 << 18 };
	str_putc(text->out, '\n');
	if (!text->spill || text->out->len < SPILL_BYTES)
		return;
	report_line_add(text->spill, str_text(text->out), text->out->len, text->colour);
	str_clear(text->out);
}

static bool is_full(const struct chain_text *text)
{
	return text->most && text->out->len > text->most;
}

static void add_frame(const struct chain_text *text, uint32_t place)
{
	chain_frame_add(text->profile, place, text->colour, text->out);
}

/* One more of several words in brackets. */
static void add_word(struct str *out, bool *any, const char *word)
{
	str_printf(out, "%s%s", *any ? " " : " (", word);
	*any = true;
}

static void add_target(struct str *out, const struct branch_marks *marks)
{
	enum { COND = 1, NEW = 16 };
	bool any = false;
	char word[64];
	const struct {
		bool there;
		const char *word;
	} before[] = { { marks->forward, "COND_FWD" }, { marks->backward, "COND_BWD" } },
	  after[] = { { marks->cross_4k, "CROSS_4K" }, { marks->cross_2m, "CROSS_2M" } };
	for (unsigned i = 0; i < 2 && marks->types; i++)
		if (before[i].there)
			add_word(out, &any, before[i].word);
	for (unsigned i = 0; i < 2 * NEW; i++)
		if (i != COND && marks->types >> i & 1)
			add_word(out, &any, branch_type_word(i < NEW ? i : i - NEW, i >= NEW));
	for (unsigned i = 0; i < 2 && marks->types; i++)
		if (after[i].there)
			add_word(out, &any, after[i].word);
	if (marks->predicted < marks->branches) {
		snprintf(word, sizeof word, "predicted:%.1f%%", (float)((double)marks->predicted * 100.0 / (double)marks->branches));
		add_word(out, &any, word);
	}
	float aborted = (float)((double)marks->aborts * 100.0 / (double)marks->branches);
	if (marks->aborts && aborted >= 0.1f) {
		snprintf(word, sizeof word, "abort:%.1f%%", aborted);
		add_word(out, &any, word);
	}
	if (any)
		str_putc(out, ')');
}

static void add_source(struct str *out, const struct branch_marks *marks)
{
	bool any = false;
	char word[64];
	uint64_t cycles = marks->cycles / marks->branches;
	uint64_t turns = marks->iterations && marks->from ? marks->iterations / marks->from : 0;
	if (cycles) {
		snprintf(word, sizeof word, "cycles:%" PRIu64, cycles);
		add_word(out, &any, word);
	}
	if (turns) {
		snprintf(word, sizeof word, "iter:%" PRIu64, turns);
		add_word(out, &any, word);
		snprintf(word, sizeof word, "avg_cycles:%" PRIu64, marks->iteration_cycles / marks->iterations);
		add_word(out, &any, word);
	}
	if (any)
		str_putc(out, ')');
}

/* Prints the branch marks of a frame of the tree, in at most `most` characters. */
static void add_marks(const struct chain_text *text, const struct chain_tree *tree, uint32_t at, size_t most)
{
	CLEANUP_STR struct str words = { 0 };
	if (!tree->marks)
		return;
	const struct branch_marks *marks = &tree->marks[at];
	if (!marks->branches)
		str_puts(&words, " (calltrace)");
	else if (marks->target)
		add_target(&words, marks);
	else
		add_source(&words, marks);
	str_printf(text->out, "%.*s", (int)most, str_text(&words));
}

/* Prints the value of a chain: its share, its period, or its number of samples. */
static void add_value(const struct chain_text *text, uint64_t period, uint32_t count, uint64_t total)
{
	switch (text->profile->options.chain.value) {
	case CHAIN_PERIOD:
		str_printf(text->out, "%" PRIu64, period);
		break;
	case CHAIN_COUNT:
		str_printf(text->out, "%u", count);
		break;
	case CHAIN_PERCENT:
		percent_add(text->out, "", 0, total ? (double)period * 100.0 / (double)total : 0, text->colour);
		break;
	}
}

/* A position in the drawn tree: bit i of the mask: a line continues in column i. Columns beyond its bits have no line. */
struct drawing {
	unsigned depth;
	uint32_t mask;
	unsigned left;
};

static bool has_line(uint32_t mask, unsigned column)
{
	return mask >> (column % 32) & 1; /* as a shift of the processor has it */
}

static void add_separator(const struct chain_text *text, const struct drawing *at)
{
	add_margin(text, at->left);
	for (unsigned i = 0; i < at->depth; i++)
		str_puts(text->out, has_line(at->mask, i) ? "|          " : "           ");
	str_putc(text->out, '\n');
}

/* The start of a line: the first of a node carries its value. */
static void add_lead(const struct chain_text *text, const struct drawing *at, bool first, uint64_t period, uint32_t count, uint64_t total)
{
	add_margin(text, at->left);
	for (unsigned i = 0; i < at->depth; i++) {
		str_putc(text->out, has_line(at->mask, i) ? '|' : ' ');
		if (first && i == at->depth - 1) {
			str_puts(text->out, "--");
			add_value(text, period, count, total);
			str_puts(text->out, "--");
		} else {
			str_puts(text->out, "          ");
		}
	}
}

static uint32_t without_line(uint32_t mask, unsigned column)
{
	return mask & ~((uint32_t)1 << (column % 32));
}

static uint32_t with_line(uint32_t mask, unsigned column)
{
	return mask | (uint32_t)1 << (column % 32);
}

static void add_remaining(const struct chain_text *text, const struct chain_node *node, uint64_t remaining, uint32_t seen, uint64_t total,
	const struct drawing *at)
{
	uint32_t count = 0;
	if (text->profile->options.chain.value == CHAIN_COUNT) {
		count = node->children_count - seen;
		if ((int32_t)count <= 0)
			return;
	}
	add_lead(text, at, true, remaining, count, total);
	str_puts(text->out, text->profile->options.branch_marks ? "[...] (calltrace)\n" : "[...]\n");
}

/* Prints the children of a node; total: the whole of their shares. Returns whether anything was printed. */
static bool add_children(const struct chain_text *text, const struct chain_tree *tree, uint32_t of, uint64_t total,
	const struct drawing *at)
{
	const struct chain_options *options = &text->profile->options.chain;
	const struct chain_node *node = &tree->nodes[of];
	bool relative = options->mode == CHAIN_FRACTAL;
	uint64_t remaining = total;
	uint32_t seen = 0;
	struct drawing below = *at;
	for (uint32_t i = 0; i < node->child_count && !is_full(text); i++) {
		uint32_t index = tree->order[node->first_child + i];
		const struct chain_node *child = &tree->nodes[index];
		remaining -= chain_total(child);
		seen += child->count + child->children_count;
		if (i + 1 == node->child_count && (!relative || !remaining))
			below.mask = without_line(below.mask, at->depth - 1);
		add_separator(text, at);
		for (uint32_t f = 0; f < child->place_count; f++) {
			add_lead(text, &below, f == 0, chain_total(child), child->count + child->children_count, total);
			add_frame(text, tree->places[child->first_place + f]);
			add_marks(text, tree, child->first_place + f, MARKS_IN_TREE_MAX);
			end_line(text);
		}
		struct drawing deeper = { .depth = at->depth + 1, .mask = with_line(below.mask, at->depth), .left = at->left };
		add_children(text, tree, index, relative ? child->children_hit : total, &deeper);
		if (i + 1 == options->print_limit)
			break;
	}
	if (relative && remaining && remaining != total) {
		below.mask = without_line(below.mask, at->depth - 1);
		add_remaining(text, node, remaining, seen, total, &below);
	}
	return node->child_count;
}

/* A single chain whose share is that of the row needs no value: prints only its first frames. Returns whether any was printed. */
static bool add_single(const struct chain_text *text, const struct chain_tree *tree, const struct chain_node *node, unsigned *left)
{
	uint32_t limit = text->profile->options.chain.print_limit, printed = 0;
	for (uint32_t i = text->skip_first; i < node->place_count; i++) {
		if (!printed) {
			add_margin(text, *left);
			str_puts(text->out, "|\n");
			add_margin(text, *left);
			str_puts(text->out, "---");
			*left += 3;
		} else {
			add_margin(text, *left);
		}
		add_frame(text, tree->places[node->first_place + i]);
		add_marks(text, tree, node->first_place + i, MARKS_ALONE_MAX);
		str_putc(text->out, '\n');
		if (++printed == limit)
			break;
	}
	return printed;
}

static void add_graph(const struct chain_text *text, const struct chain_tree *tree, uint64_t total, uint64_t parent)
{
	uint32_t from = 0;
	bool printed = false;
	struct drawing at = { .depth = 1, .mask = 1 };
	if (tree->nodes[0].child_count == 1 && chain_total(&tree->nodes[tree->order[tree->nodes[0].first_child]]) == parent) {
		from = tree->order[tree->nodes[0].first_child];
		printed = add_single(text, tree, &tree->nodes[from], &at.left);
	}
	bool relative = text->profile->options.chain.mode == CHAIN_FRACTAL;
	printed |= add_children(text, tree, from, relative ? parent : total, &at);
	if (printed)
		str_putc(text->out, '\n');
}

static void add_flat_frames(const struct chain_text *text, const struct chain_tree *tree, uint32_t index)
{
	const struct chain_node *node = &tree->nodes[index];
	if (index)
		add_flat_frames(text, tree, node->parent);
	for (uint32_t i = 0; i < node->place_count; i++) {
		uint32_t place = tree->places[node->first_place + i];
		if (stacks_place_at(text->profile->collected.stacks, place)->ip >= CONTEXT_MAX)
			continue;
		str_puts(text->out, "                ");
		add_frame(text, place);
		end_line(text);
	}
}

static void add_flat(const struct chain_text *text, const struct chain_tree *tree, uint64_t total)
{
	for (uint32_t i = 0; i < tree->end_count && !is_full(text); i++) {
		const struct chain_node *node = &tree->nodes[tree->ends[i]];
		str_puts(text->out, "           ");
		add_value(text, chain_total(node), node->count + node->children_count, total);
		str_putc(text->out, '\n');
		add_flat_frames(text, tree, tree->ends[i]);
		str_putc(text->out, '\n');
		if (i + 1 == text->profile->options.chain.print_limit)
			break;
	}
}

static void add_folded_frames(const struct chain_text *text, const struct chain_tree *tree, uint32_t index, bool *first)
{
	const struct chain_node *node = &tree->nodes[index];
	if (index)
		add_folded_frames(text, tree, node->parent, first);
	for (uint32_t i = 0; i < node->place_count; i++) {
		uint32_t place = tree->places[node->first_place + i];
		if (stacks_place_at(text->profile->collected.stacks, place)->ip >= CONTEXT_MAX)
			continue;
		if (!*first && text->profile->options.separator)
			str_puts(text->out, text->profile->options.separator);
		else if (!*first)
			str_putc(text->out, ';');
		*first = false;
		add_frame(text, place);
	}
}

static void add_folded(const struct chain_text *text, const struct chain_tree *tree, uint64_t total)
{
	for (uint32_t i = 0; i < tree->end_count; i++) {
		const struct chain_node *node = &tree->nodes[tree->ends[i]];
		bool first = true;
		add_value(text, node->hit, node->count, total);
		str_putc(text->out, ' ');
		add_folded_frames(text, tree, tree->ends[i], &first);
		str_putc(text->out, '\n');
		if (i + 1 == text->profile->options.chain.print_limit)
			break;
	}
}

void chain_text_add(const struct chain_text *text, const struct entry *entry)
{
	const struct chain_tree *tree = entry->chain;
	if (!tree)
		return;
	const struct hist *hist = text->hist;
	uint64_t total = text->profile->options.hierarchy ? hist_total(text->profile, hist) : hist->total_period;
	bool callers = text->profile->options.iteration == ITERATE_CALLERS;
	switch (text->profile->options.chain.mode) {
	case CHAIN_GRAPH:
	case CHAIN_FRACTAL:
		add_graph(text, tree, total, callers ? entry->children_period : entry->self.period);
		break;
	case CHAIN_FLAT:
		add_flat(text, tree, total);
		break;
	case CHAIN_FOLDED:
		add_folded(text, tree, total);
		break;
	case CHAIN_NONE:
		break;
	}
}
