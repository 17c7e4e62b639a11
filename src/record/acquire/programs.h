/* BPF programs as a recording tells of them: records for those that are loaded when it begins, and the header features BPF_PROG_INFO
 * and BPF_BTF (tools/perf/Documentation/perf.data-file-format.txt). */
#pragma once
#include "base/writer.h"
#include "os/bpf.h"
#include "record/acquire/synthesize.h"

void programs_info_body(const struct bpf_programs *programs, struct writer *out);
void programs_types_body(const struct bpf_programs *programs, struct writer *out);
/* Each function as code with a name, each program as loaded, and the pages that call them. */
void synthesize_programs(struct synthesis *synthesis, const struct bpf_programs *programs);
