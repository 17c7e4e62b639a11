// Templates, classes and lambdas that are inlined into each other, to be sampled.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace shop {

template <typename T> class Cart {
	std::vector<T> items_;

public:
	void add(T item) { items_.push_back(item); }
	void sort() { std::sort(items_.begin(), items_.end()); }
	T total() const
	{
		T sum = 0;
		for (const T &item : items_)
			sum += item * item;
		return sum;
	}
	template <typename F> void each(F what) const
	{
		for (const T &item : items_)
			what(item);
	}
};

} // namespace shop

static volatile double sink;

__attribute__((noinline)) static double run(int count)
{
	shop::Cart<double> cart;
	double most = 0;
	for (int i = 0; i < count; i++)
		cart.add((i * 7919) % 1000);
	cart.sort();
	cart.each([&](double item) { most = most * 0.5 + item / (1 + most); });
	return cart.total() + most;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? std::atoi(argv[1]) : 100;
	std::map<std::string, int> names;
	for (int i = 0; i < rounds; i++) {
		sink = run(10000);
		for (int k = 0; k < 1000; k++)
			names[std::to_string(k)] += k;
	}
	return names.size() != 1000;
}
