package main

import "sync"

const batchSize = 1000

func batch(n int) {
	var all sync.WaitGroup
	all.Add(n)
	for i := 0; i < n; i++ {
		go all.Done()
	}
	all.Wait()
}

// Goroutines that do nothing, a thousand at a time.
func startBatch(n int) (stopwatch, int) {
	answer := 0
	w := start()
	for left := n; left > 0; left -= batchSize {
		now := left
		if now > batchSize {
			now = batchSize
		}
		batch(now)
		answer += now
	}
	return w.read(), answer
}

// One after the other.  To wait for a goroutine, Go has the wait group, which can be used again.
func startOne(n int) (stopwatch, int) {
	answer := 0
	var one sync.WaitGroup
	addOne := func() {
		answer++
		one.Done()
	}
	w := start()
	for i := 0; i < n; i++ {
		one.Add(1)
		go addOne()
		one.Wait()
	}
	return w.read(), answer
}
