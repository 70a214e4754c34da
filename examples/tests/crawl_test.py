"""crawl_test.py PROGRAM: compare with a search in this script; crawl servers that misbehave."""
import os
import re
import socket
import subprocess
import sys
import threading

from net import SECONDS, refuses, run, scaled

PROGRAM = sys.argv[1]
FLAKY, BROKEN = 7, 50


def crawl(*words, workers=None, code=0):
    env = dict(os.environ)
    if workers:
        env["FILCH_WORKERS"] = str(workers)
    done = subprocess.run([PROGRAM, *map(str, words)], env=env, stdout=subprocess.PIPE, timeout=SECONDS)
    assert done.returncode == code, (words, done.returncode)
    return [int(n) for n in re.findall(r"\d+", done.stdout.decode())]


def page(i, n):
    return ('<p>This is page %d.</p> <a href="/%d">left</a> <a href="/%d">right</a> <a href="/%d">up</a> '
            '<a href="/0">home</a> <a href="http://elsewhere/">far</a> <a href="/lost\n'
            % (i, (2 * i + 1) % n, (2 * i + 2) % n, i // 2))


def search(n, depth, retries):
    """Pages, bytes, depth, failures, retries."""
    level, seen, deep = {0}, {0}, -1
    fetched = size = failed = again = 0
    while level and deep < depth:
        deep += 1
        found = set()
        for i in level:
            broken, flaky = i % BROKEN == BROKEN - 1, i % FLAKY == FLAKY - 1
            again += retries if broken else min(retries, flaky)
            if broken or (flaky and retries == 0):
                failed += 1
                continue
            fetched += 1
            size += len(page(i, n))
            found |= {(2 * i + 1) % n, (2 * i + 2) % n, i // 2}
        level = found - seen
        seen |= found
    return [fetched, size, deep, failed, again]


def test_site():
    for workers in (1, 2, 4):
        for n, k, depth, retries in ((1, 1, 5, 0), (10, 2, 0, 1), (50, 1, 3, 0), (200, 7, 100, 3), (scaled(2000), 50, 9, 1),
                                     (scaled(2000), 50, 100, 2)):
            got = crawl("-t", SECONDS, "-n", n, "-k", k, "-d", depth, "-r", retries, workers=workers)
            assert got[:5] == search(n, depth, retries), (got, search(n, depth, retries))
            assert 1 <= got[5] <= k


class Site:
    """Answers each request with the result of answer(path); None: never answers."""

    def __init__(self, answer):
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=100)
        self.answer, self.kept = answer, []
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            c, _ = self.socket.accept()
            got = b""
            while b"\r\n\r\n" not in got:
                got += c.recv(1000)
            text = self.answer(got.split()[1].decode())
            if text is None:
                self.kept.append(c)
                continue
            try:
                c.sendall(text.encode())
            except ConnectionError:  # the crawler closes the connection when a page is too long
                pass
            c.close()

    def words(self):
        return "127.0.0.1", self.socket.getsockname()[1]


def ok(body):
    return "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


def bad_servers():
    odd = {"/": ok("".join('<a href="%s">' % p for p in (
        "/never", "/cut", "/none", "/junk", "/moved", "/long", "/fine", "/no way", "/" + "x" * 200, "", "x"))),
        "/cut": ok("x" * 99)[:-1], "/none": "", "/junk": "junk\r\n\r\n", "/moved": "HTTP/1.1 301 M\r\n\r\n",
        "/long": ok("x" * (1 << 19)), "/fine": ok("fine"), "/no": "HTTP/1.1 404 N\r\n\r\n"}
    pages, _, depth, failed, retries = crawl("-t", 10, "-r", 1, *Site(odd.get).words())
    assert (pages, depth, failed, retries) == (2, 1, 6, 5)
    assert crawl("-t", 0.1, "-r", 2, *Site(lambda path: None).words(), code=1) == [0, 0, 0, 1, 2]
    dead = socket.create_server(("127.0.0.1", 0))
    port = dead.getsockname()[1]
    dead.close()
    assert crawl("-r", 3, "127.0.0.1", port, "/x", code=1) == [0, 0, 0, 1, 3]
    assert crawl("-n", 3, *Site(lambda path: ok('<a href="%s0">' % path)).words())[:3:2] == [3, 2]


def command_line():
    for words in (["h"], ["h", "1", "x"], ["h", "0"], ["h", "1", "/", "x"], ["-k", "0"], ["-n", "x"], ["-x"]):
        refuses(2, PROGRAM, *words)
    assert b"usage" in subprocess.check_output([PROGRAM, "-h"])


run([test_site, bad_servers, command_line])
