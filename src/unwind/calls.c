#include "unwind/calls.h"

#include <elf.h>
#include <stdlib.h>

#define CODE_LIMIT ((uint64_t)512 << 20) /* bytes of code scanned per file */

/* The code of one file. */
struct scan {
	const struct elf *elf;
	const struct rule_table *table;
	struct call_segment *segment;
	uint64_t address;        /* of the segment's first byte */
	struct span code;
	uint8_t unit_shift;
};

static struct span segment_bytes(const struct elf *elf, const struct elf_load *load)
{
	if (!(load->flags & PF_X) || load->offset > elf->bytes.len || load->file_size > elf->bytes.len - load->offset)
		return (struct span){ 0 };
	return (struct span){ elf->bytes.data + load->offset, (size_t)load->file_size };
}

/* The code at an address as linked; empty if the file has none there. */
static struct span code_at(const struct elf *elf, uint64_t address)
{
	for (uint32_t i = 0; i < elf->load_count; i++) {
		struct span code = segment_bytes(elf, &elf->loads[i]);
		uint64_t at = address - elf->loads[i].vaddr;
		if (at < code.len)
			return (struct span){ code.data + at, code.len - (size_t)at };
	}
	return (struct span){ 0 };
}

/* Returns whether code is a PLT entry, or a function that only jumps to another one. */
static bool only_jumps(struct span code, enum unwind_arch arch)
{
	static const uint8_t marks[][4] = { { 0xf3, 0x0f, 0x1e, 0xfa }, { 0xf3, 0x0f, 0x1e, 0xfb } }; /* endbr64, endbr32 */
	size_t at = 0;
	if (arch == UNWIND_AARCH64) {
		uint32_t word = code.len >= 4 ? load_u32(code.data) : 0;
		if (code.len >= 8 && word == 0xd503245f) /* bti c */
			word = load_u32(code.data + 4);
		return (word & 0x9f00001f) == 0x90000010 || (word & 0xfc000000) == 0x14000000; /* adrp x16; b */
	}
	if (code.len >= 4 && (memcmp(code.data, marks[0], 4) == 0 || memcmp(code.data, marks[1], 4) == 0))
		at = 4;
	if (at < code.len && code.data[at] == 0xf2) /* bnd */
		at++;
	if (at + 1 >= code.len)
		return false;
	if (code.data[at] == 0x68 && at + 5 < code.len) /* push, of a lazy entry */
		return code.data[at + 5] == 0xe9 || code.data[at + 5] == 0xf2;
	return code.data[at] == 0xe9 || code.data[at] == 0xeb || (code.data[at] == 0xff && (code.data[at + 1] & 0x38) == 0x20);
}

/* Returns whether a call of target can lead to code without rules. */
static bool leads_on(const struct scan *scan, uint64_t target)
{
	struct span code = code_at(scan->elf, target);
	return code.len && (!rule_table_find(scan->table, target) || only_jumps(code, scan->table->arch));
}

static void mark(const struct scan *scan, size_t at)
{
	at >>= scan->unit_shift;
	scan->segment->bits[at / 8] |= (uint8_t)(1u << at % 8);
}

/* Length of an instruction ff /2, whose second byte is at `code`; 0: not such an instruction. */
static size_t indirect_length(const uint8_t *code, size_t len)
{
	uint8_t mode = code[0] >> 6, rm = code[0] & 7;
	if ((code[0] & 0x38) != 0x10)
		return 0;
	if (mode == 3)
		return 2;
	size_t length = rm == 4 ? 3 : 2;
	if (rm == 4 && len < 2)
		return 0;
	if (mode == 1)
		return length + 1;
	bool wide = mode == 2 || rm == 5 || (rm == 4 && (code[1] & 7) == 5);
	return wide ? length + 4 : length;
}

static void scan_x86(const struct scan *scan)
{
	const uint8_t *code = scan->code.data;
	for (size_t at = 0; at + 2 <= scan->code.len; at++) {
		size_t length = 0;
		if (code[at] == 0xe8 && scan->code.len - at > 5) {
			uint64_t target = scan->address + at + 5 + (uint64_t)(int64_t)(int32_t)load_u32(code + at + 1);
			length = leads_on(scan, scan->table->arch == UNWIND_X86 ? (uint32_t)target : target) ? 5 : 0;
		} else if (code[at] == 0xff) {
			length = indirect_length(code + at + 1, scan->code.len - at - 1);
		}
		if (length && length < scan->code.len - at)
			mark(scan, at + length);
	}
}

static void scan_aarch64(const struct scan *scan)
{
	for (size_t at = 0; at + 8 <= scan->code.len; at += 4) {
		uint32_t word = load_u32(scan->code.data + at);
		bool direct = (word & 0xfc000000) == 0x94000000, indirect = (word & 0xfefff000) == 0xd63f0000; /* bl; blr, blraa … */
		uint64_t target = scan->address + at + (uint64_t)((int64_t)((uint64_t)word << 38) >> 36);
		if (indirect || (direct && leads_on(scan, target)))
			mark(scan, at + 4);
	}
}

struct call_map *call_map_new(const struct elf *elf, const struct rule_table *table)
{
	struct call_map *map = memory_zero(1, sizeof *map);
	uint64_t left = CODE_LIMIT;
	map->unit_shift = table->arch == UNWIND_AARCH64 ? 2 : 0;
	map->memory = sizeof *map;
	if (!elf || table->arch >= UNWIND_ARCHES)
		return map;
	map->segments = memory_zero(elf->load_count + 1, sizeof *map->segments);
	map->memory += (elf->load_count + 1) * sizeof *map->segments;
	for (uint32_t i = 0; i < elf->load_count; i++) {
		struct span code = segment_bytes(elf, &elf->loads[i]);
		if (!code.len || code.len > left)
			continue;
		left -= code.len;
		size_t bytes = (code.len >> map->unit_shift) / 8 + 1;
		struct call_segment *segment = &map->segments[map->count++];
		*segment = (struct call_segment){ .offset = elf->loads[i].offset, .size = code.len, .bits = memory_zero(bytes, 1) };
		map->memory += bytes;
		struct scan scan = { elf, table, segment, elf->loads[i].vaddr, code, map->unit_shift };
		if (table->arch == UNWIND_AARCH64)
			scan_aarch64(&scan);
		else
			scan_x86(&scan);
	}
	return map;
}

void call_map_free(struct call_map *map)
{
	for (uint32_t i = 0; map && i < map->count; i++)
		free(map->segments[i].bits);
	if (map)
		free(map->segments);
	free(map);
}

bool call_map_has(const struct call_map *map, uint64_t offset)
{
	for (uint32_t i = 0; i < map->count; i++) {
		const struct call_segment *segment = &map->segments[i];
		uint64_t at = offset - segment->offset;
		if (at >= segment->size)
			continue;
		if (at & (((uint64_t)1 << map->unit_shift) - 1))
			return false;
		at >>= map->unit_shift;
		return segment->bits[at / 8] >> at % 8 & 1;
	}
	return false;
}
