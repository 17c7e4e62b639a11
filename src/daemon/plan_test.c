#include "daemon/plan.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/file.h"
#include "unit.h"

static int read_text(struct plan *plan, const char *text, struct error *err)
{
	struct config config = { 0 };
	*plan = (struct plan){ 0 };
	EXPECT_INT(config_parse(&config, CONFIG_USER, "test", text, strlen(text), err), 0);
	int result = plan_read(plan, &config, err);
	config_fini(&config);
	return result;
}

TEST("a plan has the base and the sessions of the configuration in its order")
{
	struct plan plan;
	EXPECT_INT(read_text(&plan, "[daemon]\nbase=/x\n[session-b]\nrun = -e cycles -a\nother=1\n"
		"[session-a]\nrun=-a\n[sessions]\nrun=x\n", NULL), 0);
	EXPECT_STR(plan.base, "/x");
	EXPECT_INT(plan.sessions.count, 2);
	EXPECT_STR(plan.sessions.items[0].name, "b");
	EXPECT_STR(plan.sessions.items[0].run, "-e cycles -a");
	EXPECT_STR(plan.sessions.items[1].name, "a");
	EXPECT(plan_find(&plan, "a") == &plan.sessions.items[1]);
	EXPECT(plan_find(&plan, "c") == NULL);
	plan_fini(&plan);
	EXPECT_INT(read_text(&plan, "[core]\nx=1\n", NULL), 0);
	EXPECT(plan.base == NULL);
	EXPECT_INT(plan.sessions.count, 0);
	plan_fini(&plan);
}

TEST("a session's name and command line have limits, and its quotes are closed")
{
	static char text[2 * PLAN_RUN_MAX];
	struct plan plan;
	for (int over = 0; over < 2; over++) {
		sprintf(text, "[session-%0*d]\nrun=x\n", PLAN_NAME_MAX + over, 0);
		EXPECT_INT(read_text(&plan, text, NULL), -over);
		plan_fini(&plan);
		sprintf(text, "[session-a]\nrun=%0*d\n", PLAN_RUN_MAX + over, 0);
		EXPECT_INT(read_text(&plan, text, NULL), -over);
		plan_fini(&plan);
		size_t len = 0;
		for (int i = 0; i < PLAN_SESSIONS_MAX + over; i++)
			len += (size_t)sprintf(text + len, "[session-%d]\nrun=x\n", i);
		EXPECT_INT(read_text(&plan, text, NULL), -over);
		plan_fini(&plan);
	}
	struct error err = { 0 };
	EXPECT_INT(read_text(&plan, "[session-a]\nrun = sh -c 'true\n", &err), -1);
	EXPECT_STR(err.text, "a quote is not closed in 'sh -c 'true'");
	plan_fini(&plan);
}

TEST("a configuration that others can write is refused")
{
	char path[] = "/tmp/plan-test-XXXXXX";
	CLEANUP_FD int fd = mkstemp(path);
	EXPECT(fd >= 0 && write(fd, "[daemon]\nbase=/x\n", 17) == 17);
	static const struct { mode_t mode; int result; } cases[] = { { 0644, 0 }, { 0600, 0 }, { 0602, -1 }, { 0666, -1 } };
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct config config = { 0 };
		struct error err = { 0 };
		EXPECT_INT(fchmod(fd, cases[i].mode), 0);
		EXPECT_INT(plan_config_read(&config, CONFIG_USER, path, &err), cases[i].result);
		EXPECT(cases[i].result == 0 || err.kind == ERROR_PERMISSION);
		EXPECT(cases[i].result != 0 || !strcmp(config_get(&config, "daemon.base"), "/x"));
		config_fini(&config);
	}
	EXPECT(unlink(path) == 0 && mkfifo(path, 0600) == 0);
	struct config config = { 0 };
	EXPECT_INT(plan_config_read(&config, CONFIG_USER, path, NULL), -1);
	config_fini(&config);
	unlink(path);
}

TEST("a configuration in a folder that others can write is refused")
{
	char folder[] = "/tmp/plan-test-XXXXXX", path[64];
	EXPECT(mkdtemp(folder) != NULL);
	snprintf(path, sizeof path, "%s/config", folder);
	FILE *file = fopen(path, "w");
	EXPECT(file && fputs("[daemon]\nbase=/x\n", file) >= 0 && fclose(file) == 0 && chmod(path, 0600) == 0);
	static const struct { mode_t mode; int result; } cases[] = { { 0755, 0 }, { 0777, -1 }, { 0700, 0 } };
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct config config = { 0 };
		struct error err = { 0 };
		EXPECT_INT(chmod(folder, cases[i].mode), 0);
		EXPECT_INT(plan_config_read(&config, CONFIG_USER, path, &err), cases[i].result);
		EXPECT(cases[i].result == 0 || err.kind == ERROR_PERMISSION);
		config_fini(&config);
	}
	char link[80];
	struct config config = { 0 };
	snprintf(link, sizeof link, "%s/link", folder);
	EXPECT_INT(symlink(path, link), 0);
	EXPECT_INT(plan_config_read(&config, CONFIG_USER, link, NULL), -1);
	config_fini(&config);
	unlink(link);
	unlink(path);
	rmdir(folder);
}
