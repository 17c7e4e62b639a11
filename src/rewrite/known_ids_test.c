#include "rewrite/known_ids.h"

#include "image/test_folder.h"

TEST("pairs of a build-id and a path are separated by commas, and the first of a path counts")
{
	struct known_ids known = { 0 };
	known_ids_read(&known, "0aFf /bin/a,\t 01  /bin/b c,02 /bin/a");
	EXPECT_INT(known.list.count, 3);
	const struct known_id *a = known_ids_find(&known, "/bin/a"), *b = known_ids_find(&known, "/bin/b c");
	EXPECT(a && a->len == 2 && a->bytes[0] == 0x0a && a->bytes[1] == 0xff && a->bytes[2] == 0);
	EXPECT(b && b->len == 1 && b->bytes[0] == 1);
	EXPECT(!known_ids_find(&known, "/bin/c"));
	known_ids_fini(&known);
}

TEST("a pair counts with at most 20 bytes, whole ones, and a blank behind them")
{
	struct known_ids known = { 0 };
	known_ids_read(&known, "000102030405060708090a0b0c0d0e0f10111213 /20,000102030405060708090a0b0c0d0e0f1011121314 /21,123 /odd,"
		"12\t/tab,12/none,zz /no,12");
	EXPECT_INT(known.list.count, 1);
	const struct known_id *id = known_ids_find(&known, "/20");
	EXPECT(id && id->len == 20 && id->bytes[19] == 0x13);
	known_ids_fini(&known);
}

TEST("a file has one pair per line, and a comma belongs to the path")
{
	static const char text[] = "ab /bin/a,b\ncd /bin/c";
	struct known_ids known = { 0 };
	struct folder folder;
	char name[128];
	folder_open(&folder);
	snprintf(name, sizeof name, "file://%s", folder_write(&folder, "ids", text, sizeof text - 1));
	known_ids_read(&known, name);
	known_ids_read(&known, "file:///nonexistent/file");
	EXPECT_INT(known.list.count, 2);
	EXPECT(known_ids_find(&known, "/bin/a,b") && known_ids_find(&known, "/bin/c"));
	known_ids_fini(&known);
	folder_close(&folder);
}
