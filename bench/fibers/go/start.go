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

// Start goroutines that do nothing, 1,000 at a time.
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

// Start them one after the other.  Go waits for a goroutine by a wait group, which is reused here.
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
