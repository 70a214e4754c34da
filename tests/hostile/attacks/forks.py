"""Fork, or end the program, while other threads are inside calls."""
import subprocess

from hostile import DIES, RIGHT, Attack

SETTINGS = [{}, {"FILCH_WORKERS": "8"}, {"FILCH_TRACE": "t.json"}, {"FILCH_SAMPLE": "s", "FILCH_SAMPLE_NS": "100000"}, {"FILCH_SCALE": "x"}]
LEAVES = ("t*.json", "t.json*", "s*", "x*")


def attacks(tools):
    listed = subprocess.run([tools.forks, "list"], stdout=subprocess.PIPE, check=True, text=True).stdout
    for line in listed.splitlines():
        how, what = line.split()
        for i, env in enumerate(SETTINGS):
            settings = "".join(f" {k}={v}" for k, v in env.items())
            if how == "hammer":
                ways = [[what], [what, "fiber"]]
            else:
                ways = [[what, where] for where in ("main", "thread", "fiber", "blocking")]
            for way in ways:
                yield Attack(f"{how} {' '.join(way)}{settings}", [tools.launch, tools.forks, how, *way],
                             (DIES,) if what == "abort" else (RIGHT,), env, leaves=LEAVES, quick=i == 0)
