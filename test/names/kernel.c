/* Stands for vmlinux: linked where a kernel lies, with code that runs at boot alone in a section of its own. */
typedef unsigned long word;
volatile word lab_sink;

static inline __attribute__((always_inline)) void lab_add(word n)
{
	lab_sink += n * lab_sink;
}

__attribute__((noinline)) void lab_schedule(word n)
{
	for (word i = 0; i < n; i++)
		lab_add(i);
}

__attribute__((noinline)) void lab_idle(void)
{
	lab_schedule(5);
	lab_add(6);
}

__attribute__((section(".init.text"))) void lab_start(void)
{
	lab_idle();
	lab_add(7);
}
