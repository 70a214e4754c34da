package main

import (
	"fmt"
	"syscall"
	"time"
)

// Nanoseconds: CPU time of all threads, and wall-clock time.
type stopwatch struct {
	cpu, wall float64
}

var processStart = time.Now()

func cpuNs() float64 {
	var use syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &use)
	return float64(use.Utime.Nano() + use.Stime.Nano())
}

func start() stopwatch {
	return stopwatch{cpuNs(), float64(time.Since(processStart).Nanoseconds())}
}

func (since stopwatch) read() stopwatch {
	now := start()
	return stopwatch{now.cpu - since.cpu, now.wall - since.wall}
}

var names []string
var metrics = map[string][]float64{}

func metricsAdd(name string, value float64) {
	if metrics[name] == nil {
		names = append(names, name)
	}
	metrics[name] = append(metrics[name], value)
}

func metricsAddPer(spent stopwatch, operations int) {
	metricsAdd("cpu_ns", spent.cpu/float64(operations))
	metricsAdd("wall_ns", spent.wall/float64(operations))
}

func printMetrics() {
	fmt.Print(`,"metrics":`)
	for i, name := range names {
		before := ","
		if i == 0 {
			before = "{"
		}
		fmt.Printf(`%s"%s":[`, before, name)
		for j, value := range metrics[name] {
			if j > 0 {
				fmt.Print(",")
			}
			fmt.Printf("%.6g", value)
		}
		fmt.Print("]")
	}
	fmt.Print("}")
}
