#include "analysis/annotate/code_source.h"

#include <elf.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/search.h"
#include "base/str.h"
#include "data/feature.h"
#include "data/header.h"
#include "image/file.h"
#include "image/jit_dump.h"
#include "image/search.h"
#include "model/jit.h"
#include "symbol/lines.h"
#include "symbol/symbol.h"

enum { NAMES_MAX = 4096 }; /* a hostile recording names another part of one text at each line */

/* The opened file of a module. */
struct code_file {
	bool tried;
	struct image image;        /* path NULL: none */
	struct span dump;          /* MODULE_JIT: the mapped dump */
	struct error missing;
};

struct code_source {
	struct symbols *symbols;
	const struct header *header;
	const char *kcore_path;
	struct image kcore;        /* path NULL: none, or not opened yet */
	bool kcore_tried;
	VEC(const struct feature_bpf_function *) bpf; /* with recorded code, by address; of equal addresses the first one is last */
	bool bpf_read;
	struct strtab names;       /* of source files, at most NAMES_MAX */
	struct arena arena;
	VEC(struct code_file *) files; /* by module id; NULL: not tried */
};

struct code_source *code_source_new(struct symbols *symbols, const struct header *header, const char *kcore)
{
	struct code_source *source = memory_zero(1, sizeof *source);
	source->symbols = symbols;
	source->header = header;
	source->kcore_path = kcore && *kcore ? kcore : NULL;
	return source;
}

void code_source_free(struct code_source *source)
{
	if (!source)
		return;
	for (size_t i = 0; i < source->files.count; i++) {
		struct code_file *file = source->files.items[i];
		if (!file)
			continue;
		image_close(&file->image);
		rooted_unmap(&file->dump);
		free(file);
	}
	vec_fini(&source->files);
	image_close(&source->kcore);
	vec_fini(&source->bpf);
	strtab_fini(&source->names);
	arena_fini(&source->arena);
	free(source);
}

/* The places of the trail as text: "/usr/bin/x: other build, ...". */
static void name_places(struct error *err, const struct image_trail *trail)
{
	struct str text CLEANUP_STR = { 0 };
	for (size_t i = 0; i < trail->tries.count; i++) {
		const struct image_try *each = &trail->tries.items[i];
		const char *finding = each->finding == IMAGE_UNUSED ? "has no code" : image_finding_text(each->finding);
		str_printf(&text, "%s%s: %s", i ? "; " : "", each->path, finding);
	}
	if (text.len)
		error_hint(err, "looked for %s", str_text(&text));
}

static void open_image(const struct code_source *source, const struct module *module, struct code_file *file)
{
	struct image_search search;
	struct image_trail trail = { 0 };
	bool found;
	const struct image_options *images = symbols_images(source->symbols);
	if (module->kind == MODULE_VDSO && !module->build_id_len && !images->same_machine) {
		error_set(&file->missing, ERROR_UNSUPPORTED, "the recorded machine had another %s than this one", module->short_name);
		return;
	}
	image_search_init(&search, module, images);
	search.trail = &trail;
	while ((found = image_search_next(&search, &file->image)) && !image_runs(&file->image))
		image_close(&file->image);
	if (!found) {
		file->image = (struct image){ 0 };
		bool kernel = module->kind == MODULE_KERNEL;
		error_set(&file->missing, ERROR_UNSUPPORTED, search.mismatched ? "the file of %s is of another build than the recorded one"
			: search.damaged ? "the file of %s is damaged" : kernel ? "no code of %s: record --kcore, or -k VMLINUX"
			: "no file with the code of %s was found", module->long_name);
		name_places(&file->missing, &trail);
	}
	image_search_fini(&search);
	image_trail_fini(&trail);
}

static void open_dump(const struct code_source *source, const struct module *module, struct code_file *file)
{
	const struct image_options *images = symbols_images(source->symbols);
	uint64_t size;
	int fd = jit_dump_open(module->pid, module->long_name, images->symfs, false, &size, &file->missing);
	if (fd < 0)
		return;
	if (descriptor_map(fd, module->long_name, &file->dump, &file->missing) < 0)
		file->dump = (struct span){ 0 };
	close(fd);
}

static struct code_file *file_of(struct code_source *source, const struct module *module)
{
	while (source->files.count <= module->id)
		vec_push(&source->files, NULL);
	struct code_file *file = source->files.items[module->id];
	if (file)
		return file;
	file = memory_zero(1, sizeof *file);
	source->files.items[module->id] = file;
	switch (module->kind) {
	case MODULE_FILE:
	case MODULE_VDSO:
	case MODULE_KERNEL:
	case MODULE_KMODULE:
		open_image(source, module, file);
		break;
	case MODULE_JIT:
		open_dump(source, module, file);
		break;
	case MODULE_ANON:
		error_set(&file->missing, ERROR_UNSUPPORTED, "the code of %s was compiled at run time and was not recorded", module->long_name);
		error_hint(&file->missing, "a JIT dump of the compiler has the code, a perf map has only the names");
		break;
	case MODULE_KSYMBOL:
		error_set(&file->missing, ERROR_UNSUPPORTED, "the code of %s was not recorded", module->long_name);
		break;
	default:
		error_set(&file->missing, ERROR_UNSUPPORTED, "%s is no file with code", module->long_name);
	}
	return file;
}

/* The module that is searched: sections of the kernel are in the kernel's file. */
static const struct module *whole_of(const struct module *module)
{
	return module->whole ? module->whole : module;
}

/* A range of a file whose bytes are at consecutive addresses. */
struct file_part {
	uint64_t offset, size, address;
};

static bool part_of_load(const struct elf *elf, uint64_t at, bool by_address, struct file_part *part)
{
	for (uint32_t i = 0; i < elf->load_count; i++) {
		const struct elf_load *load = &elf->loads[i];
		uint64_t size = by_address ? load->memory_size : load->file_size;
		*part = (struct file_part){ load->offset, load->file_size, load->vaddr };
		if (at - (by_address ? load->vaddr : load->offset) < size)
			return true;
	}
	return false;
}

/* Kernel modules have no segments; module_layout gives their sections the module's offsets. */
static bool part_of_section(const struct elf *elf, uint64_t address, struct file_part *part)
{
	for (uint32_t i = 0; i < elf->section_count; i++) {
		const struct elf_section *section = &elf->sections[i];
		*part = (struct file_part){ section->offset, section->size, section->address };
		if (section->flags & SHF_ALLOC && section->type == SHT_PROGBITS && address - section->address < section->size)
			return true;
	}
	return false;
}

static struct code_machine machine_of(const struct elf *elf)
{
	bool host_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	return (struct code_machine){ elf->machine, elf->is64, host_big != elf->swap, false };
}

/* The code that follows in the segment is that of another section, or padding. */
static void limit_to_section(const struct elf *elf, struct code_bytes *code)
{
	for (uint32_t i = 0; i < elf->section_count && !code->section; i++) {
		const struct elf_section *section = &elf->sections[i];
		uint64_t into = code->address - section->address;
		if (!(section->flags & SHF_EXECINSTR) || into >= section->size)
			continue;
		code->section = section->name;
		if (code->bytes.len > section->size - into)
			code->bytes.len = (size_t)(section->size - into);
	}
}

static int read_image(struct code_source *source, const struct module *module, const struct image *image, uint64_t offset, uint64_t size,
	struct code_bytes *code, struct error *err)
{
	struct file_part part = { 0 };
	uint64_t at = offset;
	bool known;
	if (module->kind == MODULE_KERNEL) {
		at = lines_address(source->symbols, module, offset);
		known = part_of_load(&image->elf, at, true, &part);
	} else if (module->kind == MODULE_KMODULE) {
		known = part_of_section(&image->elf, at, &part);
	} else {
		known = part_of_load(&image->elf, offset, false, &part);
		at = offset - part.offset + part.address;
	}
	uint64_t into = at - part.address, whole = image->elf.bytes.len;
	if (!known || part.offset > whole || into >= part.size || into >= whole - part.offset)
		return error_set(err, ERROR_FORMAT, "%s has no code at this address", image->path);
	uint64_t left = part.size - into, file_left = whole - part.offset - into;
	left = left < file_left ? left : file_left;
	code->bytes = (struct span){ image->elf.bytes.data + part.offset + into, (size_t)(size < left ? size : left) };
	code->address = at;
	code->machine = machine_of(&image->elf);
	code->path = image->path;
	limit_to_section(&image->elf, code);
	return 0;
}

/* The processor of the recorded machine, for code without an ELF file. */
static struct code_machine recorded_machine(const struct header *header)
{
	static const struct { const char *name; struct code_machine machine; } machines[] = {
		{ "x86_64", { EM_X86_64, true, false, false } }, { "aarch64", { EM_AARCH64, true, false, false } },
		{ "s390x", { EM_S390, true, true, false } }, { "ppc64le", { EM_PPC64, true, false, false } },
		{ "ppc64", { EM_PPC64, true, true, false } }, { "i686", { EM_386, false, false, false } },
	};
	const char *name = header_string(header, FEATURE_ARCH);
	for (size_t i = 0; name && i < sizeof machines / sizeof *machines; i++)
		if (strcmp(name, machines[i].name) == 0)
			return machines[i].machine;
	return (struct code_machine){ 0 };
}

/* Sets the code from `offset` on of a whole that is at `address`. */
static int set_code(struct code_bytes *code, struct span whole, uint64_t into, uint64_t size, uint64_t address)
{
	uint64_t left = whole.len - into;
	code->bytes = (struct span){ whole.data + into, (size_t)(size < left ? size : left) };
	code->address = address + into;
	return 0;
}

/* Memory of the kernel at an address. */
static int read_kcore(struct code_source *source, uint64_t address, uint64_t size, struct code_bytes *code)
{
	if (!source->kcore_tried && source->kcore_path)
		image_open(&source->kcore, -1, source->kcore_path, NULL, NULL);
	source->kcore_tried = true;
	const struct elf *elf = &source->kcore.elf;
	const struct elf_load *load = source->kcore.path && elf->type == ET_CORE ? elf_load_at(elf, address) : NULL;
	uint64_t into = load ? address - load->vaddr : 0;
	if (!load || into >= load->file_size || load->offset > elf->bytes.len || into >= elf->bytes.len - load->offset)
		return -1;
	uint64_t whole = elf->bytes.len - load->offset;
	code->machine = machine_of(elf);
	code->path = source->kcore.path;
	whole = whole < load->file_size ? whole : load->file_size;
	return set_code(code, (struct span){ elf->bytes.data + load->offset, (size_t)whole }, into, size, load->vaddr);
}

static int by_address(const void *a, const void *b)
{
	const struct feature_bpf_function *x = *(const struct feature_bpf_function *const *)a, *y = *(const struct feature_bpf_function *const *)b;
	return x->address != y->address ? (x->address > y->address) - (x->address < y->address) : (x->code.data < y->code.data) -
		(x->code.data > y->code.data);
}

static void open_bpf(struct code_source *source)
{
	struct feature_bpf bpf = { 0 };
	if (source->header)
		feature_bpf(source->header, &source->arena, &bpf);
	for (uint32_t i = 0; i < bpf.count; i++)
		for (uint32_t k = 0; k < bpf.programs[i].count; k++)
			if (bpf.programs[i].functions[k].code.len)
				vec_push(&source->bpf, &bpf.programs[i].functions[k]);
	if (source->bpf.count)
		qsort(source->bpf.items, source->bpf.count, sizeof *source->bpf.items, by_address);
	source->bpf_read = true;
}

/* The function of a BPF program that was recorded with its code; NULL: none is at this address. It is called for each instruction. */
static const struct feature_bpf_function *find_bpf(struct code_source *source, uint64_t address)
{
	if (!source->bpf_read)
		open_bpf(source);
	size_t count = SEARCH_COUNT(source->bpf.count, i, source->bpf.items[i]->address <= address);
	const struct feature_bpf_function *function = count ? source->bpf.items[count - 1] : NULL;
	return function && address - function->address < function->code.len ? function : NULL;
}

static int read_bpf(struct code_source *source, uint64_t address, uint64_t size, struct code_bytes *code)
{
	const struct feature_bpf_function *function = find_bpf(source, address);
	if (!function)
		return -1;
	code->machine = recorded_machine(source->header);
	code->path = "the recording";
	return set_code(code, function->code, address - function->address, size, function->address);
}

bool code_source_line(struct code_source *source, const struct module *module, uint64_t offset, struct code_line *line)
{
	const struct feature_bpf_function *function = module->kind == MODULE_KSYMBOL ? find_bpf(source, module->start + offset) : NULL;
	const struct feature_bpf_line *at = function ? feature_bpf_line(function, module->start + offset) : NULL;
	if (!at)
		return false;
	uint32_t name = strtab_add_line(&source->names, (const char *)at->file.data, source->names.count < NAMES_MAX ? at->file.len : 0);
	*line = (struct code_line){ strtab_text(&source->names, name), at->number, at->text };
	return true;
}

/* Code that is in no file of the module. */
static int read_memory(struct code_source *source, const struct module *module, uint64_t offset, uint64_t size, struct code_bytes *code)
{
	if (module->kind == MODULE_KSYMBOL)
		return read_bpf(source, module->start + offset, size, code);
	if (module->kind != MODULE_KERNEL && module->kind != MODULE_KMODULE)
		return -1;
	return read_kcore(source, module->kind == MODULE_KERNEL ? offset : module->start + offset, size, code);
}

int code_source_read(struct code_source *source, const struct module *module, uint64_t offset, uint64_t size, struct code_bytes *code,
	struct error *err)
{
	const struct code_file *file = file_of(source, whole_of(module));
	*code = (struct code_bytes){ 0 };
	if (file->image.path)
		return read_image(source, module, &file->image, offset, size, code, err);
	if (!file->dump.data && read_memory(source, module, offset, size, code) == 0)
		return 0;
	if (!file->dump.data) {
		*err = file->missing;
		return -1;
	}
	if (offset >= file->dump.len)
		return error_set(err, ERROR_FORMAT, "%s ends before this code", module->long_name);
	set_code(code, file->dump, offset, size, 0);
	code->machine = (struct code_machine){ module->jit->machine, module->jit->machine != EM_386 && module->jit->machine != EM_ARM, false,
		false };
	code->path = module->long_name;
	return 0;
}

int code_source_check(struct code_source *source, const struct module *module, struct error *err)
{
	const struct code_file *file = file_of(source, whole_of(module));
	if (file->image.path || file->dump.data)
		return 0;
	*err = file->missing;
	return -1;
}

bool code_source_offset(struct code_source *source, const struct module *module, uint64_t address, uint64_t *offset)
{
	const struct code_file *file = file_of(source, whole_of(module));
	struct file_part part = { 0 };
	*offset = address;
	bool memory = !file->image.path; /* then addresses are those of the running kernel */
	if (module->kind == MODULE_KERNEL && !memory)
		*offset = address - lines_address(source->symbols, module, 0);
	if (memory && (module->kind == MODULE_KMODULE || module->kind == MODULE_KSYMBOL))
		*offset = address - module->start;
	if (module->kind != MODULE_FILE && module->kind != MODULE_VDSO)
		return true;
	if (!file->image.path || !part_of_load(&file->image.elf, address, true, &part))
		return false;
	*offset = address - part.address + part.offset;
	return true;
}
