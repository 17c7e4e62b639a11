/* BPF programs at events of the kernel (bpf(2)): programs of tracepoints whose arguments have types, iterators over tasks, programs that
 * user space runs on a CPU, and a value that is stored with each task. `type`: the id of the attach point in the kernel's types. What a
 * descriptor names is closed with it; closing that of a link detaches its program. Knows no particular program. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* What is not attached to a type has type 0. */
enum bpf_tracing_kind { BPF_TRACING_TRACEPOINT, BPF_TRACING_ITERATOR, BPF_TRACING_COMMAND };

/* Loads `count` instructions of 8 bytes. All of these return a descriptor. */
int bpf_tracing_load(enum bpf_tracing_kind kind, uint32_t type, const void *instructions, size_t count, struct error *err);
/* Attaches a program to its tracepoint. */
int bpf_tracing_attach(int program, struct error *err);
/* A descriptor from which the output of an iterator can be read once. */
int bpf_tracing_iterate(int program, struct error *err);
/* A map of values of `words` 64-bit words, one of each task that has one; it ends with the task. */
int bpf_task_map_make(uint32_t words, struct error *err);
/* Removes the value of a task. */
void bpf_task_map_remove(int map, int pidfd);
/* Runs a program of kind COMMAND on a CPU, in an interrupt of what runs there. 0 or -errno. */
int bpf_tracing_run(int program, int cpu);
