package main

import "sync"

// What the i-th of `of` does of n.
func share(n, of, i int) int {
	if i < n%of {
		return n/of + 1
	}
	return n / of
}

// work(its share of n) in each of `fibers` goroutines; the time until all are done, and the sum of what they counted.
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
