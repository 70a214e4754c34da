"""Resource limits, as a shell's ulimit or a service's settings give them."""
from hostile import DIES, REFUSED, RIGHT, WAITS, Attack

# Users without other processes: the limit counts all processes of a user.  Root is exempt.
FIRST_USER = 54321
PARTS = ("tasks jobs fibers barriers chans timers sockets sockets_in_fiber blocking files processes signals algo threads forks restart look "
         "big_stacks all").split()
ANY = (RIGHT, REFUSED, DIES, WAITS)
# Without threads the runtime has fewer workers or does not start.  No call ends the program.
NO_THREADS = (RIGHT, REFUSED)
# (limit, values, parts, how it may end, quick values)
TABLE = [
    ("as", [f"{m}m" for m in [16, 20, 24, 26, 27, 28, 29, 30, 32, 40, 64, 100, 150, 300, 600, 1200, 2400]], PARTS, ANY,
     ["27m", "28m", "100m", "600m"]),
    ("data", ["1m", "4m", "16m", "64m"], PARTS, ANY, ["4m"]),
    ("nproc", ["1", "2", "3", "4", "5", "6"], PARTS, NO_THREADS, ["1", "3"]),
    ("nofile", ["4", "5", "6", "7", "8", "10", "12", "16", "20"], PARTS, ANY, ["4", "8"]),
    ("fsize", ["0", "1", "4k"], ["tasks", "sockets", "restart"], ANY, ["0"]),
    ("stack", ["64k", "256k", "1m", "1g"], PARTS, ANY, ["64k"]),
    ("sigpending", ["0", "1"], PARTS, (RIGHT,), ["0"]),
    ("memlock", ["0"], PARTS, (RIGHT,), ["0"]),
]
SETTINGS = [{}, {"FILCH_WORKERS": "8"}]
# Parts that run on the calling thread alone if there is no other.
ALONE = ("tasks", "algo")


def says_why(text):
    return lambda folder, out, err: None if text in err else f"it does not say: {text}"


def attacks(tools):
    user = FIRST_USER
    for limit, values, parts, may, quick in TABLE:
        for value in values:
            for part in parts:
                for env in SETTINGS:
                    settings = "".join(f" {k}={v}" for k, v in env.items())
                    command = [tools.launch, "-l", f"{limit}={value}"]
                    if limit == "nproc":
                        user += 1
                        command += ["-u", str(user)]
                    yield Attack(f"{limit}={value} {part}{settings}", command + [tools.victim, part], may, env, leaves=("victim-*",),
                                 quick=value in quick and part in ("all", "big_stacks", "fibers") and not env)
    # The program itself is one of the threads that the limit counts.
    for n in range(1, 7):
        why = "cannot start the runtime" if n == 1 else f"workers: only {n - 1} of 8 could be started"
        for part in ALONE:
            user += 1
            yield Attack(f"nproc={n} {part} of 8 workers", [tools.launch, "-l", f"nproc={n}", "-u", str(user), tools.victim, part], (RIGHT,),
                         {"FILCH_WORKERS": "8"}, check=says_why(f"filch: {why}"), quick=True)
    # Stacks of a gigabyte in a smaller address space.
    for limit in ("600m", "1200m", "1800m"):
        for part in ("fibers", "barriers"):
            yield Attack(f"as={limit} {part} with stacks of 1g", [tools.launch, "-l", f"as={limit}", tools.victim, part], ANY,
                         {"FILCH_STACK_SIZE": "1g"}, quick=part == "fibers")
    # A deadlock is reported although there is no watchdog thread.
    for n in range(1, 7):
        yield Attack(f"nproc={n} deadlock", [tools.launch, "-l", f"nproc={n}", "-u", str(user + n), tools.misuse, "do", "deadlock"],
                     (DIES, REFUSED), quick=True)
