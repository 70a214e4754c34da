"""A set-uid program that uses Filch must ignore the environment of its caller."""
import os

from attacks.environment import variables
from hostile import RIGHT, Attack

CALLER = "54321"
SECRET = b"secret\n"
VARIABLES = ["FILCH_TRACE", "FILCH_SAMPLE", "FILCH_SCALE"]


def attacks(tools):
    if os.getuid() != 0:
        yield Attack("all", ["sh", "-c", "echo making a set-uid program needs root >&2; exit 77"], quick=True)
        return
    setup = (f"cp {tools.victim_static} program; chown 0:0 program; chmod 4755 program; "
             "printf 'secret\\n' > secret; chmod 600 secret; mkdir mine; chmod 777 mine")
    works = "[ \"$(stat -c %u:%a program)\" = 0:4755 ] || { echo set-uid has no effect here >&2; exit 77; }; exec \"$@\""
    for variable in VARIABLES:
        for target in ("secret", "mine/new"):
            yield Attack(f"{variable}={target}", ["sh", "-c", works, "sh", tools.launch, "-u", CALLER, "./program", "tasks"],
                         (RIGHT,), {variable: target}, setup, check=is_untouched, leaves=("program", "secret", "mine"), quick=True)
    values = [{"FILCH_STATS": "1"}, {"FILCH_DUMP_SIGNAL": "TERM"}, {"FILCH_CHAOS": "1"}, {"FILCH_STACK_SIZE": "1g"}]
    values += [{name: "nonsense value", "FILCH_STRICT": "1"} for name in variables() if name not in VARIABLES + ["FILCH_STRICT"]]
    for env in values:
        name = " ".join(f"{k}={v}" for k, v in env.items())
        yield Attack(name, ["sh", "-c", works, "sh", tools.launch, "-u", CALLER, "./program", "tasks"], (RIGHT,), env, setup,
                     check=is_untouched, leaves=("program", "secret", "mine"), quick=True)


def is_untouched(folder, out, err):
    secret = folder / "secret"
    if secret.read_bytes() != SECRET:
        return "a file of root was overwritten"
    if secret.stat().st_mode & 0o777 != 0o600:
        return f"the mode of a file of root is {secret.stat().st_mode & 0o777:o} now"
    if any((folder / "mine").iterdir()):
        return "a file was created by root"
    return "it takes settings from its caller's environment" if err.strip() else None
