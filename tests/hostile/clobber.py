#!/usr/bin/env python3
"""clobber.py HOW SEED SERVER [ARG...]: run a program with FILCH_TOP=1 and damage its page, as any process of the user can."""
import ctypes
import mmap
import os
import pathlib
import random
import socket
import subprocess
import sys
import time

FUTEX = {"x86_64": 202, "aarch64": 98}
FUTEX_WAKE = 1
WANTED = 24  # offset of `wanted` in filch_top


def page_of(pid):
    """The descriptor of the page in /proc/PID/fd; None: the program has ended."""
    while pathlib.Path(f"/proc/{pid}/fd").exists():
        try:
            for fd in os.listdir(f"/proc/{pid}/fd"):
                if os.readlink(f"/proc/{pid}/fd/{fd}").startswith("/memfd:filch-top"):
                    return os.open(f"/proc/{pid}/fd/{fd}", os.O_RDWR)
        except OSError:
            pass
        time.sleep(0.001)
    return None


def damage(how, fd, chance):
    if how == "truncate":
        os.ftruncate(fd, 0)
    elif how == "shrink":
        os.ftruncate(fd, 64)
    elif how == "grow":
        os.ftruncate(fd, 1 << 30)
    else:
        overwrite(how, fd, chance)


def overwrite(how, fd, chance):
    """Overwrite the header of the page, and wake the sleeper on `wanted`."""
    libc = ctypes.CDLL(None)
    page = mmap.mmap(fd, os.fstat(fd).st_size)
    wanted = ctypes.c_uint32.from_buffer(page, WANTED)
    for _ in range(50):
        page[0:64] = bytes(chance.randrange(256) for _ in range(64)) if how == "random" else b"\xff" * 64
        libc.syscall(FUTEX[os.uname().machine], ctypes.byref(wanted), FUTEX_WAKE, 100, 0)
        time.sleep(0.0005)


def main():
    how, seed, command = sys.argv[1], sys.argv[2], sys.argv[3:]
    chance = random.Random(seed)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE) as program:
        fd = None
        port = program.stdout.readline()  # wait until it runs
        try:
            fd = page_of(program.pid)
            if fd is not None:
                damage(how, fd, chance)
        except (OSError, ValueError) as e:
            print(f"refused by the kernel: {e}", file=sys.stderr)
        with socket.create_connection(("127.0.0.1", int(port)), timeout=60) as c:
            c.sendall(b"quit")
            c.recv(4)
        out = program.stdout.read()
        code = program.wait()
    sys.stdout.write(out.decode())
    if code < 0:
        os.kill(os.getpid(), -code)
    sys.exit(code)


main()
