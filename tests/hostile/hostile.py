#!/usr/bin/env python3
"""hostile.py [OPTION...] [FAMILY...]: attack small programs that use Filch, and check how they end.

An attack runs one program in an empty folder, with something taken away or done to it, and looks how it ends:
    right    exit code 0, and it said "right"
    refused  another exit code, and a line on stderr that begins with "filch: " or "victim: "
    dies     SIGABRT, and a line on stderr that begins with "filch: "
    waits    it does not end, and a line on stderr says that fibers wait for memory (limits alone)
    overflow SIGSEGV, and a line on stderr that says that a stack overflowed
Anything else is a failure: a hang, another signal, an error without a word, a process or a file left behind.
"""
import argparse
import concurrent.futures
import dataclasses
import importlib
import os
import pathlib
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import typing

sys.dont_write_bytecode = True  # leave the source directory unchanged
HERE = pathlib.Path(__file__).resolve().parent
FAMILIES = ["syscalls", "limits", "descriptors", "frozen", "setuid", "files", "forks", "environment", "misuse",
            "command"]
RIGHT, REFUSED, DIES, WAITS = "right", "refused", "dies", "waits"
SKIP = 77


@dataclasses.dataclass
class Attack:
    name: str
    command: list
    may: tuple = (RIGHT,)  # how it may end
    env: dict = dataclasses.field(default_factory=dict)
    setup: str = ""  # shell commands that run before it, in its directory
    check: typing.Optional[typing.Callable] = None  # check(folder, out, err): what is wrong, or None
    leaves: tuple = ()  # patterns of files that it may leave
    quick: bool = False  # also in the short selection
    stdin: typing.Any = subprocess.DEVNULL


class Tools:
    """The programs of the suite, and helpers that families use for their attacks."""

    def __init__(self, folder, filch, seed, quick):
        self.folder = pathlib.Path(folder).resolve()
        self.filch = str(pathlib.Path(filch).resolve())
        self.seed = seed
        self.quick = quick


    def __getattr__(self, name):
        return str(self.folder / name)

    def random(self, name):
        return random.Random(f"{self.seed}/{name}")


def quote(text):
    text = os.fspath(text) if not isinstance(text, str) else text
    if text.isprintable() and text.isascii():
        return shlex.quote(text)
    raw = os.fsencode(text)
    return "$'" + "".join(chr(b) if 32 <= b < 127 and chr(b) not in "'\\" else f"\\x{b:02x}" for b in raw) + "'"


def reproduction(attack):
    words = [f"{k}={quote(v)}" for k, v in attack.env.items()] + [quote(w) for w in attack.command]
    setup = attack.setup + "; " if attack.setup else ""
    line = f'cd "$(mktemp -d)"; {setup}' + " ".join(words)
    return line if len(line) < 2000 else line[:1000] + "... (long)"


def processes_of(session):
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                fields = pathlib.Path(f"/proc/{entry}/stat").read_bytes().rpartition(b")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session and fields[0] != b"Z":
                found.append(int(entry))
    return found


def end_session(session):
    """Kill the remaining processes of a session.  Returns: their number."""
    deadline = time.monotonic() + 10
    while processes_of(session) and time.monotonic() < deadline:
        time.sleep(0.02)
    left = processes_of(session)
    for pid in left:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return len(left)


def outcome(code, out, err):
    lines = err.splitlines()
    ours = [line for line in lines if line.startswith(("filch: ", "victim: "))]
    if code == 0:
        return RIGHT if out.rstrip().endswith("right") else "exit code 0, and no answer"
    if code == -signal.SIGABRT:
        return DIES if any(line.startswith("filch: ") for line in lines) else "SIGABRT without a line of Filch"
    if code == -signal.SIGSEGV and any(line.startswith("filch: ") and "stack" in line for line in lines):
        return "overflow"
    if code < 0:
        return f"killed by {signal.Signals(-code).name}"
    if code == 1 and any("wrong answer" in line for line in lines):
        return "a wrong answer"
    return REFUSED if ours else f"exit code {code} without a line"


def judge(attack, folder, code, out, err):
    how = outcome(code, out, err)
    if how not in attack.may:
        return f"{how}, expected: {' or '.join(attack.may)}"
    left = [p.name for p in folder.iterdir() if not any(p.match(pattern) for pattern in attack.leaves)]
    if left:
        return f"left behind: {', '.join(sorted(left)[:5])}"
    return attack.check(folder, out, err) if attack.check else None


running = {}  # sessions and their directories, which are removed when the suite is killed


def leave(number, frame):
    for session, folder in list(running.items()):
        for pid in processes_of(session):
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(128 + number)


def run(attack, limit):
    """Returns: ("held" | "failed" | "skipped", why)"""
    base = pathlib.Path(tempfile.mkdtemp(prefix="hostile."))
    folder = base / "here"
    try:
        folder.mkdir()
        base.chmod(0o755)
        folder.chmod(0o777)
        if attack.setup and subprocess.run(["sh", "-c", attack.setup], cwd=folder).returncode != 0:
            return "skipped", f"the set-up failed: {attack.setup}"
        env = {k: v for k, v in os.environ.items() if not k.startswith("FILCH_")} | attack.env
        child = subprocess.Popen(attack.command, cwd=folder, env=env, stdin=attack.stdin, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, start_new_session=True)
        running[child.pid] = base
        try:
            out, err = (text[:65536].decode(errors="backslashreplace") for text in child.communicate(timeout=limit))
        except subprocess.TimeoutExpired:
            why = "hangs" if child.poll() is None else "leaves a process behind"
            os.killpg(child.pid, signal.SIGKILL)
            end_session(child.pid)
            err = child.communicate()[1].decode(errors="backslashreplace")
            if WAITS in attack.may and "wait for memory" in err:
                return "held", ""
            return "failed", f"{why} (for {limit} s): {last_lines(err)}"
        finally:
            running.pop(child.pid)
        left = end_session(child.pid)
        if child.returncode == SKIP:
            return "skipped", err.strip() or "no reason was given"
        why = judge(attack, folder, child.returncode, out, err)
        if not why and left:
            why = f"{left} processes are left behind"
        return ("failed", f"{why}: {last_lines(err)}") if why else ("held", "")
    finally:
        shutil.rmtree(base, ignore_errors=True)


def last_lines(text):
    return " / ".join(text.strip().splitlines()[-2:])[:300] or "(no output)"


def attacks_of(family, tools):
    module = importlib.import_module(f"attacks.{family}")
    return [a for a in module.attacks(tools) if a.quick or not tools.quick]


def run_family(family, attacks, options):
    began = time.monotonic()
    results = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for attack, (verdict, why) in zip(attacks, pool.map(lambda a: run(a, options.limit), attacks)):
            results.append(verdict)
            if verdict == "failed":
                print(f"FAILED {family}/{attack.name}: {why}\n    {reproduction(attack)}", flush=True)
            elif options.verbose or verdict == "skipped":
                print(f"{verdict} {family}/{attack.name}{': ' + why if why else ''}", flush=True)
    held, failed, skipped = (results.count(v) for v in ("held", "failed", "skipped"))
    print(f"{family:12} {len(results):5} tried {held:5} held {failed:4} failed {skipped:4} skipped"
          f"  {time.monotonic() - began:5.1f} s", flush=True)
    return results


def parse(arguments):
    parser = argparse.ArgumentParser(prog="hostile", description=__doc__.splitlines()[0],
                                     epilog="families: " + " ".join(FAMILIES))
    parser.add_argument("--tools", required=True, help="the directory of the programs that are attacked")
    parser.add_argument("--filch", required=True, help="the command filch")
    parser.add_argument("--list", action="store_true", help="list the attacks and exit")
    parser.add_argument("--quick", action="store_true", help="run a short selection")
    parser.add_argument("--limit", type=int, default=120, help="seconds after which a run counts as hung (default 120)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="number of attacks that run at once")
    parser.add_argument("--verbose", action="store_true", help="print a line for each attack")
    parser.add_argument("families", nargs="*", metavar="FAMILY[/NAME]", help="attacks to run (default: all)")
    options = parser.parse_args(arguments)
    for wanted in options.families:
        if wanted.partition("/")[0] not in FAMILIES:
            parser.error(f"unknown family '{wanted}'; choose from: {' '.join(FAMILIES)}")
    return options


def wanted(family, attack, options):
    return any(w in (family, f"{family}/{attack.name}") for w in options.families or [family])


def main():
    options = parse(sys.argv[1:])
    seed = os.environ.get("FILCH_SEED", str(random.SystemRandom().randrange(1 << 32)))
    tools = Tools(options.tools, options.filch, seed, options.quick)
    sys.path.insert(0, str(HERE))
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, leave)
    print(f"seed: FILCH_SEED={seed}", flush=True)
    results = []
    for family in FAMILIES:
        attacks = [a for a in attacks_of(family, tools) if wanted(family, a, options)]
        if options.list:
            for attack in attacks:
                print(f"{family}/{attack.name}  may be: {', '.join(attack.may)}")
        elif attacks:
            results += run_family(family, attacks, options)
    if options.list:
        return 0
    if not results:
        sys.exit(f"hostile: unknown attack {' or '.join(options.families)}; --list shows all")
    held, failed, skipped = (results.count(v) for v in ("held", "failed", "skipped"))
    print(f"{held} passed, {failed} failed, {skipped} skipped")
    if failed:
        return 1
    return 0 if held else SKIP


if __name__ == "__main__":
    sys.modules["hostile"] = sys.modules["__main__"]
    sys.exit(main())
