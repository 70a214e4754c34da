package main

import (
	"runtime"
	"sync"
)

const betweenYields = 100

// 100 goroutines share one mutex.  Each loops: lock, increment a counter, unlock.  After 100 rounds
// it yields without the mutex.
func mutex(n int) (stopwatch, int) {
	var lock sync.Mutex
	value := 0
	spent, _ := fiberPool(100, n, func(n int) int {
		for i := 1; i <= n; i++ {
			lock.Lock()
			value++
			lock.Unlock()
			if i%betweenYields == 0 {
				runtime.Gosched()
			}
		}
		return 0
	})
	return spent, value
}
