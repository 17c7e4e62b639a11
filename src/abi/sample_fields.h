/* The fields of a sample, a row each, in the order of its bytes; and the trailer of other records. From these rows come the SAMPLE_* bits,
 * the members of struct sample, decoding, byte swapping, the checks of sizes and the names of the bits. A new field of the kernel is a new
 * row. Source: perf_event_open(2), "PERF_RECORD_SAMPLE"; include/uapi/linux/perf_event.h, enum perf_event_sample_format. */
#pragma once

/* HEAD(NAME, bit, text, member): a u64 at the beginning of the sample. HEAD_PAIR(NAME, bit, text, first, second): two u32 there.
 * PART(NAME, bit, text, function): a field whose size depends on its bytes: decode_FUNCTION in sample.c, swap_FUNCTION in record_swap.c.
 * WORD(NAME, bit, text, member): a u64 behind the parts, and a member of struct sample.
 * NAME is the name of the bit in `evlist -v`; text names the field in messages. */
#define SAMPLE_FIELDS(HEAD, HEAD_PAIR, PART, WORD)                              \
	HEAD(IDENTIFIER, 16, "identifier", id)                                  \
	HEAD(IP, 0, "ip", ip)                                                   \
	HEAD_PAIR(TID, 1, "pid and tid", pid, tid)                              \
	HEAD(TIME, 2, "time", time)                                             \
	HEAD(ADDR, 3, "addr", addr)                                             \
	HEAD(ID, 6, "id", id)                                                   \
	HEAD(STREAM_ID, 9, "stream id", stream_id)                              \
	HEAD_PAIR(CPU, 7, "cpu", cpu, cpu_reserved)                             \
	HEAD(PERIOD, 8, "period", period)                                       \
	PART(READ, 4, "read values", read)                                      \
	PART(CALLCHAIN, 5, "callchain", callchain)                              \
	PART(RAW, 10, "raw data", raw)                                          \
	PART(BRANCH_STACK, 11, "branch stack", branches)                        \
	PART(REGS_USER, 12, "user registers", regs_user)                        \
	PART(STACK_USER, 13, "user stack", stack_user)                          \
	WORD(WEIGHT, 14, "weight", weight)                                      \
	PART(WEIGHT_STRUCT, 24, "weight", weight_struct)                        \
	WORD(DATA_SRC, 15, "data source", data_src)                             \
	WORD(TRANSACTION, 17, "transaction", transaction)                       \
	PART(REGS_INTR, 18, "interrupt registers", regs_intr)                   \
	WORD(PHYS_ADDR, 19, "physical address", phys_addr)                      \
	WORD(CGROUP, 21, "cgroup", cgroup)                                      \
	WORD(DATA_PAGE_SIZE, 22, "data page size", data_page_size)              \
	WORD(CODE_PAGE_SIZE, 23, "code page size", code_page_size)              \
	PART(AUX, 20, "AUX data", aux)

/* The trailer's fields in the order of their bytes: u64, or two u32. */
#define SAMPLE_TRAILER(HEAD, HEAD_PAIR)      \
	HEAD_PAIR(TID, pid, tid)             \
	HEAD(TIME, time)                     \
	HEAD(ID, id)                         \
	HEAD(STREAM_ID, stream_id)           \
	HEAD_PAIR(CPU, cpu, cpu_reserved)    \
	HEAD(IDENTIFIER, id)

#define SAMPLE_NO_ROW(...) /* leaves the rows of a kind out */
