#include "analysis/lock/lock_type.h"

#include <stdlib.h>

#include "unit.h"

TEST("flags have the names of their kind, and of their kind with the access")
{
	EXPECT_STR(lock_type_text(0), "semaphore");
	EXPECT_STR(lock_type_text(1), "spinlock");
	EXPECT_STR(lock_type_text(3), "rwlock:R");
	EXPECT_STR(lock_type_text(4), "rwsem:W");
	EXPECT_STR(lock_type_text(18), "pcpu-sem:R");
	EXPECT_STR(lock_type_text(33), "mutex");
	EXPECT_STR(lock_type_text(7), "unknown");
	EXPECT_STR(lock_type_name(20), "percpu-rwsem");
	EXPECT_STR(lock_type_name(10), "rwlock-rt");
	EXPECT_STR(lock_type_name(0x80000002), "rwsem"); /* bits above the flags are not the kernel's */
}

TEST("a name denotes every access of its kind, a text one access")
{
	struct lock_flags flags = { 0 };
	EXPECT_INT(lock_types_parse(&flags, " rwsem, mutex:spin,,spinlock", NULL), 0);
	EXPECT_INT(flags.list.count, 4);
	EXPECT_INT(flags.list.items[0], 2);
	EXPECT_INT(flags.list.items[1], 4);
	EXPECT_INT(flags.list.items[2], 33);
	EXPECT_INT(flags.list.items[3], 1);
	vec_clear(&flags.list);
	EXPECT_INT(lock_types_parse(&flags, "mutex", NULL), 0);
	EXPECT_INT(flags.list.count, 2);
	vec_fini(&flags.list);
}

TEST("an unknown kind is named in the error")
{
	struct lock_flags flags = { 0 };
	struct error err = { 0 };
	EXPECT(lock_types_parse(&flags, "mutex,futexes", &err) < 0);
	EXPECT_STR(err.text, "Unknown lock name: futexes");
	EXPECT(lock_types_parse(&flags, "rwsem:X", &err) < 0);
	EXPECT_STR(err.text, "Unknown lock flags name: rwsem:X");
	vec_fini(&flags.list);
}
