"""Invalid values of every FILCH_ variable: the program runs, or names the invalid variable."""
import os
import re

from hostile import DIES, HERE, REFUSED, RIGHT, Attack

VALUES = ["", " ", "0", "1", "-1", "+1", "2", "00", "1.5", "0x10", "1e3", "1k", "1kk", "99999999999999999999", "18446744073709551616",
          "9223372036854775808", "-9223372036854775808", "4294967297", "nan", "yes", "no", "YES", "none", "off", "cpu ", "%s%n", "%p%p%p",
          "%", "/", "/dev/full", ".", "..", "~", "\n", "\t1", "1\n", "\udcff\udcfe", "\u00e4\u00f6", "'", '"', ";", "$(id)", "A" * 300, "9" * 5000,
          "a" * 100000, "/" * 5000, "x/" * 300]
LEAVES = ("*",)  # a trace file may have any of these names


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
            yield attack(tools, f"{name} value {i}", {name: value}, quick=i % 5 == len(name) % 5)
    for i in range(300):
        env = {n: chance.choice(VALUES + ["2", "64k", "1"]) for n in chance.sample(names, chance.randrange(2, 6))}
        yield attack(tools, f"random {i}", env, quick=i < 40)
    for i in range(200):
        text = os.fsdecode(bytes(chance.randrange(1, 256) for _ in range(chance.randrange(1, 40))))
        yield attack(tools, f"bytes {i}", {chance.choice(names): text}, quick=i < 20)


def attack(tools, name, env, quick):
    return Attack(name, [tools.launch, tools.victim, "tasks", "fibers", "timers"], (RIGHT, REFUSED, DIES), env, leaves=LEAVES,
                  check=one_line, quick=quick)


def one_line(folder, out, err):
    """A program that ends because of its environment names the variable."""
    if out.rstrip().endswith("right") or "FILCH_" in err:
        return None
    return "it fails, and no line names the variable"
