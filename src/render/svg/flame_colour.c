#include "render/svg/flame_colour.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "base/xml_text.h"

enum { COLOURS = 10 /* of each kind; one digit */, SHADES = 5 /* of each module */, STEPS = 5 /* of a change in one direction */ };

struct kind_look {
	char letter;            /* of its CSS classes */
	const char *legend;     /* NULL: not in the legend */
	unsigned legend_width;
	uint32_t colours[COLOURS];
};

/* Even in lightness and strength within a kind (OKLCH), at least 8:1 against the labels. */
static const struct kind_look looks[FLAME_KIND_COUNT] = {
	[FLAME_ROOT] = { 'r', NULL, 0, {
		0xc9cbd3, 0xc9cbd3, 0xc9cbd3, 0xc9cbd3, 0xc9cbd3,
		0xc9cbd3, 0xc9cbd3, 0xc9cbd3, 0xc9cbd3, 0xc9cbd3 } },
	[FLAME_TASK] = { 't', NULL, 0, {
		0xb5b5ca, 0xc2c1da, 0xbdbbd7, 0xb9b5d4, 0xc6c2da,
		0xc2bcd7, 0xbeb5d4, 0xcac3d9, 0xc6bdd6, 0xc3b6d3 } },
	[FLAME_USER] = { 'u', "user", 24, {
		0xf2a086, 0xffb28e, 0xffa97a, 0xfda063, 0xffbc84,
		0xfeb36f, 0xf5ac58, 0xfdc67f, 0xf4be6b, 0xe9b755 } },
	[FLAME_KERNEL] = { 'k', "kernel", 36, {
		0x7fbfd8, 0x8ad0f2, 0x7ec8f2, 0x74c0f3, 0x9bcffa,
		0x92c6fa, 0x8bbdf9, 0xacccfe, 0xa5c3fd, 0xa0bafc } },
	[FLAME_INLINE] = { 'i', "inlined", 40, {
		0xead47d, 0xf6e281, 0xf0dd72, 0xead962, 0xf1e788,
		0xeae27a, 0xe3de6b, 0xebeb90, 0xe4e783, 0xdce375 } },
	[FLAME_JIT] = { 'j', "JIT", 20, {
		0x98ca92, 0xa0dfa2, 0x8ed99b, 0x7bd495, 0x97e3b2,
		0x84ddac, 0x6ed8a7, 0x90e6c1, 0x7ce0bd, 0x65dbb9 } },
	[FLAME_UNKNOWN] = { 'n', "no symbol", 58, {
		0xbdbdc0, 0xcecfd3, 0xc6c7cd, 0xbfc0c7, 0xd1d1d5,
		0xc9cacf, 0xc1c2c9, 0xd3d4d7, 0xccccd1, 0xc4c5cb } },
};

/* By rank of the module; the last one is that of all others. */
static const uint32_t module_colours[FLAME_MODULE_COLOURS + 1] = {
	0xf79f6e, 0x86c1f4, 0x8fd28f, 0xf0d164, 0xc7aef0, 0xf29fbd, 0x79d3cb, 0xd2b98f, 0xc9cbd3,
};
/* From a little to much: less than before, more than before. */
static const uint32_t less_colours[STEPS] = { 0xdbe7f7, 0xbfd7f4, 0x9fc5f0, 0x7db2ec, 0x5c9fe6 };
static const uint32_t more_colours[STEPS] = { 0xf9dfdb, 0xf7c8c1, 0xf4ada3, 0xf19184, 0xec7565 };
static const uint32_t equal_colour = 0xd9dadf;
/* Changes of a share by these parts of the sum of both begin a step. */
static const double step_bounds[STEPS] = { 0, 0.05, 0.15, 0.35, 0.7 };

struct module_weight {
	const char *module;
	uint64_t weight;
};

static int heavier_first(const void *a, const void *b)
{
	const struct module_weight *x = a, *y = b;
	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return strcmp(x->module, y->module);
}

static void rank_modules(struct flame_palette *palette)
{
	const struct flame_tree *tree = palette->tree;
	VEC(struct module_weight) modules = { 0 };
	struct idmap known = { 0 };
	for (uint32_t i = 0; i < tree->count; i++) {
		const char *module = tree->frames[tree->nodes[i].frame].module;
		bool added;
		if (!*module)
			continue;
		/* the builder stores each text once */
		uint32_t id = idmap_add(&known, (uintptr_t)module, (uint32_t)modules.count, &added);
		if (added)
			vec_push(&modules, ((struct module_weight){ .module = module }));
		modules.items[id].weight = flame_sum(modules.items[id].weight, tree->nodes[i].self);
	}
	if (modules.count)
		qsort(modules.items, modules.count, sizeof *modules.items, heavier_first);
	for (; palette->module_count < modules.count && palette->module_count < FLAME_MODULE_COLOURS; palette->module_count++)
		palette->modules[palette->module_count] = modules.items[palette->module_count].module;
	palette->other_modules = modules.count > FLAME_MODULE_COLOURS;
	idmap_fini(&known);
	vec_fini(&modules);
}

void flame_palette_init(struct flame_palette *palette, const struct flame_tree *tree, enum flame_colours colours)
{
	*palette = (struct flame_palette){ .tree = tree, .by_change = tree->sides };
	palette->by_module = !palette->by_change && colours == FLAME_COLOURS_MODULE;
	if (palette->by_module)
		rank_modules(palette);
}

double flame_share_of_side(const struct flame_tree *tree, uint32_t node, enum flame_side side)
{
	uint64_t whole = tree->sides[0][side].weight;
	return whole ? (double)tree->sides[node][side].weight / (double)whole : 0;
}

/* Whether the samples show a change: two proportions that differ by three standard deviations. */
static bool is_changed(const struct flame_tree *tree, uint32_t node)
{
	const double deviations = 3;
	double counts[FLAME_SIDES], totals[FLAME_SIDES];
	for (int side = 0; side < FLAME_SIDES; side++) {
		counts[side] = (double)tree->sides[node][side].samples;
		totals[side] = (double)tree->sides[0][side].samples;
		if (totals[side] == 0)
			return false;
	}
	double pooled = (counts[FLAME_OLD] + counts[FLAME_NEW]) / (totals[FLAME_OLD] + totals[FLAME_NEW]);
	double deviation = sqrt(pooled * (1 - pooled) * (1 / totals[FLAME_OLD] + 1 / totals[FLAME_NEW]));
	return fabs(counts[FLAME_NEW] / totals[FLAME_NEW] - counts[FLAME_OLD] / totals[FLAME_OLD]) > deviations * deviation;
}

static void change_class(const struct flame_palette *palette, uint32_t node, char name[static FLAME_CLASS_MAX])
{
	double before = flame_share_of_side(palette->tree, node, FLAME_OLD), after = flame_share_of_side(palette->tree, node, FLAME_NEW);
	if (!is_changed(palette->tree, node)) {
		strcpy(name, "c");
		return;
	}
	double change = (after - before) / (after + before);
	unsigned step = 0;
	while (step + 1 < STEPS && fabs(change) >= step_bounds[step + 1])
		step++;
	name[0] = change < 0 ? 'l' : 'm';
	name[1] = (char)('0' + step);
	name[2] = '\0';
}

static uint64_t name_hash(const char *name)
{
	uint64_t hash = 14695981039346656037u;
	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 1099511628211u;
	return hash_u64(hash);
}

void flame_palette_class(struct flame_palette *palette, uint32_t node, char name[static FLAME_CLASS_MAX])
{
	const struct flame_frame *frame = &palette->tree->frames[palette->tree->nodes[node].frame];
	if (palette->by_change) {
		change_class(palette, node, name);
		return;
	}
	bool by_module = palette->by_module && *frame->module;
	unsigned rank = 0;
	while (by_module && rank < palette->module_count && palette->modules[rank] != frame->module)
		rank++;
	palette->seen[frame->kind] = true;
	name[0] = by_module ? (char)('A' + rank) : looks[frame->kind].letter;
	name[1] = (char)('0' + name_hash(frame->name) % (by_module ? SHADES : COLOURS));
	name[2] = '\0';
}

/* Nearer to white, by 0 to 4 parts of 10. */
static uint32_t shade(uint32_t colour, unsigned lighter)
{
	uint32_t result = 0;
	for (int shift = 16; shift >= 0; shift -= 8) {
		uint32_t part = colour >> shift & 0xff;
		result |= (part + (255 - part) * lighter / 10) << shift;
	}
	return result;
}

void flame_palette_style(const struct flame_palette *palette, struct writer *out)
{
	for (unsigned i = 0; palette->by_change && i < STEPS; i++)
		writer_printf(out, ".l%u{fill:#%06x}.m%u{fill:#%06x}", i, less_colours[i], i, more_colours[i]);
	if (palette->by_change)
		writer_printf(out, ".c{fill:#%06x}\n", equal_colour);
	for (unsigned rank = 0; palette->by_module && rank <= FLAME_MODULE_COLOURS; rank++)
		for (unsigned i = 0; i < SHADES; i++)
			writer_printf(out, ".%c%u{fill:#%06x}%s", 'A' + (rank == FLAME_MODULE_COLOURS ? palette->module_count : rank), i,
				shade(module_colours[rank], i), i + 1 < SHADES ? "" : "\n");
	for (unsigned kind = 0; !palette->by_change && kind < FLAME_KIND_COUNT; kind++) {
		for (unsigned i = 0; i < COLOURS; i++)
			writer_printf(out, ".%c%u{fill:#%06x}", looks[kind].letter, i, looks[kind].colours[i]);
		writer_putc(out, '\n');
	}
}

/* Right-aligned for any width of the page. Returns where the next entry to the left ends. */
static int legend_entry(struct writer *out, int x, unsigned baseline, const char *text, unsigned width, const char *class)
{
	writer_printf(out, "<text x=\"%d\" y=\"%u\" text-anchor=\"end\">%s</text>", x, baseline, text);
	x -= (int)width + 20;
	writer_printf(out, "<rect class=\"%s\" x=\"%d\" y=\"%u\" width=\"12\" height=\"12\" rx=\"3\"/>", class, x, baseline - 10);
	return x - 16;
}

static void kind_legend(const struct flame_palette *palette, unsigned baseline, struct writer *out)
{
	int x = -FLAME_SVG_MARGIN;
	for (int kind = FLAME_KIND_COUNT; kind-- > 0;) {
		const char class[] = { looks[kind].letter, '3', '\0' };
		if (looks[kind].legend && palette->seen[kind])
			x = legend_entry(out, x, baseline, looks[kind].legend, looks[kind].legend_width, class);
	}
}

static void change_legend(unsigned baseline, struct writer *out)
{
	enum { MORE_WIDTH = 32, LESS_WIDTH = 26, EQUAL_WIDTH = 98, BESIDE = 24 /* a second swatch beside the first, without a text */ };
	int x = legend_entry(out, -FLAME_SVG_MARGIN, baseline, "more", MORE_WIDTH, "m4");
	x = legend_entry(out, x + BESIDE, baseline, "", 0, "m1");
	x = legend_entry(out, x, baseline, "no clear change", EQUAL_WIDTH, "c");
	x = legend_entry(out, x, baseline, "less", LESS_WIDTH, "l4");
	legend_entry(out, x + BESIDE, baseline, "", 0, "l1");
}

static void module_legend(const struct flame_palette *palette, unsigned baseline, unsigned width, struct writer *out)
{
	enum { LETTERS_MAX = 24 };
	const double letter = 6.8;
	double x = FLAME_SVG_MARGIN;
	for (unsigned i = 0; i < palette->module_count + palette->other_modules; i++) {
		const char *module = i < palette->module_count ? palette->modules[i] : "others";
		const char *slash = strrchr(module, '/'), *name = slash && slash[1] ? slash + 1 : module;
		size_t shown = text_columns_prefix(name, strlen(name), LETTERS_MAX);
		double end = x + 18 + letter * (double)shown;
		if (end > width - FLAME_SVG_MARGIN)
			break;
		writer_printf(out, "<rect class=\"%c0\" x=\"%.0f\" y=\"%u\" width=\"12\" height=\"12\" rx=\"3\"/>", 'A' + i, x, baseline - 10);
		writer_printf(out, "<text x=\"%.0f\" y=\"%u\">", x + 18, baseline);
		xml_text(out, name, shown);
		writer_puts(out, name[shown] ? "\xe2\x80\xa6</text>" : "</text>");
		x = end + 16;
	}
}

void flame_palette_legend(const struct flame_palette *palette, unsigned baseline, unsigned width, struct writer *out)
{
	writer_printf(out, "<svg id=\"legend\" x=\"%s\" overflow=\"visible\">", palette->by_module ? "0" : "100%");
	if (palette->by_change)
		change_legend(baseline, out);
	else if (palette->by_module)
		module_legend(palette, baseline, width, out);
	else
		kind_legend(palette, baseline, out);
	writer_puts(out, "</svg>\n");
}

bool flame_palette_has_line(const struct flame_palette *palette)
{
	return palette->by_module && palette->module_count;
}
