"""echo_test.py PROGRAM: clients that send at the same time get back what they sent."""
import signal
import sys

from net import Server, refuses, run, scaled

PROGRAM = sys.argv[1]


def echoes():
    for workers in (1, 2):
        with Server([PROGRAM], workers=workers) as s:
            silent, gone = s.connect(), s.connect()
            gone.send("x").reset()
            clients = [s.connect() for _ in range(scaled(200))]
            for turn in range(3):
                for i, c in enumerate(clients):
                    c.send("%d of client %d\n" % (turn, i))
                for i, c in enumerate(clients):
                    assert c.line() == "%d of client %d" % (turn, i)
            for c in clients[1:] + [silent]:
                c.end()
                c.expect_end()
            before = s.files()
            clients[0].send("x" * 10000)
            assert clients[0].take(10000) == b"x" * 10000
            clients[0].end()
            clients[0].expect_end()
            s.await_files(before - 1)  # it has closed all connections
            s.signal(signal.SIGTERM)
            out, said = s.process.communicate()
            assert (s.process.returncode, out, said) == (-signal.SIGTERM, b"", b""), said


def port():
    with Server([PROGRAM, "0"]) as s:
        refuses(1, PROGRAM, str(s.port))  # it is in use
        s.signal(signal.SIGTERM)
        s.process.communicate()


run([echoes, port])
