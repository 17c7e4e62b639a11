#include "analysis/datatype/members.h"

#include <inttypes.h>
#include <string.h>

#include "dwarf/constants.h"
#include "dwarf/type.h"

/* Limits on one type, on a name, and on the names of all types; further names are cut. */
enum { MEMBERS_MAX = 1 << 16, DEPTH_MAX = 32, NAME_LONG = 4096, NAMES_MAX = 64 << 20, NAME_SHORT = 16 };

static const char *add_name(struct arena *texts, const struct str *name)
{
	size_t most = texts->bytes < NAMES_MAX ? NAME_LONG : NAME_SHORT;
	return text_one_line(texts, str_text(name), name->len < most ? name->len : most);
}

static const char *member_name(const struct dwarf_die *die, uint64_t bits, struct arena *texts)
{
	struct str text CLEANUP_STR = { 0 };
	const char *name = dwarf_die_name(die);
	if (!name)
		return NULL;
	str_puts(&text, name);
	if (bits)
		str_printf(&text, ":%" PRIu64, bits);
	return add_name(texts, &text);
}

/* Fills a member; *type: its type, without typedefs. */
static void read_member(const struct dwarf_die *die, uint64_t base, struct data_member *member, struct dwarf_die *type, struct arena *texts)
{
	struct str name CLEANUP_STR = { 0 };
	uint64_t bits = 0;
	if (!dwarf_type_real(die, type))
		*type = (struct dwarf_die){ 0 };
	if (!type->unit || !dwarf_type_size(type, &member->size))
		member->size = 0;
	if (!dwarf_die_has(die, DW_AT_data_member_location) && dwarf_die_number(die, DW_AT_bit_size, &bits))
		member->size = (bits + 7) / 8;
	dwarf_type_name(die, &name);
	member->offset = base + member_offset(die);
	member->type = add_name(texts, &name);
	member->name = member_name(die, bits, texts);
}

static void add_members(struct data_type *list, const struct dwarf_die *die, uint64_t base, uint32_t depth, struct arena *texts)
{
	struct dwarf_walk walk = dwarf_walk_of(die);
	struct dwarf_die member, type;
	for (; list->members.count < MEMBERS_MAX && dwarf_walk_next(&walk, &member); walk.skip = true) {
		if (dwarf_die_tag(&member) != DW_TAG_member || dwarf_die_has(&member, DW_AT_external))
			continue;
		struct data_member added = { .depth = depth };
		read_member(&member, base, &added, &type, texts);
		vec_push(&list->members, added);
		size_t at = list->members.count - 1;
		if (type.unit && dwarf_type_is_structure(dwarf_die_tag(&type)) && depth < DEPTH_MAX)
			add_members(list, &type, added.offset, depth + 1, texts);
		list->members.items[at].parent = list->members.count > at + 1;
	}
}

void members_add(struct data_type *type, const struct dwarf_die *die, struct arena *texts)
{
	if (dwarf_type_is_structure(dwarf_die_tag(die)))
		add_members(type, die, 0, 1, texts);
}

void data_type_field(const struct data_type *type, int64_t offset, struct str *out)
{
	uint32_t depth = 1;
	size_t start = out->len;
	if (!type->members.count)
		str_puts(out, "no field");
	for (size_t i = 0; i < type->members.count && type->members.items[i].depth >= depth; i++) {
		const struct data_member *member = &type->members.items[i];
		if (member->depth > depth || (uint64_t)offset < member->offset || (uint64_t)offset - member->offset >= member->size)
			continue;
		if (member->name)
			str_printf(out, "%s%s", out->len > start ? "." : "", member->name);
		depth++;
	}
}
