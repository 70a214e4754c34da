package main

import "sync"

// The share of n operations that goroutine i of `fibers` does.
func share(n, fibers, i int) int {
	if i < n%fibers {
		return n/fibers + 1
	}
	return n / fibers
}

// Run work(share of n) in each of `fibers` goroutines.  Returns the time until all have ended and
// the sum of their results.
func fiberPool(fibers, n int, work func(n int) int) (stopwatch, int) {
	counts := make([]int, fibers)
	var all sync.WaitGroup
	w := start()
	all.Add(fibers)
	for i := 0; i < fibers; i++ {
		go func(i int) {
			counts[i] = work(share(n, fibers, i))
			all.Done()
		}(i)
	}
	all.Wait()
	spent, sum := w.read(), 0
	for _, count := range counts {
		sum += count
	}
	return spent, sum
}
