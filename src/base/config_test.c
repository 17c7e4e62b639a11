#include "base/config.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "base/writer.h"
#include "unit.h"

static int parse(struct config *config, const char *text, struct error *err)
{
	*config = (struct config){ 0 };
	return config_parse(config, CONFIG_USER, "file", text, strlen(text), err);
}

TEST("sections, names and values are read; case, blanks and comments are ignored")
{
	struct config config;
	struct error err = { 0 };
	EXPECT_INT(parse(&config,
		"# a comment\n"
		"[Report]\n"
		"  Children = false ; here too\n"
		"\tsort_order=comm,  dso # and here\r\n"
		"[buildid] dir = \"/tmp/a  b\" c\n"
		"[a \"Sub Section\"]\n"
		"x = one \\\n two\n"
		"y =\n", &err), 0);
	EXPECT_STR(config_get(&config, "report.children"), "false");
	EXPECT_STR(config_get(&config, "report.sort_order"), "comm, dso");
	EXPECT_STR(config_get(&config, "buildid.dir"), "/tmp/a  b c");
	EXPECT_STR(config_get(&config, "a.Sub Section.x"), "one two");
	EXPECT_STR(config_get(&config, "a.Sub Section.y"), "");
	EXPECT(config_get(&config, "report.nosuch") == NULL);
	EXPECT(config_get(NULL, "report.children") == NULL);
	config_fini(&config);
}

TEST("an invalid line is reported, and the settings before it are retained")
{
	static const char *const bad[] = { "[a]\nb", "[a]\n1b = 2", "[a\nb = 1", "[a \"b]\nc = 1", "[a]\nb = \"x", "[a]\nb = \\q",
		"[]\nb = 1", "[a]\n= 1" };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct config config;
		struct error err = { 0 };
		char text[100];
		snprintf(text, sizeof text, "[ok]\ngood = 1\n%s\n", bad[i]);
		EXPECT(parse(&config, text, &err) < 0);
		EXPECT(!strncmp(err.text, "bad config file line ", 21));
		EXPECT_STR(config_get(&config, "ok.good"), "1");
		config_fini(&config);
	}
	struct config config;
	struct error err = { 0 };
	EXPECT(parse(&config, "x = 1\n", &err) < 0);
	config_fini(&config);
	EXPECT(parse(&config, "[a]\nb = 1\n\nbad line\n", &err) < 0);
	EXPECT_STR(err.text, "bad config file line 4 in file");
	config_fini(&config);
}

TEST("a later setting replaces the value of an earlier one, at the earlier position")
{
	struct config config;
	struct error err = { 0 };
	EXPECT_INT(parse(&config, "[a]\nb = 1\nc = 2\n[a]\nb = 3\n", &err), 0);
	EXPECT_INT(config.entries.count, 2);
	EXPECT_STR(config.entries.items[0].key, "a.b");
	EXPECT_STR(config_get(&config, "a.b"), "3");
	config_fini(&config);
}

TEST("values have types, and a value of another type yields the fallback")
{
	struct config config;
	struct error err = { 0 };
	EXPECT_INT(parse(&config, "[t]\nyes=on\nno=false\nten=10\nkilo=4k\ngiga=2G\nhex=0x10\nhalf=0.5\nword=maybe\nempty=\n"
		"big=99999999999999999999\n", &err), 0);
	EXPECT(config_bool(&config, "t.yes", false));
	EXPECT(!config_bool(&config, "t.no", true));
	EXPECT(config_bool(&config, "t.ten", false));
	EXPECT(config_bool(&config, "t.word", true));
	EXPECT(!config_bool(&config, "t.empty", true));
	EXPECT(config_bool(&config, "t.nosuch", true));
	EXPECT_INT(config_int(&config, "t.ten", 1), 10);
	EXPECT_INT(config_int(&config, "t.kilo", 1), 4096);
	EXPECT_INT(config_int(&config, "t.giga", 1), 2ll << 30);
	EXPECT_INT(config_int(&config, "t.hex", 1), 16);
	EXPECT_INT(config_int(&config, "t.word", 7), 7);
	EXPECT_INT(config_int(&config, "t.empty", 7), 7);
	EXPECT_INT(config_int(&config, "t.big", 7), 7);
	EXPECT(config_double(&config, "t.half", 0) == 0.5);
	EXPECT(config_double(&config, "t.word", 2) == 2);
	config_fini(&config);
}

TEST("a value is a truth by its word in any case, or by its number")
{
	static const char *const yes[] = { "true", "YES", "On", "1", "-1", "0x10" }, *const no[] = { "false", "No", "OFF", "", "0", "0x0" },
		*const neither[] = { "tru", "yess", "1x", "0 1", "none" };
	for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
		EXPECT_INT(config_text_is_true(yes[i]), 1);
	for (size_t i = 0; i < sizeof no / sizeof *no; i++)
		EXPECT_INT(config_text_is_true(no[i]), 0);
	for (size_t i = 0; i < sizeof neither / sizeof *neither; i++)
		EXPECT_INT(config_text_is_true(neither[i]), -1);
}

TEST("a number has one unit, of 1024 each, and fits 64 bits with it")
{
	static const struct {
		const char *text;
		int64_t value;
	} cases[] = { { "-3", -3 }, { "5K", 5120 }, { "3m", 3 << 20 }, { "3M", 3 << 20 }, { "-2k", -2048 }, { "010", 8 },
		{ "4kk", 7 }, { "4t", 7 },
		{ "4 k", 7 }, { "8589934591g", 8589934591ll << 30 }, { "8589934592g", 7 }, { "9223372036854775807", INT64_MAX },
		{ "9223372036854775808", 7 } };
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct config config = { 0 };
		config_set(&config, CONFIG_USER, "a.b", cases[i].text);
		EXPECT_INT(config_int(&config, "a.b", 7), cases[i].value);
		config_fini(&config);
	}
	struct config config = { 0 };
	config_set(&config, CONFIG_USER, "a.b", "0.5x");
	config_set(&config, CONFIG_USER, "a.c", "");
	EXPECT(config_double(&config, "a.b", 2) == 2 && config_double(&config, "a.c", 3) == 3 && config_double(&config, "a.d", 4) == 4);
	config_fini(&config);
}

TEST("a byte order mark, escapes and continued lines are read, and lines are counted across those that continue")
{
	struct config config;
	struct error err = { 0 };
	EXPECT_INT(parse(&config, "\xef\xbb\xbf[a \"x\\\"y\\\\z\"] b = 1\n"
		"c = \\t\\n\\b\\\"\\\\\n"
		"d = \"a # b ; c\" # d\n"
		"[e.f]\ng_h-1 = last", &err), 0);
	EXPECT_STR(config_get(&config, "a.x\"y\\z.b"), "1");
	EXPECT_STR(config_get(&config, "a.x\"y\\z.c"), "\t\n\b\"\\");
	EXPECT_STR(config_get(&config, "a.x\"y\\z.d"), "a # b ; c");
	EXPECT_STR(config_get(&config, "e.f.g_h-1"), "last");
	EXPECT_INT(config.entries.count, 4);
	config_fini(&config);
	EXPECT(parse(&config, "[a]\nb = 1 \\\n 2\nbad\n", &err) < 0);
	EXPECT_STR(err.text, "bad config file line 4 in file");
	EXPECT_STR(config_get(&config, "a.b"), "1 2");
	config_fini(&config);
	EXPECT_INT(parse(&config, "\xef\xbb\xbf", &err), 0);
	config_fini(&config);
	static const char *const cut[] = { "\xef\xbb", "[a", "[a ", "[a \"", "[a \"b", "[a \"b\\", "[a \"b\"", "[a \"b\"c",
		"[a]b", "[a]b=\\", "[a]b=\"" };
	for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
		EXPECT(parse(&config, cut[i], &err) < 0);
		EXPECT_INT(config.entries.count, 0);
		config_fini(&config);
	}
}

static void write_text(struct str *text, const struct config *config)
{
	FILE *file = tmpfile();
	struct writer out;
	struct error err = { 0 };
	char part[512];
	writer_open(&out, fileno(file), 0);
	config_write(config, CONFIG_USER, &out);
	EXPECT_INT(writer_flush(&out, &err), 0);
	writer_fini(&out);
	rewind(file);
	str_add(text, part, fread(part, 1, sizeof part, file));
	fclose(file);
}

TEST("a written file has each section once, in the order of first settings, and quotes only where a value needs it")
{
	struct config config = { 0 };
	CLEANUP_STR struct str text = { 0 };
	config_set(&config, CONFIG_SYSTEM, "a.x", "of the system");
	config_set(&config, CONFIG_USER, "b.x", "one two");
	config_set(&config, CONFIG_USER, "a.y", "");
	config_set(&config, CONFIG_USER, "b.S \"\\.z", " first");
	config_set(&config, CONFIG_USER, "ab.y", "last ");
	config_set(&config, CONFIG_USER, "b.w", "a\bc");
	write_text(&text, &config);
	EXPECT_STR(str_text(&text), "# this file is auto-generated.\n"
		"[b]\n\tx = one two\n\tw = \"a\\bc\"\n"
		"[a]\n\ty = \n"
		"[b \"S \\\"\\\\\"]\n\tz = \" first\"\n"
		"[ab]\n\ty = \"last \"\n");
	config_fini(&config);
}

TEST("a configuration that cannot be read, or is too large, is an error, and one without rights is empty")
{
	enum { MOST = 1 << 20 };
	char path[] = "/tmp/perfuse-config-XXXXXX";
	struct config config = { 0 };
	struct error err = { 0 };
	int fd = mkstemp(path);
	EXPECT(ftruncate(fd, 0) == 0 && write(fd, "#", 1) == 1 && lseek(fd, MOST - 9, SEEK_SET) > 0);
	EXPECT_INT(write(fd, "\n[a]\nb=1\n", 9), 9);
	char *blanks = memset(malloc(MOST), ' ', MOST);
	EXPECT_INT(pwrite(fd, blanks, MOST - 10, 1), MOST - 10);
	EXPECT_INT(config_read(&config, CONFIG_USER, path, NULL, &err), 0);
	EXPECT_STR(config_get(&config, "a.b"), "1");
	EXPECT_INT(pwrite(fd, "\n", 1, MOST), 1);
	EXPECT(config_read(&config, CONFIG_USER, path, NULL, &err) < 0);
	EXPECT_INT(err.kind, ERROR_LIMIT);
	EXPECT(config_read(&config, CONFIG_USER, "/proc/self/mem", NULL, &err) == 0); /* of no size */
	free(blanks);
	close(fd);
	unlink(path);
	config_fini(&config);
}

TEST("settings that are written are read back unchanged, whatever characters they contain")
{
	static const char *const values[] = { "plain", " blank ends ", "a  b", "\"quoted\"", "back\\slash",
		"# no comment", "a;b", "tab\there", "x=y" };
	char path[] = "/tmp/perfuse-config-XXXXXX";
	int fd = mkstemp(path);
	EXPECT(fd >= 0);
	close(fd);
	struct config out = { 0 }, in = { 0 };
	struct error err = { 0 };
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		char key[32];
		snprintf(key, sizeof key, "%s.v%zu", i % 2 ? "section" : "other.Sub \"x", i);
		config_set(&out, CONFIG_USER, key, values[i]);
	}
	config_set(&out, CONFIG_SYSTEM, "system.x", "1");
	struct writer text;
	fd = open(path, O_WRONLY | O_TRUNC);
	writer_open(&text, fd, 0);
	config_write(&out, CONFIG_USER, &text);
	EXPECT_INT(writer_flush(&text, &err), 0);
	writer_fini(&text);
	close(fd);
	EXPECT_INT(config_read(&in, CONFIG_USER, path, NULL, &err), 0);
	EXPECT_STR(err.text, "");
	EXPECT_INT(in.entries.count, sizeof values / sizeof *values);
	for (size_t i = 0; i < in.entries.count; i++)
		EXPECT_STR(config_get(&in, in.entries.items[i].key), config_get(&out, in.entries.items[i].key));
	EXPECT(config_get(&in, "system.x") == NULL);
	unlink(path);
	config_fini(&out);
	config_fini(&in);
}

TEST("a missing file is empty; a file of another user is refused")
{
	struct config config = { 0 };
	struct error err = { 0 };
	const char *refused = "";
	EXPECT_INT(config_read(&config, CONFIG_USER, "/nonexistent/file", &refused, &err), 0);
	EXPECT(!refused);
	if (geteuid() == 0) {
		char path[] = "/tmp/perfuse-config-XXXXXX";
		int fd = mkstemp(path);
		EXPECT(write(fd, "[a]\nb=1\n", 8) == 8 && fchown(fd, 12345, 12345) == 0);
		close(fd);
		EXPECT_INT(config_read(&config, CONFIG_USER, path, &refused, &err), 0);
		EXPECT(refused != NULL);
		unlink(path);
	}
	EXPECT_INT(config.entries.count, 0);
	config_fini(&config);
}

/* Whether the configuration is read; the file, or what it links to, has one setting. */
static bool is_read(const char *path)
{
	struct config config = { 0 };
	struct error err = { 0 };
	const char *refused;
	EXPECT_INT(config_read(&config, CONFIG_USER, path, &refused, &err), 0);
	bool read = config.entries.count == 1;
	EXPECT(read == !refused);
	config_fini(&config);
	return read;
}

TEST("a file that every user can write is refused; root reads none that another user chose, by a link or in a folder of the user")
{
	enum { OTHER_USER = 12345 };
	char folder[] = "/tmp/perfuse-config-XXXXXX", path[64], link[64];
	EXPECT(mkdtemp(folder) != NULL);
	snprintf(path, sizeof path, "%s/config", folder);
	snprintf(link, sizeof link, "%s/link", folder);
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	EXPECT(write(fd, "[a]\nb=1\n", 8) == 8 && symlink(path, link) == 0);
	EXPECT(is_read(path) && is_read(link));
	EXPECT(fchmod(fd, 0666) == 0 && !is_read(path) && fchmod(fd, 0664) == 0 && is_read(path));
	if (geteuid() == 0) {
		EXPECT(lchown(link, OTHER_USER, OTHER_USER) == 0 && !is_read(link) && is_read(path));
		EXPECT(lchown(link, 0, 0) == 0 && chown(folder, OTHER_USER, OTHER_USER) == 0);
		EXPECT(!is_read(path) && !is_read(link));
	}
	close(fd);
	EXPECT(unlink(path) == 0 && unlink(link) == 0 && rmdir(folder) == 0);
}

TEST("what is no regular file has no settings, and is not opened")
{
	struct config config = { 0 };
	struct error err = { 0 };
	char path[64], events[512];
	const char *refused = "";
	snprintf(path, sizeof path, "/tmp/perfuse-config-%d", (int)getpid());
	EXPECT_INT(mkfifo(path, 0600), 0);
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	EXPECT(inotify_add_watch(watch, path, IN_OPEN) >= 0);
	EXPECT_INT(config_read(&config, CONFIG_USER, path, &refused, &err), 0);
	EXPECT(!refused && config.entries.count == 0 && read(watch, events, sizeof events) < 0);
	EXPECT_INT(config_read(&config, CONFIG_USER, "/dev/null", &refused, &err), 0);
	close(watch);
	unlink(path);
	config_fini(&config);
}

TEST("a key that could not be read back is rejected")
{
	static const char *const bad[] = { "x", ".x", "a.", "a.1", "a b.c", "a.b c", "a.b=", "" };
	struct error err;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		EXPECT(config_check_key(bad[i], &err) < 0);
	EXPECT_INT(config_check_key("report.sort-order", &err), 0);
	EXPECT_INT(config_check_key("a.any thing.name_2", &err), 0);
	EXPECT_INT(config_check_key("a.b.c.d", &err), 0);
	EXPECT(config_check_key("a.b\nc.d", &err) < 0 && config_check_key("a.b.1d", &err) < 0);
	char plain[] = "WORD";
	config_key_lower(plain);
	EXPECT_STR(plain, "word");
	char key[] = "Report.Sub Section.Name";
	config_key_lower(key);
	EXPECT_STR(key, "report.Sub Section.name");
}
