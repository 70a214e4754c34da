#!/usr/bin/env python3
"""foreign_fds_test.py COPY: a program of Filch shares its descriptors with a shell and with other
processes.  These still work when the program has ended or was killed, and no flag has changed."""
import fcntl
import os
import pty
import select
import signal
import socket
import subprocess
import sys
import termios
import time

COPY = os.path.abspath(sys.argv[1])
PATIENCE = 60
FLAGS = "python3 -c 'import fcntl, os; print(\"mode\", fcntl.fcntl(0, fcntl.F_GETFL) & os.O_NONBLOCK)'"


def fail(text):
    print("FAILED:", text)
    sys.exit(1)


def flags_of(fd):
    return fcntl.fcntl(fd, fcntl.F_GETFL)


class Terminal:
    """A program on a new pseudo-terminal, without echo."""

    def __init__(self, *command):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            mode = termios.tcgetattr(0)
            mode[3] &= ~termios.ECHO
            termios.tcsetattr(0, termios.TCSANOW, mode)
            os.write(1, b"begins\n")
            os.execvp(command[0], command)
        self.text = b""
        self.expect("begins")

    def send(self, line):
        os.write(self.fd, line.encode() + b"\n")

    def expect(self, part):
        """Wait for a text in the output, and forget the output up to it."""
        end = time.monotonic() + PATIENCE
        while part.encode() not in self.text:
            left = end - time.monotonic()
            if left < 0 or not select.select([self.fd], [], [], left)[0]:
                fail(f"no '{part}' in {self.text!r}")
            try:
                self.text += os.read(self.fd, 4096)
            except OSError:
                fail(f"the shell ended without '{part}': {self.text!r}")
        self.text = self.text.split(part.encode(), 1)[1]

    def end(self):
        status = os.waitpid(self.pid, 0)[1]
        os.close(self.fd)
        if status != 0:
            fail(f"the shell ended with status {status:#x}")


def test_shared_terminal():
    """One open file description of the terminal: another program, Filch, another program."""
    t = Terminal("sh", "-c", f"(head -n 1; '{COPY}'; {FLAGS}; cat; {FLAGS}) </dev/tty")
    for word in ("one", "two"):
        t.send(word)
        t.expect(word)
    t.expect("mode 0")
    t.send("three")
    t.expect("three")
    t.send("\x04")
    t.expect("mode 0")
    t.end()


def test_interactive_shell():
    """The shell reads its commands from the terminal that the program has read from."""
    t = Terminal("env", "PS1=ready\\n", "sh", "-i")
    t.expect("ready")
    t.send(f"'{COPY}'")
    t.send("a line for the program")
    t.expect("a line for the program")
    t.expect("ready")
    t.send("echo sum $((20 + 3))")
    t.expect("sum 23")
    t.send(FLAGS)
    t.expect("mode 0")
    t.send("exit 0")
    t.end()


def test_killed():
    """A program that is killed while it waits for a socket cannot restore anything."""
    ours, theirs = socket.socketpair()
    before = flags_of(theirs)
    p = subprocess.Popen([COPY, str(theirs.fileno()), "1"], pass_fds=[theirs.fileno()],
                         stdout=subprocess.PIPE)
    ours.send(b"x")
    if p.stdout.read(1) != b"x":
        fail("the program did not copy")
    p.send_signal(signal.SIGKILL)
    p.wait()
    p.stdout.close()
    if flags_of(theirs) != before:
        fail(f"the flags of a socket were {before:#x}, and are {flags_of(theirs):#x}")
    ours.send(b"y")
    if theirs.recv(1) != b"y":
        fail("the socket does not work any more")


def test_pipeline():
    """The other end of a pipe is a program that does not expect EAGAIN."""
    text = subprocess.run(["sh", "-c", f"{{ echo one; echo two; }} | {{ '{COPY}'; cat; }} | cat"],
                          stdout=subprocess.PIPE, check=True, timeout=PATIENCE).stdout
    if text != b"one\ntwo\n":
        fail(f"a pipeline printed {text!r}")


test_shared_terminal()
test_interactive_shell()
test_killed()
test_pipeline()
print("4 tests passed")
