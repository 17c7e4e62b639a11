/* A flame tree as one self-contained SVG page: search, zoom and details where scripts run, a readable picture where they do not.
 * Independent of the source of the tree. */
#pragma once
#include "analysis/flame/flame_tree.h"
#include "base/writer.h"

enum {
	FLAME_SVG_MARGIN = 12,     /* pixels left and right of the frames */
	FLAME_SVG_WIDTH = 1200,    /* default */
	FLAME_SVG_WIDTH_MIN = 200,
	FLAME_SVG_WIDTH_MAX = 100000,
};

enum flame_colours { FLAME_COLOURS_KIND, FLAME_COLOURS_MODULE };

struct flame_svg {
	const char *title, *subtitle; /* subtitle NULL: absent */
	const char *facts;            /* one line: what was sampled, lost or omitted */
	unsigned width;               /* pixels; 0: FLAME_SVG_WIDTH, and as wide as the window where scripts run */
	bool inverted;                /* the root on top */
	enum flame_colours colours;   /* of a comparison: by change, whatever this is */
};

void flame_svg_write(struct writer *out, const struct flame_tree *tree, const struct flame_svg *options);

/* The least weight of a frame `pixels` wide, of `total` over the whole width (0: FLAME_SVG_WIDTH). */
uint64_t flame_svg_least(double pixels, uint64_t total, unsigned width);
