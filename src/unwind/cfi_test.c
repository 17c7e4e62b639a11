/* Entries of call frame information, each byte given. */
#include "unwind/cfi.h"

#include "unit.h"

static struct cfi_section section_of(const char *bytes, size_t len, bool eh)
{
	return (struct cfi_section){ .bytes = { (const uint8_t *)bytes, len }, .address = 0x1000, .text = 0x20000, .data = 0x30000,
		.eh = eh, .is64 = true };
}
#define SECTION(text, eh) section_of(text, sizeof(text) - 1, eh)

/* The value of a pointer that begins at byte 2 of 16, and how many bytes it has; -1: refused. */
static int pointer(uint8_t encoding, uint8_t address_size, uint64_t *value)
{
	static const uint8_t bytes[16] = { 0, 0, 0x81, 0x82, 0x03, 0x84, 0x05, 0x06, 0x07, 0x88, 1, 2, 3, 4, 5, 6 };
	struct cfi_section section = { .bytes = { bytes, sizeof bytes }, .address = 0x1000, .text = 0x20000, .data = 0x30000 };
	struct cursor c = cursor_of(bytes, sizeof bytes, false);
	take(&c, 2);
	return take_pointer(&c, &section, encoding, address_size, 0x40000, value) ? (int)c.at - 2 : -1;
}

static void expect_pointer(uint8_t encoding, uint8_t address_size, int size, uint64_t value)
{
	uint64_t got = 1;
	EXPECT_INT(pointer(encoding, address_size, &got), size);
	if (size >= 0 && got != value)
		unit_fail(__FILE__, __LINE__, "encoding %x of %u bytes is %llx, expected %llx", encoding, address_size,
			(unsigned long long)got,
			(unsigned long long)value);
}

TEST("pointers have the format and the base of their encoding")
{
	expect_pointer(0x00, 8, 8, 0x8807060584038281);
	expect_pointer(0x00, 4, 4, 0x84038281);
	expect_pointer(0x00, 2, 2, 0x8281);
	expect_pointer(0x01, 8, 3, 0xc101);
	expect_pointer(0x02, 8, 2, 0x8281);
	expect_pointer(0x03, 8, 4, 0x84038281);
	expect_pointer(0x04, 8, 8, 0x8807060584038281);
	expect_pointer(0x08, 8, 8, 0x8807060584038281);
	expect_pointer(0x08, 4, 4, 0x84038281);
	expect_pointer(0x09, 8, 3, 0xc101);
	expect_pointer(0x0a, 8, 2, 0xffffffffffff8281);
	expect_pointer(0x0b, 8, 4, 0xffffffff84038281);
	expect_pointer(0x0c, 8, 8, 0x8807060584038281);
	expect_pointer(0x12, 8, 2, 0x8281 + 0x1002);
	expect_pointer(0x22, 8, 2, 0x8281 + 0x20000);
	expect_pointer(0x32, 8, 2, 0x8281 + 0x30000);
	expect_pointer(0x42, 8, 2, 0x8281 + 0x40000);
	expect_pointer(0x9b, 8, 4, 0xffffffff84038281 + 0x1002); /* indirect: where the pointer is */
	expect_pointer(0x1b, 4, 4, (uint32_t)(0x84038281 + 0x1002));
	expect_pointer(0x50, 8, 14, 0x0605040302018807);
}

TEST("an aligned pointer begins at the next multiple of its size, an omitted one has no bytes, unknown ones are refused")
{
	uint64_t value = 1;
	EXPECT_INT(pointer(0x50, 4, &value), 6);
	EXPECT_INT(value, 0x06058403);
	EXPECT_INT(pointer(0xff, 8, &value), 0);
	EXPECT_INT(value, 0);
	EXPECT_INT(pointer(0x05, 8, &value), -1);
	EXPECT_INT(pointer(0x0d, 8, &value), -1);
	EXPECT_INT(pointer(0x62, 8, &value), -1);
	EXPECT_INT(pointer(0x72, 8, &value), -1);
}

/* A CIE (version 1, "zR"), an FDE of it, a terminator in the middle, another FDE. */
#define CIE_ZR "\x14\0\0\0" "\0\0\0\0" "\1zR\0" "\2\x7c\x10" "\1\x1b" "\x0c\7\x08\x90\1\0\0"
#define FDE_AT(id) "\x10\0\0\0" id "\0\0\0" "\xe0\0\0\0" "\x20\0\0\0" "\0" "\x41\x0e\x10"

TEST("entries follow each other, terminators in the middle are passed, and an FDE has its CIE")
{
	struct cfi_section section = SECTION(CIE_ZR FDE_AT("\x1c") "\0\0\0\0" FDE_AT("\x34"), true);
	struct fde fde;
	struct cie made;
	struct span program;
	uint64_t at = 0, cie = 99, program_at;
	EXPECT_INT(cfi_next(&section, &at, &fde, &cie), CFI_CIE);
	EXPECT_INT(cie, 0);
	EXPECT_INT(at, 24);
	EXPECT_INT(cfi_next(&section, &at, &fde, &cie), CFI_FDE);
	EXPECT_INT(fde.cie, 0);
	EXPECT_INT(fde.end, 44);
	EXPECT_INT(fde.body, 32);
	EXPECT(cfi_cie(&section, fde.cie, &made));
	EXPECT_INT(made.code_align, 2);
	EXPECT_INT(made.data_align, -4);
	EXPECT_INT(made.ra, 16);
	EXPECT_INT(made.encoding, 0x1b);
	EXPECT_INT(made.address_size, 8);
	EXPECT(made.sized && !made.signal);
	EXPECT_INT(made.program_at, 17);
	EXPECT_INT(made.program.len, 7);
	EXPECT(cfi_fde(&section, &made, &fde, &program, &program_at));
	EXPECT_INT(fde.start, 0x1000 + 32 + 0xe0);
	EXPECT_INT(fde.size, 0x20);
	EXPECT_INT(program_at, 41);
	EXPECT_INT(program.len, 3);
	EXPECT(program.data == section.bytes.data + 41);
	EXPECT_INT(cfi_next(&section, &at, &fde, &cie), CFI_FDE);
	EXPECT_INT(fde.cie, 0);
	EXPECT(cfi_fde(&section, &made, &fde, &program, &program_at));
	EXPECT_INT(fde.start, 0x1000 + 56 + 0xe0);
	EXPECT_INT(cfi_next(&section, &at, &fde, &cie), CFI_END);
}

TEST("an FDE in an unusual encoding has the same parts")
{
	/* a pointer of 2 bytes, and 3 bytes of augmentation that are skipped */
	struct cfi_section section = SECTION("\x0d\0\0\0" "\x04\0\0\0" "\x34\x12\x10\0\3abc" "\x41", true);
	struct cie cie = { .encoding = 0x02, .address_size = 8, .sized = true };
	struct fde fde;
	struct span program;
	uint64_t at = 0, id, program_at;
	EXPECT_INT(cfi_next(&section, &at, &fde, &id), CFI_FDE);
	EXPECT(cfi_fde(&section, &cie, &fde, &program, &program_at));
	EXPECT_INT(fde.start, 0x1234);
	EXPECT_INT(fde.size, 0x10);
	EXPECT_INT(program_at, 16);
	EXPECT_INT(program.len, 1);
	cie.sized = false;
	EXPECT(cfi_fde(&section, &cie, &fde, &program, &program_at));
	EXPECT_INT(program_at, 12);
	cie.encoding = 0x07;
	EXPECT(!cfi_fde(&section, &cie, &fde, &program, &program_at));
	cie = (struct cie){ .encoding = 0x04, .address_size = 8 }; /* 16 bytes are needed */
	EXPECT(!cfi_fde(&section, &cie, &fde, &program, &program_at));
}

TEST("lengths beyond the section and ids before it are damaged")
{
	static const struct { const char *bytes; size_t len; enum cfi_entry kind; uint64_t at; } rows[] = {
		{ "\x08\0\0\0" "\x04\0\0\0abcd", 12, CFI_FDE, 12 }, { "\x09\0\0\0" "\x04\0\0\0abcd", 12, CFI_DAMAGED, 12 },
		{ "\x08\0\0\0" "\x05\0\0\0abcd", 12, CFI_DAMAGED, 12 }, { "\x03\0\0\0" "abcdefg", 11, CFI_DAMAGED, 7 },
		{ "\x08\0\0", 3, CFI_END, 0 }, { "\0\0\0\0", 4, CFI_END, 4 }, { "\xff\xff\xff\xff\4\0\0", 7, CFI_DAMAGED, 7 },
		{ "\xff\xff\xff\xff\4\0\0\0\0\0\0\0" "\0\0\0\0", 16, CFI_CIE, 16 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct cfi_section section = section_of(rows[i].bytes, rows[i].len, true);
		struct fde fde;
		uint64_t at = 0, cie;
		EXPECT_INT(cfi_next(&section, &at, &fde, &cie), rows[i].kind);
		EXPECT_INT(at, rows[i].at);
	}
}

TEST("in .debug_frame the id of a CIE is all ones, and an FDE's is the offset of its CIE, both as wide as the length")
{
	struct cfi_section narrow = SECTION("\x04\0\0\0" "\xff\xff\xff\xff" "\x04\0\0\0" "\x08\0\0\0", false);
	struct cfi_section wide = SECTION("\xff\xff\xff\xff" "\x08\0\0\0\0\0\0\0" "\xff\xff\xff\xff\xff\xff\xff\xff"
		"\xff\xff\xff\xff" "\x08\0\0\0\0\0\0\0" "\x14\0\0\0\0\0\0\0", false);
	for (unsigned i = 0; i < 2; i++) {
		struct fde fde;
		uint64_t at = 0, cie;
		EXPECT_INT(cfi_next(i ? &wide : &narrow, &at, &fde, &cie), CFI_CIE);
		EXPECT_INT(cfi_next(i ? &wide : &narrow, &at, &fde, &cie), CFI_FDE);
		EXPECT_INT(fde.cie, i ? 20 : 8);
		EXPECT_INT(cie, i ? 20 : 8);
		EXPECT_INT(fde.body, i ? 40 : 16);
	}
}

static bool cie_of(const char *body, size_t len, bool eh, struct cie *cie)
{
	char bytes[128] = { (char)(len + 4), 0, 0, 0 };
	memset(bytes + 4, eh ? 0 : -1, 4);
	memcpy(bytes + 8, body, len);
	struct cfi_section section = section_of(bytes, len + 8, eh);
	return cfi_cie(&section, 0, cie);
}
#define CIE(body, eh) cie_of(body, sizeof(body) - 1, eh, &cie)

TEST("a CIE has the parts that its version and its letters announce")
{
	struct cie cie;
	EXPECT(CIE("\1zPLR\0" "\1\x7c\x10" "\x0b\x03\1\2\3\4\x1b\x0b" "xyz\0" "!", true)); /* 11 bytes are announced: the rest is skipped */
	EXPECT(cie.encoding == 0x0b && cie.program.len == 1 && cie.program.data[0] == '!');
	EXPECT(CIE("\1zS\0" "\1\x7c\x10" "\0", true) && cie.signal && cie.encoding == 0 && !cie.program.len);
	EXPECT(CIE("\1zBSR\0" "\1\x7c\x10" "\1\x1b", true) && cie.signal && cie.encoding == 0x1b);
	EXPECT(CIE("\1zQR\0" "\1\x7c\x10" "\1\x1b", true) && cie.encoding == 0); /* an unknown letter: the rest is skipped */
	EXPECT(CIE("\1eh\0" "12345678" "\1\x7c\x10" "!", true) && !cie.sized && cie.code_align == 1 && cie.program.len == 1);
	EXPECT(CIE("\3\0" "\1\x7c\x90\0" "!!", true) && cie.ra == 16 && cie.program.len == 2); /* the return column is a LEB128 */
	EXPECT(CIE("\4\0\4\0" "\1\x7c\x10" "!", false) && cie.address_size == 4 && cie.program.len == 1);
	EXPECT(CIE("\5\0\x08\0" "\1\x7c\x10" "!", false) && cie.address_size == 8);
	EXPECT(CIE("\1\0" "\1\x7c\x3f" "!", true) && cie.ra == 63);
}

TEST("a CIE of another version, with segments, unknown letters or too few bytes is refused")
{
	struct cie cie;
	EXPECT(!CIE("\0\0" "\1\x7c\x10", true));
	EXPECT(!CIE("\2\0" "\1\x7c\x10", true));
	EXPECT(!CIE("\6\0\x08\0" "\1\x7c\x10", false));
	EXPECT(!CIE("\4\0\x08\1" "\1\x7c\x10", false));
	EXPECT(!CIE("\4\0\2\0" "\1\x7c\x10", false));
	EXPECT(!CIE("\1R\0" "\1\x7c\x10" "\x1b", true));
	EXPECT(!CIE("\1\0" "\1\x7c\x40" "!", true)); /* return column */
	EXPECT(!CIE("\1zR\0" "\1\x7c\x10" "\2\x1b", true)); /* longer than the entry */
	EXPECT(!CIE("\1zR\0" "\1\x7c\x10" "\0\x1b", true)); /* the letters need more than announced */
	EXPECT(!CIE("\1zP\0" "\1\x7c\x10" "\5\x05" "1234", true));
	EXPECT(!CIE("\1zR", true));
	EXPECT(!CIE("\1\0" "\1\x7c", true));
	struct cfi_section section = SECTION("\4\0\0\0" "\1\0\0\0", true);
	EXPECT(!cfi_cie(&section, 0, &cie)); /* an FDE */
	EXPECT(!cfi_cie(&section, 8, &cie));
}
