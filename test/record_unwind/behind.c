/* behind MS: a function that ends with a call that never returns, and directly behind it another one whose first row of call frame
 * information says the same, as with the cold parts that compilers put side by side. */
#include <setjmp.h>
#include <stdlib.h>
#include <time.h>

static jmp_buf landing;
static volatile unsigned long sink;

void calls_last(void);
void stands_behind(void);
void never_returns(void);

__attribute__((noreturn)) void never_returns(void)
{
	for (unsigned long i = 0; i < 20000; i++)
		sink = sink * 77 + i;
	longjmp(landing, 1);
}

__asm__(
	".text\n"
	".p2align 4\n"
	".globl calls_last, stands_behind\n"
	".type calls_last, @function\n"
	"calls_last:\n"
	".cfi_startproc\n"
	"sub $8, %rsp\n"
	".cfi_def_cfa_offset 16\n"
	"call never_returns\n"
	".cfi_endproc\n"
	".size calls_last, . - calls_last\n"
	".type stands_behind, @function\n"
	"stands_behind:\n"
	".cfi_startproc\n"
	".cfi_def_cfa_offset 16\n"
	"add $8, %rsp\n"
	".cfi_def_cfa_offset 8\n"
	"ret\n"
	".cfi_endproc\n"
	".size stands_behind, . - stands_behind\n");

int main(int argc, char **argv)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 1000 * (argc > 1 ? atol(argv[1]) : 100);
	while (clock() < end)
		if (!setjmp(landing))
			calls_last();
	return 0;
}
