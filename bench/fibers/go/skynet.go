package main

import "sync"

const children = 10

func leavesOf(depth int) int {
	if depth == 0 {
		return 1
	}
	return children * leavesOf(depth-1)
}

func skynetFibers(depth int) int {
	if depth == 0 {
		return 1
	}
	return leavesOf(depth) + skynetFibers(depth-1)
}

func skynetSum(depth int) int {
	return leavesOf(depth) * (leavesOf(depth) - 1) / 2
}

// A child sends its sum to its parent through a channel, as in the published program.
func sumByChannel(first, leaves int) int {
	if leaves == 1 {
		return first
	}
	c := make(chan int)
	part := leaves / children
	for i := 0; i < children; i++ {
		go func(first int) {
			c <- sumByChannel(first, part)
		}(first + i*part)
	}
	sum := 0
	for i := 0; i < children; i++ {
		sum += <-c
	}
	return sum
}

// A child stores its sum in an array of its parent, which waits for all of its children.
func sumByJoins(first, leaves int) int {
	if leaves == 1 {
		return first
	}
	var sums [children]int
	var all sync.WaitGroup
	part := leaves / children
	all.Add(children)
	for i := 0; i < children; i++ {
		go func(i int) {
			sums[i] = sumByJoins(first+i*part, part)
			all.Done()
		}(i)
	}
	all.Wait()
	sum := 0
	for _, s := range sums {
		sum += s
	}
	return sum
}

func timeSkynet(depth int, sum func(first, leaves int) int) (stopwatch, int) {
	w := start()
	answer := sum(0, leavesOf(depth))
	spent := w.read()
	metricsAdd("peak_mb", float64(peakKB())/1024)
	return spent, answer
}

func skynet(depth int) (stopwatch, int) {
	return timeSkynet(depth, sumByChannel)
}

func skynetJoin(depth int) (stopwatch, int) {
	return timeSkynet(depth, sumByJoins)
}
