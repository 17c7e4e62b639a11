/* The colour of each frame of a flame graph, as the CSS class of its rectangle, with the style and the legend of the classes that occur.
 * Three schemes: by kind of code, by module, by change between two recordings. */
#pragma once
#include "analysis/flame/flame_tree.h"
#include "base/writer.h"
#include "render/svg/flame_svg.h"

enum { FLAME_MODULE_COLOURS = 8 }; /* the modules with the most own samples; the others share a colour */

struct flame_palette {
	const struct flame_tree *tree;
	bool by_change, by_module;
	const char *modules[FLAME_MODULE_COLOURS]; /* most first */
	unsigned module_count;
	bool seen[FLAME_KIND_COUNT];
	bool other_modules;
};

enum { FLAME_CLASS_MAX = 4 };

void flame_palette_init(struct flame_palette *palette, const struct flame_tree *tree, enum flame_colours colours);
/* Sets the class of a frame and remembers it for the legend. */
void flame_palette_class(struct flame_palette *palette, uint32_t node, char name[static FLAME_CLASS_MAX]);
/* In a comparison: the share that the node has of one recording, 0 to 1. */
double flame_share_of_side(const struct flame_tree *tree, uint32_t node, enum flame_side side);
void flame_palette_style(const struct flame_palette *palette, struct writer *out);
/* The legend, right-aligned, at this height; modules have a separate line, left-aligned. */
void flame_palette_legend(const struct flame_palette *palette, unsigned baseline, unsigned width, struct writer *out);
/* Whether the legend needs that line. */
bool flame_palette_has_line(const struct flame_palette *palette);
