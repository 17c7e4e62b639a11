// A program whose functions print their own arguments: in registers, in parts of structures, behind pointers, inlined.
package main

import (
	"os"
	"strconv"
)

type Point struct{ X, Y int32 }

type Item struct {
	ID    int64
	Price uint32
	Kind  uint8
	Where Point
	Name  string
	Next  *Item
}

type Priced interface{ Total(count int) int }

func show(word string, numbers ...int64) {
	line := word
	for _, number := range numbers {
		line += " " + strconv.FormatInt(number, 10)
	}
	os.Stdout.WriteString(line + "\n")
}

//go:noinline
func add(a int, b int32, c uint8) int {
	show("add", int64(a), int64(b), int64(c))
	return a + int(b) + int(c)
}

//go:noinline
func (i *Item) Total(count int) int {
	show("total", i.ID, int64(i.Price), int64(i.Kind), int64(i.Where.Y), int64(len(i.Name)), i.Next.ID, int64(count))
	return count * int(i.Price)
}

//go:noinline
func (p Point) Shift(dx, dy int32) Point {
	show("shift", int64(p.X), int64(p.Y), int64(dx), int64(dy))
	return Point{p.X + dx, p.Y + dy}
}

//go:noinline
func sum(list []int64, name string) int64 {
	var total int64
	for _, v := range list {
		total += v
	}
	show("sum", int64(len(list)), list[2], int64(len(name)), total)
	return total
}

func double(v int) int { return 2 * v }

//go:noinline
func cost(p Priced, n int) int { return p.Total(n) }

//go:noinline
func mapped[T int | int64](v T, by T) T { return v * by }

func main() {
	n := 3
	if len(os.Args) > 1 {
		n, _ = strconv.Atoi(os.Args[1])
	}
	each := func(v int) int {
		show("each", int64(v))
		return v + n
	}
	for i := 0; i < n; i++ {
		next := &Item{ID: int64(100 + i)}
		item := &Item{int64(i), uint32(i * 7), uint8(i), Point{int32(i), int32(50 - i)}, "item" + strconv.Itoa(i), next}
		show("double", int64(double(i)))
		add(i, int32(-i), uint8(i+1))
		cost(item, i+2)
		item.Where.Shift(int32(i), 5)
		sum([]int64{1, 2, int64(i)}, item.Name)
		mapped(i, 3)
		mapped(int64(i), int64(4))
		each(i)
	}
}
