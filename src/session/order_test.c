#include "session/order.h"

#include "base/budget.h"
#include "unit.h"

static uint64_t delivered[100000];
static uint64_t offsets[100000];
static size_t count;

static void note(void *context, const struct entry *entry)
{
	delivered[count] = entry->time;
	offsets[count++] = entry->offset;
}

static void add(struct order *order, uint64_t time)
{
	static uint64_t place;
	order_add(order, &(struct entry){ .time = time, .offset = place++ }, 0);
}

TEST("a round flushes the records that are not newer than the newest of the round before")
{
	struct order order = { 0 };
	count = 0;
	add(&order, 5);
	add(&order, 3);
	order_flush(&order, false, note, NULL);
	EXPECT_INT(count, 0);
	add(&order, 7);
	add(&order, 4);
	order_flush(&order, false, note, NULL);
	EXPECT_INT(count, 3);
	EXPECT(delivered[0] == 3 && delivered[1] == 4 && delivered[2] == 5);
	order_flush(&order, true, note, NULL);
	EXPECT_INT(count, 4);
	order_fini(&order);
}

TEST("records of equal time are delivered in file order, whatever the rounds")
{
	struct order order = { 0 };
	uint64_t state = 7;
	count = 0;
	for (int i = 0; i < 50000; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		add(&order, 1 + (uint64_t)i / 100 + (state >> 33) % 5);
		if (i % 777 == 0)
			order_flush(&order, false, note, NULL);
	}
	order_flush(&order, true, note, NULL);
	EXPECT_INT(count, 50000);
	EXPECT_INT(order.late, 0);
	unsigned wrong = 0;
	for (size_t i = 1; i < count; i++)
		wrong += delivered[i - 1] > delivered[i] || (delivered[i - 1] == delivered[i] && offsets[i - 1] > offsets[i]);
	EXPECT_INT(wrong, 0);
	order_fini(&order);
}

TEST("records older than a delivered one are counted as late and still delivered")
{
	struct order order = { 0 };
	count = 0;
	for (uint64_t t = 10; t < 15; t++) {
		add(&order, t);
		order_flush(&order, false, note, NULL);
	}
	add(&order, 2);
	order_flush(&order, true, note, NULL);
	EXPECT_INT(order.late, 1);
	EXPECT_INT(count, 6);
	order_fini(&order);
}

TEST("a thousand rounds that deliver nothing cost no more than one sort")
{
	struct order order = { 0 };
	count = 0;
	for (uint64_t i = 0; i < 50000; i++) {
		add(&order, 1000000 + (i * 7919) % 50000);
		if (i % 50 == 0) {
			order.limit = 0; /* as in a hostile recording: the newest record of the first round is the oldest of all */
			order_flush(&order, false, note, NULL);
			order.limit = 0;
		}
	}
	EXPECT(order.runs.count < 40);
	order_flush(&order, true, note, NULL);
	EXPECT_INT(count, 50000);
	order_fini(&order);
}

struct marks {
	struct order *order;
	uint64_t smallest[6];
	size_t count;
};

static void note_mark(void *context, const struct entry *entry)
{
	struct marks *marks = context;
	marks->smallest[marks->count++] = order_mark(marks->order);
}

TEST("ended runs are delivered together by time, and the mark is that of the oldest run that is not delivered yet")
{
	static const uint64_t times[] = { 30, 10, 40, 20, 50, 50 }, expected[] = { 1, 1, 3, 5, 5, UINT64_MAX };
	struct order order = { 0 };
	struct marks marks = { .order = &order };
	order_end_run(&order);
	for (size_t i = 0; i < 6; i++) {
		order_add(&order, &(struct entry){ .time = times[i], .offset = i }, i + 1);
		if (i % 2)
			order_end_run(&order);
	}
	order_flush(&order, true, note_mark, &marks);
	EXPECT_INT(marks.count, 6);
	for (size_t i = 0; i < 6; i++)
		EXPECT_INT(marks.smallest[i], expected[i]);
	order_fini(&order);
}

TEST("pending records take their size from a budget in steps, and give it back")
{
	enum { STEP = 16 << 20 };
	struct budget budget = { .limit = 3 * STEP };
	struct order order = { 0 };
	EXPECT(order_fits(&order, NULL, UINT64_MAX));
	EXPECT(order_fits(&order, &budget, STEP));
	EXPECT_INT(atomic_load(&budget.used), STEP);
	EXPECT(order_fits(&order, &budget, STEP));
	EXPECT_INT(atomic_load(&budget.used), STEP);
	add(&order, 1);
	EXPECT(!order_fits(&order, &budget, STEP)); /* as much is left over for others as the records take */
	order_settle(&order, &budget);
	EXPECT_INT(atomic_load(&budget.used), 0);
	order_fini(&order);
}
