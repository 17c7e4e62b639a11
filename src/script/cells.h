/* How each field is printed, and its value as a cell: the functions of the rows in rows.c, by the file that defines them. */
#pragma once
#include "script/rows.h"

#define VALUE(name) struct cell name(const struct stream_line *line)

/* start.c: who, where and when */
field_print print_comm, print_ids, print_cpu, print_misc, print_time_of_day, print_time;

/* field.c */
field_print print_period, print_event, print_flags, print_data_source, print_decimal, print_hexadecimal, print_page_size, print_cgroup,
	print_interrupt_registers, print_user_registers, print_bpf_output, print_instruction;
VALUE(weight_cell);
VALUE(instruction_latency_cell);
VALUE(retire_latency_cell);
VALUE(cgroup_cell);
VALUE(physical_address_cell);
VALUE(data_page_size_cell);
VALUE(code_page_size_cell);

/* trace.c: tracepoints */
field_print print_trace;

/* synth.c: events that decoders make */
field_print print_synth;

/* frame.c: places */
field_print print_ip, print_addr;

/* source.c */
field_print print_source_code;

/* branch.c. print_branch_trace: of samples that are branches themselves, instead of their address */
field_print print_branches, print_branch_trace;
