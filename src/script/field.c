/* Fields of a sample besides its places: values, registers, bytes. */
#include <ctype.h>
#include <stdio.h>

#include "abi/data_source.h"
#include "script/assembly.h"
#include "script/internal.h"
#include "session/trace.h"
#include "arch/registers.h"
#include "arch/x86/instruction.h"

enum { FLAGS_WIDTH = 24, AREA = 21, DATA_SOURCE_MAX = 99, BPF_LINE_BYTES = 8, CODE_BYTES = 16 };

struct cell period_cell(const struct listing_line *line)
{
	return cell_count(line->r->sample->period);
}

struct cell event_cell(const struct listing_line *line)
{
	return cell_text(line->plan->name);
}

void print_period(const struct listing_line *line, const struct field_row *row)
{
	char *start = writer_room(line->out, 32), *p = decimal_write(start, line->r->sample->period, 10, ' ');

	*p++ = ' ';
	writer_advance(line->out, (size_t)(p - start));
}

void print_event(const struct listing_line *line, const struct field_row *row)
{
	writer_add(line->out, line->plan->label, line->plan->label_len);
}

static const struct {
	uint32_t flags;
	const char *name;
} branch_names[] = {
	{ TRACE_BRANCH | TRACE_CALL, "call" }, { TRACE_BRANCH | TRACE_RETURN, "return" }, { TRACE_BRANCH | TRACE_CONDITIONAL, "jcc" },
	{ TRACE_BRANCH, "jmp" }, { TRACE_BRANCH | TRACE_CALL | TRACE_INTERRUPT, "int" },
	{ TRACE_BRANCH | TRACE_RETURN | TRACE_INTERRUPT, "iret" }, { TRACE_BRANCH | TRACE_CALL | TRACE_SYSCALL, "syscall" },
	{ TRACE_BRANCH | TRACE_RETURN | TRACE_SYSCALL, "sysret" }, { TRACE_BRANCH | TRACE_ASYNC, "async" },
	{ TRACE_BRANCH | TRACE_CALL | TRACE_ASYNC | TRACE_INTERRUPT, "hw int" }, { TRACE_BRANCH | TRACE_ABORT, "tx abrt" },
	{ TRACE_BRANCH | TRACE_BEGIN, "tr strt" }, { TRACE_BRANCH | TRACE_END, "tr end" },
	{ TRACE_BRANCH | TRACE_CALL | TRACE_VM_ENTRY, "vmentry" }, { TRACE_BRANCH | TRACE_CALL | TRACE_VM_EXIT, "vmexit" },
};

static const char *branch_name(uint32_t flags)
{
	for (size_t i = 0; i < sizeof branch_names / sizeof *branch_names; i++)
		if (branch_names[i].flags == flags)
			return branch_names[i].name;
	return NULL;
}

enum { FLAGS_TEXT_MAX = 48 };

/* As perf names them; "" of a sample that is not of a hardware trace. */
static void flags_text(uint32_t flags, char text[static FLAGS_TEXT_MAX])
{
	static const char letters[] = "bcrosyiABExghDt";
	uint32_t beside = TRACE_IN_TX | TRACE_INTERRUPTS_OFF | TRACE_INTERRUPTS_TOGGLED, kind = flags & ~beside;
	const char *before = "", *name = branch_name(kind);
	char aside[8], *p = aside;

	if (!name && kind & TRACE_BEGIN && (name = branch_name(kind & ~(uint32_t)TRACE_BEGIN)))
		before = "tr strt ";
	else if (!name && kind & TRACE_END && (name = branch_name(kind & ~(uint32_t)TRACE_END)))
		before = "tr end  ";
	if (flags & beside)
		*p++ = '(';
	if (flags & TRACE_IN_TX)
		*p++ = 'x';
	if (flags & TRACE_INTERRUPTS_OFF)
		*p++ = 'D';
	if (flags & TRACE_INTERRUPTS_TOGGLED)
		*p++ = 't';
	if (p > aside)
		*p++ = ')';
	*p = '\0';
	if (name && *aside) {
		snprintf(text, FLAGS_TEXT_MAX, "%s%s%*s", before, name, (int)(AREA - strlen(before) - strlen(name)), aside);
	} else if (name) {
		strcpy(stpcpy(text, before), name);
	} else {
		for (size_t i = 0; i < sizeof letters - 1; i++)
			if (flags >> i & 1)
				*text++ = letters[i];
		*text = '\0';
	}
}

static uint32_t flags_of(const struct listing_line *line)
{
	const struct trace_note *note = trace_note_of(line->r);

	return note ? note->flags : 0;
}

/* Flags come from decoders of hardware traces. */
void print_flags(const struct listing_line *line, const struct field_row *row)
{
	char text[FLAGS_TEXT_MAX];

	flags_text(flags_of(line), text);
	size_t len = strlen(text);
	writer_add(line->out, "  ", 2);
	writer_add(line->out, text, len);
	writer_pad(line->out, ' ', len < FLAGS_WIDTH - 3 ? FLAGS_WIDTH - 2 - len : 1);
}

struct cell flags_cell(const struct listing_line *line)
{
	char text[FLAGS_TEXT_MAX];

	flags_text(flags_of(line), text);
	return *text ? listing_text_cell(line, text, strlen(text)) : cell_absent();
}

/* Instructions per cycle since the last sample of the event with a count of cycles. */
void print_ipc(const struct listing_line *line, const struct field_row *row)
{
	const struct trace_note *note = trace_note_of(line->r);

	if (!note || !note->cycles || !note->instructions)
		return;
	uint64_t percent = note->instructions * 100 / note->cycles;
	char *start = writer_room(line->out, 128), *p = start;
	memcpy(p, " \t IPC: ", 8);
	p = decimal_write(p + 8, percent / 100, 0, ' ');
	*p++ = '.';
	p = digits_write(p, percent % 100, 2);
	memcpy(p, " (", 2);
	p = decimal_write(p + 2, note->instructions, 0, ' ');
	*p++ = '/';
	p = decimal_write(p, note->cycles, 0, ' ');
	memcpy(p, ") ", 2);
	writer_advance(line->out, (size_t)(p + 2 - start));
}

struct cell ipc_cell(const struct listing_line *line)
{
	const struct trace_note *note = trace_note_of(line->r);

	if (!note || !note->cycles || !note->instructions)
		return cell_absent();
	return (struct cell){ .kind = CELL_REAL, .real = (double)note->instructions / (double)note->cycles };
}

struct cell cycles_cell(const struct listing_line *line)
{
	const struct trace_note *note = trace_note_of(line->r);

	return note ? cell_count(note->all_cycles) : cell_absent();
}

struct cell time_stamp_cell(const struct listing_line *line)
{
	const struct trace_note *note = trace_note_of(line->r);

	return note && note->time_stamp ? cell_count(note->time_stamp) : cell_absent();
}

void print_trace_count(const struct listing_line *line, const struct field_row *row)
{
	struct cell cell = row->columns[0].value(line);

	if (cell.kind == CELL_COUNT)
		writer_printf(line->out, " %s: %llu", row->name, (unsigned long long)cell.count);
}

static const struct {
	const char *name, *label;
	enum data_source_part part;
} source_parts[] = {
	{ "operation", "|OP ", SOURCE_OPERATION }, { "level", "|LVL ", SOURCE_LEVEL }, { "snoop", "|SNP ", SOURCE_SNOOP },
	{ "tlb", "|TLB ", SOURCE_TLB }, { "lock", "|LCK ", SOURCE_LOCK }, { "block", "|BLK ", SOURCE_BLOCK },
};

enum { SOURCE_PARTS = sizeof source_parts / sizeof *source_parts, SOURCE_TEXT_MAX = 128 };

/* The parts by name, and the whole as "value". */
struct cell data_source_cell(const struct listing_line *line)
{
	uint64_t source = line->r->sample->data_src;
	struct cell_entry *entries = arena_alloc(&line->worker->row, (1 + SOURCE_PARTS) * sizeof *entries);

	entries[0] = (struct cell_entry){ "value", cell_address(source) };
	for (size_t i = 0; i < SOURCE_PARTS; i++) {
		char buffer[SOURCE_TEXT_MAX];
		size_t len = data_source_text(source, source_parts[i].part, buffer, sizeof buffer);
		entries[1 + i] = (struct cell_entry){ source_parts[i].name, listing_text_cell(line, buffer, len) };
	}
	return cell_map(entries, 1 + SOURCE_PARTS);
}

/* As wide as the widest so far. */
void print_data_source(const struct listing_line *line, const struct field_row *row)
{
	struct listing *listing = line->listing;
	struct str *text = &line->worker->scratch;
	char buffer[SOURCE_TEXT_MAX];

	str_clear(text);
	str_printf(text, "%16llx ", (unsigned long long)line->r->sample->data_src);
	for (size_t i = 0; i < SOURCE_PARTS; i++) {
		str_puts(text, source_parts[i].label);
		str_add(text, buffer, data_source_text(line->r->sample->data_src, source_parts[i].part, buffer, sizeof buffer));
	}
	size_t len = text->len < DATA_SOURCE_MAX ? text->len : DATA_SOURCE_MAX;
	if (listing->data_source_width < len)
		listing->data_source_width = (unsigned)len;
	writer_add(line->out, text->text, len);
	writer_pad(line->out, ' ', listing->data_source_width - len);
}

struct cell weight_cell(const struct listing_line *line)
{
	return cell_count(line->r->sample->weight);
}

struct cell instruction_latency_cell(const struct listing_line *line)
{
	return cell_count(line->r->sample->ins_lat);
}

struct cell retire_latency_cell(const struct listing_line *line)
{
	return cell_count(line->r->sample->p_stage_cyc);
}

#define NUMBER(NAME, name, shown, print, kind_of_cell, unit, member, ...)                                  \
	struct cell member##_cell(const struct listing_line *line)                                          \
	{                                                                                                  \
		return (struct cell){ .kind = CELL_##kind_of_cell, .count = line->r->sample->member };     \
	}
SAMPLE_NUMBERS(NUMBER)
#undef NUMBER

struct cell cgroup_cell(const struct listing_line *line)
{
	return cell_text(model_cgroup_path(&line->listing->session->model, line->r->sample->cgroup));
}

void print_decimal(const struct listing_line *line, const struct field_row *row)
{
	writer_decimal(line->out, row->columns[0].value(line).count, 16);
}

void print_hexadecimal(const struct listing_line *line, const struct field_row *row)
{
	writer_hex(line->out, row->columns[0].value(line).count, 16);
}

void print_cgroup(const struct listing_line *line, const struct field_row *row)
{
	struct cell path = row->columns[0].value(line);

	writer_putc(line->out, ' ');
	writer_puts(line->out, path.kind == CELL_TEXT ? path.text : "unknown");
}

/* The registers of a sample that are left to read. */
struct registers {
	const uint8_t *values;
	uint64_t mask;
	unsigned left;
};

static struct registers sample_registers(const struct listing_line *line, bool user)
{
	const struct sample *sample = line->r->sample;
	const struct attr *attr = &line->r->evsel->attr;
	const struct sample_layout *layout = &line->decoded->layout;

	return user ? (struct registers){ sample->regs_user, attr->sample_regs_user, layout->regs_user_count } :
		(struct registers){ sample->regs_intr, attr->sample_regs_intr, layout->regs_intr_count };
}

/* Returns the bit of the next register, < 0 after the last. */
static int registers_next(struct registers *registers, uint64_t *value)
{
	if (!registers->mask || !registers->left || !registers->values)
		return -1;
	int bit = __builtin_ctzll(registers->mask);
	registers->mask &= registers->mask - 1;
	registers->left--;
	*value = load_u64(registers->values);
	registers->values += 8;
	return bit;
}

static struct cell registers_cell(const struct listing_line *line, bool user)
{
	struct registers registers = sample_registers(line, user);
	struct cell_entry *entries = arena_alloc(&line->worker->row, registers.left * sizeof *entries);
	size_t count = 0;
	uint64_t value;

	for (int bit; (bit = registers_next(&registers, &value)) >= 0; count++)
		entries[count] = (struct cell_entry){ register_name(line->listing->options.isa, (unsigned)bit), cell_address(value) };
	return count ? cell_map(entries, count) : cell_absent();
}

struct cell interrupt_registers_cell(const struct listing_line *line)
{
	return registers_cell(line, false);
}

struct cell user_registers_cell(const struct listing_line *line)
{
	return registers_cell(line, true);
}

static void print_registers(const struct listing_line *line, bool user)
{
	const struct sample *sample = line->r->sample;
	struct registers registers = sample_registers(line, user);
	uint64_t value;

	if (!registers.values)
		return;
	writer_add(line->out, " ABI:", 5);
	writer_decimal(line->out, user ? sample->regs_user_abi : sample->regs_intr_abi, 0);
	writer_putc(line->out, ' ');
	for (int bit; (bit = registers_next(&registers, &value)) >= 0;) {
		const char *name = register_name(line->listing->options.isa, (unsigned)bit);
		size_t len = strlen(name);
		writer_pad(line->out, ' ', len < 5 ? 5 - len : 0);
		writer_add(line->out, name, len);
		writer_add(line->out, ":0x", 3);
		writer_hex(line->out, value, 0);
		writer_putc(line->out, ' ');
	}
}

void print_interrupt_registers(const struct listing_line *line, const struct field_row *row)
{
	print_registers(line, false);
}

void print_user_registers(const struct listing_line *line, const struct field_row *row)
{
	print_registers(line, true);
}

/* One line of up to eight bytes, in hexadecimal and as characters. */
static void print_bytes(struct writer *out, const uint8_t *bytes, size_t at, size_t len)
{
	size_t count = len - at < BPF_LINE_BYTES ? len - at : BPF_LINE_BYTES;

	writer_printf(out, "%17s %04zx:", at ? "           " : "BPF output:", at);
	for (size_t i = 0; i < BPF_LINE_BYTES; i++)
		if (i < count)
			writer_printf(out, " %02x", bytes[at + i]);
		else
			writer_add(out, "   ", 3);
	writer_add(out, "  ", 2);
	for (size_t i = 0; i < BPF_LINE_BYTES; i++)
		writer_putc(out, i >= count ? ' ' : isprint(bytes[at + i]) ? (char)bytes[at + i] : '.');
	writer_putc(out, '\n');
}

struct cell bpf_output_cell(const struct listing_line *line)
{
	return listing_bytes_cell(line, line->r->sample->raw, line->r->sample->raw_size);
}

void print_bpf_output(const struct listing_line *line, const struct field_row *row)
{
	const struct sample *sample = line->r->sample;
	size_t len = sample->raw_size, text = 0;

	writer_putc(line->out, '\n');
	for (size_t at = 0; at < len; at += BPF_LINE_BYTES)
		print_bytes(line->out, sample->raw, at, len);
	/* Printable text, padded with at least one NUL, is shown as a string, too. */
	while (text < len && isprint(sample->raw[text]))
		text++;
	size_t end = text;
	while (end < len && !sample->raw[end])
		end++;
	if (end != len || text == len)
		return;
	writer_printf(line->out, "%17s \"", "BPF string:");
	writer_add(line->out, sample->raw, text);
	writer_add(line->out, "\"\n", 2);
}

void print_page_size(const struct listing_line *line, const struct field_row *row)
{
	static const char units[] = "BKMG";
	struct cell cell = row->columns[0].value(line);
	uint64_t size = cell.count;
	unsigned unit = 0;

	writer_putc(line->out, ' ');
	if (cell.kind == CELL_ABSENT) {
		writer_puts(line->out, "N/A");
		return;
	}
	for (; size / 1024 > 1 && unit < 3; unit++)
		size /= 1024;
	writer_decimal(line->out, size, 0);
	writer_putc(line->out, units[unit]);
}

/* Reads the code at the sample's address; returns the length of the instruction there, 0 if it is not known. */
static unsigned instruction_read(const struct listing_line *line, uint8_t bytes[static CODE_BYTES])
{
	const struct listing_options *o = &line->listing->options;
	const struct trace_note *note = trace_note_of(line->r);
	bool is_64bit = false;

	if (note && note->has_instruction) {
		memcpy(bytes, note->instruction, note->instruction_size);
		return note->instruction_size;
	}
	const struct location *location = listing_locate(line, line->r->sample->ip);
	if (!o->read_code || o->isa != ISA_X86 || location->module == MODULE_ID_NONE || !line->r->sample->ip)
		return 0;
	const struct module *module = modules_get(&line->listing->session->model.modules, location->module);
	size_t size = o->read_code(o->code_context, module, location->offset, bytes, CODE_BYTES, &is_64bit);
	return x86_instruction_length(bytes, size, is_64bit);
}

struct cell instruction_cell(const struct listing_line *line)
{
	uint8_t bytes[CODE_BYTES];
	unsigned length = instruction_read(line, bytes);

	return listing_bytes_cell(line, length ? bytes : NULL, length);
}

struct cell instruction_length_cell(const struct listing_line *line)
{
	uint8_t bytes[CODE_BYTES];

	return cell_bytes(instruction_read(line, bytes));
}

static void print_code(const struct listing_line *line, const uint8_t *bytes, unsigned length)
{
	char *start = writer_room(line->out, 3 * CODE_BYTES), *p = start;

	for (unsigned i = 0; i < length; i++) {
		if (i)
			*p++ = ' ';
		*p++ = "0123456789abcdef"[bytes[i] >> 4];
		*p++ = "0123456789abcdef"[bytes[i] & 15];
	}
	writer_advance(line->out, (size_t)(p - start));
}

/* Of the file at the sample's address; unknown: as the processor. */
static bool code_is_64bit(const struct listing_line *line)
{
	const struct listing_options *o = &line->listing->options;
	const struct location *location = resolved_ip(line->r);
	bool is_64bit = true;
	uint8_t byte;

	if (o->read_code && location->module != MODULE_ID_NONE)
		o->read_code(o->code_context, modules_get(&line->listing->session->model.modules, location->module), location->offset, &byte, 1,
			&is_64bit);
	return is_64bit;
}

/* Whether the worker's scratch text is the instruction as assembly. */
static bool assembly_read(const struct listing_line *line, const uint8_t *bytes, unsigned length)
{
	struct str *text = &line->worker->scratch;

	str_clear(text);
	return listing_assembly(line, (struct span){ bytes, length }, line->r->sample->ip, code_is_64bit(line),
		record_cpumode(line->r->record), false, text);
}

struct cell assembly_cell(const struct listing_line *line)
{
	uint8_t bytes[CODE_BYTES];
	unsigned length = instruction_read(line, bytes);
	const struct str *text = &line->worker->scratch;

	return length && assembly_read(line, bytes, length) ? listing_text_cell(line, str_text(text), text->len) : cell_absent();
}

/* The length of the instruction, its bytes and its text if they are known. */
void print_instruction(const struct listing_line *line, const struct field_row *row)
{
	uint8_t bytes[CODE_BYTES];
	unsigned length = instruction_read(line, bytes);

	if (shows(line, FIELD_INSNLEN))
		writer_printf(line->out, " ilen: %u", length);
	if (!length)
		return;
	if (shows(line, FIELD_INSN)) {
		writer_puts(line->out, " insn: ");
		print_code(line, bytes, length);
	}
	if (shows(line, FIELD_DISASM)) {
		writer_puts(line->out, "\t\t");
		if (assembly_read(line, bytes, length))
			writer_puts(line->out, str_text(&line->worker->scratch));
		else
			print_code(line, bytes, length);
	}
}
