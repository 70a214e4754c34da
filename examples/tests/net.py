"""Shared by the server tests: a server process, and clients that check what they receive."""
import fcntl
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import termios
import time

SCALE = int(os.environ.get("FILCH_TEST_SCALE", "1"))
os.environ.setdefault("FILCH_WATCHDOG_MS", "0")  # a busy machine delays workers too, and this is not tested here
SECONDS = 600  # timeout of every operation: a test that hangs fails


def scaled(n):
    return max(1, n // SCALE)


def skip(why):
    print("skipped:", why)
    sys.exit(77)


class Server:
    """with Server([program, ...], workers=2) as s: runs the server; at the end it must stop with exit code 0 and print nothing."""

    def __init__(self, command, workers=None, files=None):
        env = dict(os.environ, FILCH_WATCHDOG_MS="0")  # a busy machine causes reports
        if workers:
            env["FILCH_WORKERS"] = str(workers)
        limit = (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))) if files else None
        self.process = subprocess.Popen(
            command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=limit)
        line = self.process.stdout.readline().decode()
        if not line.startswith("listening on 127.0.0.1:"):
            raise AssertionError("%s said %r and %r" % (command, line, self.process.stderr.read()))
        self.port = int(line.rsplit(":", 1)[1])

    def __enter__(self):
        return self

    def __exit__(self, kind, *rest):
        if kind:
            self.process.kill()
        else:
            self.stop()

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self):
        if self.process.returncode is None:
            self.signal(signal.SIGTERM)
            self.wait()

    def wait(self):
        self.out, said = self.process.communicate(timeout=SECONDS)
        assert self.process.returncode == 0, "ended with %d: %s" % (self.process.returncode, said.decode())
        assert not said, said.decode()

    def connect(self, **more):
        return Client(self.port, **more)

    def connect_and_send(self, text, seconds):
        """Connect and send before the server's deadline.  A client that a busy machine delays tries again."""
        while True:
            began = time.monotonic()
            c = self.connect()
            try:
                c.send(text)
            except ConnectionError:
                assert time.monotonic() - began >= seconds, "closed before the deadline"
            if time.monotonic() - began < seconds:
                return c
            c.close()

    def files(self):
        return len(os.listdir("/proc/%d/fd" % self.process.pid))

    def memory(self):
        with open("/proc/%d/statm" % self.process.pid) as f:
            return int(f.read().split()[1]) * resource.getpagesize()

    def await_files(self, n):
        """Wait until the server has at most n descriptors."""
        until(lambda: self.files() <= n, "%d descriptors are not closed" % self.files())


def until(what, why):
    end = time.monotonic() + SECONDS
    while not what():
        assert time.monotonic() < end, why
        time.sleep(0.005)


class Client:
    def __init__(self, port, room=None):
        """room: size of the receive buffer."""
        self.socket = socket.socket()
        self.socket.settimeout(SECONDS)
        if room:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        self.socket.connect(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.rest = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def send(self, text):
        self.socket.sendall(text if isinstance(text, bytes) else text.encode("latin-1"))
        return self

    def await_arrival(self):
        """Wait until the peer's kernel has everything that was sent, including the end.  The loopback device may deliver later."""
        until(lambda: fcntl.ioctl(self.socket, termios.TIOCOUTQ, b"\0" * 4) == b"\0" * 4, "data does not arrive")

    def end(self):
        self.socket.shutdown(socket.SHUT_WR)

    def reset(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def more(self):
        got = self.socket.recv(65536)
        self.rest += got
        return len(got) > 0

    def until(self, mark):
        """Everything up to and including this mark."""
        while mark not in self.rest:
            assert self.more(), "the end came before %r, after %r" % (mark, self.rest)
        at = self.rest.index(mark) + len(mark)
        taken, self.rest = self.rest[:at], self.rest[at:]
        return taken

    def take(self, n):
        while len(self.rest) < n:
            assert self.more(), "the end came after %d of %d bytes" % (len(self.rest), n)
        taken, self.rest = self.rest[:n], self.rest[n:]
        return taken

    def line(self):
        return self.until(b"\n").decode("latin-1").rstrip("\r\n")

    def all(self):
        while self.more():
            pass
        taken, self.rest = self.rest, b""
        return taken

    def expect_end(self):
        left = self.all()
        assert left == b"", "%r instead of the end" % left

    def is_silent(self, seconds=0.1):
        """Nothing has arrived.  The check may run too early, but it never fails wrongly."""
        self.socket.settimeout(seconds)
        try:
            return self.rest == b"" and not self.more()
        except socket.timeout:
            return True
        finally:
            self.socket.settimeout(SECONDS)

    def answer(self, body=True):
        """Status, fields and body of an HTTP response; HEAD has no body."""
        first, *fields = self.until(b"\r\n\r\n").decode("latin-1")[:-4].split("\r\n")
        version, status, _ = first.split(" ", 2)
        assert version == "HTTP/1.1", first
        fields = {k.lower(): v for k, v in (f.split(": ", 1) for f in fields)}
        return int(status), fields, self.take(int(fields["content-length"])) if body else b""


def refuses(code, *command):
    """The program exits with this code and prints one line of explanation."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS)
    assert done.returncode == code, "%s ended with %d" % (command, done.returncode)
    assert done.stderr.count(b"\n") == 1, done.stderr


def run(tests):
    for test in tests:
        began = time.monotonic()
        print("%-40s" % test.__name__, end="", flush=True)
        test()
        print("ok %6.2f s" % (time.monotonic() - began), flush=True)
