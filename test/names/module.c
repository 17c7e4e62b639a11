typedef unsigned long word;
volatile word lab_sink;

static inline __attribute__((always_inline)) word lab_deep(word n)
{
	return n * 7 + lab_sink;
}

static inline __attribute__((always_inline)) void lab_step(word n)
{
	for (word i = 0; i < n; i++)
		lab_sink += lab_deep(i);
}

__attribute__((noinline)) word lab_work(word n)
{
	lab_step(n);
	return lab_sink;
}

__attribute__((noinline, section(".text.unlikely"))) word lab_rare(word n)
{
	return lab_deep(n) ^ 3;
}

__attribute__((section(".init.text"))) int init_module(void)
{
	return (int)lab_work(3);
}

__attribute__((section(".exit.text"))) void cleanup_module(void)
{
	lab_step(4);
}
