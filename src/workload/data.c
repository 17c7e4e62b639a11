/* A workload that reads and writes two fields of one variable until it is killed. */
#include "workload/programs.h"

enum { LINE_BYTES = 64, SECOND_AT = 56 };

/* perf's test for the names of data expects accesses of buf1+0x0 and buf1+0x38. */
static volatile struct {
	char data1;
	char between[SECOND_AT - 1];
	char data2;
} buf1 __attribute__((aligned(LINE_BYTES))) = { .between = { 1 } };

int datasym(int argc, const char **argv)
{
	(void)argc, (void)argv;
	for (;;) {
		buf1.data1++;
		buf1.data2 += buf1.data1;
	}
	return 0;
}
