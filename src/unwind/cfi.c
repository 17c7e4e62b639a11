#include "unwind/cfi.h"

#include "base/leb128.h"

enum { /* DW_EH_PE_* */
	PE_ABSOLUTE = 0x00, PE_ULEB = 0x01, PE_U2 = 0x02, PE_U4 = 0x03, PE_U8 = 0x04, PE_SIGNED = 0x08, PE_SLEB = 0x09, PE_S2 = 0x0a,
	PE_S4 = 0x0b, PE_S8 = 0x0c, PE_PC = 0x10, PE_TEXT = 0x20, PE_DATA = 0x30, PE_FUNCTION = 0x40, PE_ALIGNED = 0x50,
};

static uint64_t take_word(struct cursor *c, uint8_t size)
{
	return size == 8 ? take_u64(c) : size == 4 ? take_u32(c) : take_u16(c);
}

static bool take_raw(struct cursor *c, uint8_t format, uint8_t address_size, uint64_t *value)
{
	switch (format) {
	case PE_ABSOLUTE: *value = take_word(c, address_size); return true;
	case PE_ULEB: *value = take_uleb(c); return true;
	case PE_U2: *value = take_u16(c); return true;
	case PE_U4: *value = take_u32(c); return true;
	case PE_U8: case PE_S8: *value = take_u64(c); return true;
	case PE_SIGNED: *value = address_size == 8 ? take_u64(c) : (uint64_t)(int32_t)take_word(c, address_size); return true;
	case PE_SLEB: *value = (uint64_t)take_sleb(c); return true;
	case PE_S2: *value = (uint64_t)(int16_t)take_u16(c); return true;
	case PE_S4: *value = (uint64_t)(int32_t)take_u32(c); return true;
	default: return false;
	}
}

bool take_pointer(struct cursor *c, const struct cfi_section *section, uint8_t encoding, uint8_t address_size, uint64_t function,
	uint64_t *value)
{
	*value = 0;
	if (encoding == POINTER_OMIT)
		return true;
	if (encoding == PE_ALIGNED) {
		take(c, (size_t)(-(section->address + c->at) & (address_size - 1u)));
		*value = take_word(c, address_size);
		return !c->short_read;
	}
	uint64_t place = section->address + c->at;
	if (!take_raw(c, encoding & 0x0f, address_size, value) || c->short_read)
		return false;
	switch (encoding & 0x70) {
	case PE_ABSOLUTE: break;
	case PE_PC: *value += place; break;
	case PE_TEXT: *value += section->text; break;
	case PE_DATA: *value += section->data; break;
	case PE_FUNCTION: *value += function; break;
	default: return false;
	}
	if (address_size == 4)
		*value = (uint32_t)*value;
	return true;
}

/* Reads length and id: stores the offsets of the id and of the end; false at the end of the section (its terminator, or too few bytes). */
static bool entry_bounds(const struct cfi_section *section, uint64_t offset, uint64_t *id_at, uint64_t *end, bool *wide)
{
	struct cursor c = cursor_of(section->bytes.data, section->bytes.len, false);
	if (offset >= c.len)
		return false;
	c.at = (size_t)offset;
	uint64_t length = take_u32(&c);
	*wide = length == UINT32_MAX;
	if (*wide)
		length = take_u64(&c);
	if (c.short_read || length > cursor_left(&c))
		return false;
	*id_at = c.at;
	*end = c.at + length;
	return true;
}

enum cfi_entry cfi_next(const struct cfi_section *section, uint64_t *offset, struct fde *fde, uint64_t *cie)
{
	uint64_t id_at, end, at;
	bool wide;
	do { /* an entry of length 0 is a terminator; linkers leave some in the middle */
		at = *offset;
		if (at > section->bytes.len || section->bytes.len - at < 4)
			return CFI_END;
		if (!entry_bounds(section, at, &id_at, &end, &wide)) {
			*offset = section->bytes.len;
			return CFI_DAMAGED;
		}
		*offset = end;
	} while (end == id_at);
	struct cursor c = cursor_of(section->bytes.data, (size_t)end, false);
	c.at = (size_t)id_at;
	/* in .eh_frame the id has four bytes, whatever the length's */
	bool long_id = wide && !section->eh;
	uint64_t id = long_id ? take_u64(&c) : take_u32(&c), cie_id = section->eh ? 0 : long_id ? UINT64_MAX : UINT32_MAX;
	if (c.short_read)
		return CFI_DAMAGED;
	*cie = at;
	if (id == cie_id)
		return CFI_CIE;
	if (section->eh && id > id_at)
		return CFI_DAMAGED;
	*fde = (struct fde){ .cie = section->eh ? id_at - id : id, .body = c.at, .end = end };
	return CFI_FDE;
}

/* Parses the data that an augmentation "zR…" announces. */
static bool take_augmentation(struct cursor *c, const struct cfi_section *section, const char *letters, struct cie *cie)
{
	uint64_t skipped, length = take_uleb(c);
	if (c->short_read || length > cursor_left(c))
		return false;
	size_t end = c->at + (size_t)length;
	bool known = true; /* the rest has a known length, its content is not needed */
	for (; *letters && known; letters++) {
		switch (*letters) {
		case 'R': cie->encoding = take_u8(c); break;
		case 'L': take_u8(c); break;
		case 'S': cie->signal = true; break;
		case 'B': case 'G': break; /* signing key and memory tagging do not affect unwinding */
		case 'P': {
			uint8_t encoding = take_u8(c);
			if (!take_pointer(c, section, encoding, cie->address_size, 0, &skipped))
				return false;
			break;
		}
		default: known = false;
		}
	}
	if (c->short_read || c->at > end)
		return false;
	c->at = end;
	return true;
}

bool cfi_cie(const struct cfi_section *section, uint64_t offset, struct cie *cie)
{
	uint64_t id_at, end;
	bool wide;
	if (!entry_bounds(section, offset, &id_at, &end, &wide) || end == id_at)
		return false;
	struct cursor c = cursor_of(section->bytes.data, (size_t)end, false);
	c.at = (size_t)id_at;
	bool long_id = wide && !section->eh;
	uint64_t id = long_id ? take_u64(&c) : take_u32(&c);
	if (id != (section->eh ? 0 : long_id ? UINT64_MAX : UINT32_MAX))
		return false;
	*cie = (struct cie){ .offset = offset, .address_size = section->is64 ? 8 : 4, .encoding = PE_ABSOLUTE };
	uint8_t version = take_u8(&c);
	const char *letters = (const char *)c.data + c.at;
	size_t letters_len = strnlen(letters, cursor_left(&c));
	take(&c, letters_len + 1);
	if (c.short_read || version < 1 || version > 5 || version == 2)
		return false;
	if (letters[0] == 'e' && letters[1] == 'h' && !letters[2])
		take(&c, cie->address_size); /* written by gcc before 3.0 */
	if (version >= 4) {
		cie->address_size = take_u8(&c);
		if (take_u8(&c) != 0 || (cie->address_size != 4 && cie->address_size != 8))
			return false; /* segments */
	}
	cie->code_align = take_uleb(&c);
	cie->data_align = take_sleb(&c);
	uint64_t ra = version == 1 ? take_u8(&c) : take_uleb(&c);
	cie->ra = ra < 64 ? (uint8_t)ra : 255;
	if (*letters == 'z') {
		cie->sized = true;
		if (!take_augmentation(&c, section, letters + 1, cie))
			return false;
	} else if (*letters && *letters != 'e') {
		return false; /* of unknown length */
	}
	cie->program_at = c.at;
	cie->program = (struct span){ c.data + c.at, cursor_left(&c) };
	return !c.short_read && cie->ra != 255;
}

bool cfi_fde(const struct cfi_section *section, const struct cie *cie, struct fde *fde, struct span *program, uint64_t *program_at)
{
	enum { COMMON = PE_PC | PE_S4, COMMON_SIZE = 9 };
	struct cursor c = cursor_of(section->bytes.data, (size_t)fde->end, false);
	c.at = (size_t)fde->body;
	if (cie->encoding == COMMON && cie->sized && cie->address_size == 8 && cursor_left(&c) >= COMMON_SIZE && !c.data[c.at + 8]) {
		/* the most frequent encoding, read without dispatch */
		fde->start = section->address + c.at + (uint64_t)(int32_t)load_u32(c.data + c.at);
		fde->size = load_u32(c.data + c.at + 4);
		*program_at = c.at + COMMON_SIZE;
		*program = (struct span){ c.data + *program_at, cursor_left(&c) - COMMON_SIZE };
		return fde->size <= UINT64_MAX - fde->start;
	}
	if (!take_pointer(&c, section, cie->encoding, cie->address_size, 0, &fde->start) ||
	    !take_pointer(&c, section, cie->encoding & 0x07, cie->address_size, 0, &fde->size))
		return false;
	if (cie->sized) {
		uint64_t length = take_uleb(&c);
		if (c.short_read || length > cursor_left(&c))
			return false;
		c.at += (size_t)length;
	}
	*program_at = c.at;
	*program = (struct span){ c.data + c.at, cursor_left(&c) };
	return !c.short_read && fde->size <= UINT64_MAX - fde->start;
}
