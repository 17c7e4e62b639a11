// Goroutines, deep recursion, panics in flight, stacks that grow, signals, calls of C and back: each leaf says, by runtime.Callers, what
// called it and at which lines: "chain", its name, "NAME:LINE" of each caller, with tabs between. First argument: milliseconds a part.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

var part time.Duration
var sink uint64
var told sync.Map

// tell prints, once for each function, what called it.
//
//go:noinline
func tell() {
	var pcs [2000]uintptr
	n := runtime.Callers(2, pcs[:])
	if _, before := told.LoadOrStore(pcs[0], true); before {
		return
	}
	frames := runtime.CallersFrames(pcs[:n])
	words := []string{"chain"}
	for {
		frame, more := frames.Next()
		word := frame.Function
		if len(words) > 1 {
			word += fmt.Sprint(":", frame.Line)
		}
		words = append(words, word)
		if !more {
			break
		}
	}
	fmt.Println(strings.Join(words, "\t"))
}

//go:noinline
func leafPlain(x uint64) uint64 {
	tell()
	for i := uint64(0); i < 20000; i++ {
		x = x*6364136223846793005 + i
	}
	return x
}

//go:noinline
func bigFrame(x uint64) uint64 {
	var room [3000]uint64
	room[x%3000] = x
	y := leafPlain(x)
	return y + room[(x+1)%3000]
}

//go:noinline
func partPlain() {
	for end := time.Now().Add(part); time.Now().Before(end); {
		sink += bigFrame(sink)
	}
}

//go:noinline
func leafDeep(x uint64) uint64 {
	tell()
	for i := uint64(0); i < 20000; i++ {
		x = x*2862933555777941757 + i
	}
	return x
}

//go:noinline
func deep(n int, x uint64) uint64 {
	if n == 0 {
		return leafDeep(x) + 1
	}
	return deep(n-1, x+1) + 1
}

//go:noinline
func partDeep() {
	for end := time.Now().Add(part); time.Now().Before(end); {
		sink += deep(150, sink)
	}
}

//go:noinline
func leafGo(x uint64) uint64 {
	tell()
	for i := uint64(0); i < 20000; i++ {
		x = x*6364136223846793005 + i
	}
	return x
}

//go:noinline
func worker(done *sync.WaitGroup, out chan<- uint64) {
	x := uint64(1)
	for i := 0; i < 5; i++ {
		x += leafGo(x)
	}
	out <- x
	done.Done()
}

//go:noinline
func partGoroutines() {
	for end := time.Now().Add(part); time.Now().Before(end); {
		var done sync.WaitGroup
		out := make(chan uint64, 8)
		for i := 0; i < 8; i++ {
			done.Add(1)
			go worker(&done, out)
		}
		done.Wait()
	}
}

//go:noinline
func leafDefer(x uint64) {
	tell()
	for i := uint64(0); i < 20000; i++ {
		x = x*6364136223846793005 + i
	}
	sink += x
}

//go:noinline
func recovers(x uint64) {
	defer func() {
		recover()
		leafDefer(x)
	}()
	if x != 1 {
		panic(x)
	}
}

//go:noinline
func partPanics() {
	for end := time.Now().Add(part); time.Now().Before(end); {
		recovers(sink + 2)
	}
}

// The stack is copied to a bigger one, again and again.
//
//go:noinline
func grow(n int, x uint64) uint64 {
	var room [256]uint64
	room[n%256] = x
	if n == 0 {
		return leafGrow(x) + room[x%256]
	}
	return grow(n-1, x) + room[(x+1)%256]
}

//go:noinline
func leafGrow(x uint64) uint64 {
	tell()
	for i := uint64(0); i < 20000; i++ {
		x = x*6364136223846793005 + i
	}
	return x
}

//go:noinline
func growing(done chan bool) {
	sink += grow(20, sink)
	done <- true
}

//go:noinline
func partGrowing() {
	done := make(chan bool)
	for end := time.Now().Add(part); time.Now().Before(end); {
		go growing(done)
		<-done
	}
}

//go:noinline
func leafSignals(x uint64) uint64 {
	tell()
	for i := uint64(0); i < 20000; i++ {
		x = x*6364136223846793005 + i
	}
	return x
}

//go:noinline
func partSignals() {
	arrived := make(chan os.Signal, 100)
	signal.Notify(arrived, syscall.SIGUSR1)
	stop := make(chan bool)
	go func() {
		for {
			select {
			case <-stop:
				return
			default:
				syscall.Kill(syscall.Getpid(), syscall.SIGUSR1)
				time.Sleep(200 * time.Microsecond)
			}
		}
	}()
	for end := time.Now().Add(part); time.Now().Before(end); {
		sink += leafSignals(sink)
	}
	stop <- true
	signal.Stop(arrived)
}

type node struct {
	next *node
	data [10]uint64
}

// Allocation and its collector: the runtime's own stacks.
//
//go:noinline
func partMemory() {
	var list *node
	for end := time.Now().Add(part); time.Now().Before(end); {
		for i := 0; i < 1000; i++ {
			list = &node{next: list}
			if i%500 == 0 {
				list = nil
			}
		}
	}
	if list != nil {
		sink++
	}
}

func main() {
	ms, _ := strconv.Atoi(os.Args[1])
	part = time.Duration(ms) * time.Millisecond
	partPlain()
	partDeep()
	partGoroutines()
	partGeneric()
	partPanics()
	partGrowing()
	partSignals()
	partMemory()
	partForeign()
}
