"""Standard descriptors that are closed, shared or replaced; empty /proc, /sys and /dev/shm."""
from hostile import DIES, REFUSED, RIGHT, Attack

CLOSED = ["0", "1", "2", "01", "02", "12", "012"]
HIDDEN = [["/proc"], ["/sys"], ["/dev/shm"], ["/proc", "/sys"], ["/sys/fs/cgroup"], ["/tmp"]]
SETTINGS = [{}, {"FILCH_AFFINITY": "cpu"}, {"FILCH_STATS": "1"}]


def attacks(tools):
    for fds in CLOSED:
        # Without stdout the program cannot print "right", and without stderr no message.
        for env in SETTINGS:
            command = [tools.launch] + [w for fd in fds for w in ("-c", fd)]
            judge = 'code=$?; if [ "$code" = 0 ] || [ "$code" = 3 ]; then echo right; else exit "$code"; fi'
            yield Attack(f"closed {fds}{settings(env)}",
                         ["sh", "-c", f'"$@"; {judge}', "sh", *command, tools.victim, "all"], (RIGHT,), env,
                         quick=not env)
    for paths in HIDDEN:
        for env in SETTINGS:
            # The directory of the attack is below /tmp: it stays open, but its path is hidden.
            command = [tools.launch] + [w for p in paths for w in ("-m", p)]
            if paths == ["/tmp"] and tools.victim.startswith("/tmp/"):
                continue
            yield Attack(f"hidden {' '.join(paths)}{settings(env)}", command + [tools.victim, "all"],
                         (RIGHT, REFUSED, DIES) if env else (RIGHT,), env, quick=not env)
    # The shell shares the open file, so the next program gets the flags that this one leaves.
    for call in ("read", "write"):
        for kind in ("pipe", "socket", "tty"):
            yield Attack(f"shared {kind}, {call}", [tools.launch, tools.share, call, kind], (RIGHT,), {}, quick=True)


def settings(env):
    return "".join(f" {k}={v}" for k, v in env.items())
