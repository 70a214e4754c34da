"""Output files of FILCH_TRACE, FILCH_SAMPLE and FILCH_SCALE that are not plain files."""
from hostile import DIES, REFUSED, RIGHT, Attack

# (what it is, setup, the name, may the program refuse to run)
KINDS = [
    ("missing directory", "", "no/such/folder/f"),
    ("directory", "mkdir f", "f"),
    ("FIFO without a reader", "mkfifo f", "f"),
    ("full device", "", "/dev/full"),
    ("null device", "", "/dev/null"),
    ("dangling symlink", "ln -s nowhere f", "f"),
    ("symlink to itself", "ln -s f f", "f"),
    ("symlink to a directory", "mkdir d; ln -s d f", "f"),
    ("symlink to a FIFO", "mkfifo p; ln -s p f", "f"),
    ("socket", "python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('f')\"", "f"),
    ("long name", "", "n" * 300),
    ("long path", "", "d/" * 3000 + "f"),
    ("file as a directory", "touch f", "f/g"),
    ("slash at the end", "", "f/"),
]
VARIABLES = ["FILCH_TRACE", "FILCH_SAMPLE", "FILCH_SCALE"]
LIMITS = ["0", "1", "100", "4k"]
PRECIOUS = b"precious\n"


def attacks(tools):
    for variable in VARIABLES:
        for what, setup, name in KINDS:
            for part in ("tasks", "all"):
                yield Attack(f"{variable} {what}, {part}", [tools.launch, tools.victim, part], (RIGHT, REFUSED, DIES),
                             {variable: name}, setup, leaves=("*",), check=says_why_or_right, quick=True)
        for limit in LIMITS:
            yield Attack(f"{variable} fsize={limit}", [tools.launch, "-l", f"fsize={limit}", tools.victim, "tasks"],
                         (RIGHT, REFUSED, DIES), {variable: "f"}, leaves=("f*",), quick=True)
        # Names that an attacker can guess, in a directory that others may write to.
        yield Attack(f"{variable} symlink at the temporary name", ["sh", "-c",
                     'for i in $(seq 0 400); do ln -s precious "f.$(($$ + i))"; ln -s precious "f.tmp.$(($$ + i))"; done; exec "$@"',
                     "sh", tools.launch, tools.victim, "tasks"], (RIGHT, REFUSED, DIES), {variable: "f"},
                     "echo precious > precious", leaves=("*",), check=is_untouched, quick=True)
        # A read-only directory, as another user, because root may write everywhere.
        yield Attack(f"{variable} read-only directory", [tools.launch, "-u", "54321", tools.victim, "tasks"],
                     (RIGHT, REFUSED, DIES), {variable: "d/f"}, "mkdir d; chmod 555 d", leaves=("d",),
                     check=says_why_or_right, quick=True)


def says_why_or_right(folder, out, err):
    if out.rstrip().endswith("right"):
        return None
    return None if err.strip() else "it failed without a message"


def is_untouched(folder, out, err):
    return None if (folder / "precious").read_bytes() == PRECIOUS else "a file that a symlink points to was overwritten"
