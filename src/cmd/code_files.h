/* Code of the programs in a recording: the files of modules, opened on first use. */
#pragma once
#include <pthread.h>

#include "image/search.h"
#include "session/trace.h"

struct code_files {
	pthread_mutex_t lock;
	struct image_options options;
	VEC(struct code_file *) list; /* by module id */
	const char *kcore_path;       /* the copy of the kernel's code that was recorded; "" or NULL: no copy */
	struct image kcore;
	bool kcore_tried;
	struct image vmlinux;         /* options.vmlinux */
	bool vmlinux_tried;
	const char *guest_vmlinux_path; /* NULL: none */
	struct image guest_vmlinux;
	bool guest_vmlinux_tried;
};

void code_files_init(struct code_files *files, const struct image_options *options);
void code_files_fini(struct code_files *files);
/* As listing_options.read_code; context: struct code_files. */
size_t code_files_read(void *context, const struct module *module, uint64_t offset, uint8_t *out, size_t size, bool *is_64bit);
/* As trace_options.code; context: struct code_files. */
bool code_files_span(void *context, const struct module *module, uint64_t offset, struct trace_code *code);
