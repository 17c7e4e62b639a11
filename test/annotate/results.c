/* A loop that writes to what calls return, without a variable: only the types of the functions' results tell what it is. */
#include <stdio.h>
#include <stdlib.h>
struct item { struct item *next; long before[6], value; };
struct other { long unused[3], count; };
static struct item items[64];
static struct other others[64];
__attribute__((noipa)) static struct item *item_at(unsigned long i)
{
	return &items[i % 64];
}
__attribute__((noipa)) static struct other *other_at(unsigned long i)
{
	return &others[i % 64];
}
long visit_others(unsigned long n);
__attribute__((noipa)) long visit(unsigned long n)
{
	long s = 0;
	for (unsigned long i = 0; i < n; i++) {
		*item_at(i) = (struct item){ items, { s, s ^ i, s + i, s - i, s & i, s | i }, s };
		*other_at(i) = (struct other){ { s, s ^ i, s - i }, s++ };
	}
	return s;
}
int main(int argc, char **argv)
{
	long s = 0, rounds = argc > 1 ? atoi(argv[1]) * 100 : 3000;
	for (long i = 0; i < rounds; i++)
		s += visit(30000);
	printf("%ld\n", s + visit_others(2));
}
