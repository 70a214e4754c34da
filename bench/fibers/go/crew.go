package main

import "sync"

// What the i-th of `of` does of n.
func share(n, of, i int) int {
	if i < n%of {
		return n/of + 1
	}
	return n / of
}

// work(its share of n) in each of `hands` goroutines; the time until all are done, and the sum of what they counted.
func crew(hands, n int, work func(n int) int) (stopwatch, int) {
	counts := make([]int, hands)
	var all sync.WaitGroup
	w := start()
	all.Add(hands)
	for i := 0; i < hands; i++ {
		go func(i int) {
			counts[i] = work(share(n, hands, i))
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
