#include "base/tuple.h"

#include "unit.h"

TEST("rows of equal keys are one row, with the data of the first")
{
	struct tuples tuples;
	tuples_init(&tuples, 2, 3);
	EXPECT_INT(tuples_add(&tuples, (uint64_t[]){ 1, 2, 100 }), 0);
	EXPECT_INT(tuples_add(&tuples, (uint64_t[]){ 1, 3, 200 }), 1);
	EXPECT_INT(tuples_add(&tuples, (uint64_t[]){ 1, 2, 300 }), 0);
	EXPECT_INT(tuples.count, 2);
	EXPECT_INT(tuples_row(&tuples, 0)[2], 100);
	tuples_fini(&tuples);
}

TEST("a key is found only if it was added")
{
	struct tuples tuples;
	tuples_init(&tuples, 2, 3);
	EXPECT_INT(tuples_find(&tuples, (uint64_t[]){ 1, 2 }), TUPLE_NONE);
	tuples_add(&tuples, (uint64_t[]){ 1, 2, 3 });
	tuples_add(&tuples, (uint64_t[]){ 2, 2, 3 });
	EXPECT_INT(tuples_find(&tuples, (uint64_t[]){ 2, 2 }), 1);
	EXPECT_INT(tuples_find(&tuples, (uint64_t[]){ 2, 1 }), TUPLE_NONE);
	EXPECT_INT(tuples.count, 2);
	tuples_fini(&tuples);
}

TEST("rows are found again after the table has grown")
{
	struct tuples tuples;
	tuples_init(&tuples, 1, 1);
	for (uint64_t i = 0; i < 5000; i++)
		EXPECT_INT(tuples_add(&tuples, &(uint64_t){ i * 7919 }), i);
	for (uint64_t i = 0; i < 5000; i++)
		EXPECT_INT(tuples_add(&tuples, &(uint64_t){ i * 7919 }), i);
	tuples_fini(&tuples);
}

TEST("the account of a table is the memory that it has, before and after it grows")
{
	struct tuples tuples;
	tuples_init(&tuples, 1, 3);
	for (uint64_t i = 0; i < 5000; i++) {
		tuples_add(&tuples, (uint64_t[]){ i, 0, 0 });
		uint64_t slots = tuples.count >= tuples.slot_count / 2 ? 2 * tuples.slot_count : tuples.slot_count; /* grow with the next row */
		EXPECT_INT(tuples_bytes(&tuples, tuples.count), tuples.capacity * 3 * sizeof(uint64_t) + slots * sizeof(struct tuple_slot));
	}
	tuples_fini(&tuples);
}

TEST("without key words all rows are one")
{
	struct tuples tuples;
	tuples_init(&tuples, 0, 0);
	EXPECT_INT(tuples_add(&tuples, &(uint64_t){ 1 }), 0);
	EXPECT_INT(tuples_add(&tuples, &(uint64_t){ 2 }), 0);
	EXPECT_INT(tuples.count, 1);
	tuples_fini(&tuples);
}
