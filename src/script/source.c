/* Source lines of places, and their text in the source file. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/place/source_line.h"
#include "script/internal.h"
#include "base/regular.h"
#include "base/hash.h"

static const struct module *module_of(const struct listing *listing, const struct location *location)
{
	return location->module == MODULE_ID_NONE ? NULL : modules_get(&listing->session->model.modules, location->module);
}

static void add_source_line(const struct listing *listing, const struct location *location, const struct source_line *at,
	const char *prefix, struct writer *out)
{
	struct source_style style = { .show_symbol = true, .show_address = true, .full_path = listing->options.full_source_path };
	CLEANUP_STR struct str text = { 0 };

	if (at && at->file) {
		source_line_add_known(at, style.full_path, &text);
	} else {
		const struct module *module = module_of(listing, location);
		if (!module || !location->map)
			return;
		source_line_add(listing->symbols, module, location->offset, 0, style, &text);
	}
	writer_puts(out, prefix);
	writer_name(out, str_text(&text), text.len);
}

void listing_add_source_line(const struct listing *listing, const struct location *location, const struct source_line *at,
	struct writer *out)
{
	add_source_line(listing, location, at, "\n  ", out);
}

void listing_add_source_line_after(const struct listing *listing, const struct location *location, const char *prefix, struct writer *out)
{
	add_source_line(listing, location, NULL, prefix, out);
}

/* The line that was last shown for a thread. */
struct shown_code {
	uint32_t file, line;
};

struct source_file {
	const char *bytes;         /* NULL: the file cannot be read */
	size_t len;
	VEC(size_t) starts;        /* of lines */
};

struct listing_sources {
	struct strtab paths;
	VEC(struct source_file) files; /* by path */
	struct idmap shown_of_thread;
	VEC(struct shown_code) shown;
};

#define SOURCE_FILE_LIMIT ((off_t)64 << 20)

static void file_open(struct source_file *file, const char *path)
{
	struct stat st;
	int fd = regular_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);

	*file = (struct source_file){ 0 };
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && st.st_size > 0 && st.st_size <= SOURCE_FILE_LIMIT) {
		char *bytes = memory_alloc((size_t)st.st_size);
		ssize_t len = read(fd, bytes, (size_t)st.st_size);
		file->bytes = bytes;
		file->len = len > 0 ? (size_t)len : 0;
	}
	close(fd);
	for (size_t at = 0; at < file->len;) {
		vec_push(&file->starts, at);
		const char *end = memchr(file->bytes + at, '\n', file->len - at);
		at = end ? (size_t)(end - file->bytes) + 1 : file->len;
	}
}

static struct listing_sources *sources_of(struct listing *listing)
{
	if (!listing->sources)
		listing->sources = memory_zero(1, sizeof *listing->sources);
	return listing->sources;
}

void listing_sources_fini(struct listing *listing)
{
	struct listing_sources *sources = listing->sources;

	if (!sources)
		return;
	for (size_t i = 0; i < sources->files.count; i++) {
		free((char *)sources->files.items[i].bytes);
		vec_fini(&sources->files.items[i].starts);
	}
	vec_fini(&sources->files);
	vec_fini(&sources->shown);
	idmap_fini(&sources->shown_of_thread);
	strtab_fini(&sources->paths);
	free(sources);
}

static struct shown_code *shown_of(struct listing_sources *sources, int32_t tid)
{
	bool added;
	uint32_t index = idmap_add(&sources->shown_of_thread, (uint32_t)tid, (uint32_t)sources->shown.count, &added);

	if (added)
		vec_push(&sources->shown, ((struct shown_code){ .file = UINT32_MAX }));
	return &sources->shown.items[index];
}

/* A line of a source file, borrowed. */
struct code {
	uint32_t file, line;       /* file: id of its path */
	const char *text;
	size_t len;
};

/* The source line of a place; returns false if it or its file is not known. */
static bool code_find(const struct listing_line *line, const struct location *location, struct code *code)
{
	struct listing *listing = line->listing;
	const struct module *module = module_of(listing, location);
	struct listing_sources *sources = sources_of(listing);
	struct source_line at;

	if (!module || !location->map || !lines_place(listing->symbols, module, location->offset, true, &at))
		return false;
	uint32_t path = strtab_add(&sources->paths, at.file, strlen(at.file));
	if (path == sources->files.count)
		file_open(vec_add(&sources->files), at.file);
	const struct source_file *file = &sources->files.items[path];
	if (!at.line || at.line > file->starts.count)
		return false;
	size_t start = file->starts.items[at.line - 1];
	size_t end = at.line < file->starts.count ? file->starts.items[at.line] : file->len;
	*code = (struct code){ path, at.line, file->bytes + start, end - start - (end > start && file->bytes[end - 1] == '\n') };
	return true;
}

/* "|12      code", unless it is the line that was last shown for the thread. */
void listing_print_source_code(const struct listing_line *line, const struct location *location)
{
	struct code code;

	if (!code_find(line, location, &code))
		return;
	struct shown_code *shown = shown_of(line->listing->sources, line->r->tid);
	if (shown->file == code.file && shown->line == code.line)
		return;
	*shown = (struct shown_code){ code.file, code.line };
	writer_printf(line->out, "|%-8u ", code.line);
	writer_name(line->out, code.text, code.len);
	writer_putc(line->out, '\n');
}

void print_source_code(const struct listing_line *line, const struct field_row *row)
{
	listing_print_source_code(line, resolved_ip(line->r));
}

struct cell source_code_cell(const struct listing_line *line)
{
	struct code code;

	return code_find(line, resolved_ip(line->r), &code) ? listing_text_cell(line, code.text, code.len) : cell_absent();
}
