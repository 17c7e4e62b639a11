#include "probe/describe.h"

#include <string.h>

#include "dwarf/constants.h"
#include "probe/lines.h"

enum { SCOPES_MAX = 256 };

struct described {
	const char *function, *file;
	uint64_t offset;
	uint32_t line;
};

/* Follows the inlined calls from the outside in: the line counts from the function that the code belongs to. */
static void follow_inlined(struct probe_target *target, const struct dwarf_die *scopes, size_t count, uint64_t address, uint32_t *line,
	uint32_t *base, struct described *out)
{
	const struct dwarf_die *at = &scopes[count - 1];
	uint64_t entry, call;
	for (size_t i = count - 1; i-- > 0;) {
		if (dwarf_die_entry(&scopes[i], &entry) && entry == address) {
			*line = dwarf_die_number(&scopes[i], DW_AT_call_line, &call) && call <= UINT32_MAX ? (uint32_t)call : 0;
			out->file = dwarf_die_file(&scopes[i], DW_AT_call_file);
			break;
		}
		const char *name = dwarf_die_name(&scopes[i]);
		uint32_t declared = probe_declared_line(target, &scopes[i]);
		if (!name || !declared)
			break;
		*base = declared;
		out->function = name;
		at = &scopes[i];
	}
	const char *own = dwarf_die_file(at, DW_AT_decl_file);
	if (!own || (out->file && strcmp(own, out->file) != 0))
		*line = 0;
}

static bool describe_by_debug(struct probe_target *target, uint64_t address, struct described *out)
{
	struct dwarf_die scopes[SCOPES_MAX];
	uint64_t entry = 0;
	uint32_t line = 0;
	size_t count = probe_target_debug(target) ? dwarf_scopes(target->dwarf, address, scopes, SCOPES_MAX) : 0;
	if (!count)
		return false;
	struct dwarf_die unit = dwarf_die_top(&scopes[0]);
	const struct dwarf_die *function = &scopes[count - 1];
	probe_line_at(target, &unit, address, &out->file, &line);
	const char *linkage = dwarf_die_linkage_name(function), *name = linkage ? linkage : dwarf_die_name(function);
	uint32_t base = probe_declared_line(target, function);
	out->function = name;
	if (!name || !base || !dwarf_die_entry(function, &entry))
		return out->file || name;
	out->file = dwarf_die_file(function, DW_AT_decl_file);
	if (address == entry)
		return true;
	follow_inlined(target, scopes, count, address, &line, &base, out);
	if (line) {
		out->line = line - base;
	} else {
		out->offset = address - entry;
		out->function = name;
	}
	return true;
}

static bool describe_by_symbol(struct probe_target *target, uint64_t address, struct described *out)
{
	const struct symbol *symbol = probe_target_symbol_at(target, address);
	if (!symbol)
		return false;
	out->function = symbol->name;
	out->offset = address - target->text_shift - symbol->start;
	return true;
}

void probe_describe(struct probe_target *target, const struct probe_event *event, struct str *to)
{
	struct described found = { 0 };
	uint64_t address = target ? event->address + target->text_shift : 0;
	if (!target || (!describe_by_debug(target, address, &found) && !describe_by_symbol(target, address, &found))) {
		if (event->symbol)
			str_printf(to, "%s+%llu", event->symbol, (unsigned long long)event->offset);
		else
			str_printf(to, "0x%llx", (unsigned long long)event->address);
		str_puts(to, event->returns ? "%return" : "");
		return;
	}
	struct probe_spec spec = { .function = found.function, .file = found.file, .offset = found.offset, .line = found.line,
		.returns = event->returns };
	probe_spec_place(&spec, to);
}
