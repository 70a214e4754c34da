"""httpd_test.py PROGRAM: responses to normal, slow and hostile clients, and to 10,000 clients at once."""
import functools
import resource
import signal
import socket
import subprocess
import sys
import threading
import time

from net import SECONDS, Server, refuses, run, scaled

PROGRAM = sys.argv[1]
GET = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"
HELLO = b"Hello, world!"
HEAD_MAX, BODY_MAX = 8192, 1 << 20
DRAIN_SECONDS = 1  # the server discards input for this long after an error response


def httpd(*options, **more):
    return Server([PROGRAM, *options, "0"], **more)


def each_with(*counts, options=()):
    """Runs the test with a server, once per number of workers."""
    def wrap(test):
        @functools.wraps(test)
        def all_of_them():
            for workers in counts:
                with httpd(*options, workers=workers) as s:
                    test(s)
        return all_of_them
    return wrap


def check_hello(client, field=None):
    status, fields, body = client.answer()
    assert (status, body, fields.get("connection")) == (200, HELLO, field), (status, body, fields)


def check_alive(server, seconds=SECONDS):
    with server.connect_and_send(GET, seconds) as c:
        check_hello(c)


def expect_discarded(client, text, began):
    """Input after the last request is discarded, unless the client is too late: its connection is reset then."""
    try:
        client.send(text).end()
        client.expect_end()
    except OSError:
        assert time.monotonic() - began >= DRAIN_SECONDS, "the server does not discard input"


@each_with(1, 2, 4)
def keep_alive(s):
    with s.connect() as c:
        for _ in range(scaled(1000)):
            check_hello(c.send(GET))
        c.end()
        c.expect_end()


@each_with(1, 2)
def pipelining(s):
    with s.connect() as c:  # less than a buffer, more than a buffer, more responses than one write takes
        for n in (2, 32, 33, 64, 65, 1000):
            c.send(GET * n)
            for _ in range(n):
                check_hello(c)
        c.send(b"\r\n" + GET + b"HEAD / HTTP/1.1\r\nHost: h\r\n\r\n" + GET.replace(b"/ ", b"/no ") + GET)
        check_hello(c)
        assert c.answer(body=False)[0] == 200
        assert c.answer()[0] == 404
        check_hello(c)


@each_with(2)
def byte_by_byte(s):
    with s.connect() as c:
        for _ in range(3):
            for at in range(len(GET)):
                c.send(GET[at:at + 1])
            check_hello(c)


@each_with(2)
def routes(s):
    with s.connect() as c:
        for line, status in (("GET /?a=b", 200), ("GET http://x", 200), ("GET HTTP://x:1/?q", 200), ("GET /x", 404),
                             ("GET http://x/y", 404), ("POST /", 405), ("get /", 405), ("OPTIONS *", 405)):
            got, fields, _ = c.send(line + " HTTP/1.1\r\nHost: h\r\n\r\n").answer()
            assert got == status, (line, got)
            assert (got == 405) == ("allow" in fields)
        status, fields, _ = c.send("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n").answer(body=False)
        assert (status, fields["content-length"]) == (200, str(len(HELLO)))
        check_hello(c.send(GET))


@each_with(2)
def ends(s):
    with s.connect() as c:
        check_hello(c.send("GET / HTTP/1.0\r\n\r\n"), "close")
        c.expect_end()
    with s.connect() as c:
        for _ in range(2):
            check_hello(c.send("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"), "keep-alive")
    with s.connect() as c:  # later requests get no response
        began = time.monotonic()
        check_hello(c.send(b"GET / HTTP/1.1\r\nHost: h\r\nConnection: x , Close\r\n\r\n" + GET * 500), "close")
        expect_discarded(c, GET * 5000, began)
    with s.connect() as c:  # the client has shut down its sending side
        c.send(GET * 5).end()
        for _ in range(5):
            check_hello(c)
        c.expect_end()


@each_with(2)
def nonsense(s):
    for text, status in (
            ("\n", 400), ("GET /\r\n", 400), ("GET / HTTP/1.1\n", 400), (" GET / HTTP/1.1\r\n", 400),
            ("GET  / HTTP/1.1\r\n", 400), ("GET / HTTP/1.1 \r\n", 400), ("GET /\t HTTP/1.1\r\n", 400),
            ("GET x HTTP/1.1\r\n", 400), ("GET http:///x HTTP/1.1\r\n", 400), ("GET / HTTP/11\r\n", 400),
            ("GET /\xe4 HTTP/1.1\r\n", 400), ("GET / HTTP/2.0\r\n", 505), ("G(T / HTTP/1.1\r\n", 400),
            ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n", 400),
            ("GET / HTTP/1.1\r\nHost : a\r\n", 400), ("GET / HTTP/1.1\r\n folded\r\n", 400),
            ("GET / HTTP/1.1\r\nnocolon\r\n", 400), ("GET / HTTP/1.1\r\n: a\r\n", 400),
            ("GET / HTTP/1.1\r\nA: \0\r\n", 400), ("GET / HTTP/1.1\r\nA: b\rc\r\n", 400),
            ("GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n", 400),
            ("GET / HTTP/1.1\r\nContent-Length: -1\r\n", 400), ("GET / HTTP/1.1\r\nContent-Length:\r\n", 400),
            ("GET / HTTP/1.1\r\nContent-Length: 9999999999999999999999\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n", 501),
            ("GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: h\r\nExpect: wonders\r\n\r\n", 417)):
        with s.connect() as c:
            began = time.monotonic()
            got, fields, _ = c.send(text).answer()
            assert (got, fields["connection"]) == (status, "close"), (text, got)
            expect_discarded(c, "more of it" * 100, began)
    check_alive(s)


def head_of(n, field="X"):
    start = "GET / HTTP/1.1\r\nHost: h\r\n%s: " % field
    return start + "x" * (n - len(start) - 4) + "\r\n\r\n"


@each_with(2)
def limits(s):
    with s.connect() as c:  # heads near the size of the stack buffer, and the longest head
        for n in (1000, 1535, 1536, 1537, 5000, HEAD_MAX - 1, HEAD_MAX, 100):
            check_hello(c.send(head_of(n)))
        check_hello(c.send(GET + head_of(HEAD_MAX).encode()))
        check_hello(c)
        began = time.monotonic()
        assert c.send(head_of(HEAD_MAX + 1)).answer()[0] == 431
        expect_discarded(c, "", began)
    with s.connect() as c:  # an endless line; the response arrives although the server did not read everything
        assert c.send("x" * HEAD_MAX * 20).answer()[0] == 431
    with s.connect() as c:
        for n in (1, 100, 5000, BODY_MAX):
            head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n" % n
            c.send(head.encode() + b"x" * n + GET)
            assert c.answer()[0] == 405
            check_hello(c)
        began = time.monotonic()
        c.send("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n" % (BODY_MAX + 1))
        assert c.answer()[0] == 413
        expect_discarded(c, "", began)
    with s.connect() as c:  # Expect: 100-continue gets the final response
        c.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n")
        status, fields, _ = c.answer()
        assert (status, fields["connection"]) == (405, "close")


@each_with(1, 2, options=("-t", "0.2"))
def timeouts(s):
    def send(text):
        return s.connect_and_send(text, 0.1)

    with s.connect() as c:  # no request, no response
        c.expect_end()
    with send(GET) as c:
        check_hello(c)
        c.expect_end()
    with send(GET[:-1]) as c:
        assert c.answer()[0] == 408
        c.expect_end()
    with send("GET / HTTP/1.1\r\nX: ") as c:  # sending byte by byte does not extend the deadline
        while c.is_silent(0.02):
            c.send("x")
        assert c.answer()[0] == 408
    with send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n1234") as c:  # the body never arrives
        assert c.answer()[0] == 405
        c.expect_end()


@each_with(1, 2, options=("-t", "0.5"))
def deaf(s):
    """Clients that do not read responses are closed after the timeout and delay no other client."""
    before = s.files()
    deaf_ones = []
    for _ in range(5):
        c = s.connect()
        c.socket.settimeout(0.1)
        try:
            while True:
                c.socket.send(GET * 1000)
        except (socket.timeout, ConnectionError):
            deaf_ones.append(c)
        check_alive(s, 0.2)
    s.await_files(before)
    for c in deaf_ones:
        c.close()


@each_with(2, options=("-t", "5"))
def patient(s):
    """Each request has its own deadline, even if its first bytes arrive together with the previous request."""
    end = time.monotonic() + 6
    with s.connect().send(GET[:10]) as c:
        while time.monotonic() < end:
            time.sleep(0.2)
            check_hello(c.send(GET[10:] + GET[:10]))


@each_with(1, 2)
def late_readers(s):
    """A client that reads late gets every response, although the server needs several writes."""
    n = scaled(20000)
    clients = [s.connect(room=16384) for _ in range(3)]
    threads = [threading.Thread(target=c.send, args=(GET * n,)) for c in clients]
    for t in threads:
        t.start()
    for c in clients:
        first = c.until(HELLO)
        assert c.take(len(first) * (n - 1)) == first * (n - 1)
    for t in threads:
        t.join()


@each_with(2, 4)
def resets(s):
    before = s.files()
    for i in range(scaled(500)):
        c = s.connect()
        if i % 3:
            c.send(GET * (i % 40) + GET[:i % len(GET)])
        if i % 12 == 1:
            c.more()
        c.reset()
    check_alive(s)
    s.await_files(before)


def few_files():
    """With fewer descriptors or a smaller -c than clients, each client is served when another leaves."""
    for server in (httpd(files=40), httpd("-c", "5"), httpd("-c", "1", workers=1)):
        with server as s:
            clients = [s.connect().send(GET) for _ in range(100)]
            for c in clients:
                check_hello(c)
                c.close()
    with httpd("-c", "3") as s:
        clients = [s.connect() for _ in range(4)]
        for c in clients[:3]:
            check_hello(c.send(GET))
        assert clients[3].send(GET).is_silent()
        clients[1].close()
        check_hello(clients[3])


def stop():
    """A request that arrived before the stop gets its response, even if its connection was not accepted yet."""
    for workers in (1, 2, 4):
        for number in (signal.SIGTERM, signal.SIGINT):
            with httpd("-t", str(SECONDS), workers=workers) as s:
                idle = [s.connect() for _ in range(10)]
                used = [s.connect() for _ in range(10)]
                for c in used:
                    check_hello(c.send(GET))
                half = used.pop().send(GET[:20])
                s.signal(signal.SIGSTOP)
                for c in used:
                    c.send(GET * 100)
                late = [s.connect().send(GET * 3) for _ in range(100)]
                for c in used + late:
                    c.await_arrival()
                s.signal(number)
                s.signal(signal.SIGCONT)
                for c in idle:
                    c.expect_end()
                for c in used:
                    for _ in range(100):
                        check_hello(c)
                for c in late:
                    for _ in range(3):
                        check_hello(c)
                for c in used + late:
                    c.expect_end()
                check_hello(half.send(GET[20:]))
                half.expect_end()
                s.wait()
    with httpd("-t", str(SECONDS), files=40) as s:  # even without a free descriptor
        s.signal(signal.SIGSTOP)
        clients = [s.connect().send(GET) for _ in range(100)]
        for c in clients:
            c.await_arrival()
        s.signal(signal.SIGTERM)
        s.signal(signal.SIGCONT)
        for c in clients:
            check_hello(c)
            c.expect_end()
        s.wait()
    with httpd("-t", "0.2") as s:  # an incomplete request does not delay the stop
        with s.connect().send(GET[:10]), s.connect() as deaf_one:
            deaf_one.socket.settimeout(0.1)
            try:
                while True:
                    deaf_one.socket.send(GET * 1000)
            except (socket.timeout, ConnectionError):
                s.stop()


def ten_thousand():
    """All clients at once; each sends two requests."""
    n = scaled(10000)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < n + 100:
        print("skipped, as %d descriptors are not allowed: " % n, end="")
        return
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with httpd("-t", str(SECONDS)) as s:
        check_alive(s)
        before = s.memory()
        clients = [s.connect().send(GET) for _ in range(n)]
        for c in clients:
            check_hello(c)
        for c in clients:
            check_hello(c.send(GET))
        print("%d connections, %.1f kB each  " % (n, (s.memory() - before) / n / 1000), end="")
        for c in clients:
            c.close()
        s.await_files(30)


def command_line():
    with httpd() as s:
        refuses(1, PROGRAM, str(s.port))
    for words in ([], ["1", "2"], ["x"], ["-1"], ["65536"], ["-t", "0", "0"], ["-t", "", "0"], ["-t", "nan", "0"],
                  ["-c", "0", "0"], ["-x"]):
        refuses(2, PROGRAM, *words)
    assert b"usage" in subprocess.check_output([PROGRAM, "-h"])


run([keep_alive, pipelining, byte_by_byte, routes, ends, nonsense, limits, timeouts, patient, deaf, late_readers, resets, few_files, stop,
     ten_thousand, command_line])
