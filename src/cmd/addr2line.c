#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/str.h"
#include "cmd/command.h"
#include "cmd/environment.h"
#include "dwarf/dwarf.h"
#include "elf/module_layout.h"
#include "cmd/servers.h"
#include "image/debug.h"
#include "symbol/demangle.h"
#include "symbol/nearest.h"

struct addr2line_options {
	const char *executable, *section, *target, *demangle_style;
	bool addresses, inlines, pretty, basenames, functions, demangle, version;
	bool recurse_limit, no_recurse_limit;
	bool debuginfod;
};

static const struct option addr2line_table[] = {
	OPT_BOOL('a', "addresses", struct addr2line_options, addresses, "print each address before its result"),
	OPT_STRING('b', "target", struct addr2line_options, target, "name", "accepted and ignored: the format is read from the file"),
	OPT_STRING('e', "exe", struct addr2line_options, executable, "file", "the file that contains the addresses (default: a.out)"),
	OPT_BOOL('i', "inlines", struct addr2line_options, inlines, "print the callers of inlined code, too"),
	OPT_STRING('j', "section", struct addr2line_options, section, "name", "addresses are relative to the start of this section"),
	OPT_BOOL('p', "pretty-print", struct addr2line_options, pretty, "one line for each function"),
	OPT_BOOL('s', "basenames", struct addr2line_options, basenames, "print files without their folders"),
	OPT_BOOL('f', "functions", struct addr2line_options, functions, "print the names of functions"),
	OPTION_ROW(STRING, 'C', "demangle", struct addr2line_options, demangle_style, "demangle names",
		.arg = "style", .flags = OPTION_OPTARG, .fallback = "auto", .was_set = OPTION_GIVEN(struct addr2line_options, demangle)),
	OPT_BOOL('R', "recurse-limit", struct addr2line_options, recurse_limit, "accepted: demangling is always limited"),
	OPT_BOOL('r', "no-recurse-limit", struct addr2line_options, no_recurse_limit, "accepted and ignored: demangling is always limited"),
	OPT_BOOL(0, "debuginfod", struct addr2line_options, debuginfod, "ask the servers of $DEBUGINFOD_URLS for missing files"),
	OPT_BOOL('v', "version", struct addr2line_options, version, "print the version"),
	OPT_END(),
};

static const char *const addr2line_usage[] = { "perf addr2line [<options>] [<address>...]", NULL };

struct converter {
	struct cli *cli;
	const struct addr2line_options *options;
	struct image_options image_options;
	struct module module;
	struct image_debug debug;
	struct image plain;            /* the file itself */
	const struct elf *elf;         /* whose sections and symbols are searched */
	struct dwarf *dwarf;           /* NULL: no debug information */
	struct nearest nearest;
	struct demangler demangler;
	const struct elf_section *section; /* of --section; NULL */
	char *path;                    /* absolute: debug files are searched in its folder, too */
};

static bool has_symbols(const struct elf *elf)
{
	return elf_section(elf, ".symtab") != NULL;
}

static int converter_open_files(struct converter *c, struct error *err)
{
	const char *path = c->options->executable ? c->options->executable : "a.out";
	c->path = *path == '/' ? NULL : realpath(path, NULL);
	path = c->path ? c->path : path;
	c->image_options = (struct image_options){ .buildid_dir = environment_cache(c->cli, false), .budget = c->cli->budget,
		.debuginfod = c->options->debuginfod ? servers_named(c->cli) : NULL };
	c->module = (struct module){ .kind = MODULE_FILE, .name = path, .long_name = path, .short_name = path, .pid = -1 };
	if (image_open(&c->plain, -1, path, c->image_options.budget, err) < 0)
		return -1;
	c->elf = &c->plain.elf;
	if (c->elf->type == ET_REL) {
		c->module.kind = MODULE_KMODULE;
		module_layout(&c->plain.elf);
	}
	if (image_debug_open(&c->debug, &c->module, &c->image_options, NULL, NULL) < 0)
		return 0;
	if (!has_symbols(c->elf))
		c->elf = c->debug.debug;
	struct dwarf_parts parts = { .debug = c->debug.debug, .alternate = image_debug_alternate(&c->debug),
		.package = image_debug_package(&c->debug), .split = image_debug_split, .context = &c->debug };
	struct error ignored;
	dwarf_open(&c->dwarf, &parts, &ignored);
	return 0;
}

static int converter_open(struct converter *c, struct error *err)
{
	if (converter_open_files(c, err) < 0)
		return -1;
	nearest_init(&c->nearest, c->elf);
	if (!c->options->section)
		return 0;
	c->section = elf_section(c->elf, c->options->section);
	if (!c->section)
		return error_set(err, ERROR_USAGE, "the file has no section %s", c->options->section);
	return 0;
}

static void converter_close(struct converter *c)
{
	nearest_fini(&c->nearest);
	dwarf_close(c->dwarf);
	image_debug_close(&c->debug);
	image_close(&c->plain);
	free(c->path);
}

static bool in_section(const struct elf *elf, uint64_t address)
{
	for (uint32_t i = 1; i < elf->section_count; i++) {
		const struct elf_section *s = &elf->sections[i];
		if (s->flags & SHF_ALLOC && address >= s->address && address - s->address < s->size)
			return true;
	}
	return false;
}

/* The symbol at the function's entry: the name of a function whose debug information has no linkage name. NULL: absent. */
static const char *symbol_of_entry(const struct converter *c, uint64_t address)
{
	uint64_t entry;
	return dwarf_entry(c->dwarf, address, &entry) ? nearest_entry(&c->nearest, c->elf, entry) : NULL;
}

/* Stores the frames of an address, innermost first: at least one, which may be empty. */
static size_t converter_frames(const struct converter *c, uint64_t address, struct dwarf_frame *frames, size_t max)
{
	size_t count = 0;
	frames[0] = (struct dwarf_frame){ 0 };
	if (!in_section(c->elf, address))
		return 1;
	if (c->dwarf) {
		count = dwarf_frames(c->dwarf, address, frames, c->options->inlines ? max : 1);
		struct dwarf_frame *last = count ? &frames[count - 1] : NULL;
		const char *symbol = last && !last->inlined && !last->linked ? symbol_of_entry(c, address) : NULL;
		if (symbol)
			last->name = symbol;
		if (!count)
			dwarf_line(c->dwarf, address, &frames[0].place);
	}
	if (!count || !frames[0].name) {
		const char *file = NULL, *name = nearest_function(&c->nearest, c->elf, address, &file);
		frames[0].name = name;
		if (!frames[0].place.file && !frames[0].place.line && name)
			frames[0].place.file = file;
	}
	return count ? count : 1;
}

/* In an object file, addresses are relative to sections: the first section counts that has a name or a file for this one. */
static size_t object_frames(const struct converter *c, uint64_t address, struct dwarf_frame *frames, size_t max)
{
	for (uint32_t i = 1; i < c->elf->section_count; i++) {
		const struct elf_section *s = &c->elf->sections[i];
		if (!(s->flags & SHF_EXECINSTR) || !(s->flags & SHF_ALLOC) || address >= s->size)
			continue;
		size_t count = converter_frames(c, s->address + address, frames, max);
		if (frames[0].name || frames[0].place.file)
			return count;
	}
	return converter_frames(c, address, frames, max);
}

/* The address is relative to the section, if one was given. */
static size_t frames_at(const struct converter *c, uint64_t address, struct dwarf_frame *frames, size_t max)
{
	if (!c->section)
		return (c->elf->type == ET_REL ? object_frames : converter_frames)(c, address, frames, max);
	if (address < c->section->size)
		return converter_frames(c, c->section->address + address, frames, max);
	frames[0] = (struct dwarf_frame){ 0 };
	return 1;
}

static void put_text(struct writer *out, const char *text)
{
	writer_name(out, text, strlen(text));
}

static void put_name(const struct converter *c, const char *name)
{
	char *written = name && c->options->demangle ? name_demangle(&c->demangler, name) : NULL;
	put_text(c->cli->out, written ? written : name && *name ? name : "??");
	free(written);
}

static void put_place(const struct converter *c, const struct dwarf_place *place, bool known)
{
	struct writer *out = c->cli->out;
	const char *file = place->file, *slash = file && c->options->basenames ? strrchr(file, '/') : NULL;
	put_text(out, slash ? slash + 1 : file ? file : "??");
	if (place->line && place->discriminator)
		writer_printf(out, ":%u (discriminator %u)\n", place->line, place->discriminator);
	else if (place->line)
		writer_printf(out, ":%u\n", place->line);
	else
		writer_puts(out, known ? ":?\n" : ":0\n");
}

static void convert(const struct converter *c, uint64_t address)
{
	const struct addr2line_options *o = c->options;
	struct writer *out = c->cli->out;
	struct dwarf_frame frames[DWARF_INLINE_DEPTH];
	if (o->addresses)
		writer_printf(out, "0x%0*llx%s", c->elf->is64 ? 16 : 8, (unsigned long long)address, o->pretty ? ": " : "\n");
	size_t count = frames_at(c, address, frames, DWARF_INLINE_DEPTH);
	for (size_t i = 0; i < count; i++) {
		bool known = frames[i].name || frames[i].place.file;
		if (o->pretty && i)
			writer_puts(out, " (inlined by) ");
		if (o->functions) {
			put_name(c, frames[i].name);
			writer_puts(out, !o->pretty ? "\n" : known ? " at " : " ");
		}
		put_place(c, &frames[i].place, known);
	}
}

/* Reads addresses line by line. Results are written before each read: the program that asks may wait for them. */
static int convert_input(const struct converter *c)
{
	char text[1 << 16];
	size_t len = 0;
	for (;;) {
		writer_flush(c->cli->out, NULL);
		ssize_t n = read(STDIN_FILENO, text + len, sizeof text - 1 - len);
		len += n > 0 ? (size_t)n : 0;
		text[len] = '\0';
		char *at = text;
		for (char *end; (end = memchr(at, '\n', len - (size_t)(at - text))) || (n <= 0 && *at); at = end ? end + 1 : text + len)
			convert(c, strtoull(at, NULL, 16));
		len -= (size_t)(at - text);
		memmove(text, at, len);
		if (n <= 0)
			return 0;
		if (len == sizeof text - 1)
			len = 0; /* no address is that long */
	}
}

static int addr2line_run(struct cli *cli, void *filled, int argc, const char **argv)
{
	const struct addr2line_options *options = filled;
	struct error err = { 0 };
	if (options->version) {
		writer_puts(cli->out, "perfuse addr2line " PERFUSE_VERSION "\n");
		return 0;
	}
	struct converter c = { .cli = cli, .options = options, .demangler = { .params = true } };
	int result = 0;
	if (converter_open(&c, &err) < 0)
		result = cli_complain(cli, &err);
	for (int i = 0; i < argc && !result; i++)
		convert(&c, strtoull(argv[i], NULL, 16));
	if (!argc && !result)
		result = convert_input(&c);
	converter_close(&c);
	return result;
}

const struct command command_addr2line = {
	.name = "addr2line",
	.summary = "print the source lines and inlined functions of addresses",
	.usage = addr2line_usage,
	.options = addr2line_table,
	.options_size = sizeof(struct addr2line_options),
	.run = addr2line_run,
};
