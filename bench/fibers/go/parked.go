package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"sync"
)

// Resident memory of this process in bytes.
func residentBytes() float64 {
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

// Many goroutines wait on one channel until it is closed.
func parked(n int) (stopwatch, int) {
	closedToWake := make(chan struct{})
	var starting, running sync.WaitGroup
	debug.FreeOSMemory()
	before, fibers := residentBytes(), float64(n)
	w := start()
	starting.Add(n)
	running.Add(n)
	for i := 0; i < n; i++ {
		go func() {
			starting.Done()
			<-closedToWake
			running.Done()
		}()
	}
	starting.Wait()
	create := w.read().cpu
	metricsAdd("bytes", (residentBytes()-before)/fibers)
	wake := start()
	close(closedToWake)
	running.Wait()
	metricsAdd("create_ns", create/fibers)
	metricsAdd("wake_ns", wake.read().cpu/fibers)
	return w.read(), n
}
