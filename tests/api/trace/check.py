#!/usr/bin/env python3
"""check.py FILE [WORD=VALUE...]: FILE is a trace as the viewers want it, and of what was to be in it nothing is missing.

  workers=N    so many rows of workers
  slice=NAME   a slice of that name     row=NAME    a fiber's row of that name
  wait=NAME    a fiber's row has a slice of that name
  instant=NAME an instant whose name begins so
  from=A to=B  (one after the other) somebody in a slice A woke who goes on in a slice B
  lost=yes/no  something was written over
  most_us=N    nothing is longer than that
  why=WORD     why it was made
"""
import json
import sys


def fail(what):
    sys.exit(f"FAILED: {sys.argv[1]}: {what}")


def check_nesting(row, slices):
    open_until = []
    for s in sorted(slices, key=lambda s: (s["begin"], -s["end"])):
        while open_until and open_until[-1] <= s["begin"]:
            open_until.pop()
        if open_until and s["end"] > open_until[-1]:
            fail(f"on row {row} {s['name']} at {s['ts']} is not inside of what it begins in")
        open_until.append(s["end"])


def around(slices, at):
    return [s for s in slices if s["begin"] <= at <= s["end"]]


def ns(us):
    return round(us * 1000)


class Trace:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.whole = json.load(file)
        self.events = self.whole["traceEvents"]
        self.rows = {}  # (pid, tid) -> slices
        self.names, self.groups = {}, {}
        self.starts, self.ends = {}, {}
        for e in self.events:
            getattr(self, "read_" + e["ph"])(e)

    def read_M(self, e):
        if e["name"] == "thread_name":
            self.names[e["pid"], e["tid"]] = e["args"]["name"]
        elif e["name"] == "process_name":
            self.groups[e["pid"]] = e["args"]["name"]
        elif e["name"] not in ("thread_sort_index", "process_sort_index"):
            fail(f"unknown {e}")

    def read_X(self, e):
        e["begin"], e["end"] = ns(e["ts"]), ns(e["ts"]) + ns(e["dur"])
        if e["begin"] < 0 or e["end"] < e["begin"] or not e["name"]:
            fail(f"nonsense: {e}")
        self.rows.setdefault((e["pid"], e["tid"]), []).append(e)

    def read_i(self, e):
        if e["s"] != "t" or e["ts"] < 0:
            fail(f"nonsense: {e}")

    def read_C(self, e):
        if not e["args"] or any(not isinstance(v, int) or v > 1 << 40 for v in e["args"].values()):
            fail(f"a counter that does not count: {e}")

    def read_s(self, e):
        if e["id"] in self.starts:
            fail(f"two arrows are one: {e}")
        self.starts[e["id"]] = e

    def read_f(self, e):
        if e["id"] in self.ends or e["bp"] != "e":
            fail(f"two arrows are one, or it is not bound: {e}")
        self.ends[e["id"]] = e

    def check(self):
        for row, slices in self.rows.items():
            if row not in self.names or row[0] not in self.groups:
                fail(f"row {row} has no name")
            check_nesting(row, slices)
            if "fibers" in self.groups[row[0]]:
                self.check_fiber(slices)
        if self.starts.keys() != self.ends.keys():
            fail("an arrow has only one end")
        for id_, start in self.starts.items():
            if start["ts"] > self.ends[id_]["ts"]:
                fail(f"an arrow goes back in time: {start}")
        self.arrows = [(self.slice_of(self.starts[i]), self.slice_of(self.ends[i])) for i in self.starts]

    def slice_of(self, e):
        found = around(self.rows[e["pid"], e["tid"]], ns(e["ts"]))
        if not found:
            fail(f"an arrow hangs in the air: {e}")
        return [s["name"] for s in found]

    def check_fiber(self, slices):
        for s in slices:
            if s["name"] not in ("runs", "ready", "sleeps") and not s["name"].startswith("waits for "):
                fail(f"a fiber does what nobody knows: {s}")
            if s["name"].strip() == "waits for":
                fail(f"it waits for nothing: {s}")

    def of_group(self, word):
        return {row: slices for row, slices in self.rows.items() if word in self.groups[row[0]]}


def begins(texts, what):
    return any(t.startswith(what) for t in texts)


def main():
    trace = Trace(sys.argv[1])
    trace.check()
    slices = {s["name"] for row in trace.of_group("workers").values() for s in row}
    waits = {s["name"] for row in trace.of_group("fibers").values() for s in row}
    rows = {trace.names[row] for row in trace.of_group("fibers")}
    instants = {e["name"] for e in trace.events if e["ph"] == "i"}
    workers = [name for row, name in trace.names.items() if name.startswith("worker ")]
    lost = trace.whole["otherData"]["events that were written over"]
    sender = None
    for wish in sys.argv[2:]:
        word, value = wish.split("=", 1)
        if word == "workers" and len(workers) != int(value):
            fail(f"{len(workers)} workers")
        if word == "slice" and value not in slices:
            fail(f"no slice {value!r} among {slices}")
        if word == "wait" and value not in waits:
            fail(f"nobody {value!r}, among {waits}")
        if word == "row" and value not in rows:
            fail(f"no row {value!r} among {rows}")
        if word == "instant" and not begins(instants, value):
            fail(f"no instant {value!r} among {instants}")
        if word == "lost" and (lost > 0) != (value == "yes"):
            fail(f"{lost} events were lost")
        if word == "why" and trace.whole["otherData"]["why"] != value:
            fail(f"made because of {trace.whole['otherData']['why']}")
        if word == "from":
            sender = value
        if word == "to" and not any(sender in a and value in b for a, b in trace.arrows):
            fail(f"no arrow from {sender!r} to {value!r} among {trace.arrows}")
        if word == "most_us":
            all_ = [s for row in trace.rows.values() for s in row]
            # at the end of a program there may be a while in which nobody does anything
            if all_ and max(s["ts"] + s["dur"] for s in all_) - min(s["ts"] for s in all_) > int(value) + 1:
                fail("it is longer than it should be")


main()
