"""A thread is stopped for a while: the others continue, and the results are right."""
from hostile import RIGHT, Attack

SETTINGS = [{"FILCH_WORKERS": "4"}, {"FILCH_WORKERS": "2"}, {"FILCH_WORKERS": "8"},
            {"FILCH_WORKERS": "4", "FILCH_SAMPLE": "s", "FILCH_SAMPLE_NS": "100000"}]
PARTS = "tasks jobs fibers barriers chans timers sockets_in_fiber blocking algo threads restart all".split()


def attacks(tools):
    for i, env in enumerate(SETTINGS):
        settings = "".join(f" {k}={v}" for k, v in env.items())
        yield Attack(f"each{settings}", [tools.launch, tools.freeze, "each", tools.serve], (RIGHT,), env, leaves=("s",), quick=i < 3)
    chance = tools.random("frozen")
    for i in range(10):
        for part in PARTS:
            seed = str(chance.randrange(1 << 30))
            yield Attack(f"random {seed} {part}", [tools.launch, tools.freeze, "random", seed, tools.victim, part], (RIGHT,),
                         {"FILCH_WORKERS": str(chance.choice([1, 2, 4, 8]))}, quick=i == 0)
