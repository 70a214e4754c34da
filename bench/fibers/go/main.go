// fibers-go: the cases of `filch bench fibers` with goroutines.  Options, sizes and the JSON line
// are those of fibers-filch.
package main

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
)

const (
	maxWorkers     = 1024
	maxRepetitions = 1000
)

// run does n operations and returns their time and a count to check.
type benchCase struct {
	name, sizeIs              string
	min, max, standard, quick int
	warmed                    bool
	run                       func(n int) (stopwatch, int)
}

var cases = []benchCase{
	{"start-batch", "number of fibers", 1, 1000000000, 2000000, 20000, true, startBatch},
	{"start-one", "number of fibers", 1, 1000000000, 1000000, 10000, true, startOne},
	{"yield-2", "number of yields", 1, 1000000000, 5000000, 50000, true, yield2},
	{"yield-100", "number of yields", 1, 1000000000, 5000000, 50000, true, yield100},
	{"rendezvous", "number of round trips", 1, 1000000000, 1000000, 10000, true, rendezvous},
	{"buffered-1", "number of items", 1, 1000000000, 10000000, 100000, true, buffered1},
	{"buffered-4", "number of items", 1, 1000000000, 10000000, 100000, true, buffered4},
	{"mutex", "number of locks", 1, 1000000000, 20000000, 200000, true, mutex},
	{"skynet", "depth", 0, 8, 6, 4, false, skynet},
	{"skynet-join", "depth", 0, 8, 6, 4, false, skynetJoin},
	{"parked", "number of fibers", 1, 10000000, 1000000, 5000, false, parked},
	{"timers", "number of fibers", 1, 1000000, 10000, 1000, false, timers},
}

type options struct {
	of                         *benchCase
	size, workers, repetitions int
}

func isSkynet(c *benchCase) bool {
	return c.sizeIs == "depth"
}

func operations(o *options) int {
	if isSkynet(o.of) {
		return skynetFibers(o.size)
	}
	return o.size
}

func expected(o *options) int {
	if isSkynet(o.of) {
		return skynetSum(o.size)
	}
	return o.size
}

// The wall-clock seconds of each repetition.
func repeatAll(o *options) []float64 {
	var samples []float64
	if o.of.warmed {
		o.of.run(o.size/20 + 1)
	}
	for i := 0; i < o.repetitions; i++ {
		began := time.Now()
		spent, answer := o.of.run(o.size)
		samples = append(samples, time.Since(began).Seconds())
		metricsAddPer(spent, operations(o))
		if answer != expected(o) {
			fmt.Fprintf(os.Stderr, "fibers on go: wrong result %d, expected %d\n", answer, expected(o))
			os.Exit(1)
		}
	}
	return samples
}

func peakKB() int64 {
	var use syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &use)
	return use.Maxrss
}

func printJSON(o *options, samples []float64) {
	fmt.Printf(`{"workload":"fibers-%s","runtime":"go","compiler":"%s"`, o.of.name, runtime.Version())
	fmt.Printf(`,"size":%d,"workers":%d`, o.size, o.workers)
	fmt.Printf(`,"spawns":%d,"result":%d`, operations(o), expected(o))
	fmt.Printf(`,"peak_kb":%d,"samples":[`, peakKB())
	for i, s := range samples {
		if i > 0 {
			fmt.Print(",")
		}
		fmt.Printf("%.9f", s)
	}
	fmt.Print("]")
	printMetrics()
	fmt.Println("}")
}

func main() {
	o := readOptions(os.Args)
	runtime.GOMAXPROCS(o.workers)
	printJSON(&o, repeatAll(&o))
}
