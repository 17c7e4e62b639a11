#include "base/error.h"

#include <errno.h>

#include "unit.h"

static int fail(struct error *err)
{
	return error_set(err, ERROR_FORMAT, "record at %d claims %d bytes", 104, 7);
}

TEST("error_set returns -1 and stores the message")
{
	struct error err = { 0 };
	EXPECT_INT(fail(&err), -1);
	EXPECT_INT(err.kind, ERROR_FORMAT);
	EXPECT_STR(err.text, "record at 104 claims 7 bytes");
	EXPECT_STR(err.hint, "");
	EXPECT_INT(fail(NULL), -1);
}

TEST("a failed system call is named, and a denied one is a permission error")
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

TEST("a hint accompanies the message until the next failure")
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

TEST("a sentence that exceeds its buffer is truncated")
{
	struct error err = { 0 };
	error_set(&err, ERROR_USAGE, "%01000d", 1);
	EXPECT_INT(strlen(err.text), sizeof err.text - 1);
	errno = ENOENT;
	error_system(&err, "%01000d", 1);
	EXPECT_INT(strlen(err.text), sizeof err.text - 1);
}

TEST("names in a failure make no lines of their own, the lines of its own text stay")
{
	struct error err = { 0 };
	error_set(&err, ERROR_FORMAT, "no event '%s'\nsee %s", "a\nFORGED", "b\r\nFORGED");
	EXPECT_STR(err.text, "no event 'a?FORGED'\nsee b??FORGED");
	error_hint(&err, "%.*s is not there", 5, "c\nFOR");
	EXPECT_STR(err.hint, "c?FOR is not there");
	errno = ENOENT;
	error_system(&err, "%s", "d\nFORGED");
	EXPECT_STR(err.text, "d?FORGED: No such file or directory");
	error_set(&err, ERROR_FORMAT, "%s", "two\nlines");
	EXPECT_STR(err.text, "two\nlines");
}
