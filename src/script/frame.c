/* Places as text: addresses, symbols, objects, call chains. A frame's text is made once per location. */
#include "analysis/place/source_line.h"
#include "script/internal.h"
#include "symbol/lines.h"

enum { ORIGIN_KALLSYMS = 'k', ORIGIN_VMLINUX = 'v' };

#define PLACE_SYMBOL (FIELD_BIT(FIELD_SYM))

static const struct module *module_of(const struct stream *stream, const struct location *location)
{
	return location->module == MODULE_ID_NONE ? NULL : modules_get(&stream->session->model.modules, location->module);
}

/* Whether offsets in it are offsets in a file. The kernel's are not if its symbols come from kallsyms. */
static bool is_object(const struct stream *stream, const struct location *location, const struct module *module)
{
	/* perf takes the name of a BPF program for that of a file if the header does not describe the program */
	if (module->kind == MODULE_KSYMBOL)
		return strncmp(module->name, "bpf_prog_", 9) == 0 &&
			stream->session->source->header.feature_data[FEATURE_BPF_PROG_INFO].len <= sizeof(uint32_t);
	if (module->kind != MODULE_KERNEL)
		return true;
	symbols_load(stream->symbols, module);
	return symbols_info(stream->symbols, module).origin != ORIGIN_KALLSYMS;
}

/* The path of the module's code; for the kernel, of the file that its symbols come from. */
static const char *long_name(const struct stream *stream, const struct module *module)
{
	if (module->kind != MODULE_KERNEL)
		return module->long_name;
	symbols_load(stream->symbols, module);
	struct symtab_info info = symbols_info(stream->symbols, module);
	return info.origin == ORIGIN_VMLINUX ? info.path + info.root_len : module->long_name;
}

static uint64_t file_offset(const struct stream *stream, const struct location *location, const struct module *module)
{
	if (module->kind != MODULE_KERNEL && module->kind != MODULE_KMODULE)
		return location->offset;
	symbols_load(stream->symbols, module);
	struct symtab_info info = symbols_info(stream->symbols, module);
	if (info.origin == ORIGIN_VMLINUX && location->map)
		return location->offset - location->map->start + location->map->pgoff;
	return location->offset + info.text_at;
}

static void add_dso(const struct stream *stream, const struct location *location, bool offset, struct writer *out)
{
	const struct module *module = module_of(stream, location);
	const char *name = "[unknown]";

	writer_add(out, " (", 2);
	offset = offset && module && is_object(stream, location, module);
	if (module && module->long_name && (stream->options.show_kernel_path || (offset && module->name[0] == '[')))
		name = long_name(stream, module);
	else if (module)
		name = module->name;
	writer_name(out, name, strlen(name));
	if (offset) {
		writer_add(out, "+0x", 3);
		writer_hex(out, file_offset(stream, location, module), 0);
	}
	writer_putc(out, ')');
}

static const char *symbol_of(const struct stream *stream, const struct location *location, uint64_t *offset)
{
	const struct module *module = module_of(stream, location);
	uint32_t id = module ? symbols_lookup(stream->symbols, module, location->offset) : 0;

	if (!id)
		return NULL;
	*offset = location->offset - symbols_get(stream->symbols, module, id)->start;
	return symbols_name(stream->symbols, module, id);
}

static void add_symbol_text(const char *name, bool with_offset, uint64_t offset, struct writer *out)
{
	writer_puts(out, name);
	if (with_offset) {
		writer_add(out, "+0x", 3);
		writer_hex(out, offset, 0);
	}
}

static void add_symbol(const struct stream *stream, const struct location *location, bool with_offset, struct writer *out)
{
	uint64_t offset;
	const char *name = symbol_of(stream, location, &offset);

	if (name)
		add_symbol_text(name, with_offset, offset, out);
	else
		writer_puts(out, "[unknown]");
}

/* name: of a function that is inlined there; NULL: the function at the location. */
static void add_frame(const struct stream_line *line, const struct location *location, const char *name, const struct source_line *at,
	struct writer *text)
{
	uint64_t place = line->plan->place, offset = 0;
	const struct stream *stream = line->stream;

	if (place & FIELD_BIT(FIELD_IP))
		writer_hex(text, location->address, 16);
	if (place & PLACE_SYMBOL && name) {
		symbol_of(stream, location, &offset);
		writer_putc(text, ' ');
		add_symbol_text(name, place & FIELD_BIT(FIELD_SYMOFF), offset, text);
	} else if (place & PLACE_SYMBOL) {
		writer_putc(text, ' ');
		add_symbol(stream, location, place & FIELD_BIT(FIELD_SYMOFF), text);
	}
	if (place & FIELD_BIT(FIELD_DSO) && !name)
		add_dso(stream, location, place & FIELD_BIT(FIELD_DSOFF), text);
	if (place & FIELD_BIT(FIELD_SRCLINE))
		stream_add_source_line(stream, location, at, text);
	if (name)
		writer_puts(text, " (inlined)");
}

static bool stops_at(const struct stream *stream, const char *name)
{
	return name && stream->options.stop_at && name_list_has(stream->options.stop_at, name);
}

/* Adds a frame for each inlined function, then the function itself. Returns their number, 0 if they are not known. */
static size_t add_inlines(const struct stream_line *line, const struct location *location, enum frame_at where, struct frame_text *frame,
	struct writer *text)
{
	struct symbols *symbols = line->stream->symbols;
	const struct module *module = module_of(line->stream, location);
	uint32_t own = module ? symbols_lookup(symbols, module, location->offset) : 0;
	struct line_frame found[LINE_FRAMES_MAX];
	uint64_t offset = location->offset - (where == FRAME_RETURN && location->offset);
	bool known = own && location->map && (where == FRAME_EXACT || symbols_lookup(symbols, module, offset) == own);
	size_t count = known ? lines_inlines(symbols, module, offset, own, found) : 0;
	const char *between = line->plan->place & FIELD_BIT(FIELD_IP) ? "\n\t" : "\n";

	for (size_t i = 0; i < count && !frame->stops; i++) {
		const char *name = symbols_name(symbols, module, found[i].symbol);
		writer_puts(text, i ? between : "");
		add_frame(line, location, symbol_is_inlined(found[i].symbol) ? name : NULL, &found[i].at, text);
		frame->stops = stops_at(line->stream, name);
	}
	return count;
}

static void make_frame(const struct stream_line *line, const struct location *location, unsigned inlines, struct frame_text *frame)
{
	uint64_t offset;
	struct writer text;

	writer_open(&text, -1, 256);
	if (!inlines || !add_inlines(line, location, inlines - 1, frame, &text)) {
		add_frame(line, location, NULL, NULL, &text);
		frame->stops = stops_at(line->stream, symbol_of(line->stream, location, &offset));
	}
	frame->text = arena_bytes(&line->worker->arena, text.len + 1);
	memcpy((char *)frame->text, text.buffer, text.len);
	frame->len = (uint32_t)text.len;
	frame->kind = line->plan->place_kind;
	frame->inlines = (uint8_t)inlines;
	writer_fini(&text);
}

/* inlines: 0, or enum frame_at + 1. */
static const struct frame_text *frame_of(const struct stream_line *line, const struct location *location, unsigned inlines)
{
	_Static_assert(sizeof(struct frame_text) <= sizeof location->note, "the text's place fits the note");
	uint8_t kind = line->plan->place_kind;
	struct frame_text *frame = location_note(location);

	while (__builtin_expect(frame->text && (frame->kind != kind || frame->inlines != inlines), 0)) {
		if (!frame->next)
			frame->next = arena_alloc(&line->worker->arena, sizeof *frame->next);
		frame = frame->next;
	}
	if (__builtin_expect(!frame->text, 0))
		make_frame(line, location, inlines, frame);
	return frame;
}

/* frame_text.inlines of the i-th frame. calls: callers are recorded by their return address. */
static unsigned inlines_at(enum inline_frames inlines, bool calls, const struct location *location, size_t i)
{
	bool shown = inlines == INLINE_ALL || (inlines && location->cpumode == RECORD_MISC_USER);
	return shown ? 1 + (calls && i ? FRAME_RETURN : FRAME_EXACT) : 0;
}

static void print_chain(const struct stream_line *line)
{
	unsigned max = line->stream->options.max_stack;
	struct chain chain = { 0 };
	bool ip = line->plan->place & FIELD_BIT(FIELD_IP);
	bool calls = !sample_unwinds(line->r);
	/* the recorder may have left the unwinding of single samples to the reader */
	enum inline_frames inlines = line->stream->options.inlines && !calls ? INLINE_UNWOUND : line->plan->inlines;

	if (max)
		chain = resolved_chain(line->r, CHAIN_INNERMOST_FIRST, max);
	for (size_t i = 0; i < chain.count && !chain.damaged; i++) {
		const struct frame_text *frame = frame_of(line, chain.frames[i], inlines_at(inlines, calls, chain.frames[i], i));
		char *p = writer_room(line->out, frame->len + 2);
		*p = '\t';
		memcpy(p + ip, frame->text, frame->len);
		p[ip + frame->len] = '\n';
		writer_advance(line->out, ip + frame->len + 1);
		if (frame->stops)
			break;
	}
}

void print_ip(const struct stream_line *line, const struct field_row *row)
{
	bool chain = line->stream->options.fields->chains && line->r->sample->present & SAMPLE_CALLCHAIN;

	if (chain) {
		writer_putc(line->out, '\n');
		print_chain(line);
		return;
	}
	const struct frame_text *frame = frame_of(line, resolved_ip(line->r), false);
	writer_putc(line->out, ' ');
	writer_add(line->out, frame->text, frame->len);
}

const struct location *stream_locate(const struct stream_line *line, uint64_t address)
{
	unsigned mode = record_cpumode(line->r->record);
	const struct location *location = resolved_locate(line->r, mode, address);

	if (location->map || (mode != RECORD_MISC_KERNEL && mode != RECORD_MISC_USER))
		return location;
	const struct location *other =
		resolved_locate(line->r, mode == RECORD_MISC_KERNEL ? RECORD_MISC_USER : RECORD_MISC_KERNEL, address);
	return other->map ? other : location;
}

void stream_print_symbol(const struct stream_line *line, const struct location *location, bool offset)
{
	add_symbol(line->stream, location, offset, line->out);
}

void stream_print_dso(const struct stream_line *line, const struct location *location)
{
	add_dso(line->stream, location, shows(line, FIELD_DSOFF), line->out);
}

void print_addr(const struct stream_line *line, const struct field_row *row)
{
	writer_hex(line->out, line->r->sample->addr, 16);
	if (!line->plan->addr_has_symbol)
		return;
	const struct location *location = stream_locate(line, line->r->sample->addr);
	if (shows(line, FIELD_SYM)) {
		writer_putc(line->out, ' ');
		stream_print_symbol(line, location, shows(line, FIELD_SYMOFF));
	}
	if (shows(line, FIELD_DSO))
		stream_print_dso(line, location);
}
