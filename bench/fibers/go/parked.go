package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"sync"
)

// Bytes of memory that this process has in use.
func inUse() float64 {
	var size, pages int
	text, err := os.ReadFile("/proc/self/statm")
	if err == nil {
		_, err = fmt.Sscan(string(text), &size, &pages)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fibers on go:", err)
		os.Exit(1)
	}
	return float64(pages) * float64(os.Getpagesize())
}

// Many goroutines that all wait at one channel, until it is closed.
func parked(n int) (stopwatch, int) {
	gate := make(chan struct{})
	var coming, leaving sync.WaitGroup
	debug.FreeOSMemory()
	before, fibers := inUse(), float64(n)
	w := start()
	coming.Add(n)
	leaving.Add(n)
	for i := 0; i < n; i++ {
		go func() {
			coming.Done()
			<-gate
			leaving.Done()
		}()
	}
	coming.Wait()
	create := w.read().cpu
	metricsAdd("bytes", (inUse()-before)/fibers)
	wake := start()
	close(gate)
	leaving.Wait()
	metricsAdd("create_ns", create/fibers)
	metricsAdd("wake_ns", wake.read().cpu/fibers)
	return w.read(), n
}
