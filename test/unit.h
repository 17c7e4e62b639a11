/* Unit tests beside the code: TEST("a sentence") { ... EXPECT(x); }. Each test program links one layer whole. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Bytes that a test spells out are in the order of the machine, or of the other one. */

struct unit_test {
	const char *name;
	void (*run)(void);
	struct unit_test *next;
};

void unit_register(struct unit_test *test);
void unit_fail(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
void unit_skip(const char *why); /* this test cannot run here; say why and where it does */

#define UNIT_NAME2(prefix, line) prefix##line
#define UNIT_NAME(prefix, line) UNIT_NAME2(prefix, line)
#define TEST(sentence)                                                                             \
	static void UNIT_NAME(unit_run_, __LINE__)(void);                                          \
	static struct unit_test UNIT_NAME(unit_test_, __LINE__) = { .name = sentence, .run = UNIT_NAME(unit_run_, __LINE__) }; \
	__attribute__((constructor)) static void UNIT_NAME(unit_add_, __LINE__)(void)              \
	{                                                                                          \
		unit_register(&UNIT_NAME(unit_test_, __LINE__));                                   \
	}                                                                                          \
	static void UNIT_NAME(unit_run_, __LINE__)(void)

#define EXPECT(condition)                                                                          \
	do {                                                                                       \
		if (!(condition))                                                                  \
			unit_fail(__FILE__, __LINE__, "expected %s", #condition);                  \
	} while (0)
#define EXPECT_INT(got, want)                                                                      \
	do {                                                                                       \
		long long unit_got_ = (long long)(got), unit_want_ = (long long)(want);            \
		if (unit_got_ != unit_want_)                                                       \
			unit_fail(__FILE__, __LINE__, "%s is %lld, expected %lld", #got, unit_got_, unit_want_); \
	} while (0)
#define EXPECT_STR(got, want)                                                                      \
	do {                                                                                       \
		const char *unit_got_ = (got), *unit_want_ = (want);                               \
		if (!unit_got_ || strcmp(unit_got_, unit_want_) != 0)                              \
			unit_fail(__FILE__, __LINE__, "%s is \"%s\", expected \"%s\"", #got, unit_got_ ? unit_got_ : "(null)", unit_want_); \
	} while (0)
