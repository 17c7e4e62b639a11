// Templates, closures and inlined members, for annotate.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace shop {
template <typename T> struct Sum {
	std::vector<T> items;
	void add(T item) { items.push_back(item); }
	T total() const
	{
		T sum{};
		for (const auto &item : items)
			sum += item;
		return sum;
	}
};
} // namespace shop

static __attribute__((noinline)) double work(int count)
{
	shop::Sum<double> sum;
	for (int i = 0; i < count; i++)
		sum.add((i * 7919) % 1000 * 0.5);
	std::sort(sum.items.begin(), sum.items.end(), [](double a, double b) { return a > b; });
	return sum.total();
}

int main(int argc, char **argv)
{
	double total = 0;
	for (int i = 0, rounds = argc > 1 ? atoi(argv[1]) : 20; i < rounds; i++)
		total += work(50000);
	printf("%f\n", total);
	return 0;
}
