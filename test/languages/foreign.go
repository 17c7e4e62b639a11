//go:build cgo && !gccgo

// C, and Go that C calls.
package main

/*
#include <stdint.h>
#define KEEP static __attribute__((noinline)) uint64_t
#define AFTER_CALL(x) __asm__ volatile("" : "+r"(x))
KEEP c_leaf(uint64_t x)
{
	for (int i = 0; i < 20000; i++)
		x = x * 6364136223846793005u + i;
	return x;
}
KEEP c_calls(uint64_t x)
{
	x = c_leaf(x);
	AFTER_CALL(x);
	return x + 1;
}
extern uint64_t goCalledBack(uint64_t x);
KEEP c_calls_back(uint64_t x)
{
	x = goCalledBack(x);
	AFTER_CALL(x);
	return x + 1;
}
*/
import "C"

import "time"

//go:noinline
func leafBack(x uint64) uint64 {
	tell()
	for i := uint64(0); i < 20000; i++ {
		x = x*6364136223846793005 + i
	}
	return x
}

//export goCalledBack
//
//go:noinline
func goCalledBack(x C.uint64_t) C.uint64_t { return C.uint64_t(leafBack(uint64(x)) + 1) }

//go:noinline
func partForeign() {
	for end := time.Now().Add(part); time.Now().Before(end); {
		sink += uint64(C.c_calls(C.uint64_t(sink)))
		sink += uint64(C.c_calls_back(C.uint64_t(sink)))
	}
}
