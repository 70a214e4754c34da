package main

import "sync"

// Two goroutines and two unbuffered channels: each round trip sends a number and receives it back.
func rendezvous(n int) (stopwatch, int) {
	request, reply := make(chan int), make(chan int)
	go func() {
		for v := range request {
			reply <- v
		}
	}()
	answer := 0
	w := start()
	for i := 0; i < n; i++ {
		request <- i
		if <-reply == i {
			answer++
		}
	}
	spent := w.read()
	close(request)
	return spent, answer
}

func receive(c chan int, count *int, done *sync.WaitGroup) {
	for range c {
		*count++
	}
	done.Done()
}

// Items through a channel of capacity 128.
func sendAndReceive(n, ends int) (stopwatch, int) {
	c := make(chan int, 128)
	counts := make([]int, ends)
	var received sync.WaitGroup
	w := start()
	received.Add(ends)
	for i := 0; i < ends; i++ {
		go receive(c, &counts[i], &received)
	}
	fiberPool(ends, n, func(n int) int {
		for i := 0; i < n; i++ {
			c <- i
		}
		return 0
	})
	close(c)
	received.Wait()
	spent, answer := w.read(), 0
	for _, count := range counts {
		answer += count
	}
	return spent, answer
}

func buffered1(n int) (stopwatch, int) {
	return sendAndReceive(n, 1)
}

func buffered4(n int) (stopwatch, int) {
	return sendAndReceive(n, 4)
}
