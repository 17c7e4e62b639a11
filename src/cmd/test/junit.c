#include "cmd/test/junit.h"

#include <string.h>

#include "base/xml_text.h"

void junit_cases_fini(struct junit_cases *cases)
{
	for (size_t i = 0; i < cases->list.count; i++)
		str_fini(&cases->list.items[i].log);
	vec_fini(&cases->list);
}

static size_t count_of(const struct junit_cases *cases, enum verdict verdict)
{
	size_t count = 0;
	for (size_t i = 0; i < cases->list.count; i++)
		count += cases->list.items[i].verdict == verdict;
	return count;
}

static void write_message(const char *element, const char *why, struct writer *out)
{
	writer_printf(out, "      <%s message=\"", element);
	xml_text(out, why, strlen(why));
	writer_puts(out, "\"");
}

static void write_case(const struct junit_case *one, struct writer *out)
{
	writer_puts(out, "    <testcase classname=\"perfuse\" name=\"");
	xml_text(out, one->name, strlen(one->name));
	writer_printf(out, "\" time=\"%.3f\"", (double)one->ns / 1e9);
	if (one->verdict == CHECK_OK) {
		writer_puts(out, "/>\n");
		return;
	}
	writer_puts(out, ">\n");
	if (one->verdict == CHECK_SKIP) {
		write_message("skipped", one->why, out);
		writer_puts(out, "/>\n");
	} else {
		write_message("failure", one->why, out);
		writer_puts(out, ">");
		xml_text(out, str_text(&one->log), one->log.len);
		writer_puts(out, "</failure>\n");
	}
	writer_puts(out, "    </testcase>\n");
}

void junit_write(const void *context, struct writer *out)
{
	const struct junit_cases *cases = context;
	writer_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
	writer_printf(out, "  <testsuite name=\"perfuse test\" tests=\"%zu\" failures=\"%zu\" skipped=\"%zu\">\n", cases->list.count,
		count_of(cases, CHECK_FAILED), count_of(cases, CHECK_SKIP));
	for (size_t i = 0; i < cases->list.count; i++)
		write_case(&cases->list.items[i], out);
	writer_puts(out, "  </testsuite>\n</testsuites>\n");
}
