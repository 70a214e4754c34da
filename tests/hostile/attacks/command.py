"""The command filch, with files that cannot be written, and with hostile programs and processes."""
import struct

from hostile import REFUSED, RIGHT, Attack

RUN = ["bench", "run", "fib", "-n", "20"]
SCALE = ["scale", "--workers", "1,2"]
# Commands that print to stdout.  Lost output must be reported.
SPEAKS = [["help"], ["version"], RUN, ["bench", "--help"], ["run", "--help"], ["lab", "--help"], ["scale", "--help"], ["top", "--help"],
          ["bench", "fib", "--quick", "--runtimes", "filch", "--repeat", "1", "--workers", "1"]]
FILES = [("missing directory", "", "no/such/f"), ("file as a directory", "touch f", "f/g"), ("full device", "", "/dev/full"),
         ("directory", "mkdir f", "f"), ("symlink to itself", "ln -s f f", "f"), ("long name", "", "n" * 300)]
PROGRAMS = [("not Filch", "", "/bin/true"), ("missing", "", "./no-such-program"), ("directory", "mkdir f", "./f"),
            ("not executable", "echo > f", "./f"), ("killed", "printf '#!/bin/sh\\nkill -9 $$\\n' > f; chmod +x f", "./f")]
PIDS = ["0", "1", "-1", "2147483647", "99999999999999", "x", "", "1 ", "./1"]


def attacks(tools):
    for words in SPEAKS:
        name = " ".join(words)
        yield shell(f"{name} to a full device", '"$@" >/dev/full', [tools.filch, *words], (REFUSED,))
        yield shell(f"{name} to a closed stdout", '"$@" >&- && echo right', [tools.filch, *words], (REFUSED, RIGHT))
    for what, setup, path in FILES:
        yield Attack(f"scale --csv {what}", [tools.launch, tools.filch, *SCALE, "--csv", path, tools.victim, "tasks"], (REFUSED,),
                     setup=setup, leaves=("f",), quick=True)
    for what, setup, path in PROGRAMS:
        yield Attack(f"scale of a program: {what}", [tools.launch, tools.filch, *SCALE, path], (REFUSED,), setup=setup, leaves=("f",),
                     quick=True)
    for pid in PIDS:
        yield Attack(f"top '{pid}'", [tools.launch, tools.filch, "top", "--once", pid], (REFUSED,), quick=True)
    chance = tools.random("command")
    for i in range(40):
        text = bytes(chance.randrange(256) for _ in range(chance.choice([0, 1, 7, 8, 64, 300, 5000])))
        head = b"FilchSmp" + struct.pack("<I", 1) if i % 2 else b""
        octal = "".join(f"\\{b:03o}" for b in head + text)
        yield Attack(f"lab csv of random bytes {i}", [tools.launch, tools.filch, "lab", "csv", "f"], (REFUSED,), setup=f"printf '{octal}' > f",
                     leaves=("f",), quick=i < 10)
    for limit in ("as=20m", "as=30m", "as=60m", "nofile=4", "nofile=6", "stack=64k"):
        yield shell(f"run with {limit}", '"$@" && echo right', [tools.launch, "-l", limit, tools.filch, *RUN], (REFUSED, RIGHT))
    for env in ({"FILCH_WORKERS": "x"}, {"FILCH_TRACE": "no/such/f"}, {"TMPDIR": "/no/such"}, {"PATH": ""}, {"HOME": ""}, {"TERM": "x" * 5000},
                {"COLUMNS": "-1"}, {"LANG": "xx_YY.nonsense", "LC_ALL": "xx_YY.nonsense"}):
        yield shell("run with " + " ".join(f"{k}={v[:20]}" for k, v in env.items()), '"$@" && echo right', [tools.launch, tools.filch, *RUN],
                    (REFUSED, RIGHT), env)


def shell(name, script, command, may, env=None):
    return Attack(name, ["/bin/sh", "-c", script, "sh", *command], may, env or {}, quick=True)
