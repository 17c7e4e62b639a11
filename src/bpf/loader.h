/* BPF programs compiled at build time from NAME.bpf.c: opened from the bytes that the build embeds (NAME.bpf.h), sized, loaded and
 * attached. libbpf adapts them to the running kernel by its type information (CO-RE). All that is attached is detached by loader_close and
 * when the process ends, however it ends, as the kernel closes its descriptors. Knows no particular program.
 *
 * A program whose section starts with '?' (libbpf's notation) is loaded only if loader_enable finds its attach point in the kernel.
 *
 *   loader_open → loader_variable, loader_resize, loader_enable → loader_load → loader_attach → loader_map, loader_sum → loader_close */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"

struct bpf_object;
struct bpf_link;

struct loader {
	struct bpf_object *object;
	char *log;                  /* what the verifier says */
	const char *name;           /* borrowed: of the object, for messages */
	VEC(struct bpf_link *) links;
};

/* bytes: the embedded object, borrowed until loader_close. Fails with ERROR_UNSUPPORTED if the kernel publishes no types, and in a build
 * without libbpf. */
int loader_open(struct loader *loader, const char *name, const void *bytes, size_t size, struct error *err);

/* The initial value of a global variable of the programs, until loader_load; what they count is read from maps. NULL: there is no variable
 * of that name and size. */
void *loader_variable(struct loader *loader, const char *variable, size_t size);

/* The number of entries of a map, or bytes of a ring buffer; before loader_load. */
int loader_resize(struct loader *loader, const char *map, uint32_t entries, struct error *err);
/* The size of a map's values; before loader_load. */
int loader_value_size(struct loader *loader, const char *map, uint32_t bytes, struct error *err);

/* Whether the kernel has the attach point of this program, a tracepoint for tp_btf or a function for fentry and fexit; if so, an optional
 * program is loaded. */
bool loader_enable(struct loader *loader, const char *program);
/* Before loader_load: an optional program of section "fentry" or "fexit" is loaded for a function of another BPF program (a descriptor). */
int loader_target(struct loader *loader, const char *program, int target, const char *function, struct error *err);
/* The program is not loaded. */
void loader_disable(struct loader *loader, const char *program);

/* Whether the kernel's types have this name, as functions that programs may call have. */
bool loader_kernel_has(const char *name);

/* Loads maps and programs. The error has the last useful line of the verifier's log, or the missing right. */
int loader_load(struct loader *loader, struct error *err);
/* Attaches all loaded programs. On failure none remains attached. */
int loader_attach(struct loader *loader, struct error *err);
/* Attaches one program; returns < 0 if there is no program of this name, too. */
int loader_attach_one(struct loader *loader, const char *program, struct error *err);
/* Before loader_load: the program is loaded, and loader_attach leaves it out. */
void loader_attach_later(struct loader *loader, const char *program);
/* Attaches a program of section "tp" to a tracepoint; it may have several. */
int loader_attach_tracepoint(struct loader *loader, const char *program, const char *system, const char *tracepoint, struct error *err);
/* Detaches all programs; their maps can still be read. */
void loader_detach(struct loader *loader);
/* Descriptors of a loaded map or program, owned by the loader; -1: none of this name. */
int loader_map(const struct loader *loader, const char *map);
int loader_program(const struct loader *loader, const char *program);

/* The sum over CPUs of a slot of COUNTERS_MAP. */
uint64_t loader_sum(const struct loader *loader, const char *map, uint32_t slot);

/* The number of values that an entry of a map per CPU has. */
int loader_cpus(void);

void loader_close(struct loader *loader);

/* Copies the last line of a verifier's log that is not a statistic, a source line or an instruction to *text; "" if no line is left. */
void loader_reason(const char *log, char *text, size_t size);
