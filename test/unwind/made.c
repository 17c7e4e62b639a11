// Code made at run time, which keeps its frame pointer and is where all the time goes.
#include <string.h>
#include <sys/mman.h>

int main(void)
{
	// push %rbp; mov %rsp, %rbp; mov $1000000000, %ecx; 1: dec %ecx; jnz 1b; pop %rbp; ret
	static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xb9, 0x00, 0xca, 0x9a, 0x3b, 0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3 };
	void *made = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (made == MAP_FAILED)
		return 1;
	memcpy(made, code, sizeof code);
	((void (*)(void))made)();
	return 0;
}
