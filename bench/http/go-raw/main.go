// httpd-go-raw PORT: one short response to every request, by a goroutine for each connection that looks for nothing but the end
// of a request.
package main

import (
	"fmt"
	"net"
	"os"
)

var response = []byte("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, world!")

// Ends of requests in these bytes; seen is how much of one came before.
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
