/* Fields of a sample besides its places: values, registers, bytes. */
#include <ctype.h>

#include "abi/data_source.h"
#include "script/internal.h"
#include "arch/registers.h"
#include "arch/x86/instruction.h"

enum { FLAGS_WIDTH = 24, DATA_SOURCE_MAX = 99, BPF_LINE_BYTES = 8, CODE_BYTES = 16 };

void print_period(const struct stream_line *line, const struct field_row *row)
{
	char *start = writer_room(line->out, 32), *p = decimal_write(start, line->r->sample->period, 10, ' ');

	*p++ = ' ';
	writer_advance(line->out, (size_t)(p - start));
}

void print_event(const struct stream_line *line, const struct field_row *row)
{
	writer_add(line->out, line->plan->label, line->plan->label_len);
}

/* Flags come from decoders of hardware traces. */
void print_flags(const struct stream_line *line, const struct field_row *row)
{
	writer_pad(line->out, ' ', FLAGS_WIDTH);
}

/* As wide as the widest so far. */
void print_data_source(const struct stream_line *line, const struct field_row *row)
{
	static const struct {
		const char *label;
		enum data_source_part part;
	} parts[] = {
		{ "|OP ", SOURCE_OPERATION }, { "|LVL ", SOURCE_LEVEL }, { "|SNP ", SOURCE_SNOOP }, { "|TLB ", SOURCE_TLB },
		{ "|LCK ", SOURCE_LOCK }, { "|BLK ", SOURCE_BLOCK },
	};
	struct stream *stream = line->stream;
	struct str *text = &line->worker->scratch;
	char buffer[128];

	str_clear(text);
	str_printf(text, "%16llx ", (unsigned long long)line->r->sample->data_src);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		str_puts(text, parts[i].label);
		str_add(text, buffer, data_source_text(line->r->sample->data_src, parts[i].part, buffer, sizeof buffer));
	}
	size_t len = text->len < DATA_SOURCE_MAX ? text->len : DATA_SOURCE_MAX;
	if (stream->data_source_width < len)
		stream->data_source_width = (unsigned)len;
	writer_add(line->out, text->text, len);
	writer_pad(line->out, ' ', stream->data_source_width - len);
}

struct cell weight_cell(const struct stream_line *line)
{
	return cell_count(line->r->sample->weight);
}

struct cell instruction_latency_cell(const struct stream_line *line)
{
	return cell_count(line->r->sample->ins_lat);
}

struct cell retire_latency_cell(const struct stream_line *line)
{
	return cell_count(line->r->sample->p_stage_cyc);
}

struct cell physical_address_cell(const struct stream_line *line)
{
	return cell_address(line->r->sample->phys_addr);
}

struct cell data_page_size_cell(const struct stream_line *line)
{
	return cell_bytes(line->r->sample->data_page_size);
}

struct cell code_page_size_cell(const struct stream_line *line)
{
	return cell_bytes(line->r->sample->code_page_size);
}

struct cell cgroup_cell(const struct stream_line *line)
{
	return cell_text(model_cgroup_path(&line->stream->session->model, line->r->sample->cgroup));
}

void print_decimal(const struct stream_line *line, const struct field_row *row)
{
	writer_decimal(line->out, row->value(line).count, 16);
}

void print_hexadecimal(const struct stream_line *line, const struct field_row *row)
{
	writer_hex(line->out, row->value(line).count, 16);
}

void print_cgroup(const struct stream_line *line, const struct field_row *row)
{
	struct cell path = row->value(line);

	writer_putc(line->out, ' ');
	writer_puts(line->out, path.kind == CELL_TEXT ? path.text : "unknown");
}

static void print_registers(const struct stream_line *line, bool user)
{
	const struct sample *sample = line->r->sample;
	const struct attr *attr = &line->r->evsel->attr;
	const struct sample_layout *layout = &line->decoded->layout;
	const uint8_t *values = user ? sample->regs_user : sample->regs_intr;
	uint64_t mask = user ? attr->sample_regs_user : attr->sample_regs_intr;
	unsigned left = user ? layout->regs_user_count : layout->regs_intr_count;

	if (!values)
		return;
	writer_add(line->out, " ABI:", 5);
	writer_decimal(line->out, user ? sample->regs_user_abi : sample->regs_intr_abi, 0);
	writer_putc(line->out, ' ');
	for (unsigned bit = 0; bit < 64 && left; bit++) {
		if (!(mask >> bit & 1))
			continue;
		left--;
		const char *name = register_name(line->stream->options.isa, bit);
		size_t len = strlen(name);
		writer_pad(line->out, ' ', len < 5 ? 5 - len : 0);
		writer_add(line->out, name, len);
		writer_add(line->out, ":0x", 3);
		writer_hex(line->out, load_u64(values), 0);
		writer_putc(line->out, ' ');
		values += 8;
	}
}

void print_interrupt_registers(const struct stream_line *line, const struct field_row *row)
{
	print_registers(line, false);
}

void print_user_registers(const struct stream_line *line, const struct field_row *row)
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

void print_bpf_output(const struct stream_line *line, const struct field_row *row)
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

void print_page_size(const struct stream_line *line, const struct field_row *row)
{
	static const char units[] = "BKMG";
	struct cell cell = row->value(line);
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

/* The length of the instruction, and its bytes if it is known. */
void print_instruction(const struct stream_line *line, const struct field_row *row)
{
	const struct stream_options *o = &line->stream->options;
	const struct location *location = stream_locate(line, line->r->sample->ip);
	uint8_t bytes[CODE_BYTES];
	unsigned length = 0;
	bool is_64bit = false;

	if (o->read_code && o->isa == ISA_X86 && location->module != MODULE_ID_NONE && line->r->sample->ip) {
		const struct module *module = modules_get(&line->stream->session->model.modules, location->module);
		size_t size = o->read_code(o->code_context, module, location->offset, bytes, sizeof bytes, &is_64bit);
		length = x86_instruction_length(bytes, size, is_64bit);
	}
	if (shows(line, FIELD_INSNLEN))
		writer_printf(line->out, " ilen: %u", length);
	if (!shows(line, FIELD_INSN) || !length)
		return;
	writer_puts(line->out, " insn: ");
	for (unsigned i = 0; i < length; i++)
		writer_printf(line->out, i ? " %02x" : "%02x", bytes[i]);
}
