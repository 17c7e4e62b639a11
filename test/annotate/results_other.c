/* Functions with the names of those of results.c, whose results are of other types. */
struct wrong { long value[9]; };
static struct wrong wrong[2];
__attribute__((noipa)) static struct wrong *item_at(unsigned long i)
{
	return &wrong[i % 2];
}
__attribute__((noipa)) static struct wrong *other_at(unsigned long i)
{
	return &wrong[i % 2];
}
long visit_others(unsigned long n)
{
	return item_at(n)->value[0] + other_at(n)->value[8];
}
