#include "cmd/test/junit.h"

#include <string.h>

#include "unit.h"

TEST("results of checks are JUnit XML, in which names and logs are text")
{
	struct junit_cases cases = { 0 };
	struct writer out;
	struct junit_case failed = { .name = "c <d>", .verdict = CHECK_FAILED, .why = "a \"b\" & c", .ns = 1500000000 };
	str_puts(&failed.log, "1 < 2\x01\n");
	vec_push(&cases.list, ((struct junit_case){ .name = "a", .ns = 2000000 }));
	vec_push(&cases.list, ((struct junit_case){ .name = "b", .verdict = CHECK_SKIP, .why = "no PMU" }));
	vec_push(&cases.list, failed);
	writer_open(&out, -1, 256);
	junit_write(&cases, &out);
	writer_putc(&out, '\0');
	EXPECT_STR(out.buffer,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
		"  <testsuite name=\"perfuse test\" tests=\"3\" failures=\"1\" skipped=\"1\">\n"
		"    <testcase classname=\"perfuse\" name=\"a\" time=\"0.002\"/>\n"
		"    <testcase classname=\"perfuse\" name=\"b\" time=\"0.000\">\n"
		"      <skipped message=\"no PMU\"/>\n"
		"    </testcase>\n"
		"    <testcase classname=\"perfuse\" name=\"c &lt;d&gt;\" time=\"1.500\">\n"
		"      <failure message=\"a &quot;b&quot; &amp; c\">1 &lt; 2\xef\xbf\xbd\n</failure>\n"
		"    </testcase>\n"
		"  </testsuite>\n</testsuites>\n");
	writer_fini(&out);
	junit_cases_fini(&cases);
}
