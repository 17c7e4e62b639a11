#include "cmd/browse_save.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "os/written_file.h"
#include "render/format/format.h"
#include "render/svg/flame_svg.h"
#include "render/text/folded.h"

/* Each row of a flame graph's snapshot is a frame of the builder, with its own weight and number of samples. */
static void add_frames(struct flame_builder *builder, const struct snapshot *shot, uint32_t root)
{
	size_t shares = snapshot_column_of_kind(&shot->columns, CELL_SHARE), names = snapshot_column_named(&shot->columns, "name");
	size_t modules = snapshot_column_named(&shot->columns, "module"), kinds = snapshot_column_named(&shot->columns, "kind");
	size_t samples = snapshot_column_named(&shot->columns, "samples");
	uint32_t *nodes = memory_zero(shot->rows.count, sizeof *nodes);
	for (uint32_t row = root; row < shot->rows.count; row++) {
		const struct snapshot_row *at = &shot->rows.items[row];
		const char *kind = snapshot_cell(shot, row, kinds)->text, *module = snapshot_cell(shot, row, modules)->text;
		uint64_t weight = snapshot_cell(shot, row, shares)->share.part, count = snapshot_cell(shot, row, samples)->count;
		if (row != root && !nodes[at->parent] && at->parent != root)
			continue;
		for (uint32_t i = 0; i < at->child_count; i++) {
			weight -= snapshot_cell(shot, at->first_child + i, shares)->share.part;
			count -= snapshot_cell(shot, at->first_child + i, samples)->count;
		}
		if (at->depth == 0) { /* "all": the builder has a separate root */
			flame_builder_add(builder, STACK_ROOT, weight, count);
			continue;
		}
		nodes[row] = flame_builder_push(builder, row == root || at->depth == 1 ? STACK_ROOT : nodes[at->parent],
			flame_builder_frame(builder, snapshot_cell(shot, row, names)->text, module ? module : "",
				kind && strcmp(kind, "kernel") == 0 ? FLAME_KERNEL : kind && strcmp(kind, "inline") == 0 ? FLAME_INLINE
				: kind && strcmp(kind, "jit") == 0 ? FLAME_JIT : kind && strcmp(kind, "task") == 0 ? FLAME_TASK
				: kind && strcmp(kind, "unknown") == 0 ? FLAME_UNKNOWN : FLAME_USER));
		if (weight)
			flame_builder_add(builder, nodes[row], weight, count);
	}
	free(nodes);
}

static void write_flame(const struct browse_export *what, struct writer *out)
{
	struct flame_builder builder;
	struct flame_tree tree;
	flame_builder_init(&builder);
	add_frames(&builder, what->flame, what->flame_root);
	flame_tree_make(&tree, &builder, 1);
	CLEANUP_STR struct str title = { 0 };
	str_puts(&title, "Flame graph");
	if (what->flame->rows.items[what->flame_root].depth)
		str_printf(&title, " of %s", snapshot_cell(what->flame, what->flame_root, snapshot_column_named(&what->flame->columns, "name"))->text);
	if (what->format == BROWSE_SVG)
		flame_svg_write(out, &tree, &(struct flame_svg){ .title = str_text(&title), .facts = what->flame->event });
	else
		folded_write(out, &tree);
	flame_tree_fini(&tree);
	flame_builder_fini(&builder);
}

static void write_export(const struct browse_export *what, struct writer *out)
{
	if (what->format == BROWSE_TEXT) {
		writer_puts(out, what->text);
	} else if (what->format == BROWSE_SVG || what->format == BROWSE_FOLDED) {
		write_flame(what, out);
	} else {
		const struct results results = { .schema = "perfuse.browser", .version = 1, .tables = what->table, .table_count = 1 };
		format_find(what->format == BROWSE_JSON ? "json" : "csv", NULL)->print(&results, out);
	}
}

int browse_save(void *context, const struct browse_export *what, struct str *path, struct error *err)
{
	enum { FILES_MAX = 10000 };
	static const char *const endings[BROWSE_FORMATS] = { "", ".json", ".csv", ".svg", ".folded" };
	struct written_file file;
	for (int i = 0; i < FILES_MAX; i++) {
		str_clear(path);
		str_printf(path, "perf.hist.%d%s", i, endings[what->format]);
		if (faccessat(AT_FDCWD, str_text(path), F_OK, AT_SYMLINK_NOFOLLOW) < 0)
			break;
	}
	if (written_open(&file, str_text(path), err) < 0)
		return -1;
	write_export(what, &file.out);
	int result = written_keep(&file, str_text(path), err);
	written_drop(&file);
	return result;
}
