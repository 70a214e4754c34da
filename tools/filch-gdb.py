"""Fibers of Filch in gdb, of a running program or of a core file:

    (gdb) source .../share/filch/filch-gdb.py
    (gdb) filch fibers              all of them: address, name, what each does
    (gdb) filch bt 0x7f8fdc011c80   where that one is
    (gdb) filch bt all              where each is that is parked

It needs no debug information of the library: it reads the table filch_layout_ there.  Nothing is written into the
program.  For a backtrace, the innermost frame of the selected thread is said to have been called from where the fiber
parked; gdb unwinds the rest as always.
"""
import re
import struct

import gdb
from gdb.unwinder import Unwinder, register_unwinder

FIELDS = """version words
    runtime_workers runtime_workers_n runtime_pools runtime_sized_pools sized_pools_n
    pool_size pool_slabs slab_next slab_stacks slab_fresh stack_size stack_low stack_bytes stack_in_use
    worker_size worker_current
    fiber_busy fiber_waiting fiber_name fiber_body fiber_registers
    wait_what wait_object""".split()

# The registers that a fiber leaves behind, in the order of fi_ctx_regs; the stack pointer first.
REGISTERS = {"i386:x86-64": ("rsp", "rip", "rbp", "rbx"), "aarch64": ("sp", "pc", "x29", "x19")}


def read(address, size):
    return bytes(gdb.selected_inferior().read_memory(address, size))


def word(address):
    return struct.unpack("=Q", read(address, 8))[0]


def half(address):
    return struct.unpack("=I", read(address, 4))[0]


def text(address):
    """A string, '?' where there is none."""
    if not address:
        return "?"
    try:
        return gdb.Value(address).cast(gdb.lookup_type("char").pointer()).string(errors="replace", length=-1)
    except gdb.error:
        return "?"


def function(address):
    """The name of a function, by its address."""
    said = gdb.execute("info symbol %d" % address, to_string=True)
    return said.split(" in section")[0] if " in section" in said else "%#x" % address


class Layout:
    """Where things stand."""

    def __init__(self):
        try:
            self.address = int(gdb.parse_and_eval("(unsigned long)&filch_layout_"))
        except gdb.error:
            raise gdb.GdbError("there is no Filch in this program, or it is not running")
        values = struct.unpack("=%dI" % len(FIELDS), read(self.address, 4 * len(FIELDS)))
        for name, value in zip(FIELDS, values):
            setattr(self, name, value)
        if self.version != 1 or self.words < len(FIELDS) - 2:
            raise gdb.GdbError("this script is for another version of Filch")
        behind = 4 * (2 + self.words)
        self.runtime = word(word(self.address + (behind + 7) // 8 * 8))


class Fiber:
    def __init__(self, layout, address, worker):
        self.layout = layout
        self.address = address
        self.worker = worker
        self.name = text(word(address + layout.fiber_name))
        self.wait = word(address + layout.fiber_waiting)
        self.body = word(address + layout.fiber_body)

    def registers(self):
        names = REGISTERS.get(gdb.selected_frame().architecture().name())
        if not names:
            raise gdb.GdbError("fibers of this kind of processor are not known")
        at = self.address + self.layout.fiber_registers
        return [(name, word(at + 8 * i)) for i, name in enumerate(names)]

    def does(self):
        if self.worker is not None:
            return "runs on worker %d" % self.worker
        if not self.wait:
            return "is ready, or waits for a task"
        return "waits for %s %#x" % (text(word(self.wait + self.layout.wait_what)),
                                     word(self.wait + self.layout.wait_object))

    def __str__(self):
        began = ", function " + function(self.body) if self.body else ""
        return "fiber '%s' %#x %s%s" % (self.name, self.address, self.does(), began)


def slabs_of(layout, pool):
    slab = word(pool + layout.pool_slabs)
    while slab:
        yield slab
        slab = word(slab + layout.slab_next)


def fibers_of(layout, pool, running):
    for slab in slabs_of(layout, pool):
        stacks = word(slab + layout.slab_stacks)
        for i in range(half(slab + layout.slab_fresh)):
            stack = stacks + i * layout.stack_size
            address = word(stack + layout.stack_low) + word(stack + layout.stack_bytes)
            if read(stack + layout.stack_in_use, 1) != b"\0" and half(address + layout.fiber_busy):
                yield Fiber(layout, address, running.get(address))


def all_fibers():
    layout = Layout()
    if not layout.runtime:
        raise gdb.GdbError("no runtime runs")
    workers = word(layout.runtime + layout.runtime_workers)
    running = {}
    for i in range(half(layout.runtime + layout.runtime_workers_n)):
        running[word(workers + i * layout.worker_size + layout.worker_current)] = i
    pools = [layout.runtime + layout.runtime_pools]
    for i in range(layout.sized_pools_n):
        pools.append(layout.runtime + layout.runtime_sized_pools + i * layout.pool_size)
    for pool in pools:
        yield from fibers_of(layout, pool, running)


class FrameId:
    def __init__(self, sp, pc):
        self.sp = sp
        self.pc = pc


class FromFiber(Unwinder):
    """Says that the innermost frame was called from where a fiber parked."""

    def __init__(self):
        super().__init__("filch")
        self.registers = None

    def __call__(self, frame):
        if not self.registers or frame.level() != 0:
            return None
        sp = self.registers[0][1]
        # Below the fiber's frames, as gdb takes a caller that is not above for a broken stack.
        info = frame.create_unwind_info(FrameId(gdb.Value(sp - 64), frame.read_register(self.registers[1][0])))
        kind = gdb.lookup_type("unsigned long")
        for name, value in self.registers:
            info.add_saved_register(name, gdb.Value(value).cast(kind))
        return info

    def backtrace(self, fiber):
        self.registers = fiber.registers()
        gdb.invalidate_cached_frames()
        try:
            lines = gdb.execute("backtrace", to_string=True).splitlines()
        finally:
            self.registers = None
            gdb.invalidate_cached_frames()
        # The frame of the thread that we have borrowed is not the fiber's.
        first = next((i for i, line in enumerate(lines) if re.match(r"#1\b", line)), len(lines))
        return [renumbered(line) for line in lines[first:]]


def renumbered(line):
    found = re.match(r"#(\d+)( *)(.*)", line)
    return "#%-3d%s" % (int(found.group(1)) - 1, found.group(3)) if found else line


from_fiber = FromFiber()


class Filch(gdb.Command):
    """Fibers of Filch: filch fibers, filch bt ADDRESS, filch bt all"""

    def __init__(self):
        super().__init__("filch", gdb.COMMAND_STACK, prefix=True)


class Fibers(gdb.Command):
    """List all fibers: address, name, and what each does."""

    def __init__(self):
        super().__init__("filch fibers", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        for fiber in all_fibers():
            print(fiber)


class Backtrace(gdb.Command):
    """filch bt ADDRESS|all: where a fiber is, or where all of them are that are parked."""

    def __init__(self):
        super().__init__("filch bt", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        if not argument:
            raise gdb.GdbError("filch bt needs the address of a fiber, or the word all")
        wanted = None if argument == "all" else int(gdb.parse_and_eval(argument))
        found = False
        for fiber in all_fibers():
            if wanted in (None, fiber.address):
                found = True
                self.show(fiber)
        if not found and wanted:
            raise gdb.GdbError("there is no fiber at %#x" % wanted)

    def show(self, fiber):
        print(fiber)
        if fiber.worker is None:
            print("\n".join(from_fiber.backtrace(fiber)))
        else:
            print("    it runs: look at the thread of worker %d" % fiber.worker)
        print()


register_unwinder(None, from_fiber, replace=True)
Filch()
Fibers()
Backtrace()
