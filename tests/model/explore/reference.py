#!/usr/bin/env python3
"""Compare the explorer with the axioms of the memory models.

The explorer runs programs on a machine.  This program lists every candidate execution of a small
program (which store each load reads, and the order of the stores to each location) and keeps those
that the axioms allow.  The two methods share nothing, so a mistake in one shows as a difference.

  rc11  Lahav et al., "Repairing Sequential Consistency in C/C++11" (2017), with the release
        sequences of C++20 (read-modify-writes alone continue one), and of seq_cst only the fences
  imm   the same: it differs from rc11 only in late loads of items, of which there are none here
  tso   x86: Alglave et al., "Herding Cats" (2014)

The first programs are taken from the literature, with their known outcomes: they test the axioms as
written here.  Random programs follow.  random_litmus.c describes the text of programs and outcomes.
"""
import argparse
import collections
import itertools
import os
import random
import subprocess
import sys
import time

MODEL_OF_MODE = {"rc11": "rc11", "imm": "rc11", "tso": "tso"}

# ---- known programs ----

# `witness` is the outcome that each program is known for.
Known = collections.namedtuple("Known", "name program witness rc11 tso")
YES, NO = True, False

KNOWN = [
    Known("two CASes, the state before the second", "cas:x:1:3 cas:x:1:3 | add:x:1",
          "0,1|0;x=3", YES, YES),
    Known("SB", "store:x:1 load:y | store:y:1 load:x", "0|0;x=1,y=1", YES, YES),
    Known("SB, release and acquire",
          "store:x:1:release load:y:acquire | store:y:1:release load:x:acquire",
          "0|0;x=1,y=1", YES, YES),
    Known("SB, fences", "store:x:1 fence:seq_cst load:y | store:y:1 fence:seq_cst load:x",
          "0|0;x=1,y=1", NO, NO),
    Known("SB, weaker fences", "store:x:1 fence:acq_rel load:y | store:y:1 fence:acq_rel load:x",
          "0|0;x=1,y=1", YES, YES),
    Known("SB, exchanges for stores", "exchange:x:1:acq_rel load:y | exchange:y:1:acq_rel load:x",
          "0,0|0,0;x=1,y=1", YES, NO),
    Known("MP", "store:x:1 store:y:1 | load:y load:x", "|1,0;x=1,y=1", YES, NO),
    Known("MP, release and acquire", "store:x:1 store:y:1:release | load:y:acquire load:x",
          "|1,0;x=1,y=1", NO, NO),
    Known("MP, fences", "store:x:1 fence:release store:y:1 | load:y fence:acquire load:x",
          "|1,0;x=1,y=1", NO, NO),
    Known("MP, fences the wrong way round",
          "store:x:1 fence:acquire store:y:1 | load:y fence:release load:x",
          "|1,0;x=1,y=1", YES, NO),
    Known("MP, a store ends the release sequence",
          "store:x:1 store:y:1:release store:y:2 | load:y:acquire load:x",
          "|2,0;x=1,y=2", YES, NO),
    Known("MP, an addition continues it",
          "store:x:1 store:y:1:release | add:y:1 | load:y:acquire load:x",
          "|1|2,0;x=1,y=2", NO, NO),
    Known("MP, a CAS that fails does not acquire",
          "store:x:1 store:y:1:release | cas:y:0:2:acquire load:x", "|1,0;x=1,y=1", YES, NO),
    Known("LB", "load:x store:y:1 | load:y store:x:1", "1|1;x=1,y=1", NO, NO),
    Known("CoRR", "store:x:1 | load:x load:x", "|1,0;x=1", NO, NO),
    Known("CoWR", "store:x:1 load:x | store:x:2", "2|;x=1", NO, NO),
    Known("2+2W", "store:x:1 store:y:2 | store:y:1 store:x:2", "|;x=1,y=1", YES, NO),
    Known("2+2W, release",
          "store:x:1 store:y:2:release | store:y:1 store:x:2:release", "|;x=1,y=1", YES, NO),
    Known("2+2W, fences",
          "store:x:1 fence:seq_cst store:y:2 | store:y:1 fence:seq_cst store:x:2",
          "|;x=1,y=1", NO, NO),
    Known("S", "store:x:2 store:y:1 | load:y store:x:1", "|1;x=2,y=1", YES, NO),
    Known("S, release and acquire", "store:x:2 store:y:1:release | load:y:acquire store:x:1",
          "|1;x=2,y=1", NO, NO),
    Known("R", "store:x:1 store:y:1 | store:y:2 load:x", "|0;x=1,y=2", YES, YES),
    Known("R, one fence", "store:x:1 store:y:1:release | store:y:2 fence:seq_cst load:x:acquire",
          "|0;x=1,y=2", YES, NO),
    Known("R, fences", "store:x:1 fence:seq_cst store:y:1 | store:y:2 fence:seq_cst load:x",
          "|0;x=1,y=2", NO, NO),
    Known("WRC", "store:x:1 | load:x store:y:1 | load:y load:x", "|1|1,0;x=1,y=1", YES, NO),
    Known("WRC, release and acquire",
          "store:x:1 | load:x store:y:1:release | load:y:acquire load:x",
          "|1|1,0;x=1,y=1", NO, NO),
    Known("ISA2, relaxed in the middle",
          "store:x:1 store:y:1:release | load:y store:z:1:release | load:z:acquire load:x",
          "|1|1,0;x=1,y=1,z=1", YES, NO),
    Known("ISA2, release and acquire",
          "store:x:1 store:y:1:release | load:y:acquire store:z:1:release | load:z:acquire load:x",
          "|1|1,0;x=1,y=1,z=1", NO, NO),
    Known("ISA2, a fence in the middle",
          "store:x:1 store:y:1:release | load:y fence:acq_rel store:z:1 | load:z:acquire load:x",
          "|1|1,0;x=1,y=1,z=1", NO, NO),
    Known("RWC, one fence",
          "store:x:1 | load:x:acquire load:y:acquire | store:y:1 fence:seq_cst load:x",
          "|1,0|0;x=1,y=1", YES, NO),
    Known("RWC, fences",
          "store:x:1 | load:x fence:seq_cst load:y | store:y:1 fence:seq_cst load:x",
          "|1,0|0;x=1,y=1", NO, NO),
    Known("W+RWC, one fence",
          "store:x:1 store:z:1:release | load:z:acquire load:y | store:y:1 fence:seq_cst load:x",
          "|1,0|0;x=1,y=1,z=1", YES, NO),
    Known("W+RWC, fences",
          "store:x:1 store:z:1:release | load:z:acquire fence:seq_cst load:y"
          " | store:y:1 fence:seq_cst load:x",
          "|1,0|0;x=1,y=1,z=1", NO, NO),
    Known("IRIW, acquire",
          "store:x:1:release | store:y:1:release"
          " | load:x:acquire load:y:acquire | load:y:acquire load:x:acquire",
          "||1,0|1,0;x=1,y=1", YES, NO),
    Known("IRIW, fences",
          "store:x:1 | store:y:1 | load:x fence:seq_cst load:y | load:y fence:seq_cst load:x",
          "||1,0|1,0;x=1,y=1", NO, NO),
    Known("a release fence, then a store slips in below what it saw",
          "store:y:1 fence:release store:x:1 store:z:1 | store:y:2 | load:z:acquire load:y",
          "||1,2;x=1,y=1,z=1", NO, NO),
    # The second thread reads 1 from either of two stores.  Its view of y differs, which shows only
    # later, when all else is the same.  A search that does not distinguish the two leaves out half.
    Known("equal values, then an acquire fence",
          "store:x:1 store:y:1 store:x:1:release store:x:2"
          " | load:x load:x store:z:1 fence:acquire load:y",
          "|1,2,0;x=2,y=1,z=1", YES, NO),
    Known("equal values, then a load",
          "store:x:1 store:y:1 store:x:1:release store:x:2:release"
          " | load:x:acquire load:x store:z:1 load:y | load:z",
          "|1,2,0|1;x=2,y=1,z=1", YES, NO),
    Known("equal values, then a release fence",
          "store:x:1 store:y:1 store:x:1:release store:x:2:release"
          " | load:x:acquire fence:release load:x:acquire store:z:1:release store:z:2"
          " | load:z:acquire load:y",
          "|1,2|2,0;x=2,y=1,z=2", YES, NO),
    Known("equal values, then a release store",
          "store:x:1 store:y:1 store:x:1:release store:x:2:release"
          " | load:x:acquire store:z:1:release load:x:acquire store:x:3"
          " | load:x load:z:acquire load:y",
          "|1,2|3,1,0;x=3,y=1,z=1", YES, NO),
]

# ---- relations between the events of a program ----
#
# A relation is a list of sets, one per event, of the events that it leads to.  A set of events is
# an integer with a bit per event: there are thousands of executions to judge.


def members(events):
    while events:
        lowest = events & -events
        yield lowest.bit_length() - 1
        events ^= lowest


def union(*relations):
    return [sum_of(rows) for rows in zip(*relations)]


def sum_of(sets):
    total = 0
    for one in sets:
        total |= one
    return total


def compose(first, second):
    return [sum_of([second[b] for b in members(row)]) for row in first]


def closure(relation):
    """The transitive closure."""
    reached = list(relation)
    for middle, _ in enumerate(reached):
        bit, beyond = 1 << middle, reached[middle]
        if beyond:
            reached = [row | beyond if row & bit else row for row in reached]
    return reached


def irreflexive(relation):
    return not any(row >> event & 1 for event, row in enumerate(relation))


def acyclic(relation):
    return irreflexive(closure(relation))


# ---- a program as events ----

Event = collections.namedtuple("Event", "thread kind cell values order")

VALUES_OF_KIND = {"load": 0, "store": 1, "add": 1, "exchange": 1, "cas": 2}
INITIALLY = -1  # the thread of the initial stores


def parse_event(thread, word):
    kind, *parts = word.split(":")
    if kind == "fence":
        return Event(thread, kind, None, (), parts[0])
    values = 1 + VALUES_OF_KIND[kind]
    order = parts[values] if len(parts) > values else "relaxed"
    return Event(thread, kind, parts[0], tuple(int(part) for part in parts[1:values]), order)


class Program:
    """The part that is the same in all executions."""

    def __init__(self, text):
        threads = [thread.split() for thread in text.split("|")]
        operations = [parse_event(i, word) for i, words in enumerate(threads) for word in words]
        self.threads = len(threads)
        self.cells = sorted({e.cell for e in operations if e.cell})
        self.events = [Event(INITIALLY, "store", cell, (0,), "relaxed") for cell in self.cells]
        self.events += operations
        self.everything = range(len(self.events))
        self.sb = [self.set_of(lambda b, a=a: self.comes_before(a, b)) for a in self.everything]
        self.reads = [e for e in self.everything if self.events[e].kind not in ("store", "fence")]
        self.sources = [self.sources_of(read) for read in self.reads]
        self.tso_fixed = self.tso_program_order()

    def set_of(self, holds):
        return sum_of([1 << e for e in self.everything if holds(e)])

    def comes_before(self, a, b):
        """sequenced before; initial stores come before all threads"""
        one, other = self.events[a].thread, self.events[b].thread
        return one == other and a < b if one != INITIALLY else other != INITIALLY

    def may_write(self, e):
        return self.events[e].kind not in ("load", "fence")

    def sources_of(self, read):
        """The stores it might read: those neither later in its own thread nor overwritten there."""
        cell = self.events[read].cell
        writes = [e for e in self.everything
                  if self.events[e].cell == cell and self.may_write(e) and e != read]

        def overwritten(w):
            return any(self.sb[w] >> e & self.sb[e] >> read & 1 and self.events[e].kind != "cas"
                       for e in writes)
        return [w for w in writes if not self.sb[read] >> w & 1 and not overwritten(w)]

    def tso_program_order(self):
        """The part of sb that tso keeps between accesses: all but store to load, and that too if a
        seq_cst fence or a locked instruction (each read-modify-write, also a CAS that fails) lies
        between or is one of the two."""
        kinds = [e.kind for e in self.events]
        buffered = self.set_of(lambda e: kinds[e] == "store")
        loads = self.set_of(lambda e: kinds[e] == "load")
        fences = self.set_of(lambda e: self.events[e].order == "seq_cst")
        ignored = self.set_of(lambda e: kinds[e] == "fence") & ~fences
        # Edges to and from a seq_cst fence are kept, and with them all that they lead to.
        return [0 if ignored >> e & 1 else
                row & ~ignored & ~(loads if buffered >> e & 1 else 0)
                for e, row in enumerate(self.sb)]


# ---- candidate executions ----


class Execution:
    """A program and the store that each load reads (rf); the order of stores comes later."""

    def __init__(self, program, sources):
        self.program = program
        self.source = dict(zip(program.reads, sources))
        self.rf = [0] * len(program.events)
        for read, write in self.source.items():
            self.rf[write] |= 1 << read
        self.found, self.written = {}, {}

    def compute_values(self):
        """False when the choice is impossible: a value is read that is never written."""
        for e in self.program.everything:
            if self.program.may_write(e):
                self.value_written(e)
        for read, write in self.source.items():
            if self.written[write] is None:
                return False
            self.found[read] = self.written[write]
        return True

    def value_written(self, e):
        """None for a CAS that fails.  The recursion ends because sb and rf have no cycle."""
        if e not in self.written:
            event = self.program.events[e]
            before = self.value_written(self.source[e]) if e in self.source else None
            if event.kind == "add":
                value = None if before is None else before + event.values[0]
            elif event.kind == "cas":
                value = event.values[1] if before == event.values[0] else None
            else:
                value = event.values[0]
            self.written[e] = value
        return self.written[e]

    def is_write(self, e):
        return self.written.get(e) is not None

    def is_rmw(self, e):
        return e in self.source and self.is_write(e)

    def outcome(self, orders):
        reads = [",".join(str(self.found[e]) for e in self.program.reads
                          if self.program.events[e].thread == thread)
                 for thread in range(self.program.threads)]
        cells = [f"{cell}={self.written[order[-1]]}"
                 for cell, order in zip(self.program.cells, orders)]
        return "|".join(reads) + ";" + ",".join(cells)

    def store_orders(self, cell):
        """All orders of the stores to a cell (mo) in which a read-modify-write comes right after
        what it reads, and which are coherent."""
        chains = self.chains(cell)
        if chains is None:
            return
        first, *others = chains
        for rest in itertools.permutations(others):
            order = first + [write for chain in rest for write in chain]
            if self.coherent(cell, order):
                yield order

    def chains(self, cell):
        """Each plain store with the read-modify-writes that follow it; None if two follow one."""
        next_of = {}
        for e in self.program.reads:
            if self.is_rmw(e) and self.program.events[e].cell == cell:
                if self.source[e] in next_of:
                    return None
                next_of[self.source[e]] = e
        chains = []
        for e in self.program.everything:
            if self.program.events[e].cell == cell and self.program.events[e].kind == "store":
                chains.append([e])
                while chains[-1][-1] in next_of:
                    chains[-1].append(next_of[chains[-1][-1]])
        return chains

    def coherent(self, cell, order):
        """sb, rf, mo and rb of one location have no cycle."""
        here = self.program.set_of(lambda e: self.program.events[e].cell == cell)
        sb = [row & here if here >> e & 1 else 0 for e, row in enumerate(self.program.sb)]
        rf = [row if here >> e & 1 else 0 for e, row in enumerate(self.rf)]
        return acyclic(union(sb, rf, *self.mo_and_rb([order])))

    def mo_and_rb(self, orders):
        """Modification order, and reads-before: from a load to all stores after the one it read."""
        mo, rb = [0] * len(self.rf), [0] * len(self.rf)
        for order in orders:
            later = 0
            for write in reversed(order):
                mo[write] = later
                for read in members(self.rf[write]):
                    rb[read] = later & ~(1 << read)
                later |= 1 << write
        return mo, rb


def executions(program):
    """All that are possible and in which no value is read before it is written."""
    for sources in itertools.product(*program.sources):
        execution = Execution(program, sources)
        if acyclic(union(program.sb, execution.rf)) and execution.compute_values():
            yield execution


# ---- rc11 ----


def acquires(order):
    return order in ("acquire", "acq_rel", "seq_cst")


def releases(order):
    return order in ("release", "acq_rel", "seq_cst")


def release_sequences(x):
    """From each store to itself and the chain of read-modify-writes that begins with it."""
    rmws = x.program.set_of(x.is_rmw)
    steps = closure([row & rmws for row in x.rf])
    return [row | 1 << e if x.is_write(e) else 0 for e, row in enumerate(steps)]


def release_starts(x):
    """From what releases to the stores that do it: from a release store to itself, from a release
    fence to all later stores of its thread."""
    events, writes = x.program.events, x.program.set_of(x.is_write)
    starts = [0] * len(events)
    for e, event in enumerate(events):
        if releases(event.order):
            starts[e] = x.program.sb[e] & writes if event.kind == "fence" else 1 << e & writes
    return starts


def acquire_ends(x):
    """From each load to what acquires by it: itself if it is an acquire load (a CAS that fails is
    relaxed), and all later acquire fences of its thread."""
    events = x.program.events
    fences = x.program.set_of(lambda e: events[e].kind == "fence" and acquires(events[e].order))
    ends = [0] * len(events)
    for e in x.program.reads:
        failed_cas = events[e].kind == "cas" and not x.is_write(e)
        ends[e] = x.program.sb[e] & fences
        if acquires(events[e].order) and not failed_cas:
            ends[e] |= 1 << e
    return ends


def happens_before(x):
    read_by = compose(release_sequences(x), x.rf)
    synchronizes_with = compose(compose(release_starts(x), read_by), acquire_ends(x))
    return closure(union(x.program.sb, synchronizes_with))


def seq_cst_fences_agree(x, hb, eco):
    """psc: the seq_cst fences have one order that agrees with all reads."""
    fences = x.program.set_of(lambda e: x.program.events[e].order == "seq_cst")
    before = union(hb, compose(compose(hb, eco), hb))
    return acyclic([row & fences if fences >> e & 1 else 0 for e, row in enumerate(before)])


def rc11_allows(x, mo, rb):
    hb = happens_before(x)
    eco = closure(union(x.rf, mo, rb))
    return irreflexive(hb) and irreflexive(compose(hb, eco)) and seq_cst_fences_agree(x, hb, eco)


# ---- tso ----


def tso_allows(x, mo, rb):
    """One order of all that reaches memory; a load from the thread's own buffer does not count."""
    events = x.program.events
    thread_of = [x.program.set_of(lambda e, me=event: events[e].thread == me.thread)
                 for event in events]
    rf_external = [row & ~thread_of[e] for e, row in enumerate(x.rf)]
    return acyclic(union(x.program.tso_fixed, rf_external, mo, rb))


ALLOWS = {"rc11": rc11_allows, "tso": tso_allows}


def reference(text):
    """The outcomes that each model allows."""
    program = Program(text)
    allowed = {model: set() for model in ALLOWS}
    for x in executions(program):
        for orders in itertools.product(*[list(x.store_orders(cell)) for cell in program.cells]):
            outcome = x.outcome(orders)
            open_question = [model for model in ALLOWS if outcome not in allowed[model]]
            relations = x.mo_and_rb(orders) if open_question else None
            for model in open_question:
                if ALLOWS[model](x, *relations):
                    allowed[model].add(outcome)
    return allowed


# ---- random programs ----

MAX_OPERATIONS = {2: 4, 3: 3, 4: 2}  # per thread: small enough to be judged in milliseconds
MAX_EVENTS = 9                       # the same for a whole program, fences not counted


class Generator:
    """Half of the programs are random.  The others are known ones with a few changes: a small change
    there often allows a forbidden outcome, and random programs seldom come close to one."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def program(self):
        self.cells = self.random.choice(["x", "xy", "xy", "xy", "xyz"])
        self.values = self.random.choice([1, 2, 9])
        self.stored = collections.Counter()
        return self.by_chance() if self.random.random() < 0.5 else self.changed_known()

    def by_chance(self):
        threads = self.random.choice([2, 2, 2, 3, 3, 4])
        return " | ".join(self.thread(MAX_OPERATIONS[threads]) for _ in range(threads))

    def thread(self, at_most):
        words = [self.operation()]
        for _ in range(self.random.randrange(at_most)):
            if self.random.random() < 0.25:
                words.append(self.fence())
            words.append(self.operation())
        return " ".join(words)

    def changed_known(self):
        text = self.random.choice(KNOWN).program
        threads = [thread.split() for thread in text.split("|")]
        for _ in range(self.random.randint(1, 4)):
            self.change(threads)
        return " | ".join(" ".join(words) for words in threads)

    def change(self, threads):
        """Replace an operation, or add one if the limits allow it, or a fence."""
        words = self.random.choice(threads)
        place = self.random.randrange(len(words))
        accesses = sum(not word.startswith("fence") for thread in threads for word in thread)
        what = self.random.choice(["replace", "add", "fence"])
        if what == "replace":
            words[place] = self.operation()
        elif what == "add" and accesses < MAX_EVENTS and len(words) < 6:
            words.insert(place, self.operation())
        elif what == "fence" and len(words) < 6:
            words.insert(place, self.fence())

    def fence(self):
        orders = ["acquire", "release", "acq_rel", "seq_cst", "seq_cst"]
        return "fence:" + self.random.choice(orders)

    def operation(self):
        cell = self.random.choice(self.cells)
        kind = self.random.choices(["load", "store", "add", "exchange", "cas"], [8, 8, 2, 1, 2])[0]
        if kind == "load":
            return self.ordered(f"load:{cell}", "acquire")
        if kind == "store":
            return self.ordered(f"store:{cell}:{self.new_value(cell)}", "release")
        return self.ordered(self.read_modify_write(kind, cell), "acquire", "release", "acq_rel")

    def read_modify_write(self, kind, cell):
        if kind == "add":
            return f"add:{cell}:1"
        if kind == "exchange":
            return f"exchange:{cell}:{self.new_value(cell)}"
        return f"cas:{cell}:{self.random.randrange(3)}:{self.new_value(cell)}"

    def new_value(self, cell):
        """Small, so that a CAS often finds what it expects.  Different values show which store was
        read.  Equal ones lead to threads that have read the same values with different views."""
        self.stored[cell] += 1
        return 1 + (self.stored[cell] - 1) % self.values

    def ordered(self, word, *orders):
        """Relaxed, half of the time."""
        if self.random.random() < 0.5:
            return word
        return word + ":" + self.random.choice(orders)


# ---- the comparison ----


def ask_explorer(command, mode, programs):
    """A set of outcomes per program; fewer sets than programs when it crashed."""
    done = subprocess.run([command, mode], input="\n".join(programs) + "\n", text=True,
                          stdout=subprocess.PIPE, check=False)
    # A line with ! says why the explorer gave up.
    answers = [{line} if line.startswith("!") else set(line.split(" "))
               for line in done.stdout.splitlines()]
    if len(answers) < len(programs):
        print(f"the explorer ended with {done.returncode} in mode {mode} at\n"
              f"  {programs[len(answers)]}")
    return answers


class Report:
    def __init__(self, show):
        self.show = show
        self.passed = self.failed = 0

    def print_sets(self, text, mode, expected, got):
        print(text)
        for what, which in ((f"{mode} allows", expected), ("explorer finds", got),
                            ("missing", expected - got), ("too much", got - expected)):
            if which:
                print(f"  {what:14}  {' '.join(sorted(which))}")

    def compare(self, text, expected, answers):
        different = [mode for mode in answers if answers[mode] != expected[MODEL_OF_MODE[mode]]]
        for mode in answers if self.show else different[:1 if self.failed == 0 else 0]:
            self.print_sets(text, mode, expected[MODEL_OF_MODE[mode]], answers[mode])
        self.count(not different)

    def compare_known(self, known, allowed):
        """Compare the axioms as written here with the literature."""
        for model in ALLOWS:
            if (known.witness in allowed[model]) != getattr(known, model):
                print(f"{known.name}: {known.program}\n  {model} as written here "
                      f"{'forbids' if getattr(known, model) else 'allows'} {known.witness}")
                self.count(False)

    def count(self, good):
        self.passed += good
        self.failed += not good


def compare_all(command, programs, show):
    report = Report(show)
    answers = {mode: ask_explorer(command, mode, programs) for mode in MODEL_OF_MODE}
    for i, text in enumerate(programs):
        allowed = reference(text)
        if i < len(KNOWN):
            report.compare_known(KNOWN[i], allowed)
        report.compare(text, allowed, {mode: answers[mode][i] if i < len(answers[mode]) else set()
                                       for mode in answers})
    return report


def read_arguments():
    def number(text):
        value = int(text, 0)
        if value < 0:
            raise ValueError
        return value

    fresh = os.environ.get("FILCH_SEED", str(time.time_ns() & 0xFFFFFFFF))
    parser = argparse.ArgumentParser(description="Compare the explorer with the axioms.")
    parser.add_argument("--programs", type=number, default=200, metavar="N",
                        help="how many random programs (200); the known ones come first")
    parser.add_argument("--seed", type=number, default=fresh, metavar="S",
                        help="of the random programs (FILCH_SEED, or a new one each time)")
    parser.add_argument("--show", action="store_true", help="print all programs and outcomes")
    parser.add_argument("random_litmus", metavar="RANDOM_LITMUS", help="the built program")
    arguments = parser.parse_args()
    if not os.access(arguments.random_litmus, os.X_OK):
        parser.error(f"cannot run {arguments.random_litmus}")
    return arguments


def main():
    arguments = read_arguments()
    print(f"seed: FILCH_SEED={arguments.seed}", flush=True)
    generator = Generator(arguments.seed)
    programs = [known.program for known in KNOWN]
    programs += [generator.program() for _ in range(arguments.programs)]
    report = compare_all(arguments.random_litmus, programs, arguments.show)
    print(f"{report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
