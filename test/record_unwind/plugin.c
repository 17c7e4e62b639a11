/* Loaded while its caller is being recorded. */
__attribute__((noinline)) void plugin_inner(void (*function)(unsigned))
{
	volatile char room[300];
	room[0] = 1;
	function(20000);
	room[1] = room[0];
}

void plugin_call(void (*function)(unsigned))
{
	plugin_inner(function);
	__asm__ volatile("" ::: "memory");
}
