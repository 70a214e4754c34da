package main

import "runtime"

// Goroutines that only yield to each other.
func yieldRepeatedly(n int) int {
	count := 0
	for i := 0; i < n; i++ {
		runtime.Gosched()
		count++
	}
	return count
}

func yield2(n int) (stopwatch, int) {
	return fiberPool(2, n, yieldRepeatedly)
}

func yield100(n int) (stopwatch, int) {
	return fiberPool(100, n, yieldRepeatedly)
}
