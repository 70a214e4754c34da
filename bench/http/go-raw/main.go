// httpd-go-raw PORT: answer each request with the same short response.  One goroutine per
// connection searches for the end of a request and parses nothing else.
package main

import (
	"fmt"
	"net"
	"os"
)

var response = []byte("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, world!")

// Number of requests that end in these bytes.  *seen is the number of bytes of "\r\n\r\n" seen so
// far.
func countEnds(bytes []byte, seen *int) int {
	const end = "\r\n\r\n"
	ends := 0
	for _, b := range bytes {
		if b == end[*seen] {
			*seen++
		} else if b == '\r' {
			*seen = 1
		} else {
			*seen = 0
		}
		if *seen == len(end) {
			ends++
			*seen = 0
		}
	}
	return ends
}

func serve(c net.Conn) {
	defer c.Close()
	bytes := make([]byte, 4096)
	seen := 0
	for {
		n, err := c.Read(bytes)
		if err != nil {
			return
		}
		for left := countEnds(bytes[:n], &seen); left > 0; left-- {
			if _, err := c.Write(response); err != nil {
				return
			}
		}
	}
}

func main() {
	port := "0"
	if len(os.Args) > 1 {
		port = os.Args[1]
	}
	l, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		fmt.Fprintln(os.Stderr, "httpd-go-raw:", err)
		os.Exit(1)
	}
	fmt.Println(l.Addr().(*net.TCPAddr).Port)
	for {
		c, err := l.Accept()
		if err != nil {
			continue
		}
		go serve(c)
	}
}
