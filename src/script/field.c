/* Fields that few recordings have. */
#include <ctype.h>

#include "abi/data_source.h"
#include "script/internal.h"
#include "arch/registers.h"
#include "arch/x86/instruction.h"

enum { DATA_SOURCE_MAX = 99, BPF_LINE_BYTES = 8, CODE_BYTES = 16 };

/* As wide as the widest so far. */
static void print_data_source(const struct stream_line *line)
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

static void print_cgroup(const struct stream_line *line)
{
	const struct model *model = &line->stream->session->model;
	uint32_t name = idmap_get(&model->cgroups, line->r->sample->cgroup);

	writer_putc(line->out, ' ');
	writer_puts(line->out, name == IDMAP_NONE ? "unknown" : strtab_text(&model->strings, name));
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

static void print_bpf_output(const struct stream_line *line)
{
	const struct sample *sample = line->r->sample;
	size_t len = sample->raw_size, text = 0;

	writer_putc(line->out, '\n');
	for (size_t at = 0; at < len; at += BPF_LINE_BYTES)
		print_bytes(line->out, sample->raw, at, len);
	/* Text and then nothing but NULs, at least one: shown as a string, too. */
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

static void print_decimal(const struct stream_line *line, uint64_t value)
{
	writer_decimal(line->out, value, 16);
}

static void print_hex(const struct stream_line *line, uint64_t value)
{
	writer_hex(line->out, value, 16);
}

static void print_page_size(const struct stream_line *line, uint64_t size)
{
	static const char units[] = "BKMG";
	unsigned unit = 0;

	writer_putc(line->out, ' ');
	if (!size) {
		writer_puts(line->out, "N/A");
		return;
	}
	for (; size / 1024 > 1 && unit < 3; unit++)
		size /= 1024;
	writer_decimal(line->out, size, 0);
	writer_putc(line->out, units[unit]);
}

/* The length of the instruction, and its bytes where it has one. */
void stream_print_instruction(const struct stream_line *line)
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

/* Kernel functions in a tracepoint's text. */
static bool resolve_function(void *context, uint64_t address, const char **name, uint64_t *start)
{
	const struct stream_line *line = context;
	const struct location *location = resolved_locate(line->r, RECORD_MISC_KERNEL, address);

	if (location->module == MODULE_ID_NONE)
		return false;
	const struct module *module = modules_get(&line->stream->session->model.modules, location->module);
	uint32_t id = symbols_lookup(line->stream->symbols, module, location->offset);
	if (!id)
		return false;
	*name = symbols_name(line->stream->symbols, module, id);
	*start = address - (location->offset - symbols_get(line->stream->symbols, module, id)->start);
	return true;
}

/* What a tracepoint says, in one line: its format and its strings are the recording's. A newline at its end, as trace_marker has one,
 * is left out. */
static void print_trace(const struct stream_line *line)
{
	struct tracepoint_names names = { .resolve = resolve_function, .context = (void *)line };
	const struct sample *sample = line->r->sample;

	if (!sample->raw || !line->stream->tracepoints)
		return;
	struct writer own = { .fd = 0 }, *out = line->out;
	if (out->fd >= 0) { /* its buffer may go out at any time */
		writer_open(&own, -1, 0);
		out = &own;
	}
	size_t start = out->len;
	tracepoints_print_named(line->stream->tracepoints, sample->raw, sample->raw_size, &names, out);
	while (out->len > start && out->buffer[out->len - 1] == '\n')
		out->len--;
	text_join_lines(out->buffer + start, out->len - start);
	if (out == &own) {
		writer_add(line->out, own.buffer, own.len);
		writer_fini(&own);
	}
}

static void print_weight(const struct stream_line *line)
{
	print_decimal(line, line->r->sample->weight);
}

static void print_instruction_latency(const struct stream_line *line)
{
	print_decimal(line, line->r->sample->ins_lat);
}

static void print_retire_latency(const struct stream_line *line)
{
	print_decimal(line, line->r->sample->p_stage_cyc);
}

static void print_interrupt_registers(const struct stream_line *line)
{
	print_registers(line, false);
}

static void print_user_registers(const struct stream_line *line)
{
	print_registers(line, true);
}

#define PRINT(NAME, word, form, member, ...)                                 \
	static void print_##member(const struct stream_line *line)           \
	{                                                                    \
		print_##form(line, line->r->sample->member);                 \
	}
SAMPLE_NUMBERS(PRINT)
#undef PRINT

#define B(name) FIELD_BIT(FIELD_##name)

/* The fields after the event's name, in the order of perf's output. Fields that one function prints together share a row. Those before it
 * are in start.c, as lines of other records have them, too; srccode follows the end of the line. */
static const struct {
	uint64_t fields;
	stream_print *print;
	bool of_synth, of_bpf_output; /* only such events have it */
} rows[] = {
	{ B(TRACE), print_trace },
	{ B(SYNTH), stream_print_synth, .of_synth = true },
	{ B(ADDR), stream_print_addr },
	{ B(DATA_SRC), print_data_source },
	{ B(WEIGHT), print_weight },
	{ B(INS_LAT), print_instruction_latency },
	{ B(RETIRE_LAT), print_retire_latency },
	{ B(CGROUP), print_cgroup },
	{ B(IP), stream_print_ip },
	{ B(IREGS), print_interrupt_registers },
	{ B(UREGS), print_user_registers },
	{ B(BRSTACK) | B(BRSTACKSYM) | B(BRSTACKOFF), stream_print_branches },
	{ B(BPF_OUTPUT), print_bpf_output, .of_bpf_output = true },
	{ B(INSN) | B(INSNLEN), stream_print_instruction },
#define ROW(NAME, word, form, member, ...) { B(NAME), print_##member },
	SAMPLE_NUMBERS(ROW)
#undef ROW
};
_Static_assert(sizeof rows / sizeof *rows <= STREAM_STEPS_MAX, "a plan has room for all rows");

void stream_plan_steps(struct stream_plan *plan)
{
	plan->step_count = 0;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		bool has = (!rows[i].of_synth || plan->synth) && (!rows[i].of_bpf_output || plan->bpf_output);
		if (has && plan->shown & rows[i].fields)
			plan->steps[plan->step_count++] = rows[i].print;
	}
}
