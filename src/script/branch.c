/* Branches: the branch stack of a sample, and samples that are branches themselves. */
#include "abi/branch.h"
#include "script/internal.h"
#include "session/trace.h"

static void print_branch_flags(const struct listing_line *line, uint64_t flags)
{
	char *start = writer_room(line->out, 64), *p = start;

	*p++ = '/';
	*p++ = branch_is_predicted(flags) ? 'P' : branch_is_mispredicted(flags) ? 'M' : '-';
	*p++ = '/';
	*p++ = branch_is_in_transaction(flags) ? 'X' : '-';
	*p++ = '/';
	*p++ = branch_is_abort(flags) ? 'A' : '-';
	*p++ = '/';
	p = decimal_write(p, branch_cycles(flags), 0, ' ');
	*p++ = '/';
	writer_advance(line->out, (size_t)(p - start));
	writer_puts(line->out, branch_type_name(flags));
	writer_putc(line->out, '/');
	writer_puts(line->out, branch_speculation(flags) ? branch_speculation_name(flags) : "-");
	writer_putc(line->out, ' ');
}

static void print_address(const struct listing_line *line, uint64_t address, char before)
{
	writer_putc(line->out, before);
	writer_add(line->out, "0x", 2);
	writer_hex(line->out, address, 0);
}

/* Of JIT-compiled code: from its mapping. */
static uint64_t offset_in_object(const struct listing_line *line, const struct location *location)
{
	const struct map *map = location->map;

	if (!map)
		return location->address;
	const struct module *module = modules_get(&line->listing->session->model.modules, map->module);
	return module->kind == MODULE_ANON ? location->address - map->start + map->pgoff : location->offset;
}

/* One end of a branch, in the form of the first field of brstack, brstacksym, brstackoff that is shown. */
static void print_end(const struct listing_line *line, uint64_t address, char before)
{
	bool offsets = !shows(line, FIELD_BRSTACK) && !shows(line, FIELD_BRSTACKSYM);
	bool plain = shows(line, FIELD_BRSTACK) && !shows(line, FIELD_DSO);
	const struct location *location = plain ? NULL : listing_locate(line, address);

	if (shows(line, FIELD_BRSTACK)) {
		print_address(line, address, before);
	} else if (offsets) {
		print_address(line, offset_in_object(line, location), before);
	} else {
		if (before == '/')
			writer_putc(line->out, before);
		listing_print_symbol(line, location, true);
	}
	if (shows(line, FIELD_DSO))
		listing_print_dso(line, location);
}

void print_branches(const struct listing_line *line, const struct field_row *row)
{
	const struct sample *sample = line->r->sample;

	for (uint64_t i = 0; i < sample->branch_count; i++) {
		struct branch_entry entry = sample_branch(sample, i);
		print_end(line, entry.from, ' ');
		print_end(line, entry.to, '/');
		print_branch_flags(line, entry.flags);
	}
}

static struct cell address_end(const struct listing_line *line, uint64_t address)
{
	return cell_address(address);
}

static struct cell place_end(const struct listing_line *line, uint64_t address)
{
	uint64_t fields = FIELD_BIT(FIELD_SYM) | (line->plan->shown & FIELD_BIT(FIELD_DSO));

	return listing_place_cell(line, listing_locate(line, address), fields);
}

static struct cell offset_end(const struct listing_line *line, uint64_t address)
{
	return cell_address(offset_in_object(line, listing_locate(line, address)));
}

/* The name, NULL if it is "". */
static struct cell word_cell(const char *word)
{
	return cell_text(*word ? word : NULL);
}

static struct cell branch_cell(const struct listing_line *line, const struct branch_entry *branch,
	struct cell (*end)(const struct listing_line *line, uint64_t address))
{
	uint64_t flags = branch->flags;
	bool predicted = branch_is_predicted(flags), known = predicted || branch_is_mispredicted(flags);
	const struct cell_entry entries[] = {
		{ "from", end(line, branch->from) }, { "to", end(line, branch->to) },
		{ "mispredicted", known ? cell_flag(!predicted) : cell_absent() },
		{ "in_transaction", cell_flag(branch_is_in_transaction(flags)) }, { "abort", cell_flag(branch_is_abort(flags)) },
		{ "cycles", cell_count(branch_cycles(flags)) }, { "type", word_cell(branch_type_name(flags)) },
		{ "speculation", word_cell(branch_speculation_name(flags)) },
	};

	return cell_map(arena_copy(&line->worker->row, entries, sizeof entries), sizeof entries / sizeof *entries);
}

static struct cell branch_list(const struct listing_line *line, struct cell (*end)(const struct listing_line *line, uint64_t address))
{
	const struct sample *sample = line->r->sample;
	struct cell *cells = arena_alloc(&line->worker->row, sample->branch_count * sizeof *cells);

	for (uint64_t i = 0; i < sample->branch_count; i++) {
		struct branch_entry branch = sample_branch(sample, i);
		cells[i] = branch_cell(line, &branch, end);
	}
	return sample->present & SAMPLE_BRANCH_STACK ? cell_list(cells, sample->branch_count) : cell_absent();
}

struct cell branches_cell(const struct listing_line *line)
{
	return branch_list(line, address_end);
}

struct cell branch_symbols_cell(const struct listing_line *line)
{
	return branch_list(line, place_end);
}

struct cell branch_offsets_cell(const struct listing_line *line)
{
	return branch_list(line, offset_end);
}

/* The words of the branch stack's counters, as recorded. */
struct cell branch_counters_cell(const struct listing_line *line)
{
	const struct sample *sample = line->r->sample;

	if (!sample->branch_counters)
		return cell_absent();
	struct cell *cells = arena_alloc(&line->worker->row, sample->branch_count * sizeof *cells);
	for (uint64_t i = 0; i < sample->branch_count; i++)
		cells[i] = cell_count(load_u64(sample->branch_counters + i * 8));
	return cell_list(cells, sample->branch_count);
}

enum { DEPTH_COLUMNS = 4, CALL_STEP = 32, CALL_SHRINK = 52, CALL_COLUMNS_MAX = 4096 };

const char *listing_call_name(const struct listing_line *line, const struct trace_note *note, uint64_t *address)
{
	const struct sample *sample = line->r->sample;
	bool enters = note->flags & (TRACE_CALL | TRACE_BEGIN), leaves = note->flags & (TRACE_RETURN | TRACE_END);

	*address = enters ? sample->addr : leaves ? sample->ip : 0;
	return enters || leaves ? listing_symbol_name(line, listing_locate(line, *address)) : NULL;
}

/* The function or address of a call or return, empty otherwise. */
static void call_target(const struct listing_line *line, const struct trace_note *note, struct str *text)
{
	uint64_t address;
	const char *name = listing_call_name(line, note, &address);
	size_t columns = (note->depth + (note->flags & TRACE_RETURN ? 1 : 0)) * (size_t)DEPTH_COLUMNS;
	columns = columns < CALL_COLUMNS_MAX ? columns : CALL_COLUMNS_MAX;
	if (!name && !address)
		return;
	str_reserve(text, columns);
	memset(text->text, ' ', columns);
	text->len = columns;
	if (name)
		str_puts(text, name);
	else
		str_printf(text, "%16llx", (unsigned long long)address);
}

/* The object in parentheses, unless that of an address follows; then the call by its depth. The column grows and shrinks in steps, so that
 * lines stay aligned. */
static void print_call_indent(const struct listing_line *line)
{
	const struct trace_note *note = trace_note_of(line->r);
	struct listing *listing = line->listing;
	struct str *text = &line->worker->scratch;

	if (shows(line, FIELD_DSO) && !shows(line, FIELD_IP) && !shows(line, FIELD_ADDR)) {
		const struct location *location = resolved_ip(line->r);
		const char *name = location->module == MODULE_ID_NONE ? "[unknown]" :
			modules_get(&listing->session->model.modules, location->module)->name;
		size_t len = strlen(name), width = listing->options.call_object_width;
		writer_putc(line->out, '(');
		writer_name(line->out, name, len);
		writer_pad(line->out, ' ', len < width ? width - len : 0);
		writer_add(line->out, ")\t", 2);
	}
	str_clear(text);
	if (note)
		call_target(line, note, text);
	size_t len = text->len;
	if (len > listing->call_width || (len && len + CALL_SHRINK < listing->call_width))
		listing->call_width = (unsigned)((len + DEPTH_COLUMNS + CALL_STEP - 1) / CALL_STEP * CALL_STEP);
	writer_name(line->out, str_text(text), len);
	writer_pad(line->out, ' ', listing->call_width > len ? listing->call_width - len : 0);
}

void print_branch_source(const struct listing_line *line, const struct field_row *row)
{
	listing_add_source_line(line->listing, resolved_ip(line->r), NULL, line->out);
}

void print_branch_trace(const struct listing_line *line, const struct field_row *row)
{
	if (shows(line, FIELD_CALLINDENT))
		print_call_indent(line);
	if (shows(line, FIELD_IP))
		print_ip(line, NULL);
	if (shows(line, FIELD_ADDR) || line->plan->implied_addr) {
		writer_add(line->out, " => ", 4);
		print_addr(line, NULL);
	}
}
