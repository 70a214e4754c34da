"""Invalid values of every FILCH_ variable are reported and ignored.  With FILCH_STRICT=1 they are errors."""
import os
import re
import signal

from hostile import HERE, REFUSED, RIGHT, Attack

VALUES = ["", " ", "0", "1", "-1", "+1", "2", "00", "1.5", "0x10", "1e3", "1k", "1kk", "99999999999999999999", "18446744073709551616",
          "9223372036854775808", "-9223372036854775808", "4294967297", "nan", "yes", "no", "YES", "none", "off", "cpu ", "%s%n", "%p%p%p",
          "%", "/", "/dev/full", ".", "..", "~", "\n", "\t1", "1\n", "\udcff\udcfe", "\u00e4\u00f6", "'", '"', ";", "$(id)", "A" * 300, "9" * 5000,
          "a" * 100000, "/" * 5000, "x/" * 300]
LEAVES = ("*",)  # a trace file may have any of these names
# Values that are right alone and wrong together.
TOGETHER = ({"FILCH_DEQUE": "bounded", "FILCH_STEAL_BATCH": "2"}, {"FILCH_SAMPLE": "samples", "FILCH_SAMPLE_CPU": "1048575"})
# (min, max) of the numbers; those with units may end with k, m or g
NUMBERS = {"FILCH_WORKERS": (1, 1024), "FILCH_STACK_SIZE": (16 << 10, 1 << 30), "FILCH_WATCHDOG_MS": (0, 3600000),
           "FILCH_BLOCKING_THREADS": (1, 16384), "FILCH_TRACE_MS": (0, 3600000), "FILCH_TRACE_EVENTS": (16, 1 << 26),
           "FILCH_SAMPLE_CPU": (0, 1048575), "FILCH_SAMPLE_NS": (0, 10**9), "FILCH_SCALE_BURDEN_NS": (0, 10**9),
           "FILCH_SEARCH_NS": (0, 10**9), "FILCH_STEAL_BATCH": (1, 64)}
WITH_UNITS = ("FILCH_STACK_SIZE", "FILCH_TRACE_EVENTS")
CHOICES = {"FILCH_AFFINITY": ("none", "cpu"), "FILCH_CALLER_RUNS": ("yes", "no"), "FILCH_DEADLOCK": ("abort", "report", "off"),
           "FILCH_DEQUE": ("locked", "bounded", "batch"), "FILCH_PUBLISH": ("lazy", "eager"), "FILCH_STATS": ("0", "1"),
           "FILCH_STRICT": ("0", "1")}
# Any text may name a file, and FILCH_CHAOS has a meaning in chaos builds only.
ANY = ("FILCH_TRACE", "FILCH_SAMPLE", "FILCH_SCALE", "FILCH_CHAOS")
# Names of signals that may print a dump, and numbers that may not.
SIGNALS = ("HUP", "QUIT", "USR1", "USR2", "PWR", "WINCH")
FAULTS = (signal.SIGKILL, signal.SIGSTOP, signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT)


def is_wrong(name, value):
    """A new variable is an error here until it is in one of the tables."""
    if value == "" or name in ANY:
        return False
    if name == "FILCH_NAME":
        return len(os.fsencode(value)) > 10
    if name == "FILCH_DUMP_SIGNAL":
        return is_wrong_signal(value)
    if name in CHOICES:
        return value not in CHOICES[name]
    units = "[kKmMgG]?" if name in WITH_UNITS else ""
    if len(value) > 25 or not re.fullmatch("[0-9]+" + units, value, re.ASCII):
        return True
    shift = {"k": 10, "m": 20, "g": 30}.get(value[-1].lower(), 0)
    low, high = NUMBERS[name]
    return not low <= int(value[:-1] if shift else value) << shift <= high


def is_wrong_signal(value):
    if re.fullmatch("[0-9]{1,9}", value, re.ASCII):
        return int(value) > signal.SIGRTMAX or int(value) in FAULTS
    return value.removeprefix("SIG") not in SIGNALS


def are_wrong(env):
    """The wrong variables, alone or together with another."""
    wrong = {name for name, value in env.items() if is_wrong(name, value)}
    batch, cpu = (env[name] if name in env and name not in wrong else "" for name in ("FILCH_STEAL_BATCH", "FILCH_SAMPLE_CPU"))
    if batch and int(batch) > 1 and env.get("FILCH_DEQUE") == "bounded":
        wrong.add("FILCH_STEAL_BATCH")
    if cpu and int(cpu) not in os.sched_getaffinity(0) and env.get("FILCH_SAMPLE"):
        wrong.add("FILCH_SAMPLE_CPU")
    return wrong


def variables():
    """All variables in the source, so that new ones are included."""
    found = set()
    for folder in ("src",):
        for path in (HERE.parent.parent / folder).rglob("*.c"):
            found |= set(re.findall(r'"(FILCH_[A-Z_]+)"', path.read_text()))
    return sorted(found)


def attacks(tools):
    chance = tools.random("environment")
    names = variables()
    for name in names:
        for i, value in enumerate(VALUES):
            # These values would start too many threads.
            if name in ("FILCH_WORKERS", "FILCH_BLOCKING_THREADS") and value.strip() in ("99999", "0x10"):
                continue
            quick = i % 5 == len(name) % 5
            yield attack(tools, f"{name} value {i}", {name: value}, quick)
            if name != "FILCH_STRICT":
                yield attack(tools, f"{name} value {i} strict", {name: value, "FILCH_STRICT": "1"}, quick)
    for i, env in enumerate(TOGETHER):
        yield attack(tools, f"together {i}", env, quick=True)
        yield attack(tools, f"together {i} strict", {**env, "FILCH_STRICT": "1"}, quick=True)
    for i in range(300):
        env = {n: chance.choice(VALUES + ["2", "64k", "1", "bounded"]) for n in chance.sample(names, chance.randrange(2, 6))}
        yield attack(tools, f"random {i}", env, quick=i < 40)
    for i in range(200):
        text = os.fsdecode(bytes(chance.randrange(1, 256) for _ in range(chance.randrange(1, 40))))
        yield attack(tools, f"bytes {i}", {chance.choice(names): text}, quick=i < 20)


def attack(tools, name, env, quick):
    wrong = are_wrong(env)
    strict = wrong and env.get("FILCH_STRICT") == "1"
    return Attack(name, [tools.launch, tools.victim, "tasks", "fibers", "timers"], (REFUSED,) if strict else (RIGHT,), env,
                  leaves=LEAVES, check=lambda folder, out, err: is_strict(err, wrong) if strict else are_named(err, env, wrong),
                  quick=quick)


def are_named(err, env, wrong):
    """Each wrong variable is reported and ignored, and no right one."""
    for name in env:
        is_named = f"filch: {name}: " in err
        if is_named != (name in wrong) and name not in ANY:
            return f"{name} is {'' if is_named else 'not '}reported"
    if err.count("; the value is ignored") < len(wrong):
        return "a wrong value is not reported as ignored"
    return None


def is_strict(err, wrong):
    """The runtime does not start, and the first wrong variable is named."""
    if not any(f"filch: {name}: " in err for name in wrong):
        return "no wrong variable is named"
    if "filch: cannot start the runtime" not in err:
        return "the runtime starts"
    return "a value is ignored" if "; the value is ignored" in err else None
