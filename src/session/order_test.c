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

/* Samples as they are in a recording: the time and a number. */
struct stored {
	uint32_t type;
	uint16_t misc, size;
	uint64_t time, number;
};

static const struct record_times fronts = { .front = 0, .back = 2, .events = 1 };
static uint64_t numbers[100000];

static void note_stored(void *context, const struct entry *entry)
{
	numbers[count] = load_u64(entry->body + 8);
	note(context, entry);
}

static struct entry entry_at(const struct stored *all, size_t i)
{
	return (struct entry){ .time = all[i].time, .offset = i * sizeof *all, .body = (const uint8_t *)&all[i].time };
}

static void put(struct stored *all, size_t i, uint64_t time)
{
	all[i] = (struct stored){ .type = i % 5 ? RECORD_SAMPLE : RECORD_COMM, .size = sizeof *all, .time = time, .number = i };
}

TEST("records of rings are delivered by time, equal ones in file order, without being listed")
{
	enum { ROUNDS = 30, RINGS = 7, EACH = 20, ALL = ROUNDS * RINGS * EACH };
	static struct stored all[ALL];
	struct order order = { 0 };
	count = 0;
	for (size_t i = 0; i < ALL; i++) {
		size_t round = i / (RINGS * EACH), in_ring = i % EACH;
		put(all, i, 1 + round * EACH + in_ring);
		struct entry entry = entry_at(all, i);
		order_add_read(&order, &entry, &fronts, i * sizeof *all);
		if ((i + 1) % (RINGS * EACH) == 0)
			order_flush(&order, false, note_stored, NULL);
	}
	EXPECT(count > 0 && count < ALL);
	EXPECT_INT(order_mark(&order), (ALL - RINGS * EACH) * sizeof *all);
	order_flush(&order, true, note_stored, NULL);
	EXPECT_INT(count, ALL);
	EXPECT_INT(order.waiting + order.fresh.capacity, 0);
	EXPECT_INT(order_mark(&order), UINT64_MAX);
	unsigned wrong = 0;
	for (size_t i = 0; i < count; i++) {
		wrong += offsets[i] != numbers[i] * sizeof *all || delivered[i] != all[numbers[i]].time;
		wrong += i && (delivered[i - 1] > delivered[i] || (delivered[i - 1] == delivered[i] && numbers[i - 1] > numbers[i]));
	}
	EXPECT_INT(wrong, 0);
	order_fini(&order);
}

TEST("records in no order are listed, and none is lost where the listing begins")
{
	enum { ALL = 5000 };
	static struct stored all[ALL];
	struct order order = { 0 };
	count = 0;
	for (size_t i = 0; i < ALL; i++) {
		put(all, i, i < ALL / 2 ? 1 + i : 1 + i - i % 4 + (3 - i % 4));
		struct entry entry = entry_at(all, i);
		order_add_read(&order, &entry, &fronts, i * sizeof *all);
		if (i % 1000 == 999)
			order_flush(&order, false, note_stored, NULL);
	}
	EXPECT(order.lists);
	order_flush(&order, true, note_stored, NULL);
	EXPECT_INT(count, ALL);
	unsigned wrong = 0;
	for (size_t i = 0; i < count; i++)
		wrong += delivered[i] != i + 1 || offsets[i] != numbers[i] * sizeof *all;
	EXPECT_INT(wrong, 0);
	EXPECT_INT(order.waiting, 0);
	order_fini(&order);
}

TEST("the records of one compressed record have its offset")
{
	static struct stored all[6];
	struct order order = { 0 };
	count = 0;
	for (size_t i = 0; i < 6; i++) {
		put(all, i, 10 + i);
		struct entry entry = entry_at(all, i);
		entry.offset = i < 3 ? 777 : 888;
		order_add_read(&order, &entry, &fronts, 1000 + i * sizeof *all);
	}
	order_flush(&order, true, note_stored, NULL);
	EXPECT_INT(count, 6);
	for (size_t i = 0; i < 6; i++)
		EXPECT(numbers[i] == i && offsets[i] == (i < 3 ? 777 : 888));
	order_fini(&order);
}

TEST("a few records that are not needed do not end a stretch, and many do")
{
	enum { ALL = 40, FEW = 4 };
	static struct stored all[ALL];
	struct order order = { 0 };
	count = 0;
	for (size_t i = 0; i < ALL; i++) {
		put(all, i, 10 + i);
		struct entry entry = entry_at(all, i);
		bool needed = i == 0 || i == FEW + 1 || i == ALL - 1;
		if (needed)
			order_add_read(&order, &entry, &fronts, i * sizeof *all);
		else
			order_pass_over(&order, &entry, i * sizeof *all);
	}
	EXPECT_INT(order.max_time, 10 + ALL - 1);
	EXPECT_INT(order.runs.count, 2);
	order_flush(&order, true, note_stored, NULL);
	EXPECT_INT(count, 1 + FEW + 1 + FEW + 1);
	EXPECT(numbers[0] == 0 && numbers[FEW + 1] == FEW + 1 && numbers[count - 1] == ALL - 1);
	order_fini(&order);
}

TEST("a recording that changes while it is read yields no record beyond a stretch")
{
	static const uint16_t sizes[] = { 0, 7, sizeof(struct stored) * 3, UINT16_MAX };
	for (size_t at = 0; at < 2 * sizeof sizes / sizeof *sizes; at++) {
		static struct {
			struct stored all[3];
			uint8_t zeros[1 << 16];
		} mapped; /* as base/mapping does it */
		struct stored *all = mapped.all;
		struct order order = { 0 };
		count = 0;
		for (size_t i = 0; i < 3; i++) {
			put(all, i, 10 + i);
			all[i].type = at % 2 ? RECORD_SAMPLE : RECORD_COMM; /* with the time in front, or at the end */
			struct entry entry = entry_at(all, i);
			order_add_read(&order, &entry, &fronts, i * sizeof *all);
		}
		all[1].size = sizes[at / 2];
		order_flush(&order, true, note_stored, NULL);
		EXPECT_INT(count, 2);
		EXPECT_INT(order.runs.count, 0);
		order_fini(&order);
	}
}

TEST("rounds of every size are sorted, each by its own records alone")
{
	enum { SIZE_MAX_TRIED = 70 };
	struct order order = { 0 };
	for (uint64_t size = 1; size <= SIZE_MAX_TRIED; size++) {
		count = 0;
		for (uint64_t i = 0; i < size; i++)
			add(&order, size * 1000 + size - i);
		order_flush(&order, true, note, NULL);
		EXPECT_INT(count, size);
		for (uint64_t i = 0; i < count; i++)
			EXPECT_INT(delivered[i], size * 1000 + 1 + i);
	}
	order_fini(&order);
}
