package main

import (
	"fmt"
	"os"
	"path"
	"strconv"
)

var program string

func help() {
	fmt.Printf("usage: %s [-n SIZE | -q] [-w WORKERS] [-r REPETITIONS] [-i INPUT]\n\n", program)
	fmt.Printf("Times fibers on go and prints one line of JSON.\n\n")
	for i, c := range cases {
		without := ""
		if i == 0 {
			without = " (default)"
		}
		fmt.Printf("  -i %s%s\n", c.name, without)
		fmt.Printf("  -n SIZE   %s: %d to %d (%d)\n", c.sizeIs, c.min, c.max, c.standard)
		fmt.Printf("  -q        small size for a quick run: %d\n", c.quick)
	}
	fmt.Printf("  -w N      workers: 1 to %d (1)\n", maxWorkers)
	fmt.Printf("  -r N      repetitions: 1 to %d (1)\n", maxRepetitions)
}

func usageError(arg, why string) {
	fmt.Fprintf(os.Stderr, "%s: \"%s\" %s\n", program, arg, why)
	os.Exit(2)
}

// The number in text, or standard if text is empty.
func number(text, what string, min, max, standard int) int {
	if text == "" {
		return standard
	}
	n, err := strconv.Atoi(text)
	if err != nil || text[0] < '0' || text[0] > '9' || n < min || n > max {
		fmt.Fprintf(os.Stderr, "%s: %s must be a number from %d to %d (got '%s')\n", program, what, min, max, text)
		os.Exit(2)
	}
	return n
}

func caseNamed(name string) *benchCase {
	for i := range cases {
		if name == "" || cases[i].name == name {
			return &cases[i]
		}
	}
	usageError(name, "is not an input of this workload")
	return nil
}

// Store the values of -n, -w, -r and -i in given.  Returns whether -q was given.
func parseArgs(args []string, given map[string]string) bool {
	quick := false
	for i := 1; i < len(args); i++ {
		switch args[i] {
		case "-n", "-w", "-r", "-i":
			if i+1 == len(args) {
				usageError(args[i], "needs a value")
			}
			given[args[i]] = args[i+1]
			i++
		case "-q":
			quick = true
		case "-h":
			help()
			os.Exit(0)
		default:
			usageError(args[i], "is not an option; see -h")
		}
	}
	return quick
}

func readOptions(args []string) options {
	program = path.Base(args[0])
	given := map[string]string{}
	quick := parseArgs(args, given)
	c := caseNamed(given["-i"])
	standard := c.standard
	if quick {
		standard = c.quick
	}
	return options{
		of:          c,
		size:        number(given["-n"], c.sizeIs, c.min, c.max, standard),
		workers:     number(given["-w"], "the number of workers", 1, maxWorkers, 1),
		repetitions: number(given["-r"], "the number of repetitions", 1, maxRepetitions, 1),
	}
}
