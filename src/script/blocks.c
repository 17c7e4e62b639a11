/* The code that a branch stack proves to have run: every instruction from the target of a branch to the next branch, oldest first, and from
 * the newest branch to the sample. */
#include <stdio.h>
#include <string.h>

#include "abi/branch.h"
#include "arch/x86/instruction.h"
#include "data/evsel_name.h"
#include "data/feature.h"
#include "script/assembly.h"
#include "script/internal.h"

/* perf's limits: of a block, and of the code behind the newest branch if the sample precedes its target. */
enum { BLOCK_BYTES = 16384, AHEAD_BYTES = 128, BRANCH_COLUMN = 30 };
#define KERNEL_FIRST (UINT64_C(1) << 63)

/* Code that was read for a block. */
struct code {
	uint64_t start;
	size_t len;
	unsigned mode;
	bool is_64bit;
	uint8_t bytes[BLOCK_BYTES];
};

/* An instruction of a block. */
struct step {
	uint64_t address;
	struct span bytes;         /* of it: empty if they are no instruction */
	const char *text;          /* as perf prints it */
	unsigned mode;
	const struct branch_entry *branch; /* that it is; NULL: none */
	uint64_t branch_index;
	unsigned executed;         /* instructions of the block up to it; 0: unknown */
};

struct walk {
	const struct listing_line *line;
	struct code code;
	struct str text;
	uint64_t symbol_start, symbol_end; /* of the function that was shown last */
	int cycles;                /* of all branches so far */
	void (*enter)(struct walk *walk, uint64_t address, unsigned mode); /* before each instruction */
	void (*instruction)(struct walk *walk, const struct step *step);
	void (*remark)(struct walk *walk, const char *text);
};

enum read_result { READ_NOTHING, READ_CODE, READ_CHANGES_MODE };

static unsigned mode_of(uint64_t address)
{
	return address >= KERNEL_FIRST ? RECORD_MISC_KERNEL : RECORD_MISC_USER;
}

/* Reads the code of the block [start, end], where an instruction begins at end. */
static enum read_result read_block(struct walk *walk, uint64_t start, uint64_t end)
{
	const struct listing_options *o = &walk->line->listing->options;
	struct code *code = &walk->code;

	if (!start || !end)
		return READ_NOTHING;
	code->mode = mode_of(start);
	if (code->mode != mode_of(end))
		return READ_CHANGES_MODE;
	if (end - start > BLOCK_BYTES - INSTRUCTION_SIZE_MAX || !o->read_code)
		return READ_NOTHING;
	const struct location *location = resolved_locate(walk->line->r, code->mode, start);
	if (location->module == MODULE_ID_NONE)
		return READ_NOTHING;
	const struct module *module = modules_get(&walk->line->listing->session->model.modules, location->module);
	code->start = start;
	code->len = o->read_code(o->code_context, module, location->offset, code->bytes, (size_t)(end - start) + INSTRUCTION_SIZE_MAX,
		&code->is_64bit);
	return code->len ? READ_CODE : READ_NOTHING;
}

static void add_bytes(struct str *text, struct span bytes)
{
	static const char digits[] = "0123456789abcdef";
	char line[3 * INSTRUCTION_SIZE_MAX], *p = line;

	for (size_t i = 0; i < bytes.len; i++) {
		*p++ = digits[bytes.data[i] >> 4];
		*p++ = digits[bytes.data[i] & 15];
		*p++ = ' ';
	}
	str_add(text, "insn: ", 6);
	str_add(text, line, (size_t)(p - line));
}

/* The instruction `at` bytes into the code that was read. */
static struct step step_at(struct walk *walk, uint64_t at)
{
	const struct listing_line *line = walk->line;
	const struct code *code = &walk->code;
	struct span left = { code->bytes + at, at < code->len ? code->len - at : 0 };
	struct step step = { .address = code->start + at, .mode = code->mode };
	unsigned size = 0;

	str_clear(&walk->text);
	if (shows(line, FIELD_BRSTACKDISASM))
		size = listing_assembly(line, left, step.address, code->is_64bit, code->mode, true, &walk->text);
	step.bytes = (struct span){ left.data, size };
	if (!size && line->listing->options.isa == ISA_X86) {
		step.bytes.len = x86_instruction_length(left.data, left.len, code->is_64bit);
		if (step.bytes.len)
			add_bytes(&walk->text, step.bytes);
		else
			str_puts(&walk->text, "<bad>");
	} else if (!size) {
		str_puts(&walk->text, "?");
	}
	step.text = str_text(&walk->text);
	return step;
}

/* A block that ends with a branch. */
static void walk_block(struct walk *walk, uint64_t end, const struct branch_entry *branch, uint64_t index)
{
	uint64_t start = walk->code.start, at = 0;
	unsigned executed = 0;

	while (at < walk->code.len) {
		walk->enter(walk, start + at, walk->code.mode);
		struct step step = step_at(walk, at);
		executed++;
		if (step.address == end) {
			step.branch = branch;
			step.branch_index = index;
			step.executed = executed;
		}
		walk->instruction(walk, &step);
		if (step.branch || !step.bytes.len)
			break;
		at += step.bytes.len;
	}
	if (at != end - start)
		walk->remark(walk, "\tmismatch of LBR data and executable\n");
}

/* Whether execution does not continue behind the instruction. */
static bool always_leaves(const struct walk *walk, const struct step *step)
{
	struct instruction instruction;

	if (walk->line->listing->options.isa != ISA_X86)
		return false;
	return !instruction_decode(step->bytes.data, step->bytes.len, walk->code.is_64bit ? 64 : 32, &instruction) ||
		(instruction.kind != INSTRUCTION_OTHER && instruction.kind != INSTRUCTION_CONDITIONAL &&
		instruction.kind != INSTRUCTION_PTWRITE);
}

/* From the newest branch to the sample. If the processor recorded no branch between them, their distance is negative or large. */
static void walk_last(struct walk *walk, uint64_t start, uint64_t ip)
{
	uint64_t recorded = walk->line->r->evsel->attr.branch_sample_type;
	uint64_t end = ip < start ? start + AHEAD_BYTES : ip;
	bool all = !recorded || recorded & BRANCH_ANY;
	enum read_result result = read_block(walk, start, end);

	walk->enter(walk, start, walk->code.mode);
	if (result != READ_CODE && read_block(walk, ip, ip) == READ_CODE) {
		struct step step = step_at(walk, 0);
		walk->instruction(walk, &step);
	}
	if (result != READ_CODE)
		return;
	for (uint64_t at = 0; at <= end - start;) {
		struct step step = step_at(walk, at);
		walk->instruction(walk, &step);
		if (!step.bytes.len)
			return;
		if (all && step.address != ip && always_leaves(walk, &step)) {
			walk->remark(walk, "\t... not reaching sample ...\n");
			return;
		}
		at += step.bytes.len;
	}
}

static void walk_sample(struct walk *walk)
{
	const struct sample *sample = walk->line->r->sample;
	unsigned most = walk->line->listing->options.max_blocks;
	uint64_t count = sample->branch_count;

	count = most && count > most ? most + 1ull : count;
	if (!count)
		return;
	struct branch_entry before = sample_branch(sample, count - 1);
	if (read_block(walk, before.from, before.from) == READ_CODE) {
		walk->enter(walk, before.from, walk->code.mode);
		struct step step = step_at(walk, 0);
		step.branch = &before;
		step.branch_index = count - 1;
		walk->instruction(walk, &step);
	}
	for (uint64_t i = count - 1; i-- > 0;) {
		uint64_t start = sample_branch(sample, i + 1).to;
		struct branch_entry branch = sample_branch(sample, i);
		enum read_result result = read_block(walk, start, branch.from);
		/* a filter that drops branches into the kernel leaves those out of it */
		if (result == READ_CHANGES_MODE && i > 0) {
			branch = sample_branch(sample, --i);
			result = read_block(walk, start, branch.from);
		}
		if (result == READ_CODE)
			walk_block(walk, branch.from, &branch, i);
	}
	struct branch_entry newest = sample_branch(sample, 0);
	if (newest.from != sample->ip && !branch_is_abort(newest.flags))
		walk_last(walk, newest.to, sample->ip);
}

/* "\tFUNCTION+12:", unless the address is in the function that was shown last. */
static void print_function(struct walk *walk, uint64_t address, unsigned mode)
{
	const struct listing_line *line = walk->line;
	const struct location *location = resolved_locate(line->r, mode, address);

	/* as perf, which compares offsets of any module */
	if (location->offset - walk->symbol_start < walk->symbol_end - walk->symbol_start || location->module == MODULE_ID_NONE)
		return;
	uint64_t offset;
	const char *name = listing_symbol_at(line, location, &offset);
	if (!name)
		return;
	writer_putc(line->out, '\t');
	writer_puts(line->out, name);
	if (offset)
		writer_printf(line->out, "%+d", (int)offset);
	writer_putc(line->out, ':');
	if (shows(line, FIELD_SRCLINE))
		listing_add_source_line_after(line->listing, location, "\t", line->out);
	writer_putc(line->out, '\n');
	walk->symbol_start = location->offset - offset;
	walk->symbol_end = listing_symbol_end(line, location);
}

/* Their letters, as often as each occurred. */
static void print_counters(const struct listing_line *line, uint64_t word)
{
	const struct branch_counters *counters = &line->listing->branch_counters;
	const struct evsel *events = session_evlist(line->listing->session)->events.items;

	writer_puts(line->out, "br_cntr: ");
	for (size_t i = 0; i < counters->items.count; i++) {
		const struct branch_counter *counter = &counters->items.items[i];
		const struct evsel *evsel = &events[counter->event];
		char name[EVSEL_NAME_MAX];
		if (evsel->leader != line->r->evsel->leader)
			continue;
		uint64_t count = word & ((UINT64_C(1) << counters->bits) - 1);
		if (line->listing->options.verbose)
			writer_printf(line->out, "%s %u ", evsel_name(evsel, name, sizeof name), (unsigned)count);
		for (; count && !line->listing->options.verbose; count--)
			writer_puts(line->out, branch_counter_name(counter->letter, name));
		word >>= counters->bits;
	}
	writer_putc(line->out, '\t');
}

static void print_branch_end(struct walk *walk, const struct step *step)
{
	const struct listing_line *line = walk->line;
	const struct sample *sample = line->r->sample;
	uint64_t flags = step->branch->flags;
	unsigned cycles = branch_cycles(flags);
	size_t len = strlen(step->text);

	writer_pad(line->out, ' ', len < BRANCH_COLUMN ? BRANCH_COLUMN - len : 0);
	writer_putc(line->out, '\t');
	if (shows(line, FIELD_BRSTACKINSNLEN))
		writer_printf(line->out, "ilen: %zu\t", step->bytes.len);
	if (shows(line, FIELD_SRCLINE)) {
		const struct location *location = resolved_locate(line->r, step->mode, step->address);
		listing_add_source_line_after(line->listing, location, " srcline: ", line->out);
		writer_putc(line->out, '\t');
	}
	if (shows(line, FIELD_BRCNTR))
		print_counters(line, sample->branch_counters ? load_u64(sample->branch_counters + step->branch_index * 8) : 0);
	writer_putc(line->out, '#');
	writer_puts(line->out, branch_is_predicted(flags) ? " PRED" : "");
	writer_puts(line->out, branch_is_mispredicted(flags) ? " MISPRED" : "");
	writer_puts(line->out, branch_is_in_transaction(flags) ? " INTX" : "");
	writer_puts(line->out, branch_is_abort(flags) ? " ABORT" : "");
	if (!cycles)
		return;
	walk->cycles += (int)cycles;
	writer_printf(line->out, " %u cycles [%d]", cycles, walk->cycles);
	if (step->executed)
		writer_printf(line->out, " %.2f IPC", (double)((float)step->executed / (float)cycles));
}

static void print_step(struct walk *walk, const struct step *step)
{
	const struct listing_line *line = walk->line;
	char *p = writer_room(line->out, 32), *start = p;

	*p++ = '\t';
	for (int shift = 60; shift >= 0; shift -= 4)
		*p++ = "0123456789abcdef"[step->address >> shift & 15];
	*p++ = '\t';
	writer_advance(line->out, (size_t)(p - start));
	writer_puts(line->out, step->text);
	if (step->branch)
		print_branch_end(walk, step);
	else if (shows(line, FIELD_BRSTACKINSNLEN))
		writer_printf(line->out, "\tilen: %zu", step->bytes.len);
	writer_putc(line->out, '\n');
	if (shows(line, FIELD_SRCCODE) && (step->branch || step->bytes.len))
		listing_print_source_code(line, resolved_locate(line->r, step->mode, step->address));
}

static void print_remark(struct walk *walk, const char *text)
{
	writer_puts(walk->line->out, text);
}

void print_blocks(const struct listing_line *line, const struct field_row *row)
{
	struct walk walk = { .line = line, .enter = print_function, .instruction = print_step, .remark = print_remark };

	if (!line->r->sample->branch_count)
		return;
	walk.code.mode = RECORD_MISC_USER;
	writer_putc(line->out, '\n');
	walk_sample(&walk);
	str_fini(&walk.text);
}

static void no_function(struct walk *walk, uint64_t address, unsigned mode)
{
}

static void no_remark(struct walk *walk, const char *text)
{
}

static void add_step(struct walk *walk, const struct step *step, struct cell code)
{
	uint64_t flags = step->branch ? step->branch->flags : 0;
	bool known = branch_is_predicted(flags) || branch_is_mispredicted(flags);
	const struct cell_entry entries[] = {
		{ "address", cell_address(step->address) }, { "code", code }, { "branch", cell_flag(step->branch) },
		{ "mispredicted", known ? cell_flag(branch_is_mispredicted(flags)) : cell_absent() },
		{ "cycles", branch_cycles(flags) ? cell_count(branch_cycles(flags)) : cell_absent() },
	};
	size_t count = sizeof entries / sizeof *entries;

	vec_push(&walk->line->worker->cells, cell_map(arena_copy(&walk->line->worker->row, entries, sizeof entries), count));
}

static void add_bytes_cell(struct walk *walk, const struct step *step)
{
	add_step(walk, step, listing_bytes_cell(walk->line, step->bytes.len ? step->bytes.data : NULL, step->bytes.len));
}

static void add_length_cell(struct walk *walk, const struct step *step)
{
	add_step(walk, step, cell_bytes(step->bytes.len));
}

static void add_assembly_cell(struct walk *walk, const struct step *step)
{
	add_step(walk, step, step->bytes.len ? listing_text_cell(walk->line, step->text, strlen(step->text)) : cell_absent());
}

static struct cell blocks_cell(const struct listing_line *line, void (*instruction)(struct walk *walk, const struct step *step))
{
	struct walk walk = { .line = line, .enter = no_function, .instruction = instruction, .remark = no_remark };
	struct listing_worker *worker = line->worker;

	if (!line->r->sample->branch_count)
		return cell_absent();
	vec_clear(&worker->cells);
	walk_sample(&walk);
	str_fini(&walk.text);
	size_t count = worker->cells.count;
	return cell_list(arena_copy(&worker->row, worker->cells.items, count * sizeof *worker->cells.items), count);
}

struct cell block_bytes_cell(const struct listing_line *line)
{
	return blocks_cell(line, add_bytes_cell);
}

struct cell block_lengths_cell(const struct listing_line *line)
{
	return blocks_cell(line, add_length_cell);
}

struct cell block_assembly_cell(const struct listing_line *line)
{
	return blocks_cell(line, add_assembly_cell);
}
