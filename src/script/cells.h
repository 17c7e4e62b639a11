/* How each field is printed, and its value as a cell: the functions of the rows in rows.c, by the file that defines them. */
#pragma once
#include "script/rows.h"

#define VALUE(name) struct cell name(const struct listing_line *line)

/* start.c: who, where and when */
field_print print_machine, print_virtual_cpu, print_comm, print_ids, print_cpu, print_misc, print_time_of_day, print_time;
VALUE(machine_cell);
VALUE(virtual_cpu_cell);
VALUE(comm_cell);
VALUE(pid_cell);
VALUE(tid_cell);
VALUE(cpu_cell);
VALUE(misc_cell);
VALUE(time_of_day_cell);
VALUE(time_cell);

/* field.c */
field_print print_period, print_event, print_flags, print_ipc, print_trace_count, print_data_source, print_decimal,
	print_hexadecimal, print_page_size, print_cgroup, print_interrupt_registers, print_user_registers, print_bpf_output,
	print_instruction;
VALUE(period_cell);
VALUE(event_cell);
VALUE(data_source_cell);
VALUE(weight_cell);
VALUE(instruction_latency_cell);
VALUE(retire_latency_cell);
VALUE(cgroup_cell);
#define NUMBER(NAME, name, shown, print, kind, unit, member, ...) VALUE(member##_cell);
SAMPLE_NUMBERS(NUMBER)
#undef NUMBER
VALUE(interrupt_registers_cell);
VALUE(user_registers_cell);
VALUE(bpf_output_cell);
VALUE(instruction_cell);
VALUE(assembly_cell);
VALUE(flags_cell);
VALUE(ipc_cell);
VALUE(cycles_cell);
VALUE(time_stamp_cell);
VALUE(instruction_length_cell);

/* trace.c: tracepoints */
field_print print_trace;
VALUE(trace_cell);
VALUE(trace_fields_cell);

/* synth.c: events that decoders make */
field_print print_synth;
VALUE(synth_cell);

/* frame.c: places */
field_print print_ip, print_addr;
VALUE(ip_cell);
VALUE(chain_cell);
VALUE(symbol_cell);
VALUE(symbol_offset_cell);
VALUE(dso_cell);
VALUE(dso_offset_cell);
VALUE(source_line_cell);
VALUE(addr_cell);
VALUE(addr_place_cell);

/* source.c */
field_print print_source_code;
VALUE(source_code_cell);

/* branch.c. print_branch_trace: of samples that are branches themselves, instead of their address */
field_print print_branches, print_branch_trace, print_branch_source;
VALUE(branches_cell);
VALUE(branch_symbols_cell);
VALUE(branch_offsets_cell);
VALUE(branch_counters_cell);

/* blocks.c: the code that the branch stack proves to have run */
field_print print_blocks;
VALUE(block_bytes_cell);
VALUE(block_lengths_cell);
VALUE(block_assembly_cell);
