//go:build !gccgo

// Generic functions and methods: gccgo of Debian 12 does not know them.
package main

import "time"

type shape interface{ area(x uint64) uint64 }
type square struct{ side uint64 }

//go:noinline
func (s *square) area(x uint64) uint64 {
	tell()
	for i := uint64(0); i < 20000; i++ {
		x = x*s.side + i
	}
	return x
}

//go:noinline
func mapped[T any](list []T, what func(T) uint64) (sum uint64) {
	for _, item := range list {
		sum += what(item)
	}
	return
}

//go:noinline
func partGeneric() {
	list := []shape{&square{7}, &square{9}}
	for end := time.Now().Add(part); time.Now().Before(end); {
		sink += mapped(list, func(s shape) uint64 { return s.area(sink) + 1 })
	}
}
