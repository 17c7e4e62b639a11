// A function whose name is thousands of characters long.
#include <cstdlib>
#include <map>
#include <string>
#include <tuple>
#include <vector>

template <typename... T> struct Work {
	__attribute__((noinline)) static int inner(int count)
	{
		volatile int sum = 0;
		for (int i = 0; i < count; i++)
			sum = sum + i;
		return sum;
	}
	__attribute__((noinline)) static int outer(int count)
	{
		return inner(count) + 1;
	}
};

using Part = std::map<std::string, std::vector<std::tuple<std::string, std::map<std::string, std::string>>>>;

int main(int, char **argv)
{
	int sum = 0;
	for (int i = 0; i < std::atoi(argv[1]); i++)
		sum ^= Work<Part>::outer(20000);
	return sum == 42;
}
