#include "abi/branch.h"
#include "render/dump/dump_sample.h"

#include <inttypes.h>

#include "arch/registers.h"

enum { HEADER_SIZE = 8 };

static void dump_row(struct writer *out, uint64_t i, uint64_t address)
{
	writer_printf(out, "..... %2" PRIu64 ": %016" PRIx64 "\n", i, address);
}

static bool has_branch_callstack(const struct evsel *evsel)
{
	return (evsel->attr.branch_sample_type & BRANCH_CALL_STACK) != 0;
}

/* The chain that the branch registers complete: the kernel's part, then the target of the last branch, then the sources of all. */
static void dump_lbr_chain(struct writer *out, const struct sample *sample)
{
	uint64_t kernel = 0;
	while (kernel < sample->callchain_count && sample_chain_at(sample, kernel) != CONTEXT_USER)
		kernel++;
	if (kernel == sample->callchain_count || !sample->branch_count)
		return;
	kernel++;
	writer_printf(out, "... LBR call chain: nr:%" PRIu64 "\n", kernel + 1 + sample->branch_count);
	for (uint64_t i = 0; i < kernel; i++)
		dump_row(out, i, sample_chain_at(sample, i));
	dump_row(out, kernel, sample_branch(sample, 0).to);
	for (uint64_t i = 0; i < sample->branch_count; i++)
		dump_row(out, kernel + 1 + i, sample_branch(sample, i).from);
}

static void dump_chain(struct writer *out, const struct resolved *r)
{
	const struct sample *sample = r->sample;
	if (has_branch_callstack(r->evsel))
		dump_lbr_chain(out, sample);
	writer_printf(out, "... FP chain: nr:%" PRIu64 "\n", sample->callchain_count);
	for (uint64_t i = 0; i < sample->callchain_count; i++)
		dump_row(out, i, sample_chain_at(sample, i));
}

static void dump_branch(struct writer *out, uint64_t i, const struct branch_entry *branch)
{
	uint64_t flags = branch->flags;
	writer_printf(out, "..... %2" PRIu64 ": %016" PRIx64 " -> %016" PRIx64 " %u cycles ", i, branch->from, branch->to,
		branch_cycles(flags));
	writer_printf(out, "%s%s%s%s %x %s %s\n", branch_is_mispredicted(flags) ? "M" : " ", branch_is_predicted(flags) ? "P" : " ",
		branch_is_abort(flags) ? "A" : " ", branch_is_in_transaction(flags) ? "T" : " ", (unsigned)(flags >> 33),
		branch_type_name(flags), branch_speculation_name(flags));
}

static void dump_branch_counters(const struct dump *dump, const struct sample *sample)
{
	writer_printf(dump->out, "... branch stack counters: nr:%" PRIu64 " (counter width: %u max counter nr:%u)\n",
		sample->branch_count, dump->branch_counters.bits, dump->branch_counters.events);
	for (uint64_t i = 0; i < sample->branch_count; i++)
		dump_row(dump->out, i, load_u64(sample->branch_counters + i * 8));
}

static void dump_branches(const struct dump *dump, const struct resolved *r)
{
	const struct sample *sample = r->sample;
	struct writer *out = dump->out;
	bool callstack = has_branch_callstack(r->evsel);
	/* As a call stack each entry is the caller, and the first is the innermost function besides. */
	writer_printf(out, "... branch %s: nr:%" PRIu64 "\n", callstack ? "callstack" : "stack", sample->branch_count + callstack);
	for (uint64_t i = 0; i < sample->branch_count; i++) {
		struct branch_entry branch = sample_branch(sample, i);
		if (!callstack) {
			dump_branch(out, i, &branch);
			continue;
		}
		if (i == 0)
			dump_row(out, 0, branch.to);
		dump_row(out, i + 1, branch.from);
	}
	if (sample->branch_counters)
		dump_branch_counters(dump, sample);
}

static void dump_registers(const struct dump *dump, const char *word, uint64_t mask, uint64_t abi, const uint8_t *values)
{
	static const char *const abis[] = { "none", "32-bit", "64-bit" };
	if (!values)
		return;
	writer_printf(dump->out, "... %s regs: mask 0x%" PRIx64 " ABI %s\n", word, mask, abi < 3 ? abis[abi] : "unknown");
	for (unsigned bit = 0; bit < 64; bit++) {
		if (!(mask >> bit & 1))
			continue;
		writer_printf(dump->out, ".... %-5s 0x%016" PRIx64 "\n", register_name(dump->isa, bit), load_u64(values));
		values += 8;
	}
}

/* The offset in the record of the stack's size, which exists also if the stack is empty. */
static uint32_t stack_offset(const struct resolved *r)
{
	struct sample_extents extents;
	return sample_extents(&extents, &r->evsel->layout, r->record) < 0 ? 0 : (uint32_t)extents.stack + HEADER_SIZE;
}

static void dump_page_size(struct writer *out, const char *label, uint64_t bytes)
{
	unsigned unit = 0;
	if (!bytes) {
		writer_printf(out, " .. %s page size: N/A\n", label);
		return;
	}
	for (; bytes / 1024 > 1 && unit < 3; unit++)
		bytes /= 1024;
	writer_printf(out, " .. %s page size: %" PRIu64 "%c\n", label, bytes, "BKMG"[unit]);
}

static void dump_read_value(struct writer *out, const struct read_value *value, uint64_t format)
{
	writer_printf(out, "..... id %016" PRIx64 ", value %016" PRIx64, value->id, value->value);
	if (format & READ_LOST)
		writer_printf(out, ", lost %" PRIu64, value->lost);
	writer_putc(out, '\n');
}

static void dump_read_values(struct writer *out, const struct resolved *r)
{
	uint64_t format = r->evsel->attr.read_format;
	struct read_values values = { 0 };
	size_t used;
	writer_puts(out, "... sample_read:\n");
	if (sample_read_decode(&values, format, r->sample->read, r->sample->read_len, &used) < 0)
		return;
	if (format & READ_TOTAL_TIME_ENABLED)
		writer_printf(out, "...... time enabled %016" PRIx64 "\n", values.time_enabled);
	if (format & READ_TOTAL_TIME_RUNNING)
		writer_printf(out, "...... time running %016" PRIx64 "\n", values.time_running);
	if (format & READ_GROUP)
		writer_printf(out, ".... group nr %" PRIu64 "\n", values.count);
	for (uint64_t i = 0; i < values.count; i++) {
		struct read_value value = sample_read_at(&values, i);
		dump_read_value(out, &value, format);
	}
}

static void dump_weight(struct writer *out, const struct sample *sample, uint64_t type)
{
	writer_printf(out, "... weight: %" PRIu64, sample->weight);
	if (type & SAMPLE_WEIGHT_STRUCT)
		writer_printf(out, ",0x%x,0x%x", sample->ins_lat, sample->p_stage_cyc);
	writer_putc(out, '\n');
}

/* The small fields at the end. */
static void dump_scalars(struct writer *out, const struct sample *sample, uint64_t type)
{
	if (type & (SAMPLE_WEIGHT | SAMPLE_WEIGHT_STRUCT))
		dump_weight(out, sample, type);
	if (type & SAMPLE_DATA_SRC)
		writer_printf(out, " . data_src: 0x%" PRIx64 "\n", sample->data_src);
	if (type & SAMPLE_PHYS_ADDR)
		writer_printf(out, " .. phys_addr: 0x%" PRIx64 "\n", sample->phys_addr);
	if (type & SAMPLE_DATA_PAGE_SIZE)
		dump_page_size(out, "data", sample->data_page_size);
	if (type & SAMPLE_CODE_PAGE_SIZE)
		dump_page_size(out, "code", sample->code_page_size);
	if (type & SAMPLE_TRANSACTION)
		writer_printf(out, "... transaction: %" PRIx64 "\n", sample->transaction);
}

void dump_sample(struct dump *dump, const struct resolved *r)
{
	const struct sample *sample = r->sample;
	const struct attr *attr = &r->evsel->attr;
	struct writer *out = dump->out;
	writer_printf(out, "(IP, 0x%x): %d/%d: %#" PRIx64 " period: %" PRIu64 " addr: %#" PRIx64 "\n", r->record->misc,
		(int)sample->pid, (int)sample->tid, sample->ip, sample->period, sample->addr);
	if (attr->sample_type & SAMPLE_CALLCHAIN)
		dump_chain(out, r);
	if (attr->sample_type & SAMPLE_BRANCH_STACK)
		dump_branches(dump, r);
	if (attr->sample_type & SAMPLE_REGS_USER)
		dump_registers(dump, "user", attr->sample_regs_user, sample->regs_user_abi, sample->regs_user);
	if (attr->sample_type & SAMPLE_REGS_INTR)
		dump_registers(dump, "intr", attr->sample_regs_intr, sample->regs_intr_abi, sample->regs_intr);
	if (attr->sample_type & SAMPLE_STACK_USER)
		writer_printf(out, "... ustack: size %" PRIu64 ", offset 0x%" PRIx32 "\n", sample->stack_user_size,
			stack_offset(r));
	dump_scalars(out, sample, attr->sample_type);
	if (attr->sample_type & SAMPLE_READ)
		dump_read_values(out, r);
}
