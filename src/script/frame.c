/* Places: addresses, symbols, objects, call chains. A frame is made once per point, as text or as cells; the address is the sample's. */
#include <endian.h>

#include "analysis/place/source_line.h"
#include "script/internal.h"
#include "symbol/lines.h"

enum { ORIGIN_KALLSYMS = 'k', ORIGIN_VMLINUX = 'v' };

#define PLACE_SYMBOL (FIELD_BIT(FIELD_SYM))

static const struct module *module_of(const struct listing *listing, const struct location *location)
{
	return location->module == MODULE_ID_NONE ? NULL : modules_get(&listing->session->model.modules, location->module);
}

/* Whether offsets in it are offsets in a file. The kernel's are not if its symbols come from kallsyms. */
static bool is_object(const struct listing *listing, const struct location *location, const struct module *module)
{
	/* perf takes the name of a BPF program for that of a file if the header does not describe the program */
	if (module->kind == MODULE_KSYMBOL)
		return strncmp(module->name, "bpf_prog_", 9) == 0 &&
			listing->session->source->header.feature_data[FEATURE_BPF_PROG_INFO].len <= sizeof(uint32_t);
	if (module->kind != MODULE_KERNEL)
		return true;
	symbols_load(listing->symbols, module);
	return symbols_info(listing->symbols, module).origin != ORIGIN_KALLSYMS;
}

/* The path of the module's code; for the kernel, of the file that its symbols come from. */
static const char *long_name(const struct listing *listing, const struct module *module)
{
	if (module->kind != MODULE_KERNEL)
		return module->long_name;
	symbols_load(listing->symbols, module);
	struct symtab_info info = symbols_info(listing->symbols, module);
	return info.origin == ORIGIN_VMLINUX ? info.path + info.root_len : module->long_name;
}

static uint64_t file_offset(const struct listing *listing, const struct location *location, const struct module *module)
{
	if (module->kind != MODULE_KERNEL && module->kind != MODULE_KMODULE)
		return location->offset;
	symbols_load(listing->symbols, module);
	struct symtab_info info = symbols_info(listing->symbols, module);
	if (info.origin == ORIGIN_VMLINUX && location->map)
		return location->offset - location->map->start + location->map->pgoff;
	return location->offset + info.text_at;
}

/* offset: an offset in the module follows. NULL: in no module. */
static const char *dso_name(const struct listing *listing, const struct module *module, bool offset)
{
	if (module && module->long_name && (listing->options.show_kernel_path || (offset && module->name[0] == '[')))
		return long_name(listing, module);
	return module ? module->name : NULL;
}

static void add_dso(const struct listing *listing, const struct location *location, bool offset, struct writer *out)
{
	const struct module *module = module_of(listing, location);

	writer_add(out, " (", 2);
	offset = offset && module && is_object(listing, location, module);
	const char *name = dso_name(listing, module, offset);
	name = name ? name : "[unknown]";
	writer_name(out, name, strlen(name));
	if (offset) {
		writer_add(out, "+0x", 3);
		writer_hex(out, file_offset(listing, location, module), 0);
	}
	writer_putc(out, ')');
}

static const char *symbol_of(const struct listing *listing, const struct location *location, uint64_t *offset)
{
	const struct module *module = module_of(listing, location);
	uint32_t id = module ? symbols_lookup(listing->symbols, module, location->offset) : 0;

	if (!id)
		return NULL;
	*offset = location->offset - symbols_get(listing->symbols, module, id)->start;
	return symbols_name(listing->symbols, module, id);
}

const char *listing_symbol_at(const struct listing_line *line, const struct location *location, uint64_t *offset)
{
	return symbol_of(line->listing, location, offset);
}

const char *listing_symbol_name(const struct listing_line *line, const struct location *location)
{
	uint64_t offset;

	return symbol_of(line->listing, location, &offset);
}

uint64_t listing_symbol_end(const struct listing_line *line, const struct location *location)
{
	const struct module *module = module_of(line->listing, location);
	uint32_t id = module ? symbols_lookup(line->listing->symbols, module, location->offset) : 0;

	return id ? symbols_get(line->listing->symbols, module, id)->end : 0;
}

static void add_symbol_text(const char *name, bool with_offset, uint64_t offset, struct writer *out)
{
	writer_puts(out, name);
	if (with_offset) {
		writer_add(out, "+0x", 3);
		writer_hex(out, offset, 0);
	}
}

static void add_symbol(const struct listing *listing, const struct location *location, bool with_offset, struct writer *out)
{
	uint64_t offset;
	const char *name = symbol_of(listing, location, &offset);

	if (name)
		add_symbol_text(name, with_offset, offset, out);
	else
		writer_puts(out, "[unknown]");
}

/* name: of a function that is inlined there; NULL: the function at the location. */
static void add_frame(const struct listing *listing, const struct location *location, uint64_t place, const char *name,
	const struct source_line *at, struct writer *text)
{
	uint64_t offset = 0;

	if (place & PLACE_SYMBOL && name) {
		symbol_of(listing, location, &offset);
		writer_putc(text, ' ');
		add_symbol_text(name, place & FIELD_BIT(FIELD_SYMOFF), offset, text);
	} else if (place & PLACE_SYMBOL) {
		writer_putc(text, ' ');
		add_symbol(listing, location, place & FIELD_BIT(FIELD_SYMOFF), text);
	}
	if (place & FIELD_BIT(FIELD_DSO) && !name)
		add_dso(listing, location, place & FIELD_BIT(FIELD_DSOFF), text);
	if (place & FIELD_BIT(FIELD_SRCLINE))
		listing_add_source_line(listing, location, at, text);
	if (name)
		writer_puts(text, " (inlined)");
}

/* perf's letter for the mode of an address. */
static char level_of(const struct location *location)
{
	switch (location->cpumode) {
	case RECORD_MISC_KERNEL:
		return 'k';
	case RECORD_MISC_USER:
		return '.';
	case RECORD_MISC_GUEST_KERNEL:
		return 'g';
	case RECORD_MISC_GUEST_USER:
		return 'u';
	default:
		return 'H';
	}
}

/* The source line, in the arena; NULL: not known. */
static const char *line_text(const struct listing *listing, const struct location *location, const struct source_line *at,
	struct arena *arena)
{
	const struct module *module = module_of(listing, location);
	CLEANUP_STR struct str text = { 0 };
	struct source_line found;

	if (!at || !at->file) {
		if (!module || !location->map || !lines_place(listing->symbols, module, location->offset, false, &found))
			return NULL;
		at = &found;
	}
	source_line_add_known(at, listing->options.full_source_path, &text);
	return arena_string(arena, str_text(&text), text.len);
}

/* A frame with these fields (FIELDS_OF_PLACE). name, at: as for add_frame. Texts are valid as long as the session and the arena. */
static struct cell place_of(const struct listing *listing, const struct location *location, const char *name,
	const struct source_line *at, uint64_t fields, struct arena *arena)
{
	struct cell_place place = { .address = location->address, .level = level_of(location), .inlined = name };

	if (fields & FIELD_BIT(FIELD_SYM))
		place.symbol = name ? name : symbol_of(listing, location, &place.offset);
	if (fields & FIELD_BIT(FIELD_DSO))
		place.module = dso_name(listing, module_of(listing, location), false);
	if (fields & FIELD_BIT(FIELD_SRCLINE))
		place.line = line_text(listing, location, at, arena);
	return (struct cell){ .kind = CELL_PLACE, .place = place };
}

struct cell listing_place_cell(const struct listing_line *line, const struct location *location, uint64_t fields)
{
	return place_of(line->listing, location, NULL, NULL, fields, &line->worker->row);
}

static bool stops_at(const struct listing *listing, const char *name)
{
	return name && listing->options.stop_at && name_list_has(listing->options.stop_at, name);
}

/* A frame that is being made, as text or as cells. */
struct frame_making {
	const struct listing_line *line;
	const struct location *location;
	uint64_t place;          /* its fields */
	struct writer *text;
	VEC(struct cell) cells;
};

static void making_add(struct frame_making *making, const char *name, const struct source_line *at)
{
	const struct listing_line *line = making->line;

	if (line->listing->options.format)
		vec_push(&making->cells, place_of(line->listing, making->location, name, at, making->place, &line->worker->arena));
	else
		add_frame(line->listing, making->location, making->place, name, at, making->text);
}

/* Adds a frame for each inlined function, then the function itself. Returns their number, 0 if they are not known. */
static size_t making_add_inlines(struct frame_making *making, enum frame_at where, struct frame *frame)
{
	const struct listing_line *line = making->line;
	const struct location *location = making->location;
	struct symbols *symbols = line->listing->symbols;
	const struct module *module = module_of(line->listing, location);
	uint32_t own = module ? symbols_lookup(symbols, module, location->offset) : 0;
	struct line_frame found[LINE_FRAMES_MAX];
	uint64_t offset = location->offset - (where == FRAME_RETURN && location->offset);
	bool known = own && location->map && (where == FRAME_EXACT || symbols_lookup(symbols, module, offset) == own);
	size_t count = known ? lines_inlines(symbols, module, offset, own, found) : 0;

	for (size_t i = 0; i < count && !frame->stops; i++) {
		const char *name = symbols_name(symbols, module, found[i].symbol);
		if (i && !line->listing->options.format) {
			writer_putc(making->text, '\0');
			frame->has_more = true;
		}
		making_add(making, symbol_is_inlined(found[i].symbol) ? name : NULL, &found[i].at);
		frame->stops = stops_at(line->listing, name);
	}
	return count;
}

enum { ADDRESS_COLUMNS = 16, TEXT_BLOCK = 16 };

typedef uint8_t vector_u8 __attribute__((vector_size(ADDRESS_COLUMNS)));
typedef int8_t vector_s8 __attribute__((vector_size(ADDRESS_COLUMNS)));
typedef uint64_t vector_u64 __attribute__((vector_size(ADDRESS_COLUMNS)));

/* Writes an address in 16 columns and returns the end. All digits are made at once. */
static inline char *address_write(char *p, uint64_t address)
{
	enum { TO_BLANK = '0' ^ ' ', TO_LETTER = 'a' - '0' - 10 };
	static const uint8_t blank[2 * ADDRESS_COLUMNS] = { [0 ... ADDRESS_COLUMNS - 1] = TO_BLANK };
	static const uint64_t nibbles = 0x0f0f0f0f0f0f0f0f;
	size_t blanks = address ? (size_t)__builtin_clzll(address) / 4 : ADDRESS_COLUMNS - 1;
	uint64_t bytes = htobe64(address);
	vector_u8 high = (vector_u8)(vector_u64){ bytes >> 4 & nibbles }, low = (vector_u8)(vector_u64){ bytes & nibbles }, mask;

	vector_u8 digits = __builtin_shufflevector(high, low, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
	memcpy(&mask, blank + ADDRESS_COLUMNS - blanks, sizeof mask);
	digits = (digits + '0' + ((vector_u8)((vector_s8)digits > 9) & TO_LETTER)) ^ mask;
	memcpy(p, &digits, sizeof digits);
	return p + ADDRESS_COLUMNS;
}

static void print_address(struct writer *out, uint64_t address)
{
	address_write(writer_room(out, ADDRESS_COLUMNS), address);
	writer_advance(out, ADDRESS_COLUMNS);
}

/* Size of a text with the end of its line, in whole blocks: text_write copies these. */
static size_t stored_size(size_t len)
{
	return (len + 1 + TEXT_BLOCK - 1) / TEXT_BLOCK * TEXT_BLOCK;
}

/* A short text is in the frame, so that it is in the cache line of the point. */
static void store_text(struct arena *arena, const struct writer *text, struct frame *frame)
{
	_Static_assert(sizeof frame->brief == TEXT_BLOCK, "a short text is one block");
	size_t size = stored_size(text->len);
	char *bytes = size > sizeof frame->brief ? arena_bytes(arena, size) : frame->brief;

	memset(bytes, '\n', size);
	frame->text = memcpy(bytes, text->buffer, text->len);
	frame->count = (uint32_t)text->len;
}

/* Writes the text of a frame and the end of the line to room for stored_size bytes, and returns the end. */
static inline char *text_write(char *p, const struct frame *frame)
{
	const char *text = frame->text;
	size_t len = frame->count;

	memcpy(p, text, TEXT_BLOCK);
	for (size_t at = TEXT_BLOCK; __builtin_expect(at <= len, 0); at += TEXT_BLOCK)
		memcpy(p + at, text + at, TEXT_BLOCK);
	return p + len + 1;
}

static void make_frame(const struct listing_line *line, const struct location *location, uint64_t place, unsigned inlines,
	struct frame *frame)
{
	struct frame_making making = { .line = line, .location = location, .place = place, .text = &line->worker->frame_text };
	struct arena *arena = &line->worker->arena;
	uint64_t offset;

	if (!making.text->buffer)
		writer_open(making.text, -1, 256);
	making.text->len = 0;
	if (!inlines || !making_add_inlines(&making, inlines - 1, frame)) {
		making_add(&making, NULL, NULL);
		frame->stops = line->listing->options.stop_at && stops_at(line->listing, symbol_of(line->listing, location, &offset));
	}
	if (line->listing->options.format) {
		frame->cells = arena_copy(arena, making.cells.items, making.cells.count * sizeof *making.cells.items);
		frame->count = (uint32_t)making.cells.count;
	} else {
		store_text(arena, making.text, frame);
	}
	frame->inlines = (uint8_t)inlines;
	vec_fini(&making.cells);
}

/* The frame with the fields of a place, whose kind is given. */
static const struct frame *frame_find(const struct listing_line *line, const struct location *location, uint64_t place, uint8_t kind,
	unsigned inlines)
{
	_Static_assert(sizeof(struct frame) <= sizeof location->point->note, "the frame fits the note");
	struct frame *frame = location_note(location);

	while (__builtin_expect(frame->text && (frame->kind != kind || frame->inlines != inlines), 0)) {
		if (!frame->next)
			frame->next = arena_alloc(&line->worker->arena, sizeof *frame->next);
		frame = frame->next;
	}
	if (__builtin_expect(!frame->text, 0)) {
		make_frame(line, location, place, inlines, frame);
		frame->kind = kind;
	}
	return frame;
}

/* inlines: 0, or enum frame_at + 1. */
static const struct frame *frame_of(const struct listing_line *line, const struct location *location, unsigned inlines)
{
	return frame_find(line, location, line->plan->place, line->plan->place_kind, inlines);
}

/* frame.inlines of the i-th frame of a chain. calls: callers are recorded by their return address. */
static unsigned inlines_at(enum inline_frames inlines, bool calls, const struct location *location, size_t i)
{
	bool shown = inlines == INLINE_ALL || (inlines && location->cpumode == RECORD_MISC_USER);
	return shown ? 1 + (calls && i ? FRAME_RETURN : FRAME_EXACT) : 0;
}

/* The frames of a sample's call chain that are left to show. */
struct chain_frames {
	struct chain chain;
	enum inline_frames inlines;
	bool calls;
	size_t next;
};

static struct chain_frames chain_frames_of(const struct listing_line *line)
{
	unsigned max = line->listing->options.max_stack;
	struct chain_frames frames = { .calls = !sample_unwinds(line->r) };

	/* the recorder may have left the unwinding of single samples to the reader */
	frames.inlines = line->listing->options.inlines && !frames.calls ? INLINE_UNWOUND : line->plan->inlines;
	if (max)
		frames.chain = resolved_chain(line->r, CHAIN_INNERMOST_FIRST, max);
	if (frames.chain.damaged)
		frames.chain.count = 0;
	return frames;
}

/* The next frame and its location, NULL after the last. */
static inline const struct frame *chain_frames_next(const struct listing_line *line, struct chain_frames *frames,
	const struct location **at)
{
	if (frames->next >= frames->chain.count)
		return NULL;
	size_t i = frames->next++;
	const struct location *location = *at = frames->chain.frames[i];
	const struct frame *frame = frame_of(line, location, inlines_at(frames->inlines, frames->calls, location, i));
	if (frame->stops)
		frames->next = frames->chain.count;
	return frame;
}

/* Writes the lines of a frame, each with the address if that is shown. before: what precedes the first. */
static void print_frame(const struct listing_line *line, const struct frame *frame, uint64_t address, const char *before)
{
	const char *text = frame->text, *end = text + frame->count;
	bool ip = line->plan->place & FIELD_BIT(FIELD_IP);

	for (bool first = true; first || text < end; first = false) {
		const char *line_end = frame->has_more ? memchr(text, '\0', (size_t)(end - text)) : NULL;
		if (!line_end)
			line_end = end;
		writer_puts(line->out, first ? before : ip ? "\n\t" : "\n");
		if (ip)
			print_address(line->out, address);
		writer_add(line->out, text, (size_t)(line_end - text));
		text = line_end + (line_end < end);
	}
}

/* Brings what the new ones among the frames need into the caches. */
static void expect_frames(const struct listing_line *line, const struct chain *chain)
{
	struct symbols_query queries[SYMBOLS_EXPECTED];
	size_t count = 0;

	for (size_t i = 0; i < chain->count && count < SYMBOLS_EXPECTED; i++) {
		const struct location *location = chain->frames[i];
		const struct frame *frame = location_note(location);
		if (!frame->text && location->module != MODULE_ID_NONE)
			queries[count++] = (struct symbols_query){ location->module, location->offset };
	}
	if (count > 1)
		symbols_expect(line->listing->symbols, queries, count);
}

static void print_chain(const struct listing_line *line)
{
	struct chain_frames frames = chain_frames_of(line);
	bool ip = line->plan->place & FIELD_BIT(FIELD_IP);
	const struct location *at;

	if (line->plan->place & PLACE_SYMBOL)
		expect_frames(line, &frames.chain);
	for (const struct frame *frame; (frame = chain_frames_next(line, &frames, &at));) {
		if (__builtin_expect(frame->has_more, 0)) {
			print_frame(line, frame, at->address, ip ? "\t" : "");
			writer_putc(line->out, '\n');
			continue;
		}
		char *start = writer_room(line->out, 1 + ADDRESS_COLUMNS + stored_size(frame->count)), *p = start;
		if (ip) {
			*p++ = '\t';
			p = address_write(p, at->address);
		}
		writer_advance(line->out, (size_t)(text_write(p, frame) - start));
	}
}

static bool has_chain(const struct listing_line *line)
{
	return line->listing->options.fields->chains && line->r->sample->present & SAMPLE_CALLCHAIN;
}

void print_ip(const struct listing_line *line, const struct field_row *row)
{
	if (has_chain(line)) {
		writer_putc(line->out, '\n');
		print_chain(line);
		return;
	}
	const struct location *own = resolved_ip(line->r);
	print_frame(line, frame_of(line, own, 0), own->address, " ");
}

const struct location *listing_locate(const struct listing_line *line, uint64_t address)
{
	unsigned mode = record_cpumode(line->r->record);
	const struct location *location = resolved_locate(line->r, mode, address);

	if (location->map || (!line->r->guest && mode != RECORD_MISC_KERNEL && mode != RECORD_MISC_USER))
		return location;
	bool kernel = mode == RECORD_MISC_KERNEL || mode == RECORD_MISC_GUEST_KERNEL;
	const struct location *other =
		resolved_locate(line->r, kernel ? RECORD_MISC_USER : RECORD_MISC_KERNEL, address);
	return other->map ? other : location;
}

void listing_print_symbol(const struct listing_line *line, const struct location *location, bool offset)
{
	add_symbol(line->listing, location, offset, line->out);
}

void listing_print_dso(const struct listing_line *line, const struct location *location)
{
	add_dso(line->listing, location, shows(line, FIELD_DSOFF), line->out);
}

void print_addr(const struct listing_line *line, const struct field_row *row)
{
	const struct listing_plan *plan = line->plan;
	print_address(line->out, line->r->sample->addr);
	if (!plan->addr_has_symbol || !plan->addr_place)
		return;
	const struct frame *frame =
		frame_find(line, listing_locate(line, line->r->sample->addr), plan->addr_place, plan->addr_kind, 0);
	writer_add(line->out, frame->text, frame->count);
}

struct cell chain_cell(const struct listing_line *line)
{
	if (!has_chain(line))
		return cell_absent();
	struct chain_frames frames = chain_frames_of(line);
	struct listing_worker *worker = line->worker;
	const struct location *at;

	vec_clear(&worker->cells);
	for (const struct frame *frame; (frame = chain_frames_next(line, &frames, &at));)
		for (uint32_t i = 0; i < frame->count; i++) {
			vec_push(&worker->cells, frame->cells[i]);
			worker->cells.items[worker->cells.count - 1].place.address = at->address;
		}
	return cell_list(arena_copy(&worker->row, worker->cells.items, worker->cells.count * sizeof *worker->cells.items),
		worker->cells.count);
}

/* The sample's own place, without inlined functions. */
static const struct cell_place *own_place(const struct listing_line *line)
{
	return &frame_of(line, resolved_ip(line->r), 0)->cells->place;
}

struct cell ip_cell(const struct listing_line *line)
{
	return cell_address(resolved_ip(line->r)->address);
}

struct cell symbol_cell(const struct listing_line *line)
{
	return cell_text(own_place(line)->symbol);
}

struct cell symbol_offset_cell(const struct listing_line *line)
{
	const struct cell_place *place = own_place(line);

	return place->symbol ? cell_count(place->offset) : cell_absent();
}

struct cell dso_cell(const struct listing_line *line)
{
	return cell_text(own_place(line)->module);
}

struct cell dso_offset_cell(const struct listing_line *line)
{
	const struct location *location = resolved_ip(line->r);
	const struct module *module = module_of(line->listing, location);
	bool known = module && is_object(line->listing, location, module);

	return known ? cell_address(file_offset(line->listing, location, module)) : cell_absent();
}

struct cell source_line_cell(const struct listing_line *line)
{
	return cell_text(own_place(line)->line);
}

struct cell addr_cell(const struct listing_line *line)
{
	return cell_address(line->r->sample->addr);
}

struct cell addr_place_cell(const struct listing_line *line)
{
	uint64_t fields = line->plan->shown & (FIELD_BIT(FIELD_SYM) | FIELD_BIT(FIELD_DSO));

	return line->plan->addr_has_symbol && fields ? listing_place_cell(line, listing_locate(line, line->r->sample->addr), fields) :
		cell_absent();
}
