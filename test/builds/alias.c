/* A function with several names, as the C library's have: what it is called depends on who is asked. */
volatile unsigned long sink;

static inline __attribute__((always_inline)) void inner(unsigned long count)
{
	for (unsigned long i = 0; i < count; i++)
		sink += i;
}

__attribute__((noinline)) void leaf(unsigned long count)
{
	inner(count);
}

__attribute__((noinline)) void work_impl(unsigned long count)
{
	leaf(count);
	sink++;
}

extern __typeof(work_impl) work_public __attribute__((alias("work_impl")));
static __typeof(work_impl) work_local __attribute__((alias("work_impl"), used));
extern __typeof(work_impl) __work __attribute__((alias("work_impl"), weak));

int main(void)
{
	for (int i = 0; i < 40; i++)
		work_public(10000000);
	return 0;
}
