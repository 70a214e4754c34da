"""The page that filch top reads: another process of the same user may write to it, and the program continues."""
import sys

from hostile import RIGHT, Attack

WAYS = ["truncate", "shrink", "grow", "ones", "random"]


def attacks(tools):
    chance = tools.random("top")
    for how in WAYS:
        for i in range(1 if how != "random" else 10):
            yield Attack(f"{how} {i}", [tools.launch, sys.executable, tools.clobber, how, str(chance.randrange(1 << 30)), tools.serve],
                         (RIGHT,), {"FILCH_TOP": "1", "FILCH_WORKERS": "2"}, quick=i < 2)
