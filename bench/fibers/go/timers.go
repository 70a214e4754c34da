package main

import (
	"sort"
	"sync"
	"time"
)

const sleeps = 10

func timeToSleep(chance *uint32) time.Duration {
	*chance = *chance*1664525 + 1013904223
	return time.Duration(1000+(*chance>>8)%19001) * time.Microsecond
}

func sleepTenTimes(number int, late []float64) {
	chance := uint32(number)
	for i := range late {
		d := timeToSleep(&chance)
		began := time.Now()
		time.Sleep(d)
		late[i] = float64(time.Since(began)-d) / 1e6
	}
}

// How many never woke too early.
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

func tellLateness(late []float64) {
	n := len(late)
	sort.Float64s(late)
	metricsAdd("late_p50_ms", late[n/2])
	metricsAdd("late_p99_ms", late[n-1-n/100])
}

// Many goroutines that sleep ten times each, for 1 to 20 milliseconds.  They begin together, when all have been started.
func timers(n int) (stopwatch, int) {
	gate := make(chan struct{})
	var coming, leaving sync.WaitGroup
	late := make([]float64, n*sleeps)
	coming.Add(n)
	leaving.Add(n)
	for i := 0; i < n; i++ {
		go func(i int) {
			coming.Done()
			<-gate
			sleepTenTimes(i, late[i*sleeps:(i+1)*sleeps])
			leaving.Done()
		}(i)
	}
	coming.Wait()
	w := start()
	close(gate)
	leaving.Wait()
	spent := w.read()
	answer := countPunctual(late, n)
	metricsAdd("cpu_ms", spent.cpu/1e6)
	tellLateness(late)
	return spent, answer
}
