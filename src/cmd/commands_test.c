#include "cmd/commands.h"

#include "unit.h"

TEST("commands are in order of their names, and each is found by its whole name alone")
{
	EXPECT(commands_count() > 1);
	for (size_t i = 0; i < commands_count(); i++) {
		const struct command *command = commands_at(i);
		char longer[64];
		EXPECT(commands_find(command->name) == command);
		if (i)
			EXPECT(strcmp(commands_at(i - 1)->name, command->name) < 0);
		snprintf(longer, sizeof longer, "%sx", command->name);
		EXPECT(commands_find(longer) == NULL);
		longer[strlen(command->name) - 1] = '\0';
		EXPECT(commands_find(longer) == NULL);
	}
	EXPECT(commands_find("") == NULL);
}

TEST("a command of perf that perfuse has not is awaited, others are not")
{
	EXPECT(commands_awaited("c2c"));
	EXPECT(commands_awaited("kmem"));
	EXPECT(!commands_awaited("trace"));
	EXPECT(!commands_awaited("record"));
	EXPECT(!commands_awaited("version"));
	EXPECT(!commands_awaited("flamegraph"));
	EXPECT(!commands_awaited("anno"));
	EXPECT(!commands_awaited(""));
}

TEST("the distance of words counts letters added, removed, replaced, and neighbours swapped once")
{
	EXPECT_INT(word_distance("", ""), 0);
	EXPECT_INT(word_distance("", "abc"), 3);
	EXPECT_INT(word_distance("abc", ""), 3);
	EXPECT_INT(word_distance("report", "report"), 0);
	EXPECT_INT(word_distance("reports", "report"), 1);
	EXPECT_INT(word_distance("eport", "report"), 1);
	EXPECT_INT(word_distance("repart", "report"), 1);
	EXPECT_INT(word_distance("erport", "report"), 1);
	EXPECT_INT(word_distance("repotr", "report"), 1);
	EXPECT_INT(word_distance("erpotr", "report"), 2);
	EXPECT_INT(word_distance("rpeort", "recrod"), 4);
	EXPECT_INT(word_distance("kitten", "sitting"), 3);
}

TEST("words of 64 letters are compared, longer ones are far from every other")
{
	char a[66], b[66];
	memset(a, 'x', sizeof a);
	memset(b, 'x', sizeof b);
	a[64] = b[64] = '\0';
	b[63] = 'y';
	EXPECT_INT(word_distance(a, b), 1);
	a[64] = 'x';
	a[65] = '\0';
	EXPECT_INT(word_distance(a, b), 64);
	EXPECT_INT(word_distance(b, a), 64);
}

static void expect_nearest(const char *word, size_t count, const char *names)
{
	CLEANUP_STR struct str found = { 0 };
	EXPECT_INT(commands_nearest(word, &found), count);
	EXPECT_STR(str_text(&found), names);
}

TEST("the nearest commands are those at most two edits away, and of these the nearest alone")
{
	expect_nearest("reprot", 1, "\treport");
	expect_nearest("reor", 2, "\trecord\n\treport");
	expect_nearest("repo", 1, "\treport");
	expect_nearest("hel", 1, "\thelp");
	expect_nearest("elph", 1, "\thelp");
	expect_nearest("elpho", 0, "");
	expect_nearest("recort", 2, "\trecord\n\treport");
	expect_nearest("report", 1, "\treport");
	expect_nearest("zzzzzz", 0, "");
}
