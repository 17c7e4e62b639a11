#include "code/x86_vector.h"

#include "unit.h"

struct vector_case {
	const char *bytes;
	size_t len;
	const char *att, *intel; /* mnemonic, a blank, operands */
};

#define CODE(bytes) bytes, sizeof bytes - 1

static void expect_vector(const struct vector_case *row, enum code_syntax syntax, const char *want)
{
	struct x86_vector out;
	char text[256];
	EXPECT(x86_vector_decode((struct span){ (const uint8_t *)row->bytes, row->len }, syntax, &out));
	snprintf(text, sizeof text, "%s%s%s", out.mnemonic, *out.operands ? " " : "", out.operands);
	EXPECT_STR(text, want);
	EXPECT_INT(out.length, row->len);
	EXPECT(out.known);
}

TEST("instructions of masks and vectors have the text of objdump, with capstone's blanks")
{
	static const struct vector_case rows[] = {
		{ CODE("\xc5\xfb\x92\xc9"), "kmovd %ecx, %k1", "kmovd k1, ecx" },
		{ CODE("\xc4\xe1\xfb\x93\xd8"), "kmovq %k0, %rbx", "kmovq rbx, k0" },
		{ CODE("\xc4\xc1\x7b\x92\xc8"), "kmovd %r8d, %k1", "kmovd k1, r8d" },
		{ CODE("\xc4\xe1\xf5\x45\xc0"), "kord %k0, %k1, %k0", "kord k0, k1, k0" },
		{ CODE("\xc4\xe1\xf9\x98\xd1"), "kortestd %k1, %k2", "kortestd k2, k1" },
		{ CODE("\xc4\xe1\xf4\x4b\xc0"), "kunpckdq %k0, %k1, %k0", "kunpckdq k0, k1, k0" },
		{ CODE("\x62\xf2\x7d\x08\x26\xd0"), "vptestmb %xmm0, %xmm0, %k2", "vptestmb k2, xmm0, xmm0" },
		{ CODE("\x62\xb2\x6e\x21\x26\xc2"), "vptestnmb %ymm18, %ymm18, %k0 {%k1}", "vptestnmb k0 {k1}, ymm18, ymm18" },
		{ CODE("\x62\xf3\x75\x20\x3e\x0f\x04"), "vpcmpnequb (%rdi), %ymm17, %k1", "vpcmpnequb k1, ymm17, ymmword ptr [rdi]" },
		{ CODE("\x62\xf3\x75\x20\x3e\x4c\x17\xff\x04"), "vpcmpnequb -0x20(%rdi, %rdx), %ymm17, %k1",
			"vpcmpnequb k1, ymm17, ymmword ptr [rdi + rdx - 0x20]" },
		{ CODE("\x62\x93\x25\x20\x3e\xee\x01"), "vpcmpltub %ymm30, %ymm27, %k5", "vpcmpltub k5, ymm27, ymm30" },
		{ CODE("\x62\xf3\x65\xa9\x25\xe2\x01"), "vpternlogd $1, %ymm2, %ymm3, %ymm4 {%k1} {z}", "vpternlogd ymm4 {k1} {z}, ymm3, ymm2, 1" },
		{ CODE("\x62\xe2\x7d\x48\x7a\xc6"), "vpbroadcastb %esi, %zmm16", "vpbroadcastb zmm16, esi" },
		{ CODE("\x0f\x01\xee"), "rdpkru", "rdpkru" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		expect_vector(&rows[i], CODE_ATT, rows[i].att);
		expect_vector(&rows[i], CODE_INTEL, rows[i].intel);
	}
}

TEST("other instructions with such a prefix have their length, others none")
{
	static const uint8_t unknown[] = { 0x62, 0xf1, 0x7d, 0x48, 0xff, 0x84, 0x24, 1, 2, 3, 4, 0x90 };
	struct x86_vector out;
	EXPECT(x86_vector_decode((struct span){ unknown, sizeof unknown }, CODE_ATT, &out));
	EXPECT(!out.known);
	EXPECT_INT(out.length, 11);
	for (size_t len = 0; len < 11; len++)
		EXPECT(!x86_vector_decode((struct span){ unknown, len }, CODE_ATT, &out));
	EXPECT(!x86_vector_decode((struct span){ (const uint8_t *)"\x48\x89\xe5", 3 }, CODE_ATT, &out));
	/* bits of an EVEX prefix that no instruction has */
	EXPECT(x86_vector_decode((struct span){ (const uint8_t *)"\x62\xf2\x7d\x08\x26\xd0", 6 }, CODE_ATT, &out));
	EXPECT(!x86_vector_decode((struct span){ (const uint8_t *)"\x62\xf2\x79\x08\x26\xd0", 6 }, CODE_ATT, &out));
	EXPECT(!x86_vector_decode((struct span){ (const uint8_t *)"\x62\xfa\x7d\x08\x26\xd0", 6 }, CODE_ATT, &out));
}

TEST("vzeroupper and vzeroall, which have no operand, are left to others, also before further bytes")
{
	static const struct {
		const char *bytes;
		size_t len;
	} rows[] = { { CODE("\xc5\xf8\x77") }, { CODE("\xc5\xfc\x77") }, { CODE("\xc5\xf8\x77\xc0\x90") }, { CODE("\xc4\xe1\x78\x77\xc0") } };
	struct x86_vector out;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		EXPECT(!x86_vector_decode((struct span){ (const uint8_t *)rows[i].bytes, rows[i].len }, CODE_ATT, &out));
	/* the same opcode with other prefixes has operands */
	EXPECT(x86_vector_decode((struct span){ (const uint8_t *)"\x62\xf1\x7c\x48\x77\xc0", 6 }, CODE_ATT, &out) && out.length == 6);
	EXPECT(x86_vector_decode((struct span){ (const uint8_t *)"\xc4\xe2\x78\x77\xc0", 5 }, CODE_ATT, &out) && out.length == 5);
}
