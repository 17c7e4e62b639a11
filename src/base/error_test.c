#include "base/error.h"

#include <errno.h>

#include "unit.h"

static int fail(struct error *err)
{
	return error_set(err, ERROR_FORMAT, "record at %d claims %d bytes", 104, 7);
}

TEST("a failure is one line that returns -1 and says why")
{
	struct error err = { 0 };
	EXPECT_INT(fail(&err), -1);
	EXPECT_INT(err.kind, ERROR_FORMAT);
	EXPECT_STR(err.text, "record at 104 claims 7 bytes");
	EXPECT_STR(err.hint, "");
	EXPECT_INT(fail(NULL), -1);
}

TEST("a failed system call says which, and a refused one is a permission")
{
	struct error err = { 0 };
	errno = ENOENT;
	EXPECT_INT(error_system(&err, "opening %s", "x"), -1);
	EXPECT_STR(err.text, "opening x: No such file or directory");
	EXPECT_INT(err.kind, ERROR_SYSTEM);
	EXPECT_INT(err.sys, ENOENT);
	errno = EACCES;
	error_system(&err, "opening %s", "x");
	EXPECT_INT(err.kind, ERROR_PERMISSION);
}

TEST("a hint stands beside the sentence until the next failure")
{
	struct error err = { 0 };
	fail(&err);
	error_hint(&err, "try %s", "again");
	EXPECT_STR(err.hint, "try again");
	fail(&err);
	EXPECT_STR(err.hint, "");
	error_clear(&err);
	EXPECT_INT(err.kind, ERROR_NONE);
}

TEST("a sentence longer than its room is cut, not overrun")
{
	struct error err = { 0 };
	error_set(&err, ERROR_USAGE, "%01000d", 1);
	EXPECT_INT(strlen(err.text), sizeof err.text - 1);
	errno = ENOENT;
	error_system(&err, "%01000d", 1);
	EXPECT_INT(strlen(err.text), sizeof err.text - 1);
}
