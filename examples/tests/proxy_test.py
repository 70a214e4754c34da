"""proxy_test.py PROGRAM: forwarding between a client and a server of this script."""
import random
import signal
import socket
import subprocess
import sys
import threading

from net import SECONDS, Client, Server, refuses, run, scaled

PROGRAM = sys.argv[1]


class Upstream:
    """The server that the proxy connects to.  s.accept() returns the other end of a client's connection."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.socket.settimeout(SECONDS)
        self.port = self.socket.getsockname()[1]

    def accept(self):
        c = Client.__new__(Client)
        c.socket, c.rest = self.socket.accept()[0], b""
        c.socket.settimeout(SECONDS)
        return c


def proxy(port, *options, **more):
    return Server([PROGRAM, *options, "0", "127.0.0.1", str(port)], **more)


def in_thread(what, *args):
    t = threading.Thread(target=what, args=args)
    t.start()
    return t


def said(server):
    server.stop()
    return server.out.decode()


def expect_reset(connect):
    try:
        connect().expect_end()
        raise AssertionError("a failure looks like an end")
    except ConnectionResetError:
        pass


def all_until_cut(client):
    """The data before the stream is reset.  The reset must not look like a regular end."""
    try:
        while client.more():
            pass
    except ConnectionResetError:
        return client.rest
    raise AssertionError("a stream that was cut off after %d bytes looks complete" % len(client.rest))


def heard_by(client):
    try:
        return client.all()
    except ConnectionResetError:
        return client.rest


def forwards():
    """Much data in both directions on several connections; each direction ends on its own."""
    n = scaled(3000000)
    for workers in (1, 2, 4):
        u = Upstream()
        with proxy(u.port, workers=workers) as s:
            threads, ends = [], []
            for i in range(4):
                ends += [(s.connect(), random.Random(2 * i).randbytes(n)), (u.accept(), random.Random(2 * i + 1).randbytes(n))]
            for c, data in ends:
                threads.append(in_thread(lambda c=c, data=data: (c.send(data), c.end())))
            for i, (c, _) in enumerate(ends):
                assert c.all() == ends[i ^ 1][1]
            for t in threads:
                t.join()
            assert "4 connections, 0 failed, %d bytes up, %d bytes down" % (4 * n, 4 * n) in said(s)


def half_closes():
    u = Upstream()
    with proxy(u.port) as s:
        for _ in range(10):
            client, server = s.connect(), u.accept()
            for one, other in ((client, server), (server, client)):
                one.send("last words").end()
                assert other.all() == b"last words"
                assert other is client or one.is_silent()
        client, server = s.connect(), u.accept()
        server.end()
        client.expect_end()
        client.send("still talking").end()
        assert server.all() == b"still talking"


def resets():
    """A reset on one side is a reset on the other side, not a regular end."""
    u = Upstream()
    with proxy(u.port) as s:
        before = s.files()
        for i in range(20):
            ends = [s.connect(), u.accept()]
            if i % 4 > 1:
                ends[0].send("x")
                ends[1].take(1)
            ends.pop(i % 2).reset()
            expect_reset(lambda: ends[0])
        for _ in range(10):  # while data is in flight
            client, server = s.connect(), u.accept()
            client.socket.settimeout(0.02)
            try:
                while True:
                    client.socket.send(b"x" * 100000)
            except socket.timeout:
                client.socket.settimeout(SECONDS)
            server.reset()
            expect_reset(lambda: client)
        s.await_files(before)


def refused_upstream():
    u = Upstream()
    u.socket.close()
    with proxy(u.port) as s:
        for _ in range(3):
            expect_reset(s.connect)
        assert "3 connections, 3 failed" in said(s)


def full_backlog():
    """A server with a full backlog: the kernel delays the connection."""
    full = socket.create_server(("127.0.0.1", 0), backlog=0)
    waiting = []
    for _ in range(10):
        waiting.append(socket.socket())
        waiting[-1].setblocking(False)
        waiting[-1].connect_ex(full.getsockname())
    with proxy(full.getsockname()[1], "-t", "0.2") as s:
        expect_reset(s.connect)
        assert "1 failed" in said(s)


def stop():
    """Data that arrived before the stop is delivered.  Then open streams are reset.  A client that does not read does not delay the stop."""
    for workers in (1, 2):
        u = Upstream()
        with proxy(u.port, "-t", str(SECONDS), workers=workers) as s:
            ends = [(s.connect().send("a"), u.accept()) for _ in range(11)]
            for _, b in ends:  # the proxy knows that it is connected
                b.take(1)
            whole = ends.pop()
            s.signal(signal.SIGSTOP)
            for a, b in ends:
                a.send("a" * 1000)
                b.send("b" * 50000)
            for end in whole:
                end.send("all")
                end.socket.shutdown(socket.SHUT_WR)
            late = s.connect().send("late")
            for c in (*sum(ends, whole), late):
                c.await_arrival()
            s.signal(signal.SIGTERM)
            s.signal(signal.SIGCONT)
            for a, b in ends:
                assert (all_until_cut(a), all_until_cut(b)) == (b"b" * 50000, b"a" * 1000)
            assert [end.all() for end in whole] == [b"all", b"all"]
            heard = b""
            while heard == b"":  # a connection in progress is established again
                heard = heard_by(u.accept())
            assert heard == b"late"
            expect_reset(lambda: late)
            s.wait()
    with proxy(u.port, "-t", "0.2") as s:
        pairs = [(s.connect(), u.accept()) for _ in range(4)]
        for pair in pairs[:2] + [p[::-1] for p in pairs[2:]]:
            pair[0].socket.settimeout(0.1)
            try:
                while True:
                    pair[0].socket.send(b"x" * 100000)
            except socket.timeout:
                pass
        s.stop()


def command_line():
    for words in ([], ["0", "127.0.0.1"], ["0", "h", "0"], ["0", "h", "1", "2"], ["-t", "x", "0", "h", "1"], ["-x"]):
        refuses(2, PROGRAM, *words)
    assert b"usage" in subprocess.check_output([PROGRAM, "-h"])


run([forwards, half_closes, resets, refused_upstream, full_backlog, stop, command_line])
