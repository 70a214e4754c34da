"""gdb commands for the fibers of a running program or a core file:

    (gdb) source .../share/filch/filch-gdb.py
    (gdb) filch fibers              list all fibers: address, name, state
    (gdb) filch bt 0x7f8fdc011c80   backtrace of one fiber
    (gdb) filch bt all              backtraces of all parked fibers

The script reads the table filch_layout_ of the library, so it needs no debug information of the library.  It does not
write to the program.  For a backtrace, an unwinder presents the place where the fiber parked as the caller of the
selected thread's innermost frame; gdb unwinds the rest.
"""
import re
import struct

import gdb
from gdb.unwinder import Unwinder, register_unwinder

# Objects up to this number are descriptors, signals and processes.  Addresses are greater.
NUMBER_MAX = 1 << 22

# Names are at most this long, also in damaged memory.
NAME_MAX = 64

# The registers saved by a context switch, in the order of fi_ctx_regs; the stack pointer first.
REGISTERS = {"i386:x86-64": ("rsp", "rip", "rbp", "rbx"), "aarch64": ("sp", "pc", "x29", "x19")}


def read(address, size):
    return bytes(gdb.selected_inferior().read_memory(address, size))


def read_u64(address):
    return struct.unpack("=Q", read(address, 8))[0]


def read_u32(address):
    return struct.unpack("=I", read(address, 4))[0]


def printable(data):
    """The text up to the first NUL.  Bytes that control a terminal, or are not UTF-8, become question marks."""
    text = data.split(b"\0")[0].decode("utf-8", errors="replace")
    return "".join(c if c.isprintable() and c != "\ufffd" else "?" for c in text)


def read_string(address):
    """The C string at address, up to NAME_MAX bytes, or '?'."""
    data = b""
    try:
        while address and len(data) < NAME_MAX and b"\0" not in data:
            at = address + len(data)  # the string may end right before memory that is not mapped
            data += read(at, min(NAME_MAX - len(data), 4096 - at % 4096))
    except gdb.error:
        pass
    return printable(data) if data else "?"


def function_name(address):
    """The name of the function at address."""
    line = gdb.execute("info symbol %d" % address, to_string=True)
    return line.split(" in section")[0] if " in section" in line else "%#x" % address


class Layout:
    """Offsets and sizes of the runtime's structures, from filch_layout_."""

    def __init__(self):
        try:
            address = int(gdb.parse_and_eval("(unsigned long)&filch_layout_"))
        except gdb.error:
            raise gdb.GdbError("filch: filch_layout_ not found; the program does not use Filch or is not running")
        version, n_entries, entries = struct.unpack("=IIQ", read(address, 16))
        if version != 2:
            raise gdb.GdbError("filch: this script belongs to another version of Filch")
        self.entries = {}
        for name, value in struct.iter_unpack("=24sQ", read(entries, 32 * n_entries)):
            self.entries[name.rstrip(b"\0").decode()] = value
        self.runtime = read_u64(self.entries["runtime"])

    def __getattr__(self, name):
        if name not in self.entries:
            raise gdb.GdbError("filch: this script belongs to another version of Filch (no %s)" % name)
        return self.entries[name]


class Fiber:
    def __init__(self, layout, address, worker):
        self.layout = layout
        self.address = address
        self.worker = worker
        self.name = read_string(read_u64(address + layout.fiber_name))
        self.wait = read_u64(address + layout.fiber_waiting)
        self.body = read_u64(address + layout.fiber_body)
        self.bound = read_u32(address + layout.fiber_bound)

    def registers(self):
        names = REGISTERS.get(gdb.selected_frame().architecture().name())
        if not names:
            raise gdb.GdbError("filch bt: unsupported architecture")
        at = self.address + self.layout.fiber_registers
        return [(name, read_u64(at + 8 * i)) for i, name in enumerate(names)]

    def state(self):
        if self.worker is not None:
            return "runs on worker %d" % self.worker
        if not self.wait:
            return "is ready, or waits for a task"
        number = read_u64(self.wait + self.layout.waiter_object)
        what = "%d" if number <= NUMBER_MAX else "%#x"
        return "waits for %s %s" % (read_string(read_u64(self.wait + self.layout.waiter_kind)),
                                    what % number)

    def __str__(self):
        bound = ", bound to worker %d" % (self.bound - 1) if self.bound else ""
        body = ", function " + function_name(self.body) if self.body else ""
        return "fiber '%s' %#x %s%s%s" % (self.name, self.address, self.state(), bound, body)


def slabs_of(layout, pool):
    slab = read_u64(pool + layout.pool_slabs)
    while slab:
        yield slab
        slab = read_u64(slab + layout.slab_next)


def fibers_of(layout, pool, running):
    for slab in slabs_of(layout, pool):
        stacks = read_u64(slab + layout.slab_stacks)
        for i in range(read_u32(slab + layout.slab_fresh)):
            stack = stacks + i * layout.stack_size
            address = read_u64(stack + layout.stack_low) + read_u64(stack + layout.stack_bytes)
            if read(stack + layout.stack_in_use, 1) != b"\0" and read_u32(address + layout.fiber_busy):
                yield Fiber(layout, address, running.get(address))


def all_fibers():
    layout = Layout()
    if not layout.runtime:
        raise gdb.GdbError("filch: the runtime is not running")
    workers = read_u64(layout.runtime + layout.runtime_workers)
    running = {}
    for i in range(read_u32(layout.runtime + layout.runtime_n_workers)):
        running[read_u64(workers + i * layout.worker_size + layout.worker_current)] = i
    pools = [layout.runtime + layout.runtime_stack_pool]
    for i in range(layout.n_sized_pools):
        pools.append(layout.runtime + layout.runtime_sized_pools + i * layout.pool_size)
    for pool in pools:
        yield from fibers_of(layout, pool, running)


class FrameId:
    def __init__(self, sp, pc):
        self.sp = sp
        self.pc = pc


class ParkedFiberUnwinder(Unwinder):
    """Presents the place where a fiber parked as the caller of the innermost frame."""

    def __init__(self):
        super().__init__("filch")
        self.registers = None

    def __call__(self, frame):
        if not self.registers or frame.level() != 0:
            return None
        sp = self.registers[0][1]
        # An address below the fiber's frames: gdb requires a caller to be above its callee.
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
        # Drop frame 0: it belongs to the selected thread, not to the fiber.
        first = next((i for i, line in enumerate(lines) if re.match(r"#1\b", line)), len(lines))
        return [renumbered(line) for line in lines[first:]]


def renumbered(line):
    found = re.match(r"#(\d+)( *)(.*)", line)
    return "#%-3d%s" % (int(found.group(1)) - 1, found.group(3)) if found else line


unwinder = ParkedFiberUnwinder()


class Filch(gdb.Command):
    """Fibers of Filch: filch fibers, filch bt ADDRESS, filch bt all"""

    def __init__(self):
        super().__init__("filch", gdb.COMMAND_STACK, prefix=True)


class Fibers(gdb.Command):
    """List all fibers: address, name and state."""

    def __init__(self):
        super().__init__("filch fibers", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        for fiber in all_fibers():
            print(fiber)


class Backtrace(gdb.Command):
    """filch bt ADDRESS|all: print the backtrace of one fiber, or of all parked fibers."""

    def __init__(self):
        super().__init__("filch bt", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        if not argument:
            raise gdb.GdbError("filch bt: argument missing; give the address of a fiber, or 'all'")
        wanted = None if argument == "all" else int(gdb.parse_and_eval(argument))
        found = False
        for fiber in all_fibers():
            if wanted in (None, fiber.address):
                found = True
                self.show(fiber)
        if not found and wanted:
            raise gdb.GdbError("filch bt: no fiber at %#x; 'filch fibers' lists them" % wanted)

    def show(self, fiber):
        print(fiber)
        if fiber.worker is None:
            print("\n".join(unwinder.backtrace(fiber)))
        else:
            print("    running: see the thread of worker %d" % fiber.worker)
        print()


register_unwinder(None, unwinder, replace=True)
Filch()
Fibers()
Backtrace()
