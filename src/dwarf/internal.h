/* Shared by the modules of the DWARF reader: files, sections, units, limits. Internal to dwarf/. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/leb128.h"
#include "base/vec.h"
#include "dwarf/types.h"

enum dwarf_section {
	SECTION_INFO, SECTION_ABBREV, SECTION_LINE, SECTION_STR, SECTION_LINE_STR, SECTION_STR_OFFSETS, SECTION_ADDR,
	SECTION_RANGES, SECTION_RNGLISTS, SECTION_ARANGES, SECTION_CU_INDEX,
	SECTION_LATE, /* the following are loaded by dwarf_file_section */
	SECTION_LOC = SECTION_LATE, SECTION_LOCLISTS, SECTION_TYPES, SECTION_TU_INDEX, SECTION_COUNT,
};

#define DWARF_NO_OFFSET UINT64_MAX
#define DWARF_LOCKS 64u

struct dwarf_abbrevs;
struct dwarf_functions;
struct dwarf_lines;

/* A type that units refer to by its signature. */
struct dwarf_type_entry {
	uint64_t signature;
	uint64_t at;                    /* of the unit's header in its section */
	uint8_t section;                /* SECTION_INFO or SECTION_TYPES */
	struct dwarf_unit *unit;        /* NULL: not read yet; protected by the file's lock */
};

/* One .debug_info and the sections that it refers to: of the main file, of the alternate file, of a .dwo, or one unit's part of a .dwp. */
struct dwarf_file {
	struct dwarf *dwarf;
	const struct elf *elf;
	struct span section[SECTION_COUNT];
	uint32_t late_tried;            /* one bit per section; protected by lock */
	void *owned[SECTION_COUNT];     /* decompressed or relocated bytes */
	bool swap, split;
	uint8_t address_size;           /* by the ELF class */
	struct dwarf_unit *units;       /* by offset, without type units */
	uint32_t unit_count;
	VEC(struct dwarf_type_entry) types; /* by signature; listed at the first reference, protected by lock */
	bool types_listed;
	struct dwarf_file *addresses;   /* the file with .debug_addr and .debug_ranges: for split files the main file */
	struct idmap abbrev_map;        /* by the table's offset and sizes: index in abbrevs; protected by lock */
	VEC(struct dwarf_abbrevs *) abbrevs;
	pthread_mutex_t lock;
	struct dwarf_file *next;        /* the next in dwarf->split_files */
};

enum { UNIT_UNREAD, UNIT_READY, UNIT_BAD };

struct dwarf_unit {
	struct dwarf_file *file;
	uint64_t offset, end;           /* in the section */
	uint64_t abbrev_offset;
	uint8_t die_at;                 /* offset of the top DIE in the unit */
	uint8_t version, address_size, offset_size, type;
	uint8_t section;                /* SECTION_INFO, or SECTION_TYPES of type units before DWARF 5 */
	/* Values from the top DIE, valid from UNIT_READY on. */
	bool plain_names;               /* the language does not mangle names */
	_Atomic uint8_t state;
	_Atomic bool functions_tried, deep_tried, lines_tried;
	bool high_is_size;              /* DW_AT_high_pc is relative to low */
	uint16_t tag;
	uint16_t ranges_form;           /* 0: DW_AT_ranges is absent */
	uint64_t low, high, ranges;
	uint64_t stmt_list;             /* DWARF_NO_OFFSET: the unit has no line table */
	uint64_t str_offsets_base, addr_base, rnglists_base, loclists_base, ranges_base;
	uint64_t split_id;              /* of a type unit: its signature */
	uint64_t type_at;               /* of a type unit: offset of the type's DIE in the unit */
	const char *directory, *split_name; /* NULL: absent */
	const struct dwarf_abbrevs *abbrevs;
	/* Parsed on demand, published with release order. */
	struct dwarf_unit *body;        /* the unit that describes the functions: this unit, or the one in the split file */
	struct dwarf_unit *skeleton;    /* of a unit in a split file: the unit whose body it is */
	bool split_tried;
	_Atomic(struct dwarf_functions *) functions, deep; /* deep: with the functions that are described inside other functions and types */
	_Atomic(struct dwarf_lines *) lines;
};

struct dwarf {
	struct dwarf_parts parts;
	struct dwarf_file main, alternate;
	struct dwarf_file package;      /* sections only: split.c extracts the parts of single units */
	bool has_alternate, has_package;
	uint64_t text_low;              /* addresses below belong to discarded code */
	/* Segment i reaches from segment_starts[i] to the next start. */
	uint64_t *segment_starts;
	uint32_t *segment_units;        /* unit number; SEGMENT_NONE: a gap */
	uint32_t segment_count;
	pthread_mutex_t lock;           /* of the list of split files, and of the package's types */
	struct dwarf_file *split_files;
	struct idmap type_map;          /* by signature: index in type_files */
	VEC(struct dwarf_file *) type_files; /* the package's part of each type; NULL: absent */
	pthread_mutex_t unit_locks[DWARF_LOCKS]; /* by the unit's offset: held while the unit is parsed */
	_Atomic size_t memory;
	size_t memory_limit;
	_Atomic uint64_t work, work_limit; /* list entries and rows that were read, which damaged files can make grow faster than their size */
	_Atomic uint64_t units_parsed, units_damaged, units_missing, units_refused;
};

#define SEGMENT_NONE UINT32_MAX

/* Finds the unit's split file, if it has one; false: it is absent. Safe from several threads. */
bool dwarf_unit_body(struct dwarf *dwarf, struct dwarf_unit *unit);
/* Returns the unit's line table, reading it at the first call; NULL: absent. Safe from several threads. */
struct dwarf_lines *dwarf_unit_lines(struct dwarf_unit *unit);

/* Reserves bytes; returns false and reserves nothing if the limit is exceeded. */
bool dwarf_memory_take(struct dwarf *dwarf, size_t bytes);
void dwarf_memory_give(struct dwarf *dwarf, size_t bytes);
/* Charges n steps to the budget of work; false: it is exceeded. */
static inline bool dwarf_work(struct dwarf *dwarf, uint64_t n)
{
	uint64_t limit = atomic_load_explicit(&dwarf->work_limit, memory_order_relaxed);
	return atomic_fetch_add_explicit(&dwarf->work, n, memory_order_relaxed) + n <= limit;
}

static inline struct cursor section_cursor(const struct dwarf_file *file, enum dwarf_section section)
{
	/* an absent section is an empty string, because taking from NULL is undefined */
	const uint8_t *data = file->section[section].data ? file->section[section].data : (const uint8_t *)"";
	return cursor_of(data, file->section[section].len, file->swap);
}

/* The bytes of the unit's section up to its end. */
static inline struct cursor unit_cursor(const struct dwarf_unit *unit)
{
	return cursor_of(unit->file->section[unit->section].data, unit->end, unit->file->swap);
}

/* Moves to an absolute position; false: it is outside of the section. */
static inline bool cursor_seek(struct cursor *c, uint64_t at)
{
	if (at > c->len) {
		c->short_read = true;
		return false;
	}
	c->at = at;
	return true;
}

/* An unsigned number of 1, 2, 3, 4 or 8 bytes. */
static inline uint64_t take_number(struct cursor *c, unsigned size)
{
	if (size == 3) {
		const uint8_t *p = take(c, 3);
		bool big = c->swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
		return !p ? 0 : big ? (uint32_t)p[0] << 16 | p[1] << 8 | p[2] : (uint32_t)p[2] << 16 | p[1] << 8 | p[0];
	}
	return size == 8 ? take_u64(c) : size == 4 ? take_u32(c) : size == 2 ? take_u16(c) : take_u8(c);
}

/* The length at the start of units and tables, in the 32-bit or 64-bit format of DWARF. */
static inline uint64_t take_length(struct cursor *c, uint8_t *offset_size)
{
	uint64_t length = take_u32(c);
	*offset_size = 4;
	if (length == 0xffffffff) {
		length = take_u64(c);
		*offset_size = 8;
	} else if (length >= 0xfffffff0) {
		c->short_read = true;
	}
	return length;
}
