#!/usr/bin/env python3
"""check.py FILE [KEY=VALUE...]: FILE is a valid trace, and has the given contents.

  workers=N           N rows of workers
  slice=NAME          a slice on a worker's row
  row=NAME            a row of a fiber
  wait=NAME           a slice on a fiber's row
  instant=PREFIX      an instant whose name starts with PREFIX
  from=A to=B         (in this order) a flow from a slice A to a slice B
  overwritten=yes|no  events were overwritten
  max_us=N            the trace covers at most N microseconds
  reason=WORD         why the trace was written
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
            fail(f"on row {row} {s['name']} at {s['ts']} ends after the slice around it")
        open_until.append(s["end"])


def around(slices, at):
    return [s for s in slices if s["begin"] <= at <= s["end"]]


def ns(us):
    return round(us * 1000)


class Trace:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.document = json.load(file)
        self.events = self.document["traceEvents"]
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
            fail(f"unknown metadata: {e}")

    def read_X(self, e):
        e["begin"], e["end"] = ns(e["ts"]), ns(e["ts"]) + ns(e["dur"])
        if e["begin"] < 0 or e["end"] < e["begin"] or not e["name"]:
            fail(f"invalid event: {e}")
        self.rows.setdefault((e["pid"], e["tid"]), []).append(e)

    def read_i(self, e):
        if e["s"] != "t" or e["ts"] < 0:
            fail(f"invalid event: {e}")

    def read_C(self, e):
        if not e["args"] or any(not isinstance(v, int) or v > 1 << 40 for v in e["args"].values()):
            fail(f"invalid counter: {e}")

    def read_s(self, e):
        if e["id"] in self.starts:
            fail(f"two flows with the same ID: {e}")
        self.starts[e["id"]] = e

    def read_f(self, e):
        if e["id"] in self.ends or e["bp"] != "e":
            fail(f"two flows with the same ID, or a flow that is not bound: {e}")
        self.ends[e["id"]] = e

    def check(self):
        for row, slices in self.rows.items():
            if row not in self.names or row[0] not in self.groups:
                fail(f"row {row} has no name")
            check_nesting(row, slices)
            if "fibers" in self.groups[row[0]]:
                self.check_fiber(slices)
        if self.starts.keys() != self.ends.keys():
            fail("a flow has only one end")
        for id_, start in self.starts.items():
            if start["ts"] > self.ends[id_]["ts"]:
                fail(f"a flow ends before it starts: {start}")
        self.flows = [(self.slice_of(self.starts[i]), self.slice_of(self.ends[i])) for i in self.starts]

    def slice_of(self, e):
        found = around(self.rows[e["pid"], e["tid"]], ns(e["ts"]))
        if not found:
            fail(f"no slice at the end of a flow: {e}")
        return [s["name"] for s in found]

    def check_fiber(self, slices):
        for s in slices:
            if s["name"] not in ("runs", "ready", "sleeps") and not s["name"].startswith("waits for "):
                fail(f"unknown state of a fiber: {s}")
            if s["name"].strip() == "waits for":
                fail(f"a wait without a reason: {s}")

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
    overwritten = trace.document["otherData"]["events overwritten"]
    sender = None
    for condition in sys.argv[2:]:
        key, value = condition.split("=", 1)
        if key == "workers" and len(workers) != int(value):
            fail(f"{len(workers)} workers")
        if key == "slice" and value not in slices:
            fail(f"no slice {value!r} among {slices}")
        if key == "wait" and value not in waits:
            fail(f"no fiber {value!r} among {waits}")
        if key == "row" and value not in rows:
            fail(f"no row {value!r} among {rows}")
        if key == "instant" and not begins(instants, value):
            fail(f"no instant {value!r} among {instants}")
        if key == "overwritten" and (overwritten > 0) != (value == "yes"):
            fail(f"{overwritten} events were overwritten")
        if key == "reason" and trace.document["otherData"]["reason"] != value:
            fail(f"the reason is {trace.document['otherData']['reason']!r}")
        if key == "from":
            sender = value
        if key == "to" and not any(sender in a and value in b for a, b in trace.flows):
            fail(f"no flow from {sender!r} to {value!r} among {trace.flows}")
        if key == "max_us":
            all_ = [s for row in trace.rows.values() for s in row]
            if all_ and max(s["ts"] + s["dur"] for s in all_) - min(s["ts"] for s in all_) > int(value) + 1:
                fail(f"the trace covers more than {value} us")


main()
