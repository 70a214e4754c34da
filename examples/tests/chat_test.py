"""chat_test.py PROGRAM: which client receives which lines."""
import signal
import subprocess
import sys
import threading

from net import Server, refuses, run, scaled

PROGRAM = sys.argv[1]


def chat(*options, **more):
    return Server([PROGRAM, *options, "0"], **more)


def come(server, name, **more):
    c = server.connect(**more)
    expect(c, "* your name?")
    expect(c.send(name + "\n"), "* welcome")
    return c


def expect(client, *lines):
    for line in lines:
        got = client.line()
        assert got == line, "%r instead of %r" % (got, line)


def expect_out(client):
    """Everything that is left, then the end of the stream or an error."""
    try:
        client.all()
    except ConnectionError:
        pass


def talk():
    for workers in (1, 2, 4):
        with chat(workers=workers) as s:
            a = come(s, "ann")
            b = come(s, "bob")
            c = come(s, "c-3_PO")
            expect(a, "* bob is here", "* c-3_PO is here")
            expect(b, "* c-3_PO is here")
            a.send("hello\n\nwho is there?\r\n")
            for x in (b, c):
                expect(x, "ann: hello", "ann: who is there?")
            b.send("\tm\xe4\n")
            for x in (a, c):
                expect(x, "bob: \tm\xe4")
            c.send("/names\n")
            assert sorted(c.line() for _ in range(3)) == ["* ann", "* bob", "* c-3_PO"]
            b.send("bye\n/quit\nnot heard\n")
            for x in (a, c):
                expect(x, "bob: bye", "* bob has left")
            expect(b, "* good bye")
            b.end()
            b.expect_end()
            c.reset()
            expect(a, "* c-3_PO has left")
            come(s, "bob").send("last")  # a line without a newline
            expect(a, "* bob is here")


def order():
    """The lines of one client arrive at the others in the order in which it sent them."""
    n, k = scaled(300), 5
    for workers in (1, 2, 4):
        with chat(workers=workers) as s:
            clients = []
            for i in range(k):
                clients.append(come(s, "n%d" % i))
                for c in clients[:-1]:
                    expect(c, "* n%d is here" % i)

            def say(c):
                for j in range(n):
                    c.send("%d\n" % j)

            threads = [threading.Thread(target=say, args=(c,)) for c in clients]
            for t in threads:
                t.start()
            for i, c in enumerate(clients):
                heard = {"n%d" % j: [] for j in range(k) if j != i}
                for _ in range(n * (k - 1)):
                    name, number = c.line().split(": ")
                    heard[name].append(int(number))
                assert all(numbers == list(range(n)) for numbers in heard.values())
            for t in threads:
                t.join()


def refused():
    with chat() as s:
        a = come(s, "a")
        for name in ("", "two words", "x" * 17, "\xfc", "a\0b", "x" * 1000):
            with s.connect() as c:
                c.send(name + "\n")
                assert c.all().startswith(b"* your name?\n")
        with s.connect() as c:
            expect(c.send("a\n"), "* your name?", "* that name is taken")
            c.expect_end()
        b = come(s, "b")
        expect(a, "* b is here")
        for text, answer in (("x" * 201, "that line is too long"), ("x" * 202, "that line is too long"),
                             ("x" * 100000, "that line is too long"), ("a\0b", "that is not text"),
                             ("\x1b[2J", "that is not text"), ("a\rb", "that is not text"),
                             ("/what", "commands: /names, /quit")):
            expect(b.send(text + "\n"), "* " + answer)
        for n in (200, 1):
            b.send("x" * n + "\r\n")
            expect(a, "b: " + "x" * n)
        assert a.is_silent()


def slow():
    """A client that does not read is disconnected and delays no other client."""
    for workers in (1, 2):
        with chat(workers=workers) as s:
            before = s.files()
            deaf = come(s, "deaf")
            a = come(s, "a")
            done = threading.Event()

            def flood():
                while not done.is_set():
                    a.send(("x" * 190 + "\n") * 100)

            t = threading.Thread(target=flood)
            t.start()
            expect(a, "* deaf reads too slowly and is disconnected")
            done.set()
            t.join()
            come(s, "deaf")
            expect(a, "* deaf is here")
            expect_out(deaf)
            a.close()
            s.await_files(before)


def selfish():
    """A client that stops reading still has unsent lines when it is disconnected."""
    with chat() as s:
        others = [come(s, "a-rather-long-%02d" % i) for i in range(20)]
        one = come(s, "selfish", room=4096)

        def ask():
            try:
                while True:
                    one.send("/names\nme\n" * 1000)
            except ConnectionError:
                pass

        t = threading.Thread(target=ask)
        t.start()
        for c in others:
            c.until(b"* selfish reads too slowly and is disconnected\n")
        t.join()
        others[0].send("all right?\n")
        for c in others[1:]:
            expect(c, "a-rather-long-00: all right?")


def counts():
    with chat("-p", "0.02") as s:
        with s.connect() as a:
            a.send("a\n").until(b"* welcome\n* 1 person here\n* 1 person here\n")
            with s.connect() as b:
                b.send("b\n").until(b"* welcome\n* 2 people here\n")


def stop():
    for workers in (1, 2, 4):
        with chat(workers=workers) as s:
            clients = [come(s, "n%d" % i) for i in range(20)]
            nameless = [s.connect() for _ in range(5)]
            clients[3].send("no end")
            s.signal(signal.SIGSTOP)
            clients[0].send("said in time\n")
            s.signal(signal.SIGINT)
            s.signal(signal.SIGCONT)
            for c in clients:
                said = c.all()
                assert b"* the server stops\n" in said
                assert c is clients[0] or b"n0: said in time\n" in said or b"* n0 has left" not in said
            for c in nameless:
                c.all()
            s.wait()


def command_line():
    for words in ([], ["1", "2"], ["x"], ["-p", "0", "0"], ["-x"]):
        refuses(2, PROGRAM, *words)
    assert b"usage" in subprocess.check_output([PROGRAM, "-h"])


run([talk, order, refused, slow, selfish, counts, stop, command_line])
