/* The results of checks as JUnit XML, which programs of continuous integration read. Format: testsuites, testsuite and testcase, with
 * skipped and failure (https://github.com/testmoapp/junitxml). */
#pragma once
#include "base/str.h"
#include "base/vec.h"
#include "base/writer.h"
#include "cmd/test/check.h"

struct junit_case {
	const char *name;            /* borrowed */
	enum verdict verdict;
	char why[CHECK_WHY_SIZE];    /* of a verdict other than CHECK_OK */
	uint64_t ns;
	struct str log;              /* of a failed check */
};

struct junit_cases {
	VEC(struct junit_case) list;
};

void junit_cases_fini(struct junit_cases *cases);
void junit_write(const void *cases, struct writer *out);
