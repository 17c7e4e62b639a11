#include "symbol/demangle_plain.h"

#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#define LIMIT 4096

static const char *const plain_names[] = {
	"_Z3foov", "_ZN3foo3barEv", "_ZNK3foo3barEi", "_ZSt4swapIiEvRT_S2_", "_ZL6hiddenv", "_ZN12_GLOBAL__N_16hiddenEv",
	"_ZN1aC1Ev", "_ZN1a1bIiEC2ERKS1_", "_ZN1aD0Ev", "_ZN1aD2Ev", "_ZNSaIcEC1Ev", "_ZN3foo3barB5cxx11Ev", "_ZN3fooC1B5cxx11B1aEv",
	/* operators, and what follows '<' */
	"_ZplRK1aS1_", "_ZN1altERKS_", "_ZN1altIiEEbT_", "_ZN1aclEi", "_ZN1aixEi", "_ZN1acmEi", "_ZN1assEi", "_ZN1a1bIiE1cIlEEvv",
	/* arguments of templates */
	"_ZN1aIiE1bEv", "_ZN1aI1bIiEE1cEv", "_ZN1aIJilEE1bEv", "_ZN1aILi5ELin7ELj8ELl9ELm10ELx11ELy12ELb0ELb1EE1bEv", "_ZN1aIPKcRiOlKhE1bEv",
	"_ZN1aIvwbcahstijlmxynofdeE1bEv", "_ZN1aIFivEFvilEE1bEv",
	/* repeated parts */
	"_ZNSt6vectorIiSaIiEE9push_backEOi", "_ZNSt3mapISsSt4pairIKSsS1_IiiEESt4lessISsEE1aEv", "_ZN1a1bIS_NS_1cENS_1dIS1_S2_EEE1eEv",
	"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6appendERKS4_", "_ZN1a1b1c1d1e1f1gINS_1hENS0_1hENS5_1hES6_S7_S8_E1iEv",
	"_ZN1aI1b1c1d1e1f1g1h1i1j1k1l1m1n1o1p1q1r1s1t1u1v1w1x1y1z1A1B1C1D1E1F1G1H1I1J1K1L1M1NS0_SA_SZ_S10_S11_E1aEv", "_ZNSbIwE1aEv",
	"_ZStlsIiERSoS0_T_",
	/* names inside of functions */
	"_ZZN1a1bEvE1c", "_ZZN1a1bEiPKcE1c", "_ZZNK1a1bEvE1c", "_ZZ4mainvE1c_0", "_ZZN1a1bEvENKUlvE_clEv",
	"_ZN1aIZN1b1cEiEUliE_E1dEv", "_ZN1aIZNK1b1cEiEUliS0_E0_E1dEv", "_ZN1aIZN1b1cEiEUlvE8_S1_E1dEv", "_ZN1aIZ1cvE1eE1dEv",
	"_ZTVN1a1bE", "_ZTT1a", "_ZTI1aIiE", "_ZTSZ1cvEUlvE_", "_ZGVZ4mainvE1c", "_ZGVN1a1bE", "_ZTIPKc",
};

TEST("plain names of C++ have libiberty's text")
{
	struct str text = { 0 };
	unsigned done = 0;
	for (size_t i = 0; i < sizeof plain_names / sizeof *plain_names; i++) {
		char *want = cplus_demangle_v3(plain_names[i], DMGL_NO_OPTS);
		if (!demangle_plain(plain_names[i], LIMIT, &text)) {
			printf("# refused: %s\n", plain_names[i]);
			free(want);
			continue;
		}
		done++;
		EXPECT_STR(str_text(&text), want ? want : "(invalid)");
		EXPECT_INT(text.len, strlen(str_text(&text)));
		free(want);
	}
	EXPECT_INT(done, sizeof plain_names / sizeof *plain_names);
	str_fini(&text);
}

TEST("what is not plain, invalid or too long is refused")
{
	static const char *const names[] = {
		"", "_Z", "_Z0", "_Z4foo", "_Z03foov", "_ZZ4mainE1c", "_ZN3foo", "_ZNE", "_ZN3fooIE3barEv", "_ZN3fooIi3barEv",
		"_ZNS_3fooEv", "_ZN1aIS1_E1bEv",
		"_ZNSsC1Ev", "_ZNVK1a1bEv", "_ZN1aIT_E1bEv", "_ZN1aIDnE1bEv", "_ZN1aIA5_iE1bEv", "_ZN1aIPFvvEE1bEv", "_ZN1aIFvvES1_PS1_E1bEv",
		"_ZN1aILc65EE1bEv", "_ZN1aILi5E1bEv", "_ZN1aIJEE1bEv", "_ZN1aIKKiE1bEv", "_ZN1aIRRiE1bEv", "_ZN1acviEv",
		"_ZN1aUt_1bEv", "_ZZ3fooIiEvvE1a",
		"_ZZ3foovEs", "_ZTc1a", "_ZN1aIRVcE1bEv", "_RNvC1a1b", "_ZN1aIZ1bvEUlT_E_E1cEv", "_ZN1aI" "99999999999999999999999a" "E1bEv",
	};
	struct str text = { 0 };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (demangle_plain(names[i], LIMIT, &text))
			EXPECT_STR(names[i], "refused");
	EXPECT(demangle_plain("_ZN3abcI3defE3ghiEv", 13, &text));
	EXPECT(!demangle_plain("_ZN3abcI3defE3ghiEv", 12, &text));
	EXPECT(demangle_plain("_ZN3abcIS_E3ghiEv", 13, &text));
	EXPECT(!demangle_plain("_ZN3abcIS_E3ghiEv", 12, &text));
	str_fini(&text);
}

TEST("a name whose parts repeat each other ends at the limit")
{
	char name[1024] = "_ZN1aI1b";
	struct str text = { 0 };
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	for (unsigned i = 0; i < 16; i++) {
		size_t len = strlen(name);
		snprintf(name + len, sizeof name - len, "1cIS%c_S%c_E", digits[2 * i], digits[2 * i]);
	}
	strcat(name, "E1dEv");
	EXPECT(demangle_plain(name, 1 << 20, &text) && text.len > 1 << 18);
	EXPECT(!demangle_plain(name, LIMIT, &text));
	EXPECT(text.len <= LIMIT);
	str_fini(&text);
}
