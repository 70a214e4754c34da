package main

import "runtime"

// Goroutines that do nothing but let each other run.
func letOthersRun(n int) int {
	count := 0
	for i := 0; i < n; i++ {
		runtime.Gosched()
		count++
	}
	return count
}

func yield2(n int) (stopwatch, int) {
	return fiberPool(2, n, letOthersRun)
}

func yield100(n int) (stopwatch, int) {
	return fiberPool(100, n, letOthersRun)
}
