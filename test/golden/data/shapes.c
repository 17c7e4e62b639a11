/* Variables of every kind and place, for probes and for types of accessed memory: shapes.data has samples at their instructions. */
typedef unsigned char byte;
typedef unsigned short word_t;

enum colour { RED, GREEN = 5, BLUE = -3 };

union number {
	int whole;
	float real;
	byte bytes[8];
};

struct flags {
	unsigned first : 3, second : 7;
	int negative : 5;
	unsigned long wide : 40;
};

struct inner {
	short a;
	const char *name;
	struct flags flags;
};

struct shape {
	enum colour colour;
	_Bool visible;
	char label[12];
	union number size;
	struct inner inner, *other;
	struct {
		int left, right;
	};
	struct shape *children[2];
	double area;
	volatile word_t grid[3][4];
	int (*measure)(const struct shape *, int);
};

struct opaque;

struct list {
	struct list *next, **last;
	struct shape shape;
};

struct shape world = { .label = "world", .inner.name = "inner" };
static struct list lists[4];
static int counter = 7;
const char *const names[] = { "first", "second" };
static struct opaque *hidden;
long sink;


__attribute__((noinline)) int measure_one(const struct shape *shape, int by)
{
	int sum = shape->inner.a * by + shape->left;
	for (int row = 0; row < 3; row++) {
		int in_row = 0;
		for (int column = 0; column < 4; column++)
			in_row += shape->grid[row][column];
		sum += in_row << row;
	}
	return sum + shape->label[by & 7] + shape->size.bytes[by & 3];
}

__attribute__((noinline)) long take_flags(struct flags flags, byte small, short medium, unsigned long large)
{
	long sum = flags.first + flags.second * 3 + flags.negative;
	sum += small + medium;
	return sum + (long)(flags.wide ^ large);
}

__attribute__((noinline)) double take_reals(float one, double two, const struct shape *shape)
{
	double area = shape->area + one;
	if (shape->visible)
		area *= two;
	return area + shape->size.real;
}

/* More arguments than registers, and a local array on the stack. */
__attribute__((noinline)) long take_many(long a, long b, long c, long d, long e, long f, long seventh, struct inner inner, const char *text)
{
	volatile long local[6];
	long *pointer = (long *)&local[1];
	for (long i = 0; i < 6; i++)
		local[i] = a * i + b;
	*pointer += c;
	return local[d & 3] + local[e & 3] + f + seventh + inner.a + text[0] + inner.flags.second;
}

static inline __attribute__((always_inline)) int visit(struct shape *shape, enum colour colour)
{
	int before = shape->colour;
	shape->colour = colour;
	shape->visible = before != (int)colour;
	return before;
}

__attribute__((noinline)) long walk_list(struct list *list, int depth)
{
	long sum = 0;
	while (list) {
		struct shape *shape = &list->shape;
		sum += visit(shape, depth & 1 ? GREEN : BLUE);
		if (shape->other && depth > 0)
			sum += shape->other->a + walk_list(*list->last, depth - 1);
		if (shape->children[1])
			sum += shape->children[1]->inner.flags.second;
		list = list->next;
	}
	return sum;
}

__attribute__((noinline)) int count(void)
{
	static int calls;
	extern struct opaque *volatile outside;
	calls += counter;
	counter = calls & 15;
	if (outside == hidden)
		world.grid[1][2] += 1;
	world.children[calls & 1] = &world;
	return calls;
}

struct opaque *volatile outside;

__attribute__((noinline)) void link_lists(void)
{
	for (int i = 0; i < 4; i++) {
		struct list *list = &lists[i];
		list->next = i < 3 ? list + 1 : 0;
		list->last = &lists[3 - i].next;
		list->shape.other = i & 1 ? &world.inner : 0;
		list->shape.measure = measure_one;
		list->shape.children[i & 1] = &world;
	}
}

__attribute__((noreturn)) void _start(void)
{
	for (;;) {
		link_lists();
		sink += count() + measure_one(&world, 3);
		sink += take_flags(world.inner.flags, 1, -2, 3);
		sink += (long)take_reals(1.5f, 2.5, &world);
		sink += take_many(1, 2, 3, 4, 5, 6, 7, world.inner, names[counter & 1]);
		sink += walk_list(lists, 2);
		sink += lists[1].shape.measure(&lists[0].shape, 1);
	}
}
