#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>
#include <memory>
#include <algorithm>
namespace geo {
struct Point { int x, y; };
class Shape {
public:
	explicit Shape(int id) : id_(id) {}
	virtual ~Shape() {}
	virtual double area(double scale) const = 0;
	int id() const { return id_; }
protected:
	int id_;
	Point origin_{ 3, 4 };
};
class Disc : public Shape {
public:
	Disc(int id, double r) : Shape(id), r_(r) {}
	double area(double scale) const override;
	int moved(const Point &by, int times);
private:
	double r_;
	int count_ = 7;
};
double Disc::area(double scale) const { std::printf("area %d %g\n", id_, scale); return r_ * scale; }
__attribute__((noinline)) int Disc::moved(const Point &by, int times)
{
	std::printf("moved %d %d %d %d\n", by.x, by.y, times, count_);
	origin_.x += by.x * times;
	return origin_.x;
}
template <typename T> __attribute__((noinline)) T biggest(T a, T b) { return a > b ? a : b; }
static inline int folded(int a, int b) { int s = a * 31 + b; return s ^ (s >> 3); }
__attribute__((noinline)) int overloaded(int a) { std::printf("int %d\n", a); return a + folded(a, 1); }
__attribute__((noinline)) int overloaded(int a, int b) { std::printf("two %d %d\n", a, b); return a + b; }
}
__attribute__((noinline)) int total(const std::vector<int> &list, int start)
{
	int sum = start;
	for (int v : list) {
		int doubled = v * 2;
		sum += doubled;
	}
	std::for_each(list.begin(), list.end(), [&](int v) { sum += geo::folded(v, start); });
	return sum;
}
__attribute__((noinline)) std::size_t words(const std::map<std::string, int> &m, const char *name)
{
	auto it = m.find(name);
	return it == m.end() ? 0 : it->second;
}
int main(int argc, char **argv)
{
	int n = argc > 1 ? std::atoi(argv[1]) : 4, sum = 0;
	std::map<std::string, int> m{ { "one", 1 }, { "two", 2 } };
	std::vector<int> v{ 3, 1, 2 };
	for (int i = 0; i < n; i++) {
		geo::Disc d(i, i * 1.5);
		geo::Point p{ i, i + 1 };
		sum += (int)d.area(2.0) + d.moved(p, i * 10);
		sum += geo::overloaded(i) + geo::overloaded(i, sum) + geo::biggest(i, 7) + (int)geo::biggest(1.5, 2.5 * i);
		sum += total(v, i) + (int)words(m, i % 2 ? "one" : "two");
	}
	std::printf("%d\n", sum);
	return 0;
}
