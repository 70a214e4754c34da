"""tutorial_server_test.py PAGE PROGRAM: the console of step 5, deadlines, and the stop."""
import re
import signal
import sys
import threading

from net import Server, run, scaled

PAGE, PROGRAM = sys.argv[1:]


def console():
    """The page shows the lines that the server and a client print."""
    with open(PAGE) as f:
        step = re.search(r"^## 5\. .*?^```console\n(.*?)^```$", f.read(), re.M | re.S).group(1)
    shown = [line for line in step.splitlines() if not line.startswith("$ ")]
    with Server([PROGRAM]) as s:
        with s.connect() as c:
            reply = c.send("hello\n").line()
    port = re.fullmatch(r"listening on 127\.0\.0\.1:(\d+)", shown[0]).group(1)
    assert step.count(port) == 2, "the client connects to another port"
    assert shown[1:] == [reply, *s.out.decode().splitlines()], shown


def echoes():
    for workers in (1, 2):
        with Server([PROGRAM], workers=workers) as s:
            for turn in range(3):
                lines = ["%d of client %d" % (turn, i) for i in range(scaled(100))]
                clients = [s.connect_and_send(line + "\n", 5) for line in lines]
                for line, c in zip(lines, clients):
                    assert c.line() == line
                    c.close()


def deadline():
    """The server closes a connection whose client is silent."""
    with Server([PROGRAM]) as s:
        silent = s.connect()
        again = s.connect_and_send("x", 5)
        assert again.take(1) == b"x"
        silent.expect_end()
        again.expect_end()


def talk(client):
    try:
        while client.send("x").more():
            pass
    except ConnectionError:
        pass


def stop():
    """A signal ends the server, also while a client never stops sending."""
    for number in (signal.SIGINT, signal.SIGTERM):
        with Server([PROGRAM]) as s:
            s.connect()
            client = s.connect_and_send("x", 5)
            client.take(1)
            talking = threading.Thread(target=talk, args=[client])
            talking.start()
            s.signal(number)
            s.wait()
            assert s.out == b"stopped\n", s.out
            talking.join()


run([console, echoes, deadline, stop])
