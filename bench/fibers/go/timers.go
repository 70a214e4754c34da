package main

import (
	"sort"
	"sync"
	"time"
)

const sleeps = 10

func nextDuration(random *uint32) time.Duration {
	*random = *random*1664525 + 1013904223
	return time.Duration(1000+(*random>>8)%19001) * time.Microsecond
}

func sleepTenTimes(number int, late []float64) {
	random := uint32(number)
	for i := range late {
		d := nextDuration(&random)
		began := time.Now()
		time.Sleep(d)
		late[i] = float64(time.Since(began)-d) / 1e6
	}
}

// Number of goroutines that never woke too early.
func countPunctual(late []float64, n int) int {
	punctual := 0
	for i := 0; i < n; i++ {
		mine := append([]float64{0}, late[i*sleeps:(i+1)*sleeps]...)
		sort.Float64s(mine)
		if mine[0] == 0 {
			punctual++
		}
	}
	return punctual
}

func addLateness(late []float64) {
	n := len(late)
	sort.Float64s(late)
	metricsAdd("late_p50_ms", late[n/2])
	metricsAdd("late_p99_ms", late[n-1-n/100])
}

// Many goroutines sleep ten times each, for 1 to 20 ms.  The sleeps begin when all goroutines have
// been started.
func timers(n int) (stopwatch, int) {
	closedToBegin := make(chan struct{})
	var starting, running sync.WaitGroup
	late := make([]float64, n*sleeps)
	starting.Add(n)
	running.Add(n)
	for i := 0; i < n; i++ {
		go func(i int) {
			starting.Done()
			<-closedToBegin
			sleepTenTimes(i, late[i*sleeps:(i+1)*sleeps])
			running.Done()
		}(i)
	}
	starting.Wait()
	w := start()
	close(closedToBegin)
	running.Wait()
	spent := w.read()
	answer := countPunctual(late, n)
	metricsAdd("cpu_ms", spent.cpu/1e6)
	addLateness(late)
	return spent, answer
}
