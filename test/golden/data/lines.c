/* Inlined calls, members of structures, an array, recursion: lines.data has samples at their instructions. */
struct point {
	int x, y;
	struct point *next;
	long weight[4];
};

static struct point points[8];
static volatile long sink;

static inline __attribute__((always_inline)) long scale(long value, long by)
{
	return value * by + (value >> 3);
}

static inline __attribute__((always_inline)) long measure(const struct point *p)
{
	long sum = 0;
	for (int i = 0; i < 4; i++)
		sum += scale(p->weight[i], p->x);
	return sum;
}

__attribute__((noinline)) long walk(struct point *p)
{
	long sum = 0;
	for (; p; p = p->next) {
		p->y = (int)measure(p);
		sum += p->y;
	}
	return sum;
}

__attribute__((noinline)) long dig(long depth)
{
	if (depth <= 0)
		return walk(points);
	return dig(depth - 1) + scale(depth, 3);
}

__attribute__((noinline)) void fill(void)
{
	for (int i = 0; i < 8; i++) {
		points[i].x = i;
		points[i].next = i < 7 ? &points[i + 1] : 0;
		for (int k = 0; k < 4; k++)
			points[i].weight[k] = i * k;
	}
}

__attribute__((noreturn)) void _start(void)
{
	for (;;) {
		fill();
		sink = dig(5);
	}
}
