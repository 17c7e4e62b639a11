// Functions that are inlined into each other and that all have a linker's name: libbfd, which perf asks, knows them by it.
// std::atoi would be one without.
#include <cstdlib>

inline int squares(int count)
{
	volatile int sum = 0;
	for (int i = 0; i < count; i++)
		sum = sum + i * i;
	return sum;
}

inline int twice(int count)
{
	return squares(count) +
	       squares(count / 2);
}

__attribute__((noinline)) int work(int count)
{
	int sum = 0;
	for (int i = 0; i < count; i++)
		sum += twice(i);
	return sum;
}

__attribute__((noinline)) int outer(int times)
{
	int sum = 0;
	for (int i = 0; i < times; i++)
		sum ^= work(1500) + i;
	return sum;
}

int main(int, char **argv)
{
	return outer(static_cast<int>(std::strtol(argv[1], nullptr, 10))) == 42;
}
