#include "cmd/page.h"

#include "cmd/commands.h"
#include "cmd/test_cli.h"

TEST("every command has a page, which begins with its name and summary")
{
	size_t count = 0;
	for (const struct page *page = pages; page->name; page++, count++) {
		const struct command *command = commands_find(page->name);
		char want[256];
		EXPECT(command != NULL);
		snprintf(want, sizeof want, "NAME\n       perfuse-%s - ", page->name);
		EXPECT(strncmp(page->text, want, strlen(want)) == 0);
	}
	EXPECT_INT(count, commands_count());
}

TEST("a page names the program as it was called where a command follows, and nowhere else")
{
	struct test_cli t;
	test_cli_open(&t);
	t.cli.program = "perf";
	EXPECT_INT(page_show(&t.cli, "version", PAGE_MAN), 0);
	const char *text = test_cli_output(&t);
	EXPECT(strncmp(text, "NAME\n       perf-version - ", 27) == 0);
	EXPECT(strstr(text, "perfuse-version") == NULL && strstr(text, "perfuse version") == NULL && strstr(text, "perfuse --version") == NULL);
	EXPECT(strstr(text, "perfuse has") != NULL);
	t.cli.program = "perfuse";
	EXPECT_INT(page_show(&t.cli, "version", PAGE_MAN), 0);
	EXPECT(strncmp(test_cli_output(&t), "NAME\n       perfuse-version - ", 30) == 0);
	EXPECT_STR(test_cli_messages(&t), "");
	test_cli_close(&t);
}

TEST("a page that does not exist has man's exit code and message")
{
	struct test_cli t;
	test_cli_open(&t);
	EXPECT_INT(page_show(&t.cli, "versio", PAGE_MAN), EXIT_NO_PAGE);
	EXPECT_STR(test_cli_messages(&t), "No manual entry for perfuse-versio\n");
	EXPECT_INT(page_show(&t.cli, "versio", PAGE_WEB), EXIT_NO_PAGE);
	test_cli_messages(&t);
	EXPECT_INT(page_show(&t.cli, "c2c", PAGE_MAN), EXIT_NO_PAGE);
	EXPECT(strncmp(test_cli_messages(&t), "No manual entry for perfuse-c2c: ", 33) == 0);
	EXPECT_STR(test_cli_output(&t), "");
	test_cli_close(&t);
}
