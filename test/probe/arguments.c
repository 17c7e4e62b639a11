#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
enum colour { RED = 1, GREEN = 2, BLUE = 9 };
struct bits { unsigned low : 3, mid : 7; int high : 6; };
struct inner { int x; char name[16]; };
union any { long whole; short half; };
struct outer {
	struct inner in;
	struct inner *link;
	int table[4];
	const char *label;
	struct bits flags;
	union any u;
	struct {
		int anon_a;
		long anon_b;
	};
};
int counter = 5;
static long hidden = 77;
const char *const words[] = { "alpha", "beta", "gamma" };

__attribute__((noinline)) int simple(int a, long b, unsigned char c, const char *text)
{
	printf("simple %d %ld %u %s\n", a, b, c, text);
	return a + (int)b;
}
__attribute__((noinline)) long members(struct outer *o, int i)
{
	printf("members %d %d %s %d %u %d %ld\n", o->in.x, o->link->x, o->label, o->table[2], o->flags.mid, o->flags.high, o->anon_b);
	return o->table[i & 3] + o->u.half;
}
__attribute__((noinline)) double real(double d, float f, int after)
{
	printf("real %g %g %d\n", d, (double)f, after);
	return d + f;
}
static inline __attribute__((always_inline)) int inlined(int v, int w)
{
	int local = v * 3 + w;
	counter += local;
	return local;
}
__attribute__((noinline)) static int user(int n)
{
	int r = inlined(n, 2);
	if (n > 3)
		r += inlined(n + 1, 7);
	for (int i = 0; i < n; i++) {
		int square = i * i;
		r += square;
		printf("square %d\n", square);
	}
	return r;
}
__attribute__((noinline)) int recursive(int depth, enum colour c)
{
	if (depth <= 0)
		return c;
	hidden += depth;
	return recursive(depth - 1, c) + 1;
}
__attribute__((noinline)) int sum(const int *list, size_t n)
{
	int s = 0;
	for (size_t i = 0; i < n; i++)
		s += list[i];
	return s;
}
int main(int argc, char **argv)
{
	static struct inner child = { 42, "kid" };
	struct outer o = { .in = { argc, "top" }, .link = &child, .table = { 10, 20, 30, 40 }, .label = words[argc % 3], .flags = { 5, 99, -7 },
		.u.whole = 123456789, .anon_a = 1, .anon_b = 1L << 40 };
	int n = argc > 1 ? atoi(argv[1]) : 5, total = 0;
	for (int i = 0; i < n; i++) {
		o.in.x = i;
		o.flags.mid = i * 3;
		total += simple(i, -i * 1000L, (unsigned char)(250 + i), words[i % 3]);
		total += (int)members(&o, i);
		total += (int)real(i * 1.5, i / 2.0f, i);
		total += user(i);
		total += recursive(i, BLUE);
		total += sum(o.table, 4);
	}
	printf("total %d counter %d hidden %ld\n", total, counter, hidden);
	return 0;
}
