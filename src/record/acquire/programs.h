/* BPF programs in a recording: records of those that are loaded when it begins, and the header features BPF_PROG_INFO and BPF_BTF
 * (tools/perf/Documentation/perf.data-file-format.txt). */
#pragma once
#include "base/writer.h"
#include "os/bpf.h"
#include "record/acquire/synthesize.h"

void programs_info_body(const struct bpf_programs *programs, struct writer *out);
void programs_types_body(const struct bpf_programs *programs, struct writer *out);
/* HEADER_FEATURE records with these features, for a reader of a pipe: a pair for each program, which has room for it; a larger one is left
 * out. */
void programs_records(const struct bpf_programs *programs, struct writer *out);
/* A KSYMBOL record for each function and for each page that calls programs, a BPF_EVENT record for each program. */
void synthesize_programs(struct synthesis *synthesis, const struct bpf_programs *programs);
