/* Branches: the branch stack of a sample, and samples that are branches themselves. */
#include "script/internal.h"

/* Bit positions in branch_entry.flags. */
enum { BRANCH_MISPREDICTED, BRANCH_PREDICTED, BRANCH_IN_TRANSACTION, BRANCH_ABORT, BRANCH_CYCLES_AT, BRANCH_TYPE_AT = 20,
	BRANCH_SPEC_AT = 24, BRANCH_NEW_TYPE_AT = 26, BRANCH_TYPE_EXTENDED = 15 };

static const char *type_name(uint64_t flags)
{
	static const char *const names[] = {
		"", "COND", "UNCOND", "IND", "CALL", "IND_CALL", "RET", "SYSCALL", "SYSRET", "COND_CALL", "COND_RET", "ERET", "IRQ",
		"SERROR", "NO_TX",
	};
	static const char *const extended[16] = {
		"FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1", "ARCH_2", "ARCH_3", "ARCH_4", "ARCH_5",
	};
	unsigned type = flags >> BRANCH_TYPE_AT & 15;
	const char *name = type == BRANCH_TYPE_EXTENDED ? extended[flags >> BRANCH_NEW_TYPE_AT & 15] : names[type];

	return name ? name : "(null)";
}

static void print_branch_flags(const struct stream_line *line, uint64_t flags)
{
	static const char *const speculation[] = { "-", "SPEC_WRONG_PATH", "NON_SPEC_CORRECT_PATH", "SPEC_CORRECT_PATH" };
	char *start = writer_room(line->out, 64), *p = start;

	*p++ = '/';
	*p++ = flags >> BRANCH_PREDICTED & 1 ? 'P' : flags >> BRANCH_MISPREDICTED & 1 ? 'M' : '-';
	*p++ = '/';
	*p++ = flags >> BRANCH_IN_TRANSACTION & 1 ? 'X' : '-';
	*p++ = '/';
	*p++ = flags >> BRANCH_ABORT & 1 ? 'A' : '-';
	*p++ = '/';
	p = decimal_write(p, flags >> BRANCH_CYCLES_AT & 0xffff, 0, ' ');
	*p++ = '/';
	writer_advance(line->out, (size_t)(p - start));
	writer_puts(line->out, type_name(flags));
	writer_putc(line->out, '/');
	writer_puts(line->out, speculation[flags >> BRANCH_SPEC_AT & 3]);
	writer_putc(line->out, ' ');
}

static void print_address(const struct stream_line *line, uint64_t address, char before)
{
	writer_putc(line->out, before);
	writer_add(line->out, "0x", 2);
	writer_hex(line->out, address, 0);
}

/* Of JIT-compiled code: from its mapping. */
static uint64_t offset_in_object(const struct stream_line *line, const struct location *location)
{
	const struct map *map = location->map;

	if (!map)
		return location->address;
	const struct module *module = modules_get(&line->stream->session->model.modules, map->module);
	return module->kind == MODULE_ANON ? location->address - map->start + map->pgoff : location->offset;
}

/* One end of a branch, in the form of the first field of brstack, brstacksym, brstackoff that is shown. */
static void print_end(const struct stream_line *line, uint64_t address, char before)
{
	bool offsets = !shows(line, FIELD_BRSTACK) && !shows(line, FIELD_BRSTACKSYM);
	bool plain = shows(line, FIELD_BRSTACK) && !shows(line, FIELD_DSO);
	const struct location *location = plain ? NULL : stream_locate(line, address);

	if (shows(line, FIELD_BRSTACK)) {
		print_address(line, address, before);
	} else if (offsets) {
		print_address(line, offset_in_object(line, location), before);
	} else {
		if (before == '/')
			writer_putc(line->out, before);
		stream_print_symbol(line, location, true);
	}
	if (shows(line, FIELD_DSO))
		stream_print_dso(line, location);
}

void print_branches(const struct stream_line *line, const struct field_row *row)
{
	const struct sample *sample = line->r->sample;

	for (uint64_t i = 0; i < sample->branch_count; i++) {
		struct branch_entry entry = sample_branch(sample, i);
		print_end(line, entry.from, ' ');
		print_end(line, entry.to, '/');
		print_branch_flags(line, entry.flags);
	}
}

void print_branch_trace(const struct stream_line *line, const struct field_row *row)
{
	if (shows(line, FIELD_CALLINDENT) && shows(line, FIELD_DSO) && !shows(line, FIELD_IP) && !shows(line, FIELD_ADDR)) {
		const struct location *location = resolved_ip(line->r);
		writer_putc(line->out, '(');
		const char *name = location->module == MODULE_ID_NONE ? "[unknown]" :
			modules_get(&line->stream->session->model.modules, location->module)->name;
		writer_name(line->out, name, strlen(name));
		writer_add(line->out, ")\t", 2);
	}
	if (shows(line, FIELD_IP))
		print_ip(line, NULL);
	if (shows(line, FIELD_ADDR) || line->plan->implied_addr) {
		writer_add(line->out, " => ", 4);
		print_addr(line, NULL);
	}
}
