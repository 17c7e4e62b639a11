#include "cmd/code_files.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/reader.h"
#include "image/jit_dump.h"
#include "image/kcore.h"
#include "image/recorded_process.h"
#include "model/jit.h"
#include "symbol/load_elf.h"

/* A module's file; the search for it is not repeated. */
struct code_file {
	struct image image;
	struct reader dump;      /* for JIT-compiled code */
	bool open;
};

static bool open_dump(const struct code_files *files, const struct module *module, struct reader *dump)
{
	uint64_t size;
	/* its owner was checked when it was read for symbols */
	int32_t pid = recorded_process(module->pid, files->options.processes_until, NULL);
	int fd = jit_dump_open(pid, module->long_name, files->options.symfs, true, &size, NULL);
	if (fd >= 0)
		*dump = reader_of_fd(fd, size);
	return fd >= 0;
}

static const struct code_file *find_code(struct code_files *files, const struct module *module)
{
	while (files->list.count <= module->id)
		vec_push(&files->list, (struct code_file *)NULL);
	struct code_file *file = files->list.items[module->id];
	if (!file) {
		file = files->list.items[module->id] = memory_zero(1, sizeof *file);
		file->open = module->jit ? open_dump(files, module, &file->dump) : image_find(module, &files->options, &file->image, NULL) >= 0;
	}
	return file->open ? file : NULL;
}

/* Only from the recorded copy: a vmlinux does not have the code that the kernel patched since. */
static size_t read_kernel(struct code_files *files, const struct module *module, uint64_t offset, uint8_t *out, size_t size,
	bool *is_64bit)
{
	if (!files->kcore_path || !*files->kcore_path || module->guest)
		return 0;
	pthread_mutex_lock(&files->lock);
	if (!files->kcore_tried)
		image_open(&files->kcore, -1, files->kcore_path, NULL, NULL);
	files->kcore_tried = true;
	pthread_mutex_unlock(&files->lock);
	*is_64bit = files->kcore.elf.is64;
	return kcore_read(&files->kcore, module->kind == MODULE_KERNEL ? offset : module->start + offset, out, size);
}

size_t code_files_read(void *context, const struct module *module, uint64_t offset, uint8_t *out, size_t size, bool *is_64bit)
{
	struct code_files *files = context;

	if (module->kind == MODULE_KERNEL || module->kind == MODULE_KMODULE)
		return read_kernel(files, module, offset, out, size, is_64bit);
	if (module->kind != MODULE_FILE && module->kind != MODULE_VDSO && module->kind != MODULE_JIT)
		return 0;
	pthread_mutex_lock(&files->lock);
	const struct code_file *file = find_code(files, module);
	pthread_mutex_unlock(&files->lock);
	if (file && module->jit) {
		*is_64bit = module->jit->machine != EM_386 && module->jit->machine != EM_ARM;
		ssize_t got = reader_at(&file->dump, out, size, offset);
		return got > 0 ? (size_t)got : 0;
	}
	if (!file || offset >= file->image.elf.bytes.len)
		return 0;
	size_t left = file->image.elf.bytes.len - offset;
	size = size < left ? size : left;
	memcpy(out, file->image.elf.bytes.data + offset, size);
	*is_64bit = file->image.elf.is64;
	return size;
}

/* The segment of the kernel's file that has an address of it. */
static bool segment_span(const struct image *image, uint64_t address, struct trace_code *code)
{
	const struct elf_load *load = image->elf.loads ? elf_load_at(&image->elf, address) : NULL;
	struct span bytes = image->elf.bytes;
	if (!load || load->offset > bytes.len || address - load->vaddr >= load->file_size)
		return false;
	uint64_t len = load->file_size < bytes.len - load->offset ? load->file_size : bytes.len - load->offset;
	*code = (struct trace_code){ .bytes = { bytes.data + load->offset, len }, .offset = load->vaddr };
	return address - load->vaddr < len;
}

/* The code of a virtual machine's kernel, which may have moved since its file was linked. */
static bool guest_span(struct code_files *files, const struct module *module, uint64_t address, struct trace_code *code)
{
	if (!files->guest_vmlinux_path || module->pid)
		return false;
	pthread_mutex_lock(&files->lock);
	if (!files->guest_vmlinux_tried)
		image_open(&files->guest_vmlinux, -1, files->guest_vmlinux_path, files->options.budget, NULL);
	files->guest_vmlinux_tried = true;
	pthread_mutex_unlock(&files->lock);
	if (!files->guest_vmlinux.elf.loads)
		return false;
	uint64_t moved = load_elf_relocation(&files->guest_vmlinux.elf, module->relocation_symbol, module->relocation);
	if (!segment_span(&files->guest_vmlinux, address - moved, code))
		return false;
	code->offset += moved;
	return true;
}

/* The kernel's code at an address. */
static bool kernel_span(struct code_files *files, uint64_t address, struct trace_code *code)
{
	pthread_mutex_lock(&files->lock);
	if (files->options.vmlinux && !files->vmlinux_tried)
		image_open(&files->vmlinux, -1, files->options.vmlinux, files->options.budget, NULL);
	files->vmlinux_tried = true;
	if (files->kcore_path && *files->kcore_path && !files->kcore_tried)
		image_open(&files->kcore, -1, files->kcore_path, NULL, NULL);
	files->kcore_tried = true;
	pthread_mutex_unlock(&files->lock);
	const struct image *images[] = { &files->kcore, &files->vmlinux };
	for (size_t i = 0; i < sizeof images / sizeof *images; i++)
		if (segment_span(images[i], address, code))
			return true;
	return false;
}

/* Offsets of a kernel module begin at its address. */
static bool kernel_module_span(struct code_files *files, const struct module *module, uint64_t offset, struct trace_code *code)
{
	if (!kernel_span(files, module->start + offset, code))
		return false;
	if (code->offset >= module->start) {
		code->offset -= module->start;
		return code->offset <= offset;
	}
	uint64_t before = module->start - code->offset;
	if (before > code->bytes.len) /* a hostile module ends where addresses do */
		return false;
	code->bytes = (struct span){ code->bytes.data + before, code->bytes.len - before };
	code->offset = 0;
	return true;
}

bool code_files_span(void *context, const struct module *module, uint64_t offset, struct trace_code *code)
{
	struct code_files *files = context;

	if (module->guest)
		return module->kind == MODULE_KERNEL && guest_span(files, module, offset, code);
	if (module->kind == MODULE_KERNEL || module->kind == MODULE_KMODULE)
		return module->kind == MODULE_KERNEL ? kernel_span(files, offset, code) : kernel_module_span(files, module, offset, code);
	if ((module->kind != MODULE_FILE && module->kind != MODULE_VDSO) || module->jit)
		return false;
	pthread_mutex_lock(&files->lock);
	const struct code_file *file = find_code(files, module);
	pthread_mutex_unlock(&files->lock);
	if (!file)
		return false;
	*code = (struct trace_code){ .bytes = file->image.elf.bytes };
	return true;
}

void code_files_init(struct code_files *files, const struct image_options *options)
{
	*files = (struct code_files){ .options = *options };
	pthread_mutex_init(&files->lock, NULL);
}

void code_files_fini(struct code_files *files)
{
	for (size_t i = 0; i < files->list.count; i++) {
		if (files->list.items[i] && files->list.items[i]->open) {
			image_close(&files->list.items[i]->image);
			reader_close(&files->list.items[i]->dump);
		}
		free(files->list.items[i]);
	}
	vec_fini(&files->list);
	image_close(&files->kcore);
	image_close(&files->vmlinux);
	image_close(&files->guest_vmlinux);
	pthread_mutex_destroy(&files->lock);
}
