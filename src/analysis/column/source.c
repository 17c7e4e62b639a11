/* Columns of source files and lines. Rows are distinguished by address while samples are added up; collapse.c then merges those of one
 * text, as perf does. */
#include "analysis/column/source.h"

#include "analysis/entry/texts.h"
#include "analysis/entry/names.h"
#include "analysis/entry/view.h"
#include "analysis/column/cells.h"
#include "analysis/entry/entry.h"
#include "analysis/place/source_line.h"

/* Before: address and module. After: the text's number, and these where rows of one text are not joined. */
PLACE_KEY(source_key)
{
	key[0] = place->ip;
	key[1] = place->module;
}

static void end_source_key(const struct sample_view *view, int end, uint64_t *key)
{
	key[0] = view->ends[end].location->address;
	key[1] = view->ends[end].location->module;
}

SAMPLE_KEY(srcline_from_key) { end_source_key(view, 0, key); }
SAMPLE_KEY(srcline_to_key) { end_source_key(view, 1, key); }

static const char *line_text(const struct profile *profile, const struct column *column, const struct entry *entry)
{
	return collapse_text(profile, entry_key(entry, column));
}

COMPARE(source_sort)
{
	uint64_t text_a = entry_key(a, column)[1] >> COLLAPSE_TEXT_SHIFT, text_b = entry_key(b, column)[1] >> COLLAPSE_TEXT_SHIFT;
	return text_a == text_b ? 0 : strcmp(line_text(profile, column, b), line_text(profile, column, a));
}

COMPARE(source_compare)
{
	const uint64_t *key_a = entry_key(a, column), *key_b = entry_key(b, column);
	if (profile->folded.collapsed && profile->options.columns->needs_collapse)
		return source_sort(profile, column, a, b);
	if (key_a[0] != key_b[0])
		return (int64_t)(key_b[0] - key_a[0]);
	return modules_compare(profile, (uint32_t)key_b[1], (uint32_t)key_a[1]);
}

VALUE(srcline_value)
{
	return cell_text(line_text(profile, column, entry));
}

static struct source_style row_style(const struct profile *profile)
{
	return (struct source_style){ .show_symbol = true, .show_address = true, .full_path = profile->options.full_source_path };
}

static void place_text(const struct profile *profile, uint32_t module, const struct map *map, uint64_t offset, uint32_t symbol,
	struct source_style style, struct str *out)
{
	source_line_add(profile->symbols, map ? profile_module(profile, module) : NULL, offset, symbol, style, out);
}

/* A frame with inlined calls has the line of the call, or no line. */
static bool expansion_text(const struct profile *profile, const struct place *place, uint64_t offset, struct str *out)
{
	struct line_frame frames[LINE_FRAMES_MAX];
	const struct module *module = profile_module(profile, place->module);
	uint32_t own = symbols_lookup(profile->symbols, module, offset);
	size_t count = lines_inlines(profile->symbols, module, offset, own, frames), i = 0;
	while (i < count && frames[i].symbol != place->symbol)
		i++;
	if (i < count && frames[i].at.file)
		source_line_add_known(&frames[i].at, profile->options.full_source_path, out);
	return i < count;
}

/* As in perf, the line of a caller's row is looked up by its address, that of the sample's own row by its offset in the file, so that
 * callers rarely have a line; unless the frame has a line, because functions are inlined or chains show lines. */
TEXT(srcline_text)
{
	const struct place *place = entry_place(profile, entry);
	struct source_style style = row_style(profile);
	bool expanded = place->level & PLACE_FRAME && place->level & PLACE_UNWOUND;
	size_t start = out->len;
	if (expanded && expansion_text(profile, place, map_offset(place->map, place->ip), out) && out->len > start)
		return;
	bool by_frame = place->level & PLACE_FRAME && profile->options.chain.key != CHAIN_FUNCTION && profile->options.use_chains;
	style.show_symbol = !by_frame;
	style.show_address = !by_frame || profile->options.chain.key == CHAIN_ADDRESS;
	place_text(profile, place->module, place->map, by_frame ? map_offset(place->map, place->ip) : place->ip, place->symbol, style, out);
}

TEXT(srcfile_text)
{
	const struct place *place = entry_place(profile, entry);
	struct source_style style = row_style(profile);
	size_t start = out->len;
	if (!place->map)
		return;
	style.outermost = true;
	style.show_symbol = false;
	place_text(profile, place->module, place->map, place->ip, place->symbol, style, out);
	char *colon = strcmp(out->text + start, SOURCE_UNKNOWN) ? strchr(out->text + start, ':') : NULL;
	out->len = colon ? (size_t)(colon - out->text) : start;
	out->text[out->len] = '\0';
}

static void end_text(const struct profile *profile, const struct end_fact *end, struct str *out)
{
	place_text(profile, end->module, end->map, end->offset, end->symbol, row_style(profile), out);
}

TEXT(srcline_from_text) { end_text(profile, &entry->facts->ends[0], out); }
TEXT(srcline_to_text) { end_text(profile, &entry->facts->ends[1], out); }

/* The number of the text by which frames of chains are distinguished and shown: the source line, or the address if it has none and
 * addresses are the key. */
uint32_t profile_place_line(const struct profile *profile, uint32_t id)
{
	uint32_t known = idmap_get(&profile->source_texts->of_place, id);
	if (known != IDMAP_NONE)
		return known;
	const struct place *place = stacks_place_at(profile->collected.stacks, id);
	struct source_style style = { .full_path = profile->options.full_source_path,
		.show_address = profile->options.chain.key == CHAIN_ADDRESS };
	CLEANUP_STR struct str text = { 0 };
	uint64_t offset = place->map ? map_offset(place->map, place->ip) : place->ip;
	if (!(place->level & PLACE_UNWOUND) || !expansion_text(profile, place, offset, &text))
		place_text(profile, place->module, place->map, offset, place->symbol, style, &text);
	uint32_t line = strtab_add(&profile->source_texts->texts, str_text(&text), text.len);
	idmap_set(&profile->source_texts->of_place, id, line);
	return line;
}

const char *profile_place_line_text(const struct profile *profile, uint32_t place)
{
	return strtab_text(&profile->source_texts->texts, profile_place_line(profile, place));
}
