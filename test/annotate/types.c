/* A program whose loops access lists, tables and local variables of known types. */
#include <stdio.h>
#include <stdlib.h>
struct point { int x, y; struct { long a, b; } in; union { int u; float f; } v; unsigned flag : 3, rest : 29; char name[24]; };
struct node { struct node *next; struct point p; double w; void (*fn)(int); };
static struct { unsigned long count; struct node *head; } list;
long table[4096];
struct point global_point;
static __attribute__((noinline)) long walk(struct node *n, long k)
{
	long s = 0;
	while (n) { s += n->p.x * k + n->p.in.b; n->w += s; n->p.flag = s; n = n->next; }
	return s;
}
static __attribute__((noinline)) long sum(const long *t, int n)
{
	long s = 0;
	for (int i = 0; i < n; i++) { s += t[i]; table[i & 4095] ^= s; global_point.in.a += s; }
	return s;
}
static __attribute__((noinline)) long locals(int n)
{
	struct point pts[8] = { 0 };
	for (int i = 0; i < n; i++) { pts[i & 7].x += i; pts[(i + 1) & 7].in.b ^= pts[i & 7].x; }
	return pts[3].x + pts[2].in.b;
}
int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) * 600 : 18000;
	long s = 0;
	for (int i = 0; i < 1000; i++) { struct node *n = calloc(1, sizeof *n); n->next = list.head; list.head = n; list.count++; }
	for (int i = 0; i < rounds; i++) { s += walk(list.head, i); s += sum(table, 1000); s += locals(1000); list.count += s; }
	printf("%ld\n", s);
}
