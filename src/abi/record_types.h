/* The types of records, a row each: from these rows come the RECORD_* numbers, the names, byte swapping and the checks of sizes. A new type
 * of the kernel is a new row, and its text in render/dump/record_text.c. Source: perf_event_open(2), "mmap layout";
 * tools/perf/Documentation/perf.data-file-format.txt. */
#pragma once

/* ROW(NAME, number, name in -D and --stats, layout, least body).
 *
 * Layout: a digit is a field of that many bytes, '.' a byte that is not swapped, '*' all remaining bytes as u64s, '+' as u32s, '&' the flag
 * word of an attribute. Bytes after the last field are strings or raw data and are not swapped. NULL: the body has no fields, or their
 * sizes depend on its bytes (record_swap.c).
 *
 * Least body: the minimum size in bytes where no other function checks the size; otherwise 0. */
#define RECORD_TYPES_OF_KERNEL(ROW)                                           \
	ROW(MMAP, 1, "MMAP", "44888", 0)                                      \
	ROW(LOST, 2, "LOST", "88", 16)                                        \
	ROW(COMM, 3, "COMM", "44", 0)                                         \
	ROW(EXIT, 4, "EXIT", "44448", 0)                                      \
	ROW(THROTTLE, 5, "THROTTLE", "888", 24)                               \
	ROW(UNTHROTTLE, 6, "UNTHROTTLE", "888", 24)                           \
	ROW(FORK, 7, "FORK", "44448", 0)                                      \
	ROW(READ, 8, "READ", "44*", 16)                                       \
	ROW(SAMPLE, 9, "SAMPLE", NULL, 0)                                     \
	ROW(MMAP2, 10, "MMAP2", "44888448844", 0)                             \
	ROW(AUX, 11, "AUX", "888", 24)                                        \
	ROW(ITRACE_START, 12, "ITRACE_START", "44", 8)                        \
	ROW(LOST_SAMPLES, 13, "LOST_SAMPLES", "8", 8)                         \
	ROW(SWITCH, 14, "SWITCH", NULL, 0)                                    \
	ROW(SWITCH_CPU_WIDE, 15, "SWITCH_CPU_WIDE", "44", 8)                  \
	ROW(NAMESPACES, 16, "NAMESPACES", "44*", 0)                           \
	ROW(KSYMBOL, 17, "KSYMBOL", "8422", 0)                                \
	ROW(BPF_EVENT, 18, "BPF_EVENT", "224", 16)                            \
	ROW(CGROUP, 19, "CGROUP", "8", 0)                                     \
	ROW(TEXT_POKE, 20, "TEXT_POKE", "822", 12)                            \
	ROW(AUX_OUTPUT_HW_ID, 21, "AUX_OUTPUT_HW_ID", "8", 8)                 \
	ROW(CALLCHAIN_DEFERRED, 22, "CALLCHAIN_DEFERRED", "*", 16)

#define RECORD_TYPES_OF_PERF(ROW)                                             \
	ROW(HEADER_ATTR, 64, "ATTR", NULL, 0)                                 \
	ROW(HEADER_EVENT_TYPE, 65, "EVENT_TYPE", "8", 0)                      \
	ROW(HEADER_TRACING_DATA, 66, "TRACING_DATA", "4", 0)                  \
	ROW(HEADER_BUILD_ID, 67, "BUILD_ID", "4", 0)                          \
	ROW(FINISHED_ROUND, 68, "FINISHED_ROUND", NULL, 0)                    \
	ROW(ID_INDEX, 69, "ID_INDEX", "*", 0)                                 \
	ROW(AUXTRACE_INFO, 70, "AUXTRACE_INFO", "44*", 0)                     \
	ROW(AUXTRACE, 71, "AUXTRACE", "8884444", 0)                           \
	ROW(AUXTRACE_ERROR, 72, "AUXTRACE_ERROR",                             \
	    "44444488................................................................44", 0) \
	ROW(THREAD_MAP, 73, "THREAD_MAP", NULL, 0)                            \
	ROW(CPU_MAP, 74, "CPU_MAP", NULL, 0)                                  \
	ROW(STAT_CONFIG, 75, "STAT_CONFIG", "*", 0)                           \
	ROW(STAT, 76, "STAT", "844888", 0)                                    \
	ROW(STAT_ROUND, 77, "STAT_ROUND", "88", 0)                            \
	ROW(EVENT_UPDATE, 78, "EVENT_UPDATE", NULL, 0)                        \
	ROW(TIME_CONV, 79, "TIME_CONV", "88888", 0)                           \
	ROW(HEADER_FEATURE, 80, "FEATURE", "8", 0)                            \
	ROW(COMPRESSED, 81, "COMPRESSED", NULL, 0)                            \
	ROW(FINISHED_INIT, 82, "FINISHED_INIT", NULL, 0)                      \
	ROW(COMPRESSED2, 83, "COMPRESSED2", "8", 0)                           \
	ROW(SCHEDSTAT_CPU, 85, "SCHEDSTAT_CPU", "8422444444888", 0)           \
	ROW(SCHEDSTAT_DOMAIN, 86, "SCHEDSTAT_DOMAIN", "8422+", 0)
